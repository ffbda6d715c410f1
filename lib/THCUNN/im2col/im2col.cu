#include "im2col/im2col.h"

#include "runtime/loops.h"

namespace thcunn
{

/* im2col of images (height and width): a thread copies the elements that one window reads by one kernel row.
   Neighbouring threads have neighbouring windows, whose columns are neighbours in memory. */
template <class T> void copyWindows(THNNState *state, const Im2col &w)
{
  const WindowAxis rows = w.axis[2], columns = w.axis[3];
  Extents<5> loop; /* sample, channel, kernel row, position */
  loop.size[0] = w.batch;
  loop.size[1] = w.channels;
  loop.size[2] = rows.kernel;
  loop.size[3] = rows.output;
  loop.size[4] = columns.output;
  forEach(state, loop.count(), [=] __device__(int64_t i) {
    int64_t at[5];
    loop.indices(i, at);
    const int64_t h = at[3] * rows.stride - rows.padding + at[2] * rows.dilation;
    int64_t x = at[4] * columns.stride - columns.padding;
    const T *from = (const T *)w.image + at[0] * w.imageBatchStride + at[1] * w.imageChannelStride +
                    h * w.imageStride[2] + x * w.imageStride[3];
    T *to = (T *)w.columns + at[0] * w.columnBatchStride + at[1] * w.columnChannelStride +
            at[2] * w.kernelStride[2] + at[3] * w.columnStride[2] + at[4] * w.columnStride[3];
    const bool isRow = h >= 0 && h < rows.input;
    const int64_t step = columns.dilation * w.imageStride[3];
    for (int64_t k = 0; k < columns.kernel; k++, x += columns.dilation, from += step, to += w.kernelStride[3]) {
      T element;
      store(&element, 0);
      if (isRow && x >= 0 && x < columns.input) element = *from;
      *to = element;
    }
  });
}

static inline int64_t greatestCommonDivisor(int64_t a, int64_t b)
{
  while (b != 0) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* The kernel elements that read an input along an axis: output o and kernel element k with
   o * stride + k * dilation = input + padding. With g = gcd(stride, dilation), the solutions k are `kernelStep` =
   stride / g apart and their outputs `outputStep` = dilation / g. */
struct ReadingElements {
  WindowAxis axis;
  Divisor common, kernelStep, stride;
  int64_t outputStep;
  int64_t inverse; /* inverse of outputStep modulo kernelStep */

  /* Sets the first solution, whose output may not exist; false if there is no solution. */
  __device__ bool first(int64_t input, int64_t *k, int64_t *o) const
  {
    const int64_t shifted = input + axis.padding, quotient = common.quotient(shifted);
    if (quotient * common.divisor != shifted) return false;
    const int64_t rest = quotient - kernelStep.quotient(quotient) * kernelStep.divisor, product = rest * inverse;
    *k = product - kernelStep.quotient(product) * kernelStep.divisor;
    const int64_t distance = shifted - *k * axis.dilation;
    if (distance < 0) return false;
    *o = stride.quotient(distance);
    return true;
  }
};

static inline ReadingElements readingElements(const WindowAxis &axis)
{
  const int64_t common = greatestCommonDivisor(axis.stride, axis.dilation), kernelStep = axis.stride / common;
  const int64_t outputStep = axis.dilation / common;
  ReadingElements e = {axis, common, kernelStep, axis.stride, outputStep, 0};
  /* The extended Euclidean algorithm: inverse * outputStep = rest (mod kernelStep) in every step. */
  int64_t rest = outputStep % kernelStep, previousRest = kernelStep, inverse = 1, previousInverse = 0;
  while (rest > 1) {
    const int64_t quotient = previousRest / rest, nextRest = previousRest % rest;
    const int64_t nextInverse = previousInverse - quotient * inverse;
    previousRest = rest;
    rest = nextRest;
    previousInverse = inverse;
    inverse = nextInverse;
  }
  if (kernelStep > 1) e.inverse = inverse < 0 ? inverse + kernelStep : inverse;
  return e;
}

/* col2im: a thread sums the columns of an image element. */
template <class T> void sumColumns(THNNState *state, const Im2col &w, bool add)
{
  typedef typename Arithmetic<T>::type Number;
  const ReadingElements rows = readingElements(w.axis[2]), columns = readingElements(w.axis[3]);
  Extents<4> loop;
  loop.size[0] = w.batch;
  loop.size[1] = w.channels;
  loop.size[2] = w.axis[2].input;
  loop.size[3] = w.axis[3].input;
  forEach(state, loop.count(), [=] __device__(int64_t i) {
    int64_t at[4], firstK, firstO, kh, oh;
    loop.indices(i, at);
    const T *const from = (const T *)w.columns + at[0] * w.columnBatchStride + at[1] * w.columnChannelStride;
    Number sum = 0;
    if (rows.first(at[2], &kh, &oh) && columns.first(at[3], &firstK, &firstO))
      for (; kh < rows.axis.kernel && oh >= 0; kh += rows.kernelStep.divisor, oh -= rows.outputStep) {
        if (oh >= rows.axis.output) continue;
        int64_t kw = firstK, ow = firstO;
        const T *p = from + kh * w.kernelStride[2] + oh * w.columnStride[2];
        for (; kw < columns.axis.kernel && ow >= 0; kw += columns.kernelStep.divisor, ow -= columns.outputStep)
          if (ow < columns.axis.output) sum += load(p + kw * w.kernelStride[3] + ow * w.columnStride[3]);
      }
    T *const to = (T *)w.image + at[0] * w.imageBatchStride + at[1] * w.imageChannelStride +
                  at[2] * w.imageStride[2] + at[3] * w.imageStride[3];
    if (add) sum += load(to);
    store(to, sum);
  });
}

} // namespace thcunn

void THNN_(im2col)(THNNState *state, const Im2col *windows) { thcunn::copyWindows<Element>(state, *windows); }

void THNN_(col2im)(THNNState *state, const Im2col *windows, bool add)
{
  thcunn::sumColumns<Element>(state, *windows, add);
}
