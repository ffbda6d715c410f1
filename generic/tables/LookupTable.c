#include "modules/LookupTable.h"
#include "runtime/streaming.h"
#include "segment_sum/segment_sum.h"
#include "tables/table_checks.h"

#define ROWS_PER_TASK 16

static void checkWeight(THNNState *state, const char *name, const THTensor *weight)
{
  if (weight->ndim != 2)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected 2 dimensions (rows, D), got %s", THNN_shape(weight));
}

/* Copies n elements. */
static void copyRow(real *to, int64_t toStride, const real *from, int64_t fromStride, int64_t n)
{
  if (toStride == 1 && fromStride == 1 && n > 0) memcpy(to, from, sizeof(real) * (size_t)n);
  else
    for (int64_t i = 0; i < n; i++) to[i * toStride] = from[i * fromStride];
}

void THNN_(LookupTable_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output, THTensor *weight,
                                     bool scaleGradByFreq, int paddingValue)
{
  (void)scaleGradByFreq, (void)paddingValue;
  checkWeight(state, "weight", weight);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(input->ndim < THNN_MAX_DIM, input, "expected at most %d dimensions, got %s", THNN_MAX_DIM - 1,
             THNN_shape(input));
  const int64_t columns = weight->size[1];
  int64_t size[THNN_MAX_DIM];
  memcpy(size, input->size, sizeof *size * (size_t)input->ndim);
  size[input->ndim] = columns;
  THNN_resize(state, "output", output, input->ndim + 1, size, THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_RETURN_IF_META(state);
  THNN_(checkIndices)(state, "input", input, 0, weight->size[0]);
  THNN_RETURN_IF_FAILED(state);
  const Leading indices = leadingMake(input, input->ndim), rows = leadingMake(output, output->ndim - 1);
  const THIndex_t *const index = input->data;
  const int64_t outputStride = output->stride[output->ndim - 1];
  THNN_PARALLEL_FOR(task, ceilDivide(rows.count, ROWS_PER_TASK), rows.count * columns) {
    const int64_t end = MIN((task + 1) * ROWS_PER_TASK, rows.count);
    for (int64_t i = task * ROWS_PER_TASK; i < end; i++)
      copyRow(TH_DATA(output) + leadingOffset(&rows, i), outputStride,
              TH_DATA(weight) + index[leadingOffset(&indices, i)] * weight->stride[0], weight->stride[1], columns);
  }
}

typedef struct Entries {
  const THIndex_t *index;
  Leading indices, rows;
  int64_t padding;
  double scale;
} Entries;

static void readEntries(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *e = context;
  for (int64_t i = 0; i < count; i++) {
    const int64_t index = e->index[leadingOffset(&e->indices, first + i)];
    entry[i] = (SegmentEntry){index == e->padding ? ~index : index, leadingOffset(&e->rows, first + i), e->scale};
  }
}

/* gradOutput has a row per index, in any dimensions. */
static void checkGradOutput(THNNState *state, const THIndexTensor *input, const THTensor *gradOutput,
                            int64_t columns)
{
  const int last = gradOutput->ndim - 1;
  const bool fits = last >= 0 && gradOutput->size[last] == columns &&
                    THNNTensor_numel(gradOutput) == THNNTensor_numel(input) * columns;
  THNN_CHECK(fits, gradOutput, "expected a row of %lld values for each index of %s, got %s", (long long)columns,
             THNN_shape(input), THNN_shape(gradOutput));
}

void THNN_(LookupTable_accGradParameters)(THNNState *state, THIndexTensor *input, THTensor *gradOutput,
                                          THTensor *gradWeight, THIntegerTensor *count, THTensor *sorted,
                                          THIndexTensor *indices, bool scaleGradByFreq, int paddingValue,
                                          accreal scale)
{
  (void)count, (void)sorted, (void)indices;
  checkWeight(state, "gradWeight", gradWeight);
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, input, gradOutput, gradWeight->size[1]);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, (THTensor *)NULL, input, gradOutput);
  const bool overwrites = THNNTensor_isContiguous(gradWeight) && THNN_overwrites(state, gradWeight);
  THNN_RETURN_IF_META(state);
  THNN_(checkIndices)(state, "input", input, 0, gradWeight->size[0]);
  THNN_RETURN_IF_FAILED(state);
  const Entries entries = {.index = input->data,
                           .indices = leadingMake(input, input->ndim),
                           .rows = leadingMake(gradOutput, gradOutput->ndim - 1),
                           .padding = paddingValue,
                           .scale = scale};
  const SegmentSum sum = {.segments = {.entries = entries.indices.count,
                                       .keys = gradWeight->size[0],
                                       .byFrequency = scaleGradByFreq,
                                       .read = readEntries,
                                       .context = &entries},
                          .overwrites = overwrites,
                          .columns = gradWeight->size[1],
                          .source = TH_DATA(gradOutput),
                          .target = TH_DATA(gradWeight),
                          .sourceStride = gradOutput->stride[gradOutput->ndim - 1],
                          .rowStride = gradWeight->stride[0],
                          .columnStride = gradWeight->stride[1]};
  THNN_(segmentSum)(&sum);
}

static double norm(const real *row, int64_t columns, int64_t stride, double p)
{
  double sum = 0;
  for (int64_t c = 0; c < columns; c++) {
    const double x = fabs((double)row[c * stride]);
    if (isinf(p)) sum = x > sum || isnan(x) ? x : sum;
    else sum += p == 1 ? x : p == 2 ? x * x : pow(x, p);
  }
  return p == 1 || isinf(p) ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

void THNN_(LookupTable_renorm)(THNNState *state, THIndexTensor *idx, THTensor *weight, accreal maxNorm,
                               accreal normType)
{
  checkWeight(state, "weight", weight);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(normType > 0, normType, "expected a number above 0, got %g", normType);
  THNN_CHECK(maxNorm >= 0, maxNorm, "expected a number of at least 0, got %g", maxNorm);
  THNN_CHECK_DISTINCT_ADDRESSES(weight);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(weight, idx);
  THNN_RETURN_IF_META(state);
  const int64_t rows = weight->size[0], columns = weight->size[1], stride = weight->stride[1];
  THNN_(checkIndices)(state, "idx", idx, 0, rows);
  THNN_RETURN_IF_FAILED(state);
  const Leading indices = leadingMake(idx, idx->ndim);
  const THIndex_t *const index = idx->data;
  for (int64_t first = 0; first < rows; first += MARKED_ROWS) {
    const int64_t range = MIN(MARKED_ROWS, rows - first);
    uint64_t *const marks = marksMake(range);
    for (int64_t i = 0; i < indices.count; i++) {
      const int64_t row = index[leadingOffset(&indices, i)] - first;
      if (row >= 0 && row < range) marksAdd(marks, row);
    }
    THNN_PARALLEL_FOR(word, ceilDivide(range, MARK_BITS), indices.count * columns) {
      FOR_MARKED_ROWS(row, marks, word)
      {
        real *const w = TH_DATA(weight) + (first + row) * weight->stride[0];
        const double length = norm(w, columns, stride, normType);
        if (length > maxNorm) {
          const real factor = (real)(maxNorm / (length + 1e-7));
          for (int64_t c = 0; c < columns; c++) w[c * stride] *= factor;
        }
      }
    }
  }
}
