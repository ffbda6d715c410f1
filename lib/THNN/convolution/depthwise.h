#ifndef THNN_CONVOLUTION_DEPTHWISE_H
#define THNN_CONVOLUTION_DEPTHWISE_H

#include "convolution/packing.h"

/* Correlations whose groups have few channels and outputs, as in the depthwise convolutions, of images whose planes
   are innermost in memory. Output channels would leave most lanes empty, and neighbouring positions are far apart:
   lanes are the planes of as many groups as fill a vector. few.h has the images whose planes lie apart.

   Sums longer than DEPTHWISE_TERMS are left to the others. */

/* Whether a correlation is one. */
bool THNN_(depthwise_is)(const Correlation *correlation);

/* target = bias + the sum over channels and taps. */
void THNN_(depthwise_correlate)(const Correlation *correlation);

/* weight += scale * its gradient. */
void THNN_(depthwise_gradWeight)(const Correlation *correlation, real scale);

#endif
