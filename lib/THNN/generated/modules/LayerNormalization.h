/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LAYERNORMALIZATION_H
#define THNN_MODULES_LAYERNORMALIZATION_H

#include "runtime/kernel.h"

void THNN_(LayerNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *save_mean, THTensor *save_std, int64_t dims, double eps);
void THNN_(LayerNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *save_mean, THTensor *save_std, int64_t dims, double scale);

#endif
