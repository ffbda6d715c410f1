#ifndef THCUNN_TABLES_GRADIENT_BIAS_H
#define THCUNN_TABLES_GRADIENT_BIAS_H

#include "runtime/loops.h"

namespace thcunn
{

/* gradBias[o] += scale * sum over n of gradOutput[n,o]. */
template <class T>
void addGradientBias(THNNState *state, const THNNTensor *gradOutput, const THNNTensor *gradBias, double scale)
{
  typedef typename Arithmetic<T>::type Number;
  const T *const from = (const T *)gradOutput->data;
  T *const to = (T *)gradBias->data;
  const int64_t rowStride = gradOutput->stride[0], columnStride = gradOutput->stride[1],
                biasStride = gradBias->stride[0];
  const Number factor = (Number)scale;
  sumRows<Number>(
      state, gradOutput->size[1], gradOutput->size[0], rowStride < columnStride || gradOutput->size[1] == 1,
      [=] __device__(int64_t o, int64_t n) -> Number { return load(from + n * rowStride + o * columnStride); },
      [=] __device__(int64_t o, Number sum) {
        store(to + o * biasStride, load(to + o * biasStride) + factor * sum);
      });
}

} // namespace thcunn

#endif
