#ifndef THNN_CRITERION_HINGE_H
#define THNN_CRITERION_HINGE_H

#include "runtime/integer.h"
#include "runtime/kernel.h"

/* Hinge terms max(0, z)^p of contiguous scores x, z = reach + x, p = 1 or 2. NaN stays NaN. Partial sums of
   HINGE_BLOCK terms are added in double. */

#define HINGE_BLOCK 256

/* `squared` and `add` are constants in every call: otherwise gcc splits the loop by their values and vectorizes only
   one of the versions. */

/* The sum of the terms. */
static ALWAYS_INLINE double hingeSum(const real *x, int64_t n, real reach, bool squared)
{
  double total = 0;
  for (int64_t first = 0; first < n; first += HINGE_BLOCK) {
    const int count = (int)MIN(HINGE_BLOCK, n - first);
    real sum = 0;
    THNN_PRAGMA(omp simd reduction(+ : sum))
    for (int j = 0; j < count; j++) {
      const real z = reach + x[first + j], term = z <= 0 ? 0 : z;
      sum += squared ? term * term : term;
    }
    total += sum;
  }
  return total;
}

/* Sets slope[j] to, or if `add` increases it by, factor times the derivative of term j w.r.t. x[j]. Returns the sum of
   the derivatives, without the factor. */
static ALWAYS_INLINE double hingeSlopes(const real *x, real *slope, int64_t n, real reach, real factor,
                                        bool squared, bool add)
{
  double total = 0;
  for (int64_t first = 0; first < n; first += HINGE_BLOCK) {
    const int count = (int)MIN(HINGE_BLOCK, n - first);
    const real *const from = x + first;
    real *const to = slope + first;
    real sum = 0;
    THNN_PRAGMA(omp simd reduction(+ : sum))
    for (int j = 0; j < count; j++) {
      const real z = reach + from[j], derivative = z <= 0 ? 0 : squared ? 2 * z : 1;
      to[j] = (add ? to[j] : 0) + derivative * factor;
      sum += derivative;
    }
    total += sum;
  }
  return total;
}

#endif
