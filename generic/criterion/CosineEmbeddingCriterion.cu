#include "modules/CosineEmbeddingCriterion.h"
#include "criterion/class_rows.h"

typedef thcunn::ClassRows<Element> Rows;

namespace
{

/* The products of two rows; lengths are squared. */
struct Products {
  real product, length1, length2;
};

/* The loss of a row and its derivative w.r.t. the products. */
struct Slopes {
  real loss, other, same1, same2;
};

struct Pairs {
  Rows x, y;
  const Element *target;
  int64_t targetStride;
  real margin;

  __device__ Slopes slopesOf(int64_t row, Products p) const
  {
    const real length = sqrt(p.length1) * sqrt(p.length2), cosine = p.product / length;
    const real t = thcunn::load(target + row * targetStride);
    const bool costsNothing = t != 1 && (t != -1 || cosine < margin);
    const real slope = costsNothing ? 0 : t == 1 ? -1 : 1;
    return {costsNothing ? 0
            : t == 1     ? 1 - cosine
                         : cosine - margin,
            slope / length, slope * cosine / p.length1, slope * cosine / p.length2};
  }
};

/* The base of the two reductions of a pair of rows to its products. */
struct PairSums {
  typedef Products Value;
  typedef thcunn::NoCoefficients Coefficients;
  struct Term {
    real a, b;
  };
  Pairs pairs;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return {0, 0, 0}; }
  __device__ Term load(Coefficients, int64_t row, int64_t i) const
  {
    return {thcunn::load(pairs.x.at(row, i)), thcunn::load(pairs.y.at(row, i))};
  }
  __device__ void add(Value &partial, Coefficients, const Term &t) const
  {
    partial.product += t.a * t.b;
    partial.length1 += t.a * t.a;
    partial.length2 += t.b * t.b;
  }
  __device__ Value merge(Value a, Value b) const
  {
    return {a.product + b.product, a.length1 + b.length1, a.length2 + b.length2};
  }
  __device__ Slopes slopesOf(int64_t row, Value sums) const
  {
    const real least = (real)1e-12;
    return pairs.slopesOf(row, {sums.product, sums.length1 + least, sums.length2 + least});
  }
};

struct Loss : PairSums {
  real *losses; /* one per row */

  __device__ void finish(int64_t row, Products sums) const { losses[row] = slopesOf(row, sums).loss; }
};

struct Gradient : PairSums {
  Slopes *slopes; /* one per row */

  __device__ void finish(int64_t row, Products sums) const { slopes[row] = slopesOf(row, sums); }
};

} // namespace

static Pairs pairsOf(const THTensor *input1, const THTensor *input2, const THTensor *target, double margin)
{
  return {thcunn::classRows<Element>(input1), thcunn::classRows<Element>(input2), TH_DATA(target),
          target->stride[0], (real)margin};
}

void THNN_(CosineEmbeddingCriterion_updateOutput)(THNNState *state, THTensor *input1, THTensor *input2,
                                                  THTensor *target, THTensor *output, bool sizeAverage,
                                                  accreal margin)
{
  const Pairs pairs = pairsOf(input1, input2, target, margin);
  const int64_t rows = pairs.x.rows;
  real *const losses = thcunn::rowSums<real>(state, rows);
  THNN_RETURN_IF_FAILED(state);
  const Loss loss = {{pairs}, losses};
  thcunn::reduce(state, loss, rows, pairs.x.classes, pairs.x.hasAdjacentClasses());
  thcunn::storeSum(state, losses, rows, sizeAverage ? 1 / (double)rows : 1, TH_DATA(output));
}

void THNN_(CosineEmbeddingCriterion_backward)(THNNState *state, THTensor *input1, THTensor *input2,
                                              THTensor *target, THTensor *gradInput1, THTensor *gradInput2,
                                              bool sizeAverage, accreal margin)
{
  const Pairs pairs = pairsOf(input1, input2, target, margin);
  const Rows x = pairs.x, y = pairs.y;
  const Rows dx = thcunn::classRows<Element>(gradInput1), dy = thcunn::classRows<Element>(gradInput2);
  Slopes *const slopes = thcunn::rowSums<Slopes>(state, x.rows);
  THNN_RETURN_IF_FAILED(state);
  const Gradient gradient = {{pairs}, slopes};
  thcunn::reduce(state, gradient, x.rows, x.classes, x.hasAdjacentClasses());
  const real norm = (real)(sizeAverage ? 1 / (double)x.rows : 1.0);
  const thcunn::GradientFactor<Element> factor(state);
  const thcunn::Divisor columns(x.classes > 0 ? x.classes : 1);
  thcunn::forEach(state, x.rows * x.classes, [=] __device__(int64_t i) {
    const int64_t row = columns.quotient(i), c = i - row * columns.divisor;
    const Slopes s = slopes[row];
    const real a = thcunn::load(x.at(row, c)), b = thcunn::load(y.at(row, c)), scale = factor.value() * norm;
    thcunn::store(dx.at(row, c), scale * (s.other * b - s.same1 * a));
    thcunn::store(dy.at(row, c), scale * (s.other * a - s.same2 * b));
  });
}
