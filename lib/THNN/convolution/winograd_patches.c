#include "convolution/winograd.h"
#include "convolution/winograd_transforms.h"

#ifdef WINOGRAD

/* Pixels at most TRANSPOSED_STRIDE apart are read with the pixels between them, TRANSPOSED_PIXELS at a time. */
#define TRANSPOSED_STRIDE 4
#define TRANSPOSED_PIXELS 64

void THNN_(winogradRow)(const real *row, int64_t pixelStride, int64_t channelStride, int64_t size, int64_t first,
                        int64_t pixels, int64_t channels, real *to)
{
  const int64_t low = MIN(MAX(-first, 0), pixels), high = MAX(MIN(size - first, pixels), low);
  for (int64_t x = 0; x < low; x++) v_store(to + x * VL, (vreal){0});
  for (int64_t x = high; x < pixels; x++) v_store(to + x * VL, (vreal){0});
  if (low == high) return;
  if (channels < VL) memset(to, 0, sizeof(real) * (size_t)(pixels * VL)); /* the other lanes must be finite */
  const real *from = row + (first + low) * pixelStride;
  to += low * VL;
  if (channelStride == 1 && channels == VL) {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride) v_store(to, v_load(from));
  } else if (channelStride == 1) {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride) v_store(to, v_load_n(from, (int)channels));
  } else if (pixelStride == 1) {
    THNN_(transpose)(to, VL, from, channelStride, channels, high - low);
  } else if (pixelStride > 1 && pixelStride <= TRANSPOSED_STRIDE) {
    real pixels[TRANSPOSED_PIXELS * VBYTES / sizeof(real)]; /* including the pixels between the row's pixels */
    const int64_t together = TRANSPOSED_PIXELS / pixelStride;
    for (int64_t x = low, n; x < high; x += n, from += n * pixelStride) {
      n = MIN(together, high - x);
      THNN_(transpose)(pixels, VL, from, channelStride, channels, (n - 1) * pixelStride + 1);
      for (int64_t i = 0; i < n; i++, to += VL)
        v_store(to, v_load_n(pixels + i * pixelStride * VL, (int)channels));
    }
  } else {
    for (int64_t x = low; x < high; x++, to += VL, from += pixelStride)
      for (int64_t i = 0; i < channels; i++) to[i] = from[i * channelStride];
  }
}

/* The address of the components of the next tile of a set. */
typedef struct Cursor {
  real *to;
  int64_t inMicrotile, together, nextMicrotile; /* nextMicrotile: from the end of a micro-tile to the next one */
} Cursor;

static ALWAYS_INLINE void advance(Cursor *cursor)
{
  cursor->to += VL;
  if (++cursor->inMicrotile < cursor->together) return;
  cursor->inMicrotile = 0;
  cursor->to += cursor->nextMicrotile;
}

/* Transforms the patches of a row of tiles. The last two columns of a patch are the first two of the next one. The last
   component of the columns is stored if lastRow, the last of the rows for `lastColumns` tiles; if not `edges`, these
   are all tiles, and all sets are the first one. */
static ALWAYS_INLINE void transformRow(const int m, const bool edges, real *const *row, int64_t tiles,
                                       bool lastRow, int64_t lastColumns, Cursor cursors[2][2],
                                       int64_t componentStride)
{
  const int n = m + 2;
  Cursor cursor[2][2];
  memcpy(cursor, cursors, sizeof cursor);
  vreal column[36]; /* [component of the column][column] */
#pragma GCC unroll 2
  for (int x = 0; x < 2; x++) {
    vreal d[6];
#pragma GCC unroll 6
    for (int y = 0; y < n; y++) d[y] = v_load(row[y] + x * VL);
    winogradSource(m, d, 1, column + x, n);
  }
  for (int64_t tile = 0; tile < tiles; tile++) {
    const bool lastColumn = tile < lastColumns;
#pragma GCC unroll 4
    for (int x = 2; x < n; x++) {
      vreal d[6];
#pragma GCC unroll 6
      for (int y = 0; y < n; y++) d[y] = v_load(row[y] + (m * tile + x) * VL);
      winogradSource(m, d, 1, column + x, n);
    }
#pragma GCC unroll 6
    for (int y = 0; y < n; y++) {
      vreal component[6];
      winogradSource(m, column + n * y, 1, component, 1);
      column[n * y] = column[n * y + m];
      column[n * y + 1] = column[n * y + m + 1];
      if (edges && y == n - 1 && !lastRow) continue;
#pragma GCC unroll 6
      for (int x = 0; x < n; x++) {
        if (edges && x == n - 1 && !lastColumn) continue;
        real *to = cursor[edges && y == n - 1][edges && x == n - 1].to;
        v_store(to + (n * y + x) * componentStride, component[x]);
      }
    }
    advance(&cursor[0][0]);
    if (edges && lastColumn) advance(&cursor[0][1]);
    if (edges && lastRow) advance(&cursor[1][0]);
    if (edges && lastRow && lastColumn) advance(&cursor[1][1]);
  }
  memcpy(cursors, cursor, sizeof cursor);
}

void THNN_(winogradPatches)(const Correlation *c, int m, const Tile *block, const real *source, int64_t channels,
                            int64_t begin, int64_t end, const WinogradPatches *patches, real *strip)
{
  const CorrelationAxis *depth = c->axis + 1, *height = c->axis + 2, *width = c->axis + 3;
  const int64_t firstY = height->offset + m * block->start[2], firstX = width->offset + m * block->start[3],
                pixels = m * block->size[3] + 2;
  const int64_t channelBlocks = ceilDivide(channels, VL);
  const WinogradTileSet *whole = &patches->tiles.of[1][1]; /* tiles with all components */
  const bool edges = whole->count < patches->tiles.of[0][0].count;
  for (int64_t channelBlock = begin; channelBlock < end; channelBlock++) {
    const int64_t t = channelBlock / channelBlocks, k = channelBlock % channelBlocks,
                  lanes = MIN(VL, channels - k * VL);
    Cursor cursor[2][2];
    for (int i = 0; i < 4; i++) {
      const int64_t together = patches->tiles.of[i / 2][i % 2].together, microtileReals = together * VL;
      cursor[i / 2][i % 2] = (Cursor){.to = patches->data + channelBlock * microtileReals,
                                      .together = together,
                                      .nextMicrotile = (depth->kernel * channelBlocks - 1) * microtileReals};
    }
    int64_t image[2] = {0};
    for (int64_t i = block->size[0] * block->size[1]; i > 0; i--, nextIndex(image, block->size, 2)) {
      const int64_t z = depth->offset + (block->start[1] + image[1]) * depth->stride + t * depth->dilation;
      const bool sliceInside = z >= 0 && z < depth->sourceSize;
      const real *slice = source + k * VL * c->sourceChannelStride +
                          (block->start[0] + image[0]) * c->axis[0].sourceStride +
                          (sliceInside ? z * depth->sourceStride : 0);
      for (int64_t tile = 0; tile < block->size[2]; tile++) {
        real *row[6]; /* the strip is a ring of m + 2 rows, m of them new per row of tiles */
        for (int64_t y = 0; y < m + 2; y++) {
          const int64_t sourceY = firstY + m * tile + y;
          row[y] = strip + (m * tile + y) % (m + 2) * pixels * VL;
          if (tile > 0 && y < 2) continue;
          const bool inside = sliceInside && sourceY >= 0 && sourceY < height->sourceSize;
          const real *from = slice + (inside ? sourceY * height->sourceStride : 0);
          THNN_(winogradRow)(from, width->sourceStride, c->sourceChannelStride, inside ? width->sourceSize : 0,
                             firstX, pixels, lanes, row[y]);
        }
        const bool lastRow = tile < whole->rows;
#define TRANSFORM_ROW(m, edges) \
  transformRow(m, edges, row, block->size[3], lastRow, whole->columns, cursor, patches->componentStride)
        if (m == 2 && edges) TRANSFORM_ROW(2, true);
        else if (m == 2) TRANSFORM_ROW(2, false);
        else if (edges) TRANSFORM_ROW(4, true);
        else TRANSFORM_ROW(4, false);
#undef TRANSFORM_ROW
      }
    }
  }
}

#endif
