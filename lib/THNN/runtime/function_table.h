#ifndef THNN_RUNTIME_FUNCTION_TABLE_H
#define THNN_RUNTIME_FUNCTION_TABLE_H

#include "generator.h"
#include "state.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A library describes its functions in a table, which it exports as THNN_library(). The Python binding calls every
   function of every library through that table, for any header and any device. */

typedef union THNNValue {
  THNNTensor *tensor; /* NULL if absent */
  int64_t integer;
  double number;
  THGenerator generator;
} THNNValue;

/* Calls a function with the values of its arguments after the state. */
typedef void (*THNNCall)(THNNState *state, const THNNValue *values);

typedef struct THNNFunction {
  const char *name;
  /* One letter per argument after the state. Tensors: R has elements of `real`; M of `real` or, in a call of half or
     bfloat16, of float; A of accreal; L of int64; I of int32. The letter is followed by ? if the tensor is optional and
     by * if it is a buffer. Scalars: i int, l int64, b bool, d double. A generator: g. */
  const char *arguments;
  int32_t argumentCount, tensorCount;
  THNNCall call[THNN_REAL_TYPES]; /* by element type; NULL where the library has no kernel */
} THNNFunction;

/* Changes with the layout of the structures that binding and library share. */
#define THNN_ABI ((int64_t)(1 * 1000000 + sizeof(THNNTensor) + sizeof(THNNState) + sizeof(THNNFunction)))

typedef struct THNNLibrary {
  int64_t abi;        /* THNN_ABI */
  int32_t device;     /* THNNDevice */
  int32_t count;      /* number of functions */
  const char *digest; /* digest of the declarations that the table was made from */
  const THNNFunction *functions;
  const char *(*capability)(void);       /* the instruction set in use */
  const char *(*environmentError)(void); /* the message for an invalid environment variable, or NULL */
} THNNLibrary;

const THNNLibrary *THNN_library(void);

#ifdef __cplusplus
}
#endif

#endif
