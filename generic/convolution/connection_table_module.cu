#include "convolution/connection_table_module.h"

#include "runtime/loops.h"

/* Each row of the table connects an input channel and an output channel by a filter. The images that are written have
   target channels, the images that are read have source channels. The rows of the table are listed by target channel,
   in their order, so that the order in which a thread adds the connections of its target depends on the table alone. */

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

static View<Element, 3> filterView(const THTensor *t)
{
  return {TH_DATA(t), {t->stride[0], t->stride[1], t->stride[2]}};
}

/* The rows of the table, each checked, and behind them a Connection whose `input` is the number of bad rows. NULL, with
   the status set, if there is no memory. */
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
   writes them behind the connections of the threads before it. */
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
  int64_t source, element, elementStep; /* of the first tap; the next source position is greater by 1 */
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
    real sum = biases ? thcunn::load(biases + index[1] * biasStride) : 0;
    for (int64_t c = range.begin; c < range.end; c++) {
      const ListEntry entry = entries[c];
      real part = 0; /* the error of a sum of short sums is less than that of a long one */
      for (int64_t r = 0; r < rowTaps.count; r++) {
        const int64_t sourceIndex[4] = {index[0], entry.source, rowTaps.source + r, columnTaps.source};
        const int64_t element[3] = {entry.filter, rowTaps.element + r * rowTaps.elementStep, columnTaps.element};
        const Element *value = in.at(sourceIndex), *factor = filters.at(element);
        for (int64_t n = columnTaps.count; n > 0; n--) {
          part += thcunn::load(value) * thcunn::load(factor);
          value += in.stride[3];
          factor += columnTaps.elementStep * filters.stride[2];
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

void THNN_(connectionTableAccGradParameters)(THNNState *state, bool transposed, THTensor *input,
                                             THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                             THTensor *connTable, int nInputPlane, int nOutputPlane, int dW,
                                             int dH, accreal scale_)
{
  const real scale = (real)scale_;
  const Connection *connections = readTable(state, connTable, nInputPlane, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  /* If it is not 0, nothing is added, as on the CPU. */
  const int32_t *badRows = &connections[connTable->size[0]].input;
  /* The windows slide over `large`, and each has an element of `small`. */
  const THTensor *small = transposed ? input : gradOutput, *large = transposed ? gradOutput : input;
  const int64_t *windows = small->size + (small->ndim - 3), *sums = gradOutput->size + (gradOutput->ndim - 3);
  const int64_t batch = input->ndim == 4 ? input->size[0] : 1;
  const Extents<3> kernel = {{gradWeight->size[0], gradWeight->size[1], gradWeight->size[2]}};
  const Extents<3> terms = {{batch, windows[1], windows[2]}};
  const Extents<3> positions = {{batch, sums[1], sums[2]}};
  const View<Element, 4> values = imageView(large), factors = imageView(small), gradients = imageView(gradOutput);
  const View<Element, 3> filters = filterView(gradWeight);
  Element *biases = TH_DATA(gradBias);
  const int64_t biasStride = gradBias->stride[0], elements = kernel.count();
  const int64_t termCount = terms.count(), positionCount = positions.count();
  /* The rows of the sums are the elements of the filters and, behind them, the biases. */
  thcunn::sumRows<real>(
      state, elements + nOutputPlane, termCount > positionCount ? termCount : positionCount,
      !THNNTensor_isChannelsLast(large),
      [=] __device__(int64_t row, int64_t i) -> real {
        int64_t element[3], at[3];
        if (row >= elements) {
          positions.indices(i, at);
          const int64_t index[4] = {at[0], row - elements, at[1], at[2]};
          return i < positionCount ? thcunn::load(gradients.at(index)) : 0;
        }
        kernel.indices(row, element);
        terms.indices(i, at);
        const Connection c = connections[element[0]];
        if (c.input == NO_CHANNEL || i >= termCount) return 0;
        const int64_t large[4] = {at[0], transposed ? c.output : c.input, at[1] * dH + element[1],
                                  at[2] * dW + element[2]};
        const int64_t small[4] = {at[0], transposed ? c.input : c.output, at[1], at[2]};
        return thcunn::load(values.at(large)) * thcunn::load(factors.at(small));
      },
      [=] __device__(int64_t row, real sum) {
        if (*badRows > 0) return;
        int64_t element[3];
        kernel.indices(row, element);
        Element *to = row < elements ? filters.at(element) : biases + (row - elements) * biasStride;
        thcunn::store(to, thcunn::load(to) + scale * sum);
      });
}
