/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_COSINEEMBEDDINGCRITERION_H
#define THNN_MODULES_COSINEEMBEDDINGCRITERION_H

#include "runtime/kernel.h"

void THNN_(CosineEmbeddingCriterion_updateOutput)(THNNState *state, THTensor *input1, THTensor *input2, THTensor *target, THTensor *output, bool sizeAverage, accreal margin);
void THNN_(CosineEmbeddingCriterion_backward)(THNNState *state, THTensor *input1, THTensor *input2, THTensor *target, THTensor *gradInput1, THTensor *gradInput2, bool sizeAverage, accreal margin);

#endif
