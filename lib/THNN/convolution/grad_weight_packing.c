#include "convolution/grad_weight.h"

/* The first element of a tile's gradients. */
static const real *firstGradient(const Correlation *c, const Tile *output, int64_t channel)
{
  const real *from = c->target + channel * c->targetChannelStride;
  for (int d = 0; d < 4; d++) from += output->start[d] * c->axis[d].targetStride;
  return from;
}

void THNN_(packGradients)(const Correlation *c, const Tile *output, int64_t channel, int64_t lanes, int64_t width,
                          real *packed)
{
  const CorrelationAxis *last = c->axis + 3;
  const real *start = firstGradient(c, output, channel);
  const int64_t stride = last->targetStride;
  int64_t rows[3], q[3] = {0}, columns = output->size[3];
  for (int d = 0; d < 3; d++) rows[d] = output->size[d];
  /* Rows that are contiguous in memory become one row. */
  for (int d = 2; d >= 0 && (rows[d] == 1 || c->axis[d].targetStride == columns * stride); d--) {
    columns *= rows[d];
    rows[d] = 1;
  }
  for (int64_t row = rows[0] * rows[1] * rows[2]; row > 0; row--, nextIndex(q, rows, 3)) {
    const real *from = start;
    for (int d = 0; d < 3; d++) from += q[d] * c->axis[d].targetStride;
    if (c->targetChannelStride == 1) {
      const real *a = from, *end = packed + columns * width;
      real *b = packed;
      for (; lanes <= VL && b < end; a += stride, b += width) v_store(b, v_load_n(a, (int)lanes));
      for (; b < end; a += stride, b += width) { /* the next position overwrites the excess */
        int64_t i = 0;
        for (; i + VL <= lanes; i += VL) v_store(b + i, v_load(a + i));
        if (i < lanes) v_store(b + i, v_load_n(a + i, (int)(lanes - i)));
      }
    } else if (stride == 1) {
      THNN_(transpose)(packed, width, from, c->targetChannelStride, lanes, columns);
    } else {
      for (int64_t x = 0; x < columns; x++)
        for (int64_t i = 0; i < lanes; i++) packed[x * width + i] = from[x * stride + i * c->targetChannelStride];
    }
    packed += columns * width;
  }
}

PrefetchRegion THNN_(gradientRegion)(const Correlation *c, const Tile *output, int64_t channel, int64_t lanes)
{
  const int64_t stride = c->axis[3].targetStride;
  int64_t columns = output->size[3];
  const real *from = firstGradient(c, output, channel);
  for (int d = 2; d >= 0 && (output->size[d] == 1 || c->axis[d].targetStride == columns * stride); d--)
    columns *= output->size[d];
  if (c->targetChannelStride != 1)
    return (PrefetchRegion){from, lanes, c->targetChannelStride, stride == 1 ? columns : 0};
  return stride == lanes ? (PrefetchRegion){from, 1, 0, columns * lanes}
                         : (PrefetchRegion){from, columns, stride, lanes};
}
