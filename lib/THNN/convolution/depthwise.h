/* Correlations whose groups have few channels and outputs, as in the depthwise convolutions, of images whose planes
   are innermost in memory. Output channels would leave most lanes empty, and neighbouring positions are far apart:
   lanes are the planes of as many groups as fill a vector. few.h has the images whose planes lie apart.

   Sums longer than DEPTHWISE_TERMS are left to the others.

   Included once per element type, after patches.h. */

/* Whether a correlation is one. */
bool THNN_(depthwise_is)(const V_(correlation) *correlation);

/* target = bias + the sum over channels and taps. */
void THNN_(depthwise_correlate)(const V_(correlation) *correlation);

/* weight += scale * its gradient. */
void THNN_(depthwise_gradWeight)(const V_(correlation) *correlation, real scale);
