#include "modules/LogSoftMax.h"
#include "modules/SoftMax.h"
#include "batch_norm/channels.h"
#include "simd/vector_math.h"

/* SoftMax and LogSoftMax: a row is a position, or a pack of positions, and its terms are channels or packs of channels.
   The threads of a row reduce its terms, then read them again and store the results. The sum of exp(x - max) and the
   maximum are computed together: a new maximum scales the sum of the terms before. A NaN among the channels, or an
   infinite maximum, makes the results NaN. */

using namespace THNN_(channels);

/* exp(x - max) for x <= max; 0 for -infinity, even if no greater x is known yet. */
__device__ static inline real term(real x, real max)
{
  return th_exp(x - (max == -(real)INFINITY ? (real)0 : max));
}

template <UnitKind K> struct SoftMaxUnit : Unit<K> {
  static const int rows = K == PACKED_POSITIONS ? Unit<K>::size : 1;
  __device__ static constexpr int rowOf(int e) { return K == PACKED_POSITIONS ? e : 0; }
};

/* Forward: maximum and sum of exponentials. */
template <UnitKind K> struct Exponentials {
  typedef SoftMaxUnit<K> U;
  struct Value { /* per row of a pack */
    real max[U::rows], sum[U::rows];
  };
  static const int INPUTS = 1;

  bool logarithm;

  __device__ Value zero() const
  {
    Value value;
#pragma unroll
    for (int r = 0; r < U::rows; r++) value.max[r] = -(real)INFINITY, value.sum[r] = 0;
    return value;
  }
  __device__ void add(Value &partial, const U (&x)[INPUTS]) const
  {
    Value unit = zero();
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const int r = U::rowOf(e);
      unit.max[r] = fmax(unit.max[r], x[0].get(e));
    }
#pragma unroll
    for (int r = 0; r < U::rows; r++) unit.max[r] = fmax(unit.max[r], partial.max[r]);
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const int r = U::rowOf(e);
      unit.sum[r] += term(x[0].get(e), unit.max[r]);
    }
    partial = merge(partial, unit);
  }
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int r = 0; r < U::rows; r++) {
      const real max = fmax(a.max[r], b.max[r]);
      a.sum[r] = a.sum[r] * term(a.max[r], max) + b.sum[r] * term(b.max[r], max);
      a.max[r] = max;
    }
    return a;
  }
  /* The reduced value in the form that result() reads: the sum replaced by its logarithm or its reciprocal. */
  __device__ Value finished(Value row) const
  {
#pragma unroll
    for (int r = 0; r < U::rows; r++) row.sum[r] = logarithm ? th_log(row.sum[r]) : 1 / row.sum[r];
    return row;
  }
  __device__ U result(const Value &row, const U (&x)[INPUTS]) const
  {
    U y;
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const int r = U::rowOf(e);
      const real d = x[0].get(e) - row.max[r];
      y.set(e, logarithm ? d - row.sum[r] : th_exp(d) * row.sum[r]);
    }
    return y;
  }
};

/* Backward: the sum of gradOutput * output, or of gradOutput for LogSoftMax. */
template <UnitKind K> struct Products {
  typedef SoftMaxUnit<K> U;
  struct Value {
    real sum[U::rows];
  };
  static const int INPUTS = 2;

  bool logarithm;

  __device__ Value zero() const
  {
    Value value;
#pragma unroll
    for (int r = 0; r < U::rows; r++) value.sum[r] = 0;
    return value;
  }
  __device__ void add(Value &partial, const U (&x)[INPUTS]) const
  {
    Value unit = zero();
#pragma unroll
    for (int e = 0; e < U::size; e++) unit.sum[U::rowOf(e)] += x[0].get(e) * (logarithm ? (real)1 : x[1].get(e));
    partial = merge(partial, unit);
  }
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int r = 0; r < U::rows; r++) a.sum[r] += b.sum[r];
    return a;
  }
  __device__ Value finished(const Value &row) const { return row; }
  __device__ U result(const Value &row, const U (&x)[INPUTS]) const
  {
    U dx;
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const real g = x[0].get(e), y = x[1].get(e), sum = row.sum[U::rowOf(e)];
      dx.set(e, logarithm ? g - th_exp(y) * sum : y * (g - sum));
    }
    return dx;
  }
};

/* Merges the values of Y threads with adjacent numbers, Y <= 32 or Y = THREADS; all of them get the result. */
template <int Y, class F>
__device__ static typename F::Value mergeAdjacent(const F &f, const typename F::Value &value)
{
  if constexpr (Y > WARP) return mergeColumns<1>(f, value);
  else return shuffledFromFirst(mergeLanes<1, Y>(f, value), Y);
}

/* Blocks of THREADS / Y rows, Y threads per row. ADJACENT: neighbouring threads share a row; otherwise they have
   neighbouring rows. */
template <UnitKind K, int Y, bool ADJACENT, class F>
__global__ void __launch_bounds__(THREADS) softMaxKernel(F f, Channels channels, int64_t rows, int64_t terms)
{
  typedef typename F::U U;
  const int X = THREADS / Y;
  const int x = ADJACENT ? threadIdx.x / Y : threadIdx.x % X, y = ADJACENT ? threadIdx.x % Y : threadIdx.x / X;
  const int64_t row = (int64_t)blockIdx.x * X + x, count = row < rows ? terms : 0;
  int64_t offset[OPERANDS];
  channels.offsets(0, (row < rows ? row : 0) * U::rows, offset);
  const int64_t size = K == PACKED_CHANNELS ? U::size : 1;
  const Element *in[F::INPUTS];
#pragma unroll
  for (int k = 0; k < F::INPUTS; k++) in[k] = channels.operand[k].data + offset[k];
  Element *const out = channels.operand[2].data + offset[2];

  typename F::Value value = f.zero();
  for (int64_t t = y; t < count; t += Y) {
    U unit[F::INPUTS];
#pragma unroll
    for (int k = 0; k < F::INPUTS; k++) unit[k].load(in[k] + t * size * channels.operand[k].channelStride);
    f.add(value, unit);
  }
  if constexpr (ADJACENT) value = mergeAdjacent<Y>(f, value);
  else value = mergeColumns<X>(f, value);
  value = f.finished(value);
  for (int64_t t = y; t < count; t += Y) {
    U unit[F::INPUTS];
#pragma unroll
    for (int k = 0; k < F::INPUTS; k++) unit[k].load(in[k] + t * size * channels.operand[k].channelStride);
    f.result(value, unit).store(out + t * size * channels.operand[2].channelStride);
  }
}

template <UnitKind K, int Y, bool ADJACENT, class F>
static void launch(THNNState *state, const F &f, const Channels &channels)
{
  const int64_t rows = channels.positions / F::U::rows, X = THREADS / Y, blocks = (rows + X - 1) / X;
  const int64_t terms = K == PACKED_CHANNELS ? channels.channels / F::U::size : channels.channels;
  if (rows == 0 || terms == 0 || state->status != THNN_OK) return;
  if (blocks > 0x7fffffff) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "%lld positions are more than a launch can have",
              (long long)channels.positions);
    return;
  }
  THCUNN_LAUNCH((softMaxKernel<K, Y, ADJACENT, F>), (unsigned)blocks, THREADS, streamOf(state))(f, channels, rows,
                                                                                                terms);
}

/* With adjacent channels: a few threads, a warp or a block for each row. Shorter rows get a block, too, if all blocks
   can run at once. */
template <UnitKind K, class F> static void launchAdjacent(THNNState *state, const F &f, const Channels &channels)
{
  const int64_t terms = K == PACKED_CHANNELS ? channels.channels / F::U::size : channels.channels;
  const bool hasFewRows = channels.positions / F::U::rows <= BLOCK_ROWS;
  if (terms <= 8) launch<K, 4, true>(state, f, channels);
  else if (terms <= (hasFewRows ? 32 : 256)) launch<K, 32, true>(state, f, channels);
  else launch<K, THREADS, true>(state, f, channels);
}

/* With adjacent positions: 8 threads for each row, so that a warp reads 32 neighbours, unless the threads would not
   occupy a GPU and rows are long. */
template <UnitKind K, class F> static void launchStrided(THNNState *state, const F &f, const Channels &channels)
{
  if (channels.positions / F::U::rows < 2048 && channels.channels >= 256)
    launch<K, THREADS, true>(state, f, channels);
  else launch<K, 8, false>(state, f, channels);
}

template <template <UnitKind> class F>
static void compute(THNNState *state, const Channels &channels, bool logarithm)
{
  const F<PACKED_CHANNELS> packs = {logarithm};
  const F<PACKED_POSITIONS> positions = {logarithm};
  const F<SINGLE> single = {logarithm};
  if (channels.kind == PACKED_CHANNELS) launchAdjacent<PACKED_CHANNELS>(state, packs, channels);
  else if (channels.kind == PACKED_POSITIONS) launchStrided<PACKED_POSITIONS>(state, positions, channels);
  else if (channels.operand[2].channelStride == 1) launchAdjacent<SINGLE>(state, single, channels);
  else launchStrided<SINGLE>(state, single, channels);
}

/* The dimension C of (C), (N, C), (C, H, W) and (N, C, H, W). */
static int channelDim(const THTensor *input) { return input->ndim % 2 == 0; }

static void updateGradInput(THNNState *state, THTensor *gradOutput, THTensor *gradInput, THTensor *output,
                            bool logarithm)
{
  compute<Products>(state, channelsOf(state, channelDim(output), gradOutput, output, gradInput), logarithm);
}

void THNN_(SoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  compute<Exponentials>(state, channelsOf(state, channelDim(input), input, NULL, output), false);
}

void THNN_(SoftMax_updateGradInput)(THNNState *state, THTensor *, THTensor *gradOutput, THTensor *gradInput,
                                    THTensor *output)
{
  updateGradInput(state, gradOutput, gradInput, output, false);
}

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  compute<Exponentials>(state, channelsOf(state, channelDim(input), input, NULL, output), true);
}

void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *, THTensor *gradOutput, THTensor *gradInput,
                                       THTensor *output)
{
  updateGradInput(state, gradOutput, gradInput, output, true);
}
