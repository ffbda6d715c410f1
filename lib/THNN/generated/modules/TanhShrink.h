/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_TANHSHRINK_H
#define THNN_MODULES_TANHSHRINK_H

#include "runtime/kernel.h"

void THNN_(TanhShrink_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(TanhShrink_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
