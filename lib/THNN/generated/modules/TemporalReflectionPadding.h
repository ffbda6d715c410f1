/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALREFLECTIONPADDING_H
#define THNN_MODULES_TEMPORALREFLECTIONPADDING_H

#include "runtime/kernel.h"

void THNN_(TemporalReflectionPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l, int pad_r);
void THNN_(TemporalReflectionPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int pad_l, int pad_r);

#endif
