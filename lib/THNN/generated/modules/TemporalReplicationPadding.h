/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALREPLICATIONPADDING_H
#define THNN_MODULES_TEMPORALREPLICATIONPADDING_H

#include "runtime/kernel.h"

void THNN_(TemporalReplicationPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l, int pad_r);
void THNN_(TemporalReplicationPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int pad_l, int pad_r);

#endif
