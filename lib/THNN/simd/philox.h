#ifndef THNN_SIMD_PHILOX_H
#define THNN_SIMD_PHILOX_H

/* Random numbers as a function of a seed and a counter: Philox4x32-10 (Salmon, Moraes, Dror and Shaw 2011). Number i of
   a seed is the same in any order of computation, so it depends neither on threads nor on strides. */

#include "runtime/kernel.h"
#include "simd/vector_math.h"

/* A group is the random numbers of TH_PHILOX_LANES counters, four words each; on a CPU, word w of all these counters
   fills an AVX-512 vector. Word w of lane l is number w * TH_PHILOX_LANES + l of the group. */
#define TH_RANDOM_GROUP 64
#define TH_PHILOX_LANES (TH_RANDOM_GROUP / 4)

/* u[w * stride] = word w of a counter, 0 <= w < 4, as a multiple of 2^-24 in [0, 1). */
THNN_ELEMENT static inline void th_uniformWords(int64_t seed, uint64_t counter, int stride, real *u)
{
  uint32_t x0 = (uint32_t)counter, x1 = (uint32_t)(counter >> 32), x2 = 0, x3 = 0;
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  THNN_PRAGMA(GCC unroll 10)
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
  u[stride] = (real)(int32_t)(x1 >> 8) * (real)0x1p-24;
  u[2 * stride] = (real)(int32_t)(x2 >> 8) * (real)0x1p-24;
  u[3 * stride] = (real)(int32_t)(x3 >> 8) * (real)0x1p-24;
}

/* u[i] = number i of a group of this seed. */
static inline void th_uniform(int64_t seed, int64_t group, real *u)
{
  THNN_PRAGMA(omp simd)
  for (int lane = 0; lane < TH_PHILOX_LANES; lane++)
    th_uniformWords(seed, (uint64_t)group * TH_PHILOX_LANES + (uint64_t)lane, TH_PHILOX_LANES, u + lane);
}

#endif
