/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SIGMOID_H
#define THNN_MODULES_SIGMOID_H

#include "runtime/kernel.h"

void THNN_(Sigmoid_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(Sigmoid_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output);

#endif
