/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SQRT_H
#define THNN_MODULES_SQRT_H

#include "runtime/kernel.h"

void THNN_(Sqrt_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal eps);
void THNN_(Sqrt_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output);

#endif
