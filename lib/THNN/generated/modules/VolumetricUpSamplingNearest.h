/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICUPSAMPLINGNEAREST_H
#define THNN_MODULES_VOLUMETRICUPSAMPLINGNEAREST_H

#include "runtime/kernel.h"

void THNN_(VolumetricUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int scale_factor);
void THNN_(VolumetricUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int scale_factor);

#endif
