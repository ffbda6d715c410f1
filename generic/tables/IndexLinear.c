#include "modules/IndexLinear.h"
#include "segment_sum/segment_sum.h"
#include "tables/gradient_bias.h"
#include "tables/table_checks.h"

/* Columns of a row of weight that precede the weights in max-normalizing mode. */
enum { LARGEST, INVERSE, RATE, SHIFT, NORMALIZING_COLUMNS };

/* Sparse rows and a table. Entry i has a key and a value, and belongs to the first sample whose running sum of sizes
   exceeds i. */
typedef struct IndexedRows {
  int64_t entries, samples, keys, outputs;
  bool normalizing;
  const THIndex_t *key, *end;
  int64_t keysOffset, keyStride, endStride;
} IndexedRows;

static int64_t rowAt(const IndexedRows *r, int64_t i) { return r->key[i * r->keyStride] + r->keysOffset; }

static int64_t sampleOf(const IndexedRows *r, int64_t i)
{
  int64_t low = 0, high = r->samples - 1;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (r->end[middle * r->endStride] > i) high = middle;
    else low = middle + 1;
  }
  return low;
}

static void checkTable(THNNState *state, const THTensor *weight, const THTensor *bias, int64_t keysOffset,
                       IndexedRows *r)
{
  THNN_CHECK_DIM(bias, 1, "(O)");
  r->outputs = bias->size[0];
  THNN_CHECK(weight->ndim == 2 &&
                 (weight->size[1] == r->outputs || weight->size[1] == r->outputs + NORMALIZING_COLUMNS),
             weight, "expected (keys, %lld), or (keys, %lld) to normalize values, got %s", (long long)r->outputs,
             (long long)r->outputs + NORMALIZING_COLUMNS, THNN_shape(weight));
  THNN_CHECK(keysOffset > -INT64_MAX / 2 && keysOffset < INT64_MAX / 2, keysOffset,
             "expected a magnitude below %lld, got %lld", (long long)INT64_MAX / 2, (long long)keysOffset);
  r->keys = weight->size[0];
  r->normalizing = weight->size[1] != r->outputs;
  r->keysOffset = keysOffset;
}

static void checkKeys(THNNState *state, const char *name, const THIndexTensor *keys, IndexedRows *r)
{
  if (keys->ndim != 1)
    return THNN_fail(state, THNN_VALUE_ERROR, name, "expected 1 dimension (n), got %s", THNN_shape(keys));
  r->entries = keys->size[0];
  r->key = keys->data;
  r->keyStride = keys->stride[0];
}

static void checkSamples(THNNState *state, const THTensor *values, const THIndexTensor *sizes,
                         const THIndexTensor *cumSumSizes, IndexedRows *r)
{
  THNN_CHECK(THNNTensor_hasSize(values, 1, &r->entries), values, "expected a value for each of %lld keys, got %s",
             (long long)r->entries, THNN_shape(values));
  THNN_CHECK_DIM(sizes, 1, "(N)");
  THNN_CHECK_SAME_SIZE(sizes, cumSumSizes);
  r->samples = sizes->size[0];
  THNN_CHECK(r->samples > 0 || r->entries == 0, sizes, "expected at least one sample, got %s", THNN_shape(sizes));
  r->end = cumSumSizes->data;
  r->endStride = cumSumSizes->stride[0];
}

/* Checks of data; `sizes` may be NULL. */
static void checkData(THNNState *state, const char *name, const THIndexTensor *keys, const THIndexTensor *sizes,
                      const IndexedRows *r)
{
  int64_t sum = 0;
  for (int64_t n = 0; sizes && n < r->samples; n++) {
    const int64_t size = ((THIndex_t *)sizes->data)[n * sizes->stride[0]];
    THNN_CHECK_INDEX(size >= 0 && size <= r->entries - sum, sizes,
                     "expected sizes whose sum is %lld, got %lld at position %lld", (long long)r->entries,
                     (long long)size, (long long)n);
    sum += size;
    THNN_CHECK_INDEX(r->end[n * r->endStride] == sum, cumSumSizes,
                     "expected the sum of the sizes up to position %lld, %lld, got %lld", (long long)n,
                     (long long)sum, (long long)r->end[n * r->endStride]);
  }
  THNN_CHECK_INDEX(sizes == NULL || sum == r->entries, sizes,
                   "expected sizes whose sum is the number of keys, %lld, got a sum of %lld",
                   (long long)r->entries, (long long)sum);
  THNN_(checkIndices)(state, name, keys, -r->keysOffset, r->keys - r->keysOffset);
}

typedef struct Entries {
  const IndexedRows *rows;
  const real *values; /* NULL: each is 1 */
  int64_t valueStride, sourceStride;
} Entries;

static double valueAt(const Entries *e, int64_t i) { return e->values ? e->values[i * e->valueStride] : 1; }

/* Entries of the forward: the key is a sample, the source a row of the table, the factor a value. */
static void readBySample(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  int64_t sample = sampleOf(e->rows, first);
  for (int64_t i = 0; i < count; i++) {
    while (e->rows->end[sample * e->rows->endStride] <= first + i) sample++;
    entry[i] = (SegmentEntry){sample, rowAt(e->rows, first + i) * e->sourceStride, valueAt(e, first + i)};
  }
}

/* Normalizes the values in order, since training updates the largest value of a key. */
static void normalizeValues(const IndexedRows *r, const THTensor *values, const THTensor *weight,
                            const THTensor *normalized, bool train)
{
  const int64_t stride = weight->stride[1];
  for (int64_t i = 0; i < r->entries; i++) {
    const real value = TH_DATA(values)[i * values->stride[0]], size = value < 0 ? -value : value;
    real *const w = TH_DATA(weight) + rowAt(r, i) * weight->stride[0];
    if (train && size > w[LARGEST * stride]) {
      w[LARGEST * stride] = size;
      w[INVERSE * stride] = 1 / size;
    }
    if (train) w[RATE * stride] = 1;
    const real sign = value > 0 ? 1 : -1;
    TH_DATA(normalized)
    [i * normalized->stride[0]] =
        (size > w[LARGEST * stride] ? sign : value * w[INVERSE * stride]) + w[SHIFT * stride];
  }
}

void THNN_(IndexLinear_updateOutput)(THNNState *state, THIndexTensor *keys, int64_t keysOffset, THTensor *values,
                                     THIndexTensor *sizes, THIndexTensor *cumSumSizes, THTensor *output,
                                     THTensor *weight, THTensor *bias, THTensor *normalizedValues, int train)
{
  IndexedRows r = {0};
  checkTable(state, weight, bias, keysOffset, &r);
  checkKeys(state, "keys", keys, &r);
  THNN_RETURN_IF_FAILED(state);
  checkSamples(state, values, sizes, cumSumSizes, &r);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, r.samples, r.outputs);
  if (r.normalizing) THNN_RESIZE_TO(normalizedValues, THNN_CONTIGUOUS, r.entries);
  const bool trains = r.normalizing && train;
  if (trains) THNN_CHECK_DISTINCT_ADDRESSES(weight);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const written[] = {output, r.normalizing ? normalizedValues : NULL, trains ? weight : NULL};
  const THNNTensor *const read[] = {keys, values, sizes, cumSumSizes, bias, trains ? NULL : weight};
  const char *const names[] = {"output", "normalizedValues", "weight"};
  for (int k = 0; k < 3; k++) {
    bool overlaps = false;
    for (int j = 0; j < 6 && written[k]; j++) overlaps |= read[j] && THNN_overlaps(written[k], read[j], false);
    for (int j = 0; j < k && written[k]; j++)
      overlaps |= written[j] && THNN_overlaps(written[k], written[j], false);
    if (overlaps)
      return THNN_fail(state, THNN_VALUE_ERROR, names[k], "must not share memory with other arguments");
  }
  THNN_RETURN_IF_META(state);
  checkData(state, "keys", keys, sizes, &r);
  THNN_RETURN_IF_FAILED(state);
  const THTensor *factors = values;
  const int64_t first = r.normalizing ? NORMALIZING_COLUMNS : 0;
  if (r.normalizing) {
    normalizeValues(&r, values, weight, normalizedValues, train != 0);
    factors = normalizedValues;
  }
  THNN_PARALLEL_FOR(n, r.samples, r.samples * r.outputs)
    for (int64_t o = 0; o < r.outputs; o++)
      TH_DATA(output)[n * output->stride[0] + o * output->stride[1]] = TH_DATA(bias)[o * bias->stride[0]];
  const Entries entries = {&r, TH_DATA(factors), factors->stride[0], weight->stride[0]};
  const SegmentSum sum = {.segments = {.entries = r.entries,
                                       .keys = r.samples,
                                       .sorted = true,
                                       .read = readBySample,
                                       .context = &entries},
                          .columns = r.outputs,
                          .source = TH_DATA(weight) + first * weight->stride[1],
                          .target = TH_DATA(output),
                          .sourceStride = weight->stride[1],
                          .rowStride = output->stride[0],
                          .columnStride = output->stride[1]};
  THNN_(segmentSum)(&sum);
}

void THNN_(IndexLinear_accGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                          THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes,
                                          THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                          THTensor *weight, THTensor *bias, THTensor *valuesBuffer,
                                          accreal weightDecay, accreal scale)
{
  (void)valuesBuffer, (void)weightDecay;
  IndexedRows r = {0};
  checkTable(state, weight, bias, keysOffset, &r);
  checkKeys(state, "keys", keys, &r);
  THNN_RETURN_IF_FAILED(state);
  checkSamples(state, values, sizes, cumSumSizes, &r);
  THNN_RETURN_IF_FAILED(state);
  const int64_t size[2] = {r.samples, r.outputs}, parts = r.normalizing ? 2 : 1;
  thnn_checkGradOutput(state, gradOutput, 2, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(bias, gradBias);
  THNN_RESIZE_TO(gradWeight, THNN_CONTIGUOUS, r.entries, parts * r.outputs);
  THNN_CHECK_DISTINCT_ADDRESSES(gradBias);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const read[] = {keys, values, sizes, cumSumSizes, gradOutput, weight, bias};
  for (int j = 0; j < 7; j++) {
    THNN_CHECK(!THNN_overlaps(gradWeight, read[j], false), gradWeight,
               "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(gradBias, read[j], false), gradBias, "must not share memory with other arguments");
  }
  THNN_CHECK_NO_OVERLAP(gradBias, gradWeight);
  THNN_RETURN_IF_META(state);
  checkData(state, "keys", keys, sizes, &r);
  THNN_RETURN_IF_FAILED(state);
  THNN_PARALLEL_FOR(i, r.entries, r.entries * r.outputs) {
    const int64_t n = sampleOf(&r, i), stride = gradWeight->stride[1];
    const real value = (real)(scale * TH_DATA(values)[i * values->stride[0]]);
    const real *g = TH_DATA(gradOutput) + n * gradOutput->stride[0];
    real *row = TH_DATA(gradWeight) + i * gradWeight->stride[0];
    if (r.normalizing) {
      for (int64_t o = 0; o < r.outputs; o++) row[o * stride] = (real)scale * g[o * gradOutput->stride[1]];
      row += r.outputs * stride;
    }
    for (int64_t o = 0; o < r.outputs; o++) row[o * stride] = value * g[o * gradOutput->stride[1]];
  }
  addGradientBias(gradOutput, gradBias, scale);
}

/* A step of gradient descent on rows of the table. dot(slope, row) is dL/dshift of the row;
   `slope` is not used unless values are normalized. */
typedef struct Step {
  const THTensor *weight;
  bool normalizing;
  int64_t outputs, gradientStride;
  const real *gradient, *slope;
  double rate, decay;
} Step;

static void stepRow(const Step *s, const SegmentEntry *entry)
{
  const int64_t stride = s->weight->stride[1];
  real *w = TH_DATA(s->weight) + entry->key * s->weight->stride[0];
  real rate = (real)s->rate, decay = (real)s->decay;
  if (s->normalizing) {
    rate *= w[RATE * stride];
    decay *= w[RATE * stride];
    real *const shift = w + SHIFT * stride;
    w += NORMALIZING_COLUMNS * stride;
    real product = 0;
    for (int64_t o = 0; o < s->outputs; o++)
      product += s->slope[entry->source + o * s->gradientStride] * w[o * stride];
    *shift -= rate * product;
  }
  const real factor = rate * (real)entry->factor;
  for (int64_t o = 0; o < s->outputs; o++)
    w[o * stride] -= decay * w[o * stride] + factor * s->gradient[entry->source + o * s->gradientStride];
}

/* The entries of one key are applied to its row one after the other. */
static void stepSegment(const void *context, const SegmentEntry *entries, const uint16_t *order, int64_t count)
{
  for (int64_t i = 0; i < count; i++) stepRow(context, entries + order[i]);
}

/* Gradients per entry. */
static void readEntries(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  for (int64_t i = 0; i < count; i++)
    entry[i] = (SegmentEntry){rowAt(e->rows, first + i), (first + i) * e->sourceStride, valueAt(e, first + i)};
}

/* Gradients per sample. */
static void readSamples(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  int64_t sample = sampleOf(e->rows, first);
  for (int64_t i = 0; i < count; i++) {
    while (e->rows->end[sample * e->rows->endStride] <= first + i) sample++;
    entry[i] = (SegmentEntry){rowAt(e->rows, first + i), sample * e->sourceStride, valueAt(e, first + i)};
  }
}

static void step(const Step *s, const IndexedRows *r, SegmentReader *read, const Entries *entries)
{
  const Segments segments = {
      .entries = r->entries, .keys = r->keys, .work = r->outputs, .read = read, .context = entries};
  THNN_(segmentForEach)(&segments, stepSegment, s);
}

static void checkParameters(THNNState *state, THTensor *weight, THTensor *bias, const THNNTensor *const *read,
                            int count)
{
  THNN_CHECK_DISTINCT_ADDRESSES(weight);
  THNN_CHECK_DISTINCT_ADDRESSES(bias);
  THNN_RETURN_IF_FAILED(state);
  for (int j = 0; j < count; j++) {
    THNN_CHECK(!THNN_overlaps(weight, read[j], false), weight, "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(bias, read[j], false), bias, "must not share memory with other arguments");
  }
  THNN_CHECK_NO_OVERLAP(bias, weight);
}

void THNN_(IndexLinear_accUpdateGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset,
                                                THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes,
                                                THTensor *gradOutput, THTensor *weight, THTensor *bias,
                                                accreal weightDecay, accreal scale)
{
  IndexedRows r = {0};
  checkTable(state, weight, bias, keysOffset, &r);
  checkKeys(state, "keys", keys, &r);
  THNN_RETURN_IF_FAILED(state);
  checkSamples(state, values, sizes, cumSumSizes, &r);
  THNN_RETURN_IF_FAILED(state);
  const int64_t size[2] = {r.samples, r.outputs};
  thnn_checkGradOutput(state, gradOutput, 2, size);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const read[] = {keys, values, sizes, cumSumSizes, gradOutput};
  checkParameters(state, weight, bias, read, 5);
  THNN_RETURN_IF_META(state);
  checkData(state, "keys", keys, sizes, &r);
  THNN_RETURN_IF_FAILED(state);
  addGradientBias(gradOutput, bias, -scale);
  const Entries entries = {&r, TH_DATA(values), values->stride[0], gradOutput->stride[0]};
  const Step s = {.weight = weight,
                  .normalizing = r.normalizing,
                  .outputs = r.outputs,
                  .gradientStride = gradOutput->stride[1],
                  .gradient = TH_DATA(gradOutput),
                  .slope = TH_DATA(gradOutput),
                  .rate = scale,
                  .decay = weightDecay};
  step(&s, &r, readSamples, &entries);
}

void THNN_(IndexLinear_updateParameters)(THNNState *state, THTensor *gradWeight, THTensor *gradBias,
                                         THTensor *weight, THTensor *bias, THIndexTensor *runningKeys,
                                         THIndexTensor *cumSumSizes, int64_t keysOffset, accreal weightDecay,
                                         accreal learningRate)
{
  IndexedRows r = {0};
  checkTable(state, weight, bias, keysOffset, &r);
  checkKeys(state, "runningKeys", runningKeys, &r);
  THNN_RETURN_IF_FAILED(state);
  const int64_t size[2] = {r.entries, (r.normalizing ? 2 : 1) * r.outputs};
  THNN_CHECK(THNNTensor_hasSize(gradWeight, 2, size), gradWeight, "expected %s, got %s", THNN_shapeOf(2, size),
             THNN_shape(gradWeight));
  THNN_CHECK_SAME_SIZE(bias, gradBias);
  const THNNTensor *const read[] = {gradWeight, gradBias, runningKeys, cumSumSizes};
  checkParameters(state, weight, bias, read, 4);
  THNN_RETURN_IF_META(state);
  checkData(state, "runningKeys", runningKeys, NULL, &r);
  THNN_RETURN_IF_FAILED(state);
  for (int64_t o = 0; o < r.outputs; o++)
    TH_DATA(bias)[o * bias->stride[0]] -= (real)learningRate * TH_DATA(gradBias)[o * gradBias->stride[0]];
  const Entries entries = {&r, NULL, 0, gradWeight->stride[0]};
  const Step s = {.weight = weight,
                  .normalizing = r.normalizing,
                  .outputs = r.outputs,
                  .gradientStride = gradWeight->stride[1],
                  .gradient = TH_DATA(gradWeight) + (r.normalizing ? r.outputs * gradWeight->stride[1] : 0),
                  .slope = TH_DATA(gradWeight),
                  .rate = learningRate,
                  .decay = weightDecay};
  step(&s, &r, readEntries, &entries);
}
