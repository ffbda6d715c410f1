#include "modules/unfolded.h"
#include "convolution/geometry_checks.h"
#include "unfolding/unfolding_module.h"

/* These functions have no state argument: errors go to the calling thread's state. After the
   checks, a tensor has no memory only if it has no elements (nInputPlane 0); then nothing is computed. */

/* The checks that both functions share. Sets the geometry. */
static void check(THNNState *state, Convolution *g, const THTensor *finput, const THTensor *input, int kW, int kH,
                  int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth, int inputHeight,
                  int outputWidth, int outputHeight)
{
  const int64_t images[3] = {nInputPlane, inputHeight, inputWidth};
  if (!THNNTensor_hasSize(input, 3, images))
    return THNN_fail(state, THNN_VALUE_ERROR, "input",
                     "expected (nInputPlane, inputHeight, inputWidth), %s, got %s", THNN_shapeOf(3, images),
                     THNN_shape(input));
  thnn_checkAtLeast(state, "kW", kW, 1);
  thnn_checkAtLeast(state, "kH", kH, 1);
  thnn_checkAtLeast(state, "dW", dW, 1);
  thnn_checkAtLeast(state, "dH", dH, 1);
  thnn_checkAtLeast(state, "padW", padW, 0);
  thnn_checkAtLeast(state, "padH", padH, 0);
  THNN_RETURN_IF_FAILED(state);
  *g = THNN_(unfoldingGeometry)(1, nInputPlane, inputHeight, inputWidth,
                                (UnfoldingWindow){kH, kW, dH, dW, padH, padW, 1, 1});
  THNN_(convolutionCheckOutput)(state, g, "input");
  THNN_RETURN_IF_FAILED(state);
  if (g->axis[2].output != outputWidth)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputWidth", "expected %lld, got %d", (long long)g->axis[2].output,
                     outputWidth);
  if (g->axis[1].output != outputHeight)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputHeight", "expected %lld, got %d",
                     (long long)g->axis[1].output, outputHeight);
  int64_t columns[3];
  THNN_(unfoldingCheckColumns)(state, g, "input", columns);
  if (!THNNTensor_hasSize(finput, 2, columns + 1))
    THNN_fail(state, THNN_VALUE_ERROR, "finput",
              "expected (nInputPlane * kH * kW, outputHeight * outputWidth), %s, got %s",
              THNN_shapeOf(2, columns + 1), THNN_shape(finput));
}

void THNN_(unfolded_copy)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH, int padW, int padH,
                          int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = THNN_lastState();
  Convolution g;
  check(state, &g, finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth,
        outputHeight);
  THNN_CHECK_DISTINCT_ADDRESSES(finput);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(finput, input);
  THNN_RETURN_IF_META(state);
  if (finput->data == NULL || input->data == NULL) return;
  const Im2col windows = THNN_(unfoldingWindows)(&g, finput, input);
  THNN_(im2col)(state, &windows);
}

void THNN_(unfolded_acc)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH, int padW, int padH,
                         int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = THNN_lastState();
  Convolution g;
  check(state, &g, finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight, outputWidth,
        outputHeight);
  THNN_CHECK_DISTINCT_ADDRESSES(input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(input, finput);
  THNN_RETURN_IF_META(state);
  if (finput->data == NULL || input->data == NULL) return;
  const Im2col windows = THNN_(unfoldingWindows)(&g, finput, input);
  THNN_(col2im)(state, &windows, true);
}
