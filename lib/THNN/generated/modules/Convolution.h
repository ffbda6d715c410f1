/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_CONVOLUTION_H
#define THNN_MODULES_CONVOLUTION_H

#include "runtime/kernel.h"

void THNN_(Convolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
void THNN_(Convolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
void THNN_(Convolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups, accreal scale);

#endif
