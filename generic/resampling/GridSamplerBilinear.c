#include "modules/SpatialGridSamplerBilinear.h"
#include "modules/VolumetricGridSamplerBilinear.h"
#include "resampling/grid_sampler.h"
#include "runtime/pieces.h"

/* The size of the output is written to size[]. */
static void checkGrid(THNNState *state, int axes, const THTensor *input, const THTensor *grid, int64_t *size)
{
  const int ndim = axes + 2;
  THNN_CHECK(input->ndim == ndim, input, "expected %d dimensions %s, got %s", ndim,
             axes == 2 ? "(N, C, H, W)" : "(N, C, T, H, W)", THNN_shape(input));
  int64_t elements = size[0] = input->size[0];
  size[1] = input->size[1];
  for (int d = 1; d < ndim; d++)
    THNN_CHECK(input->size[d] > 0 && (d == 1 || input->size[d] < 1 << 24), input,
               "expected no empty dimension but N, and less than 2^24 pixels along each axis, got %s",
               THNN_shape(input));
  THNN_CHECK(grid->ndim == ndim && grid->size[0] == input->size[0] && grid->size[ndim - 1] == axes, grid,
             "expected %d dimensions %s with N = %lld, got %s", ndim,
             axes == 2 ? "(N, oH, oW, 2)" : "(N, oT, oH, oW, 3)", (long long)input->size[0], THNN_shape(grid));
  bool fits = true;
  for (int d = 1; d < ndim; d++) {
    if (d > 1) size[d] = grid->size[d - 1];
    THNN_CHECK(size[d] > 0, grid, "expected no empty dimension but N, got %s", THNN_shape(grid));
    fits &= !__builtin_mul_overflow(elements, size[d], &elements);
  }
  THNN_CHECK(fits && elements < INT64_MAX / 16, grid, "%s gives an output too large to address", THNN_shape(grid));
}

static void updateOutput(THNNState *state, int axes, THTensor *input, THTensor *grid, THTensor *output)
{
  int64_t size[THNN_MAX_DIM];
  checkGrid(state, axes, input, grid, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_resize(state, "output", output, axes + 2, size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, grid);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_READ(grid), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, 1, tensors, { THNN_(gridSample)(state, axes, t[0], t[1], t[2]); });
}

static void updateGradInput(THNNState *state, int axes, THTensor *input, THTensor *gradInput, THTensor *grid,
                            THTensor *gradGrid, THTensor *gradOutput)
{
  int64_t size[THNN_MAX_DIM];
  checkGrid(state, axes, input, grid, size);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkGradOutput(state, gradOutput, axes + 2, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RESIZE_LIKE(gradGrid, grid);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, grid);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradGrid, input);
  THNN_CHECK_NO_OVERLAP(gradGrid, grid);
  THNN_CHECK_NO_OVERLAP(gradGrid, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradGrid, gradInput);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_READ(grid), THNN_READ(gradOutput), THNN_WRITTEN(gradInput),
                                 THNN_WRITTEN(gradGrid)};
  THNN_BY_PIECES(state, t, 1, tensors, { THNN_(gridSampleBackward)(state, axes, t[0], t[1], t[2], t[3], t[4]); });
}

void THNN_(SpatialGridSamplerBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *grid,
                                                    THTensor *output)
{
  updateOutput(state, 2, input, grid, output);
}

void THNN_(SpatialGridSamplerBilinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradInput,
                                                       THTensor *grid, THTensor *gradGrid, THTensor *gradOutput)
{
  updateGradInput(state, 2, input, gradInput, grid, gradGrid, gradOutput);
}

void THNN_(VolumetricGridSamplerBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *grid,
                                                       THTensor *output)
{
  updateOutput(state, 3, input, grid, output);
}

void THNN_(VolumetricGridSamplerBilinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradInput,
                                                          THTensor *grid, THTensor *gradGrid, THTensor *gradOutput)
{
  updateGradInput(state, 3, input, gradInput, grid, gradGrid, gradOutput);
}
