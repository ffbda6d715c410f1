/* Adaptive and fractional pooling: the number of regions is an argument. Adaptive regions follow from it and the size
   of the input; the size of fractional regions is also an argument, and they depend on random samples. */

#include "modules/SpatialAdaptiveAveragePooling.h"
#include "modules/SpatialAdaptiveMaxPooling.h"
#include "modules/SpatialFractionalMaxPooling.h"
#include "modules/VolumetricAdaptiveAveragePooling.h"
#include "modules/VolumetricFractionalMaxPooling.h"
#include "pooling/pooling_module.h"

void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                       int osizeW, int osizeH)
{
  const RegionWindow window = {2, {ADAPTIVE_AXIS(osizeW), ADAPTIVE_AXIS(osizeH)}};
  THNN_(regionPoolingUpdateOutput)(state, &window, input, output, NULL);
}

void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                          THTensor *gradInput)
{
  THNN_(regionPoolingUpdateGradInput)(state, NULL, 2, input, gradOutput, gradInput, NULL);
}

void THNN_(VolumetricAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                          int osizeT, int osizeW, int osizeH)
{
  const RegionWindow window = {3, {ADAPTIVE_AXIS(osizeW), ADAPTIVE_AXIS(osizeH), ADAPTIVE_AXIS(osizeT)}};
  THNN_(regionPoolingUpdateOutput)(state, &window, input, output, NULL);
}

void THNN_(VolumetricAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                             THTensor *gradOutput, THTensor *gradInput)
{
  THNN_(regionPoolingUpdateGradInput)(state, NULL, 3, input, gradOutput, gradInput, NULL);
}

void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THIndexTensor *indices, int owidth, int oheight)
{
  const RegionWindow window = {2, {ADAPTIVE_AXIS(owidth), ADAPTIVE_AXIS(oheight)}};
  THNN_(regionPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THIndexTensor *indices)
{
  THNN_(regionPoolingUpdateGradInput)(state, NULL, 2, input, gradOutput, gradInput, indices);
}

/* randomSamples has (width, height) per plane, or (depth, width, height) per volume. */
#define FRACTIONAL_2(samples) \
  {2, {FRACTIONAL_AXIS(outputW, poolSizeW, 0), FRACTIONAL_AXIS(outputH, poolSizeH, 1)}, samples, false}
#define FRACTIONAL_3(samples)                                                       \
  {3,                                                                               \
   {FRACTIONAL_AXIS(outputT, poolSizeT, 0), FRACTIONAL_AXIS(outputW, poolSizeW, 1), \
    FRACTIONAL_AXIS(outputH, poolSizeH, 2)},                                        \
   samples,                                                                         \
   true}

void THNN_(SpatialFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     int outputW, int outputH, int poolSizeW, int poolSizeH,
                                                     THIndexTensor *indices, THTensor *randomSamples)
{
  const RegionWindow window = FRACTIONAL_2(randomSamples);
  THNN_(regionPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(SpatialFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, int outputW, int outputH,
                                                        int poolSizeW, int poolSizeH, THIndexTensor *indices)
{
  const RegionWindow window = FRACTIONAL_2(NULL);
  THNN_(regionPoolingUpdateGradInput)(state, &window, 2, input, gradOutput, gradInput, indices);
}

void THNN_(VolumetricFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                        int outputT, int outputW, int outputH, int poolSizeT,
                                                        int poolSizeW, int poolSizeH, THIndexTensor *indices,
                                                        THTensor *randomSamples)
{
  const RegionWindow window = FRACTIONAL_3(randomSamples);
  THNN_(regionPoolingUpdateOutput)(state, &window, input, output, indices);
}

void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                           THTensor *gradInput, int outputT, int outputW,
                                                           int outputH, int poolSizeT, int poolSizeW,
                                                           int poolSizeH, THIndexTensor *indices)
{
  const RegionWindow window = FRACTIONAL_3(NULL);
  THNN_(regionPoolingUpdateGradInput)(state, &window, 3, input, gradOutput, gradInput, indices);
}
