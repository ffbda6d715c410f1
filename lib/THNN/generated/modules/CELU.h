/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_CELU_H
#define THNN_MODULES_CELU_H

#include "runtime/kernel.h"

void THNN_(CELU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal alpha, bool inplace);
void THNN_(CELU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output, accreal alpha, bool inplace);

#endif
