#include "modules/CosineEmbeddingCriterion.h"
#include "criterion/pair_rows.h"

/* Added to the squared length of a row. */
static const double LEAST = 1e-12;

/* The products of two rows; lengths are squared. */
typedef struct Products {
  double product, length1, length2;
} Products;

/* The strides are constants in the call for contiguous rows. */
static ALWAYS_INLINE Products multiply(const real *x, int64_t xStride, const real *y, int64_t yStride, int64_t n)
{
  Products total = {0, LEAST, LEAST};
  for (int64_t first = 0; first < n; first += PAIR_BLOCK) {
    const int count = (int)MIN(PAIR_BLOCK, n - first);
    const real *const a = x + first * xStride, *const b = y + first * yStride;
    real ab = 0, aa = 0, bb = 0;
    THNN_PRAGMA(omp simd reduction(+ : ab, aa, bb))
    for (int i = 0; i < count; i++) {
      const real p = a[i * xStride], q = b[i * yStride];
      ab += p * q;
      aa += p * p;
      bb += q * q;
    }
    total.product += ab;
    total.length1 += aa;
    total.length2 += bb;
  }
  return total;
}

static Products productsOf(Row x, Row y, int64_t n)
{
  return x.stride == 1 && y.stride == 1 ? multiply(x.at, 1, y.at, 1, n)
                                        : multiply(x.at, x.stride, y.at, y.stride, n);
}

static double cosine(Products p) { return p.product / sqrt(p.length1 * p.length2); }

static double loss(double cosine, real target, double margin)
{
  return target == 1 ? 1 - cosine : target != -1 || cosine < margin ? 0 : cosine - margin;
}

/* The derivative of the loss w.r.t. the cosine. */
static double slope(double cosine, real target, double margin)
{
  return target == 1 ? -1 : target != -1 || cosine < margin ? 0 : 1;
}

static inline real targetOf(const THTensor *target, int64_t n) { return TH_DATA(target)[n * target->stride[0]]; }

void THNN_(CosineEmbeddingCriterion_updateOutput)(THNNState *state, THTensor *input1, THTensor *input2,
                                                  THTensor *target, THTensor *output, bool sizeAverage,
                                                  accreal margin)
{
  CHECK_PAIRS(input1, input2);
  checkOnePerPair(state, input1, "target", target);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input1);
  THNN_CHECK_NO_OVERLAP(output, input2);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_RETURN_IF_META(state);
  const int64_t rows = input1->size[0], n = input1->size[1], tasks = MIN(rows, MAX_TASKS);
  double losses[MAX_TASKS], sum = 0;
  THNN_PARALLEL_FOR(task, tasks, rows * n) {
    losses[task] = 0;
    for (int64_t r = firstOfTask(task, tasks, rows); r < firstOfTask(task + 1, tasks, rows); r++)
      losses[task] += loss(cosine(productsOf(rowOf(input1, r), rowOf(input2, r), n)), targetOf(target, r), margin);
  }
  for (int64_t task = 0; task < tasks; task++) sum += losses[task];
  *TH_DATA(output) = (real)(sizeAverage ? sum / (double)rows : sum);
}

void THNN_(CosineEmbeddingCriterion_backward)(THNNState *state, THTensor *input1, THTensor *input2,
                                              THTensor *target, THTensor *gradInput1, THTensor *gradInput2,
                                              bool sizeAverage, accreal margin)
{
  CHECK_PAIRS(input1, input2);
  checkOnePerPair(state, input1, "target", target);
  THNN_RETURN_IF_FAILED(state);
  CHECK_PAIR_GRADIENT(gradInput1, input1, input2, target);
  CHECK_PAIR_GRADIENT(gradInput2, input2, input1, target);
  THNN_CHECK_NO_OVERLAP(gradInput2, gradInput1);
  THNN_RETURN_IF_META(state);
  const int64_t rows = input1->size[0], n = input1->size[1], tasks = MIN(rows, MAX_TASKS);
  const double norm = THNNState_gradientFactor(state) / (sizeAverage ? (double)rows : 1.0);
  THNN_PARALLEL_FOR(task, tasks, rows * n)
    for (int64_t r = firstOfTask(task, tasks, rows); r < firstOfTask(task + 1, tasks, rows); r++) {
      const Row x = rowOf(input1, r), y = rowOf(input2, r), dx = rowOf(gradInput1, r), dy = rowOf(gradInput2, r);
      const Products p = productsOf(x, y, n);
      const double c = cosine(p), factor = norm * slope(c, targetOf(target, r), margin);
      const real other = (real)(factor / sqrt(p.length1 * p.length2));
      const real same1 = (real)(factor * c / p.length1), same2 = (real)(factor * c / p.length2);
      THNN_PRAGMA(omp simd)
      for (int64_t i = 0; i < n; i++) {
        const real a = x.at[i * x.stride], b = y.at[i * y.stride];
        dx.at[i * dx.stride] = other * b - same1 * a;
        dy.at[i * dy.stride] = other * a - same2 * b;
      }
    }
}
