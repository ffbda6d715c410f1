#include "modules/Threshold.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"
#include "pointwise.h"

void THNN_(Threshold_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal threshold,
                                   accreal val, bool inplace)
{
  /* What replaces an input must not look like one that passed when the backward sees it. */
  THNN_CHECK(!inplace || val <= threshold, val, "expected at most threshold, %g, in place, got %g", threshold,
             val);
  THTensor *y = inplace ? THNN_RESIZE_LIKE(input, input) : THNN_RESIZE_LIKE(output, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  const real limit = (real)threshold, other = (real)val;
  THNN_MAP2(y, y, x, input, Threshold(x, limit, other));
}

void THNN_(Threshold_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                      accreal threshold, accreal val, bool inplace)
{
  THNN_CHECK(!inplace || val <= threshold, val, "expected at most threshold, %g, in place, got %g", threshold,
             val);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THTensor *dx = inplace ? THNN_RESIZE_LIKE(gradOutput, gradOutput) : THNN_RESIZE_LIKE(gradInput, input);
  if (inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradOutput, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  if (!inplace) THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);
  const real limit = (real)threshold;
  THNN_MAP3(dx, dx, x, input, g, gradOutput, Threshold_grad(x, g, limit));
}
