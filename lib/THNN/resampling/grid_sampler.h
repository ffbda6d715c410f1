#ifndef THNN_RESAMPLING_GRID_SAMPLER_H
#define THNN_RESAMPLING_GRID_SAMPLER_H

/* Images or volumes sampled by linear interpolation at the positions of a grid. input is (N, C, [D,] H, W), grid
   (N, [oD,] oH, oW, axes), its last dimension x, y[, z], where -1 and 1 are the centres of the first and last pixels.
   Pixels outside are 0. A position with a NaN gives NaN, unless another coordinate is outside of the image. */

#include "runtime/kernel.h"

void THNN_(gridSample)(THNNState *state, int axes, const THTensor *input, const THTensor *grid, THTensor *output);
void THNN_(gridSampleBackward)(THNNState *state, int axes, const THTensor *input, const THTensor *grid,
                               const THTensor *gradOutput, THTensor *gradInput, THTensor *gradGrid);

/* The pixels around a position along an axis of `size` pixels: `index` and the next one, with the weights 1 - fraction
   and fraction. Pixels outside do not count; -2 if both are outside. */
static inline vlane gridIndex(real coordinate, int64_t size, real *fraction)
{
  const real position = (coordinate + 1) / 2 * (real)(size - 1);
  real index = position < -1 || position >= (real)size ? -2 : position;
  index = position != position ? 0 : (real)floor(index);
  *fraction = position - index;
  return (vlane)index;
}

#endif
