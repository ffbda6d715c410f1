#ifndef THNN_BATCH_NORM_VECTORS_H
#define THNN_BATCH_NORM_VECTORS_H

/* Vectors of elements and of coefficients: the formulas of batch normalization, VL lanes at a time. */

#include "batch_norm/tile.h"

/* Coefficients in lanes: of VL adjacent channels, or of one channel in all lanes. */
typedef struct CoefficientLanes {
  vreal mean, scale, bias, slope, constant;
} CoefficientLanes;

/* Channels c to c + n - 1 of the tile. */
static ALWAYS_INLINE CoefficientLanes adjacentChannels(const Coefficients *k, int64_t c, int n)
{
  const CoefficientLanes lanes = {loadLanes(k->mean + c, n), loadLanes(k->scale + c, n), loadLanes(k->bias + c, n),
                                  loadLanes(k->slope + c, n), loadLanes(k->constant + c, n)};
  return lanes;
}

/* Channel c of the tile. */
static ALWAYS_INLINE CoefficientLanes oneChannel(const Coefficients *k, int64_t c)
{
  const CoefficientLanes lanes = {v_set1(k->mean[c]), v_set1(k->scale[c]), v_set1(k->bias[c]), v_set1(k->slope[c]),
                                  v_set1(k->constant[c])};
  return lanes;
}

static ALWAYS_INLINE vreal normalizeLanes(vreal x, CoefficientLanes k) { return (x - k.mean) * k.scale + k.bias; }

/* The gradient of relu with output y: g where y > 0. NaN passes, as it does in relu and in torch. */
static ALWAYS_INLINE vreal reluGradient(vreal g, vreal y)
{
  const vreal zero = {0};
  return v_sel(v_le(y, zero), zero, g);
}

/* The gradient of the normalized value: g, or with relu the gradient of relu. */
static ALWAYS_INLINE vreal gradientLanes(vreal g, vreal x, CoefficientLanes k, bool relu)
{
  return relu ? reluGradient(g, normalizeLanes(x, k)) : g;
}

#endif
