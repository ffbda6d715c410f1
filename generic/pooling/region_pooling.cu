/* Adaptive and fractional pooling: the number of regions is the size of the output. */

#include "modules/SpatialAdaptiveAveragePooling.h"
#include "modules/SpatialAdaptiveMaxPooling.h"
#include "modules/SpatialFractionalMaxPooling.h"
#include "modules/VolumetricAdaptiveAveragePooling.h"
#include "modules/VolumetricFractionalMaxPooling.h"
#include "pooling/maxima.h"
#include "pooling/named_inputs.h"
#include "pooling/sums.h"

using namespace thcunn::pooling;

/* The size of fractional regions along an axis; the number of regions is the size of the output. */
#define REGION(size) {0, 0, size, 1, 0, 1}

#define SAMPLE_CHECK thcunn::numberCheck(state, "randomSamples", "expected numbers from 0 to 1")

/* Adaptive regions depend only on sizes. */
static const WindowAxis ADAPTIVE[WINDOW_AXES] = {REGION(1), REGION(1), REGION(1)};
static const MeanOf<Element> MEAN = {false};

void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                       int osizeW, int osizeH)
{
  sumForward<Element>(state, 2, ADAPTIVE, Adaptive(), MEAN, input, output);
}

void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                          THTensor *gradInput)
{
  sumBackward<Element, 2>(state, ADAPTIVE, Adaptive(), MEAN, gradOutput, gradInput);
}

void THNN_(VolumetricAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                          int osizeT, int osizeW, int osizeH)
{
  sumForward<Element>(state, 3, ADAPTIVE, Adaptive(), MEAN, input, output);
}

void THNN_(VolumetricAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                             THTensor *gradOutput, THTensor *gradInput)
{
  sumBackward<Element, 3>(state, ADAPTIVE, Adaptive(), MEAN, gradOutput, gradInput);
}

void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   THIndexTensor *indices, int owidth, int oheight)
{
  maxForward<Element>(state, 2, ADAPTIVE, Adaptive(), INDEX_INPUT, input, output, indices);
}

void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradInput, THIndexTensor *indices)
{
  maxBackward<Element, 2, INDEX_INPUT>(state, ADAPTIVE, Adaptive(), false, gradOutput, indices, gradInput);
}

void THNN_(SpatialFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                     int outputW, int outputH, int poolSizeW, int poolSizeH,
                                                     THIndexTensor *indices, THTensor *randomSamples)
{
  const WindowAxis window[] = {REGION(poolSizeH), REGION(poolSizeW)};
  const Fractional<Element> regions = {randomSamples, 2, {1, 0}, SAMPLE_CHECK};
  maxForward<Element>(state, 2, window, regions, INDEX_INPUT, input, output, indices);
}

void THNN_(SpatialFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                        THTensor *gradInput, int outputW, int outputH,
                                                        int poolSizeW, int poolSizeH, THIndexTensor *indices)
{
  const WindowAxis window[] = {REGION(poolSizeH), REGION(poolSizeW)};
  const Fractional<Element> regions = {NULL, 2, {1, 0}, {}};
  maxBackward<Element, 2, INDEX_INPUT>(state, window, regions, false, gradOutput, indices, gradInput);
}

void THNN_(VolumetricFractionalMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                        int outputT, int outputW, int outputH, int poolSizeT,
                                                        int poolSizeW, int poolSizeH, THIndexTensor *indices,
                                                        THTensor *randomSamples)
{
  const WindowAxis window[] = {REGION(poolSizeH), REGION(poolSizeW), REGION(poolSizeT)};
  const Fractional<Element> regions = {randomSamples, 3, {2, 1, 0}, SAMPLE_CHECK};
  maxForward<Element>(state, 3, window, regions, INDEX_INPUT, input, output, indices);
}

void THNN_(VolumetricFractionalMaxPooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                           THTensor *gradInput, int outputT, int outputW,
                                                           int outputH, int poolSizeT, int poolSizeW,
                                                           int poolSizeH, THIndexTensor *indices)
{
  const WindowAxis window[] = {REGION(poolSizeH), REGION(poolSizeW), REGION(poolSizeT)};
  const Fractional<Element> regions = {NULL, 3, {2, 1, 0}, {}};
  maxBackward<Element, 3, INDEX_INPUT>(state, window, regions, false, gradOutput, indices, gradInput);
}
