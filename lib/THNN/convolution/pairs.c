#include "convolution/implicit_gemm.h"

/* True if an operand at this address, with `stride` between the elements of a pair, has pairs that are float32. */
static bool isAligned(const void *data, int64_t stride)
{
  return stride == 1 && (uintptr_t)data % sizeof(float) == 0;
}

Correlation THNN_(correlationOfPairs)(const Correlation *c)
{
  Correlation p = *c;
  p.pairs = true;
  p.inChannels = c->inChannels / 2;
  bool source = isAligned(c->source, c->sourceChannelStride), weight = isAligned(c->weight, c->weightInStride);
  weight = weight && (c->outChannels == 1 || c->weightOutStride % 2 == 0) &&
           (c->groups == 1 || c->weightGroupStride % 2 == 0);
  for (int d = 0; d < 4; d++) {
    const CorrelationAxis *a = c->axis + d;
    source = source && ((a->targetSize == 1 && a->kernel == 1) || a->sourceStride % 2 == 0);
    weight = weight && (a->kernel == 1 || a->weightStride % 2 == 0);
  }
  if (source) {
    p.type = THNN_TYPE_FLOAT;
  } else {
    p.sourcePartnerStride = c->sourceChannelStride;
    p.sourceChannelStride *= 2;
  }
  if (weight) {
    p.weightType = THNN_TYPE_FLOAT;
    p.weightOutStride /= 2;
    p.weightGroupStride /= 2;
  } else {
    p.weightPartnerStride = c->weightInStride;
    p.weightInStride *= 2;
  }
  for (int d = 0; d < 4; d++) {
    if (source) p.axis[d].sourceStride /= 2;
    if (weight) p.axis[d].weightStride /= 2;
  }
  return p;
}
