/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_INTERPOLATION_H
#define THNN_MODULES_INTERPOLATION_H

#include "runtime/kernel.h"

void THNN_(Interpolation_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputDepth, int outputHeight, int outputWidth, bool linear, bool align_corners, accreal scaleDepth, accreal scaleHeight, accreal scaleWidth);
void THNN_(Interpolation_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int outputDepth, int outputHeight, int outputWidth, bool linear, bool align_corners, accreal scaleDepth, accreal scaleHeight, accreal scaleWidth);

#endif
