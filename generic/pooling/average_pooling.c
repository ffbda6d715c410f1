/* Averages of sliding windows in images and volumes. */

#include "modules/SpatialAveragePooling.h"
#include "modules/VolumetricAveragePooling.h"
#include "pooling/pooling_module.h"

#define SPATIAL                                                    \
  {2,                                                              \
   {POOLING_AXIS(kW, dW, padW, 1), POOLING_AXIS(kH, dH, padH, 1)}, \
   .ceilMode = ceil_mode,                                          \
   .countPadding = count_include_pad}

void THNN_(SpatialAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int kH,
                                               int dW, int dH, int padW, int padH, bool ceil_mode,
                                               bool count_include_pad)
{
  const PoolingWindow window = SPATIAL;
  THNN_(averagePoolingUpdateOutput)(state, &window, input, output);
}

void THNN_(SpatialAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  const PoolingWindow window = SPATIAL;
  THNN_(averagePoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput);
}

#define VOLUMETRIC                                                                                \
  {3,                                                                                             \
   {POOLING_AXIS(kW, dW, padW, 1), POOLING_AXIS(kH, dH, padH, 1), POOLING_AXIS(kT, dT, padT, 1)}, \
   .ceilMode = ceil_mode,                                                                         \
   .countPadding = count_include_pad,                                                             \
   .kernelInInput = true}

void THNN_(VolumetricAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kT,
                                                  int kW, int kH, int dT, int dW, int dH, int padT, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  const PoolingWindow window = VOLUMETRIC;
  THNN_(averagePoolingUpdateOutput)(state, &window, input, output);
}

void THNN_(VolumetricAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, int kT, int kW, int kH, int dT, int dW,
                                                     int dH, int padT, int padW, int padH, bool ceil_mode,
                                                     bool count_include_pad)
{
  const PoolingWindow window = VOLUMETRIC;
  THNN_(averagePoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput);
}
