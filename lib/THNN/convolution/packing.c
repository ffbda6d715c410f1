#include "convolution/packing.h"
#include "simd/shuffle.h"

static int64_t packedTileBytes(const Correlation *c, const int64_t *positions, const int64_t *kernel)
{
  return packedTileLayout(c->axis, positions, kernel).channelPitch * (int64_t)sizeof(real);
}

void THNN_(correlationSplitKernel)(const Correlation *c, int64_t *kernelTile, int64_t *width)
{
  for (int d = 0; d < 4; d++) kernelTile[d] = c->axis[d].kernel;
  while (elementCount(kernelTile) > KERNEL_TILE_ELEMENTS) {
    int longest = 0;
    for (int d = 1; d < 4; d++)
      if (kernelTile[d] > kernelTile[longest]) longest = d;
    kernelTile[longest] = (kernelTile[longest] + 1) / 2;
  }
  for (;;) {
    const int64_t positions[4] = {1, 1, 1, *width};
    if (packedTileBytes(c, positions, kernelTile) <= PACKED_TILE_BYTES) return;
    int widest = -1;
    for (int d = 0; d < 4; d++)
      if (kernelTile[d] > 1 &&
          (widest < 0 || kernelTile[d] * c->axis[d].dilation > kernelTile[widest] * c->axis[widest].dilation))
        widest = d;
    if (widest >= 0) kernelTile[widest] = (kernelTile[widest] + 1) / 2;
    else *width = (*width + 1) / 2;
  }
}

/* Zeros to[low] .. to[high - 1] and the rest of the last vector. The first store is outside of the loop because gcc
   turns a loop of zero stores into a call of memset, and most gaps are one vector. */
static inline void zeroVectors(real *to, int64_t low, int64_t high)
{
  if (low >= high) return;
  v_store(to + low, (vreal){0});
  for (low += VL; low < high; low += VL) v_store(to + low, (vreal){0});
}

/* Zeros to[low] .. to[high - 1] only. */
static inline void zeroExactly(real *to, int64_t low, int64_t high)
{
  for (; low < high; low += VL) v_store_n(to + low, (vreal){0}, (int)MIN(VL, high - low));
}

/* Fewer residues are packed one by one. */
#define ADJACENT_RESIDUES 4

/* Packs a row of strided coordinates: values in low .. high - 1, zeros in the rest of 0 .. width - 1. Zeros are stored
   as whole vectors: a later row or the end of the packed tile absorbs the excess. */
static inline void packRow(real *to, const real *from, int64_t stride, int64_t low, int64_t high, int64_t width,
                           int64_t ahead)
{
  zeroVectors(to, 0, low);
  int64_t i = low;
  if (stride == 2) {
    /* The last vector is packed by element: the source may end before its last odd element. */
    for (; i + VL < high; i += VL, from += 2 * VL) {
      __builtin_prefetch(from + ahead);
      __builtin_prefetch(from + ahead + VL);
      v_store(to + i, v_evens(v_load(from), v_load(from + VL)));
    }
    for (; i < high; i++, from += 2) to[i] = *from;
  } else {
    for (; i < high; i++, from += stride) to[i] = *from;
  }
  zeroVectors(to, i, width);
}

#ifdef THNN_REAL_IS_FLOAT
/* The same for pairs of bfloat16. */
static inline void packPairs(real *to, const Half *from, int64_t partner, int64_t stride, int64_t low,
                             int64_t high, int64_t width, int64_t ahead)
{
  zeroVectors(to, 0, low);
  int64_t i = low;
  if (stride == 1) {
    for (; i < high; i += VL, from += VL) {
      __builtin_prefetch(from + ahead);
      __builtin_prefetch(from + ahead + partner);
      v_store(to + i, v_loadPairs(from, from + partner, (int)MIN(VL, high - i)));
    }
  } else {
    for (; i < high; i++, from += stride) to[i] = pairOf(from, from + partner);
  }
  zeroVectors(to, i, width);
}
#endif

/* The coordinates of a residue, x + i * stride, that lie in the source: low <= i < high. The first of them is at offset
   `at`. */
typedef struct Span {
  int64_t low, high, at;
} Span;

/* Packs a row whose residues are adjacent in the source. Coordinates that all residues have are a matrix, which is
   transposed; the others are packed as in packRow. */
static void packResidues(real *to, int64_t pitch, const real *from, int64_t stride, const Span *span,
                         int64_t residues, int64_t width)
{
  int64_t low = 0, high = width;
  for (int64_t r = 0; r < residues; r++) {
    low = MAX(low, span[r].low);
    high = MIN(high, span[r].high);
  }
  high = MAX(low, high);
  for (int64_t r = 0; r < residues; r++) {
    const Span s = span[r];
    real *row = to + r * pitch;
    zeroVectors(row, 0, s.low);
    for (int64_t i = s.low; i < MIN(low, s.high); i++) row[i] = from[s.at + (i - s.low) * stride];
    for (int64_t i = MAX(high, s.low); i < s.high; i++) row[i] = from[s.at + (i - s.low) * stride];
    zeroVectors(row, s.high, width);
  }
  if (low < high)
    THNN_(transpose)(to + low, pitch, from + span->at + (low - span->low) * stride, stride, high - low, residues);
}

/* Packs `rows` rows of `length` adjacent values, `pitch` apart, from to[first] on, with zeros before, between and
   after the rows up to to[end - 1]. */
static inline void packRows(real *to, int64_t pitch, int64_t end, const real *from, int64_t fromRow, int64_t first,
                            int64_t rows, int64_t length, int64_t ahead)
{
  zeroVectors(to, 0, first);
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
    zeroVectors(to, at + i, rows > 1 ? at + pitch : end);
  }
}

/* The packed coordinates of an axis are runs of `length` adjacent coordinates, `distance` apart in the source. */
typedef struct Runs {
  int64_t length, distance;
} Runs;

static Runs runsOf(const PackedTile *packed, const CorrelationAxis *axis, int d)
{
  if (packed->dilation[d] < axis[d].dilation) return (Runs){packed->dilation[d], axis[d].dilation};
  if (packed->stride[d] < axis[d].stride) return (Runs){packed->stride[d], axis[d].stride};
  return (Runs){INT64_MAX, 0}; /* one run */
}

static int64_t coordinateOf(Runs runs, int64_t packedCoordinate)
{
  return packedCoordinate / runs.length * runs.distance + packedCoordinate % runs.length;
}

void THNN_(packTile)(const Correlation *c, const PackedTile *packed, const Tile *positions, const Tile *kernel,
                     const real *source, int64_t channels, real *memory)
{
  const CorrelationAxis *last = c->axis + 3;
  int64_t first[4], extent[3];
  for (int d = 0; d < 4; d++)
    first[d] =
        c->axis[d].offset + positions->start[d] * c->axis[d].stride + kernel->start[d] * c->axis[d].dilation;
  Runs runs[3];
  for (int d = 0; d < 3; d++) {
    extent[d] = packedTileExtent(packed, d, positions->size[d], kernel->size[d]);
    runs[d] = runsOf(packed, c->axis, d);
  }
  const int64_t width = positions->size[3] + (kernel->size[3] - 1) * last->dilation / last->stride;
  const int64_t stride = last->sourceStride * last->stride;
  const int64_t ahead = 4 * c->sourceChannelStride; /* prefetches a later channel, which is on another page */
  Span span[PACKED_TILE_RESIDUES];
  for (int64_t residue = 0; residue < packed->residues; residue++) {
    const int64_t x = first[3] + modulo(residue * last->dilation, last->stride);
    const int64_t low = x < 0 ? MIN(quotient(-x + last->stride - 1, last->stride), width) : 0;
    const int64_t high =
        x < last->sourceSize ? MIN(quotient(last->sourceSize - 1 - x, last->stride) + 1, width) : 0;
    span[residue].low = low;
    span[residue].high = MAX(low, high);
    span[residue].at = (x + low * last->stride) * last->sourceStride;
  }
  /* Channels are packed one by one; in channels-last images, a row of all channels is transposed at once. */
  const bool pairs = isHalf(c->type), transposes = stride != 1 && c->sourceChannelStride == 1 && channels > 4;
  const bool areAdjacent = !transposes && !pairs && last->sourceStride == 1 && last->dilation == 1 &&
                           packed->residues >= ADJACENT_RESIDUES;
  real *packedEnd = memory; /* after the last packed element of the first channel; used if rows are transposed */
  for (int64_t ch = 0; ch < (transposes ? 1 : channels); ch++) {
    int64_t at[2] = {0};
    for (int64_t slice = extent[0] * extent[1]; slice > 0; slice--, nextIndex(at, extent, 2)) {
      const real *start = elementAt(source, ch * c->sourceChannelStride, c->type);
      bool sliceInside = true;
      for (int d = 0; d < 2; d++) {
        const int64_t x = first[d] + coordinateOf(runs[d], at[d]);
        if (x < 0 || x >= c->axis[d].sourceSize) sliceInside = false;
        else start = elementAt(start, x * c->axis[d].sourceStride, c->type);
      }
      /* Rows are packed in memory order, so that each overwrites the excess of the row before. */
      real *to = memory + ch * packed->channelPitch + at[0] * packed->pitch[0] + at[1] * packed->pitch[1];
      if (stride == 1 && !pairs) { /* one residue */
        const int64_t pitch = packed->pitch[2];
        for (int64_t run = 0, y = first[2]; run < extent[2]; run += runs[2].length, y += runs[2].distance) {
          const int64_t length = MIN(runs[2].length, extent[2] - run);
          const int64_t low = MIN(MAX(-y, 0), length), high = MIN(c->axis[2].sourceSize - y, length);
          const int64_t rows = sliceInside && span->low < span->high ? MAX(high - low, 0) : 0;
          packRows(to + run * pitch, pitch, length * pitch,
                   rows ? start + (y + low) * c->axis[2].sourceStride + span->at : start, c->axis[2].sourceStride,
                   rows ? low * pitch + span->low : length * pitch, rows, span->high - span->low, ahead);
        }
        continue;
      }
      for (int64_t r = 0; r < extent[2]; r++) {
        const int64_t y = first[2] + coordinateOf(runs[2], r);
        const bool rowInside = sliceInside && y >= 0 && y < c->axis[2].sourceSize;
        const real *row = rowInside ? elementAt(start, y * c->axis[2].sourceStride, c->type) : start;
        if (areAdjacent && rowInside) {
          packResidues(to, packed->pitch[3], row, stride, span, packed->residues, width);
          to += packed->residues * packed->pitch[3];
          continue;
        }
        for (int64_t residue = 0; residue < packed->residues; residue++, to += packed->pitch[3]) {
          const int64_t low = rowInside ? span[residue].low : 0, high = rowInside ? span[residue].high : 0;
#ifdef THNN_REAL_IS_FLOAT
          if (pairs) {
            packPairs(to, (const Half *)row + (rowInside ? span[residue].at : 0), c->sourcePartnerStride, stride,
                      low, high, width, ahead);
            continue;
          }
#endif
          if (!transposes) {
            packRow(to, row + (rowInside ? span[residue].at : 0), stride, low, high, width, ahead);
          } else if (low < high) {
            const real *from = row + span[residue].at;
            const int64_t pixels = high - low, gap = to + low - packedEnd;
            /* Whole vectors of zeros may reach into this channel's next row, which is packed later, but not into the
               next channel's first row, which is complete. */
            const bool room = to + low + VL <= memory + packed->channelPitch;
            for (int64_t i = 0; i < channels; i++) {
              if (room) zeroVectors(packedEnd + i * packed->channelPitch, 0, gap);
              else zeroExactly(packedEnd + i * packed->channelPitch, 0, gap);
            }
            THNN_(transpose)(to + low, packed->channelPitch, from, stride, pixels, channels);
            packedEnd = to + high;
            if (y + 1 == c->axis[2].sourceSize) continue;
            const real *below = from + c->axis[2].sourceStride;
            const PrefetchRegion next = stride == channels ? (PrefetchRegion){below, 1, 0, pixels * stride}
                                                           : (PrefetchRegion){below, pixels, stride, channels};
            prefetchPart(&next, 0, 1);
          }
        }
      }
    }
  }
  const int64_t gap = memory + extent[0] * packed->pitch[0] - packedEnd;
  for (int64_t i = 0; transposes && i < channels; i++) zeroExactly(packedEnd + i * packed->channelPitch, 0, gap);
}
