#include "modules/MultiMarginCriterion.h"
#include "criterion/class_targets.h"
#include "criterion/hinge.h"

/* Classes of a strided row that are packed at a time. */
#define BLOCK 1024

/* One row: its scores, their gradients, and its class. */
typedef struct Row {
  const real *x;
  real *dx;
  int64_t stride, gradStride, target, classes;
  real reach; /* margin - x[target] */
  bool squared;
} Row;

/* Classes first to first + n - 1 of a row, in place or copied to the buffer. */
static const real *scoresOf(const Row *row, int64_t first, int64_t n, real *buffer)
{
  if (row->stride == 1) return row->x + first;
  for (int64_t j = 0; j < n; j++) buffer[j] = row->x[(first + j) * row->stride];
  return buffer;
}

/* The number of classes in the block at `first`, which ends before the target or begins after it. */
static int64_t blockSize(const Row *row, int64_t first)
{
  return MIN(BLOCK, (first < row->target ? row->target : row->classes) - first);
}

static double rowLoss(const Row *row)
{
  real buffer[BLOCK];
  double sum = 0;
  for (int64_t first = row->target == 0, n; first < row->classes; first += n, first += first == row->target) {
    n = blockSize(row, first);
    const real *const x = scoresOf(row, first, n, buffer);
    sum += row->squared ? hingeSum(x, n, row->reach, true) : hingeSum(x, n, row->reach, false);
  }
  return sum;
}

static void rowGradient(const Row *row, double factor)
{
  real buffer[BLOCK], slopes[BLOCK];
  double sum = 0;
  for (int64_t first = row->target == 0, n; first < row->classes; first += n, first += first == row->target) {
    n = blockSize(row, first);
    const real *const x = scoresOf(row, first, n, buffer);
    real *const dx = row->gradStride == 1 ? row->dx + first : slopes;
    sum += row->squared ? hingeSlopes(x, dx, n, row->reach, (real)factor, true, false)
                        : hingeSlopes(x, dx, n, row->reach, (real)factor, false, false);
    if (dx == slopes)
      for (int64_t j = 0; j < n; j++) row->dx[(first + j) * row->gradStride] = slopes[j];
  }
  row->dx[row->target * row->gradStride] = (real)(-sum * factor);
}

static inline int64_t targetOf(const THIndexTensor *target, int64_t n)
{
  return ((const THIndex_t *)target->data)[target->ndim ? n * target->stride[0] : 0];
}

static Row rowAt(const THTensor *input, const Rows *rows, const THIndexTensor *target, int64_t n, int p,
                 accreal margin)
{
  Row row = {.x = TH_DATA(input) + n * rows->rowStride,
             .stride = rows->classStride,
             .target = targetOf(target, n),
             .classes = rows->classes,
             .squared = p == 2};
  row.reach = (real)margin - row.x[row.target * row.stride];
  return row;
}

static void checkArguments(THNNState *state, const THTensor *input, const THIndexTensor *target, int p,
                           const THTensor *weights)
{
  THNN_CHECK(p == 1 || p == 2, p, "expected 1 or 2, got %d", p);
  checkClassOfRows(state, input, target, weights);
}

static void checkTarget(THNNState *state, const THIndexTensor *target, const Rows *rows)
{
  for (int64_t n = 0; n < rows->rows; n++) {
    const int64_t class = targetOf(target, n);
    THNN_CHECK_INDEX(class >= 0 && class < rows->classes, target,
                     "expected a class from 0 to %lld, got %lld at position %lld", (long long)rows->classes - 1,
                     (long long)class, (long long)n);
  }
}

static inline double weightOf(const THTensor *weights, int64_t class)
{
  return weights ? TH_DATA(weights)[class * weights->stride[0]] : 1;
}

void THNN_(MultiMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                              THTensor *output, bool sizeAverage, int p, THTensor *weights,
                                              accreal margin)
{
  checkArguments(state, input, target, p, weights);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_CHECK_NO_OVERLAP(output, weights);
  THNN_RETURN_IF_META(state);
  const Rows rows = rowsOf(input);
  checkTarget(state, target, &rows);
  THNN_RETURN_IF_FAILED(state);
  const int64_t tasks = MIN(rows.rows, MAX_TASKS);
  double losses[MAX_TASKS], loss = 0;
  THNN_PARALLEL_FOR(task, tasks, rows.rows * rows.classes) {
    losses[task] = 0;
    const int64_t end = firstOfTask(task + 1, tasks, rows.rows);
    for (int64_t n = firstOfTask(task, tasks, rows.rows); n < end; n++) {
      const Row row = rowAt(input, &rows, target, n, p, margin);
      losses[task] += weightOf(weights, row.target) * rowLoss(&row);
    }
  }
  for (int64_t task = 0; task < tasks; task++) loss += losses[task];
  loss /= (double)rows.classes;
  *TH_DATA(output) = (real)(rows.rows == 0 && !sizeAverage ? 0 : sizeAverage ? loss / (double)rows.rows : loss);
}

void THNN_(MultiMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                 THTensor *gradInput, bool sizeAverage, int p, THTensor *weights,
                                                 accreal margin)
{
  checkArguments(state, input, target, p, weights);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, weights);
  THNN_RETURN_IF_META(state);
  const Rows rows = rowsOf(input), gradRows = rowsOf(gradInput);
  checkTarget(state, target, &rows);
  THNN_RETURN_IF_FAILED(state);
  const double share =
      THNNState_gradientFactor(state) / ((double)rows.classes * (sizeAverage ? (double)rows.rows : 1));
  THNN_PARALLEL_FOR(n, rows.rows, rows.rows * rows.classes) {
    Row row = rowAt(input, &rows, target, n, p, margin);
    row.dx = TH_DATA(gradInput) + n * gradRows.rowStride;
    row.gradStride = gradRows.classStride;
    rowGradient(&row, share * weightOf(weights, row.target));
  }
}
