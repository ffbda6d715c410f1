/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_FULLCONVOLUTION_H
#define THNN_MODULES_FULLCONVOLUTION_H

#include "runtime/kernel.h"

void THNN_(FullConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
void THNN_(FullConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
void THNN_(FullConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups, accreal scale);

#endif
