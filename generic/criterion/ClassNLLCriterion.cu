#include "modules/ClassNLLCriterion.h"
#include "modules/SpatialClassNLLCriterion.h"
#include "batch_norm/channels.h"

using THNN_(channels)::ChannelVector;

/* The positions of a target, with one class each, as images x rows x width: N x H x W for (N, H, W), 1 x 1 x N for (N),
   1 x 1 x 1 for (1). The three strides of a View are for images, rows and positions. */
namespace
{

struct Positions {
  thcunn::Extents<3> extents;
  thcunn::View<Element, 3> scores; /* the scores of class 0: input or gradInput */
  int64_t classes, classStride, ignoreIndex, weightStride;
  thcunn::View<const int64_t, 3> target;
  const Element *weights;

  __device__ real weightOf(int64_t target) const
  {
    return weights ? thcunn::load(weights + target * weightStride) : 1;
  }
};

/* Classes that a thread writes for a position if positions are adjacent in memory. */
const int CLASSES_PER_THREAD = 8;

} // namespace

static Positions positionsOf(const THTensor *scores, const THIndexTensor *target, const THTensor *weights,
                             int64_t ignoreIndex)
{
  const bool spatial = scores->ndim == 4, batched = scores->ndim >= 2;
  const int64_t width = batched ? scores->size[0] : 1;
  Positions p;
  p.extents.size[0] = spatial ? scores->size[0] : 1;
  p.extents.size[1] = spatial ? scores->size[2] : 1;
  p.extents.size[2] = spatial ? scores->size[3] : width;
  p.scores.data = TH_DATA(scores);
  p.scores.stride[0] = spatial ? scores->stride[0] : 0;
  p.scores.stride[1] = spatial ? scores->stride[2] : 0;
  p.scores.stride[2] = spatial ? scores->stride[3] : batched ? scores->stride[0] : 0;
  p.classes = scores->size[batched];
  p.classStride = scores->stride[batched];
  p.ignoreIndex = ignoreIndex;
  p.target.data = (const int64_t *)target->data;
  for (int d = 0; d < 3; d++)
    p.target.stride[d] = spatial ? target->stride[d] : d == 2 && target->ndim ? target->stride[0] : 0;
  p.weights = weights ? TH_DATA(weights) : NULL;
  p.weightStride = weights ? weights->stride[0] : 0;
  return p;
}

namespace
{

/* The sums of weights * scores and of weights. */
struct LossSums {
  typedef thcunn::NoCoefficients Coefficients;
  struct Value {
    real loss, total;
  };
  struct Term {
    int64_t target, position;
    real score, weight; /* 0 if the target is ignored or bad */
  };
  Positions p;
  thcunn::IndexCheck check;
  Element *output;
  ChannelVector totalWeight; /* one number */
  bool sizeAverage;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return {0, 0}; }
  __device__ Term load(Coefficients, int64_t, int64_t i) const
  {
    int64_t index[3];
    p.extents.indices(i, index);
    const int64_t target = *p.target.at(index);
    if (target == p.ignoreIndex || target < 0 || target >= p.classes) return {target, i, 0, 0};
    return {target, i, thcunn::load(p.scores.at(index) + target * p.classStride), p.weightOf(target)};
  }
  __device__ void add(Value &partial, Coefficients, const Term &term) const
  {
    if (term.target == p.ignoreIndex) return;
    if (!check(term.target, term.position)) {
      partial.loss = NAN;
      return;
    }
    partial.loss -= term.weight * term.score;
    partial.total += term.weight;
  }
  __device__ Value merge(Value a, Value b) const { return {a.loss + b.loss, a.total + b.total}; }
  __device__ void finish(int64_t, Value sum) const
  {
    totalWeight.set(0, sum.total);
    thcunn::store(output, sizeAverage && sum.total != 0 ? sum.loss / sum.total : sum.loss);
  }
};

/* The gradient w.r.t. the target's score, without the gradient factor. */
struct Slope {
  Positions p;
  thcunn::IndexCheck check;
  ChannelVector totalWeight;
  bool sizeAverage, isSingle;

  /* The gradient for a target that is not ignored. */
  __device__ real of(int64_t target, int64_t position) const
  {
    if (!check(target, position)) return NAN;
    const real total = totalWeight.get(0);
    if (!(total > 0)) return 0;
    const real weight = p.weightOf(target);
    return !sizeAverage ? -weight : isSingle ? -1 : -weight / total;
  }
};

} // namespace

static void loss(THNNState *state, const THTensor *input, const THIndexTensor *target, const THTensor *output,
                 bool sizeAverage, const THTensor *weights, const THTensor *total_weight, int64_t ignoreIndex)
{
  LossSums sums = {positionsOf(input, target, weights, ignoreIndex),
                   thcunn::indexCheck(state, "target", 0, input->size[input->ndim >= 2]), TH_DATA(output),
                   total_weight, sizeAverage};
  thcunn::reduceRows<1>(state, sums, 1, sums.p.extents.count());
}

static void gradient(THNNState *state, const THTensor *input, const THIndexTensor *target,
                     const THTensor *gradInput, bool sizeAverage, const THTensor *weights,
                     const THTensor *total_weight, int64_t ignoreIndex)
{
  const Positions p = positionsOf(gradInput, target, weights, ignoreIndex);
  const Slope slope = {p, thcunn::indexCheck(state, "target", 0, p.classes), total_weight, sizeAverage,
                       input->ndim == 1};
  const thcunn::GradientFactor<Element> factor(state);
  const int64_t positions = p.extents.count();
  if (p.classStride == 1) {
    const thcunn::Divisor classes(p.classes);
    thcunn::forEach(state, positions * p.classes, [=] __device__(int64_t i) {
      const int64_t position = classes.quotient(i), c = i - position * p.classes;
      int64_t index[3];
      p.extents.indices(position, index);
      const int64_t t = *p.target.at(index);
      const bool isIgnored = t == p.ignoreIndex, isTarget = t == c || (c == 0 && (t < 0 || t >= p.classes));
      thcunn::store(p.scores.at(index) + c, factor.value() * (isTarget && !isIgnored ? slope.of(t, position) : 0));
    });
    return;
  }
  const thcunn::Divisor divisor(positions);
  const int64_t groups = (p.classes + CLASSES_PER_THREAD - 1) / CLASSES_PER_THREAD;
  thcunn::forEach(state, positions * groups, [=] __device__(int64_t i) {
    const int64_t group = divisor.quotient(i), position = i - group * positions;
    int64_t index[3];
    p.extents.indices(position, index);
    const int64_t t = *p.target.at(index), first = group * CLASSES_PER_THREAD;
    const int64_t end = first + CLASSES_PER_THREAD < p.classes ? first + CLASSES_PER_THREAD : p.classes;
    const bool isHere = (t >= first && t < end) || (first == 0 && (t < 0 || t >= p.classes));
    const real value = isHere && t != p.ignoreIndex ? slope.of(t, position) : 0, scale = factor.value();
    const int64_t written = t >= first && t < end ? t : first;
    Element *const dx = p.scores.at(index);
    for (int64_t c = first; c < end; c++)
      thcunn::store(dx + c * p.classStride, scale * (c == written ? value : 0));
  });
}

void THNN_(ClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                           THTensor *output, bool sizeAverage, THTensor *weights,
                                           THTensor *total_weight, int64_t ignore_index)
{
  loss(state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(ClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                              THTensor *gradInput, bool sizeAverage, THTensor *weights,
                                              THTensor *total_weight, int64_t ignore_index)
{
  gradient(state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(SpatialClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                  THTensor *output, bool sizeAverage, THTensor *weights,
                                                  THTensor *total_weight, int64_t ignore_index)
{
  loss(state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(SpatialClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                     THTensor *gradInput, bool sizeAverage, THTensor *weights,
                                                     THTensor *total_weight, int64_t ignore_index)
{
  gradient(state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}
