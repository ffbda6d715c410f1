#ifndef THNN_IM2COL_IM2COL_H
#define THNN_IM2COL_IM2COL_H

#include "convolution/convolution.h"

/* What sliding windows see, plane by plane: columns for unfolding, and gradients of subsampling's weights.

   A window slides over `large` planes and leaves `small` ones, as many. Along each axis, position q of a small plane
   sees for tap k the coordinate x = q * stride + k * dilation - padding of a large one, if that exists. A small plane may
   have a place of its own for each tap: then it is a matrix of columns.

   Nothing in here looks at a tensor or fails. */

typedef struct TapAxis {
  WindowAxis window;                      /* from large (its input) to small (its output) */
  int64_t smallStep, largeStep, smallTap; /* in memory, per coordinate and per tap */
} TapAxis;

typedef struct Taps {
  TapAxis axis[4]; /* the last one has the lanes */
  int64_t batch;
  int64_t smallBatch, largeBatch, smallPlane, largePlane; /* strides */
  int64_t planes;
  void *small, *large, *weight;
  int64_t weightPlane, weightLane; /* strides; one of them is 0 */
} Taps;

/* The tap that each of these positions sees exists: *low <= q < *high. */
static inline void tap_positions(const TapAxis *a, int64_t k, int64_t *low, int64_t *high)
{
  const WindowAxis *w = &a->window;
  const int64_t first = k * w->dilation - w->padding, room = w->input - first; /* x = q * stride + first */
  *low = first >= 0 ? 0 : w->stride == 1 ? -first : (-first + w->stride - 1) / w->stride;
  *high = room <= 0 ? 0 : w->stride == 1 ? room : (room + w->stride - 1) / w->stride;
  if (*high > w->output) *high = w->output;
  if (*low > *high) *low = *high;
}

/* The windows of a convolution from `large` (its input) to `small` (its output); the weights are left to fill. */
Taps THNN_(taps_make)(const Convolution *geometry, ConvolutionView small, ConvolutionView large);

/* weight[p] += scale * sum over n, q, k of small[n,p,q] * large[n,p,x] */
void THNN_(taps_weight)(const Taps *taps, real scale);

/* small[n,a,k,q] = large[n,a,x], 0 where x does not exist. */
void THNN_(taps_unfold)(const Taps *taps);
/* large[n,a,x] = the sum of all small[n,a,k,q] that see x, added to what is there if `add`. */
void THNN_(taps_fold)(const Taps *taps, bool add);

#endif
