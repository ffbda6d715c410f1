#include "modules/MultiMarginCriterion.h"
#include "criterion/class_targets.h"

/* One row: its scores, those of the gradient, and its class. */
typedef struct Row {
  const real *x;
  real *dx;
  int64_t stride, gradStride, target, classes;
  real reach; /* margin - x[target] */
  bool squared;
} Row;

/* The sum of max(0, z)^p over classes first to end - 1, z = reach + x. NaN stays NaN. */
static inline __attribute__((always_inline)) double lossOf(const Row *row, int64_t first, int64_t end,
                                                           int64_t stride)
{
  double sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t j = first; j < end; j++) {
    const real z = row->reach + row->x[j * stride], term = z <= 0 ? 0 : z;
    sum += row->squared ? term * term : term;
  }
  return sum;
}

/* Writes the gradient of these classes and returns its sum. */
static inline __attribute__((always_inline)) double gradientOf(const Row *row, int64_t first, int64_t end,
                                                               real factor, int64_t stride, int64_t gradStride)
{
  double sum = 0;
  real *const dx = row->dx;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t j = first; j < end; j++) {
    const real z = row->reach + row->x[j * stride], slope = row->squared ? 2 * z * factor : factor;
    const real element = z <= 0 ? 0 : slope;
    dx[j * gradStride] = element;
    sum += element;
  }
  return sum;
}

static double rowLoss(const Row *row)
{
  return row->stride == 1
             ? lossOf(row, 0, row->target, 1) + lossOf(row, row->target + 1, row->classes, 1)
             : lossOf(row, 0, row->target, row->stride) + lossOf(row, row->target + 1, row->classes, row->stride);
}

static void rowGradient(const Row *row, real factor)
{
  const int64_t t = row->target, s = row->stride, g = row->gradStride;
  const double sum =
      s == 1 && g == 1 ? gradientOf(row, 0, t, factor, 1, 1) + gradientOf(row, t + 1, row->classes, factor, 1, 1)
                       : gradientOf(row, 0, t, factor, s, g) + gradientOf(row, t + 1, row->classes, factor, s, g);
  row->dx[t * g] = (real)-sum;
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
  const double share = 1 / ((double)rows.classes * (sizeAverage ? (double)rows.rows : 1));
  THNN_PARALLEL_FOR(n, rows.rows, rows.rows * rows.classes) {
    Row row = rowAt(input, &rows, target, n, p, margin);
    row.dx = TH_DATA(gradInput) + n * gradRows.rowStride;
    row.gradStride = gradRows.classStride;
    rowGradient(&row, (real)(share * weightOf(weights, row.target)));
  }
}
