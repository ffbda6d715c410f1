#include "modules/MultiMarginCriterion.h"
#include "criterion/class_rows.h"

typedef thcunn::ClassRows<Element> Rows;

namespace
{

struct Samples {
  Rows scores;
  thcunn::IndexCheck check;
  const int64_t *target;
  const Element *weights;
  int64_t targetStride, weightStride;
  real margin;
  bool squared;

  __device__ int64_t targetOf(int64_t row) const { return target[row * targetStride]; }
  __device__ real weightOf(int64_t target) const
  {
    return weights ? thcunn::load(weights + target * weightStride) : 1;
  }
  /* The argument of the hinge. */
  __device__ real distance(int64_t row, int64_t target, int64_t c) const
  {
    return margin - thcunn::load(scores.at(row, target)) + thcunn::load(scores.at(row, c));
  }
};

/* The gradient of each row; the gradient by the score of the target is the negative sum of the others. */
struct Gradient {
  typedef real Value;
  typedef thcunn::NoCoefficients Coefficients;
  Samples s;
  Rows gradient;
  real share;
  thcunn::GradientFactor<Element> factor;

  __device__ real scaleOf(int64_t target) const { return factor.value() * (share * s.weightOf(target)); }
  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return 0; }
  __device__ void add(Value &partial, Coefficients, int64_t row, int64_t c) const
  {
    const int64_t target = s.targetOf(row);
    if (c == target) return;
    if (!s.check(target, row)) {
      thcunn::store(gradient.at(row, c), NAN);
      return;
    }
    const real z = s.distance(row, target, c), slope = z <= 0 ? 0 : s.squared ? 2 * z : 1;
    thcunn::store(gradient.at(row, c), slope * scaleOf(target));
    partial += slope;
  }
  __device__ Value merge(Value a, Value b) const { return a + b; }
  __device__ void finish(int64_t row, Value sum) const
  {
    const int64_t target = s.targetOf(row);
    if (!s.check(target, row)) return;
    thcunn::store(gradient.at(row, target), -sum * scaleOf(target));
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
  thcunn::sumOverClasses<real>(state, output, s.scores, scale, [=] __device__(int64_t row, int64_t c) -> real {
    const int64_t target = s.targetOf(row);
    if (!s.check(target, row)) return NAN;
    if (c == target) return 0;
    const real z = s.distance(row, target, c), term = z <= 0 ? 0 : z;
    return s.weightOf(target) * (s.squared ? term * term : term);
  });
}

void THNN_(MultiMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                 THTensor *gradInput, bool sizeAverage, int p, THTensor *weights,
                                                 accreal margin)
{
  const Samples s = samplesOf(state, input, target, p, weights, margin);
  const Rows gradient = thcunn::classRows<Element>(gradInput);
  const double share = 1 / ((double)gradient.classes * (sizeAverage ? (double)gradient.rows : 1));
  const Gradient g = {s, gradient, (real)share, state};
  thcunn::reduce(state, g, gradient.rows, gradient.classes, gradient.classStride <= gradient.rowStride);
}
