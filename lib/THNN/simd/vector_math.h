#ifndef THNN_SIMD_VECTOR_MATH_H
#define THNN_SIMD_VECTOR_MATH_H

#include "runtime/kernel.h"

/* Elementary functions of one `real` without branches, so that the compiler vectorizes a loop over them for every
   instruction set.

     th_exp  th_log  th_tanh  th_sigmoid  th_softplus  th_sqrt  th_abs  th_copysign
     th_exp_le0(x)  th_expm1_le0(x)               exp(x) and exp(x) - 1 of x <= 0, cheaper
     th_log1p_le1(x)                              log(1 + x) of 0 <= x <= 1
     th_log_probability(p)  th_log_complement(p)  log(p) and log(1 - p) of 0 <= p <= 1, at least -100, cheaper
     th_normal_density(x)  th_normal_cdf(x)       of the standard normal distribution: exp(-x^2 / 2) / sqrt(2 pi), and its
                                                  integral up to x, (1 + erf(x / sqrt(2))) / 2

   Largest errors, over all arguments including subnormal numbers, zeros, infinities and NaN: exp and logarithms 1 ulp,
   sigmoid 2.3, tanh 2.6, log1p_le1 2.7, softplus 2.8, normal_cdf 2 for x > 0, normal_cdf and normal_density x^2 / 2 + 7
   for other x; odd functions keep -0. The error of x * normal_cdf(x), which is GELU, is at most a third of the largest
   error of torch's, which loses all digits of the results for x < -5.5 in float. The polynomials are minimax fits over
   the reduced range. */

/* Precedes a function that expressions of elements call (generic/pointwise.h); for CUDA it is __host__ __device__. */
#define THNN_ELEMENT

#ifdef THNN_REAL_IS_FLOAT

typedef uint32_t th_word;
enum { th_mantissa_bits = 23, th_exponent_bias = 127, th_exp_scale = 64 /* see th_exp_le0 */ };
static const real th_log2_e = 1.44269504f;
static const real th_ln2_hi = 0x1.62e4p-1f, th_ln2_lo = 1.42860682031e-6f; /* n * ln2_hi is exact */
static const real th_exp_min = -104, th_exp_max = 89, th_expm1_min = -20;  /* exp(-20) - 1 rounds to -1 */
static const th_word th_log_offset = 0x4afb0d; /* carries into the exponent for mantissas above sqrt(2) */

/* (exp(r) - 1 - r) / r^2 for |r| <= ln(2) / 2 */
static inline real th_exp_tail(real r)
{
  const real r2 = r * r;
  return (0.4999999344f + 0.1666652048f * r) + r2 * ((0.04166838887f + 0.008368737815f * r) + r2 * 0.00138146114f);
}

/* log(1 + f) - f + f^2 / 2 for sqrt(1/2) <= 1 + f <= sqrt(2). In float a longer polynomial is cheaper than the division
   of the atanh series. */
static inline real th_log_tail(real f)
{
  const real f2 = f * f, f4 = f2 * f2;
  const real low = (0.3333333135f - 0.2500082254f * f) + f2 * (0.2000123262f - 0.1662329584f * f);
  const real high = (0.1420156509f - 0.1316061765f * f) + f2 * (0.1276325285f - 0.0763546899f * f);
  return f2 * f * (low + f4 * high);
}

/* (th_normal_cdf(x) - 1/2) / x for w = x^2 of |x| <= 1 */
static inline real th_normal_series(real w)
{
  const real w2 = w * w;
  return ((0.3989422801f - 0.06649036077f * w) + w2 * (0.009973330108f - 0.001186348532f * w)) +
         w2 * w2 * (0.0001135074795f - 7.662608665e-6f * w);
}

/* (x + th_mills_shift) * (1 - th_normal_cdf(x)) / th_normal_density(x) for q = (x - th_mills_shift) /
   (x + th_mills_shift), 1 <= x <= th_normal_max, where the density becomes 0. */
static const real th_mills_shift = 3, th_normal_max = 14.5f;
static inline real th_mills_series(real q)
{
  const real q2 = q * q;
  return ((1.827541815f - 1.276705737f * q) + q2 * (0.5765663897f - 0.1184766474f * q)) +
         q2 * q2 * ((-0.02617916155f + 0.01750670523f * q) + q2 * (0.0022775745f - 0.002564697937f * q));
}

#else

typedef uint64_t th_word;
enum { th_mantissa_bits = 52, th_exponent_bias = 1023, th_exp_scale = 512 };
static const real th_log2_e = 1.442695040888963407;
static const real th_ln2_hi = 0.69314718056011770386, th_ln2_lo = -1.7239444525614834773e-13;
static const real th_exp_min = -746, th_exp_max = 710, th_expm1_min = -40;
static const th_word th_log_offset = 0x95f619980c433;

static inline real th_exp_tail(real r)
{
  const real r2 = r * r, r4 = r2 * r2;
  return ((0.5000000000000010585 + 0.1666666666666641204 * r) +
          r2 * (0.04166666666653032999 + 0.008333333333494857535 * r)) +
         r4 * (((0.001388888894361833119 + 0.0001984126950568486755 * r) +
                r2 * (2.480149308408964787e-5 + 2.755758712021847781e-6 * r)) +
               r4 * (2.763026171853065695e-7 + 2.499986011940007871e-8 * r));
}

/* log(1 + f) - f + f^2 / 2 for sqrt(1/2) <= 1 + f <= sqrt(2), from log(1 + f) = 2 atanh(s), s = f / (2 + f) */
static inline real th_log_tail(real f)
{
  const real s = f / (2 + f), z = s * s, z2 = z * z;
  const real tail = ((0.6666666666666734893 + 0.3999999999941111371 * z) +
                     z2 * (0.2857142874325686053 + 0.2222219847666441156 * z)) +
                    z2 * z2 * ((0.1818356970147069251 + 0.1531390428706942892 * z) + z2 * 0.147974968433153986);
  return s * (0.5 * f * f + z * tail);
}

static inline real th_normal_series(real w)
{
  const real w2 = w * w, w4 = w2 * w2;
  return ((0.3989422804014326701 - 0.06649038006690387223 * w) +
          w2 * (0.009973557009983732364 - 0.001187328214811526921 * w)) +
         w4 * (((0.0001154346832492605106 - 9.444639861853272722e-6 * w) +
                w2 * (6.659317805752480128e-7 - 4.117317843452298451e-8 * w)) +
               w4 * (2.227124038472997455e-9 - 9.027164883791297494e-11 * w));
}

static const real th_mills_shift = 6, th_normal_max = 39;
static inline real th_mills_series(real q)
{
  const real q2 = q * q, q4 = q2 * q2;
  const real a =
      (1.948531930762409524 - 1.757169054344103887 * q) + q2 * (1.426193511608409674 - 1.037502431076171826 * q);
  const real b = (0.671711821499227728 - 0.3827125866732519419 * q) +
                 q2 * (0.1884280492834031384 - 0.07766866789268700116 * q);
  const real c = (0.02514103189011133285 - 0.005343142453424899723 * q) +
                 q2 * (0.00008239374571264163509 + 0.0004546064951338629307 * q);
  const real d = (-0.0001623127267457282751 + 2.683669263866789488e-6 * q) +
                 q2 * (0.0000170452580580675004 - 4.481879969315959625e-6 * q);
  const real e = (-1.091471318609249902e-6 + 7.355450280168622175e-7 * q) +
                 q2 * (3.196093595524852458e-8 - 7.353688546616891433e-8 * q);
  return (a + q4 * b) + q4 * q4 * ((c + q4 * d) + q4 * q4 * e);
}

#endif

static inline th_word th_to_bits(real x)
{
  union {
    real x;
    th_word bits;
  } u = {x};
  return u.bits;
}

static inline real th_from_bits(th_word bits)
{
  union {
    th_word bits;
    real x;
  } u = {bits};
  return u.x;
}

/* 2^n, a normal number. */
#define TH_POWER_OF_2(n) th_from_bits((th_word)(th_exponent_bias + (n)) << th_mantissa_bits)
#define TH_SIGN_BIT ((th_word)1 << (sizeof(real) * 8 - 1))

static inline real th_sqrt(real x)
{
#ifdef THNN_REAL_IS_FLOAT
  return __builtin_sqrtf(x);
#else
  return __builtin_sqrt(x);
#endif
}

static inline real th_abs(real x) { return th_from_bits(th_to_bits(x) & ~TH_SIGN_BIT); }
static inline real th_copysign(real x, real sign)
{
  return th_from_bits((th_to_bits(x) & ~TH_SIGN_BIT) | (th_to_bits(sign) & TH_SIGN_BIT));
}

/* Adding 1.5 * 2^mantissa_bits rounds to an integer and leaves it in the low bits. If the exponent bias was added as
   well, shifting these bits to the exponent gives a power of 2. */
#define TH_ROUND ((real)1.5 * TH_POWER_OF_2(th_mantissa_bits))

static inline real th_shift_to_exponent(real rounded)
{
  return th_from_bits(th_to_bits(rounded) << th_mantissa_bits);
}

/* x - n * ln(2) */
static inline real th_remainder(real x, real n)
{
  const real high = x - n * th_ln2_hi;
  return high - n * th_ln2_lo;
}

/* Returns x - n * ln(2), |result| <= ln(2) / 2; *power = 2^(n + extra). */
static inline real th_reduce_to_ln2(real x, int extra, real *power)
{
  const real round = TH_ROUND + th_exponent_bias + extra, t = x * th_log2_e + round;
  *power = th_shift_to_exponent(t);
  return th_remainder(x, t - round);
}

static inline real th_exp_le0(real x)
{
  real power;
  const real r = th_reduce_to_ln2(x < th_exp_min ? th_exp_min : x, th_exp_scale, &power);
  return (1 + (r + r * r * th_exp_tail(r))) * power *
         TH_POWER_OF_2(-th_exp_scale); /* power is a normal number, and a subnormal result is rounded once */
}

static inline real th_expm1_le0(real x)
{
  real power;
  const real r = th_reduce_to_ln2(x < th_expm1_min ? th_expm1_min : x, 0, &power);
  return power * (r + r * r * th_exp_tail(r)) + (power - 1);
}

static inline real th_exp(real x)
{
  x = x < th_exp_min ? th_exp_min : x;
  x = x > th_exp_max ? th_exp_max : x;
  const real n = (x * th_log2_e + TH_ROUND) - TH_ROUND, r = th_remainder(x, n),
             biased = TH_ROUND + th_exponent_bias;
  const real half = n * (real)0.5 + biased, rest = (n - (half - biased)) + biased; /* 2^n in two factors */
  return (1 + (r + r * r * th_exp_tail(r))) * th_shift_to_exponent(half) * th_shift_to_exponent(rest);
}

/* k * ln(2) + log(1 + f) */
static inline real th_log_series(real f, real k)
{
  const real h = (real)0.5 * f * f;
  return k * th_ln2_hi - ((h - (th_log_tail(f) + k * th_ln2_lo)) - f);
}

/* The biased exponent k for which x / 2^(k - th_exponent_bias) is between sqrt(1/2) and sqrt(2). */
static inline th_word th_exponent(real x) { return (th_to_bits(x) + th_log_offset) >> th_mantissa_bits; }
static inline real th_unscale(real x, th_word k)
{
  return th_from_bits(th_to_bits(x) - ((k - th_exponent_bias) << th_mantissa_bits));
}
static inline real th_unbiased(th_word k)
{
  const real base = TH_POWER_OF_2(th_mantissa_bits);
  return th_from_bits(th_to_bits(base) | k) - (base + th_exponent_bias);
}

static inline real th_log(real x)
{
  const int subnormal = x < TH_POWER_OF_2(1 - th_exponent_bias);
  const real u = subnormal ? x * TH_POWER_OF_2(th_mantissa_bits) : x;
  const th_word k = th_exponent(u);
  const real y = th_log_series(th_unscale(u, k) - 1, th_unbiased(k) - (subnormal ? th_mantissa_bits : 0));
  return x > 0 ? (x < (real)INFINITY ? y : x) : (x == 0 ? -(real)INFINITY : (real)NAN);
}

static inline real th_log_probability(real p)
{
  /* u is normal, or 0, which has the smallest exponent; the sign of -0 would count as its exponent's highest bit. */
  const real u = th_abs(p) * TH_POWER_OF_2(th_mantissa_bits);
  const th_word k = th_exponent(u);
  const real y = th_log_series(th_unscale(u, k) - 1, th_unbiased(k) - th_mantissa_bits);
  return y < -100 ? -100 : y;
}

static inline real th_log_complement(real p)
{
  const real u = 1 - p, lost = (1 - u) - p; /* lost: the rounding error of u */
  const th_word k = th_exponent(u);
  const real inverse = th_from_bits((2 * th_exponent_bias - k) << th_mantissa_bits);
  const real y = th_log_series((th_unscale(u, k) - 1) + lost * inverse, th_unbiased(k));
  return u > 0 ? y : -100;
}

static inline real th_log1p_le1(real x)
{
#ifdef THNN_REAL_IS_FLOAT
  /* x - x^2 * q(x): the polynomial is cheaper than the reduction of 1 + x to its exponent. */
  const real x2 = x * x, x4 = x2 * x2;
  const real low = (0.49999931f - 0.33330512f * x) + x2 * (0.24958587f - 0.19695401f * x);
  const real high = (0.15355396f - 0.10680556f * x) + x2 * (0.05766444f - 0.02020459f * x);
  return x - x2 * (low + x4 * (high + x4 * 0.00331847f));
#else
  const real u = 1 + x, lost = x - (u - 1);
  const th_word k = th_exponent(u);
  const real inverse = th_from_bits((2 * th_exponent_bias - k) << th_mantissa_bits);
  return th_log_series((th_unscale(u, k) - 1) + lost * inverse, th_unbiased(k));
#endif
}

static inline real th_tanh(real x)
{
  const real e = th_expm1_le0(-2 * th_abs(x));
  return th_copysign(e / (2 + e), x);
}

static inline real th_sigmoid(real x)
{
  const real e = th_exp_le0(-th_abs(x));
  return (x < 0 ? e : 1) / (1 + e);
}

/* log(1 + exp(x)) */
static inline real th_softplus(real x) { return (x > 0 ? x : 0) + th_log1p_le1(th_exp_le0(-th_abs(x))); }

static inline real th_normal_density(real x)
{
  return (real)0.39894228040143267794 * th_exp_le0((real)-0.5 * x * x);
}

/* The tail is not 1 minus its complement, which has no digit below -5.5 in float. */
static inline real th_normal_cdf(real x)
{
  const real size = th_abs(x), a = size > th_normal_max ? th_normal_max : size, r = 1 / (a + th_mills_shift);
  const real tail = th_normal_density(x) * (r * th_mills_series((a - th_mills_shift) * r));
  const real outside = x > 0 ? 1 - tail : tail;
  return size < 1 ? (real)0.5 + x * th_normal_series(x * x) : outside;
}

#endif
