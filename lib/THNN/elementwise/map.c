#include "elementwise/map.h"

#include <string.h>

#include "runtime/half.h"
#include "runtime/integer.h"

/* Maps of CUDA have elements of a half type themselves. */
static bool isConverted(const THNNTensor *tensor, size_t elementBytes)
{
  return elementBytes == sizeof(float) && thnn_isHalf(tensor->type);
}

/* Makes an operand of a tensor by merging dimensions; `dims` lists the dimensions outermost first. */
static void makeOperand(THNNOperand *operand, const THNNTensor *tensor, const int *dims, int count,
                        size_t elementBytes)
{
  operand->type = isConverted(tensor, elementBytes) ? tensor->type : THNN_TYPE_OTHER;
  if (operand->type != THNN_TYPE_OTHER) elementBytes = sizeof(uint16_t);
  int n = 0;
  for (int i = count - 1; i >= 0; i--) {
    const int64_t size = tensor->size[dims[i]], stride = tensor->stride[dims[i]] * (int64_t)elementBytes;
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
    operand->stride[n++] = (int64_t)elementBytes;
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

/* Bytes of an element in the memory of the operand. */
static int64_t bytesOf(const THNNOperand *operand, size_t elementBytes)
{
  return operand->type == THNN_TYPE_OTHER ? (int64_t)elementBytes : (int64_t)sizeof(uint16_t);
}

static bool isContiguous(const THNNOperand *operand, size_t elementBytes)
{
  return operand->ndim == 1 && operand->stride[0] == bytesOf(operand, elementBytes);
}

/* True if the output is contiguous, aligned for non-temporal stores and not in place (its lines would be in the cache
   already), and the operands are too large for a later reader to find the output in the cache. Results of a half type take
   longer with non-temporal stores. */
static bool usesNonTemporalStores(const THNNMap *map)
{
  const THNNOperand *output = &map->operand[0];
  if (!map->writes || map->converts || !isContiguous(output, map->elementBytes) ||
      (uintptr_t)output->data % 64 != 0)
    return false;
  for (int k = 1; k < map->count; k++)
    if (map->operand[k].data == map->operand[0].data) return false;
  return thnn_exceedsLastLevelCache(map->count * map->elements * (int64_t)map->elementBytes);
}

void thnn_memoryOrder(const THNNTensor *tensor, int *dims)
{
  for (int i = 0; i < tensor->ndim; i++) { /* insertion sort */
    int j = i;
    for (; j > 0 && tensor->stride[dims[j - 1]] < tensor->stride[i]; j--) dims[j] = dims[j - 1];
    dims[j] = i;
  }
}

static void begin(THNNMap *map, size_t elementBytes, bool writes, bool reorder, int count,
                  const THNNTensor *const *tensor)
{
  const THNNTensor *leader = tensor[0];
  map->elements = THNNTensor_numel(leader);
  map->blocks = ceilDivide(map->elements, THNN_MAP_BLOCK);
  map->tasks = MIN(map->blocks, THNN_SUM_TASKS);
  map->elementBytes = elementBytes;
  map->count = count;
  map->writes = writes;
  map->contiguous = true;
  map->converts = false;
  map->nonTemporal = false;
  if (map->elements == 0) return;

  /* If all operands have the same size, a map follows the memory order of its output, and a sum the memory order of its
     operands if their strides are equal. In all other cases the order is row-major. */
  int dims[THNN_MAX_DIM];
  for (int k = 1; k < count && reorder; k++)
    reorder = THNNTensor_sameSize(leader, tensor[k]) && (writes || sameStrides(leader, tensor[k]));
  for (int k = 0; k < count; k++) {
    const THNNTensor *t = tensor[k];
    if (!reorder)
      for (int d = 0; d < t->ndim; d++) dims[d] = d;
    else if (k == 0) thnn_memoryOrder(t, dims);
    makeOperand(&map->operand[k], t, dims, t->ndim, elementBytes);
    if (!isContiguous(&map->operand[k], elementBytes)) map->contiguous = false;
    if (map->operand[k].type != THNN_TYPE_OTHER) map->converts = true;
  }
  map->nonTemporal = usesNonTemporalStores(map);
}

void thnn_mapBegin(THNNMap *map, size_t elementBytes, bool writes, int count, const THNNTensor *const *tensor)
{
  begin(map, elementBytes, writes, true, count, tensor);
}

void thnn_mapBeginRowMajor(THNNMap *map, size_t elementBytes, int count, const THNNTensor *const *tensor)
{
  begin(map, elementBytes, true, false, count, tensor);
}

typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

/* n copies of an element. */
static void fillRun(char *to, const char *from, int64_t n, size_t elementBytes)
{
  if (elementBytes == 4)
    for (const Word4 value = *(const Word4 *)from; n > 0; n--, to += 4) *(Word4 *)to = value;
  else
    for (const Word8 value = *(const Word8 *)from; n > 0; n--, to += 8) *(Word8 *)to = value;
}

/* Strides are in bytes. */
static void copyRun(char *to, int64_t toStride, const char *from, int64_t fromStride, int64_t n,
                    size_t elementBytes)
{
  if (toStride == (int64_t)elementBytes && fromStride == (int64_t)elementBytes)
    memcpy(to, from, (size_t)n * elementBytes);
  else if (toStride == (int64_t)elementBytes && fromStride == 0) fillRun(to, from, n, elementBytes);
  else if (elementBytes == 4)
    for (; n > 0; n--, to += toStride, from += fromStride) *(Word4 *)to = *(const Word4 *)from;
  else
    for (; n > 0; n--, to += toStride, from += fromStride) *(Word8 *)to = *(const Word8 *)from;
}

/* Copies elements [first, first + n) of the operand to the buffer, or back if `store`, and converts those of a half
   type. */
static void copyBlock(const THNNOperand *operand, int64_t first, int64_t n, char *buffer, bool store,
                      size_t elementBytes)
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
    if (operand->type != THNN_TYPE_OTHER && store)
      thnn_narrowStrided(p, operand->stride[0], (const float *)buffer, operand->type, run);
    else if (operand->type != THNN_TYPE_OTHER)
      thnn_widenStrided((float *)buffer, p, operand->stride[0], operand->type, run);
    else if (store) copyRun(p, operand->stride[0], buffer, (int64_t)elementBytes, run, elementBytes);
    else copyRun(buffer, (int64_t)elementBytes, p, operand->stride[0], run, elementBytes);
    buffer += run * (int64_t)elementBytes;
    n -= run;
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

/* The address of elements [first, first + n) if they are contiguous, or NULL. */
static void *contiguousElements(const THNNOperand *operand, int64_t first, int n, size_t elementBytes)
{
  if (operand->stride[0] != bytesOf(operand, elementBytes) || first % operand->size[0] + n > operand->size[0])
    return NULL;
  char *p = operand->data;
  for (int d = 0; d < operand->ndim; d++) {
    p += first % operand->size[d] * operand->stride[d];
    first /= operand->size[d];
  }
  return p;
}

static int blockSize(const THNNMap *map, int64_t block)
{
  return (int)MIN(map->elements - block * THNN_MAP_BLOCK, THNN_MAP_BLOCK);
}

/* The number of elements that complete the last group of a block of n elements. */
static int padding(const THNNMap *map, int n) { return map->writes ? -n & (THNN_MAP_GROUP - 1) : 0; }

int thnn_mapLoadBuffered(const THNNMap *map, int64_t block, THNNElements *p)
{
  const int64_t first = block * THNN_MAP_BLOCK;
  const int n = blockSize(map, block), padded = padding(map, n);
  const size_t bytes = THNN_MAP_BLOCK * map->elementBytes;
  char *buffer = thnn_scratch((size_t)map->count * bytes);
  for (int k = 0; k < map->count; k++, buffer += bytes) {
    void *const elements = padded ? NULL : contiguousElements(&map->operand[k], first, n, map->elementBytes);
    p[k] = (THNNElements){elements, map->operand[k].type};
    if (elements) continue;
    p[k] = (THNNElements){buffer, THNN_TYPE_OTHER};
    if (k == 0 && map->writes) continue;
    copyBlock(&map->operand[k], first, n, buffer, false, map->elementBytes);
    memset(buffer + (size_t)n * map->elementBytes, 0, (size_t)padded * map->elementBytes);
  }
  return n;
}

void thnn_mapCopyElements(const THNNMap *map, int64_t first, int64_t n, void *memory, bool store)
{
  copyBlock(&map->operand[0], first, n, memory, store, map->elementBytes);
}

void thnn_mapStoreBuffered(const THNNMap *map, int64_t block, const void *p)
{
  const int64_t first = block * THNN_MAP_BLOCK;
  const int n = blockSize(map, block);
  if (!padding(map, n) && contiguousElements(&map->operand[0], first, n, map->elementBytes)) return;
  copyBlock(&map->operand[0], first, n, (char *)p, true, map->elementBytes);
}

void thnn_storeNumber(const THNNTensor *tensor, double value)
{
  const float number = (float)value;
  if (tensor->type == THNN_TYPE_DOUBLE) *(double *)tensor->data = value;
  else if (thnn_isHalf(tensor->type)) thnn_narrow(tensor->data, &number, tensor->type, 1);
  else *(float *)tensor->data = number;
}

bool thnn_findOutside(const THNNTensor *tensor, double low, double high, double *value)
{
  const bool isFloat = tensor->type != THNN_TYPE_DOUBLE;
  THNNMap map;
  thnn_mapBegin(&map, isFloat ? sizeof(float) : sizeof(double), false, 1, &tensor);
  for (int64_t block = 0; block < map.blocks; block++) {
    float chunk[THNN_MAP_CHUNK];
    THNNElements p[1];
    const int n = thnn_mapLoad(&map, 1, block, p), step = thnn_mapStep(&map);
    for (int first = 0; first < n; first += step) {
      const int count = MIN(step, n - first);
      const void *const x = thnn_mapLoadChunk(&map, p[0], first, count, chunk);
      for (int i = 0; i < count; i++) {
        *value = isFloat ? ((const float *)x)[i] : ((const double *)x)[i];
        if (!(*value >= low && *value <= high)) return true;
      }
    }
  }
  return false;
}
