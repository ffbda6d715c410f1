#include "pointwise.h"

THNN_ELEMENT static inline real swish(real x, real beta) { return x * th_sigmoid(beta * x); }

THNN_ELEMENT static inline real slope(real x, real beta)
{
  const real s = th_sigmoid(beta * x);
  return s + beta * x * s * (1 - s);
}

/* POINTWISE(module, (arguments), FROM_INPUT, output of x, gradInput of x and g) */
POINTWISE(NAME, (SCALAR(beta)), FROM_INPUT, swish(x, beta), slope(x, beta) * g)
