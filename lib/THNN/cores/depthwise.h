/* Correlations whose groups have few channels and outputs: the depthwise convolutions. Output channels would leave
   most lanes empty here, so lanes are neighbouring positions, or groups where these are neighbours in memory.

   Sums longer than GEMM_DEPTH are left to the others.

   Included once per element type, after patches.h. */

#define DEPTHWISE_OUTPUTS 4 /* at most */

/* Whether a correlation is one. */
bool THNN_(depthwise_is)(const V_(correlation) *correlation);

/* target = bias + the sum over channels and taps. */
void THNN_(depthwise_correlate)(const V_(correlation) *correlation);

/* weight += scale * its gradient. */
void THNN_(depthwise_gradWeight)(const V_(correlation) *correlation, real scale);
