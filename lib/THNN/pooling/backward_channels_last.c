/* Lanes are channels; rows are pixels of an input row, `stride` apart, whose sources have the same offsets. */

#include "pooling/backward.h"

/* `packed` is the number of channels if pixels of gradOutput are copied to `pixels`, else 0. */
static size_t backwardBuffers(void *memory, const Pooling *pooling, int64_t packed, GatherSources *s,
                              real **pixels)
{
  ScratchArena arena = {memory, 0};
  double sources = 1;
  for (int a = 0; a < WINDOW_AXES; a++) sources *= (double)windowOverlap(&pooling->axis[a]);
  gatherSourcesTake(&arena, sources, s);
  *pixels = arenaTake(&arena, sources * (double)packed, sizeof(real));
  return (size_t)arena.bytes;
}

/* The outputs low <= o < high of an axis. */
typedef struct OutputRange {
  int64_t low, high;
} OutputRange;

/* True if all divisors of a range equal the kernel size: divisors that are full at both ends are full throughout. */
static bool divisorsAreFull(const WindowAxis *axis, OutputRange range, bool countPadding)
{
  return range.low < range.high && poolingDivisor(axis, range.low, countPadding) == axis->kernel &&
         poolingDivisor(axis, range.high - 1, countPadding) == axis->kernel;
}

/* Finds the sources of input pixel in[] in row order. Offsets are relative to pixel range[2].low of the first row and
   slice of gradOutput and of the indices. */
static void findSources(const PoolingBackward *f, const OutputRange *range, const int64_t *in, const real *from,
                        int64_t packed, real *pixels, GatherSources *s)
{
  const Pooling *pooling = f->pooling;
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const PoolingImages *g = &f->g, *index = &f->index;
  s->count = 0;
  for (int64_t od = range[0].low; od < range[0].high; od++) {
    if (!windowReads(d, od, in[0])) continue;
    const real slice = (real)poolingDivisor(d, od, f->countPadding);
    for (int64_t o = range[1].low; o < range[1].high; o++) {
      if (!windowReads(h, o, in[1])) continue;
      const real row = slice * (real)poolingDivisor(h, o, f->countPadding);
      for (int64_t k = range[2].low; k < range[2].high; k++) {
        if (!windowReads(w, k, in[2])) continue;
        const real *pixel = from + od * g->sd + o * g->sh + k * g->sw;
        for (int64_t l = 0; l < packed; l++) pixels[s->count * packed + l] = pixel[l * g->sc];
        s->offset[s->count] = packed ? s->count * packed : od * g->sd + o * g->sh + (k - range[2].low) * g->sw;
        s->indexOffset[s->count] = od * index->sd + o * index->sh + (k - range[2].low) * index->sw;
        if (f->scale) s->weight[s->count] = 1;
        else if (!f->indices) s->weight[s->count] = 1 / (row * (real)poolingDivisor(w, k, f->countPadding));
        else if (pooling->index != INDEX_INPUT)
          s->kernelIndex[s->count] = (vlane)((in[0] - windowStart(d, od)) / d->dilation * indexWeight(pooling, 0) +
                                             (in[1] - windowStart(h, o)) / h->dilation * indexWeight(pooling, 1) +
                                             (in[2] - windowStart(w, k)) / w->dilation * indexWeight(pooling, 2));
        s->count++;
      }
    }
  }
}

/* A gradOutput of another layout, an expanded one for instance, is packed pixel by pixel. */
bool THNN_(poolingBackwardChannelsLast)(const PoolingBackward *f)
{
  const Pooling *pooling = f->pooling;
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const PoolingImages *g = &f->g, *index = &f->index, *x = &f->x;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  GatherSources sizes;
  real *none;
  const size_t bytes = backwardBuffers(NULL, pooling, packed, &sizes, &none);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const GatherMode mode = !f->indices                     ? GATHER_WEIGHTED
                          : pooling->index == INDEX_INPUT ? GATHER_INPUT
                                                          : GATHER_KERNEL;
  const bool allFull = f->indices || f->scale || (windowIsInside(d) && windowIsInside(h) && windowIsInside(w));
  const bool aligned =
      x->c % VL == 0 && (x->sn | x->sd | x->sh | x->sw) % VL == 0 && (uintptr_t)f->gradInput % VBYTES == 0;
  const int64_t rows = x->n * d->input * h->input, perTask = rowsPerTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * w->input * x->c) {
    GatherSources s = {0};
    GatherRows c = {.fromStep = g->sw,
                    .fromIndexStep = index->sw,
                    .toStep = w->stride * x->sw,
                    .indexPerRow = w->stride,
                    .scale = f->scale,
                    .streams = f->streams && aligned};
    real *pixels;
    backwardBuffers(thnn_scratch(bytes), pooling, packed, &s, &pixels);
    const int64_t end = MIN(rows, (task + 1) * perTask);
    OutputRange range[WINDOW_AXES] = {{0, 0}};
    for (int64_t row = task * perTask; row < end; row++) {
      const int64_t slice = row / h->input, i = row % h->input, n = slice / d->input, depth = slice % d->input;
      if (i == 0) range[1] = (OutputRange){0, 0};
      if (depth == 0) range[0] = (OutputRange){0, 0};
      windowSlide(d, depth, &range[0].low, &range[0].high);
      windowSlide(h, i, &range[1].low, &range[1].high);
      const real *from = f->gradOutput + n * g->sn;
      const bool rowFull = allFull || (divisorsAreFull(d, range[0], f->countPadding) &&
                                       divisorsAreFull(h, range[1], f->countPadding));
      for (int64_t q = 0; q < w->stride && q < w->input; q++) {
        range[2] = (OutputRange){0, 0};
        for (int64_t j = q; j < w->input; j += c.count * w->stride) {
          windowSlide(w, j, &range[2].low, &range[2].high);
          const bool full = allFull || (rowFull && divisorsAreFull(w, range[2], f->countPadding));
          findSources(f, range, (int64_t[]){depth, i, j}, from, packed, pixels, &s);
          OutputRange next = range[2];
          for (c.count = 1; full && !packed && j + c.count * w->stride < w->input; c.count++) {
            windowSlide(w, j + c.count * w->stride, &next.low, &next.high);
            if (next.low != range[2].low + c.count || next.high != range[2].high + c.count) break;
            if (!allFull && !divisorsAreFull(w, next, f->countPadding)) break;
          }
          c.from = packed ? pixels : from + range[2].low * g->sw;
          c.fromIndex = f->indices ? f->indices + n * index->sn + range[2].low * index->sw : NULL;
          c.to = f->gradInput + n * x->sn + depth * x->sd + i * x->sh + j * x->sw;
          c.indexBase = (depth * h->input + i) * w->input + j;
          THNN_(poolingGather)(x->c, &c, &s, mode);
        }
      }
    }
  }
  return true;
}
