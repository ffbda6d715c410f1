#include "convolution/direct_kernels.h"

#if DIRECT_VECTORS == 8
#define MICROTILES(X, P) X(P, 1) X(P, 2) X(P, 3) X(P, 4) X(P, 5) X(P, 6) X(P, 7) X(P, 8)
#else
#define MICROTILES(X, P) X(P, 1) X(P, 2) X(P, 3) X(P, 4)
#endif
#define COLUMN_MICROTILES(X, K) X(K, 1, 1) X(K, 1, 2) X(K, 4, 1) X(K, 4, 2)

/* Keeps a vector in a register. gcc would load it again for every output, and most loads cross a cache line. */
#ifdef __x86_64__
#define KEEP_IN_REGISTER(x) __asm__("" : "+v"(x))
#else
#define KEEP_IN_REGISTER(x)
#endif

/* Accumulators per sum: where registers are left, one for the even and one for the odd kernel elements of a column,
   because two short sums err less than a long one. */
#define ACCUMULATORS_PER_SUM (VBYTES == 64 ? 2 : 1)

/* P and Q are constants in every caller, so that acc lives in registers. Unroll factors must be literals. */
static ALWAYS_INLINE void microtile(const int P, const int Q, real *sum, int64_t sumStride, const real *bias,
                                    const real *source, const real *weight, int64_t weightStride,
                                    const DirectTerms *k)
{
  vreal acc[DIRECT_OUTPUTS * DIRECT_VECTORS];
#pragma GCC unroll 24
  for (int i = 0; i < P * Q; i++) acc[i] = (vreal){0};
  for (int64_t c = 0; c < k->channels; c++, source += k->sourceChannelStride, weight += k->weightChannelStride)
    for (int64_t t = 0; t < k->elements; t++) {
      const real *x = source + k->source[t], *w = weight + k->weight[t];
      real factor[DIRECT_OUTPUTS];
#pragma GCC unroll 3
      for (int p = 0; p < P; p++) factor[p] = w[p * weightStride];
#pragma GCC unroll 8
      for (int q = 0; q < Q; q++) {
        vreal v = v_load(x + q * VL);
        KEEP_IN_REGISTER(v);
#pragma GCC unroll 3
        for (int p = 0; p < P; p++) acc[p * Q + q] += factor[p] * v;
      }
    }
#pragma GCC unroll 3
  for (int p = 0; p < P; p++)
#pragma GCC unroll 8
    for (int q = 0; q < Q; q++) {
      real *to = sum + p * sumStride + q * VL;
      v_store(to, (bias ? v_set1(bias[p]) : v_load(to)) + acc[p * Q + q]);
    }
}

#define MICROTILE(P, Q)                                                                                  \
  static void directKernel_##P##x##Q(real *sum, int64_t sumStride, const real *bias, const real *source, \
                                     const real *weight, int64_t weightStride, const DirectTerms *k)     \
  {                                                                                                      \
    microtile(P, Q, sum, sumStride, bias, source, weight, weightStride, k);                              \
  }
MICROTILES(MICROTILE, 1)
MICROTILES(MICROTILE, 2)
MICROTILES(MICROTILE, 3)
#undef MICROTILE

#define MICROTILE(P, Q) [P][Q] = directKernel_##P##x##Q,
const DirectKernel THNN_(directKernels)[DIRECT_OUTPUTS + 1][DIRECT_VECTORS + 1] = {
    MICROTILES(MICROTILE, 1) MICROTILES(MICROTILE, 2) MICROTILES(MICROTILE, 3)};
#undef MICROTILE

/* Adds K elements of each column in a range of the columns. */
static ALWAYS_INLINE void addColumns(const int K, const int R, const int Q, const DirectColumn *p,
                                     const DirectTerms *k, int64_t begin, int64_t end, const real *source,
                                     const real *weight, vreal *acc)
{
  for (int64_t t = begin; t < end; t++) {
    const real *x = source + k->source[t], *w = weight + k->weight[t];
    vreal factor[DIRECT_COLUMN_ELEMENTS];
#pragma GCC unroll 7
    for (int i = 0; i < K; i++) factor[i] = v_set1(w[i * p->weightRowStride]);
#pragma GCC unroll 10
    for (int row = 0; row < R + K - 1; row++, x += p->sourceRowStride)
#pragma GCC unroll 2
      for (int q = 0; q < Q; q++) {
        vreal v = v_load(x + q * p->vectorStride);
        KEEP_IN_REGISTER(v);
#pragma GCC unroll 7
        for (int i = MAX(row - R + 1, 0); i <= MIN(row, K - 1); i++)
          acc[((i + 1) % ACCUMULATORS_PER_SUM * R + row - i) * Q + q] += factor[i] * v;
      }
  }
}

static ALWAYS_INLINE void addPartialSum(const int N, const vreal *acc, vreal *sum)
{
#pragma GCC unroll 8
  for (int i = 0; i < N; i++) sum[i] += ACCUMULATORS_PER_SUM > 1 ? acc[i] + acc[N + i] : acc[i];
}

#define PARTIAL_SUM(K)                                                   \
  case K: {                                                              \
    vreal acc[ACCUMULATORS_PER_SUM * DIRECT_ROWS * 2] = {{0}};           \
    addColumns(K, R, Q, p, k, t, MIN(t + most, k->elements), x, w, acc); \
    addPartialSum(R * Q, acc, sum);                                      \
    break;                                                               \
  }

/* sum += one channel's columns of any number of elements, in partial sums of 4 to 7 elements of each column, at most
   DIRECT_TERMS terms. */
static ALWAYS_INLINE void addTallColumns(const int R, const int Q, const DirectColumn *p, const DirectTerms *k,
                                         const real *source, const real *weight, vreal *sum)
{
  const int64_t parts = ceilDivide(p->elements, DIRECT_COLUMN_ELEMENTS),
                most = DIRECT_TERMS / DIRECT_COLUMN_ELEMENTS;
  for (int64_t part = 0; part < parts; part++) {
    const int64_t first = part * p->elements / parts, end = (part + 1) * p->elements / parts;
    const real *x = source + first * p->sourceRowStride, *w = weight + first * p->weightRowStride;
    for (int64_t t = 0; t < k->elements; t += most) {
      switch (end - first) {
        PARTIAL_SUM(4)
        PARTIAL_SUM(5)
        PARTIAL_SUM(6)
        PARTIAL_SUM(7)
      }
    }
  }
}

/* Each sum is bias + all terms. K: elements of a column, or 0 for more than DIRECT_COLUMN_ELEMENTS. The last micro-tile
   overlaps with the one before. */
static ALWAYS_INLINE void columnMicrotile(const int K, const int R, const int Q, const DirectColumn *p,
                                          const DirectTerms *k)
{
  for (int64_t y = 0; y < p->rows; y += R) {
    const int64_t first = MIN(y, p->rows - R);
    const real *source = p->source + first * p->sourceRowStride, *weight = p->weight;
    vreal acc[ACCUMULATORS_PER_SUM * DIRECT_ROWS * 2];
#pragma GCC unroll 16
    for (int i = 0; i < ACCUMULATORS_PER_SUM * R * Q; i++) acc[i] = v_set1(i < R * Q ? p->bias : 0);
    for (int64_t c = 0; c < k->channels; c++, source += k->sourceChannelStride, weight += k->weightChannelStride) {
      if (K > 0) addColumns(K, R, Q, p, k, 0, k->elements, source, weight, acc);
      else addTallColumns(R, Q, p, k, source, weight, acc);
    }
#pragma GCC unroll 8
    for (int i = 0; i < (ACCUMULATORS_PER_SUM - 1) * R * Q; i++) acc[i] += acc[R * Q + i];
    real *to = p->to + first * p->toRowStride;
#pragma GCC unroll 4
    for (int r = 0; r < R; r++, to += p->toRowStride)
#pragma GCC unroll 2
      for (int q = 0; q < Q; q++) {
        __builtin_prefetch(to + q * p->vectorStride + p->prefetch, 1);
        if (p->lanes == VL) v_store(to + q * p->vectorStride, acc[r * Q + q]);
        else v_store_n(to + q * p->vectorStride, acc[r * Q + q], p->lanes);
      }
  }
}

#define MICROTILE(K, R, Q)                                                                   \
  static void directColumn_##K##x##R##x##Q(const DirectColumn *column, const DirectTerms *k) \
  {                                                                                          \
    columnMicrotile(K, R, Q, column, k);                                                     \
  }
COLUMN_MICROTILES(MICROTILE, 0)
COLUMN_MICROTILES(MICROTILE, 3)
COLUMN_MICROTILES(MICROTILE, 5)
COLUMN_MICROTILES(MICROTILE, 7)
#undef MICROTILE

#define MICROTILE(K, R, Q) [K][R > 1][Q - 1] = directColumn_##K##x##R##x##Q,
const DirectColumnKernel THNN_(directColumnKernels)[DIRECT_COLUMN_ELEMENTS + 1][2][2] = {COLUMN_MICROTILES(
    MICROTILE, 0) COLUMN_MICROTILES(MICROTILE, 3) COLUMN_MICROTILES(MICROTILE, 5) COLUMN_MICROTILES(MICROTILE, 7)};
#undef MICROTILE
