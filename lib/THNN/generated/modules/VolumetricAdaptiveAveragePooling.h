/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICADAPTIVEAVERAGEPOOLING_H
#define THNN_MODULES_VOLUMETRICADAPTIVEAVERAGEPOOLING_H

#include "runtime/kernel.h"

void THNN_(VolumetricAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int osizeT, int osizeW, int osizeH);
void THNN_(VolumetricAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
