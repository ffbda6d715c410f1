#include "normalization/batch_norm_fused.h"

#include "batch_norm/batch_norm.h"

using namespace THNN_(batchNorm);

static ChannelParameters parametersOf(bool train, THTensor *running_mean, THTensor *running_var,
                                      THTensor *save_mean, THTensor *save_std, THTensor *weight, THTensor *bias,
                                      double eps, double limit)
{
  return {train ? save_mean : running_mean,
          train ? save_std : NULL,
          train ? NULL : running_var,
          weight,
          bias,
          (real)eps,
          limitOf(limit)};
}

void THNN_(batchNormFusedUpdateOutput)(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
                                       THTensor *weight, THTensor *bias, THTensor *running_mean,
                                       THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                       double momentum, double eps, bool relu, double limit)
{
  const ChannelParameters parameters =
      parametersOf(train, running_mean, running_var, save_mean, save_std, weight, bias, eps, limit);
  if (!train) return normalize(state, input, residual, output, parameters, relu);
  MomentsOutputs to = {};
  to.save_mean = save_mean;
  to.save_std = save_std;
  to.running_mean = running_mean;
  to.running_var = running_var;
  to.momentum = (real)momentum;
  to.eps = (real)eps;
  to.unbiased = true;
  momentsAndNormalize(state, input, residual, output, to, parameters, relu);
}

void THNN_(batchNormFusedBackward)(THNNState *state, THTensor *input, THTensor *output, THTensor *gradOutput,
                                   THTensor *gradInput, THTensor *gradResidual, THTensor *gradWeight,
                                   THTensor *gradBias, THTensor *weight, THTensor *bias, THTensor *running_mean,
                                   THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                   double scale, double eps, bool relu, double limit)
{
  const ChannelParameters parameters =
      parametersOf(train, running_mean, running_var, save_mean, save_std, weight, bias, eps, limit);
  if (input->size[1] == 0) return;
  if (gradResidual != NULL) {
    cutGradient(state, output, gradOutput, gradResidual, limitOf(limit), relu);
    gradOutput = gradResidual;
    relu = false;
  }
  const bool needsInput = gradInput != NULL, needsSums = train && needsInput;
  GradientSums sums = {};
  if (needsSums) {
    const int64_t C = input->size[1];
    real *memory = (real *)thcunn::scratch(state, 2 * C * (int64_t)sizeof(real));
    if (memory == NULL) return;
    int64_t values = 1;
    for (int d = 0; d < input->ndim; d++) values *= d == 1 ? 1 : input->size[d];
    sums = {ChannelVector(memory, 1), ChannelVector(memory + C, 1), (real)values};
  }
  const bool addsSums = needsSums || gradWeight != NULL || gradBias != NULL;
  const bool hasValues = THNNTensor_numel(input) > 0;
  const GradientOutputs to = {sums.sum,
                              sums.dot,
                              gradWeight,
                              gradBias,
                              (real)scale,
                              hasValues && gradWeight != NULL && THNN_overwrites(state, gradWeight),
                              hasValues && gradBias != NULL && THNN_overwrites(state, gradBias)};
  if (addsSums && needsInput) gradSumsAndInput(state, input, gradOutput, gradInput, parameters, to, sums, relu);
  else if (addsSums) gradSums(state, input, gradOutput, parameters, to, relu);
  else if (needsInput) THNN_(batchNorm)::gradInput(state, input, gradOutput, gradInput, parameters, sums, relu);
}
