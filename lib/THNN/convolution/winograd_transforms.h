#ifndef THNN_CONVOLUTION_WINOGRAD_TRANSFORMS_H
#define THNN_CONVOLUTION_WINOGRAD_TRANSFORMS_H

#include "runtime/kernel.h"

/* The transforms of F(2,3) and F(3,2) along one axis, each for VL channels. Applied to the columns and then to the rows
   of a square they are the transforms of F(2x2,3x3) and F(3x3,2x2). Elements of an operand are `stride` vectors apart.

     source     4 coordinates  -> 4 components   d0 - d2, d1 + d2, d2 - d1, d1 - d3
     filter     3 elements     -> 4 components   g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2
     target     4 components   -> 2 positions    m0 + m1 + m2, m1 - m2 - m3
     gradient   2 positions    -> 4 components   y0, y0 + y1, y0 - y1, y1
     gradWeight 4 components   -> 3 elements     m0 + (m1 + m2) / 2, (m1 - m2) / 2, (m1 + m2) / 2 - m3

   F(3,2) halves the components of gradWeight rather than those of the gradients, which are computed more often. */

#define WINOGRAD_TRANSFORM static inline __attribute__((always_inline)) void

WINOGRAD_TRANSFORM winogradSource(const vreal *d, const int stride, vreal *component, const int to)
{
  component[0] = d[0] - d[2 * stride];
  component[to] = d[stride] + d[2 * stride];
  component[2 * to] = d[2 * stride] - d[stride];
  component[3 * to] = d[stride] - d[3 * stride];
}

WINOGRAD_TRANSFORM winogradFilter(const vreal *g, const int stride, vreal *component, const int to)
{
  const vreal outer = (real)0.5 * g[0] + (real)0.5 * g[2 * stride], middle = (real)0.5 * g[stride];
  component[0] = g[0];
  component[to] = outer + middle;
  component[2 * to] = outer - middle;
  component[3 * to] = g[2 * stride];
}

WINOGRAD_TRANSFORM winogradTarget(const vreal *m, const int stride, vreal *position, const int to)
{
  position[0] = m[0] + (m[stride] + m[2 * stride]);
  position[to] = (m[stride] - m[2 * stride]) - m[3 * stride];
}

WINOGRAD_TRANSFORM winogradGradient(const vreal *y, const int stride, vreal *component, const int to)
{
  component[0] = y[0];
  component[to] = y[0] + y[stride];
  component[2 * to] = y[0] - y[stride];
  component[3 * to] = y[stride];
}

WINOGRAD_TRANSFORM winogradGradWeight(const vreal *m, const int stride, vreal *element, const int to)
{
  const vreal outer = (real)0.5 * (m[stride] + m[2 * stride]);
  element[0] = m[0] + outer;
  element[to] = (real)0.5 * (m[stride] - m[2 * stride]);
  element[2 * to] = outer - m[3 * stride];
}

#endif
