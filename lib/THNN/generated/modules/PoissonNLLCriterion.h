/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_POISSONNLLCRITERION_H
#define THNN_MODULES_POISSONNLLCRITERION_H

#include "runtime/kernel.h"

void THNN_(PoissonNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage);
void THNN_(PoissonNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage);

#endif
