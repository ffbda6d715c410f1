#ifndef THNN_ROOFLINE_ROOFLINE_H
#define THNN_ROOFLINE_ROOFLINE_H

#include <stdbool.h>
#include <stdint.h>

/* The machine's ceilings, with the instruction set and the threads that the kernels use. */

/* Fused multiply-adds per second counted as two operations, `type` THNN_TYPE_FLOAT or THNN_TYPE_DOUBLE: the best rate
   seen in about `seconds`. */
double THNN_peakFlops(int type, double seconds);

/* Copies whole cache lines, past the caches if `stream`: the address of both ends and `bytes` are multiples of 64. */
void THNN_copy(uintptr_t to, uintptr_t from, int64_t bytes, bool stream);

#endif
