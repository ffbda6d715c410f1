/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_GELU_H
#define THNN_MODULES_GELU_H

#include "runtime/kernel.h"

void THNN_(GELU_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(GELU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
