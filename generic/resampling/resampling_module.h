#ifndef THNN_GENERIC_RESAMPLING_RESAMPLING_MODULE_H
#define THNN_GENERIC_RESAMPLING_RESAMPLING_MODULE_H

/* The checks that all padding and up-sampling modules share, and their calls of the core. */

#include "resampling/resampling.h"

/* The arguments of a module for one axis, with a name for error messages. The other fields of ResampleAxis follow from
   the input. */
typedef struct ResampleArguments {
  ResampleKind kind;
  int64_t before, after; /* padding at both ends */
  int64_t factor;        /* the output is `factor` times the input, if not 0 */
  int64_t output;        /* otherwise its size */
  double scale;
  const char *name;
} ResampleArguments;

#define PADDING_AXIS(kind_, before_, after_) \
  {.kind = kind_, .before = before_, .after = after_, .name = #before_ " and " #after_}
#define FACTOR_AXIS(factor_) {.kind = RESAMPLE_NEAREST, .factor = factor_, .name = #factor_}
#define SIZE_AXIS(kind_, output_) {.kind = kind_, .output = output_, .name = #output_}

/* One to three axes, width first. */
#ifdef __cplusplus
#include <initializer_list>
#define RESAMPLE_AXES(...)                                           \
  (int)std::initializer_list<ResampleArguments>{__VA_ARGS__}.size(), \
      std::initializer_list<ResampleArguments>{__VA_ARGS__}.begin()
#else
#define RESAMPLE_AXES(...)                                                                             \
  (int)(sizeof((ResampleArguments[]){__VA_ARGS__}) / sizeof(ResampleArguments)), (ResampleArguments[]) \
  {                                                                                                    \
    __VA_ARGS__                                                                                        \
  }
#endif

/* updateOutput and updateGradInput of a module: checks, sizes and the call of the core. `axes` has the module's
   arguments for `count` axes; `batchless`: N may be missing. */
void THNN_(resampleOutput)(THNNState *state, const THTensor *input, THTensor *output, bool batchless, int count,
                           const ResampleArguments *axes);
void THNN_(resampleGradInput)(THNNState *state, const THTensor *input, const THTensor *gradOutput,
                              THTensor *gradInput, bool batchless, int count, const ResampleArguments *axes);

/* updateGradInput of a module that has the size of the input as an argument instead of input. */
void THNN_(resampleGradInputSized)(THNNState *state, const int64_t *size, const THTensor *gradOutput,
                                   THTensor *gradInput, int count, const ResampleArguments *axes);

#endif
