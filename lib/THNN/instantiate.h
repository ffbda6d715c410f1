/* Compiles THNN_GENERIC_FILE for every element type. To add one (bfloat16, half), add its block here. */

#define THNN_REAL_IS_FLOAT 1
#define real float
#define accreal double
#define Real Float
#include "runtime/kernel.h"
#include THNN_GENERIC_FILE
#undef V_PS
#undef V_EPI
#undef V_CMP
#undef V_EQ
#undef THNN_REAL_IS_FLOAT
#undef real
#undef Real
#undef THNN_
#undef V_
#undef THTensor

#define THNN_REAL_IS_DOUBLE 1
#define real double
#define Real Double
#include "runtime/kernel.h"
#include THNN_GENERIC_FILE
