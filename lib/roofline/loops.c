/* The loops of roofline.c, compiled once per element type and instruction set. */

#include "roofline.h"

#include "runtime/kernel.h"

/* Independent sums: enough to hide the latency of an FMA on every port. */
#define SUMS 12

double THNN_(roofline_fma)(int64_t rounds)
{
  /* All loops over the sums are unrolled, so that the sums stay in registers. Start values that are known only at run
     time prevent constant folding. */
  vreal sum[SUMS], factor = v_set1((real)0.999), term = v_set1((real)1e-3);
#pragma GCC unroll 12
  for (int i = 0; i < SUMS; i++) sum[i] = v_set1((real)(rounds + i));
  for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (int i = 0; i < SUMS; i++) sum[i] = sum[i] * factor + term;
  }
  vreal total = sum[0];
#pragma GCC unroll 12
  for (int i = 1; i < SUMS; i++) total += sum[i];
  volatile real sink = v_sum(total);
  (void)sink;
  return 2.0 * SUMS * VL * (double)rounds;
}

void THNN_(roofline_copy)(real *to, const real *from, int64_t n, bool nonTemporal)
{
  if (nonTemporal)
    for (int64_t i = 0; i < n; i += VL) v_stream(to + i, v_load(from + i));
  else
    for (int64_t i = 0; i < n; i += VL) v_store(to + i, v_load(from + i));
}
