#ifndef THNN_GENERIC_CONVOLUTION_GEOMETRY_CHECKS_H
#define THNN_GENERIC_CONVOLUTION_GEOMETRY_CHECKS_H

#include "convolution/convolution.h"

/* Shared by modules whose windows slide over images but that do not use ConvolutionModule: connection tables, locally
   connected layers, subsampling, unfolding.

   Larger code that modules of a family share is compiled, once per element type and instruction set, in files
   <name>_module.c, or <name>_checks.c if it mostly checks, and in batch_norm_fused.c. It is not static in a header: no
   module carries a copy, and profilers and debuggers show one symbol for it. */

/* Sets the output sizes of a Convolution whose other fields are checked. Fails if no window fits into an axis or if
   the output exceeds memory; errors name the argument `name`. */
void THNN_(convolutionCheckOutput)(THNNState *state, Convolution *geometry, const char *name);

/* The view of images (N, C, H, W) or (C, H, W). */
ConvolutionView THNN_(convolutionImageView)(const THTensor *images);

#endif
