#ifndef THNN_BENCHMARK_H
#define THNN_BENCHMARK_H

#include <stdint.h>

/* The machine's ceilings, measured with the instruction set and the threads that the kernels use. Each runs
   for about `seconds` and returns the best rate seen in that time. */

/* Fused multiply-adds per second counted as two operations, `type` THNN_TYPE_FLOAT or THNN_TYPE_DOUBLE. */
double THNN_peakFlops(int type, double seconds);

/* Bytes read plus bytes written per second when copying within a working set of `bytes`, the source and the
   destination half of it each; the better of ordinary and non-temporal stores. */
double THNN_copyBandwidth(int64_t bytes, double seconds);

#endif
