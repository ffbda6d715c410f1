#ifndef THNN_RUNTIME_PARALLEL_H
#define THNN_RUNTIME_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Threads. Results never depend on their number: the order of every sum depends only on sizes and memory layout, a task
   is always computed in the same way, and partial results are combined in task order. There are two exceptions, both in
   convolutions: NaNs, where padding meets an infinite weight or gradient, and a convolution for which there is no
   shared scratch memory, so that another algorithm computes it (docs/kernels.md). */

/* The number of threads for `tasks` tasks that process `work` elements in total: 1 if there is little work, in a forked
   child, and inside a parallel region; otherwise at most the number set by torch.set_num_threads. */
#ifdef __cplusplus
extern "C"
#endif
    int thnn_threads(int64_t tasks, int64_t work);

#define THNN_PRAGMA(text) _Pragma(#text)

/* for (int64_t i = 0; i < tasks; i++), distributed over threads. The body may neither return nor break. */
#define THNN_PARALLEL_FOR(i, tasks, work)                                               \
  THNN_PRAGMA(omp parallel for schedule(static) num_threads(thnn_threads(tasks, work))) \
  for (int64_t i = 0; i < (tasks); i++)

/* Scratch memory of the calling thread: 64-byte aligned, uninitialized, at most THNN_SCRATCH_LIMIT bytes. There is one
   block per thread, kept until the thread ends; the next call of thnn_scratch may move it, so a task requests all of
   its scratch memory at once. When the process is out of memory, up to THNN_SCRATCH_RESERVES threads get memory that
   was set aside; a further thread aborts the process, as does a request above the limit. */
#define THNN_SCRATCH_LIMIT ((size_t)2 << 20)
#define THNN_SCRATCH_RESERVES 16
#ifdef __cplusplus
extern "C"
#endif
    void *thnn_scratch(size_t bytes);

#endif
