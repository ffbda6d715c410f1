/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_LOOKUPTABLEBAG_H
#define THNN_MODULES_LOOKUPTABLEBAG_H

#include "runtime/kernel.h"

void THNN_(LookupTableBag_updateOutput)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets, THTensor *output, THTensor *weight, THIndexTensor *bagSize, THIndexTensor *maxIndices, int mode, bool scaleGradByFreq, int paddingValue);
void THNN_(LookupTableBag_accGradParameters)(THNNState *state, THIndexTensor *input, THIndexTensor *offsets, THTensor *gradOutput, THTensor *gradWeight, THIndexTensor *bagSize, THIndexTensor *maxIndices, int mode, bool scaleGradByFreq, int paddingValue, accreal scale);

#endif
