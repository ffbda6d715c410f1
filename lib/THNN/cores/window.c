#include "window.h"

/* --- lanes ------------------------------------------------------------------------------------------------- */

WINDOW_INLINE vreal V_(loadLanes)(const real *p, int lanes)
{
  return lanes == VL ? v_load(p) : v_load_n(p, lanes);
}
WINDOW_INLINE void V_(storeLanes)(real *p, vreal x, int lanes)
{
  if (lanes == VL) v_store(p, x);
  else v_store_n(p, x, lanes);
}

/* Of two vectors as one sequence: the even elements, the odd ones, and the even ones of the first and the odd ones
   of the second; and back, a0 b0 a1 b1 ... in two halves. And all but the first, with one of the second. */
#undef EVENS
#undef ODDS
#undef EVENS_ODDS
#undef LOW
#undef HIGH
#undef NEXT
#undef PREVIOUS
#if VBYTES == 64 && defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define EVENS_ODDS 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16
#define PREVIOUS 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
#elif VBYTES == 64 || (VBYTES == 32 && defined(THNN_REAL_IS_FLOAT))
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define EVENS_ODDS 0, 2, 4, 6, 9, 11, 13, 15
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#define NEXT 1, 2, 3, 4, 5, 6, 7, 8
#define PREVIOUS 8, 0, 1, 2, 3, 4, 5, 6
#elif VBYTES == 32 || defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6
#define ODDS 1, 3, 5, 7
#define EVENS_ODDS 0, 2, 5, 7
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#define NEXT 1, 2, 3, 4
#define PREVIOUS 4, 0, 1, 2
#else
#define EVENS 0, 2
#define ODDS 1, 3
#define EVENS_ODDS 0, 3
#define LOW 0, 2
#define HIGH 1, 3
#define NEXT 1, 2
#define PREVIOUS 2, 0
#endif
static inline vreal V_(evens)(vreal a, vreal b) { return __builtin_shufflevector(a, b, EVENS); }
static inline vreal V_(odds)(vreal a, vreal b) { return __builtin_shufflevector(a, b, ODDS); }
static inline vreal V_(low)(vreal a, vreal b) { return __builtin_shufflevector(a, b, LOW); }
static inline vreal V_(high)(vreal a, vreal b) { return __builtin_shufflevector(a, b, HIGH); }

static inline vreal V_(next)(vreal a) { return __builtin_shufflevector(a, (vreal){0}, NEXT); }

/* All but the last, behind the first one of b. */
static inline vreal V_(previous)(vreal a, vreal b) { return __builtin_shufflevector(a, b, PREVIOUS); }

/* p[0], p[2], ..., reading nothing beyond the last one. */
WINDOW_INLINE vreal V_(loadPairs)(const real *p, int lanes)
{
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(p);
    b = v_load(p + VL - 1);
  } else {
    a = v_load_n(p, 2 * lanes - 1 < VL ? (2 * lanes - 1) * (lanes > 0) : VL);
    if (2 * lanes > VL) b = v_load_n(p + VL - 1, 2 * lanes - VL);
  }
  return __builtin_shufflevector(a, b, EVENS_ODDS);
}

/* x[0], y[0], x[1], y[1], ... */
WINDOW_INLINE void V_(storePairs)(real *p, vreal x, vreal y, int lanes)
{
  vreal low = V_(low)(x, y), high = V_(high)(x, y);
  if (lanes == VL) {
    v_store(p, low);
    v_store(p + VL, high);
  } else {
    v_store_n(p, low, 2 * lanes < VL ? 2 * lanes : VL);
    if (2 * lanes > VL) v_store_n(p + VL, high, 2 * lanes - VL);
  }
}

/* Positions in a plane and in the padding around it are computed in lanes as wide as real; larger planes go the
   plain way. */
static bool V_(positionsFit)(const THNNWindow *window)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const double rows = (double)h->input + 2 * (double)h->kernel * (double)h->dilation + (double)h->stride;
  const double columns = (double)w->input + 2 * (double)w->kernel * (double)w->dilation + (double)w->stride;
  return rows * columns < (sizeof(real) == 4 ? 0x1p30 : 0x1p62);
}

/* 0, step, 2*step, ... */
static inline vint V_(ramp)(int64_t step)
{
  vint x;
  for (int i = 0; i < VL; i++) x[i] = (V_(lane))(i * step);
  return x;
}

/* An int64 is one lane of double, or two of float. */
#ifdef THNN_REAL_IS_FLOAT
WINDOW_INLINE void V_(storePositions)(int64_t *index, vint at, int lanes)
{
  const vreal zero = {0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  V_(storePairs)((real *)index, (vreal)at, zero, lanes);
#else
  V_(storePairs)((real *)index, zero, (vreal)at, lanes);
#endif
}

WINDOW_INLINE vint V_(loadPositions)(const int64_t *index, int lanes)
{
  const real *p = (const real *)index;
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(p);
    b = v_load(p + VL);
  } else {
    a = v_load_n(p, 2 * lanes < VL ? 2 * lanes : VL);
    if (2 * lanes > VL) b = v_load_n(p + VL, 2 * lanes - VL);
  }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (vint)V_(evens)(a, b);
#else
  return (vint)V_(odds)(a, b);
#endif
}
#else
WINDOW_INLINE void V_(storePositions)(int64_t *index, vint at, int lanes)
{
  V_(storeLanes)((real *)index, (vreal)at, lanes);
}

WINDOW_INLINE vint V_(loadPositions)(const int64_t *index, int lanes)
{
  return (vint)V_(loadLanes)((const real *)index, lanes);
}
#endif

static inline void V_(fill)(real *p, int64_t n, real value)
{
  for (int64_t i = 0; i < n; i++) p[i] = value;
}

/* The places around n columns in each of `lines` rows. */
static void V_(fillMargins)(const THNNPhases *phases, int64_t lines, int64_t n, real value, real *row)
{
  for (int64_t i = 0; i < lines; i++)
    for (int64_t q = 0; q < phases->stride; q++, row += phases->pitch) {
      const int64_t end = phases->left + (n > q ? (n - q - 1) / phases->stride + 1 : 0);
      V_(fill)(row, phases->left, value);
      V_(fill)(row + end, phases->pitch - end, value);
    }
}

/* n columns, each `step` from the last, to their places, times weight and their weights if there are any; the
   margins stay as they are. */
static inline void V_(layOut)(const THNNPhases *phases, const real *x, int64_t n, int64_t step, real weight,
                              const real *weights, real *row)
{
  const int64_t stride = phases->stride, even = n & ~(int64_t)1;
  row += phases->left;
  if (step == 1 && stride == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      thnn_fetch(x + j, VL * (int)sizeof *x);
      v_store(row + j, weights ? v_load(x + j) * (v_load(weights + j) * weight) : v_load(x + j));
    }
  } else if (step == 1 && stride == 2 && n >= 2 * VL && weights == NULL) {
    for (int64_t i = 0; i < even; i += 2 * VL) {
      const int64_t j = i < even - 2 * VL ? i : even - 2 * VL;
      vreal a = v_load(x + j), b = v_load(x + j + VL);
      thnn_fetch(x + j, 2 * VL * (int)sizeof *x);
      v_store(row + j / 2, V_(evens)(a, b));
      v_store(row + phases->pitch + j / 2, V_(odds)(a, b));
    }
    if (even < n) row[even / 2] = x[even];
  } else {
    for (int64_t q = 0; q < stride; q++)
      for (int64_t i = q, j = 0; i < n; i += stride, j++)
        row[q * phases->pitch + j] = weights ? x[i * step] * (weights[i] * weight) : x[i * step];
  }
}

/* --- forward ----------------------------------------------------------------------------------------------- */

/* Maximum where there are indices, mean otherwise. */
typedef struct V_(Forward) {
  const THNNWindow *window;
  THNNImages x, y, at;
  const real *input;
  real *output;
  int64_t *indices;
  bool count_pad;
} V_(Forward);

/* Rows of lanes that are computed alike: tap t of lane i is from[off[t] + i], or from[off[t] + 2*i] for pairs, and
   its position in the plane is at + atOff[t] + i*step; each next row has all of it further on by the steps. */
typedef struct V_(Rows) {
  int64_t count;
  const real *from;
  real *to;
  int64_t *index;
  int64_t from_step, to_step, index_step;
  int64_t at, at_step, step;
  vint ramp;             /* V_(ramp)(step) */
  int64_t taps, columns; /* all, and those of one row of the window */
  int64_t *off;
  V_(lane) *atOff;
  real *divisor, *divisors; /* of each row, and of each lane if not NULL */
} V_(Rows);

WINDOW_INLINE vreal V_(loadTap)(const real *tap, int64_t i, bool pairs, int lanes)
{
  return pairs ? V_(loadPairs)(tap + 2 * i, lanes) : V_(loadLanes)(tap + i, lanes);
}

/* The first of the largest taps of each lane; NaN is larger than anything, itself included, as in torch. */
WINDOW_INLINE void V_(maxBlock)(const int64_t *first, int vectors, int lanes, const V_(Rows) *rows, bool pairs)
{
  const V_(Rows) s = *rows;
  const real *from = s.from;
  real *to = s.to;
  int64_t *index = s.index;
  vint moved[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) moved[v] = vi_set1((V_(lane))(s.at + first[v] * s.step)) + s.ramp;
  for (int64_t n = s.count; n > 0; n--) {
    vreal best[WINDOW_VECTORS];
    vint at[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      best[v] = V_(loadTap)(from + s.off[0], first[v], pairs, lanes);
      at[v] = vi_set1(s.atOff[0]);
    }
    for (int64_t t = 1; t < s.taps; t++) {
      const real *tap = from + s.off[t];
      vint here = vi_set1(s.atOff[t]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        vreal x = V_(loadTap)(tap, first[v], pairs, lanes);
        vmask larger = m_or(v_gt(x, best[v]), v_ne(x, x));
        best[v] = v_sel(larger, x, best[v]);
        at[v] = vi_sel(larger, here, at[v]);
      }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      V_(storeLanes)(to + first[v], best[v], lanes);
      V_(storePositions)(index + first[v], at[v] + moved[v], lanes);
      moved[v] += vi_set1((V_(lane))s.at_step);
    }
    from += s.from_step;
    to += s.to_step;
    index += s.index_step;
  }
}

WINDOW_APART void V_(maxRuns)(int64_t n, const V_(Rows) *rows) { WINDOW_RUN(n, V_(maxBlock), rows, false); }
WINDOW_APART void V_(maxPairs)(int64_t n, const V_(Rows) *rows) { WINDOW_RUN(n, V_(maxBlock), rows, true); }

/* The sum of the taps, row by row of the window, divided. */
WINDOW_INLINE void V_(meanBlock)(const int64_t *first, int vectors, int lanes, const V_(Rows) *rows, bool pairs)
{
  const V_(Rows) s = *rows;
  const real *from = s.from;
  real *to = s.to;
  vreal by[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) by[v] = s.divisors ? V_(loadLanes)(s.divisors + first[v], lanes) : v_set1(1);
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
        for (int v = 0; v < vectors; v++) sum[v] += V_(loadTap)(tap, first[v], pairs, lanes);
      }
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += sum[v];
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) V_(storeLanes)(to + first[v], total[v] / (by[v] * s.divisor[n]), lanes);
    from += s.from_step;
    to += s.to_step;
  }
}

WINDOW_APART void V_(meanRuns)(int64_t n, const V_(Rows) *rows) { WINDOW_RUN(n, V_(meanBlock), rows, false); }
WINDOW_APART void V_(meanPairs)(int64_t n, const V_(Rows) *rows) { WINDOW_RUN(n, V_(meanBlock), rows, true); }

#define LOWEST (-(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX))

/* Corrects the output of a window that begins outside the image. It holds -inf at a position in the padding if all
   else is -inf as well; the window may also have no element. */
static void V_(maxAtEdge)(const THNNAxis *h, const THNNAxis *w, int64_t o, int64_t j, real *y, int64_t *index)
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

static void V_(maxAtEdges)(const THNNAxis *h, const THNNAxis *w, int64_t o, real *y, int64_t *index)
{
  const int64_t start = thnn_windowStart(h, o);
  const bool inside = start >= 0 && start < h->input;
  int64_t j = 0, end = w->output;
  for (; j < end && (!inside || thnn_windowStart(w, j) < 0); j++) V_(maxAtEdge)(h, w, o, j, y + j, index + j);
  for (; j < end && thnn_windowStart(w, end - 1) >= w->input; end--)
    V_(maxAtEdge)(h, w, o, end - 1, y + end - 1, index + end - 1);
}

typedef struct V_(ForwardBuffers) {
  V_(Rows) rows;
  real *strip, *y;
  int64_t *index;
} V_(ForwardBuffers);

static size_t V_(forwardRowsBuffers)(void *memory, const THNNWindow *window, int64_t strip, int64_t slots,
                                     int64_t slot, V_(ForwardBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const double outputs = (double)window->w.output, taps = (double)window->h.kernel * (double)window->w.kernel;
  b->strip = thnn_piece(&pieces, (double)slots * (double)slot, sizeof(real));
  b->y = thnn_piece(&pieces, (double)strip * outputs, sizeof(real));
  b->index = thnn_piece(&pieces, (double)strip * outputs, sizeof(int64_t));
  b->rows.off = thnn_piece(&pieces, taps, sizeof(int64_t));
  b->rows.atOff = thnn_piece(&pieces, taps, sizeof(V_(lane)));
  b->rows.divisor = thnn_piece(&pieces, (double)strip, sizeof(real));
  b->rows.divisors = thnn_piece(&pieces, outputs, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of output columns, in strips of output rows. The image is used in place if no window leaves it; otherwise
   the rows of a strip are laid out with the padding around them. False, and nothing done, if that takes more
   scratch than there is. */
static bool V_(forwardRows)(const V_(Forward) *f)
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
  V_(ForwardBuffers) sizes;
  const size_t bytes = V_(forwardRowsBuffers)(NULL, f->window, strip, slots, slot, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->output,
                row_size = w->input * (h->stride < h->kernel ? h->stride : h->kernel);
  const int64_t per_task = thnn_perTask(row_size) > strip ? thnn_perTask(row_size) : strip;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    V_(ForwardBuffers) b;
    V_(forwardRowsBuffers)(thnn_scratch(bytes), f->window, strip, slots, slot, &b);
    const real fill = f->indices ? (real)-INFINITY : 0;
    V_(fillMargins)(&phases, slots, w->input, fill, b.strip);
    V_(Rows) *s = &b.rows;
    s->from_step = h->stride * line;
    s->to_step = y->sw == 1 ? y->sh : w->output;
    s->index_step = at->sw == 1 ? at->sh : w->output;
    s->at_step = h->stride * w->input;
    s->step = w->stride;
    s->ramp = V_(ramp)(w->stride);
    s->columns = w->kernel;
    s->taps = 0;
    for (int64_t r = 0; r < h->kernel; r++)
      for (int64_t c = 0; c < w->kernel; c++) {
        s->off[s->taps] = r * h->dilation * line + (in_place ? c * w->dilation : thnn_phasesTap(&phases, w, c));
        s->atOff[s->taps++] = (V_(lane))(r * h->dilation * w->input + c * w->dilation - w->pad);
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
            V_(layOut)(&phases, from + (top + k) * x->sh, w->input, x->sw, 1, NULL, b.strip + k * slot);
          else V_(fill)(b.strip + k * slot, slot, fill);
        }
        s->from = in_place ? from + top * x->sh : b.strip;
        s->at = top * w->input;
        real *to = f->output + thnn_plane(y, plane) + o * y->sh;
        s->to = y->sw == 1 ? to : b.y;
        if (f->indices) {
          int64_t *at_to = f->indices + thnn_plane(at, plane) + o * at->sh;
          s->index = at->sw == 1 ? at_to : b.index;
          if (pairs) V_(maxPairs)(w->output, s);
          else V_(maxRuns)(w->output, s);
          for (int64_t n = 0; n < s->count && !in_place; n++)
            V_(maxAtEdges)(h, w, o + n, s->to + n * s->to_step, s->index + n * s->index_step);
          for (int64_t n = 0; n < s->count && at->sw != 1; n++)
            for (int64_t j = 0; j < w->output; j++) at_to[n * at->sh + j * at->sw] = b.index[n * w->output + j];
        } else {
          for (int64_t n = 0; n < s->count; n++) s->divisor[n] = (real)thnn_windowDivisor(h, o + n, f->count_pad);
          if (pairs) V_(meanPairs)(w->output, s);
          else V_(meanRuns)(w->output, s);
        }
        for (int64_t n = 0; n < s->count && y->sw != 1; n++)
          for (int64_t j = 0; j < w->output; j++) to[n * y->sh + j * y->sw] = b.y[n * w->output + j];
      }
    }
  }
  return true;
}

static size_t V_(forwardPixelsBuffers)(void *memory, const THNNWindow *window, V_(Rows) *s)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double taps = (double)(h->kernel < h->input ? h->kernel : h->input) *
                      (double)(w->kernel < w->input ? w->kernel : w->input);
  s->off = thnn_piece(&pieces, taps, sizeof(int64_t));
  s->atOff = thnn_piece(&pieces, taps, sizeof(V_(lane)));
  s->divisor = thnn_piece(&pieces, (double)w->output, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of channels, of as many pixels at a time as have the same taps. */
static bool V_(forwardPixels)(const V_(Forward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  V_(Rows) sizes;
  const size_t bytes = V_(forwardPixelsBuffers)(NULL, f->window, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t pixels = x->n * h->output * w->output, per_task = thnn_perTask(x->c * 4);
  const int64_t most = thnn_strip(w->output, w->kernel, w->stride, (double)(h->kernel * x->c) * sizeof(real));
  THNN_PARALLEL_FOR(task, (pixels + per_task - 1) / per_task, pixels * x->c * 4) {
    V_(Rows) s = {.from_step = w->stride * x->sw, .to_step = y->sw, .index_step = at->sw, .at_step = w->stride};
    V_(forwardPixelsBuffers)(thnn_scratch(bytes), f->window, &s);
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
            s.atOff[s.taps++] = (V_(lane))(r * h->dilation * w->input + c * w->dilation);
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
        V_(meanRuns)(x->c, &s);
        continue;
      }
      s.index = f->indices + n * at->sn + o * at->sh + j * at->sw;
      if (s.taps > 0) V_(maxRuns)(x->c, &s);
      for (int64_t k = 0; k < s.count && s.taps == 0; k++)
        for (int64_t l = 0; l < x->c; l++) s.to[k * y->sw + l] = LOWEST, s.index[k * at->sw + l] = -1;
    }
  }
  return true;
}

/* Windows that halve an even image: of 2 inputs each, or of 3 of which the first is shared with the window before. */
static bool V_(halves)(const THNNAxis *a, int64_t kernel)
{
  return a->kernel == kernel && a->pad == kernel - 2 && a->stride == 2 && a->dilation == 1 &&
         a->input == 2 * a->output;
}

/* Rows of outputs of such windows. Output o takes the rows 2*o and 2*o + 1 of the image and, if windows overlap, the
   one above them. */
typedef struct V_(Halves) {
  int64_t count, columns;
  const real *from;
  real *to;
  int64_t *index;
  int64_t from_step, to_step, index_step;
  int64_t at, width; /* the position of the first row's first element, and how many are in a row of the image */
  vint ramp;
  bool top; /* there is no row above the first one */
} V_(Halves);

WINDOW_INLINE void V_(larger)(vreal x, vint here, vreal *best, vint *at)
{
  const vmask larger = m_or(v_gt(x, *best), v_ne(x, x));
  *best = v_sel(larger, x, *best);
  *at = vi_sel(larger, here, *at);
}

/* The largest of the columns 2*i and 2*i + 1 and, if windows overlap, of the one before them: in the first column the
   same once more, as there is none. */
WINDOW_INLINE void V_(largestOfRow)(const real *from, bool left, int lanes, bool overlap, vint here, vreal *best,
                                    vint *at)
{
  vreal a, b = {0};
  if (lanes == VL) {
    a = v_load(from);
    b = v_load(from + VL);
    thnn_fetch(from, 2 * VL * (int)sizeof *from);
  } else {
    const int some = lanes & (VL - 1);
    a = v_load_n(from, 2 * some < VL ? 2 * some : VL);
    if (2 * some > VL) b = v_load_n(from + VL, 2 * some - VL);
  }
  const vreal even = V_(evens)(a, b), odd = V_(odds)(a, b);
  *best = even;
  *at = here;
  if (overlap) {
    const vint one = vi_set1(1), before = left ? (vint)V_(previous)((vreal)one, (vreal)(vint){0}) : one;
    *best = left ? V_(previous)(odd, even) : V_(loadPairs)(from - 1, lanes);
    *at = here - before;
    V_(larger)(even, here, best, at);
  }
  V_(larger)(odd, here + vi_set1(1), best, at);
}

WINDOW_INLINE void V_(halvesBlock)(const int64_t *first, int vectors, int lanes, const V_(Halves) *rows,
                                   bool overlap)
{
  const V_(Halves) s = *rows;
  const vint line = vi_set1((V_(lane))s.width);
  for (int v = 0; v < vectors; v++) {
    const bool left = first[v] == 0;
    const real *from = s.from + 2 * first[v];
    real *to = s.to + first[v];
    int64_t *index = s.index + first[v];
    vint here = vi_set1((V_(lane))(s.at + 2 * first[v])) + s.ramp, above_at = {0};
    vreal above = {0};
    if (overlap && !s.top) V_(largestOfRow)(from - s.from_step, left, lanes, true, here - line, &above, &above_at);
    for (int64_t n = 0; n < s.count; n++) {
      vreal best, x;
      vint at, x_at;
      V_(largestOfRow)(from, left, lanes, overlap, here, &best, &at);
      if (overlap && (n > 0 || !s.top)) {
        V_(larger)(best, at, &above, &above_at);
        best = above, at = above_at;
      }
      from += s.from_step;
      V_(largestOfRow)(from, left, lanes, overlap, here + line, &x, &x_at);
      from += s.from_step;
      above = x, above_at = x_at;
      V_(larger)(x, x_at, &best, &at);
      V_(storeLanes)(to, best, lanes);
      V_(storePositions)(index, at, lanes);
      here += line + line;
      to += s.to_step;
      index += s.index_step;
    }
  }
}

WINDOW_APART void V_(halvesRuns)(const V_(Halves) *rows, bool overlap)
{
  if (overlap) WINDOW_RUN(rows->columns, V_(halvesBlock), rows, true);
  else WINDOW_RUN(rows->columns, V_(halvesBlock), rows, false);
}

static bool V_(forwardHalves)(const V_(Forward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  const int64_t kernel = w->kernel == 3 ? 3 : 2;
  if (!f->indices || !V_(halves)(h, kernel) || !V_(halves)(w, kernel)) return false;
  if (x->sw != 1 || y->sw != 1 || at->sw != 1) return false;
  const int64_t row_size = 2 * w->input, strip = thnn_strip(h->output, 1, 1, (double)row_size * sizeof(real));
  const int64_t rows = x->n * x->c * h->output, least = thnn_perTask(row_size);
  const int64_t per_task = least > strip ? least : strip;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    V_(Halves) s = {.columns = w->output, .from_step = x->sh, .to_step = y->sh, .index_step = at->sh};
    s.width = w->input;
    s.ramp = V_(ramp)(2);
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
      V_(halvesRuns)(&s, kernel == 3);
    }
  }
  return true;
}

/* One output after the other: geometries too large for scratch or for positions in lanes. */
static void V_(forwardPlain)(const V_(Forward) *f)
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

static void V_(forward)(const V_(Forward) *f)
{
  const bool pixels =
      thnn_channelsInside(&f->x) && thnn_channelsInside(&f->y) && (!f->indices || thnn_channelsInside(&f->at));
  if (!V_(positionsFit)(f->window) ||
      !(pixels ? V_(forwardPixels)(f) : V_(forwardHalves)(f) || V_(forwardRows)(f)))
    V_(forwardPlain)(f);
}

void THNN_(windowMax)(const THNNWindow *window, const THTensor *input, THTensor *output, THIndexTensor *indices)
{
  V_(forward)(&(V_(Forward)){window, thnn_images(input), thnn_images(output), thnn_images(indices), TH_DATA(input),
                             TH_DATA(output), indices->data, false});
}

void THNN_(windowMean)(const THNNWindow *window, bool count_pad, const THTensor *input, THTensor *output)
{
  V_(forward)(&(V_(Forward)){
      window, thnn_images(input), thnn_images(output), {0}, TH_DATA(input), TH_DATA(output), NULL, count_pad});
}

/* --- the indices given back -------------------------------------------------------------------------------- */

/* Unsigned, as an index may be anything: int64 lanes, and lanes as wide as real. */
typedef uint64_t V_(wide) __attribute__((vector_size(VBYTES)));
#ifdef THNN_REAL_IS_FLOAT
typedef uint32_t V_(bits) __attribute__((vector_size(VBYTES)));
#else
typedef uint64_t V_(bits) __attribute__((vector_size(VBYTES)));
#endif
#define WIDE ((int)(VBYTES / sizeof(int64_t)))

/* Sign bits tell: `bad` has one if an index is neither -1 nor in a plane of `plane` elements, `outside` if one is
   not -1 and not in its window either. */
typedef struct V_(Verdict) {
  V_(wide) bad;
  V_(bits) outside;
} V_(Verdict);

/* Rows of indices. Row r of the window of lane i begins at the position at + row[r] + low[i] and is width[i] + 1
   wide; every dilation-th column counts. low[0] and width[0] hold for all lanes if not `each`. Each next row of
   indices has its windows further on by at_step. */
typedef struct V_(Bounds) {
  int64_t plane, rows, columns, dilation, at_step;
  V_(lane) *row, *low, *width;
} V_(Bounds);

static inline V_(bits) V_(bits1)(int64_t x) { return (V_(bits))vi_set1((V_(lane))x); }

WINDOW_INLINE void V_(checkBlock)(const int64_t *first, int vectors, int lanes, int64_t count,
                                  const int64_t *index, int64_t index_step, int64_t at, const V_(Bounds) *bounds,
                                  bool each, V_(Verdict) *verdict)
{
  const V_(Bounds) b = *bounds;
  const int words = (int)(sizeof(int64_t) / sizeof(real));
  for (int v = 0; v < vectors; v++) {
    V_(wide) bad = {0};
    V_(bits) low = V_(bits1)(b.low[0]), width = V_(bits1)(b.width[0]), outside = {0};
    if (each) low = (V_(bits))V_(loadLanes)((const real *)b.low + first[v], lanes);
    if (each) width = (V_(bits))V_(loadLanes)((const real *)b.width + first[v], lanes);
    low += V_(bits1)(at);
    const int64_t *from = index + first[v];
    for (int64_t n = 0; n < count; n++, from += index_step) {
      for (int part = 0; part < lanes; part += WIDE) {
        const int left = lanes - part < WIDE ? lanes - part : WIDE;
        thnn_fetch(from + part, left * (int)sizeof *from);
        V_(wide) all = (V_(wide))V_(loadLanes)((const real *)(from + part), left * words);
        bad |= (all + 1) | ((uint64_t)(b.plane - 1) - all);
      }
      const V_(bits) position = (V_(bits))V_(loadPositions)(from, lanes);
      V_(bits) nowhere = ~position;
      for (int64_t r = 0; r < b.rows; r++) {
        V_(bits) past = position - low - V_(bits1)(b.row[r]);
        if (b.dilation == 1) {
          nowhere &= past | (width - past);
        } else {
          for (int64_t c = 0; c < b.columns; c++, past -= V_(bits1)(b.dilation))
            nowhere &= past | -past | (width - V_(bits1)(c * b.dilation));
        }
      }
      outside |= nowhere;
      low += V_(bits1)(b.at_step);
    }
    if (lanes < VL) outside &= (V_(bits))(V_(ramp)(1) < vi_set1((V_(lane))lanes));
    verdict->bad |= bad;
    verdict->outside |= outside;
  }
}

static void V_(span)(const THNNAxis *a, int64_t o, V_(lane) *low, V_(lane) *width)
{
  int64_t k, end;
  thnn_windowTaps(a, o, &k, &end);
  *low = (V_(lane))(thnn_windowStart(a, o) + k * a->dilation);
  *width = (V_(lane))((end - 1 - k) * a->dilation);
}

static size_t V_(boundsBuffers)(void *memory, const THNNWindow *window, bool each, V_(Bounds) *b, int64_t **line)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double outputs = each ? (double)w->output : 1;
  *b =
      (V_(Bounds)){h->input * w->input, h->kernel, w->kernel, w->dilation, h->stride * w->input, NULL, NULL, NULL};
  b->row = thnn_piece(&pieces, (double)h->kernel, sizeof(V_(lane)));
  b->low = thnn_piece(&pieces, outputs, sizeof(V_(lane)));
  b->width = thnn_piece(&pieces, outputs, sizeof(V_(lane)));
  *line = thnn_piece(&pieces, outputs, sizeof(int64_t));
  return (size_t)pieces.bytes;
}

/* Bit 0: some index is out of range; bit 1: some is outside its window. Both if there is no telling in lanes. Rows
   of a window above or below the image need no care: no position in the plane is in their columns. */
static int V_(checkIndices)(const THNNWindow *window, const THNNImages *at, const int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const bool pixels = thnn_channelsInside(at);
  V_(Bounds) sizes;
  int64_t *size;
  const size_t bytes = V_(boundsBuffers)(NULL, window, !pixels, &sizes, &size);
  if (!V_(positionsFit)(window) || bytes > THNN_SCRATCH_LIMIT) return 3;

  /* A group is an image's pixels or one of its planes. */
  const int64_t groups = at->n * (pixels ? 1 : at->c), rows = groups * h->output;
  const int64_t row_size = w->output * (pixels ? at->c : 1), per_task = thnn_perTask(row_size);
  int found = 0;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    V_(Bounds) b;
    int64_t *line;
    V_(boundsBuffers)(thnn_scratch(bytes), window, !pixels, &b, &line);
    V_(Verdict) verdict = {{0}, {0}};
    for (int64_t r = 0; r < h->kernel; r++) b.row[r] = (V_(lane))(r * h->dilation * w->input);
    for (int64_t j = 0; j < w->output && !pixels; j++) V_(span)(w, j, b.low + j, b.width + j);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, group = row / h->output, o = row % h->output;
    for (int64_t count; row < end; row += count, o += count) {
      if (o == h->output) group++, o = 0;
      const int64_t *from = indices + (pixels ? group * at->sn : thnn_plane(at, group)) + o * at->sh;
      const int64_t top = thnn_windowStart(h, o) * w->input;
      count = 1;
      if (pixels) {
        for (int64_t j = 0; j < w->output; j++) {
          V_(span)(w, j, b.low, b.width);
          WINDOW_RUN(at->c, V_(checkBlock), 1, from + j * at->sw, 0, top, &b, false, &verdict);
        }
      } else if (at->sw == 1) {
        count = end - row < h->output - o ? end - row : h->output - o;
        WINDOW_RUN(w->output, V_(checkBlock), count, from, at->sh, top, &b, true, &verdict);
      } else {
        for (int64_t j = 0; j < w->output; j++) line[j] = from[j * at->sw];
        WINDOW_RUN(w->output, V_(checkBlock), 1, line, 0, top, &b, true, &verdict);
      }
    }
    int bits = 0;
    for (int i = 0; i < WIDE; i++) bits |= (int)(verdict.bad[i] >> 63);
    for (int i = 0; i < VL; i++) bits |= (V_(lane))verdict.outside[i] < 0 ? 2 : 0;
    if (bits) __atomic_fetch_or(&found, bits, __ATOMIC_RELAXED);
  }
  return found;
}

static void V_(failAtIndex)(THNNState *state, const THNNWindow *window, const THNNImages *at,
                            const int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  for (int64_t plane = 0; plane < at->n * at->c; plane++)
    for (int64_t o = 0; o < h->output; o++)
      for (int64_t j = 0; j < w->output; j++) {
        int64_t index = indices[thnn_plane(at, plane) + o * at->sh + j * at->sw];
        if (index >= -1 && index < h->input * w->input) continue;
        THNN_fail(state, THNN_INDEX_ERROR, "indices",
                  "expected a position in a plane of %lld x %lld, 0 to %lld, or -1; got %lld at "
                  "(%lld, %lld, %lld, %lld)",
                  (long long)h->input, (long long)w->input, (long long)(h->input * w->input - 1), (long long)index,
                  (long long)(plane / at->c), (long long)(plane % at->c), (long long)o, (long long)j);
        return;
      }
}

bool THNN_(windowCheckIndices)(THNNState *state, const THNNWindow *window, const THIndexTensor *indices)
{
  const THNNImages at = thnn_images(indices);
  int found = V_(checkIndices)(window, &at, indices->data);
  if (found & 1) V_(failAtIndex)(state, window, &at, indices->data);
  return !(found & 2);
}

/* --- backward ---------------------------------------------------------------------------------------------- */

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
            thnn_fetch(g + first[v], VL * (int)sizeof *g);
            thnn_fetch(wide + first[v], VL * (int)sizeof *wide);
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
      if (s.streams && how == V_(WEIGHTED)) thnn_fetch(from + o.off[0] + first[v], VL * (int)sizeof *from);
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
      thnn_fetch(index + j, VL * (int)sizeof *index);
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
      thnn_fetchToWrite(to + 2 * i, 2 * VL * (int)sizeof *to);
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
        thnn_fetch(from, VL * (int)sizeof *from);
        if (how == V_(WIDE_INDEX)) {
          below_at = V_(loadPositions)(index, lanes);
          thnn_fetch(index, VL * (int)sizeof *index);
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
