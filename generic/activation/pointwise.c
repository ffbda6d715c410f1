#include "modules/Abs.h"
#include "modules/ELU.h"
#include "modules/HardShrink.h"
#include "modules/HardTanh.h"
#include "modules/LeakyReLU.h"
#include "modules/LogSigmoid.h"
#include "modules/Sigmoid.h"
#include "modules/SoftPlus.h"
#include "modules/SoftShrink.h"
#include "modules/Sqrt.h"
#include "modules/Square.h"
#include "modules/Tanh.h"
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

/* Conditions are written so that NaN stays NaN and the gradient w.r.t. a NaN does not become 0. */

/* clang-format off */

POINTWISE(Abs, (), FROM_INPUT, th_abs(x), x < 0 ? -g : g)
POINTWISE_OUTPUT(ELU, (SCALAR(alpha), INPLACE), x > 0 ? x : alpha * th_expm1_le0(x))
POINTWISE_GRAD_INPUT(ELU, (SCALAR(alpha), INPLACE), FROM_OUTPUT, y > 0 ? g : g * (y + alpha), CHECK_ALPHA)
POINTWISE(HardShrink, (SCALAR(lambda)), FROM_INPUT,
          x >= -lambda && x <= lambda ? 0 : x, x >= -lambda && x <= lambda ? 0 : g)
POINTWISE(HardTanh, (SCALAR(min_val), SCALAR(max_val), INPLACE), FROM_INPUT,
          x < min_val ? min_val : x > max_val ? max_val : x, x <= min_val || x >= max_val ? 0 : g, CHECK_LIMITS)
POINTWISE(LeakyReLU, (SCALAR(negval), INPLACE), FROM_INPUT, x > 0 ? x : x * negval, x > 0 ? g : g * negval)
POINTWISE(LogSigmoid, (BUFFER(buffer)), FROM_INPUT, -th_softplus(-x), g * th_sigmoid(-x))
POINTWISE(Sigmoid, (), FROM_OUTPUT, th_sigmoid(x), g * (1 - y) * y)
POINTWISE(SoftPlus, (SCALAR(beta), SCALAR(threshold)), FROM_OUTPUT,
          x * beta > threshold ? x : th_softplus(x * beta) * (1 / beta),
          y * beta > threshold ? g : g * -th_expm1_le0(-(y * beta)))
POINTWISE(SoftShrink, (SCALAR(lambda)), FROM_INPUT,
          x > lambda ? x - lambda : x < -lambda ? x + lambda : x != x ? x : 0, x >= -lambda && x <= lambda ? 0 : g)
POINTWISE_OUTPUT(Sqrt, (SCALAR(eps)), th_sqrt(x))
POINTWISE_GRAD_INPUT(Sqrt, (), FROM_OUTPUT, y == 0 ? 0 : g / (2 * y))
POINTWISE(Square, (), FROM_INPUT, x * x, 2 * x * g)
POINTWISE(Tanh, (), FROM_OUTPUT, th_tanh(x), g * (1 - y * y))
POINTWISE(Threshold, (SCALAR(threshold), SCALAR(val), INPLACE), FROM_INPUT,
          x <= threshold ? val : x, x <= threshold ? 0 : g, CHECK_VAL)
