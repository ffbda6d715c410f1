#ifndef THNN_CONVOLUTION_DIRECT_H
#define THNN_CONVOLUTION_DIRECT_H

#include "convolution/packing.h"

/* Direct convolution, for correlations with few output channels per group: the gradInput of a 3-channel image,
   depthwise filters. A matrix product, which vectorizes output channels, would leave most vector lanes empty. Positions
   are vectorized instead: vectors are read from a packed input tile and multiplied by single weights.

   All residue classes of a gradInput (see correlation.h) are computed at once: they share the packed tile and read it
   at different offsets. */

#define DIRECT_CLASSES 4        /* residue classes of an axis, at most */
#define DIRECT_TERMS 128        /* terms of a sum in registers, at most; longer sums are added in parts */
#define DIRECT_GROUP_CHANNELS 4 /* output channels per group, at most, where there are several groups */

/* The positions of a residue class along one axis. */
typedef struct ResidueClass {
  int64_t positions, offset; /* offset: the source coordinate of position 0, kernel element 0 */
  int64_t kernel, dilation;
  int64_t targetOffset, weightOffset, weightStride; /* in memory; offsets of position 0, kernel element 0 */
} ResidueClass;

typedef struct ResidueClasses {
  int64_t count;
  ResidueClass item[DIRECT_CLASSES];
} ResidueClasses;

/* Sets the residue classes of gradInput; a count is 0 if no kernel element reaches an input. Returns false if an axis
   has more than DIRECT_CLASSES. */
bool THNN_(directClasses)(const Convolution *geometry, ConvolutionView weight, ConvolutionView gradInput,
                          ResidueClasses *classes);

/* Makes each axis of the correlation the union of its residue classes: the most positions, the least offset, and a
   kernel of dilation 1 that covers every source coordinate read by any class; an axis of one class keeps its dilation.
   Offsets and dilations of the classes are in kernel elements of the joined axis. directSuits and directCorrelate
   require a joined correlation. */
void THNN_(directJoin)(Correlation *correlation, ResidueClasses *classes);

/* Heuristic: true if direct convolution is faster than a matrix product. */
bool THNN_(directSuits)(const Correlation *correlation);

/* target = bias + the sum over channels and kernel elements. Returns false, and computes nothing, if there is too
   little memory for the offsets of all kernel elements. */
bool THNN_(directCorrelate)(const Correlation *correlation, const ResidueClasses *classes);

/* The estimated time of directCorrelate in multiply-adds of vectors, which depends only on sizes and memory layout. */
double THNN_(directCost)(const Correlation *correlation, const ResidueClasses *classes);

/* True if directGradWeight suits: several groups with few channels. The correlation is not joined. */
bool THNN_(directSuitsGradWeight)(const Correlation *correlation);

/* The estimated time of directGradWeight in multiply-adds of vectors, which depends only on sizes. */
double THNN_(directGradWeightCost)(const Correlation *correlation);

/* Accumulates scale * dL/dweight into correlation->weight. */
void THNN_(directGradWeight)(const Correlation *correlation, real scale);

#endif
