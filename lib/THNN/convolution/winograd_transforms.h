#ifndef THNN_CONVOLUTION_WINOGRAD_TRANSFORMS_H
#define THNN_CONVOLUTION_WINOGRAD_TRANSFORMS_H

#include "runtime/kernel.h"

/* The transforms along one axis, each for VL channels. Applied to the columns and then to the rows of a square they are
   the transforms of F(2x2,3x3), for output and gradInput, and of F(3x3,mxm), for gradWeight, m = 2 or 4. Elements of an
   operand are `stride` vectors apart, elements of the result `to` vectors.

   With m = 2 the interpolation points are 0, 1, -1 and infinity:

     source     4 coordinates  -> 4 components   d0 - d2, d1 + d2, d2 - d1, d1 - d3
     filter     3 elements     -> 4 components   g0, (g0 + g1 + g2) / 2, (g0 - g1 + g2) / 2, g2
     target     4 components   -> 2 positions    m0 + m1 + m2, m1 - m2 - m3
     gradient   2 positions    -> 4 components   y0, y0 + y1, y0 - y1, y1
     gradWeight 4 components   -> 3 elements     m0 + (m1 + m2) / 2, (m1 - m2) / 2, (m1 + m2) / 2 - m3

   gradWeight halves the components of the sum rather than the components of the gradients, which are computed more
   often. With m = 4 the points are 0, p, -p, q, -q and infinity, p = sqrt(1/2) and q = sqrt(2), which have the smallest
   rounding errors of all +-p, +-q; docs/convolution.md compares these errors with torch's. */

#define WINOGRAD_TRANSFORM static ALWAYS_INLINE void

#define WINOGRAD_P ((real)0.70710678118654752440)
#define WINOGRAD_Q ((real)1.41421356237309504880)

/* m + 2 coordinates to m + 2 components. */
WINOGRAD_TRANSFORM winogradSource(const int m, const vreal *d, const int stride, vreal *component, const int to)
{
  if (m == 2) {
    component[0] = d[0] - d[2 * stride];
    component[to] = d[stride] + d[2 * stride];
    component[2 * to] = d[2 * stride] - d[stride];
    component[3 * to] = d[stride] - d[3 * stride];
  } else {
    const vreal d1 = d[stride], d2 = d[2 * stride], d3 = d[3 * stride], d4 = d[4 * stride];
    const vreal evenP = d4 - 2 * d2, oddP = WINOGRAD_P * (d3 - 2 * d1);
    const vreal evenQ = d4 - (real)0.5 * d2, oddQ = WINOGRAD_Q * (d3 - (real)0.5 * d1);
    component[0] = (d[0] + d4) - (real)2.5 * d2;
    component[to] = evenP + oddP;
    component[2 * to] = evenP - oddP;
    component[3 * to] = evenQ + oddQ;
    component[4 * to] = evenQ - oddQ;
    component[5 * to] = (d1 + d[5 * stride]) - (real)2.5 * d3;
  }
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

/* m positions to m + 2 components. */
WINOGRAD_TRANSFORM winogradGradient(const int m, const vreal *y, const int stride, vreal *component, const int to)
{
  component[0] = y[0];
  if (m == 2) {
    component[to] = y[0] + y[stride];
    component[2 * to] = y[0] - y[stride];
  } else {
    const vreal evenP = y[0] + (real)0.5 * y[2 * stride], evenQ = y[0] + 2 * y[2 * stride];
    const vreal oddP = WINOGRAD_P * (y[stride] + (real)0.5 * y[3 * stride]),
                oddQ = WINOGRAD_Q * (y[stride] + 2 * y[3 * stride]);
    component[to] = evenP + oddP;
    component[2 * to] = evenP - oddP;
    component[3 * to] = evenQ + oddQ;
    component[4 * to] = evenQ - oddQ;
  }
  component[(m + 1) * to] = y[(m - 1) * stride];
}

/* m + 2 components to 3 kernel elements. */
WINOGRAD_TRANSFORM winogradGradWeight(const int m, const vreal *c, const int stride, vreal *element, const int to)
{
  const vreal plus = c[stride] + c[2 * stride], minus = c[stride] - c[2 * stride];
  if (m == 2) {
    const vreal half = (real)0.5 * plus;
    element[0] = c[0] + half;
    element[to] = (real)0.5 * minus;
    element[2 * to] = half - c[3 * stride];
  } else {
    /* The factors of the points are -2/3 for +-p and 1/6 for +-q. */
    const vreal plusP = (real)(-2. / 3) * plus, minusP = (real)(-2. / 3) * minus;
    const vreal plusQ = (real)(1. / 6) * (c[3 * stride] + c[4 * stride]),
                minusQ = (real)(1. / 6) * (c[3 * stride] - c[4 * stride]);
    element[0] = c[0] + (plusP + plusQ);
    element[to] = WINOGRAD_P * minusP + WINOGRAD_Q * minusQ;
    element[2 * to] = c[5 * stride] + ((real)0.5 * plusP + 2 * plusQ);
  }
}

#endif
