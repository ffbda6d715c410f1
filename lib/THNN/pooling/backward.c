/* The gradient of windows. */

#include "pooling/lanes.h"

/* Every input collects, in row order of the outputs that see it, the gradients of those whose index it is, or all
   of them with their weights for the mean (no indices). No clearing and no adding to memory, and the sums are
   those of scattering. */
typedef struct V_(Backward) {
  const THNNWindow *window;
  THNNImages g, at, x;
  const real *gradOutput;
  const int64_t *indices;
  real *gradInput;
  bool count_pad, streams;
} V_(Backward);

/* Where the lanes of a run collect from: source t of lane i has the gradient from[off[t] + i] and the index
   atFrom[atOff[t] + i]. */
typedef struct V_(Sources) {
  int64_t count;
  int64_t *off, *atOff;
  real *weight;
} V_(Sources);

/* Rows of lanes that collect alike: lane i is position at + i*step; each next row has all of it further on by the
   steps. */
typedef struct V_(Collected) {
  int64_t count;
  const real *from;
  const void *atFrom;
  real *to;
  int64_t from_step, atFrom_step, to_step;
  int64_t at, at_step, step;
  vint ramp; /* V_(ramp)(step) */
  bool streams;
} V_(Collected);

/* What is collected: gradients whose index, an int64 or already a lane, is that of the lane, or weighted ones. */
typedef enum V_(How) { V_(WIDE_INDEX), V_(LANE_INDEX), V_(WEIGHTED) } V_(How);

WINDOW_INLINE void V_(collectBlock)(const int64_t *first, int vectors, int lanes, const V_(Collected) *rows,
                                    const V_(Sources) *sources, int64_t count, V_(How) how)
{
  const V_(Collected) s = *rows;
  const V_(Sources) o = *sources;
  const vreal zero = {0};
  const real *from = s.from;
  const char *atFrom = s.atFrom;
  const int64_t atFrom_step = s.atFrom_step * (int64_t)(how == V_(WIDE_INDEX) ? sizeof(int64_t) : sizeof(real));
  real *to = s.to;
  vint here[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) here[v] = vi_set1((V_(lane))(s.at + first[v] * s.step)) + s.ramp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal sum[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] = zero;
#pragma GCC unroll 4
    for (int64_t t = 0; t < count; t++) {
      const real *g = from + o.off[t];
      if (how == V_(WEIGHTED)) {
        const vreal weight = v_set1(o.weight[t]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += V_(loadLanes)(g + first[v], lanes) * weight;
      } else {
        const int64_t *wide = (const int64_t *)atFrom + o.atOff[t];
        const real *lane = (const real *)atFrom + o.atOff[t];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          if (how == V_(WIDE_INDEX)) {
            thnn_fetchAhead(g + first[v], VL * (int)sizeof *g);
            thnn_fetchAhead(wide + first[v], VL * (int)sizeof *wide);
          }
          vint index = how == V_(WIDE_INDEX) ? V_(loadPositions)(wide + first[v], lanes)
                                             : (vint)V_(loadLanes)(lane + first[v], lanes);
          sum[v] += v_sel(vi_eq(index, here[v]), V_(loadLanes)(g + first[v], lanes), zero);
        }
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      if (lanes == VL && s.streams) v_stream(to + first[v], sum[v]);
      else V_(storeLanes)(to + first[v], sum[v], lanes);
      if (s.streams && how == V_(WEIGHTED)) thnn_fetchAhead(from + o.off[0] + first[v], VL * (int)sizeof *from);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) here[v] += vi_set1((V_(lane))s.at_step);
    from += s.from_step;
    if (how != V_(WEIGHTED)) atFrom += atFrom_step;
    to += s.to_step;
  }
}

/* Overlapping windows with a stride of half of them have 1, 2 or 4 sources. */
#define COLLECT(name, how)                                                                     \
  WINDOW_APART void V_(name)(int64_t n, const V_(Collected) *rows, const V_(Sources) *sources) \
  {                                                                                            \
    if (sources->count == 1) WINDOW_RUN(n, V_(collectBlock), rows, sources, 1, how);           \
    else if (sources->count == 2) WINDOW_RUN(n, V_(collectBlock), rows, sources, 2, how);      \
    else if (sources->count == 4) WINDOW_RUN(n, V_(collectBlock), rows, sources, 4, how);      \
    else WINDOW_RUN(n, V_(collectBlock), rows, sources, sources->count, how);                  \
  }
COLLECT(collectWide, V_(WIDE_INDEX))
COLLECT(collectLanes, V_(LANE_INDEX))
COLLECT(collectWeighted, V_(WEIGHTED))
#undef COLLECT

typedef struct V_(BackwardBuffers) {
  V_(Sources) *sources; /* of each phase of rows and columns */
  real *strip, *phase, *weights;
  V_(lane) *positions;
} V_(BackwardBuffers);

static size_t V_(backwardRowsBuffers)(void *memory, const THNNWindow *window, int64_t strip, int64_t slots,
                                      int64_t slot, V_(BackwardBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double taps = (double)h->kernel * (double)w->kernel;
  V_(Sources) s = {0};
  b->sources = thnn_piece(&pieces, (double)h->stride * (double)w->stride, sizeof(V_(Sources)));
  b->strip = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(real));
  b->positions = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(V_(lane)));
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
static void V_(findSources)(const THNNWindow *window, const THNNPhases *rows, const THNNPhases *columns,
                            int64_t line, int64_t above, V_(Sources) *sources)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  V_(Sources) next = sources[0];
  for (int64_t p = 0; p < h->stride; p++)
    for (int64_t q = 0; q < w->stride; q++) {
      V_(Sources) *s = sources + p * w->stride + q;
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
static void V_(narrow)(int64_t n, const int64_t *index, int64_t step, V_(lane) *positions)
{
  if (step == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      thnn_fetchAhead(index + j, VL * (int)sizeof *index);
      vi_store(positions + j, V_(loadPositions)(index + j, VL));
    }
  } else {
    for (int64_t i = 0; i < n; i++) positions[i] = (V_(lane))index[i * step];
  }
}

/* n elements past the caches, in whole vectors. */
static void V_(streamOut)(int64_t n, const real *from, real *to)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real));
  int64_t i = head < n ? head : n;
  v_store_n(to, v_load_n(from, (int)i), (int)i);
  for (; i <= n - VL; i += VL) v_stream(to + i, v_load(from + i));
  const int rest = (int)(n - i) & (VL - 1);
  v_store_n(to + i, v_load_n(from + i, rest), rest);
}

/* even[0], odd[0], even[1], odd[1], ...: n of each. */
WINDOW_APART void V_(interleave)(int64_t n, const real *even, const real *odd, real *to, bool stream)
{
  const int64_t head = (int64_t)(-(uintptr_t)to % VBYTES / sizeof(real)); /* before the first whole vector */
  int64_t i = 0;
  if (stream && head % 2 == 0 && n >= VL) {
    V_(storePairs)(to, v_load(even), v_load(odd), VL);
    for (i = head / 2; i <= n - VL; i += VL) {
      const vreal x = v_load(even + i), y = v_load(odd + i);
      v_stream(to + 2 * i, V_(low)(x, y));
      v_stream(to + 2 * i + VL, V_(high)(x, y));
    }
  } else {
    for (; i <= n - VL; i += VL) {
      thnn_fetchAheadToWrite(to + 2 * i, 2 * VL * (int)sizeof *to);
      V_(storePairs)(to + 2 * i, v_load(even + i), v_load(odd + i), VL);
    }
  }
  for (; i < n; i++) {
    to[2 * i] = even[i];
    to[2 * i + 1] = odd[i];
  }
}

/* Rows of an image from their phases, which follow each other in `phase`. */
static void V_(merge)(const THNNImages *x, int64_t stride, int64_t rows, const real *phase, real *to, bool stream)
{
  const int64_t evens = (x->w + 1) / 2;
  if (stride == 2 && x->sw == 1) {
    const real *odd = phase + rows * evens;
    if (x->w % 2 == 0 && x->sh == x->w) {
      V_(interleave)(rows * evens, phase, odd, to, stream);
      return;
    }
    for (int64_t i = 0; i < rows; i++, to += x->sh) {
      V_(interleave)(x->w / 2, phase + i * evens, odd + i * (x->w / 2), to, false);
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
static bool V_(backwardRows)(const V_(Backward) *f)
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
  V_(BackwardBuffers) sizes;
  const size_t bytes = V_(backwardRowsBuffers)(NULL, f->window, merges ? strip : 0, slots, slot, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t total = x->n * x->c * units, unit_size = w->input * (h->stride < h->input ? h->stride : h->input);
  const int64_t per_task = thnn_perTask(unit_size) > strip ? thnn_perTask(unit_size) : strip;
  THNN_PARALLEL_FOR(task, (total + per_task - 1) / per_task, total * unit_size) {
    V_(BackwardBuffers) b;
    V_(backwardRowsBuffers)(thnn_scratch(bytes), f->window, merges ? strip : 0, slots, slot, &b);
    V_(findSources)(f->window, &rows, &columns, slot, rows.left + above, b.sources);
    V_(fillMargins)(&columns, slots, w->output, 0, b.strip); /* which add 0, wherever they point */
    for (int64_t j = 0; j < w->output; j++) b.weights[j] = 1 / (real)thnn_windowDivisor(w, j, f->count_pad);
    V_(Collected) s = {.from = b.strip, .atFrom = b.positions, .from_step = slot, .atFrom_step = slot};
    s.step = w->stride;
    s.ramp = V_(ramp)(w->stride);
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
          V_(fill)(line, slot, 0);
          continue;
        }
        if (f->indices) {
          V_(layOut)(&columns, from + o * g->sh, w->output, g->sw, 1, NULL, line);
          V_(narrow)(w->output, at_from + o * at->sh, at->sw, b.positions + k * slot + columns.left);
        } else {
          const real weight = 1 / (real)thnn_windowDivisor(h, o, f->count_pad);
          V_(layOut)(&columns, from + o * g->sh, w->output, g->sw, weight, b.weights, line);
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
          const V_(Sources) *sources = b.sources + p * w->stride + q;
          if (f->indices) V_(collectLanes)(run, &s, sources);
          else V_(collectWeighted)(run, &s, sources);
        }
        phase += lines * run;
      }
      if (merges) V_(merge)(x, w->stride, lines, b.phase, to, f->streams);
    }
  }
  return true;
}

/* Units of 2 x 2 inputs in rows: those of window (o, j), which they share with (o, j+1), (o+1, j) and (o+1, j+1) if
   windows overlap. */
typedef struct V_(Units) {
  int64_t count, columns;
  const real *from;
  const int64_t *index;
  real *to;
  int64_t from_step, index_step, to_step;
  int64_t at, width; /* the position of the first, and how many are in a row of the image */
  vint ramp;
  bool bottom; /* there is no window below the last ones */
  real weight;
} V_(Units);

/* Of these windows' gradients, those whose index is `at`. */
#define CHOSEN(index, at, g) v_sel(vi_eq(index, at), g, zero)

WINDOW_INLINE void V_(unitsBlock)(const int64_t *first, int vectors, int lanes, const V_(Units) *units,
                                  V_(How) how, bool overlap)
{
  const V_(Units) s = *units;
  const vreal zero = {0};
  for (int v = 0; v < vectors; v++) {
    const bool edge = first[v] + lanes == s.columns;
    const real *from = s.from + first[v];
    const int64_t *index = s.index + first[v];
    real *even = s.to + 2 * first[v], *odd = even + s.to_step / 2;
    vint here = vi_set1((V_(lane))(s.at + 2 * first[v])) + s.ramp;
    vreal g = zero, right = zero;
    vint at = {0}, right_at = {0};
    for (int64_t n = overlap ? -1 : 0; n < s.count; n++) {
      vreal below = zero, below_right = zero;
      vint below_at = {0}, below_right_at = {0};
      if (!overlap || n + 1 < s.count || !s.bottom) {
        below = V_(loadLanes)(from, lanes);
        thnn_fetchAhead(from, VL * (int)sizeof *from);
        if (how == V_(WIDE_INDEX)) {
          below_at = V_(loadPositions)(index, lanes);
          thnn_fetchAhead(index, VL * (int)sizeof *index);
        }
        if (overlap && edge) {
          below_right = V_(next)(below);
          below_right_at = (vint)V_(next)((vreal)below_at);
        } else if (overlap) {
          below_right = V_(loadLanes)(from + 1, lanes);
          below_right_at = V_(loadPositions)(index + 1, lanes);
        }
        from += s.from_step;
        index += s.index_step;
      }
      if (n >= 0 && how == V_(WEIGHTED)) {
        below = zero + below * v_set1(s.weight); /* so that there is no -0, as in a sum */
        V_(storePairs)(even, below, below, lanes);
        V_(storePairs)(odd, below, below, lanes);
      } else if (n >= 0) {
        const vint one = vi_set1(1), low = here + vi_set1((V_(lane))s.width);
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
        V_(storePairs)(even, a, b, lanes);
        V_(storePairs)(odd, c, d, lanes);
        here += vi_set1((V_(lane))(2 * s.width));
      }
      if (n >= 0) even += s.to_step, odd += s.to_step;
      g = below, right = below_right, at = below_at, right_at = below_right_at;
    }
  }
}

#undef CHOSEN

WINDOW_APART void V_(units)(const V_(Units) *units, V_(How) how, bool overlap)
{
  if (how == V_(WEIGHTED)) WINDOW_RUN(units->columns, V_(unitsBlock), units, V_(WEIGHTED), false);
  else if (overlap) WINDOW_RUN(units->columns, V_(unitsBlock), units, V_(WIDE_INDEX), true);
  else WINDOW_RUN(units->columns, V_(unitsBlock), units, V_(WIDE_INDEX), false);
}

/* So many elements of the result are put together in the first-level cache before they go past it. */
#define UNITS_REALS 1024

static bool V_(backwardUnits)(const V_(Backward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t kernel = w->kernel == 3 && f->indices ? 3 : 2, columns = w->output;
  if (!V_(halves)(h, kernel) || !V_(halves)(w, kernel) || x->sw != 1 || g->sw != 1 || (f->indices && at->sw != 1))
    return false;
  const bool streams = f->streams && x->sh == w->input;
  const int64_t line = 2 * w->input, most = UNITS_REALS / line > 1 ? UNITS_REALS / line : 1;
  const int64_t total = x->n * x->c * h->output, per_task = (thnn_perTask(line) + most - 1) / most * most;
  const size_t bytes = streams ? sizeof(real) * (size_t)(most * line) : 0;
  if (bytes > THNN_SCRATCH_LIMIT) return false;
  THNN_PARALLEL_FOR(task, (total + per_task - 1) / per_task, total * line) {
    real *lines = streams ? thnn_scratch(bytes) : NULL;
    V_(Units) s = {
        .columns = columns, .from_step = g->sh, .index_step = at->sh, .to_step = 2 * x->sh, .width = w->input};
    s.ramp = V_(ramp)(2);
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
      V_(units)(&s, f->indices ? V_(WIDE_INDEX) : V_(WEIGHTED), kernel == 3);
      if (streams) V_(streamOut)(s.count * line, lines, to);
    }
  }
  return true;
}

static size_t V_(backwardPixelsBuffers)(void *memory, const THNNWindow *window, int64_t packed, V_(Sources) *s,
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
static bool V_(fullDivisors)(const THNNAxis *a, int64_t low, int64_t high, bool count_pad)
{
  return low < high && thnn_windowDivisor(a, low, count_pad) == a->kernel &&
         thnn_windowDivisor(a, high - 1, count_pad) == a->kernel;
}

/* Runs of channels, of as many pixels of a row as collect alike, which are `stride` apart. A gradOutput of another
   layout, an expanded one say, is packed pixel by pixel. */
static bool V_(backwardPixels)(const V_(Backward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  V_(Sources) sizes;
  real *pack;
  const size_t bytes = V_(backwardPixelsBuffers)(NULL, f->window, packed, &sizes, &pack);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const bool all_full = f->indices || (thnn_windowsInside(h) && thnn_windowsInside(w));
  const bool whole = x->c % VL == 0 && (x->sn | x->sh | x->sw) % VL == 0 && (uintptr_t)f->gradInput % VBYTES == 0;
  const int64_t rows = x->n * h->input, per_task = thnn_perTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input * x->c) {
    V_(Sources) s = {0};
    V_(Collected) c = {.from_step = g->sw, .atFrom_step = at->sw, .to_step = w->stride * x->sw};
    c.at_step = w->stride;
    c.streams = f->streams && whole;
    real *pixels;
    V_(backwardPixelsBuffers)(thnn_scratch(bytes), f->window, packed, &s, &pixels);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t n = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0;
      thnn_windowSlide(h, i, &low, &high);
      const real *from = f->gradOutput + n * g->sn;
      const bool h_full = all_full || V_(fullDivisors)(h, low, high, f->count_pad);
      for (int64_t q = 0; q < w->stride; q++) {
        int64_t left = 0, right = 0, next = 0, next_right = 0, j = q;
        for (; j < w->input; j += c.count * w->stride) {
          thnn_windowSlide(w, j, &left, &right);
          const bool full = all_full || (h_full && V_(fullDivisors)(w, left, right, f->count_pad));
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
            if (!all_full && !V_(fullDivisors)(w, next, next_right, f->count_pad)) break;
          }
          c.from = packed ? pixels : from + left * g->sw;
          c.atFrom = f->indices ? f->indices + n * at->sn + left * at->sw : NULL;
          c.to = f->gradInput + n * x->sn + i * x->sh + j * x->sw;
          c.at = i * w->input + j;
          if (f->indices) V_(collectWide)(x->c, &c, &s);
          else V_(collectWeighted)(x->c, &c, &s);
        }
      }
    }
  }
  return true;
}

/* Any indices, any geometry. */
static void V_(scatter)(const V_(Backward) *f)
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
static void V_(spread)(const V_(Backward) *f)
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
  const V_(Backward) f = {window,
                          thnn_images(gradOutput),
                          thnn_images(indices),
                          thnn_images(gradInput),
                          TH_DATA(gradOutput),
                          indices->data,
                          TH_DATA(gradInput),
                          false,
                          thnn_windowStreams(sizeof(real), gradInput, gradOutput, indices)};
  const bool pixels = thnn_channelsInside(&f.at) && thnn_channelsInside(&f.x);
  if (!in_windows || !(pixels ? V_(backwardPixels)(&f) : V_(backwardUnits)(&f) || V_(backwardRows)(&f)))
    V_(scatter)(&f);
}

void THNN_(windowMeanBackward)(const THNNWindow *window, bool count_pad, const THTensor *gradOutput,
                               THTensor *gradInput)
{
  const V_(Backward) f = {window,
                          thnn_images(gradOutput),
                          {0},
                          thnn_images(gradInput),
                          TH_DATA(gradOutput),
                          NULL,
                          TH_DATA(gradInput),
                          count_pad,
                          thnn_windowStreams(sizeof(real), gradInput, gradOutput, NULL)};
  if (!(thnn_channelsInside(&f.x) ? V_(backwardPixels)(&f) : V_(backwardUnits)(&f) || V_(backwardRows)(&f)))
    V_(spread)(&f);
}
