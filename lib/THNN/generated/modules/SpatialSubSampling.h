/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALSUBSAMPLING_H
#define THNN_MODULES_SPATIALSUBSAMPLING_H

#include "runtime/kernel.h"

void THNN_(SpatialSubSampling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, int kW, int kH, int dW, int dH);
void THNN_(SpatialSubSampling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, int kW, int kH, int dW, int dH);
void THNN_(SpatialSubSampling_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, int kW, int kH, int dW, int dH, accreal scale);

#endif
