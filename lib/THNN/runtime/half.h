#ifndef THNN_RUNTIME_HALF_H
#define THNN_RUNTIME_HALF_H

#include "runtime/function_table.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The half types, float16 and bfloat16: elements in memory, between which and float32 the functions here convert.
   Arithmetic is in float32. */

static inline bool thnn_isHalf(int32_t type) { return type == THNN_TYPE_HALF || type == THNN_TYPE_BFLOAT16; }

/* Converts n adjacent elements of a half type to float32, which is exact, and back, rounded to nearest even; beyond the
   largest number the result is infinite. NaN stays NaN, and subnormal numbers are kept. */
void thnn_widen(float *to, const void *from, int32_t type, int64_t n);
void thnn_narrow(void *to, const float *from, int32_t type, int64_t n);

/* The same, of elements at distances of `stride` bytes in the memory of the half type. */
void thnn_widenStrided(float *to, const char *from, int64_t stride, int32_t type, int64_t n);
void thnn_narrowStrided(char *to, int64_t stride, const float *from, int32_t type, int64_t n);

/* A call with tensors of a half type by a function of the CPU for float32. The function first checks its arguments, as in a
   meta call. If it declared by THNN_TAKES_HALF that its loops convert elements, it gets the tensors as they are;
   otherwise it gets copies of the tensors in float32, and the tensors for which it requested a size, which are those
   that it writes, get the results, rounded once. */
void THNN_computeHalf(THNNState *state, const THNNValue *values, const THNNFunction *function, THNNCall compute);

#ifdef __cplusplus
}
#endif

#endif
