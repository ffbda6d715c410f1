/* Max unpooling: puts the maxima of a max pooling at their positions, and 0 elsewhere. */

#include "modules/SpatialMaxUnpooling.h"
#include "modules/VolumetricMaxUnpooling.h"
#include "pooling/pooling_module.h"

#define SPATIAL {2, {UNPOOLING_AXIS(owidth, 1, 0), UNPOOLING_AXIS(oheight, 1, 0)}, INDEX_INPUT}

void THNN_(SpatialMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                             THIndexTensor *indices, int owidth, int oheight)
{
  const Unpooling unpooling = SPATIAL;
  THNN_(maxUnpoolingUpdateOutput)(state, &unpooling, input, output, indices);
}

void THNN_(SpatialMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                THTensor *gradInput, THIndexTensor *indices, int owidth,
                                                int oheight)
{
  const Unpooling unpooling = SPATIAL;
  THNN_(maxUnpoolingUpdateGradInput)(state, &unpooling, input, gradOutput, gradInput, indices);
}

#define VOLUMETRIC \
  {3, {UNPOOLING_AXIS(oW, dW, pW), UNPOOLING_AXIS(oH, dH, pH), UNPOOLING_AXIS(oT, dT, pT)}, INDEX_KERNEL_PACKED}

void THNN_(VolumetricMaxUnpooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THIndexTensor *indices, int oT, int oW, int oH, int dT, int dW,
                                                int dH, int pT, int pW, int pH)
{
  const Unpooling unpooling = VOLUMETRIC;
  THNN_(maxUnpoolingUpdateOutput)(state, &unpooling, input, output, indices);
}

void THNN_(VolumetricMaxUnpooling_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                   THTensor *gradInput, THIndexTensor *indices, int oT, int oW,
                                                   int oH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  const Unpooling unpooling = VOLUMETRIC;
  THNN_(maxUnpoolingUpdateGradInput)(state, &unpooling, input, gradOutput, gradInput, indices);
}
