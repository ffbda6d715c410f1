#ifndef THCUNN_POOLING_NAMED_INPUTS_H
#define THCUNN_POOLING_NAMED_INPUTS_H

/* The inputs that indices of maxima name: their check, and the gradient of the maximum. */

#include "pooling/pooling.h"
#include "pooling/windows.h"

namespace thcunn
{
namespace pooling
{

/* Decodes the index of an output. */
template <class I, PoolingIndex KIND> struct IndexDecoder {
  SlidingAxis<I> axis[WINDOW_AXES];
  typename DivisorOf<I>::type height, width; /* of the numbers that an index consists of, unless it is packed */
  int64_t limit;

  IndexDecoder(const WindowAxis *from)
      : axis{from[0], from[1], from[2]}, height(KIND == INDEX_INPUT ? from[1].input : from[1].kernel),
        width(KIND == INDEX_INPUT ? from[2].input : from[2].kernel)
  {
    if (KIND == INDEX_KERNEL_PACKED) limit = 1 << 24;
    else if (KIND == INDEX_KERNEL) limit = from[0].kernel * from[1].kernel * from[2].kernel;
    else limit = from[0].input * from[1].input * from[2].input;
  }

  /* Sets x[] of `input`; false if the index names no input. */
  __device__ bool find(int64_t index, const Place<I> &output, Place<I> &input) const
  {
    if (index < 0 || index >= limit) return false;
    const I i = (I)index;
    if (KIND == INDEX_KERNEL_PACKED) {
      input.x[0] = i & 255, input.x[1] = i >> 8 & 255, input.x[2] = i >> 16;
    } else {
      const I row = width.quotient(i), slice = height.quotient(row);
      input.x[0] = slice, input.x[1] = row - slice * (I)height.divisor, input.x[2] = i - row * (I)width.divisor;
    }
    bool exists = true;
#pragma unroll
    for (int a = 0; a < WINDOW_AXES && KIND != INDEX_INPUT; a++) {
      exists = exists && input.x[a] < axis[a].kernel;
      input.x[a] = axis[a].start(output.x[a]) + input.x[a] * (I)axis[a].dilation.divisor;
      exists = exists && input.x[a] >= 0 && input.x[a] < axis[a].input;
    }
    return exists;
  }
  /* The row-major number of the input that an index names; -1 if there is none. */
  __device__ I position(int64_t index, const Place<I> &output) const
  {
    if (KIND == INDEX_INPUT) return index >= 0 && index < limit ? (I)index : (I)-1;
    Place<I> input = output;
    if (!find(index, output, input)) return -1;
    return (input.x[0] * axis[1].input + input.x[1]) * axis[2].input + input.x[2];
  }
};

/* A flag per plane: 1 if an index names an input outside the window of its output, as the index of a maximum never
   does. */
template <class I> struct PlaneFlags {
  int *data; /* NULL if indices are kernel elements */
  I channels;

  __device__ int *of(const Place<I> &p) const { return data + (p.n * channels + p.c); }
};

/* A thread per output checks its index: it names an input, or is -1 if that is allowed. */
template <class I, PoolingIndex KIND, class Axis> struct CheckIndices {
  ImageLoop<I> outputs;
  Images<const int64_t, I> indices;
  IndexDecoder<I, KIND> decoder;
  Axis axis[WINDOW_AXES];
  IndexCheck check; /* of numbers from 0, or -1 if that is allowed, to the largest index */
  PlaneFlags<I> elsewhere;

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = outputs.at((I)i);
    Place<I> input = p;
    const int64_t index = *indices.at(p);
    if (!check(index) || index < 0) return;
    if (!decoder.find(index, p, input)) return check.refuse(index);
    if (elsewhere.data == NULL) return;
    bool isInside = true;
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) {
      const Span<I> outputs = axis[a].outputs(input.x[a]);
      isInside = isInside && p.x[a] >= outputs.begin && p.x[a] < outputs.begin + outputs.count;
    }
    if (!isInside) atomicMax(elsewhere.of(p), 1);
  }
};

/* The gradient of the maximum: a thread per input adds the gradients of the outputs whose index names the input, in the
   order of the outputs. In a plane with a flag, each thread reads the indices of all outputs. */
template <class T, class I, PoolingIndex KIND, class Axis> struct MaxBackward {
  typedef typename Arithmetic<T>::type R;
  static const int NAMED_LOADS = sizeof(I) == 4 ? 2 : 1; /* indices of a row at a time, as registers allow */
  ImageLoop<I> inputs;
  Images<const T, I> gradOutput;
  Images<const int64_t, I> indices;
  Images<T, I> gradInput;
  IndexDecoder<I, KIND> decoder;
  Axis axis[WINDOW_AXES];
  IndexCheck check; /* of kernel elements; CheckIndices has checked the numbers of inputs */
  PlaneFlags<I> elsewhere;

  /* True if the index of output (d, h, w) names input p, which has the number `own`. */
  __device__ bool isNamed(const Place<I> &p, int64_t own, I d, I h, I w, int64_t index) const
  {
    if (KIND == INDEX_INPUT) return index == own;
    if (!check(index) || index < 0) return false;
    Place<I> input = p;
    if (decoder.find(index, {p.n, p.c, {d, h, w}}, input))
      return input.x[0] == p.x[0] && input.x[1] == p.x[1] && input.x[2] == p.x[2];
    check.refuse(index);
    return false;
  }

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = inputs.at((I)i);
    const bool all = KIND == INDEX_INPUT && *elsewhere.of(p) != 0;
    Span<I> span[WINDOW_AXES];
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) {
      span[a] = axis[a].outputs(p.x[a]);
      if (all) span[a] = {0, decoder.axis[a].output, 1, 0};
    }
    const int64_t own = ((int64_t)p.x[0] * decoder.axis[1].input + p.x[1]) * decoder.axis[2].input + p.x[2];
    const T *g = gradOutput.plane(p);
    const int64_t *index = indices.plane(p);
    R sum = 0;
#pragma unroll 1
    for (I d = span[0].begin; d < span[0].begin + span[0].count; d++)
#pragma unroll 1
      for (I h = span[1].begin; h < span[1].begin + span[1].count; h++) {
        const I begin = span[2].begin, end = begin + span[2].count;
        const T *gRow = g + (d * gradOutput.sx[0] + h * gradOutput.sx[1] + begin * gradOutput.sx[2]);
        const int64_t *indexRow = index + (d * indices.sx[0] + h * indices.sx[1] + begin * indices.sx[2]);
#pragma unroll 1
        for (I w = begin; w < end; w += NAMED_LOADS) {
          int64_t named[NAMED_LOADS];
          R value[NAMED_LOADS];
#pragma unroll
          for (int j = 0; j < NAMED_LOADS; j++) {
            named[j] = w + j < end ? indexRow[j * indices.sx[2]] : -1;
            value[j] = w + j < end ? load(gRow + j * gradOutput.sx[2]) : 0;
          }
#pragma unroll
          for (int j = 0; j < NAMED_LOADS; j++)
            if (w + j < end && isNamed(p, own, d, h, w + j, named[j])) sum += value[j];
          indexRow += NAMED_LOADS * indices.sx[2];
          gRow += NAMED_LOADS * gradOutput.sx[2];
        }
      }
    store(gradInput.at(p), sum);
  }
};

/* True if each window along an axis has an input, whose thread checks the kernel element that the index names. */
static inline bool windowsHaveInputs(const WindowAxis &a)
{
  return a.dilation <= a.input && (a.kernel - 1) * a.dilation >= a.padding &&
         (a.output - 1) * a.stride - a.padding < a.input;
}

template <class T, PoolingIndex KIND, class I, class Kind>
void maxBackwardIndexedBy(THNNState *state, const Kind &kind, const PoolingShape &shape, bool noneAllowed,
                          const THNNTensor *gradOutput, const THNNTensor *indices, const THNNTensor *gradInput,
                          const ImageShape &indexShape)
{
  typedef typename Kind::template Axis<I> Axis;
  const Images<const int64_t, I> index((const int64_t *)indices->data, indexShape);
  const IndexDecoder<I, KIND> decoder(shape.axis);
  const IndexCheck check = indexCheck(state, "indices", noneAllowed ? -1 : 0, decoder.limit);
  PlaneFlags<I> elsewhere = {NULL, (I)shape.output.c};
  if (KIND == INDEX_INPUT && shape.input.count() > 0) {
    const int64_t bytes = shape.output.n * shape.output.c * (int64_t)sizeof(int);
    elsewhere.data = (int *)scratch(state, bytes);
    if (elsewhere.data == NULL) return;
    cudaMemsetAsync(elsewhere.data, 0, (size_t)bytes, streamOf(state));
  }
  const CheckIndices<I, KIND, Axis> checkIndices = {ImageLoop<I>(indexShape),
                                                    index,
                                                    decoder,
                                                    {kind.template axis<I>(0, shape.axis[0]),
                                                     kind.template axis<I>(1, shape.axis[1]),
                                                     kind.template axis<I>(2, shape.axis[2])},
                                                    check,
                                                    elsewhere};
  if (KIND == INDEX_INPUT || !windowsHaveInputs(shape.axis[0]) || !windowsHaveInputs(shape.axis[1]) ||
      !windowsHaveInputs(shape.axis[2]))
    forEach(state, shape.output.count(), checkIndices);
  const MaxBackward<T, I, KIND, Axis> backward = {
      ImageLoop<I>(shape.input),
      Images<const T, I>((const T *)gradOutput->data, shape.output),
      index,
      Images<T, I>((T *)gradInput->data, shape.input),
      decoder,
      {checkIndices.axis[0], checkIndices.axis[1], checkIndices.axis[2]},
      check,
      elsewhere};
  forEach(state, shape.input.count(), backward);
}

/* gradInput: for each input, the sum of the elements of gradOutput with its index. -1 is skipped if it is allowed. */
template <class T, PoolingIndex KIND, class Kind>
void maxBackward(THNNState *state, int axes, const WindowAxis *window, const Kind &kind, bool noneAllowed,
                 const THNNTensor *gradOutput, const THNNTensor *indices, const THNNTensor *gradInput)
{
  const PoolingShape shape(axes, window, gradInput, gradOutput);
  const ImageShape indexShape = imageShape(axes, indices);
  bool narrow = shape.isNarrow<Kind>() && isNarrow(indexShape);
  for (int a = 0; a < WINDOW_AXES; a++) narrow = narrow && SlidingAxis<int32_t>::isNarrow(shape.axis[a]);
  if (narrow)
    maxBackwardIndexedBy<T, KIND, int32_t>(state, kind, shape, noneAllowed, gradOutput, indices, gradInput,
                                           indexShape);
  else
    maxBackwardIndexedBy<T, KIND, int64_t>(state, kind, shape, noneAllowed, gradOutput, indices, gradInput,
                                           indexShape);
}

} // namespace pooling
} // namespace thcunn

#endif
