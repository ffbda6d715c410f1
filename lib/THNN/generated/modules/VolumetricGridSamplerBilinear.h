/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICGRIDSAMPLERBILINEAR_H
#define THNN_MODULES_VOLUMETRICGRIDSAMPLERBILINEAR_H

#include "runtime/kernel.h"

void THNN_(VolumetricGridSamplerBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *grid, THTensor *output);
void THNN_(VolumetricGridSamplerBilinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradInput, THTensor *grid, THTensor *gradGrid, THTensor *gradOutput);

#endif
