#include "elementwise/map.h"

#include <string.h>

/* Merges a tensor's dimensions, given outermost first. */
static void makeOperand(THNNOperand *operand, const THNNTensor *tensor, const int *dims, int count, size_t element)
{
  int n = 0;
  for (int i = count - 1; i >= 0; i--) {
    const int64_t size = tensor->size[dims[i]], stride = tensor->stride[dims[i]] * (int64_t)element;
    if (size == 1) continue;
    if (n > 0 && stride == operand->size[n - 1] * operand->stride[n - 1]) {
      operand->size[n - 1] *= size;
    } else {
      operand->size[n] = size;
      operand->stride[n++] = stride;
    }
  }
  if (n == 0) {
    operand->size[n] = 1;
    operand->stride[n++] = (int64_t)element;
  }
  operand->data = tensor->data;
  operand->ndim = n;
}

static bool sameStrides(const THNNTensor *a, const THNNTensor *b)
{
  for (int d = 0; d < a->ndim; d++)
    if (a->size[d] > 1 && a->stride[d] != b->stride[d]) return false;
  return true;
}

static bool streams(const THNNMap *map)
{
  if (!map->writes || !map->contiguous || (uintptr_t)map->operand[0].data % 64 != 0) return false;
  for (int k = 1; k < map->count; k++)
    if (map->operand[k].data == map->operand[0].data) return false;
  return thnn_exceedsLastLevelCache(map->count * map->elements * (int64_t)map->element);
}

void thnn_mapBegin(THNNMap *map, size_t element, bool writes, int count, const THNNTensor *const *tensor)
{
  const THNNTensor *leader = tensor[0];
  map->elements = THNNTensor_numel(leader);
  map->blocks = (map->elements + THNN_MAP_BLOCK - 1) / THNN_MAP_BLOCK;
  map->tasks = map->blocks < THNN_SUM_TASKS ? map->blocks : THNN_SUM_TASKS;
  map->element = element;
  map->count = count;
  map->writes = writes;
  map->contiguous = true;
  map->streams = false;
  if (map->elements == 0) return;

  /* A map may go along the memory of its output. So may a sum if that is the memory order of all operands;
     otherwise its order is the logical one. */
  int dims[THNN_MAX_DIM];
  bool reorder = true;
  for (int k = 1; k < count && reorder; k++)
    reorder = THNNTensor_sameSize(leader, tensor[k]) && (writes || sameStrides(leader, tensor[k]));
  for (int k = 0; k < count; k++) {
    const THNNTensor *t = tensor[k];
    if (k == 0 || !reorder) {
      for (int d = 0; d < t->ndim; d++) dims[d] = d;
      for (int i = 1; i < t->ndim && reorder; i++) { /* insertion sort, largest stride first */
        int d = dims[i], j = i;
        for (; j > 0 && t->stride[dims[j - 1]] < t->stride[d]; j--) dims[j] = dims[j - 1];
        dims[j] = d;
      }
    }
    makeOperand(&map->operand[k], t, dims, t->ndim, element);
    if (map->operand[k].ndim > 1 || map->operand[k].stride[0] != (int64_t)element) map->contiguous = false;
  }
  map->streams = streams(map);
}

typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

/* n elements from `from` to `to`, whose strides are given in bytes. */
static void copyRun(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t n, size_t element)
{
  if (to_stride == (int64_t)element && from_stride == (int64_t)element) memcpy(to, from, (size_t)n * element);
  else if (element == 4)
    for (; n > 0; n--, to += to_stride, from += from_stride) *(Word4 *)to = *(const Word4 *)from;
  else
    for (; n > 0; n--, to += to_stride, from += from_stride) *(Word8 *)to = *(const Word8 *)from;
}

/* Elements [first, first + n) of an operand to the buffer, or from it. */
static void copyBlock(const THNNOperand *operand, int64_t first, int n, char *buffer, bool store, size_t element)
{
  int64_t at[THNN_MAX_DIM];
  char *p = operand->data;
  for (int d = 0; d < operand->ndim; d++) {
    at[d] = first % operand->size[d];
    first /= operand->size[d];
    p += at[d] * operand->stride[d];
  }
  while (n > 0) {
    const int64_t left = operand->size[0] - at[0], run = left < n ? left : n;
    if (store) copyRun(p, operand->stride[0], buffer, (int64_t)element, run, element);
    else copyRun(buffer, (int64_t)element, p, operand->stride[0], run, element);
    buffer += run * (int64_t)element;
    n -= (int)run;
    p -= at[0] * operand->stride[0];
    at[0] = 0;
    for (int d = 1; d < operand->ndim; d++) {
      p += operand->stride[d];
      if (++at[d] < operand->size[d]) break;
      p -= at[d] * operand->stride[d];
      at[d] = 0;
    }
  }
}

/* Where a block lies in one contiguous piece of the operand, or NULL. */
static void *inPlace(const THNNOperand *operand, int64_t first, int n, size_t element)
{
  if (operand->stride[0] != (int64_t)element || first % operand->size[0] + n > operand->size[0]) return NULL;
  char *p = operand->data;
  for (int d = 0; d < operand->ndim; d++) {
    p += first % operand->size[d] * operand->stride[d];
    first /= operand->size[d];
  }
  return p;
}

int thnn_mapLoadBuffered(const THNNMap *map, int64_t block, void *buffer, void **p)
{
  const int64_t first = block * THNN_MAP_BLOCK, rest = map->elements - first;
  const int n = rest < THNN_MAP_BLOCK ? (int)rest : THNN_MAP_BLOCK;
  const int padding = map->writes ? -n & (THNN_MAP_GROUP - 1) : 0;
  for (int k = 0; k < map->count; k++) {
    p[k] = padding ? NULL : inPlace(&map->operand[k], first, n, map->element);
    if (p[k]) continue;
    p[k] = (char *)buffer + (size_t)k * THNN_MAP_BLOCK * map->element;
    if (k == 0 && map->writes) continue;
    copyBlock(&map->operand[k], first, n, p[k], false, map->element);
    memset((char *)p[k] + (size_t)n * map->element, 0, (size_t)padding * map->element);
  }
  return n;
}

void thnn_mapStoreBuffered(const THNNMap *map, int64_t block, const void *buffer)
{
  const int64_t first = block * THNN_MAP_BLOCK, rest = map->elements - first;
  copyBlock(&map->operand[0], first, rest < THNN_MAP_BLOCK ? (int)rest : THNN_MAP_BLOCK, (char *)buffer, true,
            map->element);
}
