#include "roofline/roofline.h"

#include <omp.h>

#include "runtime/dispatch.h"
#include "runtime/tensor.h"

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

void THNN_copy(uintptr_t to, uintptr_t from, int64_t bytes, bool stream)
{
  void (*copy)(float *, const float *, int64_t, bool) = CHOOSE(THNN_Floatcopy);
  const int64_t lines = bytes / 64;
#pragma omp parallel
  {
    /* A piece for each thread. */
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const int64_t begin = lines * thread / threads * 64, end = lines * (thread + 1) / threads * 64;
    copy((float *)(to + (uintptr_t)begin), (const float *)(from + (uintptr_t)begin),
         (end - begin) / (int64_t)sizeof(float), stream);
  }
}
