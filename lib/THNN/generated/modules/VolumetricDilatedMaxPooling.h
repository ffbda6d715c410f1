/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICDILATEDMAXPOOLING_H
#define THNN_MODULES_VOLUMETRICDILATEDMAXPOOLING_H

#include "runtime/kernel.h"

void THNN_(VolumetricDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *indices, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, bool ceilMode);
void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, bool ceilMode);

#endif
