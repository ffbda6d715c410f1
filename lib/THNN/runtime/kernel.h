/* What a file of generic/ or cores/ sees. It is compiled once per instruction set and, by instantiate.h,
   twice in that: for real = float and for real = double. No include guard: included once per type. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/check.h"
#include "runtime/parallel.h"

#ifndef THNN_ARCH
#error "THNN_ARCH names the instruction set this file is compiled for: default, avx2 or avx512"
#endif

#define TH_CONCAT_(a, b) a##b
#define TH_CONCAT(a, b) TH_CONCAT_(a, b)
#define TH_CONCAT_4(a, b, c, d) TH_CONCAT(TH_CONCAT(a, b), TH_CONCAT(c, d))

/* THNN_(Tanh_updateOutput) is THNN_FloatTanh_updateOutput_avx2, say; dispatch.c gives the symbol without the
   suffix to the world. */
#define THNN_(name) TH_CONCAT_4(THNN_, Real, name, TH_CONCAT(_, THNN_ARCH))
#define V_(name) TH_CONCAT_4(v, Real, _, name)
#define THTensor TH_CONCAT_4(TH, Real, Tensor, )
#define TH_DATA(tensor) ((real *)(tensor)->data)
#define TH_ACCREAL_DATA(tensor) ((accreal *)(tensor)->data)

#define vreal V_(real)
#define vint V_(int)
#define vmask V_(mask)
#define v_load V_(load)
#define v_store V_(store)
#define v_load_n V_(load_n)
#define v_store_n V_(store_n)
#define v_first V_(first)
#define v_stream V_(stream)
#define vi_load V_(iload)
#define vi_store V_(istore)
#define v_set1 V_(set1)
#define vi_set1 V_(iset1)
#define v_gt V_(gt)
#define v_lt V_(lt)
#define v_ge V_(ge)
#define v_le V_(le)
#define v_eq V_(eq)
#define v_ne V_(ne)
#define m_and V_(mand)
#define m_or V_(mor)
#define m_not V_(mnot)
#define v_sel V_(sel)
#define vi_sel V_(isel)
#define vi_eq V_(ieq)
#define v_max V_(max)
#define v_min V_(min)
#define v_abs V_(abs)
#define v_sqrt V_(sqrt)
#define v_sum V_(sum)

#include "simd/simd.h"

#define TH_API
#include "../../generic/THNN.h"
#undef TH_API
