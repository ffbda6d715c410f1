/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SOFTSIGN_H
#define THNN_MODULES_SOFTSIGN_H

#include "runtime/kernel.h"

void THNN_(SoftSign_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(SoftSign_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
