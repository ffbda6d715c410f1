#include "runtime/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "runtime/openmp.h"

/* The threads of a libgomp team do not survive fork; the next parallel region would wait for them. */
static atomic_bool inForkedChild;

static void afterForkInChild(void) { atomic_store(&inForkedChild, 1); }

/* Waking a second thread costs a few microseconds. */
#define SERIAL_BELOW 16384

int thnn_threads(int64_t tasks, int64_t work)
{
  if (tasks < 2 || work < SERIAL_BELOW || atomic_load_explicit(&inForkedChild, memory_order_relaxed) ||
      omp_in_parallel())
    return 1;
  int threads = omp_get_max_threads();
  return tasks < threads ? (int)tasks : threads;
}

typedef struct Scratch {
  size_t bytes;
  void *memory;
  int reserve; /* index in reserves of `memory`, or -1 if it was allocated */
} Scratch;

static _Thread_local Scratch scratch = {.reserve = -1};
static pthread_key_t scratchKey; /* frees the scratch memory at the end of its thread */

/* Scratch memory of threads whose allocation failed. Until its pages are touched it occupies address space only. */
static _Alignas(64) char reserves[THNN_SCRATCH_RESERVES][THNN_SCRATCH_LIMIT];
static atomic_bool reserveTaken[THNN_SCRATCH_RESERVES];

static bool takeReserve(void)
{
  for (int r = 0; r < THNN_SCRATCH_RESERVES; r++) {
    if (atomic_exchange(&reserveTaken[r], true)) continue;
    scratch = (Scratch){.bytes = THNN_SCRATCH_LIMIT, .memory = reserves[r], .reserve = r};
    return true;
  }
  return false;
}

static void freeScratch(void *p)
{
  Scratch *s = p;
  if (s->reserve >= 0) atomic_store(&reserveTaken[s->reserve], false);
  else free(s->memory);
  *s = (Scratch){.reserve = -1};
}

__attribute__((constructor)) static void initialize(void)
{
  pthread_atfork(NULL, NULL, afterForkInChild);
  pthread_key_create(&scratchKey, freeScratch);
}

void *thnn_scratch(size_t bytes)
{
  if (bytes > THNN_SCRATCH_LIMIT) abort();
  if (scratch.bytes < bytes) {
    free(scratch.memory);
    scratch.bytes = (bytes + 65535) & ~(size_t)65535;
    scratch.memory = aligned_alloc(64, scratch.bytes);
    if (scratch.memory == NULL && !takeReserve()) abort();
    pthread_setspecific(scratchKey, &scratch);
  }
  return scratch.memory;
}
