#include "batch_norm/batch_norm.h"

#include "simd/vector_math.h"

namespace THNN_(batchNorm)
{

/* --- statistics --------------------------------------------------------------------------------------------------- */

/* a / b, within 2 units in the last place. */
template <class T> __device__ static inline T fastQuotient(T a, T b) { return __fdividef(a, b); }
template <> __device__ inline double fastQuotient(double a, double b) { return a / b; }

__device__ static inline real inverseDeviation(real variance, real eps)
{
  return variance + eps == 0 ? (real)0 : 1 / th_sqrt(variance + eps);
}

__device__ static inline void saveChannel(const MomentsOutputs &to, int64_t c, real mean, real squares, real count)
{
  if (to.save_mean.isPresent()) to.save_mean.set(c, mean);
  if (to.save_std.isPresent()) to.save_std.set(c, inverseDeviation(squares / count, to.eps));
  const real kept = 1 - to.momentum, variance = squares / (to.unbiased ? count - 1 : count);
  if (to.running_mean.isPresent()) to.running_mean.set(c, to.momentum * mean + kept * to.running_mean.get(c));
  if (to.running_var.isPresent()) to.running_var.set(c, to.momentum * variance + kept * to.running_var.get(c));
}

template <UnitKind K> struct Moments {
  typedef Unit<K> U;
  struct Value {
    real count, mean[U::sets], squares[U::sets];
  };
  typedef U Term;
  typedef NoCoefficients Coefficients;

  Channels channels;
  MomentsOutputs to;
  real count;

  __device__ Value zero() const
  {
    Value value;
    value.count = 0;
#pragma unroll
    for (int s = 0; s < U::sets; s++) value.mean[s] = value.squares[s] = 0;
    return value;
  }
  __device__ Coefficients begin(int64_t) const { return {}; }

  __device__ U load(Coefficients, int64_t row, int64_t term) const
  {
    U x;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    x.load(channels.operand[0].data + offset[0]);
    return x;
  }
  /* Mean and centred sum of squares of the unit, merged into those of the partial result. */
  __device__ void add(Value &partial, Coefficients, const U &x) const
  {
    Value unit;
    unit.count = U::size / U::sets;
    if (K == PACKED_POSITIONS) {
      /* A mean relative to the first element is exact if all elements are equal. */
      const real first = x.get(0);
      real d[U::size], sum = 0, squares = 0;
#pragma unroll
      for (int e = 0; e < U::size; e++) sum += d[e] = x.get(e) - first;
      const real mean = sum / U::size;
#pragma unroll
      for (int e = 0; e < U::size; e++) squares += (d[e] - mean) * (d[e] - mean);
      unit.mean[0] = first + mean;
      unit.squares[0] = squares;
    } else {
#pragma unroll
      for (int e = 0; e < U::size; e++) unit.mean[e] = x.get(e), unit.squares[e] = 0;
    }
    partial = merge(partial, unit);
  }
  __device__ Value merge(Value a, const Value &b) const
  {
    const real total = a.count + b.count;
    /* Exactly 0 or 1 if one of the two is empty, where a fast quotient may be off. */
    const real fraction = b.count == 0 ? (real)0 : a.count == 0 ? (real)1 : fastQuotient(b.count, total);
#pragma unroll
    for (int s = 0; s < U::sets; s++) {
      const real delta = b.mean[s] - a.mean[s];
      a.mean[s] = fraction == 1 ? b.mean[s] : a.mean[s] + delta * fraction;
      a.squares[s] += b.squares[s] + delta * (a.count * fraction) * delta;
    }
    a.count = total;
    return a;
  }
  __device__ void finish(int64_t row, const Value &value) const
  {
#pragma unroll
    for (int s = 0; s < U::sets; s++) {
      const int64_t c = U::firstChannel(row) + s;
      if (to.mean.isPresent()) to.mean.set(c, value.mean[s]);
      if (to.squares.isPresent()) to.squares.set(c, value.squares[s]);
      saveChannel(to, c, value.mean[s], value.squares[s], count);
    }
  }
};

template <UnitKind K>
static void computeMoments(THNNState *state, const Channels &channels, const MomentsOutputs &to)
{
  const Moments<K> moments = {channels, to, (real)channels.positions};
  reduceUnits<K>(state, moments, channels);
}

void moments(THNNState *state, THTensor *input, const MomentsOutputs &to)
{
  const Channels channels = channelsOf(state, 1, input, NULL, NULL);
  if (channels.kind == PACKED_POSITIONS) computeMoments<PACKED_POSITIONS>(state, channels, to);
  else if (channels.kind == PACKED_CHANNELS) computeMoments<PACKED_CHANNELS>(state, channels, to);
  else computeMoments<SINGLE>(state, channels, to);
}

void saveMoments(THNNState *state, int64_t channels, const MomentsOutputs &to)
{
  const NumberCheck check = numberCheck(state, "statistics", "expected more than 1 value per channel");
  forEach(state, channels, [=] __device__(int64_t c) {
    const real count = (real)*to.count;
    if (count > 1) return saveChannel(to, c, to.mean.get(c), to.squares.get(c), count);
    check.refuse((float)count);
    to.save_mean.set(c, (real)NAN);
    to.save_std.set(c, (real)NAN);
  });
}

/* --- normalization and the gradient w.r.t. the input
   ------------------------------------------------------------------ */

/* The normalization of one channel, or of a pack of channels. */
template <int N> struct Affine {
  real mean[N], scale[N], bias[N], limit;

  __device__ void load(const ChannelParameters &p, int64_t first, bool withBias)
  {
    limit = p.limit;
#pragma unroll
    for (int s = 0; s < N; s++) {
      mean[s] = p.mean.get(first + s);
      scale[s] = inverseOf(p, first + s) * p.weight.get(first + s, 1);
      bias[s] = withBias ? p.bias.get(first + s, 0) : (real)0;
    }
  }
  __device__ static real inverseOf(const ChannelParameters &p, int64_t c)
  {
    return p.inverse.isPresent() ? p.inverse.get(c) : inverseDeviation(p.variance.get(c), p.eps);
  }
  /* Forward and backward need the same bits, because the sign decides relu's gradient. */
  __device__ real normalized(int s, real x) const { return fma(x - mean[s], scale[s], bias[s]); }
  __device__ real gradient(int s, real g, real x, bool relu) const
  {
    if (!relu) return g;
    const real y = normalized(s, x);
    return y <= 0 || y >= limit ? (real)0 : g;
  }
};

template <UnitKind K> struct Normalize {
  typedef Unit<K> U;
  typedef Affine<U::sets> Coefficients;
  struct Operands {
    U x, residual;
    Element *output;
  };

  Channels channels;
  ChannelParameters parameters;
  bool relu;

  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
    k.load(parameters, U::firstChannel(row), true);
    return k;
  }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Operands o;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    o.x.load(channels.operand[0].data + offset[0]);
    if (channels.operand[1].data != NULL) o.residual.load(channels.operand[1].data + offset[1]);
    else o.residual = o.x; /* not used */
    o.output = channels.operand[2].data + offset[2];
    return o;
  }
  __device__ void finish(const Coefficients &k, const Operands &o) const
  {
    U y;
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      real value = k.normalized(U::setOf(e), o.x.get(e));
      if (channels.operand[1].data != NULL) value += o.residual.get(e);
      y.set(e, !relu ? value : value <= 0 ? (real)0 : value > k.limit ? k.limit : value);
    }
    y.store(o.output);
  }
};

template <UnitKind K>
static void normalizeUnits(THNNState *state, const Channels &channels, const ChannelParameters &parameters,
                           bool relu)
{
  const Normalize<K> map = {channels, parameters, relu};
  applyUnits<K>(state, map, channels);
}

void normalize(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
               const ChannelParameters &parameters, bool relu)
{
  const Channels channels = channelsOf(state, 1, input, residual, output);
  if (channels.kind == PACKED_POSITIONS) normalizeUnits<PACKED_POSITIONS>(state, channels, parameters, relu);
  else if (channels.kind == PACKED_CHANNELS) normalizeUnits<PACKED_CHANNELS>(state, channels, parameters, relu);
  else normalizeUnits<SINGLE>(state, channels, parameters, relu);
}

template <UnitKind K>
static void computeAndNormalize(THNNState *state, const Channels &channels, const MomentsOutputs &to,
                                const ChannelParameters &parameters, bool relu)
{
  const Moments<K> moments = {channels, to, (real)channels.positions};
  const Normalize<K> map = {channels, parameters, relu};
  reduceAndApplyUnits<K>(state, moments, map, channels);
}

void momentsAndNormalize(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
                         const MomentsOutputs &to, const ChannelParameters &parameters, bool relu)
{
  const Channels channels = channelsOf(state, 1, input, residual, output);
  if (channels.kind == PACKED_POSITIONS)
    computeAndNormalize<PACKED_POSITIONS>(state, channels, to, parameters, relu);
  else if (channels.kind == PACKED_CHANNELS)
    computeAndNormalize<PACKED_CHANNELS>(state, channels, to, parameters, relu);
  else computeAndNormalize<SINGLE>(state, channels, to, parameters, relu);
}

template <UnitKind K> struct CutGradient {
  typedef Unit<K> U;
  typedef NoCoefficients Coefficients;
  struct Operands {
    U output, g;
    Element *gradSum;
  };

  Channels channels;
  real limit;
  bool relu;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Operands o;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    o.output.load(channels.operand[0].data + offset[0]);
    o.g.load(channels.operand[1].data + offset[1]);
    o.gradSum = channels.operand[2].data + offset[2];
    return o;
  }
  __device__ void finish(const Coefficients &, const Operands &o) const
  {
    U cut, largest;
    largest.set(0, limit); /* the output is at most the limit rounded to its type */
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const real y = o.output.get(e);
      cut.set(e, relu && (y <= 0 || y >= largest.get(0)) ? (real)0 : o.g.get(e));
    }
    cut.store(o.gradSum);
  }
};

template <UnitKind K> static void cutUnits(THNNState *state, const Channels &channels, real limit, bool relu)
{
  const CutGradient<K> map = {channels, limit, relu};
  applyUnits<K>(state, map, channels);
}

void cutGradient(THNNState *state, THTensor *output, THTensor *gradOutput, THTensor *gradSum, real limit,
                 bool relu)
{
  const Channels channels = channelsOf(state, 1, output, gradOutput, gradSum);
  if (channels.kind == PACKED_POSITIONS) cutUnits<PACKED_POSITIONS>(state, channels, limit, relu);
  else if (channels.kind == PACKED_CHANNELS) cutUnits<PACKED_CHANNELS>(state, channels, limit, relu);
  else cutUnits<SINGLE>(state, channels, limit, relu);
}

enum GradientKind { CONSTANT_STATISTICS, BATCH_STATISTICS };

template <UnitKind K, GradientKind G, bool RELU> struct InputGradient {
  typedef Unit<K> U;
  static const bool readsInput = G == BATCH_STATISTICS || RELU;
  struct Coefficients {
    Affine<U::sets> affine;
    real slope[U::sets], constant[U::sets];
  };
  struct Operands {
    U x, g;
    Element *gradInput;
  };

  Channels channels;
  ChannelParameters parameters;
  GradientSums sums;

  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
    const int64_t first = U::firstChannel(row);
    k.affine.load(parameters, first, RELU);
#pragma unroll
    for (int s = 0; s < U::sets && G == BATCH_STATISTICS; s++) {
      const real inverse = k.affine.inverseOf(parameters, first + s), factor = -k.affine.scale[s] / sums.count;
      k.slope[s] = factor * inverse * inverse * sums.dot.get(first + s);
      k.constant[s] = factor * sums.sum.get(first + s);
    }
    return k;
  }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Operands o;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    o.g.load(channels.operand[1].data + offset[1]);
    if (readsInput) o.x.load(channels.operand[0].data + offset[0]);
    else o.x = o.g; /* not used */
    o.gradInput = channels.operand[2].data + offset[2];
    return o;
  }
  __device__ void finish(const Coefficients &k, const Operands &o) const
  {
    U dx;
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const int s = U::setOf(e);
      const real x = readsInput ? o.x.get(e) : (real)0;
      real value = k.affine.gradient(s, o.g.get(e), x, RELU) * k.affine.scale[s];
      if (G == BATCH_STATISTICS) value += (x - k.affine.mean[s]) * k.slope[s] + k.constant[s];
      dx.set(e, value);
    }
    dx.store(o.gradInput);
  }
};

template <GradientKind G, bool RELU>
static void gradInputBy(THNNState *state, const Channels &channels, const ChannelParameters &parameters,
                        const GradientSums &sums)
{
  const InputGradient<PACKED_POSITIONS, G, RELU> positions = {channels, parameters, sums};
  const InputGradient<PACKED_CHANNELS, G, RELU> packs = {channels, parameters, sums};
  const InputGradient<SINGLE, G, RELU> single = {channels, parameters, sums};
  if (channels.kind == PACKED_POSITIONS) applyUnits<PACKED_POSITIONS>(state, positions, channels);
  else if (channels.kind == PACKED_CHANNELS) applyUnits<PACKED_CHANNELS>(state, packs, channels);
  else applyUnits<SINGLE>(state, single, channels);
}

void gradInput(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
               const ChannelParameters &parameters, const GradientSums &sums, bool relu)
{
  const bool constant = !sums.sum.isPresent();
  const Channels channels = channelsOf(state, 1, constant && !relu ? NULL : input, gradOutput, gradInput);
  if (constant && relu) gradInputBy<CONSTANT_STATISTICS, true>(state, channels, parameters, sums);
  else if (constant) gradInputBy<CONSTANT_STATISTICS, false>(state, channels, parameters, sums);
  else if (relu) gradInputBy<BATCH_STATISTICS, true>(state, channels, parameters, sums);
  else gradInputBy<BATCH_STATISTICS, false>(state, channels, parameters, sums);
}

/* --- sums for the backward
   ------------------------------------------------------------------------------------------ */

template <UnitKind K, bool RELU> struct GradSums {
  typedef Unit<K> U;
  typedef Affine<U::sets> Coefficients;
  struct Value {
    real sum[U::sets], dot[U::sets];
  };
  struct Term {
    U x, g;
  };

  Channels channels;
  ChannelParameters parameters;
  GradientOutputs to;

  __device__ Value zero() const
  {
    Value value;
#pragma unroll
    for (int s = 0; s < U::sets; s++) value.sum[s] = value.dot[s] = 0;
    return value;
  }
  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
    k.load(parameters, U::firstChannel(row), RELU);
    return k;
  }
  __device__ Term load(const Coefficients &, int64_t row, int64_t term) const
  {
    Term t;
    int64_t offset[OPERANDS];
    channels.offsets(U::firstChannel(row), U::firstPosition(term), offset);
    t.x.load(channels.operand[0].data + offset[0]);
    t.g.load(channels.operand[1].data + offset[1]);
    return t;
  }
  __device__ void add(Value &partial, const Coefficients &k, const Term &t) const
  {
    Value unit = zero();
#pragma unroll
    for (int e = 0; e < U::size; e++) {
      const int s = U::setOf(e);
      const real value = t.x.get(e), gradient = k.gradient(s, t.g.get(e), value, RELU);
      unit.sum[s] += gradient;
      unit.dot[s] += gradient * (value - k.mean[s]);
    }
    partial = merge(partial, unit);
  }
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int s = 0; s < U::sets; s++) a.sum[s] += b.sum[s], a.dot[s] += b.dot[s];
    return a;
  }
  __device__ void finish(int64_t row, const Value &value) const
  {
#pragma unroll
    for (int s = 0; s < U::sets; s++) {
      const int64_t c = U::firstChannel(row) + s;
      if (to.sum.isPresent()) to.sum.set(c, value.sum[s]);
      if (to.dot.isPresent()) to.dot.set(c, value.dot[s]);
      if (to.gradBias.isPresent())
        to.gradBias.set(c, (to.newBias ? 0 : to.gradBias.get(c)) + to.scale * value.sum[s]);
      if (!to.gradWeight.isPresent()) continue;
      const real inverse = Coefficients::inverseOf(parameters, c);
      to.gradWeight.set(c, (to.newWeight ? 0 : to.gradWeight.get(c)) + to.scale * inverse * value.dot[s]);
    }
  }
};

template <bool RELU>
static void gradSumsBy(THNNState *state, const Channels &channels, const ChannelParameters &parameters,
                       const GradientOutputs &to)
{
  const GradSums<PACKED_POSITIONS, RELU> positions = {channels, parameters, to};
  const GradSums<PACKED_CHANNELS, RELU> packs = {channels, parameters, to};
  const GradSums<SINGLE, RELU> single = {channels, parameters, to};
  if (channels.kind == PACKED_POSITIONS) reduceUnits<PACKED_POSITIONS>(state, positions, channels);
  else if (channels.kind == PACKED_CHANNELS) reduceUnits<PACKED_CHANNELS>(state, packs, channels);
  else reduceUnits<SINGLE>(state, single, channels);
}

void gradSums(THNNState *state, THTensor *input, THTensor *gradOutput, const ChannelParameters &parameters,
              const GradientOutputs &to, bool relu)
{
  const Channels channels = channelsOf(state, 1, input, gradOutput, NULL);
  if (relu) gradSumsBy<true>(state, channels, parameters, to);
  else gradSumsBy<false>(state, channels, parameters, to);
}

/* --- both --------------------------------------------------------------------------------------------------------- */

template <UnitKind K, GradientKind G, bool RELU>
static void gradUnitsBy(THNNState *state, const Channels &channels, const ChannelParameters &parameters,
                        const GradientOutputs &to, const GradientSums &sums)
{
  const GradSums<K, RELU> reduction = {channels, parameters, to};
  const InputGradient<K, G, RELU> map = {channels, parameters, sums};
  reduceAndApplyUnits<K>(state, reduction, map, channels);
}

template <GradientKind G, bool RELU>
static void gradBy(THNNState *state, const Channels &channels, const ChannelParameters &parameters,
                   const GradientOutputs &to, const GradientSums &sums)
{
  if (channels.kind == PACKED_POSITIONS)
    gradUnitsBy<PACKED_POSITIONS, G, RELU>(state, channels, parameters, to, sums);
  else if (channels.kind == PACKED_CHANNELS)
    gradUnitsBy<PACKED_CHANNELS, G, RELU>(state, channels, parameters, to, sums);
  else gradUnitsBy<SINGLE, G, RELU>(state, channels, parameters, to, sums);
}

void gradSumsAndInput(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                      const ChannelParameters &parameters, const GradientOutputs &to, const GradientSums &sums,
                      bool relu)
{
  const bool constant = !sums.sum.isPresent();
  const Channels channels = channelsOf(state, 1, input, gradOutput, gradInput);
  if (constant && relu) gradBy<CONSTANT_STATISTICS, true>(state, channels, parameters, to, sums);
  else if (constant) gradBy<CONSTANT_STATISTICS, false>(state, channels, parameters, to, sums);
  else if (relu) gradBy<BATCH_STATISTICS, true>(state, channels, parameters, to, sums);
  else gradBy<BATCH_STATISTICS, false>(state, channels, parameters, to, sums);
}

} // namespace THNN_(batchNorm)
