/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICFRACTIONALMAXPOOLING_H
#define THNN_MODULES_VOLUMETRICFRACTIONALMAXPOOLING_H

#include "runtime/kernel.h"

void THNN_(VolumetricFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputT, int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, THIndexTensor *indices, THTensor *randomSamples);
void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int outputT, int outputW, int outputH, int poolSizeT, int poolSizeW, int poolSizeH, THIndexTensor *indices);

#endif
