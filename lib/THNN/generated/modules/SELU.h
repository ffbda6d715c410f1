/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SELU_H
#define THNN_MODULES_SELU_H

#include "runtime/kernel.h"

void THNN_(SELU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, bool inplace);
void THNN_(SELU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output, bool inplace);

#endif
