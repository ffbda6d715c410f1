#include "modules/SpatialUpSamplingBilinear.h"
#include "modules/TemporalUpSamplingLinear.h"
#include "modules/VolumetricUpSamplingTrilinear.h"
#include "resampling/resampling_module.h"

void THNN_(TemporalUpSamplingLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                  int outputWidth)
{
  THNN_(resampleOutput)(state, input, output, false, RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth)));
}

void THNN_(TemporalUpSamplingLinear_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput,
                                                     int nbatch, int nchannels, int inputWidth, int outputWidth)
{
  const int64_t size[] = {nbatch, nchannels, inputWidth};
  THNN_(resampleGradInputSized)(state, size, gradOutput, gradInput,
                                RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth)));
}

void THNN_(SpatialUpSamplingBilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                   int outputHeight, int outputWidth)
{
  THNN_(resampleOutput)(
      state, input, output, false,
      RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth), SIZE_AXIS(RESAMPLE_LINEAR, outputHeight)));
}

void THNN_(SpatialUpSamplingBilinear_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput,
                                                      int nbatch, int nchannels, int inputHeight, int inputWidth,
                                                      int outputHeight, int outputWidth)
{
  const int64_t size[] = {nbatch, nchannels, inputHeight, inputWidth};
  THNN_(resampleGradInputSized)(
      state, size, gradOutput, gradInput,
      RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth), SIZE_AXIS(RESAMPLE_LINEAR, outputHeight)));
}

void THNN_(VolumetricUpSamplingTrilinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                       int outputDepth, int outputHeight, int outputWidth)
{
  THNN_(resampleOutput)(state, input, output, false,
                        RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth),
                                      SIZE_AXIS(RESAMPLE_LINEAR, outputHeight),
                                      SIZE_AXIS(RESAMPLE_LINEAR, outputDepth)));
}

void THNN_(VolumetricUpSamplingTrilinear_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                                          THTensor *gradInput, int nbatch, int nchannels,
                                                          int inputDepth, int inputHeight, int inputWidth,
                                                          int outputDepth, int outputHeight, int outputWidth)
{
  const int64_t size[] = {nbatch, nchannels, inputDepth, inputHeight, inputWidth};
  THNN_(resampleGradInputSized)(state, size, gradOutput, gradInput,
                                RESAMPLE_AXES(SIZE_AXIS(RESAMPLE_LINEAR, outputWidth),
                                              SIZE_AXIS(RESAMPLE_LINEAR, outputHeight),
                                              SIZE_AXIS(RESAMPLE_LINEAR, outputDepth)));
}
