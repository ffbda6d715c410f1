/* Lanes are the input columns of one residue of the stride; rows are computed in blocks. */

#include "pooling/backward.h"
#include "pooling/row_layout.h"

/* Along height and depth, an input group is `stride` inputs, one of each residue; group m reads the outputs m + first
   to m + last. */
typedef struct InputGroups {
  int64_t count, first, last;
  RowLayout layout;
} InputGroups;

static InputGroups inputGroups(const WindowAxis *axis)
{
  InputGroups groups = {.count = ceilDivide(axis->input, axis->stride), .layout = rowLayoutOfOutput(axis)};
  rowLayoutReach(&groups.layout, axis, &groups.first, &groups.last);
  return groups;
}

/* A block of `groups` groups of input rows, and the copies of the output rows that it reads: `lines` for each depth,
   `pitch` elements each. If it merges, the residues of columns are computed in scratch memory and merged into
   gradInput; otherwise there is one residue, and rows of gradInput are written in place. */
typedef struct RowBlock {
  InputGroups slices, rows;
  RowLayout columns;
  int64_t groups, lines, pitch;
  bool merges;
} RowBlock;

static int64_t rowBlockLines(const RowBlock *block)
{
  return (block->slices.last - block->slices.first + 1) * block->lines;
}

typedef struct BackwardBuffers {
  GatherSources *sources; /* for each residue of depth, height and width */
  real *lines, *residues, *weights;
} BackwardBuffers;

static size_t backwardBuffers(void *memory, const Pooling *pooling, const RowBlock *block, BackwardBuffers *b)
{
  ScratchArena arena = {memory, 0};
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const double elements = (double)rowBlockLines(block) * (double)block->pitch;
  const double merged = block->merges ? (double)block->groups : 0;
  GatherSources s = {0};
  b->sources = arenaTake(&arena, (double)d->stride * (double)h->stride * (double)w->stride, sizeof(GatherSources));
  b->lines = arenaTake(&arena, elements, sizeof(real));
  b->residues = arenaTake(&arena, merged * (double)h->stride * (double)w->input, sizeof(real));
  b->weights = arenaTake(&arena, (double)w->output, sizeof(real));
  gatherSourcesTake(&arena, (double)d->kernel * (double)h->kernel * (double)w->kernel, &s);
  if (memory) b->sources[0] = s;
  return (size_t)arena.bytes;
}

/* Finds the sources of residue q[] in row order, and writes them to the arrays of s; offsets are in the lines of a
   block. */
static void findSources(const Pooling *pooling, const RowBlock *block, const int64_t *q, GatherSources *s)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  s->count = 0;
  for (int64_t k = d->kernel - 1; k >= 0; k--) {
    const int64_t slice = rowLayoutReaders(&block->slices.layout, d, q[0], k);
    for (int64_t r = h->kernel - 1; r >= 0 && slice >= 0; r--) {
      const int64_t row = rowLayoutReaders(&block->rows.layout, h, q[1], r);
      for (int64_t c = w->kernel - 1; c >= 0 && row >= 0; c--) {
        const int64_t column = rowLayoutReaders(&block->columns, w, q[2], c);
        if (column < 0) continue;
        const int64_t line = (slice - block->slices.layout.left - block->slices.first) * block->lines + row -
                             block->rows.layout.left - block->rows.first;
        s->offset[s->count] = line * block->pitch + column;
        s->weight[s->count++] = 1;
      }
    }
  }
}

/* Finds the sources of all residues, which share the arrays of sources[0]. */
static void findAllSources(const Pooling *pooling, const RowBlock *block, GatherSources *sources)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  GatherSources next = sources[0];
  for (int64_t k = 0; k < d->stride; k++)
    for (int64_t p = 0; p < h->stride; p++)
      for (int64_t q = 0; q < w->stride; q++, sources++) {
        *sources = next;
        findSources(pooling, block, (int64_t[]){k, p, q}, sources);
        next.offset += sources->count;
        next.weight += sources->count;
      }
}

/* Lays out the weighted gradients that groups m to m + count - 1 of rows read in group `depth`
   of slices. */
static void copyLines(const PoolingBackward *f, const RowBlock *block, int64_t plane, int64_t depth, int64_t m,
                      int64_t count, const BackwardBuffers *b)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *g = &f->g;
  const int64_t lines = count + block->rows.last - block->rows.first;
  for (int64_t k = 0; k <= block->slices.last - block->slices.first; k++) {
    const int64_t od = depth + block->slices.first + k, first = m + block->rows.first;
    const bool isSlice = od >= 0 && od < d->output;
    const real *from = f->gradOutput + imagesPlane(g, plane) + od * g->sd;
    const real divisor = (real)poolingDivisor(d, od, f->countPadding);
    for (int64_t i = 0; i < lines; i++) {
      const int64_t o = first + i;
      real *line = b->lines + (k * block->lines + i) * block->pitch;
      if (!isSlice || o < 0 || o >= h->output) {
        fillWith(line, block->pitch, 0);
      } else {
        const real weight =
            f->scale ? f->scale[plane % f->x.c] : 1 / (divisor * (real)poolingDivisor(h, o, f->countPadding));
        rowLayoutCopy(&block->columns, from + o * g->sh, w->output, g->sw, weight, b->weights, line);
      }
    }
  }
}

/* Stores even[0], odd[0], even[1], odd[1], ...; n of each. */
static __attribute__((noinline)) void interleave(int64_t n, const real *even, const real *odd, real *to,
                                                 bool stream)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real)); /* before the first whole vector */
  int64_t i = 0;
  if (stream && head % 2 == 0 && n >= VL) {
    storeZipped(to, v_load(even), v_load(odd), VL);
    for (i = head / 2; i <= n - VL; i += VL) {
      const vreal x = v_load(even + i), y = v_load(odd + i);
      v_stream(to + 2 * i, v_zipLow(x, y));
      v_stream(to + 2 * i + VL, v_zipHigh(x, y));
    }
  } else {
    for (; i <= n - VL; i += VL) {
      thnn_prefetchAheadForWrite(to + 2 * i, 2 * VL * (int)sizeof *to);
      storeZipped(to + 2 * i, v_load(even + i), v_load(odd + i), VL);
    }
  }
  for (; i < n; i++) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

/* Merges rows of an image. `residues` holds all rows of residue 0 of the columns, then all rows of residue 1, ... */
static void mergeResidues(const PoolingImages *x, int64_t stride, int64_t rows, const real *residues, real *to,
                          bool stream)
{
  const int64_t evens = (x->w + 1) / 2;
  if (stride == 2 && x->sw == 1) {
    const real *odd = residues + rows * evens;
    if (x->w % 2 == 0 && x->sh == x->w) {
      interleave(rows * evens, residues, odd, to, stream);
      return;
    }
    for (int64_t i = 0; i < rows; i++, to += x->sh) {
      interleave(x->w / 2, residues + i * evens, odd + i * (x->w / 2), to, false);
      if (x->w % 2) to[x->w - 1] = residues[i * evens + evens - 1];
    }
    return;
  }
  for (int64_t q = 0; q < stride && q < x->w; q++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = q; j < x->w; j += stride) to[i * x->sh + j * x->sw] = *residues++;
}

/* Computes `rows` rows of gradInput from row `top` on of slice `depth` of a plane. `sources` are the sources of the
   residue of `depth`. */
static void gatherSlice(const PoolingBackward *f, const RowBlock *block, int64_t plane, int64_t depth, int64_t top,
                        int64_t rows, const GatherSources *sources, const BackwardBuffers *b, GatherRows *s)
{
  const WindowAxis *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *x = &f->x;
  real *to = f->gradInput + imagesPlane(x, plane) + depth * x->sd + top * x->sh;
  real *residue = block->merges ? b->residues : to;
  for (int64_t q = 0; q < w->stride && q < w->input; q++) {
    const int64_t run = (w->input - q + w->stride - 1) / w->stride, step = block->merges ? run : x->sh;
    s->toStep = h->stride * step;
    for (int64_t p = 0; p < h->stride && p < rows; p++) {
      s->count = (rows - p - 1) / h->stride + 1;
      s->to = residue + p * step;
      THNN_(poolingGather)(run, s, sources + p * w->stride + q, GATHER_WEIGHTED);
    }
    residue += rows * run;
  }
  if (block->merges) mergeResidues(x, w->stride, rows, b->residues, to, f->streams);
}

/* The outputs that a block reads are weighted and laid out in scratch memory with margins. */
bool THNN_(poolingBackwardRows)(const PoolingBackward *f)
{
  const Pooling *pooling = f->pooling;
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  RowBlock block = {.slices = inputGroups(d), .rows = inputGroups(h), .columns = rowLayoutOfOutput(w)};
  block.merges = w->stride > 1 || f->x.sw != 1;
  block.pitch = block.columns.pitch;
  const double slices = (double)(block.slices.last - block.slices.first + 1);
  const int64_t more = block.rows.last - block.rows.first;
  const double lineBytes = (slices * (double)block.pitch + (double)(h->stride * w->input)) * sizeof(real);
  block.groups = rowBlockCount(block.rows.count, more + 1, 1, lineBytes);
  block.lines = block.groups + more;
  BackwardBuffers sizes;
  const size_t bytes = backwardBuffers(NULL, pooling, &block, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t groups = f->x.n * f->x.c * block.slices.count * block.rows.count;
  const int64_t groupSize = w->input * MIN(h->stride, h->input) * MIN(d->stride, d->input);
  const int64_t perTask = MAX(rowsPerTask(groupSize), block.groups);
  THNN_PARALLEL_FOR(task, ceilDivide(groups, perTask), groups * groupSize) {
    BackwardBuffers b;
    backwardBuffers(thnn_scratch(bytes), pooling, &block, &b);
    findAllSources(pooling, &block, b.sources);
    rowLayoutFillMargins(&block.columns, rowBlockLines(&block), w->output, 0, b.lines);
    for (int64_t j = 0; j < w->output; j++)
      b.weights[j] = f->scale ? 1 : 1 / (real)poolingDivisor(w, j, f->countPadding);
    GatherRows s = {.from = b.lines, .fromStep = block.pitch};
    const int64_t end = MIN(groups, (task + 1) * perTask);
    int64_t group = task * perTask, slice = group / block.rows.count, m = group % block.rows.count;
    for (int64_t count; group < end; group += count, m += count) {
      if (m == block.rows.count) slice++, m = 0;
      count = MIN(MIN(end - group, block.rows.count - m), block.groups);
      const int64_t plane = slice / block.slices.count, depth = slice % block.slices.count;
      copyLines(f, &block, plane, depth, m, count, &b);
      const int64_t top = m * h->stride, rows = MIN(h->input - top, count * h->stride);
      for (int64_t k = 0; k < d->stride && depth * d->stride + k < d->input; k++)
        gatherSlice(f, &block, plane, depth * d->stride + k, top, rows, b.sources + k * h->stride * w->stride, &b,
                    &s);
    }
  }
  return true;
}
