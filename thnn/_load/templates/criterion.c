#include "pointwise.h"

/* log(cosh(d)), which does not overflow for large d. */
THNN_ELEMENT static inline real logCosh(real d)
{
  return th_abs(d) + th_log1p_le1(th_exp_le0(-2 * th_abs(d))) - (real)M_LN2;
}

/* CRITERION(module, (arguments), loss of x and t, gradInput of x, t and norm) */
CRITERION(NAME, (), logCosh(x - t), th_tanh(x - t) * norm)
