#ifndef THNN_CONVOLUTION_DEPTHWISE_H
#define THNN_CONVOLUTION_DEPTHWISE_H

#include "convolution/correlation.h"

/* Depthwise convolution in channels-last layout: correlations whose groups have few channels. Vectorising the output
   channels of a group would leave most lanes empty, and adjacent positions are not contiguous; channels of several groups
   are vectorised. For channels-first layout see direct.h. */

/* True if a correlation is such a convolution and its sums are short enough. */
bool THNN_(depthwiseSuits)(const Correlation *correlation);

/* target = bias + the sum over channels and kernel elements. */
void THNN_(depthwiseCorrelate)(const Correlation *correlation);

/* weight += scale * its gradient. */
void THNN_(depthwiseGradWeight)(const Correlation *correlation, real scale);

#endif
