#include "modules/GroupNormalization.h"
#include "batch_norm/rows.h"

using namespace THNN_(rows);

/* A row is a group of a sample, a column is a channel. */
static Dimensions dimensionsOf(THTensor *const (&tensors)[ROW_OPERANDS], int64_t groups)
{
  const THTensor *x = tensors[X];
  const int64_t width = x->size[1] / groups;
  Dimensions found;
  found.count = 0;
  Dimension &sample = found.append(x->size[0], true, false), &group = found.append(groups, true, true),
            &channel = found.append(width, false, true);
  for (int k = 0; k < ROW_OPERANDS; k++) {
    const THTensor *tensor = tensors[k];
    if (tensor == NULL) continue;
    const bool isVector = k == WEIGHT || k == BIAS, isStatistic = k == MEAN || k == INVERSE;
    const int64_t stride = tensor->stride[isVector ? 0 : 1];
    sample.stride[k] = isVector ? 0 : tensor->stride[0];
    group.stride[k] = isStatistic ? stride : stride * width;
    channel.stride[k] = isStatistic ? 0 : stride;
  }
  for (int d = 2; d < x->ndim; d++) {
    Dimension &position = found.append(x->size[d], false, false);
    for (int k = X; k <= OUT; k++) position.stride[k] = tensors[k] ? tensors[k]->stride[d] : 0;
  }
  return found;
}

void THNN_(GroupNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *save_mean, THTensor *save_std,
                                            int64_t numGroups, double eps)
{
  THTensor *const tensors[] = {input, NULL, output, weight, bias, save_mean, save_std};
  forward<true>(state, dimensionsOf(tensors, numGroups), tensors, eps);
}

void THNN_(GroupNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *save_mean, THTensor *save_std,
                                        int64_t numGroups, double scale)
{
  THTensor *const rows[] = {input, gradOutput, gradInput, weight, NULL, save_mean, save_std};
  THTensor *const columns[] = {input, gradOutput, NULL, gradWeight, gradBias, save_mean, save_std};
  backward<true>(state, dimensionsOf(rows, numGroups), rows, dimensionsOf(columns, numGroups), columns, scale);
}
