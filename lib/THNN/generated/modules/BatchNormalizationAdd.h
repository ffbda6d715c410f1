/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_BATCHNORMALIZATIONADD_H
#define THNN_MODULES_BATCHNORMALIZATIONADD_H

#include "runtime/kernel.h"

void THNN_(BatchNormalizationAdd_updateOutput)(THNNState *state, THTensor *input, THTensor *residual, THTensor *output, THTensor *weight, THTensor *bias, THTensor *running_mean, THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train, double momentum, double eps, bool relu, double limit);
void THNN_(BatchNormalizationAdd_backward)(THNNState *state, THTensor *input, THTensor *output, THTensor *gradOutput, THTensor *gradInput, THTensor *gradResidual, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *running_mean, THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train, double scale, double eps, bool relu, double limit);

#endif
