#include "convolution/convolution.h"
#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/depthwise_planes.h"
#include "convolution/direct.h"
#include "convolution/implicit_gemm.h"
#include "convolution/scatter.h"
#include "convolution/winograd.h"

static void implicitGemmOfZone(const Correlation *zone, void *context)
{
  (void)context;
  if (correlationProducts(zone) == 0) THNN_(correlationFill)(zone);
  else THNN_(implicitGemm)(zone);
}

/* Computes the correlation by direct convolution, or from columns where these are faster. Returns false if neither
   suits. */
static bool correlateDirectly(const Correlation *c)
{
  Correlation joined = *c; /* has one residue class per axis: the axis itself */
  ResidueClasses classes[4];
  for (int d = 0; d < 4; d++) {
    const CorrelationAxis *a = c->axis + d;
    classes[d] = (ResidueClasses){1, {{a->targetSize, a->offset, a->kernel, a->dilation, 0, 0, a->weightStride}}};
  }
  THNN_(directJoin)(&joined, classes);
  if (!THNN_(directSuits)(&joined)) return false;
  if (correlationIsIrregular(c) && THNN_(columnsCorrelate)(c, THNN_(directCost)(&joined, classes))) return true;
  return THNN_(directCorrelate)(&joined, classes);
}

/* target = bias + the sum over channels and kernel elements, by the algorithm that suits. */
static void correlate(const Correlation *c, void *context)
{
  if (correlationProducts(c) == 0) return THNN_(correlationFill)(c);
  if (THNN_(depthwiseSuits)(c)) return THNN_(depthwiseCorrelate)(c);
  if (THNN_(correlateZones)(c, correlate, context)) return;
  Correlation longRows = *c;
  if (c->outChannels <= VL / 2) {
    if (THNN_(correlationLengthenRows)(&longRows) && correlateDirectly(&longRows)) return;
    if (correlateDirectly(c)) return;
    c = &longRows;
  }
  if (THNN_(winogradCorrelate)(c)) return;
  if (correlationIsIrregular(c) && THNN_(columnsCorrelate)(c, THNN_(implicitGemmCost)(c))) return;
  if (!THNN_(correlateColumnZones)(c, implicitGemmOfZone, context)) THNN_(implicitGemm)(c);
}

void THNN_(convolutionOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output)
{
  if (THNN_(depthwisePlanesOutput)(g, input, weight, bias, output)) return;
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
  return THNN_(directSuits)(&c) && THNN_(directCorrelate)(&c, classes);
}

void THNN_(convolutionGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                 ConvolutionView bias, ConvolutionView gradInput)
{
  if (THNN_(scatterGradInput)(g, gradOutput, weight, bias, gradInput)) return;
  if (THNN_(depthwisePlanesGradInput)(g, gradOutput, weight, bias, gradInput)) return;
  const Correlation backward = THNN_(correlationBackward)(g, gradOutput, weight, bias, gradInput);
  THNN_(fillUnreached)(g, gradInput, bias);
  if (THNN_(depthwiseSuits)(&backward)) return THNN_(depthwiseGradInput)(&backward, g, weight, gradInput);
  int64_t classes = 1;
  for (int d = 0; d < 3; d++) classes *= residueCount(g->axis + d);
  if (classes > 1 && directGradInput(g, backward, weight, gradInput)) return;
  THNN_(correlateResidues)(&backward, g, weight, gradInput, correlate, NULL);
}
