#ifndef THNN_SIMD_SIMD_H
#define THNN_SIMD_SIMD_H

/* The SIMD layer: vectors of VL elements of type `real`, 64 bytes with AVX-512, 32 with AVX2 and 16 otherwise (SSE2,
   NEON). Arithmetic is written with plain operators, a vector extension of GCC and clang; the functions below are the
   operations that it lacks.

     vreal  x = v_load(p);                       unaligned load;   v_store(p, x)
     vreal  t = v_load_n(p, n); v_store_n(p, t, n);  the first n lanes, 0 <= n <= VL; v_load_n sets the others to 0
     vreal  s = v_set1(2);                       all lanes
     vmask  m = v_gt(x, y);                      v_lt v_ge v_le v_eq v_ne (ne is true for NaN) m_and m_or m_not
     vreal  z = v_sel(m, x, y);                  m ? x : y
     vint                                        integers as wide as real, for shuffles and indices:
                                                 vi_load vi_store vi_set1 vi_eq vi_sel
     v_max v_min                                 x > y ? x : y and x < y ? x : y, hence y if either is NaN
     v_abs v_sqrt v_sum
     v_stream(p, x)                              non-temporal store to aligned memory */

#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h> /* immintrin.h takes longer to compile than most kernel files */
#endif

#if defined(__AVX512F__)
#define VBYTES 64
#elif defined(__AVX2__)
#define VBYTES 32
#else
#define VBYTES 16
#endif

#define VL ((int)(VBYTES / sizeof(real)))

#ifdef THNN_REAL_IS_FLOAT
typedef int32_t vlane;
#else
typedef int64_t vlane;
#endif
typedef real vreal __attribute__((vector_size(VBYTES)));
typedef real vreal_unaligned __attribute__((vector_size(VBYTES), aligned(sizeof(real)), may_alias));
typedef vlane vint __attribute__((vector_size(VBYTES)));
typedef vlane vint_unaligned __attribute__((vector_size(VBYTES), aligned(sizeof(real)), may_alias));

static inline vreal v_load(const real *p) { return (vreal) * (const vreal_unaligned *)p; }
static inline void v_store(real *p, vreal x) { *(vreal_unaligned *)p = (vreal_unaligned)x; }
static inline vint vi_load(const vlane *p) { return (vint) * (const vint_unaligned *)p; }
static inline void vi_store(vlane *p, vint x) { *(vint_unaligned *)p = (vint_unaligned)x; }

/* A broadcast: x - 0 is x for every x, -0 included, so that the compiler removes the subtraction. */
static inline vreal v_set1(real x) { return x - (vreal){0}; }
static inline vint vi_set1(vlane x) { return x - (vint){0}; }

#if defined(__AVX512F__)

#ifdef THNN_REAL_IS_FLOAT
typedef __mmask16 vmask;
#define V_REAL(op) _mm512_##op##_ps
#define V_EPI(op) _mm512_##op##_epi32
#define V_CMP(x, y, how) _mm512_cmp_ps_mask(x, y, how)
#define V_EQ(x, y) _mm512_cmpeq_epi32_mask(x, y)
#else
typedef __mmask8 vmask;
#define V_REAL(op) _mm512_##op##_pd
#define V_EPI(op) _mm512_##op##_epi64
#define V_CMP(x, y, how) _mm512_cmp_pd_mask(x, y, how)
#define V_EQ(x, y) _mm512_cmpeq_epi64_mask(x, y)
#endif
static inline vmask v_first(int n) { return (vmask)((1u << n) - 1); }
static inline vreal v_load_n(const real *p, int n) { return V_REAL(maskz_loadu)(v_first(n), p); }
static inline void v_store_n(real *p, vreal x, int n) { V_REAL(mask_storeu)(p, v_first(n), x); }
static inline void v_stream(real *p, vreal x) { V_REAL(stream)(p, x); }
static inline vmask v_gt(vreal x, vreal y) { return V_CMP(x, y, _CMP_GT_OQ); }
static inline vmask v_lt(vreal x, vreal y) { return V_CMP(x, y, _CMP_LT_OQ); }
static inline vmask v_ge(vreal x, vreal y) { return V_CMP(x, y, _CMP_GE_OQ); }
static inline vmask v_le(vreal x, vreal y) { return V_CMP(x, y, _CMP_LE_OQ); }
static inline vmask v_eq(vreal x, vreal y) { return V_CMP(x, y, _CMP_EQ_OQ); }
static inline vmask v_ne(vreal x, vreal y) { return V_CMP(x, y, _CMP_NEQ_UQ); }
static inline vmask m_and(vmask a, vmask b) { return (vmask)(a & b); }
static inline vmask m_or(vmask a, vmask b) { return (vmask)(a | b); }
static inline vmask m_not(vmask a) { return (vmask)~a; }
static inline vreal v_sel(vmask m, vreal x, vreal y) { return V_REAL(mask_blend)(m, y, x); }
static inline vint vi_sel(vmask m, vint x, vint y) { return (vint)V_EPI(mask_blend)(m, (__m512i)y, (__m512i)x); }
static inline vmask vi_eq(vint x, vint y) { return V_EQ((__m512i)x, (__m512i)y); }
static inline vreal v_sqrt(vreal x) { return V_REAL(sqrt)(x); }

#else

typedef vint vmask;
static inline vmask v_gt(vreal x, vreal y) { return (vmask)(x > y); }
static inline vmask v_lt(vreal x, vreal y) { return (vmask)(x < y); }
static inline vmask v_ge(vreal x, vreal y) { return (vmask)(x >= y); }
static inline vmask v_le(vreal x, vreal y) { return (vmask)(x <= y); }
static inline vmask v_eq(vreal x, vreal y) { return (vmask)(x == y); }
static inline vmask v_ne(vreal x, vreal y) { return (vmask)(x != y); }
static inline vmask m_and(vmask a, vmask b) { return a & b; }
static inline vmask m_or(vmask a, vmask b) { return a | b; }
static inline vmask m_not(vmask a) { return ~a; }
static inline vmask vi_eq(vint x, vint y) { return (vmask)(x == y); }

#if defined(__AVX2__)
#ifdef THNN_REAL_IS_FLOAT
#define V_REAL(op) _mm256_##op##_ps
#else
#define V_REAL(op) _mm256_##op##_pd
#endif
static inline vint v_first(int n)
{
  static const vlane mask[2 * VBYTES / sizeof(real)] = {[0 ... VBYTES / sizeof(real) - 1] = -1};
  return vi_load(mask + VL - n);
}
static inline vreal v_load_n(const real *p, int n) { return V_REAL(maskload)(p, (__m256i)v_first(n)); }
static inline void v_store_n(real *p, vreal x, int n) { V_REAL(maskstore)(p, (__m256i)v_first(n), x); }
static inline void v_stream(real *p, vreal x) { V_REAL(stream)(p, x); }
static inline vreal v_sel(vmask m, vreal x, vreal y) { return V_REAL(blendv)(y, x, (vreal)m); }
static inline vreal v_sqrt(vreal x) { return V_REAL(sqrt)(x); }
#else
#ifdef __aarch64__
/* Lane by lane: a memcpy of n elements would be a call. */
static inline vreal v_load_n(const real *p, int n)
{
  vreal x = {0};
#pragma GCC unroll 4
  for (int i = 0; i < VL; i++)
    if (i < n) x[i] = p[i];
  return x;
}
static inline void v_store_n(real *p, vreal x, int n)
{
#pragma GCC unroll 4
  for (int i = 0; i < VL; i++)
    if (i < n) p[i] = x[i];
}
#else
static inline vreal v_load_n(const real *p, int n)
{
  vreal x = {0};
  memcpy(&x, p, sizeof(real) * (size_t)n);
  return x;
}
static inline void v_store_n(real *p, vreal x, int n) { memcpy(p, &x, sizeof(real) * (size_t)n); }
#endif
static inline vreal v_sel(vmask m, vreal x, vreal y) { return (vreal)((m & (vint)x) | (~m & (vint)y)); }
static inline vreal v_sqrt(vreal x)
{
  for (int i = 0; i < VL; i++) x[i] = (real)__builtin_sqrt(x[i]);
  return x;
}
#ifdef __SSE2__
#ifdef THNN_REAL_IS_FLOAT
static inline void v_stream(real *p, vreal x) { _mm_stream_ps(p, x); }
#else
static inline void v_stream(real *p, vreal x) { _mm_stream_pd(p, x); }
#endif
#else
static inline void v_stream(real *p, vreal x) { v_store(p, x); }
#endif
#endif
static inline vint vi_sel(vmask m, vint x, vint y) { return (m & x) | (~m & y); }

#endif

static inline vreal v_max(vreal x, vreal y) { return v_sel(v_gt(x, y), x, y); }
static inline vreal v_min(vreal x, vreal y) { return v_sel(v_lt(x, y), x, y); }
static inline vreal v_abs(vreal x) { return (vreal)((vint)x & ~(vint)v_set1((real)-0.0)); }

/* Pairwise sum of the lanes. */
#if defined(__AVX512F__)
static inline real v_sum(vreal x) { return V_REAL(reduce_add)(x); }
#else
static inline real v_sum(vreal x)
{
  real lane[VBYTES / sizeof(real)];
  v_store(lane, x);
  for (int half = VL / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) lane[i] += lane[i + half];
  return lane[0];
}
#endif

#endif
