#ifndef THCUNN_POOLING_SUMS_H
#define THCUNN_POOLING_SUMS_H

/* The sums of windows, and their gradients: means, and sums with a factor and a bias per channel. */

#include "pooling/windows.h"

namespace thcunn
{
namespace pooling
{

/* output = sum / the product of the divisors along the axes. */
template <class T, class I, class Axis> struct Mean {
  typedef typename Arithmetic<T>::type R;
  Axis axis[WINDOW_AXES];
  R uniform; /* the divisor of all outputs; 0 if they differ */
  bool countPadding;

  __device__ R along(int a, I o) const { return (R)axis[a].divisor(o, countPadding); }
  __device__ R output(const Place<I> &p, R sum) const
  {
    return sum / (uniform != 0 ? uniform : along(0, p.x[0]) * along(1, p.x[1]) * along(2, p.x[2]));
  }
  /* divisor(): the divisor along the depth and axis a; term(): an output's term, given it and the divisor along axis
     b. */
  __device__ R divisor(I d, int a, I o) const { return uniform != 0 ? 1 : along(0, d) * along(a, o); }
  __device__ R term(R divisor, int b, I o, R g) const { return uniform != 0 ? g : g / (divisor * along(b, o)); }
  __device__ R gradient(const Place<I> &, R sum) const { return uniform != 0 ? sum / uniform : sum; }
};

/* output = sum * weight[c] + bias[c]. */
template <class T, class I> struct Scaled {
  typedef typename Arithmetic<T>::type R;
  const T *weight, *bias;
  int64_t weightStride, biasStride;

  __device__ R factor(const Place<I> &p) const { return load(weight + p.c * weightStride); }
  __device__ R output(const Place<I> &p, R sum) const { return sum * factor(p) + load(bias + p.c * biasStride); }
  __device__ R divisor(I, int, I) const { return 1; }
  __device__ R term(R, int, I, R g) const { return g; }
  __device__ R gradient(const Place<I> &p, R sum) const { return sum * factor(p); }
};

/* A thread per output. */
template <class T, class I, class Kind, class Result> struct SumForward {
  typedef typename Arithmetic<T>::type R;
  static const int SUM_LOADS = sizeof(R) == 4 ? 4 : 2; /* elements of a row at a time, as registers allow */
  WindowReader<T, I, Kind> windows;
  Images<T, I> output;
  Result result;

  __device__ R sum(const Place<I> &p) const
  {
    Span<I> span[WINDOW_AXES];
    windows.spans(p, span);
    I step[WINDOW_AXES];
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) step[a] = span[a].step * windows.x.sx[a];
    const T *slice = windows.first(p, span);
    R sum = 0;
#pragma unroll 1
    for (I d = 0; d < span[0].count; d++, slice += step[0]) {
      const T *row = slice;
#pragma unroll 1
      for (I h = 0; h < span[1].count; h++, row += step[1]) {
        const T *from = row;
        R rowSum = 0;
#pragma unroll 1
        for (I w = span[2].count; w > 0; w -= SUM_LOADS, from += SUM_LOADS * step[2]) {
          R value[SUM_LOADS];
#pragma unroll
          for (int j = 0; j < SUM_LOADS; j++) value[j] = j < w ? load(from + j * step[2]) : 0;
#pragma unroll
          for (int j = 0; j < SUM_LOADS; j++) rowSum += value[j];
        }
        sum += rowSum;
      }
    }
    return sum;
  }
  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = windows.outputs.at((I)i);
    store(output.at(p), result.output(p, sum(p)));
  }
};

/* Lanes of a warp per output. */
template <class T, class I, class Kind, class Result> struct SumByLanes {
  typedef typename Arithmetic<T>::type R;
  static const int LOADS = 4; /* rows at a time */
  SumForward<T, I, Kind, Result> forward;
  WindowLanes lanes;

  __device__ void operator()(int64_t i) const
  {
    const auto &windows = forward.windows;
    const int lane = lanes.lane(i);
    const Window<I> window = windows.window(lanes.output(i));
    const Span<I>(&span)[WINDOW_AXES] = window.span;
    const I step = span[1].step * windows.x.sx[1], rows = lane < span[2].count ? span[1].count : 0;
    const T *slice = windows.first(window.output, span) + lane * span[2].step * windows.x.sx[2];
    R sum = 0;
#pragma unroll 1
    for (I d = 0; d < span[0].count; d++, slice += span[0].step * windows.x.sx[0]) {
      const T *from = slice;
#pragma unroll 1
      for (I h = rows; h > 0; h -= LOADS, from += LOADS * step) {
        R value[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++) value[j] = j < h ? load(from + j * step) : 0;
#pragma unroll
        for (int j = 0; j < LOADS; j++) sum += value[j];
      }
    }
#pragma unroll 1
    for (int distance = lanes.count() / 2; distance > 0; distance /= 2)
      sum += __shfl_xor_sync(ALL_LANES, sum, distance);
    if (lanes.stores(i)) store(forward.output.at(window.output), forward.result.output(window.output, sum));
  }
};

/* The sums as reductions. */
template <class T, class I, class Kind, class Result> struct SumReduction {
  typedef typename Arithmetic<T>::type Value;
  typedef Value Term;
  typedef Window<I> Coefficients;
  SumForward<T, I, Kind, Result> forward;

  __device__ Coefficients begin(int64_t row) const { return forward.windows.window(row); }
  __device__ Value zero() const { return 0; }
  __device__ Term load(const Coefficients &window, int64_t, int64_t i) const
  {
    I k[WINDOW_AXES];
    if (!forward.windows.element((I)i, window.span, k)) return 0;
    return thcunn::load(forward.windows.at(window.output, window.span, k));
  }
  __device__ void add(Value &partial, const Coefficients &, Term term) const { partial += term; }
  __device__ Value merge(Value a, Value b) const { return a + b; }
  __device__ void finish(int64_t row, Value sum) const
  {
    const Place<I> p = forward.windows.outputs.at((I)row);
    store(forward.output.at(p), forward.result.output(p, sum));
  }
};

/* Each input gets the sum of the terms of the outputs that read it. Windows have dilation 1. */
template <class T, class I, class Kind, int AXES, class Result> struct SumBackward {
  typedef typename Arithmetic<T>::type R;
  typedef InputGroups<I, Kind, AXES> Groups;
  static const int ALONG = Groups::ALONG, ACROSS = Groups::ACROSS, LOADS = Groups::LOADS;
  Groups groups;
  Images<const T, I> gradOutput;
  Images<T, I> gradInput;
  Result result;

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = groups.first((I)i);
    Span<I> span[WINDOW_AXES];
    groups.readers(p, span);
    const I end = span[ALONG].begin + span[ALONG].count;
    const T *g = gradOutput.plane(p);
    R sum[Groups::SIZE] = {};
#pragma unroll 1
    for (I d = span[0].begin; d < span[0].begin + span[0].count; d++)
#pragma unroll 1
      for (I k = span[ACROSS].begin; k < span[ACROSS].begin + span[ACROSS].count; k++) {
        const T *from = g + (d * gradOutput.sx[0] + k * gradOutput.sx[ACROSS]);
        const R divisor = result.divisor(d, ACROSS, k);
#pragma unroll 1
        for (I o = span[ALONG].begin; o < end; o += LOADS) {
          R value[LOADS];
#pragma unroll
          for (int l = 0; l < LOADS; l++) value[l] = o + l < end ? load(from + (o + l) * gradOutput.sx[ALONG]) : 0;
#pragma unroll
          for (int l = 0; l < LOADS; l++) {
            if (o + l >= end) continue;
            const R term = result.term(divisor, ALONG, o + l, value[l]);
#pragma unroll
            for (int j = 0; j < Groups::SIZE; j++)
              if (groups.axis[ALONG].mayRead(o + l, p.x[ALONG] + j)) sum[j] += term;
          }
        }
      }
#pragma unroll
    for (int j = 0; j < Groups::SIZE; j++) sum[j] = result.gradient(p, sum[j]);
    groups.finish(gradInput, p, sum);
  }
};

/* The gradient of a mean of whole planes: each input gets the same share of the gradient of its plane. */
template <class T, class I, class Result> struct PlaneMeanBackward {
  ImageLoop<I> planes;
  typename DivisorOf<I>::type positions; /* of a plane */
  Images<const T, I> gradOutput;
  T *gradInput;
  Result result;

  __device__ void operator()(int64_t i) const
  {
    const Place<I> plane = planes.at(positions.quotient((I)i));
    store(gradInput + i, result.gradient(plane, load(gradOutput.plane(plane))));
  }
};

/* True if all windows are whole planes, and the elements of each plane, and the planes, are adjacent in memory. */
static inline bool planesAreWindows(const PoolingShape &s)
{
  const ImageShape &in = s.input, &out = s.output;
  if (out.x[0] * out.x[1] * out.x[2] != 1) return false;
  const int64_t size[5] = {in.n, in.c, in.x[0], in.x[1], in.x[2]};
  const int64_t stride[5] = {in.sn, in.sc, in.sx[0], in.sx[1], in.sx[2]};
  int64_t dense = 1;
  for (int d = 4; d >= 0; d--) {
    if (size[d] != 1 && stride[d] != dense) return false;
    dense *= size[d];
  }
  return true;
}

/* The results of sums, made for an index type on the host. */
template <class T> struct MeanOf {
  bool countPadding;

  template <class I, class Kind>
  Mean<T, I, typename Kind::template Axis<I>> make(const PoolingShape &shape, const Kind &kind) const
  {
    typedef typename Kind::template Axis<I> Axis;
    typename Arithmetic<T>::type uniform = 1;
    for (int a = 0; a < WINDOW_AXES; a++)
      uniform *= (typename Arithmetic<T>::type)Axis::uniformDivisor(shape.axis[a], countPadding);
    return {{kind.template axis<I>(0, shape.axis[0]), kind.template axis<I>(1, shape.axis[1]),
             kind.template axis<I>(2, shape.axis[2])},
            uniform,
            countPadding};
  }
};

template <class T> struct ScaledBy {
  const THNNTensor *weight, *bias; /* bias: NULL for the gradient */

  template <class I, class Kind> Scaled<T, I> make(const PoolingShape &, const Kind &) const
  {
    return {(const T *)weight->data, bias ? (const T *)bias->data : NULL, weight->stride[0],
            bias ? bias->stride[0] : 0};
  }
};

template <class T, class I, class Kind, class ResultOf>
void sumForwardIndexedBy(THNNState *state, const Kind &kind, const ResultOf &resultOf, const PoolingShape &shape,
                         const THNNTensor *input, const THNNTensor *output)
{
  const auto result = resultOf.template make<I>(shape, kind);
  typedef typename std::remove_const<decltype(result)>::type Result;
  const SumForward<T, I, Kind, Result> forward = {WindowReader<T, I, Kind>(shape, kind, (const T *)input->data),
                                                  Images<T, I>((T *)output->data, shape.output), result};
  const int64_t outputs = shape.output.count(), terms = forward.windows.terms;
  if (!threadsShareOutputs(shape, terms)) {
    forEach(state, outputs, forward);
  } else if (WindowLanes::fit(shape, forward.windows)) {
    const SumByLanes<T, I, Kind, Result> byLanes = {forward, WindowLanes(outputs, forward.windows.width.divisor)};
    forEach(state, byLanes.lanes.threads(), byLanes);
  } else {
    const SumReduction<T, I, Kind, Result> reduction = {forward};
    reduce(state, reduction, outputs, terms, !shape.output.isChannelsLast());
  }
}

template <class T, class Kind, class ResultOf>
void sumForward(THNNState *state, int axes, const WindowAxis *window, const Kind &kind, const ResultOf &resultOf,
                const THNNTensor *input, const THNNTensor *output)
{
  const PoolingShape shape(axes, window, input, output);
  if (shape.isNarrow<Kind>()) sumForwardIndexedBy<T, int32_t>(state, kind, resultOf, shape, input, output);
  else sumForwardIndexedBy<T, int64_t>(state, kind, resultOf, shape, input, output);
}

template <class T, int AXES, class I, class Kind, class ResultOf>
void sumBackwardIndexedBy(THNNState *state, const Kind &kind, const ResultOf &resultOf, const PoolingShape &shape,
                          const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  const auto result = resultOf.template make<I>(shape, kind);
  typedef typename std::remove_const<decltype(result)>::type Result;
  if constexpr (std::is_same<Kind, Adaptive>::value) {
    if (planesAreWindows(shape)) {
      ImageShape planes = shape.output;
      planes.sc = 0; /* the order of gradInput: channels are not innermost */
      const PlaneMeanBackward<T, I, Result> backward = {
          ImageLoop<I>(planes), shape.input.x[0] * shape.input.x[1] * shape.input.x[2],
          Images<const T, I>((const T *)gradOutput->data, shape.output), (T *)gradInput->data, result};
      return forEach(state, shape.input.count(), backward);
    }
  }
  const SumBackward<T, I, Kind, AXES, Result> backward = {
      InputGroups<I, Kind, AXES>(shape, kind), Images<const T, I>((const T *)gradOutput->data, shape.output),
      Images<T, I>((T *)gradInput->data, shape.input), result};
  forEach(state, backward.groups.grouped(shape.input).count(), backward);
}

template <class T, int AXES, class Kind, class ResultOf>
void sumBackward(THNNState *state, const WindowAxis *window, const Kind &kind, const ResultOf &resultOf,
                 const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  const PoolingShape shape(AXES, window, gradInput, gradOutput);
  if (shape.isNarrow<Kind>())
    sumBackwardIndexedBy<T, AXES, int32_t>(state, kind, resultOf, shape, gradOutput, gradInput);
  else sumBackwardIndexedBy<T, AXES, int64_t>(state, kind, resultOf, shape, gradOutput, gradInput);
}

} // namespace pooling
} // namespace thcunn

#endif
