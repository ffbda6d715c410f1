#include "modules/SpatialReflectionPadding.h"
#include "modules/TemporalReflectionPadding.h"
#include "resampling/resampling_module.h"

void THNN_(TemporalReflectionPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l,
                                                   int pad_r)
{
  THNN_(resampleOutput)(state, input, output, true, RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REFLECT, pad_l, pad_r)));
}

void THNN_(TemporalReflectionPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, int pad_l, int pad_r)
{
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true,
                           RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REFLECT, pad_l, pad_r)));
}

void THNN_(SpatialReflectionPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l,
                                                  int pad_r, int pad_t, int pad_b)
{
  THNN_(resampleOutput)(
      state, input, output, true,
      RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REFLECT, pad_l, pad_r), PADDING_AXIS(RESAMPLE_REFLECT, pad_t, pad_b)));
}

void THNN_(SpatialReflectionPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, int pad_l, int pad_r, int pad_t,
                                                     int pad_b)
{
  THNN_(resampleGradInput)(
      state, input, gradOutput, gradInput, true,
      RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REFLECT, pad_l, pad_r), PADDING_AXIS(RESAMPLE_REFLECT, pad_t, pad_b)));
}
