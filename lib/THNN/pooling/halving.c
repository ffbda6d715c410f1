/* 2x2 and 3x3 stride-2 pooling of images of even size; 3x3 windows overlap the previous ones by their first row and
   column. Each row of the input is loaded once, and even and odd columns are split and merged in registers. A slice of
   a volume is an image; averages may be of several slices. */

#include "pooling/backward.h"
#include "pooling/forward.h"

/* Rows of outputs. Output row o reads rows 2*o and 2*o + 1 of the slice and, if windows overlap, the row above them. */
typedef struct MaxRows {
  int64_t count, columns;
  const real *from;
  real *to;
  int64_t *index;
  int64_t fromStep, toStep, indexStep;
  int64_t firstIndex, width; /* the index of the first element, and the elements of a row of the slice */
  vint indexRamp;            /* ramp(2) */
  bool top;                  /* there is no row above the first one */
} MaxRows;

static ALWAYS_INLINE void keepLarger(vreal x, vint here, vreal *best, vint *at)
{
  const vmask larger = m_or(v_gt(x, *best), v_ne(x, x));
  *best = v_sel(larger, x, *best);
  *at = vi_sel(larger, here, *at);
}

/* The maximum of the columns 2*i and 2*i + 1 and, if windows overlap, of the column before them. The first window has
   no such column and reads column 0 twice. */
static ALWAYS_INLINE void maxOfRow(const real *from, bool left, int lanes, bool overlap, vint here, vreal *best,
                                   vint *at)
{
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(from);
    b = v_load(from + VL);
    thnn_prefetchAhead(from, 2 * VL * (int)sizeof *from);
  } else {
    const int some = lanes & (VL - 1);
    a = v_load_n(from, 2 * some < VL ? 2 * some : VL);
    if (2 * some > VL) b = v_load_n(from + VL, 2 * some - VL);
  }
  const vreal even = v_evens(a, b), odd = v_odds(a, b);
  *best = even;
  *at = here;
  if (overlap) {
    const vint one = vi_set1(1), before = left ? (vint)v_previous((vreal)one, (vreal)(vint){0}) : one;
    *best = left ? v_previous(odd, even) : loadEvens(from - 1, lanes);
    *at = here - before;
    keepLarger(even, here, best, at);
  }
  keepLarger(odd, here + vi_set1(1), best, at);
}

static ALWAYS_INLINE void maxBlock(const int64_t *first, int vectors, int lanes, const MaxRows *rows, bool overlap)
{
  const MaxRows s = *rows;
  const vint line = vi_set1((vlane)s.width);
  for (int v = 0; v < vectors; v++) {
    const bool left = first[v] == 0;
    const real *from = s.from + 2 * first[v];
    real *to = s.to + first[v];
    int64_t *index = s.index + first[v];
    vint here = vi_set1((vlane)(s.firstIndex + 2 * first[v])) + s.indexRamp, aboveAt = {0};
    vreal above = {0};
    if (overlap && !s.top) maxOfRow(from - s.fromStep, left, lanes, true, here - line, &above, &aboveAt);
    for (int64_t n = 0; n < s.count; n++) {
      vreal best, x;
      vint at, xAt;
      maxOfRow(from, left, lanes, overlap, here, &best, &at);
      if (overlap && (n > 0 || !s.top)) {
        keepLarger(best, at, &above, &aboveAt);
        best = above, at = aboveAt;
      }
      from += s.fromStep;
      maxOfRow(from, left, lanes, overlap, here + line, &x, &xAt);
      from += s.fromStep;
      above = x, aboveAt = xAt;
      keepLarger(x, xAt, &best, &at);
      storeLanes(to, best, lanes);
      storeIndices(index, at, lanes);
      here += line + line;
      to += s.toStep;
      index += s.indexStep;
    }
  }
}

static __attribute__((noinline)) void maxRows(const MaxRows *rows, bool overlap)
{
  if (overlap) FOR_LANE_BLOCKS(rows->columns, maxBlock, rows, true);
  else FOR_LANE_BLOCKS(rows->columns, maxBlock, rows, false);
}

bool THNN_(poolingForwardHalving)(const PoolingForward *f)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *x = &f->x, *y = &f->y, *index = &f->index;
  const int64_t kernel = w->kernel == 3 ? 3 : 2;
  if (!f->indices || !poolingHalves(f->pooling, kernel)) return false;
  if (x->sw != 1 || y->sw != 1 || index->sw != 1) return false;
  const int64_t rowSize = 2 * w->input, block = rowBlockCount(h->output, 1, 1, (double)rowSize * sizeof(real));
  const int64_t rows = x->n * x->c * d->output * h->output, perTask = MAX(rowsPerTask(rowSize), block);
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    MaxRows s = {.columns = w->output,
                 .fromStep = x->sh,
                 .toStep = y->sh,
                 .indexStep = index->sh,
                 .width = w->input,
                 .indexRamp = ramp(2)};
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row += s.count) {
      const int64_t slice = row / h->output, o = row % h->output;
      s.count = MIN(MIN(end - row, h->output - o), block);
      s.top = o == 0;
      s.from = f->input + imagesSlice(x, slice) + 2 * o * x->sh;
      s.firstIndex = (slice % d->output * h->input + 2 * o) * w->input;
      s.to = f->output + imagesSlice(y, slice) + o * y->sh;
      s.index = f->indices + imagesSlice(index, slice) + o * index->sh;
      maxRows(&s, kernel == 3);
    }
  }
  return true;
}

/* Rows of tiles. Tile (o, j) is the 2 x 2 inputs that window (o, j) is the first to read; if windows overlap, the
   windows (o, j+1), (o+1, j) and (o+1, j+1) share them. */
typedef struct TileRows {
  int64_t count, columns;
  const real *from;
  const int64_t *index;
  real *to;
  int64_t fromStep, indexStep, toStep;
  int64_t firstIndex, width; /* the index of the first element, and the elements of a row of the slice */
  vint indexRamp;            /* ramp(2) */
  bool bottom;               /* there is no window below the last row */
  real weight;               /* weight of the gradients, if they have no indices */
} TileRows;

/* Lanes of g whose index is `at`; 0 in the other lanes. */
#define GRADIENT_AT(index, at, g) v_sel(vi_eq(index, at), g, zero)

static ALWAYS_INLINE void tileBlock(const int64_t *first, int vectors, int lanes, const TileRows *rows,
                                    bool average, bool overlap)
{
  const TileRows s = *rows;
  const vreal zero = {0};
  for (int v = 0; v < vectors; v++) {
    const bool edge = first[v] + lanes == s.columns;
    const real *from = s.from + first[v];
    const int64_t *index = average ? NULL : s.index + first[v];
    real *even = s.to + 2 * first[v], *odd = even + s.toStep / 2;
    vint here = vi_set1((vlane)(s.firstIndex + 2 * first[v])) + s.indexRamp;
    vreal g = zero, right = zero;
    vint at = {0}, rightAt = {0};
    for (int64_t n = overlap ? -1 : 0; n < s.count; n++) {
      vreal below = zero, belowRight = zero;
      vint belowAt = {0}, belowRightAt = {0};
      if (!overlap || n + 1 < s.count || !s.bottom) {
        below = loadLanes(from, lanes);
        thnn_prefetchAhead(from, VL * (int)sizeof *from);
        if (!average) {
          belowAt = loadIndices(index, lanes);
          thnn_prefetchAhead(index, VL * (int)sizeof *index);
        }
        if (overlap && edge) {
          belowRight = v_next(below, zero);
          belowRightAt = (vint)v_next((vreal)belowAt, zero);
        } else if (overlap) {
          belowRight = loadLanes(from + 1, lanes);
          belowRightAt = loadIndices(index + 1, lanes);
        }
        from += s.fromStep;
        if (!average) index += s.indexStep;
      }
      if (n >= 0 && average) {
        below = zero + below * v_set1(s.weight); /* 0 + -0 is 0, as in a sum */
        storeZipped(even, below, below, lanes);
        storeZipped(odd, below, below, lanes);
      } else if (n >= 0) {
        const vint one = vi_set1(1), low = here + vi_set1((vlane)s.width);
        if (!overlap) g = below, at = belowAt;
        vreal a = zero + GRADIENT_AT(at, here, g), b = zero + GRADIENT_AT(at, here + one, g);
        vreal c = zero + GRADIENT_AT(at, low, g), d = zero + GRADIENT_AT(at, low + one, g);
        if (overlap) {
          b += GRADIENT_AT(rightAt, here + one, right);
          c += GRADIENT_AT(belowAt, low, below);
          d += GRADIENT_AT(rightAt, low + one, right);
          d += GRADIENT_AT(belowAt, low + one, below);
          d += GRADIENT_AT(belowRightAt, low + one, belowRight);
        }
        storeZipped(even, a, b, lanes);
        storeZipped(odd, c, d, lanes);
        here += vi_set1((vlane)(2 * s.width));
      }
      if (n >= 0) even += s.toStep, odd += s.toStep;
      g = below, right = belowRight, at = belowAt, rightAt = belowRightAt;
    }
  }
}

#undef GRADIENT_AT

static __attribute__((noinline)) void tileRows(const TileRows *rows, bool average, bool overlap)
{
  if (average) FOR_LANE_BLOCKS(rows->columns, tileBlock, rows, true, false);
  else if (overlap) FOR_LANE_BLOCKS(rows->columns, tileBlock, rows, false, true);
  else FOR_LANE_BLOCKS(rows->columns, tileBlock, rows, false, false);
}

/* True if each input belongs to one window of d x 2 x 2. */
static bool averageHalves(const Pooling *pooling)
{
  const WindowAxis *d = &pooling->axis[0];
  return d->padding == 0 && d->input == d->output * d->kernel && (d->stride == d->kernel || d->output == 1) &&
         axisHalves(&pooling->axis[1], 2) && axisHalves(&pooling->axis[2], 2);
}

/* The number of elements of gradInput that are assembled in the first-level cache before non-temporal stores. */
#define STREAM_BLOCK 1024

bool THNN_(poolingBackwardHalving)(const PoolingBackward *f)
{
  const WindowAxis *d = &f->pooling->axis[0], *h = &f->pooling->axis[1], *w = &f->pooling->axis[2];
  const PoolingImages *g = &f->g, *index = &f->index, *x = &f->x;
  const int64_t kernel = w->kernel == 3 && f->indices ? 3 : 2;
  const int64_t copies = f->indices ? 1 : d->kernel; /* slices of gradInput that are equal */
  if (f->indices ? !poolingHalves(f->pooling, kernel) : !averageHalves(f->pooling)) return false;
  if (x->sw != 1 || g->sw != 1 || (f->indices && index->sw != 1)) return false;
  const bool dense = x->sh == w->input, streams = f->streams && dense;
  const int64_t line = 2 * w->input, most = MAX(STREAM_BLOCK / line, 1);
  const int64_t rows = x->n * x->c * d->output * h->output, perTask = ceilDivide(rowsPerTask(line), most) * most;
  const size_t bytes = streams ? sizeof(real) * (size_t)(most * line) : 0;
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * copies * line) {
    real *lines = streams ? thnn_scratch(bytes) : NULL;
    TileRows s = {.columns = w->output,
                  .fromStep = g->sh,
                  .indexStep = index->sh,
                  .toStep = 2 * x->sh,
                  .width = w->input,
                  .indexRamp = ramp(2),
                  .weight = (real)1 / (real)(4 * copies)};
    const int64_t end = MIN(rows, (task + 1) * perTask);
    for (int64_t row = task * perTask; row < end; row += s.count) {
      const int64_t slice = row / h->output, o = row % h->output;
      s.count = MIN(MIN(end - row, h->output - o), most);
      s.bottom = o + s.count == h->output;
      s.from = f->gradOutput + imagesSlice(g, slice) + o * g->sh;
      s.index = f->indices ? f->indices + imagesSlice(index, slice) + o * index->sh : NULL;
      if (f->scale) s.weight = f->scale[slice / d->output % x->c];
      s.firstIndex = (slice % d->output * h->input + 2 * o) * w->input;
      real *to =
          f->gradInput + imagesPlane(x, slice / d->output) + slice % d->output * copies * x->sd + 2 * o * x->sh;
      s.to = streams ? lines : to;
      tileRows(&s, !f->indices, kernel == 3);
      if (streams) streamLanes(to, lines, s.count * line);
      for (int64_t copy = 1; copy < copies; copy++) {
        s.to = to + copy * x->sd;
        if (streams) streamLanes(s.to, lines, s.count * line);
        else if (dense) copyLanes(s.to, to, s.count * line);
        else tileRows(&s, true, false);
      }
    }
  }
  return true;
}
