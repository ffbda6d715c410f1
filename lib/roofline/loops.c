/* The two loops behind lib/THNN/benchmark.h. */

/* Enough independent chains to hide the latency of an FMA on every port. */
#define CHAINS 12

double THNN_(fma)(int64_t rounds);
double THNN_(fma)(int64_t rounds)
{
  /* Every loop over the chains is unrolled, or they would live in memory. They begin where no compiler knows: one
     that begins at 1 stays there, and is left out. */
  vreal sum[CHAINS], factor = v_set1((real)0.999), term = v_set1((real)1e-3);
#pragma GCC unroll 12
  for (int c = 0; c < CHAINS; c++) sum[c] = v_set1((real)(rounds + c));
  for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 12
    for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * factor + term;
  }
  vreal total = sum[0];
#pragma GCC unroll 12
  for (int c = 1; c < CHAINS; c++) total += sum[c];
  volatile real sink = v_sum(total);
  (void)sink;
  return 2.0 * CHAINS * VL * (double)rounds;
}

void THNN_(copy)(real *to, const real *from, int64_t n, bool stream);
void THNN_(copy)(real *to, const real *from, int64_t n, bool stream)
{
  if (stream)
    for (int64_t i = 0; i < n; i += VL) v_stream(to + i, v_load(from + i));
  else
    for (int64_t i = 0; i < n; i += VL) v_store(to + i, v_load(from + i));
}
