/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICAVERAGEPOOLING_H
#define THNN_MODULES_VOLUMETRICAVERAGEPOOLING_H

#include "runtime/kernel.h"

void THNN_(VolumetricAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, bool ceil_mode, bool count_include_pad);
void THNN_(VolumetricAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, bool ceil_mode, bool count_include_pad);

#endif
