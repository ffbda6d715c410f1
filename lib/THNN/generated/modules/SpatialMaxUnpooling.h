/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#ifndef THNN_MODULES_SPATIALMAXUNPOOLING_H
#define THNN_MODULES_SPATIALMAXUNPOOLING_H

#include "runtime/kernel.h"

void THNN_(SpatialMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THIndexTensor *indices, int owidth, int oheight);
void THNN_(SpatialMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices, int owidth, int oheight);

#endif
