#include "modules/GatedLinear.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"

/* Half 0 or 1 along a dimension. */
static THTensor halfOf(const THTensor *tensor, int dim, int which)
{
  THTensor half = *tensor;
  half.size[dim] /= 2;
  half.data = TH_DATA(tensor) + which * half.size[dim] * tensor->stride[dim];
  return half;
}

void THNN_(GatedLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int dim)
{
  const THTensor a = halfOf(input, dim, 0), b = halfOf(input, dim, 1);
  THNN_MAP3(y, output, x, &a, gate, &b, x * th_sigmoid(gate));
}

/* Both halves of gradInput by one kernel, which reads the gate and the gradient once. */
void THNN_(GatedLinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, int dim)
{
  const THTensor a = halfOf(input, dim, 0), b = halfOf(input, dim, 1);
  const THTensor da = halfOf(gradInput, dim, 0), db = halfOf(gradInput, dim, 1);
  const THTensor *const tensors[] = {&da, gradOutput, &a, &b};
  const THNNMap shape = thcunn::beginMap<Element>(state, true, 4, tensors);
  const thcunn::MapOperands<4> operands(shape);
  Element *const first = TH_DATA(&da), *const second = TH_DATA(&db);
  const Element *const g = TH_DATA(gradOutput), *const x = TH_DATA(&a), *const gate = TH_DATA(&b);
  thcunn::forEach(state, shape.elements, [=] __device__(int64_t i) {
    const int64_t to = operands.of[0].offset(i);
    const real gradient = thcunn::load(g + operands.of[1].offset(i));
    const real s = th_sigmoid(thcunn::load(gate + operands.of[3].offset(i)));
    thcunn::store(first + to, gradient * s);
    thcunn::store(second + to, gradient * thcunn::load(x + operands.of[2].offset(i)) * s * (1 - s));
  });
}
