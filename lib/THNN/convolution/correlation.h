#ifndef THNN_CONVOLUTION_CORRELATION_H
#define THNN_CONVOLUTION_CORRELATION_H

#include "convolution/convolution.h"
#include "runtime/integer.h"

/* The products of a convolution as cross-correlations of a source and a target image.

   A correlation has four axes: batch, depth, height, width. Along each axis, target position q and kernel element t read
   the source coordinate

     offset + q * stride + t * dilation

   or zero if that lies outside 0 .. sourceSize - 1. Output and gradWeight are one correlation of input and output.
   gradInput is one correlation of gradOutput per residue class of the stride: the input coordinates of a class see the
   same kernel elements, with stride 1. */

typedef struct CorrelationAxis {
  int64_t targetSize, sourceSize;
  int64_t stride, offset;
  int64_t kernel, dilation;                         /* dilation > 0 */
  int64_t sourceStride, targetStride, weightStride; /* in memory, per coordinate, position, kernel element */
} CorrelationAxis;

typedef struct Correlation {
  CorrelationAxis axis[4];
  int64_t groups, inChannels, outChannels; /* channels per group, of the source and of the target */
  const real *source;
  real *target;
  real *weight;
  int64_t sourceChannelStride, targetChannelStride;
  int64_t weightGroupStride, weightInStride, weightOutStride;
  const real *bias; /* one per target channel, or NULL */
  int64_t biasGroupStride, biasOutStride;
} Correlation;

/* Source coordinates that `positions` adjacent positions and `kernel` adjacent kernel elements span. */
static inline int64_t axisExtent(const CorrelationAxis *axis, int64_t positions, int64_t kernel)
{
  return (positions - 1) * axis->stride + (kernel - 1) * axis->dilation + 1;
}

/* True if source coordinates and target positions are the same. */
static inline bool axisIsTrivial(const CorrelationAxis *a)
{
  return a->kernel == 1 && a->stride == 1 && a->offset == 0 && a->sourceSize == a->targetSize;
}

/* True if each position of the target reads that position of the source only: a matrix product of channels. */
static inline bool correlationIsPointwise(const Correlation *c)
{
  bool trivial = true;
  for (int d = 0; d < 4; d++) trivial = trivial && axisIsTrivial(c->axis + d);
  return trivial;
}

/* The correlation of input and output, simplified. */
Correlation THNN_(correlationForward)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                                      ConvolutionView output);

/* Reduces the axes to as few as possible: an axis with one kernel element that stays inside the source becomes trivial,
   trivial axes that are contiguous in memory become one, and axes of one position become the first axes. */
void THNN_(correlationSimplify)(Correlation *correlation);

/* The correlation of gradOutput that computes gradInput, as far as all residue classes share it. The three axes of the
   window are set by correlationOfResidue. */
Correlation THNN_(correlationBackward)(const Convolution *geometry, ConvolutionView gradOutput,
                                       ConvolutionView weight, ConvolutionView bias, ConvolutionView gradInput);

/* The number of residue classes of input coordinates that a kernel element reaches. Class i is reached by the kernel
   elements i, i + stride / gcd(stride, dilation), ...; the other classes of the stride have no gradient. */
static inline int64_t residueCount(const WindowAxis *window)
{
  return MIN(window->stride / gcd(window->stride, window->dilation), window->kernel);
}

/* Residue class `residue` of an axis. Its first input coordinate is *coordinate. Kernel elements count down from
   *lastElement, because the last one reads the smallest coordinate of gradOutput; axis->weightStride counts kernel
   elements. Strides in memory of source and target are left alone. Returns false if no input coordinate is in the class. */
bool THNN_(residueAxis)(const WindowAxis *window, int64_t residue, CorrelationAxis *axis, int64_t *coordinate,
                        int64_t *lastElement);

/* Makes `backward` the correlation of one residue class per axis, not yet simplified. Returns false if the class is
   empty. */
bool THNN_(correlationOfResidue)(Correlation *backward, const Convolution *geometry, const int64_t *residue,
                                 ConvolutionView weight, ConvolutionView gradInput);

#endif
