#include "modules/PReLU.h"
#include "batch_norm/channels.h"

using namespace THNN_(channels);

/* With one slope for all elements (nOutputPlane is 0), they are one channel. */
static Channels elements(THNNState *state, int64_t nOutputPlane, THTensor *a, THTensor *b, THTensor *c)
{
  return channelsOf(state, nOutputPlane == 0 ? -1 : a->ndim == 1 ? 0 : 1, a, b, c);
}

/* The one slope may have any number of dimensions. */
static ChannelVector slopes(THTensor *tensor, int64_t nOutputPlane)
{
  ChannelVector vector(tensor);
  if (nOutputPlane == 0) vector.stride = 0;
  return vector;
}

/* x > 0 ? g : slope * g, where g is the input x itself in the forward. */
template <UnitKind K> struct Scale {
  typedef Unit<K> U;
  struct Coefficients {
    real slope[U::sets];
  };
  struct Operands {
    U x, g;
    Element *output;
  };

  Channels channels;
  ChannelVector weight;
  bool hasGradient;

  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
#pragma unroll
    for (int s = 0; s < U::sets; s++) k.slope[s] = weight.get(U::firstChannel(row) + s);
    return k;
  }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Operands o;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    o.x.load(channels.operand[0].data + offset[0]);
    if (hasGradient) o.g.load(channels.operand[1].data + offset[1]);
    else o.g = o.x;
    o.output = channels.operand[2].data + offset[2];
    return o;
  }
  __device__ void finish(const Coefficients &k, const Operands &o) const
  {
    U result;
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const real g = o.g.get(e);
      result.set(e, o.x.get(e) > 0 ? g : k.slope[U::setOf(e)] * g);
    }
    result.store(o.output);
  }
};

template <UnitKind K>
static void scaleUnits(THNNState *state, const Channels &channels, const ChannelVector &weight, bool hasGradient)
{
  const Scale<K> map = {channels, weight, hasGradient};
  applyUnits<K>(state, map, channels);
}

static void scale(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *output, THTensor *weight,
                  int64_t nOutputPlane)
{
  const Channels channels = elements(state, nOutputPlane, input, gradOutput, output);
  const ChannelVector vector = slopes(weight, nOutputPlane);
  const bool hasGradient = gradOutput != NULL;
  if (channels.kind == PACKED_POSITIONS) scaleUnits<PACKED_POSITIONS>(state, channels, vector, hasGradient);
  else if (channels.kind == PACKED_CHANNELS) scaleUnits<PACKED_CHANNELS>(state, channels, vector, hasGradient);
  else scaleUnits<SINGLE>(state, channels, vector, hasGradient);
}

void THNN_(PReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                               int64_t nOutputPlane)
{
  scale(state, input, NULL, output, weight, nOutputPlane);
}

void THNN_(PReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                  THTensor *weight, int64_t nOutputPlane)
{
  scale(state, input, gradOutput, gradInput, weight, nOutputPlane);
}

/* gradWeight += factor * the sum of gradOutput * input over the inputs that are negative or NaN. */
template <UnitKind K> struct SlopeGradient {
  typedef Unit<K> U;
  typedef NoCoefficients Coefficients;
  struct Value {
    real sum[U::sets];
  };
  struct Term {
    U x, g;
  };

  Channels channels;
  ChannelVector gradWeight;
  real factor;

  __device__ Value zero() const
  {
    Value value;
#pragma unroll
    for (int s = 0; s < U::sets; s++) value.sum[s] = 0;
    return value;
  }
  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Term load(Coefficients, int64_t row, int64_t term) const
  {
    Term t;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    t.x.load(channels.operand[0].data + offset[0]);
    t.g.load(channels.operand[1].data + offset[1]);
    return t;
  }
  __device__ void add(Value &partial, Coefficients, const Term &t) const
  {
    Value unit = zero();
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const real value = t.x.get(e);
      unit.sum[U::setOf(e)] += value >= 0 ? (real)0 : value * t.g.get(e);
    }
    partial = merge(partial, unit);
  }
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int s = 0; s < U::sets; s++) a.sum[s] += b.sum[s];
    return a;
  }
  __device__ void finish(int64_t row, const Value &value) const
  {
#pragma unroll
    for (int s = 0; s < U::sets; s++) {
      const int64_t c = U::firstChannel(row) + s;
      gradWeight.set(c, gradWeight.get(c) + factor * value.sum[s]);
    }
  }
};

template <UnitKind K>
static void sumUnits(THNNState *state, const Channels &channels, const ChannelVector &gradWeight, real factor)
{
  const SlopeGradient<K> sums = {channels, gradWeight, factor};
  reduceUnits<K>(state, sums, channels);
}

void THNN_(PReLU_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                    THTensor *weight, THTensor *gradWeight, THTensor *gradWeightBuf,
                                    THTensor *gradWeightBuf2, int64_t nOutputPlane, accreal scale)
{
  (void)gradInput, (void)weight, (void)gradWeightBuf, (void)gradWeightBuf2;
  const Channels channels = elements(state, nOutputPlane, input, gradOutput, NULL);
  const ChannelVector to = slopes(gradWeight, nOutputPlane);
  if (channels.kind == PACKED_POSITIONS) sumUnits<PACKED_POSITIONS>(state, channels, to, (real)scale);
  else if (channels.kind == PACKED_CHANNELS) sumUnits<PACKED_CHANNELS>(state, channels, to, (real)scale);
  else sumUnits<SINGLE>(state, channels, to, (real)scale);
}
