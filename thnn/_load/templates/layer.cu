#include "elementwise/map.h"

/* A vector (C) as a view of the size of `like` (N, C, ...). */
static THTensor spread(const THTensor *vector, const THTensor *like)
{
  THTensor wide = *like;
  wide.data = vector->data;
  for (int d = 0; d < wide.ndim; d++) wide.stride[d] = d == 1 ? vector->stride[0] : 0;
  return wide;
}

/* The first channel of a tensor (N, C, ...). */
static THTensor firstChannel(const THTensor *tensor)
{
  THTensor one = *tensor;
  one.size[1] = 1;
  return one;
}

void THNN_(NAME_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                              THTensor *bias)
{
  const THTensor factor = spread(weight, input), shift = spread(bias, input);
  THNN_MAP4(y, output, x, input, w, &factor, b, &shift, x * w + b);
}

void THNN_(NAME_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 THTensor *weight)
{
  const THTensor factor = spread(weight, input);
  THNN_MAP3(dx, gradInput, g, gradOutput, w, &factor, g * w);
}

namespace
{ /* without a name, since the file is compiled for several types of Element */

/* The end of a sum over channel c. */
struct AddTo {
  Element *gradient;
  int64_t stride;
  real scale;

  __device__ void operator()(int64_t c, real sum) const
  {
    thcunn::store(gradient + c * stride, thcunn::load(gradient + c * stride) + scale * sum);
  }
};

} // namespace

void THNN_(NAME_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
                                   THTensor *gradBias, accreal scale)
{
  const THTensor x = firstChannel(input), g = firstChannel(gradOutput);
  const THTensor *const tensors[] = {&x, &g};
  const THNNMap shape = thcunn::beginMap<Element>(state, false, 2, tensors);
  const thcunn::MapOperands<2> operands(shape);

  const Element *input_ = TH_DATA(input), *gradOutput_ = TH_DATA(gradOutput);
  const int64_t inputStride = input->stride[1], gradOutputStride = gradOutput->stride[1];
  auto gradient = [=] __device__(int64_t c, int64_t i) -> real {
    return thcunn::load(gradOutput_ + c * gradOutputStride + operands.of[1].offset(i));
  };
  auto product = [=] __device__(int64_t c, int64_t i) -> real {
    return thcunn::load(input_ + c * inputStride + operands.of[0].offset(i)) * gradient(c, i);
  };
  const AddTo addToWeight = {TH_DATA(gradWeight), gradWeight->stride[0], (real)scale};
  const AddTo addToBias = {TH_DATA(gradBias), gradBias->stride[0], (real)scale};
  thcunn::sumRows<real>(state, input->size[1], shape.elements, true, product, addToWeight);
  thcunn::sumRows<real>(state, input->size[1], shape.elements, true, gradient, addToBias);
}
