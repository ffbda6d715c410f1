#include "modules/SpatialReplicationPadding.h"
#include "modules/TemporalReplicationPadding.h"
#include "modules/VolumetricReplicationPadding.h"
#include "resampling/resampling_module.h"

void THNN_(TemporalReplicationPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l,
                                                    int pad_r)
{
  THNN_(resampleOutput)(state, input, output, true, RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pad_l, pad_r)));
}

void THNN_(TemporalReplicationPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                       THTensor *gradInput, int pad_l, int pad_r)
{
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true,
                           RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pad_l, pad_r)));
}

void THNN_(SpatialReplicationPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pad_l,
                                                   int pad_r, int pad_t, int pad_b)
{
  THNN_(resampleOutput)(state, input, output, true,
                        RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pad_l, pad_r),
                                      PADDING_AXIS(RESAMPLE_REPLICATE, pad_t, pad_b)));
}

void THNN_(SpatialReplicationPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, int pad_l, int pad_r, int pad_t,
                                                      int pad_b)
{
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true,
                           RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pad_l, pad_r),
                                         PADDING_AXIS(RESAMPLE_REPLICATE, pad_t, pad_b)));
}

void THNN_(VolumetricReplicationPadding_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                      int pleft, int pright, int ptop, int pbottom, int pfront,
                                                      int pback)
{
  THNN_(resampleOutput)(state, input, output, true,
                        RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pleft, pright),
                                      PADDING_AXIS(RESAMPLE_REPLICATE, ptop, pbottom),
                                      PADDING_AXIS(RESAMPLE_REPLICATE, pfront, pback)));
}

void THNN_(VolumetricReplicationPadding_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                         THTensor *gradInput, int pleft, int pright, int ptop,
                                                         int pbottom, int pfront, int pback)
{
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, true,
                           RESAMPLE_AXES(PADDING_AXIS(RESAMPLE_REPLICATE, pleft, pright),
                                         PADDING_AXIS(RESAMPLE_REPLICATE, ptop, pbottom),
                                         PADDING_AXIS(RESAMPLE_REPLICATE, pfront, pback)));
}
