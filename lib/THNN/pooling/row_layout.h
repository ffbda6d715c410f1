#ifndef THNN_POOLING_ROW_LAYOUT_H
#define THNN_POOLING_ROW_LAYOUT_H

#include "pooling/geometry.h"
#include "pooling/lanes.h"

/* The layout of a row in scratch memory, split into the residues of the stride: column q + j*stride, 0 <= q < stride,
   lies at q*pitch + left + j. The margins around the columns hold the value of the padding. Columns 0 to
   stride - 1 are aligned to vectors. */
typedef struct RowLayout {
  int64_t stride, left, pitch;
} RowLayout;

#define ROW_ALIGNMENT 16

static inline RowLayout rowLayout(int64_t stride, int64_t left, int64_t columns)
{
  left = (left + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
  return (RowLayout){stride, left, left + (columns + ROW_ALIGNMENT) / ROW_ALIGNMENT * ROW_ALIGNMENT};
}

/* The layout of an input row in which kernel element k reads, for all outputs, the run that begins at
   rowLayoutElement. */
static inline RowLayout rowLayoutOfInput(const WindowAxis *axis)
{
  const int64_t columns = ceilDivide(axis->input, axis->stride);
  const int64_t reach = axis->output + (axis->kernel - 1) * axis->dilation / axis->stride + 1;
  return rowLayout(axis->stride, ceilDivide(axis->padding, axis->stride), MAX(reach, columns));
}

static inline int64_t rowLayoutElement(const RowLayout *layout, const WindowAxis *axis, int64_t k)
{
  int64_t column = layout->left * layout->stride - axis->padding + k * axis->dilation; /* >= 0 */
  return column % layout->stride * layout->pitch + column / layout->stride;
}

/* The layout of an output row, for gradients: one residue, with margins such that the outputs whose kernel element k
   reads the inputs q, q + stride, ... are the run that begins at rowLayoutReaders. */
static inline RowLayout rowLayoutOfOutput(const WindowAxis *axis)
{
  const int64_t reach = (axis->input - 1) / axis->stride + axis->padding / axis->stride + 3;
  return rowLayout(1, (axis->kernel - 1) * axis->dilation / axis->stride + 1, MAX(reach, axis->output));
}

/* The beginning of the run that is described at rowLayoutOfOutput, or -1 if kernel element k of no output reads these
   inputs. */
static inline int64_t rowLayoutReaders(const RowLayout *layout, const WindowAxis *axis, int64_t q, int64_t k)
{
  int64_t place = layout->left * axis->stride + q + axis->padding - k * axis->dilation; /* >= 0 */
  return place % axis->stride ? -1 : place / axis->stride;
}

/* The outputs that read inputs m*stride to m*stride + stride - 1 are among m + *first to m + *last. */
static inline void rowLayoutReach(const RowLayout *layout, const WindowAxis *axis, int64_t *first, int64_t *last)
{
  *first = INT64_MAX;
  *last = INT64_MIN;
  for (int64_t q = 0; q < axis->stride && q < axis->input; q++)
    for (int64_t k = 0; k < axis->kernel; k++) {
      const int64_t place = rowLayoutReaders(layout, axis, q, k);
      if (place < 0) continue;
      if (place - layout->left < *first) *first = place - layout->left;
      if (place - layout->left > *last) *last = place - layout->left;
    }
  if (*first > *last) *first = *last = 0;
}

static inline void fillWith(real *p, int64_t n, real value)
{
  for (int64_t i = 0; i < n; i++) p[i] = value;
}

/* Fills the margins around n columns in each of `lines` rows. */
static inline void rowLayoutFillMargins(const RowLayout *layout, int64_t lines, int64_t n, real value, real *row)
{
  for (int64_t i = 0; i < lines; i++)
    for (int64_t q = 0; q < layout->stride; q++, row += layout->pitch) {
      const int64_t end = layout->left + (n > q ? (n - q - 1) / layout->stride + 1 : 0);
      fillWith(row, layout->left, value);
      fillWith(row + end, layout->pitch - end, value);
    }
}

/* Lays out n columns, `step` elements apart; scales column i by weights[i] * weight unless weights is NULL. Margins are
   not written. */
static inline void rowLayoutCopy(const RowLayout *layout, const real *x, int64_t n, int64_t step, real weight,
                                 const real *weights, real *row)
{
  const int64_t stride = layout->stride, even = n & ~(int64_t)1;
  row += layout->left;
  if (step == 1 && stride == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      thnn_prefetchAhead(x + j, VL * (int)sizeof *x);
      v_store(row + j, weights ? v_load(x + j) * (v_load(weights + j) * weight) : v_load(x + j));
    }
  } else if (step == 1 && stride == 2 && n >= 2 * VL && weights == NULL) {
    for (int64_t i = 0; i < even; i += 2 * VL) {
      const int64_t j = i < even - 2 * VL ? i : even - 2 * VL;
      vreal a = v_load(x + j), b = v_load(x + j + VL);
      thnn_prefetchAhead(x + j, 2 * VL * (int)sizeof *x);
      v_store(row + j / 2, v_evens(a, b));
      v_store(row + layout->pitch + j / 2, v_odds(a, b));
    }
    if (even < n) row[even / 2] = x[even];
  } else {
    for (int64_t q = 0; q < stride; q++)
      for (int64_t i = q, j = 0; i < n; i += stride, j++)
        row[q * layout->pitch + j] = weights ? x[i * step] * (weights[i] * weight) : x[i * step];
  }
}

#endif
