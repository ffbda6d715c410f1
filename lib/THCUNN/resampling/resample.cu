#include "resampling/resampling.h"

#include "resampling/pixels.h"

namespace thcunn
{

/* ResampleSource with the fraction as a number of the arithmetic. */
template <class Number> struct AxisSource {
  int64_t index;
  Number fraction;
};

/* The outputs that read an input: `from` to `end` - 1. */
struct AxisReaders {
  int64_t from, end;
};

/* Positions of paddings and of integral factors take a few instructions per element. Other positions are quotients of
   64 bits or use a scale in double; they are computed once per index of an axis, into tables. */
template <class Number> struct AxisPositions {
  ResampleAxis axis;
  Divisor factor;              /* outputs per input, for RESAMPLE_NEAREST without tables */
  AxisSource<Number> *sources; /* per output; NULL if the axis has no tables */
  AxisReaders *readers;        /* per input; NULL in the forward */

  __device__ AxisSource<Number> source(int64_t o) const
  {
    if (sources) return sources[o];
    AxisSource<Number> s = {0, 0};
    if (axis.kind == RESAMPLE_NEAREST) {
      s.index = factor.quotient(o);
    } else {
      const int64_t last = axis.input - 1;
      const bool reflects = axis.kind == RESAMPLE_REFLECT;
      o -= axis.before;
      s.index = o < 0 ? (reflects ? -o : 0) : o > last ? (reflects ? 2 * last - o : last) : o;
    }
    return s;
  }

  /* The range of candidates: the outputs that may read input i or, of a reflection, the numbers 0 to 2. reader() gives
     the output of a candidate. */
  __device__ AxisReaders candidates(int64_t i) const
  {
    if (readers) return readers[i];
    if (axis.kind == RESAMPLE_REFLECT) return {0, 3};
    if (axis.kind == RESAMPLE_NEAREST) return {i * factor.divisor, (i + 1) * factor.divisor};
    AxisReaders range = {i == 0 ? 0 : axis.before + i, i == axis.input - 1 ? axis.output : axis.before + i + 1};
    if (range.from < 0) range.from = 0;
    if (range.end > axis.output) range.end = axis.output;
    return range;
  }
  /* -1 if the candidate reads nothing. A reflection has three candidates: the output mirrored at the first element, the
     direct one, and the output mirrored at the last element. */
  __device__ int64_t reader(int64_t i, int64_t candidate) const
  {
    if (axis.kind != RESAMPLE_REFLECT) return candidate;
    const int64_t last = axis.input - 1;
    if ((candidate == 0 && i == 0) || (candidate == 2 && i == last)) return -1;
    const int64_t o = axis.before + (candidate == 0 ? -i : candidate == 1 ? i : 2 * last - i);
    return o >= 0 && o < axis.output ? o : -1;
  }
  __device__ Number weight(int64_t i, int64_t o) const
  {
    if (!sources) return 1;
    const AxisSource<Number> s = sources[o];
    return s.index == i ? 1 - s.fraction : s.fraction;
  }
};

template <class Number> struct Positions {
  AxisPositions<Number> at[RESAMPLING_AXES];
};

/* The first output whose first input or, if `last`, whose last input (the one after the first where the fraction is
   not 0) has an index of at least `input`. */
__device__ static inline int64_t firstOutput(const ResampleAxis *axis, int64_t input, bool last)
{
  int64_t low = 0, high = axis->output;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    const ResampleSource s = resampleSource(axis, middle);
    if (s.index + (last && s.fraction != 0) >= input) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* A thread per entry of the tables of all axes. Computes in double for every element type, as the CPU does: a position
   must not depend on the element type, and there are few. */
template <class Number> __global__ void __launch_bounds__(THREADS) fillTablesKernel(Positions<Number> tables)
{
  int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
#pragma unroll
  for (int a = 0; a < RESAMPLING_AXES; a++) {
    const AxisPositions<Number> &p = tables.at[a];
    if (!p.sources) continue;
    if (i >= 0 && i < p.axis.output) {
      const ResampleSource s = resampleSource(&p.axis, i);
      p.sources[i] = {s.index, (Number)s.fraction};
    }
    i -= p.axis.output;
    if (!p.readers) continue;
    if (i >= 0 && i < p.axis.input)
      p.readers[i] = {firstOutput(&p.axis, i, true), firstOutput(&p.axis, i + 1, false)};
    i -= p.axis.input;
  }
}

/* Chooses the axes that have tables, and fills these by one launch. */
template <class Number> void fillTables(THNNState *state, Positions<Number> *positions, bool backward)
{
  int64_t count = 0, bytes = 0;
  for (int a = 0; a < RESAMPLING_AXES; a++) {
    AxisPositions<Number> *p = &positions->at[a];
    const ResampleAxis *axis = &p->axis;
    const bool isFactor = axis->kind == RESAMPLE_NEAREST && axis->scale == 0 && axis->output % axis->input == 0;
    p->factor = Divisor(isFactor ? axis->output / axis->input : 1);
    p->sources = NULL;
    p->readers = NULL;
    if (axisIsPadding(axis) || isFactor) continue;
    p->sources = (AxisSource<Number> *)bytes + 1; /* not NULL; replaced below */
    count += axis->output + (backward ? axis->input : 0);
    bytes += axis->output * (int64_t)sizeof(AxisSource<Number>) + axis->input * (int64_t)sizeof(AxisReaders);
  }
  if (count == 0) return;
  char *memory = (char *)scratch(state, bytes);
  if (memory == NULL) return;
  for (int a = 0; a < RESAMPLING_AXES; a++) {
    AxisPositions<Number> *p = &positions->at[a];
    if (p->sources == NULL) continue;
    p->sources = (AxisSource<Number> *)memory;
    memory += p->axis.output * (int64_t)sizeof(AxisSource<Number>);
    p->readers = backward ? (AxisReaders *)memory : NULL;
    memory += p->axis.input * (int64_t)sizeof(AxisReaders);
  }
  const unsigned blocks = blockCount(state, count);
  if (blocks > 0) THCUNN_LAUNCH(fillTablesKernel<Number>, blocks, THREADS, streamOf(state))(*positions);
}

/* Every output is a copy of an input. */
template <class T, int AXES>
void copyElements(THNNState *state, const Positions<typename Arithmetic<T>::type> &positions,
                  const THNNTensor *input, const THNNTensor *output)
{
  const PixelLoop<AXES> loop = pixelLoop<AXES>(output);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(input), y = pixelsOf<T, AXES>(output);
  forEach(state, loop.extents.count(), [=] __device__(int64_t i) {
    int64_t n, c, end, o[AXES];
    loop.indices(i, &n, &c, &end, o);
    const T *from = x.sample(n, c);
    T *to = y.sample(n, c);
#pragma unroll
    for (int a = 0; a < AXES; a++) {
      from += positions.at[RESAMPLING_AXES - AXES + a].source(o[a]).index * x.axis[a];
      to += o[a] * y.axis[a];
    }
    T value[CHANNELS_PER_THREAD]; /* loaded together, before the first store */
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++)
      if (c + k < end) value[k] = from[k * x.channel];
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++)
      if (c + k < end) to[k * y.channel] = value[k];
  });
}

template <class T, int AXES>
void interpolateElements(THNNState *state, const Positions<typename Arithmetic<T>::type> &positions,
                         const THNNTensor *input, const THNNTensor *output)
{
  typedef typename Arithmetic<T>::type Number;
  const PixelLoop<AXES> loop = pixelLoop<AXES>(output);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(input), y = pixelsOf<T, AXES>(output);
  forEach(state, loop.extents.count(), [=] __device__(int64_t i) {
    int64_t n, c, end, o[AXES];
    Number fraction[AXES];
    loop.indices(i, &n, &c, &end, o);
    const T *from = x.sample(n, c);
    T *to = y.sample(n, c);
#pragma unroll
    for (int a = 0; a < AXES; a++) {
      const AxisSource<Number> s = positions.at[RESAMPLING_AXES - AXES + a].source(o[a]);
      from += s.index * x.axis[a];
      to += o[a] * y.axis[a];
      fraction[a] = s.fraction;
    }
    for (; c < end; c++, from += x.channel, to += y.channel) {
      Number sum = 0;
#pragma unroll
      for (int corner = 0; corner < 1 << AXES; corner++) {
        Number weight = 1;
        const T *p = from;
#pragma unroll
        for (int a = 0; a < AXES; a++) {
          const bool next = corner >> (AXES - 1 - a) & 1;
          weight *= next ? fraction[a] : 1 - fraction[a];
          p += next ? x.axis[a] : 0;
        }
        /* An input without weight is not read: it may be infinite or lie beyond the last one. */
        if (weight != 0) sum += weight * load(p);
      }
      store(to, sum);
    }
  });
}

/* The output of a candidate along an axis; axes that the tensors lack (PRESENT is false) have one output. */
template <bool PRESENT, class Number>
__device__ int64_t readerOf(const AxisPositions<Number> &p, int64_t i, int64_t candidate)
{
  return PRESENT ? p.reader(i, candidate) : 0;
}
template <bool PRESENT, class Number>
__device__ Number weightOf(const AxisPositions<Number> &p, int64_t i, int64_t o)
{
  return PRESENT ? p.weight(i, o) : 1;
}

/* A thread per input sums the gradients of its readers, in the order of the outputs. */
template <class T, int AXES>
void sumReaders(THNNState *state, const Positions<typename Arithmetic<T>::type> &positions,
                const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  typedef typename Arithmetic<T>::type Number;
  const int FIRST = RESAMPLING_AXES - AXES;
  const PixelLoop<AXES> loop = pixelLoop<AXES>(gradInput);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(gradInput), y = pixelsOf<T, AXES>(gradOutput);
  forEach(state, loop.extents.count(), [=] __device__(int64_t element) {
    int64_t n, c, end, at[AXES], i[RESAMPLING_AXES], stride[RESAMPLING_AXES];
    AxisReaders r[RESAMPLING_AXES];
    loop.indices(element, &n, &c, &end, at);
    T *to = x.sample(n, c);
#pragma unroll
    for (int a = 0; a < RESAMPLING_AXES; a++) {
      i[a] = a < FIRST ? 0 : at[a < FIRST ? 0 : a - FIRST];
      stride[a] = a < FIRST ? 0 : y.axis[a < FIRST ? 0 : a - FIRST];
      r[a] = a < FIRST ? AxisReaders{0, 1} : positions.at[a].candidates(i[a]);
      if (a >= FIRST) to += i[a] * x.axis[a < FIRST ? 0 : a - FIRST];
    }
    const T *const from = y.sample(n, c);
    Number sum[CHANNELS_PER_THREAD];
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++) sum[k] = 0;
    for (int64_t kd = r[0].from; kd < r[0].end; kd++) {
      const int64_t od = readerOf<(FIRST < 1)>(positions.at[0], i[0], kd);
      if (od < 0) continue;
      const Number wd = weightOf<(FIRST < 1)>(positions.at[0], i[0], od);
      for (int64_t kh = r[1].from; kh < r[1].end; kh++) {
        const int64_t oh = readerOf<(FIRST < 2)>(positions.at[1], i[1], kh);
        if (oh < 0) continue;
        const Number wh = wd * weightOf<(FIRST < 2)>(positions.at[1], i[1], oh);
        const T *const row = from + od * stride[0] + oh * stride[1];
        for (int64_t kw = r[2].from; kw < r[2].end; kw++) {
          const int64_t ow = positions.at[2].reader(i[2], kw);
          if (ow < 0) continue;
          const Number weight = wh * positions.at[2].weight(i[2], ow);
          const T *p = row + ow * stride[2];
#pragma unroll
          for (int k = 0; k < CHANNELS_PER_THREAD; k++, p += y.channel)
            if (c + k < end) sum[k] += weight * load(p);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++)
      if (c + k < end) store(to + k * x.channel, sum[k]);
  });
}

/* An upper bound on the number of candidates() of an input. */
static double mostCandidates(const ResampleAxis *axis)
{
  const double input = (double)axis->input, output = (double)axis->output, before = (double)axis->before;
  double most;
  if (axis->kind == RESAMPLE_REFLECT) return 3;
  if (axis->kind == RESAMPLE_REPLICATE) {
    most = input == 1 ? output : fmax(fmax(before, output - before - input) + 1, 1);
  } else {
    /* Positions are `step` inputs apart; positions beyond the last input are moved to it. */
    const bool linear = axis->kind != RESAMPLE_NEAREST;
    const double step = axis->scale != 0                ? axis->scale
                        : axis->kind == RESAMPLE_LINEAR ? (input - 1) / (output - 1)
                                                        : input / output;
    most = floor(fmax((linear ? 2 : 1) / step, output - (input - 2) / step)) + 2;
  }
  return fmin(most, output);
}

/* The sums as reductions, whose terms are candidates. */
template <class T, int AXES>
void reduceReaders(THNNState *state, const Positions<typename Arithmetic<T>::type> &positions,
                   const THNNTensor *gradOutput, const THNNTensor *gradInput)
{
  typedef typename Arithmetic<T>::type Number;
  const int FIRST = RESAMPLING_AXES - AXES;
  const PixelLoop<AXES> loop = pixelLoop<AXES>(gradInput, hasChannelsInnermost<AXES>(gradOutput), 1);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(gradInput), y = pixelsOf<T, AXES>(gradOutput);
  Extents<AXES> candidates;
  for (int a = 0; a < AXES; a++) candidates.size[a] = (int64_t)mostCandidates(&positions.at[FIRST + a].axis);
  sumRows<Number>(
      state, loop.extents.count(), candidates.count(), !loop.channelsInnermost,
      [=] __device__(int64_t row, int64_t term) -> Number {
        int64_t n, c, end, i[AXES], candidate[AXES];
        loop.indices(row, &n, &c, &end, i);
        candidates.indices(term, candidate);
        const T *p = y.sample(n, c);
        Number weight = 1;
#pragma unroll
        for (int a = 0; a < AXES; a++) {
          const AxisPositions<Number> &axis = positions.at[FIRST + a];
          const AxisReaders r = axis.candidates(i[a]);
          const int64_t o = r.from + candidate[a] < r.end ? axis.reader(i[a], r.from + candidate[a]) : -1;
          if (o < 0) return 0;
          weight *= axis.weight(i[a], o);
          p += o * y.axis[a];
        }
        return weight * load(p);
      },
      [=] __device__(int64_t row, Number sum) {
        int64_t n, c, end, i[AXES];
        loop.indices(row, &n, &c, &end, i);
        T *p = x.sample(n, c);
#pragma unroll
        for (int a = 0; a < AXES; a++) p += i[a] * x.axis[a];
        store(p, sum);
      });
}

/* True if one thread per input would not fill the GPU and each input feeds many outputs. */
static bool threadsShareInputs(const Resampling *resampling, const THNNTensor *gradInput)
{
  double candidates = 1;
  for (int a = 0; a < RESAMPLING_AXES; a++) candidates *= mostCandidates(&resampling->axis[a]);
  return THNNTensor_numel(gradInput) < 16384 && candidates >= 256;
}

template <class T>
void resampleAny(THNNState *state, const Resampling *resampling, bool backward, const THNNTensor *from,
                 const THNNTensor *to)
{
  typedef typename Arithmetic<T>::type Number;
  typedef void Run(THNNState *, const Positions<Number> &, const THNNTensor *, const THNNTensor *);
  enum { COPY, INTERPOLATE, SUM, REDUCE };
  static Run *const runs[][RESAMPLING_AXES] = {
      [COPY] = {copyElements<T, 1>, copyElements<T, 2>, copyElements<T, 3>},
      [INTERPOLATE] = {interpolateElements<T, 1>, interpolateElements<T, 2>, interpolateElements<T, 3>},
      [SUM] = {sumReaders<T, 1>, sumReaders<T, 2>, sumReaders<T, 3>},
      [REDUCE] = {reduceReaders<T, 1>, reduceReaders<T, 2>, reduceReaders<T, 3>}};
  Positions<Number> positions;
  bool linear = false;
  if (THNNTensor_numel(to) == 0) return;
  for (int a = 0; a < RESAMPLING_AXES; a++) {
    positions.at[a].axis = resampling->axis[a];
    linear = linear || resampling->axis[a].kind >= RESAMPLE_LINEAR;
  }
  fillTables(state, &positions, backward);
  if (state->status != THNN_OK) return;
  const int run = backward ? (threadsShareInputs(resampling, to) ? REDUCE : SUM) : linear ? INTERPOLATE : COPY;
  runs[run][resampling->axes - 1](state, positions, from, to);
}

} // namespace thcunn

void THNN_(resample)(THNNState *state, const Resampling *resampling, const THTensor *input, THTensor *output)
{
  thcunn::resampleAny<Element>(state, resampling, false, input, output);
}

void THNN_(resampleBackward)(THNNState *state, const Resampling *resampling, const THTensor *gradOutput,
                             THTensor *gradInput)
{
  thcunn::resampleAny<Element>(state, resampling, true, gradOutput, gradInput);
}
