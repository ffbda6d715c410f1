#ifndef THNN_RUNTIME_DISPATCH_H
#define THNN_RUNTIME_DISPATCH_H

#include "runtime/state.h"

/* Which of the compiled variants runs: chosen once, when the library is loaded. */
typedef enum THNNCapability {
  THNN_CAPABILITY_DEFAULT,
  THNN_CAPABILITY_AVX2,
  THNN_CAPABILITY_AVX512
} THNNCapability;

extern THNNCapability thnn_capability;
const char *THNN_capabilityName(void);
/* What is wrong with THNN_CPU_CAPABILITY or THNN_CACHE_BYTES ("this CPU does not support avx512"), or NULL. */
const char *THNN_environmentError(void);

/* Body of a public function: a fresh state, then the variant. */
#ifdef THNN_X86_VARIANTS
#define THNN_DISPATCH(name, text, ...)                                          \
  do {                                                                          \
    if (state == NULL) {                                                        \
      state = THNN_lastState();                                                 \
      state->meta = false;                                                      \
    }                                                                           \
    THNNState_begin(state, text);                                               \
    if (thnn_capability == THNN_CAPABILITY_AVX512) name##_avx512(__VA_ARGS__);  \
    else if (thnn_capability == THNN_CAPABILITY_AVX2) name##_avx2(__VA_ARGS__); \
    else name##_default(__VA_ARGS__);                                           \
  } while (0)
#define THNN_VARIANTS(name, ...)    \
  void name##_default(__VA_ARGS__); \
  void name##_avx2(__VA_ARGS__);    \
  void name##_avx512(__VA_ARGS__)
#else
#define THNN_DISPATCH(name, text, ...) \
  do {                                 \
    if (state == NULL) {               \
      state = THNN_lastState();        \
      state->meta = false;             \
    }                                  \
    THNNState_begin(state, text);      \
    name##_default(__VA_ARGS__);       \
  } while (0)
#define THNN_VARIANTS(name, ...) void name##_default(__VA_ARGS__)
#endif

#endif
