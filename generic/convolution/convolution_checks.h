#ifndef THNN_GENERIC_CONVOLUTION_CONVOLUTION_CHECKS_H
#define THNN_GENERIC_CONVOLUTION_CONVOLUTION_CHECKS_H

/* What the modules around the core of lib/THNN/cores/convolution.h share. A module says what its arguments mean, in a
   ConvolutionModule; the three functions below check tensors against it, settle shapes and compute. */

#include "convolution/convolution.h"

/* Dimensions of weight; k... is the kernel, height before width. Biases are one per output plane. */
typedef enum ConvolutionWeight {
  CONVOLUTION_FILTERS,    /* (O, I / groups, k...) */
  CONVOLUTION_TRANSPOSED, /* (I, O / groups, k...): every input pixel is spread over a patch of the output */
  CONVOLUTION_DEPTHWISE,  /* (M, I, k...): output plane i*M + m is made of input plane i; biases (M, I) */
  CONVOLUTION_ROWS,       /* (I, 1, k...): output plane i is made of input plane i */
  CONVOLUTION_FRAMES      /* (O, k*I): the pixels of a patch one after another */
} ConvolutionWeight;

enum { KERNEL, STRIDE, PADDING, DILATION, ADDED };

typedef struct ConvolutionModule {
  ConvolutionWeight weight;
  bool flattened;      /* weight may also have its last dimensions as one */
  bool kernelOfWeight; /* the kernel is no argument but the size of weight */
  bool planesLast;     /* images (N, k..., I), not (N, I, k...) */
  int dims;
  int64_t groups; /* of filters and transposed weights */
  int64_t axis[3]
              [5]; /* depth, height, width: kernel, stride, padding, dilation, and what is added to the output */
  const char *name[3][5];
  /* Filled by the checks. A transposed convolution is the geometry's gradInput: its input is the geometry's output. */
  Convolution geometry;
  int64_t planes, size[3]; /* of the output */
} ConvolutionModule;

static inline ConvolutionModule convolution_module(ConvolutionWeight weight, int dims)
{
  ConvolutionModule m = {.weight = weight, .dims = dims, .groups = 1};
  for (int d = 0; d < 3; d++) m.axis[d][KERNEL] = m.axis[d][STRIDE] = m.axis[d][DILATION] = 1;
  return m;
}

/* Axis 0 (depth), 1 (height) or 2 (width), out of the arguments of a function; errors name them. */
#define CONVOLUTION_AXIS(m, d, kernel, stride, padding, dilation, added)          \
  do {                                                                            \
    const int64_t values[5] = {kernel, stride, padding, dilation, added};         \
    const char *const names[5] = {#kernel, #stride, #padding, #dilation, #added}; \
    memcpy((m)->axis[d], values, sizeof values);                                  \
    memcpy((m)->name[d], names, sizeof names);                                    \
  } while (0)

void THNN_(convolution_updateOutput)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                     THTensor *output, THTensor *weight, THTensor *bias);

void THNN_(convolution_updateGradInput)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradInput, THTensor *weight);

void THNN_(convolution_accGradParameters)(THNNState *state, ConvolutionModule *module, THTensor *input,
                                          THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                          accreal scale);

#endif
