/* Maxima of sliding windows in series, images and volumes. */

#include "modules/SpatialDilatedMaxPooling.h"
#include "modules/SpatialMaxPooling.h"
#include "modules/TemporalMaxPooling.h"
#include "modules/VolumetricDilatedMaxPooling.h"
#include "modules/VolumetricMaxPooling.h"
#include "pooling/pooling_module.h"

#define TEMPORAL {1, {POOLING_AXIS(kW, dW, 0, 1)}, .index = INDEX_KERNEL}

void THNN_(TemporalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THIndexTensor *indices, int kW, int dW)
{
  const PoolingWindow window = TEMPORAL;
  THNN_(maxPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(TemporalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THIndexTensor *indices, int kW, int dW)
{
  const PoolingWindow window = TEMPORAL;
  THNN_(maxPoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput, indices);
}

#define SPATIAL(dilationW, dilationH)                                              \
  {2,                                                                              \
   {POOLING_AXIS(kW, dW, padW, dilationW), POOLING_AXIS(kH, dH, padH, dilationH)}, \
   .ceilMode = ceil_mode,                                                          \
   .index = INDEX_INPUT}

void THNN_(SpatialMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                           THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW,
                                           int padH, bool ceil_mode)
{
  const PoolingWindow window = SPATIAL(1, 1);
  THNN_(maxPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(SpatialMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                              THTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW,
                                              int dH, int padW, int padH, bool ceil_mode)
{
  const PoolingWindow window = SPATIAL(1, 1);
  THNN_(maxPoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput, indices);
}

void THNN_(SpatialDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                  THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, int dilationW, int dilationH, bool ceil_mode)
{
  const PoolingWindow window = SPATIAL(dilationW, dilationH);
  THNN_(maxPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(SpatialDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, THIndexTensor *indices, int kW, int kH,
                                                     int dW, int dH, int padW, int padH, int dilationW,
                                                     int dilationH, bool ceil_mode)
{
  const PoolingWindow window = SPATIAL(dilationW, dilationH);
  THNN_(maxPoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput, indices);
}

#define VOLUMETRIC(dilationT, dilationW, dilationH)                           \
  {3,                                                                         \
   {POOLING_AXIS(kW, dW, pW, dilationW), POOLING_AXIS(kH, dH, pH, dilationH), \
    POOLING_AXIS(kT, dT, pT, dilationT)},                                     \
   .ceilMode = ceilMode,                                                      \
   .index = INDEX_KERNEL_PACKED}

void THNN_(VolumetricMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THIndexTensor *indices, int kT, int kW, int kH, int dT, int dW,
                                              int dH, int pT, int pW, int pH, bool ceilMode)
{
  const PoolingWindow window = VOLUMETRIC(1, 1, 1);
  THNN_(maxPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(VolumetricMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradInput, THIndexTensor *indices, int kT, int kW,
                                                 int kH, int dT, int dW, int dH, int pT, int pW, int pH,
                                                 bool ceilMode)
{
  const PoolingWindow window = VOLUMETRIC(1, 1, 1);
  THNN_(maxPoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput, indices);
}

void THNN_(VolumetricDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     THIndexTensor *indices, int kT, int kW, int kH, int dT,
                                                     int dW, int dH, int pT, int pW, int pH, int dilationT,
                                                     int dilationW, int dilationH, bool ceilMode)
{
  const PoolingWindow window = VOLUMETRIC(dilationT, dilationW, dilationH);
  THNN_(maxPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, THIndexTensor *indices, int kT,
                                                        int kW, int kH, int dT, int dW, int dH, int pT, int pW,
                                                        int pH, int dilationT, int dilationW, int dilationH,
                                                        bool ceilMode)
{
  const PoolingWindow window = VOLUMETRIC(dilationT, dilationW, dilationH);
  THNN_(maxPoolingUpdateGradInput)(state, &window, input, gradOutput, gradInput, indices);
}
