#include "modules/RReLU.h"
#include "elementwise/map.h"
#include "simd/philox.h"

/* Draws the slopes, 1 where input > 0, else lower + u * range with u uniform in [0, 1), and multiplies by them. Each
   thread computes the four elements of one generator counter. */
static void THNN_(RReLU_drawAndApply)(THNNState *state, THTensor *y, THTensor *input, THTensor *noise, real lower,
                                      real range, int64_t seed)
{
  const THNNTensor *const tensor[] = {y, input, noise};
  const THNNMap shape = thcunn::beginMap<Element>(state, true, 3, tensor, true);
  const thcunn::MapOperands<3> operands(shape);
  Element *const out = TH_DATA(y), *const slopes = TH_DATA(noise);
  const Element *const in = TH_DATA(input);
  const int64_t n = shape.elements, groups = (n + TH_RANDOM_GROUP - 1) / TH_RANDOM_GROUP;
  thcunn::forEach(state, groups * TH_PHILOX_LANES, [=] __device__(int64_t counter) {
    real u[4];
    th_uniformWords(seed, (uint64_t)counter, 1, u);
    const int64_t first = counter / TH_PHILOX_LANES * TH_RANDOM_GROUP + counter % TH_PHILOX_LANES;
#pragma unroll
    for (int w = 0; w < 4; w++) {
      const int64_t i = first + w * TH_PHILOX_LANES;
      if (i >= n) return;
      const real x = thcunn::load(in + operands.of[1].offset(i));
      Element slope;
      thcunn::store(&slope, x > 0 ? (real)1 : lower + u[w] * range);
      slopes[operands.of[2].offset(i)] = slope;
      thcunn::store(out + operands.of[0].offset(i), x * thcunn::load(&slope));
    }
  });
}

void THNN_(RReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *noise, accreal lower,
                               accreal upper, bool train, bool inplace, THGenerator *generator)
{
  THTensor *const y = inplace ? input : output;
  if (!train) {
    const real slope = (real)((lower + upper) / 2);
    THNN_MAP2(y, y, x, input, x > 0 ? x : x * slope);
    return;
  }
  THNN_REQUIRE_SEED(generator);
  THNN_(RReLU_drawAndApply)(state, y, input, noise, (real)lower, (real)(upper - lower), generator->seed);
}

void THNN_(RReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                  THTensor *noise, accreal lower, accreal upper, bool train, bool inplace)
{
  THTensor *const dx = inplace ? gradOutput : gradInput;
  const real slope = (real)((lower + upper) / 2);
  const bool random = train && upper - lower > 1e-6;
  if (random) THNN_MAP3(dx, dx, g, gradOutput, r, noise, g * r);
  else THNN_MAP3(dx, dx, x, input, g, gradOutput, x > 0 ? g : g * slope);
}
