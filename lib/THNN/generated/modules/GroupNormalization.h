/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_GROUPNORMALIZATION_H
#define THNN_MODULES_GROUPNORMALIZATION_H

#include "runtime/kernel.h"

void THNN_(GroupNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *save_mean, THTensor *save_std, int64_t numGroups, double eps);
void THNN_(GroupNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *save_mean, THTensor *save_std, int64_t numGroups, double scale);

#endif
