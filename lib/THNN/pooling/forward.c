/* Maximum and mean of windows. */

#include "pooling/lanes.h"

/* Maximum where there are indices, mean otherwise. */
typedef struct Forward {
  const THNNWindow *window;
  THNNImages x, y, at;
  const real *input;
  real *output;
  int64_t *indices;
  bool count_pad;
} Forward;

/* Rows of lanes that are computed alike: tap t of lane i is from[off[t] + i], or from[off[t] + 2*i] for pairs, and
   its position in the plane is at + atOff[t] + i*step; each next row has all of it further on by the steps. */
typedef struct Rows {
  int64_t count;
  const real *from;
  real *to;
  int64_t *index;
  int64_t from_step, to_step, index_step;
  int64_t at, at_step, step;
  vint ramp;             /* ramp(step) */
  int64_t taps, columns; /* all, and those of one row of the window */
  int64_t *off;
  vlane *atOff;
  real *divisor, *divisors; /* of each row, and of each lane if not NULL */
} Rows;

WINDOW_INLINE vreal loadTap(const real *tap, int64_t i, bool pairs, int lanes)
{
  return pairs ? loadPairs(tap + 2 * i, lanes) : loadLanes(tap + i, lanes);
}

/* The first of the largest taps of each lane; NaN is larger than anything, itself included, as in torch. */
WINDOW_INLINE void maxBlock(const int64_t *first, int vectors, int lanes, const Rows *rows, bool pairs)
{
  const Rows s = *rows;
  const real *from = s.from;
  real *to = s.to;
  int64_t *index = s.index;
  vint moved[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) moved[v] = vi_set1((vlane)(s.at + first[v] * s.step)) + s.ramp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal best[WINDOW_VECTORS];
    vint at[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      best[v] = loadTap(from + s.off[0], first[v], pairs, lanes);
      at[v] = vi_set1(s.atOff[0]);
    }
    for (int64_t t = 1; t < s.taps; t++) {
      const real *tap = from + s.off[t];
      vint here = vi_set1(s.atOff[t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        vreal x = loadTap(tap, first[v], pairs, lanes);
        vmask larger = m_or(v_gt(x, best[v]), v_ne(x, x));
        best[v] = v_sel(larger, x, best[v]);
        at[v] = vi_sel(larger, here, at[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      storeLanes(to + first[v], best[v], lanes);
      storePositions(index + first[v], at[v] + moved[v], lanes);
      moved[v] += vi_set1((vlane)s.at_step);
    }
    from += s.from_step;
    to += s.to_step;
    index += s.index_step;
  }
}

WINDOW_APART void maxRuns(int64_t n, const Rows *rows) { WINDOW_RUN(n, maxBlock, rows, false); }
WINDOW_APART void maxPairs(int64_t n, const Rows *rows) { WINDOW_RUN(n, maxBlock, rows, true); }

/* The sum of the taps, row by row of the window, divided. */
WINDOW_INLINE void meanBlock(const int64_t *first, int vectors, int lanes, const Rows *rows, bool pairs)
{
  const Rows s = *rows;
  const real *from = s.from;
  real *to = s.to;
  vreal by[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) by[v] = s.divisors ? loadLanes(s.divisors + first[v], lanes) : v_set1(1);
  for (int64_t n = 0; n < s.count; n++) {
    vreal total[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
    for (int64_t row = 0; row < s.taps; row += s.columns) {
      vreal sum[WINDOW_VECTORS];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) sum[v] = (vreal){0};
      for (int64_t t = row; t < row + s.columns; t++) {
        const real *tap = from + s.off[t];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += loadTap(tap, first[v], pairs, lanes);
      }
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += sum[v];
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) storeLanes(to + first[v], total[v] / (by[v] * s.divisor[n]), lanes);
    from += s.from_step;
    to += s.to_step;
  }
}

WINDOW_APART void meanRuns(int64_t n, const Rows *rows) { WINDOW_RUN(n, meanBlock, rows, false); }
WINDOW_APART void meanPairs(int64_t n, const Rows *rows) { WINDOW_RUN(n, meanBlock, rows, true); }

#define LOWEST (-(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX))

/* Corrects the output of a window that begins outside the image. It holds -inf at a position in the padding if all
   else is -inf as well; the window may also have no element. */
static void maxAtEdge(const THNNAxis *h, const THNNAxis *w, int64_t o, int64_t j, real *y, int64_t *index)
{
  int64_t r, r_end, c, c_end;
  thnn_windowTaps(h, o, &r, &r_end);
  thnn_windowTaps(w, j, &c, &c_end);
  if (r >= r_end || c >= c_end) {
    *y = LOWEST;
    *index = -1;
  } else if (*y == (real)-INFINITY) {
    *index = (thnn_windowStart(h, o) + r * h->dilation) * w->input + thnn_windowStart(w, j) + c * w->dilation;
  }
}

static void maxAtEdges(const THNNAxis *h, const THNNAxis *w, int64_t o, real *y, int64_t *index)
{
  const int64_t start = thnn_windowStart(h, o);
  const bool inside = start >= 0 && start < h->input;
  int64_t j = 0, end = w->output;
  for (; j < end && (!inside || thnn_windowStart(w, j) < 0); j++) maxAtEdge(h, w, o, j, y + j, index + j);
  for (; j < end && thnn_windowStart(w, end - 1) >= w->input; end--)
    maxAtEdge(h, w, o, end - 1, y + end - 1, index + end - 1);
}

typedef struct ForwardBuffers {
  Rows rows;
  real *strip, *y;
  int64_t *index;
} ForwardBuffers;

static size_t forwardRowsBuffers(void *memory, const THNNWindow *window, int64_t strip, int64_t slots,
                                 int64_t slot, ForwardBuffers *b)
{
  THNNPieces pieces = {memory, 0};
  const double outputs = (double)window->w.output, taps = (double)window->h.kernel * (double)window->w.kernel;
  b->strip = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(real));
  b->y = thnn_piece(&pieces, (double)strip * outputs, sizeof(real));
  b->index = thnn_piece(&pieces, (double)strip * outputs, sizeof(int64_t));
  b->rows.off = thnn_piece(&pieces, taps, sizeof(int64_t));
  b->rows.atOff = thnn_piece(&pieces, taps, sizeof(vlane));
  b->rows.divisor = thnn_piece(&pieces, (double)strip, sizeof(real));
  b->rows.divisors = thnn_piece(&pieces, outputs, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of output columns, in strips of output rows. The image is used in place if no window leaves it; otherwise
   the rows of a strip are laid out with the padding around them. False, and nothing done, if that takes more
   scratch than there is. */
static bool forwardRows(const Forward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  const THNNPhases phases = thnn_phasesOfInput(w);
  const bool in_place = x->sw == 1 && w->stride <= 2 && thnn_windowsInside(h) && thnn_windowsInside(w);
  const bool pairs = in_place && w->stride == 2;
  const double slot_size = (double)phases.stride * (double)phases.pitch;
  const int64_t span = (h->kernel - 1) * h->dilation + 1;
  const int64_t strip = thnn_strip(h->output, span, h->stride, slot_size * sizeof(real));
  const int64_t slots = in_place ? 0 : (strip - 1) * h->stride + span;
  if (slot_size * (double)(slots + 1) > (double)THNN_SCRATCH_LIMIT) return false;
  const int64_t slot = phases.stride * phases.pitch, line = in_place ? x->sh : slot;
  ForwardBuffers sizes;
  const size_t bytes = forwardRowsBuffers(NULL, f->window, strip, slots, slot, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->output,
                row_size = w->input * (h->stride < h->kernel ? h->stride : h->kernel);
  const int64_t per_task = thnn_perTask(row_size) > strip ? thnn_perTask(row_size) : strip;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    ForwardBuffers b;
    forwardRowsBuffers(thnn_scratch(bytes), f->window, strip, slots, slot, &b);
    const real fill = f->indices ? (real)-INFINITY : 0;
    fillMargins(&phases, slots, w->input, fill, b.strip);
    Rows *s = &b.rows;
    s->from_step = h->stride * line;
    s->to_step = y->sw == 1 ? y->sh : w->output;
    s->index_step = at->sw == 1 ? at->sh : w->output;
    s->at_step = h->stride * w->input;
    s->step = w->stride;
    s->ramp = ramp(w->stride);
    s->columns = w->kernel;
    s->taps = 0;
    for (int64_t r = 0; r < h->kernel; r++)
      for (int64_t c = 0; c < w->kernel; c++) {
        s->off[s->taps] = r * h->dilation * line + (in_place ? c * w->dilation : thnn_phasesTap(&phases, w, c));
        s->atOff[s->taps++] = (vlane)(r * h->dilation * w->input + c * w->dilation - w->pad);
      }
    for (int64_t j = 0; j < w->output; j++) s->divisors[j] = (real)thnn_windowDivisor(w, j, f->count_pad);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, plane = row / h->output, o = row % h->output;
    for (; row < end; plane++, o = 0) {
      const real *from = f->input + thnn_plane(x, plane);
      const int64_t part = end - row < h->output - o ? o + end - row : h->output;
      for (; o < part; o += s->count, row += s->count) {
        s->count = part - o < strip ? part - o : strip;
        const int64_t top = thnn_windowStart(h, o);
        for (int64_t k = 0; k < slots && k < (s->count - 1) * h->stride + span; k++) {
          if (top + k >= 0 && top + k < h->input)
            layOut(&phases, from + (top + k) * x->sh, w->input, x->sw, 1, NULL, b.strip + k * slot);
          else fillWith(b.strip + k * slot, slot, fill);
        }
        s->from = in_place ? from + top * x->sh : b.strip;
        s->at = top * w->input;
        real *to = f->output + thnn_plane(y, plane) + o * y->sh;
        s->to = y->sw == 1 ? to : b.y;
        if (f->indices) {
          int64_t *at_to = f->indices + thnn_plane(at, plane) + o * at->sh;
          s->index = at->sw == 1 ? at_to : b.index;
          if (pairs) maxPairs(w->output, s);
          else maxRuns(w->output, s);
          for (int64_t n = 0; n < s->count && !in_place; n++)
            maxAtEdges(h, w, o + n, s->to + n * s->to_step, s->index + n * s->index_step);
          for (int64_t n = 0; n < s->count && at->sw != 1; n++)
            for (int64_t j = 0; j < w->output; j++) at_to[n * at->sh + j * at->sw] = b.index[n * w->output + j];
        } else {
          for (int64_t n = 0; n < s->count; n++) s->divisor[n] = (real)thnn_windowDivisor(h, o + n, f->count_pad);
          if (pairs) meanPairs(w->output, s);
          else meanRuns(w->output, s);
        }
        for (int64_t n = 0; n < s->count && y->sw != 1; n++)
          for (int64_t j = 0; j < w->output; j++) to[n * y->sh + j * y->sw] = b.y[n * w->output + j];
      }
    }
  }
  return true;
}

static size_t forwardPixelsBuffers(void *memory, const THNNWindow *window, Rows *s)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double taps = (double)(h->kernel < h->input ? h->kernel : h->input) *
                      (double)(w->kernel < w->input ? w->kernel : w->input);
  s->off = thnn_piece(&pieces, taps, sizeof(int64_t));
  s->atOff = thnn_piece(&pieces, taps, sizeof(vlane));
  s->divisor = thnn_piece(&pieces, (double)w->output, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of channels, of as many pixels at a time as have the same taps. */
static bool forwardPixels(const Forward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  Rows sizes;
  const size_t bytes = forwardPixelsBuffers(NULL, f->window, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t pixels = x->n * h->output * w->output, per_task = thnn_perTask(x->c * 4);
  const int64_t most = thnn_strip(w->output, w->kernel, w->stride, (double)(h->kernel * x->c) * sizeof(real));
  THNN_PARALLEL_FOR(task, (pixels + per_task - 1) / per_task, pixels * x->c * 4) {
    Rows s = {.from_step = w->stride * x->sw, .to_step = y->sw, .index_step = at->sw, .at_step = w->stride};
    forwardPixelsBuffers(thnn_scratch(bytes), f->window, &s);
    const int64_t end = pixels < (task + 1) * per_task ? pixels : (task + 1) * per_task;
    int64_t pixel = task * per_task, j = pixel % w->output, row = pixel / w->output;
    int64_t r0 = 0, r_end = 0, c0 = 0, c_end = 0;
    for (; pixel < end; pixel += s.count, j += s.count) {
      if (j == w->output) row++, j = 0;
      const int64_t n = row / h->output, o = row % h->output;
      int64_t r, r_last, c, c_last, next = c_end;
      thnn_windowTaps(h, o, &r, &r_last);
      thnn_windowTaps(w, j, &c, &c_last);
      if (r != r0 || r_last != r_end || c != c0 || c_last != c_end) {
        r0 = r, r_end = r_last, c0 = c, c_end = c_last;
        s.taps = 0;
        s.columns = c_end - c0;
        for (r = r0; r < r_end; r++)
          for (c = c0; c < c_end; c++) {
            s.off[s.taps] = r * h->dilation * x->sh + c * w->dilation * x->sw;
            s.atOff[s.taps++] = (vlane)(r * h->dilation * w->input + c * w->dilation);
          }
      }
      for (s.count = 1; s.count < most && j + s.count < w->output && pixel + s.count < end; s.count++) {
        thnn_windowTaps(w, j + s.count, &c, &next);
        if (c != c0 || next != c_end) break;
      }
      const int64_t top = thnn_windowStart(h, o), left = thnn_windowStart(w, j);
      s.from = f->input + n * x->sn + top * x->sh + left * x->sw;
      s.at = top * w->input + left;
      s.to = f->output + n * y->sn + o * y->sh + j * y->sw;
      if (!f->indices) {
        for (int64_t k = 0; k < s.count; k++)
          s.divisor[k] =
              (real)thnn_windowDivisor(h, o, f->count_pad) * (real)thnn_windowDivisor(w, j + k, f->count_pad);
        meanRuns(x->c, &s);
        continue;
      }
      s.index = f->indices + n * at->sn + o * at->sh + j * at->sw;
      if (s.taps > 0) maxRuns(x->c, &s);
      for (int64_t k = 0; k < s.count && s.taps == 0; k++)
        for (int64_t l = 0; l < x->c; l++) s.to[k * y->sw + l] = LOWEST, s.index[k * at->sw + l] = -1;
    }
  }
  return true;
}

/* Rows of outputs of such windows. Output o takes the rows 2*o and 2*o + 1 of the image and, if windows overlap, the
   one above them. */
typedef struct Halves {
  int64_t count, columns;
  const real *from;
  real *to;
  int64_t *index;
  int64_t from_step, to_step, index_step;
  int64_t at, width; /* the position of the first row's first element, and how many are in a row of the image */
  vint ramp;
  bool top; /* there is no row above the first one */
} Halves;

WINDOW_INLINE void larger(vreal x, vint here, vreal *best, vint *at)
{
  const vmask larger = m_or(v_gt(x, *best), v_ne(x, x));
  *best = v_sel(larger, x, *best);
  *at = vi_sel(larger, here, *at);
}

/* The largest of the columns 2*i and 2*i + 1 and, if windows overlap, of the one before them: in the first column the
   same once more, as there is none. */
WINDOW_INLINE void largestOfRow(const real *from, bool left, int lanes, bool overlap, vint here, vreal *best,
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
  const vreal even = evens(a, b), odd = odds(a, b);
  *best = even;
  *at = here;
  if (overlap) {
    const vint one = vi_set1(1), before = left ? (vint)previous((vreal)one, (vreal)(vint){0}) : one;
    *best = left ? previous(odd, even) : loadPairs(from - 1, lanes);
    *at = here - before;
    larger(even, here, best, at);
  }
  larger(odd, here + vi_set1(1), best, at);
}

WINDOW_INLINE void halvesBlock(const int64_t *first, int vectors, int lanes, const Halves *rows, bool overlap)
{
  const Halves s = *rows;
  const vint line = vi_set1((vlane)s.width);
  for (int v = 0; v < vectors; v++) {
    const bool left = first[v] == 0;
    const real *from = s.from + 2 * first[v];
    real *to = s.to + first[v];
    int64_t *index = s.index + first[v];
    vint here = vi_set1((vlane)(s.at + 2 * first[v])) + s.ramp, above_at = {0};
    vreal above = {0};
    if (overlap && !s.top) largestOfRow(from - s.from_step, left, lanes, true, here - line, &above, &above_at);
    for (int64_t n = 0; n < s.count; n++) {
      vreal best, x;
      vint at, x_at;
      largestOfRow(from, left, lanes, overlap, here, &best, &at);
      if (overlap && (n > 0 || !s.top)) {
        larger(best, at, &above, &above_at);
        best = above, at = above_at;
      }
      from += s.from_step;
      largestOfRow(from, left, lanes, overlap, here + line, &x, &x_at);
      from += s.from_step;
      above = x, above_at = x_at;
      larger(x, x_at, &best, &at);
      storeLanes(to, best, lanes);
      storePositions(index, at, lanes);
      here += line + line;
      to += s.to_step;
      index += s.index_step;
    }
  }
}

WINDOW_APART void halvesRuns(const Halves *rows, bool overlap)
{
  if (overlap) WINDOW_RUN(rows->columns, halvesBlock, rows, true);
  else WINDOW_RUN(rows->columns, halvesBlock, rows, false);
}

static bool forwardHalves(const Forward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  const int64_t kernel = w->kernel == 3 ? 3 : 2;
  if (!f->indices || !halves(h, kernel) || !halves(w, kernel)) return false;
  if (x->sw != 1 || y->sw != 1 || at->sw != 1) return false;
  const int64_t row_size = 2 * w->input, strip = thnn_strip(h->output, 1, 1, (double)row_size * sizeof(real));
  const int64_t rows = x->n * x->c * h->output, least = thnn_perTask(row_size);
  const int64_t per_task = least > strip ? least : strip;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    Halves s = {.columns = w->output, .from_step = x->sh, .to_step = y->sh, .index_step = at->sh};
    s.width = w->input;
    s.ramp = ramp(2);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    for (int64_t row = task * per_task; row < end; row += s.count) {
      const int64_t plane = row / h->output, o = row % h->output;
      s.count = end - row < h->output - o ? end - row : h->output - o;
      if (s.count > strip) s.count = strip;
      s.top = o == 0;
      s.from = f->input + thnn_plane(x, plane) + 2 * o * x->sh;
      s.at = 2 * o * w->input;
      s.to = f->output + thnn_plane(y, plane) + o * y->sh;
      s.index = f->indices + thnn_plane(at, plane) + o * at->sh;
      halvesRuns(&s, kernel == 3);
    }
  }
  return true;
}

/* One output after the other: geometries too large for scratch or for positions in lanes. */
static void forwardPlain(const Forward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  const int64_t rows = x->n * x->c * h->output;
  THNN_PARALLEL_FOR(row, rows, rows * w->input) {
    const int64_t plane = row / h->output, o = row % h->output;
    const real *from = f->input + thnn_plane(x, plane);
    real *to = f->output + thnn_plane(y, plane) + o * y->sh;
    int64_t *at_to = f->indices ? f->indices + thnn_plane(at, plane) + o * at->sh : NULL, r0, r_end;
    thnn_windowTaps(h, o, &r0, &r_end);
    for (int64_t j = 0; j < w->output; j++) {
      int64_t c0, c_end, best_at = -1;
      thnn_windowTaps(w, j, &c0, &c_end);
      real best = LOWEST;
      accreal sum = 0;
      for (int64_t r = r0; r < r_end; r++)
        for (int64_t c = c0; c < c_end; c++) {
          const int64_t ih = thnn_windowStart(h, o) + r * h->dilation,
                        iw = thnn_windowStart(w, j) + c * w->dilation;
          const real value = from[ih * x->sh + iw * x->sw];
          if (best_at < 0 || value > best || value != value) best = value, best_at = ih * w->input + iw;
          sum += value;
        }
      sum /= (accreal)thnn_windowDivisor(h, o, f->count_pad) * (accreal)thnn_windowDivisor(w, j, f->count_pad);
      to[j * y->sw] = f->indices ? best : (real)sum;
      if (f->indices) at_to[j * at->sw] = best_at;
    }
  }
}

static void forward(const Forward *f)
{
  const bool pixels =
      thnn_channelsInside(&f->x) && thnn_channelsInside(&f->y) && (!f->indices || thnn_channelsInside(&f->at));
  if (!positionsFit(f->window) || !(pixels ? forwardPixels(f) : forwardHalves(f) || forwardRows(f)))
    forwardPlain(f);
}

void THNN_(windowMax)(const THNNWindow *window, const THTensor *input, THTensor *output, THIndexTensor *indices)
{
  forward(&(Forward){window, thnn_images(input), thnn_images(output), thnn_images(indices), TH_DATA(input),
                     TH_DATA(output), indices->data, false});
}

void THNN_(windowMean)(const THNNWindow *window, bool count_pad, const THTensor *input, THTensor *output)
{
  forward(&(Forward){
      window, thnn_images(input), thnn_images(output), {0}, TH_DATA(input), TH_DATA(output), NULL, count_pad});
}
