#include "modules/LookupTableBag.h"
#include "runtime/warp.h"
#include "segment_sum/range_sum.h"
#include "segment_sum/segment_sum.h"

enum { SUM, MEAN, MAX_OF_ROWS };

/* Up to this number of bags, comparing the maxima of each bag with the maxima of all others is faster than sorting
   them. */
static const int64_t FEW_BAGS = 256;

namespace
{

/* Bags of row numbers: the numbers between two offsets, or the rows of a matrix. */
struct Bags {
  const int64_t *input, *offsets;
  int64_t entries, bags, rows, padding, offsetStride, inputStride[2];
  thcunn::Divisor perBag; /* entries per row of input */

  /* Bad offsets are reported by checkOffsets; here they give a wrong range within the entries. */
  __device__ int64_t begin(int64_t bag) const
  {
    if (bag == bags) return entries;
    if (offsets == nullptr) return bag * perBag.divisor;
    const int64_t offset = offsets[bag * offsetStride];
    return offset < 0 ? 0 : offset > entries ? entries : offset;
  }
  /* The bag of entry i, the last one that begins at or before it. */
  __device__ int64_t bagOf(int64_t i) const
  {
    if (offsets == nullptr) return perBag.quotient(i);
    int64_t low = 0, high = bags;
    while (high - low > 1) {
      const int64_t middle = low + (high - low) / 2;
      if (begin(middle) <= i) low = middle;
      else high = middle;
    }
    return low;
  }
  __device__ int64_t numberAt(int64_t i) const
  {
    const int64_t first = perBag.quotient(i);
    return input[first * inputStride[0] + (i - first * perBag.divisor) * inputStride[1]];
  }
  /* -1 if the row is left out. Bad row numbers are reported by countRows. */
  __device__ int64_t rowAt(int64_t i) const
  {
    const int64_t row = numberAt(i);
    return row >= 0 && row < rows && row != padding ? row : -1;
  }
};

} // namespace

static Bags bagsOf(const THIndexTensor *input, const THIndexTensor *offsets, const THTensor *weight,
                   int paddingValue)
{
  const bool isFlat = input->ndim == 1;
  const int64_t first = isFlat ? 1 : input->size[0], perBag = input->size[input->ndim - 1];
  const Bags b = {(const int64_t *)input->data,
                  offsets ? (const int64_t *)offsets->data : NULL,
                  first * perBag,
                  offsets ? offsets->size[0] : input->size[0],
                  weight->size[0],
                  paddingValue,
                  offsets ? offsets->stride[0] : 0,
                  {isFlat ? 0 : input->stride[0], input->stride[input->ndim - 1]},
                  perBag};
  return b;
}

/* Checks that offsets begin with 0, do not decrease, and end within input. */
static void checkOffsets(THNNState *state, const Bags &b)
{
  if (b.offsets == NULL) return;
  const thcunn::IndexCheck check = thcunn::indexCheck(state, "offsets", 0, b.entries + 1);
  thcunn::forEach(state, b.bags, [=] __device__(int64_t bag) {
    thcunn::IndexCheck ascends = check;
    if (bag > 0) ascends.first = b.begin(bag - 1);
    else ascends.end = 1;
    ascends(b.offsets[bag * b.offsetStride], bag);
  });
}

namespace
{

/* Rows of the table, summed by bag. */
struct RowsOfBags {
  Bags b;
  const int64_t *bagSize; /* NULL unless sums are divided by it */
  int64_t bagSizeStride, sourceStride;

  __device__ int64_t begin(int64_t bag) const { return b.begin(bag); }
  __device__ int64_t source(int64_t i) const
  {
    const int64_t row = b.rowAt(i);
    return row < 0 ? -1 : row * sourceStride;
  }
  __device__ real factor(int64_t) const { return 1; }
  __device__ real scale(int64_t bag) const
  {
    if (bagSize == nullptr) return 1;
    const int64_t size = bagSize[bag * bagSizeStride];
    return size > 0 ? 1 / (real)size : 0;
  }
};

} // namespace

/* Counts and checks the rows of each bag, with a warp per bag: writes the counts to bagSize or, if `checks`, compares
   bagSize with them. */
static void countRows(THNNState *state, const Bags &b, const THIndexTensor *bagSize, bool checks)
{
  int64_t *const sizes = (int64_t *)bagSize->data;
  const int64_t stride = bagSize->stride[0];
  const thcunn::IndexCheck check = thcunn::indexCheck(state, "bagSize", 0, 0),
                           checkRow = thcunn::indexCheck(state, "input", 0, b.rows);
  thcunn::forEach(state, b.bags * thcunn::WARP, [=] __device__(int64_t i) {
    const int64_t bag = i / thcunn::WARP, end = b.begin(bag + 1);
    int64_t count = 0;
    for (int64_t k = b.begin(bag) + i % thcunn::WARP; k < end; k += thcunn::WARP) {
      const int64_t row = b.numberAt(k);
      count += checkRow(row, k) && row != b.padding;
    }
    count = thcunn::sumOverWarp(count);
    if (i % thcunn::WARP != 0) return;
    if (!checks) {
      sizes[bag * stride] = count;
      return;
    }
    thcunn::IndexCheck equal = check;
    equal.first = count;
    equal.end = count + 1;
    equal(sizes[bag * stride], bag);
  });
}

namespace
{

/* The largest element of a column among entries, the first of equal ones; NaN is the largest. */
struct Maximum {
  real value;
  int64_t entry; /* -1: there is none */

  __device__ void include(Maximum other)
  {
    const bool isNaN = value != value, otherIsNaN = other.value != other.value;
    const bool isLarger = other.value > value || (otherIsNaN && !isNaN),
               isEqual = other.value == value || (otherIsNaN && isNaN);
    if (other.entry >= 0 && (entry < 0 || isLarger || (isEqual && other.entry < entry))) *this = other;
  }
};

} // namespace

/* The maximum of each column among the rows of a bag. The lanes of a warp are `lanes` groups, each of which has every
   `lanes`-th entry of the bag; the lanes of a group have neighbouring columns. More lanes where threads are few and
   bags long. A bag without rows gives 0 and the row number -1. The lanes of the first column write the number of
   rows. */
static void maxOfBags(THNNState *state, const Bags &b, const THTensor *weight, const THTensor *output,
                      const THIndexTensor *bagSize, const THIndexTensor *maxIndices)
{
  const thcunn::IndexCheck checkRow = thcunn::indexCheck(state, "input", 0, b.rows);
  int64_t *const sizes = (int64_t *)bagSize->data;
  const int64_t sizeStride = bagSize->stride[0];
  const thcunn::View<const Element, 2> from = {TH_DATA(weight), {weight->stride[0], weight->stride[1]}};
  const thcunn::View<Element, 2> to = {TH_DATA(output), {output->stride[0], output->stride[1]}};
  const thcunn::View<int64_t, 2> toIndex = {(int64_t *)maxIndices->data,
                                            {maxIndices->stride[0], maxIndices->stride[1]}};
  const int64_t columns = weight->size[1];
  int lanes = 1;
  while (lanes < thcunn::WARP && b.bags * columns * lanes < 1 << 18 && b.entries / (8 * lanes) >= b.bags)
    lanes *= 2;
  const int perGroup = thcunn::WARP / lanes;
  const thcunn::Divisor groups((columns + perGroup - 1) / perGroup);
  thcunn::forEach(state, b.bags * groups.divisor * thcunn::WARP, [=] __device__(int64_t i) {
    const int LOADS = 4;
    const int lane = (int)(i % thcunn::WARP);
    const int64_t warp = i / thcunn::WARP, bag = groups.quotient(warp);
    const int64_t c = (warp - bag * groups.divisor) * perGroup + lane % perGroup;
    const int64_t end = c < columns ? b.begin(bag + 1) : 0;
    Maximum largest = {0, -1};
    int64_t rows = 0;
    for (int64_t entry = b.begin(bag) + lane / perGroup; entry < end; entry += LOADS * lanes) {
      int64_t row[LOADS];
      real value[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; j++) row[j] = entry + j * lanes < end ? b.numberAt(entry + j * lanes) : -1;
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        const bool exists = entry + j * lanes < end;
        if (!exists || !checkRow(row[j], entry + j * lanes) || row[j] == b.padding) row[j] = -1;
        const int64_t at[2] = {row[j], c};
        value[j] = row[j] >= 0 ? thcunn::load(from.at(at)) : 0;
      }
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        largest.include({value[j], row[j] >= 0 ? entry + j * lanes : -1});
        rows += row[j] >= 0;
      }
    }
    for (int distance = thcunn::WARP / 2; distance >= perGroup; distance /= 2) {
      rows += __shfl_xor_sync(thcunn::ALL_LANES, rows, distance);
      largest.include({__shfl_xor_sync(thcunn::ALL_LANES, largest.value, distance),
                       __shfl_xor_sync(thcunn::ALL_LANES, largest.entry, distance)});
    }
    if (lane >= perGroup || c >= columns) return;
    if (c == 0) sizes[bag * sizeStride] = rows;
    const int64_t at[2] = {bag, c};
    thcunn::store(to.at(at), largest.value);
    *toIndex.at(at) = largest.entry < 0 ? -1 : b.rowAt(largest.entry);
  });
}

void THNN_(LookupTableBag_updateOutput)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets,
                                        THTensor *output, THTensor *weight, THIndexTensor *bagSize,
                                        THIndexTensor *maxIndices, int mode, bool scaleGradByFreq,
                                        int paddingValue)
{
  (void)scaleGradByFreq;
  const Bags b = bagsOf(input, offsets, weight, paddingValue);
  checkOffsets(state, b);
  if (weight->size[1] > 0 && mode == MAX_OF_ROWS) return maxOfBags(state, b, weight, output, bagSize, maxIndices);
  countRows(state, b, bagSize, false);
  if (weight->size[1] == 0) return;
  const RowsOfBags rows = {b, mode == MEAN ? (const int64_t *)bagSize->data : NULL, bagSize->stride[0],
                           weight->stride[0]};
  const bool isPacked = thcunn::hasPackedRows<Element>(weight) && thcunn::hasPackedRows<Element>(output);
  const thcunn::RangeSum<Element, RowsOfBags> sum = {rows,
                                                     b.entries,
                                                     b.bags,
                                                     weight->size[1],
                                                     TH_DATA(weight),
                                                     NULL,
                                                     TH_DATA(output),
                                                     weight->stride[1],
                                                     0,
                                                     output->stride[0],
                                                     output->stride[1]};
  if (isPacked) thcunn::rangeSum<thcunn::Pack<Element>::size>(state, sum);
  else thcunn::rangeSum<1>(state, sum);
}

namespace
{

/* Rows of gradOutput, summed by row of the table. */
struct BagsOfRows {
  Bags b;
  const int64_t *bagOf;   /* the bag of each entry */
  const int64_t *bagSize; /* NULL unless rows are divided by it */
  int64_t bagSizeStride, sourceStride, targetStride;
  real scale;

  __device__ int64_t key(int64_t i) const { return b.rowAt(i); }
  __device__ int64_t source(int64_t i) const { return bagOf[i] * sourceStride; }
  __device__ real factor(int64_t i) const
  {
    return bagSize ? scale / (real)bagSize[bagOf[i] * bagSizeStride] : scale;
  }
  __device__ int64_t target(int64_t row) const { return row * targetStride; }
};

/* Elements of gradOutput, summed by element of the table: entry i is element i of (bags, columns). */
struct MaximaOfElements {
  thcunn::View<const int64_t, 2> index;
  thcunn::IndexCheck check;
  thcunn::Divisor columns;
  int64_t sourceStride[2], targetStride[2];
  real scale;

  __device__ int64_t key(int64_t i) const
  {
    const int64_t bag = columns.quotient(i), at[2] = {bag, i - bag * columns.divisor}, row = *index.at(at);
    return row == -1 || !check(row, i) ? -1 : row * columns.divisor + at[1];
  }
  __device__ int64_t source(int64_t i) const
  {
    const int64_t bag = columns.quotient(i);
    return bag * sourceStride[0] + (i - bag * columns.divisor) * sourceStride[1];
  }
  __device__ real factor(int64_t) const { return scale; }
  __device__ int64_t target(int64_t key) const
  {
    const int64_t row = columns.quotient(key);
    return row * targetStride[0] + (key - row * columns.divisor) * targetStride[1];
  }
};

} // namespace

/* The bag of each entry, or NULL without memory for them. */
static const int64_t *bagOfEntries(THNNState *state, const Bags &b)
{
  int64_t *const bagOf = (int64_t *)thcunn::scratch(state, b.entries * (int64_t)sizeof(int64_t));
  if (bagOf == NULL) return NULL;
  thcunn::forEach(state, b.entries, [=] __device__(int64_t i) { bagOf[i] = b.bagOf(i); });
  return bagOf;
}

/* A thread per element of gradOutput. The thread of the first bag that names an element of the table adds the elements
   of all bags that name it, in their order. */
static void addToMaximaOfFewBags(THNNState *state, const MaximaOfElements &entries, int64_t bags,
                                 const Element *gradOutput, Element *gradWeight)
{
  const int64_t columns = entries.columns.divisor;
  thcunn::forEach(state, bags * columns, [=] __device__(int64_t i) {
    const int LOADS = 4;
    const int64_t own = entries.columns.quotient(i), c = i - own * columns, key = entries.key(i);
    if (key < 0) return;
    const int64_t at[2] = {own, c}, row = *entries.index.at(at);
    const int64_t *index = entries.index.data + c * entries.index.stride[1];
    const Element *g = gradOutput + c * entries.sourceStride[1];
    real sum = 0;
    for (int64_t bag = 0; bag < bags; bag += LOADS) {
      int64_t other[LOADS];
      real value[LOADS];
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        other[j] = bag + j < bags ? index[(bag + j) * entries.index.stride[0]] : -1;
        value[j] = other[j] == row ? thcunn::load(g + (bag + j) * entries.sourceStride[0]) : 0;
      }
#pragma unroll
      for (int j = 0; j < LOADS; j++) {
        if (other[j] == row && bag + j < own) return;
        sum += value[j];
      }
    }
    Element *const to = gradWeight + entries.target(key);
    thcunn::store(to, thcunn::load(to) + entries.scale * sum);
  });
}

static void addToMaxima(THNNState *state, const THTensor *gradOutput, const THTensor *gradWeight,
                        const THIndexTensor *maxIndices, double scale)
{
  const int64_t columns = gradOutput->size[1];
  const MaximaOfElements entries = {
      {(const int64_t *)maxIndices->data, {maxIndices->stride[0], maxIndices->stride[1]}},
      thcunn::indexCheck(state, "maxIndices", -1, gradWeight->size[0]),
      columns,
      {gradOutput->stride[0], gradOutput->stride[1]},
      {gradWeight->stride[0], gradWeight->stride[1]},
      (real)scale};
  if (gradOutput->size[0] <= FEW_BAGS)
    return addToMaximaOfFewBags(state, entries, gradOutput->size[0], TH_DATA(gradOutput), TH_DATA(gradWeight));
  const thcunn::SegmentSum<Element, MaximaOfElements> sum = {
      entries, gradOutput->size[0] * columns, gradWeight->size[0] * columns, 1,
      false,   TH_DATA(gradOutput),           TH_DATA(gradWeight),           0,
      0};
  thcunn::segmentSum<1>(state, sum);
}

void THNN_(LookupTableBag_accGradParameters)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets,
                                             THTensor *gradOutput, THTensor *gradWeight, THIndexTensor *bagSize,
                                             THIndexTensor *maxIndices, int mode, bool scaleGradByFreq,
                                             int paddingValue, accreal scale)
{
  const Bags b = bagsOf(input, offsets, gradWeight, paddingValue);
  checkOffsets(state, b);
  countRows(state, b, bagSize, true);
  if (mode == MAX_OF_ROWS) {
    addToMaxima(state, gradOutput, gradWeight, maxIndices, scale);
    return;
  }
  if (b.entries == 0) return;
  const BagsOfRows entries = {b,
                              bagOfEntries(state, b),
                              mode == MEAN ? (const int64_t *)bagSize->data : NULL,
                              bagSize->stride[0],
                              gradOutput->stride[0],
                              gradWeight->stride[0],
                              (real)scale};
  const bool isPacked = thcunn::hasPackedRows<Element>(gradOutput) && thcunn::hasPackedRows<Element>(gradWeight);
  const thcunn::SegmentSum<Element, BagsOfRows> sum = {entries,
                                                       b.entries,
                                                       gradWeight->size[0],
                                                       gradWeight->size[1],
                                                       scaleGradByFreq,
                                                       TH_DATA(gradOutput),
                                                       TH_DATA(gradWeight),
                                                       gradOutput->stride[1],
                                                       gradWeight->stride[1]};
  if (isPacked) thcunn::segmentSum<thcunn::Pack<Element>::size>(state, sum);
  else thcunn::segmentSum<1>(state, sum);
}
