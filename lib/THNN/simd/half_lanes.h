#ifndef THNN_SIMD_HALF_LANES_H
#define THNN_SIMD_HALF_LANES_H

/* Vectors of float32 that are read from and written to memory of a half type, for cores whose operands are of either. The
   values are those of thnn_widen and thnn_narrow (runtime/half.h). In files for double no tensor has a half type. */

#include <stddef.h>

#include "runtime/half.h"
#include "runtime/inline.h"
#include "simd/simd.h"

/* True if tensors of this type have elements of a half type; false in files for double. */
static inline bool isHalf(int32_t type) { return sizeof(real) == sizeof(float) && thnn_isHalf(type); }

/* Bytes of an element of a tensor of `real` or of a half type. */
static inline int64_t elementBytes(int32_t type) { return isHalf(type) ? 2 : (int64_t)sizeof(real); }

/* The address of element i. */
static inline real *elementAt(const void *data, int64_t i, int32_t type)
{
  return (real *)((char *)data + i * elementBytes(type));
}

/* p[0 .. n - 1] of a half type in the first n <= VL lanes; the others are 0. */
static ALWAYS_INLINE vreal v_loadHalf(const void *p, int32_t type, int n)
{
#if defined(THNN_REAL_IS_FLOAT) && defined(__AVX512F__)
  const __m256i x = n == VL ? _mm256_loadu_si256(p) : _mm256_maskz_loadu_epi16(v_first(n), p);
  return type == THNN_TYPE_BFLOAT16 ? (vreal)_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16)
                                    : (vreal)_mm512_cvtph_ps(x);
#else
#if defined(THNN_REAL_IS_FLOAT) && defined(__AVX2__)
  if (n == VL) {
    const __m128i x = _mm_loadu_si128(p);
    return type == THNN_TYPE_BFLOAT16 ? (vreal)_mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16)
                                      : (vreal)_mm256_cvtph_ps(x);
  }
#endif
  float lane[VBYTES / sizeof(real)];
  thnn_widen(lane, p, type, n);
  vreal x = {0};
  for (int i = 0; i < n; i++) x[i] = lane[i];
  return x;
#endif
}

/* Stores the first n <= VL lanes to p[0 .. n - 1], rounded to the half type. */
static ALWAYS_INLINE void v_storeHalf(void *p, vreal x, int32_t type, int n)
{
#if defined(THNN_REAL_IS_FLOAT) && defined(__AVX512F__)
  __m256i half;
  if (type == THNN_TYPE_BFLOAT16) {
    const __m512i bits = (__m512i)x, high = _mm512_srli_epi32(bits, 16),
                  isOdd = _mm512_and_si512(high, _mm512_set1_epi32(1));
    const __m512i rounded =
        _mm512_srli_epi32(_mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), isOdd), 16);
    half = _mm512_cvtepi32_epi16(
        _mm512_mask_or_epi32(rounded, v_ne(x, x), high, _mm512_set1_epi32(0x40))); /* NaN stays NaN */
  } else {
    half = _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
  }
  if (n == VL) _mm256_storeu_si256(p, half);
  else _mm256_mask_storeu_epi16(p, v_first(n), half);
#else
  float lane[VBYTES / sizeof(real)];
  for (int i = 0; i < VL; i++) lane[i] = (float)x[i];
  thnn_narrow(p, lane, type, n);
#endif
}

/* Pairs of bfloat16, in the bits of float32: the operands of products of bfloat16 (gemm/microkernel.h). The second element
   of a pair is 0 if its address is NULL. */
#ifdef THNN_REAL_IS_FLOAT

typedef uint16_t Half __attribute__((may_alias));

static ALWAYS_INLINE float pairOf(const Half *first, const Half *second)
{
  const uint32_t bits = *first | (second ? (uint32_t)*second << 16 : 0);
  float pair;
  memcpy(&pair, &bits, sizeof pair);
  return pair;
}

/* Pairs of n <= VL adjacent elements with n others; the other lanes are 0. */
static ALWAYS_INLINE vreal v_loadPairs(const Half *first, const Half *second, int n)
{
#if VBYTES == 64
  const __mmask16 mask = v_first(n);
  const __m512i low = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, first));
  if (second == NULL) return (vreal)low;
  const __m512i high = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(mask, second));
  return (vreal)_mm512_or_si512(low, _mm512_slli_epi32(high, 16));
#else
  vreal x = {0};
  for (int i = 0; i < n; i++) x[i] = pairOf(first + i, second ? second + i : NULL);
  return x;
#endif
}

#endif

/* Element i of a tensor of `real` or of a half type. */
static inline real loadElement(const void *data, int64_t i, int32_t type)
{
  const real *at = elementAt(data, i, type);
  if (!isHalf(type)) return *at;
  float x;
  thnn_widen(&x, at, type, 1);
  return (real)x;
}

/* Writes element i. */
static inline void storeElement(void *data, int64_t i, int32_t type, real x)
{
  real *const at = elementAt(data, i, type);
  const float narrow = (float)x;
  if (isHalf(type)) thnn_narrow(at, &narrow, type, 1);
  else *at = x;
}

#endif
