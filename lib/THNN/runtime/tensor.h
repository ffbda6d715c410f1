#ifndef THNN_RUNTIME_TENSOR_H
#define THNN_RUNTIME_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor is a view of memory that its caller, torch or a C program, owns. */

#define THNN_MAX_DIM 64 /* torch's own limit */

/* Element types. `real` may be one of the first THNN_REAL_TYPES. A library supports some of these, and may lack
   functions (function_table.h). */
typedef enum THNNType {
  THNN_TYPE_FLOAT,    /* float32 */
  THNN_TYPE_DOUBLE,   /* float64 */
  THNN_TYPE_HALF,     /* float16 */
  THNN_TYPE_BFLOAT16, /* bfloat16 */
  THNN_REAL_TYPES,
  THNN_TYPE_INDEX = THNN_REAL_TYPES, /* int64 */
  THNN_TYPE_INTEGER,                 /* int32 */
  THNN_TYPE_OTHER
} THNNType;

typedef enum THNNDevice { THNN_DEVICE_CPU, THNN_DEVICE_CUDA, THNN_DEVICE_OTHER } THNNDevice;

typedef struct THNNTensor {
  void *data;          /* first element; NULL in meta mode */
  int32_t type;        /* THNNType */
  int32_t device;      /* THNNDevice */
  int32_t deviceIndex; /* among devices of that kind */
  int32_t ndim;        /* THNN_UNALLOCATED: the caller allocates this output when its shape is known */
  int32_t argument;    /* position among the function's arguments, the state being 0 */
  int64_t size[THNN_MAX_DIM];
  int64_t stride[THNN_MAX_DIM]; /* in elements */
} THNNTensor;

#define THNN_UNALLOCATED (-1)

typedef THNNTensor THFloatTensor;
typedef THNNTensor THDoubleTensor;
typedef THNNTensor THAccrealTensor; /* accreal: float64 */
typedef THNNTensor THIndexTensor;
typedef THNNTensor THIntegerTensor;
typedef int64_t THIndex_t;

/* A contiguous view of `data` on the CPU. */
void THNNTensor_init(THNNTensor *tensor, THNNType type, void *data, int ndim, const int64_t *size);

int64_t THNNTensor_numel(const THNNTensor *tensor);
bool THNNTensor_isContiguous(const THNNTensor *tensor);
/* True if channels (dimension 1) are innermost, in 4 or 5 dimensions, by torch's rule: from channels over columns and
   rows to the batch, each stride is at least the stride times the size of the dimension before. Views of parts of
   channels-last tensors are recognized; with one channel or one pixel the strides decide. */
bool THNNTensor_isChannelsLast(const THNNTensor *tensor);
/* True if the elements fill one block of memory, each address once, in any order of dimensions. */
bool THNNTensor_isDense(const THNNTensor *tensor);
bool THNNTensor_hasSize(const THNNTensor *tensor, int ndim, const int64_t *size);
bool THNNTensor_sameSize(const THNNTensor *a, const THNNTensor *b);
/* True for the same memory with the same sizes and strides. */
bool THNNTensor_sameView(const THNNTensor *a, const THNNTensor *b);
/* Bytes of an element. */
size_t THNNTensor_elementSize(const THNNTensor *tensor);
/* The addresses of the first byte and of the byte after the last one. */
void THNNTensor_byteRange(const THNNTensor *tensor, uintptr_t *first, uintptr_t *end);
/* True if several elements have one address; also true in rare cases where they do not. */
bool THNNTensor_overlapsItself(const THNNTensor *tensor);
/* True if an output shares elements with another tensor; with `sameViewAllowed`, false if the two are the same view. */
bool THNN_overlaps(const THNNTensor *output, const THNNTensor *other, bool sameViewAllowed);

#ifdef __cplusplus
}
#endif

#endif
