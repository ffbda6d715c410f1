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

  __device__ R rowDivisor(I d, I h) const
  {
    return uniform != 0 ? 1 : (R)axis[0].divisor(d, countPadding) * (R)axis[1].divisor(h, countPadding);
  }
  __device__ R divisor(R row, I w) const { return row * (R)axis[2].divisor(w, countPadding); }
  __device__ R output(const Place<I> &p, R sum) const
  {
    return sum / (uniform != 0 ? uniform : divisor(rowDivisor(p.x[0], p.x[1]), p.x[2]));
  }
  __device__ R term(R row, I w, R g) const { return uniform != 0 ? g : g / divisor(row, w); }
  __device__ R gradient(const Place<I> &, R sum) const { return uniform != 0 ? sum / uniform : sum; }
};

/* output = sum * weight[c] + bias[c]. */
template <class T, class I> struct Scaled {
  typedef typename Arithmetic<T>::type R;
  const T *weight, *bias;
  int64_t weightStride, biasStride;

  __device__ R factor(const Place<I> &p) const { return load(weight + p.c * weightStride); }
  __device__ R output(const Place<I> &p, R sum) const { return sum * factor(p) + load(bias + p.c * biasStride); }
  __device__ R rowDivisor(I, I) const { return 1; }
  __device__ R term(R, I, R g) const { return g; }
  __device__ R gradient(const Place<I> &p, R sum) const { return sum * factor(p); }
};

/* Outputs of a row that a thread of an input loads at a time. */
static const int OUTPUT_LOADS = 2;

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

/* A thread per input adds the terms of the outputs that read it. Windows have dilation 1. */
template <class T, class I, class Axis, class Result> struct SumBackward {
  typedef typename Arithmetic<T>::type R;
  ImageLoop<I> inputs;
  Images<const T, I> gradOutput;
  Images<T, I> gradInput;
  Axis axis[WINDOW_AXES];
  Result result;

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = inputs.at((I)i);
    Span<I> span[WINDOW_AXES];
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) span[a] = axis[a].outputs(p.x[a]);
    const T *g = gradOutput.plane(p);
    R sum = 0;
#pragma unroll 1
    for (I d = span[0].begin; d < span[0].begin + span[0].count; d++)
#pragma unroll 1
      for (I h = span[1].begin; h < span[1].begin + span[1].count; h++) {
        const T *row = g + (d * gradOutput.sx[0] + h * gradOutput.sx[1] + span[2].begin * gradOutput.sx[2]);
        const I end = span[2].begin + span[2].count;
        const R divisor = result.rowDivisor(d, h);
#pragma unroll 1
        for (I w = span[2].begin; w < end; w += OUTPUT_LOADS, row += OUTPUT_LOADS * gradOutput.sx[2]) {
          R value[OUTPUT_LOADS];
#pragma unroll
          for (int j = 0; j < OUTPUT_LOADS; j++) value[j] = w + j < end ? load(row + j * gradOutput.sx[2]) : 0;
#pragma unroll
          for (int j = 0; j < OUTPUT_LOADS; j++)
            if (w + j < end) sum += result.term(divisor, w + j, value[j]);
        }
      }
    store(gradInput.at(p), result.gradient(p, sum));
  }
};

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
  if (threadsShareOutputs(shape, forward.windows.terms)) {
    const SumReduction<T, I, Kind, Result> reduction = {forward};
    reduce(state, reduction, shape.output.count(), forward.windows.terms, !shape.output.isChannelsLast());
  } else {
    forEach(state, shape.output.count(), forward);
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

template <class T, class I, class Kind, class ResultOf>
void sumBackwardIndexedBy(THNNState *state, const Kind &kind, const ResultOf &resultOf, const PoolingShape &shape,
                          const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  const auto result = resultOf.template make<I>(shape, kind);
  typedef typename std::remove_const<decltype(result)>::type Result;
  const SumBackward<T, I, typename Kind::template Axis<I>, Result> backward = {
      ImageLoop<I>(shape.input),
      Images<const T, I>((const T *)gradOutput->data, shape.output),
      Images<T, I>((T *)gradInput->data, shape.input),
      {kind.template axis<I>(0, shape.axis[0]), kind.template axis<I>(1, shape.axis[1]),
       kind.template axis<I>(2, shape.axis[2])},
      result};
  forEach(state, shape.input.count(), backward);
}

template <class T, class Kind, class ResultOf>
void sumBackward(THNNState *state, int axes, const WindowAxis *window, const Kind &kind, const ResultOf &resultOf,
                 const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  const PoolingShape shape(axes, window, gradInput, gradOutput);
  if (shape.isNarrow<Kind>())
    sumBackwardIndexedBy<T, int32_t>(state, kind, resultOf, shape, gradOutput, gradInput);
  else sumBackwardIndexedBy<T, int64_t>(state, kind, resultOf, shape, gradOutput, gradInput);
}

} // namespace pooling
} // namespace thcunn

#endif
