#include "runtime/shared_scratch.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct SharedScratch {
  size_t bytes;
  void *memory;
} SharedScratch;

static _Thread_local SharedScratch scratch;
static pthread_key_t key; /* frees the memory at the end of its thread */

static void freeScratch(void *p)
{
  SharedScratch *s = p;
  free(s->memory);
  *s = (SharedScratch){0};
}

__attribute__((constructor)) static void initialize(void) { pthread_key_create(&key, freeScratch); }

void *thnn_sharedScratch(size_t bytes)
{
  if (bytes > THNN_SHARED_SCRATCH_LIMIT) abort();
  if (scratch.bytes < bytes) {
    free(scratch.memory);
    const size_t rounded = (bytes + 65535) & ~(size_t)65535;
    scratch.memory = aligned_alloc(64, rounded);
    scratch.bytes = scratch.memory != NULL ? rounded : 0;
    pthread_setspecific(key, &scratch);
  }
  return scratch.memory;
}
