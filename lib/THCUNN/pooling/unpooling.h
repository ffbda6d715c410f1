#ifndef THCUNN_POOLING_UNPOOLING_H
#define THCUNN_POOLING_UNPOOLING_H

#include "pooling/named_inputs.h"

namespace thcunn
{
namespace pooling
{

/* Unpooling in two steps, since several indices may name one element, and the last of them in row order counts. First,
   integer atomics find the largest number of a pooled element that names an element of the plane, whatever the order of
   threads. Then a thread per element of the plane takes that pooled element. */

template <class I, PoolingIndex KIND> struct FindSources {
  ImageLoop<I> pooled;
  Images<const int64_t, I> indices;
  IndexDecoder<I, KIND> decoder;
  IndexCheck check;
  Images<int, I> sources; /* contiguous, initially -1 */

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = pooled.at((I)i);
    Place<I> to = p;
    const int64_t index = *indices.at(p);
    if (!check(index)) return;
    if (!decoder.find(index, p, to)) return check.refuse(index);
    atomicMax(sources.at(to), (int)((p.x[0] * decoder.axis[1].output + p.x[1]) * decoder.axis[2].output + p.x[2]));
  }
};

template <class T, class I> struct TakeSources {
  ImageLoop<I> elements;
  Images<const int, I> sources;
  Images<const T, I> pooled;
  Images<T, I> plane;
  typename DivisorOf<I>::type height, width; /* of the pooled image */

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = elements.at((I)i);
    Place<I> from = p;
    const I source = *sources.at(p);
    if (source < 0) return store(plane.at(p), 0);
    const I row = width.quotient(source), slice = height.quotient(row);
    from.x[0] = slice, from.x[1] = row - slice * (I)height.divisor, from.x[2] = source - row * (I)width.divisor;
    store(plane.at(p), load(pooled.at(from)));
  }
};

/* The gradient: a thread per index. */
template <class T, class I, PoolingIndex KIND> struct TakeNamed {
  ImageLoop<I> pooledElements;
  Images<const int64_t, I> indices;
  IndexDecoder<I, KIND> decoder;
  IndexCheck check;
  Images<const T, I> plane;
  Images<T, I> pooled;

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = pooledElements.at((I)i);
    Place<I> from = p;
    const int64_t index = *indices.at(p);
    const bool isNumber = check(index), exists = isNumber && decoder.find(index, p, from);
    if (isNumber && !exists) check.refuse(index);
    store(pooled.at(p), exists ? load(plane.at(from)) : (typename Arithmetic<T>::type)NAN);
  }
};

/* `shape` has the plane as the input and the pooled tensor as the output. */
template <class T, PoolingIndex KIND, class I>
void unpoolIndexedBy(THNNState *state, const PoolingShape &shape, const THNNTensor *pooled,
                     const THNNTensor *indices, const THNNTensor *plane, const ImageShape &indexShape)
{
  const bool isChannelsLast = shape.input.isChannelsLast();
  ImageShape contiguous = shape.input; /* with channels innermost or outermost, as in the plane */
  int64_t stride = isChannelsLast ? contiguous.c : 1;
  for (int a = WINDOW_AXES - 1; a >= 0; stride *= contiguous.x[a], a--) contiguous.sx[a] = stride;
  contiguous.sc = isChannelsLast ? 1 : stride;
  contiguous.sn = isChannelsLast ? stride : stride * contiguous.c;
  const int64_t elements = contiguous.count();
  if (elements == 0) return;
  if (shape.output.x[0] * shape.output.x[1] * shape.output.x[2] > INT32_MAX) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, "input", "expected planes of fewer than 2^31 elements");
    return;
  }
  const IndexDecoder<I, KIND> decoder(shape.axis);
  const IndexCheck check = indexCheck(state, "indices", 0, decoder.limit);
  int *sources = (int *)scratch(state, elements * (int64_t)sizeof(int));
  if (state->status != THNN_OK) return;
  cudaMemsetAsync(sources, 0xff, (size_t)elements * sizeof(int), streamOf(state));
  const FindSources<I, KIND> find = {ImageLoop<I>(indexShape),
                                     Images<const int64_t, I>((const int64_t *)indices->data, indexShape), decoder,
                                     check, Images<int, I>(sources, contiguous)};
  forEach(state, shape.output.count(), find);
  const TakeSources<T, I> take = {ImageLoop<I>(shape.input),
                                  Images<const int, I>(sources, contiguous),
                                  Images<const T, I>((const T *)pooled->data, shape.output),
                                  Images<T, I>((T *)plane->data, shape.input),
                                  shape.output.x[1],
                                  shape.output.x[2]};
  forEach(state, elements, take);
}

template <class T, PoolingIndex KIND, class I>
void takeIndexedBy(THNNState *state, const PoolingShape &shape, const THNNTensor *plane, const THNNTensor *indices,
                   const THNNTensor *pooled, const ImageShape &indexShape)
{
  const IndexDecoder<I, KIND> decoder(shape.axis);
  const IndexCheck check = indexCheck(state, "indices", 0, decoder.limit);
  const TakeNamed<T, I, KIND> take = {ImageLoop<I>(shape.output),
                                      Images<const int64_t, I>((const int64_t *)indices->data, indexShape),
                                      decoder,
                                      check,
                                      Images<const T, I>((const T *)plane->data, shape.input),
                                      Images<T, I>((T *)pooled->data, shape.output)};
  forEach(state, shape.output.count(), take);
}

/* plane: 0, but for the elements that indices name, which get the elements of `pooled`. */
template <class T, PoolingIndex KIND>
void unpool(THNNState *state, int axes, const WindowAxis *window, const THNNTensor *pooled,
            const THNNTensor *indices, const THNNTensor *plane)
{
  const PoolingShape shape(axes, window, plane, pooled);
  const ImageShape indexShape = imageShape(axes, indices);
  if (shape.isNarrow<Sliding>() && isNarrow(indexShape))
    unpoolIndexedBy<T, KIND, int32_t>(state, shape, pooled, indices, plane, indexShape);
  else unpoolIndexedBy<T, KIND, int64_t>(state, shape, pooled, indices, plane, indexShape);
}

/* pooled: the elements of `plane` that indices name. */
template <class T, PoolingIndex KIND>
void takeNamed(THNNState *state, int axes, const WindowAxis *window, const THNNTensor *plane,
               const THNNTensor *indices, const THNNTensor *pooled)
{
  const PoolingShape shape(axes, window, plane, pooled);
  const ImageShape indexShape = imageShape(axes, indices);
  if (shape.isNarrow<Sliding>() && isNarrow(indexShape))
    takeIndexedBy<T, KIND, int32_t>(state, shape, plane, indices, pooled, indexShape);
  else takeIndexedBy<T, KIND, int64_t>(state, shape, plane, indices, pooled, indexShape);
}

} // namespace pooling
} // namespace thcunn

#endif
