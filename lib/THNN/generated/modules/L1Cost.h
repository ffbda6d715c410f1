/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_L1COST_H
#define THNN_MODULES_L1COST_H

#include "runtime/kernel.h"

void THNN_(L1Cost_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(L1Cost_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
