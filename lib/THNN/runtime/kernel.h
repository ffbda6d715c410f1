#ifndef THNN_RUNTIME_KERNEL_H
#define THNN_RUNTIME_KERNEL_H

/* The first include of every kernel file, by way of the declarations of its module ("modules/Tanh.h"). A kernel file is
   a translation unit per element type and instruction set. The build passes both: THNN_REAL_IS_FLOAT or
   THNN_REAL_IS_DOUBLE, and THNN_ARCH, the suffix of the instruction set. */

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

#include "simd/simd.h"

#endif
