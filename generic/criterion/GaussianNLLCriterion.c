#include "modules/GaussianNLLCriterion.h"
#include "criterion/gaussian.h"
#include "elementwise/map.h"

void THNN_(GaussianNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *var,
                                              THTensor *output, bool sizeAverage, accreal eps_)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_CHECK_SAME_COUNT(input, var);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_CHECK_NO_OVERLAP(output, var);
  THNN_RETURN_IF_META(state);
  const real eps = (real)eps_;
  double loss;
  THNN_SUM3(loss, x, input, t, target, v, var, gaussianLoss(x, t, v, eps));
  double value;
  THNN_CHECK(!isnan(loss) || !thnn_findOutside(var, 0, INFINITY, &value) || isnan(value), var,
             "expected values of at least 0, got %g", value);
  *TH_DATA(output) = (real)(sizeAverage ? loss / (double)THNNTensor_numel(input) : loss);
}

void THNN_(GaussianNLLCriterion_backward)(THNNState *state, THTensor *input, THTensor *target, THTensor *var,
                                          THTensor *gradInput, THTensor *gradVar, bool sizeAverage, accreal eps_)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_CHECK_SAME_COUNT(input, var);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RESIZE_LIKE(gradVar, var);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, var);
  THNN_CHECK_NO_OVERLAP(gradVar, input);
  THNN_CHECK_NO_OVERLAP(gradVar, target);
  THNN_CHECK_NO_OVERLAP(gradVar, var);
  THNN_CHECK_NO_OVERLAP(gradInput, gradVar);
  THNN_RETURN_IF_META(state);
  const real eps = (real)eps_;
  const real norm =
      (real)(THNNState_gradientFactor(state) / (sizeAverage ? (double)THNNTensor_numel(input) : 1.0));
  const THNNTensor *const ofInput[] = {gradInput, input, target, var}, *const ofVar[] = {gradVar, input, target,
                                                                                         var};
  THNNMap first, second;
  thnn_mapBegin(&first, sizeof(real), true, 4, ofInput);
  thnn_mapBegin(&second, sizeof(real), true, 4, ofVar);
  THNN_MAP_FOR(block, first,
               {THNN_MAP_BLOCK4(first, block, x, t, v, norm * gaussianInputSlope(x, t, v, eps))
                    THNN_MAP_BLOCK4(second, block, x, t, v, norm * gaussianVarianceSlope(x, t, v, eps))})
}
