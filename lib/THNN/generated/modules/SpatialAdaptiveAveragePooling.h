/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALADAPTIVEAVERAGEPOOLING_H
#define THNN_MODULES_SPATIALADAPTIVEAVERAGEPOOLING_H

#include "runtime/kernel.h"

void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int osizeW, int osizeH);
void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
