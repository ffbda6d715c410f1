/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LOGSOFTMAX_H
#define THNN_MODULES_LOGSOFTMAX_H

#include "runtime/kernel.h"

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output);
void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *output);

#endif
