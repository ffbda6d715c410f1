#ifndef THCUNN_RUNTIME_LOOPS_H
#define THCUNN_RUNTIME_LOOPS_H

/* The loops of kernels: one thread per element (forEach), and sums, maxima and other reductions (reduce). A kernel file
   gives the mathematics as a lambda, `[=] __device__ (int64_t i) { ... }`, which captures views and numbers by value.

   The order of every reduction depends on sizes and memory layout alone, so that results have the same bits in every run. */

#include "runtime/call.h"

namespace thcunn
{

/* Division by a number that is known at the launch, by a multiplication (Granlund and Montgomery 1994). */
struct Divisor {
  int64_t divisor;
  uint64_t multiplier;
  int32_t shift;

  Divisor() = default;
  Divisor(int64_t divisor) : divisor(divisor), multiplier(0), shift(0)
  {
    if (divisor <= 0) return; /* of an empty tensor, which no kernel reads */
    while ((int64_t)1 << shift < divisor) shift++;
    const unsigned __int128 rest = ((unsigned __int128)1 << shift) - (unsigned __int128)divisor;
    multiplier = (uint64_t)((rest << 64) / (unsigned __int128)divisor) + 1;
  }
  /* For 0 <= n. */
  __device__ int64_t quotient(int64_t n) const
  {
    return (int64_t)((__umul64hi((uint64_t)n, multiplier) + (uint64_t)n) >> shift);
  }
};

/* Divisor for numbers and divisors below 2^31, with 32-bit instructions. */
struct NarrowDivisor {
  int32_t divisor;
  uint32_t multiplier, shift;

  NarrowDivisor() = default;
  NarrowDivisor(int64_t n) : divisor((int32_t)n), multiplier(0), shift(0)
  {
    if (n <= 0) return; /* of an empty tensor, which no kernel reads */
    while ((int64_t)1 << shift < n) shift++;
    multiplier = (uint32_t)((((uint64_t)1 << 32) * (((uint64_t)1 << shift) - (uint64_t)n)) / (uint64_t)n + 1);
  }
  __device__ int32_t quotient(int32_t n) const
  {
    /* The sum is below 2^32, as the product is below n. */
    return (int32_t)((__umulhi((uint32_t)n, multiplier) + (uint32_t)n) >> shift);
  }
};

/* The divisor of numbers of type I. */
template <class I> struct DivisorOf {
  typedef Divisor type;
};
template <> struct DivisorOf<int32_t> {
  typedef NarrowDivisor type;
};

/* The sizes of N nested loops; the last one is the innermost. */
template <int N> struct Extents {
  Divisor size[N];

  int64_t count() const
  {
    int64_t n = 1;
    for (int d = 0; d < N; d++) n *= size[d].divisor;
    return n;
  }
  /* The indices of element i in row-major order. */
  __device__ void indices(int64_t i, int64_t *index) const
  {
#pragma unroll
    for (int d = N - 1; d > 0; d--) {
      const int64_t q = size[d].quotient(i);
      index[d] = i - q * size[d].divisor;
      i = q;
    }
    index[0] = i;
  }
};

/* Elements of a tensor by N indices. */
template <class T, int N> struct View {
  T *data;
  int64_t stride[N]; /* in elements */

  __device__ T *at(const int64_t *index) const
  {
    T *p = data;
#pragma unroll
    for (int d = 0; d < N; d++) p += index[d] * stride[d];
    return p;
  }
};

static const int THREADS = 256; /* of a block */

template <class F> __global__ void __launch_bounds__(THREADS) eachKernel(int64_t count, F f)
{
  const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
  if (i < count) f(i);
}

/* The blocks for `count` > 0 elements; 0 after an error, since a grid has at most 2^31 - 1 blocks. */
inline unsigned blockCount(THNNState *state, int64_t count, int perBlock = THREADS)
{
  const int64_t blocks = (count + perBlock - 1) / perBlock;
  if (blocks <= 0x7fffffff) return (unsigned)blocks;
  THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "%lld elements are more than a launch can have", (long long)count);
  return 0;
}

/* f(i) for 0 <= i < count, a thread each. */
template <class F> void forEach(THNNState *state, int64_t count, F f)
{
  if (count == 0 || state->status != THNN_OK) return;
  const unsigned blocks = blockCount(state, count);
  if (blocks > 0) THCUNN_LAUNCH(eachKernel<F>, blocks, THREADS, streamOf(state))(count, f);
}

/* --- reductions ------------------------------------------------------------------------------------------------------

   A reduction of `count` terms for each of `rows` rows. R describes it, as a class with

     typedef ... Value;               a partial result, trivially copyable
     typedef ... Coefficients;        the numbers of a row that all its terms need
     Coefficients begin(int64_t row) const;
     Value zero() const;              the result of no terms
     void add(Value &partial, const Coefficients &k, int64_t row, int64_t i) const;   includes term i
     Value merge(Value a, Value b) const;                    of two sets of terms, in any order
     void finish(int64_t row, Value result) const;           stores the result

   all of them __device__. Each of the Y threads of a row adds every Y-th term; partial results are merged as a tree. A
   block of X rows reduces at most TERMS_PER_PART / X terms of each. Longer rows are divided into parts, which separate
   blocks reduce to scratch memory.

   `adjacent`: consecutive terms of a row are adjacent in memory. Otherwise consecutive rows are, and the threads of a
   warp have consecutive rows and the same terms. */

static const int TERMS_PER_PART = 16384;

struct NoCoefficients {};

/* Merges the values of the block's threads (x, y) over y. All threads of the block call it, and all that have the same x
   get the result. */
template <int X, int Y, class R> __device__ typename R::Value mergeColumns(const R &r, typename R::Value value)
{
  typedef typename R::Value Value;
  THCUNN_SHARED(Value, values, [Y][X]);
  const unsigned x = threadIdx.x % X, y = threadIdx.x / X;
  values[y][x] = value;
  __syncthreads();
  for (unsigned half = Y / 2; half > 0; half /= 2) {
    if (y < half) values[y][x] = r.merge(values[y][x], values[y + half][x]);
    __syncthreads();
  }
  return values[0][x];
}

/* Blocks of X rows, whose terms Y threads add; X * Y = THREADS. Part p of a row has terms p * partLength to
   (p + 1) * partLength - 1. */
template <int X, class R>
__global__ void __launch_bounds__(THREADS)
    reduceKernel(R r, int64_t rows, int64_t count, int64_t partLength, int64_t parts, typename R::Value *partials)
{
  const int Y = THREADS / X;
  const int64_t part = blockIdx.x % parts, row = blockIdx.x / parts * X + threadIdx.x % X;
  const int64_t end = (part + 1) * partLength < count ? (part + 1) * partLength : count;
  typename R::Value value = r.zero();
  if (row < rows) {
    const typename R::Coefficients k = r.begin(row);
    for (int64_t i = part * partLength + threadIdx.x / X; i < end; i += Y) r.add(value, k, row, i);
  }
  value = mergeColumns<X, Y>(r, value);
  if (threadIdx.x >= X || row >= rows) return;
  if (partials) partials[row * parts + part] = value;
  else r.finish(row, value);
}

/* The reduction of the partial results of a row's parts. */
template <class R> struct MergeParts {
  typedef typename R::Value Value;
  typedef NoCoefficients Coefficients;
  R r;
  const Value *partials;
  int64_t parts;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return r.zero(); }
  __device__ void add(Value &partial, Coefficients, int64_t row, int64_t i) const
  {
    partial = r.merge(partial, partials[row * parts + i]);
  }
  __device__ Value merge(Value a, Value b) const { return r.merge(a, b); }
  __device__ void finish(int64_t row, Value value) const { r.finish(row, value); }
};

/* Parts have at most TERMS_PER_PART / X terms, which limits rounding errors of sums. */
template <int X, class R>
void reduceBlocks(THNNState *state, const R &r, int64_t rows, int64_t count,
                  int64_t partLength = TERMS_PER_PART / X)
{
  typedef typename R::Value Value;
  const int64_t parts = count > partLength ? (count + partLength - 1) / partLength : 1;
  const int64_t groups = (rows + X - 1) / X;
  if (groups > 0x7fffffff / parts || (parts > 1 && rows > 0x7fffffff)) {
    THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL,
              "a reduction of %lld rows of %lld terms is more than a launch can have", (long long)rows,
              (long long)count);
    return;
  }
  Value *partials = NULL;
  if (parts > 1 && (partials = (Value *)scratch(state, rows * parts * (int64_t)sizeof(Value))) == NULL) return;
  THCUNN_LAUNCH((reduceKernel<X, R>), (unsigned)(groups * parts), THREADS, streamOf(state))
  (r, rows, count, partLength, parts, partials);
  if (parts == 1) return;
  const MergeParts<R> merge = {r, partials, parts};
  THCUNN_LAUNCH((reduceKernel<1, MergeParts<R>>), (unsigned)rows, THREADS, streamOf(state))
  (merge, rows, parts, parts, 1, nullptr);
}

/* Rows of at most TERMS_PER_WARP terms: a warp each. */
template <class R> __global__ void __launch_bounds__(THREADS) reduceWarpsKernel(R r, int64_t rows, int64_t count)
{
  typedef typename R::Value Value;
  THCUNN_SHARED(Value, values, [THREADS]);
  const unsigned lane = threadIdx.x % WARP;
  const int64_t row = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
  Value value = r.zero();
  if (row < rows) {
    const typename R::Coefficients k = r.begin(row);
    for (int64_t i = lane; i < count; i += WARP) r.add(value, k, row, i);
  }
  values[threadIdx.x] = value;
  __syncwarp();
  for (unsigned half = WARP / 2; half > 0; half /= 2) {
    if (lane < half) values[threadIdx.x] = r.merge(values[threadIdx.x], values[threadIdx.x + half]);
    __syncwarp();
  }
  if (lane == 0 && row < rows) r.finish(row, values[threadIdx.x]);
}

static const int TERMS_PER_WARP = 1024;

template <class R> void reduceWarps(THNNState *state, const R &r, int64_t rows, int64_t count)
{
  const unsigned blocks = blockCount(state, rows, THREADS / WARP);
  if (blocks > 0) THCUNN_LAUNCH(reduceWarpsKernel<R>, blocks, THREADS, streamOf(state))(r, rows, count);
}

template <class R> void reduce(THNNState *state, const R &r, int64_t rows, int64_t count, bool adjacent)
{
  if (rows == 0 || state->status != THNN_OK) return;
  if (adjacent && count > 32 && count <= TERMS_PER_WARP) reduceWarps(state, r, rows, count);
  else if (adjacent && count > 32) reduceBlocks<1>(state, r, rows, count);
  else reduceBlocks<32>(state, r, rows, count);
}

/* A reduction that is a sum of numbers of type A: term(row, i) is a term, result(row, sum) stores the result. */
template <class A, class Term, class Result> struct Sum {
  typedef A Value;
  typedef NoCoefficients Coefficients;
  Term term;
  Result result;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return 0; }
  __device__ void add(Value &partial, Coefficients, int64_t row, int64_t i) const { partial += term(row, i); }
  __device__ Value merge(Value a, Value b) const { return a + b; }
  __device__ void finish(int64_t row, Value sum) const { result(row, sum); }
};

template <class A, class Term, class Result>
void sumRows(THNNState *state, int64_t rows, int64_t count, bool adjacent, Term term, Result result)
{
  const Sum<A, Term, Result> sum = {term, result};
  reduce(state, sum, rows, count, adjacent);
}

} // namespace thcunn

#endif
