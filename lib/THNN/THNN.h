#ifndef THNN_THNN_H
#define THNN_THNN_H

/* The interface for C programs: every function of generic/THNN.h for float and for double, as
   THNN_Float<Name> and THNN_Double<Name>.

     #include <THNN/THNN.h>
     THFloatTensor x, y;  THNNTensor_init(&x, THNN_TYPE_FLOAT, memory, 2, (int64_t[]){8, 16}); ...
     THNN_FloatTanh_updateOutput(NULL, &x, &y);
     if (THNN_lastState()->status != THNN_OK) puts(THNN_lastState()->message);

   With NULL for the state a call reports to THNN_lastState(), the state of the calling thread.
   An output must have its final size, since nothing resizes it: otherwise the status is THNN_RESIZE and the
   sizes are in THNN_lastState()->requests. A request names its output by THNNTensor.argument, which
   THNNTensor_init sets to -1: set it to the argument's position before a call with several outputs. */

#include "runtime/generator.h"
#include "runtime/state.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TH_API
#define accreal double

#define real float
#define THTensor THFloatTensor
#define THNN_(name) THNN_Float##name
#include "../../generic/THNN.h"
#undef real
#undef THTensor
#undef THNN_

#define real double
#define THTensor THDoubleTensor
#define THNN_(name) THNN_Double##name
#include "../../generic/THNN.h"
#undef real
#undef THTensor
#undef THNN_

#undef accreal
#undef TH_API

#ifdef __cplusplus
}
#endif

#endif
