#ifndef THNN_ELEMENTWISE_MAP_H
#define THNN_ELEMENTWISE_MAP_H

/* THNN_MAP2 and the other maps of lib/THNN/elementwise/map.h for CUDA: the expression becomes the body of a lambda that
   a thread calls per element. Where all operands are contiguous and aligned, a thread computes the elements of one
   128-bit load. */

#include "elementwise/operands.h"
#include "runtime/kernel.h"
#include "runtime/loops.h"

namespace thcunn
{

static const int MAP_DIMS = 8, NARROW_MAP_DIMS = 4;

/* An operand that is not contiguous: its dimensions, innermost first. */
struct MapOperand {
  int ndim;
  Divisor size[MAP_DIMS];
  int64_t stride[MAP_DIMS]; /* in elements */

  __device__ int64_t offset(int64_t i) const
  {
    int64_t offset = 0;
    for (int d = 0; d < ndim - 1; d++) {
      const int64_t q = size[d].quotient(i);
      offset += (i - q * size[d].divisor) * stride[d];
      i = q;
    }
    return offset + i * stride[ndim - 1];
  }
};

template <int N> struct MapOperands {
  MapOperand of[N];

  MapOperands() = default;
  MapOperands(const THNNMap &map)
  {
    for (int k = 0; k < N && map.elements > 0; k++) {
      const THNNOperand *from = &map.operand[k];
      of[k].ndim = from->ndim;
      for (int d = 0; d < from->ndim && d < MAP_DIMS; d++) {
        of[k].size[d] = Divisor(from->size[d]);
        of[k].stride[d] = from->stride[d] / (int64_t)map.elementBytes;
      }
    }
  }
};

/* Operands with common dimensions, at most NARROW_MAP_DIMS, innermost first, and offsets of 32 bits: their offsets take
   a fraction of the instructions of MapOperands. */
template <int N> struct NarrowOperands {
  NarrowDivisor size[NARROW_MAP_DIMS];
  /* stride[d] - size[d - 1] * stride[d - 1], in elements, modulo 2^32. The offset of element i is the sum of
     index(d) * stride[d]. With q(0) = i and q(d + 1) = q(d) / size[d], index(d) is q(d) - q(d + 1) * size[d], so the
     offset is the sum of q(d) * step[d]: no remainder is computed. */
  uint32_t step[NARROW_MAP_DIMS][N];

  /* Returns false if the operands need more dimensions or bits. A dimension of one operand may be several of
     another. */
  bool describe(const THNNMap &map)
  {
    int dim[N] = {0};
    int64_t rest[N], stride[N], before[N] = {0}, left = map.elements;
    double span[N] = {0};
    if (left >= 1 << 30) return false;
    for (int k = 0; k < N; k++) {
      rest[k] = map.operand[k].size[0];
      stride[k] = map.operand[k].stride[0];
    }
    for (int d = 0; d < NARROW_MAP_DIMS; d++) {
      int64_t n = left;
      for (int k = 0; k < N; k++) n = rest[k] < n ? rest[k] : n;
      size[d] = NarrowDivisor(n);
      left /= n;
      for (int k = 0; k < N; k++) {
        if (rest[k] % n != 0) return false;
        const int64_t elements = n > 1 ? stride[k] / (int64_t)map.elementBytes : 0;
        span[k] += (double)n * fabs((double)elements);
        if (span[k] >= INT32_MAX) return false;
        step[d][k] = (uint32_t)(elements - before[k]);
        before[k] = n * elements;
        rest[k] /= n;
        stride[k] *= n;
        if (rest[k] > 1 || ++dim[k] >= map.operand[k].ndim) continue;
        rest[k] = map.operand[k].size[dim[k]];
        stride[k] = map.operand[k].stride[dim[k]];
      }
    }
    return left == 1;
  }
  __device__ void offsets(int32_t i, int32_t *offset) const
  {
#pragma unroll
    for (int k = 0; k < N; k++) offset[k] = (int32_t)((uint32_t)i * step[0][k]);
#pragma unroll
    for (int d = 1; d < NARROW_MAP_DIMS; d++) {
      i = size[d - 1].quotient(i);
#pragma unroll
      for (int k = 0; k < N; k++) offset[k] = (int32_t)((uint32_t)offset[k] + (uint32_t)i * step[d][k]);
    }
  }
};

/* f of the elements that N pointers point to. */
template <class F, class T> __device__ auto callWithElements(const F &f, const T *const (&in)[1])
{
  return f(load(in[0]));
}
template <class F, class T> __device__ auto callWithElements(const F &f, const T *const (&in)[2])
{
  return f(load(in[0]), load(in[1]));
}
template <class F, class T> __device__ auto callWithElements(const F &f, const T *const (&in)[3])
{
  return f(load(in[0]), load(in[1]), load(in[2]));
}

/* The addresses of N inputs and of the output. */
template <class T, int N> struct MapData {
  const T *in[N];
  T *output;
};

template <class T, int N, class F>
__global__ void __launch_bounds__(THREADS) packedMapKernel(int64_t count, MapData<T, N> data, F f)
{
  const int size = Pack<T>::size;
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x, packs = count / size;
  const T *in[N];
  if (i < packs) {
    Pack<T> pack[N], result;
#pragma unroll
    for (int k = 0; k < N; k++) pack[k] = ((const Pack<T> *)data.in[k])[i];
#pragma unroll
    for (int e = 0; e < size; e++) {
#pragma unroll
      for (int k = 0; k < N; k++) in[k] = &pack[k].element[e];
      store(&result.element[e], callWithElements(f, in));
    }
    ((Pack<T> *)data.output)[i] = result;
  }
  /* The first threads also compute one element each after the last pack. */
  const int64_t tail = packs * size + i;
  if (tail >= count) return;
#pragma unroll
  for (int k = 0; k < N; k++) in[k] = data.in[k] + tail;
  store(data.output + tail, callWithElements(f, in));
}

/* The merged dimensions of `count` tensors, in the memory order of the output or in row-major order. Fails if one has
   more than MAP_DIMS dimensions. */
template <class T>
THNNMap beginMap(THNNState *state, bool writes, int count, const THNNTensor *const *tensor, bool rowMajor = false)
{
  THNNMap map;
  if (rowMajor) thnn_mapBeginRowMajor(&map, sizeof(T), count, tensor);
  else thnn_mapBegin(&map, sizeof(T), writes, count, tensor);
  for (int k = 0; k < count && map.elements > 0; k++)
    if (map.operand[k].ndim > MAP_DIMS)
      THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "a tensor has more than %d dimensions that cannot be merged",
                MAP_DIMS);
  return map;
}

/* output[i] = f(elements i of the inputs). */
template <class T, int N, class F>
__global__ void __launch_bounds__(THREADS)
    stridedMapKernel(int32_t count, MapData<T, N> data, NarrowOperands<N + 1> operands, F f)
{
  const int32_t i = (int32_t)(blockIdx.x * THREADS + threadIdx.x);
  if (i >= count) return;
  int32_t offset[N + 1];
  operands.offsets(i, offset);
  const T *in[N];
#pragma unroll
  for (int k = 0; k < N; k++) in[k] = data.in[k] + offset[k + 1];
  store(data.output + offset[0], callWithElements(f, in));
}

/* True if all operands consist of packs of contiguous elements, apart from the last elements. */
inline bool isPacked(const THNNMap &shape)
{
  bool packed = shape.contiguous;
  for (int k = 0; k < shape.count; k++)
    packed = packed && (uintptr_t)shape.operand[k].data % sizeof(Pack<char>) == 0;
  return packed;
}

/* tensor[0] = f(elements of the other tensors). */
template <class T, int N, class F> void map(THNNState *state, const THNNTensor *const (&tensor)[N + 1], F f)
{
  const THNNMap shape = beginMap<T>(state, true, N + 1, tensor);
  if (shape.elements == 0 || state->status != THNN_OK) return;
  MapData<T, N> data;
  data.output = (T *)tensor[0]->data;
  for (int k = 0; k < N; k++) data.in[k] = (const T *)tensor[k + 1]->data;
  if (isPacked(shape)) {
    const unsigned blocks = blockCount(state, shape.elements / Pack<T>::size + 1);
    if (blocks > 0)
      THCUNN_LAUNCH((packedMapKernel<T, N, F>), blocks, THREADS, streamOf(state))(shape.elements, data, f);
    return;
  }
  NarrowOperands<N + 1> narrow;
  if (narrow.describe(shape)) {
    const unsigned blocks = blockCount(state, shape.elements);
    THCUNN_LAUNCH((stridedMapKernel<T, N, F>), blocks, THREADS, streamOf(state))
    ((int32_t)shape.elements, data, narrow, f);
    return;
  }
  const MapOperands<N + 1> operands(shape);
  forEach(state, shape.elements, [=] __device__(int64_t i) {
    const T *in[N];
#pragma unroll
    for (int k = 0; k < N; k++) in[k] = data.in[k] + operands.of[k + 1].offset(i);
    store(data.output + operands.of[0].offset(i), callWithElements(f, in));
  });
}

/* The reduction to the sum of f(elements) times `factor`: a term is a pack of contiguous operands. */
template <class T, int N, class F> struct PackedSum {
  typedef typename Arithmetic<T>::type Value;
  typedef NoCoefficients Coefficients;
  struct Term {
    Pack<T> pack[N];
  };
  MapData<T, N> data;
  int64_t elements;
  Value factor;
  F f;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return 0; }
  __device__ Term load(Coefficients, int64_t, int64_t i) const
  {
    Term term;
#pragma unroll
    for (int k = 0; k < N; k++) term.pack[k] = ((const Pack<T> *)data.in[k])[i];
    return term;
  }
  __device__ void add(Value &partial, Coefficients, const Term &term) const
  {
    Value sum = 0;
#pragma unroll
    for (int e = 0; e < Pack<T>::size; e++) {
      const T *in[N];
#pragma unroll
      for (int k = 0; k < N; k++) in[k] = &term.pack[k].element[e];
      sum += callWithElements(f, in);
    }
    partial += sum;
  }
  __device__ Value merge(Value a, Value b) const { return a + b; }
  /* Also adds the elements after the last pack. */
  __device__ void finish(int64_t, Value sum) const
  {
    for (int64_t i = elements / Pack<T>::size * Pack<T>::size; i < elements; i++) {
      const T *in[N];
#pragma unroll
      for (int k = 0; k < N; k++) in[k] = data.in[k] + i;
      sum += callWithElements(f, in);
    }
    store(data.output, sum * factor);
  }
};

/* The first element of `output` = scale * the sum of f(elements of the tensors). */
template <class T, int N, class F>
void mapSum(THNNState *state, const THNNTensor *output, double scale, const THNNTensor *const (&tensor)[N], F f)
{
  typedef typename Arithmetic<T>::type Number;
  const THNNMap shape = beginMap<T>(state, false, N, tensor);
  if (state->status != THNN_OK) return;
  MapData<T, N> data;
  data.output = (T *)output->data;
  for (int k = 0; k < N; k++) data.in[k] = (const T *)tensor[k]->data;
  const Number factor = (Number)scale;
  if (isPacked(shape)) {
    const PackedSum<T, N, F> sum = {data, shape.elements, factor, f};
    return reduceRows<1>(state, sum, 1, shape.elements / Pack<T>::size);
  }
  const MapOperands<N> operands(shape);
  sumRow<Number>(
      state, shape.elements,
      [=] __device__(int64_t, int64_t i) -> Number {
        const T *in[N];
#pragma unroll
        for (int k = 0; k < N; k++) in[k] = data.in[k] + operands.of[k].offset(i);
        return callWithElements(f, in);
      },
      [=] __device__(int64_t, Number sum) { store(data.output, sum * factor); });
}

} // namespace thcunn

/* The expressions of one, two and three elements as lambdas. */
#define THCUNN_ELEMENT1(a, ...) [=] __device__(const real a) -> real { return (real)(__VA_ARGS__); }
#define THCUNN_ELEMENT2(a, b, ...) \
  [=] __device__(const real a, const real b) -> real { return (real)(__VA_ARGS__); }
#define THCUNN_ELEMENT3(a, b, c, ...) \
  [=] __device__(const real a, const real b, const real c) -> real { return (real)(__VA_ARGS__); }

#define THNN_MAP2(y, output, a, first, ...) \
  thcunn::map<Element, 1>(state, {output, first}, THCUNN_ELEMENT1(a, __VA_ARGS__))
#define THNN_MAP3(y, output, a, first, b, second, ...) \
  thcunn::map<Element, 2>(state, {output, first, second}, THCUNN_ELEMENT2(a, b, __VA_ARGS__))
#define THNN_MAP4(y, output, a, first, b, second, c, third, ...) \
  thcunn::map<Element, 3>(state, {output, first, second, third}, THCUNN_ELEMENT3(a, b, c, __VA_ARGS__))

/* The loss of a criterion (generic/pointwise.h). The last arguments are statements that check the sum on the host; they
   are left out here. */
#define THNN_STORE_LOSS(target, f, ...)                                             \
  const double thnn_scale = sizeAverage ? 1 / (double)THNNTensor_numel(input) : 1;  \
  if (weights)                                                                      \
    thcunn::mapSum<Element, 3>(state, output, thnn_scale, {input, target, weights}, \
                               THCUNN_ELEMENT3(x, t, w, w * (f)));                  \
  else thcunn::mapSum<Element, 2>(state, output, thnn_scale, {input, target}, THCUNN_ELEMENT2(x, t, f));

/* The gradient of a criterion. */
#define THNN_STORE_GRADIENT(target, gradient)                                                  \
  const real norm_ = (real)(sizeAverage ? 1 / (double)THNNTensor_numel(input) : 1.0);          \
  const thcunn::GradientFactor<Element> thnn_factor(state);                                    \
  if (weights) {                                                                               \
    THNN_MAP4(result, gradInput, x, input, t, target, w, weights, ({                           \
                const real norm = norm_ * w;                                                   \
                thnn_factor.value() * (real)(gradient);                                        \
              }));                                                                             \
  } else {                                                                                     \
    const real norm = norm_;                                                                   \
    THNN_MAP3(result, gradInput, x, input, t, target, thnn_factor.value() * (real)(gradient)); \
  }

#endif
