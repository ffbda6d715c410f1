/* Kernels with one defect each, and correct ones beside them: the emulation has to find each defect and no other. The
   argument of the program is the name of a kernel. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/loops.h"

using namespace thcunn;

/* --- sums by blocks ---------------------------------------------------------------------------------------------- */

__global__ void sumByAtomics(int *sum) { atomicAdd(sum, 1); }
__global__ void sumWithoutAtomics(int *sum)
{
  if (threadIdx.x == 0) *sum += 1;
}

/* --- barriers ------------------------------------------------------------------------------------------------------ */

template <bool HAS_BARRIER> __global__ void reverseInBlock(float *y)
{
  THCUNN_SHARED(float, values, [64]);
  values[threadIdx.x] = (float)threadIdx.x;
  if (HAS_BARRIER) __syncthreads();
  y[threadIdx.x] = values[63 - threadIdx.x];
}
template <bool HAS_BARRIER> __global__ void reverseInWarp(float *y)
{
  THCUNN_SHARED(float, values, [32]);
  values[threadIdx.x] = (float)threadIdx.x;
  if (HAS_BARRIER) __syncwarp();
  y[threadIdx.x] = values[31 - threadIdx.x];
}
/* A shuffle exchanges values, and orders no accesses to memory. */
__global__ void shuffleForBarrier(float *y)
{
  THCUNN_SHARED(float, values, [32]);
  values[threadIdx.x] = (float)threadIdx.x;
  const int other = __shfl_xor_sync(ALL_LANES, (int)threadIdx.x, 31);
  y[threadIdx.x] = values[other];
}
__global__ void divergentBarrier(float *y)
{
  if (threadIdx.x < 16) __syncthreads();
  y[threadIdx.x] = 1;
}
__global__ void absentLane(float *y)
{
  if (threadIdx.x == 5) return;
  y[threadIdx.x] = __shfl_xor_sync(ALL_LANES, 1.0f, 1);
}

/* --- shared memory --------------------------------------------------------------------------------------------------- */

template <int OFFSET> __global__ void writeAt(float *y)
{
  THCUNN_SHARED(float, values, [32]);
  values[threadIdx.x + OFFSET] = 1;
  __syncthreads();
  y[threadIdx.x] = values[threadIdx.x];
}
__global__ void readUnset(float *y)
{
  THCUNN_SHARED(float, values, [32]);
  y[threadIdx.x] = values[threadIdx.x];
}

/* --- a loop of the library: its tree of partial sums, and the same without a barrier ------------------------------------- */

template <bool HAS_BARRIER> __global__ void treeSum(float *y)
{
  THCUNN_SHARED(float, values, [64]);
  values[threadIdx.x] = 1;
  __syncthreads();
  for (unsigned half = 32; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    if (HAS_BARRIER) __syncthreads();
  }
  if (threadIdx.x == 0) y[0] = values[0];
}

int main(int, char **arguments)
{
  const char *name = arguments[1];
  float *y = (float *)calloc(64, sizeof(float));
  int *sum = (int *)calloc(1, sizeof(int));
  auto is = [&](const char *kernel) { return strcmp(name, kernel) == 0; };
  if (is("sumByAtomics")) THCUNN_LAUNCH(sumByAtomics, 16, 32, NULL)(sum);
  else if (is("sumWithoutAtomics")) THCUNN_LAUNCH(sumWithoutAtomics, 16, 32, NULL)(sum);
  else if (is("reverseInBlock")) THCUNN_LAUNCH(reverseInBlock<true>, 1, 64, NULL)(y);
  else if (is("reverseInBlock without barrier")) THCUNN_LAUNCH(reverseInBlock<false>, 1, 64, NULL)(y);
  else if (is("reverseInWarp")) THCUNN_LAUNCH(reverseInWarp<true>, 1, 32, NULL)(y);
  else if (is("reverseInWarp without barrier")) THCUNN_LAUNCH(reverseInWarp<false>, 1, 32, NULL)(y);
  else if (is("shuffleForBarrier")) THCUNN_LAUNCH(shuffleForBarrier, 1, 32, NULL)(y);
  else if (is("divergentBarrier")) THCUNN_LAUNCH(divergentBarrier, 1, 32, NULL)(y);
  else if (is("absentLane")) THCUNN_LAUNCH(absentLane, 1, 32, NULL)(y);
  else if (is("writeInside")) THCUNN_LAUNCH(writeAt<0>, 1, 32, NULL)(y);
  else if (is("writeBehind")) THCUNN_LAUNCH(writeAt<1>, 1, 32, NULL)(y);
  else if (is("readUnset")) THCUNN_LAUNCH(readUnset, 1, 32, NULL)(y);
  else if (is("treeSum")) THCUNN_LAUNCH(treeSum<true>, 1, 64, NULL)(y);
  else if (is("treeSum without barrier")) THCUNN_LAUNCH(treeSum<false>, 1, 64, NULL)(y);
  else if (is("tooManyThreads")) THCUNN_LAUNCH(readUnset, 1, 2048, NULL)(y);
  else if (is("tooManyBlocks")) THCUNN_LAUNCH(readUnset, dim3(1, 65536), 32, NULL)(y);
  else return 3;
  printf("%g %g %d\n", y[0], y[31], *sum);
  return 0;
}
