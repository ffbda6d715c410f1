/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_IM2COL_H
#define THNN_MODULES_IM2COL_H

#include "runtime/kernel.h"

void THNN_(Im2Col_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
void THNN_(Im2Col_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int inputHeight, int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);

#endif
