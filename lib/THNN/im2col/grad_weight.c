#include "im2col/im2col.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"
#include "simd/lanes.h"

/* Channels per task in channels-last layout, where channels are vectorized. */
#define CHANNEL_BLOCK 16

/* Terms of a partial sum in `real`, per vector lane. Partial sums are added in double. */
#define PARTIAL_TERMS 128

/* part plus a[i] * b[i * bStride] in lane i % VL; n elements, bStride 1 or 2. */
static ALWAYS_INLINE vreal addProducts(vreal part, const real *a, const real *b, int64_t bStride, int64_t n)
{
  for (int64_t i = 0; i < n; i += VL) {
    const int lanes = (int)MIN(n - i, VL);
    part += loadLanes(a + i, lanes) * (bStride == 1 ? loadLanes(b + i, lanes) : loadEvens(b + 2 * i, lanes));
  }
  return part;
}

/* The sum of the products of a channel over the batch, all positions and all kernel elements. */
static double sumProducts(const Im2col *w, const real *gradOutput, const real *image, int64_t elements)
{
  const WindowAxis *a = w->axis;
  const int64_t *gStride = w->columnStride, *xStride = w->imageStride;
  const int64_t step = a[3].stride * xStride[3];
  double sum = 0;
  vreal part = {0};
  int64_t terms = 0; /* upper bound on the terms of `part` */
  for (int64_t element = 0; element < elements; element++) {
    int64_t k[4], rest = element, low[4], high[4];
    const real *from = image;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].kernel;
      rest /= a[d].kernel;
      windowOutputs(a + d, k[d], low + d, high + d);
      from += (k[d] * a[d].dilation - a[d].padding) * xStride[d];
    }
    for (int64_t n = 0; n < w->batch; n++)
      for (int64_t q0 = low[0]; q0 < high[0]; q0++)
        for (int64_t q1 = low[1]; q1 < high[1]; q1++)
          for (int64_t q2 = low[2]; q2 < high[2]; q2++) {
            const real *g =
                gradOutput + n * w->columnBatchStride + q0 * gStride[0] + q1 * gStride[1] + q2 * gStride[2];
            const real *x = from + n * w->imageBatchStride + q0 * a[0].stride * xStride[0] +
                            q1 * a[1].stride * xStride[1] + q2 * a[2].stride * xStride[2];
            for (int64_t i = low[3]; i < high[3]; i += PARTIAL_TERMS * VL) {
              const int64_t count = MIN(high[3] - i, PARTIAL_TERMS * VL);
              if (gStride[3] != 1 || (step != 1 && step != 2)) {
                for (int64_t j = i; j < i + count; j++) sum += (double)g[j * gStride[3]] * (double)x[j * step];
                continue;
              }
              terms += ceilDivide(count, VL);
              if (terms > PARTIAL_TERMS) {
                sum += (double)v_sum(part);
                part = (vreal){0};
                terms = ceilDivide(count, VL);
              }
              part = addProducts(part, g + i, x + i * step, step, count);
            }
          }
  }
  return sum + (double)v_sum(part);
}

/* For images and columns in channels-last layout. */
static void addChannelsLast(const Im2col *w, real *weight, int64_t weightStride, real scale)
{
  const WindowAxis *a = w->axis + 1;
  const int64_t *gStride = w->columnStride + 1, *xStride = w->imageStride + 1;
  const int64_t channels = w->channels, tasks = ceilDivide(channels, CHANNEL_BLOCK);
  const int64_t elements = a[0].kernel * a[1].kernel * a[2].kernel, gradStride = gStride[2],
                inputStride = a[2].stride * xStride[2];
  THNN_PARALLEL_FOR(task, tasks, w->batch * channels * a[0].output * a[1].output * a[2].output * elements) {
    const int64_t first = task * CHANNEL_BLOCK, count = MIN(channels - first, CHANNEL_BLOCK);
    double sum[CHANNEL_BLOCK] = {0};
    for (int64_t n = 0; n < w->batch; n++)
      for (int64_t element = 0; element < elements; element++) {
        const int64_t k[3] = {element / a[2].kernel / a[1].kernel, element / a[2].kernel % a[1].kernel,
                              element % a[2].kernel};
        int64_t low[3], high[3];
        for (int d = 0; d < 3; d++) windowOutputs(a + d, k[d], low + d, high + d);
        for (int64_t q0 = low[0]; q0 < high[0]; q0++)
          for (int64_t q1 = low[1]; q1 < high[1]; q1++)
            for (int64_t q2 = low[2]; q2 < high[2];) {
              const int64_t q[3] = {q0, q1, q2}, end = MIN(q2 + PARTIAL_TERMS, high[2]);
              const real *g = (const real *)w->columns + n * w->columnBatchStride + first;
              const real *x = (const real *)w->image + n * w->imageBatchStride + first;
              for (int d = 0; d < 3; d++) {
                g += q[d] * gStride[d];
                x += (q[d] * a[d].stride + k[d] * a[d].dilation - a[d].padding) * xStride[d];
              }
              real part[CHANNEL_BLOCK] = {0};
              if (count == CHANNEL_BLOCK) {
                for (; q2 < end; q2++, g += gradStride, x += inputStride) {
                  thnn_prefetchAhead(x, CHANNEL_BLOCK * (int)sizeof *x);
                  THNN_PRAGMA(omp simd)
                  for (int i = 0; i < CHANNEL_BLOCK; i++) part[i] += g[i] * x[i];
                }
              } else {
                for (; q2 < end; q2++, g += gradStride, x += inputStride)
                  for (int64_t i = 0; i < count; i++) part[i] += g[i] * x[i];
              }
              for (int i = 0; i < CHANNEL_BLOCK; i++) sum[i] += (double)part[i];
            }
      }
    real *to = weight + first * weightStride;
    for (int64_t i = 0; i < count; i++) to[i * weightStride] += (real)((double)scale * sum[i]);
  }
}

void THNN_(subsamplingGradWeight)(const Im2col *w, real *weight, int64_t weightStride, real scale)
{
  if (w->channels > 1 && w->imageChannelStride == 1 && w->columnChannelStride == 1)
    return addChannelsLast(w, weight, weightStride, scale);
  int64_t elements = 1, positions = w->batch;
  for (int d = 0; d < 4; d++) {
    elements *= w->axis[d].kernel;
    positions *= w->axis[d].output;
  }
  if (positions == 0) return;
  THNN_PARALLEL_FOR(channel, w->channels, w->channels * elements * positions) {
    const double sum = sumProducts(w, (const real *)w->columns + channel * w->columnChannelStride,
                                   (const real *)w->image + channel * w->imageChannelStride, elements);
    weight[channel * weightStride] += (real)((double)scale * sum);
  }
}
