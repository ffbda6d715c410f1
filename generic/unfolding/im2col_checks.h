#ifndef THNN_GENERIC_UNFOLDING_IM2COL_CHECKS_H
#define THNN_GENERIC_UNFOLDING_IM2COL_CHECKS_H

/* What Im2Col and Col2Im share, which are each other's gradient. Here dH and dW are dilations, sH and sW strides. */

#include "unfolding/unfold.h"

/* Fills the geometry of windows on images of these sizes; `name` is the argument that gives them. */
static void checkWindows(THNNState *state, Convolution *g, const char *name, int64_t batch, int64_t planes,
                         int64_t height, int64_t width, int kH, int kW, int dH, int dW, int padH, int padW, int sH,
                         int sW)
{
  thnn_checkAtLeast(state, "kH", kH, 1);
  thnn_checkAtLeast(state, "kW", kW, 1);
  thnn_checkAtLeast(state, "dH", dH, 1);
  thnn_checkAtLeast(state, "dW", dW, 1);
  thnn_checkAtLeast(state, "padH", padH, 0);
  thnn_checkAtLeast(state, "padW", padW, 0);
  thnn_checkAtLeast(state, "sH", sH, 1);
  thnn_checkAtLeast(state, "sW", sW, 1);
  THNN_RETURN_IF_FAILED(state);
  *g = unfoldGeometry(batch, planes, height, width, kH, kW, sH, sW, padH, padW, dH, dW);
  slide(state, g, name);
}

/* images (N, C, H, W) or (C, H, W) to columns (N, C*kH*kW, L) or (C*kH*kW, L) */
static void unfoldImages(THNNState *state, const char *imagesName, THTensor *images, const char *columnsName,
                         THTensor *columns, int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  if (images->ndim != 3 && images->ndim != 4)
    return THNN_fail(state, THNN_VALUE_ERROR, imagesName, "expected 4 dimensions (N, C, H, W) or 3, got %s",
                     THNN_shape(images));
  const int64_t *size = images->size + (images->ndim - 3);
  if (size[0] < 1 || size[1] < 1 || size[2] < 1)
    return THNN_fail(state, THNN_VALUE_ERROR, imagesName, "expected no empty dimension but N, got %s",
                     THNN_shape(images));
  Convolution g;
  checkWindows(state, &g, imagesName, images->ndim == 4 ? images->size[0] : 1, size[0], size[1], size[2], kH, kW,
               dH, dW, padH, padW, sH, sW);
  THNN_RETURN_IF_FAILED(state);
  int64_t columnsSize[3];
  sizeOfColumns(state, &g, imagesName, columnsSize);
  THNN_resize(state, columnsName, columns, images->ndim - 1, columnsSize + (4 - images->ndim), THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  if (THNN_overlaps(columns, images, false))
    THNN_fail(state, THNN_VALUE_ERROR, columnsName, "must not share memory with %s", imagesName);
  THNN_RETURN_IF_META(state);
  const Taps taps = columnsTaps(&g, columns, images);
  THNN_(taps_unfold)(&taps);
}

/* columns (N, C*kH*kW, L) or (C*kH*kW, L) to images (N, C, height, width) or (C, height, width) */
static void foldColumns(THNNState *state, const char *columnsName, THTensor *columns, const char *imagesName,
                        THTensor *images, const char *heightName, int height, const char *widthName, int width,
                        int kH, int kW, int dH, int dW, int padH, int padW, int sH, int sW)
{
  if (columns->ndim != 2 && columns->ndim != 3)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName,
                     "expected 3 dimensions (N, C * kH * kW, L) or 2, got %s", THNN_shape(columns));
  thnn_checkAtLeast(state, heightName, height, 1);
  thnn_checkAtLeast(state, widthName, width, 1);
  thnn_checkAtLeast(state, "kH", kH, 1);
  thnn_checkAtLeast(state, "kW", kW, 1);
  THNN_RETURN_IF_FAILED(state);
  const int64_t *size = columns->size + (columns->ndim - 2), batch = columns->ndim == 3 ? columns->size[0] : 1,
                area = (int64_t)kH * kW;
  if (size[0] < 1 || size[0] % area != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName, "expected a multiple of kH * kW = %lld rows, got %s",
                     (long long)area, THNN_shape(columns));
  Convolution g;
  checkWindows(state, &g, columnsName, batch, size[0] / area, height, width, kH, kW, dH, dW, padH, padW, sH, sW);
  THNN_RETURN_IF_FAILED(state);
  if (size[1] != g.axis[1].output * g.axis[2].output)
    return THNN_fail(state, THNN_VALUE_ERROR, columnsName, "expected %lld * %lld columns, one per window, got %s",
                     (long long)g.axis[1].output, (long long)g.axis[2].output, THNN_shape(columns));
  int64_t elements = (int64_t)sizeof(real);
  const int64_t imagesSize[4] = {batch, g.inputChannels, height, width};
  bool fits = true;
  for (int d = 0; d < 4; d++)
    fits = fits && !__builtin_mul_overflow(elements, imagesSize[d] > 1 ? imagesSize[d] : 1, &elements);
  if (!fits)
    return THNN_fail(state, THNN_VALUE_ERROR, heightName, "more than memory can hold, images %s",
                     THNN_shapeOf(4, imagesSize));
  THNN_resize(state, imagesName, images, columns->ndim + 1, imagesSize + (3 - columns->ndim), THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  if (THNN_overlaps(images, columns, false))
    THNN_fail(state, THNN_VALUE_ERROR, imagesName, "must not share memory with %s", columnsName);
  THNN_RETURN_IF_META(state);
  const Taps taps = columnsTaps(&g, columns, images);
  THNN_(taps_fold)(&taps, false);
}

#endif
