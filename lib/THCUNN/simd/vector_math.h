#ifndef THNN_SIMD_VECTOR_MATH_H
#define THNN_SIMD_VECTOR_MATH_H

/* The functions of lib/THNN/simd/vector_math.h that element expressions use, in terms of CUDA's functions. */

#include "runtime/kernel.h"

/* Precedes a function that expressions of elements call. */
#define THNN_ELEMENT __host__ __device__

#define TH_MATH THNN_ELEMENT static inline

TH_MATH float th_abs(float x) { return fabsf(x); }
TH_MATH double th_abs(double x) { return fabs(x); }
TH_MATH float th_copysign(float x, float sign) { return copysignf(x, sign); }
TH_MATH double th_copysign(double x, double sign) { return copysign(x, sign); }
TH_MATH float th_sqrt(float x) { return sqrtf(x); }
TH_MATH double th_sqrt(double x) { return sqrt(x); }
TH_MATH float th_exp(float x) { return expf(x); }
TH_MATH double th_exp(double x) { return exp(x); }
TH_MATH float th_exp_le0(float x) { return expf(x); }
TH_MATH double th_exp_le0(double x) { return exp(x); }
TH_MATH float th_log(float x) { return logf(x); }
TH_MATH double th_log(double x) { return log(x); }
TH_MATH float th_log1p(float x) { return log1pf(x); }
TH_MATH double th_log1p(double x) { return log1p(x); }
TH_MATH float th_log1p_le1(float x) { return log1pf(x); }
TH_MATH double th_log1p_le1(double x) { return log1p(x); }
TH_MATH float th_expm1_le0(float x) { return expm1f(x); }
TH_MATH double th_expm1_le0(double x) { return expm1(x); }
TH_MATH float th_tanh(float x) { return tanhf(x); }
TH_MATH double th_tanh(double x) { return tanh(x); }
TH_MATH float th_erfc(float x) { return erfcf(x); }
TH_MATH double th_erfc(double x) { return erfc(x); }
TH_MATH float th_pow(float x, float y) { return powf(x, y); }
TH_MATH double th_pow(double x, double y) { return pow(x, y); }

/* No overflow for any x. */
TH_MATH real th_exp_of_minus_abs(real x) { return th_exp(-th_abs(x)); }
TH_MATH real th_sigmoid(real x)
{
  const real e = th_exp_of_minus_abs(x);
  return (x < 0 ? e : 1) / (1 + e);
}
TH_MATH real th_softplus(real x) { return (x > 0 ? x : x != x ? x : 0) + th_log1p(th_exp_of_minus_abs(x)); }

/* The standard normal distribution. */
TH_MATH real th_normal_density(real x) { return (real)0.39894228040143267794 * th_exp((real)-0.5 * x * x); }
TH_MATH real th_normal_cdf(real x) { return (real)0.5 * th_erfc((real)-0.70710678118654752440 * x); }

/* Logarithms of a probability and of its complement, at least -100; NaN stays NaN. */
TH_MATH real th_at_least_minus_100(real x) { return x < -100 ? (real)-100 : x; }
TH_MATH real th_log_probability(real p) { return th_at_least_minus_100(th_log(p)); }
TH_MATH real th_log_complement(real p) { return th_at_least_minus_100(th_log1p(-p)); }

#undef TH_MATH

#endif
