/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_GRUFUSED_H
#define THNN_MODULES_GRUFUSED_H

#include "runtime/kernel.h"

void THNN_(GRUFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *hx, THTensor *output, THTensor *storage);
void THNN_(GRUFused_updateGradInput)(THNNState *state, THTensor *gradInInput, THTensor *gradInHidden, THTensor *gradOutput, THTensor *gradInputHx, THTensor *storage);

#endif
