#ifndef THNN_CONVOLUTION_DEPTHWISE_H
#define THNN_CONVOLUTION_DEPTHWISE_H

#include "convolution/correlation.h"

/* Depthwise and other convolutions whose groups have few channels, in channels-last layout. Vectorising the output
   channels of one group would leave most lanes empty, and adjacent positions are not contiguous, so the channels of
   several groups are vectorized. For channels-first layout see depthwise_planes.h and direct.h. */

/* True if a correlation is of this kind and its sums are short enough. */
bool THNN_(depthwiseSuits)(const Correlation *correlation);

/* As depthwiseSuits, without the condition on the layout. */
bool THNN_(depthwiseFillsVectors)(const Correlation *correlation);

/* The work of a product, for thnn_threads(). */
int64_t THNN_(depthwiseWork)(const Correlation *correlation);

/* target = bias + the sum over channels and kernel elements. */
void THNN_(depthwiseCorrelate)(const Correlation *correlation);

/* The pixels of gradInput that a kernel element reaches; fillUnreached writes the others. The arguments are those of
   correlateResidues. */
void THNN_(depthwiseGradInput)(const Correlation *backward, const Convolution *geometry, ConvolutionView weight,
                               ConvolutionView gradInput);

/* Accumulates scale * dL/dweight into correlation->weight. */
void THNN_(depthwiseGradWeight)(const Correlation *correlation, real scale);

#endif
