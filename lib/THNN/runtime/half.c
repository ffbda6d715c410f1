#include "runtime/half.h"

#include <string.h>

#include "runtime/dispatch.h"
#include "runtime/inline.h"

#ifdef THNN_X86_VARIANTS
#include <immintrin.h>
#endif

/* The formulas have no branches, so that compilers vectorize the loops over them. */

static ALWAYS_INLINE uint32_t bitsOf(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static ALWAYS_INLINE float floatOf(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static ALWAYS_INLINE float widenBFloat16(uint16_t x) { return floatOf((uint32_t)x << 16); }

static ALWAYS_INLINE uint16_t narrowBFloat16(float x)
{
  const uint32_t bits = bitsOf(x), isOdd = bits >> 16 & 1;
  const uint32_t rounded = (bits + 0x7fff + isOdd) >> 16, quiet = bits >> 16 | 0x40;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

/* The exponent bias of float32 exceeds that of float16 by 112. */
#define BIAS_DIFFERENCE 112u

static ALWAYS_INLINE float widenFloat16(uint16_t x)
{
  const uint32_t magnitude = x & 0x7fffu, sign = (uint32_t)(x & 0x8000u) << 16;
  const uint32_t normal = (magnitude << 13) + (BIAS_DIFFERENCE << 23), special = normal + (BIAS_DIFFERENCE << 23);
  const uint32_t subnormal = bitsOf((float)(int32_t)magnitude * 0x1p-24f);
  return floatOf(sign | (magnitude >= 0x7c00u ? special : magnitude < 0x400u ? subnormal : normal));
}

static ALWAYS_INLINE uint16_t narrowFloat16(float x)
{
  const uint32_t bits = bitsOf(x), magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
  const uint32_t normal = ((magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13) - (BIAS_DIFFERENCE << 10);
  /* The sum with 0.5 is rounded to a multiple of 2^-24, the distance between subnormal numbers. */
  const uint32_t subnormal = bitsOf(floatOf(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t quiet = 0x7e00 | (magnitude >> 13 & 0x3ff);
  const uint32_t finite = magnitude < 0x38800000 ? subnormal : magnitude >= 0x47800000 ? 0x7c00 : normal;
  return (uint16_t)(sign | (magnitude > 0x7f800000 ? quiet : finite));
}

static ALWAYS_INLINE void widenBFloat16s(float *to, const uint16_t *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++) to[i] = widenBFloat16(from[i]);
}
static ALWAYS_INLINE void narrowBFloat16s(uint16_t *to, const float *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++) to[i] = narrowBFloat16(from[i]);
}
static ALWAYS_INLINE void widenFloat16s(float *to, const uint16_t *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++) to[i] = widenFloat16(from[i]);
}
static ALWAYS_INLINE void narrowFloat16s(uint16_t *to, const float *from, int64_t n)
{
  for (int64_t i = 0; i < n; i++) to[i] = narrowFloat16(from[i]);
}

#ifdef THNN_X86_VARIANTS

#define AVX2 __attribute__((target("avx2,f16c")))
#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,f16c,prefer-vector-width=512")))

#define FOR_EACH_VECTOR(i, lanes, n) for (; i <= n - lanes; i += lanes)

AVX2 static void widenBFloat16_avx2(float *to, const uint16_t *from, int64_t n) { widenBFloat16s(to, from, n); }
/* Compilers convert the rounded bits and select those of NaN element by element of a vector; here a comparison finds the
   NaNs of two vectors, which are rare, and the upper halves of two vectors become one. */
AVX2 static void narrowBFloat16_avx2(uint16_t *to, const float *from, int64_t n)
{
  const __m256i half = _mm256_set1_epi32(0x7fff), one = _mm256_set1_epi32(1);
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 16, n)
  {
    const __m256 x = _mm256_loadu_ps(from + i), y = _mm256_loadu_ps(from + i + 8);
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(x, y, _CMP_UNORD_Q)), 0)) {
      narrowBFloat16s(to + i, from + i, 16);
      continue;
    }
    const __m256i a = _mm256_castps_si256(x), b = _mm256_castps_si256(y);
    const __m256i isOddA = _mm256_and_si256(_mm256_srli_epi32(a, 16), one),
                  isOddB = _mm256_and_si256(_mm256_srli_epi32(b, 16), one);
    const __m256i roundedA = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(a, half), isOddA), 16),
                  roundedB = _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(b, half), isOddB), 16);
    _mm256_storeu_si256((__m256i *)(to + i),
                        _mm256_permute4x64_epi64(_mm256_packus_epi32(roundedA, roundedB), 0xd8));
  }
  narrowBFloat16s(to + i, from + i, n - i);
}
AVX2 static void widenFloat16_avx2(float *to, const uint16_t *from, int64_t n)
{
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 8, n) _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
  for (; i < n; i++) to[i] = widenFloat16(from[i]);
}
AVX2 static void narrowFloat16_avx2(uint16_t *to, const float *from, int64_t n)
{
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 8, n)
  _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = narrowFloat16(from[i]);
}

AVX512 static void widenBFloat16_avx512(float *to, const uint16_t *from, int64_t n)
{
  widenBFloat16s(to, from, n);
}
AVX512 static void narrowBFloat16_avx512(uint16_t *to, const float *from, int64_t n)
{
  static const uint16_t upperHalves[32] = {1,  3,  5,  7,  9,  11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31,
                                           33, 35, 37, 39, 41, 43, 45, 47, 49, 51, 53, 55, 57, 59, 61, 63};
  const __m512i half = _mm512_set1_epi32(0x7fff), one = _mm512_set1_epi32(1), lowest = _mm512_set1_epi32(0x10000),
                upper = _mm512_loadu_si512(upperHalves);
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 32, n)
  {
    const __m512 x = _mm512_loadu_ps(from + i), y = _mm512_loadu_ps(from + i + 16);
    if (__builtin_expect(_mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q), 0)) {
      narrowBFloat16s(to + i, from + i, 32);
      continue;
    }
    const __m512i a = _mm512_castps_si512(x), b = _mm512_castps_si512(y);
    const __m512i moreA = _mm512_add_epi32(a, half), moreB = _mm512_add_epi32(b, half);
    const __m512i roundedA = _mm512_mask_add_epi32(moreA, _mm512_test_epi32_mask(a, lowest), moreA, one),
                  roundedB = _mm512_mask_add_epi32(moreB, _mm512_test_epi32_mask(b, lowest), moreB, one);
    _mm512_storeu_si512(to + i, _mm512_permutex2var_epi16(roundedA, upper, roundedB));
  }
  narrowBFloat16s(to + i, from + i, n - i);
}
AVX512 static void widenFloat16_avx512(float *to, const uint16_t *from, int64_t n)
{
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 16, n)
  _mm512_storeu_ps(to + i, _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(from + i))));
  for (; i < n; i++) to[i] = widenFloat16(from[i]);
}
AVX512 static void narrowFloat16_avx512(uint16_t *to, const float *from, int64_t n)
{
  int64_t i = 0;
  FOR_EACH_VECTOR(i, 16, n)
  _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT));
  for (; i < n; i++) to[i] = narrowFloat16(from[i]);
}

#define CALL_VARIANT(name, ...)                                               \
  if (thnn_capability >= THNN_CAPABILITY_AVX512) name##_avx512(__VA_ARGS__);  \
  else if (thnn_capability == THNN_CAPABILITY_AVX2) name##_avx2(__VA_ARGS__); \
  else name##s(__VA_ARGS__)
#else
#define CALL_VARIANT(name, ...) name##s(__VA_ARGS__)
#endif

void thnn_widen(float *to, const void *from, int32_t type, int64_t n)
{
  if (type == THNN_TYPE_BFLOAT16) {
    CALL_VARIANT(widenBFloat16, to, from, n);
  } else {
    CALL_VARIANT(widenFloat16, to, from, n);
  }
}

void thnn_narrow(void *to, const float *from, int32_t type, int64_t n)
{
  if (type == THNN_TYPE_BFLOAT16) {
    CALL_VARIANT(narrowBFloat16, to, from, n);
  } else {
    CALL_VARIANT(narrowFloat16, to, from, n);
  }
}

typedef uint16_t Half __attribute__((may_alias));

/* Elements that are converted together. */
enum { CHUNK = 64 };

void thnn_widenStrided(float *to, const char *from, int64_t stride, int32_t type, int64_t n)
{
  if (stride == sizeof(Half)) {
    thnn_widen(to, from, type, n);
    return;
  }
  for (int64_t first = 0; first < n; first += CHUNK) {
    Half chunk[CHUNK];
    const int count = n - first < CHUNK ? (int)(n - first) : CHUNK;
    for (int i = 0; i < count; i++, from += stride) chunk[i] = *(const Half *)from;
    thnn_widen(to + first, chunk, type, count);
  }
}

void thnn_narrowStrided(char *to, int64_t stride, const float *from, int32_t type, int64_t n)
{
  if (stride == sizeof(Half)) {
    thnn_narrow(to, from, type, n);
    return;
  }
  for (int64_t first = 0; first < n; first += CHUNK) {
    Half chunk[CHUNK];
    const int count = n - first < CHUNK ? (int)(n - first) : CHUNK;
    thnn_narrow(chunk, from + first, type, count);
    for (int i = 0; i < count; i++, to += stride) *(Half *)to = chunk[i];
  }
}
