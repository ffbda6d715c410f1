#include "modules/LeakyReLU.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"
#include "pointwise.h"

void THNN_(LeakyReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal negval,
                                   bool inplace)
{
  THTensor *y = inplace ? THNN_RESIZE_LIKE(input, input) : THNN_RESIZE_LIKE(output, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  const real slope = (real)negval;
  THNN_MAP2(y, y, x, input, LeakyReLU(x, slope));
}

void THNN_(LeakyReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                      accreal negval, bool inplace)
{
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THTensor *dx = inplace ? THNN_RESIZE_LIKE(gradOutput, gradOutput) : THNN_RESIZE_LIKE(gradInput, input);
  if (inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradOutput, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);
  const real slope = (real)negval;
  THNN_MAP3(dx, dx, x, input, g, gradOutput, LeakyReLU_grad(x, g, slope));
}
