#include "gemm.h"
#include "convolution.h"
#include "patches.h"

V_(correlation) THNN_(correlation_make)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                                        ConvolutionView output)
{
  V_(correlation) c = {.groups = g->groups,
                       .channels = g->inputPlanes / g->groups,
                       .outputs = g->outputPlanes / g->groups,
                       .source = input.data,
                       .target = output.data,
                       .weight = weight.data,
                       .sourceChannel = input.stride[1],
                       .targetChannel = output.stride[1],
                       .weightGroup = weight.group,
                       .weightChannel = weight.stride[1],
                       .weightOutput = weight.stride[0]};
  c.axis[0] = (Axis){.count = g->batch,
                     .size = g->batch,
                     .step = 1,
                     .taps = 1,
                     .skip = 1,
                     .source = input.stride[0],
                     .target = output.stride[0]};
  for (int d = 0; d < 3; d++)
    c.axis[d + 1] = (Axis){.count = g->outputSize[d],
                           .size = g->inputSize[d],
                           .step = g->stride[d],
                           .first = -g->padding[d],
                           .taps = g->kernel[d],
                           .skip = g->dilation[d],
                           .source = input.stride[d + 2],
                           .target = output.stride[d + 2],
                           .weight = weight.stride[d + 2]};
  THNN_(correlation_simplify)(&c);
  return c;
}

void THNN_(correlation_simplify)(V_(correlation) *c)
{
  /* One tap that never leaves the source: the source seen with larger strides. */
  for (int d = 0; d < 4; d++) {
    Axis *a = c->axis + d;
    if (a->taps != 1 || a->count == 0 || a->first < 0 || a->first + (a->count - 1) * a->step >= a->size) continue;
    c->source += a->first * a->source;
    a->source *= a->step;
    a->size = a->count;
    a->first = 0;
    a->step = a->skip = 1;
  }
  /* Axes that are one in memory become one; axes of one position vanish. */
  Axis kept[4];
  int n = 0;
  for (int d = 0; d < 4; d++) {
    Axis *a = c->axis + d, *before = kept + n - 1;
    if (axis_isPlain(a) && a->count == 1) continue;
    if (n > 0 && axis_isPlain(a) && axis_isPlain(before) && before->source == a->count * a->source &&
        before->target == a->count * a->target) {
      a->size = a->count *= before->count;
      *before = *a;
    } else {
      kept[n++] = *a;
    }
  }
  const Axis one = {.count = 1, .size = 1, .step = 1, .taps = 1, .skip = 1};
  for (int d = 0; d < 4; d++) c->axis[d] = d < 4 - n ? one : kept[d - (4 - n)];
}

void THNN_(correlation_cutTaps)(const V_(correlation) *c, int64_t *taps, int64_t *width)
{
  for (int d = 0; d < 4; d++) taps[d] = c->axis[d].taps;
  while (volume(taps) > GEMM_DEPTH) {
    int longest = 0;
    for (int d = 1; d < 4; d++)
      if (taps[d] > taps[longest]) longest = d;
    taps[longest] = (taps[longest] + 1) / 2;
  }
  for (;;) {
    const int64_t count[4] = {1, 1, 1, *width};
    if (strip_make(c->axis, count, taps, REALS_PER_LINE).channel * (int64_t)sizeof(real) <= STRIP_BYTES) return;
    int longest = -1;
    for (int d = 0; d < 4; d++)
      if (taps[d] > 1 && (longest < 0 || taps[d] * c->axis[d].skip > taps[longest] * c->axis[longest].skip))
        longest = d;
    if (longest >= 0) taps[longest] = (taps[longest] + 1) / 2;
    else *width = (*width + 1) / 2;
  }
}

/* width reals: zeros, high - low values from `from`, zeros. Whole vectors are written wherever a later row, or the
   room at the end of the strip, takes what is too much. */
static inline void V_(fillRow)(real *to, const real *from, int64_t stride, int64_t low, int64_t high,
                               int64_t width, int64_t ahead)
{
  int64_t i = 0;
  for (; i < low; i += VL) v_store(to + i, (vreal){0});
  i = low;
  if (stride == 1) {
    for (; i + VL <= high; i += VL, from += VL) {
      __builtin_prefetch(from + ahead);
      v_store(to + i, v_load(from));
    }
    if (i < high) {
      __builtin_prefetch(from + ahead);
      v_store(to + i, v_load_n(from, (int)(high - i)));
      i += VL;
    }
  } else if (stride == 2) {
    for (; i < high; i++) to[i] = from[2 * (i - low)];
  } else {
    for (; i < high; i++) to[i] = from[stride * (i - low)];
  }
  for (; i < width; i += VL) v_store(to + i, (vreal){0});
}

void THNN_(strip_fill)(const V_(correlation) *c, const Strip *strip, const Box *positions, const Box *taps,
                       const real *source, int64_t channels, real *memory)
{
  const Axis *last = c->axis + 3;
  int64_t first[4], extent[3];
  for (int d = 0; d < 4; d++)
    first[d] = c->axis[d].first + positions->start[d] * c->axis[d].step + taps->start[d] * c->axis[d].skip;
  for (int d = 0; d < 3; d++) extent[d] = axis_extent(c->axis + d, positions->count[d], taps->count[d]);
  const int64_t width = positions->count[3] + (taps->count[3] - 1) * last->skip / last->step;
  const int64_t stride = last->source * last->step;
  const int64_t ahead = 4 * c->sourceChannel; /* the same place of a later channel, which is on another page */
  /* Channel by channel in the order of memory, or all channels of a row at once when they are innermost. */
  const bool transpose = stride != 1 && c->sourceChannel == 1;
  for (int64_t ch = 0; ch < (transpose ? 1 : channels); ch++) {
    int64_t at[2] = {0};
    for (int64_t plane = extent[0] * extent[1]; plane > 0; plane--, box_next(at, extent, 2)) {
      const real *start = source + ch * c->sourceChannel;
      bool planeExists = true;
      for (int d = 0; d < 2; d++) {
        const int64_t x = first[d] + at[d];
        if (x < 0 || x >= c->axis[d].size) planeExists = false;
        else start += x * c->axis[d].source;
      }
      /* In the order of memory: each row may write a little into the next one. */
      real *to = memory + ch * strip->channel + at[0] * strip->pitch[0] + at[1] * strip->pitch[1];
      for (int64_t y = first[2]; y < first[2] + extent[2]; y++)
        for (int64_t phase = 0; phase < strip->phases; phase++, to += strip->pitch[3]) {
          /* Coordinate x + i * step for i in 0 .. width - 1; those of low .. high - 1 exist. */
          const int64_t x = first[3] + modulo(phase * last->skip, last->step);
          const int64_t low = x < 0 ? MIN(quotient(-x + last->step - 1, last->step), width) : 0;
          int64_t high = x < last->size ? MIN(quotient(last->size - 1 - x, last->step) + 1, width) : 0;
          const bool exists = planeExists && y >= 0 && y < c->axis[2].size && low < high;
          if (!exists) high = low;
          const real *from =
              exists ? start + y * c->axis[2].source + (x + low * last->step) * last->source : start;
          if (!transpose) {
            V_(fillRow)(to, from, stride, low, high, width, ahead);
          } else {
            for (int64_t i = 0; i < channels; i++) {
              for (int64_t j = 0; j < low; j++) to[i * strip->channel + j] = 0;
              for (int64_t j = high; j < width; j++) to[i * strip->channel + j] = 0;
            }
            if (exists) THNN_(gemm_transpose)(to + low, strip->channel, from, stride, high - low, channels);
          }
        }
    }
  }
}
