#ifndef THCUNN_SIMD_PHILOX_H
#define THCUNN_SIMD_PHILOX_H

/* The random numbers of lib/THNN/simd/philox.h: the same numbers for the same seed. */

#include "runtime/kernel.h"

#define TH_RANDOM_GROUP 64
#define TH_PHILOX_LANES (TH_RANDOM_GROUP / 4)

/* The four numbers of a counter: u[w] is number th_uniformIndex(counter, w) of the seed. */
__device__ static inline void th_uniform(int64_t seed, int64_t counter, real (&u)[4])
{
  uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)((uint64_t)counter >> 32), x2 = 0, x3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)((uint64_t)seed >> 32);
#pragma unroll
  for (int round = 0; round < 10; round++) {
    const uint64_t p = (uint64_t)0xD2511F53u * x0, q = (uint64_t)0xCD9E8D57u * x2;
    x0 = (uint32_t)(q >> 32) ^ x1 ^ k0;
    x1 = (uint32_t)q;
    x2 = (uint32_t)(p >> 32) ^ x3 ^ k1;
    x3 = (uint32_t)p;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  u[0] = (real)(int32_t)(x0 >> 8) * (real)0x1p-24;
  u[1] = (real)(int32_t)(x1 >> 8) * (real)0x1p-24;
  u[2] = (real)(int32_t)(x2 >> 8) * (real)0x1p-24;
  u[3] = (real)(int32_t)(x3 >> 8) * (real)0x1p-24;
}

__device__ static inline int64_t th_uniformIndex(int64_t counter, int w)
{
  return counter / TH_PHILOX_LANES * TH_RANDOM_GROUP + counter % TH_PHILOX_LANES + w * TH_PHILOX_LANES;
}

#endif
