#ifndef THNN_GENERIC_NORMALIZATION_BATCH_NORM_FUSED_H
#define THNN_GENERIC_NORMALIZATION_BATCH_NORM_FUSED_H

/* updateOutput and backward of BatchNormalization and, with relu, of BatchNormalizationReLU. limit is read only with
   relu. */

#include "runtime/kernel.h"

void THNN_(batchNormFusedUpdateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                       THTensor *bias, THTensor *running_mean, THTensor *running_var,
                                       THTensor *save_mean, THTensor *save_std, bool train, double momentum,
                                       double eps, bool relu, double limit);

/* bias is read only with relu. */
void THNN_(batchNormFusedBackward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                   THTensor *gradWeight, THTensor *gradBias, THTensor *weight, THTensor *bias,
                                   THTensor *running_mean, THTensor *running_var, THTensor *save_mean,
                                   THTensor *save_std, bool train, double scale, double eps, bool relu,
                                   double limit);

#endif
