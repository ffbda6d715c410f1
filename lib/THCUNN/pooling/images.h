#ifndef THCUNN_POOLING_IMAGES_H
#define THCUNN_POOLING_IMAGES_H

/* Tensors seen as (N, C, D, H, W), as in lib/THNN/pooling/geometry.h, and the loop over their elements.

   `I` is the type of indices and offsets: int32_t where sizes and strides allow it, which needs a fraction of the
   instructions, otherwise int64_t. */

#include <type_traits>

#include "runtime/kernel.h"
#include "runtime/loops.h"
#include "runtime/window.h"

namespace thcunn
{
namespace pooling
{

/* An element of an image: the sample, the channel, and the position along each axis of the window. */
template <class I> struct Place {
  I n, c, x[WINDOW_AXES];
};

struct ImageShape {
  int64_t n, c, x[WINDOW_AXES];
  int64_t sn, sc, sx[WINDOW_AXES];

  int64_t count() const { return n * c * x[0] * x[1] * x[2]; }
  bool isChannelsLast() const { return c > 1 && sc == 1; }
};

/* The layout of a tensor by the number of axes of the window: (N, W, C), (N, C, H, W) or (N, C, D, H, W), with or
   without N. */
static inline ImageShape imageShape(int axes, const THNNTensor *t)
{
  static const int dimensions[WINDOW_AXES][5] = {{0, 4, 1}, {0, 1, 3, 4}, {0, 1, 2, 3, 4}};
  const int *dimension = dimensions[axes - 1] + (axes + 2 - t->ndim);
  int64_t size[5] = {1, 1, 1, 1, 1}, stride[5] = {0, 1, 0, 0, 0};
  for (int d = 0; d < t->ndim; d++) {
    size[dimension[d]] = t->size[d];
    stride[dimension[d]] = t->size[d] != 1 ? t->stride[d] : dimension[d] == 1;
  }
  return {size[0], size[1], {size[2], size[3], size[4]}, stride[0], stride[1], {stride[2], stride[3], stride[4]}};
}

/* True if 32 bits hold the number and the offset of each element. */
static inline bool isNarrow(const ImageShape &s)
{
  const int64_t limit = INT32_MAX;
  const int64_t size[5] = {s.n, s.c, s.x[0], s.x[1], s.x[2]}, stride[5] = {s.sn, s.sc, s.sx[0], s.sx[1], s.sx[2]};
  double count = 1, span = 0;
  for (int d = 0; d < 5; d++) {
    count *= (double)size[d];
    span += (double)size[d] * (double)(stride[d] < 0 ? -stride[d] : stride[d]);
  }
  return count < (double)limit && span < (double)limit;
}

template <class T, class I> struct Images {
  T *data;
  I sn, sc, sx[WINDOW_AXES];

  Images(T *data, const ImageShape &s)
      : data(data), sn((I)s.sn), sc((I)s.sc), sx{(I)s.sx[0], (I)s.sx[1], (I)s.sx[2]}
  {
  }
  __device__ T *plane(const Place<I> &p) const { return data + (p.n * sn + p.c * sc); }
  __device__ T *at(const Place<I> &p) const
  {
    return data + (p.n * sn + p.c * sc + p.x[0] * sx[0] + p.x[1] * sx[1] + p.x[2] * sx[2]);
  }
};

/* The elements of a tensor in the order of its memory: channels first or last. */
template <class I> struct ImageLoop {
  typename DivisorOf<I>::type size[4]; /* sizes of the inner loops, the innermost one last */
  bool isChannelsLast;

  ImageLoop(const ImageShape &s) : isChannelsLast(s.isChannelsLast())
  {
    for (int d = 0; d < 4; d++)
      size[d] = typename DivisorOf<I>::type(isChannelsLast ? (d < 3 ? s.x[d] : s.c) : (d == 0 ? s.c : s.x[d - 1]));
  }
  __device__ Place<I> at(I i) const
  {
    I index[5];
#pragma unroll
    for (int d = 3; d >= 0; d--) {
      const I q = size[d].quotient(i);
      index[d + 1] = i - q * (I)size[d].divisor;
      i = q;
    }
    if (isChannelsLast) return {i, index[4], {index[1], index[2], index[3]}};
    return {i, index[1], {index[2], index[3], index[4]}};
  }
};

} // namespace pooling
} // namespace thcunn

#endif
