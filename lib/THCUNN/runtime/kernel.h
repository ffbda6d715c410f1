#ifndef THNN_RUNTIME_KERNEL_H
#define THNN_RUNTIME_KERNEL_H

/* runtime/kernel.h of lib/THNN, for the kernel files of the CUDA library: .cu files, and those files of generic/ that
   are compiled unchanged. The build defines the element type, THNN_REAL_IS_FLOAT, _DOUBLE, _HALF or _BFLOAT16;
   `Element` is its type in memory, `real` the type of the arithmetic.

   A function is called after its arguments and their sizes have passed all checks of libTHNN's function
   (function_table.cu), so it launches kernels and checks nothing again. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/check.h"
#include "runtime/device.h"
#include "runtime/call.h"

#if defined(THNN_REAL_IS_FLOAT)
#define Real Float
typedef float Element;
#elif defined(THNN_REAL_IS_DOUBLE)
#define Real Double
typedef double Element;
#elif defined(THNN_REAL_IS_HALF)
#define Real Half
typedef __half Element;
#elif defined(THNN_REAL_IS_BFLOAT16)
#define Real BFloat16
typedef __nv_bfloat16 Element;
#else
#error "define the element type this file is compiled for, such as THNN_REAL_IS_HALF"
#endif
typedef thcunn::Arithmetic<Element>::type real;
typedef double accreal;

#define TH_CONCAT_(a, b) a##b
#define TH_CONCAT(a, b) TH_CONCAT_(a, b)
#define TH_CONCAT_4(a, b, c, d) TH_CONCAT(TH_CONCAT(a, b), TH_CONCAT(c, d))

/* The name of a function, such as THCUNN_HalfTanh_updateOutput for THNN_(Tanh_updateOutput). */
#define THNN_(name) TH_CONCAT_4(THCUNN_, Real, name, )
#define THTensor THNNTensor
#define TH_DATA(tensor) ((Element *)(tensor)->data)
#define TH_ACCREAL_DATA(tensor) ((accreal *)(tensor)->data)
#define THNN_PRAGMA(...)

#endif
