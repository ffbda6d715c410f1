#ifndef THCUNN_RUNTIME_LOOPS_H
#define THCUNN_RUNTIME_LOOPS_H

/* The loops of kernels: one thread per element (forEach), and sums, maxima and other reductions (reduce). A kernel file
   gives the mathematics as a lambda, `[=] __device__ (int64_t i) { ... }`, which captures views and numbers by value.

   The order of every reduction depends only on sizes and memory layout, so that results have the same bits in every
   run. */

#include <type_traits>

#include "runtime/call.h"
#include "runtime/warp.h"

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
    if (divisor <= 0) return; /* an empty tensor, which no kernel reads */
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
    if (n <= 0) return; /* an empty tensor, which no kernel reads */
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

static const int THREADS = 256; /* threads per block */

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

/* Calls use(load(i)) for i = first, first + step, ... < end. A thread loads several terms before it uses the first one,
   and so waits for memory once for all of them; the compiler would not move a load across a store. */
template <int UNITS, class Load, class Use>
__device__ void loadThenUse(int64_t first, int64_t end, int step, const Load &load, const Use &use)
{
  for (int64_t i = first; i < end; i += UNITS * step) {
    decltype(load(i)) loaded[UNITS];
#pragma unroll
    for (int u = 0; u < UNITS; u++)
      if (i + u * step < end) loaded[u] = load(i + u * step);
#pragma unroll
    for (int u = 0; u < UNITS; u++)
      if (i + u * step < end) use(loaded[u]);
  }
}

/* --- reductions ------------------------------------------------------------------------------------------------------

   A reduction of `count` terms for each of `rows` rows. R describes it, as a class with

     typedef ... Value;               a partial result, trivially copyable, of 32-bit words
     typedef ... Coefficients;        the numbers of a row that all its terms need
     typedef ... Term;                what a thread loads of a term
     Coefficients begin(int64_t row) const;
     Value zero() const;              the result of no terms
     Term load(const Coefficients &k, int64_t row, int64_t i) const;                  term i, which the row has
     void add(Value &partial, const Coefficients &k, const Term &term) const;         includes a term
     Value merge(Value a, Value b) const;                    of two sets of terms, in any order
     void finish(int64_t row, Value result) const;           stores the result

   all of them __device__. Each of the Y threads of a row adds every Y-th term; partial results are merged as a tree.
   Blocks have X rows, X * Y = THREADS. Rows of many terms are divided into parts, which separate blocks reduce to
   scratch memory.

   `adjacent`: consecutive terms of a row are adjacent in memory. Otherwise consecutive rows are, and the threads of a
   warp have consecutive rows and the same terms. */

struct NoCoefficients {};

/* The terms that a thread loads before it adds the first one. A term that is itself a loop is loaded one at a time,
   which saves registers: struct R : LoadsOneTerm. */
struct LoadsOneTerm {};
template <class R> static const int TERMS_LOADED = std::is_base_of<LoadsOneTerm, R>::value ? 1 : 4;

/* The division of rows of `count` terms into parts, a block for each part of X rows. It depends only on sizes: enough
   blocks for the largest devices if there are enough terms, and at most TERMS_PER_PART terms per block, which limits
   rounding errors of sums. Rows of at most `undivided` terms are one part. */
struct RowParts {
  static const int TERMS_PER_PART = 16384;
  int64_t length, parts, blocks;

  RowParts(THNNState *state, int64_t X, int64_t rows, int64_t count, int64_t undivided)
  {
    const int64_t Y = THREADS / X, groups = (rows + X - 1) / X, enoughBlocks = 2048;
    const int64_t least = 4 * Y > 64 ? 4 * Y : 64; /* partial results of fewer terms would be too much traffic */
    length = (count * groups / enoughBlocks + Y - 1) / Y * Y;
    if (length < least) length = least;
    if (length > TERMS_PER_PART / X) length = TERMS_PER_PART / X;
    if (count <= undivided) length = undivided;
    parts = count > length ? (count + length - 1) / length : 1;
    blocks = groups * parts;
    if (groups > 0x7fffffff / parts || (parts > 1 && rows > 0x7fffffff))
      THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "%lld rows of %lld terms are more than a launch can have",
                (long long)rows, (long long)count);
  }
};

/* The division of a reduction. Merging parts takes one more launch, as long as a block needs for 16 terms per thread,
   or for twice as many if all blocks together fill a large device: shorter rows stay undivided. Many rows stay
   undivided even if longer, because a block merges the parts of each row. */
template <int X> RowParts reductionParts(THNNState *state, int64_t rows, int64_t count)
{
  const int64_t termsPerThread = rows >= 2048 ? 64 : rows >= 256 * X ? 32 : 16;
  return RowParts(state, X, rows, count, THREADS / X * termsPerThread);
}

/* Merges the values of those lanes of a warp, or of LANES neighbours, whose numbers are equal modulo X. The first X
   lanes get the results. All lanes of the warp call it. */
template <int X, int LANES = WARP, class R>
__device__ typename R::Value mergeLanes(const R &r, typename R::Value value)
{
#pragma unroll
  for (int step = LANES / 2; step >= X; step /= 2) value = r.merge(value, shuffledDown(value, step));
  return value;
}

/* Merges the values of the block's threads whose numbers are equal modulo X, at most 32; all of them get the result.
   All threads of the block call it. */
template <int X, class R> __device__ typename R::Value mergeColumns(const R &r, typename R::Value value)
{
  typedef typename R::Value Value;
  const int WARPS = THREADS / WARP;
  THCUNN_SHARED(Value, ofWarp, [WARPS][X]);
  const unsigned x = threadIdx.x % X, warp = threadIdx.x / WARP;
  const bool isFirst = threadIdx.x % WARP < X;
  value = mergeLanes<X>(r, value);
  if (isFirst) ofWarp[warp][x] = value;
  /* With many columns, merging in all threads would take longer than barriers. */
  const int merged = X == 1 ? WARPS : 1;
#pragma unroll
  for (int half = WARPS / 2; half >= merged; half /= 2) {
    __syncthreads();
    if (isFirst && warp < half) ofWarp[warp][x] = r.merge(ofWarp[warp][x], ofWarp[warp + half][x]);
  }
  __syncthreads();
  value = ofWarp[0][x];
#pragma unroll
  for (int w = 1; w < merged; w++) value = r.merge(value, ofWarp[w][x]);
  return value;
}

/* The sum of the terms first, first + step, ... < end of a row: the share of one of `step` threads. */
template <class R>
__device__ typename R::Value addTerms(const R &r, int64_t row, int64_t first, int64_t end, int step)
{
  typename R::Value value = r.zero();
  const typename R::Coefficients k = r.begin(row);
  loadThenUse<TERMS_LOADED<R>>(
      first, end, step, [&](int64_t i) { return r.load(k, row, i); },
      [&](const typename R::Term &term) { r.add(value, k, term); });
  return value;
}

/* Part p of a row has terms p * partLength to (p + 1) * partLength - 1. */
template <int X, class R>
__global__ void __launch_bounds__(THREADS)
    reduceKernel(R r, int64_t rows, int64_t count, int64_t partLength, unsigned parts, typename R::Value *partials)
{
  const unsigned group = blockIdx.x / parts, part = blockIdx.x - group * parts;
  const int64_t row = (int64_t)group * X + threadIdx.x % X, first = part * partLength;
  const int64_t end = first + partLength < count ? first + partLength : count;
  typename R::Value value = r.zero();
  if (row < rows) value = addTerms(r, row, first + threadIdx.x / X, end, THREADS / X);
  value = mergeColumns<X>(r, value);
  if (threadIdx.x >= X || row >= rows) return;
  if (partials) partials[row * parts + part] = value;
  else r.finish(row, value);
}

/* The reduction of the partial results of a row's parts. */
template <class R> struct MergeParts {
  typedef typename R::Value Value;
  typedef Value Term;
  typedef NoCoefficients Coefficients;
  R r;
  const Value *partials;
  int64_t parts;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return r.zero(); }
  __device__ Term load(Coefficients, int64_t row, int64_t i) const { return partials[row * parts + i]; }
  __device__ void add(Value &partial, Coefficients, const Term &term) const { partial = r.merge(partial, term); }
  __device__ Value merge(Value a, Value b) const { return r.merge(a, b); }
  __device__ void finish(int64_t row, Value value) const { r.finish(row, value); }
};

template <int X, class R> void reduceRows(THNNState *state, const R &r, int64_t rows, int64_t count)
{
  typedef typename R::Value Value;
  const RowParts p = reductionParts<X>(state, rows, count);
  if (rows == 0 || state->status != THNN_OK) return;
  Value *partials = NULL;
  if (p.parts > 1 && (partials = (Value *)scratch(state, rows * p.parts * (int64_t)sizeof(Value))) == NULL) return;
  THCUNN_LAUNCH((reduceKernel<X, R>), (unsigned)p.blocks, THREADS, streamOf(state))
  (r, rows, count, p.length, (unsigned)p.parts, partials);
  if (p.parts == 1) return;
  const MergeParts<R> merge = {r, partials, p.parts};
  THCUNN_LAUNCH((reduceKernel<1, MergeParts<R>>), (unsigned)rows, THREADS, streamOf(state))
  (merge, rows, p.parts, p.parts, 1, nullptr);
}

/* A warp per row. */
template <class R> __global__ void __launch_bounds__(THREADS) reduceWarpsKernel(R r, int64_t rows, int64_t count)
{
  const unsigned lane = threadIdx.x % WARP;
  const int64_t row = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
  if (row >= rows) return; /* the whole warp */
  const typename R::Value value = mergeLanes<1>(r, addTerms(r, row, lane, count, WARP));
  if (lane == 0) r.finish(row, value);
}

template <class R> void reduceWarps(THNNState *state, const R &r, int64_t rows, int64_t count)
{
  const unsigned blocks = blockCount(state, rows, THREADS / WARP);
  if (blocks > 0) THCUNN_LAUNCH(reduceWarpsKernel<R>, blocks, THREADS, streamOf(state))(r, rows, count);
}

/* A warp for each row of at most TERMS_PER_WARP terms, unless blocks of all BLOCK_ROWS rows or fewer run at a time. */
static const int TERMS_PER_WARP = 1024, BLOCK_ROWS = 1024;

template <class R> void reduce(THNNState *state, const R &r, int64_t rows, int64_t count, bool adjacent)
{
  if (rows == 0 || state->status != THNN_OK) return;
  if (!adjacent || count <= 32) reduceRows<32>(state, r, rows, count);
  else if (count <= TERMS_PER_WARP && rows > BLOCK_ROWS) reduceWarps(state, r, rows, count);
  else reduceRows<1>(state, r, rows, count);
}

/* A reduction that is a sum of numbers of type A: term(row, i) is a term, result(row, sum) stores the result. */
template <class A, class TermOf, class Result> struct Sum {
  typedef A Value;
  typedef A Term;
  typedef NoCoefficients Coefficients;
  TermOf term;
  Result result;

  __device__ Coefficients begin(int64_t) const { return {}; }
  __device__ Value zero() const { return 0; }
  __device__ Term load(Coefficients, int64_t row, int64_t i) const { return term(row, i); }
  __device__ void add(Value &partial, Coefficients, Term value) const { partial += value; }
  __device__ Value merge(Value a, Value b) const { return a + b; }
  __device__ void finish(int64_t row, Value sum) const { result(row, sum); }
};

template <class A, class TermOf, class Result>
void sumRows(THNNState *state, int64_t rows, int64_t count, bool adjacent, TermOf term, Result result)
{
  const Sum<A, TermOf, Result> sum = {term, result};
  reduce(state, sum, rows, count, adjacent);
}

/* The sum of one row. */
template <class A, class TermOf, class Result>
void sumRow(THNNState *state, int64_t count, TermOf term, Result result)
{
  const Sum<A, TermOf, Result> sum = {term, result};
  reduceRows<1>(state, sum, 1, count);
}

} // namespace thcunn

#endif
