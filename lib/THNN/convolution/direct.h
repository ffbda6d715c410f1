#ifndef THNN_CONVOLUTION_DIRECT_H
#define THNN_CONVOLUTION_DIRECT_H

#include "convolution/packing.h"

/* Correlations with few output channels, at all or in each group: gradInput of an image's three planes, depthwise
   filters.

   There lanes are neighbouring positions, not output channels: vectors are read from a strip and multiplied by
   single weights. With step 1 all rows of a strip are one long row; what is computed between their ends is left
   out when they are stored. A strip is shared by the residues of a stride, which read it at different places. */

#define FEW_RESIDUES 4
#define FEW_TERMS 128  /* of a sum in registers; a longer one is a sum of chains of PARTIAL_SUM_TERMS */
#define FEW_OF_GROUP 4 /* outputs, at most, that are few for a group */

/* Positions of an axis that meet the same taps: the first sees source coordinate `first`, relative to the axis. */
typedef struct Residue {
  int64_t count, first;
  int64_t taps, skip;
  int64_t target, weight, weightStep; /* where the first position and the first tap lie; from tap to tap */
} Residue;

typedef struct Residues {
  int64_t count;
  Residue list[FEW_RESIDUES];
} Residues;

/* Every axis as its residues see it together: the most positions, the least first coordinate, and as taps, with
   skip 1, all coordinates that one position of any residue may see. */
void THNN_(few_join)(Correlation *correlation, Residues *residues);

/* Is this the better way for so many outputs and so wide rows? Of joined axes. */
bool THNN_(few_suits)(const Correlation *correlation);

void THNN_(few_correlate)(const Correlation *correlation, const Residues *residues);

/* weight += scale * its gradient, for groups of few channels and outputs. */
bool THNN_(few_suitsWeight)(const Correlation *correlation);
void THNN_(few_gradWeight)(const Correlation *correlation, real scale);

#endif
