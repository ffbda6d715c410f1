#ifndef THNN_CONVOLUTION_COLUMNS_H
#define THNN_CONVOLUTION_COLUMNS_H

#include "convolution/correlation.h"
#include "gemm/gemm.h"

/* Columns are the unfolded patches of images (im2col). A block of them has an element for each pair of a position, from
   a range of positions of some images, and a kernel element, from a range of kernel elements of some channels. A matrix
   product of columns takes any kernel, stride and dilation; the other algorithms, which keep patches in packed input
   tiles, copy too much if the kernel reaches far beyond its elements, and leave lanes empty if rows are short. */

/* The block's axes: batch, positions (3), channel, kernel elements (3). */
#define COLUMN_AXES 8

typedef struct ColumnBlock {
  int64_t first[COLUMN_AXES], size[COLUMN_AXES];
} ColumnBlock;

/* Reals of a block, at most. */
#define COLUMN_REALS ((int64_t)((4 << 20) / sizeof(real)))

/* Reduces the sizes of all columns to the sizes of a block: first positions, while there are more than
   `leastPositions`, then channels and kernel elements. */
void THNN_(columnBlockSize)(int64_t *size, int64_t leastPositions);

/* Sets the strides of a block's axes; one kind of them is innermost. */
typedef enum ColumnIndex { COLUMN_POSITION, COLUMN_CHANNEL, COLUMN_ELEMENT } ColumnIndex;
void THNN_(columnStrides)(const int64_t *size, ColumnIndex innermost, int64_t *stride);

/* Makes the axes of an index as long as possible: adjacent axes become one if both strides allow it. */
void THNN_(mergeAxes)(int64_t *size, int64_t *stride, int64_t *otherStride);

/* The target or gradWeight by columns. Return false if another algorithm is faster (`otherCost` is its time in
   multiply-adds of vectors), which depends only on sizes and memory layout, or if the process is out of memory. */
bool THNN_(columnsCorrelate)(const Correlation *c, double otherCost);
bool THNN_(columnsGradWeight)(const Correlation *c, GradWeightUpdate update, double otherCost);

#endif
