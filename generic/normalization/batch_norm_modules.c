#include "modules/BatchNormalization.h"
#include "modules/BatchNormalizationAdd.h"
#include "modules/BatchNormalizationReLU.h"
#include "normalization/batch_norm_fused.h"

void THNN_(BatchNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *running_mean, THTensor *running_var,
                                            THTensor *save_mean, THTensor *save_std, bool train, double momentum,
                                            double eps)
{
  THNN_(batchNormFusedUpdateOutput)(state, input, NULL, output, weight, bias, running_mean, running_var, save_mean,
                                    save_std, train, momentum, eps, false, (double)INFINITY);
}

void THNN_(BatchNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *running_mean, THTensor *running_var,
                                        THTensor *save_mean, THTensor *save_std, bool train, double scale,
                                        double eps)
{
  THNN_(batchNormFusedBackward)(state, input, NULL, gradOutput, gradInput, NULL, gradWeight, gradBias, weight,
                                NULL, running_mean, running_var, save_mean, save_std, train, scale, eps, false,
                                (double)INFINITY);
}

void THNN_(BatchNormalizationReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THTensor *weight, THTensor *bias, THTensor *running_mean,
                                                THTensor *running_var, THTensor *save_mean, THTensor *save_std,
                                                bool train, double momentum, double eps, double limit)
{
  THNN_(batchNormFusedUpdateOutput)(state, input, NULL, output, weight, bias, running_mean, running_var, save_mean,
                                    save_std, train, momentum, eps, true, limit);
}

void THNN_(BatchNormalizationReLU_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                            THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                            THTensor *weight, THTensor *bias, THTensor *running_mean,
                                            THTensor *running_var, THTensor *save_mean, THTensor *save_std,
                                            bool train, double scale, double eps, double limit)
{
  THNN_(batchNormFusedBackward)(state, input, NULL, gradOutput, gradInput, NULL, gradWeight, gradBias, weight,
                                bias, running_mean, running_var, save_mean, save_std, train, scale, eps, true,
                                limit);
}

void THNN_(BatchNormalizationAdd_updateOutput)(THNNState *state, THTensor *input, THTensor *residual,
                                               THTensor *output, THTensor *weight, THTensor *bias,
                                               THTensor *running_mean, THTensor *running_var, THTensor *save_mean,
                                               THTensor *save_std, bool train, double momentum, double eps,
                                               bool relu, double limit)
{
  THNN_(batchNormFusedUpdateOutput)(state, input, residual, output, weight, bias, running_mean, running_var,
                                    save_mean, save_std, train, momentum, eps, relu, limit);
}

void THNN_(BatchNormalizationAdd_backward)(THNNState *state, THTensor *input, THTensor *output,
                                           THTensor *gradOutput, THTensor *gradInput, THTensor *gradResidual,
                                           THTensor *gradWeight, THTensor *gradBias, THTensor *weight,
                                           THTensor *running_mean, THTensor *running_var, THTensor *save_mean,
                                           THTensor *save_std, bool train, double scale, double eps, bool relu,
                                           double limit)
{
  THNN_(batchNormFusedBackward)(state, input, output, gradOutput, gradInput, gradResidual, gradWeight, gradBias,
                                weight, NULL, running_mean, running_var, save_mean, save_std, train, scale, eps,
                                relu, limit);
}
