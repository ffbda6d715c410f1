#include "modules/unfolded.h"
#include "unfolding/unfold.h"

/* There is no state to pass: errors are in that of the thread, and a tensor without memory is a meta tensor or empty,
   with nothing to do in either case. */

/* Checks what both functions have in common and fills the geometry. */
static void checkUnfolded(THNNState *state, Convolution *g, const THTensor *finput, const THTensor *input, int kW,
                          int kH, int dW, int dH, int padW, int padH, int nInputPlane, int inputWidth,
                          int inputHeight, int outputWidth, int outputHeight)
{
  const int64_t images[3] = {nInputPlane, inputHeight, inputWidth};
  if (input->ndim != 3 || memcmp(input->size, images, sizeof images) != 0)
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
  *g = unfoldGeometry(1, nInputPlane, inputHeight, inputWidth, kH, kW, dH, dW, padH, padW, 1, 1);
  slide(state, g, "input");
  THNN_RETURN_IF_FAILED(state);
  if (g->axis[2].output != outputWidth)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputWidth", "expected %lld, got %d", (long long)g->axis[2].output,
                     outputWidth);
  if (g->axis[1].output != outputHeight)
    return THNN_fail(state, THNN_VALUE_ERROR, "outputHeight", "expected %lld, got %d",
                     (long long)g->axis[1].output, outputHeight);
  int64_t columns[3];
  sizeOfColumns(state, g, "input", columns);
  if (finput->ndim != 2 || memcmp(finput->size, columns + 1, 2 * sizeof *columns) != 0)
    THNN_fail(state, THNN_VALUE_ERROR, "finput",
              "expected (nInputPlane * kH * kW, outputHeight * outputWidth), %s, got %s",
              THNN_shapeOf(2, columns + 1), THNN_shape(finput));
}

void THNN_(unfolded_copy)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH, int padW, int padH,
                          int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = THNN_lastState();
  Convolution g;
  checkUnfolded(state, &g, finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight,
                outputWidth, outputHeight);
  THNN_RESIZE_LIKE(finput, finput); /* has its size; two elements at one address are refused */
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(finput, input);
  if (finput->data == NULL || input->data == NULL) return;
  const Taps taps = columnsTaps(&g, finput, input);
  THNN_(taps_unfold)(&taps);
}

void THNN_(unfolded_acc)(THTensor *finput, THTensor *input, int kW, int kH, int dW, int dH, int padW, int padH,
                         int nInputPlane, int inputWidth, int inputHeight, int outputWidth, int outputHeight)
{
  THNNState *state = THNN_lastState();
  Convolution g;
  checkUnfolded(state, &g, finput, input, kW, kH, dW, dH, padW, padH, nInputPlane, inputWidth, inputHeight,
                outputWidth, outputHeight);
  THNN_RESIZE_LIKE(input, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(input, finput);
  if (finput->data == NULL || input->data == NULL) return;
  const Taps taps = columnsTaps(&g, finput, input);
  THNN_(taps_fold)(&taps, true);
}
