/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_INDEXLINEAR_H
#define THNN_MODULES_INDEXLINEAR_H

#include "runtime/kernel.h"

void THNN_(IndexLinear_updateOutput)(THNNState *state, THIndexTensor *keys, int64_t keysOffset, THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes, THTensor *output, THTensor *weight, THTensor *bias, THTensor *normalizedValues, int train);
void THNN_(IndexLinear_accGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset, THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes, THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *bias, THTensor *valuesBuffer, accreal weightDecay, accreal scale);
void THNN_(IndexLinear_accUpdateGradParameters)(THNNState *state, THIndexTensor *keys, int64_t keysOffset, THTensor *values, THIndexTensor *sizes, THIndexTensor *cumSumSizes, THTensor *gradOutput, THTensor *weight, THTensor *bias, accreal weightDecay, accreal scale);
void THNN_(IndexLinear_updateParameters)(THNNState *state, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *bias, THIndexTensor *runningKeys, THIndexTensor *cumSumSizes, int64_t keysOffset, accreal weightDecay, accreal learningRate);

#endif
