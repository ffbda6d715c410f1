/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_RMSNORMALIZATION_H
#define THNN_MODULES_RMSNORMALIZATION_H

#include "runtime/kernel.h"

void THNN_(RMSNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *save_std, int64_t dims, double eps);
void THNN_(RMSNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *gradWeight, THTensor *weight, THTensor *save_std, int64_t dims, double scale);

#endif
