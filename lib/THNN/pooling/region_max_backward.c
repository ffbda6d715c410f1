/* The gradient of the maximum of regions. If every index lies in its adaptive region, each input of a channels-last
   image gathers the gradients with its index from the regions that it belongs to; lanes are channels. Otherwise
   gradients are scattered. */

#include "pooling/backward.h"
#include "pooling/indexed.h"
#include "pooling/regions.h"

typedef struct RegionMaxGradient {
  const WindowAxis *axis;
  const WindowAxis *inverse; /* axes whose regions are the outputs that an input belongs to */
  PoolingImages g, index, x; /* gradOutput, indices, gradInput */
  const real *gradOutput;
  const int64_t *indices;
  real *gradInput;
  bool streams;
} RegionMaxGradient;

/* The sign bit of a lane is set if its index is not in the region. */
static ALWAYS_INLINE void outsideBlock(const int64_t *first, int vectors, int lanes, const PoolingImages *x,
                                       const int64_t *index, Region d, Region h, Region w, vint *outside)
{
  for (int v = 0; v < vectors; v++) {
    const vint at = loadIndices(index + first[v], lanes);
    vint nowhere = vi_set1(-1);
    for (int64_t k = d.start; k < d.end; k++)
      for (int64_t r = h.start; r < h.end; r++) {
        const vint past = at - vi_set1((vlane)((k * x->h + r) * x->w + w.start));
        nowhere &= past | (vi_set1((vlane)(w.end - w.start - 1)) - past);
      }
    *outside |= lanes < VL ? nowhere & (ramp(1) < vi_set1((vlane)lanes)) : nowhere;
  }
}

static bool indicesInRegions(const RegionMaxGradient *f)
{
  const PoolingImages *x = &f->x, *index = &f->index;
  const int64_t rows = index->n * index->d * index->h, perTask = rowsPerTask(index->w * index->c);
  int found = 0;
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * index->w * index->c) {
    const int64_t end = MIN(rows, (task + 1) * perTask);
    vint outside = {0};
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / index->h, o = row % index->h, n = slice / index->d, od = slice % index->d;
      const Region d = regionAdaptive(&f->axis[0], od), h = regionAdaptive(&f->axis[1], o);
      const int64_t *from = f->indices + n * index->sn + od * index->sd + o * index->sh;
      for (int64_t j = 0; j < index->w; j++)
        FOR_LANE_BLOCKS(x->c, outsideBlock, x, from + j * index->sw, d, h, regionAdaptive(&f->axis[2], j),
                        &outside);
    }
    for (int i = 0; i < VL; i++)
      if (outside[i] < 0) __atomic_store_n(&found, 1, __ATOMIC_RELAXED);
  }
  return !found;
}

static size_t gatherBuffers(void *memory, const RegionMaxGradient *f, GatherSources *s, Region **columns)
{
  ScratchArena arena = {memory, 0};
  double sources = 1;
  for (int a = 0; a < WINDOW_AXES; a++) sources *= (double)regionAdaptiveLongest(&f->inverse[a]);
  gatherSourcesTake(&arena, sources, s);
  *columns = arenaTake(&arena, (double)f->x.w, sizeof(Region));
  return (size_t)arena.bytes;
}

/* Lists outputs relative to the first one. */
static void listSources(const RegionMaxGradient *f, Region d, Region h, Region w, GatherSources *s)
{
  const PoolingImages *g = &f->g, *index = &f->index;
  s->count = 0;
  for (int64_t k = 0; k < d.end - d.start; k++)
    for (int64_t r = 0; r < h.end - h.start; r++)
      for (int64_t c = 0; c < w.end - w.start; c++) {
        s->offset[s->count] = k * g->sd + r * g->sh + c * g->sw;
        s->indexOffset[s->count++] = k * index->sd + r * index->sh + c * index->sw;
      }
}

static bool gatherChannelsLast(const RegionMaxGradient *f)
{
  const PoolingImages *x = &f->x, *g = &f->g, *index = &f->index;
  GatherSources sizes;
  Region *none;
  const size_t bytes = gatherBuffers(NULL, f, &sizes, &none);
  if (bytes > THNN_SCRATCH_LIMIT || !indicesInRegions(f)) return false;
  const bool aligned =
      x->c % VL == 0 && (x->sn | x->sd | x->sh | x->sw) % VL == 0 && (uintptr_t)f->gradInput % VBYTES == 0;
  const int64_t rows = x->n * x->d * x->h, perTask = rowsPerTask(x->w * x->c);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * x->w * x->c) {
    GatherSources s = {0};
    Region *columns;
    gatherBuffers(thnn_scratch(bytes), f, &s, &columns);
    for (int64_t j = 0; j < x->w; j++) columns[j] = regionAdaptive(&f->inverse[2], j);
    GatherRows run = {.toStep = x->sw, .indexPerRow = 1, .streams = f->streams && aligned};
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / x->h, i = row % x->h, n = slice / x->d, depth = slice % x->d;
      const Region d = regionAdaptive(&f->inverse[0], depth), h = regionAdaptive(&f->inverse[1], i);
      for (int64_t j = 0; j < x->w; j += run.count) {
        const Region w = columns[j];
        for (run.count = 1; j + run.count < x->w; run.count++)
          if (columns[j + run.count].start != w.start || columns[j + run.count].end != w.end) break;
        listSources(f, d, h, w, &s);
        run.from = f->gradOutput + n * g->sn + d.start * g->sd + h.start * g->sh + w.start * g->sw;
        run.fromIndex =
            f->indices + n * index->sn + d.start * index->sd + h.start * index->sh + w.start * index->sw;
        run.to = f->gradInput + n * x->sn + depth * x->sd + i * x->sh + j * x->sw;
        run.indexBase = slice % x->d * x->h * x->w + i * x->w + j;
        THNN_(poolingGather)(x->c, &run, &s, GATHER_INPUT);
      }
    }
  }
  return true;
}

void THNN_(poolingRegionMaxBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                     const THIndexTensor *indices, THTensor *gradInput)
{
  const Pooling *pooling = &regions->pooling;
  const PoolingRegions inverse = regionsInverse(regions);
  const RegionMaxGradient f = {.axis = pooling->axis,
                               .inverse = inverse.pooling.axis,
                               .g = poolingImages(pooling, gradOutput),
                               .index = poolingImages(pooling, indices),
                               .x = poolingImages(pooling, gradInput),
                               .gradOutput = TH_DATA(gradOutput),
                               .indices = indices->data,
                               .gradInput = TH_DATA(gradInput),
                               .streams = backwardStreams(gradInput, gradOutput, indices)};
  const bool channelsLast =
      imagesAreChannelsLast(&f.g) && imagesAreChannelsLast(&f.index) && imagesAreChannelsLast(&f.x);
  const bool done = regions->isAdaptive && channelsLast && indexFitsLanes(pooling) && gatherChannelsLast(&f);
  if (!done) THNN_(poolingScatter)(pooling, gradOutput, indices, gradInput, true);
}
