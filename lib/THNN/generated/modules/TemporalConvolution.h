/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALCONVOLUTION_H
#define THNN_MODULES_TEMPORALCONVOLUTION_H

#include "runtime/kernel.h"

void THNN_(TemporalConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int kW, int dW, int inputFrameSize, int outputFrameSize);
void THNN_(TemporalConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int kW, int dW);
void THNN_(TemporalConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int kW, int dW, accreal scale);

#endif
