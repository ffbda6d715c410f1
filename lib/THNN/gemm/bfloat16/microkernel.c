/* The only file that is compiled with -mavx512bf16. An element of a and of b is a pair of bfloat16 in the bits of a float32,
   and the sum of the two products is added to the accumulator by one instruction, VDPBF16PS. */

#include "runtime/kernel.h"

static ALWAYS_INLINE vreal addPairs(vreal sum, real x, vreal w)
{
  return (vreal)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_ps(x), (__m512bh)w);
}

#define MULTIPLY_ADD(acc, x, w) addPairs(acc, x, w)
#include "gemm/microtile.h"

Microkernel THNN_(bfloat16Microkernel)(int R, int Q, int V, bool prefetches)
{
  return microtileOf(R, Q, V, prefetches);
}
