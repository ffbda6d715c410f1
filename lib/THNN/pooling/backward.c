/* The gradient of windows. */

#include "pooling/lanes.h"

/* Every input collects, in row order of the outputs that see it, the gradients of those whose index it is, or all
   of them with their weights for the mean (no indices). No clearing and no adding to memory, and the sums are
   those of scattering. */
typedef struct Backward {
  const THNNWindow *window;
  THNNImages g, at, x;
  const real *gradOutput;
  const int64_t *indices;
  real *gradInput;
  bool count_pad, streams;
} Backward;

/* Where the lanes of a run collect from: source t of lane i has the gradient from[off[t] + i] and the index
   atFrom[atOff[t] + i]. */
typedef struct Sources {
  int64_t count;
  int64_t *off, *atOff;
  real *weight;
} Sources;

/* Rows of lanes that collect alike: lane i is position at + i*step; each next row has all of it further on by the
   steps. */
typedef struct Collected {
  int64_t count;
  const real *from;
  const void *atFrom;
  real *to;
  int64_t from_step, atFrom_step, to_step;
  int64_t at, at_step, step;
  vint ramp; /* ramp(step) */
  bool streams;
} Collected;

/* What is collected: gradients whose index, an int64 or already a lane, is that of the lane, or weighted ones. */
typedef enum How { WIDE_INDEX, LANE_INDEX, WEIGHTED } How;

WINDOW_INLINE void collectBlock(const int64_t *first, int vectors, int lanes, const Collected *rows,
                                const Sources *sources, int64_t count, How how)
{
  const Collected s = *rows;
  const Sources o = *sources;
  const vreal zero = {0};
  const real *from = s.from;
  const char *atFrom = s.atFrom;
  const int64_t atFrom_step = s.atFrom_step * (int64_t)(how == WIDE_INDEX ? sizeof(int64_t) : sizeof(real));
  real *to = s.to;
  vint here[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) here[v] = vi_set1((vlane)(s.at + first[v] * s.step)) + s.ramp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal sum[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] = zero;
#pragma GCC unroll 4
    for (int64_t t = 0; t < count; t++) {
      const real *g = from + o.off[t];
      if (how == WEIGHTED) {
        const vreal weight = v_set1(o.weight[t]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += loadLanes(g + first[v], lanes) * weight;
      } else {
        const int64_t *wide = (const int64_t *)atFrom + o.atOff[t];
        const real *lane = (const real *)atFrom + o.atOff[t];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          if (how == WIDE_INDEX) {
            thnn_prefetchAhead(g + first[v], VL * (int)sizeof *g);
            thnn_prefetchAhead(wide + first[v], VL * (int)sizeof *wide);
          }
          vint index =
              how == WIDE_INDEX ? loadPositions(wide + first[v], lanes) : (vint)loadLanes(lane + first[v], lanes);
          sum[v] += v_sel(vi_eq(index, here[v]), loadLanes(g + first[v], lanes), zero);
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      if (lanes == VL && s.streams) v_stream(to + first[v], sum[v]);
      else storeLanes(to + first[v], sum[v], lanes);
      if (s.streams && how == WEIGHTED) thnn_prefetchAhead(from + o.off[0] + first[v], VL * (int)sizeof *from);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) here[v] += vi_set1((vlane)s.at_step);
    from += s.from_step;
    if (how != WEIGHTED) atFrom += atFrom_step;
    to += s.to_step;
  }
}

/* Overlapping windows with a stride of half of them have 1, 2 or 4 sources. */
#define COLLECT(name, how)                                                            \
  WINDOW_APART void name(int64_t n, const Collected *rows, const Sources *sources)    \
  {                                                                                   \
    if (sources->count == 1) WINDOW_RUN(n, collectBlock, rows, sources, 1, how);      \
    else if (sources->count == 2) WINDOW_RUN(n, collectBlock, rows, sources, 2, how); \
    else if (sources->count == 4) WINDOW_RUN(n, collectBlock, rows, sources, 4, how); \
    else WINDOW_RUN(n, collectBlock, rows, sources, sources->count, how);             \
  }
COLLECT(collectWide, WIDE_INDEX)
COLLECT(collectLanes, LANE_INDEX)
COLLECT(collectWeighted, WEIGHTED)
#undef COLLECT

typedef struct BackwardBuffers {
  Sources *sources; /* of each phase of rows and columns */
  real *strip, *phase, *weights;
  vlane *positions;
} BackwardBuffers;

static size_t backwardRowsBuffers(void *memory, const THNNWindow *window, int64_t strip, int64_t slots,
                                  int64_t slot, BackwardBuffers *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double taps = (double)h->kernel * (double)w->kernel;
  Sources s = {0};
  b->sources = thnn_piece(&pieces, (double)h->stride * (double)w->stride, sizeof(Sources));
  b->strip = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(real));
  b->positions = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(vlane));
  b->phase = thnn_piece(&pieces, (double)strip * (double)h->stride * (double)w->input, sizeof(real));
  b->weights = thnn_piece(&pieces, (double)w->output, sizeof(real));
  s.off = thnn_piece(&pieces, taps, sizeof(int64_t));
  s.atOff = thnn_piece(&pieces, taps, sizeof(int64_t));
  s.weight = thnn_piece(&pieces, taps, sizeof(real));
  if (memory) b->sources[0] = s;
  return (size_t)pieces.bytes;
}

/* The sources of every phase, in row order; sources[0] has the memory for all of them. A row of the strip has `line`
   elements, and `above` rows come before its first one. */
static void findSources(const THNNWindow *window, const THNNPhases *rows, const THNNPhases *columns, int64_t line,
                        int64_t above, Sources *sources)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  Sources next = sources[0];
  for (int64_t p = 0; p < h->stride; p++)
    for (int64_t q = 0; q < w->stride; q++) {
      Sources *s = sources + p * w->stride + q;
      *s = next;
      s->count = 0;
      for (int64_t r = h->kernel - 1; r >= 0; r--) {
        const int64_t row = thnn_phasesSeen(rows, h, p, r);
        for (int64_t c = w->kernel - 1; c >= 0 && row >= 0; c--) {
          const int64_t column = thnn_phasesSeen(columns, w, q, c);
          if (column < 0) continue;
          s->off[s->count] = s->atOff[s->count] = (row - above) * line + column;
          s->weight[s->count++] = 1;
        }
      }
      next.off += s->count;
      next.atOff += s->count;
      next.weight += s->count;
    }
}

/* n indices to lanes. */
static void narrow(int64_t n, const int64_t *index, int64_t step, vlane *positions)
{
  if (step == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      thnn_prefetchAhead(index + j, VL * (int)sizeof *index);
      vi_store(positions + j, loadPositions(index + j, VL));
    }
  } else {
    for (int64_t i = 0; i < n; i++) positions[i] = (vlane)index[i * step];
  }
}

/* n elements past the caches, in whole vectors. */
static void streamOut(int64_t n, const real *from, real *to)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real));
  int64_t i = head < n ? head : n;
  v_store_n(to, v_load_n(from, (int)i), (int)i);
  for (; i <= n - VL; i += VL) v_stream(to + i, v_load(from + i));
  const int rest = (int)(n - i) & (VL - 1);
  v_store_n(to + i, v_load_n(from + i, rest), rest);
}

/* even[0], odd[0], even[1], odd[1], ...: n of each. */
WINDOW_APART void interleave(int64_t n, const real *even, const real *odd, real *to, bool stream)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real)); /* before the first whole vector */
  int64_t i = 0;
  if (stream && head % 2 == 0 && n >= VL) {
    storePairs(to, v_load(even), v_load(odd), VL);
    for (i = head / 2; i <= n - VL; i += VL) {
      const vreal x = v_load(even + i), y = v_load(odd + i);
      v_stream(to + 2 * i, interleaveLow(x, y));
      v_stream(to + 2 * i + VL, interleaveHigh(x, y));
    }
  } else {
    for (; i <= n - VL; i += VL) {
      thnn_prefetchAheadForWrite(to + 2 * i, 2 * VL * (int)sizeof *to);
      storePairs(to + 2 * i, v_load(even + i), v_load(odd + i), VL);
    }
  }
  for (; i < n; i++) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

/* Rows of an image from their phases, which follow each other in `phase`. */
static void merge(const THNNImages *x, int64_t stride, int64_t rows, const real *phase, real *to, bool stream)
{
  const int64_t evens = (x->w + 1) / 2;
  if (stride == 2 && x->sw == 1) {
    const real *odd = phase + rows * evens;
    if (x->w % 2 == 0 && x->sh == x->w) {
      interleave(rows * evens, phase, odd, to, stream);
      return;
    }
    for (int64_t i = 0; i < rows; i++, to += x->sh) {
      interleave(x->w / 2, phase + i * evens, odd + i * (x->w / 2), to, false);
      if (x->w % 2) to[x->w - 1] = phase[i * evens + evens - 1];
    }
    return;
  }
  for (int64_t q = 0; q < stride && q < x->w; q++)
    for (int64_t i = 0; i < rows; i++)
      for (int64_t j = q; j < x->w; j += stride) to[i * x->sh + j * x->sw] = *phase++;
}

/* Runs of input columns, those of one phase of the stride, in strips of rows. What outputs a strip sees is laid
   out with margins, positions in lanes and, for the mean, gradients weighted. */
static bool backwardRows(const Backward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const THNNPhases rows = thnn_phasesOfOutput(h), columns = thnn_phasesOfOutput(w);
  /* A unit is `stride` rows, one of each phase; unit m sees the outputs from m + above to m + below. */
  int64_t above, below;
  thnn_phasesReach(&rows, h, &above, &below);
  const int64_t units = (h->input + h->stride - 1) / h->stride, slot = columns.pitch;
  const int64_t strip = thnn_strip(units, below - above + 1, 1,
                                   ((double)slot + (double)(h->stride * w->input)) * sizeof(real) +
                                       (f->indices ? slot * sizeof(real) : 0));
  const int64_t slots = strip + below - above;
  const bool merges = w->stride > 1 || x->sw != 1;
  BackwardBuffers sizes;
  const size_t bytes = backwardRowsBuffers(NULL, f->window, merges ? strip : 0, slots, slot, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t total = x->n * x->c * units, unit_size = w->input * (h->stride < h->input ? h->stride : h->input);
  const int64_t per_task = thnn_perTask(unit_size) > strip ? thnn_perTask(unit_size) : strip;
  THNN_PARALLEL_FOR(task, (total + per_task - 1) / per_task, total * unit_size) {
    BackwardBuffers b;
    backwardRowsBuffers(thnn_scratch(bytes), f->window, merges ? strip : 0, slots, slot, &b);
    findSources(f->window, &rows, &columns, slot, rows.left + above, b.sources);
    fillMargins(&columns, slots, w->output, 0, b.strip); /* which add 0, wherever they point */
    for (int64_t j = 0; j < w->output; j++) b.weights[j] = 1 / (real)thnn_windowDivisor(w, j, f->count_pad);
    Collected s = {.from = b.strip, .atFrom = b.positions, .from_step = slot, .atFrom_step = slot};
    s.step = w->stride;
    s.ramp = ramp(w->stride);
    s.at_step = h->stride * w->input;
    const int64_t end = total < (task + 1) * per_task ? total : (task + 1) * per_task;
    int64_t unit = task * per_task, plane = unit / units, m = unit % units;
    for (int64_t count; unit < end; unit += count, m += count) {
      if (m == units) plane++, m = 0;
      count = end - unit < units - m ? end - unit : units - m;
      if (count > strip) count = strip;
      const real *from = f->gradOutput + thnn_plane(g, plane);
      const int64_t *at_from = f->indices ? f->indices + thnn_plane(at, plane) : NULL;
      for (int64_t k = 0; k < count + below - above; k++) {
        const int64_t o = m + above + k;
        real *line = b.strip + k * slot;
        if (o < 0 || o >= h->output) {
          fillWith(line, slot, 0);
          continue;
        }
        if (f->indices) {
          layOut(&columns, from + o * g->sh, w->output, g->sw, 1, NULL, line);
          narrow(w->output, at_from + o * at->sh, at->sw, b.positions + k * slot + columns.left);
        } else {
          const real weight = 1 / (real)thnn_windowDivisor(h, o, f->count_pad);
          layOut(&columns, from + o * g->sh, w->output, g->sw, weight, b.weights, line);
        }
      }
      const int64_t top = m * h->stride,
                    lines = h->input - top < count * h->stride ? h->input - top : count * h->stride;
      real *to = f->gradInput + thnn_plane(x, plane) + top * x->sh, *phase = merges ? b.phase : to;
      for (int64_t q = 0; q < w->stride && q < w->input; q++) {
        const int64_t run = (w->input - q + w->stride - 1) / w->stride, step = merges ? run : x->sh;
        s.to_step = h->stride * step;
        for (int64_t p = 0; p < h->stride && p < lines; p++) {
          s.count = (lines - p - 1) / h->stride + 1;
          s.at = (top + p) * w->input + q;
          s.to = phase + p * step;
          const Sources *sources = b.sources + p * w->stride + q;
          if (f->indices) collectLanes(run, &s, sources);
          else collectWeighted(run, &s, sources);
        }
        phase += lines * run;
      }
      if (merges) merge(x, w->stride, lines, b.phase, to, f->streams);
    }
  }
  return true;
}

/* Units of 2 x 2 inputs in rows: those of window (o, j), which they share with (o, j+1), (o+1, j) and (o+1, j+1) if
   windows overlap. */
typedef struct Units {
  int64_t count, columns;
  const real *from;
  const int64_t *index;
  real *to;
  int64_t from_step, index_step, to_step;
  int64_t at, width; /* the position of the first, and how many are in a row of the image */
  vint ramp;
  bool bottom; /* there is no window below the last ones */
  real weight;
} Units;

/* Of these windows' gradients, those whose index is `at`. */
#define CHOSEN(index, at, g) v_sel(vi_eq(index, at), g, zero)

WINDOW_INLINE void unitsBlock(const int64_t *first, int vectors, int lanes, const Units *units, How how,
                              bool overlap)
{
  const Units s = *units;
  const vreal zero = {0};
  for (int v = 0; v < vectors; v++) {
    const bool edge = first[v] + lanes == s.columns;
    const real *from = s.from + first[v];
    const int64_t *index = s.index + first[v];
    real *even = s.to + 2 * first[v], *odd = even + s.to_step / 2;
    vint here = vi_set1((vlane)(s.at + 2 * first[v])) + s.ramp;
    vreal g = zero, right = zero;
    vint at = {0}, right_at = {0};
    for (int64_t n = overlap ? -1 : 0; n < s.count; n++) {
      vreal below = zero, below_right = zero;
      vint below_at = {0}, below_right_at = {0};
      if (!overlap || n + 1 < s.count || !s.bottom) {
        below = loadLanes(from, lanes);
        thnn_prefetchAhead(from, VL * (int)sizeof *from);
        if (how == WIDE_INDEX) {
          below_at = loadPositions(index, lanes);
          thnn_prefetchAhead(index, VL * (int)sizeof *index);
        }
        if (overlap && edge) {
          below_right = next(below);
          below_right_at = (vint)next((vreal)below_at);
        } else if (overlap) {
          below_right = loadLanes(from + 1, lanes);
          below_right_at = loadPositions(index + 1, lanes);
        }
        from += s.from_step;
        index += s.index_step;
      }
      if (n >= 0 && how == WEIGHTED) {
        below = zero + below * v_set1(s.weight); /* so that there is no -0, as in a sum */
        storePairs(even, below, below, lanes);
        storePairs(odd, below, below, lanes);
      } else if (n >= 0) {
        const vint one = vi_set1(1), low = here + vi_set1((vlane)s.width);
        if (!overlap) g = below, at = below_at;
        vreal a = zero + CHOSEN(at, here, g), b = zero + CHOSEN(at, here + one, g);
        vreal c = zero + CHOSEN(at, low, g), d = zero + CHOSEN(at, low + one, g);
        if (overlap) {
          b += CHOSEN(right_at, here + one, right);
          c += CHOSEN(below_at, low, below);
          d += CHOSEN(right_at, low + one, right);
          d += CHOSEN(below_at, low + one, below);
          d += CHOSEN(below_right_at, low + one, below_right);
        }
        storePairs(even, a, b, lanes);
        storePairs(odd, c, d, lanes);
        here += vi_set1((vlane)(2 * s.width));
      }
      if (n >= 0) even += s.to_step, odd += s.to_step;
      g = below, right = below_right, at = below_at, right_at = below_right_at;
    }
  }
}

#undef CHOSEN

WINDOW_APART void units(const Units *units, How how, bool overlap)
{
  if (how == WEIGHTED) WINDOW_RUN(units->columns, unitsBlock, units, WEIGHTED, false);
  else if (overlap) WINDOW_RUN(units->columns, unitsBlock, units, WIDE_INDEX, true);
  else WINDOW_RUN(units->columns, unitsBlock, units, WIDE_INDEX, false);
}

/* So many elements of the result are put together in the first-level cache before they go past it. */
#define UNITS_REALS 1024

static bool backwardUnits(const Backward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t kernel = w->kernel == 3 && f->indices ? 3 : 2, columns = w->output;
  if (!halves(h, kernel) || !halves(w, kernel) || x->sw != 1 || g->sw != 1 || (f->indices && at->sw != 1))
    return false;
  const bool streams = f->streams && x->sh == w->input;
  const int64_t line = 2 * w->input, most = UNITS_REALS / line > 1 ? UNITS_REALS / line : 1;
  const int64_t total = x->n * x->c * h->output, per_task = (thnn_perTask(line) + most - 1) / most * most;
  const size_t bytes = streams ? sizeof(real) * (size_t)(most * line) : 0;
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  THNN_PARALLEL_FOR(task, (total + per_task - 1) / per_task, total * line) {
    real *lines = streams ? thnn_scratch(bytes) : NULL;
    Units s = {
        .columns = columns, .from_step = g->sh, .index_step = at->sh, .to_step = 2 * x->sh, .width = w->input};
    s.ramp = ramp(2);
    s.weight = (real)1 / (real)4;
    const int64_t end = total < (task + 1) * per_task ? total : (task + 1) * per_task;
    for (int64_t unit = task * per_task; unit < end; unit += s.count) {
      const int64_t plane = unit / h->output, o = unit % h->output;
      s.count = end - unit < h->output - o ? end - unit : h->output - o;
      if (s.count > most) s.count = most;
      s.bottom = o + s.count == h->output;
      s.from = f->gradOutput + thnn_plane(g, plane) + o * g->sh;
      s.index = f->indices ? f->indices + thnn_plane(at, plane) + o * at->sh : NULL;
      s.at = 2 * o * w->input;
      real *to = f->gradInput + thnn_plane(x, plane) + 2 * o * x->sh;
      s.to = streams ? lines : to;
      units(&s, f->indices ? WIDE_INDEX : WEIGHTED, kernel == 3);
      if (streams) streamOut(s.count * line, lines, to);
    }
  }
  return true;
}

static size_t backwardPixelsBuffers(void *memory, const THNNWindow *window, int64_t packed, Sources *s,
                                    real **pack)
{
  THNNPieces pieces = {memory, 0};
  const double taps = (double)thnn_windowOverlap(&window->h) * (double)thnn_windowOverlap(&window->w);
  s->off = thnn_piece(&pieces, taps, sizeof(int64_t));
  s->atOff = thnn_piece(&pieces, taps, sizeof(int64_t));
  s->weight = thnn_piece(&pieces, taps, sizeof(real));
  *pack = thnn_piece(&pieces, taps * (double)packed, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Whether the outputs low <= o < high all have the divisor `kernel`: those between two that have it do. */
static bool fullDivisors(const THNNAxis *a, int64_t low, int64_t high, bool count_pad)
{
  return low < high && thnn_windowDivisor(a, low, count_pad) == a->kernel &&
         thnn_windowDivisor(a, high - 1, count_pad) == a->kernel;
}

/* Runs of channels, of as many pixels of a row as collect alike, which are `stride` apart. A gradOutput of another
   layout, an expanded one say, is packed pixel by pixel. */
static bool backwardPixels(const Backward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  Sources sizes;
  real *pack;
  const size_t bytes = backwardPixelsBuffers(NULL, f->window, packed, &sizes, &pack);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const bool all_full = f->indices || (thnn_windowsInside(h) && thnn_windowsInside(w));
  const bool whole = x->c % VL == 0 && (x->sn | x->sh | x->sw) % VL == 0 && (uintptr_t)f->gradInput % VBYTES == 0;
  const int64_t rows = x->n * h->input, per_task = thnn_perTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input * x->c) {
    Sources s = {0};
    Collected c = {.from_step = g->sw, .atFrom_step = at->sw, .to_step = w->stride * x->sw};
    c.at_step = w->stride;
    c.streams = f->streams && whole;
    real *pixels;
    backwardPixelsBuffers(thnn_scratch(bytes), f->window, packed, &s, &pixels);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t n = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0;
      thnn_windowSlide(h, i, &low, &high);
      const real *from = f->gradOutput + n * g->sn;
      const bool h_full = all_full || fullDivisors(h, low, high, f->count_pad);
      for (int64_t q = 0; q < w->stride; q++) {
        int64_t left = 0, right = 0, next = 0, next_right = 0, j = q;
        for (; j < w->input; j += c.count * w->stride) {
          thnn_windowSlide(w, j, &left, &right);
          const bool full = all_full || (h_full && fullDivisors(w, left, right, f->count_pad));
          s.count = 0;
          for (int64_t o = low; o < high; o++)
            for (int64_t k = left; k < right; k++) {
              if (!thnn_windowSees(h, o, i) || !thnn_windowSees(w, k, j)) continue;
              const real *pixel = from + o * g->sh + k * g->sw;
              for (int64_t l = 0; l < packed; l++) pixels[s.count * packed + l] = pixel[l * g->sc];
              s.off[s.count] = packed ? s.count * packed : o * g->sh + (k - left) * g->sw;
              s.atOff[s.count] = o * at->sh + (k - left) * at->sw;
              if (!f->indices)
                s.weight[s.count] = 1 / ((real)thnn_windowDivisor(h, o, f->count_pad) *
                                         (real)thnn_windowDivisor(w, k, f->count_pad));
              s.count++;
            }
          next = left, next_right = right;
          for (c.count = 1; full && !packed && w->dilation == 1 && j + c.count * w->stride < w->input; c.count++) {
            thnn_windowSlide(w, j + c.count * w->stride, &next, &next_right);
            if (next != left + c.count || next_right != right + c.count) break;
            if (!all_full && !fullDivisors(w, next, next_right, f->count_pad)) break;
          }
          c.from = packed ? pixels : from + left * g->sw;
          c.atFrom = f->indices ? f->indices + n * at->sn + left * at->sw : NULL;
          c.to = f->gradInput + n * x->sn + i * x->sh + j * x->sw;
          c.at = i * w->input + j;
          if (f->indices) collectWide(x->c, &c, &s);
          else collectWeighted(x->c, &c, &s);
        }
      }
    }
  }
  return true;
}

/* Any indices, any geometry. */
static void scatter(const Backward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t planes = x->n * x->c;
  THNN_PARALLEL_FOR(plane, planes, planes * h->input * w->input) {
    const real *from = f->gradOutput + thnn_plane(g, plane);
    const int64_t *at_from = f->indices + thnn_plane(at, plane);
    real *to = f->gradInput + thnn_plane(x, plane);
    for (int64_t i = 0; i < h->input; i++)
      for (int64_t j = 0; j < w->input; j++) to[i * x->sh + j * x->sw] = 0;
    for (int64_t o = 0; o < h->output; o++)
      for (int64_t j = 0; j < w->output; j++) {
        const int64_t index = at_from[o * at->sh + j * at->sw];
        if (index < 0) continue;
        to[index / w->input * x->sh + index % w->input * x->sw] += from[o * g->sh + j * g->sw];
      }
  }
}

/* The mean in any geometry. */
static void spread(const Backward *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *x = &f->x;
  const int64_t planes = x->n * x->c;
  THNN_PARALLEL_FOR(plane, planes, planes * h->input * w->input) {
    const real *from = f->gradOutput + thnn_plane(g, plane);
    for (int64_t i = 0, low = 0, high = 0; i < h->input; i++) {
      thnn_windowSlide(h, i, &low, &high);
      for (int64_t j = 0, left = 0, right = 0; j < w->input; j++) {
        thnn_windowSlide(w, j, &left, &right);
        accreal sum = 0;
        for (int64_t r = low; r < high; r++)
          for (int64_t c = left; c < right; c++)
            sum += from[r * g->sh + c * g->sw] / ((accreal)thnn_windowDivisor(h, r, f->count_pad) *
                                                  (accreal)thnn_windowDivisor(w, c, f->count_pad));
        f->gradInput[thnn_plane(x, plane) + i * x->sh + j * x->sw] = (real)sum;
      }
    }
  }
}

void THNN_(windowMaxBackward)(const THNNWindow *window, bool in_windows, const THTensor *gradOutput,
                              const THIndexTensor *indices, THTensor *gradInput)
{
  const Backward f = {window,
                      thnn_images(gradOutput),
                      thnn_images(indices),
                      thnn_images(gradInput),
                      TH_DATA(gradOutput),
                      indices->data,
                      TH_DATA(gradInput),
                      false,
                      thnn_windowStreams(sizeof(real), gradInput, gradOutput, indices)};
  const bool pixels = thnn_channelsInside(&f.at) && thnn_channelsInside(&f.x);
  if (!in_windows || !(pixels ? backwardPixels(&f) : backwardUnits(&f) || backwardRows(&f))) scatter(&f);
}

void THNN_(windowMeanBackward)(const THNNWindow *window, bool count_pad, const THTensor *gradOutput,
                               THTensor *gradInput)
{
  const Backward f = {window,
                      thnn_images(gradOutput),
                      {0},
                      thnn_images(gradInput),
                      TH_DATA(gradOutput),
                      NULL,
                      TH_DATA(gradInput),
                      count_pad,
                      thnn_windowStreams(sizeof(real), gradInput, gradOutput, NULL)};
  if (!(thnn_channelsInside(&f.x) ? backwardPixels(&f) : backwardUnits(&f) || backwardRows(&f))) spread(&f);
}
