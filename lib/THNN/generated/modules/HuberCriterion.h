/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_HUBERCRITERION_H
#define THNN_MODULES_HUBERCRITERION_H

#include "runtime/kernel.h"

void THNN_(HuberCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage, accreal delta);
void THNN_(HuberCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage, accreal delta);

#endif
