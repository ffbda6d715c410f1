#include "roofline.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "runtime/openmp.h"

#ifdef THNN_X86_VARIANTS
#include "runtime/cpu_features.h"
#endif

typedef struct Loops {
  const char *instructionSet;
  double (*fmaFloat)(int64_t rounds);
  double (*fmaDouble)(int64_t rounds);
  void (*copy)(float *to, const float *from, int64_t n, bool nonTemporal);
} Loops;

#define LOOPS(set) \
  {#set, THNN_Floatroofline_fma_##set, THNN_Doubleroofline_fma_##set, THNN_Floatroofline_copy_##set}

static const Loops loops[] = {
    LOOPS(default),
#ifdef THNN_X86_VARIANTS
    LOOPS(avx2),
    LOOPS(avx512),
#endif
};

static bool cpuHas(const char *instructionSet)
{
#ifdef THNN_X86_VARIANTS
  if (strcmp(instructionSet, "avx2") == 0) return thnn_cpuHasAvx2();
  if (strcmp(instructionSet, "avx512") == 0) return thnn_cpuHasAvx512();
#endif
  return strcmp(instructionSet, "default") == 0;
}

static const Loops *loopsOf(const char *instructionSet)
{
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    if (strcmp(loops[i].instructionSet, instructionSet) == 0 && cpuHas(instructionSet)) return &loops[i];
  return NULL;
}

double roofline_flops(const char *instructionSet, bool isDouble, double seconds)
{
  const Loops *set = loopsOf(instructionSet);
  if (set == NULL) return 0;
  double (*fma)(int64_t) = isDouble ? set->fmaDouble : set->fmaFloat;
  double best = 0, end = omp_get_wtime() + seconds;
  while (omp_get_wtime() < end) {
    atomic_llong operations = 0;
    const double start = omp_get_wtime();
#pragma omp parallel
    atomic_fetch_add(&operations, (long long)fma(200000));
    double rate = (double)operations / (omp_get_wtime() - start);
    if (rate > best) best = rate;
  }
  return best;
}

bool roofline_copy(const char *instructionSet, uintptr_t to, uintptr_t from, int64_t bytes, bool nonTemporal)
{
  const Loops *set = loopsOf(instructionSet);
  if (set == NULL) return false;
  const int64_t lines = bytes / 64;
#pragma omp parallel
  {
    /* Each thread copies one contiguous range. */
    const int64_t threads = omp_get_num_threads(), thread = omp_get_thread_num();
    const int64_t begin = lines * thread / threads * 64, end = lines * (thread + 1) / threads * 64;
    set->copy((float *)(to + (uintptr_t)begin), (const float *)(from + (uintptr_t)begin),
              (end - begin) / (int64_t)sizeof(float), nonTemporal);
  }
  return true;
}

static _Alignas(128) atomic_llong turn;

static void waitForTurn(long long own)
{
  for (int waits = 0; atomic_load_explicit(&turn, memory_order_acquire) != own; waits++)
    if (waits > 1000) sched_yield(); /* the other thread may have the same core */
}

double roofline_exchange(int64_t passes)
{
  atomic_store(&turn, 0);
  double seconds = 0;
  if (omp_get_max_threads() < 2 || omp_get_num_procs() < 2) return 0;
#pragma omp parallel num_threads(2)
  if (omp_get_num_threads() == 2) {
    const long long thread = omp_get_thread_num();
    double start = 0;
    /* The thread whose turn it is, by the parity, writes the line that the other one waits for. The time begins when
       each thread has had a turn. */
    for (long long i = thread; i < passes + 2; i += 2) {
      waitForTurn(i);
      if (i == 2) start = omp_get_wtime();
      atomic_store_explicit(&turn, i + 1, memory_order_release);
    }
    if (thread == 0) {
      waitForTurn(passes + 2);
      seconds = (omp_get_wtime() - start) / (double)passes;
    }
  }
  return seconds;
}
