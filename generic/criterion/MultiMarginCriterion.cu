#include "modules/MultiMarginCriterion.h"
#include "criterion/class_rows.h"

typedef thcunn::ClassRows<Element> Rows;

namespace
{

/* The target of a row. */
struct Target {
  int64_t target;
  real reach, weight; /* margin - the score of the target; NaN as the weight of a bad target */
};

struct Samples {
  Rows scores;
  thcunn::IndexCheck check;
  const int64_t *target;
  const Element *weights;
  int64_t targetStride, weightStride;
  real margin;
  bool squared;

  __device__ Target targetOf(int64_t row) const
  {
    const int64_t t = target[row * targetStride];
    if (!check(t, row)) return {t, 0, (real)NAN};
    return {t, margin - thcunn::load(scores.at(row, t)), weights ? thcunn::load(weights + t * weightStride) : 1};
  }
};

struct Score {
  int64_t c;
  real score;
};

/* The base of the two reductions of a row: a sum of terms of the scores of all classes but the target. */
struct RowSum {
  typedef real Value;
  typedef Target Coefficients;
  typedef Score Term;
  Samples s;

  __device__ Target begin(int64_t row) const { return s.targetOf(row); }
  __device__ real zero() const { return 0; }
  __device__ Score load(const Target &, int64_t row, int64_t c) const
  {
    return {c, thcunn::load(s.scores.at(row, c))};
  }
  __device__ real merge(real a, real b) const { return a + b; }
};

struct Loss : RowSum {
  real *sums; /* one per row */

  __device__ void add(real &partial, const Target &k, const Score &x) const
  {
    if (x.c == k.target) return;
    const real z = k.reach + x.score, term = z <= 0 ? 0 : z;
    partial += k.weight * (s.squared ? term * term : term);
  }
  __device__ void finish(int64_t row, real sum) const { sums[row] = sum; }
};

/* The gradient of each row; the gradient w.r.t. the target's score is the negative sum of the others. */
struct Gradient : RowSum {
  Rows gradient;
  real share;
  thcunn::GradientFactor<Element> factor;

  struct Coefficients : Target {
    real scale;
    Element *gradient; /* w.r.t. the score of class 0 */
  };
  __device__ Coefficients begin(int64_t row) const
  {
    const Target k = s.targetOf(row);
    return {k, factor.value() * (share * k.weight), gradient.at(row, 0)};
  }
  __device__ void add(real &partial, const Coefficients &k, const Score &x) const
  {
    if (x.c == k.target) return;
    const real z = k.reach + x.score, slope = z <= 0 ? 0 : s.squared ? 2 * z : 1;
    thcunn::store(k.gradient + x.c * gradient.classStride, slope * k.scale);
    partial += slope;
  }
  __device__ void finish(int64_t row, real sum) const
  {
    const Coefficients k = begin(row);
    if (s.check(k.target, row)) thcunn::store(gradient.at(row, k.target), -sum * k.scale);
  }
};

} // namespace

static Samples samplesOf(THNNState *state, const THTensor *input, const THIndexTensor *target, int p,
                         const THTensor *weights, double margin)
{
  const Rows scores = thcunn::classRows<Element>(input);
  Samples s = {scores,
               thcunn::indexCheck(state, "target", 0, scores.classes),
               (const int64_t *)target->data,
               weights ? TH_DATA(weights) : NULL,
               target->ndim ? target->stride[0] : 0,
               weights ? weights->stride[0] : 0,
               (real)margin,
               p == 2};
  return s;
}

void THNN_(MultiMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                              THTensor *output, bool sizeAverage, int p, THTensor *weights,
                                              accreal margin)
{
  const Samples s = samplesOf(state, input, target, p, weights, margin);
  const int64_t rows = s.scores.rows;
  const double scale =
      rows == 0 && !sizeAverage ? 1 : 1 / ((double)s.scores.classes * (sizeAverage ? (double)rows : 1));
  real *const sums = thcunn::rowSums<real>(state, rows);
  THNN_RETURN_IF_FAILED(state);
  const Loss loss = {{s}, sums};
  thcunn::reduce(state, loss, rows, s.scores.classes, s.scores.hasAdjacentClasses());
  thcunn::storeSum(state, sums, rows, scale, TH_DATA(output));
}

void THNN_(MultiMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                 THTensor *gradInput, bool sizeAverage, int p, THTensor *weights,
                                                 accreal margin)
{
  const Samples s = samplesOf(state, input, target, p, weights, margin);
  const Rows gradient = thcunn::classRows<Element>(gradInput);
  const double share = 1 / ((double)gradient.classes * (sizeAverage ? (double)gradient.rows : 1));
  const Gradient g = {{s}, gradient, (real)share, state};
  thcunn::reduce(state, g, gradient.rows, gradient.classes, gradient.hasAdjacentClasses());
}
