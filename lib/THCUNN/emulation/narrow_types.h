#ifndef THCUNN_EMULATION_NARROW_TYPES_H
#define THCUNN_EMULATION_NARROW_TYPES_H

/* float16 and bfloat16 as CUDA names them: storage types, with conversions to float and back, to the nearest value,
   ties to even. Conversions are inlined because g++ does not instrument the store of a call's result for
   ThreadSanitizer. */

#include <math.h>
#include <stdint.h>
#include <string.h>

struct __half {
  uint16_t bits;
};
struct __nv_bfloat16 {
  uint16_t bits;
};

namespace emulation
{

inline float floatOf(uint32_t bits)
{
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
inline uint32_t bitsOf(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

} // namespace emulation

static inline float __bfloat162float(__nv_bfloat16 b) { return emulation::floatOf((uint32_t)b.bits << 16); }

__attribute__((always_inline)) static inline __nv_bfloat16 __float2bfloat16_rn(float value)
{
  const uint32_t bits = emulation::bitsOf(value);
  if (value != value) return {0x7fff};
  return {(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

static inline float __half2float(__half h)
{
  const uint32_t sign = (uint32_t)(h.bits & 0x8000) << 16, rest = h.bits & 0x7fff;
  if (rest >= 0x7c00) return emulation::floatOf(sign | 0x7f800000 | (rest & 0x3ff) << 13); /* infinity or NaN */
  /* As a float, the bits have an exponent too small by 112; the product normalizes subnormal numbers. */
  return emulation::floatOf(sign | emulation::bitsOf(emulation::floatOf(rest << 13) * 0x1p112f));
}

__attribute__((always_inline)) static inline __half __float2half_rn(float value)
{
  const uint32_t bits = emulation::bitsOf(value), sign = bits >> 16 & 0x8000;
  const float magnitude = fabsf(value);
  if (value != value) return {0x7fff};
  if (magnitude >= 65520.0f) return {(uint16_t)(sign | 0x7c00)};
  if (magnitude < 0x1p-14f) return {(uint16_t)(sign | (uint32_t)lrintf(magnitude * 0x1p24f))}; /* subnormal */
  const uint32_t rest = bits & 0x7fffffff;
  return {(uint16_t)(sign | ((rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13))};
}

#endif
