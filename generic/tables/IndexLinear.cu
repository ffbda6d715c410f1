#include "modules/IndexLinear.h"
#include "runtime/warp.h"
#include "segment_sum/range_sum.h"
#include "segment_sum/segment_sum.h"
#include "tables/gradient_bias.h"

/* Columns of a row of weight that precede the weights in max-normalizing mode. */
enum { LARGEST, INVERSE, RATE, SHIFT, NORMALIZING_COLUMNS };

namespace
{

/* The keys of entries, as rows of the table: -1 for a bad key, which is reported. */
struct Keys {
  const int64_t *data;
  int64_t stride, offset;
  thcunn::IndexCheck check;

  __device__ int64_t key(int64_t i) const
  {
    const int64_t key = data[i * stride];
    return check(key, i) ? key + offset : -1;
  }
};

/* Entry i belongs to the first sample whose running sum of sizes exceeds i. */
struct Samples {
  const int64_t *end;
  int64_t stride, count, entries;

  /* Bad running sums are reported by checkSizes; here they give a wrong range within the entries. */
  __device__ int64_t begin(int64_t sample) const
  {
    if (sample == 0) return 0;
    const int64_t before = end[(sample - 1) * stride];
    return before < 0 ? 0 : before > entries ? entries : before;
  }
  __device__ int64_t sampleOf(int64_t i) const
  {
    int64_t low = 0, high = count - 1;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (end[middle * stride] > i) high = middle;
      else low = middle + 1;
    }
    return low;
  }
};

} // namespace

static Keys keysOf(THNNState *state, const char *name, const THIndexTensor *keys, int64_t offset,
                   const THTensor *weight)
{
  const Keys k = {(const int64_t *)keys->data, keys->stride[0], offset,
                  thcunn::indexCheck(state, name, -offset, weight->size[0] - offset)};
  return k;
}

static Samples samplesOf(const THIndexTensor *keys, const THIndexTensor *cumSumSizes)
{
  const Samples s = {(const int64_t *)cumSumSizes->data, cumSumSizes->stride[0], cumSumSizes->size[0],
                     keys->size[0]};
  return s;
}

/* Checks that the sum of sizes is the number of entries, and that `s` has the running sums of sizes. */
static void checkSizes(THNNState *state, const Samples &s, const THIndexTensor *sizes)
{
  const thcunn::IndexCheck size = thcunn::indexCheck(state, "sizes", 0, s.entries + 1),
                           sum = thcunn::indexCheck(state, "cumSumSizes", 0, s.entries + 1);
  const int64_t *const data = (const int64_t *)sizes->data;
  const int64_t stride = sizes->stride[0];
  thcunn::forEach(state, s.count, [=] __device__(int64_t n) {
    if (!size(data[n * stride], n)) return;
    const int64_t expected = s.begin(n) + data[n * stride];
    thcunn::IndexCheck total = size;
    total.first = s.entries;
    if (n == s.count - 1 && !total(expected)) return;
    thcunn::IndexCheck equal = sum;
    equal.first = expected;
    equal.end = expected + 1;
    equal(s.end[n * s.stride], n);
  });
}

/* The sample of each entry, or NULL without memory for them. */
static const int64_t *sampleOfEntries(THNNState *state, const Samples &s)
{
  int64_t *const sampleOf = (int64_t *)thcunn::scratch(state, s.entries * (int64_t)sizeof(int64_t));
  if (sampleOf == NULL) return NULL;
  thcunn::forEach(state, s.entries, [=] __device__(int64_t i) { sampleOf[i] = s.sampleOf(i); });
  return sampleOf;
}

static bool isNormalizing(const THTensor *weight, const THTensor *bias)
{
  return weight->size[1] != bias->size[0];
}

namespace
{

/* The table in max-normalizing mode, and the values of its entries. */
struct Normalization {
  Keys keys;
  thcunn::View<Element, 2> weight;
  const Element *values;
  Element *normalized;
  int64_t valueStride, normalizedStride;

  __device__ Element *at(int64_t row, int64_t column) const
  {
    const int64_t index[2] = {row, column};
    return weight.at(index);
  }
  __device__ real value(int64_t i) const { return thcunn::load(values + i * valueStride); }
  __device__ void write(int64_t i, real largest, real inverse, real shift) const
  {
    const real x = value(i), size = x < 0 ? -x : x, sign = x > 0 ? 1 : -1;
    thcunn::store(normalized + i * normalizedStride, (size > largest ? sign : x * inverse) + shift);
  }
};

} // namespace

/* The largest value of the lanes up to this one. */
__device__ static real largestOfLanes(real value, int lane)
{
#pragma unroll
  for (int distance = 1; distance < thcunn::WARP; distance *= 2) {
    const real other = __shfl_sync(thcunn::ALL_LANES, value, lane < distance ? 0 : lane - distance);
    if (other > value) value = other;
  }
  return value;
}

/* In training, the value of an entry is normalized by the largest value of its key so far, itself included. A warp
   takes the entries of a key, 32 at a time. */
static void normalizeValues(THNNState *state, const Keys &keys, int64_t entries, const THTensor *values,
                            const THTensor *weight, const THTensor *normalized, bool train)
{
  const Normalization n = {keys,
                           {TH_DATA(weight), {weight->stride[0], weight->stride[1]}},
                           TH_DATA(values),
                           TH_DATA(normalized),
                           values->stride[0],
                           normalized->stride[0]};
  if (!train) {
    thcunn::forEach(state, entries, [=] __device__(int64_t i) {
      const int64_t row = n.keys.key(i);
      if (row < 0) return;
      n.write(i, thcunn::load(n.at(row, LARGEST)), thcunn::load(n.at(row, INVERSE)),
              thcunn::load(n.at(row, SHIFT)));
    });
    return;
  }
  const thcunn::SortedItems items = thcunn::sortByKey(state, keys, entries, weight->size[0]);
  thcunn::forEach(state, entries * thcunn::WARP, [=] __device__(int64_t thread) {
    const int64_t first = thread / thcunn::WARP;
    const int lane = (int)(thread % thcunn::WARP);
    if (!items.begins(first)) return;
    const int64_t row = items.key(first), last = items.firstOf(row + 1);
    const real before = thcunn::load(n.at(row, LARGEST)), inverse = thcunn::load(n.at(row, INVERSE)),
               shift = thcunn::load(n.at(row, SHIFT));
    real largest = before;
    for (int64_t k = first + lane; k - lane < last; k += thcunn::WARP) {
      const int64_t i = items.position(k < last ? k : first);
      const real x = n.value(i), size = x < 0 ? -x : x;
      const real soFar = largestOfLanes(size > largest ? size : largest, lane);
      if (k < last) n.write(i, soFar, soFar > before ? 1 / soFar : inverse, shift);
      largest = __shfl_sync(thcunn::ALL_LANES, soFar, thcunn::WARP - 1);
    }
    __syncwarp(); /* all lanes have read the columns that the first one writes */
    if (lane > 0) return;
    thcunn::store(n.at(row, LARGEST), largest);
    thcunn::store(n.at(row, INVERSE), largest > before ? 1 / largest : inverse);
    thcunn::store(n.at(row, RATE), 1);
  });
}

namespace
{

/* Rows of the table, summed by sample. */
struct RowsOfSamples {
  Samples samples;
  Keys keys;
  const Element *factors;
  int64_t factorStride, sourceStride;

  __device__ int64_t begin(int64_t sample) const { return samples.begin(sample); }
  __device__ int64_t source(int64_t i) const
  {
    const int64_t row = keys.key(i);
    return row < 0 ? -1 : row * sourceStride;
  }
  __device__ real factor(int64_t i) const { return thcunn::load(factors + i * factorStride); }
  __device__ real scale(int64_t) const { return 1; }
};

} // namespace

void THNN_(IndexLinear_updateOutput)(THNNState *state, THIndexTensor *keys, int64_t keysOffset, THTensor *values,
                                     THIndexTensor *sizes, THIndexTensor *cumSumSizes, THTensor *output,
                                     THTensor *weight, THTensor *bias, THTensor *normalizedValues, int train)
{
  const Keys k = keysOf(state, "keys", keys, keysOffset, weight);
  const Samples samples = samplesOf(keys, cumSumSizes);
  const bool normalizing = isNormalizing(weight, bias);
  checkSizes(state, samples, sizes);
  if (normalizing) normalizeValues(state, k, samples.entries, values, weight, normalizedValues, train != 0);
  const THTensor *const factors = normalizing ? normalizedValues : values;
  const RowsOfSamples rows = {samples, k, TH_DATA(factors), factors->stride[0], weight->stride[0]};
  const thcunn::RangeSum<Element, RowsOfSamples> sum = {
      rows,
      samples.entries,
      samples.count,
      bias->size[0],
      TH_DATA(weight) + (normalizing ? NORMALIZING_COLUMNS * weight->stride[1] : 0),
      TH_DATA(bias),
      TH_DATA(output),
      weight->stride[1],
      bias->stride[0],
      output->stride[0],
      output->stride[1]};
  thcunn::rangeSum<1>(state, sum);
}

void THNN_(IndexLinear_accGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                          THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes,
                                          THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                          THTensor *weight, THTensor *bias, THTensor *valuesBuffer,
                                          accreal weightDecay, accreal scale)
{
  (void)valuesBuffer, (void)weightDecay;
  const Samples samples = samplesOf(keys, cumSumSizes);
  checkSizes(state, samples, sizes);
  const Keys k = keysOf(state, "keys", keys, keysOffset, weight);
  thcunn::forEach(state, samples.entries, [=] __device__(int64_t i) { k.key(i); });
  thcunn::addGradientBias<Element>(state, gradOutput, gradBias, scale);
  if (samples.entries == 0 || gradWeight->size[1] == 0) return;
  const int64_t *const sampleOf = sampleOfEntries(state, samples);
  const Element *const value = TH_DATA(values), *const from = TH_DATA(gradOutput);
  Element *const to = TH_DATA(gradWeight);
  const int64_t valueStride = values->stride[0], fromStride[2] = {gradOutput->stride[0], gradOutput->stride[1]},
                toStride[2] = {gradWeight->stride[0], gradWeight->stride[1]}, outputs = bias->size[0];
  const bool normalizing = isNormalizing(weight, bias);
  const real factor = (real)scale;
  const thcunn::Divisor columns(gradWeight->size[1]);
  thcunn::forEach(state, samples.entries * columns.divisor, [=] __device__(int64_t k) {
    const int64_t i = columns.quotient(k), column = k - i * columns.divisor;
    const bool byShift = normalizing && column < outputs;
    const int64_t o = column < outputs ? column : column - outputs;
    const real g = factor * thcunn::load(from + sampleOf[i] * fromStride[0] + o * fromStride[1]);
    thcunn::store(to + i * toStride[0] + column * toStride[1],
                  byShift ? g : g * thcunn::load(value + i * valueStride));
  });
}

namespace
{

/* A step of gradient descent on rows of the table. dot(slope, row) is dL/dshift of the row; it is computed only if
   values are normalized. */
struct Step {
  thcunn::View<Element, 2> weight;
  bool normalizing;
  int64_t outputs;
  const int64_t *gradientOf;                /* the row of the gradient of each entry; NULL: entry i has row i */
  const Element *gradient, *slope, *values; /* values: NULL if all are 1 */
  int64_t rowStride, columnStride, valueStride;
  real rate, decay;

  /* The thread of an output applies the entries of a key, from item `first` on, one after the other. Returns its part
     of the dot product. */
  __device__ real apply(const thcunn::SortedItems &items, int64_t first, int64_t output) const
  {
    const int64_t row = items.key(first), last = items.firstOf(row + 1);
    Element *const start = weight.data + row * weight.stride[0];
    const real rowRate = normalizing ? thcunn::load(start + RATE * weight.stride[1]) : 1;
    const real stepRate = rate * rowRate, stepDecay = decay * rowRate;
    Element *const w = start + (output + (normalizing ? NORMALIZING_COLUMNS : 0)) * weight.stride[1];
    real x = thcunn::load(w), product = 0;
#pragma unroll 4
    for (int64_t k = first; k < last; k++) {
      const int64_t i = items.position(k),
                    from = (gradientOf ? gradientOf[i] : i) * rowStride + output * columnStride;
      const real factor = values ? stepRate * thcunn::load(values + i * valueStride) : stepRate;
      if (normalizing) product += thcunn::load(slope + from) * x;
      x -= stepDecay * x + factor * thcunn::load(gradient + from);
    }
    thcunn::store(w, x);
    return stepRate * product;
  }
};

} // namespace

/* A warp per key and 32 outputs. If values are normalized, each warp writes its part of the change of the shift to
   scratch memory. */
static void applyStep(THNNState *state, const Step &step, const Keys &keys, int64_t entries, int64_t rows)
{
  const thcunn::SortedItems items = thcunn::sortByKey(state, keys, entries, rows);
  const thcunn::Divisor groups((step.outputs + thcunn::WARP - 1) / thcunn::WARP);
  real *products = NULL;
  if (entries == 0 || step.outputs == 0) return;
  if (step.normalizing) {
    products = (real *)thcunn::scratch(state, entries * groups.divisor * (int64_t)sizeof(real));
    if (products == NULL) return;
  }
  thcunn::forEach(state, entries * groups.divisor * thcunn::WARP, [=] __device__(int64_t i) {
    const int64_t warp = i / thcunn::WARP, first = groups.quotient(warp);
    if (!items.begins(first)) return;
    const int lane = (int)(i % thcunn::WARP);
    const int64_t output = (warp - first * groups.divisor) * thcunn::WARP + lane;
    real product = output < step.outputs ? step.apply(items, first, output) : 0;
    if (!products) return;
    product = thcunn::sumOverWarp(product);
    if (lane == 0) products[warp] = product;
  });
  if (!step.normalizing) return;
  thcunn::forEach(state, entries, [=] __device__(int64_t first) {
    if (!items.begins(first)) return;
    real sum = 0;
    for (int64_t group = 0; group < groups.divisor; group++) sum += products[first * groups.divisor + group];
    const int64_t index[2] = {items.key(first), SHIFT};
    Element *const shift = step.weight.at(index);
    thcunn::store(shift, thcunn::load(shift) - sum);
  });
}

void THNN_(IndexLinear_accUpdateGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                                THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes,
                                                THTensor *gradOutput, THTensor *weight, THTensor *bias,
                                                accreal weightDecay, accreal scale)
{
  const Samples samples = samplesOf(keys, cumSumSizes);
  checkSizes(state, samples, sizes);
  thcunn::addGradientBias<Element>(state, gradOutput, bias, -scale);
  if (samples.entries == 0) return;
  const Step step = {{TH_DATA(weight), {weight->stride[0], weight->stride[1]}},
                     isNormalizing(weight, bias),
                     bias->size[0],
                     sampleOfEntries(state, samples),
                     TH_DATA(gradOutput),
                     TH_DATA(gradOutput),
                     TH_DATA(values),
                     gradOutput->stride[0],
                     gradOutput->stride[1],
                     values->stride[0],
                     (real)scale,
                     (real)weightDecay};
  applyStep(state, step, keysOf(state, "keys", keys, keysOffset, weight), samples.entries, weight->size[0]);
}

void THNN_(IndexLinear_updateParameters)(THNNState *state, THTensor *gradWeight, THTensor *gradBias,
                                         THTensor *weight, THTensor *bias, THIndexTensor *runningKeys,
                                         THIndexTensor *cumSumSizes, int64_t keysOffset, accreal weightDecay,
                                         accreal learningRate)
{
  (void)cumSumSizes;
  Element *const b = TH_DATA(bias);
  const Element *const db = TH_DATA(gradBias);
  const int64_t biasStride = bias->stride[0], gradientStride = gradBias->stride[0];
  const real rate = (real)learningRate;
  thcunn::forEach(state, bias->size[0], [=] __device__(int64_t o) {
    thcunn::store(b + o * biasStride,
                  thcunn::load(b + o * biasStride) - rate * thcunn::load(db + o * gradientStride));
  });
  const bool normalizing = isNormalizing(weight, bias);
  const Step step = {{TH_DATA(weight), {weight->stride[0], weight->stride[1]}},
                     normalizing,
                     bias->size[0],
                     NULL,
                     TH_DATA(gradWeight) + (normalizing ? bias->size[0] * gradWeight->stride[1] : 0),
                     TH_DATA(gradWeight),
                     NULL,
                     gradWeight->stride[0],
                     gradWeight->stride[1],
                     0,
                     rate,
                     (real)weightDecay};
  applyStep(state, step, keysOf(state, "runningKeys", runningKeys, keysOffset, weight), runningKeys->size[0],
            weight->size[0]);
}
