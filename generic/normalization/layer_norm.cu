#include "modules/LayerNormalization.h"
#include "modules/RMSNormalization.h"
#include "batch_norm/rows.h"

using namespace THNN_(rows);

/* A row is a row, a column has the elements of one position of all rows. */
static Dimensions dimensionsOf(THTensor *const (&tensors)[ROW_OPERANDS], int64_t dims)
{
  const THTensor *x = tensors[X];
  const int outer = (int)(x->ndim - dims);
  Dimensions found;
  found.count = 0;
  int64_t rows = 1; /* inside of dimension d */
  for (int d = 0; d < outer; d++) rows *= x->size[d];
  for (int d = 0; d < x->ndim; d++) {
    Dimension &dimension = found.append(x->size[d], d < outer, d >= outer);
    if (d < outer) rows /= x->size[d] > 0 ? x->size[d] : 1;
    for (int k = 0; k < ROW_OPERANDS; k++) {
      const THTensor *tensor = tensors[k];
      if (tensor == NULL) continue;
      if (k <= OUT) dimension.stride[k] = tensor->stride[d];
      else if (k == MEAN || k == INVERSE) dimension.stride[k] = d < outer ? rows * tensor->stride[0] : 0;
      else dimension.stride[k] = d < outer ? 0 : tensor->stride[d - outer];
    }
  }
  return found;
}

template <bool CENTRED>
static void updateOutput(THNNState *state, THTensor *const (&tensors)[ROW_OPERANDS], int64_t dims, double eps)
{
  forward<CENTRED>(state, dimensionsOf(tensors, dims), tensors, eps);
}

template <bool CENTRED>
static void updateGradients(THNNState *state, THTensor *const (&rows)[ROW_OPERANDS],
                            THTensor *const (&columns)[ROW_OPERANDS], int64_t dims, double scale)
{
  backward<CENTRED>(state, dimensionsOf(rows, dims), rows, dimensionsOf(columns, dims), columns, scale);
}

void THNN_(LayerNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                            double eps)
{
  updateOutput<true>(state, {input, NULL, output, weight, bias, save_mean, save_std}, dims, eps);
}

void THNN_(LayerNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                        double scale)
{
  updateGradients<true>(state, {input, gradOutput, gradInput, weight, NULL, save_mean, save_std},
                        {input, gradOutput, NULL, gradWeight, gradBias, save_mean, save_std}, dims, scale);
}

void THNN_(RMSNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                          THTensor *save_std, int64_t dims, double eps)
{
  updateOutput<false>(state, {input, NULL, output, weight, NULL, NULL, save_std}, dims, eps);
}

void THNN_(RMSNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                      THTensor *gradWeight, THTensor *weight, THTensor *save_std, int64_t dims,
                                      double scale)
{
  updateGradients<false>(state, {input, gradOutput, gradInput, weight, NULL, NULL, save_std},
                         {input, gradOutput, NULL, gradWeight, NULL, NULL, save_std}, dims, scale);
}
