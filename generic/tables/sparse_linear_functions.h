#ifndef THNN_TABLES_SPARSE_LINEAR_FUNCTIONS_H
#define THNN_TABLES_SPARSE_LINEAR_FUNCTIONS_H

/* The functions of both forms of the input; they call functions of SparseLinear.c or SparseLinear.cu. */

#define SPARSE_LINEAR(legacy, UpdateOutput, AccGradParameters, ZeroGradParameters, UpdateParameters)             \
  void THNN_(SparseLinear_##UpdateOutput)(THNNState * state, THTensor * input, THTensor * output,                \
                                          THTensor * weight, THTensor * bias)                                    \
  {                                                                                                              \
    updateOutput(state, legacy, input, output, weight, bias);                                                    \
  }                                                                                                              \
  void THNN_(SparseLinear_##AccGradParameters)(THNNState * state, THTensor * input, THTensor * gradOutput,       \
                                               THTensor * gradWeight, THTensor * gradBias, THTensor * weight,    \
                                               THTensor * bias, accreal weightDecay, accreal scale)              \
  {                                                                                                              \
    accGradParameters(state, legacy, input, gradOutput, gradWeight, gradBias, weight, bias, weightDecay, scale); \
  }                                                                                                              \
  void THNN_(SparseLinear_##ZeroGradParameters)(THNNState * state, THTensor * gradWeight, THTensor * gradBias,   \
                                                THTensor * lastInput)                                            \
  {                                                                                                              \
    zeroGradParameters(state, legacy, gradWeight, gradBias, lastInput);                                          \
  }                                                                                                              \
  void THNN_(SparseLinear_##UpdateParameters)(THNNState * state, THTensor * weight, THTensor * bias,             \
                                              THTensor * gradWeight, THTensor * gradBias, THTensor * lastInput,  \
                                              accreal learningRate)                                              \
  {                                                                                                              \
    updateParameters(state, legacy, weight, bias, gradWeight, gradBias, lastInput, learningRate);                \
  }

SPARSE_LINEAR(false, updateOutput, accGradParameters, zeroGradParameters, updateParameters)
SPARSE_LINEAR(true, legacyUpdateOutput, legacyAccGradParameters, legacyZeroGradParameters, legacyUpdateParameters)

#endif
