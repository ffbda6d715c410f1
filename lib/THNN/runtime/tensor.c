#include "runtime/tensor.h"

#include <string.h>

#include "runtime/integer.h"

void THNNTensor_init(THNNTensor *tensor, THNNType type, void *data, int ndim, const int64_t *size)
{
  tensor->data = data;
  tensor->type = type;
  tensor->device = THNN_DEVICE_CPU;
  tensor->deviceIndex = 0;
  tensor->ndim = ndim;
  tensor->argument = -1;
  int64_t stride = 1;
  for (int d = ndim - 1; d >= 0; d--) {
    tensor->size[d] = size[d];
    tensor->stride[d] = stride;
    stride *= size[d] > 1 ? size[d] : 1;
  }
}

int64_t THNNTensor_numel(const THNNTensor *tensor)
{
  int64_t n = 1;
  for (int d = 0; d < tensor->ndim; d++) n *= tensor->size[d];
  return n;
}

/* True if the tensor is contiguous with dimension order[0] innermost; NULL is the row-major order. Strides of
   dimensions of size 1, and all strides of an empty tensor, are ignored. */
static bool isContiguousInOrder(const THNNTensor *t, const int *order)
{
  int64_t expected = 1;
  for (int i = 0; i < t->ndim; i++) {
    int d = order ? order[i] : t->ndim - 1 - i;
    if (t->size[d] == 0) return true;
    if (t->size[d] == 1) continue;
    if (t->stride[d] != expected) return THNNTensor_numel(t) == 0;
    expected *= t->size[d];
  }
  return true;
}

bool THNNTensor_isContiguous(const THNNTensor *t) { return isContiguousInOrder(t, NULL); }

bool THNNTensor_isChannelsLast(const THNNTensor *t)
{
  static const int order2d[] = {1, 3, 2, 0}, order3d[] = {1, 4, 3, 2, 0};
  if (t->ndim != 4 && t->ndim != 5) return false;
  int64_t least = 1;
  for (int i = 0; i < t->ndim; i++) {
    const int d = t->ndim == 4 ? order2d[i] : order3d[i];
    if (t->size[d] == 0 || t->stride[d] < least) return false;
    if (d == 0 && least == t->stride[1]) return false; /* (N, 1, 1, 1): ambiguous */
    least = t->stride[d] * t->size[d];
  }
  return true;
}

bool THNNTensor_isDense(const THNNTensor *t)
{
  int order[THNN_MAX_DIM];
  for (int i = 0; i < t->ndim; i++) { /* insertion sort by stride */
    int j = i;
    for (; j > 0 && (t->stride[order[j - 1]] > t->stride[i] ||
                     (t->stride[order[j - 1]] == t->stride[i] && t->size[order[j - 1]] > t->size[i]));
         j--)
      order[j] = order[j - 1];
    order[j] = i;
  }
  return isContiguousInOrder(t, order);
}

bool THNNTensor_hasSize(const THNNTensor *t, int ndim, const int64_t *size)
{
  return t->ndim == ndim && (ndim <= 0 || memcmp(t->size, size, sizeof(int64_t) * (size_t)ndim) == 0);
}

bool THNNTensor_sameSize(const THNNTensor *a, const THNNTensor *b)
{
  return THNNTensor_hasSize(a, b->ndim, b->size);
}

bool THNNTensor_sameView(const THNNTensor *a, const THNNTensor *b)
{
  if (a->data != b->data || !THNNTensor_sameSize(a, b)) return false;
  for (int d = 0; d < a->ndim; d++)
    if (a->size[d] > 1 && a->stride[d] != b->stride[d]) return false;
  return true;
}

size_t THNNTensor_elementSize(const THNNTensor *tensor)
{
  switch (tensor->type) {
  case THNN_TYPE_HALF:
  case THNN_TYPE_BFLOAT16:
    return 2;
  case THNN_TYPE_FLOAT:
  case THNN_TYPE_INTEGER:
    return 4;
  default:
    return 8;
  }
}

void THNNTensor_byteRange(const THNNTensor *t, uintptr_t *first, uintptr_t *end)
{
  int64_t low = 0, high = 0;
  for (int d = 0; d < t->ndim; d++) {
    const int64_t last = (t->size[d] - 1) * t->stride[d];
    if (last < 0) low += last;
    else high += last;
  }
  size_t size = THNNTensor_elementSize(t);
  *first = (uintptr_t)t->data + (uintptr_t)(low * (int64_t)size);
  *end = (uintptr_t)t->data + (uintptr_t)((high + 1) * (int64_t)size);
}

/* Overlap of strided views is a bounded linear Diophantine equation: is there an index into both views for which the
   strides of one, and the negated strides of the other, add up to the distance of their first elements? */

#define OVERLAP_SEARCH_LIMIT 4096

static int64_t magnitudeOf(int64_t stride) { return stride < 0 ? -stride : stride; }

/* True if sum of stride[i] * k[i] = distance for some 0 <= k[i] < size[i], or if the search exceeds *nodes nodes. The
   strides are sorted by descending magnitude. */
static bool hasSolution(const int64_t *stride, const int64_t *size, int n, int64_t distance, int *nodes)
{
  if (n == 0) return distance == 0;
  if (--*nodes < 0) return true;
  int64_t low = 0, high = 0; /* range of the sum of the other terms */
  for (int i = 1; i < n; i++) *(stride[i] < 0 ? &low : &high) += stride[i] * (size[i] - 1);
  const int64_t magnitude = magnitudeOf(stride[0]);
  /* distance - stride[0] * k must lie in [low, high]. */
  const int64_t from = stride[0] > 0 ? distance - high : low - distance;
  const int64_t to = stride[0] > 0 ? distance - low : high - distance;
  if (to < 0) return false;
  const int64_t first = from > 0 ? ceilDivide(from, magnitude) : 0, last = MIN(to / magnitude, size[0] - 1);
  for (int64_t k = first; k <= last; k++)
    if (hasSolution(stride + 1, size + 1, n - 1, distance - stride[0] * k, nodes)) return true;
  return false;
}

/* True if the views have an element in common. Also true, to be safe, if their elements differ in size or alignment, or
   if the search exceeds OVERLAP_SEARCH_LIMIT. */
static bool elementsOverlap(const THNNTensor *a, const THNNTensor *b)
{
  const int64_t bytes = (int64_t)THNNTensor_elementSize(a);
  const intptr_t distance = (intptr_t)((uintptr_t)b->data - (uintptr_t)a->data);
  if (THNNTensor_elementSize(b) != THNNTensor_elementSize(a) || distance % bytes != 0) return true;
  int64_t stride[2 * THNN_MAX_DIM], size[2 * THNN_MAX_DIM];
  int n = 0;
  for (int view = 0; view < 2; view++) {
    const THNNTensor *t = view == 0 ? a : b;
    for (int d = 0; d < t->ndim; d++) {
      if (t->size[d] == 1 || t->stride[d] == 0) continue;
      int j = n++;
      for (; j > 0 && magnitudeOf(stride[j - 1]) < magnitudeOf(t->stride[d]); j--) {
        stride[j] = stride[j - 1];
        size[j] = size[j - 1];
      }
      stride[j] = view == 0 ? t->stride[d] : -t->stride[d];
      size[j] = t->size[d];
    }
  }
  int nodes = OVERLAP_SEARCH_LIMIT;
  return hasSolution(stride, size, n, distance / bytes, &nodes);
}

bool THNN_overlaps(const THNNTensor *output, const THNNTensor *other, bool sameViewAllowed)
{
  if (output->ndim < 0 || other->ndim < 0 || output->data == NULL || other->data == NULL) return false;
  if (THNNTensor_numel(output) == 0 || THNNTensor_numel(other) == 0) return false;
  if (sameViewAllowed && THNNTensor_sameView(output, other)) return false;
  uintptr_t a, aEnd, b, bEnd;
  THNNTensor_byteRange(output, &a, &aEnd);
  THNNTensor_byteRange(other, &b, &bEnd);
  if (aEnd <= b || bEnd <= a) return false;
  if (output->data == other->data || (THNNTensor_isDense(output) && THNNTensor_isDense(other))) return true;
  /* The byte ranges of interleaved views, such as the halves of a concatenation, intersect without overlap. */
  return elementsOverlap(output, other);
}

bool THNNTensor_overlapsItself(const THNNTensor *t)
{
  if (THNNTensor_numel(t) < 2 || THNNTensor_isContiguous(t)) return false;
  for (int d = 0; d < t->ndim; d++)
    if (t->size[d] > 1 && t->stride[d] == 0) return true;
  /* Sorted by stride, each stride must exceed the extent of all smaller dimensions. */
  int order[THNN_MAX_DIM], n = 0;
  for (int d = 0; d < t->ndim; d++) {
    if (t->size[d] == 1) continue;
    int j = n++;
    for (; j > 0 && t->stride[order[j - 1]] > t->stride[d]; j--) order[j] = order[j - 1];
    order[j] = d;
  }
  int64_t extent = 0;
  for (int i = 0; i < n; i++) {
    if (t->stride[order[i]] <= extent) return true;
    extent += (t->size[order[i]] - 1) * t->stride[order[i]];
  }
  return false;
}
