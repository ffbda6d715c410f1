#include "convolution/winograd.h"
#include "convolution/winograd_transforms.h"

void THNN_(winogradRow)(const real *row, int64_t pixelStride, int64_t channelStride, int64_t size, int64_t first,
                        int64_t pixels, int64_t channels, real *to)
{
  const int64_t low = MIN(MAX(-first, 0), pixels), high = MAX(MIN(size - first, pixels), low);
  for (int64_t x = 0; x < low; x++) v_store(to + x * VL, (vreal){0});
  for (int64_t x = high; x < pixels; x++) v_store(to + x * VL, (vreal){0});
  if (low == high) return;
  const real *from = row + (first + low) * pixelStride;
  to += low * VL;
  if (channelStride == 1 && channels == VL) {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride) v_store(to, v_load(from));
  } else if (channelStride == 1) {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride) v_store(to, v_load_n(from, (int)channels));
  } else if (pixelStride == 1) {
    THNN_(transpose)(to, VL, from, channelStride, channels, high - low);
  } else {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride)
      for (int64_t i = 0; i < channels; i++) to[i] = from[i * channelStride];
  }
}

/* Where the components of the next tile are stored. */
typedef struct Cursor {
  real *to;
  int64_t inGroup, together, nextGroup; /* nextGroup: from the end of a group to the next one */
} Cursor;

/* Transforms the patches of a row of tiles. The last two columns of a patch are the first two of the next one. */
static inline __attribute__((always_inline)) Cursor transformRow(real *const *row, int64_t tiles, Cursor cursor,
                                                                 int64_t componentStride)
{
  const real *r0 = row[0], *r1 = row[1], *r2 = row[2], *r3 = row[3];
  vreal column[WINOGRAD_COMPONENTS]; /* [component of the column][column] */
#pragma GCC unroll 2
  for (int x = 0; x < 2; x++) {
    const vreal d[4] = {v_load(r0 + x * VL), v_load(r1 + x * VL), v_load(r2 + x * VL), v_load(r3 + x * VL)};
    winogradSource(d, 1, column + x, 4);
  }
  for (int64_t tile = 0; tile < tiles; tile++) {
#pragma GCC unroll 2
    for (int x = 2; x < 4; x++) {
      const int64_t at = (2 * tile + x) * VL;
      const vreal d[4] = {v_load(r0 + at), v_load(r1 + at), v_load(r2 + at), v_load(r3 + at)};
      winogradSource(d, 1, column + x, 4);
    }
#pragma GCC unroll 4
    for (int y = 0; y < 4; y++) {
      vreal component[4];
      winogradSource(column + 4 * y, 1, component, 1);
#pragma GCC unroll 4
      for (int x = 0; x < 4; x++) v_store(cursor.to + (4 * y + x) * componentStride, component[x]);
      column[4 * y] = column[4 * y + 2];
      column[4 * y + 1] = column[4 * y + 3];
    }
    cursor.to += VL;
    if (++cursor.inGroup == cursor.together) {
      cursor.inGroup = 0;
      cursor.to += cursor.nextGroup;
    }
  }
  return cursor;
}

void THNN_(winogradPatches)(const Correlation *c, const Tile *block, const real *source, int64_t channels,
                            const WinogradPatches *patches, real *strip)
{
  const CorrelationAxis *height = c->axis + 2, *width = c->axis + 3;
  const int64_t firstY = height->offset + 2 * block->start[2], firstX = width->offset + 2 * block->start[3],
                pixels = 2 * block->size[3] + 2;
  const int64_t groupReals = patches->together * VL, channelGroups = ceilDivide(channels, VL);
  for (int64_t k = 0; k < channelGroups; k++) {
    const int64_t lanes = MIN(VL, channels - k * VL);
    Cursor cursor = {.to = patches->data + k * groupReals,
                     .together = patches->together,
                     .nextGroup = (channelGroups - 1) * groupReals};
    int64_t image[2] = {0};
    for (int64_t i = block->size[0] * block->size[1]; i > 0; i--, nextIndex(image, block->size, 2)) {
      const real *plane = source + k * VL * c->sourceChannelStride;
      for (int d = 0; d < 2; d++) plane += (block->start[d] + image[d]) * c->axis[d].sourceStride;
      for (int64_t tile = 0; tile < block->size[2]; tile++) {
        real *row[4]; /* the strip is a ring of four rows, of which two are new per row of tiles */
        for (int64_t y = 0; y < 4; y++) {
          const int64_t sourceY = firstY + 2 * tile + y;
          row[y] = strip + (2 * tile + y) % 4 * pixels * VL;
          if (tile > 0 && y < 2) continue;
          const bool inside = sourceY >= 0 && sourceY < height->sourceSize;
          THNN_(winogradRow)
          (plane + (inside ? sourceY * height->sourceStride : 0), width->sourceStride, c->sourceChannelStride,
           inside ? width->sourceSize : 0, firstX, pixels, lanes, row[y]);
        }
        cursor = transformRow(row, block->size[3], cursor, patches->componentStride);
      }
    }
  }
}
