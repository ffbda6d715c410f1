/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALGRIDSAMPLERBILINEAR_H
#define THNN_MODULES_SPATIALGRIDSAMPLERBILINEAR_H

#include "runtime/kernel.h"

void THNN_(SpatialGridSamplerBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *grid, THTensor *output);
void THNN_(SpatialGridSamplerBilinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradInput, THTensor *grid, THTensor *gradGrid, THTensor *gradOutput);

#endif
