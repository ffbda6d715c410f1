/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_MARGINRANKINGCRITERION_H
#define THNN_MODULES_MARGINRANKINGCRITERION_H

#include "runtime/kernel.h"

void THNN_(MarginRankingCriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage, accreal margin);
void THNN_(MarginRankingCriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput, bool sizeAverage, accreal margin);

#endif
