/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_POISSONRATENLLCRITERION_H
#define THNN_MODULES_POISSONRATENLLCRITERION_H

#include "runtime/kernel.h"

void THNN_(PoissonRateNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage, accreal eps);
void THNN_(PoissonRateNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage, accreal eps);

#endif
