/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_HARDSWISH_H
#define THNN_MODULES_HARDSWISH_H

#include "runtime/kernel.h"

void THNN_(HardSwish_updateOutput)(THNNState *state, THTensor *input, THTensor *output, bool inplace);
void THNN_(HardSwish_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, bool inplace);

#endif
