#include "modules/MultiLabelMarginCriterion.h"
#include "criterion/class_rows.h"
#include "runtime/warp.h"

typedef thcunn::ClassRows<Element> Rows;
typedef thcunn::ClassRows<const int64_t> Labels;

/* The labels of a row of `target` are the classes before the first -1. Each pair of a label and a class that is not a
   label has a term max(0, 1 - x[label] + x[class]). */

namespace
{

/* The loss of each row. A term is the sum over the labels for a class. */
struct Loss : thcunn::LoadsOneTerm {
  typedef real Value;
  typedef real Term;
  typedef thcunn::NoCoefficients Coefficients;
  Rows x, mask;
  Labels labels;
  thcunn::IndexCheck check;
  real *sums; /* one per row */

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ real zero() const { return 0; }
  __device__ real load(Coefficients, int64_t row, int64_t c) const
  {
    const real score = thcunn::load(x.at(row, c));
    real sum = 0;
    bool isLabel = false, isValid = true;
    for (int64_t i = 0; i < labels.classes; i++) {
      const int64_t label = *labels.at(row, i);
      if (label == -1) break;
      isLabel = isLabel || label == c;
      isValid = isValid && check(label, row);
      if (!isValid) continue;
      const real z = 1 - thcunn::load(x.at(row, label)) + score;
      sum += z <= 0 ? 0 : z;
    }
    thcunn::store(mask.at(row, c), isLabel ? 1 : 0);
    return !isValid ? (real)NAN : isLabel ? 0 : sum;
  }
  __device__ void add(real &partial, Coefficients, real term) const { partial += term; }
  __device__ real merge(real a, real b) const { return a + b; }
  __device__ void finish(int64_t row, real sum) const { sums[row] = sum; }
};

} // namespace

void THNN_(MultiLabelMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                   THTensor *output, THTensor *isTarget, bool sizeAverage)
{
  const Rows x = thcunn::classRows<Element>(input);
  const double scale = (x.rows > 0 ? 1 / (double)x.classes : 1) * (sizeAverage ? 1 / (double)x.rows : 1);
  real *const sums = thcunn::rowSums<real>(state, x.rows);
  const Loss loss = {{},
                     x,
                     thcunn::classRows<Element>(isTarget),
                     thcunn::classRows<const int64_t>(target),
                     thcunn::indexCheck(state, "target", 0, x.classes, "in row"),
                     sums};
  THNN_RETURN_IF_FAILED(state);
  thcunn::reduce(state, loss, x.rows, x.classes, x.hasAdjacentClasses());
  thcunn::storeSum(state, sums, x.rows, scale, TH_DATA(output));
}

namespace
{

struct Gradient {
  Rows x, mask, gradient;
  Labels labels;
  thcunn::IndexCheck check;
  real share;
  thcunn::GradientFactor<Element> factor;

  __device__ bool isTarget(int64_t row, int64_t c) const { return thcunn::load(mask.at(row, c)) != 0; }
  /* True if the term of a label and a class is positive or NaN. */
  __device__ bool isPositive(int64_t row, int64_t label, int64_t c) const
  {
    return !(1 - thcunn::load(x.at(row, label)) + thcunn::load(x.at(row, c)) <= 0);
  }
};

/* A block per row. First each thread stores the gradients w.r.t. classes that are not labels, and 0 for labels. Then
   each warp adds the gradient w.r.t. a label, where the label first occurs. */
__global__ void __launch_bounds__(thcunn::THREADS) gradientKernel(Gradient g)
{
  const int64_t row = blockIdx.x, classes = g.x.classes;
  const int lane = threadIdx.x % thcunn::WARP, warp = threadIdx.x / thcunn::WARP;
  int64_t count = 0; /* number of labels */
  for (int64_t first = 0; first < classes; first += thcunn::WARP) {
    const bool isEnd = first + lane >= classes || *g.labels.at(row, first + lane) == -1;
    const unsigned ends = __ballot_sync(thcunn::ALL_LANES, isEnd);
    int labels = 0;
    while (labels < thcunn::WARP && (ends >> labels & 1) == 0) labels++;
    count += labels;
    if (ends != 0) break;
  }
  const real scale = g.factor.value() * g.share;
  for (int64_t c = threadIdx.x; c < classes; c += thcunn::THREADS) {
    int positive = 0;
    const bool isTarget = g.isTarget(row, c);
    if (!isTarget)
      for (int64_t i = 0; i < count; i++) {
        const int64_t label = *g.labels.at(row, i);
        if (g.check(label, row)) positive += g.isPositive(row, label, c);
      }
    thcunn::store(g.gradient.at(row, c), isTarget ? 0 : scale * (real)positive);
  }
  __syncthreads();
  for (int64_t i = warp; i < count; i += thcunn::THREADS / thcunn::WARP) {
    const int64_t label = *g.labels.at(row, i);
    if (!g.check(label, row)) continue;
    int before = 0, same = 0, positive = 0;
    for (int64_t k = lane; k < count; k += thcunn::WARP)
      if (*g.labels.at(row, k) == label) {
        same++;
        before += k < i;
      }
    if (thcunn::sumOverWarp(before) > 0) continue;
    for (int64_t c = lane; c < classes; c += thcunn::WARP)
      if (!g.isTarget(row, c)) positive += g.isPositive(row, label, c);
    positive = thcunn::sumOverWarp(positive);
    same = thcunn::sumOverWarp(same);
    Element *const dx = g.gradient.at(row, label);
    if (lane == 0) thcunn::store(dx, thcunn::load(dx) - scale * (real)same * (real)positive);
  }
}

} // namespace

void THNN_(MultiLabelMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                      THTensor *gradInput, THTensor *isTarget, bool sizeAverage)
{
  const Rows x = thcunn::classRows<Element>(input);
  const double share = 1 / ((double)x.classes * (sizeAverage ? (double)x.rows : 1));
  const Gradient g = {x,
                      thcunn::classRows<Element>(isTarget),
                      thcunn::classRows<Element>(gradInput),
                      thcunn::classRows<const int64_t>(target),
                      thcunn::indexCheck(state, "target", 0, x.classes, "in row"),
                      (real)share,
                      state};
  if (x.rows == 0 || state->status != THNN_OK) return;
  if (x.rows > 0x7fffffff)
    return THNN_fail(state, THNN_NOT_IMPLEMENTED, "input", "%lld rows are more than a launch can have",
                     (long long)x.rows);
  THCUNN_LAUNCH(gradientKernel, (unsigned)x.rows, thcunn::THREADS, thcunn::streamOf(state))(g);
}
