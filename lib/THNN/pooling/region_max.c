/* The maximum of each region. Small planes of adaptive regions are processed in tiles (max_tiles.c), other planes by
   lines (region_lines.h); in channels-last images the lanes are channels. */

#include "pooling/forward.h"
#include "pooling/max_tiles.h"
#include "pooling/region_lines.h"

typedef struct RegionMax {
  const PoolingRegions *regions;
  PoolingImages x, y, index; /* input, output, indices */
  const real *input;
  real *output;
  int64_t *indices;
} RegionMax;

/* One output after the other. */
static void maxPlain(const RegionMax *f)
{
  const WindowAxis *d = &f->regions->pooling.axis[0], *h = &f->regions->pooling.axis[1];
  const WindowAxis *w = &f->regions->pooling.axis[2];
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const int64_t rows = x->n * x->c * d->output * h->output;
  THNN_PARALLEL_FOR(row, rows, rows * w->input) {
    const int64_t slice = row / h->output, o = row % h->output, plane = slice / d->output, od = slice % d->output;
    const int64_t n = plane / x->c, c = plane % x->c;
    const real *from = f->input + imagesPlane(x, plane);
    const Region depth = regionOf(f->regions, 0, regionSample(f->regions, 0, n, c), od);
    const Region height = regionOf(f->regions, 1, regionSample(f->regions, 1, n, c), o);
    const real sample = regionSample(f->regions, 2, n, c);
    for (int64_t j = 0; j < w->output; j++) {
      const Region width = regionOf(f->regions, 2, sample, j);
      real best = 0;
      int64_t bestAt = -1;
      for (int64_t a = depth.start; a < depth.end; a++)
        for (int64_t b = height.start; b < height.end; b++)
          for (int64_t k = width.start; k < width.end; k++) {
            const real value = from[a * x->sd + b * x->sh + k * x->sw];
            if (bestAt < 0 || value > best || value != value)
              best = value, bestAt = (a * h->input + b) * w->input + k;
          }
      f->output[imagesSlice(y, slice) + o * y->sh + j * y->sw] = best;
      f->indices[imagesSlice(index, slice) + o * index->sh + j * index->sw] = bestAt;
    }
  }
}

/* --- planes --- */

/* Largest values and their positions in the plane: tiles of lines, transposed lines, and results before and after
   transposition. */
typedef struct MaxBuffers {
  const RegionMax *f;
  RegionLines lines;
  real *line, *transposed, *best, *row;
  vlane *position, *transposedPosition, *bestPosition, *rowPosition;
} MaxBuffers;

static size_t maxBuffers(void *memory, const RegionMax *f, const RegionLines *lines, MaxBuffers *b)
{
  ScratchArena arena = {memory, 0};
  *b = (MaxBuffers){.f = f, .lines = *lines};
  regionLinesTake(&arena, &b->lines);
  b->line = regionTileTake(&arena);
  b->transposed = regionTileTake(&arena);
  b->best = regionTileTake(&arena);
  b->row = regionTileTake(&arena);
  b->position = regionTileTake(&arena);
  b->transposedPosition = regionTileTake(&arena);
  b->bestPosition = regionTileTake(&arena);
  b->rowPosition = regionTileTake(&arena);
  return (size_t)arena.bytes;
}

/* The first of the largest elements of each column of a line from column x0 on, the columns of a row being `step`
   apart. */
static ALWAYS_INLINE void maxBlock(const int64_t *first, int vectors, int lanes, const RegionMax *f,
                                   const RegionLine *source, int64_t x0, int64_t step, real *line, vlane *position)
{
  const PoolingImages x = f->x;
  const Region d = source->depth, h = source->height;
  const real *plane = f->input + source->n * x.sn + source->c * x.sc + x0 * step;
  vreal best[MAX_VECTORS];
  vint at[MAX_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    best[v] = regionLoad(plane + d.start * x.sd + h.start * x.sh, first[v], step, lanes);
    at[v] = vi_set1((vlane)((d.start * x.h + h.start) * x.w));
  }
  for (int64_t k = d.start; k < d.end; k++)
    for (int64_t r = h.start + (k == d.start); r < h.end; r++) {
      const vint here = vi_set1((vlane)((k * x.h + r) * x.w));
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        const vreal value = regionLoad(plane + k * x.sd + r * x.sh, first[v], step, lanes);
        const vmask larger = m_or(v_gt(value, best[v]), v_ne(value, value));
        best[v] = v_sel(larger, value, best[v]);
        at[v] = vi_sel(larger, here, at[v]);
      }
    }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    v_store(line + first[v], best[v]);
    vi_store(position + first[v], at[v] + vi_set1((vlane)(x0 + first[v])) + ramp(1));
  }
}

static void maxLine(const RegionMax *f, const RegionLine *source, int64_t x0, int64_t n, real *line,
                    vlane *position)
{
  const int64_t step = f->x.sw;
  if (step == 1) FOR_LANE_BLOCKS(n, maxBlock, f, source, x0, 1, line, position);
  else FOR_LANE_BLOCKS(n, maxBlock, f, source, x0, step, line, position);
}

static ALWAYS_INLINE vmask isBelow(vint a, vint b)
{
  return vi_eq((a - b) >> (8 * (int)sizeof(vlane) - 1), vi_set1(-1));
}

/* Combines the columns x0 to x1 - 1 of the transposed lines with the maxima of the regions. A later column wins with a
   larger value, with an equal value in an earlier row, and with NaN, unless the maximum is a NaN in a later row. */
static void maxColumns(const MaxBuffers *b, int64_t x0, int64_t x1)
{
  const RegionLines *l = &b->lines;
  for (int64_t j = 0; j < l->end - l->first; j++) {
    const Region r = l->columns[j];
    const int64_t end = MIN(r.end, x1);
    for (int v = 0; v < LINE_VECTORS; v++) {
      int64_t c = MAX(r.start, x0);
      if (c >= end) continue;
      const real *from = b->transposed - x0 * BLOCK_LINES + v * VL;
      const vlane *fromPosition = b->transposedPosition - x0 * BLOCK_LINES + v * VL;
      real *to = b->best + j * BLOCK_LINES + v * VL;
      vlane *toPosition = b->bestPosition + j * BLOCK_LINES + v * VL;
      const bool isFirst = c == r.start;
      vreal best = isFirst ? v_load(from + c * BLOCK_LINES) : v_load(to);
      vint bestAt = isFirst ? vi_load(fromPosition + c * BLOCK_LINES) : vi_load(toPosition);
      for (c += isFirst; c < end; c++) {
        const vreal value = v_load(from + c * BLOCK_LINES);
        const vint at = vi_load(fromPosition + c * BLOCK_LINES);
        const vmask earlier = m_and(v_eq(value, best), isBelow(at, bestAt));
        const vmask number = m_or(v_eq(best, best), isBelow(bestAt, at));
        const vmask larger = m_or(m_or(v_gt(value, best), earlier), m_and(v_ne(value, value), number));
        best = v_sel(larger, value, best);
        bestAt = vi_sel(larger, at, bestAt);
      }
      v_store(to, best);
      vi_store(toPosition, bestAt);
    }
  }
}

static void storeRows(const MaxBuffers *b)
{
  const PoolingImages *y = &b->f->y, *index = &b->f->index;
  const RegionLines *l = &b->lines;
  const int64_t n = l->end - l->first, j0 = l->first;
  for (int64_t i = 0; i < l->count; i++) {
    const RegionLine *s = &l->block[i];
    const real *from = b->row + i * LINE_PITCH;
    const vlane *fromPosition = b->rowPosition + i * LINE_PITCH;
    for (int64_t d = s->d; d < s->d + s->slices; d++) {
      real *to = b->f->output + s->n * y->sn + s->c * y->sc + d * y->sd + s->first * y->sh + j0 * y->sw;
      int64_t *indexTo = b->f->indices + s->n * index->sn + s->c * index->sc + d * index->sd +
                         s->first * index->sh + j0 * index->sw;
      for (int64_t row = 0; row < s->rows; row++, to += y->sh, indexTo += index->sh) {
        if (y->sw == 1) copyLanes(to, from, n);
        for (int64_t j = 0; j < n && y->sw != 1; j++) to[j * y->sw] = from[j];
        if (index->sw == 1) widenIndices(indexTo, fromPosition, n);
        for (int64_t j = 0; j < n && index->sw != 1; j++) indexTo[j * index->sw] = fromPosition[j];
      }
    }
  }
}

static void maxLines(void *context)
{
  MaxBuffers *b = context;
  RegionLines *l = &b->lines;
  for (int64_t j = 0; j < b->f->y.w; j = l->end) {
    regionTile(l, j);
    const int64_t end = l->columns[l->end - j - 1].end;
    for (int64_t x0 = l->columns[0].start, x1; x0 < end; x0 = x1) {
      x1 = MIN(end, x0 + TILE_COLUMNS);
      for (int64_t i = 0; i < l->count; i++)
        maxLine(b->f, &l->block[i], x0, x1 - x0, b->line + i * LINE_PITCH, b->position + i * LINE_PITCH);
      THNN_(transpose)(b->transposed, BLOCK_LINES, b->line, LINE_PITCH, l->count, x1 - x0);
      THNN_(transpose)((real *)b->transposedPosition, BLOCK_LINES, (const real *)b->position, LINE_PITCH, l->count,
                       x1 - x0);
      maxColumns(b, x0, x1);
    }
    THNN_(transpose)(b->row, LINE_PITCH, b->best, BLOCK_LINES, l->end - j, l->count);
    THNN_(transpose)((real *)b->rowPosition, LINE_PITCH, (const real *)b->bestPosition, BLOCK_LINES, l->end - j,
                     l->count);
    storeRows(b);
  }
}

static bool maxPlanes(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y;
  const RegionLines lines = regionLines(f->regions, x, y);
  MaxBuffers sizes;
  const size_t bytes = maxBuffers(NULL, f, &lines, &sizes);
  THNN_PARALLEL_FOR(task, ceilDivide(lines.units, lines.perTask), x->n * x->c * y->d * y->h * x->w) {
    MaxBuffers b;
    maxBuffers(thnn_scratch(bytes), f, &lines, &b);
    memset(b.transposed, 0, sizeof(real) * LINE_PITCH * BLOCK_LINES); /* lanes without a line */
    memset(b.transposedPosition, 0, sizeof(vlane) * LINE_PITCH * BLOCK_LINES);
    regionBlocks(&b.lines, task, maxLines, &b);
  }
  return true;
}

static bool maxTiles(const RegionMax *f)
{
  const MaxTiles tiles = {.pooling = &f->regions->pooling,
                          .areRegions = true,
                          .x = f->x,
                          .y = f->y,
                          .index = f->index,
                          .input = f->input,
                          .output = f->output,
                          .indices = f->indices};
  return f->regions->isAdaptive && THNN_(poolingMaxTiles)(&tiles);
}

/* --- channels-last images --- */

typedef struct PixelBuffers {
  LaneRows rows;
  int64_t listed[WINDOW_AXES]; /* size of the region whose elements `rows` lists */
} PixelBuffers;

static size_t pixelBuffers(void *memory, const RegionMax *f, PixelBuffers *b)
{
  ScratchArena arena = {memory, 0};
  double elements = 1;
  for (int a = 0; a < WINDOW_AXES; a++) elements *= (double)regionLongest(f->regions, a);
  *b = (PixelBuffers){.rows = {.count = 1}};
  b->rows.offset = arenaTake(&arena, elements, sizeof(int64_t));
  b->rows.elementIndex = arenaTake(&arena, elements, sizeof(vlane));
  return (size_t)arena.bytes;
}

/* Lists the elements of a region of `size` elements, relative to the first one. */
static void listElements(const RegionMax *f, const int64_t *size, PixelBuffers *b)
{
  const PoolingImages *x = &f->x;
  if (!memcmp(size, b->listed, sizeof b->listed)) return;
  memcpy(b->listed, size, sizeof b->listed);
  LaneRows *s = &b->rows;
  s->elements = 0;
  for (int64_t d = 0; d < size[0]; d++)
    for (int64_t h = 0; h < size[1]; h++)
      for (int64_t w = 0; w < size[2]; w++) {
        s->offset[s->elements] = d * x->sd + h * x->sh + w * x->sw;
        s->elementIndex[s->elements++] = (vlane)((d * x->h + h) * x->w + w);
      }
}

static bool maxChannelsLast(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const PoolingRegions *regions = f->regions;
  PixelBuffers sizes;
  const size_t bytes = pixelBuffers(NULL, f, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  const int64_t pixels = y->n * y->d * y->h * y->w;
  const int64_t size = x->c * regionLongest(regions, 0) * regionLongest(regions, 1) * regionLongest(regions, 2);
  const int64_t perTask = rowsPerTask(size);
  THNN_PARALLEL_FOR(task, ceilDivide(pixels, perTask), pixels * size) {
    PixelBuffers b;
    pixelBuffers(thnn_scratch(bytes), f, &b);
    const int64_t end = MIN(pixels, (task + 1) * perTask);
    for (int64_t pixel = task * perTask; pixel < end; pixel++) {
      const int64_t row = pixel / y->w, slice = row / y->h, n = slice / y->d, j = pixel % y->w, o = row % y->h;
      const int64_t od = slice % y->d;
      const Region d = regionOf(regions, 0, 0, od), h = regionOf(regions, 1, 0, o), w = regionOf(regions, 2, 0, j);
      listElements(f, (int64_t[]){d.end - d.start, h.end - h.start, w.end - w.start}, &b);
      b.rows.from = f->input + n * x->sn + d.start * x->sd + h.start * x->sh + w.start * x->sw;
      b.rows.indexBase = (d.start * x->h + h.start) * x->w + w.start;
      b.rows.to = f->output + n * y->sn + od * y->sd + o * y->sh + j * y->sw;
      b.rows.index = f->indices + n * index->sn + od * index->sd + o * index->sh + j * index->sw;
      THNN_(poolingMaxLanes)(x->c, &b.rows);
    }
  }
  return true;
}

/* --- channels-last images, fractional regions: each lane has its own regions --- */

/* Where regions begin, for each channel: along the width, and summed over depth and height for one row of y. */
typedef struct FractionalBuffers {
  real *sample[WINDOW_AXES]; /* per channel */
  vlane *column;             /* per output column and channel */
  vlane *offset, *position;  /* of a row: offsets in the image, input elements */
} FractionalBuffers;

static size_t fractionalBuffers(void *memory, const RegionMax *f, FractionalBuffers *b)
{
  ScratchArena arena = {memory, 0};
  const double c = (double)f->x.c;
  for (int a = 0; a < WINDOW_AXES; a++) b->sample[a] = arenaTake(&arena, c, sizeof(real));
  b->column = arenaTake(&arena, (double)f->y.w * c, sizeof(vlane));
  b->offset = arenaTake(&arena, c, sizeof(vlane));
  b->position = arenaTake(&arena, c, sizeof(vlane));
  return (size_t)arena.bytes;
}

static void fractionalColumns(const RegionMax *f, int64_t n, const FractionalBuffers *b)
{
  const int64_t channels = f->x.c;
  for (int a = 0; a < WINDOW_AXES; a++)
    for (int64_t c = 0; c < channels; c++) b->sample[a][c] = regionSample(f->regions, a, n, c);
  for (int64_t j = 0; j < f->y.w; j++)
    for (int64_t c = 0; c < channels; c++)
      b->column[j * channels + c] =
          (vlane)regionFractional(&f->regions->pooling.axis[2], b->sample[2][c], j).start;
}

static void fractionalRow(const RegionMax *f, int64_t od, int64_t o, const FractionalBuffers *b)
{
  const PoolingImages *x = &f->x;
  for (int64_t c = 0; c < x->c; c++) {
    const int64_t d = regionFractional(&f->regions->pooling.axis[0], b->sample[0][c], od).start;
    const int64_t h = regionFractional(&f->regions->pooling.axis[1], b->sample[1][c], o).start;
    b->offset[c] = (vlane)(d * x->sd + h * x->sh + c);
    b->position[c] = (vlane)((d * x->h + h) * x->w);
  }
}

static ALWAYS_INLINE void fractionalBlock(const int64_t *first, int vectors, int lanes, const RegionMax *f,
                                          const real *image, const vlane *column, const FractionalBuffers *b,
                                          real *to, int64_t *index)
{
  const PoolingImages x = f->x;
  const WindowAxis *axis = f->regions->pooling.axis;
  for (int v = 0; v < vectors; v++) {
    const vint w = (vint)loadLanes((const real *)column + first[v], lanes);
    const vint offset = (vint)loadLanes((const real *)b->offset + first[v], lanes) + w * vi_set1((vlane)x.sw);
    const vint position = (vint)loadLanes((const real *)b->position + first[v], lanes) + w;
    vreal best = v_gather(image, offset);
    vint at = {0};
    for (int64_t k = 0; k < axis[0].kernel; k++)
      for (int64_t r = 0; r < axis[1].kernel; r++)
        for (int64_t c = 0; c < axis[2].kernel; c++) {
          const vreal value = v_gather(image + k * x.sd + r * x.sh + c * x.sw, offset);
          const vmask larger = m_or(v_gt(value, best), v_ne(value, value));
          best = v_sel(larger, value, best);
          at = vi_sel(larger, vi_set1((vlane)((k * x.h + r) * x.w + c)), at);
        }
    storeLanes(to + first[v], best, lanes);
    storeIndices(index + first[v], at + position, lanes);
  }
}

static bool fractionalChannelsLast(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  FractionalBuffers sizes;
  const size_t bytes = fractionalBuffers(NULL, f, &sizes);
  const double span = (double)x->d * (double)x->sd + (double)x->h * (double)x->sh + (double)x->w * (double)x->sw;
  if (bytes > THNN_SCRATCH_LIMIT || span + (double)x->c > (sizeof(real) == 4 ? 0x1p31 : 0x1p62)) return false;
  const int64_t rows = y->n * y->d * y->h, elements = f->regions->pooling.axis[0].kernel *
                                                      f->regions->pooling.axis[1].kernel *
                                                      f->regions->pooling.axis[2].kernel;
  const int64_t perTask = MAX(rowsPerTask(y->w * y->c * elements), MIN(y->d * y->h, 8));
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * y->w * y->c * elements) {
    FractionalBuffers b;
    fractionalBuffers(thnn_scratch(bytes), f, &b);
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask, image = -1; row < end; row++) {
      const int64_t slice = row / y->h, o = row % y->h, n = slice / y->d, od = slice % y->d;
      if (n != image) fractionalColumns(f, image = n, &b);
      fractionalRow(f, od, o, &b);
      real *to = f->output + n * y->sn + od * y->sd + o * y->sh;
      int64_t *indexTo = f->indices + n * index->sn + od * index->sd + o * index->sh;
      for (int64_t j = 0; j < y->w; j++)
        FOR_LANE_BLOCKS(x->c, fractionalBlock, f, f->input + n * x->sn, b.column + j * x->c, &b, to + j * y->sw,
                        indexTo + j * index->sw);
    }
  }
  return true;
}

void THNN_(poolingRegionMax)(const PoolingRegions *regions, const THTensor *input, THTensor *output,
                             THIndexTensor *indices)
{
  const Pooling *pooling = &regions->pooling;
  const RegionMax f = {.regions = regions,
                       .x = poolingImages(pooling, input),
                       .y = poolingImages(pooling, output),
                       .index = poolingImages(pooling, indices),
                       .input = TH_DATA(input),
                       .output = TH_DATA(output),
                       .indices = indices->data};
  const bool channelsLast =
      imagesAreChannelsLast(&f.x) && imagesAreChannelsLast(&f.y) && imagesAreChannelsLast(&f.index);
  const bool done = indexFitsLanes(pooling) && (!channelsLast      ? maxTiles(&f) || maxPlanes(&f)
                                                : regions->samples ? fractionalChannelsLast(&f)
                                                                   : maxChannelsLast(&f));
  if (!done) maxPlain(&f);
}
