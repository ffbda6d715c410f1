#ifndef THNN_SIMD_SHUFFLE_H
#define THNN_SIMD_SHUFFLE_H

#include "simd/simd.h"

/* Lane lists for __builtin_shufflevector(a, b, ...), where lanes 0 .. VL - 1 belong to a and VL .. 2 * VL - 1 to b:

     V_EVENS        lanes 0, 2, 4 ... of a and b
     V_ODDS         lanes 1, 3, 5 ... of a and b
     V_EVENS_ODDS   the even lanes of a, then the odd lanes of b
     V_ZIP_LOW      a0 b0 a1 b1 ..., from the lower halves of a and b
     V_ZIP_HIGH     the same from the upper halves
     V_NEXT         a without its first lane, then the first lane of b
     V_PREVIOUS     the first lane of b, then a without its last lane

   For indices that are not constant: lane i of v_lookup(a, index) is lane index[i] of a, of v_lookup2(a, b, index) lane
   index[i] of a and b, and of v_gather(p, index) p[index[i]]. */
#if VBYTES == 64 && defined(THNN_REAL_IS_FLOAT)
#define V_EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define V_ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define V_EVENS_ODDS 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define V_ZIP_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define V_ZIP_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define V_NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define V_PREVIOUS 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
#elif VBYTES == 64 || (VBYTES == 32 && defined(THNN_REAL_IS_FLOAT))
#define V_EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define V_ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define V_EVENS_ODDS 0, 2, 4, 6, 9, 11, 13, 15
#define V_ZIP_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define V_ZIP_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define V_NEXT 1, 2, 3, 4, 5, 6, 7, 8
#define V_PREVIOUS 8, 0, 1, 2, 3, 4, 5, 6
#elif VBYTES == 32 || defined(THNN_REAL_IS_FLOAT)
#define V_EVENS 0, 2, 4, 6
#define V_ODDS 1, 3, 5, 7
#define V_EVENS_ODDS 0, 2, 5, 7
#define V_ZIP_LOW 0, 4, 1, 5
#define V_ZIP_HIGH 2, 6, 3, 7
#define V_NEXT 1, 2, 3, 4
#define V_PREVIOUS 4, 0, 1, 2
#else
#define V_EVENS 0, 2
#define V_ODDS 1, 3
#define V_EVENS_ODDS 0, 3
#define V_ZIP_LOW 0, 2
#define V_ZIP_HIGH 1, 3
#define V_NEXT 1, 2
#define V_PREVIOUS 2, 0
#endif

static inline vreal v_evens(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_EVENS); }
static inline vreal v_odds(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_ODDS); }
static inline vreal v_evensOdds(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_EVENS_ODDS); }
static inline vreal v_zipLow(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_ZIP_LOW); }
static inline vreal v_zipHigh(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_ZIP_HIGH); }
static inline vreal v_next(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_NEXT); }
static inline vreal v_previous(vreal a, vreal b) { return __builtin_shufflevector(a, b, V_PREVIOUS); }

#if defined(__AVX512F__)
static inline vreal v_lookup(vreal a, vint index) { return V_REAL(permutexvar)((__m512i)index, a); }
#elif defined(__AVX2__) && defined(THNN_REAL_IS_FLOAT)
static inline vreal v_lookup(vreal a, vint index) { return _mm256_permutevar8x32_ps(a, (__m256i)index); }
#elif defined(__AVX2__)
/* The instruction looks up 32-bit elements: the 64-bit element i consists of elements 2 * i and 2 * i + 1. */
static inline vreal v_lookup(vreal a, vint index)
{
  const vint halves = 2 * index + ((2 * index + 1) << 32);
  return (vreal)_mm256_permutevar8x32_ps((__m256)a, (__m256i)halves);
}
#else
static inline vreal v_lookup(vreal a, vint index)
{
  vreal x;
  for (int i = 0; i < VL; i++) x[i] = a[index[i]];
  return x;
}
#endif

#if defined(__AVX512F__) && defined(THNN_REAL_IS_FLOAT)
static inline vreal v_gather(const real *p, vint index) { return _mm512_i32gather_ps((__m512i)index, p, 4); }
#elif defined(__AVX512F__)
static inline vreal v_gather(const real *p, vint index) { return _mm512_i64gather_pd((__m512i)index, p, 8); }
#elif defined(__AVX2__) && defined(THNN_REAL_IS_FLOAT)
static inline vreal v_gather(const real *p, vint index) { return _mm256_i32gather_ps(p, (__m256i)index, 4); }
#elif defined(__AVX2__)
static inline vreal v_gather(const real *p, vint index) { return _mm256_i64gather_pd(p, (__m256i)index, 8); }
#else
static inline vreal v_gather(const real *p, vint index)
{
  vreal x;
  for (int i = 0; i < VL; i++) x[i] = p[index[i]];
  return x;
}
#endif

#if defined(__AVX512F__)
static inline vreal v_lookup2(vreal a, vreal b, vint index) { return V_REAL(permutex2var)(a, (__m512i)index, b); }
#else
static inline vreal v_lookup2(vreal a, vreal b, vint index)
{
  const vint rest = index & vi_set1(VL - 1);
  return v_sel((vmask)(index == rest), v_lookup(a, rest), v_lookup(b, rest));
}
#endif

#endif
