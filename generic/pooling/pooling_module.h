#ifndef THNN_GENERIC_POOLING_POOLING_MODULE_H
#define THNN_GENERIC_POOLING_POOLING_MODULE_H

/* The functions of the pooling modules: checks, sizes of outputs, and the call of the core. A module is a line that
   describes its windows. */

#include "pooling/indexed.h"
#include "pooling/pooling.h"
#include "pooling/regions.h"

/* The arguments of a module for one axis of its window, and their names for error messages. */
typedef struct PoolingArguments {
  int kernel, stride, padding, dilation;
  const char *kernelName, *strideName, *paddingName, *dilationName;
} PoolingArguments;

#define POOLING_AXIS(kernel, stride, padding, dilation) \
  {kernel, stride, padding, dilation, #kernel, #stride, #padding, #dilation}

/* The windows of a module that slide along `axes` axes; `axis` is width first. */
typedef struct PoolingWindow {
  int axes;
  PoolingArguments axis[WINDOW_AXES];
  bool ceilMode;
  PoolingIndex index; /* for a maximum */
  bool countPadding;  /* for an average */
  bool kernelInInput; /* the kernel may not exceed the unpadded input */
} PoolingWindow;

void THNN_(maxPoolingUpdateOutput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                   THTensor *output, THIndexTensor *indices);
void THNN_(maxPoolingUpdateGradInput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices);
void THNN_(averagePoolingUpdateOutput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                       THTensor *output);
void THNN_(averagePoolingUpdateGradInput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                          THTensor *gradOutput, THTensor *gradInput);

/* Along one axis, the number of outputs and, of fractional pooling, the size of the regions and the column of
   randomSamples with the sample that decides where they begin. */
typedef struct RegionArguments {
  int output, size, sampleColumn;
  const char *outputName, *sizeName;
} RegionArguments;

#define ADAPTIVE_AXIS(output) {output, 0, 0, #output, NULL}
#define FRACTIONAL_AXIS(output, size, sample) {output, size, sample, #output, #size}

/* The regions of a module; `axis` is innermost first. */
typedef struct RegionWindow {
  int axes;
  RegionArguments axis[WINDOW_AXES];
  const THTensor *randomSamples; /* for a fractional pooling */
  bool timeLast;                 /* (N, C, H, W, T) */
} RegionWindow;

/* The maximum if there are indices, the average otherwise. */
void THNN_(regionPoolingUpdateOutput)(THNNState *state, const RegionWindow *window, THTensor *input,
                                      THTensor *output, THIndexTensor *indices);
/* `window` is NULL for adaptive regions, whose number is the size of gradOutput along the last `axes` dimensions. The
   gradient of a maximum does not need the samples. */
void THNN_(regionPoolingUpdateGradInput)(THNNState *state, const RegionWindow *window, int axes, THTensor *input,
                                         THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices);

/* Along one axis, the size of the unpooled tensor and the window that pooled it. */
typedef struct UnpoolingArguments {
  int output, stride, padding;
  const char *outputName, *strideName, *paddingName;
} UnpoolingArguments;

#define UNPOOLING_AXIS(output, stride, padding) {output, stride, padding, #output, #stride, #padding}

/* The indices of an unpooling name positions in the output or, with INDEX_KERNEL_PACKED, kernel elements of windows. */
typedef struct Unpooling {
  int axes;
  UnpoolingArguments axis[WINDOW_AXES]; /* width first */
  PoolingIndex index;
} Unpooling;

void THNN_(maxUnpoolingUpdateOutput)(THNNState *state, const Unpooling *unpooling, THTensor *input,
                                     THTensor *output, THIndexTensor *indices);
void THNN_(maxUnpoolingUpdateGradInput)(THNNState *state, const Unpooling *unpooling, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices);

#endif
