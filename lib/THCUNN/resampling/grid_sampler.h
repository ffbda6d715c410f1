#ifndef THNN_RESAMPLING_GRID_SAMPLER_H
#define THNN_RESAMPLING_GRID_SAMPLER_H

/* The functions of lib/THNN/resampling/grid_sampler.h for CUDA. */

#include "runtime/kernel.h"

void THNN_(gridSample)(THNNState *state, int axes, const THTensor *input, const THTensor *grid, THTensor *output);
void THNN_(gridSampleBackward)(THNNState *state, int axes, const THTensor *input, const THTensor *grid,
                               const THTensor *gradOutput, THTensor *gradInput, THTensor *gradGrid);

#endif
