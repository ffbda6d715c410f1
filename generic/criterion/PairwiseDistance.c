#include "modules/PairwiseDistance.h"
#include "criterion/pair_rows.h"
#include "simd/vector_math.h"

static void checkDistance(THNNState *state, const THTensor *x1, const THTensor *x2, int p)
{
  THNN_CHECK(p == 1 || p == 2, p, "expected 1 or 2, got %d", p);
  CHECK_PAIRS(x1, x2);
}

/* The sum of |x - y + eps|^p. The strides and p are constants in the calls for contiguous rows. */
static ALWAYS_INLINE double powers(const real *x, int64_t xStride, const real *y, int64_t yStride, int64_t n,
                                   real eps, bool squared)
{
  double total = 0;
  for (int64_t first = 0; first < n; first += PAIR_BLOCK) {
    const int count = (int)MIN(PAIR_BLOCK, n - first);
    const real *const a = x + first * xStride, *const b = y + first * yStride;
    real sum = 0;
    THNN_PRAGMA(omp simd reduction(+ : sum))
    for (int i = 0; i < count; i++) {
      const real d = a[i * xStride] - b[i * yStride] + eps;
      sum += squared ? d * d : th_abs(d);
    }
    total += sum;
  }
  return total;
}

static double distance(Row x, Row y, int64_t n, real eps, int p)
{
  const bool contiguous = x.stride == 1 && y.stride == 1;
  if (p == 2)
    return sqrt(contiguous ? powers(x.at, 1, y.at, 1, n, eps, true)
                           : powers(x.at, x.stride, y.at, y.stride, n, eps, true));
  return contiguous ? powers(x.at, 1, y.at, 1, n, eps, false)
                    : powers(x.at, x.stride, y.at, y.stride, n, eps, false);
}

void THNN_(PairwiseDistance_updateOutput)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *output, int p,
                                          accreal eps)
{
  checkDistance(state, x1, x2, p);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, x1->size[0]);
  THNN_CHECK_NO_OVERLAP(output, x1);
  THNN_CHECK_NO_OVERLAP(output, x2);
  THNN_RETURN_IF_META(state);
  const int64_t rows = x1->size[0], n = x1->size[1], tasks = MIN(rows, MAX_TASKS);
  THNN_PARALLEL_FOR(task, tasks, rows * n)
    for (int64_t r = firstOfTask(task, tasks, rows); r < firstOfTask(task + 1, tasks, rows); r++)
      TH_DATA(output)[r * output->stride[0]] = (real)distance(rowOf(x1, r), rowOf(x2, r), n, (real)eps, p);
}

void THNN_(PairwiseDistance_backward)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *gradOutput,
                                      THTensor *gradX1, THTensor *gradX2, THTensor *output, int p, accreal eps)
{
  checkDistance(state, x1, x2, p);
  THNN_RETURN_IF_FAILED(state);
  checkOnePerPair(state, x1, "gradOutput", gradOutput);
  checkOnePerPair(state, x1, "output", output);
  THNN_RETURN_IF_FAILED(state);
  CHECK_PAIR_GRADIENT(gradX1, x1, x2, gradOutput);
  CHECK_PAIR_GRADIENT(gradX2, x2, x1, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradX2, gradX1);
  THNN_CHECK_NO_OVERLAP(gradX1, output);
  THNN_CHECK_NO_OVERLAP(gradX2, output);
  THNN_RETURN_IF_META(state);
  const int64_t rows = x1->size[0], n = x1->size[1], tasks = MIN(rows, MAX_TASKS);
  THNN_PARALLEL_FOR(task, tasks, rows * n)
    for (int64_t r = firstOfTask(task, tasks, rows); r < firstOfTask(task + 1, tasks, rows); r++) {
      const Row x = rowOf(x1, r), y = rowOf(x2, r), dx = rowOf(gradX1, r), dy = rowOf(gradX2, r);
      const real g = TH_DATA(gradOutput)[r * gradOutput->stride[0]], size = TH_DATA(output)[r * output->stride[0]];
      const real factor = p == 1 ? g : size == 0 ? 0 : g / size, e = (real)eps;
      THNN_PRAGMA(omp simd)
      for (int64_t i = 0; i < n; i++) {
        const real d = x.at[i * x.stride] - y.at[i * y.stride] + e;
        const real slope = factor * (p == 2 || d != d ? d : d > 0 ? 1 : d < 0 ? -1 : 0);
        dx.at[i * dx.stride] = slope;
        dy.at[i * dy.stride] = -slope;
      }
    }
}
