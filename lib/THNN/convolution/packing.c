#include "gemm/microkernel.h"
#include "convolution/convolution.h"
#include "convolution/packing.h"

Correlation THNN_(correlation_make)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                                    ConvolutionView output)
{
  Correlation c = {.groups = g->groups,
                   .channels = g->inputChannels / g->groups,
                   .outputs = g->outputChannels / g->groups,
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
    c.axis[d + 1] = (Axis){.count = g->axis[d].output,
                           .size = g->axis[d].input,
                           .step = g->axis[d].stride,
                           .first = -g->axis[d].padding,
                           .taps = g->axis[d].kernel,
                           .skip = g->axis[d].dilation,
                           .source = input.stride[d + 2],
                           .target = output.stride[d + 2],
                           .weight = weight.stride[d + 2]};
  THNN_(correlation_simplify)(&c);
  return c;
}

void THNN_(correlation_simplify)(Correlation *c)
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

void THNN_(correlation_cutTaps)(const Correlation *c, int64_t *taps, int64_t *width)
{
  for (int d = 0; d < 4; d++) taps[d] = c->axis[d].taps;
  while (volume(taps) > PIECE_TAPS) {
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

/* Whole vectors of zeros from low on, until high is reached. The first is outside of the loop, which gcc makes a call
   of memset and which is seldom entered. */
static inline void fillZeros(real *to, int64_t low, int64_t high)
{
  if (low >= high) return;
  v_store(to + low, (vreal){0});
  for (low += VL; low < high; low += VL) v_store(to + low, (vreal){0});
}

/* No more than these. */
static inline void fillExactly(real *to, int64_t low, int64_t high)
{
  for (; low < high; low += VL) v_store_n(to + low, (vreal){0}, (int)MIN(VL, high - low));
}

/* Every second element of two vectors as one sequence. */
#if VBYTES == 64 && defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#elif VBYTES == 64 || (VBYTES == 32 && defined(THNN_REAL_IS_FLOAT))
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#elif VBYTES == 32 || defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6
#else
#define EVENS 0, 2
#endif

/* A row whose positions lie apart: zeros, values low .. high - 1 from `from`, zeros. Whole vectors are written wherever
   a later row, or the room at the end of the strip, takes what is too much. */
static inline void fillRow(real *to, const real *from, int64_t stride, int64_t low, int64_t high, int64_t width,
                           int64_t ahead)
{
  fillZeros(to, 0, low);
  int64_t i = low;
  if (stride == 2) {
    /* The last value may be the last of the source. */
    for (; i + VL < high; i += VL, from += 2 * VL) {
      __builtin_prefetch(from + ahead);
      __builtin_prefetch(from + ahead + VL);
      v_store(to + i, __builtin_shufflevector(v_load(from), v_load(from + VL), EVENS));
    }
    for (; i < high; i++, from += 2) to[i] = *from;
  } else {
    for (; i < high; i++, from += stride) to[i] = *from;
  }
  fillZeros(to, i, width);
}

/* Rows of neighbouring positions: zeros, then `rows` times high - low values from `from`, pitch apart, and zeros
   between and behind them, up to `end`. */
static inline void fillRows(real *to, int64_t pitch, int64_t end, const real *from, int64_t fromRow, int64_t first,
                            int64_t rows, int64_t length, int64_t ahead)
{
  fillZeros(to, 0, first);
  for (int64_t at = first; rows > 0; rows--, at += pitch, from += fromRow) {
    int64_t i = 0;
    for (; i + VL <= length; i += VL) {
      __builtin_prefetch(from + i + ahead);
      v_store(to + at + i, v_load(from + i));
    }
    if (i < length) {
      __builtin_prefetch(from + i + ahead);
      v_store(to + at + i, v_load_n(from + i, (int)(length - i)));
      i += VL;
    }
    fillZeros(to, at + i, rows > 1 ? at + pitch : end);
  }
}

void THNN_(strip_fill)(const Correlation *c, const Strip *strip, const Box *positions, const Box *taps,
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
  /* Of a phase: those of the coordinates x + i * step, i in 0 .. width - 1, that exist, and where the first one is. */
  struct {
    int64_t low, high, at;
  } span[GEMM_DEPTH];
  for (int64_t phase = 0; phase < strip->phases; phase++) {
    const int64_t x = first[3] + modulo(phase * last->skip, last->step);
    const int64_t low = x < 0 ? MIN(quotient(-x + last->step - 1, last->step), width) : 0;
    const int64_t high = x < last->size ? MIN(quotient(last->size - 1 - x, last->step) + 1, width) : 0;
    span[phase].low = low;
    span[phase].high = MAX(low, high);
    span[phase].at = (x + low * last->step) * last->source;
  }
  /* Channel by channel in the order of memory, or all channels of a row at once when many are innermost. */
  const bool transpose = stride != 1 && c->sourceChannel == 1 && channels > 4;
  real *filled = memory; /* where all channels are copied at once: up to here, of the first one */
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
      if (stride == 1) { /* one phase */
        const int64_t low = MIN(MAX(-first[2], 0), extent[2]), high = MIN(c->axis[2].size - first[2], extent[2]);
        const int64_t rows = planeExists && span->low < span->high ? MAX(high - low, 0) : 0;
        const int64_t end = extent[2] * strip->pitch[2];
        fillRows(to, strip->pitch[2], end, rows ? start + (first[2] + low) * c->axis[2].source + span->at : start,
                 c->axis[2].source, rows ? low * strip->pitch[2] + span->low : end, rows, span->high - span->low,
                 ahead);
        continue;
      }
      for (int64_t y = first[2]; y < first[2] + extent[2]; y++) {
        const bool exists = planeExists && y >= 0 && y < c->axis[2].size;
        const real *row = exists ? start + y * c->axis[2].source : start;
        for (int64_t phase = 0; phase < strip->phases; phase++, to += strip->pitch[3]) {
          const int64_t low = exists ? span[phase].low : 0, high = exists ? span[phase].high : 0;
          if (!transpose) {
            fillRow(to, row + (exists ? span[phase].at : 0), stride, low, high, width, ahead);
          } else if (low < high) {
            const real *from = row + span[phase].at;
            const int64_t positions = high - low, gap = to + low - filled;
            /* Rows of this channel take what is too much, but those of the next one are there already. */
            const bool room = to + low + VL <= memory + strip->channel;
            for (int64_t i = 0; i < channels; i++) {
              if (room) fillZeros(filled + i * strip->channel, 0, gap);
              else fillExactly(filled + i * strip->channel, 0, gap);
            }
            THNN_(gemm_transpose)(to + low, strip->channel, from, stride, positions, channels);
            filled = to + high;
            if (y + 1 == c->axis[2].size) continue;
            const real *below = from + c->axis[2].source;
            const Pieces next = stride == channels ? (Pieces){below, 1, 0, positions * stride}
                                                   : (Pieces){below, positions, stride, channels};
            fetch(&next, 0, 1);
          }
        }
      }
    }
  }
  const int64_t end = memory + extent[0] * strip->pitch[0] - filled;
  for (int64_t i = 0; transpose && i < channels; i++) fillExactly(filled + i * strip->channel, 0, end);
}
