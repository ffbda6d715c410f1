/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALUPSAMPLINGBILINEAR_H
#define THNN_MODULES_SPATIALUPSAMPLINGBILINEAR_H

#include "runtime/kernel.h"

void THNN_(SpatialUpSamplingBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputHeight, int outputWidth);
void THNN_(SpatialUpSamplingBilinear_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int nbatch, int nchannels, int inputHeight, int inputWidth, int outputHeight, int outputWidth);

#endif
