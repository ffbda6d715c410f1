#include "modules/Abs.h"
#include "modules/CELU.h"
#include "modules/ELU.h"
#include "modules/GELU.h"
#include "modules/GELUTanh.h"
#include "modules/HardShrink.h"
#include "modules/HardSigmoid.h"
#include "modules/HardSwish.h"
#include "modules/HardTanh.h"
#include "modules/LeakyReLU.h"
#include "modules/LogSigmoid.h"
#include "modules/Mish.h"
#include "modules/SELU.h"
#include "modules/SiLU.h"
#include "modules/Sigmoid.h"
#include "modules/SoftPlus.h"
#include "modules/SoftShrink.h"
#include "modules/SoftSign.h"
#include "modules/Sqrt.h"
#include "modules/Square.h"
#include "modules/Tanh.h"
#include "modules/TanhShrink.h"
#include "modules/Threshold.h"
#include "pointwise.h"

/* In place, updateGradInput sees the replaced elements: they must not exceed the threshold. */
#define CHECK_VAL                                                                                           \
  THNN_CHECK(!inplace || val_ <= threshold_, val, "expected at most the threshold, %g, if inplace, got %g", \
             threshold_, val_)

#define CHECK_LIMITS \
  THNN_CHECK(min_val_ <= max_val_, min_val, "expected at most max_val, %g, got %g", max_val_, min_val_)

/* updateGradInput infers the sign of input from the sign of output. */
#define CHECK_ALPHA THNN_CHECK(alpha_ >= 0, alpha, "expected at least 0 for a gradient, got %g", alpha_)

/* (1 + tanh(u)) / 2 of GELUTanh, and the derivative of 2 * u times x. Beyond 25 the result is 0 or 1, without an overflow. */
THNN_ELEMENT static inline real bounded(real x) { return x < -25 ? -25 : x > 25 ? 25 : x; }
THNN_ELEMENT static inline real gate(real x)
{
  const real b = bounded(x);
  return th_sigmoid((real)1.5957691216057307117 * b * (1 + (real)0.044715 * b * b));
}
THNN_ELEMENT static inline real gateSlope(real x)
{
  const real b = bounded(x);
  return (real)1.5957691216057307117 * b * (1 + (real)0.134145 * b * b);
}

/* With e = exp(-|x|), tanh(log(1 + exp(x))) is n / d; the slope of Mish is n / d + x * 4 * m / d^2. */
THNN_ELEMENT static inline real mishNumerator(real x, real e) { return x > 0 ? 1 + 2 * e : e * (e + 2); }
THNN_ELEMENT static inline real mishDenominator(real x, real e)
{
  return mishNumerator(x, e) + (x > 0 ? 2 * e * e : 2);
}
THNN_ELEMENT static inline real mish(real x)
{
  const real e = th_exp_le0(-th_abs(x));
  return x * (mishNumerator(x, e) / mishDenominator(x, e));
}
THNN_ELEMENT static inline real mishSlope(real x)
{
  const real e = th_exp_le0(-th_abs(x)), m = (1 + e) * (x > 0 ? e * e : e), r = 1 / mishDenominator(x, e);
  return r * (mishNumerator(x, e) + 4 * x * m * r);
}

THNN_ELEMENT static inline real hardSigmoid(real x)
{
  const real moved = x + 3;
  return (moved < 0 ? 0 : moved > 6 ? 6 : moved) / 6;
}

static const double SELU_SCALE = 1.0507009873554804935, SELU_ALPHA = 1.6732632423543772848;

/* Conditions are written so that NaN stays NaN and the gradient w.r.t. a NaN does not become 0. */

/* clang-format off */

POINTWISE(Abs, (), FROM_INPUT, th_abs(x), x < 0 ? -g : g)
POINTWISE(CELU, (POSITIVE(alpha), INPLACE), FROM_OUTPUT,
          x > 0 ? x : alpha * th_expm1_le0(x / alpha), y > 0 ? g : g * (y / alpha + 1))
POINTWISE_OUTPUT(ELU, (SCALAR(alpha), INPLACE), x > 0 ? x : alpha * th_expm1_le0(x))
POINTWISE_GRAD_INPUT(ELU, (SCALAR(alpha), INPLACE), FROM_OUTPUT, y > 0 ? g : g * (y + alpha), CHECK_ALPHA)
POINTWISE(GELU, (), FROM_INPUT, x * th_normal_cdf(x), g * (th_normal_cdf(x) + x * th_normal_density(x)))
POINTWISE(GELUTanh, (), FROM_INPUT, x * gate(x), g * gate(x) * (1 + gateSlope(x) * (1 - gate(x))))
POINTWISE(HardShrink, (SCALAR(lambda)), FROM_INPUT,
          x >= -lambda && x <= lambda ? 0 : x, x >= -lambda && x <= lambda ? 0 : g)
POINTWISE(HardSigmoid, (INPLACE), FROM_INPUT, hardSigmoid(x), x <= -3 || x >= 3 ? 0 : g / 6)
POINTWISE(HardSwish, (INPLACE), FROM_INPUT,
          x * hardSigmoid(x), x <= -3 ? 0 : x >= 3 ? g : g * (x / 3 + (real)0.5))
POINTWISE(HardTanh, (SCALAR(min_val), SCALAR(max_val), INPLACE), FROM_INPUT,
          x < min_val ? min_val : x > max_val ? max_val : x, x <= min_val || x >= max_val ? 0 : g, CHECK_LIMITS)
POINTWISE(LeakyReLU, (SCALAR(negval), INPLACE), FROM_INPUT, x > 0 ? x : x * negval, x > 0 ? g : g * negval)
POINTWISE(LogSigmoid, (BUFFER(buffer)), FROM_INPUT, -th_softplus(-x), g * th_sigmoid(-x))
POINTWISE(Mish, (INPLACE), FROM_INPUT, mish(x), g * mishSlope(x))
POINTWISE(SELU, (INPLACE), FROM_OUTPUT,
          (real)SELU_SCALE * (x > 0 ? x : (real)SELU_ALPHA * th_expm1_le0(x)),
          y > 0 ? (real)SELU_SCALE * g : g * (y + (real)(SELU_SCALE * SELU_ALPHA)))
POINTWISE(SiLU, (INPLACE), FROM_INPUT, x * th_sigmoid(x), g * th_sigmoid(x) * (1 + x * (1 - th_sigmoid(x))))
POINTWISE(Sigmoid, (), FROM_OUTPUT, th_sigmoid(x), g * (1 - y) * y)
POINTWISE(SoftPlus, (SCALAR(beta), SCALAR(threshold)), FROM_OUTPUT,
          x * beta > threshold ? x : th_softplus(x * beta) * (1 / beta),
          y * beta > threshold ? g : g * -th_expm1_le0(-(y * beta)))
POINTWISE(SoftShrink, (SCALAR(lambda)), FROM_INPUT,
          x > lambda ? x - lambda : x < -lambda ? x + lambda : x != x ? x : 0, x >= -lambda && x <= lambda ? 0 : g)
POINTWISE(SoftSign, (), FROM_INPUT, x / (1 + th_abs(x)), g / ((1 + th_abs(x)) * (1 + th_abs(x))))
POINTWISE_OUTPUT(Sqrt, (SCALAR(eps)), th_sqrt(x))
POINTWISE_GRAD_INPUT(Sqrt, (), FROM_OUTPUT, y == 0 ? 0 : g / (2 * y))
POINTWISE(Square, (), FROM_INPUT, x * x, 2 * x * g)
POINTWISE(Tanh, (), FROM_OUTPUT, th_tanh(x), g * (1 - y * y))
POINTWISE(TanhShrink, (), FROM_INPUT, x - th_tanh(x), g * (th_tanh(x) * th_tanh(x)))
POINTWISE(Threshold, (SCALAR(threshold), SCALAR(val), INPLACE), FROM_INPUT,
          x <= threshold ? val : x, x <= threshold ? 0 : g, CHECK_VAL)
