#include "modules/BatchNormalization.h"
#include "modules/BatchNormalizationReLU.h"
#include "normalization/batch_norm_fused.h"

void THNN_(BatchNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *running_mean, THTensor *running_var,
                                            THTensor *save_mean, THTensor *save_std, bool train, double momentum,
                                            double eps)
{
  THNN_(batchNormFusedUpdateOutput)(state, input, output, weight, bias, running_mean, running_var, save_mean,
                                    save_std, train, momentum, eps, false, (double)INFINITY);
}

void THNN_(BatchNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *running_mean, THTensor *running_var,
                                        THTensor *save_mean, THTensor *save_std, bool train, double scale,
                                        double eps)
{
  THNN_(batchNormFusedBackward)(state, input, gradOutput, gradInput, gradWeight, gradBias, weight, NULL,
                                running_mean, running_var, save_mean, save_std, train, scale, eps, false,
                                (double)INFINITY);
}

void THNN_(BatchNormalizationReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                THTensor *weight, THTensor *bias, THTensor *running_mean,
                                                THTensor *running_var, THTensor *save_mean, THTensor *save_std,
                                                bool train, double momentum, double eps, double limit)
{
  THNN_(batchNormFusedUpdateOutput)(state, input, output, weight, bias, running_mean, running_var, save_mean,
                                    save_std, train, momentum, eps, true, limit);
}

void THNN_(BatchNormalizationReLU_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                            THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                            THTensor *weight, THTensor *bias, THTensor *running_mean,
                                            THTensor *running_var, THTensor *save_mean, THTensor *save_std,
                                            bool train, double scale, double eps, double limit)
{
  THNN_(batchNormFusedBackward)(state, input, gradOutput, gradInput, gradWeight, gradBias, weight, bias,
                                running_mean, running_var, save_mean, save_std, train, scale, eps, true, limit);
}
