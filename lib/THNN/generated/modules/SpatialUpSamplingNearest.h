/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALUPSAMPLINGNEAREST_H
#define THNN_MODULES_SPATIALUPSAMPLINGNEAREST_H

#include "runtime/kernel.h"

void THNN_(SpatialUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int scale_factor);
void THNN_(SpatialUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int scale_factor);

#endif
