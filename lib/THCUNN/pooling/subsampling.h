#ifndef THCUNN_POOLING_SUBSAMPLING_H
#define THCUNN_POOLING_SUBSAMPLING_H

#include "pooling/sums.h"

namespace thcunn
{
namespace pooling
{

/* The gradients w.r.t. the factor and the bias of each channel. A channel is a row of the reduction, an output of the
   channel a term. */
template <class T, class I> struct ScaleGradient : LoadsOneTerm {
  typedef typename Arithmetic<T>::type R;
  typedef NoCoefficients Coefficients;
  struct Value {
    R weight, bias;
  };
  typedef Value Term;
  SumForward<T, I, Sliding, Scaled<T, I>> forward;
  ImageLoop<I> channelOutputs;
  Images<const T, I> gradOutput;
  T *gradWeight, *gradBias;
  int64_t weightStride, biasStride;
  R scale;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return {0, 0}; }
  __device__ Term load(Coefficients, int64_t row, int64_t i) const
  {
    Place<I> p = channelOutputs.at((I)i);
    p.c = (I)row;
    const R g = thcunn::load(gradOutput.at(p));
    return {g * forward.sum(p), g};
  }
  __device__ void add(Value &partial, Coefficients, Term term) const { partial = merge(partial, term); }
  __device__ Value merge(Value a, Value b) const { return {a.weight + b.weight, a.bias + b.bias}; }
  __device__ void finish(int64_t row, Value sum) const
  {
    T *weight = gradWeight + row * weightStride, *bias = gradBias + row * biasStride;
    store(weight, thcunn::load(weight) + scale * sum.weight);
    store(bias, thcunn::load(bias) + scale * sum.bias);
  }
};

template <class T, class I>
void scaleGradientIndexedBy(THNNState *state, const PoolingShape &shape, const THNNTensor *input,
                            const THNNTensor *gradOutput, const THNNTensor *gradWeight, const THNNTensor *gradBias,
                            double scale)
{
  typedef typename Arithmetic<T>::type R;
  ImageShape channel = shape.output;
  channel.c = 1;
  const ScaleGradient<T, I> gradient = {{},
                                        {WindowReader<T, I, Sliding>(shape, Sliding(), (const T *)input->data),
                                         Images<T, I>((T *)NULL, shape.output),
                                         {NULL, NULL, 0, 0}},
                                        ImageLoop<I>(channel),
                                        Images<const T, I>((const T *)gradOutput->data, shape.output),
                                        (T *)gradWeight->data,
                                        (T *)gradBias->data,
                                        gradWeight->stride[0],
                                        gradBias->stride[0],
                                        (R)scale};
  reduce(state, gradient, shape.output.c, channel.count(), !shape.output.isChannelsLast());
}

/* gradWeight += scale * the sums of gradOutput times the sum of the output's window; gradBias += scale * the sums of
   gradOutput. */
template <class T>
void scaleGradient(THNNState *state, int axes, const WindowAxis *window, const THNNTensor *input,
                   const THNNTensor *gradOutput, const THNNTensor *gradWeight, const THNNTensor *gradBias,
                   double scale)
{
  const PoolingShape shape(axes, window, input, gradOutput);
  if (shape.isNarrow<Sliding>())
    scaleGradientIndexedBy<T, int32_t>(state, shape, input, gradOutput, gradWeight, gradBias, scale);
  else scaleGradientIndexedBy<T, int64_t>(state, shape, input, gradOutput, gradWeight, gradBias, scale);
}

} // namespace pooling
} // namespace thcunn

#endif
