/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */
#include "runtime/dispatch.h"

#define THNN_PUBLIC __attribute__((visibility("default")))

THNN_VARIANTS(THNN_FloatSpatialConvolutionMM_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMM_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMM_updateOutput, "SpatialConvolutionMM_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMM_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMM_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMM_updateOutput, "SpatialConvolutionMM_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionMM_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMM_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMM_updateGradInput, "SpatialConvolutionMM_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMM_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMM_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMM_updateGradInput, "SpatialConvolutionMM_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionMM_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMM_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMM_accGradParameters, "SpatialConvolutionMM_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMM_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMM_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMM_accGradParameters, "SpatialConvolutionMM_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, scale);
}

THNN_VARIANTS(THNN_FloatTemporalConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int dW, int inputFrameSize, int outputFrameSize);
THNN_PUBLIC void THNN_FloatTemporalConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int dW, int inputFrameSize, int outputFrameSize)
{
  THNN_DISPATCH(THNN_FloatTemporalConvolution_updateOutput, "TemporalConvolution_updateOutput", state, input, output, weight, bias, kW, dW, inputFrameSize, outputFrameSize);
}

THNN_VARIANTS(THNN_DoubleTemporalConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int dW, int inputFrameSize, int outputFrameSize);
THNN_PUBLIC void THNN_DoubleTemporalConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int dW, int inputFrameSize, int outputFrameSize)
{
  THNN_DISPATCH(THNN_DoubleTemporalConvolution_updateOutput, "TemporalConvolution_updateOutput", state, input, output, weight, bias, kW, dW, inputFrameSize, outputFrameSize);
}

THNN_VARIANTS(THNN_FloatTemporalConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int dW);
THNN_PUBLIC void THNN_FloatTemporalConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int dW)
{
  THNN_DISPATCH(THNN_FloatTemporalConvolution_updateGradInput, "TemporalConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, kW, dW);
}

THNN_VARIANTS(THNN_DoubleTemporalConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int dW);
THNN_PUBLIC void THNN_DoubleTemporalConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int dW)
{
  THNN_DISPATCH(THNN_DoubleTemporalConvolution_updateGradInput, "TemporalConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, kW, dW);
}

THNN_VARIANTS(THNN_FloatTemporalConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int dW, double scale);
THNN_PUBLIC void THNN_FloatTemporalConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int dW, double scale)
{
  THNN_DISPATCH(THNN_FloatTemporalConvolution_accGradParameters, "TemporalConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, dW, scale);
}

THNN_VARIANTS(THNN_DoubleTemporalConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int dW, double scale);
THNN_PUBLIC void THNN_DoubleTemporalConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int dW, double scale)
{
  THNN_DISPATCH(THNN_DoubleTemporalConvolution_accGradParameters, "TemporalConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, dW, scale);
}

THNN_VARIANTS(THNN_FloatTemporalRowConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst);
THNN_PUBLIC void THNN_FloatTemporalRowConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  THNN_DISPATCH(THNN_FloatTemporalRowConvolution_updateOutput, "TemporalRowConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, dW, padW, featFirst);
}

THNN_VARIANTS(THNN_DoubleTemporalRowConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst);
THNN_PUBLIC void THNN_DoubleTemporalRowConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  THNN_DISPATCH(THNN_DoubleTemporalRowConvolution_updateOutput, "TemporalRowConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, dW, padW, featFirst);
}

THNN_VARIANTS(THNN_FloatTemporalRowConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst);
THNN_PUBLIC void THNN_FloatTemporalRowConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  THNN_DISPATCH(THNN_FloatTemporalRowConvolution_updateGradInput, "TemporalRowConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, dW, padW, featFirst);
}

THNN_VARIANTS(THNN_DoubleTemporalRowConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst);
THNN_PUBLIC void THNN_DoubleTemporalRowConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst)
{
  THNN_DISPATCH(THNN_DoubleTemporalRowConvolution_updateGradInput, "TemporalRowConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, dW, padW, featFirst);
}

THNN_VARIANTS(THNN_FloatTemporalRowConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst, double scale);
THNN_PUBLIC void THNN_FloatTemporalRowConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int dW, int padW, bool featFirst, double scale)
{
  THNN_DISPATCH(THNN_FloatTemporalRowConvolution_accGradParameters, "TemporalRowConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, dW, padW, featFirst, scale);
}

THNN_VARIANTS(THNN_DoubleTemporalRowConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst, double scale);
THNN_PUBLIC void THNN_DoubleTemporalRowConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int dW, int padW, bool featFirst, double scale)
{
  THNN_DISPATCH(THNN_DoubleTemporalRowConvolution_accGradParameters, "TemporalRowConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, dW, padW, featFirst, scale);
}

THNN_VARIANTS(THNN_FloatSpatialDilatedConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH);
THNN_PUBLIC void THNN_FloatSpatialDilatedConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_FloatSpatialDilatedConvolution_updateOutput, "SpatialDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
}

THNN_VARIANTS(THNN_DoubleSpatialDilatedConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH);
THNN_PUBLIC void THNN_DoubleSpatialDilatedConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_DoubleSpatialDilatedConvolution_updateOutput, "SpatialDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
}

THNN_VARIANTS(THNN_FloatSpatialDilatedConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH);
THNN_PUBLIC void THNN_FloatSpatialDilatedConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_FloatSpatialDilatedConvolution_updateGradInput, "SpatialDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
}

THNN_VARIANTS(THNN_DoubleSpatialDilatedConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH);
THNN_PUBLIC void THNN_DoubleSpatialDilatedConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_DoubleSpatialDilatedConvolution_updateGradInput, "SpatialDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
}

THNN_VARIANTS(THNN_FloatSpatialDilatedConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, double scale);
THNN_PUBLIC void THNN_FloatSpatialDilatedConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialDilatedConvolution_accGradParameters, "SpatialDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialDilatedConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialDilatedConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialDilatedConvolution_accGradParameters, "SpatialDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, scale);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);
THNN_PUBLIC void THNN_FloatSpatialFullConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolution_updateOutput, "SpatialFullConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, adjW, adjH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolution_updateOutput, "SpatialFullConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, adjW, adjH);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);
THNN_PUBLIC void THNN_FloatSpatialFullConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolution_updateGradInput, "SpatialFullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, adjW, adjH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolution_updateGradInput, "SpatialFullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, adjW, adjH);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH, double scale);
THNN_PUBLIC void THNN_FloatSpatialFullConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolution_accGradParameters, "SpatialFullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, adjW, adjH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int adjW, int adjH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolution_accGradParameters, "SpatialFullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, adjW, adjH, scale);
}

THNN_VARIANTS(THNN_FloatSpatialFullDilatedConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH);
THNN_PUBLIC void THNN_FloatSpatialFullDilatedConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullDilatedConvolution_updateOutput, "SpatialFullDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullDilatedConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH);
THNN_PUBLIC void THNN_DoubleSpatialFullDilatedConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullDilatedConvolution_updateOutput, "SpatialFullDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
}

THNN_VARIANTS(THNN_FloatSpatialFullDilatedConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH);
THNN_PUBLIC void THNN_FloatSpatialFullDilatedConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullDilatedConvolution_updateGradInput, "SpatialFullDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullDilatedConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH);
THNN_PUBLIC void THNN_DoubleSpatialFullDilatedConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullDilatedConvolution_updateGradInput, "SpatialFullDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
}

THNN_VARIANTS(THNN_FloatSpatialFullDilatedConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH, double scale);
THNN_PUBLIC void THNN_FloatSpatialFullDilatedConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialFullDilatedConvolution_accGradParameters, "SpatialFullDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialFullDilatedConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialFullDilatedConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW, int dilationH, int adjW, int adjH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullDilatedConvolution_accGradParameters, "SpatialFullDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH, scale);
}

THNN_VARIANTS(THNN_FloatSpatialDepthWiseConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_FloatSpatialDepthWiseConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_FloatSpatialDepthWiseConvolution_updateOutput, "SpatialDepthWiseConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_DoubleSpatialDepthWiseConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_DoubleSpatialDepthWiseConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_DoubleSpatialDepthWiseConvolution_updateOutput, "SpatialDepthWiseConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_FloatSpatialDepthWiseConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_FloatSpatialDepthWiseConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_FloatSpatialDepthWiseConvolution_updateGradInput, "SpatialDepthWiseConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_DoubleSpatialDepthWiseConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH);
THNN_PUBLIC void THNN_DoubleSpatialDepthWiseConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH)
{
  THNN_DISPATCH(THNN_DoubleSpatialDepthWiseConvolution_updateGradInput, "SpatialDepthWiseConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH);
}

THNN_VARIANTS(THNN_FloatSpatialDepthWiseConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale);
THNN_PUBLIC void THNN_FloatSpatialDepthWiseConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialDepthWiseConvolution_accGradParameters, "SpatialDepthWiseConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialDepthWiseConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialDepthWiseConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialDepthWiseConvolution_accGradParameters, "SpatialDepthWiseConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, scale);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_FloatVolumetricConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolution_updateOutput, "VolumetricConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_DoubleVolumetricConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolution_updateOutput, "VolumetricConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_FloatVolumetricConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolution_updateGradInput, "VolumetricConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_DoubleVolumetricConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolution_updateGradInput, "VolumetricConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, double scale);
THNN_PUBLIC void THNN_FloatVolumetricConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, double scale)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolution_accGradParameters, "VolumetricConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, scale);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, double scale);
THNN_PUBLIC void THNN_DoubleVolumetricConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, double scale)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolution_accGradParameters, "VolumetricConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, scale);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolutionMM_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_FloatVolumetricConvolutionMM_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolutionMM_updateOutput, "VolumetricConvolutionMM_updateOutput", state, input, output, weight, bias, finput, kT, kW, kH, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolutionMM_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_DoubleVolumetricConvolutionMM_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolutionMM_updateOutput, "VolumetricConvolutionMM_updateOutput", state, input, output, weight, bias, finput, kT, kW, kH, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolutionMM_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_FloatVolumetricConvolutionMM_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolutionMM_updateGradInput, "VolumetricConvolutionMM_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kT, kW, kH, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolutionMM_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH);
THNN_PUBLIC void THNN_DoubleVolumetricConvolutionMM_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolutionMM_updateGradInput, "VolumetricConvolutionMM_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kT, kW, kH, dT, dW, dH, pT, pW, pH);
}

THNN_VARIANTS(THNN_FloatVolumetricConvolutionMM_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, double scale);
THNN_PUBLIC void THNN_FloatVolumetricConvolutionMM_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, double scale)
{
  THNN_DISPATCH(THNN_FloatVolumetricConvolutionMM_accGradParameters, "VolumetricConvolutionMM_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, kT, kW, kH, dT, dW, dH, pT, pW, pH, scale);
}

THNN_VARIANTS(THNN_DoubleVolumetricConvolutionMM_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, double scale);
THNN_PUBLIC void THNN_DoubleVolumetricConvolutionMM_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH, double scale)
{
  THNN_DISPATCH(THNN_DoubleVolumetricConvolutionMM_accGradParameters, "VolumetricConvolutionMM_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, kT, kW, kH, dT, dW, dH, pT, pW, pH, scale);
}

THNN_VARIANTS(THNN_FloatVolumetricDilatedConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH);
THNN_PUBLIC void THNN_FloatVolumetricDilatedConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *columns, THFloatTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_FloatVolumetricDilatedConvolution_updateOutput, "VolumetricDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
}

THNN_VARIANTS(THNN_DoubleVolumetricDilatedConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH);
THNN_PUBLIC void THNN_DoubleVolumetricDilatedConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *columns, THDoubleTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricDilatedConvolution_updateOutput, "VolumetricDilatedConvolution_updateOutput", state, input, output, weight, bias, columns, ones, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
}

THNN_VARIANTS(THNN_FloatVolumetricDilatedConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH);
THNN_PUBLIC void THNN_FloatVolumetricDilatedConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_FloatVolumetricDilatedConvolution_updateGradInput, "VolumetricDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
}

THNN_VARIANTS(THNN_DoubleVolumetricDilatedConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH);
THNN_PUBLIC void THNN_DoubleVolumetricDilatedConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricDilatedConvolution_updateGradInput, "VolumetricDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, gradColumns, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
}

THNN_VARIANTS(THNN_FloatVolumetricDilatedConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, double scale);
THNN_PUBLIC void THNN_FloatVolumetricDilatedConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *columns, THFloatTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, double scale)
{
  THNN_DISPATCH(THNN_FloatVolumetricDilatedConvolution_accGradParameters, "VolumetricDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, scale);
}

THNN_VARIANTS(THNN_DoubleVolumetricDilatedConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, double scale);
THNN_PUBLIC void THNN_DoubleVolumetricDilatedConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *columns, THDoubleTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, double scale)
{
  THNN_DISPATCH(THNN_DoubleVolumetricDilatedConvolution_accGradParameters, "VolumetricDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, columns, ones, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, scale);
}

THNN_VARIANTS(THNN_FloatVolumetricFullConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_FloatVolumetricFullConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullConvolution_updateOutput, "VolumetricFullConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_DoubleVolumetricFullConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullConvolution_updateOutput, "VolumetricFullConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH);
}

THNN_VARIANTS(THNN_FloatVolumetricFullConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_FloatVolumetricFullConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullConvolution_updateGradInput, "VolumetricFullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_DoubleVolumetricFullConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullConvolution_updateGradInput, "VolumetricFullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH);
}

THNN_VARIANTS(THNN_FloatVolumetricFullConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH, double scale);
THNN_PUBLIC void THNN_FloatVolumetricFullConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH, double scale)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullConvolution_accGradParameters, "VolumetricFullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH, scale);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH, double scale);
THNN_PUBLIC void THNN_DoubleVolumetricFullConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int aT, int aW, int aH, double scale)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullConvolution_accGradParameters, "VolumetricFullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, aT, aW, aH, scale);
}

THNN_VARIANTS(THNN_FloatVolumetricFullDilatedConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_FloatVolumetricFullDilatedConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullDilatedConvolution_updateOutput, "VolumetricFullDilatedConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullDilatedConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_DoubleVolumetricFullDilatedConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullDilatedConvolution_updateOutput, "VolumetricFullDilatedConvolution_updateOutput", state, input, output, weight, bias, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
}

THNN_VARIANTS(THNN_FloatVolumetricFullDilatedConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_FloatVolumetricFullDilatedConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullDilatedConvolution_updateGradInput, "VolumetricFullDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullDilatedConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH);
THNN_PUBLIC void THNN_DoubleVolumetricFullDilatedConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullDilatedConvolution_updateGradInput, "VolumetricFullDilatedConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
}

THNN_VARIANTS(THNN_FloatVolumetricFullDilatedConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH, double scale);
THNN_PUBLIC void THNN_FloatVolumetricFullDilatedConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH, double scale)
{
  THNN_DISPATCH(THNN_FloatVolumetricFullDilatedConvolution_accGradParameters, "VolumetricFullDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH, scale);
}

THNN_VARIANTS(THNN_DoubleVolumetricFullDilatedConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH, double scale);
THNN_PUBLIC void THNN_DoubleVolumetricFullDilatedConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH, double scale)
{
  THNN_DISPATCH(THNN_DoubleVolumetricFullDilatedConvolution_accGradParameters, "VolumetricFullDilatedConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH, scale);
}

THNN_VARIANTS(THNN_FloatConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
THNN_PUBLIC void THNN_FloatConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups)
{
  THNN_DISPATCH(THNN_FloatConvolution_updateOutput, "Convolution_updateOutput", state, input, output, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups);
}

THNN_VARIANTS(THNN_DoubleConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
THNN_PUBLIC void THNN_DoubleConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups)
{
  THNN_DISPATCH(THNN_DoubleConvolution_updateOutput, "Convolution_updateOutput", state, input, output, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups);
}

THNN_VARIANTS(THNN_FloatConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
THNN_PUBLIC void THNN_FloatConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups)
{
  THNN_DISPATCH(THNN_FloatConvolution_updateGradInput, "Convolution_updateGradInput", state, input, gradOutput, gradInput, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups);
}

THNN_VARIANTS(THNN_DoubleConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups);
THNN_PUBLIC void THNN_DoubleConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups)
{
  THNN_DISPATCH(THNN_DoubleConvolution_updateGradInput, "Convolution_updateGradInput", state, input, gradOutput, gradInput, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups);
}

THNN_VARIANTS(THNN_FloatConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups, double scale);
THNN_PUBLIC void THNN_FloatConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups, double scale)
{
  THNN_DISPATCH(THNN_FloatConvolution_accGradParameters, "Convolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups, scale);
}

THNN_VARIANTS(THNN_DoubleConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups, double scale);
THNN_PUBLIC void THNN_DoubleConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int groups, double scale)
{
  THNN_DISPATCH(THNN_DoubleConvolution_accGradParameters, "Convolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, groups, scale);
}

THNN_VARIANTS(THNN_FloatFullConvolution_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
THNN_PUBLIC void THNN_FloatFullConvolution_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups)
{
  THNN_DISPATCH(THNN_FloatFullConvolution_updateOutput, "FullConvolution_updateOutput", state, input, output, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups);
}

THNN_VARIANTS(THNN_DoubleFullConvolution_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
THNN_PUBLIC void THNN_DoubleFullConvolution_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups)
{
  THNN_DISPATCH(THNN_DoubleFullConvolution_updateOutput, "FullConvolution_updateOutput", state, input, output, weight, bias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups);
}

THNN_VARIANTS(THNN_FloatFullConvolution_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
THNN_PUBLIC void THNN_FloatFullConvolution_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups)
{
  THNN_DISPATCH(THNN_FloatFullConvolution_updateGradInput, "FullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups);
}

THNN_VARIANTS(THNN_DoubleFullConvolution_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups);
THNN_PUBLIC void THNN_DoubleFullConvolution_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups)
{
  THNN_DISPATCH(THNN_DoubleFullConvolution_updateGradInput, "FullConvolution_updateGradInput", state, input, gradOutput, gradInput, weight, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups);
}

THNN_VARIANTS(THNN_FloatFullConvolution_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups, double scale);
THNN_PUBLIC void THNN_FloatFullConvolution_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups, double scale)
{
  THNN_DISPATCH(THNN_FloatFullConvolution_accGradParameters, "FullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups, scale);
}

THNN_VARIANTS(THNN_DoubleFullConvolution_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups, double scale);
THNN_PUBLIC void THNN_DoubleFullConvolution_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int dT, int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH, int adjT, int adjW, int adjH, int groups, double scale)
{
  THNN_DISPATCH(THNN_DoubleFullConvolution_accGradParameters, "FullConvolution_accGradParameters", state, input, gradOutput, gradWeight, gradBias, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH, adjT, adjW, adjH, groups, scale);
}

THNN_VARIANTS(THNN_FloatTemporalSubSampling_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int dW, int inputFrameSize);
THNN_PUBLIC void THNN_FloatTemporalSubSampling_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int dW, int inputFrameSize)
{
  THNN_DISPATCH(THNN_FloatTemporalSubSampling_updateOutput, "TemporalSubSampling_updateOutput", state, input, output, weight, bias, kW, dW, inputFrameSize);
}

THNN_VARIANTS(THNN_DoubleTemporalSubSampling_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int dW, int inputFrameSize);
THNN_PUBLIC void THNN_DoubleTemporalSubSampling_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int dW, int inputFrameSize)
{
  THNN_DISPATCH(THNN_DoubleTemporalSubSampling_updateOutput, "TemporalSubSampling_updateOutput", state, input, output, weight, bias, kW, dW, inputFrameSize);
}

THNN_VARIANTS(THNN_FloatTemporalSubSampling_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int dW);
THNN_PUBLIC void THNN_FloatTemporalSubSampling_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int dW)
{
  THNN_DISPATCH(THNN_FloatTemporalSubSampling_updateGradInput, "TemporalSubSampling_updateGradInput", state, input, gradOutput, gradInput, weight, kW, dW);
}

THNN_VARIANTS(THNN_DoubleTemporalSubSampling_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int dW);
THNN_PUBLIC void THNN_DoubleTemporalSubSampling_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int dW)
{
  THNN_DISPATCH(THNN_DoubleTemporalSubSampling_updateGradInput, "TemporalSubSampling_updateGradInput", state, input, gradOutput, gradInput, weight, kW, dW);
}

THNN_VARIANTS(THNN_FloatTemporalSubSampling_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int dW, double scale);
THNN_PUBLIC void THNN_FloatTemporalSubSampling_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int dW, double scale)
{
  THNN_DISPATCH(THNN_FloatTemporalSubSampling_accGradParameters, "TemporalSubSampling_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, dW, scale);
}

THNN_VARIANTS(THNN_DoubleTemporalSubSampling_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int dW, double scale);
THNN_PUBLIC void THNN_DoubleTemporalSubSampling_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int dW, double scale)
{
  THNN_DISPATCH(THNN_DoubleTemporalSubSampling_accGradParameters, "TemporalSubSampling_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, dW, scale);
}

THNN_VARIANTS(THNN_FloatSpatialSubSampling_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int kH, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialSubSampling_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, int kW, int kH, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialSubSampling_updateOutput, "SpatialSubSampling_updateOutput", state, input, output, weight, bias, kW, kH, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialSubSampling_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int kH, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialSubSampling_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, int kW, int kH, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialSubSampling_updateOutput, "SpatialSubSampling_updateOutput", state, input, output, weight, bias, kW, kH, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialSubSampling_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int kH, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialSubSampling_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, int kW, int kH, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialSubSampling_updateGradInput, "SpatialSubSampling_updateGradInput", state, input, gradOutput, gradInput, weight, kW, kH, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialSubSampling_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int kH, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialSubSampling_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, int kW, int kH, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialSubSampling_updateGradInput, "SpatialSubSampling_updateGradInput", state, input, gradOutput, gradInput, weight, kW, kH, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialSubSampling_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int kH, int dW, int dH, double scale);
THNN_PUBLIC void THNN_FloatSpatialSubSampling_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, int kW, int kH, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialSubSampling_accGradParameters, "SpatialSubSampling_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, kH, dW, dH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialSubSampling_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int kH, int dW, int dH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialSubSampling_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, int kW, int kH, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialSubSampling_accGradParameters, "SpatialSubSampling_accGradParameters", state, input, gradOutput, gradWeight, gradBias, kW, kH, dW, dH, scale);
}

THNN_VARIANTS(THNN_FloatIm2Col_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_FloatIm2Col_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_FloatIm2Col_updateOutput, "Im2Col_updateOutput", state, input, output, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_DoubleIm2Col_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_DoubleIm2Col_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_DoubleIm2Col_updateOutput, "Im2Col_updateOutput", state, input, output, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_FloatIm2Col_updateGradInput, THNNState *state, THFloatTensor *gradOutput, THFloatTensor *gradInput, int inputHeight, int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_FloatIm2Col_updateGradInput(THNNState *state, THFloatTensor *gradOutput, THFloatTensor *gradInput, int inputHeight, int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_FloatIm2Col_updateGradInput, "Im2Col_updateGradInput", state, gradOutput, gradInput, inputHeight, inputWidth, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_DoubleIm2Col_updateGradInput, THNNState *state, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int inputHeight, int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_DoubleIm2Col_updateGradInput(THNNState *state, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int inputHeight, int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_DoubleIm2Col_updateGradInput, "Im2Col_updateGradInput", state, gradOutput, gradInput, inputHeight, inputWidth, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_FloatCol2Im_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, int outputHeight, int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_FloatCol2Im_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, int outputHeight, int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_FloatCol2Im_updateOutput, "Col2Im_updateOutput", state, input, output, outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_DoubleCol2Im_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int outputHeight, int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_DoubleCol2Im_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int outputHeight, int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_DoubleCol2Im_updateOutput, "Col2Im_updateOutput", state, input, output, outputHeight, outputWidth, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_FloatCol2Im_updateGradInput, THNNState *state, THFloatTensor *gradOutput, THFloatTensor *gradInput, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_FloatCol2Im_updateGradInput(THNNState *state, THFloatTensor *gradOutput, THFloatTensor *gradInput, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_FloatCol2Im_updateGradInput, "Col2Im_updateGradInput", state, gradOutput, gradInput, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_DoubleCol2Im_updateGradInput, THNNState *state, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW);
THNN_PUBLIC void THNN_DoubleCol2Im_updateGradInput(THNNState *state, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_DISPATCH(THNN_DoubleCol2Im_updateGradInput, "Col2Im_updateGradInput", state, gradOutput, gradInput, kH, kW, dH, dW, padH, padW, sH, sW);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionLocal_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);
THNN_PUBLIC void THNN_FloatSpatialConvolutionLocal_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionLocal_updateOutput, "SpatialConvolutionLocal_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionLocal_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionLocal_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionLocal_updateOutput, "SpatialConvolutionLocal_updateOutput", state, input, output, weight, bias, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionLocal_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);
THNN_PUBLIC void THNN_FloatSpatialConvolutionLocal_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionLocal_updateGradInput, "SpatialConvolutionLocal_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionLocal_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionLocal_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionLocal_updateGradInput, "SpatialConvolutionLocal_updateGradInput", state, input, gradOutput, gradInput, weight, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionLocal_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight, double scale);
THNN_PUBLIC void THNN_FloatSpatialConvolutionLocal_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *finput, THFloatTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionLocal_accGradParameters, "SpatialConvolutionLocal_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionLocal_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight, double scale);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionLocal_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *finput, THDoubleTensor *fgradInput, int kW, int kH, int dW, int dH, int padW, int padH, int64_t inputWidth, int64_t inputHeight, int64_t outputWidth, int64_t outputHeight, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionLocal_accGradParameters, "SpatialConvolutionLocal_accGradParameters", state, input, gradOutput, gradWeight, gradBias, finput, fgradInput, kW, kH, dW, dH, padW, padH, inputWidth, inputHeight, outputWidth, outputHeight, scale);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionMap_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMap_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMap_updateOutput, "SpatialConvolutionMap_updateOutput", state, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMap_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMap_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMap_updateOutput, "SpatialConvolutionMap_updateOutput", state, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionMap_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMap_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMap_updateGradInput, "SpatialConvolutionMap_updateGradInput", state, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMap_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMap_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMap_updateGradInput, "SpatialConvolutionMap_updateGradInput", state, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialConvolutionMap_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale);
THNN_PUBLIC void THNN_FloatSpatialConvolutionMap_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialConvolutionMap_accGradParameters, "SpatialConvolutionMap_accGradParameters", state, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane, nOutputPlane, dW, dH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialConvolutionMap_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialConvolutionMap_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialConvolutionMap_accGradParameters, "SpatialConvolutionMap_accGradParameters", state, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane, nOutputPlane, dW, dH, scale);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolutionMap_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialFullConvolutionMap_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolutionMap_updateOutput, "SpatialFullConvolutionMap_updateOutput", state, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolutionMap_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolutionMap_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolutionMap_updateOutput, "SpatialFullConvolutionMap_updateOutput", state, input, output, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolutionMap_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_FloatSpatialFullConvolutionMap_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolutionMap_updateGradInput, "SpatialFullConvolutionMap_updateGradInput", state, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolutionMap_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolutionMap_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolutionMap_updateGradInput, "SpatialFullConvolutionMap_updateGradInput", state, input, gradOutput, gradInput, weight, bias, connTable, nInputPlane, nOutputPlane, dW, dH);
}

THNN_VARIANTS(THNN_FloatSpatialFullConvolutionMap_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale);
THNN_PUBLIC void THNN_FloatSpatialFullConvolutionMap_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_FloatSpatialFullConvolutionMap_accGradParameters, "SpatialFullConvolutionMap_accGradParameters", state, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane, nOutputPlane, dW, dH, scale);
}

THNN_VARIANTS(THNN_DoubleSpatialFullConvolutionMap_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale);
THNN_PUBLIC void THNN_DoubleSpatialFullConvolutionMap_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *connTable, int nInputPlane, int nOutputPlane, int dW, int dH, double scale)
{
  THNN_DISPATCH(THNN_DoubleSpatialFullConvolutionMap_accGradParameters, "SpatialFullConvolutionMap_accGradParameters", state, input, gradOutput, gradWeight, gradBias, connTable, nInputPlane, nOutputPlane, dW, dH, scale);
}

THNN_VARIANTS(THNN_Floatunfolded_copy, THFloatTensor *finput, THFloatTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight);
THNN_PUBLIC void THNN_Floatunfolded_copy(THFloatTensor *finput, THFloatTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = NULL;
  THNN_DISPATCH(THNN_Floatunfolded_copy, "unfolded_copy", finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_Doubleunfolded_copy, THDoubleTensor *finput, THDoubleTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight);
THNN_PUBLIC void THNN_Doubleunfolded_copy(THDoubleTensor *finput, THDoubleTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = NULL;
  THNN_DISPATCH(THNN_Doubleunfolded_copy, "unfolded_copy", finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_Floatunfolded_acc, THFloatTensor *finput, THFloatTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight);
THNN_PUBLIC void THNN_Floatunfolded_acc(THFloatTensor *finput, THFloatTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = NULL;
  THNN_DISPATCH(THNN_Floatunfolded_acc, "unfolded_acc", finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_Doubleunfolded_acc, THDoubleTensor *finput, THDoubleTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight);
THNN_PUBLIC void THNN_Doubleunfolded_acc(THDoubleTensor *finput, THDoubleTensor *input, int kW, int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = NULL;
  THNN_DISPATCH(THNN_Doubleunfolded_acc, "unfolded_acc", finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth, outputHeight);
}

THNN_VARIANTS(THNN_FloatLinear_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *addBuffer);
THNN_PUBLIC void THNN_FloatLinear_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *addBuffer)
{
  THNN_DISPATCH(THNN_FloatLinear_updateOutput, "Linear_updateOutput", state, input, output, weight, bias, addBuffer);
}

THNN_VARIANTS(THNN_DoubleLinear_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *addBuffer);
THNN_PUBLIC void THNN_DoubleLinear_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *addBuffer)
{
  THNN_DISPATCH(THNN_DoubleLinear_updateOutput, "Linear_updateOutput", state, input, output, weight, bias, addBuffer);
}

THNN_VARIANTS(THNN_FloatLinear_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight);
THNN_PUBLIC void THNN_FloatLinear_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight)
{
  THNN_DISPATCH(THNN_FloatLinear_updateGradInput, "Linear_updateGradInput", state, input, gradOutput, gradInput, weight);
}

THNN_VARIANTS(THNN_DoubleLinear_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight);
THNN_PUBLIC void THNN_DoubleLinear_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight)
{
  THNN_DISPATCH(THNN_DoubleLinear_updateGradInput, "Linear_updateGradInput", state, input, gradOutput, gradInput, weight);
}

THNN_VARIANTS(THNN_FloatLinear_accGradParameters, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *addBuffer, double scale);
THNN_PUBLIC void THNN_FloatLinear_accGradParameters(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *addBuffer, double scale)
{
  THNN_DISPATCH(THNN_FloatLinear_accGradParameters, "Linear_accGradParameters", state, input, gradOutput, gradInput, weight, bias, gradWeight, gradBias, addBuffer, scale);
}

THNN_VARIANTS(THNN_DoubleLinear_accGradParameters, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *addBuffer, double scale);
THNN_PUBLIC void THNN_DoubleLinear_accGradParameters(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *addBuffer, double scale)
{
  THNN_DISPATCH(THNN_DoubleLinear_accGradParameters, "Linear_accGradParameters", state, input, gradOutput, gradInput, weight, bias, gradWeight, gradBias, addBuffer, scale);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double momentum, double eps);
THNN_PUBLIC void THNN_FloatBatchNormalization_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double momentum, double eps)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_updateOutput, "BatchNormalization_updateOutput", state, input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double momentum, double eps);
THNN_PUBLIC void THNN_DoubleBatchNormalization_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double momentum, double eps)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_updateOutput, "BatchNormalization_updateOutput", state, input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_backward, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *weight, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double scale, double eps);
THNN_PUBLIC void THNN_FloatBatchNormalization_backward(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *weight, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double scale, double eps)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_backward, "BatchNormalization_backward", state, input, gradOutput, gradInput, gradWeight, gradBias, weight, running_mean, running_var, save_mean, save_std, train, scale, eps);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_backward, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *weight, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double scale, double eps);
THNN_PUBLIC void THNN_DoubleBatchNormalization_backward(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *weight, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double scale, double eps)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_backward, "BatchNormalization_backward", state, input, gradOutput, gradInput, gradWeight, gradBias, weight, running_mean, running_var, save_mean, save_std, train, scale, eps);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_statistics, THNNState *state, THFloatTensor *input, THAccrealTensor *statistics);
THNN_PUBLIC void THNN_FloatBatchNormalization_statistics(THNNState *state, THFloatTensor *input, THAccrealTensor *statistics)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_statistics, "BatchNormalization_statistics", state, input, statistics);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_statistics, THNNState *state, THDoubleTensor *input, THAccrealTensor *statistics);
THNN_PUBLIC void THNN_DoubleBatchNormalization_statistics(THNNState *state, THDoubleTensor *input, THAccrealTensor *statistics)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_statistics, "BatchNormalization_statistics", state, input, statistics);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_mergeStatistics, THNNState *state, THAccrealTensor *parts, THAccrealTensor *statistics);
THNN_PUBLIC void THNN_FloatBatchNormalization_mergeStatistics(THNNState *state, THAccrealTensor *parts, THAccrealTensor *statistics)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_mergeStatistics, "BatchNormalization_mergeStatistics", state, parts, statistics);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_mergeStatistics, THNNState *state, THAccrealTensor *parts, THAccrealTensor *statistics);
THNN_PUBLIC void THNN_DoubleBatchNormalization_mergeStatistics(THNNState *state, THAccrealTensor *parts, THAccrealTensor *statistics)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_mergeStatistics, "BatchNormalization_mergeStatistics", state, parts, statistics);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_saveStatistics, THNNState *state, THAccrealTensor *statistics, THFloatTensor *save_mean, THFloatTensor *save_std, THFloatTensor *running_mean, THFloatTensor *running_var, double momentum, double eps, bool unbiased);
THNN_PUBLIC void THNN_FloatBatchNormalization_saveStatistics(THNNState *state, THAccrealTensor *statistics, THFloatTensor *save_mean, THFloatTensor *save_std, THFloatTensor *running_mean, THFloatTensor *running_var, double momentum, double eps, bool unbiased)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_saveStatistics, "BatchNormalization_saveStatistics", state, statistics, save_mean, save_std, running_mean, running_var, momentum, eps, unbiased);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_saveStatistics, THNNState *state, THAccrealTensor *statistics, THDoubleTensor *save_mean, THDoubleTensor *save_std, THDoubleTensor *running_mean, THDoubleTensor *running_var, double momentum, double eps, bool unbiased);
THNN_PUBLIC void THNN_DoubleBatchNormalization_saveStatistics(THNNState *state, THAccrealTensor *statistics, THDoubleTensor *save_mean, THDoubleTensor *save_std, THDoubleTensor *running_mean, THDoubleTensor *running_var, double momentum, double eps, bool unbiased)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_saveStatistics, "BatchNormalization_saveStatistics", state, statistics, save_mean, save_std, running_mean, running_var, momentum, eps, unbiased);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_normalize, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, bool relu);
THNN_PUBLIC void THNN_FloatBatchNormalization_normalize(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, bool relu)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_normalize, "BatchNormalization_normalize", state, input, output, weight, bias, save_mean, save_std, relu);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_normalize, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool relu);
THNN_PUBLIC void THNN_DoubleBatchNormalization_normalize(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool relu)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_normalize, "BatchNormalization_normalize", state, input, output, weight, bias, save_mean, save_std, relu);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_gradSums, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, THAccrealTensor *sums, bool relu);
THNN_PUBLIC void THNN_FloatBatchNormalization_gradSums(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, THAccrealTensor *sums, bool relu)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_gradSums, "BatchNormalization_gradSums", state, input, gradOutput, weight, bias, save_mean, save_std, sums, relu);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_gradSums, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, THAccrealTensor *sums, bool relu);
THNN_PUBLIC void THNN_DoubleBatchNormalization_gradSums(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, THAccrealTensor *sums, bool relu)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_gradSums, "BatchNormalization_gradSums", state, input, gradOutput, weight, bias, save_mean, save_std, sums, relu);
}

THNN_VARIANTS(THNN_FloatBatchNormalization_gradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, THAccrealTensor *sums, double count, bool relu);
THNN_PUBLIC void THNN_FloatBatchNormalization_gradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *save_mean, THFloatTensor *save_std, THAccrealTensor *sums, double count, bool relu)
{
  THNN_DISPATCH(THNN_FloatBatchNormalization_gradInput, "BatchNormalization_gradInput", state, input, gradOutput, gradInput, weight, bias, save_mean, save_std, sums, count, relu);
}

THNN_VARIANTS(THNN_DoubleBatchNormalization_gradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, THAccrealTensor *sums, double count, bool relu);
THNN_PUBLIC void THNN_DoubleBatchNormalization_gradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *save_mean, THDoubleTensor *save_std, THAccrealTensor *sums, double count, bool relu)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalization_gradInput, "BatchNormalization_gradInput", state, input, gradOutput, gradInput, weight, bias, save_mean, save_std, sums, count, relu);
}

THNN_VARIANTS(THNN_FloatBatchNormalizationReLU_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double momentum, double eps);
THNN_PUBLIC void THNN_FloatBatchNormalizationReLU_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double momentum, double eps)
{
  THNN_DISPATCH(THNN_FloatBatchNormalizationReLU_updateOutput, "BatchNormalizationReLU_updateOutput", state, input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps);
}

THNN_VARIANTS(THNN_DoubleBatchNormalizationReLU_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double momentum, double eps);
THNN_PUBLIC void THNN_DoubleBatchNormalizationReLU_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double momentum, double eps)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalizationReLU_updateOutput, "BatchNormalizationReLU_updateOutput", state, input, output, weight, bias, running_mean, running_var, save_mean, save_std, train, momentum, eps);
}

THNN_VARIANTS(THNN_FloatBatchNormalizationReLU_backward, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double scale, double eps);
THNN_PUBLIC void THNN_FloatBatchNormalizationReLU_backward(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *gradWeight, THFloatTensor *gradBias, THFloatTensor *weight, THFloatTensor *bias, THFloatTensor *running_mean, THFloatTensor *running_var, THFloatTensor *save_mean, THFloatTensor *save_std, bool train, double scale, double eps)
{
  THNN_DISPATCH(THNN_FloatBatchNormalizationReLU_backward, "BatchNormalizationReLU_backward", state, input, gradOutput, gradInput, gradWeight, gradBias, weight, bias, running_mean, running_var, save_mean, save_std, train, scale, eps);
}

THNN_VARIANTS(THNN_DoubleBatchNormalizationReLU_backward, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double scale, double eps);
THNN_PUBLIC void THNN_DoubleBatchNormalizationReLU_backward(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *gradWeight, THDoubleTensor *gradBias, THDoubleTensor *weight, THDoubleTensor *bias, THDoubleTensor *running_mean, THDoubleTensor *running_var, THDoubleTensor *save_mean, THDoubleTensor *save_std, bool train, double scale, double eps)
{
  THNN_DISPATCH(THNN_DoubleBatchNormalizationReLU_backward, "BatchNormalizationReLU_backward", state, input, gradOutput, gradInput, gradWeight, gradBias, weight, bias, running_mean, running_var, save_mean, save_std, train, scale, eps);
}

THNN_VARIANTS(THNN_FloatSpatialMaxPooling_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);
THNN_PUBLIC void THNN_FloatSpatialMaxPooling_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  THNN_DISPATCH(THNN_FloatSpatialMaxPooling_updateOutput, "SpatialMaxPooling_updateOutput", state, input, output, indices, kW, kH, dW, dH, padW, padH, ceil_mode);
}

THNN_VARIANTS(THNN_DoubleSpatialMaxPooling_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);
THNN_PUBLIC void THNN_DoubleSpatialMaxPooling_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  THNN_DISPATCH(THNN_DoubleSpatialMaxPooling_updateOutput, "SpatialMaxPooling_updateOutput", state, input, output, indices, kW, kH, dW, dH, padW, padH, ceil_mode);
}

THNN_VARIANTS(THNN_FloatSpatialMaxPooling_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);
THNN_PUBLIC void THNN_FloatSpatialMaxPooling_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  THNN_DISPATCH(THNN_FloatSpatialMaxPooling_updateGradInput, "SpatialMaxPooling_updateGradInput", state, input, gradOutput, gradInput, indices, kW, kH, dW, dH, padW, padH, ceil_mode);
}

THNN_VARIANTS(THNN_DoubleSpatialMaxPooling_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode);
THNN_PUBLIC void THNN_DoubleSpatialMaxPooling_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THIndexTensor *indices, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode)
{
  THNN_DISPATCH(THNN_DoubleSpatialMaxPooling_updateGradInput, "SpatialMaxPooling_updateGradInput", state, input, gradOutput, gradInput, indices, kW, kH, dW, dH, padW, padH, ceil_mode);
}

THNN_VARIANTS(THNN_FloatSpatialAveragePooling_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad);
THNN_PUBLIC void THNN_FloatSpatialAveragePooling_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  THNN_DISPATCH(THNN_FloatSpatialAveragePooling_updateOutput, "SpatialAveragePooling_updateOutput", state, input, output, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
}

THNN_VARIANTS(THNN_DoubleSpatialAveragePooling_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad);
THNN_PUBLIC void THNN_DoubleSpatialAveragePooling_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  THNN_DISPATCH(THNN_DoubleSpatialAveragePooling_updateOutput, "SpatialAveragePooling_updateOutput", state, input, output, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
}

THNN_VARIANTS(THNN_FloatSpatialAveragePooling_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad);
THNN_PUBLIC void THNN_FloatSpatialAveragePooling_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  THNN_DISPATCH(THNN_FloatSpatialAveragePooling_updateGradInput, "SpatialAveragePooling_updateGradInput", state, input, gradOutput, gradInput, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
}

THNN_VARIANTS(THNN_DoubleSpatialAveragePooling_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad);
THNN_PUBLIC void THNN_DoubleSpatialAveragePooling_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, int kW, int kH, int dW, int dH, int padW, int padH, bool ceil_mode, bool count_include_pad)
{
  THNN_DISPATCH(THNN_DoubleSpatialAveragePooling_updateGradInput, "SpatialAveragePooling_updateGradInput", state, input, gradOutput, gradInput, kW, kH, dW, dH, padW, padH, ceil_mode, count_include_pad);
}

THNN_VARIANTS(THNN_FloatThreshold_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, double threshold, double val, bool inplace);
THNN_PUBLIC void THNN_FloatThreshold_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, double threshold, double val, bool inplace)
{
  THNN_DISPATCH(THNN_FloatThreshold_updateOutput, "Threshold_updateOutput", state, input, output, threshold, val, inplace);
}

THNN_VARIANTS(THNN_DoubleThreshold_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, double threshold, double val, bool inplace);
THNN_PUBLIC void THNN_DoubleThreshold_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, double threshold, double val, bool inplace)
{
  THNN_DISPATCH(THNN_DoubleThreshold_updateOutput, "Threshold_updateOutput", state, input, output, threshold, val, inplace);
}

THNN_VARIANTS(THNN_FloatThreshold_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, double threshold, double val, bool inplace);
THNN_PUBLIC void THNN_FloatThreshold_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, double threshold, double val, bool inplace)
{
  THNN_DISPATCH(THNN_FloatThreshold_updateGradInput, "Threshold_updateGradInput", state, input, gradOutput, gradInput, threshold, val, inplace);
}

THNN_VARIANTS(THNN_DoubleThreshold_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, double threshold, double val, bool inplace);
THNN_PUBLIC void THNN_DoubleThreshold_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, double threshold, double val, bool inplace)
{
  THNN_DISPATCH(THNN_DoubleThreshold_updateGradInput, "Threshold_updateGradInput", state, input, gradOutput, gradInput, threshold, val, inplace);
}

THNN_VARIANTS(THNN_FloatLeakyReLU_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output, double negval, bool inplace);
THNN_PUBLIC void THNN_FloatLeakyReLU_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output, double negval, bool inplace)
{
  THNN_DISPATCH(THNN_FloatLeakyReLU_updateOutput, "LeakyReLU_updateOutput", state, input, output, negval, inplace);
}

THNN_VARIANTS(THNN_DoubleLeakyReLU_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output, double negval, bool inplace);
THNN_PUBLIC void THNN_DoubleLeakyReLU_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output, double negval, bool inplace)
{
  THNN_DISPATCH(THNN_DoubleLeakyReLU_updateOutput, "LeakyReLU_updateOutput", state, input, output, negval, inplace);
}

THNN_VARIANTS(THNN_FloatLeakyReLU_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, double negval, bool inplace);
THNN_PUBLIC void THNN_FloatLeakyReLU_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, double negval, bool inplace)
{
  THNN_DISPATCH(THNN_FloatLeakyReLU_updateGradInput, "LeakyReLU_updateGradInput", state, input, gradOutput, gradInput, negval, inplace);
}

THNN_VARIANTS(THNN_DoubleLeakyReLU_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, double negval, bool inplace);
THNN_PUBLIC void THNN_DoubleLeakyReLU_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, double negval, bool inplace)
{
  THNN_DISPATCH(THNN_DoubleLeakyReLU_updateGradInput, "LeakyReLU_updateGradInput", state, input, gradOutput, gradInput, negval, inplace);
}

THNN_VARIANTS(THNN_FloatSigmoid_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatSigmoid_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatSigmoid_updateOutput, "Sigmoid_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_DoubleSigmoid_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleSigmoid_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleSigmoid_updateOutput, "Sigmoid_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_FloatSigmoid_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatSigmoid_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatSigmoid_updateGradInput, "Sigmoid_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_DoubleSigmoid_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleSigmoid_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleSigmoid_updateGradInput, "Sigmoid_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_FloatTanh_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatTanh_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatTanh_updateOutput, "Tanh_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_DoubleTanh_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleTanh_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleTanh_updateOutput, "Tanh_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_FloatTanh_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatTanh_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatTanh_updateGradInput, "Tanh_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_DoubleTanh_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleTanh_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleTanh_updateGradInput, "Tanh_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_FloatSoftMax_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatSoftMax_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatSoftMax_updateOutput, "SoftMax_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_DoubleSoftMax_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleSoftMax_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleSoftMax_updateOutput, "SoftMax_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_FloatSoftMax_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatSoftMax_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatSoftMax_updateGradInput, "SoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_DoubleSoftMax_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleSoftMax_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleSoftMax_updateGradInput, "SoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_FloatLogSoftMax_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatLogSoftMax_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatLogSoftMax_updateOutput, "LogSoftMax_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_DoubleLogSoftMax_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleLogSoftMax_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleLogSoftMax_updateOutput, "LogSoftMax_updateOutput", state, input, output);
}

THNN_VARIANTS(THNN_FloatLogSoftMax_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output);
THNN_PUBLIC void THNN_FloatLogSoftMax_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *gradOutput, THFloatTensor *gradInput, THFloatTensor *output)
{
  THNN_DISPATCH(THNN_FloatLogSoftMax_updateGradInput, "LogSoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_DoubleLogSoftMax_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output);
THNN_PUBLIC void THNN_DoubleLogSoftMax_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *gradOutput, THDoubleTensor *gradInput, THDoubleTensor *output)
{
  THNN_DISPATCH(THNN_DoubleLogSoftMax_updateGradInput, "LogSoftMax_updateGradInput", state, input, gradOutput, gradInput, output);
}

THNN_VARIANTS(THNN_FloatClassNLLCriterion_updateOutput, THNNState *state, THFloatTensor *input, THIndexTensor *target, THFloatTensor *output, bool sizeAverage, THFloatTensor *weights, THFloatTensor *total_weight, int64_t ignore_index);
THNN_PUBLIC void THNN_FloatClassNLLCriterion_updateOutput(THNNState *state, THFloatTensor *input, THIndexTensor *target, THFloatTensor *output, bool sizeAverage, THFloatTensor *weights, THFloatTensor *total_weight, int64_t ignore_index)
{
  THNN_DISPATCH(THNN_FloatClassNLLCriterion_updateOutput, "ClassNLLCriterion_updateOutput", state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

THNN_VARIANTS(THNN_DoubleClassNLLCriterion_updateOutput, THNNState *state, THDoubleTensor *input, THIndexTensor *target, THDoubleTensor *output, bool sizeAverage, THDoubleTensor *weights, THDoubleTensor *total_weight, int64_t ignore_index);
THNN_PUBLIC void THNN_DoubleClassNLLCriterion_updateOutput(THNNState *state, THDoubleTensor *input, THIndexTensor *target, THDoubleTensor *output, bool sizeAverage, THDoubleTensor *weights, THDoubleTensor *total_weight, int64_t ignore_index)
{
  THNN_DISPATCH(THNN_DoubleClassNLLCriterion_updateOutput, "ClassNLLCriterion_updateOutput", state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

THNN_VARIANTS(THNN_FloatClassNLLCriterion_updateGradInput, THNNState *state, THFloatTensor *input, THIndexTensor *target, THFloatTensor *gradInput, bool sizeAverage, THFloatTensor *weights, THFloatTensor *total_weight, int64_t ignore_index);
THNN_PUBLIC void THNN_FloatClassNLLCriterion_updateGradInput(THNNState *state, THFloatTensor *input, THIndexTensor *target, THFloatTensor *gradInput, bool sizeAverage, THFloatTensor *weights, THFloatTensor *total_weight, int64_t ignore_index)
{
  THNN_DISPATCH(THNN_FloatClassNLLCriterion_updateGradInput, "ClassNLLCriterion_updateGradInput", state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}

THNN_VARIANTS(THNN_DoubleClassNLLCriterion_updateGradInput, THNNState *state, THDoubleTensor *input, THIndexTensor *target, THDoubleTensor *gradInput, bool sizeAverage, THDoubleTensor *weights, THDoubleTensor *total_weight, int64_t ignore_index);
THNN_PUBLIC void THNN_DoubleClassNLLCriterion_updateGradInput(THNNState *state, THDoubleTensor *input, THIndexTensor *target, THDoubleTensor *gradInput, bool sizeAverage, THDoubleTensor *weights, THDoubleTensor *total_weight, int64_t ignore_index)
{
  THNN_DISPATCH(THNN_DoubleClassNLLCriterion_updateGradInput, "ClassNLLCriterion_updateGradInput", state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}

THNN_VARIANTS(THNN_FloatMSECriterion_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_FloatMSECriterion_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatMSECriterion_updateOutput, "MSECriterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleMSECriterion_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleMSECriterion_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleMSECriterion_updateOutput, "MSECriterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_FloatMSECriterion_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_FloatMSECriterion_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatMSECriterion_updateGradInput, "MSECriterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleMSECriterion_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleMSECriterion_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleMSECriterion_updateGradInput, "MSECriterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}

THNN_VARIANTS(THNN_FloatSmoothL1Criterion_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_FloatSmoothL1Criterion_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatSmoothL1Criterion_updateOutput, "SmoothL1Criterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleSmoothL1Criterion_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleSmoothL1Criterion_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleSmoothL1Criterion_updateOutput, "SmoothL1Criterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_FloatSmoothL1Criterion_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_FloatSmoothL1Criterion_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatSmoothL1Criterion_updateGradInput, "SmoothL1Criterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleSmoothL1Criterion_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleSmoothL1Criterion_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleSmoothL1Criterion_updateGradInput, "SmoothL1Criterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}

THNN_VARIANTS(THNN_FloatBCECriterion_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage, THFloatTensor *weights);
THNN_PUBLIC void THNN_FloatBCECriterion_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage, THFloatTensor *weights)
{
  THNN_DISPATCH(THNN_FloatBCECriterion_updateOutput, "BCECriterion_updateOutput", state, input, target, output, sizeAverage, weights);
}

THNN_VARIANTS(THNN_DoubleBCECriterion_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage, THDoubleTensor *weights);
THNN_PUBLIC void THNN_DoubleBCECriterion_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage, THDoubleTensor *weights)
{
  THNN_DISPATCH(THNN_DoubleBCECriterion_updateOutput, "BCECriterion_updateOutput", state, input, target, output, sizeAverage, weights);
}

THNN_VARIANTS(THNN_FloatBCECriterion_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage, THFloatTensor *weights);
THNN_PUBLIC void THNN_FloatBCECriterion_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage, THFloatTensor *weights)
{
  THNN_DISPATCH(THNN_FloatBCECriterion_updateGradInput, "BCECriterion_updateGradInput", state, input, target, gradInput, sizeAverage, weights);
}

THNN_VARIANTS(THNN_DoubleBCECriterion_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage, THDoubleTensor *weights);
THNN_PUBLIC void THNN_DoubleBCECriterion_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage, THDoubleTensor *weights)
{
  THNN_DISPATCH(THNN_DoubleBCECriterion_updateGradInput, "BCECriterion_updateGradInput", state, input, target, gradInput, sizeAverage, weights);
}

THNN_VARIANTS(THNN_FloatAbsCriterion_updateOutput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_FloatAbsCriterion_updateOutput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatAbsCriterion_updateOutput, "AbsCriterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleAbsCriterion_updateOutput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleAbsCriterion_updateOutput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *output, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleAbsCriterion_updateOutput, "AbsCriterion_updateOutput", state, input, target, output, sizeAverage);
}

THNN_VARIANTS(THNN_FloatAbsCriterion_updateGradInput, THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_FloatAbsCriterion_updateGradInput(THNNState *state, THFloatTensor *input, THFloatTensor *target, THFloatTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_FloatAbsCriterion_updateGradInput, "AbsCriterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}

THNN_VARIANTS(THNN_DoubleAbsCriterion_updateGradInput, THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage);
THNN_PUBLIC void THNN_DoubleAbsCriterion_updateGradInput(THNNState *state, THDoubleTensor *input, THDoubleTensor *target, THDoubleTensor *gradInput, bool sizeAverage)
{
  THNN_DISPATCH(THNN_DoubleAbsCriterion_updateGradInput, "AbsCriterion_updateGradInput", state, input, target, gradInput, sizeAverage);
}
