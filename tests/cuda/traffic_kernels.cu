/* Kernels whose memory traffic is known, for tests/cuda/test_traffic.py: the program runs the one that its argument names,
   and prints the counts of lib/THCUNN/emulation/traffic.cpp. */

#include "runtime/device.h"

#include <stdio.h>
#include <string.h>

using namespace thcunn;

extern "C" {
void trafficBegin(int count, const void *const *memory, const size_t *size);
void trafficEnd(int64_t result[6]);
}

static const int COUNT = 4096, THREADS = 128;

__global__ void copy(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[i];
}

__global__ void copyPacks(const Pack<float> *in, Pack<float> *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < COUNT / 4) out[i] = in[i];
}

__global__ void addReversed(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[i] + in[COUNT - 1 - i];
}

__global__ void accumulate(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] += in[i];
}

__global__ void takeEighth(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < COUNT / 8) out[i] = in[8 * i];
}

__global__ void broadcast(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = in[0];
}

__global__ void narrow(const float *in, __half *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  store(out + i, load(in + i));
}

__global__ void reverseBlocks(const float *in, float *out)
{
  THCUNN_SHARED(float, tile, [THREADS]);
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  tile[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = tile[THREADS - 1 - threadIdx.x];
}

__global__ void countPositive(const float *in, int *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (in[i] >= 0) atomicAdd(out, 1);
}

/* The last four elements of `out` are no part of the tensor, which ends in their sector. */
__global__ void copyBesideOther(const float *in, float *out)
{
  const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < COUNT - 4) out[i] = in[i] * out[COUNT - 1];
}

int main(int count, char **names)
{
  if (count != 2) return 2;
  const char *name = names[1];
  alignas(64) static float in[COUNT], out[COUNT], scratch[COUNT];
  const size_t bytes = COUNT * sizeof(float);
  const void *tensors[] = {in, out};
  const size_t sizes[] = {bytes, strcmp(name, "copyBesideOther") ? bytes : bytes - 4 * sizeof(float)};
  const dim3 blocks(COUNT / THREADS), threads(THREADS);
  trafficBegin(2, tensors, sizes);
#define RUN(kernel, from, to) \
  if (!strcmp(name, #kernel)) THCUNN_LAUNCH(kernel, blocks, threads, NULL)(from, to)
  RUN(copy, in, out);
  RUN(copyPacks, (const Pack<float> *)in, (Pack<float> *)out);
  RUN(addReversed, in, out);
  RUN(accumulate, in, out);
  RUN(takeEighth, in, out);
  RUN(broadcast, in, out);
  RUN(narrow, in, (__half *)out);
  RUN(reverseBlocks, in, out);
  RUN(countPositive, in, (int *)out);
  RUN(copyBesideOther, in, out);
  if (!strcmp(name, "copyTwice"))
    for (int i = 0; i < 2; i++) THCUNN_LAUNCH(copy, blocks, threads, NULL)(in, out);
  if (!strcmp(name, "copyThroughScratch")) {
    emulation::observeScratch(scratch, bytes);
    THCUNN_LAUNCH(copy, blocks, threads, NULL)(in, scratch);
    THCUNN_LAUNCH(copy, blocks, threads, NULL)(scratch, out);
  }
  if (!strcmp(name, "addReversedScratch")) { /* the second half of released memory is allocated again */
    emulation::observeScratch(scratch, bytes);
    emulation::observeScratch(scratch + COUNT / 2, bytes / 2);
    THCUNN_LAUNCH(addReversed, blocks, threads, NULL)(scratch, out);
  }
  if (!strcmp(name, "fill")) cudaMemsetAsync(out, 0, bytes, NULL);
  int64_t counts[6];
  trafficEnd(counts);
  for (const int64_t n : counts) printf("%lld ", (long long)n);
}
