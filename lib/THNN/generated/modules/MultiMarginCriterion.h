/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_MULTIMARGINCRITERION_H
#define THNN_MODULES_MULTIMARGINCRITERION_H

#include "runtime/kernel.h"

void THNN_(MultiMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *output, bool sizeAverage, int p, THTensor *weights, accreal margin);
void THNN_(MultiMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *gradInput, bool sizeAverage, int p, THTensor *weights, accreal margin);

#endif
