/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LEAKYRELU_H
#define THNN_MODULES_LEAKYRELU_H

#include "runtime/kernel.h"

void THNN_(LeakyReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal negval, bool inplace);
void THNN_(LeakyReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, accreal negval, bool inplace);

#endif
