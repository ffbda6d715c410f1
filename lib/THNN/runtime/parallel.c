#include "runtime/parallel.h"

#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A libgomp team does not survive fork: its threads are gone, and the next region would wait for them. */
static atomic_bool in_forked_child;

static void afterForkInChild(void) { atomic_store(&in_forked_child, 1); }

/* Waking a second thread costs a few microseconds. */
#define SERIAL_BELOW 16384

int thnn_threads(int64_t tasks, int64_t work)
{
  if (tasks < 2 || work < SERIAL_BELOW || atomic_load_explicit(&in_forked_child, memory_order_relaxed) ||
      omp_in_parallel())
    return 1;
  int threads = omp_get_max_threads();
  return tasks < threads ? (int)tasks : threads;
}

typedef struct Scratch {
  size_t bytes;
  void *memory;
} Scratch;

static pthread_key_t scratch_key;

static void freeScratch(void *p)
{
  Scratch *scratch = p;
  free(scratch->memory);
  free(scratch);
}

__attribute__((constructor)) static void initialize(void)
{
  pthread_atfork(NULL, NULL, afterForkInChild);
  pthread_key_create(&scratch_key, freeScratch);
}

void *thnn_scratch(size_t bytes)
{
  static _Thread_local Scratch *scratch;
  if (bytes > THNN_SCRATCH_LIMIT) abort();
  if (scratch == NULL) {
    scratch = calloc(1, sizeof *scratch);
    if (scratch == NULL) abort();
    pthread_setspecific(scratch_key, scratch);
  }
  if (scratch->bytes < bytes) {
    free(scratch->memory);
    scratch->bytes = (bytes + 65535) & ~(size_t)65535;
    scratch->memory = aligned_alloc(64, scratch->bytes);
    if (scratch->memory == NULL) abort();
  }
  return scratch->memory;
}
