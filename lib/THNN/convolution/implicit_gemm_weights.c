#include "convolution/implicit_gemm.h"

#include <stdlib.h>

/* The stride between successive kernel elements, which may be negative, or 0 if they are not evenly spaced. */
static int64_t kernelStride(const Correlation *c, const Tile *kernel)
{
  int64_t stride = 0, run = 1;
  for (int d = 3; d >= 0; d--) {
    if (kernel->size[d] == 1) continue;
    if (stride == 0) stride = c->axis[d].weightStride;
    if (c->axis[d].weightStride != stride * run) return 0;
    run *= kernel->size[d];
  }
  return stride;
}

#ifdef THNN_REAL_IS_FLOAT

/* Terms of a panel that are transposed at once. */
#define TERMS_AT_ONCE 128

/* Pairs the weights of the kernel elements of a channel with these of its partner. at: offsets of the elements, which are
   adjacent if `stride` is 1 or -1. Up to VL reals after the row are overwritten. */
static void pairElements(const Half *weight, int64_t partner, int64_t elements, const int64_t *at, int64_t stride,
                         real *row)
{
  if (stride != 1 && stride != -1) {
    for (int64_t k = 0; k < elements; k++) row[k] = pairOf(weight + at[k], weight + at[k] + partner);
    return;
  }
  real run[KERNEL_TILE_ELEMENTS + VBYTES / sizeof(real)];
  if (stride < 0) weight -= elements - 1;
  for (int64_t k = 0; k < elements; k += VL)
    v_store((stride < 0 ? run : row) + k,
            v_loadPairs(weight + k, weight + k + partner, (int)MIN(VL, elements - k)));
  for (int64_t k = 0; stride < 0 && k < elements; k++) row[k] = run[elements - 1 - k];
}

/* packKBlock of pairs of bfloat16. */
static void packPairs(const Correlation *c, const Half *weight, int64_t lanes, int64_t width, int64_t channels,
                      int64_t elements, const int64_t *at, int64_t stride, real *packed)
{
  const int64_t partner = c->weightPartnerStride;
  if (c->weightOutStride == 1) {
    for (int64_t i = 0; i < channels; i++, weight += c->weightInStride)
      for (int64_t k = 0; k < elements; k++, packed += width)
        for (int64_t l = 0; l < lanes; l += VL) {
          const Half *from = weight + at[k] + l;
          v_store(packed + l, v_loadPairs(from, from + partner, (int)MIN(VL, lanes - l)));
        }
    return;
  }
  real rows[GEMM_NR][TERMS_AT_ONCE + VBYTES / sizeof(real)];
  const int64_t together = MAX(TERMS_AT_ONCE / elements, 1);
  for (int64_t first = 0; first < channels; first += together) {
    const int64_t n = MIN(together, channels - first);
    for (int64_t l = 0; l < lanes; l++)
      for (int64_t i = 0; i < n; i++)
        pairElements(weight + l * c->weightOutStride + (first + i) * c->weightInStride, partner, elements, at,
                     stride, rows[l] + i * elements);
    THNN_(transpose)(packed + first * elements * width, width, rows[0], sizeof rows[0] / sizeof(real), lanes,
                     n * elements);
  }
}

#endif

void THNN_(packKBlock)(const Correlation *c, const real *weight, int64_t lanes, int64_t width, int64_t channels,
                       const Tile *kernel, int64_t parts, real *packed)
{
  const int64_t elements = elementCount(kernel->size), stride = kernelStride(c, kernel);
  int64_t t[4] = {0}, at[GEMM_KC];
  for (int64_t k = 0; k < elements; k++, nextIndex(t, kernel->size, 4)) {
    at[k] = 0;
    for (int d = 0; d < 4; d++) at[k] += t[d] * c->axis[d].weightStride;
  }
#ifdef THNN_REAL_IS_FLOAT
  if (isHalf(c->weightType))
    return packPairs(c, (const Half *)weight, lanes, width, channels, elements, at, stride, packed);
#endif
  if (c->weightOutStride != 1 && c->weightInStride == 1) {
    const int64_t inner = elements / parts;
    for (int64_t k = 0; k < elements; k++)
      THNN_(transpose)(packed + (k / inner * channels * inner + k % inner) * width, inner * width, weight + at[k],
                       c->weightOutStride, lanes, channels);
  } else if (c->weightOutStride != 1 && stride == 1 && c->weightInStride == elements) {
    THNN_(transpose)(packed, width, weight, c->weightOutStride, lanes, channels * elements);
  } else if (c->weightOutStride != 1 && (stride == 1 || stride == -1)) {
    for (int64_t i = 0; i < channels; i++, packed += elements * width, weight += c->weightInStride) {
      if (stride > 0) THNN_(transpose)(packed, width, weight, c->weightOutStride, lanes, elements);
      else
        THNN_(transpose)(packed + (elements - 1) * width, -width, weight - (elements - 1), c->weightOutStride,
                         lanes, elements);
    }
  } else {
    /* Kernel elements are the inner loop, because the kernel elements of a channel share cache lines. */
    for (int64_t i = 0; i < channels; i++, weight += c->weightInStride)
      for (int64_t k = 0; k < elements; k++, packed += width) {
        const real *from = weight + at[k];
        if (c->weightOutStride == 1)
          for (int64_t l = 0; l < lanes; l++) packed[l] = from[l];
        else
          for (int64_t l = 0; l < lanes; l++) packed[l] = from[l * c->weightOutStride];
      }
  }
}

static const real *firstWeight(const Correlation *c, const WeightBlock *b)
{
  int64_t at =
      b->group * c->weightGroupStride + b->outChannel * c->weightOutStride + b->channel * c->weightInStride;
  for (int d = 0; d < 4; d++) at += b->kernel->start[d] * c->axis[d].weightStride;
  return elementAt(c->weight, at, c->weightType);
}

/* A row of the region is the weights of one input channel, or of one output channel, whichever stride is larger. Where
   the kernel elements of a channel lie apart, each followed by the weights of the other channels ([I][kernel][O] or
   [O][kernel][I]), each kernel element is a separate row. */
PrefetchRegion THNN_(weightRegion)(const Correlation *c, const WeightBlock *b)
{
  const int64_t lanes = MIN(GEMM_NR, c->outChannels - b->outChannel), elements = elementCount(b->kernel->size);
  int64_t before = 0;
  for (int d = 0; d < 4; d++) before += MIN(c->axis[d].weightStride, 0) * (b->kernel->size[d] - 1);
  const real *from = elementAt(firstWeight(c, b), before, c->weightType);
  const bool byChannel = c->weightOutStride < c->weightInStride;
  PrefetchRegion p = byChannel
                         ? (PrefetchRegion){from, b->channels, c->weightInStride, lanes * c->weightOutStride}
                         : (PrefetchRegion){from, lanes, c->weightOutStride, b->channels * c->weightInStride};
  /* Too long to prefetch: filters far apart, or the meaningless stride of an axis of size 1. */
  if (p.length > 64 * lanes * b->channels * elements) return (PrefetchRegion){0};
  const int64_t stride = kernelStride(c, b->kernel);
  if (p.stride == elements * llabs(stride) && p.length <= llabs(stride)) {
    p.count *= elements;
    p.stride = llabs(stride);
  }
  if (isHalf(c->weightType)) { /* two elements take a real */
    p.stride /= 2;
    p.length = ceilDivide(p.length, 2);
  }
  return p;
}

void THNN_(packWeights)(const ImplicitGemmPlan *p, const WeightBlock *b, int64_t width, real *packed)
{
  const Correlation *c = &p->c;
  const int64_t lanes = MIN(GEMM_NR, c->outChannels - b->outChannel), channels = b->channels;
  const int64_t elements = elementCount(b->kernel->size), outer = kernelParts(p, b->kernel),
                inner = elements / outer, padded = paddedChannels(p, channels);
  if (lanes < width || padded > channels)
    memset(packed, 0, sizeof(real) * (size_t)((padded * elements + 1) * width));
  for (int64_t i = 0; i < lanes; i++)
    packed[i] = c->bias
                    ? loadElement(c->bias, b->group * c->biasGroupStride + (b->outChannel + i) * c->biasOutStride,
                                  c->targetType)
                    : 0;
  packed += width;
  const real *weight = firstWeight(c, b);
  const bool inOrder = outer == 1 || (c->weightOutStride != 1 && c->weightInStride == 1 && padded == channels);
  const int64_t blockChannels = outer == 1 && !p->tiles ? channels : p->kBlockChannels;
  real kBlock[GEMM_KC * GEMM_NR];
  if (lanes < width && !inOrder) memset(kBlock, 0, sizeof kBlock);
  for (int64_t k = 0; k < channels; k += blockChannels) {
    const int64_t n = MIN(blockChannels, channels - k), pitch = paddedChannels(p, n);
    THNN_(packKBlock)(c, weight, lanes, width, n, b->kernel, inOrder ? outer : 1, inOrder ? packed : kBlock);
    for (int64_t s = 0; s < outer && !inOrder; s++)
      for (int64_t i = 0; i < n; i++)
        memcpy(packed + (s * pitch + i) * inner * width, kBlock + (i * elements + s * inner) * width,
               sizeof(real) * (size_t)(inner * width));
    packed += pitch * elements * width;
    weight = elementAt(weight, n * c->weightInStride, c->weightType);
  }
}
