#ifndef THNN_GENERIC_CONVOLUTION_CONVOLUTION_MODULE_H
#define THNN_GENERIC_CONVOLUTION_CONVOLUTION_MODULE_H

/* Shared by the convolutions whose filters do not depend on the position, without connection table. A module describes
   its arguments in a ConvolutionModule; the functions below check tensors against it, resize outputs and compute. */

#include "convolution/convolution.h"

/* The dimensions of weight. k... is the kernel: depth, height, width. There is one bias per output channel. */
typedef enum ConvolutionWeight {
  CONVOLUTION_FILTERS,    /* (O, I / groups, k...) */
  CONVOLUTION_TRANSPOSED, /* (I, O / groups, k...) */
  CONVOLUTION_DEPTHWISE,  /* (M, I, k...): output channel i * M + m depends on input channel i; biases (M, I) */
  CONVOLUTION_ROWS,       /* (I, 1, k...): output channel i depends on input channel i */
  CONVOLUTION_FRAMES      /* (O, k * I): patches in channels-last order */
} ConvolutionWeight;

/* The names of the arguments that describe an axis, for error messages. */
typedef struct ConvolutionAxisNames {
  const char *kernel, *stride, *padding, *dilation, *outputPadding;
} ConvolutionAxisNames;

typedef struct ConvolutionModule {
  ConvolutionWeight weight;
  bool flattened;      /* weight may also be 2-D, with all dimensions but the first merged */
  bool kernelOfWeight; /* the kernel is given by weight's size, not by arguments */
  bool framesFirst;    /* the dimensions of images are (N, T, I), not (N, I, T); not a memory format */
  int64_t groups;      /* argument of CONVOLUTION_FILTERS and CONVOLUTION_TRANSPOSED, otherwise 1 */
  /* The module sets dims and, of the axes, kernel (unless kernelOfWeight), stride, padding and dilation; the checks set
     the rest. */
  Convolution geometry;
  int64_t outputPadding[WINDOW_AXES]; /* for a transposed convolution */
  ConvolutionAxisNames name[WINDOW_AXES];
} ConvolutionModule;

static inline ConvolutionModule convolutionModuleMake(ConvolutionWeight weight, int dims)
{
  return (ConvolutionModule){.weight = weight, .groups = 1, .geometry = convolutionMake(dims)};
}

/* Sets axis 0 (depth), 1 (height) or 2 (width) from the arguments of a function, which error messages name. */
#define CONVOLUTION_AXIS(m, d, k, s, p, dilation_, added)                  \
  do {                                                                     \
    (m)->geometry.axis[d] = (WindowAxis){1, 1, k, s, p, dilation_};        \
    (m)->outputPadding[d] = added;                                         \
    (m)->name[d] = (ConvolutionAxisNames){#k, #s, #p, #dilation_, #added}; \
  } while (0)

/* For modules whose weight gives the number of dimensions: the arguments of the other axes must be trivial, and groups
   at least 1. */
void THNN_(convolutionModuleCheckAxes)(THNNState *state, const ConvolutionModule *module);

void THNN_(convolutionModuleUpdateOutput)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                          THTensor *output, THTensor *weight, THTensor *bias);

void THNN_(convolutionModuleUpdateGradInput)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                             THTensor *gradOutput, THTensor *gradInput, THTensor *weight);

void THNN_(convolutionModuleAccGradParameters)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                               accreal scale);

#endif
