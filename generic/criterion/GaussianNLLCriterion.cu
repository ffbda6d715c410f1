#include "modules/GaussianNLLCriterion.h"
#include "criterion/gaussian.h"
#include "elementwise/map.h"

void THNN_(GaussianNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *var,
                                              THTensor *output, bool sizeAverage, accreal eps_)
{
  const real eps = (real)eps_;
  thcunn::mapSum<Element, 3>(state, output, sizeAverage ? 1 / (double)THNNTensor_numel(input) : 1,
                             {input, target, var}, THCUNN_ELEMENT3(x, t, v, gaussianLoss(x, t, v, eps)));
}

void THNN_(GaussianNLLCriterion_backward)(THNNState *state, THTensor *input, THTensor *target, THTensor *var,
                                          THTensor *gradInput, THTensor *gradVar, bool sizeAverage, accreal eps_)
{
  const real eps = (real)eps_, norm = (real)(sizeAverage ? 1 / (double)THNNTensor_numel(input) : 1.0);
  const thcunn::GradientFactor<Element> factor(state);
  THNN_MAP4(dx, gradInput, x, input, t, target, v, var,
            factor.value() * (norm * gaussianInputSlope(x, t, v, eps)));
  THNN_MAP4(dv, gradVar, x, input, t, target, v, var,
            factor.value() * (norm * gaussianVarianceSlope(x, t, v, eps)));
}
