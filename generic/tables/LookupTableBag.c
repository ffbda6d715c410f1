#include "modules/LookupTableBag.h"
#include "segment_sum/segment_sum.h"
#include "tables/table_checks.h"

enum { SUM, MEAN, MAX_OF_ROWS, MODES };

#define NUMBERS_PER_TASK 64 /* row numbers, more if a bag is longer */
#define ROWS_PER_SUM 128    /* rows of the table that are added at a time */

/* Bags of row numbers: a bag is the row numbers between two offsets, or a row of the matrix `input`. */
typedef struct Bags {
  const THIndex_t *input, *offsets;
  Leading indices;
  int64_t offsetStride; /* without offsets: row numbers per bag */
  int64_t bags, padding;
} Bags;

static int64_t bagBegin(const Bags *b, int64_t bag)
{
  if (bag == b->bags) return b->indices.count;
  return b->offsets ? b->offsets[bag * b->offsetStride] : bag * b->offsetStride;
}

/* The first bag that begins at or after row number i. */
static int64_t firstBagFrom(const Bags *b, int64_t i)
{
  int64_t low = 0, high = b->bags;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (bagBegin(b, middle) >= i) high = middle;
    else low = middle + 1;
  }
  return low;
}

static int64_t rowAt(const Bags *b, int64_t i) { return b->input[leadingOffset(&b->indices, i)]; }

/* The checks that all functions share. Sets *b. */
static void checkBags(THNNState *state, const THIndexTensor *input, const THIndexTensor *offsets,
                      const char *weightName, const THTensor *weight, int mode, bool scaleGradByFreq,
                      int paddingValue, Bags *b)
{
  THNN_CHECK(mode >= 0 && mode < MODES, mode, "expected 0 (sum), 1 (mean) or 2 (max), got %d", mode);
  THNN_CHECK(!(scaleGradByFreq && mode == MAX_OF_ROWS), scaleGradByFreq,
             "expected false for mode 2 (max), got true");
  if (weight->ndim != 2)
    return THNN_fail(state, THNN_VALUE_ERROR, weightName, "expected 2 dimensions (rows, D), got %s",
                     THNN_shape(weight));
  if (offsets) {
    THNN_CHECK_DIM(input, 1, "(n), with offsets");
    THNN_CHECK_DIM(offsets, 1, "(bags)");
    THNN_CHECK(offsets->size[0] > 0 || input->size[0] == 0, offsets, "expected at least one bag, got %s",
               THNN_shape(offsets));
  } else {
    THNN_CHECK_DIM(input, 2, "(bags, row numbers per bag), without offsets");
  }
  *b = (Bags){.input = input->data,
              .offsets = offsets ? offsets->data : NULL,
              .indices = leadingMake(input, input->ndim),
              .offsetStride = offsets ? offsets->stride[0] : input->size[1],
              .bags = offsets ? offsets->size[0] : input->size[0],
              .padding = paddingValue};
}

/* Checks of data: offsets begin with 0, do not decrease, and end within input. */
static void checkData(THNNState *state, const Bags *b, const THIndexTensor *input, int64_t rows)
{
  if (b->offsets && b->bags) {
    int64_t previous = 0;
    for (int64_t bag = 0; bag < b->bags; bag++) {
      const int64_t begin = bagBegin(b, bag);
      THNN_CHECK_AS(
          THNN_INDEX_ERROR, begin >= previous && begin <= b->indices.count && (bag > 0 || begin == 0), offsets,
          "expected numbers from 0 to %lld that begin with 0 and do not decrease, got %lld at position %lld",
          (long long)b->indices.count, (long long)begin, (long long)bag);
      previous = begin;
    }
  }
  THNN_(checkIndices)(state, "input", input, 0, rows);
}

static int64_t countRows(const Bags *b, int64_t bag)
{
  int64_t count = 0;
  for (int64_t i = bagBegin(b, bag), end = bagBegin(b, bag + 1); i < end; i++) count += rowAt(b, i) != b->padding;
  return count;
}

typedef struct Entries {
  const Bags *bags;
  const THIndex_t *bagSize; /* divisors of the rows, or NULL */
  int64_t bagSizeStride, gradOutputStride;
  double scale;
} Entries;

static double factorOf(const Entries *e, int64_t bag)
{
  return e->bagSize ? e->scale / (double)e->bagSize[bag * e->bagSizeStride] : e->scale;
}

/* Rows of gradOutput, summed by row of the table. */
static void readEntries(const void *context, int64_t first, int64_t count, SegmentEntry *entry)
{
  const Entries *const e = context;
  const Bags *const b = e->bags;
  int64_t bag = firstBagFrom(b, first + 1) - 1, end = bagBegin(b, bag + 1);
  double factor = factorOf(e, bag);
  for (int64_t i = 0; i < count; i++) {
    while (end <= first + i && bag + 1 < b->bags) {
      end = bagBegin(b, ++bag + 1);
      factor = factorOf(e, bag);
    }
    const int64_t row = rowAt(b, first + i);
    entry[i] = (SegmentEntry){row == b->padding ? ~row : row, bag * e->gradOutputStride, factor};
  }
}

/* Strides along a row of weight, output and maxIndices. */
typedef struct RowStrides {
  int64_t weight, output, index;
} RowStrides;

/* Replaces each element of y that is smaller than its counterpart in `w`, and its row number in `index`; NaN is the
   largest. */
static ALWAYS_INLINE void takeLarger(const real *w, real *y, THIndex_t *index, int64_t row, int64_t columns,
                                     RowStrides stride)
{
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < columns; c++) {
    const real x = w[c * stride.weight], best = y[c * stride.output];
    const bool larger = x > best || (x != x && best == best);
    y[c * stride.output] = larger ? x : best;
    index[c * stride.index] = larger ? row : index[c * stride.index];
  }
}

/* The largest element of each column among the rows of a bag, the first of equal elements, and its row number. Without
   rows y keeps its zeros, and the row number is -1. */
static void maxOfBag(const Bags *b, int64_t bag, const THTensor *weight, real *y, THIndex_t *index,
                     RowStrides stride)
{
  const int64_t columns = weight->size[1], end = bagBegin(b, bag + 1);
  const bool contiguous = stride.weight == 1 && stride.output == 1 && stride.index == 1;
  bool first = true;
  for (int64_t i = bagBegin(b, bag); i < end; i++) {
    const int64_t row = rowAt(b, i);
    if (row == b->padding) continue;
    const real *w = TH_DATA(weight) + row * weight->stride[0];
    for (int64_t c = 0; first && c < columns; c++) {
      y[c * stride.output] = w[c * stride.weight];
      index[c * stride.index] = row;
    }
    if (!first && contiguous) takeLarger(w, y, index, row, columns, (RowStrides){1, 1, 1});
    else if (!first) takeLarger(w, y, index, row, columns, stride);
    first = false;
  }
  for (int64_t c = 0; first && c < columns; c++) index[c * stride.index] = -1;
}

/* Adds the rows of a bag, times `factor`, to the row of the target. */
static void sumOfBag(const Bags *b, int64_t bag, int64_t rowStride, double factor, const SegmentSum *sum)
{
  SegmentEntry entries[ROWS_PER_SUM];
  uint16_t order[ROWS_PER_SUM];
  for (int64_t i = bagBegin(b, bag), end = bagBegin(b, bag + 1); i < end;) {
    int64_t count = 0;
    for (; i < end && count < ROWS_PER_SUM; i++) {
      const int64_t row = rowAt(b, i);
      entries[count] = (SegmentEntry){bag, row * rowStride, factor};
      order[count] = (uint16_t)count;
      count += row != b->padding;
    }
    if (count > 0) THNN_(addSegment)(sum, entries, order, count);
  }
}

void THNN_(LookupTableBag_updateOutput)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets,
                                        THTensor *output, THTensor *weight, THIndexTensor *bagSize,
                                        THIndexTensor *maxIndices, int mode, bool scaleGradByFreq,
                                        int paddingValue)
{
  Bags b;
  checkBags(state, input, offsets, "weight", weight, mode, scaleGradByFreq, paddingValue, &b);
  THNN_RETURN_IF_FAILED(state);
  const int64_t columns = weight->size[1];
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, b.bags, columns);
  THNN_RESIZE_TO(bagSize, THNN_CONTIGUOUS, b.bags);
  THNN_RESIZE_TO(maxIndices, THNN_CONTIGUOUS, mode == MAX_OF_ROWS ? b.bags : 0, columns);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const written[] = {output, bagSize, maxIndices};
  for (int k = 0; k < 3; k++) {
    THNN_CHECK(!THNN_overlaps(written[k], input, false), input, "must not share memory with an output");
    THNN_CHECK(offsets == NULL || !THNN_overlaps(written[k], offsets, false), offsets,
               "must not share memory with an output");
    THNN_CHECK(!THNN_overlaps(written[k], weight, false), weight, "must not share memory with an output");
  }
  THNN_CHECK_NO_OVERLAP(bagSize, output);
  THNN_CHECK_NO_OVERLAP(maxIndices, output);
  THNN_CHECK_NO_OVERLAP(maxIndices, bagSize);
  THNN_RETURN_IF_META(state);
  checkData(state, &b, input, weight->size[0]);
  THNN_RETURN_IF_FAILED(state);
  THIndex_t *const sizes = bagSize->data, *const indices = maxIndices->data;
  const SegmentSum sum = {.columns = columns,
                          .source = TH_DATA(weight),
                          .target = TH_DATA(output),
                          .sourceStride = weight->stride[1],
                          .rowStride = output->stride[0],
                          .columnStride = output->stride[1]};
  const int64_t tasks = MAX(ceilDivide(b.indices.count, NUMBERS_PER_TASK), 1);
  THNN_PARALLEL_FOR(task, tasks, (b.indices.count + b.bags) * columns) {
    const int64_t end = task + 1 < tasks ? firstBagFrom(&b, (task + 1) * NUMBERS_PER_TASK) : b.bags;
    for (int64_t bag = firstBagFrom(&b, task * NUMBERS_PER_TASK); bag < end; bag++) {
      const int64_t size = countRows(&b, bag);
      sizes[bag * bagSize->stride[0]] = size;
      real *const y = TH_DATA(output) + bag * output->stride[0];
      for (int64_t c = 0; c < columns; c++) y[c * output->stride[1]] = 0;
      if (mode == MAX_OF_ROWS)
        maxOfBag(&b, bag, weight, y, indices + bag * maxIndices->stride[0],
                 (RowStrides){weight->stride[1], output->stride[1], maxIndices->stride[1]});
      else sumOfBag(&b, bag, weight->stride[0], mode == MEAN ? 1 / (double)size : 1, &sum);
    }
  }
}

/* Columns are independent, so each task adds the bags of some columns, in order. */
#define COLUMNS_PER_TASK 16

static void addToMax(const THTensor *gradOutput, const THTensor *gradWeight, const THIndexTensor *maxIndices,
                     double scale)
{
  const int64_t bags = gradOutput->size[0], columns = gradOutput->size[1];
  const THIndex_t *const indices = maxIndices->data;
  THNN_PARALLEL_FOR(task, ceilDivide(columns, COLUMNS_PER_TASK), bags * columns) {
    const int64_t end = MIN((task + 1) * COLUMNS_PER_TASK, columns);
    for (int64_t bag = 0; bag < bags; bag++)
      for (int64_t c = task * COLUMNS_PER_TASK; c < end; c++) {
        const int64_t row = indices[bag * maxIndices->stride[0] + c * maxIndices->stride[1]];
        if (row < 0) continue;
        TH_DATA(gradWeight)
        [row * gradWeight->stride[0] + c * gradWeight->stride[1]] +=
            (real)scale * TH_DATA(gradOutput)[bag * gradOutput->stride[0] + c * gradOutput->stride[1]];
      }
  }
}

void THNN_(LookupTableBag_accGradParameters)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets,
                                             THTensor *gradOutput, THTensor *gradWeight, THIndexTensor *bagSize,
                                             THIndexTensor *maxIndices, int mode, bool scaleGradByFreq,
                                             int paddingValue, accreal scale)
{
  Bags b;
  checkBags(state, input, offsets, "gradWeight", gradWeight, mode, scaleGradByFreq, paddingValue, &b);
  THNN_RETURN_IF_FAILED(state);
  const int64_t size[2] = {b.bags, gradWeight->size[1]}, none[2] = {0, size[1]};
  thnn_checkGradOutput(state, gradOutput, 2, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(THNNTensor_hasSize(bagSize, 1, size), bagSize, "expected a number for each of %lld bags, got %s",
             (long long)b.bags, THNN_shape(bagSize));
  const int64_t *const expected = mode == MAX_OF_ROWS ? size : none;
  THNN_CHECK(THNNTensor_hasSize(maxIndices, 2, expected), maxIndices, "expected %s, got %s",
             THNN_shapeOf(2, expected), THNN_shape(maxIndices));
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, (THTensor *)NULL, input, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradWeight, offsets);
  THNN_CHECK_NO_OVERLAP(gradWeight, bagSize);
  THNN_CHECK_NO_OVERLAP(gradWeight, maxIndices);
  const bool overwrites =
      mode != MAX_OF_ROWS && THNNTensor_isContiguous(gradWeight) && THNN_overwrites(state, gradWeight);
  THNN_RETURN_IF_META(state);
  checkData(state, &b, input, gradWeight->size[0]);
  THNN_RETURN_IF_FAILED(state);
  const THIndex_t *const sizes = bagSize->data;
  for (int64_t bag = 0; bag < b.bags; bag++)
    THNN_CHECK_INDEX(sizes[bag * bagSize->stride[0]] == countRows(&b, bag), bagSize,
                     "expected %lld for bag %lld of input, got %lld", (long long)countRows(&b, bag),
                     (long long)bag, (long long)sizes[bag * bagSize->stride[0]]);
  if (mode == MAX_OF_ROWS) {
    THNN_(checkIndices)(state, "maxIndices", maxIndices, -1, gradWeight->size[0]);
    THNN_RETURN_IF_FAILED(state);
    addToMax(gradOutput, gradWeight, maxIndices, scale);
    return;
  }
  const Entries entries = {.bags = &b,
                           .bagSize = mode == MEAN ? sizes : NULL,
                           .bagSizeStride = bagSize->stride[0],
                           .gradOutputStride = gradOutput->stride[0],
                           .scale = scale};
  const SegmentSum sum = {.segments = {.entries = b.indices.count,
                                       .keys = gradWeight->size[0],
                                       .byFrequency = scaleGradByFreq,
                                       .read = readEntries,
                                       .context = &entries},
                          .overwrites = overwrites,
                          .columns = gradWeight->size[1],
                          .source = TH_DATA(gradOutput),
                          .target = TH_DATA(gradWeight),
                          .sourceStride = gradOutput->stride[1],
                          .rowStride = gradWeight->stride[0],
                          .columnStride = gradWeight->stride[1]};
  THNN_(segmentSum)(&sum);
}
