/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_THRESHOLD_H
#define THNN_MODULES_THRESHOLD_H

#include "runtime/kernel.h"

void THNN_(Threshold_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal threshold, accreal val, bool inplace);
void THNN_(Threshold_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, accreal threshold, accreal val, bool inplace);

#endif
