#include "modules/SpatialUpSamplingNearest.h"
#include "modules/TemporalUpSamplingNearest.h"
#include "modules/VolumetricUpSamplingNearest.h"
#include "resampling/resampling_module.h"

static void checkFactor(THNNState *state, int scale_factor)
{
  thnn_checkAtLeast(state, "scale_factor", scale_factor, 2);
}

void THNN_(TemporalUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleOutput)(state, input, output, true, RESAMPLE_AXES(FACTOR_AXIS(scale_factor)));
}

void THNN_(TemporalUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true, RESAMPLE_AXES(FACTOR_AXIS(scale_factor)));
}

void THNN_(SpatialUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                  int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleOutput)(state, input, output, true,
                        RESAMPLE_AXES(FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor)));
}

void THNN_(SpatialUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true,
                           RESAMPLE_AXES(FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor)));
}

void THNN_(VolumetricUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleOutput)(
      state, input, output, true,
      RESAMPLE_AXES(FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor)));
}

void THNN_(VolumetricUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, int scale_factor)
{
  checkFactor(state, scale_factor);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleGradInput)(
      state, input, gradOutput, gradInput, true,
      RESAMPLE_AXES(FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor), FACTOR_AXIS(scale_factor)));
}
