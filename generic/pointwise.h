#ifndef THNN_GENERIC_POINTWISE_H
#define THNN_GENERIC_POINTWISE_H

#include "simd/vector_math.h"

/* The mathematics of point-wise functions and criteria, one element at a time: x input, y output, g gradOutput,
   t target. The kernels loop over these; they know nothing of tensors, threads or vectors, so that any device
   that has th_exp and its companions can do the same. */

#ifndef TH_POINTWISE
#define TH_POINTWISE static inline
#endif

TH_POINTWISE real Threshold(real x, real threshold, real val) { return x <= threshold ? val : x; }
TH_POINTWISE real Threshold_grad(real x, real g, real threshold) { return x <= threshold ? 0 : g; }

TH_POINTWISE real LeakyReLU(real x, real negval) { return x > 0 ? x : x * negval; }
TH_POINTWISE real LeakyReLU_grad(real x, real g, real negval) { return x > 0 ? g : g * negval; }

TH_POINTWISE real Sigmoid(real x) { return th_sigmoid(x); }
TH_POINTWISE real Sigmoid_grad(real y, real g) { return g * (1 - y) * y; }

TH_POINTWISE real Tanh(real x) { return th_tanh(x); }
TH_POINTWISE real Tanh_grad(real y, real g) { return g * (1 - y * y); }

TH_POINTWISE real MSECriterion(real x, real t) { return (x - t) * (x - t); }
TH_POINTWISE real MSECriterion_grad(real x, real t) { return 2 * (x - t); }

TH_POINTWISE real AbsCriterion(real x, real t) { return x < t ? t - x : x - t; }
TH_POINTWISE real AbsCriterion_grad(real x, real t) { return x >= t ? 1 : -1; }

TH_POINTWISE real SmoothL1Criterion(real x, real t)
{
  const real d = AbsCriterion(x, t);
  return d < 1 ? (real)0.5 * d * d : d - (real)0.5;
}
TH_POINTWISE real SmoothL1Criterion_grad(real x, real t)
{
  const real d = x - t;
  return d < -1 ? -1 : d > 1 ? 1 : d;
}

/* Logarithms not below -100; NaN where x is not in [0, 1]. */
TH_POINTWISE real BCECriterion(real x, real t)
{
  const real loss = (t - 1) * th_log_of_rest(x) - t * th_log_of_probability(x);
  return x >= 0 && x <= 1 ? loss : (real)NAN;
}
TH_POINTWISE real BCECriterion_grad(real x, real t)
{
  const real slope = (1 - x) * x, least = (real)1e-12;
  return (x - t) / (slope < least ? least : slope);
}

#endif
