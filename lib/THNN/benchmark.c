#include "benchmark.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "dispatch.h"
#include "tensor.h"

#define VARIANTS(arch)                          \
  double THNN_Floatfma_##arch(int64_t rounds);  \
  double THNN_Doublefma_##arch(int64_t rounds); \
  void THNN_Floatcopy_##arch(float *to, const float *from, int64_t n, bool stream)

VARIANTS(default);
#ifdef THNN_X86_VARIANTS
VARIANTS(avx2);
VARIANTS(avx512);
#define CHOOSE(name)                                         \
  (thnn_capability == THNN_CAPABILITY_AVX512 ? name##_avx512 \
   : thnn_capability == THNN_CAPABILITY_AVX2 ? name##_avx2   \
                                             : name##_default)
#else
#define CHOOSE(name) name##_default
#endif

double THNN_peakFlops(int type, double seconds)
{
  double (*fma)(int64_t) = type == THNN_TYPE_FLOAT ? CHOOSE(THNN_Floatfma) : CHOOSE(THNN_Doublefma);
  double best = 0, end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end) {
    double operations = 0, start = omp_get_wtime();
#pragma omp parallel reduction(+ : operations)
    operations += fma(200000);
    double rate = operations / (omp_get_wtime() - start);
    if (rate > best) best = rate;
  }
  return best;
}

double THNN_copyBandwidth(int64_t bytes, double seconds)
{
  void (*copy)(float *, const float *, int64_t, bool) = CHOOSE(THNN_Floatcopy);
  int threads = omp_get_max_threads();
  /* Each thread copies a piece of its own, a whole number of cache lines. */
  int64_t n = bytes / 2 / threads / 64 * 16;
  if (n < 16) n = 16;
  size_t size = (size_t)(n * threads) * sizeof(float);
  float *from = aligned_alloc(64, size), *to = aligned_alloc(64, size);
  double best = 0;
  if (from != NULL && to != NULL) {
    memset(from, 0, size);
    memset(to, 0, size);
    int64_t repeats = 1 + (int64_t)(4 << 20) / (int64_t)size;
    double end = omp_get_wtime() + seconds;
    for (int round = 0; round < 4 || omp_get_wtime() < end; round++) {
      double start = omp_get_wtime();
#pragma omp parallel
      for (int64_t r = 0; r < repeats; r++)
        copy(to + omp_get_thread_num() * n, from + omp_get_thread_num() * n, n, round % 2 == 1);
      double rate = 2.0 * (double)size * (double)repeats / (omp_get_wtime() - start);
      if (rate > best) best = rate;
    }
  }
  free(from);
  free(to);
  return best;
}
