#ifndef THNN_RUNTIME_DISPATCH_H
#define THNN_RUNTIME_DISPATCH_H

#include <stdbool.h>

/* The instruction set whose variant of each kernel runs: chosen once, when the library is loaded. */
typedef enum THNNCapability {
  THNN_CAPABILITY_DEFAULT,
  THNN_CAPABILITY_AVX2,
  THNN_CAPABILITY_AVX512,
  THNN_CAPABILITY_AVX512_BFLOAT16, /* the variants of AVX512, and the micro-kernel of products of bfloat16 */
  THNN_CAPABILITY_AMX_BFLOAT16     /* the same, and the micro-kernel of tiles of bfloat16 */
} THNNCapability;

extern THNNCapability thnn_capability;
const char *THNN_capabilityName(void);
/* True if this process may use tiles (AMX). Asks the kernel of the system at the first call, since its permission
   enlarges the frames of the process's signals. */
bool thnn_grantsTiles(void);
/* The message for an invalid THNN_CPU_CAPABILITY ("... does not support avx512"), THNN_CACHE_BYTES or THNN_WINOGRAD, or
   NULL. */
const char *THNN_environmentError(void);

#endif
