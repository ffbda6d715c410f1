#ifndef THNN_BINDING_OPERATORS_H
#define THNN_BINDING_OPERATORS_H

#include "THNN/runtime/function_table.h"

/* Kernels of operators of torch (torch.library) for tensors on the CPU, registered through libtorch's stable C
   interface. A call of such a kernel needs no Python, unlike a kernel that torch.library registers. */

/* The origin of the value of an argument of a C function. */
typedef enum THNNSourceKind {
  THNN_SOURCE_NONE,      /* an absent tensor, or a buffer that the function may request */
  THNN_SOURCE_GIVEN,     /* the argument `index` of the operator */
  THNN_SOURCE_SIZE,      /* size `dimension` of the tensor `index` */
  THNN_SOURCE_NUMBER,    /* `number` */
  THNN_SOURCE_REQUESTED, /* a new tensor, as the function requests; absent if the argument `flag` is false */
  THNN_SOURCE_EMPTY,     /* a new tensor like the tensor `index`; absent if that one is */
  THNN_SOURCE_ZEROS,     /* the same, filled with zeros */
  THNN_SOURCE_SCALAR,    /* a new tensor without dimensions, of the type of the tensor `index` */
  /* a copy of the tensor `index`, which the function changes; the tensor itself if the argument `flag` is false */
  THNN_SOURCE_CLONE
} THNNSourceKind;

/* The place where the result is multiplied by the first argument, a tensor without dimensions. */
typedef enum THNNScaling {
  THNN_SCALING_NONE,
  THNN_SCALING_FUNCTION, /* the C function multiplies */
  THNN_SCALING_KERNEL    /* the kernel multiplies, after the function */
} THNNScaling;

typedef struct THNNSource {
  int32_t kind;             /* THNNSourceKind */
  int32_t index, dimension; /* index: number of an argument of the operator */
  int32_t flag;             /* number of an argument, a bool; -1 for none */
  double number;
} THNNSource;

/* The calls that C leaves to a Python function, the fallback of the operator: those with an error, with
   THNN_SCALING_FUNCTION and a gradient factor that is not finite, or with a result that the function requests like a
   tensor that is empty or has gaps; all while an observer is set (binding.h). */

/* Registers a kernel for the operator `name` of a namespace: calls `function`, and returns the tensors made for its
   arguments at the positions `results`, an empty tensor where none was made. `letters` has a letter per argument: T
   tensor, O optional tensor, i int, b bool, d float. False if there are too many operators. */
int thnn_implementOperator(const char *namespace, const char *name, uintptr_t function, const char *letters,
                           const THNNSource *sources, const int32_t *results, int resultCount, int scaling,
                           uintptr_t fallback);

/* Sets the addresses of functions of torch, in the order of operators.c (_torch.py lists them). No kernels can be
   registered while one is 0. False if another number of addresses is given. */
int thnn_connectOperators(const uintptr_t *addresses, int count);

#endif
