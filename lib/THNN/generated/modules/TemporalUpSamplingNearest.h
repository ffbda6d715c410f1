/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TEMPORALUPSAMPLINGNEAREST_H
#define THNN_MODULES_TEMPORALUPSAMPLINGNEAREST_H

#include "runtime/kernel.h"

void THNN_(TemporalUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int scale_factor);
void THNN_(TemporalUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int scale_factor);

#endif
