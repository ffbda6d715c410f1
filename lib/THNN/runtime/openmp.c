#include "runtime/openmp.h"

/* The calls that a compiler makes of a parallel region. On Linux every region runs on the threads of libgomp, which
   torch uses: a second runtime in the process would have threads that torch.set_num_threads does not reach. A region of
   one thread does not enter libgomp, which would make a team even for one thread, in the time of a small kernel.

   On macOS torch uses libomp, and clang calls libomp, so that nothing is defined here. */

#ifdef __linux__

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#define HIDDEN __attribute__((visibility("hidden")))

typedef void (*RegionBody)(void *data);

/* Inside another region the body would share its iterations with the threads of that region. */
static bool isSerial(unsigned threads) { return threads == 1 && !omp_in_parallel(); }

#ifdef THNN_PTHREAD_REGIONS

/* For ThreadSanitizer, which sees how threads of pthreads wait for one another, but not those of libgomp, which is not
   instrumented: the end of a region would be unknown to it. Each region of several threads creates them. */
#include <pthread.h>

typedef struct Member {
  RegionBody body;
  void *data;
  int number, count;
} Member;

static _Thread_local Member own = {.count = 1};

HIDDEN int omp_get_thread_num(void) { return own.number; }
HIDDEN int omp_get_num_threads(void) { return own.count; }
HIDDEN int omp_in_parallel(void) { return own.body != NULL; }

static void *runMember(void *member)
{
  const Member outer = own;
  own = *(Member *)member;
  own.body(own.data);
  own = outer;
  return NULL;
}

HIDDEN void __wrap_GOMP_parallel(RegionBody body, void *data, unsigned threads, unsigned flags)
{
  (void)flags;
  if (isSerial(threads)) {
    body(data);
    return;
  }
  const int count = omp_in_parallel() ? 1 : threads > 0 ? (int)threads : omp_get_max_threads();
  Member members[count];
  pthread_t created[count];
  for (int i = 0; i < count; i++) members[i] = (Member){body, data, i, count};
  for (int i = 1; i < count; i++)
    if (pthread_create(&created[i], NULL, runMember, &members[i]) != 0) abort();
  runMember(&members[0]);
  for (int i = 1; i < count; i++) pthread_join(created[i], NULL);
}

#elif !defined(__clang__)

/* gcc calls GOMP_parallel, and the linker replaces the call by one of __wrap_GOMP_parallel (--wrap in
   CMakeLists.txt). */
void __real_GOMP_parallel(RegionBody body, void *data, unsigned threads, unsigned flags);

HIDDEN void __wrap_GOMP_parallel(RegionBody body, void *data, unsigned threads, unsigned flags)
{
  if (isSerial(threads)) body(data);
  else __real_GOMP_parallel(body, data, threads, flags);
}

#else

/* clang calls functions of libomp: __kmpc_push_num_threads and __kmpc_fork_call for a region, whose body is a function
   with one argument per variable of the region, and in the body __kmpc_for_static_init_8 for a loop. LLVM's OpenMP
   runtime documents them (kmp_csupport). The first argument of each is the place in the source. */
void GOMP_parallel(RegionBody body, void *data, unsigned threads, unsigned flags);

#define MOST_VARIABLES 24
#define VARIABLES(X)                                                                                           \
  X(0), X(1), X(2), X(3), X(4), X(5), X(6), X(7), X(8), X(9), X(10), X(11), X(12), X(13), X(14), X(15), X(16), \
      X(17), X(18), X(19), X(20), X(21), X(22), X(23)
#define TYPE(i) void *
#define VALUE(i) region->variable[i]

/* In the calling conventions of x86-64 and aarch64 a function may be called with more arguments than it has. */
typedef void (*Microtask)(int32_t *thread, int32_t *threadOfTeam, VARIABLES(TYPE));

typedef struct Region {
  Microtask microtask;
  void *variable[MOST_VARIABLES];
} Region;

static void runMicrotask(void *data)
{
  const Region *region = data;
  int32_t thread = omp_get_thread_num();
  region->microtask(&thread, &thread, VARIABLES(VALUE));
}

/* num_threads of the next region of this thread; 0: the number that torch has set. */
static _Thread_local unsigned nextThreads;

HIDDEN int32_t __kmpc_global_thread_num(const void *place)
{
  (void)place;
  return omp_get_thread_num();
}

HIDDEN void __kmpc_push_num_threads(const void *place, int32_t thread, int32_t threads)
{
  (void)place, (void)thread;
  nextThreads = (unsigned)threads;
}

HIDDEN void __kmpc_fork_call(const void *place, int32_t variables, Microtask microtask, ...)
{
  (void)place;
  Region region = {.microtask = microtask};
  if (variables > MOST_VARIABLES) abort();
  __builtin_va_list list;
  __builtin_va_start(list, microtask);
  for (int32_t i = 0; i < variables; i++) region.variable[i] = __builtin_va_arg(list, void *);
  __builtin_va_end(list);
  const unsigned threads = nextThreads;
  nextThreads = 0;
  if (isSerial(threads)) runMicrotask(&region);
  else GOMP_parallel(runMicrotask, &region, threads, 0);
}

/* Reduces lower .. upper of a loop with step 1 to the iterations of this thread: schedule(static), one range per
   thread. */
HIDDEN void __kmpc_for_static_init_8(const void *place, int32_t thread, int32_t schedule, int32_t *isLast,
                                     int64_t *lower, int64_t *upper, int64_t *stride, int64_t step, int64_t chunk)
{
  (void)place, (void)thread, (void)schedule, (void)isLast, (void)stride, (void)step, (void)chunk;
  const int64_t threads = omp_get_num_threads(), number = omp_get_thread_num(), count = *upper - *lower + 1;
  const int64_t share = count / threads, longer = count % threads; /* the first `longer` threads have one more */
  *lower += number * share + (number < longer ? number : longer);
  *upper = *lower + share - (number < longer ? 0 : 1);
}

HIDDEN void __kmpc_for_static_fini(const void *place, int32_t thread) { (void)place, (void)thread; }

#endif
#endif
