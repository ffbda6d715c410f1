#include "modules/SparseLinear.h"
#include "elementwise/map.h"
#include "segment_sum/segment_sum.h"
#include "tables/gradient_bias.h"
#include "tables/table_checks.h"

/* The entries of a sparse matrix: rows (sample, column, value), or, in the legacy form, pairs (column, value) of each
   sample. Samples and columns count from 1. */
typedef struct SparseInput {
  const real *data;
  bool legacy;
  int64_t entries, samples, perSample;
  int64_t sampleStride, entryStride, numberStride;
} SparseInput;

static real numberAt(const SparseInput *x, int64_t i, int which)
{
  if (x->legacy)
    return x->data[i / x->perSample * x->sampleStride + i % x->perSample * x->entryStride +
                   (which - 1) * x->numberStride];
  return x->data[i * x->entryStride + which * x->numberStride];
}

static int64_t sampleAt(const SparseInput *x, int64_t i)
{
  return x->legacy ? i / x->perSample : (int64_t)numberAt(x, i, 0) - 1;
}
static int64_t columnAt(const SparseInput *x, int64_t i) { return (int64_t)numberAt(x, i, 1) - 1; }
static real valueAt(const SparseInput *x, int64_t i) { return numberAt(x, i, 2); }

static void checkInput(THNNState *state, const char *name, const THTensor *input, bool legacy, SparseInput *x)
{
  const int pair = legacy ? 2 : 1;
  if (input->ndim != 1 + pair || input->size[input->ndim - 1] != (legacy ? 2 : 3))
    return THNN_fail(state, THNN_VALUE_ERROR, name, "expected %s, got %s",
                     legacy ? "pairs (column, value) of each sample (N, nnz, 2)"
                            : "rows (sample, column, value) (nnz, 3)",
                     THNN_shape(input));
  *x = (SparseInput){.data = TH_DATA(input), .legacy = legacy, .numberStride = input->stride[pair]};
  x->entryStride = input->stride[pair - 1];
  x->entries = x->perSample = input->size[pair - 1];
  if (legacy) {
    x->samples = input->size[0];
    x->sampleStride = input->stride[0];
    x->entries *= x->samples;
  }
}

/* Checks that number `which` of each entry is from 1 to `most`. */
static void checkNumbers(THNNState *state, const char *name, const SparseInput *x, int which, int64_t most)
{
  for (int64_t i = 0; i < x->entries; i++) {
    const double number = numberAt(x, i, which);
    if (!(number >= 1 && number < (double)most + 1))
      return THNN_fail(state, THNN_INDEX_ERROR, name, "expected a %s from 1 to %lld, got %g at position %lld",
                       which == 0 ? "sample" : "column", (long long)most, number, (long long)i);
  }
}

static void checkData(THNNState *state, const SparseInput *x, int64_t columns)
{
  if (!x->legacy) checkNumbers(state, "input", x, 0, x->samples);
  checkNumbers(state, "input", x, 1, columns);
}

static void checkParameters(THNNState *state, const char *weightName, const THTensor *weight, const char *biasName,
                            const THTensor *bias)
{
  if (weight->ndim != 2)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected 2 dimensions (O, I), got %s",
                     THNN_shape(weight));
  if (!THNNTensor_hasSize(bias, 1, weight->size))
    THNN_fail(state, THNN_VALUE_ERROR, biasName, "expected one value per output (%lld), got %s",
              (long long)weight->size[0], THNN_shape(bias));
}

typedef struct Entries {
  const SparseInput *input;
  int64_t sourceStride;
  double scale;
} Entries;

/* Columns of weight, summed by sample. */
static void readBySample(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  for (int64_t i = 0; i < count; i++)
    entry[i] = (SegmentEntry){sampleAt(e->input, first + i), columnAt(e->input, first + i) * e->sourceStride,
                              valueAt(e->input, first + i)};
}

/* Rows of gradOutput, summed by column of the gradient. */
static void readByColumn(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  for (int64_t i = 0; i < count; i++)
    entry[i] = (SegmentEntry){columnAt(e->input, first + i), sampleAt(e->input, first + i) * e->sourceStride,
                              e->scale * valueAt(e->input, first + i)};
}

static void updateOutput(THNNState *state, bool legacy, const THTensor *input, THTensor *output,
                         const THTensor *weight, const THTensor *bias)
{
  SparseInput x;
  checkInput(state, "input", input, legacy, &x);
  checkParameters(state, "weight", weight, "bias", bias);
  THNN_RETURN_IF_FAILED(state);
  const int64_t outputs = weight->size[0];
  if (legacy) {
    THNN_RESIZE_TO(output, THNN_CONTIGUOUS, x.samples, outputs);
  } else {
    THNN_CHECK(output->ndim == 2 && output->size[1] == outputs, output,
               "expected a tensor of size (N, %lld), N being the number of samples, got %s", (long long)outputs,
               THNN_shape(output));
    THNN_CHECK_DISTINCT_ADDRESSES(output);
    x.samples = output->size[0];
  }
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  checkData(state, &x, weight->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_PARALLEL_FOR(n, x.samples, x.samples * outputs)
    for (int64_t o = 0; o < outputs; o++)
      TH_DATA(output)[n * output->stride[0] + o * output->stride[1]] = TH_DATA(bias)[o * bias->stride[0]];
  const Entries entries = {&x, weight->stride[1], 1};
  const SegmentSum sum = {.segments = {.entries = x.entries,
                                       .keys = x.samples,
                                       .sorted = legacy,
                                       .read = readBySample,
                                       .context = &entries},
                          .columns = outputs,
                          .source = TH_DATA(weight),
                          .target = TH_DATA(output),
                          .sourceStride = weight->stride[0],
                          .rowStride = output->stride[0],
                          .columnStride = output->stride[1]};
  THNN_(segmentSum)(&sum);
}

static void accGradParameters(THNNState *state, bool legacy, const THTensor *input, const THTensor *gradOutput,
                              THTensor *gradWeight, THTensor *gradBias, const THTensor *weight,
                              const THTensor *bias, double weightDecay, double scale)
{
  SparseInput x;
  checkInput(state, "input", input, legacy, &x);
  checkParameters(state, "gradWeight", gradWeight, "gradBias", gradBias);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(gradWeight, weight);
  THNN_CHECK_SAME_SIZE(gradBias, bias);
  const int64_t outputs = gradWeight->size[0];
  THNN_CHECK(gradOutput->ndim == 2 && gradOutput->size[1] == outputs &&
                 (!legacy || gradOutput->size[0] == x.samples),
             gradOutput, "expected the size of the output, (N, %lld), got %s", (long long)outputs,
             THNN_shape(gradOutput));
  x.samples = gradOutput->size[0];
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradWeight, weight);
  THNN_CHECK_NO_OVERLAP(gradBias, weight);
  THNN_RETURN_IF_META(state);
  checkData(state, &x, gradWeight->size[1]);
  THNN_RETURN_IF_FAILED(state);
  const Entries entries = {&x, gradOutput->stride[0], scale};
  const SegmentSum sum = {
      .segments = {.entries = x.entries, .keys = gradWeight->size[1], .read = readByColumn, .context = &entries},
      .columns = outputs,
      .source = TH_DATA(gradOutput),
      .target = TH_DATA(gradWeight),
      .sourceStride = gradOutput->stride[1],
      .rowStride = gradWeight->stride[1],
      .columnStride = gradWeight->stride[0]};
  THNN_(segmentSum)(&sum);
  addGradientBias(gradOutput, gradBias, scale);
  if (weightDecay != 0) {
    const real decay = (real)weightDecay;
    THNN_MAP3(y, gradWeight, g, gradWeight, w, weight, g + decay * w);
  }
}

/* target[o,c] -= rate * gradient[o,c], or target[o,c] = 0 without a gradient, in the columns c that an entry of x with
   a value other than 0 names. */
static void updateColumns(const SparseInput *x, const THTensor *target, const THTensor *gradient, real rate)
{
  const int64_t outputs = target->size[0], columns = target->size[1];
  for (int64_t first = 0; first < columns; first += MARKED_ROWS) {
    const int64_t range = MIN(MARKED_ROWS, columns - first), words = ceilDivide(range, MARK_BITS);
    uint64_t *const marks = marksMake(range);
    for (int64_t i = 0; i < x->entries; i++) {
      const int64_t column = columnAt(x, i) - first;
      if (column >= 0 && column < range && valueAt(x, i) != 0) marksAdd(marks, column);
    }
    THNN_PARALLEL_FOR(o, outputs, outputs * x->entries) {
      real *const t = TH_DATA(target) + o * target->stride[0] + first * target->stride[1];
      const real *const g =
          gradient ? TH_DATA(gradient) + o * gradient->stride[0] + first * gradient->stride[1] : NULL;
      for (int64_t word = 0; word < words; word++) FOR_MARKED_ROWS(column, marks, word)
        {
          real *const element = t + column * target->stride[1];
          *element = g ? *element - rate * g[column * gradient->stride[1]] : 0;
        }
    }
  }
}

static void zeroGradParameters(THNNState *state, bool legacy, THTensor *gradWeight, THTensor *gradBias,
                               const THTensor *lastInput)
{
  SparseInput x;
  checkInput(state, "lastInput", lastInput, legacy, &x);
  checkParameters(state, "gradWeight", gradWeight, "gradBias", gradBias);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, lastInput, (const THTensor *)NULL);
  THNN_RETURN_IF_META(state);
  checkNumbers(state, "lastInput", &x, 1, gradWeight->size[1]);
  THNN_RETURN_IF_FAILED(state);
  for (int64_t o = 0; o < gradBias->size[0]; o++) TH_DATA(gradBias)[o * gradBias->stride[0]] = 0;
  updateColumns(&x, gradWeight, NULL, 0);
}

static void updateParameters(THNNState *state, bool legacy, THTensor *weight, THTensor *bias,
                             const THTensor *gradWeight, const THTensor *gradBias, const THTensor *lastInput,
                             double learningRate)
{
  SparseInput x;
  checkInput(state, "lastInput", lastInput, legacy, &x);
  checkParameters(state, "weight", weight, "bias", bias);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(weight, gradWeight);
  THNN_CHECK_SAME_SIZE(bias, gradBias);
  THNN_CHECK_IN_PLACE_UPDATE(weight, bias, lastInput, gradWeight);
  THNN_CHECK_NO_OVERLAP(weight, gradBias);
  THNN_CHECK_NO_OVERLAP(bias, gradBias);
  THNN_RETURN_IF_META(state);
  checkNumbers(state, "lastInput", &x, 1, weight->size[1]);
  THNN_RETURN_IF_FAILED(state);
  const real rate = (real)learningRate;
  for (int64_t o = 0; o < bias->size[0]; o++)
    TH_DATA(bias)[o * bias->stride[0]] -= rate * TH_DATA(gradBias)[o * gradBias->stride[0]];
  updateColumns(&x, weight, gradWeight, rate);
}

#include "tables/sparse_linear_functions.h"
