/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALCROSSMAPLRN_H
#define THNN_MODULES_SPATIALCROSSMAPLRN_H

#include "runtime/kernel.h"

void THNN_(SpatialCrossMapLRN_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *scales, int size, accreal alpha, accreal beta, accreal k);
void THNN_(SpatialCrossMapLRN_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *scales, THTensor *output, int size, accreal alpha, accreal beta, accreal k);

#endif
