/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */

#include "../THNN.h"
#include "../benchmark.h"
#include "../dispatch.h"
#include "../python/exchange.h"

static const char *const thnn_digest = "e240f2d0b82123c1";

static int SpatialConvolutionMM_updateOutput(int flags, uintptr_t input, uintptr_t output, uintptr_t weight, uintptr_t bias, uintptr_t finput, uintptr_t fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  const uintptr_t handles[] = {input, output, weight, bias, finput, fgradInput};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 6, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  else THNN_DoubleSpatialConvolutionMM_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  return state->status;
}

static int SpatialConvolutionMM_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t weight, uintptr_t finput, uintptr_t fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, weight, finput, fgradInput};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 6, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateGradInput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  else THNN_DoubleSpatialConvolutionMM_updateGradInput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  return state->status;
}

static int SpatialConvolutionMM_accGradParameters(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradWeight, uintptr_t gradBias, uintptr_t finput, uintptr_t fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  const uintptr_t handles[] = {input, gradOutput, gradWeight, gradBias, finput, fgradInput};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 6, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH, scale);
  else THNN_DoubleSpatialConvolutionMM_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH, scale);
  return state->status;
}

static int Linear_updateOutput(int flags, uintptr_t input, uintptr_t output, uintptr_t weight, uintptr_t bias, uintptr_t addBuffer)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}};
  const uintptr_t handles[] = {input, output, weight, bias, addBuffer};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 5, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateOutput(state, t[0], t[1], t[2], t[3], t[4]);
  else THNN_DoubleLinear_updateOutput(state, t[0], t[1], t[2], t[3], t[4]);
  return state->status;
}

static int Linear_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t weight)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, weight};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleLinear_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int Linear_accGradParameters(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t weight, uintptr_t bias, uintptr_t gradWeight, uintptr_t gradBias, uintptr_t addBuffer, double scale)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, weight, bias, gradWeight, gradBias, addBuffer};
  THNNTensor views[8], *t[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 8, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], scale);
  else THNN_DoubleLinear_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], scale);
  return state->status;
}

static int BatchNormalization_updateOutput(int flags, uintptr_t input, uintptr_t output, uintptr_t weight, uintptr_t bias, uintptr_t running_mean, uintptr_t running_var, uintptr_t save_mean, uintptr_t save_std, bool train, double momentum, double eps)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, false, 7}, {GLUE_REAL, false, 8}};
  const uintptr_t handles[] = {input, output, weight, bias, running_mean, running_var, save_mean, save_std};
  THNNTensor views[8], *t[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 8, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], train, momentum, eps);
  else THNN_DoubleBatchNormalization_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], train, momentum, eps);
  return state->status;
}

static int BatchNormalization_backward(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t gradWeight, uintptr_t gradBias, uintptr_t weight, uintptr_t running_mean, uintptr_t running_var, uintptr_t save_mean, uintptr_t save_std, bool train, double scale, double eps)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, false, 7}, {GLUE_REAL, false, 8}, {GLUE_REAL, false, 9}, {GLUE_REAL, false, 10}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, gradWeight, gradBias, weight, running_mean, running_var, save_mean, save_std};
  THNNTensor views[10], *t[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 10, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_backward(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], train, scale, eps);
  else THNN_DoubleBatchNormalization_backward(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], train, scale, eps);
  return state->status;
}

static int SpatialMaxPooling_updateOutput(int flags, uintptr_t input, uintptr_t output, uintptr_t indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INDEX, false, 3}};
  const uintptr_t handles[] = {input, output, indices};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateOutput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode);
  else THNN_DoubleSpatialMaxPooling_updateOutput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode);
  return state->status;
}

static int SpatialMaxPooling_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_INDEX, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, indices};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateGradInput(state, t[0], t[1], t[2], t[3], kW, kH, dW, dH, padW, padH, ceil_mode);
  else THNN_DoubleSpatialMaxPooling_updateGradInput(state, t[0], t[1], t[2], t[3], kW, kH, dW, dH, padW, padH, ceil_mode);
  return state->status;
}

static int SpatialAveragePooling_updateOutput(int flags, uintptr_t input, uintptr_t output, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateOutput(state, t[0], t[1], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  else THNN_DoubleSpatialAveragePooling_updateOutput(state, t[0], t[1], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  return state->status;
}

static int SpatialAveragePooling_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, gradOutput, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateGradInput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  else THNN_DoubleSpatialAveragePooling_updateGradInput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  return state->status;
}

static int Threshold_updateOutput(int flags, uintptr_t input, uintptr_t output, double threshold, double val, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateOutput(state, t[0], t[1], threshold, val, inplace);
  else THNN_DoubleThreshold_updateOutput(state, t[0], t[1], threshold, val, inplace);
  return state->status;
}

static int Threshold_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, double threshold, double val, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, gradOutput, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateGradInput(state, t[0], t[1], t[2], threshold, val, inplace);
  else THNN_DoubleThreshold_updateGradInput(state, t[0], t[1], t[2], threshold, val, inplace);
  return state->status;
}

static int LeakyReLU_updateOutput(int flags, uintptr_t input, uintptr_t output, double negval, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateOutput(state, t[0], t[1], negval, inplace);
  else THNN_DoubleLeakyReLU_updateOutput(state, t[0], t[1], negval, inplace);
  return state->status;
}

static int LeakyReLU_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, double negval, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, gradOutput, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateGradInput(state, t[0], t[1], t[2], negval, inplace);
  else THNN_DoubleLeakyReLU_updateGradInput(state, t[0], t[1], t[2], negval, inplace);
  return state->status;
}

static int Sigmoid_updateOutput(int flags, uintptr_t input, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateOutput(state, t[0], t[1]);
  else THNN_DoubleSigmoid_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int Sigmoid_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, output};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleSigmoid_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int Tanh_updateOutput(int flags, uintptr_t input, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateOutput(state, t[0], t[1]);
  else THNN_DoubleTanh_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int Tanh_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, output};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleTanh_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int SoftMax_updateOutput(int flags, uintptr_t input, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateOutput(state, t[0], t[1]);
  else THNN_DoubleSoftMax_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int SoftMax_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, output};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int LogSoftMax_updateOutput(int flags, uintptr_t input, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  const uintptr_t handles[] = {input, output};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 2, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateOutput(state, t[0], t[1]);
  else THNN_DoubleLogSoftMax_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int LogSoftMax_updateGradInput(int flags, uintptr_t input, uintptr_t gradOutput, uintptr_t gradInput, uintptr_t output)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  const uintptr_t handles[] = {input, gradOutput, gradInput, output};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleLogSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int ClassNLLCriterion_updateOutput(int flags, uintptr_t input, uintptr_t target, uintptr_t output, bool sizeAverage, uintptr_t weights, uintptr_t total_weight, int64_t ignore_index)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}};
  const uintptr_t handles[] = {input, target, output, weights, total_weight};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 5, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  else THNN_DoubleClassNLLCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  return state->status;
}

static int ClassNLLCriterion_updateGradInput(int flags, uintptr_t input, uintptr_t target, uintptr_t gradInput, bool sizeAverage, uintptr_t weights, uintptr_t total_weight, int64_t ignore_index)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}};
  const uintptr_t handles[] = {input, target, gradInput, weights, total_weight};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 5, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  else THNN_DoubleClassNLLCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  return state->status;
}

static int MSECriterion_updateOutput(int flags, uintptr_t input, uintptr_t target, uintptr_t output, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, output};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleMSECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int MSECriterion_updateGradInput(int flags, uintptr_t input, uintptr_t target, uintptr_t gradInput, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleMSECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int SmoothL1Criterion_updateOutput(int flags, uintptr_t input, uintptr_t target, uintptr_t output, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, output};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleSmoothL1Criterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int SmoothL1Criterion_updateGradInput(int flags, uintptr_t input, uintptr_t target, uintptr_t gradInput, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleSmoothL1Criterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int BCECriterion_updateOutput(int flags, uintptr_t input, uintptr_t target, uintptr_t output, bool sizeAverage, uintptr_t weights)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}};
  const uintptr_t handles[] = {input, target, output, weights};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  else THNN_DoubleBCECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  return state->status;
}

static int BCECriterion_updateGradInput(int flags, uintptr_t input, uintptr_t target, uintptr_t gradInput, bool sizeAverage, uintptr_t weights)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}};
  const uintptr_t handles[] = {input, target, gradInput, weights};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 4, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  else THNN_DoubleBCECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  return state->status;
}

static int AbsCriterion_updateOutput(int flags, uintptr_t input, uintptr_t target, uintptr_t output, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, output};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleAbsCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int AbsCriterion_updateGradInput(int flags, uintptr_t input, uintptr_t target, uintptr_t gradInput, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  const uintptr_t handles[] = {input, target, gradInput};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, 3, arguments, handles, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleAbsCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}
