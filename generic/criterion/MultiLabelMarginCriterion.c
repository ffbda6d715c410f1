#include "modules/MultiLabelMarginCriterion.h"
#include "criterion/class_targets.h"
#include "criterion/hinge.h"

/* Classes that are packed at a time. The scores of target classes become -infinity, so that their terms are 0. */
#define BLOCK 2048

/* The classes of row n, up to the first -1. */
typedef struct Labels {
  const THIndex_t *target;
  int64_t stride, count;
} Labels;

static Labels labelsOf(const THIndexTensor *target, const Rows *rows, int64_t n)
{
  const bool batched = target->ndim == 2;
  Labels labels = {(const THIndex_t *)target->data + (batched ? n * target->stride[0] : 0),
                   target->stride[batched], 0};
  while (labels.count < rows->classes && labels.target[labels.count * labels.stride] != -1) labels.count++;
  return labels;
}

static void checkSizes(THNNState *state, const THTensor *input, const THIndexTensor *target)
{
  checkRows(state, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, target);
}

static void checkTarget(THNNState *state, const THIndexTensor *target, const Rows *rows)
{
  for (int64_t n = 0; n < rows->rows; n++) {
    const Labels labels = labelsOf(target, rows, n);
    for (int64_t i = 0; i < labels.count; i++) {
      const int64_t class = labels.target[i * labels.stride];
      THNN_CHECK_INDEX(class >= 0 && class < rows->classes, target,
                       "expected a class from 0 to %lld, or -1 after the last class, got %lld in row %lld",
                       (long long)rows->classes - 1, (long long)class, (long long)n);
    }
  }
}

/* Classes first to first + n - 1 of a row. */
static ALWAYS_INLINE void packWith(const real *x, int64_t stride, const real *isTarget, int64_t maskStride,
                                   int64_t n, real *packed)
{
  THNN_PRAGMA(omp simd)
  for (int64_t j = 0; j < n; j++) packed[j] = isTarget[j * maskStride] != 0 ? -(real)INFINITY : x[j * stride];
}

static void pack(const real *x, int64_t stride, const real *isTarget, int64_t maskStride, int64_t first, int64_t n,
                 real *packed)
{
  x += first * stride;
  isTarget += first * maskStride;
  if (stride == 1 && maskStride == 1) packWith(x, 1, isTarget, 1, n, packed);
  else packWith(x, stride, isTarget, maskStride, n, packed);
}

/* Separate functions, because gcc vectorizes the loops only if no branch on reach precedes them. */
static __attribute__((noinline)) double packedSum(const real *packed, int64_t n, real reach)
{
  return hingeSum(packed, n, reach, false);
}
static __attribute__((noinline)) double packedSlopes(const real *packed, real *counts, int64_t n, real reach)
{
  return hingeSlopes(packed, counts, n, reach, 1, false, true);
}

/* The terms of a target whose score is -infinity or NaN: with such a reach, a packed target would give NaN. Returns the
   sum of the terms or, with `counts`, adds their derivatives to `counts` and returns the sum of the derivatives. */
static double unpackedTerms(real reach, const real *x, int64_t stride, const real *isTarget, int64_t maskStride,
                            int64_t first, int64_t n, real *counts)
{
  double sum = 0;
  for (int64_t j = 0; j < n; j++) {
    if (isTarget[(first + j) * maskStride] != 0) continue;
    sum += counts ? 1 : (double)reach + x[(first + j) * stride];
    if (counts) counts[j] += 1;
  }
  return sum;
}

static void clear(real *to, int64_t stride, int64_t n)
{
  if (stride == 1) memset(to, 0, sizeof(real) * (size_t)n);
  else
    for (int64_t j = 0; j < n; j++) to[j * stride] = 0;
}

void THNN_(MultiLabelMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                   THTensor *output, THTensor *isTarget, bool sizeAverage)
{
  checkSizes(state, input, target);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO_ONE(output);
  THNN_RESIZE_LIKE(isTarget, input);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_CHECK_NO_OVERLAP(output, isTarget);
  THNN_CHECK_NO_OVERLAP(isTarget, input);
  THNN_CHECK_NO_OVERLAP(isTarget, target);
  THNN_RETURN_IF_META(state);
  const Rows rows = rowsOf(input), masks = rowsOf(isTarget);
  checkTarget(state, target, &rows);
  THNN_RETURN_IF_FAILED(state);
  const int64_t tasks = MIN(rows.rows, MAX_TASKS);
  double losses[MAX_TASKS], loss = 0;
  THNN_PARALLEL_FOR(task, tasks, rows.rows * rows.classes) {
    losses[task] = 0;
    const int64_t end = firstOfTask(task + 1, tasks, rows.rows);
    for (int64_t n = firstOfTask(task, tasks, rows.rows); n < end; n++) {
      const real *const x = TH_DATA(input) + n * rows.rowStride;
      real *const mask = TH_DATA(isTarget) + n * masks.rowStride, packed[BLOCK];
      const Labels labels = labelsOf(target, &rows, n);
      clear(mask, masks.classStride, rows.classes);
      for (int64_t i = 0; i < labels.count; i++) mask[labels.target[i * labels.stride] * masks.classStride] = 1;
      for (int64_t first = 0, count; first < rows.classes; first += count) {
        count = MIN(BLOCK, rows.classes - first);
        pack(x, rows.classStride, mask, masks.classStride, first, count, packed);
        for (int64_t i = 0; i < labels.count; i++) {
          const real reach = 1 - x[labels.target[i * labels.stride] * rows.classStride];
          losses[task] += !(reach < (real)INFINITY) ? unpackedTerms(reach, x, rows.classStride, mask,
                                                                    masks.classStride, first, count, NULL)
                                                    : packedSum(packed, count, reach);
        }
      }
    }
  }
  for (int64_t task = 0; task < tasks; task++) loss += losses[task];
  if (tasks > 0) loss /= (double)rows.classes;
  *TH_DATA(output) = (real)(sizeAverage ? loss / (double)rows.rows : loss);
}

void THNN_(MultiLabelMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                      THTensor *gradInput, THTensor *isTarget, bool sizeAverage)
{
  checkSizes(state, input, target);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, isTarget);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, isTarget);
  THNN_RETURN_IF_META(state);
  const Rows rows = rowsOf(input), masks = rowsOf(isTarget), gradRows = rowsOf(gradInput);
  checkTarget(state, target, &rows);
  THNN_RETURN_IF_FAILED(state);
  const double share =
      THNNState_gradientFactor(state) / ((double)rows.classes * (sizeAverage ? (double)rows.rows : 1));
  THNN_PARALLEL_FOR(n, rows.rows, rows.rows * rows.classes) {
    const real *const x = TH_DATA(input) + n * rows.rowStride;
    const real *const mask = TH_DATA(isTarget) + n * masks.rowStride;
    real *const dx = TH_DATA(gradInput) + n * gradRows.rowStride, packed[BLOCK], counts[BLOCK];
    const Labels labels = labelsOf(target, &rows, n);
    clear(dx, gradRows.classStride, rows.classes);
    for (int64_t first = 0, count; first < rows.classes; first += count) {
      count = MIN(BLOCK, rows.classes - first);
      pack(x, rows.classStride, mask, masks.classStride, first, count, packed);
      memset(counts, 0, sizeof(real) * (size_t)count);
      for (int64_t i = 0; i < labels.count; i++) {
        const int64_t class = labels.target[i * labels.stride];
        const real reach = 1 - x[class * rows.classStride];
        const double terms = !(reach < (real)INFINITY) ? unpackedTerms(reach, x, rows.classStride, mask,
                                                                       masks.classStride, first, count, counts)
                                                       : packedSlopes(packed, counts, count, reach);
        dx[class * gradRows.classStride] -= (real)(share * terms);
      }
      for (int64_t j = 0; j < count; j++)
        dx[(first + j) * gradRows.classStride] += (real)(share * (double)counts[j]);
    }
  }
}
