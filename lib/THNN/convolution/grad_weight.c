#include "convolution/grad_weight.h"
#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/depthwise_planes.h"
#include "convolution/direct.h"
#include "convolution/winograd.h"
#include "gemm/gemm.h"

/* With at most this many samples of a Linear layer, packing would take longer than the products. */
#define FEW_SAMPLES 8

static bool hasFewSamples(const Correlation *c)
{
  bool few = c->sourceChannelStride == 1 && c->weightInStride == 1 && c->axis[3].targetSize <= FEW_SAMPLES;
  for (int d = 0; d < 3; d++) few = few && c->axis[d].targetSize == 1;
  return few;
}

/* Computes gradWeight without packing: for each of its vectors, a sum over samples. */
static void multiplyFewSamples(const Correlation *c, bool accumulate, real scale, int64_t work)
{
  const CorrelationAxis *axis = c->axis + 3;
  THNN_PARALLEL_FOR(o, c->groups * c->outChannels, work) {
    const int64_t group = o / c->outChannels;
    const real *source = c->source + group * c->inChannels, *gradient = c->target + o * c->targetChannelStride;
    real *weight = c->weight + group * c->weightGroupStride + o % c->outChannels * c->weightOutStride;
    for (int64_t i = 0; i < c->inChannels; i += VL) {
      const int n = (int)MIN(VL, c->inChannels - i);
      vreal sum = {0};
      for (int64_t q = 0; q < axis->targetSize; q++)
        sum += gradient[q * axis->targetStride] * v_load_n(source + q * axis->sourceStride + i, n);
      v_store_n(weight + i, accumulate ? v_load_n(weight + i, n) + scale * sum : sum, n);
    }
  }
}

/* gradWeight of a pointwise convolution as a matrix product: output channels times input channels, summed over
   positions. */
static void multiplyPointwise(const Correlation *c, bool accumulate, real scale)
{
  Gemm p = {.a = {.data = c->target,
                  .size = {1, 1, 1, c->outChannels},
                  .stride = {[3] = c->targetChannelStride},
                  .groupStride = c->outChannels * c->targetChannelStride,
                  .cStride = {[3] = c->weightOutStride}},
            .b = {.data = c->source,
                  .size = {1, 1, 1, c->inChannels},
                  .stride = {[3] = c->sourceChannelStride},
                  .groupStride = c->inChannels * c->sourceChannelStride,
                  .cStride = {[3] = c->weightInStride}},
            .groups = c->groups,
            .c = c->weight,
            .cGroupStride = c->weightGroupStride,
            .accumulate = accumulate,
            .scale = scale};
  for (int d = 0; d < 4; d++) {
    p.kSize[d] = c->axis[d].targetSize;
    p.a.kStride[d] = c->axis[d].targetStride;
    p.b.kStride[d] = c->axis[d].sourceStride;
  }
  THNN_(gemm)(&p);
}

/* For thnn_threads(); 0 if there is nothing to compute. */
static int64_t workOf(const Correlation *c) { return (int64_t)ceil(MIN(correlationProducts(c) / 16, 1e15)); }

/* gradWeight += *scale * the gradient of the weight, by the implicit GEMM. */
static void implicitGemmGradWeight(const Correlation *c, const void *scale)
{
  GradWeightPlan p = {.c = *c};
  const int64_t work = workOf(c);
  if (work == 0) return;
  THNN_(gradWeightPlan)(&p, thnn_threads(1 << 20, work));
  const int64_t tasks = p.c.groups * p.panelTasks * p.channelTasks * p.kernelTasks;
  THNN_PARALLEL_FOR(i, tasks, work) THNN_(gradWeightImplicitGemm)(&p, i, *(const real *)scale);
}

/* gradWeight += *scale * the gradient of the weight, by the algorithm that suits. */
static void correlateGradWeight(const Correlation *correlation, const void *scaleAddress)
{
  GradWeightPlan p = {.c = *correlation};
  const real scale = *(const real *)scaleAddress;
  const int64_t work = workOf(&p.c);
  if (work == 0) return;
  if (THNN_(depthwiseSuits)(&p.c)) return THNN_(depthwiseGradWeight)(&p.c, scale);
  if (THNN_(correlateZones)(&p.c, correlateGradWeight, scaleAddress)) return;
  THNN_(correlationLengthenRows)(&p.c);
  const bool irregular = correlationIsIrregular(&p.c);
  if (THNN_(directSuitsGradWeight)(&p.c)) {
    if (irregular && THNN_(columnsGradWeight)(&p.c, scale, THNN_(directGradWeightCost)(&p.c))) return;
    return THNN_(directGradWeight)(&p.c, scale);
  }
  if (correlationIsPointwise(&p.c)) {
    if (hasFewSamples(&p.c)) multiplyFewSamples(&p.c, true, scale, work);
    else multiplyPointwise(&p.c, true, scale);
    return;
  }
  if (THNN_(winogradGradWeight)(&p.c, scale)) return;
  const int threads = thnn_threads(1 << 20, work);
  THNN_(gradWeightPlan)(&p, 1); /* the choice of the algorithm must not depend on threads */
  if (THNN_(gradWeightUnfoldedSuits)(&p)) return THNN_(gradWeightUnfolded)(&p, threads, work, scale);
  if (irregular && THNN_(columnsGradWeight)(&p.c, scale, THNN_(gradWeightCost)(&p))) return;
  if (!THNN_(correlateColumnZones)(&p.c, implicitGemmGradWeight, scaleAddress))
    implicitGemmGradWeight(&p.c, scaleAddress);
}

void THNN_(convolutionGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                  ConvolutionView gradWeight, real scale)
{
  const Correlation c = THNN_(correlationForward)(g, input, gradWeight, gradOutput);
  if (workOf(&c) == 0 || THNN_(depthwisePlanesGradWeight)(g, input, gradOutput, gradWeight, scale)) return;
  correlateGradWeight(&c, &scale);
}

void THNN_(convolutionNewGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                     ConvolutionView gradWeight)
{
  const Correlation c = THNN_(correlationForward)(g, input, gradWeight, gradOutput);
  if (hasFewSamples(&c)) multiplyFewSamples(&c, false, 1, workOf(&c));
  else multiplyPointwise(&c, false, 1);
}
