#include "convolution/convolution.h"
#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/depthwise_planes.h"
#include "convolution/direct.h"
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

void THNN_(convolutionOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output)
{
  if (THNN_(depthwisePlanesOutput)(g, input, weight, bias, output)) return thnn_useAlgorithm("depthwise planes");
  Correlation c = THNN_(correlationForward)(g, input, weight, output);
  c.bias = bias.data;
  c.biasGroupStride = bias.group;
  c.biasOutStride = bias.stride[0];
  correlate(&c, NULL);
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
