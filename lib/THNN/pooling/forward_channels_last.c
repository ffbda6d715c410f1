/* Lanes are channels; rows are neighbouring pixels whose windows have the same kernel elements in the input. */

#include "pooling/forward.h"

static size_t forwardBuffers(void *memory, const Pooling *pooling, LaneRows *s)
{
  ScratchArena arena = {memory, 0};
  double elements = 1;
  for (int a = 0; a < WINDOW_AXES; a++) elements *= (double)MIN(pooling->axis[a].kernel, pooling->axis[a].input);
  s->offset = arenaTake(&arena, elements, sizeof(int64_t));
  s->elementIndex = arenaTake(&arena, elements, sizeof(vlane));
  s->rowDivisor = arenaTake(&arena, (double)pooling->axis[2].output, sizeof(real));
  return (size_t)arena.bytes;
}

/* Lists the kernel elements first[] to end[] - 1. */
static void listElements(const PoolingForward *f, const int64_t *first, const int64_t *end, LaneRows *s)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const IndexAxis *i = f->indexAxis;
  s->elements = 0;
  s->columns = end[2] - first[2];
  for (int64_t k = first[0]; k < end[0]; k++)
    for (int64_t r = first[1]; r < end[1]; r++)
      for (int64_t c = first[2]; c < end[2]; c++) {
        s->offset[s->elements] = k * d->dilation * f->x.sd + r * h->dilation * f->x.sh + c * w->dilation * f->x.sw;
        s->elementIndex[s->elements++] = (vlane)(k * i[0].perElement + r * i[1].perElement + c * i[2].perElement);
      }
}

bool THNN_(poolingForwardChannelsLast)(const PoolingForward *f)
{
  const Pooling *pooling = f->pooling;
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  LaneRows sizes;
  const size_t bytes = forwardBuffers(NULL, pooling, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t pixels = x->n * d->output * h->output * w->output, perTask = rowsPerTask(x->c * 4);
  const int64_t most =
      rowBlockCount(w->output, w->kernel, w->stride, (double)(d->kernel * h->kernel * x->c) * sizeof(real));
  THNN_PARALLEL_FOR(task, ceilDivide(pixels, perTask), pixels * x->c * 4) {
    LaneRows s = {.fromStep = w->stride * x->sw,
                  .toStep = y->sw,
                  .indexStep = index->sw,
                  .indexPerRow = f->indexAxis[2].perOutput,
                  .scale = f->scale,
                  .bias = f->bias};
    forwardBuffers(thnn_scratch(bytes), pooling, &s);
    const int64_t endOfTask = MIN(pixels, (task + 1) * perTask);
    int64_t pixel = task * perTask, j = pixel % w->output, row = pixel / w->output;
    int64_t listedFirst[WINDOW_AXES] = {0}, listedEnd[WINDOW_AXES] = {0}; /* the kernel elements listed in s */
    for (; pixel < endOfTask; row++, j = 0) {
      const int64_t slice = row / h->output, o = row % h->output, n = slice / d->output, od = slice % d->output;
      int64_t first[WINDOW_AXES], end[WINDOW_AXES];
      windowElements(d, od, &first[0], &end[0]);
      windowElements(h, o, &first[1], &end[1]);
      const real divisor =
          (real)poolingDivisor(d, od, f->countPadding) * (real)poolingDivisor(h, o, f->countPadding);
      for (; pixel < endOfTask && j < w->output; pixel += s.count, j += s.count) {
        windowElements(w, j, &first[2], &end[2]);
        if (memcmp(first, listedFirst, sizeof first) || memcmp(end, listedEnd, sizeof end)) {
          memcpy(listedFirst, first, sizeof first);
          memcpy(listedEnd, end, sizeof end);
          listElements(f, first, end, &s);
        }
        for (s.count = 1; s.count < most && j + s.count < w->output && pixel + s.count < endOfTask; s.count++) {
          int64_t nextFirst, nextEnd;
          windowElements(w, j + s.count, &nextFirst, &nextEnd);
          if (nextFirst != first[2] || nextEnd != end[2]) break;
        }
        s.from = f->input + n * x->sn + windowStart(d, od) * x->sd + windowStart(h, o) * x->sh +
                 windowStart(w, j) * x->sw;
        s.to = f->output + n * y->sn + od * y->sd + o * y->sh + j * y->sw;
        if (!f->indices) {
          for (int64_t k = 0; k < s.count; k++)
            s.rowDivisor[k] = divisor * (real)poolingDivisor(w, j + k, f->countPadding);
          THNN_(poolingAverageLanes)(x->c, &s);
          continue;
        }
        s.index = f->indices + n * index->sn + od * index->sd + o * index->sh + j * index->sw;
        s.indexBase =
            indexAt(&f->indexAxis[0], od, 0) + indexAt(&f->indexAxis[1], o, 0) + indexAt(&f->indexAxis[2], j, 0);
        if (s.elements > 0) THNN_(poolingMaxLanes)(x->c, &s);
        for (int64_t k = 0; k < s.count && s.elements == 0; k++)
          for (int64_t l = 0; l < x->c; l++) s.to[k * y->sw + l] = LOWEST, s.index[k * index->sw + l] = -1;
      }
    }
  }
  return true;
}
