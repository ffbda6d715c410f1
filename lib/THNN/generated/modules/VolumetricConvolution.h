/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICCONVOLUTION_H
#define THNN_MODULES_VOLUMETRICCONVOLUTION_H

#include "runtime/kernel.h"

void THNN_(VolumetricConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *finput, THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH);
void THNN_(VolumetricConvolution_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, THTensor *finput, int dT, int dW, int dH, int pT, int pW, int pH);
void THNN_(VolumetricConvolution_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, THTensor *finput, THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, accreal scale);

#endif
