#ifndef THCUNN_RUNTIME_WARP_H
#define THCUNN_RUNTIME_WARP_H

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

} // namespace thcunn

#endif
