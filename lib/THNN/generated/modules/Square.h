/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SQUARE_H
#define THNN_MODULES_SQUARE_H

#include "runtime/kernel.h"

void THNN_(Square_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(Square_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput);

#endif
