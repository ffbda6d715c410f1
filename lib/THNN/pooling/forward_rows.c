/* Lanes are output columns; rows are computed in blocks. */

#include "pooling/forward.h"
#include "pooling/row_layout.h"

/* Corrects output o[] of a window that begins outside the input. If all its elements are -inf, or if it has none, the
   loop over lanes returned the -inf of the padding with an index in the padding. */
static void maxAtEdge(const PoolingForward *f, const int64_t *o, real *y, int64_t *index)
{
  int64_t first, end, firstIndex = 0;
  bool isEmpty = false;
  if (*y != (real)-INFINITY) return;
  for (int a = 0; a < WINDOW_AXES; a++) {
    windowElements(&f->pooling->axis[a], o[a], &first, &end);
    isEmpty |= first >= end;
    firstIndex += indexAt(&f->indexAxis[a], o[a], first);
  }
  if (isEmpty) *y = LOWEST;
  *index = isEmpty ? -1 : firstIndex;
}

static bool startsInside(const WindowAxis *axis, int64_t o)
{
  return windowStart(axis, o) >= 0 && windowStart(axis, o) < axis->input;
}

static void maxAtEdges(const PoolingForward *f, int64_t od, int64_t oh, real *y, int64_t *index)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const bool inside = startsInside(d, od) && startsInside(h, oh);
  int64_t j = 0, end = w->output;
  for (; j < end && (!inside || windowStart(w, j) < 0); j++)
    maxAtEdge(f, (int64_t[]){od, oh, j}, y + j, index + j);
  for (; j < end && windowStart(w, end - 1) >= w->input; end--)
    maxAtEdge(f, (int64_t[]){od, oh, end - 1}, y + end - 1, index + end - 1);
}

/* A block of output rows, and the copies of the input rows that it reads: `lines` for each depth of the kernel, `pitch`
   elements each. If the input is read in place, `lines` is 0. */
typedef struct RowBlock {
  int64_t rows, lines, pitch;
} RowBlock;

typedef struct ForwardBuffers {
  LaneRows rows;
  real *lines, *y, *bias;
  int64_t *index;
} ForwardBuffers;

static size_t forwardBuffers(void *memory, const Pooling *pooling, const RowBlock *block, ForwardBuffers *b)
{
  ScratchArena arena = {memory, 0};
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const double outputs = (double)w->output, elements = (double)d->kernel * (double)h->kernel * (double)w->kernel;
  b->lines = arenaTake(&arena, (double)d->kernel * (double)block->lines * (double)block->pitch, sizeof(real));
  b->y = arenaTake(&arena, (double)block->rows * outputs, sizeof(real));
  b->index = arenaTake(&arena, (double)block->rows * outputs, sizeof(int64_t));
  b->rows.offset = arenaTake(&arena, elements, sizeof(int64_t));
  b->rows.elementIndex = arenaTake(&arena, elements, sizeof(vlane));
  b->rows.rowDivisor = arenaTake(&arena, (double)block->rows, sizeof(real));
  b->rows.laneDivisor = arenaTake(&arena, outputs, sizeof(real));
  b->bias = arenaTake(&arena, outputs, sizeof(real));
  return (size_t)arena.bytes;
}

/* Sets the fields of LaneRows that are the same for every row of a call. */
static void forwardLaneRows(const PoolingForward *f, const RowLayout *layout, const RowBlock *block, LaneRows *s)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const IndexAxis *i = f->indexAxis;
  const bool inPlace = block->lines == 0;
  const int64_t line = inPlace ? f->x.sh : block->pitch;
  const int64_t slice = inPlace ? d->dilation * f->x.sd : block->lines * block->pitch;
  s->scale = f->scale ? s->laneDivisor : NULL;
  s->fromStep = h->stride * line;
  s->toStep = f->y.sw == 1 ? f->y.sh : w->output;
  s->indexStep = f->index.sw == 1 ? f->index.sh : w->output;
  s->indexPerRow = f->indexAxis[1].perOutput;
  s->indexPerLane = f->indexAxis[2].perOutput;
  s->indexRamp = ramp(s->indexPerLane);
  s->columns = w->kernel;
  s->elements = 0;
  for (int64_t k = 0; k < d->kernel; k++)
    for (int64_t r = 0; r < h->kernel; r++)
      for (int64_t c = 0; c < w->kernel; c++) {
        const int64_t column = inPlace ? c * w->dilation : rowLayoutElement(layout, w, c);
        s->offset[s->elements] = k * slice + r * h->dilation * line + column;
        s->elementIndex[s->elements++] = (vlane)(k * i[0].perElement + r * i[1].perElement + c * i[2].perElement);
      }
  for (int64_t j = 0; j < w->output && !f->scale; j++)
    s->laneDivisor[j] = (real)poolingDivisor(w, j, f->countPadding);
}

/* Copies the input rows of `count` output rows from (od, o) on, with padding around them, into the lines of a block. */
static void copyLines(const PoolingForward *f, const RowLayout *layout, const RowBlock *block, const real *plane,
                      int64_t od, int64_t o, int64_t count, real fill, real *to)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const int64_t top = windowStart(h, o), lines = (count - 1) * h->stride + (h->kernel - 1) * h->dilation + 1;
  for (int64_t k = 0; k < d->kernel; k++) {
    const int64_t depth = windowStart(d, od) + k * d->dilation;
    const bool isSlice = depth >= 0 && depth < d->input;
    const real *slice = plane + depth * f->x.sd;
    real *line = to + k * block->lines * block->pitch;
    for (int64_t i = 0; i < lines; i++, line += block->pitch) {
      if (isSlice && top + i >= 0 && top + i < h->input)
        rowLayoutCopy(layout, slice + (top + i) * f->x.sh, w->input, f->x.sw, 1, NULL, line);
      else fillWith(line, block->pitch, fill);
    }
  }
}

/* The input is read in place if no window leaves it; otherwise the rows that a block of outputs reads are laid out in
   scratch memory with the padding around them. */
bool THNN_(poolingForwardRows)(const PoolingForward *f)
{
  const Pooling *pooling = f->pooling;
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const RowLayout layout = rowLayoutOfInput(w);
  const bool inPlace = readsInPlace(f);
  const bool pairs = inPlace && w->stride == 2;
  const double pitch = (double)layout.stride * (double)layout.pitch, slices = (double)d->kernel;
  const int64_t span = (h->kernel - 1) * h->dilation + 1;
  RowBlock block = {rowBlockCount(h->output, span, h->stride, slices * pitch * sizeof(real)), 0, 0};
  if (!inPlace) block.lines = (block.rows - 1) * h->stride + span;
  if (slices * pitch * (double)(block.lines + 1) > (double)THNN_SCRATCH_LIMIT) return false;
  block.pitch = layout.stride * layout.pitch;
  ForwardBuffers sizes;
  const size_t bytes = forwardBuffers(NULL, pooling, &block, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * d->output * h->output;
  const int64_t rowSize = w->input * MIN(h->stride, h->kernel) * MIN(d->stride, d->kernel);
  const int64_t perTask = MAX(rowsPerTask(rowSize), block.rows);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    ForwardBuffers b;
    forwardBuffers(thnn_scratch(bytes), pooling, &block, &b);
    const real fill = f->indices ? (real)-INFINITY : 0;
    rowLayoutFillMargins(&layout, d->kernel * block.lines, w->input, fill, b.lines);
    LaneRows *s = &b.rows;
    forwardLaneRows(f, &layout, &block, s);
    s->bias = b.bias;
    const int64_t end = MIN(rows, (task + 1) * perTask);
    int64_t row = task * perTask, slice = row / h->output, o = row % h->output;
    for (; row < end; slice++, o = 0) {
      const int64_t od = slice % d->output, endOfSlice = MIN(o + end - row, h->output);
      const real *plane = f->input + imagesPlane(x, slice / d->output);
      if (f->scale) {
        const int64_t channel = slice / d->output % x->c;
        fillWith(s->laneDivisor, w->output, f->scale[channel]);
        fillWith(b.bias, w->output, f->bias[channel]);
      }
      for (; o < endOfSlice; o += s->count, row += s->count) {
        s->count = MIN(endOfSlice - o, block.rows);
        if (!inPlace) copyLines(f, &layout, &block, plane, od, o, s->count, fill, b.lines);
        s->from = inPlace ? plane + windowStart(d, od) * x->sd + windowStart(h, o) * x->sh : b.lines;
        real *to = f->output + imagesSlice(y, slice) + o * y->sh;
        s->to = y->sw == 1 ? to : b.y;
        if (f->indices) {
          int64_t *indexTo = f->indices + imagesSlice(index, slice) + o * index->sh;
          s->index = index->sw == 1 ? indexTo : b.index;
          s->indexBase =
              indexAt(&f->indexAxis[0], od, 0) + indexAt(&f->indexAxis[1], o, 0) + f->indexAxis[2].origin;
          if (pairs) THNN_(poolingMaxPairs)(w->output, s);
          else THNN_(poolingMaxLanes)(w->output, s);
          for (int64_t n = 0; n < s->count && !inPlace; n++)
            maxAtEdges(f, od, o + n, s->to + n * s->toStep, s->index + n * s->indexStep);
          for (int64_t n = 0; n < s->count && index->sw != 1; n++)
            for (int64_t j = 0; j < w->output; j++)
              indexTo[n * index->sh + j * index->sw] = b.index[n * w->output + j];
        } else {
          const real divisor = (real)poolingDivisor(d, od, f->countPadding);
          for (int64_t n = 0; n < s->count; n++)
            s->rowDivisor[n] = divisor * (real)poolingDivisor(h, o + n, f->countPadding);
          if (pairs) THNN_(poolingAveragePairs)(w->output, s);
          else THNN_(poolingAverageLanes)(w->output, s);
        }
        for (int64_t n = 0; n < s->count && y->sw != 1; n++)
          for (int64_t j = 0; j < w->output; j++) to[n * y->sh + j * y->sw] = b.y[n * w->output + j];
      }
    }
  }
  return true;
}
