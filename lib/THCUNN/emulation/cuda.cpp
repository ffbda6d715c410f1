#include "emulation/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <mutex>
#include <utility>
#include <vector>

#include "emulation/observer.h"

/* With THCUNN_EMULATION_RACES, kernels are compiled with -fsanitize=thread and this file without it. ThreadSanitizer
   learns of fibers and barriers only from these functions; a switch between fibers orders nothing. In place of
   ThreadSanitizer, the process may have a library that observes the kernels (emulation/observer.h). */
static const bool OBSERVED = trafficBeginLaunch != nullptr;
#ifdef THCUNN_EMULATION_RACES
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *address);
void __tsan_release(void *address);
}
static const bool RACES = !OBSERVED;
static void acquire(void *token) { __tsan_acquire(token); }
static void release(void *token) { __tsan_release(token); }
static void *currentTsanFiber() { return __tsan_get_current_fiber(); }
static void *newTsanFiber() { return __tsan_create_fiber(0); }
static void destroyTsanFiber(void *fiber) { __tsan_destroy_fiber(fiber); }
static void switchTsanFiber(void *fiber) { __tsan_switch_to_fiber(fiber, 1 /* without synchronization */); }
#else
static const bool RACES = false;
static void acquire(void *) {}
static void release(void *) {}
static void *currentTsanFiber() { return nullptr; }
static void *newTsanFiber() { return nullptr; }
static void destroyTsanFiber(void *) {}
static void switchTsanFiber(void *) {}
#endif

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned) { return *memory = calloc(1, size), cudaSuccess; }
cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t)
{
  if (OBSERVED) trafficFill(memory, size);
  return memset(memory, value, size), cudaSuccess;
}

namespace emulation
{

int lane;

/* --- contexts: a stack with the registers that a function call preserves
   ------------------------------------------- */

static const size_t STACK = 256 << 10;

#if defined __x86_64__
/* Saves the context of the caller in *save, and continues the context at `to`. */
extern "C" void emulation_switch(void **save, void *to);
asm(R"(
.text
.globl emulation_switch
.hidden emulation_switch
emulation_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
)");
static void *newContext(char *stack, size_t size, void (*function)())
{
  void **top = (void **)(stack + size);
  *--top = nullptr;
  *--top = (void *)function; /* the address to which emulation_switch returns */
  for (int i = 0; i < 6; i++) *--top = nullptr;
  return top;
}
#else /* Other CPUs: five times slower, since each switch saves the signal mask by a system call. */
#include <ucontext.h>
static void emulation_switch(void **save, void *to)
{
  if (*save == nullptr) *save = new ucontext_t;
  swapcontext((ucontext_t *)*save, (ucontext_t *)to);
}
static void *newContext(char *stack, size_t size, void (*function)())
{
  ucontext_t *context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = size;
  context->uc_link = nullptr;
  makecontext(context, function, 0);
  return context;
}
#endif

/* --- the launch
   ------------------------------------------------------------------------------------------------------ */

struct Fiber {
  void *context; /* valid while the fiber does not run */
  char *stack;
};

enum ThreadState { NOT_STARTED, READY, AT_BARRIER, AT_WARP_BARRIER, ENDED };

struct Thread {
  uint3 index;
  ThreadState state;
  Fiber *fiber;
  unsigned mask; /* lanes of the warp barrier at which the thread waits */
  int barrier;   /* the line of the __syncthreads at which the thread waits; g++ may copy the call */
  void *tsanFiber;
};

/* Shuffles use two slots in turn: a lane may reach the next shuffle before another lane has read the values of this
   one. */
struct Warp {
  unsigned waiting, generation;
  alignas(16) char slot[2][32][16];
  bool vote[2][32];
};

struct SharedArray {
  const void *site;
  void *data;
  size_t size;
};

static const int MAX_THREADS = 1024, MAX_ARRAYS = 32;
static const size_t MAX_SHARED_BYTES = 48 << 10;

static std::mutex launching; /* held by the one launch that runs */
static std::vector<Thread> threads;
static std::vector<Warp> warps;
static std::vector<int> order;
static int position; /* place of the running thread in `order` */
static Thread *current;
static Fiber fibers[MAX_THREADS], *idle[MAX_THREADS];
static int fiberCount, idleCount;
static void *scheduler, *schedulerTsanFiber;
static SharedArray arrays[MAX_ARRAYS];
static int arrayCount;
static Body body;
static void *arguments;
static int threadCount, arrivedCount, endedCount;
static unsigned generation; /* counts the barriers of the block */
static char launchToken, endToken;
static char blockTokens[2 + 2 * MAX_THREADS / 32],
    *tokens = blockTokens; /* for the barriers of the block and of its warps */
static size_t reservedBytes;

[[noreturn]] static void fail(const char *message)
{
  fprintf(stderr, "CUDA emulation: block (%u, %u, %u), thread (%u, %u, %u): %s\n", blockIdx.x, blockIdx.y,
          blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, message);
  abort();
}

static void makeCurrent(Thread *thread)
{
  current = thread;
  threadIdx = thread->index;
  lane = (int)(thread - threads.data()) % 32;
  switchTsanFiber(thread->tsanFiber);
  if (OBSERVED) trafficSetThread((int)(thread - threads.data()));
}

static void returnToScheduler()
{
  Fiber *fiber = current->fiber;
  switchTsanFiber(schedulerTsanFiber);
  emulation_switch(&fiber->context, scheduler);
}

/* The function of each fiber. A thread that ends without waiting leaves its fiber to the next thread. */
static void runThreads()
{
  for (;;) {
    acquire(&launchToken);
    body(arguments);
    release(&endToken);
    current->state = ENDED;
    endedCount++;
    Fiber *fiber = current->fiber;
    if (!RACES && position + 1 < threadCount &&
        threads[(size_t)order[(size_t)position + 1]].state == NOT_STARTED) {
      makeCurrent(&threads[(size_t)order[(size_t)++position]]);
      current->fiber = fiber;
      continue;
    }
    idle[idleCount++] = fiber;
    returnToScheduler();
  }
}

static Fiber *takeFiber()
{
  Fiber *fiber = idleCount > 0 ? idle[--idleCount] : &fibers[fiberCount++];
  if (fiber->stack && !RACES) return fiber;
  if (fiber->stack) munmap(fiber->stack, STACK); /* ThreadSanitizer forgets accesses to unmapped memory */
  void *stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stack == MAP_FAILED) fail("no memory for a stack");
  fiber->stack = (char *)stack;
  /* Stacks begin at different offsets in their pages, so that they do not share the same lines of the cache. */
  fiber->context = newContext(fiber->stack, (size_t)(STACK - 64 - (fiber - fibers) % 32 * 448), runThreads);
  return fiber;
}

/* Memory that no other block of the launch has used, for ThreadSanitizer. */
static void *reserve(size_t size)
{
  static char memory[64 << 20];
  size = (size + 15) / 16 * 16;
  if (reservedBytes + size > sizeof memory) fail("the grid is too large for a search for races");
  void *place = memory + reservedBytes;
  reservedBytes += size;
  return place;
}

/* --- the order of threads and blocks
   ------------------------------------------------------------------------------- */

enum Order { FORWARD, REVERSE, RANDOM };
static Order orderKind;
static uint64_t randomState;

static uint64_t nextRandom()
{
  randomState ^= randomState << 13, randomState ^= randomState >> 7, randomState ^= randomState << 17;
  return randomState;
}

static void readOrder()
{
  const char *value = getenv("THCUNN_EMULATION_ORDER");
  orderKind = !value || !strcmp(value, "forward") ? FORWARD : !strcmp(value, "reverse") ? REVERSE : RANDOM;
  if (orderKind == RANDOM && randomState == 0) randomState = strtoull(value, nullptr, 10) * 0x9e3779b97f4a7c15 | 1;
}

static void orderThreads(bool isFirst)
{
  for (int i = 0; isFirst && i < threadCount; i++)
    order[(size_t)i] = orderKind == REVERSE ? threadCount - 1 - i : i;
  if (orderKind != RANDOM) return;
  for (int i = threadCount - 1; i > 0; i--) std::swap(order[(size_t)i], order[nextRandom() % (uint64_t)(i + 1)]);
}

/* The distance from a block to the next one; its multiples visit each of `count` blocks once. */
static uint64_t blockStep(uint64_t count)
{
  if (orderKind == FORWARD || count < 3) return 1;
  if (orderKind == REVERSE) return count - 1;
  for (;;) {
    const uint64_t step = nextRandom() % (count - 1) + 1;
    uint64_t a = count, b = step;
    while (b) std::swap(a %= b, b);
    if (a == 1) return step;
  }
}

/* --- blocks
   ------------------------------------------------------------------------------------------------------------ */

static Warp &warpOf(const Thread *thread) { return warps[(size_t)(thread - threads.data()) / 32]; }

static void releaseWarp(Thread &thread)
{
  const size_t first = (size_t)(&thread - threads.data()) / 32 * 32;
  const unsigned mask = thread.mask;
  for (size_t i = 0; i < 32; i++) {
    if (!(mask >> i & 1)) continue;
    Thread &other = threads[first + i];
    if (other.state != AT_WARP_BARRIER || other.mask != mask) fail("lanes of one warp wait with different masks");
    other.state = READY;
  }
  warps[first / 32].waiting &= ~mask;
  warps[first / 32].generation++;
}

static void releaseBlock()
{
  if (endedCount > 0) fail("threads have ended that others wait for in __syncthreads");
  for (Thread &thread : threads) {
    if (thread.barrier != threads[0].barrier) fail("threads wait in different calls of __syncthreads");
    thread.state = READY;
  }
  arrivedCount = 0;
  generation++;
}

static void runBlock()
{
  arrivedCount = endedCount = 0;
  generation = 0;
  for (bool isFirst = true; endedCount < threadCount; isFirst = false) {
    if (arrivedCount > 0 && arrivedCount + endedCount == threadCount) releaseBlock();
    orderThreads(isFirst);
    bool progress = false;
    for (position = 0; position < threadCount; position++) {
      Thread &thread = threads[(size_t)order[(size_t)position]];
      const bool isComplete = (warpOf(&thread).waiting & thread.mask) == thread.mask;
      if (thread.state == AT_WARP_BARRIER && isComplete) releaseWarp(thread);
      if (thread.state > READY) continue;
      progress = true;
      if (thread.state == NOT_STARTED) thread.fiber = takeFiber();
      makeCurrent(&thread);
      emulation_switch(&scheduler, thread.fiber->context);
    }
    if (!progress && endedCount < threadCount && arrivedCount + endedCount < threadCount)
      fail("deadlock: lanes or threads that others wait for never arrive");
  }
}

void run(dim3 blocks, dim3 shape, Body body_, void *arguments_)
{
  const std::lock_guard<std::mutex> lock(launching);
  const uint64_t size = (uint64_t)shape.x * shape.y * shape.z;
  if (size == 0 || size > MAX_THREADS || blocks.x == 0 || blocks.x > 0x7fffffff || blocks.y == 0 ||
      blocks.y > 65535 || blocks.z == 0 || blocks.z > 65535) {
    fprintf(stderr, "CUDA emulation: no GPU launches (%u, %u, %u) blocks of %llu threads\n", blocks.x, blocks.y,
            blocks.z, (unsigned long long)size);
    abort();
  }
  readOrder();
  threadCount = (int)size;
  body = body_;
  arguments = arguments_;
  blockDim = shape;
  gridDim = blocks;
  threads.assign(size, Thread());
  warps.assign((size + 31) / 32, Warp());
  order.resize(size);
  schedulerTsanFiber = currentTsanFiber();
  release(&launchToken);
  if (OBSERVED) trafficBeginLaunch();
  const uint64_t count = (uint64_t)blocks.x * blocks.y * blocks.z, step = blockStep(count);
  for (uint64_t n = 0, b = orderKind == REVERSE ? count - 1 : 0; n < count; n++, b = (b + step) % count) {
    blockIdx = {(unsigned)(b % blocks.x), (unsigned)(b / blocks.x % blocks.y),
                (unsigned)(b / blocks.x / blocks.y)};
    for (unsigned i = 0; i < size; i++) {
      threads[i].index = {i % shape.x, i / shape.x % shape.y, i / shape.x / shape.y};
      threads[i].state = NOT_STARTED;
      if (threads[i].tsanFiber) destroyTsanFiber(threads[i].tsanFiber);
      threads[i].tsanFiber = newTsanFiber();
    }
    if (RACES) tokens = (char *)reserve(2 + 2 * warps.size());
    runBlock();
    if (OBSERVED) trafficEndBlock();
    for (int i = 0; !RACES && i < arrayCount; i++) free(arrays[i].data);
    arrayCount = 0;
  }
  for (Thread &thread : threads)
    if (thread.tsanFiber) destroyTsanFiber(thread.tsanFiber);
  acquire(&endToken);
  if (OBSERVED) trafficEndLaunch();
  reservedBytes = 0;
}

/* --- functions that kernels call
   ------------------------------------------------------------------------------------- */

void syncThreads(int line)
{
  char *token = tokens + (generation & 1);
  release(token);
  current->state = AT_BARRIER;
  current->barrier = line;
  arrivedCount++;
  returnToScheduler();
  acquire(token);
}

static void waitForWarp(unsigned mask)
{
  if (!(mask >> lane & 1)) fail("a lane waits with a mask that it is not in");
  if ((int)(current - threads.data()) / 32 * 32 + 31 - __builtin_clz(mask) >= threadCount)
    fail("a mask has lanes that the block lacks");
  warpOf(current).waiting |= 1u << lane;
  current->mask = mask;
  current->state = AT_WARP_BARRIER;
  returnToScheduler();
}

/* As on the device, only syncWarp orders accesses to memory; shuffles and ballots exchange values. */
void syncWarp(unsigned mask)
{
  Warp &warp = warpOf(current);
  char *token = tokens + 2 + 2 * (&warp - warps.data()) + (warp.generation & 1);
  release(token);
  waitForWarp(mask);
  acquire(token);
}

const void *exchange(unsigned mask, const void *value, size_t size, int from)
{
  Warp &warp = warpOf(current);
  char (*slot)[16] = warp.slot[warp.generation & 1];
  if (size > sizeof *slot) fail("a shuffle of more than 16 bytes");
  for (size_t i = 0; i < size; i++) slot[lane][i] = ((const char *)value)[i];
  waitForWarp(mask);
  if (!(mask >> from & 1)) fail("a shuffle from a lane that is not in the mask");
  return slot[from];
}

unsigned ballot(unsigned mask, bool vote)
{
  Warp &warp = warpOf(current);
  bool *votes = warp.vote[warp.generation & 1];
  votes[lane] = vote;
  waitForWarp(mask);
  unsigned result = 0;
  for (int i = 0; i < 32; i++) result |= (unsigned)(mask >> i & 1 && votes[i]) << i;
  return result;
}

void observeScratch(const void *memory, size_t size)
{
  if (OBSERVED) trafficAddScratch(memory, size);
}

void *sharedArray(const void *site, size_t size)
{
  size_t sum = size;
  for (int i = 0; i < arrayCount; i++) {
    if (arrays[i].site == site) return arrays[i].data;
    sum += arrays[i].size;
  }
  if (arrayCount == MAX_ARRAYS) fail("more than 32 shared arrays");
  if (sum > MAX_SHARED_BYTES) fail("more than 48 KiB of shared memory");
  void *data = RACES ? reserve(size) : malloc(size); /* exactly this size, for AddressSanitizer */
  if (!RACES) memset(data, 0xff, size);              /* NaN */
  arrays[arrayCount++] = {site, data, size};
  return data;
}

} // namespace emulation
