#ifndef THNN_CONVOLUTION_CORRELATION_H
#define THNN_CONVOLUTION_CORRELATION_H

#include "convolution/convolution.h"
#include "runtime/integer.h"
#include "simd/half_lanes.h"

/* The products of a convolution as cross-correlations of a source and a target image.

   A correlation has four axes: batch, depth, height, width. Along each axis, target position q and kernel element t
   read the source coordinate

     offset + q * stride + t * dilation

   or zero if that coordinate lies outside 0 .. sourceSize - 1. For output and gradWeight, the source is the input and
   the target is the output or gradOutput. gradInput is computed by one correlation per residue class of the stride,
   with gradOutput as the source. The input coordinates of a class see the same kernel elements, and adjacent ones read
   adjacent outputs, so the stride of the correlation is 1. */

typedef struct CorrelationAxis {
  int64_t targetSize, sourceSize;
  int64_t stride, offset;
  int64_t kernel, dilation;                         /* dilation > 0 */
  int64_t sourceStride, targetStride, weightStride; /* per coordinate, position, kernel element */
} CorrelationAxis;

typedef struct Correlation {
  CorrelationAxis axis[4];
  int64_t groups, inChannels, outChannels; /* channels per group, of the source and of the target */
  /* The element type of source, of weight, and of target and bias: a half type or any other for `real`. With a half
     type the pointers are addresses only (elementAt), and sums are float32. */
  int32_t type, weightType, targetType;
  /* True for products of bfloat16 by the implicit GEMM (correlationOfPairs): a channel of the source is a pair of
     channels. A source or weight of pairs that are adjacent in memory has the layout and the type of `real`; otherwise
     partnerStride leads from an element to the other one of its pair. */
  bool pairs;
  int64_t sourcePartnerStride, weightPartnerStride;
  const real *source;
  real *target; /* gradOutput, only read, where gradWeight is computed */
  real *weight; /* or gradWeight */
  int64_t sourceChannelStride, targetChannelStride;
  int64_t weightGroupStride, weightInStride, weightOutStride;
  const real *bias; /* one per target channel, or NULL */
  int64_t biasGroupStride, biasOutStride;
} Correlation;

/* How a sum changes an entry of gradWeight: entry += scale * sum, or entry = sum. Clearing a new gradWeight first would
   take another pass over memory, which takes as long as the products if there are many weights and few positions. */
typedef struct GradWeightUpdate {
  real scale;
  bool overwrites;
} GradWeightUpdate;

static inline real updatedEntry(GradWeightUpdate u, real entry, real sum)
{
  return u.overwrites ? sum : entry + u.scale * sum;
}

/* As above, for n <= VL adjacent entries. */
static inline void updateEntries(GradWeightUpdate u, real *entry, vreal sum, int n)
{
  if (n == VL) v_store(entry, u.overwrites ? sum : v_load(entry) + u.scale * sum);
  else v_store_n(entry, u.overwrites ? sum : v_load_n(entry, n) + u.scale * sum, n);
}

/* Source coordinates that `positions` adjacent positions and `kernel` adjacent kernel elements span. */
static inline int64_t axisExtent(const CorrelationAxis *axis, int64_t positions, int64_t kernel)
{
  return (positions - 1) * axis->stride + (kernel - 1) * axis->dilation + 1;
}

/* The positions begin .. end - 1 for which kernel element t reads the source, not padding. */
static inline void axisPositions(const CorrelationAxis *a, int64_t t, int64_t *begin, int64_t *end)
{
  const int64_t at = a->offset + t * a->dilation;
  *begin = at < 0 ? MIN(ceilDivide(-at, a->stride), a->targetSize) : 0;
  *end = MAX(MIN(floorDivide(a->sourceSize - 1 - at, a->stride) + 1, a->targetSize), *begin);
}

/* The kernel elements first .. end - 1 through which position q reads the source, not padding. */
static inline void axisElements(const CorrelationAxis *a, int64_t q, int64_t *first, int64_t *end)
{
  const int64_t x = a->offset + q * a->stride;
  *first = x < 0 ? MIN(ceilDivide(-x, a->dilation), a->kernel) : 0;
  *end = x < a->sourceSize ? MAX(MIN((a->sourceSize - 1 - x) / a->dilation + 1, a->kernel), *first) : *first;
}

/* True if position q of the target reads source coordinate q only. */
static inline bool axisIsIdentity(const CorrelationAxis *a)
{
  return a->kernel == 1 && a->stride == 1 && a->offset == 0 && a->sourceSize == a->targetSize;
}

/* True if each target position reads the same position of the source only: the correlation is a matrix product. */
static inline bool correlationIsPointwise(const Correlation *c)
{
  bool identity = true;
  for (int d = 0; d < 4; d++) identity = identity && axisIsIdentity(c->axis + d);
  return identity;
}

/* True if packed input tiles may cost much more than the products: rows shorter than half a vector, kernels of more
   than 128 elements, or a dilation above 2. False if the kernel has one element or there are no
   products. */
static inline bool correlationIsIrregular(const Correlation *c)
{
  if (c->inChannels == 0 || c->outChannels == 0) return false;
  double elements = 1;
  bool dilated = false;
  for (int d = 0; d < 4; d++) {
    if (c->axis[d].targetSize == 0) return false;
    elements *= (double)c->axis[d].kernel;
    dilated = dilated || (c->axis[d].kernel > 1 && c->axis[d].dilation > 2);
  }
  return elements > 1 && (dilated || elements > 128 || c->axis[3].targetSize < VL / 2);
}

/* The number of multiply-adds, those with padding included. */
static inline double correlationProducts(const Correlation *c)
{
  double products = (double)c->groups * (double)c->outChannels * (double)c->inChannels;
  for (int d = 0; d < 4; d++) products *= (double)c->axis[d].targetSize * (double)c->axis[d].kernel;
  return products;
}

/* The correlation of input and output, simplified. */
Correlation THNN_(correlationForward)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                                      ConvolutionView output);

/* Leaves out kernel elements at the ends of an axis that read only padding. Reduces the axes to as few as possible: an
   axis with one kernel element that stays inside the source becomes an identity axis, identity axes that are contiguous
   in memory become one, and trivial axes are moved to the front. */
void THNN_(correlationSimplify)(Correlation *correlation);

/* If rows are shorter than half a vector and the longest of the three last axes has at least one vector, makes it the
   last and returns true. */
bool THNN_(correlationLengthenRows)(Correlation *correlation);

/* The number of classes of target positions that read one residue class of the source coordinates modulo the dilation,
   for an axis whose dilation is a multiple of its stride. */
static inline int64_t dilationResidues(const CorrelationAxis *axis)
{
  return MIN(axis->dilation / axis->stride, axis->targetSize);
}

/* Restricts axis d to class number `classNumber` of dilationResidues(): every dilation-th source coordinate, stride and
   dilation 1. */
void THNN_(correlationOfDilationResidue)(Correlation *correlation, int d, int64_t classNumber);

/* Computes a part of a correlation; `context` comes from the function that divides it. */
typedef void CorrelationFunction(const Correlation *part, void *context);

/* A zone is a padding region: a range of positions of an axis that read the same kernel elements inside the source.
   Within a zone no kernel element of the axis reads only padding. The two functions call `correlate` with each zone,
   which may have no kernel element, or return false if this saves too few products.

   correlateZones divides the first axis with more than two thirds of the products on padding. */
bool THNN_(correlateZones)(const Correlation *correlation, CorrelationFunction *correlate, void *context);

/* Divides columns for the implicit GEMM, which leaves out kernel elements of the outermost axis only. */
bool THNN_(correlateColumnZones)(const Correlation *correlation, CorrelationFunction *correlate, void *context);

/* Sets every element of the target to its channel's bias, or to 0. */
void THNN_(correlationFill)(const Correlation *correlation);

/* Sets all pixels of gradInput to their channel's bias, or to 0. */
void THNN_(fillWithBias)(const Convolution *geometry, ConvolutionView gradInput, ConvolutionView bias);

/* As above, unless kernel elements reach every pixel. */
void THNN_(fillUnreached)(const Convolution *geometry, ConvolutionView gradInput, ConvolutionView bias);

/* Sets the fields that the correlations of all residue classes of gradInput share. correlationOfResidue completes the
   three spatial axes. */
Correlation THNN_(correlationBackward)(const Convolution *geometry, ConvolutionView gradOutput,
                                       ConvolutionView weight, ConvolutionView bias, ConvolutionView gradInput);

/* The number of residue classes that at least one kernel element reaches. Class i is reached by the kernel elements i,
   i + stride / gcd(stride, dilation), ...; coordinates in the other classes have an empty sum: gradInput is the bias
   there, or 0. */
static inline int64_t residueCount(const WindowAxis *window)
{
  return MIN(window->stride / gcd(window->stride, window->dilation), window->kernel);
}

/* Sets *axis to residue class number `classNumber`. Its first input coordinate is *coordinate. Kernel elements count
   down from *lastElement, because the last one reads the smallest coordinate of gradOutput; axis->weightStride is in
   kernel elements, not in reals. sourceStride and targetStride stay as they are. Returns false if the class is
   empty. */
bool THNN_(residueAxis)(const WindowAxis *window, int64_t classNumber, CorrelationAxis *axis, int64_t *coordinate,
                        int64_t *lastElement);

/* Makes `backward` the correlation of one residue class per axis, given by its number, not yet simplified. Returns
   false if one of the classes is empty. */
bool THNN_(correlationOfResidue)(Correlation *backward, const Convolution *geometry, const int64_t *classNumber,
                                 ConvolutionView weight, ConvolutionView gradInput);

/* Calls `correlate` with the simplified correlation of each combination of residue classes. */
void THNN_(correlateResidues)(const Correlation *backward, const Convolution *geometry, ConvolutionView weight,
                              ConvolutionView gradInput, CorrelationFunction *correlate, void *context);

#endif
