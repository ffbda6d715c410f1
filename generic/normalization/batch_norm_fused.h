#ifndef THNN_GENERIC_NORMALIZATION_BATCH_NORM_FUSED_H
#define THNN_GENERIC_NORMALIZATION_BATCH_NORM_FUSED_H

/* updateOutput and backward of BatchNormalization, with relu of BatchNormalizationReLU, and with a residual of
   BatchNormalizationAdd. limit is read only with relu. residual: NULL for the first two. */

#include "runtime/kernel.h"

void THNN_(batchNormFusedUpdateOutput)(THNNState *state, THTensor *input, THTensor *residual, THTensor *output,
                                       THTensor *weight, THTensor *bias, THTensor *running_mean,
                                       THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                       double momentum, double eps, bool relu, double limit);

/* bias is read only with relu. output and gradResidual: of BatchNormalizationAdd; NULL for the other two, whose relu is
   computed again from input. */
void THNN_(batchNormFusedBackward)(THNNState *state, THTensor *input, THTensor *output, THTensor *gradOutput,
                                   THTensor *gradInput, THTensor *gradResidual, THTensor *gradWeight,
                                   THTensor *gradBias, THTensor *weight, THTensor *bias, THTensor *running_mean,
                                   THTensor *running_var, THTensor *save_mean, THTensor *save_std, bool train,
                                   double scale, double eps, bool relu, double limit);

#endif
