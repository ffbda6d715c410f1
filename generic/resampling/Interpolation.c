#include "modules/Interpolation.h"
#include "resampling/resampling_module.h"

/* The arguments of one axis. */
static ResampleArguments axisArguments(THNNState *state, bool isPresent, const char *name, int output, bool linear,
                                       bool align_corners, const char *scaleName, double scale)
{
  if (!isPresent && output != 1)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected 1, because input has no such dimension, got %d", output);
  if (!(scale >= 0 && scale < INFINITY))
    THNN_fail(state, THNN_VALUE_ERROR, scaleName, "expected a finite scale of at least 0, got %g", scale);
  if (align_corners && scale != 0)
    THNN_fail(state, THNN_VALUE_ERROR, scaleName, "expected 0 with align_corners, got %g", scale);
  const ResampleKind kind = !linear ? RESAMPLE_NEAREST : align_corners ? RESAMPLE_LINEAR : RESAMPLE_LINEAR_CENTERS;
  return (ResampleArguments){.kind = kind, .output = output, .scale = scale, .name = name};
}

/* Returns the number of axes. */
static int interpolationAxes(THNNState *state, const THTensor *input, ResampleArguments axes[RESAMPLING_AXES],
                             int outputDepth, int outputHeight, int outputWidth, bool linear, bool align_corners,
                             double scaleDepth, double scaleHeight, double scaleWidth)
{
  const int count = input->ndim - 2;
  if (count < 1 || count > RESAMPLING_AXES)
    THNN_fail(state, THNN_VALUE_ERROR, "input", "expected 3 to 5 dimensions (N, C, ...), got %s",
              THNN_shape(input));
  if (align_corners && !linear)
    THNN_fail(state, THNN_VALUE_ERROR, "align_corners", "expected False unless the interpolation is linear");
  axes[0] =
      axisArguments(state, true, "outputWidth", outputWidth, linear, align_corners, "scaleWidth", scaleWidth);
  axes[1] = axisArguments(state, count >= 2, "outputHeight", outputHeight, linear, align_corners, "scaleHeight",
                          scaleHeight);
  axes[2] = axisArguments(state, count >= 3, "outputDepth", outputDepth, linear, align_corners, "scaleDepth",
                          scaleDepth);
  for (int a = 0; a < count && a < RESAMPLING_AXES; a++) {
    const int64_t size = input->size[input->ndim - 1 - a];
    const bool doublesImage = !linear && count == 2 && axes[a].output == 2 * size;
    if (doublesImage || (axes[a].output == size && (linear || count == 2))) axes[a].scale = 0;
  }
  return count;
}

void THNN_(Interpolation_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputDepth,
                                       int outputHeight, int outputWidth, bool linear, bool align_corners,
                                       accreal scaleDepth, accreal scaleHeight, accreal scaleWidth)
{
  ResampleArguments axes[RESAMPLING_AXES];
  const int count = interpolationAxes(state, input, axes, outputDepth, outputHeight, outputWidth, linear,
                                      align_corners, scaleDepth, scaleHeight, scaleWidth);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleOutput)(state, input, output, false, count, axes);
}

void THNN_(Interpolation_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                          THTensor *gradInput, int outputDepth, int outputHeight, int outputWidth,
                                          bool linear, bool align_corners, accreal scaleDepth, accreal scaleHeight,
                                          accreal scaleWidth)
{
  ResampleArguments axes[RESAMPLING_AXES];
  const int count = interpolationAxes(state, input, axes, outputDepth, outputHeight, outputWidth, linear,
                                      align_corners, scaleDepth, scaleHeight, scaleWidth);
  THNN_RETURN_IF_FAILED(state);
  THNN_(resampleGradInput)(state, input, gradOutput, gradInput, false, count, axes);
}
