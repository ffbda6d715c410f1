#include "convolution/connection_table_module.h"

#include "runtime/loops.h"

/* Each row of the table connects an input channel and an output channel by a filter. Target channels are written,
   source channels are read. The rows of the table are listed by target channel, in their order, so that the order in
   which a thread adds the connections of its target depends only on the table. */

using thcunn::Divisor;
using thcunn::Extents;
using thcunn::THREADS;
using thcunn::View;

namespace
{

/* A row of the table with a number that is not a channel connects NO_CHANNEL with itself. */
static const int32_t NO_CHANNEL = 0x7fffffff;

typedef struct Connection {
  int32_t input, output;
} Connection;

/* The source channel and the filter of one connection of a target channel. */
typedef struct ListEntry {
  int64_t source, filter;
} ListEntry;

typedef struct Range {
  int64_t begin, end;
} Range;

} // namespace

static View<Element, 4> imageView(const THTensor *t)
{
  View<Element, 4> view = {TH_DATA(t), {0, 0, 0, 0}};
  for (int d = 4 - t->ndim; d < 4; d++) view.stride[d] = t->stride[d - (4 - t->ndim)];
  return view;
}

static View<const Element, 4> constView(const THTensor *t)
{
  const View<Element, 4> view = imageView(t);
  return {view.data, {view.stride[0], view.stride[1], view.stride[2], view.stride[3]}};
}

static View<Element, 3> filterView(const THTensor *t)
{
  return {TH_DATA(t), {t->stride[0], t->stride[1], t->stride[2]}};
}

/* The rows of the table, each checked, followed by a Connection whose `input` is the number of bad rows. NULL, with the
   status set, if there is no memory. */
static Connection *readTable(THNNState *state, const THTensor *table, int nInputPlane, int nOutputPlane)
{
  const int64_t rows = table->size[0];
  Connection *connections = (Connection *)thcunn::scratch(state, (rows + 1) * (int64_t)sizeof(Connection));
  const thcunn::IndexCheck isInput = thcunn::indexCheck(state, "connTable", 0, nInputPlane, "in row");
  const thcunn::IndexCheck isOutput = thcunn::indexCheck(state, "connTable", 0, nOutputPlane, "in row");
  const View<Element, 2> entries = {TH_DATA(table), {table->stride[0], table->stride[1]}};
  if (state->status == THNN_OK)
    cudaMemsetAsync(connections + rows, 0, sizeof(Connection), thcunn::streamOf(state));
  thcunn::forEach(state, rows, [=] __device__(int64_t row) {
    const int64_t at[2][2] = {{row, 0}, {row, 1}};
    const real input = thcunn::load(entries.at(at[0])), output = thcunn::load(entries.at(at[1]));
    const bool isConnection = isInput.isWhole(input, row) && isOutput.isWhole(output, row);
    if (!isConnection) atomicAdd(&connections[rows].input, 1);
    connections[row] =
        isConnection ? Connection{(int32_t)input, (int32_t)output} : Connection{NO_CHANNEL, NO_CHANNEL};
  });
  return connections;
}

/* A block lists the connections of one target channel: a thread counts the connections in a part of the table, then
   writes them after the connections of the threads before it. */
static __global__ void __launch_bounds__(THREADS)
    listKernel(const Connection *connections, int64_t rows, bool targetIsInput, Range *ranges, ListEntry *entries)
{
  THCUNN_SHARED(int64_t, ofLower, [THREADS]); /* connections of lower target channels */
  THCUNN_SHARED(int64_t, ofOwn, [THREADS]);
  const int32_t own = (int32_t)blockIdx.x;
  const int64_t length = (rows + THREADS - 1) / THREADS, first = threadIdx.x * length;
  const int64_t end = first + length < rows ? first + length : rows;
  int64_t lower = 0, count = 0;
  for (int64_t row = first; row < end; row++) {
    const int32_t target = targetIsInput ? connections[row].input : connections[row].output;
    lower += target < own;
    count += target == own;
  }
  ofLower[threadIdx.x] = lower;
  ofOwn[threadIdx.x] = count;
  __syncthreads();
  Range range = {0, 0};
  int64_t position = 0;
  for (int i = 0; i < THREADS; i++) {
    range.begin += ofLower[i];
    range.end += ofOwn[i];
    if (i < (int)threadIdx.x) position += ofOwn[i];
  }
  range.end += range.begin;
  position += range.begin;
  if (threadIdx.x == 0) ranges[own] = range;
  for (int64_t row = first; row < end; row++) {
    const Connection c = connections[row];
    if ((targetIsInput ? c.input : c.output) != own) continue;
    entries[position++] = ListEntry{targetIsInput ? c.output : c.input, row};
  }
}

namespace
{

/* An axis of the images: a target reads source positions, each through an element of the kernel. */
typedef struct Axis {
  Divisor stride;
  int64_t kernel, source;
} Axis;

typedef struct Taps {
  int64_t source, element, elementStep; /* for the first tap; the next source position is greater by 1 */
  int64_t count;
} Taps;

} // namespace

/* `isGradient`: the target is the input of the correlation, and several windows may read one of its elements. */
static __device__ Taps tapsOf(const Axis &axis, int64_t target, bool isGradient)
{
  const int64_t stride = axis.stride.divisor;
  if (!isGradient) return {target * stride, 0, 1, axis.kernel};
  const int64_t behind = target - axis.kernel, first = behind < 0 ? 0 : axis.stride.quotient(behind) + 1;
  const int64_t last = axis.stride.quotient(target), end = last < axis.source ? last + 1 : axis.source;
  return {first, target - first * stride, -stride, end > first ? end - first : 0};
}

/* target = bias + sum over its connections and their taps; bias may be NULL. */
static void correlate(THNNState *state, bool isGradient, const THTensor *source, const THTensor *weight,
                      const THTensor *bias, const THTensor *table, int nInputPlane, int nOutputPlane, int dW,
                      int dH, bool targetIsInput, const THTensor *target)
{
  const int64_t rows = table->size[0], channels = targetIsInput ? nInputPlane : nOutputPlane;
  const Connection *connections = readTable(state, table, nInputPlane, nOutputPlane);
  Range *ranges = (Range *)thcunn::scratch(state, channels * (int64_t)sizeof(Range));
  ListEntry *entries = (ListEntry *)thcunn::scratch(state, (rows + 1) * (int64_t)sizeof(ListEntry));
  THNN_RETURN_IF_FAILED(state);
  THCUNN_LAUNCH(listKernel, (unsigned)channels, THREADS, thcunn::streamOf(state))
  (connections, rows, targetIsInput, ranges, entries);
  const int64_t *to = target->size + (target->ndim - 3), *from = source->size + (source->ndim - 3);
  const int64_t batch = target->ndim == 4 ? target->size[0] : 1;
  const bool channelsLast = THNNTensor_isChannelsLast(target); /* neighbouring threads have neighbours in memory */
  const Extents<4> elements =
      channelsLast ? Extents<4>{{batch, to[1], to[2], to[0]}} : Extents<4>{{batch, to[0], to[1], to[2]}};
  const Axis y = {dH, weight->size[1], from[1]}, x = {dW, weight->size[2], from[2]};
  const View<Element, 4> out = imageView(target), in = imageView(source);
  const View<Element, 3> filters = filterView(weight);
  const Element *biases = bias ? TH_DATA(bias) : NULL;
  const int64_t biasStride = bias ? bias->stride[0] : 0;
  thcunn::forEach(state, elements.count(), [=] __device__(int64_t i) {
    int64_t at[4];
    elements.indices(i, at);
    const int64_t index[4] = {at[0], channelsLast ? at[3] : at[1], channelsLast ? at[1] : at[2],
                              channelsLast ? at[2] : at[3]};
    const Taps rowTaps = tapsOf(y, index[2], isGradient), columnTaps = tapsOf(x, index[3], isGradient);
    const Range range = ranges[index[1]];
    const int64_t sourceIndex[4] = {index[0], 0, rowTaps.source, columnTaps.source};
    const int64_t element[3] = {0, rowTaps.element, columnTaps.element};
    const Element *const source = in.at(sourceIndex), *const filter = filters.at(element);
    const int64_t rowStep = rowTaps.elementStep * filters.stride[1];
    const int64_t columnStep = columnTaps.elementStep * filters.stride[2];
    real sum = biases ? thcunn::load(biases + index[1] * biasStride) : 0;
    for (int64_t c = range.begin; c < range.end; c++) {
      const int TAPS = 3; /* taps of a row that are loaded at a time */
      const ListEntry entry = entries[c];
      const Element *valueRow = source + entry.source * in.stride[1];
      const Element *factorRow = filter + entry.filter * filters.stride[0];
      real part = 0; /* a sum of short sums has a smaller rounding error than one long sum */
      for (int rows = (int)rowTaps.count; rows > 0; rows--, valueRow += in.stride[2], factorRow += rowStep) {
        const Element *value = valueRow, *factor = factorRow;
        for (int n = (int)columnTaps.count; n > 0; n -= TAPS) {
          real values[TAPS], factors[TAPS];
#pragma unroll
          for (int t = 0; t < TAPS; t++, value += in.stride[3], factor += columnStep) {
            values[t] = t < n ? thcunn::load(value) : 0;
            factors[t] = t < n ? thcunn::load(factor) : 0;
          }
#pragma unroll
          for (int t = 0; t < TAPS; t++) part += values[t] * factors[t];
        }
      }
      sum += part;
    }
    thcunn::store(out.at(index), sum);
  });
}

void THNN_(connectionTableUpdateOutput)(THNNState *state, bool transposed, THTensor *input, THTensor *output,
                                        THTensor *weight, THTensor *bias, THTensor *connTable, int nInputPlane,
                                        int nOutputPlane, int dW, int dH)
{
  correlate(state, transposed, input, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH, false, output);
}

void THNN_(connectionTableUpdateGradInput)(THNNState *state, bool transposed, THTensor *, THTensor *gradOutput,
                                           THTensor *gradInput, THTensor *weight, THTensor *, THTensor *connTable,
                                           int nInputPlane, int nOutputPlane, int dW, int dH)
{
  correlate(state, !transposed, gradOutput, weight, NULL, connTable, nInputPlane, nOutputPlane, dW, dH, true,
            gradInput);
}

namespace
{

/* The gradients of the parameters as a reduction. A row is up to SUMS elements of a filter, which share the elements of
   `small` and the places of `large`, or, after the filters, a bias. The windows slide over `large`, and each has an
   element of `small`: a term is a window of an image, or an element of an output channel. */
struct ParameterGradient {
  static const int SUMS = 9;
  struct Value {
    real sum[SUMS];
  };
  struct Coefficients {
    const Element *large, *small; /* the row's channels; for a bias only `small` */
    int64_t offset[SUMS];         /* position of each element in the window */
    int count;                    /* elements; 0 for a bias */
  };
  struct Term {
    real factor, value[SUMS];
  };
  const Connection *connections;
  const int32_t *badRows; /* if not 0, nothing is added, as on the CPU */
  bool transposed;
  int64_t filters, elements, terms, positions; /* elements of a filter */
  Divisor chunks, width;                       /* rows of a filter; elements of a row of a filter */
  Extents<3> windows, outputs;
  View<const Element, 4> large, small, gradOutput;
  int64_t step[2]; /* step of the windows in `large` */
  View<Element, 3> gradWeight;
  Element *gradBias;
  int64_t biasStride;
  real scale;

  __device__ Coefficients begin(int64_t row) const
  {
    const int64_t filter = chunks.quotient(row), first = (row - filter * chunks.divisor) * SUMS;
    Coefficients k = {NULL, NULL, {}, 0};
    if (filter >= filters) {
      k.small = gradOutput.data + (row - filters * chunks.divisor) * gradOutput.stride[1];
      return k;
    }
    const Connection c = connections[filter];
    if (c.input == NO_CHANNEL) return k;
    k.large = large.data + (transposed ? c.output : c.input) * large.stride[1];
    k.small = small.data + (transposed ? c.input : c.output) * small.stride[1];
    k.count = elements - first < SUMS ? (int)(elements - first) : SUMS;
#pragma unroll
    for (int e = 0; e < SUMS; e++) {
      const int64_t y = width.quotient(first + e), x = first + e - y * width.divisor;
      k.offset[e] = y * large.stride[2] + x * large.stride[3];
    }
    return k;
  }
  __device__ Value zero() const { return {}; }
  __device__ Term load(const Coefficients &k, int64_t, int64_t i) const
  {
    Term term = {};
    int64_t at[3];
    if (k.small == NULL || i >= (k.count == 0 ? positions : terms)) return term;
    if (k.count == 0) {
      outputs.indices(i, at);
      const int64_t index[4] = {at[0], 0, at[1], at[2]};
      term.factor = 1;
      term.value[0] = thcunn::load(k.small + (gradOutput.at(index) - gradOutput.data));
      return term;
    }
    windows.indices(i, at);
    const int64_t index[4] = {at[0], 0, at[1], at[2]};
    term.factor = thcunn::load(k.small + (small.at(index) - small.data));
    const Element *const from = k.large + (at[0] * large.stride[0] + at[1] * step[0] + at[2] * step[1]);
#pragma unroll
    for (int e = 0; e < SUMS; e++) term.value[e] = e < k.count ? thcunn::load(from + k.offset[e]) : 0;
    return term;
  }
  __device__ void add(Value &partial, const Coefficients &, const Term &term) const
  {
#pragma unroll
    for (int e = 0; e < SUMS; e++) partial.sum[e] += term.value[e] * term.factor;
  }
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int e = 0; e < SUMS; e++) a.sum[e] += b.sum[e];
    return a;
  }
  __device__ void finish(int64_t row, const Value &value) const
  {
    if (*badRows > 0) return;
    const int64_t filter = chunks.quotient(row), first = (row - filter * chunks.divisor) * SUMS;
    if (filter >= filters) {
      Element *const to = gradBias + (row - filters * chunks.divisor) * biasStride;
      return thcunn::store(to, thcunn::load(to) + scale * value.sum[0]);
    }
#pragma unroll
    for (int e = 0; e < SUMS; e++) {
      const int64_t y = width.quotient(first + e), at[3] = {filter, y, first + e - y * width.divisor};
      Element *const to = gradWeight.at(at);
      if (first + e < elements) thcunn::store(to, thcunn::load(to) + scale * value.sum[e]);
    }
  }
};

} // namespace

void THNN_(connectionTableAccGradParameters)(THNNState *state, bool transposed, THTensor *input,
                                             THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                             THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                             int dH, accreal scale)
{
  const Connection *connections = readTable(state, connTable, nInputPlane, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  const THTensor *small = transposed ? input : gradOutput, *large = transposed ? gradOutput : input;
  const int64_t *windows = small->size + (small->ndim - 3), *outputs = gradOutput->size + (gradOutput->ndim - 3);
  const int64_t batch = input->ndim == 4 ? input->size[0] : 1, filters = gradWeight->size[0];
  const int64_t elements = gradWeight->size[1] * gradWeight->size[2];
  const int64_t chunks = (elements + ParameterGradient::SUMS - 1) / ParameterGradient::SUMS;
  const View<const Element, 4> from = constView(large);
  const ParameterGradient gradient = {connections,
                                      &connections[connTable->size[0]].input,
                                      transposed,
                                      filters,
                                      elements,
                                      batch * windows[1] * windows[2],
                                      batch * outputs[1] * outputs[2],
                                      chunks,
                                      gradWeight->size[2],
                                      {{batch, windows[1], windows[2]}},
                                      {{batch, outputs[1], outputs[2]}},
                                      from,
                                      constView(small),
                                      constView(gradOutput),
                                      {dH * from.stride[2], dW * from.stride[3]},
                                      filterView(gradWeight),
                                      TH_DATA(gradBias),
                                      gradBias->stride[0],
                                      (real)scale};
  const int64_t terms = gradient.terms > gradient.positions ? gradient.terms : gradient.positions;
  thcunn::reduce(state, gradient, filters * chunks + nOutputPlane, terms, !THNNTensor_isChannelsLast(large));
}
