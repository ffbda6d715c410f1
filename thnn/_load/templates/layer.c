#include "elementwise/map.h"

/* The checks that all three functions share. */
static void checkVector(THNNState *state, const THTensor *input, const char *name, const THTensor *vector)
{
  THNN_CHECK(input->ndim >= 2, input, "expected 2 dimensions (N, C) or more, got %s", THNN_shape(input));
  if (vector->ndim != 1 || vector->size[0] != input->size[1])
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one number for each of %lld channels, got %s",
              (long long)input->size[1], THNN_shape(vector));
}

/* A vector (C) as a view of the size of `like` (N, C, ...). */
static THTensor spread(const THTensor *vector, const THTensor *like)
{
  THTensor wide = *like;
  wide.data = vector->data;
  for (int d = 0; d < wide.ndim; d++) wide.stride[d] = d == 1 ? vector->stride[0] : 0;
  return wide;
}

/* One channel of a tensor (N, C, ...). */
static THTensor channel(const THTensor *tensor, int64_t c)
{
  THTensor one = *tensor;
  one.data = TH_DATA(tensor) + c * tensor->stride[1];
  one.size[1] = 1;
  return one;
}

void THNN_(NAME_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                              THTensor *bias)
{
  checkVector(state, input, "weight", weight);
  checkVector(state, input, "bias", bias);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  const THTensor factor = spread(weight, input), shift = spread(bias, input);
  THNN_MAP4(y, output, x, input, w, &factor, b, &shift, x * w + b);
}

void THNN_(NAME_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 THTensor *weight)
{
  checkVector(state, input, "weight", weight);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  const THTensor factor = spread(weight, input);
  THNN_MAP3(dx, gradInput, g, gradOutput, w, &factor, g * w);
}

void THNN_(NAME_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
                                   THTensor *gradBias, accreal scale)
{
  checkVector(state, input, "gradWeight", gradWeight);
  checkVector(state, input, "gradBias", gradBias);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  THNN_RETURN_IF_META(state);
  for (int64_t c = 0; c < input->size[1]; c++) {
    const THTensor x = channel(input, c), g = channel(gradOutput, c);
    double product, sum;
    THNN_SUM2(product, xi, &x, gi, &g, xi * gi);
    THNN_SUM2(sum, xi, &x, gi, &g, ((void)xi, gi));
    TH_DATA(gradWeight)[c * gradWeight->stride[0]] += (real)(scale * product);
    TH_DATA(gradBias)[c * gradBias->stride[0]] += (real)(scale * sum);
  }
}
