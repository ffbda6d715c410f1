/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LSTMFUSED_H
#define THNN_MODULES_LSTMFUSED_H

#include "runtime/kernel.h"

void THNN_(LSTMFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *cell, THTensor *output, THTensor *outputCell);
void THNN_(LSTMFused_updateGradInput)(THNNState *state, THTensor *storage, THTensor *gradInGates, THTensor *cx, THTensor *cy, THTensor *gradOutput, THTensor *gradOutputCell, THTensor *gradInputCx);
void THNN_(LSTMFused_cell)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *cell, THTensor *output, THTensor *outputCell, THTensor *gates);
void THNN_(LSTMFused_steps)(THNNState *state, THTensor *input, THTensor *weight1, THTensor *weight2, THTensor *bias1, THTensor *bias2, THTensor *hx, THTensor *cell, THIndexTensor *sizes, THTensor *output, THTensor *outputCell, THTensor *gates, THTensor *buffer, bool reverse);
void THNN_(LSTMFused_gradSteps)(THNNState *state, THTensor *storage, THTensor *weight2, THTensor *cell, THTensor *outputCell, THIndexTensor *sizes, THTensor *gradOutput, THTensor *gradInGates, THTensor *gradHx, THTensor *gradCell, THTensor *buffer, bool reverse);

#endif
