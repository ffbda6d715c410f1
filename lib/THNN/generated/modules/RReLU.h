/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_RRELU_H
#define THNN_MODULES_RRELU_H

#include "runtime/kernel.h"
#include "runtime/generator.h"

void THNN_(RReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *noise, accreal lower, accreal upper, bool train, bool inplace, THGenerator *generator);
void THNN_(RReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *noise, accreal lower, accreal upper, bool train, bool inplace);

#endif
