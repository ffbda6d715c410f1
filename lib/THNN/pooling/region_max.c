/* The maximum of each region: in planes by lines and prefix levels (region_lines.h); in channels-last images, lanes are
   channels. */

#include "pooling/forward.h"
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

typedef struct MaxBuffers {
  RegionLines lines;
  real *line;      /* largest values: lines, then levels */
  vlane *position; /* of each in its plane */
} MaxBuffers;

static size_t maxBuffers(void *memory, const RegionLines *lines, MaxBuffers *b)
{
  ScratchArena arena = {memory, 0};
  b->lines = *lines;
  regionLinesTake(&arena, &b->lines);
  b->line = arenaTake(&arena, regionLevels(lines), sizeof(real));
  b->position = arenaTake(&arena, regionLevels(lines), sizeof(vlane));
  return (size_t)arena.bytes;
}

/* The first of the largest elements of each column of a region, the columns of a row being `step` apart. */
static ALWAYS_INLINE void maxBlock(const int64_t *first, int vectors, int lanes, const RegionMax *f,
                                   const real *plane, Region d, Region h, int64_t step, real *line,
                                   vlane *position)
{
  const PoolingImages x = f->x;
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
    vi_store(position + first[v], at[v] + vi_set1((vlane)first[v]) + ramp(1));
  }
}

static void maxLine(const RegionMax *f, const real *plane, Region d, Region h, real *line, vlane *position)
{
  const int64_t n = f->x.w, step = f->x.sw;
  if (step == 1) FOR_LANE_BLOCKS(n, maxBlock, f, plane, d, h, 1, line, position);
  else FOR_LANE_BLOCKS(n, maxBlock, f, plane, d, h, step, line, position);
}

static ALWAYS_INLINE vmask isBelow(vint a, vint b)
{
  return vi_eq((a - b) >> (8 * (int)sizeof(vlane) - 1), vi_set1(-1));
}

/* Level k + 1 from level k and the line. A later column wins with a larger value, with an equal one in an earlier row, and
   with a NaN unless there is one in a later row. */
static void maxLevels(const MaxBuffers *b, int64_t lines)
{
  const RegionLines *l = &b->lines;
  const int64_t end = (lines - 1) * l->pitch + l->width;
  for (int64_t k = 1; k < l->longest; k++) {
    const int64_t from = regionLevel(l, k) * l->size, to = regionLevel(l, k + 1) * l->size;
    for (int64_t i = 0; i < end; i += VL) {
      const vreal best = v_load(b->line + from + i), value = v_load(b->line + i + k);
      const vint bestAt = vi_load(b->position + from + i), at = vi_load(b->position + i + k);
      const vmask earlier = m_and(v_eq(value, best), isBelow(at, bestAt));
      const vmask number = m_or(v_eq(best, best), isBelow(bestAt, at));
      const vmask larger = m_or(m_or(v_gt(value, best), earlier), m_and(v_ne(value, value), number));
      v_store(b->line + to + i, v_sel(larger, value, best));
      vi_store(b->position + to + i, vi_sel(larger, at, bestAt));
    }
  }
}

/* The element of a line that is the maximum of columns r. */
static int64_t maxOfRun(const real *line, const vlane *position, Region r)
{
  int64_t best = r.start;
  for (int64_t k = r.start + 1; k < r.end; k++) {
    const bool later = position[k] > position[best], isNumber = line[best] == line[best];
    const bool larger = (line[k] > line[best]) | ((line[k] == line[best]) & !later);
    best = larger | ((line[k] != line[k]) & (isNumber | later)) ? k : best;
  }
  return best;
}

/* Writes the rows of y of a block. `y` and `index` are those of the first row of the chunk. */
static void maxPicks(const RegionMax *f, const MaxBuffers *b, int64_t lines, real *y, int64_t *index)
{
  const RegionLines *l = &b->lines;
  for (int64_t n = 0; n < lines; n++) {
    const real *restrict line = b->line + n * l->pitch;
    const vlane *restrict position = b->position + n * l->pitch;
    for (int64_t o = l->blocks[n].first; o < l->blocks[n].end; o++) {
      real *restrict to = y + o * f->y.sh;
      int64_t *restrict indexTo = index + o * f->index.sh;
      for (int64_t j = 0; j < l->outputs; j++) {
        const int64_t at = l->longest > LONGEST_PREFIX ? maxOfRun(line, position, l->columns[j]) : l->pick[j];
        to[j * f->y.sw] = line[at];
        indexTo[j * f->index.sw] = position[at];
      }
    }
  }
}

static bool maxPlanes(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const PoolingRegions *regions = f->regions;
  const RegionLines lines =
      regionLines(x, y, regions->samples ? regionLongest(regions, 2) : MAX(x->w / y->w, 1),
                  regionLongest(regions, 2), regionLongest(regions, 0) * regionLongest(regions, 1));
  MaxBuffers sizes;
  const size_t bytes = maxBuffers(NULL, &lines, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  THNN_PARALLEL_FOR(task, ceilDivide(lines.units, lines.perTask), x->n * x->c * y->d * y->h * x->w) {
    MaxBuffers b;
    maxBuffers(thnn_scratch(bytes), &lines, &b);
    RegionLines *l = &b.lines;
    memset(b.line, 0, (size_t)regionLevels(l) * sizeof *b.line);
    memset(b.position, 0, (size_t)regionLevels(l) * sizeof *b.position);
    const int64_t first = task * l->perTask, end = MIN(l->units, first + l->perTask);
    for (int64_t unit = first; unit < end; unit++) {
      const int64_t slice = unit / l->chunks, plane = slice / y->d, n = plane / x->c, c = plane % x->c;
      const int64_t top = unit % l->chunks * l->chunk, count = MIN(l->chunk, y->h - top);
      if (unit == first || regions->samples) {
        const real sample = regionSample(regions, 2, n, c);
        for (int64_t j = 0; j < y->w; j++) l->columns[j] = regionOf(regions, 2, sample, j);
        if (l->longest <= LONGEST_PREFIX) regionPicks(l);
      }
      if (unit == first || regions->samples || l->chunks > 1) {
        const real sample = regionSample(regions, 1, n, c);
        for (int64_t o = 0; o < count; o++) l->heights[o] = regionOf(regions, 1, sample, top + o);
      }
      const Region d = regionOf(regions, 0, regionSample(regions, 0, n, c), slice % y->d);
      const real *from = f->input + imagesPlane(x, plane);
      real *to = f->output + imagesSlice(y, slice) + top * y->sh;
      int64_t *indexTo = f->indices + imagesSlice(index, slice) + top * index->sh;
      for (int64_t o = 0, found; o < count; o = l->blocks[found - 1].end) {
        found = regionBlock(l, o, count);
        for (int64_t i = 0; i < found; i++)
          maxLine(f, from, d, l->blocks[i].h, b.line + i * l->pitch, b.position + i * l->pitch);
        if (l->longest <= LONGEST_PREFIX) maxLevels(&b, found);
        maxPicks(f, &b, found, to, indexTo);
      }
    }
  }
  return true;
}

/* --- channels-last images --- */

typedef struct PixelBuffers {
  LaneRows rows;
  int64_t listed[WINDOW_AXES]; /* size of the region that `rows` lists the elements of */
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

/* --- channels-last images, fractional regions: each lane has its own --- */

/* Where regions begin, for each channel: along the width, and summed over depth and height for one row of y. */
typedef struct FractionalBuffers {
  real *sample[WINDOW_AXES]; /* of each channel */
  vlane *column;             /* of each output column and channel */
  vlane *offset, *position;  /* of a row: offsets in the image, and input elements */
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
  const bool done = indexFitsLanes(pooling) && (!channelsLast      ? maxPlanes(&f)
                                                : regions->samples ? fractionalChannelsLast(&f)
                                                                   : maxChannelsLast(&f));
  if (!done) maxPlain(&f);
}
