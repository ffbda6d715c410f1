#ifndef THNN_ELEMENTWISE_OPERANDS_H
#define THNN_ELEMENTWISE_OPERANDS_H

#include "runtime/tensor.h"

#define THNN_MAP_TENSORS 4

#ifdef __cplusplus
extern "C" {
#endif

/* A tensor whose neighbouring dimensions are merged where its strides allow; innermost first, strides in bytes. */
typedef struct THNNOperand {
  char *data;
  int32_t type; /* a half type whose elements a map of float32 converts, otherwise THNN_TYPE_OTHER */
  int ndim;
  int64_t size[THNN_MAX_DIM];
  int64_t stride[THNN_MAX_DIM];
} THNNOperand;

typedef struct THNNMap {
  int64_t elements, blocks, tasks;
  size_t elementBytes; /* size in bytes of an element of the loop */
  int count;
  bool writes;      /* operand 0 is an output */
  bool contiguous;  /* all operands are */
  bool converts;    /* an operand is of a half type */
  bool nonTemporal; /* the output is written with non-temporal stores */
  THNNOperand operand[THNN_MAP_TENSORS];
} THNNMap;

void thnn_mapBegin(THNNMap *map, size_t elementBytes, bool writes, int count, const THNNTensor *const *tensor);
/* A map that follows the row-major order of its elements, not the memory order of its output. */
void thnn_mapBeginRowMajor(THNNMap *map, size_t elementBytes, int count, const THNNTensor *const *tensor);

/* The dimensions of a tensor from the largest stride to the smallest. */
void thnn_memoryOrder(const THNNTensor *tensor, int *dims);

#ifdef __cplusplus
}
#endif

#endif
