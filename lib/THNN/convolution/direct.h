#ifndef THNN_CONVOLUTION_DIRECT_H
#define THNN_CONVOLUTION_DIRECT_H

#include "convolution/packing.h"

/* Direct convolution, for correlations with few output channels per group: the gradInput of a 3-channel image, depthwise
   filters. A matrix product, which vectorises output channels, would leave most vector lanes empty. Positions are
   vectorised instead: vectors are read from a packed input tile and multiplied by single weights.

   All residue classes of a gradInput (see correlation.h) are computed at once: they share the packed tile and read it at
   different offsets. */

#define DIRECT_CLASSES 4 /* residue classes of an axis, at most */
#define DIRECT_TERMS 128 /* terms of a sum in registers; more terms are summed in parts of PARTIAL_SUM_TERMS */
#define DIRECT_GROUP_CHANNELS 4 /* output channels of one of several groups, at most */

/* The positions of a residue class along one axis. */
typedef struct ResidueClass {
  int64_t positions, offset; /* offset: the source coordinate of position 0, kernel element 0 */
  int64_t kernel, dilation;
  int64_t targetOffset, weightOffset, weightStride; /* in memory, of position 0 and kernel element 0 */
} ResidueClass;

typedef struct ResidueClasses {
  int64_t count;
  ResidueClass of[DIRECT_CLASSES];
} ResidueClasses;

/* Makes each axis of the correlation the union of its residue classes: the most positions, the least offset, and a kernel
   of dilation 1 that covers every source coordinate that a position of any class reads. Offsets of the classes become
   relative to it. directSuits and directCorrelate take such a correlation. */
void THNN_(directJoin)(Correlation *correlation, ResidueClasses *classes);

/* Heuristic: true if this is faster than a matrix product. */
bool THNN_(directSuits)(const Correlation *correlation);

/* target = bias + the sum over channels and kernel elements. */
void THNN_(directCorrelate)(const Correlation *correlation, const ResidueClasses *classes);

/* The gradient of weight, for several groups with few channels; the correlation is not joined. */
bool THNN_(directSuitsGradWeight)(const Correlation *correlation);

/* weight += scale * its gradient. */
void THNN_(directGradWeight)(const Correlation *correlation, real scale);

#endif
