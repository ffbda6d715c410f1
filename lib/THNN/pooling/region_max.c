/* The maximum of each region. In planes, the rows of a region are first compared column by column, with columns in lanes,
   and the maxima of the columns then along each region. In channels-last images, lanes are channels. */

#include "pooling/forward.h"
#include "pooling/regions.h"

typedef struct RegionMax {
  const PoolingRegions *regions;
  PoolingImages x, y, index; /* input, output, indices */
  const real *input;
  real *output;
  int64_t *indices;
} RegionMax;

/* Whether an element wins against the best one so far. Positions decide between equal values, and between NaN: the first
   number and the last NaN in row order win, as they do in a loop in that order. */
static ALWAYS_INLINE bool wins(real x, int64_t at, real best, int64_t bestAt)
{
  return (x > best) | ((x == best) & (at < bestAt)) | ((x != x) & ((best == best) | (at > bestAt)));
}

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

typedef struct MaxBuffers {
  LaneRows rows;
  int64_t listed[WINDOW_AXES]; /* size of the region that `rows` lists the elements of */
  real *line;                  /* maxima of the columns, and their positions in the plane */
  int64_t *lineIndex;
  Region *columns; /* of each output of a row */
} MaxBuffers;

/* `width` is that of the line: 0 for lanes of channels. */
static size_t maxBuffers(void *memory, const RegionMax *f, int64_t width, MaxBuffers *b)
{
  ScratchArena arena = {memory, 0};
  double elements = 1;
  for (int a = 0; a < WINDOW_AXES - (width > 0); a++) elements *= (double)regionLongest(f->regions, a);
  *b = (MaxBuffers){.listed = {0}};
  b->rows.offset = arenaTake(&arena, elements, sizeof(int64_t));
  b->rows.elementIndex = arenaTake(&arena, elements, sizeof(vlane));
  b->line = arenaTake(&arena, (double)width, sizeof(real));
  b->lineIndex = arenaTake(&arena, (double)width, sizeof(int64_t));
  b->columns = arenaTake(&arena, (double)f->y.w, sizeof(Region));
  return (size_t)arena.bytes;
}

/* Lists the elements of a region of `size` elements, relative to the first one. */
static void listElements(const RegionMax *f, const int64_t *size, MaxBuffers *b)
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

static void findColumns(const RegionMax *f, int64_t n, int64_t c, Region *columns)
{
  const real sample = regionSample(f->regions, 2, n, c);
  for (int64_t j = 0; j < f->y.w; j++) columns[j] = regionOf(f->regions, 2, sample, j);
}

/* The maxima of the regions of a row. */
static void maxOfColumns(const MaxBuffers *b, int64_t outputs, real *y, int64_t ySteps, int64_t *index,
                         int64_t indexSteps)
{
  for (int64_t j = 0; j < outputs; j++) {
    const Region r = b->columns[j];
    real best = b->line[r.start];
    int64_t bestAt = b->lineIndex[r.start];
    for (int64_t k = r.start + 1; k < r.end; k++) {
      const real x = b->line[k];
      const int64_t at = b->lineIndex[k];
      const bool take = wins(x, at, best, bestAt);
      best = take ? x : best;
      bestAt = take ? at : bestAt;
    }
    y[j * ySteps] = best;
    index[j * indexSteps] = bestAt;
  }
}

static bool maxPlanes(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const PoolingRegions *regions = f->regions;
  MaxBuffers sizes;
  const size_t bytes = maxBuffers(NULL, f, x->w, &sizes);
  if (x->sw != 1 || bytes > THNN_SCRATCH_LIMIT) return false;
  const int64_t rows = x->n * x->c * y->d * y->h;
  const int64_t rowSize = x->w * regionLongest(regions, 0) * regionLongest(regions, 1);
  const int64_t perTask = rowsPerTask(rowSize);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    MaxBuffers b;
    maxBuffers(thnn_scratch(bytes), f, x->w, &b);
    b.rows.count = 1, b.rows.to = b.line, b.rows.index = b.lineIndex;
    b.rows.indexPerLane = 1, b.rows.indexRamp = ramp(1);
    int64_t found = -1; /* the plane of the columns */
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / y->h, o = row % y->h, plane = slice / y->d, n = plane / x->c, c = plane % x->c;
      if (found < 0 || (regions->samples && plane != found)) findColumns(f, n, c, b.columns);
      found = plane;
      const Region d = regionOf(regions, 0, regionSample(regions, 0, n, c), slice % y->d);
      const Region h = regionOf(regions, 1, regionSample(regions, 1, n, c), o);
      listElements(f, (int64_t[]){d.end - d.start, h.end - h.start, 1}, &b);
      b.rows.from = f->input + imagesPlane(x, plane) + d.start * x->sd + h.start * x->sh;
      b.rows.indexBase = (d.start * x->h + h.start) * x->w;
      THNN_(poolingMaxLanes)(x->w, &b.rows);
      maxOfColumns(&b, y->w, f->output + imagesSlice(y, slice) + o * y->sh, y->sw,
                   f->indices + imagesSlice(index, slice) + o * index->sh, index->sw);
    }
  }
  return true;
}

static bool maxChannelsLast(const RegionMax *f)
{
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const PoolingRegions *regions = f->regions;
  MaxBuffers sizes;
  const size_t bytes = maxBuffers(NULL, f, 0, &sizes);
  if (regions->samples || bytes > THNN_SCRATCH_LIMIT) return false;
  const int64_t pixels = y->n * y->d * y->h * y->w;
  const int64_t size = x->c * regionLongest(regions, 0) * regionLongest(regions, 1) * regionLongest(regions, 2);
  const int64_t perTask = rowsPerTask(size);
  THNN_PARALLEL_FOR(task, ceilDivide(pixels, perTask), pixels * size) {
    MaxBuffers b;
    maxBuffers(thnn_scratch(bytes), f, 0, &b);
    b.rows.count = 1;
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
  const bool done = indexFitsLanes(pooling) && (channelsLast ? maxChannelsLast(&f) : maxPlanes(&f));
  if (!done) maxPlain(&f);
}
