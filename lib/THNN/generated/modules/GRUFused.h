/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_GRUFUSED_H
#define THNN_MODULES_GRUFUSED_H

#include "runtime/kernel.h"

void THNN_(GRUFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *hx, THTensor *output, THTensor *storage);
void THNN_(GRUFused_updateGradInput)(THNNState *state, THTensor *gradInInput, THTensor *gradInHidden, THTensor *gradOutput, THTensor *gradInputHx, THTensor *storage);
void THNN_(GRUFused_steps)(THNNState *state, THTensor *input, THTensor *weight1, THTensor *weight2, THTensor *bias1, THTensor *bias2, THTensor *hx, THIndexTensor *sizes, THTensor *output, THTensor *gates, THTensor *buffer, bool reverse);
void THNN_(GRUFused_gradSteps)(THNNState *state, THTensor *storage, THTensor *weight2, THIndexTensor *sizes, THTensor *gradOutput, THTensor *gradInInput, THTensor *gradInHidden, THTensor *gradHx, THTensor *buffer, bool reverse);

#endif
