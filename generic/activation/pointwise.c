#include "modules/LeakyReLU.h"
#include "modules/Sigmoid.h"
#include "modules/Tanh.h"
#include "modules/Threshold.h"
#include "pointwise.h"

/* In place, updateGradInput sees the replaced elements: they must not exceed the threshold. */
#define CHECK_VAL                                                                                           \
  THNN_CHECK(!inplace || val_ <= threshold_, val, "expected at most the threshold, %g, if inplace, got %g", \
             threshold_, val_)

/* clang-format off */

POINTWISE(LeakyReLU, (SCALAR(negval), INPLACE), FROM_INPUT, x > 0 ? x : x * negval, x > 0 ? g : g * negval)
POINTWISE(Sigmoid, (), FROM_OUTPUT, th_sigmoid(x), g * (1 - y) * y)
POINTWISE(Tanh, (), FROM_OUTPUT, th_tanh(x), g * (1 - y * y))
POINTWISE(Threshold, (SCALAR(threshold), SCALAR(val), INPLACE), FROM_INPUT,
          x <= threshold ? val : x, x <= threshold ? 0 : g, CHECK_VAL)
