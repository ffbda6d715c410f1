/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_GAUSSIANNLLCRITERION_H
#define THNN_MODULES_GAUSSIANNLLCRITERION_H

#include "runtime/kernel.h"

void THNN_(GaussianNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *var, THTensor *output, bool sizeAverage, accreal eps);
void THNN_(GaussianNLLCriterion_backward)(THNNState *state, THTensor *input, THTensor *target, THTensor *var, THTensor *gradInput, THTensor *gradVar, bool sizeAverage, accreal eps);

#endif
