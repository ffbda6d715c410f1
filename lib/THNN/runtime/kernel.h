#ifndef THNN_RUNTIME_KERNEL_H
#define THNN_RUNTIME_KERNEL_H

/* For files that are compiled once per element type and instruction set: kernel files, which include this header first,
   through the declarations of their module ("modules/Tanh.h"), and cores. The build defines the element type,
   THNN_REAL_IS_FLOAT or THNN_REAL_IS_DOUBLE, and the instruction set, THNN_ARCH, which is the suffix of symbols. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/check.h"
#include "runtime/inline.h"
#include "runtime/parallel.h"

#ifndef THNN_ARCH
#error "THNN_ARCH names the instruction set this file is compiled for: default, avx2 or avx512"
#endif

#if defined(THNN_REAL_IS_FLOAT)
#define real float
#define Real Float
#elif defined(THNN_REAL_IS_DOUBLE)
#define real double
#define Real Double
#else
#error "define THNN_REAL_IS_FLOAT or THNN_REAL_IS_DOUBLE: the element type this file is compiled for"
#endif
#define accreal double

#define TH_CONCAT_(a, b) a##b
#define TH_CONCAT(a, b) TH_CONCAT_(a, b)
#define TH_CONCAT_4(a, b, c, d) TH_CONCAT(TH_CONCAT(a, b), TH_CONCAT(c, d))

/* The symbol of a function that other files call, such as THNN_FloatTanh_updateOutput_avx2 for
   THNN_(Tanh_updateOutput). function_table.c exports the symbol without the suffix. */
#define THNN_(name) TH_CONCAT_4(THNN_, Real, name, TH_CONCAT(_, THNN_ARCH))
#define THTensor TH_CONCAT_4(TH, Real, Tensor, )
#define TH_DATA(tensor) ((real *)(tensor)->data)
#define TH_ACCREAL_DATA(tensor) ((accreal *)(tensor)->data)

static inline double THNNState_gradientFactor(const THNNState *state)
{
  return state->gradientFactor ? *(const real *)state->gradientFactor : 1;
}

#include "simd/simd.h"

#endif
