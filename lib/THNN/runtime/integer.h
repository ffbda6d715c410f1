#ifndef THNN_RUNTIME_INTEGER_H
#define THNN_RUNTIME_INTEGER_H

#include <stdint.h>

/* Integer arithmetic of loop bounds and blockings. */

/* Macros, so that constant expressions stay constant and operands keep their types. */
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* For a >= 0 and b > 0. */
static inline int64_t ceilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* a / b rounded down, for b > 0. */
static inline int64_t floorDivide(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static inline int64_t gcd(int64_t a, int64_t b)
{
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* a / b and a % b for divisors that mostly are 1, such as strides. */
static inline int64_t quotient(int64_t a, int64_t b) { return b == 1 ? a : a / b; }
static inline int64_t modulo(int64_t a, int64_t b) { return b == 1 ? 0 : a % b; }

/* Number of elements of a four-dimensional array. */
static inline int64_t elementCount(const int64_t *size) { return size[0] * size[1] * size[2] * size[3]; }

/* Increments a multi-dimensional index, the last axis fastest. */
static inline void nextIndex(int64_t *index, const int64_t *size, int axes)
{
  for (int d = axes - 1; d >= 0; d--) {
    if (++index[d] < size[d]) return;
    index[d] = 0;
  }
}

#endif
