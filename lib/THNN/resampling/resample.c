/* Forward and backward. Rows of the source are first summed along depth and height; the sums are then gathered along
   the width. A single row with weight 1 is gathered in place. The sum of two or four rows stays in registers if each
   tap of a vector of results is permuted from one vector of the sum, or two taps from the same two, unless the columns
   are copied. */

#include "resampling/chunk.h"

#define SUM_ELEMENTS 8192 /* most elements of a row that are summed at a time, counting all lanes of its pixels */
#define LANE_BLOCK 256    /* lanes of a pixel that are computed at a time */
#define BATCH_ROWS 4      /* rows that are computed at a time */
#define LONG_ROW 256      /* the width above which rows are gathered one by one */
#define SUM_PITCH (SUM_ELEMENTS + 4 * VL)

typedef struct Resample {
  const Resampling *resampling;
  bool backward;
  ResampleImages x, y; /* source and results */
  const real *source, *sourceEnd;
  real *result;
  TapTable *slices, *rows, *columns; /* NULL if the axis is too long for a table */
  const Chunk *chunk;                /* NULL if the width is more than a chunk */
  bool aligned;                      /* all vectors of the results are */
  bool contiguous;                   /* the results */
  bool streams;                      /* stores are non-temporal: the tensors exceed the last-level cache */
} Resample;

/* A task's tables, filled part by part, for axes that do not fit one table; and its sums. */
typedef struct ResampleScratch {
  TapTable tables[RESAMPLING_AXES];
  Chunk chunk;
  real sums[BATCH_ROWS][SUM_PITCH];
  real lines[CHUNK_ROWS][TABLE_RESULTS + VBYTES]; /* results whose columns are not contiguous */
} ResampleScratch;

typedef enum ResultStore {
  RESULTS_STORED,   /* as they are computed */
  RESULTS_STREAMED, /* the same, with non-temporal stores */
  RESULTS_PENDING,  /* with non-temporal stores, when a vector of memory is complete */
  RESULTS_MOVED     /* from scratch memory: they are strided, or added to earlier results */
} ResultStore;

/* The tables of one task. */
typedef struct Task {
  const Resample *f;
  TapTable *slices, *rows, *columns;
  ResampleScratch *scratch;
  const Chunk *chunk;
  ResultStore store;
  int64_t pending;        /* elements before the next row, from a multiple of VBYTES on, that are not stored yet */
  bool isFirst;           /* no row is computed yet; the pending elements belong to another task */
  bool inPlace;           /* single rows with weight 1 are gathered in place */
  const real *lastWindow; /* the last address at which a row may begin so that its windows end in the tensor */
  int64_t lanes, firstLane;
} Task;

/* The weighted sum of `count` pixels, contiguous in `to`. */
static void sumPixels(int n, const RowTap *tap, int64_t count, int64_t lanes, int64_t step, int ahead, real *to,
                      bool add)
{
  const StoreKind kind = add ? STORE_ADD : STORE_PLAIN;
  if (step == lanes || count == 1) {
    sumRows(n, tap, count * lanes, ahead, to, kind);
    return;
  }
  for (int64_t j = 0; j < count; j++) {
    RowTap pixel[ROW_TAPS];
    for (int k = 0; k < n; k++) pixel[k] = (RowTap){tap[k].row + j * step, tap[k].weight};
    sumRows(n, pixel, lanes, ahead, to + j * lanes, kind);
  }
}

/* Sums `slices` times `rows` rows of the source, at most ROW_TAPS. */
static void sumListed(const Task *t, const real *origin, const Tap *slice, int slices, const Tap *row, int rows,
                      real *sums, bool add)
{
  const int64_t sd = t->f->x.sd, sh = t->f->x.sh;
  RowTap tap[ROW_TAPS], *next = tap;
  for (int i = 0; i < slices; i++) {
    const real *plane = origin + slice[i].index * sd;
    for (int j = 0; j < rows; j++, next++) {
      __asm__("" : "+r"(plane)); /* keeps the compiler from vectorizing a loop of few rounds */
      next->row = plane + row[j].index * sh;
      next->weight = slice[i].weight * row[j].weight;
    }
  }
  sumPixels(slices * rows, tap, t->chunk->length, t->lanes, t->f->x.sw, t->f->backward ? 2 : 1, sums, add);
}

/* As above, for lists that are longer, or continued by other tables. */
static __attribute__((noinline)) void sumLongLists(const Task *t, const RowPlace *p, const real *origin,
                                                   real *sums)
{
  const Tap *slice, *row;
  bool add = false;
  for (int64_t i = 0, slices; (slices = tapsOf(t->slices, p->d, i, &slice)) > 0; i += slices)
    for (int64_t j = 0, rows; (rows = tapsOf(t->rows, p->h, j, &row)) > 0; j += rows)
      for (int64_t a = 0; a < slices; a++)
        for (int64_t b = 0; b < rows; b += ROW_TAPS, add = true)
          sumListed(t, origin, slice + a, 1, row + b, (int)MIN(ROW_TAPS, rows - b), sums, add);
  if (!add) memset(sums, 0, (size_t)(t->chunk->length * t->lanes) * sizeof(real));
}

/* Sums rows of the source into `sums`, from element chunk->from on. */
static void sumSource(const Task *t, const RowPlace *p, const real *origin, real *sums)
{
  const TapTable *slices = t->f->slices, *rows = t->f->rows;
  if (slices && rows) {
    const int32_t *i = slices->start + p->d, *j = rows->start + p->h;
    const int some = i[1] - i[0], more = j[1] - j[0];
    if (some > 0 && more > 0 && (int64_t)some * more <= ROW_TAPS) {
      sumListed(t, origin, slices->tap + *i, some, rows->tap + *j, more, sums, false);
      return;
    }
  }
  sumLongLists(t, p, origin, sums);
}

/* The row that the results at `p` are gathered from, from element chunk->from on: in place, or a sum in `sums`. */
static inline const real *sourceRow(const Task *t, const RowPlace *p, real *sums, int64_t *step)
{
  const Resample *f = t->f;
  const real *origin = f->source + planeOffset(&f->x, p) + t->firstLane + t->chunk->from * f->x.sw;
  if (t->inPlace) {
    const Tap *slice = onlyTap(t->slices, p->d), *row = onlyTap(t->rows, p->h);
    if (slice && row && slice->weight * row->weight == 1) {
      *step = f->x.sw;
      return origin + slice->index * f->x.sd + row->index * f->x.sh;
    }
  }
  sumSource(t, p, origin, sums);
  *step = t->lanes;
  return sums;
}

/* Copies a row of results from scratch memory to the tensor. */
static void moveLine(const Task *t, const real *line, real *to)
{
  const int64_t count = t->chunk->end - t->chunk->first, step = t->f->y.w > 1 ? t->f->y.sw : 1;
  for (int64_t i = 0; i < count; i++) to[i * step] = t->chunk->skipped > 0 ? to[i * step] + line[i] : line[i];
}

/* Appends `count` results to the pending ones and writes all whole vectors with non-temporal stores; the elements after
   the last whole vector stay pending. Results follow each other in memory. A first vector that begins with elements of
   another task is stored normally, without them. */
static void streamPending(Task *t, real *to, int64_t count)
{
  real *line = t->scratch->lines[0], *aligned = to - t->pending;
  int64_t i = 0;
  count += t->pending;
  if (t->isFirst && t->pending > 0) {
    for (i = t->pending; i < VL && i < count; i++) aligned[i] = line[i];
  }
  for (; i + VL <= count; i += VL) v_stream(aligned + i, v_load(line + i));
  memmove(line, line + i, (size_t)(count - i) * sizeof(real));
  t->pending = count - i;
  t->isFirst = false;
}

/* Computes at most BATCH_ROWS rows, and advances `p` to the next row. All rows are summed before they are gathered,
   since a load that overlaps several recent stores cannot be forwarded and stalls. */
static void gatherRows(Task *t, RowPlace *p, int rows)
{
  const Resample *f = t->f;
  const Chunk *chunk = t->chunk;
  const int group = f->y.w > LONG_ROW ? 1 : CHUNK_ROWS;
  const real *from[BATCH_ROWS];
  real *to[BATCH_ROWS];
  int64_t step;
  for (int r = 0; r < rows; r++, nextRow(&f->y, p)) {
    from[r] = sourceRow(t, p, t->scratch->sums[r], &step);
    to[r] = f->result + rowOffset(&f->y, p) + chunk->first * f->y.sw;
  }
  for (int r = 0, some; r < rows; r += some) {
    real *target[CHUNK_ROWS];
    some = rows - r < group ? 1 : group;
    for (int i = 0; i < some; i++)
      target[i] = t->store == RESULTS_MOVED     ? t->scratch->lines[i]
                  : t->store == RESULTS_PENDING ? t->scratch->lines[0] + t->pending + i * f->y.w
                                                : to[r + i];
    gatherVectors(chunk, some, from + r, target, t->store == RESULTS_STREAMED);
    if (t->store == RESULTS_PENDING) streamPending(t, to[r], some * f->y.w);
    for (int i = 0; i < some && t->store == RESULTS_MOVED; i++) moveLine(t, target[i], to[r + i]);
  }
}

/* Sets tap[] to the rows of the source that row h of a plane of results is the sum of, and returns their number: one of
   weight 1, two or four; otherwise, and if a window reaches beyond the tensor, 0. */
static ALWAYS_INLINE int rowTaps(const Task *t, const RowTap *slice, int slices, int64_t h, RowTap *tap)
{
  const TapTable *rows = t->rows;
  const Tap *row = rows->tap + rows->start[h];
  const int count = rows->start[h + 1] - rows->start[h], n = slices * count;
  const int64_t sh = t->f->x.sh;
  if (n == 0) return 0;
#define ROW_TAP(i, j) ((RowTap){slice[i].row + row[j].index * sh, slice[i].weight * row[j].weight})
  tap[0] = ROW_TAP(0, 0);
  if (n == 1) {
    if (tap->weight != 1) return 0;
  } else if (n == 2) {
    tap[1] = ROW_TAP(slices - 1, count - 1);
  } else if (n == 4) {
    if (slices == 2) tap[1] = ROW_TAP(0, 1), tap[2] = ROW_TAP(1, 0), tap[3] = ROW_TAP(1, 1);
    else if (slices == 1) tap[1] = ROW_TAP(0, 1), tap[2] = ROW_TAP(0, 2), tap[3] = ROW_TAP(0, 3);
    else tap[1] = ROW_TAP(1, 0), tap[2] = ROW_TAP(2, 0), tap[3] = ROW_TAP(3, 0);
  } else {
    return 0;
  }
#undef ROW_TAP
  return tap[n - 1].row <= t->lastWindow ? n : 0;
}

/* Computes rows of a plane, starting at `p`, in registers: at most `most`, up to the first row of another kind or the
   end of the plane. Returns their number. `kind` and `streams` are constant. */
static ALWAYS_INLINE int64_t gatherPlaneOf(const Task *t, WindowSum kind, bool streams, const RowPlace *p,
                                           int64_t most, real *to, int64_t step)
{
  const Resample *f = t->f;
  const Chunk *chunk = t->chunk;
  const Tap *list = t->slices->tap + t->slices->start[p->d];
  const int slices = t->slices->start[p->d + 1] - t->slices->start[p->d];
  const real *origin = f->source + planeOffset(&f->x, p) + chunk->from;
  const int64_t end = MIN(f->y.h, p->h + most);
  RowTap slice[WINDOW_ROWS], tap[CHUNK_ROWS][WINDOW_ROWS];
  for (int i = 0; i < slices && i < WINDOW_ROWS; i++)
    slice[i] = (RowTap){origin + list[i].index * f->x.sd, list[i].weight};
  const WindowSum sum = kind == COPIES ? PAIRS : kind; /* for the sum of several rows */
  /* Alternating stores to two rows are slower, which pays only if each vector loads more than its window. */
  const bool pairsRows = kind != COPIES || VBYTES == 16;
  int64_t h = p->h;
  int n;
  if (slices > WINDOW_ROWS) return 0;
  for (; h < end && (n = rowTaps(t, slice, slices, h, tap[0])) > 0; h++, to += step) {
    if (kind == COPIES && n > 1) break;
    const bool both = pairsRows && h + 1 < end && rowTaps(t, slice, slices, h + 1, tap[1]) == n;
    if (n == 1 && both) gatherSums(chunk, 2, 1, kind, tap, to, step, streams);
    else if (n == 1) gatherSums(chunk, 1, 1, kind, tap, to, step, streams);
    else if (n == 2 && both) gatherSums(chunk, 2, 2, sum, tap, to, step, streams);
    else if (n == 2) gatherSums(chunk, 1, 2, sum, tap, to, step, streams);
    else if (both) gatherSums(chunk, 2, 4, sum, tap, to, step, streams);
    else gatherSums(chunk, 1, 4, sum, tap, to, step, streams);
    if (both) h++, to += step;
  }
  return h - p->h;
}

/* Computes at most `most` rows of the plane of `p`, and advances `p` past them. Returns their number, 0 if the first
   row is not computed in registers. */
static int64_t gatherPlane(Task *t, RowPlace *p, int64_t most)
{
  const Resample *f = t->f;
  real *to = f->result + rowOffset(&f->y, p) + t->chunk->first * f->y.sw, *target = to;
  int64_t step = f->y.sh, rows;
  if (t->store == RESULTS_PENDING) {
    target = t->scratch->lines[0] + t->pending, step = f->y.w;
    most = MIN(most, (int64_t)(sizeof t->scratch->lines / sizeof(real) - VL) / step);
  }
  const WindowSum kind = windowSum(t->chunk);
  const bool streams = t->store == RESULTS_STREAMED;
  if (kind == COPIES && streams) rows = gatherPlaneOf(t, COPIES, true, p, most, target, step);
  else if (kind == COPIES) rows = gatherPlaneOf(t, COPIES, false, p, most, target, step);
  else if (kind == PAIRS && streams) rows = gatherPlaneOf(t, PAIRS, true, p, most, target, step);
  else if (kind == PAIRS) rows = gatherPlaneOf(t, PAIRS, false, p, most, target, step);
  else if (kind == WIDE_PAIRS && streams) rows = gatherPlaneOf(t, WIDE_PAIRS, true, p, most, target, step);
  else if (kind == WIDE_PAIRS) rows = gatherPlaneOf(t, WIDE_PAIRS, false, p, most, target, step);
  else if (streams) rows = gatherPlaneOf(t, WINDOWS, true, p, most, target, step);
  else rows = gatherPlaneOf(t, WINDOWS, false, p, most, target, step);
  if (rows == 0) return 0;
  if (t->store == RESULTS_PENDING) streamPending(t, to, rows * step);
  p->h += rows - 1;
  nextRow(&f->y, p);
  return rows;
}

static void gatherRowOfPixels(const Task *t, const RowPlace *p)
{
  const Resample *f = t->f;
  const Chunk *chunk = t->chunk;
  int64_t step;
  const real *from = sourceRow(t, p, t->scratch->sums[0], &step);
  real *to = f->result + rowOffset(&f->y, p) + t->firstLane + chunk->first * f->y.sw;
  const StoreKind kind = chunk->skipped > 0 ? STORE_ADD : f->streams ? STORE_STREAM : STORE_PLAIN;
  gatherPixels(chunk, t->lanes, from, step, from != t->scratch->sums[0], to, f->y.sw, kind);
}

static ResultStore resultStore(const Resample *f, const Chunk *chunk)
{
  if ((f->y.sw != 1 && f->y.w > 1) || chunk->skipped > 0) return RESULTS_MOVED;
  if (!f->streams) return RESULTS_STORED;
  if (f->aligned && chunk->whole) return RESULTS_STREAMED;
  return f->contiguous && chunk == f->chunk && f->y.w >= VL ? RESULTS_PENDING : RESULTS_STORED;
}

static void computeChunk(Task *t, int64_t first, int64_t end)
{
  const Resample *f = t->f;
  RowPlace p = rowPlace(&f->y, first);
  if (f->y.lanes > 1) {
    for (int64_t row = first; row < end; row++, nextRow(&f->y, &p)) gatherRowOfPixels(t, &p);
    return;
  }
  t->store = resultStore(f, t->chunk);
  real *to = f->result + first * f->y.w;
  t->pending = t->store == RESULTS_PENDING ? (int64_t)((uintptr_t)to % VBYTES / sizeof(real)) : 0;
  t->isFirst = true;
  t->lastWindow = f->sourceEnd - (t->inPlace ? 0 : t->chunk->reach);
  const bool inRegisters =
      f->x.sw == 1 && f->slices && f->rows && t->store != RESULTS_MOVED && windowSum(t->chunk) != NO_SUM;
  for (int64_t row = first, rows; row < end; row += rows) {
    rows = inRegisters ? gatherPlane(t, &p, end - row) : 0;
    if (rows > 0) continue;
    rows = MIN(BATCH_ROWS, end - row);
    gatherRows(t, &p, (int)rows);
  }
  if (t->store == RESULTS_PENDING && !t->isFirst)
    memcpy(f->result + end * f->y.w - t->pending, t->scratch->lines[0], (size_t)t->pending * sizeof(real));
}

static TapTable *tableOf(TapTable *shared, ResampleScratch *scratch, const Resample *f, int axis)
{
  if (shared) return shared;
  TapTable *table = &scratch->tables[axis];
  table->axis = &f->resampling->axis[axis];
  table->backward = f->backward;
  table->first = table->end = 0;
  return table;
}

static void computeRows(const Resample *f, int64_t first, int64_t end)
{
  ResampleScratch *scratch = thnn_scratch(sizeof *scratch);
  Task t = {.f = f,
            .slices = tableOf(f->slices, scratch, f, 0),
            .rows = tableOf(f->rows, scratch, f, 1),
            .columns = tableOf(f->columns, scratch, f, 2),
            .scratch = scratch,
            .chunk = f->chunk};
  for (; t.firstLane < f->y.lanes; t.firstLane += t.lanes) {
    t.lanes = MIN(f->y.lanes - t.firstLane, LANE_BLOCK);
    for (int64_t i = 0, skip = 0; i < f->y.w; skip = t.chunk->nextSkip, i = t.chunk->end - (skip > 0)) {
      if (!f->chunk) {
        chunkFill(&scratch->chunk, t.columns, i, skip, f->y.lanes, f->x.w, SUM_ELEMENTS / t.lanes);
        t.chunk = &scratch->chunk;
      }
      t.inPlace = f->y.lanes > 1 || (f->x.sw == 1 && t.chunk->inside);
      computeChunk(&t, first, end);
    }
  }
}

/* True if all vectors of the results are aligned. */
static bool isAligned(const THTensor *result, const ResampleImages *y)
{
  const int64_t strides = y->sn | y->sd | y->sh | (y->lanes > 1 ? y->sw : y->sc);
  return (strides | (y->lanes > 1 ? y->lanes : y->w)) % VL == 0 && (uintptr_t)result->data % VBYTES == 0;
}

/* Returns NULL if the axis does not fit a table. */
static TapTable *sharedTable(TapTable *table, const ResampleAxis *axis, bool backward)
{
  tapTableFill(table, axis, backward, 0, 0);
  return tableIsWhole(table) ? table : NULL;
}

static void resample(const Resampling *resampling, bool backward, const THTensor *source, THTensor *result)
{
  if (THNNTensor_numel(result) == 0) return;
  TapTable slices, rows, columns;
  Chunk chunk;
  Resample f = {.resampling = resampling,
                .backward = backward,
                .x = resampleImages(resampling->axes, source),
                .y = resampleImages(resampling->axes, result),
                .source = TH_DATA(source),
                .result = TH_DATA(result),
                .slices = sharedTable(&slices, &resampling->axis[0], backward),
                .rows = sharedTable(&rows, &resampling->axis[1], backward),
                .columns = sharedTable(&columns, &resampling->axis[2], backward)};
  joinLanes(&f.x, &f.y);
  f.sourceEnd = f.source + 1 + (f.x.n - 1) * f.x.sn + (f.x.c - 1) * f.x.sc + (f.x.d - 1) * f.x.sd +
                (f.x.h - 1) * f.x.sh + (f.x.w - 1) * f.x.sw;
  f.aligned = isAligned(result, &f.y);
  f.contiguous = THNNTensor_isContiguous(result);
  /* No vector of the result is aligned if its elements are not. */
  f.streams =
      (f.aligned || (f.contiguous && f.y.lanes == 1 && (uintptr_t)result->data % sizeof(real) == 0)) &&
      thnn_exceedsLastLevelCache((THNNTensor_numel(source) + THNNTensor_numel(result)) * (int64_t)sizeof(real));
  if (f.columns && f.y.lanes <= LANE_BLOCK) {
    chunkFill(&chunk, f.columns, 0, 0, f.y.lanes, f.x.w, SUM_ELEMENTS / f.y.lanes);
    if (chunk.end == f.y.w && chunk.nextSkip == 0) f.chunk = &chunk;
  }
  const int64_t count = rowCount(&f.y), elements = f.y.w * f.y.lanes;
  const int64_t group = f.y.lanes > 1 ? 1 : BATCH_ROWS;
  const int64_t perTask = ceilDivide(rowsPerTask(elements) * (f.columns ? 1 : 8), group) * group;
  THNN_PARALLEL_FOR(task, ceilDivide(count, perTask), count * elements)
    computeRows(&f, task * perTask, MIN(count, (task + 1) * perTask));
}

void THNN_(resample)(THNNState *state __attribute__((unused)), const Resampling *resampling, const THTensor *input,
                     THTensor *output)
{
  resample(resampling, false, input, output);
}

void THNN_(resampleBackward)(THNNState *state __attribute__((unused)), const Resampling *resampling,
                             const THTensor *gradOutput, THTensor *gradInput)
{
  resample(resampling, true, gradOutput, gradInput);
}
