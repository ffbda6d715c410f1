#ifndef THNN_ELEMENTWISE_MAP_H
#define THNN_ELEMENTWISE_MAP_H

#include "elementwise/operands.h"
#include "runtime/check.h"
#include "runtime/half.h"
#include "runtime/parallel.h"
#include "runtime/streaming.h"

/* Loops over all elements of tensors with the same number of elements, with threads and SIMD, for any strides:

     THNN_MAP2(y, output, x, input, x > 0 ? x : x * slope);           output = f(input)
     THNN_MAP3(dx, gradInput, x, input, g, gradOutput, x > 0 ? g : 0);
     THNN_MAP4(...)                                                   output = f(three inputs)
     THNN_SUM2(loss, x, input, t, target, (x - t) * (x - t));         loss = sum of f(two inputs), a double
     THNN_SUM3(...)                                                   sum of f(three inputs)

   A function with two outputs computes both block by block, so that the block of a common input is still in the cache
   for the second one:

     THNNMap first, second;  (thnn_mapBegin of both)
     THNN_MAP_FOR(block, first, THNN_MAP_BLOCK2(first, block, x, ...) THNN_MAP_BLOCK3(second, block, x, g, ...))

   An expression may keep a value for the second output in an array of THNN_MAP_BLOCK elements, whose index is thnn_at.

   The name before each input is its element in the expression, a constant of type real; the name before the output is
   only documentation. Elements are paired in row-major order, also between different shapes. An output may be the same
   view as an input.

   Tensors are split into blocks of fixed size. A block that is contiguous in a tensor is read and written in place,
   otherwise through scratch memory (parallel.h). A loop over float32 also takes tensors of a half type, of which it
   converts chunks of a block, which stay in the first-level cache; a function without another access to elements declares
   THNN_TAKES_HALF. Maps compute whole groups of THNN_MAP_GROUP elements, so that an element's bits do not depend on its
   position. Sums accumulate in double, in an order that depends on the shapes, the strides and the type, but not on the
   number of threads. */

#define THNN_MAP_BLOCK 2048
#define THNN_MAP_CHUNK 1024 /* elements of a half type that are converted together */
#ifdef THNN_REAL_IS_FLOAT
#define THNN_REAL_CHUNK THNN_MAP_CHUNK
#else
#define THNN_REAL_CHUNK 1 /* loops over float64 convert nothing, and need little stack */
#endif
#define THNN_MAP_GROUP 16
#define THNN_SUM_TASKS 1024

#ifdef __cplusplus
extern "C" {
#endif

/* The adjacent elements of an operand in a block. */
typedef struct THNNElements {
  void *data;
  int32_t type; /* the half type of the elements, or THNN_TYPE_OTHER: they are of the type of the loop */
} THNNElements;

/* Loading returns the number of elements of a block and sets p[k] to the elements of operand k, in place or copied to
   scratch memory; storing copies the elements of the output back. The buffered functions are for maps whose
   operands are not all contiguous, and for blocks that are not whole groups. */
int thnn_mapLoadBuffered(const THNNMap *map, int64_t block, THNNElements *p);
void thnn_mapStoreBuffered(const THNNMap *map, int64_t block, const void *p);

/* Copies elements first to first + n - 1 of operand 0 to memory, or with `store` back. */
void thnn_mapCopyElements(const THNNMap *map, int64_t first, int64_t n, void *memory, bool store);

/* Stores a number, converted to the element type, in a tensor of one element. */
void thnn_storeNumber(const THNNTensor *tensor, double value);

/* True if an element is not in [low, high], NaN included; sets *value to the first such element found. */
bool thnn_findOutside(const THNNTensor *tensor, double low, double high, double *value);

static inline bool mapIsBuffered(const THNNMap *map, int n)
{
  return !map->contiguous || (map->writes && n % THNN_MAP_GROUP != 0);
}

static inline int thnn_mapLoad(const THNNMap *map, int count, int64_t block, THNNElements *p)
{
  const int64_t first = block * THNN_MAP_BLOCK, rest = map->elements - first;
  const int n = rest < THNN_MAP_BLOCK ? (int)rest : THNN_MAP_BLOCK;
  if (mapIsBuffered(map, n)) return thnn_mapLoadBuffered(map, block, p);
  for (int k = 0; k < count; k++) {
    const int32_t type = map->operand[k].type;
    const size_t bytes = type == THNN_TYPE_OTHER ? map->elementBytes : sizeof(uint16_t);
    p[k] = (THNNElements){map->operand[k].data + first * (int64_t)bytes, type};
  }
  return n;
}

/* The elements of a block that a loop computes at a time. */
static inline int thnn_mapStep(const THNNMap *map) { return map->converts ? THNN_MAP_CHUNK : THNN_MAP_BLOCK; }

/* The address of element `first`. */
static inline void *thnn_elementsFrom(const THNNMap *map, THNNElements elements, int first)
{
  return (char *)elements.data +
         (size_t)first * (elements.type == THNN_TYPE_OTHER ? map->elementBytes : sizeof(uint16_t));
}

/* The address of elements first to first + n - 1 for the loop: in place, or converted in the chunk. */
static inline void *thnn_mapLoadChunk(const THNNMap *map, THNNElements elements, int first, int n, void *chunk)
{
  void *const from = thnn_elementsFrom(map, elements, first);
  if (elements.type == THNN_TYPE_OTHER) return from;
  thnn_widen((float *)chunk, from, elements.type, n);
  return chunk;
}

#ifdef __cplusplus
}
#endif

/* --- parts of the macros ---------------------------------------------------------------------------------- */
/* clang-format off */

#define THNN_MAP_BEGIN_(writes, count, ...)                                                                  \
  const THNNTensor *const thnn_tensors[] = {__VA_ARGS__};                                                    \
  THNNMap thnn_map;                                                                                          \
  thnn_mapBegin(&thnn_map, sizeof(real), writes, count, thnn_tensors);

/* A single task runs outside of a parallel region, which libraries of thnn.load enter even with one thread. */
#define THNN_MAP_FOR_(i, tasks, work, ...)                                                                   \
  if ((tasks) == 1) {                                                                                        \
    const int64_t i = 0;                                                                                     \
    __VA_ARGS__                                                                                              \
  } else {                                                                                                   \
    THNN_PARALLEL_FOR(i, tasks, work) { __VA_ARGS__ }                                                        \
  }
#define THNN_MAP_FOR(block, map, ...) THNN_MAP_FOR_(block, (map).blocks, (map).elements, __VA_ARGS__)

#define THNN_MAP_LOAD_(map, count, block)                                                                    \
  THNNElements thnn_p[count];                                                                                \
  const int thnn_n = thnn_mapLoad(&(map), count, block, thnn_p);

#define THNN_MAP_STORE_(map, block)                                                                          \
  if (mapIsBuffered(&(map), thnn_n)) thnn_mapStoreBuffered(&(map), block, thnn_p[0].data);

/* Statements for thnn_c elements of a block from thnn_first on, with memory for the conversion of each operand. */
#define THNN_MAP_CHUNKS_(map, count, n, ...)                                                                 \
  for (int thnn_first = 0, thnn_step = thnn_mapStep(&(map)); thnn_first < (n); thnn_first += thnn_step) {    \
    const int thnn_c = (n) - thnn_first < thnn_step ? (n) - thnn_first : thnn_step;                          \
    real thnn_chunk[count][THNN_REAL_CHUNK] __attribute__((aligned(64)));                                    \
    __VA_ARGS__                                                                                              \
  }

/* Declares a##_data, the elements of operand k from thnn_first on; thnn_isReal is a constant. */
#define THNN_MAP_DATA_(map, k, a)                                                                            \
  const real *const a##_data =                                                                               \
      thnn_isReal ? (const real *)thnn_p[k].data + thnn_first                                                \
                  : (const real *)thnn_mapLoadChunk(&(map), thnn_p[k], thnn_first, thnn_c, thnn_chunk[k]);

#define THNN_MAP_LOOP_(map, count, load, ...)                                                                \
  if ((map).nonTemporal) {                                                                                   \
    enum { thnn_isReal = true, thnn_c = THNN_MAP_GROUP };                                                    \
    real thnn_group[THNN_MAP_GROUP], (*const thnn_chunk)[THNN_MAP_GROUP] = NULL;                             \
    for (int thnn_first = 0; thnn_first < thnn_n; thnn_first += THNN_MAP_GROUP) {                            \
      for (int thnn_k = 1; thnn_k < count; thnn_k++)                                                         \
        thnn_prefetchAhead((const real *)thnn_p[thnn_k].data + thnn_first,                                   \
                           THNN_MAP_GROUP * (int)sizeof(real));                                              \
      load                                                                                                   \
      THNN_PRAGMA(omp simd)                                                                                  \
      for (int thnn_i = 0; thnn_i < THNN_MAP_GROUP; thnn_i++) {                                              \
        const int thnn_at __attribute__((unused)) = thnn_first + thnn_i;                                     \
        thnn_group[thnn_i] = __VA_ARGS__;                                                                    \
      }                                                                                                      \
      for (int thnn_i = 0; thnn_i < THNN_MAP_GROUP; thnn_i += VL)                                            \
        v_stream((real *)thnn_p[0].data + thnn_first + thnn_i, v_load(thnn_group + thnn_i));                 \
    }                                                                                                        \
  } else {                                                                                                   \
    enum { thnn_isReal = false };                                                                            \
    THNN_MAP_CHUNKS_(map, count, (thnn_n + THNN_MAP_GROUP - 1) & -THNN_MAP_GROUP,                            \
      load                                                                                                   \
      void *const thnn_result = thnn_elementsFrom(&(map), thnn_p[0], thnn_first);                            \
      const bool thnn_isHalf_ = THNN_REAL_CHUNK > 1 && thnn_p[0].type != THNN_TYPE_OTHER;                    \
      real *const thnn_y = thnn_isHalf_ ? thnn_chunk[0] : (real *)thnn_result;                               \
      THNN_PRAGMA(omp simd)                                                                                  \
      for (int thnn_i = 0; thnn_i < (thnn_c & -THNN_MAP_GROUP); thnn_i++) {                                  \
        const int thnn_at __attribute__((unused)) = thnn_first + thnn_i;                                     \
        thnn_y[thnn_i] = __VA_ARGS__;                                                                        \
      }                                                                                                      \
      if (thnn_isHalf_) thnn_narrow(thnn_result, (float *)thnn_y, thnn_p[0].type, thnn_c);)                  \
  }

#define THNN_MAP_BLOCK2(map, block, a, ...)                                                                  \
  {                                                                                                          \
    THNN_MAP_LOAD_(map, 2, block)                                                                            \
    THNN_MAP_LOOP_(map, 2, THNN_MAP_DATA_(map, 1, a), ({                                                     \
      const real a = a##_data[thnn_i];                                                                       \
      (real)(__VA_ARGS__);                                                                                   \
    }))                                                                                                      \
    THNN_MAP_STORE_(map, block)                                                                              \
  }

#define THNN_MAP_BLOCK3(map, block, a, b, ...)                                                               \
  {                                                                                                          \
    THNN_MAP_LOAD_(map, 3, block)                                                                            \
    THNN_MAP_LOOP_(map, 3, THNN_MAP_DATA_(map, 1, a) THNN_MAP_DATA_(map, 2, b), ({                           \
      const real a = a##_data[thnn_i], b = b##_data[thnn_i];                                                 \
      (real)(__VA_ARGS__);                                                                                   \
    }))                                                                                                      \
    THNN_MAP_STORE_(map, block)                                                                              \
  }

#define THNN_MAP_BLOCK4(map, block, a, b, c, ...)                                                            \
  {                                                                                                          \
    THNN_MAP_LOAD_(map, 4, block)                                                                            \
    THNN_MAP_LOOP_(map, 4, THNN_MAP_DATA_(map, 1, a) THNN_MAP_DATA_(map, 2, b) THNN_MAP_DATA_(map, 3, c), ({ \
      const real a = a##_data[thnn_i], b = b##_data[thnn_i], c = c##_data[thnn_i];                           \
      (real)(__VA_ARGS__);                                                                                   \
    }))                                                                                                      \
    THNN_MAP_STORE_(map, block)                                                                              \
  }

#define THNN_MAP2(y, output, a, first, ...)                                                                  \
  do {                                                                                                       \
    THNN_MAP_BEGIN_(true, 2, output, first)                                                                  \
    THNN_MAP_FOR(thnn_block, thnn_map, THNN_MAP_BLOCK2(thnn_map, thnn_block, a, __VA_ARGS__))                \
  } while (0)

#define THNN_MAP3(y, output, a, first, b, second, ...)                                                       \
  do {                                                                                                       \
    THNN_MAP_BEGIN_(true, 3, output, first, second)                                                          \
    THNN_MAP_FOR(thnn_block, thnn_map, THNN_MAP_BLOCK3(thnn_map, thnn_block, a, b, __VA_ARGS__))             \
  } while (0)

#define THNN_MAP4(y, output, a, first, b, second, c, third, ...)                                             \
  do {                                                                                                       \
    THNN_MAP_BEGIN_(true, 4, output, first, second, third)                                                   \
    THNN_MAP_FOR(thnn_block, thnn_map, THNN_MAP_BLOCK4(thnn_map, thnn_block, a, b, c, __VA_ARGS__))          \
  } while (0)

/* Each task sums its range of blocks; the partial sums are added in task order. */
#define THNN_SUM_FOR_(total, count, ...)                                                                     \
  double thnn_partial[THNN_SUM_TASKS];                                                                       \
  THNN_MAP_FOR_(thnn_task, thnn_map.tasks, thnn_map.elements,                                                \
    double thnn_sum = 0;                                                                                     \
    const int64_t thnn_end = (thnn_task + 1) * thnn_map.blocks / thnn_map.tasks;                             \
    for (int64_t thnn_block = thnn_task * thnn_map.blocks / thnn_map.tasks; thnn_block < thnn_end;           \
         thnn_block++) {                                                                                     \
      THNN_MAP_LOAD_(thnn_map, count, thnn_block)                                                            \
      __VA_ARGS__                                                                                            \
    }                                                                                                        \
    thnn_partial[thnn_task] = thnn_sum;)                                                                     \
  total = 0;                                                                                                 \
  for (int64_t thnn_task = 0; thnn_task < thnn_map.tasks; thnn_task++) total += thnn_partial[thnn_task];

/* `load` declares the addresses of the inputs. */
#define THNN_SUM_LOOP_(count, load, ...)                                                                     \
  enum { thnn_isReal = false };                                                                              \
  THNN_MAP_CHUNKS_(thnn_map, count, thnn_n,                                                                  \
    load                                                                                                     \
    THNN_PRAGMA(omp simd reduction(+ : thnn_sum))                                                            \
    for (int thnn_i = 0; thnn_i < thnn_c; thnn_i++) { __VA_ARGS__ })

#define THNN_SUM2(total, a, first, b, second, ...)                                                           \
  do {                                                                                                       \
    THNN_MAP_BEGIN_(false, 2, first, second)                                                                 \
    THNN_SUM_FOR_(total, 2,                                                                                  \
      THNN_SUM_LOOP_(2, THNN_MAP_DATA_(thnn_map, 0, a) THNN_MAP_DATA_(thnn_map, 1, b),                       \
        const real a = a##_data[thnn_i], b = b##_data[thnn_i];                                               \
        thnn_sum += (__VA_ARGS__);                                                                           \
      ))                                                                                                     \
  } while (0)

#define THNN_SUM3(total, a, first, b, second, c, third, ...)                                                 \
  do {                                                                                                       \
    THNN_MAP_BEGIN_(false, 3, first, second, third)                                                          \
    THNN_SUM_FOR_(total, 3,                                                                                  \
      THNN_SUM_LOOP_(3,                                                                                      \
        THNN_MAP_DATA_(thnn_map, 0, a) THNN_MAP_DATA_(thnn_map, 1, b) THNN_MAP_DATA_(thnn_map, 2, c),        \
        const real a = a##_data[thnn_i], b = b##_data[thnn_i], c = c##_data[thnn_i];                         \
        thnn_sum += (__VA_ARGS__);                                                                           \
      ))                                                                                                     \
  } while (0)

/* clang-format on */
#endif
