/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_BATCHNORMALIZATION_H
#define THNN_MODULES_BATCHNORMALIZATION_H

#include "runtime/kernel.h"

void THNN_(BatchNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *running_mean, THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train, double momentum, double eps);
void THNN_(BatchNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *running_mean, THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train, double scale, double eps);
void THNN_(BatchNormalization_statistics)(THNNState *state, THTensor *input, THAccrealTensor *statistics);
void THNN_(BatchNormalization_mergeStatistics)(THNNState *state, THAccrealTensor *parts, THAccrealTensor *statistics);
void THNN_(BatchNormalization_saveStatistics)(THNNState *state, THAccrealTensor *statistics, THTensor *save_mean, THTensor *save_std, THTensor *running_mean, THTensor *running_var, double momentum, double eps, bool unbiased);
void THNN_(BatchNormalization_normalize)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias, THTensor *save_mean, THTensor *save_std, bool relu, double limit);
void THNN_(BatchNormalization_gradSums)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *weight, THTensor *bias, THTensor *save_mean, THTensor *save_std, THAccrealTensor *sums, bool relu, double limit);
void THNN_(BatchNormalization_gradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight, THTensor *bias, THTensor *save_mean, THTensor *save_std, THAccrealTensor *sums, double count, bool relu, double limit);

#endif
