#ifndef THCUNN_EMULATION_CUDA_H
#define THCUNN_EMULATION_CUDA_H

/* CUDA's device language and the part of its runtime interface that the library uses, for a C++ compiler on a CPU.

   A launch runs its blocks one after another. The threads of a block are fibers: a thread runs until it ends or waits
   for other threads (a barrier, a shuffle), then the next one runs. THCUNN_EMULATION_ORDER chooses the order of threads
   and blocks: forward (default), reverse, or a number, the seed of random orders; a result that depends on it is a
   race. Shared arrays have their exact size on the heap, so that AddressSanitizer sees accesses beyond them, and start
   as NaN. Barriers that not all threads reach, absent lanes of a warp, and launches that a GPU would reject end the
   process with a message.

   With THCUNN_EMULATION_RACES, each thread is a fiber of ThreadSanitizer, and barriers are the only synchronization
   that it sees, so that it finds races also where the order of this run hides them.

   Not emulated: weakly ordered memory, streams that run concurrently, the approximate functions of the device. */

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "emulation/narrow_types.h"

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)

typedef struct CUstream_st *cudaStream_t;
typedef int cudaError_t;
enum { cudaSuccess = 0, cudaHostAllocMapped = 2 };
static inline cudaError_t cudaGetDevice(int *device) { return *device = 0; }
static inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
enum cudaStreamCaptureMode { cudaStreamCaptureModeRelaxed = 2 };
static inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *) { return cudaSuccess; }
static inline const char *cudaGetErrorString(cudaError_t) { return ""; }
cudaError_t cudaHostAlloc(void **memory, size_t size, unsigned flags);
cudaError_t cudaMemsetAsync(void *memory, int value, size_t size, cudaStream_t stream);

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

/* Indices of the running thread, and the sizes of its launch. */
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;

namespace emulation
{

extern int lane;
typedef void (*Body)(void *arguments);
void run(dim3 blocks, dim3 threads, Body body, void *arguments);
void syncThreads(int line);
void syncWarp(unsigned mask);
/* Leaves the value of this lane, waits for all lanes of the mask, and returns the address of the value of lane
   `from`. */
const void *exchange(unsigned mask, const void *value, size_t size, int from);
unsigned ballot(unsigned mask, bool vote);
/* The shared array of this block for the declaration that the address `site` identifies. */
void *sharedArray(const void *site, size_t size);
/* Tells the library that observes the kernels (emulation/observer.h) of device memory that is not a tensor. */
void observeScratch(const void *memory, size_t size);

/* A kernel with its launch configuration; the call operator takes the kernel's arguments. */
template <class... P> struct Launch {
  void (*kernel)(P...);
  dim3 blocks, threads;

  void operator()(P... arguments) const
  {
    auto call = [&] { kernel(arguments...); };
    run(blocks, threads, [](void *c) { (*static_cast<decltype(call) *>(c))(); }, &call);
  }
};
template <class... P> Launch<P...> launch(void (*kernel)(P...), dim3 blocks, dim3 threads, cudaStream_t)
{
  return {kernel, blocks, threads};
}

} // namespace emulation

#define THCUNN_LAUNCH(kernel, blocks, threads, stream) emulation::launch(kernel, blocks, threads, stream)
#define THCUNN_SHARED(type, name, dims) \
  static const char name##_site = 0;    \
  typedef type name##_array dims;       \
  name##_array &name = *static_cast<name##_array *>(emulation::sharedArray(&name##_site, sizeof(name##_array)))
#define __shared__ static_assert(false, "write THCUNN_SHARED(type, name, [dims])");

#define __syncthreads() emulation::syncThreads(__LINE__)
static inline void __syncwarp(unsigned mask = 0xffffffffu) { emulation::syncWarp(mask); }
static inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
static inline void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

template <class T> T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
  const int first = emulation::lane & -width;
  return *static_cast<const T *>(emulation::exchange(mask, &value, sizeof value, first + (lane & (width - 1))));
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32)
{
  const int lane = emulation::lane, other = lane ^ with;
  const int from = other / width > lane / width ? lane : other;
  return *static_cast<const T *>(emulation::exchange(mask, &value, sizeof value, from));
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned step, int width = 32)
{
  const int lane = emulation::lane, other = lane + (int)step;
  const int from = other / width > lane / width ? lane : other;
  return *static_cast<const T *>(emulation::exchange(mask, &value, sizeof value, from));
}
static inline unsigned __ballot_sync(unsigned mask, int vote) { return emulation::ballot(mask, vote != 0); }
static inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }
static inline int __all_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) == mask; }

template <class T> T atomicCAS(T *memory, T expected, T value)
{
  __atomic_compare_exchange(memory, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
/* Integers only: a floating-point sum by atomics would depend on the order of threads. */
static inline int atomicAdd(int *memory, int value) { return __atomic_fetch_add(memory, value, __ATOMIC_RELAXED); }
static inline int atomicMax(int *memory, int value)
{
  int found = __atomic_load_n(memory, __ATOMIC_RELAXED);
  while (found < value &&
         !__atomic_compare_exchange_n(memory, &found, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
  return found;
}
static inline int __ffs(int bits) { return __builtin_ffs(bits); }
static inline unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((uint64_t)a * b >> 32); }
static inline uint64_t __umul64hi(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline float __fdividef(float a, float b) { return a / b; }
static inline float rsqrtf(float x) { return 1 / sqrtf(x); }
static inline double rsqrt(double x) { return 1 / sqrt(x); }

#endif
