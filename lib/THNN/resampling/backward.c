/* Every input gathers the gradients of the outputs that read it. Rows of gradInput are first summed from the rows of
   gradOutput that read them; the sums are then gathered along the width. */

#include "gemm/transpose.h"
#include "resampling/rows.h"

/* The outputs that read an input: up to three ranges from[i] <= o < end[i]. */
typedef struct Readers {
  int ranges;
  int64_t count;
  int64_t from[3], end[3];
} Readers;

static void addReaders(Readers *readers, const ResampleAxis *axis, int64_t from, int64_t end)
{
  from = MAX(from, 0);
  end = MIN(end, axis->output);
  if (from >= end) return;
  readers->from[readers->ranges] = from;
  readers->end[readers->ranges++] = end;
  readers->count += end - from;
}

/* The first output whose first input is at least `input`; if `second`, its last input: the next one where that
   is read. */
static int64_t firstReader(const SourceTable *table, const ResampleAxis *axis, int64_t input, bool second)
{
  int64_t low = 0, high = axis->output;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    const Source source = sourceAt(table, axis, middle);
    if (source.index + (second && source.high != 0) >= input) high = middle;
    else low = middle + 1;
  }
  return low;
}

static Readers readersOf(const SourceTable *table, const ResampleAxis *axis, int64_t input)
{
  Readers readers = {0};
  const int64_t last = axis->input - 1, direct = axis->before + input;
  switch (axis->kind) {
  case RESAMPLE_REPLICATE:
    addReaders(&readers, axis, input == 0 ? 0 : direct, input == last ? axis->output : direct + 1);
    break;
  case RESAMPLE_REFLECT:
    if (input != 0) addReaders(&readers, axis, axis->before - input, axis->before - input + 1);
    addReaders(&readers, axis, direct, direct + 1);
    if (input != last) addReaders(&readers, axis, direct + 2 * (last - input), direct + 2 * (last - input) + 1);
    break;
  default:
    addReaders(&readers, axis, firstReader(table, axis, input, true), firstReader(table, axis, input + 1, false));
  }
  return readers;
}

static real readerWeight(const SourceTable *table, const ResampleAxis *axis, int64_t o, int64_t input)
{
  if (axisIsPadding(axis)) return 1;
  const Source source = sourceAt(table, axis, o);
  return source.index == input ? source.low : source.high;
}

/* All readers of an axis for every input, where the axis is short. */
typedef struct ReaderTable {
  const ResampleAxis *axis;
  SourceTable sources;
  int64_t count; /* inputs in the table, 0 if the axis is long */
  int32_t from[TABLE_POSITIONS], end[TABLE_POSITIONS];
} ReaderTable;

static void readerTableFill(ReaderTable *table, const ResampleAxis *axis)
{
  table->axis = axis;
  sourceTableFill(&table->sources, axis, 0);
  table->count =
      axisIsPadding(axis) || axis->input > TABLE_POSITIONS || axis->output > TABLE_POSITIONS ? 0 : axis->input;
  for (int64_t i = 0, from = 0, end = 0; i < table->count; i++) {
    const SourceTable *s = &table->sources;
    while (from < s->count && s->index[from] + (s->high[from] != 0) < i) from++;
    while (end < s->count && s->index[end] <= i) end++;
    table->from[i] = (int32_t)from;
    table->end[i] = (int32_t)end;
  }
}

static Readers readersAt(const ReaderTable *table, int64_t input)
{
  Readers readers = {0};
  if (input < table->count) addReaders(&readers, table->axis, table->from[input], table->end[input]);
  else readers = readersOf(&table->sources, table->axis, input);
  return readers;
}

typedef struct Backward {
  const Resampling *resampling;
  ResampleImages g, x; /* gradOutput, gradInput */
  const real *gradOutput;
  real *gradInput;
  const ReaderTable *slices, *rows, *columns;
} Backward;

/* Goes through the readers of an input along up to three axes, the last axis fastest. */
typedef struct ReaderWalk {
  const Backward *f;
  const real *origin;
  int64_t place[3], at[3];
  int range[3];
  Readers readers[3];
  bool ended;
} ReaderWalk;

static void walkBegin(ReaderWalk *walk, const Backward *f, const real *origin, const int64_t *place, int axes)
{
  const ReaderTable *tables[] = {f->slices, f->rows, f->columns};
  *walk = (ReaderWalk){.f = f, .origin = origin};
  for (int a = 0; a < 3; a++) {
    walk->place[a] = place[a];
    walk->readers[a] = a < axes ? readersAt(tables[a], place[a]) : (Readers){.ranges = 1, .count = 1, .end = {1}};
    if (walk->readers[a].count == 0) walk->ended = true;
    else walk->at[a] = walk->readers[a].from[0];
  }
}

/* The next readers, at most ROW_TAPS of them; 0 at the end. The last of `axes` axes is the fastest. */
static int walkNext(ReaderWalk *walk, int axes, RowTap *tap)
{
  const Backward *f = walk->f;
  const ReaderTable *tables[] = {f->slices, f->rows, f->columns};
  const int64_t stride[] = {f->g.sd, f->g.sh, f->g.sw};
  int n = 0;
  while (!walk->ended && n < ROW_TAPS) {
    tap[n] = (RowTap){walk->origin, 1};
    for (int a = 0; a < axes; a++) {
      tap[n].row += walk->at[a] * stride[a];
      tap[n].weight *= readerWeight(&tables[a]->sources, tables[a]->axis, walk->at[a], walk->place[a]);
    }
    n++;
    walk->ended = true;
    for (int a = axes - 1; a >= 0 && walk->ended; a--) {
      const Readers *r = &walk->readers[a];
      if (++walk->at[a] == r->end[walk->range[a]]) {
        if (++walk->range[a] < r->ranges) {
          walk->at[a] = r->from[walk->range[a]];
        } else {
          walk->range[a] = 0;
          walk->at[a] = r->from[0];
          continue;
        }
      }
      walk->ended = false;
    }
  }
  return n;
}

/* The readers along one axis, with their weights. */
#define AXIS_TAPS 32
typedef struct AxisTap {
  int64_t output;
  real weight;
} AxisTap;

/* Returns their number; those behind the first AXIS_TAPS are not listed. */
static int64_t listReaders(const ReaderTable *table, int64_t input, AxisTap *list)
{
  const ResampleAxis *axis = table->axis;
  const int64_t reach = MAX(MAX(axis->before, axis->output - axis->before - axis->input), 0);
  if (axisIsPadding(axis) && (reach == 0 || (input > reach && input < axis->input - 1 - reach))) {
    /* No border reads this input. */
    *list = (AxisTap){axis->before + input, 1};
    return list->output >= 0 && list->output < axis->output;
  }
  const Readers readers = readersAt(table, input);
  int64_t n = 0;
  for (int r = 0; r < readers.ranges; r++)
    for (int64_t o = readers.from[r]; o < readers.end[r] && n < AXIS_TAPS; o++)
      list[n++] = (AxisTap){o, readerWeight(&table->sources, table->axis, o, input)};
  return readers.count;
}

/* The rows of gradOutput that a row of gradInput is summed from, at most ROW_TAPS at a time. */
typedef struct RowTaps {
  RowTap tap[ROW_TAPS];
  bool walks; /* there are more */
  ReaderWalk walk;
} RowTaps;

static int firstTaps(RowTaps *taps, const Backward *f, const RowPlace *p)
{
  AxisTap slices[AXIS_TAPS], rows[AXIS_TAPS];
  const real *plane = f->gradOutput + planeOffset(&f->g, p);
  const int64_t sliceCount = listReaders(f->slices, p->d, slices), rowCount = listReaders(f->rows, p->h, rows);
  taps->walks = sliceCount > AXIS_TAPS || rowCount > AXIS_TAPS || sliceCount * rowCount > ROW_TAPS;
  if (taps->walks) {
    walkBegin(&taps->walk, f, plane, (int64_t[]){p->d, p->h, 0}, 2);
    return walkNext(&taps->walk, 2, taps->tap);
  }
  int n = 0;
  for (int64_t i = 0; i < sliceCount; i++)
    for (int64_t j = 0; j < rowCount; j++)
      taps->tap[n++] = (RowTap){plane + slices[i].output * f->g.sd + rows[j].output * f->g.sh,
                                slices[i].weight * rows[j].weight};
  return n;
}

static int moreTaps(RowTaps *taps) { return taps->walks ? walkNext(&taps->walk, 2, taps->tap) : 0; }

static void clearPixels(int64_t count, int64_t lanes, real *to, int64_t step)
{
  for (int64_t j = 0; j < count; j++)
    for (int64_t c = 0; c < lanes; c++) to[j * step + c] = 0;
}

/* Copies or sums runs of pixels; then adds the gradients of the padding to the pixels that it was copied from. */
static void unpadRow(const Backward *f, const RowPlace *p, real *to)
{
  const ResampleAxis *axis = &f->resampling->axis[2];
  const int64_t lanes = f->x.lanes, from = f->g.sw, step = f->x.sw;
  Border borders[2];
  findBorders(axis, borders);
  const int64_t count = borders[1].from - borders[0].end; /* inputs that are not cropped */
  const int64_t first = count > 0 ? borders[0].end - axis->before : 0;
  RowTaps taps;
  RowTap *tap = taps.tap, run[ROW_TAPS];
  bool add = false;
  int n = firstTaps(&taps, f, p);
  clearPixels(n == 0 ? axis->input : first, lanes, to, step);
  if (n == 0) return;
  clearPixels(axis->input - (first + count), lanes, to + (first + count) * step, step);
  for (; n > 0; n = moreTaps(&taps), add = true) {
    for (int k = 0; k < n; k++) run[k] = (RowTap){tap[k].row + borders[0].end * from, tap[k].weight};
    sumPixels(n, run, count, lanes, from, to + first * step, step, add);
    for (const Border *b = borders; b < borders + 2; b++)
      for (int64_t o = b->from; o < b->end; o++) {
        real *pixel = to + (b->base + b->slope * o) * step;
        if (n == 1 && lanes == 1) {
          *pixel += tap->row[o * from] * tap->weight;
        } else {
          for (int k = 0; k < n; k++) run[k] = (RowTap){tap[k].row + o * from, tap[k].weight};
          sumPixels(n, run, 1, lanes, from, pixel, step, true);
        }
      }
  }
}

/* Every pixel from its own readers. */
static void gatherPixels(const Backward *f, const RowPlace *p, real *to)
{
  const int64_t lanes = f->x.lanes;
  RowTaps taps;
  const int rows = firstTaps(&taps, f, p);
  for (int64_t w = 0; w < f->x.w; w++, to += f->x.sw) {
    AxisTap columns[AXIS_TAPS];
    RowTap tap[ROW_TAPS];
    int n = 0;
    const int64_t count = listReaders(f->columns, w, columns);
    if (rows == 0 || count == 0) {
      clearPixels(1, lanes, to, lanes);
    } else if (taps.walks || count > AXIS_TAPS || rows * count > ROW_TAPS) {
      ReaderWalk walk;
      walkBegin(&walk, f, f->gradOutput + planeOffset(&f->g, p), (int64_t[]){p->d, p->h, w}, 3);
      for (bool add = false; (n = walkNext(&walk, 3, tap)) > 0; add = true) sumRows(n, tap, lanes, 1, to, 1, add);
    } else {
      for (int k = 0; k < rows; k++)
        for (int64_t j = 0; j < count; j++)
          tap[n++] =
              (RowTap){taps.tap[k].row + columns[j].output * f->g.sw, taps.tap[k].weight * columns[j].weight};
      sumRows(n, tap, lanes, 1, to, 1, false);
    }
  }
}

/* Rows are gathered VL at a time, a lane each, in blocks of columns. */
#define BLOCK_COLUMNS 256
typedef struct BackwardScratch {
  SourceTable columns;                             /* for rows longer than a table */
  real sums[VBYTES / sizeof(real)][BLOCK_COLUMNS]; /* rows of gradOutput, summed */
  vreal transposed[BLOCK_COLUMNS];                 /* their columns */
  vreal gathered[BLOCK_COLUMNS];                   /* columns of gradInput */
  real rows[VBYTES / sizeof(real)][BLOCK_COLUMNS]; /* their rows */
} BackwardScratch;

/* The columns of gradInput as they are completed, from left to right. */
typedef struct ColumnWriter {
  const Backward *f;
  BackwardScratch *scratch;
  real **to;
  int rows;
  int64_t written, filled;
} ColumnWriter;

static void writerFlush(ColumnWriter *writer)
{
  const int64_t step = writer->f->x.sw, count = writer->filled;
  THNN_(transpose)(writer->scratch->rows[0], BLOCK_COLUMNS, (const real *)writer->scratch->gathered, VL, count,
                   VL);
  for (int r = 0; r < writer->rows; r++) {
    const RowTap row = {writer->scratch->rows[r], 1};
    sumRows(1, &row, count, 1, writer->to[r] + writer->written * step, step, false);
  }
  writer->written += count;
  writer->filled = 0;
}

static inline void writerPush(ColumnWriter *writer, vreal column)
{
  writer->scratch->gathered[writer->filled++] = column;
  if (writer->filled == BLOCK_COLUMNS) writerFlush(writer);
}

/* Sums of `count` columns of gradOutput from `first` on for each row, transposed. */
static void sumColumns(const Backward *f, int rows, const RowPlace *places, int64_t first, int64_t count,
                       BackwardScratch *scratch)
{
  for (int r = 0; r < rows; r++) {
    RowTaps taps;
    bool add = false;
    for (int n = firstTaps(&taps, f, &places[r]); n > 0; n = moreTaps(&taps), add = true) {
      for (int k = 0; k < n; k++) taps.tap[k].row += first * f->g.sw;
      sumRows(n, taps.tap, count, f->g.sw, scratch->sums[r], 1, add);
    }
    if (!add) clearPixels(1, count, scratch->sums[r], 1);
  }
  THNN_(transpose)((real *)scratch->transposed, VL, scratch->sums[0], BLOCK_COLUMNS, VL, count);
}

/* Two sums are open at a time, of the input that the outputs have reached and of the next one. The sums of a block of columns
   are added to those of the blocks before, so that no chain of additions is long. */
static void gatherRows(const Backward *f, int rows, const RowPlace *places, BackwardScratch *scratch)
{
  const ResampleAxis *axis = &f->resampling->axis[2];
  const SourceTable *table = &f->columns->sources;
  real *to[VBYTES / sizeof(real)];
  for (int r = 0; r < rows; r++) to[r] = f->gradInput + rowOffset(&f->x, &places[r]);
  ColumnWriter writer = {.f = f, .scratch = scratch, .to = to, .rows = rows};
  const vreal zero = {0};
  vreal here = zero, next = zero, hereBefore = zero, nextBefore = zero;
  int64_t input = 0;
  for (int64_t o = 0; o < axis->output; o += table->count) {
    if (table->first != o) {
      sourceTableFill(&scratch->columns, axis, o);
      table = &scratch->columns;
    }
    for (int64_t block = 0; block < table->count; block += BLOCK_COLUMNS) {
      const int64_t count = MIN(BLOCK_COLUMNS, table->count - block);
      sumColumns(f, rows, places, o + block, count, scratch);
      for (int64_t i = 0; i < count; i++) {
        const vreal g = scratch->transposed[i];
        for (; input < table->index[block + i]; input++) {
          writerPush(&writer, here + hereBefore);
          here = next, hereBefore = nextBefore;
          next = nextBefore = zero;
        }
        here += g * table->low[block + i];
        if (table->high[block + i] != 0) next += g * table->high[block + i];
      }
      hereBefore += here, nextBefore += next;
      here = next = zero;
    }
  }
  for (; input < axis->input; input++) {
    writerPush(&writer, here + hereBefore);
    here = next, hereBefore = nextBefore;
    next = nextBefore = zero;
  }
  if (writer.filled > 0) writerFlush(&writer);
}

static void computeRows(const Backward *f, int64_t first, int64_t end)
{
  RowPlace p = rowPlace(&f->x, first), places[VBYTES / sizeof(real)];
  const bool isPadding = axisIsPadding(&f->resampling->axis[2]), gathersRows = !isPadding && f->x.lanes == 1;
  BackwardScratch *scratch = gathersRows ? thnn_scratch(sizeof *scratch) : NULL;
  if (gathersRows) memset(scratch->sums, 0, sizeof scratch->sums);
  for (int64_t row = first; row < end;) {
    if (gathersRows) {
      const int count = (int)MIN(VL, end - row);
      for (int r = 0; r < count; r++, nextRow(&f->x, &p)) places[r] = p;
      gatherRows(f, count, places, scratch);
      row += count;
    } else {
      real *to = f->gradInput + rowOffset(&f->x, &p);
      if (isPadding) unpadRow(f, &p, to);
      else gatherPixels(f, &p, to);
      row++, nextRow(&f->x, &p);
    }
  }
}

void THNN_(resampleBackward)(const Resampling *resampling, const THTensor *gradOutput, THTensor *gradInput)
{
  if (THNNTensor_numel(gradInput) == 0) return;
  ReaderTable slices, rows, columns;
  readerTableFill(&slices, &resampling->axis[0]);
  readerTableFill(&rows, &resampling->axis[1]);
  readerTableFill(&columns, &resampling->axis[2]);
  Backward f = {.resampling = resampling,
                .g = resampleImages(resampling->axes, gradOutput),
                .x = resampleImages(resampling->axes, gradInput),
                .gradOutput = TH_DATA(gradOutput),
                .gradInput = TH_DATA(gradInput),
                .slices = &slices,
                .rows = &rows,
                .columns = &columns};
  joinLanes(&f.g, &f.x);
  const int64_t count = rowCount(&f.x), elements = f.x.w * f.x.lanes;
  const int64_t perTask = ceilDivide(rowsPerTask(elements), VL) * VL;
  THNN_PARALLEL_FOR(task, ceilDivide(count, perTask), count * elements)
    computeRows(&f, task * perTask, MIN(count, (task + 1) * perTask));
}
