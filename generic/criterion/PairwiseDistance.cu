#include "modules/PairwiseDistance.h"
#include "criterion/class_rows.h"

typedef thcunn::ClassRows<Element> Rows;

void THNN_(PairwiseDistance_updateOutput)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *output, int p,
                                          accreal eps)
{
  const Rows x = thcunn::classRows<Element>(x1), y = thcunn::classRows<Element>(x2);
  Element *const to = TH_DATA(output);
  const int64_t stride = output->stride[0];
  const real e = (real)eps;
  const bool squared = p == 2;
  thcunn::sumRows<real>(
      state, x.rows, x.classes, x.hasAdjacentClasses(),
      [=] __device__(int64_t row, int64_t i) -> real {
        const real d = thcunn::load(x.at(row, i)) - thcunn::load(y.at(row, i)) + e;
        return squared ? d * d : fabs(d);
      },
      [=] __device__(int64_t row, real sum) { thcunn::store(to + row * stride, squared ? sqrt(sum) : sum); });
}

void THNN_(PairwiseDistance_backward)(THNNState *state, THTensor *x1, THTensor *x2, THTensor *gradOutput,
                                      THTensor *gradX1, THTensor *gradX2, THTensor *output, int p, accreal eps)
{
  const Rows x = thcunn::classRows<Element>(x1), y = thcunn::classRows<Element>(x2);
  const Rows dx = thcunn::classRows<Element>(gradX1), dy = thcunn::classRows<Element>(gradX2);
  const Element *const g = TH_DATA(gradOutput), *const size = TH_DATA(output);
  const int64_t gradStride = gradOutput->stride[0], sizeStride = output->stride[0];
  const real e = (real)eps;
  const bool squared = p == 2;
  const thcunn::Divisor columns(x.classes > 0 ? x.classes : 1);
  thcunn::forEach(state, x.rows * x.classes, [=] __device__(int64_t i) {
    const int64_t row = columns.quotient(i), c = i - row * columns.divisor;
    const real d = thcunn::load(x.at(row, c)) - thcunn::load(y.at(row, c)) + e;
    const real length = thcunn::load(size + row * sizeStride), of = thcunn::load(g + row * gradStride);
    const real factor = !squared ? of : length == 0 ? 0 : of / length;
    const real slope = factor * (squared || d != d ? d : d > 0 ? 1 : d < 0 ? -1 : 0);
    thcunn::store(dx.at(row, c), slope);
    thcunn::store(dy.at(row, c), -slope);
  });
}
