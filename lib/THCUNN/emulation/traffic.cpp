/* Counts the memory traffic of kernels: a library to preload (LD_PRELOAD) in place of ThreadSanitizer's runtime into a
   process with the emulation compiled with -fsanitize=thread. tools/cuda_bytes.py names the tensors of a call, which
   `trafficBegin` takes, and reads the counts that `trafficEnd` returns.

   It counts sectors, the units of 32 bytes that a GPU moves, of tensors and of scratch memory:
   - what a launch moves between memory and a cache that holds all of its data: each sector once if the launch reads it,
     and once if the launch writes it;
   - what warps request: the sectors of each instruction of a warp. The emulation runs the threads of a warp one after
     the other; the n-th execution of an instruction in one lane is taken to be simultaneous with the n-th one in
     another;
   - what a call must move: the sectors of tensors that it reads before it writes them, and those that it writes. */

#include "emulation/observer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace
{

const uintptr_t SECTOR = 32;
const int MAX_THREADS = 1024;

/* Flags of a sector: the first two are for the current launch, the others for the call. */
enum { IS_READ = 1, IS_WRITTEN = 2, MUST_BE_READ = 4, MUST_BE_WRITTEN = 8 };

/* Bytes of a tensor or of scratch memory. Other data may share its first and its last sector. */
struct Range {
  uintptr_t begin, end;
  size_t first; /* the index of the first sector in `flags` */
  bool isTensor;
};

std::vector<Range> ranges;
std::vector<uint8_t> flags;
std::vector<size_t> touched;    /* sectors that the launch has accessed */
std::vector<uint64_t> requests; /* of the block; each packs sector, execution, instruction and warp */

/* Instructions of the launch by their addresses, and how often each thread of the block has executed each of them. */
std::unordered_map<const void *, size_t> instructions;
std::vector<std::vector<uint32_t>> executions;

int thread = -1; /* the running thread of the block; -1: none */
bool isCounting;
struct Counts {
  int64_t mustRead, mustWrite, read, written, requested, launches;
} counts;

void add(uintptr_t begin, uintptr_t end, bool isTensor)
{
  if (begin == end) return;
  ranges.push_back({begin, end, flags.size(), isTensor});
  flags.resize(flags.size() + ((end - 1) / SECTOR - begin / SECTOR + 1));
}

const Range *rangeOf(uintptr_t address)
{
  /* The newest range first: scratch memory may lie where released scratch memory lay. */
  for (size_t i = ranges.size(); i-- > 0;)
    if (address >= ranges[i].begin && address < ranges[i].end) return &ranges[i];
  return nullptr;
}

void mark(const Range &range, size_t index, int how)
{
  uint8_t &flag = flags[index];
  if (!(flag & (IS_READ | IS_WRITTEN))) touched.push_back(index);
  if (range.isTensor && how & IS_READ && !(flag & (MUST_BE_READ | MUST_BE_WRITTEN))) {
    flag |= MUST_BE_READ;
    counts.mustRead++;
  }
  if (range.isTensor && how & IS_WRITTEN && !(flag & MUST_BE_WRITTEN)) {
    flag |= MUST_BE_WRITTEN;
    counts.mustWrite++;
  }
  flag |= (uint8_t)how;
}

void access(const void *memory, size_t size, int how, const void *instruction)
{
  if (!isCounting || thread < 0) return;
  const Range *range = rangeOf((uintptr_t)memory);
  if (range == nullptr) return;
  const size_t number = instructions.emplace(instruction, instructions.size()).first->second;
  if (number == executions.size()) executions.push_back(std::vector<uint32_t>(MAX_THREADS));
  const uint64_t execution = executions[number][(size_t)thread]++;
  const uintptr_t last = ((uintptr_t)memory + size - 1) / SECTOR;
  for (uintptr_t sector = (uintptr_t)memory / SECTOR; sector <= last; sector++) {
    const uint64_t index = range->first + (sector - range->begin / SECTOR);
    mark(*range, index, how);
    if (index >> 26 || execution >> 22 || number >> 11) {
      fprintf(stderr, "traffic.cpp: a call with too many sectors, executions or instructions to count\n");
      abort();
    }
    requests.push_back((execution << 42 | (uint64_t)number << 31 | (uint64_t)thread / 32 << 26 | index));
  }
}

} // namespace

extern "C" {
#pragma GCC visibility push(default)

/* Begins to count a call with `count` tensors of the given addresses and sizes, which do not overlap. */
void trafficBegin(int count, const void *const *memory, const size_t *size)
{
  ranges.clear(), flags.clear();
  for (int i = 0; i < count; i++) add((uintptr_t)memory[i], (uintptr_t)memory[i] + size[i], true);
  counts = Counts();
  isCounting = true;
}

/* Ends the count. Returns the sectors that the call must read and write, sectors read and written, sectors requested,
   and launches. */
void trafficEnd(int64_t result[6])
{
  isCounting = false;
  const int64_t values[] = {counts.mustRead, counts.mustWrite, counts.read,
                            counts.written,  counts.requested, counts.launches};
  std::copy(values, values + 6, result);
}

void trafficAddScratch(const void *memory, size_t size)
{
  if (isCounting && memory != nullptr) add((uintptr_t)memory, (uintptr_t)memory + size, false);
}

void trafficSetThread(int index) { thread = index; }

void trafficBeginLaunch() { counts.launches += isCounting; }

void trafficEndBlock()
{
  std::sort(requests.begin(), requests.end());
  counts.requested += std::unique(requests.begin(), requests.end()) - requests.begin();
  requests.clear();
  for (std::vector<uint32_t> &counters : executions) std::fill(counters.begin(), counters.end(), 0);
}

void trafficEndLaunch()
{
  thread = -1;
  for (const size_t index : touched) {
    counts.read += (flags[index] & IS_READ) != 0;
    counts.written += (flags[index] & IS_WRITTEN) != 0;
    flags[index] &= (uint8_t)~(IS_READ | IS_WRITTEN);
  }
  touched.clear();
  instructions.clear(), executions.clear();
}

void trafficFill(void *memory, size_t size)
{
  trafficBeginLaunch();
  trafficSetThread(0);
  for (size_t i = 0; i < size; i += SECTOR)
    access((char *)memory + i, std::min(SECTOR, size - i), IS_WRITTEN, (const void *)trafficFill);
  trafficEndBlock();
  trafficEndLaunch();
}

/* --- ThreadSanitizer's interface to compiled code
   -------------------------------------------------------------------- */

#define HERE __builtin_return_address(0)
#define ACCESS(size)                                                                \
  void __tsan_read##size(void *p) { access(p, size, IS_READ, HERE); }               \
  void __tsan_write##size(void *p) { access(p, size, IS_WRITTEN, HERE); }           \
  void __tsan_unaligned_read##size(void *p) { access(p, size, IS_READ, HERE); }     \
  void __tsan_unaligned_write##size(void *p) { access(p, size, IS_WRITTEN, HERE); } \
  void __tsan_volatile_read##size(void *p) { access(p, size, IS_READ, HERE); }      \
  void __tsan_volatile_write##size(void *p) { access(p, size, IS_WRITTEN, HERE); }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *p, size_t size) { access(p, size, IS_READ, HERE); }
void __tsan_write_range(void *p, size_t size) { access(p, size, IS_WRITTEN, HERE); }

/* The atomics of emulation/cuda.h, on integers. */
#define ATOMIC(bits, T)                                                                                \
  T __tsan_atomic##bits##_load(const volatile T *p, int)                                               \
  {                                                                                                    \
    access((const void *)p, sizeof *p, IS_READ, HERE);                                                 \
    return *p;                                                                                         \
  }                                                                                                    \
  void __tsan_atomic##bits##_store(volatile T *p, T value, int)                                        \
  {                                                                                                    \
    access((const void *)p, sizeof *p, IS_WRITTEN, HERE);                                              \
    *p = value;                                                                                        \
  }                                                                                                    \
  T __tsan_atomic##bits##_fetch_add(volatile T *p, T value, int)                                       \
  {                                                                                                    \
    access((const void *)p, sizeof *p, IS_READ | IS_WRITTEN, HERE);                                    \
    return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                             \
  }                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T *p, T *expected, T value, int, int)       \
  {                                                                                                    \
    access((const void *)p, sizeof *p, IS_READ | IS_WRITTEN, HERE);                                    \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }                                                                                                    \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *expected, T value, int, int)     \
  {                                                                                                    \
    access((const void *)p, sizeof *p, IS_READ | IS_WRITTEN, HERE);                                    \
    return __atomic_compare_exchange_n(p, expected, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  }
ATOMIC(8, uint8_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)
void __tsan_atomic_thread_fence(int) {}

/* Functions without traffic. */
void __tsan_init() {}
void __tsan_func_entry(void *) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void **, void *) {}
void *__tsan_get_current_fiber() { return nullptr; }
void *__tsan_create_fiber(unsigned) { return nullptr; }
void __tsan_destroy_fiber(void *) {}
void __tsan_switch_to_fiber(void *, unsigned) {}
void __tsan_acquire(void *) {}
void __tsan_release(void *) {}

#pragma GCC visibility pop
}
