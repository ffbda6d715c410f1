#ifndef THNN_BATCH_NORM_VECTORS_H
#define THNN_BATCH_NORM_VECTORS_H

/* Vectors of elements and of coefficients: the formulas of batch normalization, VL lanes at a time. */

#include "batch_norm/tile.h"

/* Coefficients in lanes: of VL adjacent channels, or of one channel in all lanes. */
typedef struct CoefficientLanes {
  vreal mean, scale, bias, slope, constant, limit;
} CoefficientLanes;

/* Channels c to c + n - 1 of the tile. */
static ALWAYS_INLINE CoefficientLanes adjacentChannels(const Coefficients *k, int64_t c, int n)
{
  const CoefficientLanes lanes = {loadLanes(k->mean + c, n),     loadLanes(k->scale + c, n),
                                  loadLanes(k->bias + c, n),     loadLanes(k->slope + c, n),
                                  loadLanes(k->constant + c, n), v_set1(k->limit)};
  return lanes;
}

/* Channel c of the tile. */
static ALWAYS_INLINE CoefficientLanes oneChannel(const Coefficients *k, int64_t c)
{
  const CoefficientLanes lanes = {v_set1(k->mean[c]),  v_set1(k->scale[c]),    v_set1(k->bias[c]),
                                  v_set1(k->slope[c]), v_set1(k->constant[c]), v_set1(k->limit)};
  return lanes;
}

static ALWAYS_INLINE vreal normalizeLanes(vreal x, CoefficientLanes k) { return (x - k.mean) * k.scale + k.bias; }

static ALWAYS_INLINE vreal activate(vreal y, CoefficientLanes k, Activation activation)
{
  const vreal zero = {0};
  if (activation == IDENTITY) return y;
  return activation == RELU ? v_max(zero, y) : v_min(k.limit, v_max(zero, y));
}

/* The gradient of the activation with input y: g between the bounds, 0 at the bounds and beyond. NaN passes, as it does
   in the activation. */
static ALWAYS_INLINE vreal activationGradient(vreal g, vreal y, CoefficientLanes k, Activation activation)
{
  const vreal zero = {0};
  if (activation == IDENTITY) return g;
  return v_sel(activation == RELU ? v_le(y, zero) : m_or(v_le(y, zero), v_le(k.limit, y)), zero, g);
}

/* The gradient of the normalized value. */
static ALWAYS_INLINE vreal gradientLanes(vreal g, vreal x, CoefficientLanes k, Activation activation)
{
  return activationGradient(g, normalizeLanes(x, k), k, activation);
}

#endif
