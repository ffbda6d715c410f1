/* Max unpooling: puts the maxima of a max pooling at their positions, and 0 elsewhere. */

#include "modules/SpatialMaxUnpooling.h"
#include "modules/VolumetricMaxUnpooling.h"
#include "pooling/unpooling.h"

using namespace thcunn::pooling;

/* An axis of the window of the pooling. Indices of a volume name kernel elements, which are below 256. */
#define AXIS(kernel, stride, padding) {0, 0, kernel, stride, padding, 1}

void THNN_(SpatialMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                             THIndexTensor *indices, int owidth, int oheight)
{
  const WindowAxis window[] = {AXIS(1, 1, 0), AXIS(1, 1, 0)};
  unpool<Element, INDEX_INPUT>(state, 2, window, input, indices, output);
}

void THNN_(SpatialMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                THTensor *gradInput, THIndexTensor *indices, int owidth,
                                                int oheight)
{
  const WindowAxis window[] = {AXIS(1, 1, 0), AXIS(1, 1, 0)};
  takeNamed<Element, INDEX_INPUT>(state, 2, window, gradOutput, indices, gradInput);
}

void THNN_(VolumetricMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THIndexTensor *indices, int oT, int oW, int oH, int dT, int dW,
                                                int dH, int pT, int pW, int pH)
{
  const WindowAxis window[] = {AXIS(256, dT, pT), AXIS(256, dH, pH), AXIS(256, dW, pW)};
  unpool<Element, INDEX_KERNEL_PACKED>(state, 3, window, input, indices, output);
}

void THNN_(VolumetricMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                   THTensor *gradInput, THIndexTensor *indices, int oT, int oW,
                                                   int oH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  const WindowAxis window[] = {AXIS(256, dT, pT), AXIS(256, dH, pH), AXIS(256, dW, pW)};
  takeNamed<Element, INDEX_KERNEL_PACKED>(state, 3, window, gradOutput, indices, gradInput);
}
