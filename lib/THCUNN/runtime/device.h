#ifndef THCUNN_RUNTIME_DEVICE_H
#define THCUNN_RUNTIME_DEVICE_H

/* The device language of all .cu files. nvcc compiles them for a GPU; with THCUNN_EMULATE, a C++ compiler compiles them
   for the CPU, where emulation/cuda.h supplies CUDA's names. Two words replace CUDA's syntax:

     THCUNN_SHARED(float, tile, [32][33]);                           a shared array, not initialized
     THCUNN_LAUNCH(kernel, blocks, threads, stream)(arguments);      a kernel with commas in its template arguments is
                                                                     put in parentheses */

#include <stdbool.h>
#include <stdint.h>

#ifdef THCUNN_EMULATE
#include "emulation/cuda.h"
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define THCUNN_SHARED(type, name, dims) __shared__ type name dims
#define THCUNN_LAUNCH(kernel, blocks, threads, stream) kernel<<<blocks, threads, 0, stream>>>
#endif

namespace thcunn
{

const unsigned ALL_LANES = 0xffffffffu;
const int WARP = 32;

/* The type of the arithmetic on elements of type T: float for half and bfloat16. */
template <class T> struct Arithmetic {
  typedef float type;
};
template <> struct Arithmetic<double> {
  typedef double type;
};

/* Elements in memory to numbers, and back with one rounding. */
__device__ inline float load(const float *p) { return *p; }
__device__ inline double load(const double *p) { return *p; }
__device__ inline float load(const __half *p) { return __half2float(*p); }
__device__ inline float load(const __nv_bfloat16 *p) { return __bfloat162float(*p); }
__device__ inline void store(float *p, float value) { *p = value; }
__device__ inline void store(double *p, double value) { *p = value; }
__device__ inline void store(__half *p, float value) { *p = __float2half_rn(value); }
__device__ inline void store(__nv_bfloat16 *p, float value) { *p = __float2bfloat16_rn(value); }

/* Elements that one 128-bit instruction moves. */
template <class T> struct alignas(16) Pack {
  static const int size = 16 / sizeof(T);
  T element[size];
};

} // namespace thcunn

#endif
