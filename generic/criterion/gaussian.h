#ifndef THNN_CRITERION_GAUSSIAN_H
#define THNN_CRITERION_GAUSSIAN_H

/* One element of GaussianNLLCriterion: input x, target t, variance v. */

#include "simd/vector_math.h"

/* The loss; NaN for a variance below 0. */
THNN_ELEMENT static inline real gaussianLoss(real x, real t, real v, real eps)
{
  const real bounded = v < eps ? eps : v, loss = (real)0.5 * (th_log(bounded) + (x - t) * (x - t) / bounded);
  return v < 0 ? (real)NAN : loss;
}

THNN_ELEMENT static inline real gaussianInputSlope(real x, real t, real v, real eps)
{
  return (x - t) / (v < eps ? eps : v);
}

/* As if the variance were not bounded. */
THNN_ELEMENT static inline real gaussianVarianceSlope(real x, real t, real v, real eps)
{
  const real r = 1 / (v < eps ? eps : v);
  return (real)0.5 * r * (1 - (x - t) * (x - t) * r);
}

#endif
