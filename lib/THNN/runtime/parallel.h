#ifndef THNN_RUNTIME_PARALLEL_H
#define THNN_RUNTIME_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Threads through one door. Results never depend on how many there are: work is cut into tasks by size
   alone, a task is always computed in the same way, and partial results are combined in task order. */

/* How many threads `tasks` tasks are worth that touch `work` elements together: 1 for little work, in a
   forked child, and inside a parallel region; otherwise what torch.set_num_threads allows. */
int thnn_threads(int64_t tasks, int64_t work);

#define THNN_PRAGMA(text) _Pragma(#text)

/* for (int64_t i = 0; i < tasks; i++), the tasks spread over threads. No return or break inside. */
#define THNN_PARALLEL_FOR(i, tasks, work)                                               \
  THNN_PRAGMA(omp parallel for schedule(static) num_threads(thnn_threads(tasks, work))) \
  for (int64_t i = 0; i < (tasks); i++)

/* Scratch memory of the calling thread, 64-byte aligned, at most THNN_SCRATCH_LIMIT bytes, uninitialised.
   Kept for the thread's next call and freed with the thread: one piece at a time per thread, so a kernel
   asks once for all that it needs. Asking for more than the limit is a bug of the kernel and aborts, as does
   a machine that has not even this much memory left. */
#define THNN_SCRATCH_LIMIT ((size_t)2 << 20)
void *thnn_scratch(size_t bytes);

#endif
