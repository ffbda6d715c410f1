#include "runtime/function_table.h"

#include "runtime/call.h"

/* The table of the CUDA library: for each function of THNN.h an entry per element type, or NULL where the library has
   no kernel for it (torch computes the convolutions and Linear, thnn/_cuda). An entry calls the function of libTHNN as
   for a meta tensor, which checks the arguments and requests the sizes of outputs, then the kernel's function.

   generated/functions.inc has a line per function (lib/THNN/runtime/function_table.c). */

#define THTensor THNNTensor
typedef double accreal;

/* The element types, each with the element type of the libTHNN function that checks the arguments. */
#define FOR_EACH_TYPE(DO, ...)    \
  DO(Float, Float, __VA_ARGS__)   \
  DO(Double, Double, __VA_ARGS__) \
  DO(Half, Float, __VA_ARGS__)    \
  DO(BFloat16, Float, __VA_ARGS__)

#define DECLARE_CHECK(Real, name, parameters) extern "C" void THNN_##Real##name parameters;

#define DEFINE_ENTRY(Real, Checked, name, parameters, values)          \
  __attribute__((weak)) void THCUNN_##Real##name parameters;           \
  static void call_##Real##name(THNNState *state, const THNNValue *v)  \
  {                                                                    \
    thcunn::Call call(state);                                          \
    if (state->status > THNN_RESIZE) return;                           \
    const bool meta = state->meta;                                     \
    state->meta = true;                                                \
    THNN_##Checked##name values;                                       \
    state->meta = meta;                                                \
    if (!meta && state->status == THNN_OK) THCUNN_##Real##name values; \
  }

#define THNN_FUNCTION(name, letters, argumentCount, tensorCount, parameters, names, values) \
  DECLARE_CHECK(Float, name, parameters)                                                    \
  DECLARE_CHECK(Double, name, parameters)                                                   \
  FOR_EACH_TYPE(DEFINE_ENTRY, name, parameters, values)

/* A function without a state argument uses THNN_lastState(), the thread's own state: here the state of the call is
   copied to it before the call and back after it. */
#define DEFINE_STATELESS_ENTRY(Real, Checked, name, parameters, values) \
  __attribute__((weak)) void THCUNN_##Real##name parameters;            \
  static void call_##Real##name(THNNState *state, const THNNValue *v)   \
  {                                                                     \
    thcunn::Call call(state);                                           \
    if (state->status > THNN_RESIZE) return;                            \
    THNNState *own = THNN_lastState();                                  \
    const bool meta = state->meta;                                      \
    *own = *state;                                                      \
    own->meta = true;                                                   \
    THNN_##Checked##name values;                                        \
    own->meta = false;                                                  \
    if (!meta && own->status == THNN_OK) THCUNN_##Real##name values;    \
    *state = *own;                                                      \
    state->meta = meta;                                                 \
  }
#define THNN_STATELESS_FUNCTION(name, letters, argumentCount, tensorCount, parameters, names, values) \
  DECLARE_CHECK(Float, name, parameters)                                                              \
  DECLARE_CHECK(Double, name, parameters)                                                             \
  FOR_EACH_TYPE(DEFINE_STATELESS_ENTRY, name, parameters, values)

#include "functions.inc"

#undef THNN_FUNCTION
#undef THNN_STATELESS_FUNCTION
#define ENTRY(Real, Checked, name) THCUNN_##Real##name ? call_##Real##name : NULL,
#define THNN_FUNCTION(name, letters, argumentCount, tensorCount, ...) \
  {#name, letters, argumentCount, tensorCount, {FOR_EACH_TYPE(ENTRY, name)}},
#define THNN_STATELESS_FUNCTION THNN_FUNCTION

static const THNNFunction functions[] = {
#include "functions.inc"
};

static const char *capability()
{
#ifdef THCUNN_EMULATE
  return "emulation";
#else
  return "CUDA";
#endif
}
static const char *environmentError() { return NULL; }

/* In emulation the library's device is the CPU, whose tensors it then takes. */
#ifdef THCUNN_EMULATE
static const int DEVICE = THNN_DEVICE_CPU;
#else
static const int DEVICE = THNN_DEVICE_CUDA;
#endif

static const THNNLibrary library = {
    THNN_ABI,   DEVICE,           sizeof functions / sizeof functions[0], THNN_HEADER_DIGEST, functions,
    capability, environmentError,
};

extern "C" __attribute__((visibility("default"))) const THNNLibrary *THNN_library(void) { return &library; }
