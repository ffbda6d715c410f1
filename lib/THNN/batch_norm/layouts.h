#ifndef THNN_BATCH_NORM_LAYOUTS_H
#define THNN_BATCH_NORM_LAYOUTS_H

/* Memory of a tile in each layout. A run is a contiguous stretch of one channel. Channels-first tiles are runs in
   memory, strided tiles are packed into runs; channels-last tiles are rows of adjacent channels, a row per position. */

#include "batch_norm/tile.h"

/* ---- elements of a half type ---- */

/* The most elements that are converted at a time where nothing else sets their number: first-level caches hold them. */
#define CONVERTED 2048

/* Converts n elements, `stride` apart, from an offset on. Elements of a half type come to functions for float only. */
static inline void widenElements(const Operand *operand, int64_t offset, int64_t stride, int64_t n, real *to)
{
  const char *from = (const char *)elementAt(operand->data, offset, operand->type);
  thnn_widenStrided((float *)to, from, stride * elementBytes(operand->type), operand->type, n);
}

static inline void narrowElements(const Operand *operand, int64_t offset, int64_t stride, int64_t n,
                                  const real *from)
{
  char *to = (char *)elementAt(operand->data, offset, operand->type);
  thnn_narrowStrided(to, stride * elementBytes(operand->type), (const float *)from, operand->type, n);
}

/* ---- channels-first ---- */

/* The address of element l of sample n of channel c, or NULL if the operand is absent. */
static inline const real *channelRun(const Operand *operand, int64_t c, int64_t n, int64_t l)
{
  return operand->data == NULL ? NULL : operand->data + c * operand->channelStride + n * operand->stride[0] + l;
}

/* A chunk of a channel's positions: `runs` whole runs from sample n on, or a part of one run from element l on. */
typedef struct Chunk {
  int64_t n, l, runs, length;
} Chunk;

/* The chunk of at most SUM_CHUNK positions that begins at position p. */
static inline Chunk chunkAt(const BatchNorm *b, int64_t p, int64_t end)
{
  const int64_t length = b->size[b->dims - 1];
  Chunk chunk = {0, p, 1, 0};
  if (b->dims == 2) chunk.n = p / length, chunk.l = p % length;
  if (length <= SUM_CHUNK) {
    chunk.runs = MIN(end - p, SUM_CHUNK) / length;
    chunk.length = length;
  } else {
    chunk.length = MIN(MIN(length - chunk.l, end - p), SUM_CHUNK);
  }
  return chunk;
}

/* Runs of one channel of an operand, `pitch` apart. */
typedef struct ChannelRuns {
  const real *data;
  int64_t pitch;
} ChannelRuns;

/* The runs of a chunk: in place, or converted to the buffer, which has room for SUM_CHUNK elements. */
static inline ChannelRuns chunkRuns(const Operand *operand, int64_t c, Chunk chunk, real *buffer)
{
  if (!isHalf(operand->type)) return (ChannelRuns){channelRun(operand, c, chunk.n, chunk.l), operand->stride[0]};
  const int64_t first = c * operand->channelStride + chunk.n * operand->stride[0] + chunk.l;
  for (int64_t r = 0; r < chunk.runs; r++)
    widenElements(operand, first + r * operand->stride[0], 1, chunk.length, buffer + r * chunk.length);
  return (ChannelRuns){buffer, chunk.length};
}

/* The number of runs from position p to the end of a tile if prefetching pays, else 0. */
static inline int64_t runsToPrefetch(const BatchNorm *b, int64_t p, int64_t end)
{
  return b->prefetches ? ceilDivide(end - p, b->size[b->dims - 1]) : 0;
}

/* The distance in memory from a run to the run PREFETCH_DISTANCE elements later, or 0 if there is nothing to prefetch.
   Runs are `pitch` apart, and `toPrefetch` runs are left. */
static inline int64_t prefetchOffset(int64_t toPrefetch, int64_t length, int64_t pitch)
{
  const int64_t runs = ceilDivide(PREFETCH_DISTANCE, length);
  if (length > SUM_CHUNK) return toPrefetch > 0 ? PREFETCH_DISTANCE : 0;
  return runs < toPrefetch ? runs * pitch : 0;
}

/* Prefetches the cache lines of four vectors. */
static ALWAYS_INLINE void prefetchVectors(const real *p)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4 * VL; i += (int)(64 / sizeof(real))) __builtin_prefetch(p + i);
}

/* ---- channels-last ---- */

/* Rows of a partial sum. Rows are read in memory order, which hardware prefetchers follow; partial sums stay in the
   first-level cache. */
#define SUM_ROWS 8

/* The place of a row in its partial sum. Each of the last rows % SUM_ROWS rows is a separate partial sum. */
typedef enum RowPlace { ROW_ALONE, ROW_FIRST, ROW_WITHIN, ROW_LAST } RowPlace;

static inline RowPlace rowPlace(int64_t row, int64_t rows)
{
  if (row >= rows - rows % SUM_ROWS) return ROW_ALONE;
  if (row % SUM_ROWS == 0) return ROW_FIRST;
  return row % SUM_ROWS == SUM_ROWS - 1 ? ROW_LAST : ROW_WITHIN;
}

/* The size of arrays of sums, which are accessed in whole vectors for any number of channels. */
#define ROW_SUMS (MAX_TILE_CHANNELS + VBYTES / sizeof(real))

/* The distance between adjacent positions of an operand. */
static inline int64_t rowPitch(const BatchNorm *b, const Operand *operand)
{
  return b->dims > 0 ? operand->stride[0] : 0;
}

/* Rows of a tile, `pitch` apart, that are read one after the other. */
typedef struct TileRows {
  const Operand *operand;
  int64_t offset; /* of the first row, in elements */
  int64_t pitch, rows, channels;
} TileRows;

static inline TileRows tileRows(const BatchNorm *b, const Operand *operand, Tile tile, int64_t p, int64_t rows)
{
  const int64_t pitch = rowPitch(b, operand);
  return (TileRows){operand, tile.c + p * pitch, pitch, rows, tile.cEnd - tile.c};
}

/* Converts rows r to r + n - 1 to adjacent rows. */
static inline void widenRows(const TileRows *t, int64_t r, int64_t n, real *to)
{
  if (t->pitch == t->channels) widenElements(t->operand, t->offset + r * t->pitch, 1, n * t->channels, to);
  else
    for (int64_t i = 0; i < n; i++)
      widenElements(t->operand, t->offset + (r + i) * t->pitch, 1, t->channels, to + i * t->channels);
}

/* Converts all rows back from adjacent rows. */
static inline void narrowRows(const TileRows *t, const real *from)
{
  if (t->pitch == t->channels) narrowElements(t->operand, t->offset, 1, t->rows * t->channels, from);
  else
    for (int64_t i = 0; i < t->rows; i++)
      narrowElements(t->operand, t->offset + i * t->pitch, 1, t->channels, from + i * t->channels);
}

#define ROW_BUFFER (SUM_ROWS * MAX_TILE_CHANNELS)

/* Row r: in place, or converted to the buffer of ROW_BUFFER elements together with the rows of its partial sum. */
static ALWAYS_INLINE const real *rowAt(const TileRows *t, int64_t r, real *buffer)
{
  if (!isHalf(t->operand->type)) return t->operand->data + t->offset + r * t->pitch;
  if (r % SUM_ROWS == 0) widenRows(t, r, MIN(SUM_ROWS, t->rows - r), buffer);
  return buffer + r % SUM_ROWS * t->channels;
}

/* Channel c of the rows: in place, or converted to the buffer of t->rows elements. */
static inline ChannelRuns rowsColumn(const TileRows *t, int64_t c, real *buffer)
{
  if (!isHalf(t->operand->type)) return (ChannelRuns){t->operand->data + t->offset + c, t->pitch};
  widenElements(t->operand, t->offset + c, t->pitch, t->rows, buffer);
  return (ChannelRuns){buffer, 1};
}

/* ---- strided: packed into one run per channel, GATHER_PITCH apart ---- */

static inline void copyElement(real *packed, real *data, bool gather)
{
  if (gather) *packed = *data;
  else *data = *packed;
}

static ALWAYS_INLINE void copyPacked(const BatchNorm *b, const Operand *operand, Tile tile, int64_t p,
                                     int64_t count, real *packed, bool gather)
{
  const int64_t channels = tile.cEnd - tile.c, inner = b->dims > 0 ? b->size[b->dims - 1] : 1;
  const int64_t stride = b->dims > 0 ? operand->stride[b->dims - 1] : 0, channelStride = operand->channelStride;
  while (count > 0) {
    const int64_t run = MIN(inner - p % inner, count);
    int64_t offset = tile.c * channelStride;
    for (int64_t d = b->dims - 1, rest = p; d >= 0; rest /= b->size[d--])
      offset += rest % b->size[d] * operand->stride[d];
    real *const data = operand->data + offset;
    if (isHalf(operand->type)) {
      for (int64_t c = 0; c < channels; c++) {
        real *const to = packed + c * GATHER_PITCH;
        if (gather) widenElements(operand, offset + c * channelStride, stride, run, to);
        else narrowElements(operand, offset + c * channelStride, stride, run, to);
      }
    } else if (stride < channelStride) {
      for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < run; i++)
          copyElement(packed + c * GATHER_PITCH + i, data + c * channelStride + i * stride, gather);
    } else {
      for (int64_t i = 0; i < run; i++)
        for (int64_t c = 0; c < channels; c++)
          copyElement(packed + c * GATHER_PITCH + i, data + c * channelStride + i * stride, gather);
    }
    p += run;
    packed += run;
    count -= run;
  }
}

/* Copies `count` positions from p on of the tile's channels into a packed buffer. */
static inline void gather(const BatchNorm *b, const Operand *operand, Tile tile, int64_t p, int64_t count,
                          real *packed)
{
  copyPacked(b, operand, tile, p, count, packed, true);
}

/* Copies the positions back from the packed buffer. */
static inline void scatter(const BatchNorm *b, const Operand *operand, Tile tile, int64_t p, int64_t count,
                           real *packed)
{
  copyPacked(b, operand, tile, p, count, packed, false);
}

#endif
