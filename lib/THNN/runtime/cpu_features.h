#ifndef THNN_RUNTIME_CPU_FEATURES_H
#define THNN_RUNTIME_CPU_FEATURES_H

#include <cpuid.h>
#include <stdbool.h>

/* The instructions that -march=x86-64-v3 and -march=x86-64-v4 allow the compiler. A virtual machine may mask any of
   them. */

/* clang before 18 does not know these names; CPUs with AVX2 and BMI2 have the instructions. */
#if defined(__clang__) && __clang_major__ < 18
#define THNN_SUPPORTS_REST_OF_V3 true
#else
#define THNN_SUPPORTS_REST_OF_V3 \
  (__builtin_cpu_supports("f16c") && __builtin_cpu_supports("lzcnt") && __builtin_cpu_supports("movbe"))
#endif

static inline bool thnn_cpuHasAvx2(void)
{
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
         __builtin_cpu_supports("bmi2") && THNN_SUPPORTS_REST_OF_V3;
}

static inline bool thnn_cpuHasAvx512(void)
{
  return thnn_cpuHasAvx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

/* Products of bfloat16 (VDPBF16PS), which -mavx512bf16 allows. */
static inline bool thnn_cpuHasAvx512BFloat16(void)
{
#ifdef THNN_BFLOAT16_PRODUCTS
  return thnn_cpuHasAvx512() && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

/* Products of tiles of bfloat16 (TDPBF16PS), which -mamx-bf16 allows, if the operating system saves the tiles. gcc before 11
   and clang before 18 do not know their names. */
static inline bool thnn_cpuHasAmxBFloat16(void)
{
#if defined(THNN_EMULATE_TILES)
  return thnn_cpuHasAvx512BFloat16();
#elif defined(THNN_TILE_PRODUCTS)
  enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, TILE_STATE = 3 << 17 };
  unsigned a, b, c, d, enabled, high;
  if (!thnn_cpuHasAvx512BFloat16() || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return false;
  __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
  return d & AMX_BF16 && d & AMX_TILE && (enabled & TILE_STATE) == TILE_STATE;
#else
  return false;
#endif
}

#endif
