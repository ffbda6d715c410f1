/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_MULTILABELMARGINCRITERION_H
#define THNN_MODULES_MULTILABELMARGINCRITERION_H

#include "runtime/kernel.h"

void THNN_(MultiLabelMarginCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *output, THTensor *isTarget, bool sizeAverage);
void THNN_(MultiLabelMarginCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *gradInput, THTensor *isTarget, bool sizeAverage);

#endif
