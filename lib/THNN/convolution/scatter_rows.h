#ifndef THNN_CONVOLUTION_SCATTER_ROWS_H
#define THNN_CONVOLUTION_SCATTER_ROWS_H

#include "runtime/integer.h"
#include "runtime/kernel.h"

/* One spatial axis of a block: positions firstPosition .. endPosition - 1 and kernel elements firstElement ..
   endElement - 1, which add to the pixels q * stride + k * dilation - padding. The other fields are distances in
   memory. */
typedef struct ScatterAxis {
  int64_t input, stride, padding, dilation;
  int64_t firstPosition, endPosition, firstElement, endElement;
  int64_t pixel;                         /* in gradInput */
  int64_t rowPosition, rowElement;       /* in the rows that are added */
  int64_t factorPosition, factorElement; /* in their factors */
} ScatterAxis;

/* The direction of the rows that are added: along the kernel elements or the positions of the last axis, which is the
   longest, or along the channels. */
typedef enum RowDirection { ALONG_POSITIONS, ALONG_ELEMENTS, ALONG_CHANNELS } RowDirection;

/* pixel += the sum over `terms` terms of factor * row element, for a block of positions and kernel elements. */
typedef struct Scatter {
  ScatterAxis axis[3];
  RowDirection direction;
  int64_t batch, groups, channels, terms;
  real *image;
  const real *row, *factor;
  int64_t imageBatch, imageGroup, imageChannel;
  int64_t rowBatch, rowGroup, rowChannel, rowTerm;
  int64_t factorBatch, factorGroup, factorChannel, factorTerm;
} Scatter;

/* Adds all rows of the block to the image. */
void THNN_(scatterRows)(const Scatter *p);

#endif
