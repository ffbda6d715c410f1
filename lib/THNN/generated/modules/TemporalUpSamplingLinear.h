/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALUPSAMPLINGLINEAR_H
#define THNN_MODULES_TEMPORALUPSAMPLINGLINEAR_H

#include "runtime/kernel.h"

void THNN_(TemporalUpSamplingLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputWidth);
void THNN_(TemporalUpSamplingLinear_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int nbatch, int nchannels, int inputWidth, int outputWidth);

#endif
