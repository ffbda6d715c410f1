/* Maxima of sliding windows in series, images and volumes. */

#include "modules/SpatialDilatedMaxPooling.h"
#include "modules/SpatialMaxPooling.h"
#include "modules/TemporalMaxPooling.h"
#include "modules/VolumetricDilatedMaxPooling.h"
#include "modules/VolumetricMaxPooling.h"
#include "pooling/maxima.h"
#include "pooling/named_inputs.h"

using namespace thcunn::pooling;

/* The axes of a window; the sizes come from the tensors. */
#define AXIS(kernel, stride, padding, dilation) {0, 0, kernel, stride, padding, dilation}
#define TEMPORAL {AXIS(kW, dW, 0, 1)}
#define SPATIAL(dilationW, dilationH) {AXIS(kH, dH, padH, dilationH), AXIS(kW, dW, padW, dilationW)}
#define VOLUMETRIC(dilationT, dilationW, dilationH) \
  {AXIS(kT, dT, pT, dilationT), AXIS(kH, dH, pH, dilationH), AXIS(kW, dW, pW, dilationW)}

void THNN_(TemporalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THIndexTensor *indices, int kW, int dW)
{
  const WindowAxis window[] = TEMPORAL;
  maxForward<Element>(state, 1, window, Sliding(), INDEX_KERNEL, input, output, indices);
}

void THNN_(TemporalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THIndexTensor *indices, int kW, int dW)
{
  const WindowAxis window[] = TEMPORAL;
  maxBackward<Element, 1, INDEX_KERNEL>(state, window, Sliding(), true, gradOutput, indices, gradInput);
}

void THNN_(SpatialMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                           THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW,
                                           int padH, bool ceil_mode)
{
  const WindowAxis window[] = SPATIAL(1, 1);
  maxForward<Element>(state, 2, window, Sliding(), INDEX_INPUT, input, output, indices);
}

void THNN_(SpatialMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                              THTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW,
                                              int dH, int padW, int padH, bool ceil_mode)
{
  const WindowAxis window[] = SPATIAL(1, 1);
  maxBackward<Element, 2, INDEX_INPUT>(state, window, Sliding(), true, gradOutput, indices, gradInput);
}

void THNN_(SpatialDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                  THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW,
                                                  int padH, int dilationW, int dilationH, bool ceil_mode)
{
  const WindowAxis window[] = SPATIAL(dilationW, dilationH);
  maxForward<Element>(state, 2, window, Sliding(), INDEX_INPUT, input, output, indices);
}

void THNN_(SpatialDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                     THTensor *gradInput, THIndexTensor *indices, int kW, int kH,
                                                     int dW, int dH, int padW, int padH, int dilationW,
                                                     int dilationH, bool ceil_mode)
{
  const WindowAxis window[] = SPATIAL(dilationW, dilationH);
  maxBackward<Element, 2, INDEX_INPUT>(state, window, Sliding(), true, gradOutput, indices, gradInput);
}

void THNN_(VolumetricMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THIndexTensor *indices, int kT, int kW, int kH, int dT, int dW,
                                              int dH, int pT, int pW, int pH, bool ceilMode)
{
  const WindowAxis window[] = VOLUMETRIC(1, 1, 1);
  maxForward<Element>(state, 3, window, Sliding(), INDEX_KERNEL_PACKED, input, output, indices);
}

void THNN_(VolumetricMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                 THTensor *gradInput, THIndexTensor *indices, int kT, int kW,
                                                 int kH, int dT, int dW, int dH, int pT, int pW, int pH,
                                                 bool ceilMode)
{
  const WindowAxis window[] = VOLUMETRIC(1, 1, 1);
  maxBackward<Element, 3, INDEX_KERNEL_PACKED>(state, window, Sliding(), true, gradOutput, indices, gradInput);
}

void THNN_(VolumetricDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     THIndexTensor *indices, int kT, int kW, int kH, int dT,
                                                     int dW, int dH, int pT, int pW, int pH, int dilationT,
                                                     int dilationW, int dilationH, bool ceilMode)
{
  const WindowAxis window[] = VOLUMETRIC(dilationT, dilationW, dilationH);
  maxForward<Element>(state, 3, window, Sliding(), INDEX_KERNEL_PACKED, input, output, indices);
}

void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, THIndexTensor *indices, int kT,
                                                        int kW, int kH, int dT, int dW, int dH, int pT, int pW,
                                                        int pH, int dilationT, int dilationW, int dilationH,
                                                        bool ceilMode)
{
  const WindowAxis window[] = VOLUMETRIC(dilationT, dilationW, dilationH);
  maxBackward<Element, 3, INDEX_KERNEL_PACKED>(state, window, Sliding(), true, gradOutput, indices, gradInput);
}
