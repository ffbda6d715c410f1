/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_BCEWITHLOGITSCRITERION_H
#define THNN_MODULES_BCEWITHLOGITSCRITERION_H

#include "runtime/kernel.h"

void THNN_(BCEWithLogitsCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage, THTensor *weights);
void THNN_(BCEWithLogitsCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage, THTensor *weights);

#endif
