#include "runtime/function_table.h"

#include <string.h>

#include "runtime/dispatch.h"
#include "runtime/half.h"

/* The public symbol of every function, THNN_Float<Name> and THNN_Double<Name>, which calls the variant for this CPU;
   and the table of all functions. generated/functions.inc has a line per function of THNN.h:

     THNN_FUNCTION(name, letters, argumentCount, tensorCount, (parameters), (names of the parameters),
                   (their values in THNNValue v[])) */

#define THNN_PUBLIC __attribute__((visibility("default")))
#define THTensor THNNTensor

#ifdef THNN_X86_VARIANTS
#define DECLARE_VARIANTS(symbol, parameters) \
  void symbol##_default parameters;          \
  void symbol##_avx2 parameters;             \
  void symbol##_avx512 parameters;
#define CALL_VARIANT(symbol, names)                                      \
  if (thnn_capability >= THNN_CAPABILITY_AVX512) symbol##_avx512 names;  \
  else if (thnn_capability == THNN_CAPABILITY_AVX2) symbol##_avx2 names; \
  else symbol##_default names;
#else
#define DECLARE_VARIANTS(symbol, parameters) void symbol##_default parameters;
#define CALL_VARIANT(symbol, names) symbol##_default names;
#endif

/* Completes the non-temporal stores of this thread (streaming.h); the stores of other threads are complete after the
   barrier that ends a parallel region. */
#ifdef __x86_64__
#define STORE_FENCE() __builtin_ia32_sfence()
#else
#define STORE_FENCE()
#endif

/* A public symbol resets `state`, or the thread's state if that is NULL, and calls the variant. */
#define DEFINE_SYMBOL(symbol, name, parameters, names, ...) \
  DECLARE_VARIANTS(symbol, parameters)                      \
  THNN_PUBLIC void symbol parameters                        \
  {                                                         \
    __VA_ARGS__                                             \
    if (state == NULL) {                                    \
      state = THNN_lastState();                             \
      state->meta = false;                                  \
    }                                                       \
    THNNState_begin(state, #name);                          \
    CALL_VARIANT(symbol, names)                             \
    STORE_FENCE();                                          \
  }

#define DEFINE_FUNCTION(symbol, name, parameters, names, values) \
  DEFINE_SYMBOL(symbol, name, parameters, names, )               \
  static void call_##symbol(THNNState *state, const THNNValue *v) { symbol values; }

/* A function without a state argument uses THNN_lastState(), the thread's own state. */
#define DEFINE_STATELESS(symbol, name, parameters, names, values)                      \
  DEFINE_SYMBOL(symbol, name, parameters, names, THNNState *state = THNN_lastState();) \
  static void call_##symbol(THNNState *state, const THNNValue *v)                      \
  {                                                                                    \
    THNNState *own = THNN_lastState();                                                 \
    own->meta = state->meta;                                                           \
    own->gradientFactor = state->gradientFactor;                                       \
    own->access = state->access;                                                       \
    own->takesHalf = false;                                                            \
    own->zeroCount = state->zeroCount;                                                 \
    memcpy(own->zeros, state->zeros, sizeof own->zeros);                               \
    symbol values;                                                                     \
    state->zeroCount = own->zeroCount;                                                 \
    state->takesHalf = own->takesHalf;                                                 \
    own->meta = false;                                                                 \
    own->access = NULL;                                                                \
    own->gradientFactor = NULL;                                                        \
    own->zeroCount = 0;                                                                \
    THNNState_begin(state, #name);                                                     \
    if (own->status != THNN_OK) {                                                      \
      state->status = own->status;                                                     \
      state->requestCount = own->requestCount;                                         \
      memcpy(state->requests, own->requests, sizeof own->requests);                    \
      memcpy(state->message, own->message, sizeof own->message);                       \
    }                                                                                  \
  }

#define THNN_FUNCTION(name, letters, argumentCount, tensorCount, ...) \
  DEFINE_FUNCTION(THNN_Float##name, name, __VA_ARGS__)                \
  DEFINE_FUNCTION(THNN_Double##name, name, __VA_ARGS__)
#define THNN_STATELESS_FUNCTION(name, letters, argumentCount, tensorCount, ...) \
  DEFINE_STATELESS(THNN_Float##name, name, __VA_ARGS__)                         \
  DEFINE_STATELESS(THNN_Double##name, name, __VA_ARGS__)

#include "functions.inc"

#undef THNN_FUNCTION
#undef THNN_STATELESS_FUNCTION
#define THNN_FUNCTION(name, ...) INDEX_##name,
#define THNN_STATELESS_FUNCTION THNN_FUNCTION

enum {
#include "functions.inc"
  FUNCTIONS
};

static const THNNFunction functions[FUNCTIONS];

/* The entry for both half types: the function for float32, with conversions (half.h). */
#undef THNN_FUNCTION
#define THNN_FUNCTION(name, ...)                                                 \
  static void call_half_##name(THNNState *state, const THNNValue *v)             \
  {                                                                              \
    THNN_computeHalf(state, v, &functions[INDEX_##name], call_THNN_Float##name); \
  }

#include "functions.inc"

#undef THNN_FUNCTION
#define THNN_FUNCTION(name, letters, argumentCount, tensorCount, ...) \
  {#name,                                                             \
   letters,                                                           \
   argumentCount,                                                     \
   tensorCount,                                                       \
   {call_THNN_Float##name, call_THNN_Double##name, call_half_##name, call_half_##name}},

static const THNNFunction functions[FUNCTIONS] = {
#include "functions.inc"
};

static const THNNLibrary library = {
    .abi = THNN_ABI,
    .device = THNN_DEVICE_CPU,
    .count = FUNCTIONS,
    .digest = THNN_HEADER_DIGEST,
    .functions = functions,
    .capability = THNN_capabilityName,
    .environmentError = THNN_environmentError,
};

THNN_PUBLIC const THNNLibrary *THNN_library(void) { return &library; }
