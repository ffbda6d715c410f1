#ifndef THNN_GENERIC_UNFOLDING_UNFOLDING_MODULE_H
#define THNN_GENERIC_UNFOLDING_UNFOLDING_MODULE_H

#include "im2col/im2col.h"

/* Im2Col, Col2Im and the unfolded functions: images (C, H, W) and their columns (C * kH * kW, oH * oW), both with or
   without a batch dimension. */

/* The geometry of a window in height and width. */
typedef struct UnfoldingWindow {
  int kH, kW, strideH, strideW, padH, padW, dilationH, dilationW;
} UnfoldingWindow;

/* The geometry without output sizes, which convolutionCheckOutput sets. */
Convolution THNN_(unfoldingGeometry)(int64_t batch, int64_t channels, int64_t height, int64_t width,
                                     UnfoldingWindow window);

/* Sets the size of the columns, batch first. Fails if they exceed memory; errors name the argument `name`. */
void THNN_(unfoldingCheckColumns)(THNNState *state, const Convolution *geometry, const char *name, int64_t *size);

/* The windows between images and columns, for im2col and col2im. */
Im2col THNN_(unfoldingWindows)(const Convolution *geometry, const THTensor *columns, const THTensor *images);

/* Im2Col, and the gradient of Col2Im. Errors name the arguments imagesName and columnsName; they call strides sH and
   sW, dilations dH and dW. */
void THNN_(imagesToColumns)(THNNState *state, const char *imagesName, THTensor *images, const char *columnsName,
                            THTensor *columns, UnfoldingWindow window);

/* Col2Im, and the gradient of Im2Col. */
void THNN_(columnsToImages)(THNNState *state, const char *columnsName, THTensor *columns, const char *imagesName,
                            THTensor *images, const char *heightName, int height, const char *widthName, int width,
                            UnfoldingWindow window);

#endif
