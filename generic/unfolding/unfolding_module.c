#include "unfolding/unfolding_module.h"

#include "convolution/geometry_checks.h"
#include "runtime/pieces.h"

Convolution THNN_(unfoldingGeometry)(int64_t batch, int64_t channels, int64_t height, int64_t width,
                                     UnfoldingWindow w)
{
  Convolution g = convolutionMake(2);
  g.batch = batch;
  g.inputChannels = g.outputChannels = channels;
  g.axis[1] = (WindowAxis){
      .input = height, .kernel = w.kH, .stride = w.strideH, .padding = w.padH, .dilation = w.dilationH};
  g.axis[2] = (WindowAxis){
      .input = width, .kernel = w.kW, .stride = w.strideW, .padding = w.padW, .dilation = w.dilationW};
  return g;
}

void THNN_(unfoldingCheckColumns)(THNNState *state, const Convolution *g, const char *name, int64_t *size)
{
  int64_t bytes = (int64_t)sizeof(real);
  size[0] = g->batch;
  size[2] = g->axis[1].output * g->axis[2].output;
  bool fits = !__builtin_mul_overflow(g->inputChannels, g->axis[1].kernel, &size[1]) &&
              !__builtin_mul_overflow(size[1], g->axis[2].kernel, &size[1]);
  for (int d = 0; d < 3; d++) fits = fits && !__builtin_mul_overflow(bytes, size[d] > 1 ? size[d] : 1, &bytes);
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, name,
              "the columns would be larger than memory can hold: %lld channels, kernel %lld x %lld",
              (long long)g->inputChannels, (long long)g->axis[1].kernel, (long long)g->axis[2].kernel);
}

Im2col THNN_(unfoldingWindows)(const Convolution *g, const THTensor *columns, const THTensor *images)
{
  const int64_t row = columns->stride[columns->ndim - 2], position = columns->stride[columns->ndim - 1];
  const ConvolutionView view = {.data = columns->data,
                                .stride = {columns->ndim == 3 ? columns->stride[0] : 0,
                                           g->axis[1].kernel * g->axis[2].kernel * row, 0,
                                           g->axis[2].output * position, position}};
  Im2col windows = im2colMake(g, THNN_(convolutionImageView)(images), view);
  windows.kernelStride[2] = g->axis[2].kernel * row;
  windows.kernelStride[3] = row;
  return windows;
}

/* Checks the window and sets the geometry. Errors name the argument `name`. */
static void checkWindows(THNNState *state, Convolution *g, const char *name, int64_t batch, int64_t channels,
                         int64_t height, int64_t width, UnfoldingWindow w)
{
  thnn_checkAtLeast(state, "kH", w.kH, 1);
  thnn_checkAtLeast(state, "kW", w.kW, 1);
  thnn_checkAtLeast(state, "dH", w.dilationH, 1);
  thnn_checkAtLeast(state, "dW", w.dilationW, 1);
  thnn_checkAtLeast(state, "padH", w.padH, 0);
  thnn_checkAtLeast(state, "padW", w.padW, 0);
  thnn_checkAtLeast(state, "sH", w.strideH, 1);
  thnn_checkAtLeast(state, "sW", w.strideW, 1);
  THNN_RETURN_IF_FAILED(state);
  *g = THNN_(unfoldingGeometry)(batch, channels, height, width, w);
  THNN_(convolutionCheckOutput)(state, g, name);
}

/* The geometry with the images of a piece. */
static Convolution ofPiece(const Convolution *g, const THTensor *images)
{
  Convolution piece = *g;
  piece.batch = images->ndim == 4 ? images->size[0] : 1;
  return piece;
}

void THNN_(imagesToColumns)(THNNState *state, const char *imagesName, THTensor *images, const char *columnsName,
                            THTensor *columns, UnfoldingWindow w)
{
  if (images->ndim != 3 && images->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, imagesName, "expected 4 dimensions (N, C, H, W) or 3, got %s",
                     THNN_shape(images));
  const int64_t *size = images->size + (images->ndim - 3);
  if (size[0] < 1 || size[1] < 1 || size[2] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, imagesName, "expected no empty dimension but N, got %s",
                     THNN_shape(images));
  Convolution g;
  checkWindows(state, &g, imagesName, images->ndim == 4 ? images->size[0] : 1, size[0], size[1], size[2], w);
  THNN_RETURN_IF_FAILED(state);
  int64_t columnsSize[3];
  THNN_(unfoldingCheckColumns)(state, &g, imagesName, columnsSize);
  THNN_resize(state, columnsName, columns, images->ndim - 1, columnsSize + (4 - images->ndim), THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  if (THNN_overlaps(columns, images, false))
    THNN_fail(state, THNN_VALUE_ERROR, columnsName, "must not share memory with %s", imagesName);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(images), THNN_WRITTEN(columns)};
  THNN_BY_PIECES(state, t, images->ndim - 3, tensors, {
    const Convolution piece = ofPiece(&g, t[0]);
    const Im2col windows = THNN_(unfoldingWindows)(&piece, t[1], t[0]);
    THNN_(im2col)(state, &windows);
  });
}

void THNN_(columnsToImages)(THNNState *state, const char *columnsName, THTensor *columns, const char *imagesName,
                            THTensor *images, const char *heightName, int height, const char *widthName, int width,
                            UnfoldingWindow w)
{
  if (columns->ndim != 2 && columns->ndim != 3)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName,
                     "expected 3 dimensions (N, C * kH * kW, L) or 2, got %s", THNN_shape(columns));
  thnn_checkAtLeast(state, heightName, height, 1);
  thnn_checkAtLeast(state, widthName, width, 1);
  thnn_checkAtLeast(state, "kH", w.kH, 1);
  thnn_checkAtLeast(state, "kW", w.kW, 1);
  THNN_RETURN_IF_FAILED(state);
  const int64_t *size = columns->size + (columns->ndim - 2), batch = columns->ndim == 3 ? columns->size[0] : 1,
                area = (int64_t)w.kH * w.kW;
  if (size[0] < 1 || size[0] % area != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName, "expected a multiple of kH * kW = %lld rows, got %s",
                     (long long)area, THNN_shape(columns));
  Convolution g;
  checkWindows(state, &g, columnsName, batch, size[0] / area, height, width, w);
  THNN_RETURN_IF_FAILED(state);
  if (size[1] != g.axis[1].output * g.axis[2].output)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName, "expected %lld * %lld columns, one per window, got %s",
                     (long long)g.axis[1].output, (long long)g.axis[2].output, THNN_shape(columns));
  int64_t bytes = (int64_t)sizeof(real);
  const int64_t imagesSize[4] = {batch, g.inputChannels, height, width};
  bool fits = true;
  for (int d = 0; d < 4; d++)
    fits = fits && !__builtin_mul_overflow(bytes, imagesSize[d] > 1 ? imagesSize[d] : 1, &bytes);
  if (!fits)
    return THNN_fail(state, THNN_VALUE_ERROR, heightName, "the images would be larger than memory can hold: %s",
                     THNN_shapeOf(4, imagesSize));
  THNN_resize(state, imagesName, images, columns->ndim + 1, imagesSize + (3 - columns->ndim), THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  if (THNN_overlaps(images, columns, false))
    THNN_fail(state, THNN_VALUE_ERROR, imagesName, "must not share memory with %s", columnsName);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(columns), THNN_WRITTEN(images)};
  THNN_BY_PIECES(state, t, columns->ndim - 2, tensors, {
    const Convolution piece = ofPiece(&g, t[1]);
    const Im2col windows = THNN_(unfoldingWindows)(&piece, t[0], t[1]);
    THNN_(col2im)(state, &windows, false);
  });
}
