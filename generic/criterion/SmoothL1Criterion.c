#include "modules/SmoothL1Criterion.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"
#include "pointwise.h"

void THNN_(SmoothL1Criterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output,
                                           bool sizeAverage)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_RETURN_IF_META(state);
  double loss;
  THNN_SUM2(loss, x, input, t, target, SmoothL1Criterion(x, t));
  *TH_DATA(output) = (real)(sizeAverage ? loss / (double)THNNTensor_numel(input) : loss);
}

void THNN_(SmoothL1Criterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target,
                                              THTensor *gradInput, bool sizeAverage)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, target);
  THNN_RETURN_IF_META(state);
  const real norm = (real)(sizeAverage ? 1.0 / (double)THNNTensor_numel(input) : 1.0);
  THNN_MAP3(dx, gradInput, x, input, t, target, norm * SmoothL1Criterion_grad(x, t));
}
