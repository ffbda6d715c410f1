#include "im2col/im2col.h"

#include "gemm/transpose.h"
#include "runtime/integer.h"

/* In channels-last layout, the image rows of a block of channels are transposed first. A task writes the columns
   of CHANNEL_BLOCK channels for ROW_BLOCK rows of windows. */
#define CHANNEL_BLOCK 16
#define ROW_BLOCK 16
#define MAX_ROW_PIXELS 4096 /* pixels of an image row in scratch memory */

/* Writes one row of the columns of kernel element k. `row` is the image row, or NULL in the padding. */
static void unfoldRow(const WindowAxis *a, const real *row, int64_t rowStride, int64_t k, real *to,
                      int64_t toStride)
{
  int64_t begin, end;
  windowOutputs(a, k, &begin, &end);
  const int64_t fromStride = a->stride * rowStride;
  if (row == NULL) begin = end = 0;
  for (int64_t q = 0; q < begin; q++) to[q * toStride] = 0;
  if (begin < end) {
    const real *from = row + (begin * a->stride + k * a->dilation - a->padding) * rowStride;
    real *first = to + begin * toStride;
    if (toStride == 1 && fromStride == 1) memcpy(first, from, sizeof(real) * (size_t)(end - begin));
    else if (toStride == 1 && fromStride == 2)
      for (int64_t i = 0; i < end - begin; i++) first[i] = from[2 * i];
    else
      for (int64_t i = 0; i < end - begin; i++) first[i * toStride] = from[i * fromStride];
  }
  for (int64_t q = end; q < a->output; q++) to[q * toStride] = 0;
}

/* Writes rows firstRow .. endRow - 1 of the columns of adjacent channels. */
static void unfoldChannels(const Im2col *w, int64_t n, int64_t channel, int64_t channels, int64_t firstRow,
                           int64_t endRow)
{
  const WindowAxis *a = w->axis, *last = a + 3;
  const int64_t pitch = last->input + VL, elements = a[0].kernel * a[1].kernel * a[2].kernel;
  real *rows = thnn_scratch(sizeof(real) * (size_t)(CHANNEL_BLOCK * pitch));
  for (int64_t row = firstRow; row < endRow; row++) {
    const int64_t q[3] = {row / a[2].output / a[1].output, row / a[2].output % a[1].output, row % a[2].output};
    for (int64_t element = 0; element < elements; element++) {
      const int64_t k[3] = {element / a[2].kernel / a[1].kernel, element / a[2].kernel % a[1].kernel,
                            element % a[2].kernel};
      const real *from = (const real *)w->image + n * w->imageBatchStride + channel;
      real *to = (real *)w->columns + n * w->columnBatchStride + channel * w->columnChannelStride;
      bool inside = true;
      for (int d = 0; d < 3; d++) {
        const int64_t x = windowInputAt(a + d, q[d], k[d]);
        inside = inside && x >= 0;
        from += x * w->imageStride[d];
        to += q[d] * w->columnStride[d] + k[d] * w->kernelStride[d];
      }
      if (inside) THNN_(transpose)(rows, pitch, from, w->imageStride[3], last->input, channels);
      for (int64_t c = 0; c < channels; c++, to += w->columnChannelStride)
        for (int64_t k3 = 0; k3 < last->kernel; k3++)
          unfoldRow(last, inside ? rows + c * pitch : NULL, 1, k3, to + k3 * w->kernelStride[3],
                    w->columnStride[3]);
    }
  }
}

void THNN_(im2col)(THNNState *state __attribute__((unused)), const Im2col *w)
{
  const WindowAxis *a = w->axis;
  int64_t elements = 1, positions = 1;
  for (int d = 0; d < 4; d++) {
    elements *= a[d].kernel;
    positions *= a[d].output;
  }
  const int64_t channels = w->channels, work = w->batch * channels * elements * positions;
  const int64_t rows = a[0].output * a[1].output * a[2].output;
  if (w->imageChannelStride == 1 && w->imageStride[3] != 1 && channels > 1 && a[3].input <= MAX_ROW_PIXELS) {
    const int64_t blocks = ceilDivide(channels, CHANNEL_BLOCK), rowBlocks = ceilDivide(rows, ROW_BLOCK);
    THNN_PARALLEL_FOR(task, w->batch * blocks * rowBlocks, work) {
      const int64_t channel = task / rowBlocks % blocks * CHANNEL_BLOCK, row = task % rowBlocks * ROW_BLOCK;
      unfoldChannels(w, task / rowBlocks / blocks, channel, MIN(CHANNEL_BLOCK, channels - channel), row,
                     MIN(row + ROW_BLOCK, rows));
    }
    return;
  }
  THNN_PARALLEL_FOR(task, w->batch * channels * elements, work) {
    int64_t k[4], rest = task;
    for (int d = 3; d >= 0; d--) {
      k[d] = rest % a[d].kernel;
      rest /= a[d].kernel;
    }
    const int64_t channel = rest % channels, n = rest / channels;
    const real *image = (const real *)w->image + n * w->imageBatchStride + channel * w->imageChannelStride;
    real *columns = (real *)w->columns + n * w->columnBatchStride + channel * w->columnChannelStride;
    for (int d = 0; d < 4; d++) columns += k[d] * w->kernelStride[d];
    for (int64_t row = 0; row < rows; row++) {
      const int64_t q[3] = {row / a[2].output / a[1].output, row / a[2].output % a[1].output, row % a[2].output};
      const real *from = image;
      real *to = columns;
      for (int d = 0; d < 3; d++) {
        const int64_t x = windowInputAt(a + d, q[d], k[d]);
        to += q[d] * w->columnStride[d];
        if (x < 0) from = NULL;
        if (from) from += x * w->imageStride[d];
      }
      unfoldRow(a + 3, from, w->imageStride[3], k[3], to, w->columnStride[3]);
    }
  }
}
