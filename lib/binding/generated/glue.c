/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */

#include "THNN.h"
#include "runtime/dispatch.h"
#include "binding/dlpack.h"

static const char *const thnn_digest = "a6c3da173a8d2034";

static int SpatialConvolutionMM_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[6];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleSpatialConvolutionMM_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int SpatialConvolutionMM_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[6];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleSpatialConvolutionMM_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int SpatialConvolutionMM_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_DOUBLE, false, 13}};
  THNNTensor views[6];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMM_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  else THNN_DoubleSpatialConvolutionMM_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  return state->status;
}

static int TemporalConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}};
  THNNTensor views[4];
  GlueValue v[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 8, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  else THNN_DoubleTemporalConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  return state->status;
}

static int TemporalConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}};
  THNNTensor views[4];
  GlueValue v[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 6, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer);
  else THNN_DoubleTemporalConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer);
  return state->status;
}

static int TemporalConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_DOUBLE, false, 7}};
  THNNTensor views[4];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, v[6].number);
  else THNN_DoubleTemporalConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, v[6].number);
  return state->status;
}

static int TemporalRowConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_BOOL, false, 10}};
  THNNTensor views[6];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalRowConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  else THNN_DoubleTemporalRowConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  return state->status;
}

static int TemporalRowConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_BOOL, false, 10}};
  THNNTensor views[6];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalRowConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  else THNN_DoubleTemporalRowConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  return state->status;
}

static int TemporalRowConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_BOOL, false, 10}, {GLUE_DOUBLE, false, 11}};
  THNNTensor views[6];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalRowConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer, v[10].number);
  else THNN_DoubleTemporalRowConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer, v[10].number);
  return state->status;
}

static int SpatialDilatedConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}};
  THNNTensor views[6];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  else THNN_DoubleSpatialDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  return state->status;
}

static int SpatialDilatedConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}};
  THNNTensor views[5];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  else THNN_DoubleSpatialDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  return state->status;
}

static int SpatialDilatedConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_DOUBLE, false, 15}};
  THNNTensor views[6];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  else THNN_DoubleSpatialDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  return state->status;
}

static int SpatialFullConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}};
  THNNTensor views[6];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  else THNN_DoubleSpatialFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  return state->status;
}

static int SpatialFullConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}};
  THNNTensor views[5];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  else THNN_DoubleSpatialFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  return state->status;
}

static int SpatialFullConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_DOUBLE, false, 15}};
  THNNTensor views[6];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  else THNN_DoubleSpatialFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  return state->status;
}

static int SpatialFullDilatedConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}};
  THNNTensor views[6];
  GlueValue v[16];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 16, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer);
  else THNN_DoubleSpatialFullDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer);
  return state->status;
}

static int SpatialFullDilatedConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}};
  THNNTensor views[5];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  else THNN_DoubleSpatialFullDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  return state->status;
}

static int SpatialFullDilatedConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_DOUBLE, false, 17}};
  THNNTensor views[6];
  GlueValue v[17];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 17, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, v[16].number);
  else THNN_DoubleSpatialFullDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, v[16].number);
  return state->status;
}

static int SpatialDepthWiseConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[6];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDepthWiseConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleSpatialDepthWiseConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int SpatialDepthWiseConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[6];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDepthWiseConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleSpatialDepthWiseConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int SpatialDepthWiseConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_DOUBLE, false, 13}};
  THNNTensor views[6];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialDepthWiseConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  else THNN_DoubleSpatialDepthWiseConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  return state->status;
}

static int VolumetricConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[6];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleVolumetricConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int VolumetricConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}};
  THNNTensor views[5];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer);
  else THNN_DoubleVolumetricConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer);
  return state->status;
}

static int VolumetricConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_DOUBLE, false, 13}};
  THNNTensor views[6];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  else THNN_DoubleVolumetricConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].number);
  return state->status;
}

static int VolumetricConvolutionMM_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}};
  THNNTensor views[5];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolutionMM_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  else THNN_DoubleVolumetricConvolutionMM_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  return state->status;
}

static int VolumetricConvolutionMM_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}};
  THNNTensor views[6];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolutionMM_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  else THNN_DoubleVolumetricConvolutionMM_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  return state->status;
}

static int VolumetricConvolutionMM_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_DOUBLE, false, 15}};
  THNNTensor views[5];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricConvolutionMM_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  else THNN_DoubleVolumetricConvolutionMM_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  return state->status;
}

static int VolumetricDilatedConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_INT, false, 18}};
  THNNTensor views[6];
  GlueValue v[18];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 18, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  else THNN_DoubleVolumetricDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  return state->status;
}

static int VolumetricDilatedConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}};
  THNNTensor views[5];
  GlueValue v[17];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 17, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  else THNN_DoubleVolumetricDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  return state->status;
}

static int VolumetricDilatedConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_INT, false, 18}, {GLUE_DOUBLE, false, 19}};
  THNNTensor views[6];
  GlueValue v[19];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 19, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer, v[18].number);
  else THNN_DoubleVolumetricDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer, v[18].number);
  return state->status;
}

static int VolumetricFullConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}};
  THNNTensor views[6];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  else THNN_DoubleVolumetricFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  return state->status;
}

static int VolumetricFullConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}};
  THNNTensor views[6];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  else THNN_DoubleVolumetricFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer);
  return state->status;
}

static int VolumetricFullConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_DOUBLE, false, 16}};
  THNNTensor views[6];
  GlueValue v[16];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 16, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, v[15].number);
  else THNN_DoubleVolumetricFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, v[15].number);
  return state->status;
}

static int VolumetricFullDilatedConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_INT, false, 18}};
  THNNTensor views[6];
  GlueValue v[18];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 18, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  else THNN_DoubleVolumetricFullDilatedConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  return state->status;
}

static int VolumetricFullDilatedConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_INT, false, 18}};
  THNNTensor views[6];
  GlueValue v[18];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 18, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  else THNN_DoubleVolumetricFullDilatedConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer);
  return state->status;
}

static int VolumetricFullDilatedConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_INT, false, 18}, {GLUE_DOUBLE, false, 19}};
  THNNTensor views[6];
  GlueValue v[19];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 19, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatVolumetricFullDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer, v[18].number);
  else THNN_DoubleVolumetricFullDilatedConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, (int)v[17].integer, v[18].number);
  return state->status;
}

static int Convolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}};
  THNNTensor views[4];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  else THNN_DoubleConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  return state->status;
}

static int Convolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}};
  THNNTensor views[4];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  else THNN_DoubleConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer);
  return state->status;
}

static int Convolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_DOUBLE, false, 15}};
  THNNTensor views[4];
  GlueValue v[15];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 15, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  else THNN_DoubleConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, v[14].number);
  return state->status;
}

static int FullConvolution_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}};
  THNNTensor views[4];
  GlueValue v[17];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 17, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  else THNN_DoubleFullConvolution_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  return state->status;
}

static int FullConvolution_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}};
  THNNTensor views[4];
  GlueValue v[17];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 17, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  else THNN_DoubleFullConvolution_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer);
  return state->status;
}

static int FullConvolution_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}, {GLUE_INT, false, 14}, {GLUE_INT, false, 15}, {GLUE_INT, false, 16}, {GLUE_INT, false, 17}, {GLUE_DOUBLE, false, 18}};
  THNNTensor views[4];
  GlueValue v[18];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 18, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, v[17].number);
  else THNN_DoubleFullConvolution_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer, (int)v[13].integer, (int)v[14].integer, (int)v[15].integer, (int)v[16].integer, v[17].number);
  return state->status;
}

static int TemporalSubSampling_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}};
  THNNTensor views[4];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalSubSampling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer);
  else THNN_DoubleTemporalSubSampling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer);
  return state->status;
}

static int TemporalSubSampling_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}};
  THNNTensor views[4];
  GlueValue v[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 6, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalSubSampling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer);
  else THNN_DoubleTemporalSubSampling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer);
  return state->status;
}

static int TemporalSubSampling_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_DOUBLE, false, 7}};
  THNNTensor views[4];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTemporalSubSampling_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, v[6].number);
  else THNN_DoubleTemporalSubSampling_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, v[6].number);
  return state->status;
}

static int SpatialSubSampling_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}};
  THNNTensor views[4];
  GlueValue v[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 8, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialSubSampling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  else THNN_DoubleSpatialSubSampling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  return state->status;
}

static int SpatialSubSampling_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}};
  THNNTensor views[4];
  GlueValue v[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 8, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialSubSampling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  else THNN_DoubleSpatialSubSampling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer);
  return state->status;
}

static int SpatialSubSampling_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_DOUBLE, false, 9}};
  THNNTensor views[4];
  GlueValue v[9];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 9, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialSubSampling_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, v[8].number);
  else THNN_DoubleSpatialSubSampling_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, v[8].number);
  return state->status;
}

static int Im2Col_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}};
  THNNTensor views[2];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatIm2Col_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  else THNN_DoubleIm2Col_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  return state->status;
}

static int Im2Col_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[2];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatIm2Col_updateGradInput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleIm2Col_updateGradInput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int Col2Im_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}};
  THNNTensor views[2];
  GlueValue v[12];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 12, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatCol2Im_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  else THNN_DoubleCol2Im_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer);
  return state->status;
}

static int Col2Im_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}};
  THNNTensor views[2];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatCol2Im_updateGradInput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  else THNN_DoubleCol2Im_updateGradInput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  return state->status;
}

static int SpatialConvolutionLocal_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT64, false, 13}, {GLUE_INT64, false, 14}, {GLUE_INT64, false, 15}, {GLUE_INT64, false, 16}};
  THNNTensor views[6];
  GlueValue v[16];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 16, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionLocal_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer);
  else THNN_DoubleSpatialConvolutionLocal_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer);
  return state->status;
}

static int SpatialConvolutionLocal_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT64, false, 13}, {GLUE_INT64, false, 14}, {GLUE_INT64, false, 15}, {GLUE_INT64, false, 16}};
  THNNTensor views[6];
  GlueValue v[16];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 16, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionLocal_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer);
  else THNN_DoubleSpatialConvolutionLocal_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer);
  return state->status;
}

static int SpatialConvolutionLocal_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT64, false, 13}, {GLUE_INT64, false, 14}, {GLUE_INT64, false, 15}, {GLUE_INT64, false, 16}, {GLUE_DOUBLE, false, 17}};
  THNNTensor views[6];
  GlueValue v[17];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 17, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionLocal_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer, v[16].number);
  else THNN_DoubleSpatialConvolutionLocal_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, v[12].integer, v[13].integer, v[14].integer, v[15].integer, v[16].number);
  return state->status;
}

static int SpatialConvolutionMap_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}};
  THNNTensor views[5];
  GlueValue v[9];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 9, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMap_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer);
  else THNN_DoubleSpatialConvolutionMap_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer);
  return state->status;
}

static int SpatialConvolutionMap_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}};
  THNNTensor views[6];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMap_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  else THNN_DoubleSpatialConvolutionMap_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  return state->status;
}

static int SpatialConvolutionMap_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_DOUBLE, false, 10}};
  THNNTensor views[5];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialConvolutionMap_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].number);
  else THNN_DoubleSpatialConvolutionMap_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].number);
  return state->status;
}

static int SpatialFullConvolutionMap_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}};
  THNNTensor views[5];
  GlueValue v[9];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 9, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolutionMap_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer);
  else THNN_DoubleSpatialFullConvolutionMap_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer);
  return state->status;
}

static int SpatialFullConvolutionMap_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}};
  THNNTensor views[6];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolutionMap_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  else THNN_DoubleSpatialFullConvolutionMap_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer);
  return state->status;
}

static int SpatialFullConvolutionMap_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_DOUBLE, false, 10}};
  THNNTensor views[5];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialFullConvolutionMap_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].number);
  else THNN_DoubleSpatialFullConvolutionMap_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].number);
  return state->status;
}

static int unfolded_copy(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}};
  THNNTensor views[2];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_Floatunfolded_copy(v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  else THNN_Doubleunfolded_copy(v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  return state->status;
}

static int unfolded_acc(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_INT, false, 11}, {GLUE_INT, false, 12}, {GLUE_INT, false, 13}};
  THNNTensor views[2];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_Floatunfolded_acc(v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  else THNN_Doubleunfolded_acc(v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, (int)v[10].integer, (int)v[11].integer, (int)v[12].integer);
  return state->status;
}

static int Linear_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}};
  THNNTensor views[5];
  GlueValue v[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 5, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor);
  else THNN_DoubleLinear_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor);
  return state->status;
}

static int Linear_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  else THNN_DoubleLinear_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  return state->status;
}

static int Linear_accGradParameters(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}, {GLUE_DOUBLE, false, 9}};
  THNNTensor views[8];
  GlueValue v[9];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 9, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLinear_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].number);
  else THNN_DoubleLinear_accGradParameters(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].number);
  return state->status;
}

static int BatchNormalization_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}, {GLUE_BOOL, false, 9}, {GLUE_DOUBLE, false, 10}, {GLUE_DOUBLE, false, 11}};
  THNNTensor views[8];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].integer, v[9].number, v[10].number);
  else THNN_DoubleBatchNormalization_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].integer, v[9].number, v[10].number);
  return state->status;
}

static int BatchNormalization_backward(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}, {GLUE_REAL, true, 9}, {GLUE_REAL, true, 10}, {GLUE_BOOL, false, 11}, {GLUE_DOUBLE, false, 12}, {GLUE_DOUBLE, false, 13}};
  THNNTensor views[10];
  GlueValue v[13];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 13, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_backward(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].tensor, v[9].tensor, v[10].integer, v[11].number, v[12].number);
  else THNN_DoubleBatchNormalization_backward(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].tensor, v[9].tensor, v[10].integer, v[11].number, v[12].number);
  return state->status;
}

static int BatchNormalization_statistics(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_ACCREAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_statistics(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleBatchNormalization_statistics(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int BatchNormalization_mergeStatistics(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_ACCREAL, false, 1}, {GLUE_ACCREAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_mergeStatistics(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleBatchNormalization_mergeStatistics(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int BatchNormalization_saveStatistics(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_ACCREAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_DOUBLE, false, 6}, {GLUE_DOUBLE, false, 7}, {GLUE_BOOL, false, 8}};
  THNNTensor views[5];
  GlueValue v[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 8, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_saveStatistics(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].number, v[6].number, v[7].integer);
  else THNN_DoubleBatchNormalization_saveStatistics(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].number, v[6].number, v[7].integer);
  return state->status;
}

static int BatchNormalization_normalize(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_BOOL, false, 7}};
  THNNTensor views[6];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_normalize(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].integer);
  else THNN_DoubleBatchNormalization_normalize(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].integer);
  return state->status;
}

static int BatchNormalization_gradSums(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, false, 5}, {GLUE_REAL, false, 6}, {GLUE_ACCREAL, false, 7}, {GLUE_BOOL, false, 8}};
  THNNTensor views[7];
  GlueValue v[8];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 8, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_gradSums(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].integer);
  else THNN_DoubleBatchNormalization_gradSums(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].integer);
  return state->status;
}

static int BatchNormalization_gradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_REAL, false, 7}, {GLUE_ACCREAL, true, 8}, {GLUE_DOUBLE, false, 9}, {GLUE_BOOL, false, 10}};
  THNNTensor views[8];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalization_gradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].number, v[9].integer);
  else THNN_DoubleBatchNormalization_gradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].number, v[9].integer);
  return state->status;
}

static int BatchNormalizationReLU_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}, {GLUE_BOOL, false, 9}, {GLUE_DOUBLE, false, 10}, {GLUE_DOUBLE, false, 11}};
  THNNTensor views[8];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalizationReLU_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].integer, v[9].number, v[10].number);
  else THNN_DoubleBatchNormalizationReLU_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].integer, v[9].number, v[10].number);
  return state->status;
}

static int BatchNormalizationReLU_backward(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, true, 3}, {GLUE_REAL, true, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, true, 6}, {GLUE_REAL, true, 7}, {GLUE_REAL, true, 8}, {GLUE_REAL, true, 9}, {GLUE_REAL, true, 10}, {GLUE_REAL, true, 11}, {GLUE_BOOL, false, 12}, {GLUE_DOUBLE, false, 13}, {GLUE_DOUBLE, false, 14}};
  THNNTensor views[11];
  GlueValue v[14];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 14, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBatchNormalizationReLU_backward(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].tensor, v[9].tensor, v[10].tensor, v[11].integer, v[12].number, v[13].number);
  else THNN_DoubleBatchNormalizationReLU_backward(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, v[4].tensor, v[5].tensor, v[6].tensor, v[7].tensor, v[8].tensor, v[9].tensor, v[10].tensor, v[11].integer, v[12].number, v[13].number);
  return state->status;
}

static int SpatialMaxPooling_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INDEX, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_BOOL, false, 10}};
  THNNTensor views[3];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  else THNN_DoubleSpatialMaxPooling_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer);
  return state->status;
}

static int SpatialMaxPooling_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_INDEX, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_INT, false, 10}, {GLUE_BOOL, false, 11}};
  THNNTensor views[4];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialMaxPooling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, v[10].integer);
  else THNN_DoubleSpatialMaxPooling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, (int)v[9].integer, v[10].integer);
  return state->status;
}

static int SpatialAveragePooling_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_INT, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_BOOL, false, 9}, {GLUE_BOOL, false, 10}};
  THNNTensor views[2];
  GlueValue v[10];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 10, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, v[8].integer, v[9].integer);
  else THNN_DoubleSpatialAveragePooling_updateOutput(state, v[0].tensor, v[1].tensor, (int)v[2].integer, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, v[8].integer, v[9].integer);
  return state->status;
}

static int SpatialAveragePooling_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_INT, false, 4}, {GLUE_INT, false, 5}, {GLUE_INT, false, 6}, {GLUE_INT, false, 7}, {GLUE_INT, false, 8}, {GLUE_INT, false, 9}, {GLUE_BOOL, false, 10}, {GLUE_BOOL, false, 11}};
  THNNTensor views[3];
  GlueValue v[11];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 11, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSpatialAveragePooling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer, v[10].integer);
  else THNN_DoubleSpatialAveragePooling_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, (int)v[3].integer, (int)v[4].integer, (int)v[5].integer, (int)v[6].integer, (int)v[7].integer, (int)v[8].integer, v[9].integer, v[10].integer);
  return state->status;
}

static int Threshold_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_DOUBLE, false, 3}, {GLUE_DOUBLE, false, 4}, {GLUE_BOOL, false, 5}};
  THNNTensor views[2];
  GlueValue v[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 5, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateOutput(state, v[0].tensor, v[1].tensor, v[2].number, v[3].number, v[4].integer);
  else THNN_DoubleThreshold_updateOutput(state, v[0].tensor, v[1].tensor, v[2].number, v[3].number, v[4].integer);
  return state->status;
}

static int Threshold_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_DOUBLE, false, 4}, {GLUE_DOUBLE, false, 5}, {GLUE_BOOL, false, 6}};
  THNNTensor views[3];
  GlueValue v[6];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 6, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatThreshold_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].number, v[4].number, v[5].integer);
  else THNN_DoubleThreshold_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].number, v[4].number, v[5].integer);
  return state->status;
}

static int LeakyReLU_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_DOUBLE, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[2];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateOutput(state, v[0].tensor, v[1].tensor, v[2].number, v[3].integer);
  else THNN_DoubleLeakyReLU_updateOutput(state, v[0].tensor, v[1].tensor, v[2].number, v[3].integer);
  return state->status;
}

static int LeakyReLU_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_DOUBLE, false, 4}, {GLUE_BOOL, false, 5}};
  THNNTensor views[3];
  GlueValue v[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 5, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLeakyReLU_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].number, v[4].integer);
  else THNN_DoubleLeakyReLU_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].number, v[4].integer);
  return state->status;
}

static int Sigmoid_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateOutput(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleSigmoid_updateOutput(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int Sigmoid_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSigmoid_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  else THNN_DoubleSigmoid_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  return state->status;
}

static int Tanh_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateOutput(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleTanh_updateOutput(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int Tanh_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, true, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatTanh_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  else THNN_DoubleTanh_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  return state->status;
}

static int SoftMax_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateOutput(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleSoftMax_updateOutput(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int SoftMax_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSoftMax_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  else THNN_DoubleSoftMax_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  return state->status;
}

static int LogSoftMax_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}};
  THNNTensor views[2];
  GlueValue v[2];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 2, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateOutput(state, v[0].tensor, v[1].tensor);
  else THNN_DoubleLogSoftMax_updateOutput(state, v[0].tensor, v[1].tensor);
  return state->status;
}

static int LogSoftMax_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_REAL, false, 4}};
  THNNTensor views[4];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatLogSoftMax_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  else THNN_DoubleLogSoftMax_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].tensor);
  return state->status;
}

static int ClassNLLCriterion_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_INT64, false, 7}};
  THNNTensor views[5];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor, v[5].tensor, v[6].integer);
  else THNN_DoubleClassNLLCriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor, v[5].tensor, v[6].integer);
  return state->status;
}

static int ClassNLLCriterion_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_INDEX, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}, {GLUE_REAL, true, 5}, {GLUE_REAL, false, 6}, {GLUE_INT64, false, 7}};
  THNNTensor views[5];
  GlueValue v[7];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 7, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatClassNLLCriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor, v[5].tensor, v[6].integer);
  else THNN_DoubleClassNLLCriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor, v[5].tensor, v[6].integer);
  return state->status;
}

static int MSECriterion_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleMSECriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}

static int MSECriterion_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatMSECriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleMSECriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}

static int SmoothL1Criterion_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleSmoothL1Criterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}

static int SmoothL1Criterion_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatSmoothL1Criterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleSmoothL1Criterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}

static int BCECriterion_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}, {GLUE_REAL, true, 5}};
  THNNTensor views[4];
  GlueValue v[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 5, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor);
  else THNN_DoubleBCECriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor);
  return state->status;
}

static int BCECriterion_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}, {GLUE_REAL, true, 5}};
  THNNTensor views[4];
  GlueValue v[5];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 5, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatBCECriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor);
  else THNN_DoubleBCECriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer, v[4].tensor);
  return state->status;
}

static int AbsCriterion_updateOutput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleAbsCriterion_updateOutput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}

static int AbsCriterion_updateGradInput(int flags, uintptr_t arguments)
{
  static const GlueArgument expected[] = {{GLUE_REAL, false, 1}, {GLUE_REAL, false, 2}, {GLUE_REAL, false, 3}, {GLUE_BOOL, false, 4}};
  THNNTensor views[3];
  GlueValue v[4];
  THNNState *state = THNN_lastState();
  int type = thnn_unpack(state, flags, arguments, 4, expected, views, v);
  if (type < 0) return state->status;
  if (type == THNN_TYPE_FLOAT) THNN_FloatAbsCriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  else THNN_DoubleAbsCriterion_updateGradInput(state, v[0].tensor, v[1].tensor, v[2].tensor, v[3].integer);
  return state->status;
}
