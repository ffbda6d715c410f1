/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_VOLUMETRICREPLICATIONPADDING_H
#define THNN_MODULES_VOLUMETRICREPLICATIONPADDING_H

#include "runtime/kernel.h"

void THNN_(VolumetricReplicationPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pleft, int pright, int ptop, int pbottom, int pfront, int pback);
void THNN_(VolumetricReplicationPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, int pleft, int pright, int ptop, int pbottom, int pfront, int pback);

#endif
