/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICUPSAMPLINGTRILINEAR_H
#define THNN_MODULES_VOLUMETRICUPSAMPLINGTRILINEAR_H

#include "runtime/kernel.h"

void THNN_(VolumetricUpSamplingTrilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputDepth, int outputHeight, int outputWidth);
void THNN_(VolumetricUpSamplingTrilinear_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int nbatch, int nchannels, int inputDepth, int inputHeight, int inputWidth, int outputDepth, int outputHeight, int outputWidth);

#endif
