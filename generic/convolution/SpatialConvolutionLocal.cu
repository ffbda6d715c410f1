#include "modules/SpatialConvolutionLocal.h"

#include "gemm/batched_product.h"

/* Each output position has its own filters, and hence a separate matrix product: its filters times the patches that it
   reads from the images of the batch. gradInput has a matrix product for each input position. */

using thcunn::Divisor;
using thcunn::Extents;
using thcunn::View;

namespace
{ /* anonymous, because these types have the same names for every element type */

typedef struct LocalAxis {
  int64_t input, output, kernel, padding;
  Divisor stride;
} LocalAxis;

/* A patch has elements (input channel, row, column). */
typedef struct Locals {
  int64_t batch, inputChannels, outputChannels;
  LocalAxis axis[2];
  Extents<2> outputs, inputs; /* positions */
  Extents<3> patch;
  View<Element, 4> in, out;
  View<Element, 6> weight;
} Locals;

static View<Element, 4> imageView(const THTensor *t)
{
  View<Element, 4> view = {TH_DATA(t), {0, 0, 0, 0}};
  for (int d = 4 - t->ndim; d < 4; d++) view.stride[d] = t->stride[d - (4 - t->ndim)];
  return view;
}

/* weight[y, x, o, i, kh, kw], also if weight has three dimensions (y * oW + x, o, (i, kh, kw)). */
static View<Element, 6> weightView(const THTensor *t, int64_t outputWidth, int64_t kH, int64_t kW)
{
  const int64_t *s = t->stride;
  if (t->ndim == 6) return {TH_DATA(t), {s[0], s[1], s[2], s[3], s[4], s[5]}};
  return {TH_DATA(t), {outputWidth * s[0], s[0], s[1], kH * kW * s[2], kW * s[2], s[2]}};
}

static Locals makeLocals(const THTensor *in, const THTensor *out, const THTensor *weight, int kW, int kH, int dW,
                         int dH, int padW, int padH)
{
  Locals m;
  const int64_t *input = in->size + (in->ndim - 3), *output = out->size + (out->ndim - 3);
  m.batch = in->ndim == 4 ? in->size[0] : 1;
  m.inputChannels = input[0];
  m.outputChannels = output[0];
  m.axis[0] = {input[1], output[1], kH, padH, dH};
  m.axis[1] = {input[2], output[2], kW, padW, dW};
  m.outputs = {{output[1], output[2]}};
  m.inputs = {{input[1], input[2]}};
  m.patch = {{input[0], kH, kW}};
  m.in = imageView(in);
  m.out = imageView(out);
  m.weight = weightView(weight, output[2], kH, kW);
  return m;
}

/* The element of the patch of output position `at` of an image; 0 in the padding. */
static __device__ real patchElement(const Locals &m, int64_t image, const int64_t *at, const int64_t *element)
{
  const int64_t y = at[0] * m.axis[0].stride.divisor - m.axis[0].padding + element[1];
  const int64_t x = at[1] * m.axis[1].stride.divisor - m.axis[1].padding + element[2];
  if (y < 0 || y >= m.axis[0].input || x < 0 || x >= m.axis[1].input) return 0;
  const int64_t index[4] = {image, element[0], y, x};
  return thcunn::load(m.in.at(index));
}

/* Rows are output channels, columns images, terms elements of the patch. */
struct LocalOutput {
  typedef real Number;
  static const bool LEFT_TERMS_ADJACENT = true, RIGHT_TERMS_ADJACENT = true;
  int64_t batches, rows, columns;
  Locals m;
  int64_t elements; /* elements per patch */
  View<Element, 3> bias;

  __device__ int64_t terms(int64_t) const { return elements; }
  __device__ real left(int64_t position, int64_t channel, int64_t t) const
  {
    int64_t at[2], element[3];
    m.outputs.indices(position, at);
    m.patch.indices(t, element);
    const int64_t index[6] = {at[0], at[1], channel, element[0], element[1], element[2]};
    return thcunn::load(m.weight.at(index));
  }
  __device__ real right(int64_t position, int64_t t, int64_t image) const
  {
    int64_t at[2], element[3];
    m.outputs.indices(position, at);
    m.patch.indices(t, element);
    return patchElement(m, image, at, element);
  }
  __device__ void finish(int64_t position, int64_t channel, int64_t image, real sum) const
  {
    int64_t at[2];
    m.outputs.indices(position, at);
    const int64_t ofBias[3] = {channel, at[0], at[1]}, ofOutput[4] = {image, channel, at[0], at[1]};
    thcunn::store(m.out.at(ofOutput), sum + thcunn::load(bias.at(ofBias)));
  }
};

/* Rows are elements of the patch, columns output channels, terms images. */
struct LocalGradWeight {
  typedef real Number;
  static const bool LEFT_TERMS_ADJACENT = false, RIGHT_TERMS_ADJACENT = false;
  int64_t batches, rows, columns;
  Locals m;
  real scale;

  __device__ int64_t terms(int64_t) const { return m.batch; }
  __device__ real left(int64_t position, int64_t row, int64_t image) const
  {
    int64_t at[2], element[3];
    m.outputs.indices(position, at);
    m.patch.indices(row, element);
    return patchElement(m, image, at, element);
  }
  __device__ real right(int64_t position, int64_t image, int64_t channel) const
  {
    int64_t at[2];
    m.outputs.indices(position, at);
    const int64_t index[4] = {image, channel, at[0], at[1]};
    return thcunn::load(m.out.at(index));
  }
  __device__ void finish(int64_t position, int64_t row, int64_t channel, real sum) const
  {
    int64_t at[2], element[3];
    m.outputs.indices(position, at);
    m.patch.indices(row, element);
    const int64_t index[6] = {at[0], at[1], channel, element[0], element[1], element[2]};
    Element *weight = m.weight.at(index);
    thcunn::store(weight, thcunn::load(weight) + scale * sum);
  }
};

/* The outputs of an axis that read an input: `count` outputs from `first` on. */
struct Readers {
  int64_t first, count;
};

static __device__ Readers readersOf(const LocalAxis &axis, int64_t input)
{
  const int64_t padded = input + axis.padding, behind = padded - axis.kernel;
  const int64_t first = behind < 0 ? 0 : axis.stride.quotient(behind) + 1;
  const int64_t last = axis.stride.quotient(padded), end = last < axis.output ? last + 1 : axis.output;
  return {first, end > first ? end - first : 0};
}

/* Products of input positions. Rows are input channels, columns images, terms the output channels of each position that
   reads the input. */
struct LocalGradInput {
  typedef real Number;
  static const bool LEFT_TERMS_ADJACENT = false, RIGHT_TERMS_ADJACENT = true;
  int64_t batches, rows, columns;
  Locals m;
  Divisor outputChannels;

  __device__ int64_t terms(int64_t position) const
  {
    int64_t input[2];
    m.inputs.indices(position, input);
    return readersOf(m.axis[0], input[0]).count * readersOf(m.axis[1], input[1]).count * outputChannels.divisor;
  }
  /* The output position and channel of term t, and the element of the kernel that reads the input there. */
  __device__ void reader(int64_t position, int64_t t, int64_t *at, int64_t *channel, int64_t *kernel) const
  {
    int64_t input[2];
    m.inputs.indices(position, input);
    const Readers y = readersOf(m.axis[0], input[0]), x = readersOf(m.axis[1], input[1]);
    /* Readers are at most as many as kernel elements, hence fit 32 bits, whose division takes a fraction of the time. */
    const int64_t n = outputChannels.quotient(t), row = (uint32_t)n / (uint32_t)x.count;
    *channel = t - n * outputChannels.divisor;
    at[0] = y.first + row;
    at[1] = x.first + n - row * x.count;
#pragma unroll
    for (int d = 0; d < 2; d++) kernel[d] = input[d] + m.axis[d].padding - at[d] * m.axis[d].stride.divisor;
  }
  __device__ real left(int64_t position, int64_t channel, int64_t t) const
  {
    int64_t at[2], kernel[2], o;
    reader(position, t, at, &o, kernel);
    const int64_t index[6] = {at[0], at[1], o, channel, kernel[0], kernel[1]};
    return thcunn::load(m.weight.at(index));
  }
  __device__ real right(int64_t position, int64_t t, int64_t image) const
  {
    int64_t at[2], kernel[2], o;
    reader(position, t, at, &o, kernel);
    const int64_t index[4] = {image, o, at[0], at[1]};
    return thcunn::load(m.out.at(index));
  }
  __device__ void finish(int64_t position, int64_t channel, int64_t image, real sum) const
  {
    int64_t input[2];
    m.inputs.indices(position, input);
    const int64_t index[4] = {image, channel, input[0], input[1]};
    thcunn::store(m.in.at(index), sum);
  }
};

} // namespace

void THNN_(SpatialConvolutionLocal_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                                 THTensor *weight, THTensor *bias, THTensor *, THTensor *, int kW,
                                                 int kH, int dW, int dH, int padW, int padH, int64_t, int64_t,
                                                 int64_t, int64_t)
{
  const Locals m = makeLocals(input, output, weight, kW, kH, dW, dH, padW, padH);
  const View<Element, 3> biases = {TH_DATA(bias), {bias->stride[0], bias->stride[1], bias->stride[2]}};
  thcunn::batchedProduct(state,
                         LocalOutput{m.outputs.count(), m.outputChannels, m.batch, m, m.patch.count(), biases});
}

void THNN_(SpatialConvolutionLocal_updateGradInput)(THNNState *state, THTensor *, THTensor *gradOutput,
                                                    THTensor *gradInput, THTensor *weight, THTensor *, THTensor *,
                                                    int kW, int kH, int dW, int dH, int padW, int padH, int64_t,
                                                    int64_t, int64_t, int64_t)
{
  const Locals m = makeLocals(gradInput, gradOutput, weight, kW, kH, dW, dH, padW, padH);
  thcunn::batchedProduct(state, LocalGradInput{m.inputs.count(), m.inputChannels, m.batch, m, m.outputChannels});
}

void THNN_(SpatialConvolutionLocal_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                                      THTensor *gradWeight, THTensor *gradBias, THTensor *,
                                                      THTensor *, int kW, int kH, int dW, int dH, int padW,
                                                      int padH, int64_t, int64_t, int64_t, int64_t, accreal scale_)
{
  const real scale = (real)scale_;
  const Locals m = makeLocals(input, gradOutput, gradWeight, kW, kH, dW, dH, padW, padH);
  thcunn::batchedProduct(state, LocalGradWeight{m.outputs.count(), m.patch.count(), m.outputChannels, m, scale});
  const Extents<3> elements = {{m.outputChannels, m.axis[0].output, m.axis[1].output}};
  const View<Element, 3> sums = {TH_DATA(gradBias),
                                 {gradBias->stride[0], gradBias->stride[1], gradBias->stride[2]}};
  const View<Element, 4> gradients = m.out;
  const int64_t batch = m.batch;
  thcunn::forEach(state, elements.count(), [=] __device__(int64_t i) {
    int64_t index[3];
    elements.indices(i, index);
    real sum = 0;
    for (int64_t n = 0; n < batch; n++) {
      const int64_t image[4] = {n, index[0], index[1], index[2]};
      sum += thcunn::load(gradients.at(image));
    }
    Element *to = sums.at(index);
    thcunn::store(to, thcunn::load(to) + scale * sum);
  });
}
