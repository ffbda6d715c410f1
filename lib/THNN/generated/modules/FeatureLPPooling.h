/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_FEATURELPPOOLING_H
#define THNN_MODULES_FEATURELPPOOLING_H

#include "runtime/kernel.h"

void THNN_(FeatureLPPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal power, int width, int stride, bool batchMode);
void THNN_(FeatureLPPooling_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *input, THTensor *output, THTensor *gradInput, accreal power, int width, int stride, bool batchMode);

#endif
