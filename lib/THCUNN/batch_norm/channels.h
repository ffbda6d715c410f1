#ifndef THCUNN_BATCH_NORM_CHANNELS_H
#define THCUNN_BATCH_NORM_CHANNELS_H

/* Tensors of one size (N, C, ...) seen as channels x positions, and the vectors (C) that belong to them. A unit
   consists of the elements that a thread loads and stores at a time:

     PACKED_POSITIONS    a pack of adjacent positions of one channel: NCHW
     PACKED_CHANNELS     a pack of adjacent channels at one position: NHWC, (N, C)
     SINGLE              one element: all other layouts

   Units lie in rows: a row is a channel or a pack of channels, and its terms are the positions or packs of positions.
   All units of a row have the same coefficients. */

#include "runtime/kernel.h"
#include "runtime/loops.h"

/* A namespace per element type, since the library has this code for each. */
namespace THNN_(channels)
{

using namespace thcunn;

enum UnitKind { PACKED_POSITIONS, PACKED_CHANNELS, SINGLE };

static const int POSITION_DIMS = 8, OPERANDS = 3;

struct Channels {
  struct Operand {
    Element *data; /* NULL: absent */
    int64_t channelStride, stride[POSITION_DIMS];
  } operand[OPERANDS];
  int dims; /* position dimensions, merged where the strides of all operands allow; innermost first */
  Divisor size[POSITION_DIMS];
  int64_t channels, positions;
  UnitKind kind;
  bool adjacentChannels; /* neighbouring threads have neighbouring channels, not positions */

  int64_t rows() const { return kind == PACKED_CHANNELS ? channels / Pack<Element>::size : channels; }
  int64_t terms() const { return kind == PACKED_POSITIONS ? positions / Pack<Element>::size : positions; }

  __device__ void offsets(int64_t channel, int64_t position, int64_t (&offset)[OPERANDS]) const
  {
#pragma unroll
    for (int k = 0; k < OPERANDS; k++) offset[k] = channel * operand[k].channelStride;
    for (int d = 0; d < dims; d++) {
      const int64_t q = d < dims - 1 ? size[d].quotient(position) : 0, index = position - q * size[d].divisor;
#pragma unroll
      for (int k = 0; k < OPERANDS; k++) offset[k] += index * operand[k].stride[d];
      position = q;
    }
  }
};

/* Views tensors whose channels are dimension `channelDim`, or which are one channel if that is -1; absent tensors are
   NULL. Fails if positions have too many dimensions that cannot be merged. */
Channels channelsOf(THNNState *state, int channelDim, const THNNTensor *a, const THNNTensor *b,
                    const THNNTensor *c);

/* The elements of a unit of kind K, `size` of them, with `sets` sets of coefficients. */
template <UnitKind K> struct Unit {
  static const int size = K == SINGLE ? 1 : Pack<Element>::size;
  static const int sets = K == PACKED_CHANNELS ? size : 1;
  struct alignas(size * sizeof(Element)) {
    Element element[size];
  } pack;

  __device__ void load(const Element *p) { pack = *(const decltype(pack) *)p; }
  __device__ void store(Element *p) const { *(decltype(pack) *)p = pack; }
  __device__ real get(int e) const { return thcunn::load(&pack.element[e]); }
  __device__ void set(int e, real value) { thcunn::store(&pack.element[e], value); }
  __device__ static int64_t firstChannel(int64_t row) { return row * sets; }
  __device__ static int64_t firstPosition(int64_t term) { return K == PACKED_POSITIONS ? term * size : term; }
  /* The set of coefficients of element e. */
  __device__ static constexpr int setOf(int e) { return K == PACKED_CHANNELS ? e : 0; }
};

/* A vector (C), read and written in its own element type: in a call of half or bfloat16 it may be float, and a vector
   of accreal is double. */
struct ChannelVector {
  void *data; /* NULL: absent */
  int64_t stride;
  int32_t type;

  ChannelVector() = default;
  ChannelVector(const THNNTensor *tensor)
      : data(tensor ? tensor->data : NULL), stride(tensor ? tensor->stride[0] : 0), type(tensor ? tensor->type : 0)
  {
  }
  /* Doubles or floats, from `first` on. */
  ChannelVector(double *first, int64_t stride) : data(first), stride(stride), type(THNN_TYPE_DOUBLE) {}
  ChannelVector(float *first, int64_t stride) : data(first), stride(stride), type(THNN_TYPE_FLOAT) {}

  __host__ __device__ bool isPresent() const { return data != NULL; }
  __device__ real get(int64_t c) const
  {
    if (type == THNN_TYPE_FLOAT) return (real)((const float *)data)[c * stride];
    if (type == THNN_TYPE_DOUBLE) return (real)((const double *)data)[c * stride];
    return load((const Element *)data + c * stride);
  }
  __device__ real get(int64_t c, real absent) const { return data ? get(c) : absent; }
  __device__ void set(int64_t c, real value) const
  {
    if (type == THNN_TYPE_FLOAT) ((float *)data)[c * stride] = (float)value;
    else if (type == THNN_TYPE_DOUBLE) ((double *)data)[c * stride] = value;
    else store((Element *)data + c * stride, value);
  }
};

/* Loops over the units of rows. Each thread loads the coefficients of its row once. Blocks have X rows of Y threads, as
   in reduceKernel; X * Y = THREADS. */

/* out[unit] = f(unit). F is a class with

     typedef ... Coefficients, Operands;
     Coefficients begin(int64_t row) const;
     Operands load(int64_t row, int64_t term) const;
     void finish(const Coefficients &k, const Operands &operands) const;   computes and stores */
template <class F> __device__ void applyTerms(const F &f, int64_t row, int64_t first, int64_t end, int step)
{
  const typename F::Coefficients k = f.begin(row);
  loadThenUse<2>(
      first, end, step, [&](int64_t i) { return f.load(row, i); },
      [&](const typename F::Operands &operands) { f.finish(k, operands); });
}

template <int X, class F>
__global__ void __launch_bounds__(THREADS)
    applyKernel(F f, int64_t rows, int64_t count, int64_t partLength, unsigned parts)
{
  const unsigned group = blockIdx.x / parts, part = blockIdx.x - group * parts;
  const int64_t row = (int64_t)group * X + threadIdx.x % X, first = part * partLength;
  const int64_t end = first + partLength < count ? first + partLength : count;
  if (row < rows) applyTerms(f, row, first + threadIdx.x / X, end, THREADS / X);
}

template <int X, class F> void applyRows(THNNState *state, const F &f, int64_t rows, int64_t count)
{
  const RowParts p(state, X, rows, count, 0);
  if (rows == 0 || count == 0 || state->status != THNN_OK) return;
  THCUNN_LAUNCH((applyKernel<X, F>), (unsigned)p.blocks, THREADS, streamOf(state))(f, rows, count, p.length,
                                                                                   (unsigned)p.parts);
}

/* A reduction of undivided rows, and f of the same units, which the block then finds in the cache. */
template <int X, class R, class F>
__global__ void __launch_bounds__(THREADS) reduceAndApplyKernel(R r, F f, int64_t rows, int64_t count)
{
  const int64_t row = (int64_t)blockIdx.x * X + threadIdx.x % X, first = threadIdx.x / X;
  typename R::Value value = r.zero();
  if (row < rows) value = addTerms(r, row, first, count, THREADS / X);
  value = mergeColumns<X>(r, value);
  if (threadIdx.x < X && row < rows) r.finish(row, value);
  __syncthreads();
  if (row < rows) applyTerms(f, row, first, count, THREADS / X);
}

/* Both loops, in one launch if no row is divided; f.begin(row) may read what r.finish(row) stores. */
template <int X, class R, class F>
void reduceAndApplyRows(THNNState *state, const R &r, const F &f, int64_t rows, int64_t count)
{
  const RowParts p = reductionParts<X>(state, rows, count);
  if (rows == 0 || state->status != THNN_OK) return;
  if (p.parts > 1) {
    reduceRows<X>(state, r, rows, count);
    applyRows<X>(state, f, rows, count);
    return;
  }
  THCUNN_LAUNCH((reduceAndApplyKernel<X, R, F>), (unsigned)p.blocks, THREADS, streamOf(state))(r, f, rows, count);
}

/* Adjacent rows of a block. Eight packs are 128 bytes, a line of the cache. */
template <UnitKind K> struct AdjacentRows {
  static const int count = K == PACKED_CHANNELS ? 8 : 32;
};

template <UnitKind K, class F> void applyUnits(THNNState *state, const F &f, const Channels &channels)
{
  const int64_t rows = channels.rows(), terms = channels.terms();
  if constexpr (K != PACKED_POSITIONS)
    if (channels.adjacentChannels) return applyRows<AdjacentRows<K>::count>(state, f, rows, terms);
  if constexpr (K != PACKED_CHANNELS) applyRows<1>(state, f, rows, terms);
}

template <UnitKind K, class R> void reduceUnits(THNNState *state, const R &r, const Channels &channels)
{
  const int64_t rows = channels.rows(), terms = channels.terms();
  if constexpr (K != PACKED_POSITIONS)
    if (channels.adjacentChannels) return reduceRows<AdjacentRows<K>::count>(state, r, rows, terms);
  if constexpr (K != PACKED_CHANNELS) reduceRows<1>(state, r, rows, terms);
}

template <UnitKind K, class R, class F>
void reduceAndApplyUnits(THNNState *state, const R &r, const F &f, const Channels &channels)
{
  const int64_t rows = channels.rows(), terms = channels.terms();
  if constexpr (K != PACKED_POSITIONS)
    if (channels.adjacentChannels) return reduceAndApplyRows<AdjacentRows<K>::count>(state, r, f, rows, terms);
  if constexpr (K != PACKED_CHANNELS) reduceAndApplyRows<1>(state, r, f, rows, terms);
}

} // namespace THNN_(channels)

#endif
