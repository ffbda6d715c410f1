#ifndef THNN_GENERIC_POOLING_SUBSAMPLING_MODULE_H
#define THNN_GENERIC_POOLING_SUBSAMPLING_MODULE_H

#include "convolution/convolution.h"

/* TemporalSubSampling and SpatialSubSampling: depthwise convolutions in which all kernel elements of a channel share
   one weight. The order of dimensions follows from the dims of the geometry: (N, T, C) for 1, (N, C, H, W) for 2, with
   or without N. */

/* Checks kernel, stride, channels and weight (or gradWeight, see weightName), and sets groups and output sizes. */
void THNN_(subSamplingCheck)(THNNState *state, Convolution *g, const THTensor *input, const THTensor *weight,
                             const char *weightName);

void THNN_(subSamplingUpdateOutput)(THNNState *state, const Convolution *g, THTensor *input, THTensor *output,
                                    THTensor *weight, THTensor *bias);

void THNN_(subSamplingUpdateGradInput)(THNNState *state, const Convolution *g, THTensor *input,
                                       THTensor *gradOutput, THTensor *gradInput, THTensor *weight);

void THNN_(subSamplingAccGradParameters)(THNNState *state, const Convolution *g, THTensor *input,
                                         THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                         accreal scale);

#endif
