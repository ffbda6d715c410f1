#include "modules/SparseLinear.h"
#include "elementwise/map.h"
#include "segment_sum/range_sum.h"
#include "segment_sum/segment_sum.h"
#include "tables/gradient_bias.h"

namespace
{

/* The entries of a sparse matrix: rows (sample, column, value), or, in the legacy form, pairs (column, value) for each
   sample. Numbers of samples and columns begin at 1. */
struct SparseInput {
  const Element *data;
  bool legacy, hasSamples; /* hasSamples: numbers of samples are checked */
  int64_t entries;
  thcunn::Divisor perRow; /* entries of a sample in the legacy form, otherwise all */
  int64_t rowStride, entryStride, numberStride;
  int firstNumber; /* 1 in the legacy form, which lacks the sample */
  thcunn::IndexCheck checkSample, checkColumn;

  __device__ real numberAt(int64_t i, int which) const
  {
    const int64_t row = perRow.quotient(i);
    return thcunn::load(data + row * rowStride + (i - row * perRow.divisor) * entryStride +
                        (which - firstNumber) * numberStride);
  }
  __device__ int64_t sampleAt(int64_t i) const { return legacy ? perRow.quotient(i) : integerAt(i, 0) - 1; }
  __device__ int64_t columnAt(int64_t i) const { return integerAt(i, 1) - 1; }
  __device__ real valueAt(int64_t i) const { return numberAt(i, 2); }
  /* False for a bad number, which is reported. */
  __device__ bool check(int64_t i) const
  {
    return (!hasSamples || checkSample(integerAt(i, 0), i)) && checkColumn(integerAt(i, 1), i);
  }

  /* 0, which is bad, for NaN and magnitudes of 1e18 and more, whose conversion would overflow int64. */
  __device__ int64_t integerAt(int64_t i, int which) const
  {
    const real number = numberAt(i, which);
    return number > -(real)1e18 && number < (real)1e18 ? (int64_t)number : 0;
  }
};

} // namespace

/* Sample numbers are not checked if `samples` is -1. */
static SparseInput inputOf(THNNState *state, const char *name, const THTensor *input, bool legacy, int64_t samples,
                           int64_t columns)
{
  const int entry = legacy ? 1 : 0;
  return {TH_DATA(input),
          legacy,
          !legacy && samples >= 0,
          legacy ? input->size[0] * input->size[1] : input->size[0],
          input->size[entry],
          legacy ? input->stride[0] : 0,
          input->stride[entry],
          input->stride[entry + 1],
          entry,
          thcunn::indexCheck(state, name, 1, samples + 1),
          thcunn::indexCheck(state, name, 1, columns + 1)};
}

namespace
{

/* Columns of weight, summed by sample. */
struct ColumnsOfSamples {
  SparseInput x;
  int64_t sourceStride, targetStride, columns;

  /* As ranges, for the legacy form, whose numbers another launch checks. */
  __device__ int64_t begin(int64_t sample) const { return sample * x.perRow.divisor; }
  __device__ real scale(int64_t) const { return 1; }
  /* As segments. */
  __device__ int64_t key(int64_t i) const { return x.check(i) ? x.sampleAt(i) : -1; }
  __device__ int64_t target(int64_t sample) const { return sample * targetStride; }

  __device__ int64_t source(int64_t i) const
  {
    const int64_t column = x.columnAt(i);
    return column >= 0 && column < columns ? column * sourceStride : -1;
  }
  __device__ real factor(int64_t i) const { return x.valueAt(i); }
};

/* Rows of gradOutput, summed by column of the gradient. */
struct SamplesOfColumns {
  SparseInput x;
  int64_t sourceStride, targetStride;
  real scale;

  __device__ int64_t key(int64_t i) const { return x.check(i) ? x.columnAt(i) : -1; }
  __device__ int64_t source(int64_t i) const { return x.sampleAt(i) * sourceStride; }
  __device__ real factor(int64_t i) const { return scale * x.valueAt(i); }
  __device__ int64_t target(int64_t column) const { return column * targetStride; }
};

/* The columns of entries whose value is not 0. */
struct UsedColumns {
  SparseInput x;

  __device__ int64_t key(int64_t i) const { return x.check(i) && x.valueAt(i) != 0 ? x.columnAt(i) : -1; }
};

} // namespace

static void fillWithBias(THNNState *state, const THTensor *output, const THTensor *bias)
{
  Element *const y = TH_DATA(output);
  const Element *const b = TH_DATA(bias);
  const int64_t rowStride = output->stride[0], columnStride = output->stride[1], biasStride = bias->stride[0];
  const thcunn::Divisor columns(output->size[1]);
  thcunn::forEach(state, output->size[0] * output->size[1], [=] __device__(int64_t i) {
    const int64_t n = columns.quotient(i), o = i - n * columns.divisor;
    thcunn::store(y + n * rowStride + o * columnStride, thcunn::load(b + o * biasStride));
  });
}

static void updateOutput(THNNState *state, bool legacy, const THTensor *input, const THTensor *output,
                         const THTensor *weight, const THTensor *bias)
{
  const int64_t samples = output->size[0], outputs = weight->size[0];
  const SparseInput x = inputOf(state, "input", input, legacy, samples, weight->size[1]);
  const ColumnsOfSamples entries = {x, weight->stride[1], output->stride[0], weight->size[1]};
  if (legacy) {
    thcunn::forEach(state, x.entries, [=] __device__(int64_t i) { x.check(i); });
    const thcunn::RangeSum<Element, ColumnsOfSamples> sum = {
        entries,         x.entries,         samples,         outputs,           TH_DATA(weight),  TH_DATA(bias),
        TH_DATA(output), weight->stride[0], bias->stride[0], output->stride[0], output->stride[1]};
    thcunn::rangeSum<1>(state, sum);
    return;
  }
  fillWithBias(state, output, bias);
  const thcunn::SegmentSum<Element, ColumnsOfSamples> sum = {
      entries,         x.entries,       samples,           outputs,          false,
      TH_DATA(weight), TH_DATA(output), weight->stride[0], output->stride[1]};
  thcunn::segmentSum<1>(state, sum);
}

static void accGradParameters(THNNState *state, bool legacy, const THTensor *input, const THTensor *gradOutput,
                              const THTensor *gradWeight, const THTensor *gradBias, const THTensor *weight,
                              const THTensor *, double weightDecay, double scale)
{
  const int64_t outputs = gradWeight->size[0], columns = gradWeight->size[1];
  const SparseInput x = inputOf(state, "input", input, legacy, gradOutput->size[0], columns);
  const SamplesOfColumns entries = {x, gradOutput->stride[0], gradWeight->stride[1], (real)scale};
  const thcunn::SegmentSum<Element, SamplesOfColumns> sum = {entries,
                                                             x.entries,
                                                             columns,
                                                             outputs,
                                                             false,
                                                             TH_DATA(gradOutput),
                                                             TH_DATA(gradWeight),
                                                             gradOutput->stride[1],
                                                             gradWeight->stride[0]};
  thcunn::segmentSum<1>(state, sum);
  thcunn::addGradientBias<Element>(state, gradOutput, gradBias, scale);
  if (weightDecay != 0) {
    const real decay = (real)weightDecay;
    THNN_MAP3(y, gradWeight, g, gradWeight, w, weight, g + decay * w);
  }
}

/* target[o,c] -= rate * gradient[o,c], or target[o,c] = 0 without a gradient, in each column c that has an entry of x
   with a value other than 0. The first item of a column updates the column. */
static void updateColumns(THNNState *state, const SparseInput &x, const THTensor *target, const THTensor *gradient,
                          real rate)
{
  const UsedColumns columns = {x};
  if (target->size[0] == 0) return;
  const thcunn::SortedItems items = thcunn::sortByKey(state, columns, x.entries, target->size[1]);
  const thcunn::View<Element, 2> to = {TH_DATA(target), {target->stride[0], target->stride[1]}};
  const thcunn::View<const Element, 2> from = {
      gradient ? TH_DATA(gradient) : NULL,
      {gradient ? gradient->stride[0] : 0, gradient ? gradient->stride[1] : 0}};
  const thcunn::Divisor outputs(target->size[0]);
  thcunn::forEach(state, x.entries * outputs.divisor, [=] __device__(int64_t i) {
    const int64_t item = outputs.quotient(i);
    if (!items.begins(item)) return;
    const int64_t at[2] = {i - item * outputs.divisor, items.key(item)};
    Element *const element = to.at(at);
    thcunn::store(element, from.data ? thcunn::load(element) - rate * thcunn::load(from.at(at)) : 0);
  });
}

static void zeroGradParameters(THNNState *state, bool legacy, const THTensor *gradWeight, const THTensor *gradBias,
                               const THTensor *lastInput)
{
  Element *const bias = TH_DATA(gradBias);
  const int64_t stride = gradBias->stride[0];
  thcunn::forEach(state, gradBias->size[0], [=] __device__(int64_t o) { thcunn::store(bias + o * stride, 0); });
  updateColumns(state, inputOf(state, "lastInput", lastInput, legacy, -1, gradWeight->size[1]), gradWeight, NULL,
                0);
}

static void updateParameters(THNNState *state, bool legacy, const THTensor *weight, const THTensor *bias,
                             const THTensor *gradWeight, const THTensor *gradBias, const THTensor *lastInput,
                             double learningRate)
{
  Element *const b = TH_DATA(bias);
  const Element *const db = TH_DATA(gradBias);
  const int64_t stride = bias->stride[0], gradientStride = gradBias->stride[0];
  const real rate = (real)learningRate;
  thcunn::forEach(state, bias->size[0], [=] __device__(int64_t o) {
    thcunn::store(b + o * stride, thcunn::load(b + o * stride) - rate * thcunn::load(db + o * gradientStride));
  });
  updateColumns(state, inputOf(state, "lastInput", lastInput, legacy, -1, weight->size[1]), weight, gradWeight,
                rate);
}

#include "tables/sparse_linear_functions.h"
