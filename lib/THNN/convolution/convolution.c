#include "convolution/convolution.h"
#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/depthwise_planes.h"
#include "convolution/direct.h"
#include "convolution/grad_weight.h"
#include "convolution/implicit_gemm.h"
#include "convolution/scatter.h"
#include "convolution/winograd.h"
#include "runtime/algorithm.h"

static void implicitGemm(const Correlation *c)
{
  thnn_useAlgorithm("implicit GEMM");
  THNN_(implicitGemm)(c);
}

static void implicitGemmOfZone(const Correlation *zone, void *context)
{
  (void)context;
  if (correlationProducts(zone) == 0) THNN_(correlationFill)(zone);
  else implicitGemm(zone);
}

/* The algorithms in the order in which they are tried: each computes the correlation, or returns false if it does not
   suit or another one costs less (`THNN_(directSuits)`, `THNN_(winogradSuits)`, ... say when). */

static bool fill(const Correlation *c)
{
  if (correlationProducts(c) > 0) return false;
  THNN_(correlationFill)(c);
  return true;
}

static bool depthwise(const Correlation *c)
{
  if (!THNN_(depthwiseSuits)(c)) return false;
  thnn_useAlgorithm("depthwise");
  THNN_(depthwiseCorrelate)(c);
  return true;
}

static bool columns(const Correlation *c, double otherCost)
{
  if (!correlationIsIrregular(c) || !THNN_(columnsCorrelate)(c, otherCost)) return false;
  thnn_useAlgorithm("columns");
  return true;
}

static bool directOfClasses(const Correlation *c, const ResidueClasses *classes)
{
  if (!THNN_(directCorrelate)(c, classes)) return false;
  thnn_useAlgorithm("direct");
  return true;
}

/* Direct convolution, or columns where these are faster. */
static bool direct(const Correlation *c)
{
  Correlation joined = *c; /* has one residue class per axis: the axis itself */
  ResidueClasses classes[4];
  for (int d = 0; d < 4; d++) {
    const CorrelationAxis *a = c->axis + d;
    classes[d] = (ResidueClasses){1, {{a->targetSize, a->offset, a->kernel, a->dilation, 0, 0, a->weightStride}}};
  }
  THNN_(directJoin)(&joined, classes);
  if (!THNN_(directSuits)(&joined)) return false;
  return columns(c, THNN_(directCost)(&joined, classes)) || directOfClasses(&joined, classes);
}

static bool winograd(const Correlation *c)
{
  if (!THNN_(winogradCorrelate)(c)) return false;
  thnn_useAlgorithm("Winograd");
  return true;
}

/* target = bias + the sum over channels and kernel elements, by the algorithm that suits. */
static void correlate(const Correlation *c, void *context)
{
  if (fill(c) || depthwise(c) || THNN_(correlateZones)(c, correlate, context)) return;
  Correlation longRows = *c;
  if (c->outChannels <= VL / 2) {
    if ((THNN_(correlationLengthenRows)(&longRows) && direct(&longRows)) || direct(c)) return;
    c = &longRows;
  }
  if (winograd(c) || columns(c, THNN_(implicitGemmCost)(c))) return;
  if (!THNN_(correlateColumnZones)(c, implicitGemmOfZone, context)) implicitGemm(c);
}

/* Products of fewer channels per group leave most lanes empty. */
#define LEAST_GROUP_CHANNELS 16

/* Larger kernels and dilations have algorithms that compute in float32. */
#define MOST_ELEMENTS 128
#define MOST_DILATION 2

bool THNN_(convolutionTakesHalf)(const Convolution *g, ConvolutionProduct product)
{
  if (!isHalf(g->type)) return false;
  const int64_t summed = product == CONVOLUTION_GRAD_INPUT ? g->outputChannels : g->inputChannels;
  bool pointwise = true, regular = product == CONVOLUTION_GRAD_WEIGHT || summed / g->groups % 2 == 0;
  int64_t elements = 1;
  for (int d = 0; d < WINDOW_AXES; d++) {
    const WindowAxis *a = g->axis + d;
    /* A transposed convolution may have outputs after the last input. */
    pointwise = pointwise && a->kernel == 1 && a->padding == 0 && (a->input - 1) / a->stride + 1 == a->output;
    regular = regular && a->kernel <= MOST_ELEMENTS && (a->kernel == 1 || a->dilation <= MOST_DILATION);
    if (regular) elements *= a->kernel;
  }
  const int64_t channels = MIN(g->inputChannels, g->outputChannels) / g->groups;
  if (pointwise) return g->groups == 1 || channels >= LEAST_GROUP_CHANNELS;
  if (!regular || elements > MOST_ELEMENTS || channels < LEAST_GROUP_CHANNELS) return false;
  return product == CONVOLUTION_GRAD_WEIGHT ? THNN_(gradWeightTilesSuit)(g) : multipliesPairs(g->type);
}

/* correlate() of tensors of a half type. */
static void correlateHalf(const Correlation *c, void *context)
{
  (void)context;
  if (fill(c)) return;
  thnn_useAlgorithm(multipliesPairs(c->type) ? "bfloat16 GEMM" : "implicit GEMM");
  if (correlationIsPointwise(c)) return THNN_(implicitGemm)(c);
  const Correlation pairs = THNN_(correlationOfPairs)(c);
  THNN_(implicitGemm)(&pairs);
}

void THNN_(convolutionOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output)
{
  const bool half = isHalf(g->type);
  if (!half && THNN_(depthwisePlanesOutput)(g, input, weight, bias, output))
    return thnn_useAlgorithm("depthwise planes");
  Correlation c = THNN_(correlationForward)(g, input, weight, output);
  c.bias = bias.data;
  c.biasGroupStride = bias.group;
  c.biasOutStride = bias.stride[0];
  (half ? correlateHalf : correlate)(&c, NULL);
}

/* Computes all residue classes at once by direct convolution. Returns false if another algorithm is faster. */
static bool directGradInput(const Convolution *g, Correlation c, ConvolutionView weight, ConvolutionView gradInput)
{
  ResidueClasses classes[4];
  if (!THNN_(directClasses)(g, weight, gradInput, classes)) return false;
  for (int d = 0; d < 4; d++)
    if (classes[d].count == 0) return true; /* no kernel element reaches an input: gradInput is the bias */
  THNN_(directJoin)(&c, classes);
  return THNN_(directSuits)(&c) && directOfClasses(&c, classes);
}

void THNN_(convolutionGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                 ConvolutionView bias, ConvolutionView gradInput)
{
  if (isHalf(g->type)) {
    const Correlation half = THNN_(correlationBackward)(g, gradOutput, weight, bias, gradInput);
    THNN_(fillUnreached)(g, gradInput, bias);
    return THNN_(correlateResidues)(&half, g, weight, gradInput, correlateHalf, NULL);
  }
  if (THNN_(scatterGradInput)(g, gradOutput, weight, bias, gradInput)) return thnn_useAlgorithm("scatter");
  if (THNN_(depthwisePlanesGradInput)(g, gradOutput, weight, bias, gradInput))
    return thnn_useAlgorithm("depthwise planes");
  const Correlation backward = THNN_(correlationBackward)(g, gradOutput, weight, bias, gradInput);
  THNN_(fillUnreached)(g, gradInput, bias);
  if (THNN_(depthwiseSuits)(&backward)) {
    thnn_useAlgorithm("depthwise");
    return THNN_(depthwiseGradInput)(&backward, g, weight, gradInput);
  }
  int64_t classes = 1;
  for (int d = 0; d < 3; d++) classes *= residueCount(g->axis + d);
  if (classes > 1 && directGradInput(g, backward, weight, gradInput)) return;
  THNN_(correlateResidues)(&backward, g, weight, gradInput, correlate, NULL);
}
