#ifndef THCUNN_POOLING_UNPOOLING_H
#define THCUNN_POOLING_UNPOOLING_H

#include "pooling/named_inputs.h"

namespace thcunn
{
namespace pooling
{

/* If several indices name one element of a plane, the last of them in row order counts. A block computes a range of the
   positions of some channels: for each of its elements it finds the last pooled element whose index names it, by
   integer atomics in shared memory, and then writes the elements. So each block reads the indices of its planes, which
   the cache holds for the other ranges of a plane. In planes of more than FULL_SCANS ranges, it reads only those chunks
   of the indices whose positions, from the first to the last, overlap its range; all of them if the indices are
   unordered. */
static const int RANGE = 8192, CHUNK = 256, FULL_SCANS = 8;

/* The first and the last position that the indices of a chunk name. */
template <class I> struct NamedRange {
  I first, last;
};

template <class T, class I, PoolingIndex KIND> struct Unpooling {
  typedef typename DivisorOf<I>::type Division;
  static const int LOADS = 4; /* indices that a thread loads at a time */

  /* A group of adjacent channels, and a sample. */
  struct Group {
    I n, firstChannel, channels;
  };
  /* An element of a group: channel and position in the plane. */
  struct Member {
    I channel, position;
  };
  /* The pooled image or the plane: positions along the axes, and the order of a group's elements in memory. */
  struct Layout {
    Division height, width, inner;

    Layout(const ImageShape &s, int64_t inner) : height(s.x[1]), width(s.x[2]), inner(inner) {}
    __device__ Member member(I i, bool isChannelsLast) const
    {
      const I outer = inner.quotient(i), rest = i - outer * (I)inner.divisor;
      return isChannelsLast ? Member{rest, outer} : Member{outer, rest};
    }
    __device__ Place<I> place(const Group &group, I channel, I position) const
    {
      const I row = width.quotient(position), slice = height.quotient(row);
      return {group.n,
              group.firstChannel + channel,
              {slice, row - slice * (I)height.divisor, position - row * (I)width.divisor}};
    }
  };

  IndexDecoder<I, KIND> decoder;
  IndexCheck check;
  Images<const int64_t, I> indices;
  Images<const T, I> pooled;
  Images<T, I> plane;
  bool isChannelsLast;
  I channels, channelsPerGroup, positions, length, terms, chunks; /* length of a range; terms: pooled elements */
  Layout pooledLayout, planeLayout;
  Division groups, ranges; /* groups of a sample, ranges of a group */
  NamedRange<I> *named;    /* range of each chunk of each group; NULL if all chunks are read */

  __device__ Group group(I i) const
  {
    const I n = groups.quotient(i), first = (i - n * (I)groups.divisor) * channelsPerGroup;
    return {n, first, smaller<I>(channelsPerGroup, channels - first)};
  }
  /* Calls f(channel, position named, position of the pooled element) for the indices of a chunk, by the lanes of a
     warp. Bad indices are reported. */
  template <class F> __device__ void forNamed(const Group &group, I chunk, int lane, F f) const
  {
#pragma unroll 1
    for (int k = 0; k < CHUNK; k += LOADS * WARP) {
      const I first = chunk * CHUNK + k + lane;
      int64_t index[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        const Member e = pooledLayout.member(first + j * WARP, isChannelsLast);
        const bool exists = first + j * WARP < terms && e.channel < group.channels;
        index[j] = exists ? *indices.at(pooledLayout.place(group, e.channel, e.position)) : 0;
      }
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        const Member e = pooledLayout.member(first + j * WARP, isChannelsLast);
        if (first + j * WARP >= terms || e.channel >= group.channels || !check(index[j])) continue;
        const I to = decoder.position(index[j], pooledLayout.place(group, e.channel, e.position));
        if (to < 0) check.refuse(index[j]);
        else f(e.channel, to, e.position);
      }
    }
  }

  /* By a warp. */
  __device__ void findNamed(I i, int lane) const
  {
    const I groupNumber = i / chunks;
    NamedRange<I> range = {positions, -1};
    forNamed(group(groupNumber), i - groupNumber * chunks, lane, [&range](I, I to, I) {
      range.first = smaller<I>(range.first, to);
      range.last = larger<I>(range.last, to);
    });
#pragma unroll
    for (int distance = WARP / 2; distance > 0; distance /= 2) {
      range.first = smaller<I>(range.first, __shfl_xor_sync(ALL_LANES, range.first, distance));
      range.last = larger<I>(range.last, __shfl_xor_sync(ALL_LANES, range.last, distance));
    }
    if (lane == 0) named[i] = range;
  }
  /* True if there is such a chunk and an index of it may name a position of the range that begins at `begin`. */
  __device__ bool names(I groupNumber, I chunk, I begin) const
  {
    if (chunk >= chunks) return false;
    if (named == NULL) return true;
    const NamedRange<I> range = named[groupNumber * chunks + chunk];
    return range.last >= begin && range.first < begin + length;
  }
};

template <class T, class I, PoolingIndex KIND>
__global__ void __launch_bounds__(THREADS) unpoolKernel(Unpooling<T, I, KIND> u)
{
  THCUNN_SHARED(int, sources, [RANGE]); /* positions of pooled elements */
  const I block = (I)blockIdx.x, groupNumber = u.ranges.quotient(block);
  const I begin = (block - groupNumber * (I)u.ranges.divisor) * u.length;
  const typename Unpooling<T, I, KIND>::Group group = u.group(groupNumber);
  const int elements = (int)(u.channelsPerGroup * u.length), lane = threadIdx.x % WARP, warps = THREADS / WARP;
  for (int e = threadIdx.x; e < elements; e += THREADS) sources[e] = -1;
  __syncthreads();
  for (I first = threadIdx.x / WARP; first < u.chunks; first += WARP * warps) {
    /* Neighbouring chunks are read by different warps. */
    unsigned named = __ballot_sync(ALL_LANES, u.names(groupNumber, first + lane * warps, begin));
    for (; named != 0; named &= named - 1)
      u.forNamed(group, first + (__ffs((int)named) - 1) * warps, lane, [&](I channel, I to, I position) {
        const I at = to - begin;
        if (at < 0 || at >= u.length) return;
        atomicMax(&sources[u.isChannelsLast ? at * u.channelsPerGroup + channel : channel * u.length + at],
                  (int)position);
      });
  }
  __syncthreads();
  for (int i = threadIdx.x; i < elements; i += THREADS) {
    const auto e = u.planeLayout.member(i, u.isChannelsLast);
    if (e.channel >= group.channels || begin + e.position >= u.positions) continue;
    typename Arithmetic<T>::type value = 0;
    if (sources[i] >= 0) value = load(u.pooled.at(u.pooledLayout.place(group, e.channel, sources[i])));
    store(u.plane.at(u.planeLayout.place(group, e.channel, begin + e.position)), value);
  }
}

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
  const ImageShape &to = shape.input, &from = shape.output;
  const int64_t positions = to.x[0] * to.x[1] * to.x[2], pooledPositions = from.x[0] * from.x[1] * from.x[2];
  if (to.count() == 0) return;
  if (pooledPositions > INT32_MAX) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, "input", "expected planes of fewer than 2^31 elements");
    return;
  }
  /* Eight channels of an image whose channels are innermost are a sector of float32, half a sector of float16; small
     planes share a block. */
  const bool isChannelsLast = to.isChannelsLast();
  const int64_t most = isChannelsLast ? 8 : 1 + RANGE / 8 / positions, perGroup = to.c < most ? to.c : most;
  const int64_t length = positions < RANGE / perGroup ? positions : RANGE / perGroup;
  const int64_t groups = (to.c + perGroup - 1) / perGroup, ranges = (positions + length - 1) / length;
  const int64_t terms = pooledPositions * perGroup, chunks = (terms + CHUNK - 1) / CHUNK;
  const IndexDecoder<I, KIND> decoder(shape.axis);
  Unpooling<T, I, KIND> u = {decoder,
                             indexCheck(state, "indices", 0, decoder.limit),
                             Images<const int64_t, I>((const int64_t *)indices->data, indexShape),
                             Images<const T, I>((const T *)pooled->data, from),
                             Images<T, I>((T *)plane->data, to),
                             isChannelsLast,
                             (I)to.c,
                             (I)perGroup,
                             (I)positions,
                             (I)length,
                             (I)terms,
                             (I)chunks,
                             {from, isChannelsLast ? perGroup : pooledPositions},
                             {to, isChannelsLast ? perGroup : length},
                             groups,
                             ranges,
                             NULL};
  const unsigned blocks = blockCount(state, to.n * groups * ranges, 1);
  if (state->status != THNN_OK) return;
  if (ranges > FULL_SCANS) {
    u.named = (NamedRange<I> *)scratch(state, to.n * groups * chunks * (int64_t)sizeof(NamedRange<I>));
    if (u.named == NULL) return;
    forEach(state, to.n * groups * chunks * WARP,
            [=] __device__(int64_t i) { u.findNamed((I)(i / WARP), (int)(i % WARP)); });
  }
  THCUNN_LAUNCH((unpoolKernel<T, I, KIND>), blocks, THREADS, streamOf(state))(u);
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
