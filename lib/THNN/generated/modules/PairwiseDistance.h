/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_PAIRWISEDISTANCE_H
#define THNN_MODULES_PAIRWISEDISTANCE_H

#include "runtime/kernel.h"

void THNN_(PairwiseDistance_updateOutput)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *output, int p, accreal eps);
void THNN_(PairwiseDistance_backward)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *gradOutput, THTensor *gradX1, THTensor *gradX2, THTensor *output, int p, accreal eps);

#endif
