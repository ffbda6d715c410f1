#include "resampling/rows.h"
#include "simd/shuffle.h"

typedef struct Forward {
  const Resampling *resampling;
  ResampleImages x, y;
  const real *input;
  real *output;
  const SourceTable *rows, *columns;
  bool streams; /* rows of the output are whole vectors, stored past the caches */
} Forward;

/* The rows of the input that an output row is a sum of. */
static int rowTaps(const Forward *f, const RowPlace *p, RowTap *tap)
{
  const ResampleAxis *axis = f->resampling->axis;
  const Source h = sourceAt(f->rows, &axis[1], p->h);
  const ResampleSource d = resampleSource(&axis[0], p->d);
  const real *plane = f->input + planeOffset(&f->x, p);
  int n = 0;
  for (int i = 0; i < 2 && (i == 0 || d.fraction != 0); i++)
    for (int j = 0; j < 2 && (j == 0 || h.high != 0); j++)
      tap[n++] = (RowTap){plane + (d.index + i) * f->x.sd + (h.index + j) * f->x.sh,
                          (real)(i ? d.fraction : 1 - d.fraction) * (j ? h.high : h.low)};
  return n;
}

/* The pixels inside are copied or summed as one run; each pixel of the padding is computed like the inside pixel that
   it repeats. */
static void padRow(const Forward *f, int n, const RowTap *tap, real *to)
{
  const ResampleAxis *axis = &f->resampling->axis[2];
  const int64_t lanes = f->x.lanes, from = f->x.sw, step = f->y.sw;
  Border borders[2];
  RowTap run[4];
  findBorders(axis, borders);
  const int64_t first = borders[0].end, end = borders[1].from;
  for (int k = 0; k < n; k++) run[k] = (RowTap){tap[k].row + (first - axis->before) * from, tap[k].weight};
  sumPixels(n, run, end - first, lanes, from, to + first * step, step, false);
  for (const Border *b = borders; b < borders + 2; b++)
    for (int64_t o = b->from; o < b->end; o++) {
      const int64_t at = (b->base + b->slope * o) * from;
      if (n == 1 && lanes == 1) {
        to[o * step] = tap->row[at] * tap->weight;
      } else {
        for (int k = 0; k < n; k++) run[k] = (RowTap){tap[k].row + at, tap[k].weight};
        sumPixels(n, run, 1, lanes, from, to + o * step, step, false);
      }
    }
}

/* Outputs of `table` from `row`, whose element 0 is input `first`, and which has VL + 1 readable elements behind its
   last. */
static ALWAYS_INLINE void interpolate(const SourceTable *table, bool linear, const real *row, int64_t first,
                                      real *to, int64_t step, bool streams)
{
  for (int64_t o = 0; o < table->count; o += VL) {
    const int64_t lanes = MIN(VL, table->count - o), base = table->index[o];
    const real *from = row + (base - first);
    vreal y;
    if (lanes == VL && table->index[o + VL - 1] - base < VL) {
      const vint local = vi_load(table->index + o) - vi_set1((vlane)base);
      y = v_lookup(v_load(from), local);
      if (linear) {
        const vreal high = v_load(table->high + o), second = v_lookup(v_load(from + 1), local);
        y = y * v_load(table->low + o) + v_sel(v_ne(high, (vreal){0}), second * high, (vreal){0});
      }
    } else {
      y = (vreal){0};
      for (int64_t j = 0; j < lanes; j++) {
        const int64_t at = table->index[o + j] - base;
        y[j] = from[at] * table->low[o + j];
        if (table->high[o + j] != 0) y[j] += from[at + 1] * table->high[o + j];
      }
    }
    if (streams) v_stream(to + o, y);
    else if (step != 1)
      for (int64_t j = 0; j < lanes; j++) to[(o + j) * step] = y[j];
    else if (lanes == VL) v_store(to + o, y);
    else v_store_n(to + o, y, (int)lanes);
  }
}

/* Every output of `table` from its own pixels. */
static void interpolatePixels(const Forward *f, const SourceTable *table, int n, const RowTap *tap, real *to)
{
  const int64_t lanes = f->x.lanes, from = f->x.sw;
  for (int64_t o = 0; o < table->count; o++) {
    RowTap pixel[8];
    int count = 0;
    for (int k = 0; k < n; k++)
      for (int second = 0; second < 2 && (second == 0 || table->high[o] != 0); second++)
        pixel[count++] = (RowTap){tap[k].row + (table->index[o] + second) * from,
                                  tap[k].weight * (second ? table->high[o] : table->low[o])};
    sumPixels(count, pixel, 1, lanes, from, to + o * f->y.sw, f->y.sw, false);
  }
}

/* True if the sum of the input rows serves more than one output row. */
static bool sameTaps(int n, const RowTap *a, int m, const RowTap *b)
{
  if (n != m) return false;
  for (int k = 0; k < n; k++)
    if (a[k].row != b[k].row || a[k].weight != b[k].weight) return false;
  return true;
}

/* Sums rows of the input, then interpolates along the sum. */
static void interpolateRow(const Forward *f, const SourceTable *table, int n, const RowTap *tap, real *sum,
                           bool isSummed, real *to)
{
  const int64_t last = table->count - 1, first = table->index[0];
  const int64_t inputs = table->index[last] + (table->high[last] != 0) + 1 - first;
  if (!isSummed) {
    RowTap run[4];
    for (int k = 0; k < n; k++) run[k] = (RowTap){tap[k].row + first * f->x.sw, tap[k].weight};
    sumRows(n, run, inputs, f->x.sw, sum, 1, false);
  }
  if (f->resampling->axis[2].kind == RESAMPLE_NEAREST)
    interpolate(table, false, sum, first, to, f->y.sw, f->streams);
  else interpolate(table, true, sum, first, to, f->y.sw, f->streams);
}

/* True if the outputs of a table read most of the inputs among them. */
static bool isDense(const SourceTable *table)
{
  return table->index[table->count - 1] - table->index[0] < 2 * table->count + VL;
}

typedef struct ForwardScratch {
  SourceTable columns; /* for rows longer than a table */
  real sum[2 * TABLE_POSITIONS + 4 * VBYTES / sizeof(real)];
} ForwardScratch;

static void computeRows(const Forward *f, int64_t first, int64_t end)
{
  const ResampleAxis *axis = &f->resampling->axis[2];
  ForwardScratch *scratch = thnn_scratch(sizeof *scratch);
  RowPlace p = rowPlace(&f->y, first);
  RowTap taps[2][4];
  int n = 0;
  bool isSummed = false;
  memset(scratch->sum, 0, sizeof scratch->sum);
  for (int64_t row = first; row < end; row++, nextRow(&f->y, &p)) {
    RowTap *tap = taps[row % 2];
    const int count = rowTaps(f, &p, tap);
    real *to = f->output + rowOffset(&f->y, &p);
    if (axisIsPadding(axis)) {
      padRow(f, count, tap, to);
      continue;
    }
    isSummed = isSummed && sameTaps(count, tap, n, taps[(row + 1) % 2]);
    n = count;
    const SourceTable *table = f->columns;
    for (int64_t o = 0; o < axis->output; o += table->count) {
      if (table->first != o) {
        sourceTableFill(&scratch->columns, axis, o);
        table = &scratch->columns;
      }
      if (f->x.lanes == 1 && isDense(table)) {
        interpolateRow(f, table, n, tap, scratch->sum, isSummed, to + o * f->y.sw);
        isSummed = table->count == axis->output;
      } else {
        interpolatePixels(f, table, n, tap, to + o * f->y.sw);
      }
    }
  }
}

/* True if the output is contiguous, its rows are whole vectors, and input and output evict each other from the caches. */
static bool streamsOutput(const THTensor *input, const THTensor *output, const ResampleImages *y)
{
  return y->lanes == 1 && y->w % VL == 0 && (uintptr_t)output->data % VBYTES == 0 &&
         THNNTensor_isContiguous(output) &&
         thnn_exceedsLastLevelCache((THNNTensor_numel(input) + THNNTensor_numel(output)) * (int64_t)sizeof(real));
}

void THNN_(resample)(const Resampling *resampling, const THTensor *input, THTensor *output)
{
  if (THNNTensor_numel(output) == 0) return;
  SourceTable rows, columns;
  sourceTableFill(&rows, &resampling->axis[1], 0);
  sourceTableFill(&columns, &resampling->axis[2], 0);
  Forward f = {.resampling = resampling,
               .x = resampleImages(resampling->axes, input),
               .y = resampleImages(resampling->axes, output),
               .input = TH_DATA(input),
               .output = TH_DATA(output),
               .rows = &rows,
               .columns = &columns};
  joinLanes(&f.x, &f.y);
  f.streams = streamsOutput(input, output, &f.y);
  const int64_t count = rowCount(&f.y), elements = f.y.w * f.y.lanes, perTask = rowsPerTask(elements);
  THNN_PARALLEL_FOR(task, ceilDivide(count, perTask), count * elements)
    computeRows(&f, task * perTask, MIN(count, (task + 1) * perTask));
}
