/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LSTMFUSED_H
#define THNN_MODULES_LSTMFUSED_H

#include "runtime/kernel.h"

void THNN_(LSTMFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *cell, THTensor *output, THTensor *outputCell);
void THNN_(LSTMFused_updateGradInput)(THNNState *state, THTensor *storage, THTensor *gradInGates, THTensor *cx, THTensor *cy, THTensor *gradOutput, THTensor *gradOutputCell, THTensor *gradInputCx);
void THNN_(LSTMFused_cell)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2, THTensor *cell, THTensor *output, THTensor *outputCell, THTensor *gates);

#endif
