/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */

#include "../THNN.h"
#include "../benchmark.h"
#include "../dispatch.h"
#include "../python/exchange.h"

static const char *const thnn_digest = "e240f2d0b82123c1";

static int SpatialConvolutionMM_updateOutput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 6, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  else THNN_DoubleSpatialConvolutionMM_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  return state->status;
}

static int SpatialConvolutionMM_updateGradInput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 6, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateGradInput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  else THNN_DoubleSpatialConvolutionMM_updateGradInput(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH);
  return state->status;
}

static int SpatialConvolutionMM_accGradParameters(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}};
  THNNTensor views[6], *t[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 6, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH, scale);
  else THNN_DoubleSpatialConvolutionMM_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], kW, kH, dW, dH, padW, padH, scale);
  return state->status;
}

static int Linear_updateOutput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 5, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateOutput(state, t[0], t[1], t[2], t[3], t[4]);
  else THNN_DoubleLinear_updateOutput(state, t[0], t[1], t[2], t[3], t[4]);
  return state->status;
}

static int Linear_updateGradInput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleLinear_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int Linear_accGradParameters(int flags, uintptr_t tensors, double scale)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}};
  THNNTensor views[8], *t[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 8, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], scale);
  else THNN_DoubleLinear_accGradParameters(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], scale);
  return state->status;
}

static int BatchNormalization_updateOutput(int flags, uintptr_t tensors, bool train, double momentum, double eps)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, false, 7}, {GLUE_REAL, false, 8}};
  THNNTensor views[8], *t[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 8, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], train, momentum, eps);
  else THNN_DoubleBatchNormalization_updateOutput(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], train, momentum, eps);
  return state->status;
}

static int BatchNormalization_backward(int flags, uintptr_t tensors, bool train, double scale, double eps)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, false, 7}, {GLUE_REAL, false, 8}, {GLUE_REAL, false, 9}, {GLUE_REAL, false, 10}};
  THNNTensor views[10], *t[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 10, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_backward(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], train, scale, eps);
  else THNN_DoubleBatchNormalization_backward(state, t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8], t[9], train, scale, eps);
  return state->status;
}

static int SpatialMaxPooling_updateOutput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INDEX, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateOutput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode);
  else THNN_DoubleSpatialMaxPooling_updateOutput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode);
  return state->status;
}

static int SpatialMaxPooling_updateGradInput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_INDEX, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateGradInput(state, t[0], t[1], t[2], t[3], kW, kH, dW, dH, padW, padH, ceil_mode);
  else THNN_DoubleSpatialMaxPooling_updateGradInput(state, t[0], t[1], t[2], t[3], kW, kH, dW, dH, padW, padH, ceil_mode);
  return state->status;
}

static int SpatialAveragePooling_updateOutput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateOutput(state, t[0], t[1], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  else THNN_DoubleSpatialAveragePooling_updateOutput(state, t[0], t[1], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  return state->status;
}

static int SpatialAveragePooling_updateGradInput(int flags, uintptr_t tensors, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateGradInput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  else THNN_DoubleSpatialAveragePooling_updateGradInput(state, t[0], t[1], t[2], kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
  return state->status;
}

static int Threshold_updateOutput(int flags, uintptr_t tensors, double threshold, double val, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateOutput(state, t[0], t[1], threshold, val, inplace);
  else THNN_DoubleThreshold_updateOutput(state, t[0], t[1], threshold, val, inplace);
  return state->status;
}

static int Threshold_updateGradInput(int flags, uintptr_t tensors, double threshold, double val, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateGradInput(state, t[0], t[1], t[2], threshold, val, inplace);
  else THNN_DoubleThreshold_updateGradInput(state, t[0], t[1], t[2], threshold, val, inplace);
  return state->status;
}

static int LeakyReLU_updateOutput(int flags, uintptr_t tensors, double negval, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateOutput(state, t[0], t[1], negval, inplace);
  else THNN_DoubleLeakyReLU_updateOutput(state, t[0], t[1], negval, inplace);
  return state->status;
}

static int LeakyReLU_updateGradInput(int flags, uintptr_t tensors, double negval, bool inplace)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateGradInput(state, t[0], t[1], t[2], negval, inplace);
  else THNN_DoubleLeakyReLU_updateGradInput(state, t[0], t[1], t[2], negval, inplace);
  return state->status;
}

static int Sigmoid_updateOutput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateOutput(state, t[0], t[1]);
  else THNN_DoubleSigmoid_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int Sigmoid_updateGradInput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleSigmoid_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int Tanh_updateOutput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateOutput(state, t[0], t[1]);
  else THNN_DoubleTanh_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int Tanh_updateGradInput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleTanh_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int SoftMax_updateOutput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateOutput(state, t[0], t[1]);
  else THNN_DoubleSoftMax_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int SoftMax_updateGradInput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int LogSoftMax_updateOutput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2], *t[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 2, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateOutput(state, t[0], t[1]);
  else THNN_DoubleLogSoftMax_updateOutput(state, t[0], t[1]);
  return state->status;
}

static int LogSoftMax_updateGradInput(int flags, uintptr_t tensors)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  else THNN_DoubleLogSoftMax_updateGradInput(state, t[0], t[1], t[2], t[3]);
  return state->status;
}

static int ClassNLLCriterion_updateOutput(int flags, uintptr_t tensors, bool sizeAverage, int64_t ignore_index)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 5, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  else THNN_DoubleClassNLLCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  return state->status;
}

static int ClassNLLCriterion_updateGradInput(int flags, uintptr_t tensors, bool sizeAverage, int64_t ignore_index)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}};
  THNNTensor views[5], *t[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 5, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  else THNN_DoubleClassNLLCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3], t[4], ignore_index);
  return state->status;
}

static int MSECriterion_updateOutput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleMSECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int MSECriterion_updateGradInput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleMSECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int SmoothL1Criterion_updateOutput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleSmoothL1Criterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int SmoothL1Criterion_updateGradInput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleSmoothL1Criterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int BCECriterion_updateOutput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  else THNN_DoubleBCECriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  return state->status;
}

static int BCECriterion_updateGradInput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 5}};
  THNNTensor views[4], *t[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 4, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  else THNN_DoubleBCECriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage, t[3]);
  return state->status;
}

static int AbsCriterion_updateOutput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleAbsCriterion_updateOutput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}

static int AbsCriterion_updateGradInput(int flags, uintptr_t tensors, bool sizeAverage)
{
  static const GlueArgument arguments[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}};
  THNNTensor views[3], *t[3];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, tensors, 3, arguments, views, t);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  else THNN_DoubleAbsCriterion_updateGradInput(state, t[0], t[1], t[2], sizeAverage);
  return state->status;
}
