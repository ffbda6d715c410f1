#ifndef THCUNN_POOLING_MAXIMA_H
#define THCUNN_POOLING_MAXIMA_H

/* The maximum of windows and its index (lib/THNN/pooling/pooling.h). The first of the largest elements counts; NaN is
   larger than any number, and the last NaN counts. */

#include "pooling/pooling.h"
#include "pooling/windows.h"

namespace thcunn
{
namespace pooling
{

template <class T> __device__ inline typename Arithmetic<T>::type lowest() { return -FLT_MAX; }
template <> __device__ inline double lowest<double>() { return -DBL_MAX; }
template <> __device__ inline float lowest<__half>() { return -65504.0f; }
template <> __device__ inline float lowest<__nv_bfloat16>() { return -0x1.fep127f; }

/* An index is the sum over the axes of weight * kernel element (byElement) or weight * input. */
template <class I> struct IndexWeights {
  I weight[WINDOW_AXES];
  bool byElement;

  IndexWeights(PoolingIndex kind, const WindowAxis *axis)
      : weight{1, 1 << 8, 1 << 16}, byElement(kind != INDEX_INPUT)
  {
    if (kind == INDEX_KERNEL_PACKED) return;
    weight[2] = 1;
    weight[1] = (I)(byElement ? axis[2].kernel : axis[2].input);
    weight[0] = weight[1] * (I)(byElement ? axis[1].kernel : axis[1].input);
  }
  __device__ I first(const Span<I> &span, int a) const
  {
    return (byElement ? span.first : span.begin) * weight[a];
  }
  __device__ I step(const Span<I> &span, int a) const { return byElement ? weight[a] : span.step * weight[a]; }
};

static const int LOADS = 4; /* elements of a row that a thread loads at a time */

template <class T, class I, class Kind> struct MaxForward {
  typedef typename Arithmetic<T>::type R;
  WindowReader<T, I, Kind> windows;
  Images<T, I> output;
  Images<int64_t, I> indices;
  IndexWeights<I> weights;

  __device__ void finish(const Place<I> &p, R best, I index) const
  {
    if (index < 0) best = WindowReader<T, I, Kind>::Axis::EMPTY_IS_NAN ? (R)NAN : lowest<T>();
    store(output.at(p), best);
    *indices.at(p) = index;
  }

  /* A thread per output. */
  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = windows.outputs.at((I)i);
    Span<I> span[WINDOW_AXES];
    windows.spans(p, span);
    I index = 0, step[WINDOW_AXES], advance[WINDOW_AXES];
    bool isEmpty = false;
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) {
      isEmpty |= span[a].count == 0;
      index += weights.first(span[a], a);
      step[a] = span[a].step * windows.x.sx[a];
      advance[a] = weights.step(span[a], a);
    }
    const T *slice = windows.first(p, span);
    R best = -INFINITY;
    I bestIndex = isEmpty ? -1 : index; /* the result if all elements are -infinity */
#pragma unroll 1
    for (I d = 0; d < span[0].count; d++, slice += step[0], index += advance[0]) {
      const T *row = slice;
      I rowIndex = index;
#pragma unroll 1
      for (I h = 0; h < span[1].count; h++, row += step[1], rowIndex += advance[1]) {
        const T *from = row;
        I k = rowIndex;
#pragma unroll 1
        for (I w = span[2].count; w > 0; w -= LOADS, from += LOADS * step[2], k += LOADS * advance[2]) {
          R value[LOADS];
#pragma unroll
          for (int j = 0; j < LOADS; j++) value[j] = j < w ? load(from + j * step[2]) : -INFINITY;
#pragma unroll
          for (int j = 0; j < LOADS; j++)
            if (value[j] > best || value[j] != value[j]) best = value[j], bestIndex = k + j * advance[2];
        }
      }
    }
    finish(p, best, bestIndex);
  }
};

/* The maximum as a reduction, with the number of the term in place of the index; -1 is no term. */
template <class T, class I, class Kind> struct MaxReduction {
  typedef typename Arithmetic<T>::type R;
  struct Value {
    R best;
    I term;
  };
  typedef Value Term;
  typedef Window<I> Coefficients;
  MaxForward<T, I, Kind> forward;

  __device__ Coefficients begin(int64_t row) const { return forward.windows.window(row); }
  __device__ Value zero() const { return {-INFINITY, -1}; }
  __device__ Term load(const Coefficients &window, int64_t, int64_t i) const
  {
    I k[WINDOW_AXES];
    if (!forward.windows.element((I)i, window.span, k)) return zero();
    return {thcunn::load(forward.windows.at(window.output, window.span, k)), (I)i};
  }
  __device__ void add(Value &partial, const Coefficients &, Term term) const { partial = merge(partial, term); }
  __device__ Value merge(Value a, Value b) const
  {
    if (a.term < 0 || b.term < 0) return a.term < 0 ? b : a;
    const bool aIsNan = a.best != a.best, bIsNan = b.best != b.best;
    if (aIsNan || bIsNan) return aIsNan && (!bIsNan || a.term > b.term) ? a : b;
    if (a.best == b.best) return a.term < b.term ? a : b;
    return a.best > b.best ? a : b;
  }
  __device__ void finish(int64_t row, Value result) const { finish(begin(row), result); }
  __device__ void finish(const Window<I> &window, Value result) const
  {
    I k[WINDOW_AXES], index = 0;
    forward.windows.element(result.term < 0 ? 0 : result.term, window.span, k);
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++)
      index += forward.weights.first(window.span[a], a) + k[a] * forward.weights.step(window.span[a], a);
    forward.finish(window.output, result.best, result.term < 0 ? -1 : index);
  }
};

/* Lanes of a warp per output. */
template <class T, class I, class Kind> struct MaxByLanes {
  typedef typename Arithmetic<T>::type R;
  MaxReduction<T, I, Kind> reduction;
  WindowLanes lanes;

  __device__ void operator()(int64_t i) const
  {
    const auto &windows = reduction.forward.windows;
    const int lane = lanes.lane(i);
    const Window<I> window = windows.window(lanes.output(i));
    const Span<I>(&span)[WINDOW_AXES] = window.span;
    const I step = span[1].step * windows.x.sx[1], rows = lane < span[2].count ? span[1].count : 0;
    const T *slice = windows.first(window.output, span) + lane * span[2].step * windows.x.sx[2];
    typename MaxReduction<T, I, Kind>::Value largest = {-INFINITY, rows > 0 && span[0].count > 0 ? (I)lane : -1};
#pragma unroll 1
    for (I d = 0; d < span[0].count; d++, slice += span[0].step * windows.x.sx[0]) {
      const T *from = slice;
      I term = d * (I)windows.height.divisor * (I)windows.width.divisor + lane;
#pragma unroll 1
      for (I h = rows; h > 0; h -= LOADS, from += LOADS * step, term += LOADS * (I)windows.width.divisor) {
        R value[LOADS];
#pragma unroll
        for (int j = 0; j < LOADS; j++) value[j] = j < h ? load(from + j * step) : -INFINITY;
#pragma unroll
        for (int j = 0; j < LOADS; j++)
          if (value[j] > largest.best || value[j] != value[j])
            largest = {value[j], term + j * (I)windows.width.divisor};
      }
    }
#pragma unroll 1
    for (int distance = lanes.count() / 2; distance > 0; distance /= 2)
      largest = reduction.merge(largest, {__shfl_xor_sync(ALL_LANES, largest.best, distance),
                                          __shfl_xor_sync(ALL_LANES, largest.term, distance)});
    if (lanes.stores(i)) reduction.finish(window, largest);
  }
};

template <class T, class I, class Kind>
void maxForwardIndexedBy(THNNState *state, const Kind &kind, const PoolingShape &shape, PoolingIndex index,
                         const THNNTensor *input, const THNNTensor *output, const THNNTensor *indices,
                         const ImageShape &indexShape)
{
  const MaxForward<T, I, Kind> forward = {
      WindowReader<T, I, Kind>(shape, kind, (const T *)input->data), Images<T, I>((T *)output->data, shape.output),
      Images<int64_t, I>((int64_t *)indices->data, indexShape), IndexWeights<I>(index, shape.axis)};
  if constexpr (Kind::template Axis<I>::MAY_BE_LARGE) {
    if (threadsShareOutputs(shape, forward.windows.terms)) {
      const MaxReduction<T, I, Kind> reduction = {forward};
      if (WindowLanes::fit(shape, forward.windows)) {
        const MaxByLanes<T, I, Kind> byLanes = {reduction,
                                                WindowLanes(shape.output.count(), forward.windows.width.divisor)};
        return forEach(state, byLanes.lanes.threads(), byLanes);
      }
      return reduce(state, reduction, shape.output.count(), forward.windows.terms, !shape.output.isChannelsLast());
    }
  }
  forEach(state, shape.output.count(), forward);
}

template <class T, class Kind>
void maxForward(THNNState *state, int axes, const WindowAxis *window, const Kind &kind, PoolingIndex index,
                const THNNTensor *input, const THNNTensor *output, const THNNTensor *indices)
{
  const PoolingShape shape(axes, window, input, output);
  const ImageShape indexShape = imageShape(axes, indices);
  if (shape.isNarrow<Kind>() && isNarrow(indexShape))
    maxForwardIndexedBy<T, int32_t>(state, kind, shape, index, input, output, indices, indexShape);
  else maxForwardIndexedBy<T, int64_t>(state, kind, shape, index, input, output, indices, indexShape);
}

} // namespace pooling
} // namespace thcunn

#endif
