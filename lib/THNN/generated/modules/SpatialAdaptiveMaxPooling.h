/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALADAPTIVEMAXPOOLING_H
#define THNN_MODULES_SPATIALADAPTIVEMAXPOOLING_H

#include "runtime/kernel.h"

void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *indices, int owidth, int oheight);
void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices);

#endif
