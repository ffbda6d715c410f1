/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SOFTPLUS_H
#define THNN_MODULES_SOFTPLUS_H

#include "runtime/kernel.h"

void THNN_(SoftPlus_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal beta, accreal threshold);
void THNN_(SoftPlus_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output, accreal beta, accreal threshold);

#endif
