#include "runtime/kernel.h"
#include "runtime/loops.h"

/* The elements of a tensor (N, C, T). */
static thcunn::View<Element, 3> viewOf(const THTensor *tensor)
{
  return {TH_DATA(tensor), {tensor->stride[0], tensor->stride[1], tensor->stride[2]}};
}

/* A thread per element of the output. */
void THNN_(NAME_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kW, int dW)
{
  const thcunn::View<Element, 3> x = viewOf(input), y = viewOf(output);
  const thcunn::Extents<3> each = {{output->size[0], output->size[1], output->size[2]}};
  thcunn::forEach(state, each.count(), [=] __device__(int64_t i) {
    int64_t at[3];
    each.indices(i, at);
    const int64_t window[3] = {at[0], at[1], at[2] * dW};
    const Element *first = x.at(window);
    real sum = 0;
    for (int k = 0; k < kW; k++) sum += thcunn::load(first + k * x.stride[2]);
    thcunn::store(y.at(at), sum / (real)kW);
  });
}

/* A thread per element of the input, which adds the gradients of the windows that contain it. */
void THNN_(NAME_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 int kW, int dW)
{
  const thcunn::View<Element, 3> g = viewOf(gradOutput), dx = viewOf(gradInput);
  const thcunn::Extents<3> each = {{input->size[0], input->size[1], input->size[2]}};
  const thcunn::Divisor distance = dW;
  const int64_t windows = gradOutput->size[2];
  thcunn::forEach(state, each.count(), [=] __device__(int64_t i) {
    int64_t at[3];
    each.indices(i, at);
    const int64_t first = at[2] < kW ? 0 : distance.quotient(at[2] - kW) + 1, last = distance.quotient(at[2]);
    const int64_t row[3] = {at[0], at[1], 0};
    const Element *gradients = g.at(row);
    real sum = 0;
    for (int64_t t = first; t <= last && t < windows; t++) sum += thcunn::load(gradients + t * g.stride[2]);
    thcunn::store(dx.at(at), sum / (real)kW);
  });
}
