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

namespace
{

/* One kernel computes both halves of gradInput, so that gate and gradient are read once. A thread computes a Unit of
   adjacent elements. */
template <class Unit> struct Halves {
  Unit *first, *second;
  const Unit *gradient, *input, *gate;

  __device__ void compute(int64_t to, int64_t gradientAt, int64_t inputAt, int64_t gateAt) const
  {
    const Unit g = gradient[gradientAt], x = input[inputAt], z = gate[gateAt];
    Unit dx, dz;
#pragma unroll
    for (int e = 0; e < (int)(sizeof(Unit) / sizeof(Element)); e++) {
      const real slope = thcunn::load(&g.element[e]), s = th_sigmoid(thcunn::load(&z.element[e]));
      thcunn::store(&dx.element[e], slope * s);
      thcunn::store(&dz.element[e], slope * thcunn::load(&x.element[e]) * s * (1 - s));
    }
    first[to] = dx;
    second[to] = dz;
  }
};

struct Single {
  Element element[1];
};

} // namespace

/* Makes packs the elements of a map; false if an operand does not consist of aligned packs of neighbours. */
static bool divideIntoPacks(THNNMap *map)
{
  typedef thcunn::Pack<Element> Pack;
  for (int k = 0; k < map->count; k++) {
    const THNNOperand &operand = map->operand[k];
    if ((uintptr_t)operand.data % sizeof(Pack) != 0 || operand.size[0] % Pack::size != 0) return false;
    if (operand.stride[0] != (int64_t)sizeof(Element)) return false;
    for (int d = 1; d < operand.ndim; d++)
      if (operand.stride[d] % (int64_t)sizeof(Pack) != 0) return false;
  }
  map->elements /= Pack::size;
  map->elementBytes = sizeof(Pack);
  for (int k = 0; k < map->count; k++) {
    map->operand[k].size[0] /= Pack::size;
    map->operand[k].stride[0] = sizeof(Pack);
  }
  return true;
}

template <class Unit> static void computeHalves(THNNState *state, const THNNMap &shape, THTensor *second)
{
  const Halves<Unit> halves = {(Unit *)shape.operand[0].data, (Unit *)TH_DATA(second),
                               (const Unit *)shape.operand[1].data, (const Unit *)shape.operand[2].data,
                               (const Unit *)shape.operand[3].data};
  thcunn::NarrowOperands<4> narrow;
  if (narrow.describe(shape)) {
    thcunn::forEach(state, shape.elements, [=] __device__(int64_t i) {
      int32_t offset[4];
      narrow.offsets((int32_t)i, offset);
      halves.compute(offset[0], offset[1], offset[2], offset[3]);
    });
    return;
  }
  const thcunn::MapOperands<4> operands(shape);
  thcunn::forEach(state, shape.elements, [=] __device__(int64_t i) {
    halves.compute(operands.of[0].offset(i), operands.of[1].offset(i), operands.of[2].offset(i),
                   operands.of[3].offset(i));
  });
}

void THNN_(GatedLinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, int dim)
{
  const THTensor a = halfOf(input, dim, 0), b = halfOf(input, dim, 1);
  const THTensor da = halfOf(gradInput, dim, 0);
  THTensor db = halfOf(gradInput, dim, 1);
  const THTensor *const tensors[] = {&da, gradOutput, &a, &b};
  THNNMap shape = thcunn::beginMap<Element>(state, true, 4, tensors);
  if (shape.elements == 0 || state->status != THNN_OK) return;
  const int64_t distance = (char *)db.data - (char *)da.data;
  if (distance % (int64_t)sizeof(thcunn::Pack<Element>) == 0 && divideIntoPacks(&shape))
    computeHalves<thcunn::Pack<Element>>(state, shape, &db);
  else computeHalves<Single>(state, shape, &db);
}
