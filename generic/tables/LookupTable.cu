#include "modules/LookupTable.h"
#include "runtime/warp.h"
#include "segment_sum/segment_sum.h"
#include "simd/vector_math.h"

/* Copies V elements of a row per thread. The rows of bad indices are NaN. */
template <int V>
static void copyRows(THNNState *state, const THIndexTensor *input, const THTensor *output, const THTensor *weight)
{
  typedef thcunn::RowPart<Element, V> Row;
  const thcunn::Leading indices = thcunn::leadingMake(state, input, input->ndim),
                        rows = thcunn::leadingMake(state, output, output->ndim - 1);
  const thcunn::IndexCheck check = thcunn::indexCheck(state, "input", 0, weight->size[0]);
  const thcunn::Divisor groups(weight->size[1] / V);
  const int64_t *const index = (const int64_t *)input->data;
  const Element *const from = TH_DATA(weight);
  Element *const to = TH_DATA(output);
  const int64_t rowStride = weight->stride[0], columnStride = weight->stride[1],
                outputStride = output->stride[output->ndim - 1];
  thcunn::forEach(state, rows.count * groups.divisor, [=] __device__(int64_t i) {
    const int64_t row = groups.quotient(i), column = (i - row * groups.divisor) * V;
    const int64_t source = index[indices.offset(row)];
    Row part;
#pragma unroll
    for (int e = 0; e < V; e++) part.value[e] = NAN;
    if (check(source, row)) part.loadFrom(from + source * rowStride + column * columnStride);
    part.storeTo(to + rows.offset(row) + column * outputStride);
  });
}

void THNN_(LookupTable_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output, THTensor *weight,
                                     bool scaleGradByFreq, int paddingValue)
{
  (void)scaleGradByFreq, (void)paddingValue;
  if (weight->size[1] == 0) return;
  if (thcunn::hasPackedRows<Element>(weight) && thcunn::hasPackedRows<Element>(output))
    copyRows<thcunn::Pack<Element>::size>(state, input, output, weight);
  else copyRows<1>(state, input, output, weight);
}

namespace
{

struct Entries {
  const int64_t *index;
  thcunn::Leading indices;
  thcunn::Offsets rows;
  thcunn::IndexCheck check;
  int64_t padding, targetStride;
  real scale;

  __device__ int64_t key(int64_t i) const
  {
    const int64_t row = index[indices.offset(i)];
    return !check(row, i) || row == padding ? -1 : row;
  }
  __device__ int64_t source(int64_t i) const { return rows.at(i); }
  __device__ real factor(int64_t) const { return scale; }
  __device__ int64_t target(int64_t key) const { return key * targetStride; }
};

} // namespace

void THNN_(LookupTable_accGradParameters)(THNNState *state, THIndexTensor *input, THTensor *gradOutput,
                                          THTensor *gradWeight, THIntegerTensor *count, THTensor *sorted,
                                          THIndexTensor *indices, bool scaleGradByFreq, int paddingValue,
                                          accreal scale)
{
  (void)count, (void)sorted, (void)indices;
  const Entries entries = {(const int64_t *)input->data,
                           thcunn::leadingMake(state, input, input->ndim),
                           thcunn::offsetsMake(state, gradOutput, gradOutput->ndim - 1),
                           thcunn::indexCheck(state, "input", 0, gradWeight->size[0]),
                           paddingValue,
                           gradWeight->stride[0],
                           (real)scale};
  const bool isPacked = thcunn::hasPackedRows<Element>(gradOutput) && thcunn::hasPackedRows<Element>(gradWeight);
  const thcunn::SegmentSum<Element, Entries> sum = {entries,
                                                    entries.indices.count,
                                                    gradWeight->size[0],
                                                    gradWeight->size[1],
                                                    scaleGradByFreq,
                                                    TH_DATA(gradOutput),
                                                    TH_DATA(gradWeight),
                                                    gradOutput->stride[gradOutput->ndim - 1],
                                                    gradWeight->stride[1]};
  if (isPacked) thcunn::segmentSum<thcunn::Pack<Element>::size>(state, sum);
  else thcunn::segmentSum<1>(state, sum);
}

namespace
{

/* The row numbers, to be sorted, so that each row is found once. */
struct RowNumbers {
  const int64_t *index;
  thcunn::Leading indices;
  thcunn::IndexCheck check;

  __device__ int64_t key(int64_t i) const
  {
    const int64_t row = index[indices.offset(i)];
    return check(row, i) ? row : -1;
  }
};

/* NaN is the largest. */
__device__ real larger(real a, real b) { return a > b || a != a ? a : b; }

__device__ real maximumOverWarp(real value)
{
  for (int distance = thcunn::WARP / 2; distance > 0; distance /= 2)
    value = larger(value, __shfl_xor_sync(thcunn::ALL_LANES, value, distance));
  return value;
}

/* The elements of the row that a warp normalizes. */
struct Row {
  Element *data;
  int64_t columns, stride;

  /* Terms are divided by the largest element, so that powers neither overflow nor vanish. */
  __device__ real norm(int lane, real p) const
  {
    real largest = 0, sum = 0;
    for (int64_t c = lane; c < columns; c += thcunn::WARP) largest = larger(magnitude(c), largest);
    largest = maximumOverWarp(largest);
    if (!(largest > 0 && largest < (real)INFINITY) || isinf(p)) return largest;
    for (int64_t c = lane; c < columns; c += thcunn::WARP) {
      const real x = magnitude(c) / largest;
      sum += p == 1 ? x : p == 2 ? x * x : th_pow(x, p);
    }
    sum = thcunn::sumOverWarp(sum);
    return largest * (p == 1 ? sum : p == 2 ? th_sqrt(sum) : th_pow(sum, 1 / p));
  }
  __device__ real magnitude(int64_t c) const
  {
    const real x = thcunn::load(data + c * stride);
    return x < 0 ? -x : x;
  }
  __device__ void scale(int lane, real factor) const
  {
    for (int64_t c = lane; c < columns; c += thcunn::WARP)
      thcunn::store(data + c * stride, thcunn::load(data + c * stride) * factor);
  }
};

} // namespace

/* A warp per item; the first item of a row normalizes the row. */
void THNN_(LookupTable_renorm)(THNNState *state, THIndexTensor *idx, THTensor *weight, accreal maxNorm,
                               accreal normType)
{
  const RowNumbers numbers = {(const int64_t *)idx->data, thcunn::leadingMake(state, idx, idx->ndim),
                              thcunn::indexCheck(state, "idx", 0, weight->size[0])};
  const thcunn::SortedItems items = thcunn::sortByKey(state, numbers, numbers.indices.count, weight->size[0]);
  Element *const data = TH_DATA(weight);
  const int64_t columns = weight->size[1], rowStride = weight->stride[0], columnStride = weight->stride[1];
  const real limit = (real)maxNorm, p = (real)normType;
  thcunn::forEach(state, items.count * thcunn::WARP, [=] __device__(int64_t i) {
    const int64_t item = i / thcunn::WARP;
    const int lane = (int)(i % thcunn::WARP);
    if (!items.begins(item)) return;
    const Row row = {data + items.key(item) * rowStride, columns, columnStride};
    const real norm = row.norm(lane, p);
    if (norm > limit) row.scale(lane, limit / (norm + (real)1e-7));
  });
}
