#ifndef THNN_RUNTIME_SHARED_SCRATCH_H
#define THNN_RUNTIME_SHARED_SCRATCH_H

#include <stddef.h>

/* Memory of the calling thread that it shares with the threads of its parallel regions: 64-byte aligned, uninitialized,
   at most THNN_SHARED_SCRATCH_LIMIT bytes, kept until the thread ends; the next call may move it. NULL if the process
   is out of memory. */
#define THNN_SHARED_SCRATCH_LIMIT (((size_t)4 << 20) + ((size_t)128 << 10)) /* 4 MiB, and room for padding */
void *thnn_sharedScratch(size_t bytes);

#endif
