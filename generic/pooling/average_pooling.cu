/* Averages of sliding windows in images and volumes. */

#include "modules/SpatialAveragePooling.h"
#include "modules/VolumetricAveragePooling.h"
#include "pooling/sums.h"

using namespace thcunn::pooling;

/* The axes of a window; the sizes come from the tensors. */
#define AXIS(kernel, stride, padding) {0, 0, kernel, stride, padding, 1}
#define SPATIAL {AXIS(kH, dH, padH), AXIS(kW, dW, padW)}
#define VOLUMETRIC {AXIS(kT, dT, padT), AXIS(kH, dH, padH), AXIS(kW, dW, padW)}

void THNN_(SpatialAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int kH,
                                               int dW, int dH, int padW, int padH, bool ceil_mode,
                                               bool count_include_pad)
{
  const WindowAxis window[] = SPATIAL;
  const MeanOf<Element> mean = {count_include_pad};
  sumForward<Element>(state, 2, window, Sliding(), mean, input, output);
}

void THNN_(SpatialAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                  THTensor *gradInput, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  const WindowAxis window[] = SPATIAL;
  const MeanOf<Element> mean = {count_include_pad};
  sumBackward<Element, 2>(state, window, Sliding(), mean, gradOutput, gradInput);
}

void THNN_(VolumetricAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kT,
                                                  int kW, int kH, int dT, int dW, int dH, int padT, int padW,
                                                  int padH, bool ceil_mode, bool count_include_pad)
{
  const WindowAxis window[] = VOLUMETRIC;
  const MeanOf<Element> mean = {count_include_pad};
  sumForward<Element>(state, 3, window, Sliding(), mean, input, output);
}

void THNN_(VolumetricAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, int kT, int kW, int kH, int dT, int dW,
                                                     int dH, int padT, int padW, int padH, bool ceil_mode,
                                                     bool count_include_pad)
{
  const WindowAxis window[] = VOLUMETRIC;
  const MeanOf<Element> mean = {count_include_pad};
  sumBackward<Element, 3>(state, window, Sliding(), mean, gradOutput, gradInput);
}
