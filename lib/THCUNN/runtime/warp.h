#ifndef THCUNN_RUNTIME_WARP_H
#define THCUNN_RUNTIME_WARP_H

#include <string.h>

#include "runtime/device.h"

namespace thcunn
{

/* The sum of the values of a warp's lanes, in all lanes and always in the same order. All lanes call it. */
template <class N> __device__ N sumOverWarp(N value)
{
#pragma unroll
  for (int distance = WARP / 2; distance > 0; distance /= 2) value += __shfl_xor_sync(ALL_LANES, value, distance);
  return value;
}

/* A value of any type made of 32-bit words, with the shuffle f applied to each word. */
template <class V, class F> __device__ V shuffledWords(const V &value, const F &f)
{
  static_assert(sizeof(V) % sizeof(uint32_t) == 0, "a value consists of 32-bit words");
  const int count = sizeof(V) / sizeof(uint32_t);
  uint32_t word[count];
  memcpy(word, &value, sizeof value);
#pragma unroll
  for (int i = 0; i < count; i++) word[i] = f(word[i]);
  V result;
  memcpy(&result, word, sizeof result);
  return result;
}

/* The value of the lane `step` lanes higher. All lanes call it. */
template <class V> __device__ V shuffledDown(const V &value, int step)
{
  return shuffledWords(value, [=](uint32_t word) { return __shfl_down_sync(ALL_LANES, word, step); });
}

/* The value of the first of `lanes` neighbours, a power of 2. All lanes call it. */
template <class V> __device__ V shuffledFromFirst(const V &value, int lanes)
{
  return shuffledWords(value, [=](uint32_t word) { return __shfl_sync(ALL_LANES, word, 0, lanes); });
}

} // namespace thcunn

#endif
