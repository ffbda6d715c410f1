/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_COL2IM_H
#define THNN_MODULES_COL2IM_H

#include "runtime/kernel.h"

void THNN_(Col2Im_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputHeight, int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
void THNN_(Col2Im_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);

#endif
