#ifndef THCUNN_POOLING_NAMED_INPUTS_H
#define THCUNN_POOLING_NAMED_INPUTS_H

/* The inputs that indices of maxima name: their check, and the gradient of the maximum. */

#include "pooling/pooling.h"
#include "pooling/windows.h"

namespace thcunn
{
namespace pooling
{

static const int64_t NO_INDEX = -1; /* the index of a window without elements */

/* Decodes the index of an output. */
template <class I, PoolingIndex KIND> struct IndexDecoder {
  SlidingAxis<I> axis[WINDOW_AXES];
  typename DivisorOf<I>::type height, width; /* for decoding an index, unless it is packed */
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
  IndexCheck check; /* indices from 0, or -1 if that is allowed, to the largest */
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
    for (int a = 0; a < WINDOW_AXES; a++) isInside = isInside && axis[a].mayRead(p.x[a], input.x[a]);
    if (!isInside) atomicMax(elsewhere.of(p), 1);
  }
};

/* The gradient of the maximum: each input gets the sum of the gradients of the outputs whose index names it, in a fixed
   order of the outputs. In a plane with a flag, each thread reads the indices of all outputs. */
template <class T, class I, PoolingIndex KIND, class Kind, int AXES> struct MaxBackward {
  typedef typename Arithmetic<T>::type R;
  typedef InputGroups<I, Kind, AXES> Groups;
  static const int ALONG = Groups::ALONG, ACROSS = Groups::ACROSS, LOADS = Groups::LOADS;
  Groups groups;
  Images<const T, I> gradOutput;
  Images<const int64_t, I> indices;
  Images<T, I> gradInput;
  IndexDecoder<I, KIND> decoder;
  IndexCheck check; /* of kernel elements, or NO_INDEX; CheckIndices has checked the numbers of inputs */
  PlaneFlags<I> elsewhere;

  /* The input that the index of an output names, relative to the first one of a group, p: by its number in the plane
     or, if the index is a kernel element, by its position along the axis, with -1 for an input elsewhere. */
  __device__ int64_t distance(const Place<I> &p, int64_t own, const Place<I> &output, int64_t index,
                              int64_t &bad) const
  {
    if (KIND == INDEX_INPUT) return index - own;
    Place<I> input = output;
    if (!decoder.find(index, output, input)) {
      if (index != NO_INDEX) bad = index;
      return -1;
    }
    return input.x[0] == p.x[0] && input.x[ACROSS] == p.x[ACROSS] ? input.x[ALONG] - p.x[ALONG] : -1;
  }

  __device__ void operator()(int64_t i) const
  {
    const Place<I> p = groups.first((I)i);
    Span<I> span[WINDOW_AXES];
    groups.readers(p, span);
    if (KIND == INDEX_INPUT && *elsewhere.of(p) != 0) {
#pragma unroll
      for (int a = 0; a < WINDOW_AXES; a++) span[a] = {0, decoder.axis[a].output, 1, 0};
    }
    const int64_t own = ((int64_t)p.x[0] * decoder.axis[1].input + p.x[1]) * decoder.axis[2].input + p.x[2];
    const int64_t step = KIND == INDEX_INPUT && ALONG == 1 ? decoder.axis[2].input : 1;
    const I end = span[ALONG].begin + span[ALONG].count;
    const T *g = gradOutput.plane(p);
    const int64_t *index = indices.plane(p);
    int64_t bad = NO_INDEX;
    R sum[Groups::SIZE] = {};
#pragma unroll 1
    for (I d = span[0].begin; d < span[0].begin + span[0].count; d++)
#pragma unroll 1
      for (I k = span[ACROSS].begin; k < span[ACROSS].begin + span[ACROSS].count; k++) {
        const T *from = g + (d * gradOutput.sx[0] + k * gradOutput.sx[ACROSS]);
        const int64_t *indexFrom = index + (d * indices.sx[0] + k * indices.sx[ACROSS]);
#pragma unroll 1
        for (I o = span[ALONG].begin; o < end; o += LOADS) {
          int64_t named[LOADS];
          R value[LOADS];
#pragma unroll
          for (int l = 0; l < LOADS; l++) {
            named[l] = o + l < end ? indexFrom[(o + l) * indices.sx[ALONG]] : -1;
            value[l] = o + l < end ? load(from + (o + l) * gradOutput.sx[ALONG]) : 0;
          }
#pragma unroll
          for (int l = 0; l < LOADS; l++) {
            if (o + l >= end) continue;
            Place<I> output = p;
            output.x[0] = d, output.x[ACROSS] = k, output.x[ALONG] = o + l;
            const int64_t to = distance(p, own, output, named[l], bad);
#pragma unroll
            for (int j = 0; j < Groups::SIZE; j++)
              if (to == j * step) sum[j] += value[l];
          }
        }
      }
    groups.finish(gradInput, p, sum);
    if (bad != NO_INDEX) check.refuse(bad);
  }
};

/* True if each window along an axis has an input, whose thread checks the kernel element that the index names. */
static inline bool windowsHaveInputs(const WindowAxis &a)
{
  return a.dilation <= a.input && (a.kernel - 1) * a.dilation >= a.padding &&
         (a.output - 1) * a.stride - a.padding < a.input;
}

template <class T, int AXES, PoolingIndex KIND, class I, class Kind>
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
  const MaxBackward<T, I, KIND, Kind, AXES> backward = {
      InputGroups<I, Kind, AXES>(shape, kind),
      Images<const T, I>((const T *)gradOutput->data, shape.output),
      index,
      Images<T, I>((T *)gradInput->data, shape.input),
      decoder,
      check,
      elsewhere};
  forEach(state, backward.groups.grouped(shape.input).count(), backward);
}

/* gradInput: for each input, the sum of the elements of gradOutput with its index. -1 is skipped if it is allowed. */
template <class T, int AXES, PoolingIndex KIND, class Kind>
void maxBackward(THNNState *state, const WindowAxis *window, const Kind &kind, bool noneAllowed,
                 const THNNTensor *gradOutput, const THNNTensor *indices, const THNNTensor *gradInput)
{
  const PoolingShape shape(AXES, window, gradInput, gradOutput);
  const ImageShape indexShape = imageShape(AXES, indices);
  bool narrow = shape.isNarrow<Kind>() && isNarrow(indexShape);
  for (int a = 0; a < WINDOW_AXES; a++) narrow = narrow && SlidingAxis<int32_t>::isNarrow(shape.axis[a]);
  if (narrow)
    maxBackwardIndexedBy<T, AXES, KIND, int32_t>(state, kind, shape, noneAllowed, gradOutput, indices, gradInput,
                                                 indexShape);
  else
    maxBackwardIndexedBy<T, AXES, KIND, int64_t>(state, kind, shape, noneAllowed, gradOutput, indices, gradInput,
                                                 indexShape);
}

} // namespace pooling
} // namespace thcunn

#endif
