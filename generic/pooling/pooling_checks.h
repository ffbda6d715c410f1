#ifndef THNN_GENERIC_POOLING_POOLING_CHECKS_H
#define THNN_GENERIC_POOLING_POOLING_CHECKS_H

/* The checks that all pooling modules share. */

#include "pooling/pooling.h"

/* The arguments of a module for one axis of its window, and their names for error messages. */
typedef struct PoolingArguments {
  int kernel, stride, padding, dilation;
  const char *kernelName, *strideName, *paddingName, *dilationName;
} PoolingArguments;

#define POOLING_AXIS(kernel, stride, padding, dilation) \
  {kernel, stride, padding, dilation, #kernel, #stride, #padding, #dilation}

/* Checks arguments and input, and sets *pooling. `axes` are the arguments of one to three axes, width first. */
void THNN_(checkPooling)(THNNState *state, const THTensor *input, int count, const PoolingArguments *axes,
                         bool ceilMode, Pooling *pooling);

#define THNN_CHECK_POOLING(input, ceilMode, pooling, ...)                                                        \
  THNN_(checkPooling)(state, input, (int)(sizeof((PoolingArguments[]){__VA_ARGS__}) / sizeof(PoolingArguments)), \
                      (PoolingArguments[]){__VA_ARGS__}, ceilMode, pooling)

/* Gives a tensor the size of the output, in the layout of the input. */
void THNN_(resizePooled)(THNNState *state, const char *name, THNNTensor *tensor, const THTensor *input,
                         const Pooling *pooling);
#define THNN_RESIZE_POOLED(tensor, input, pooling) THNN_(resizePooled)(state, #tensor, tensor, input, pooling)

/* Fails if a tensor does not have the size of the output. */
void THNN_(checkPooled)(THNNState *state, const char *name, const THNNTensor *tensor, const THTensor *input,
                        const Pooling *pooling);
#define THNN_CHECK_POOLED(tensor, input, pooling) THNN_(checkPooled)(state, #tensor, tensor, input, pooling)

#endif
