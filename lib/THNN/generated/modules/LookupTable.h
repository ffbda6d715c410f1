/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LOOKUPTABLE_H
#define THNN_MODULES_LOOKUPTABLE_H

#include "runtime/kernel.h"

void THNN_(LookupTable_updateOutput)(THNNState *state, THIndexTensor *input, THTensor *output, THTensor *weight, bool scaleGradByFreq, int paddingValue);
void THNN_(LookupTable_accGradParameters)(THNNState *state, THIndexTensor *input, THTensor *gradOutput, THTensor *gradWeight, THIntegerTensor *count, THTensor *sorted, THIndexTensor *indices, bool scaleGradByFreq, int paddingValue, accreal scale);
void THNN_(LookupTable_renorm)(THNNState *state, THIndexTensor *idx, THTensor *weight, accreal maxNorm, accreal normType);

#endif
