#ifndef THNN_RUNTIME_TENSOR_H
#define THNN_RUNTIME_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A view of memory that somebody else owns: torch, or the caller of the C library. */

#define THNN_MAX_DIM 64 /* torch's own limit */

typedef enum THNNType {
  THNN_TYPE_FLOAT,   /* float32 */
  THNN_TYPE_DOUBLE,  /* float64 */
  THNN_TYPE_INDEX,   /* int64 */
  THNN_TYPE_INTEGER, /* int32 */
  THNN_TYPE_OTHER
} THNNType;

typedef struct THNNTensor {
  void *data; /* first element; NULL in meta mode */
  int32_t type;
  int32_t ndim;     /* THNN_UNALLOCATED: an output that the caller will allocate when told its shape */
  int32_t argument; /* position among the function's arguments, the state being 0 */
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

/* A contiguous view of `data`. */
void THNNTensor_init(THNNTensor *tensor, THNNType type, void *data, int ndim, const int64_t *size);

int64_t THNNTensor_numel(const THNNTensor *tensor);
bool THNNTensor_isContiguous(const THNNTensor *tensor);
/* Channels (dimension 1) innermost, in 4 or 5 dimensions, by torch's rule: strides do not fall from channels over columns
   and rows to the batch. It also knows parts of such tensors; one channel or pixel is told by the stride it has. */
bool THNNTensor_isChannelsLast(const THNNTensor *tensor);
/* Every element of a dense block exactly once, in whatever order of dimensions. */
bool THNNTensor_isDense(const THNNTensor *tensor);
bool THNNTensor_hasSize(const THNNTensor *tensor, int ndim, const int64_t *size);
bool THNNTensor_sameSize(const THNNTensor *a, const THNNTensor *b);
/* The same memory seen the same way. */
bool THNNTensor_sameView(const THNNTensor *a, const THNNTensor *b);

#ifdef __cplusplus
}
#endif

#endif
