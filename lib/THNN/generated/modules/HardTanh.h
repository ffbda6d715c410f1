/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_HARDTANH_H
#define THNN_MODULES_HARDTANH_H

#include "runtime/kernel.h"

void THNN_(HardTanh_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal min_val, accreal max_val, bool inplace);
void THNN_(HardTanh_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, accreal min_val, accreal max_val, bool inplace);

#endif
