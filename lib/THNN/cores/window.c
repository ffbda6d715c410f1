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
   of the second; and back, a0 b0 a1 b1 ... in two halves. */
#undef EVENS
#undef ODDS
#undef EVENS_ODDS
#undef LOW
#undef HIGH
#if VBYTES == 64 && defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define EVENS_ODDS 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31
#define LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif VBYTES == 64 || (VBYTES == 32 && defined(THNN_REAL_IS_FLOAT))
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#define EVENS_ODDS 0, 2, 4, 6, 9, 11, 13, 15
#define LOW 0, 8, 1, 9, 2, 10, 3, 11
#define HIGH 4, 12, 5, 13, 6, 14, 7, 15
#elif VBYTES == 32 || defined(THNN_REAL_IS_FLOAT)
#define EVENS 0, 2, 4, 6
#define ODDS 1, 3, 5, 7
#define EVENS_ODDS 0, 2, 5, 7
#define LOW 0, 4, 1, 5
#define HIGH 2, 6, 3, 7
#else
#define EVENS 0, 2
#define ODDS 1, 3
#define EVENS_ODDS 0, 3
#define LOW 0, 2
#define HIGH 1, 3
#endif
static inline vreal V_(evens)(vreal a, vreal b) { return __builtin_shufflevector(a, b, EVENS); }
static inline vreal V_(odds)(vreal a, vreal b) { return __builtin_shufflevector(a, b, ODDS); }
static inline vreal V_(low)(vreal a, vreal b) { return __builtin_shufflevector(a, b, LOW); }
static inline vreal V_(high)(vreal a, vreal b) { return __builtin_shufflevector(a, b, HIGH); }

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

/* Positions in a plane are computed in lanes as wide as real; larger planes go the plain way. */
static bool V_(positionsFit)(const THNNWindow *window)
{
  return sizeof(real) == 8 || (double)window->h.input * (double)window->w.input < (double)(1 << 30);
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

/* n columns, each `step` from the last, to their places, times their weights if there are any; the margins stay
   as they are. */
static inline void V_(layOut)(const THNNPhases *phases, const real *x, int64_t n, int64_t step,
                              const real *weights, real *row)
{
  row += phases->left;
  if (step == 1 && phases->stride == 1 && n >= VL) {
    for (int64_t i = 0; i < n; i += VL) {
      const int64_t j = i < n - VL ? i : n - VL;
      v_store(row + j, weights ? v_load(x + j) * v_load(weights + j) : v_load(x + j));
    }
  } else {
    for (int64_t q = 0; q < phases->stride && q < n; q++, row += phases->pitch)
      for (int64_t j = 0, i = q; i < n; j++, i += phases->stride)
        row[j] = weights ? x[i * step] * weights[i] : x[i * step];
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

/* Tap (r, c) of lane i is row[r][col[c] + i], or row[r][col[c] + 2*i] for `pairs`, at the position
   rowAt[r] + colAt[c] + i*step in its plane. */
typedef struct V_(Taps) {
  int64_t rows, cols;
  const real **row;
  int64_t *col;
  V_(lane) *rowAt, *colAt;
  int64_t step;
  vint ramp; /* V_(ramp)(step) */
} V_(Taps);

WINDOW_INLINE vreal V_(loadTap)(const real *tap, int64_t first, bool pairs, int lanes)
{
  return pairs ? V_(loadPairs)(tap + 2 * first, lanes) : V_(loadLanes)(tap + first, lanes);
}

/* The first of the largest taps of each lane; NaN is larger than anything, itself included, as in torch. */
WINDOW_INLINE void V_(maxBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *taps, bool pairs,
                                real *y, int64_t *index)
{
  vreal best[WINDOW_VECTORS];
  vint at[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    best[v] = V_(loadTap)(taps->row[0] + taps->col[0], first[v], pairs, lanes);
    at[v] = vi_set1(taps->rowAt[0] + taps->colAt[0]);
  }
  for (int64_t r = 0; r < taps->rows; r++)
    for (int64_t c = r == 0; c < taps->cols; c++) {
      const real *tap = taps->row[r] + taps->col[c];
      vint here = vi_set1(taps->rowAt[r] + taps->colAt[c]);
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
    V_(storeLanes)(y + first[v], best[v], lanes);
    vint moved = vi_set1((V_(lane))(first[v] * taps->step)) + taps->ramp;
    V_(storePositions)(index + first[v], at[v] + moved, lanes);
  }
}

/* The sum of the taps, row by row, over divisor, or divisor times divisors lane by lane. */
WINDOW_INLINE void V_(meanBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *taps, bool pairs,
                                 real divisor, const real *divisors, real *y)
{
  vreal total[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
  for (int64_t r = 0; r < taps->rows; r++) {
    vreal sum[WINDOW_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) sum[v] = (vreal){0};
    for (int64_t c = 0; c < taps->cols; c++) {
      const real *tap = taps->row[r] + taps->col[c];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) sum[v] += V_(loadTap)(tap, first[v], pairs, lanes);
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) total[v] += sum[v];
  }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    vreal by = v_set1(divisor);
    if (divisors != NULL) by *= V_(loadLanes)(divisors + first[v], lanes);
    V_(storeLanes)(y + first[v], total[v] / by, lanes);
  }
}

#define LOWEST (-(sizeof(real) == 4 ? (real)FLT_MAX : (real)DBL_MAX))

/* Corrects output j of a row whose window begins outside the image. It holds -inf at a position in the padding if
   all else is -inf as well; the window may also have no element. `row` is the position of the first row, or
   negative. */
static void V_(maxAtEdge)(const THNNAxis *w, int64_t j, int64_t row, real *y, int64_t *index)
{
  int64_t k, end;
  thnn_windowTaps(w, j, &k, &end);
  if (row < 0 || k >= end) {
    *y = LOWEST;
    *index = -1;
  } else if (*y == (real)-INFINITY) {
    *index = row + thnn_windowStart(w, j) + k * w->dilation;
  }
}

typedef struct V_(ForwardBuffers) {
  V_(Taps) taps;
  real *rows, *y, *divisors;
  int64_t *index, *held; /* held: which row each part of the ring holds */
} V_(ForwardBuffers);

static size_t V_(forwardRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *phases,
                                     int64_t ring, V_(ForwardBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const double outputs = (double)window->w.output, kH = (double)window->h.kernel, kW = (double)window->w.kernel;
  b->rows = thnn_piece(&pieces, (double)ring * (double)phases->stride * (double)phases->pitch, sizeof(real));
  b->held = thnn_piece(&pieces, (double)ring, sizeof(int64_t));
  b->y = thnn_piece(&pieces, outputs, sizeof(real));
  b->divisors = thnn_piece(&pieces, outputs, sizeof(real));
  b->index = thnn_piece(&pieces, outputs, sizeof(int64_t));
  b->taps.row = thnn_piece(&pieces, kH, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, kW, sizeof(int64_t));
  b->taps.rowAt = thnn_piece(&pieces, kH, sizeof(V_(lane)));
  b->taps.colAt = thnn_piece(&pieces, kW, sizeof(V_(lane)));
  return (size_t)pieces.bytes;
}

/* Runs of output columns. Rows of the image are used in place if no window leaves them; otherwise they are laid out
   in a ring, as successive outputs share them. False, and nothing done, if that takes more scratch than there is. */
static bool V_(forwardRows)(const V_(Forward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  const THNNPhases phases = thnn_phasesOfInput(w);
  const bool in_place = x->sw == 1 && phases.stride == 1 && thnn_phasesNoMargin(w), pairs = w->stride == 2;
  const int64_t span = (h->kernel - 1) * h->dilation + 1, ring = thnn_ring(span < h->input ? span : h->input);
  V_(ForwardBuffers) sizes;
  const size_t bytes = V_(forwardRowsBuffers)(NULL, f->window, &phases, ring, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->output,
                row_size = w->input * (h->stride < h->kernel ? h->stride : h->kernel);
  int64_t per_task = thnn_perTask(row_size);
  if (per_task < 2 * h->kernel) per_task = 2 * h->kernel;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    V_(ForwardBuffers) b;
    V_(forwardRowsBuffers)(thnn_scratch(bytes), f->window, &phases, ring, &b);
    const int64_t slot_size = phases.stride * phases.pitch;
    if (!in_place) V_(fill)(b.rows, ring * slot_size, f->indices ? (real)-INFINITY : 0);
    b.taps.cols = w->kernel;
    b.taps.step = w->stride;
    b.taps.ramp = V_(ramp)(w->stride);
    for (int64_t k = 0; k < w->kernel; k++) {
      b.taps.col[k] = thnn_phasesTap(&phases, w, k);
      b.taps.colAt[k] = (V_(lane))(k * w->dilation - w->pad);
    }
    for (int64_t j = 0; j < w->output && !f->indices; j++)
      b.divisors[j] = (real)thnn_windowDivisor(w, j, f->count_pad);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, plane = row / h->output, o = row % h->output;
    for (; row < end; plane++, o = 0) {
      const real *from = f->input + thnn_plane(x, plane);
      real *to = f->output + thnn_plane(y, plane) + o * y->sh;
      int64_t *at_to = f->indices ? f->indices + thnn_plane(at, plane) + o * at->sh : NULL;
      for (int64_t i = 0; i < ring; i++) b.held[i] = -1;
      for (; o < h->output && row < end; o++, row++, to += y->sh) {
        int64_t k, k_end;
        thnn_windowTaps(h, o, &k, &k_end);
        b.taps.rows = 0;
        for (; k < k_end; k++) {
          const int64_t i = thnn_windowStart(h, o) + k * h->dilation, slot = i & (ring - 1);
          const real *line = from + i * x->sh;
          if (!in_place) {
            if (b.held[slot] != i) V_(layOut)(&phases, line, w->input, x->sw, NULL, b.rows + slot * slot_size);
            b.held[slot] = i;
            line = b.rows + slot * slot_size;
          }
          b.taps.rowAt[b.taps.rows] = (V_(lane))(i * w->input);
          b.taps.row[b.taps.rows++] = line;
        }
        real *y_row = y->sw == 1 ? to : b.y;
        if (f->indices) {
          int64_t *at_row = at->sw == 1 ? at_to : b.index;
          const bool any = b.taps.rows > 0;
          if (any && pairs) WINDOW_RUN(w->output, V_(maxBlock), &b.taps, true, y_row, at_row);
          else if (any) WINDOW_RUN(w->output, V_(maxBlock), &b.taps, false, y_row, at_row);
          for (int64_t j = 0; j < w->output && (!any || thnn_windowStart(w, j) < 0); j++)
            V_(maxAtEdge)(w, j, any ? b.taps.rowAt[0] : -1, y_row + j, at_row + j);
          for (int64_t j = w->output - 1; j >= 0 && any && thnn_windowStart(w, j) >= w->input; j--)
            V_(maxAtEdge)(w, j, -1, y_row + j, at_row + j);
          for (int64_t j = 0; j < w->output && at_row != at_to; j++) at_to[j * at->sw] = at_row[j];
        } else {
          const real divisor = (real)thnn_windowDivisor(h, o, f->count_pad);
          if (pairs) WINDOW_RUN(w->output, V_(meanBlock), &b.taps, true, divisor, b.divisors, y_row);
          else WINDOW_RUN(w->output, V_(meanBlock), &b.taps, false, divisor, b.divisors, y_row);
        }
        for (int64_t j = 0; j < w->output && y_row != to; j++) to[j * y->sw] = y_row[j];
        if (at_to) at_to += at->sh;
      }
    }
  }
  return true;
}

static size_t V_(forwardPixelsBuffers)(void *memory, const THNNWindow *window, V_(Taps) *taps)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double rows = (double)(h->kernel < h->input ? h->kernel : h->input);
  const double cols = (double)(w->kernel < w->input ? w->kernel : w->input);
  taps->row = thnn_piece(&pieces, rows, sizeof(real *));
  taps->col = thnn_piece(&pieces, cols, sizeof(int64_t));
  taps->rowAt = thnn_piece(&pieces, rows, sizeof(V_(lane)));
  taps->colAt = thnn_piece(&pieces, cols, sizeof(V_(lane)));
  return (size_t)pieces.bytes;
}

/* Runs of channels. */
static bool V_(forwardPixels)(const V_(Forward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *x = &f->x, *y = &f->y, *at = &f->at;
  V_(Taps) sizes;
  const size_t bytes = V_(forwardPixelsBuffers)(NULL, f->window, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t pixels = x->n * h->output * w->output, per_task = thnn_perTask(x->c * 4);
  THNN_PARALLEL_FOR(task, (pixels + per_task - 1) / per_task, pixels * x->c * 4) {
    V_(Taps) taps;
    V_(forwardPixelsBuffers)(thnn_scratch(bytes), f->window, &taps);
    taps.step = 0;
    taps.ramp = (vint){0};
    const int64_t end = pixels < (task + 1) * per_task ? pixels : (task + 1) * per_task;
    int64_t pixel = task * per_task, j = pixel % w->output, row = pixel / w->output;
    for (; pixel < end; j = 0, row++) {
      const int64_t n = row / h->output, o = row % h->output, divisor = thnn_windowDivisor(h, o, f->count_pad);
      int64_t k, k_end;
      thnn_windowTaps(h, o, &k, &k_end);
      for (taps.rows = 0; k < k_end; k++) {
        const int64_t i = thnn_windowStart(h, o) + k * h->dilation;
        taps.rowAt[taps.rows] = (V_(lane))(i * w->input);
        taps.row[taps.rows++] = f->input + n * x->sn + i * x->sh;
      }
      real *to = f->output + n * y->sn + o * y->sh + j * y->sw;
      int64_t *at_to = f->indices ? f->indices + n * at->sn + o * at->sh + j * at->sw : NULL;
      for (; j < w->output && pixel < end; j++, pixel++, to += y->sw) {
        thnn_windowTaps(w, j, &k, &k_end);
        for (taps.cols = 0; k < k_end; k++) {
          const int64_t i = thnn_windowStart(w, j) + k * w->dilation;
          taps.colAt[taps.cols] = (V_(lane))i;
          taps.col[taps.cols++] = i * x->sw;
        }
        if (!f->indices) {
          const real by = (real)divisor * (real)thnn_windowDivisor(w, j, f->count_pad);
          WINDOW_RUN(x->c, V_(meanBlock), &taps, false, by, NULL, to);
        } else if (taps.rows > 0 && taps.cols > 0) {
          WINDOW_RUN(x->c, V_(maxBlock), &taps, false, to, at_to);
        } else {
          for (int64_t c = 0; c < x->c; c++) to[c] = LOWEST, at_to[c] = -1;
        }
        if (at_to) at_to += at->sw;
      }
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
  if (!V_(positionsFit)(f->window) || !(pixels ? V_(forwardPixels)(f) : V_(forwardRows)(f))) V_(forwardPlain)(f);
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

typedef uint64_t V_(wide) __attribute__((vector_size(VBYTES)));
#define WIDE ((int)(VBYTES / sizeof(int64_t)))

/* Sign bits tell: `bad` has one if an index is neither -1 nor in a plane of `plane` elements, `outside` if one is
   not -1 and not in its window either. */
typedef struct V_(Verdict) {
  V_(wide) bad;
  vint outside;
} V_(Verdict);

/* The windows of a run: `rows` rows, which begin at row[r] + low[i] for lane i and are width[i] + 1 wide; every
   dilation-th column counts. low[0] and width[0] hold for all lanes if not `each`. */
typedef struct V_(Bounds) {
  int64_t plane, rows, columns, dilation;
  V_(lane) *row, *low, *width;
} V_(Bounds);

WINDOW_INLINE void V_(checkBlock)(const int64_t *index, int64_t i, int lanes, const V_(Bounds) *b, bool each,
                                  V_(Verdict) *verdict)
{
  const int words = (int)(sizeof(int64_t) / sizeof(real));
  for (int part = 0; part < lanes; part += WIDE) {
    const int n = lanes - part < WIDE ? lanes - part : WIDE;
    V_(wide) at = (V_(wide))V_(loadLanes)((const real *)(index + i + part), n * words);
    verdict->bad |= (at + 1) | ((uint64_t)(b->plane - 1) - at);
  }
  vint at = V_(loadPositions)(index + i, lanes), outside = ~at;
  vint low = each ? (vint)V_(loadLanes)((const real *)b->low + i, lanes) : vi_set1(b->low[0]);
  vint width = each ? (vint)V_(loadLanes)((const real *)b->width + i, lanes) : vi_set1(b->width[0]);
  for (int64_t r = 0; r < b->rows; r++) {
    vint past = at - low - vi_set1(b->row[r]);
    if (b->dilation == 1) {
      outside &= past | (width - past);
    } else {
      for (int64_t c = 0; c < b->columns; c++, past -= vi_set1((V_(lane))b->dilation))
        outside &= past | -past | (width - vi_set1((V_(lane))(c * b->dilation)));
    }
  }
  if (lanes < VL) outside &= (vint)(V_(ramp)(1) < vi_set1((V_(lane))lanes));
  verdict->outside |= outside;
}

WINDOW_INLINE void V_(checkRun)(int64_t n, const int64_t *index, const V_(Bounds) *b, bool each,
                                V_(Verdict) *verdict)
{
  if (n < VL) {
    V_(checkBlock)(index, 0, (int)n, b, each, verdict);
    return;
  }
  for (int64_t i = 0; i < n - VL; i += VL) V_(checkBlock)(index, i, VL, b, each, verdict);
  V_(checkBlock)(index, n - VL, VL, b, each, verdict);
}

static void V_(span)(const THNNAxis *a, int64_t o, V_(lane) *low, V_(lane) *width)
{
  int64_t k, end;
  thnn_windowTaps(a, o, &k, &end);
  *low = (V_(lane))(thnn_windowStart(a, o) + k * a->dilation);
  *width = (V_(lane))((end - 1 - k) * a->dilation);
}

static size_t V_(boundsBuffers)(void *memory, const THNNWindow *window, bool each, V_(Bounds) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  double outputs = each ? (double)w->output : 1;
  *b = (V_(Bounds)){h->input * w->input, 0, w->kernel, w->dilation, NULL, NULL, NULL};
  b->row = thnn_piece(&pieces, (double)(h->kernel < h->input ? h->kernel : h->input), sizeof(V_(lane)));
  b->low = thnn_piece(&pieces, outputs, sizeof(V_(lane)));
  b->width = thnn_piece(&pieces, outputs, sizeof(V_(lane)));
  return (size_t)pieces.bytes;
}

/* Bit 0: some index is out of range; bit 1: some is outside its window. Both if there is no telling in lanes. */
static int V_(checkIndices)(const THNNWindow *window, const THNNImages *at, const int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const bool pixels = thnn_channelsInside(at);
  V_(Bounds) sizes;
  const size_t bytes = V_(boundsBuffers)(NULL, window, !pixels, &sizes);
  if (!V_(positionsFit)(window) || bytes > THNN_SCRATCH_LIMIT) return 3;

  /* A group is an image's pixels or one of its planes. */
  const int64_t groups = at->n * (pixels ? 1 : at->c), rows = groups * h->output;
  const int64_t row_size = w->output * (pixels ? at->c : 1), per_task = thnn_perTask(row_size);
  int found = 0;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    V_(Bounds) b;
    V_(boundsBuffers)(thnn_scratch(bytes), window, !pixels, &b);
    V_(Verdict) verdict = {{0}, {0}};
    for (int64_t j = 0; j < w->output && !pixels; j++) V_(span)(w, j, b.low + j, b.width + j);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, group = row / h->output, o = row % h->output;
    for (; row < end; group++, o = 0) {
      const int64_t *plane = indices + (pixels ? group * at->sn : thnn_plane(at, group));
      for (; o < h->output && row < end; o++, row++) {
        const int64_t *from = plane + o * at->sh;
        int64_t k, k_end;
        thnn_windowTaps(h, o, &k, &k_end);
        for (b.rows = 0; k < k_end; k++)
          b.row[b.rows++] = (V_(lane))((thnn_windowStart(h, o) + k * h->dilation) * w->input);
        if (at->sw == 1 && !pixels) {
          V_(checkRun)(w->output, from, &b, true, &verdict);
        } else {
          for (int64_t j = 0; j < w->output; j++) {
            V_(Bounds) one = b;
            if (pixels) V_(span)(w, j, one.low, one.width);
            else one.low += j, one.width += j;
            V_(checkRun)(pixels ? at->c : 1, from + j * at->sw, &one, false, &verdict);
          }
        }
      }
    }
    int bits = 0;
    for (int i = 0; i < WIDE; i++) bits |= (int)(verdict.bad[i] >> 63);
    for (int i = 0; i < VL; i++) bits |= verdict.outside[i] < 0 ? 2 : 0;
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
        THNN_fail(
            state, THNN_INDEX_ERROR, "indices",
            "expected a position in a plane of %lld x %lld, 0 to %lld, or -1; got %lld at (%lld, %lld, %lld, %lld)",
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
  bool count_pad;
} V_(Backward);

/* Source (r, c) of lane i has the gradient row[r][col[c] + i] and the index atRow[r][atCol[c] + i]. */
typedef struct V_(Sources) {
  int64_t cols;
  const real **row;
  const void **atRow;
  int64_t *col, *atCol;
  real *rowWeight, *colWeight;
} V_(Sources);

/* What a run collects: gradients whose index, an int64 or already a lane, is that of the lane, or weighted ones. */
typedef enum V_(Collect) { V_(WIDE_INDEX), V_(LANE_INDEX), V_(WEIGHTED) } V_(Collect);

WINDOW_INLINE void V_(collect)(const int64_t *first, int vectors, int lanes, int64_t rows, const V_(Sources) *s,
                               V_(Collect) how, int64_t at, int64_t step, vint ramp, vreal *sum)
{
  const vreal zero = {0};
  vint here[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    sum[v] = zero;
    here[v] = vi_set1((V_(lane))(at + first[v] * step)) + ramp;
  }
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < s->cols; c++) {
      const real *g = s->row[r] + s->col[c];
      if (how == V_(WEIGHTED)) {
        const vreal weight = v_set1(s->rowWeight[r] * s->colWeight[c]);
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sum[v] += V_(loadLanes)(g + first[v], lanes) * weight;
      } else {
        const int64_t *wide = (const int64_t *)s->atRow[r] + s->atCol[c];
        const real *lane = (const real *)s->atRow[r] + s->atCol[c];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) {
          vint index = how == V_(WIDE_INDEX) ? V_(loadPositions)(wide + first[v], lanes)
                                             : (vint)V_(loadLanes)(lane + first[v], lanes);
          sum[v] += v_sel(vi_eq(index, here[v]), V_(loadLanes)(g + first[v], lanes), zero);
        }
      }
    }
}

/* Lane i is position at + i*step. */
WINDOW_INLINE void V_(collectBlock)(const int64_t *first, int vectors, int lanes, int64_t rows,
                                    const V_(Sources) *s, V_(Collect) how, int64_t at, int64_t step, vint ramp,
                                    real *x)
{
  vreal sum[WINDOW_VECTORS];
  V_(collect)(first, vectors, lanes, rows, s, how, at, step, ramp, sum);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) V_(storeLanes)(x + first[v], sum[v], lanes);
}

/* Two phases at once, of s[0] and s[1]: the lanes are positions at + 2*i and at + 2*i + 1. */
WINDOW_INLINE void V_(collectPairs)(const int64_t *first, int vectors, int lanes, int64_t rows,
                                    const V_(Sources) *s, V_(Collect) how, int64_t at, vint ramp, real *x)
{
  vreal even[WINDOW_VECTORS], odd[WINDOW_VECTORS];
  V_(collect)(first, vectors, lanes, rows, s, how, at, 2, ramp, even);
  V_(collect)(first, vectors, lanes, rows, s + 1, how, at + 1, 2, ramp, odd);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) V_(storePairs)(x + 2 * first[v], even[v], odd[v], lanes);
}

typedef struct V_(BackwardBuffers) {
  V_(Sources) *sources; /* of each phase; they share their rows */
  real *rows, *phase, *weights;
  V_(lane) *positions;
  int64_t *held;
} V_(BackwardBuffers);

static size_t V_(backwardRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *margins,
                                      int64_t ring, V_(BackwardBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *w = &window->w;
  V_(Sources) s = {0};
  b->sources = thnn_piece(&pieces, (double)w->stride, sizeof(V_(Sources)));
  b->rows = thnn_piece(&pieces, (double)ring * (double)margins->pitch, sizeof(real));
  b->positions = thnn_piece(&pieces, (double)ring * (double)margins->pitch, sizeof(V_(lane)));
  b->phase = thnn_piece(&pieces, (double)w->input, sizeof(real));
  b->weights = thnn_piece(&pieces, (double)w->output, sizeof(real));
  b->held = thnn_piece(&pieces, (double)ring, sizeof(int64_t));
  s.row = thnn_piece(&pieces, (double)ring, sizeof(real *));
  s.atRow = thnn_piece(&pieces, (double)ring, sizeof(void *));
  s.rowWeight = thnn_piece(&pieces, (double)ring, sizeof(real));
  s.col = s.atCol = thnn_piece(&pieces, (double)w->kernel, sizeof(int64_t));
  s.colWeight = thnn_piece(&pieces, (double)w->kernel, sizeof(real));
  if (memory) b->sources[0] = s;
  return (size_t)pieces.bytes;
}

/* The sources of every phase of the columns. */
static void V_(findSources)(const THNNAxis *w, const THNNPhases *margins, V_(Sources) *sources)
{
  V_(fill)(sources->colWeight, w->kernel, 1);
  for (int64_t q = 0; q < w->stride; q++) {
    V_(Sources) *s = sources + q;
    if (q > 0) {
      *s = s[-1];
      s->col = s->atCol = s[-1].col + s[-1].cols;
    }
    s->cols = 0;
    for (int64_t k = w->kernel - 1; k >= 0; k--) {
      const int64_t place = thnn_phasesSeen(margins, w, q, k);
      if (place >= 0) s->col[s->cols++] = place;
    }
  }
}

/* n indices to lanes. */
static void V_(narrow)(int64_t n, const int64_t *index, int64_t step, V_(lane) *positions)
{
  if (step == 1 && n >= VL) {
    for (int64_t i = 0; i < n - VL; i += VL) vi_store(positions + i, V_(loadPositions)(index + i, VL));
    vi_store(positions + n - VL, V_(loadPositions)(index + n - VL, VL));
  } else {
    for (int64_t i = 0; i < n; i++) positions[i] = (V_(lane))index[i * step];
  }
}

WINDOW_INLINE void V_(collectRow)(const THNNAxis *w, int64_t rows, const V_(Sources) *s, V_(Collect) how,
                                  int64_t at, int64_t step, vint ramp, real *phase, real *x)
{
  const int64_t stride = w->stride;
  if (stride == 1 && step == 1) {
    WINDOW_RUN(w->input, V_(collectBlock), rows, s, how, at, 1, ramp, x);
  } else if (stride == 2 && step == 1) {
    const int64_t pairs = w->input / 2;
    if (pairs > 0) WINDOW_RUN(pairs, V_(collectPairs), rows, s, how, at, ramp, x);
    if (w->input % 2) V_(collectBlock)(&pairs, 1, 1, rows, s, how, at, 2, ramp, x + pairs);
  } else {
    for (int64_t q = 0; q < stride && q < w->input; q++) {
      const int64_t n = (w->input - q + stride - 1) / stride;
      WINDOW_RUN(n, V_(collectBlock), rows, s + q, how, at + q, stride, ramp, phase);
      for (int64_t j = 0; j < n; j++) x[(q + j * stride) * step] = phase[j];
    }
  }
}

/* Runs of input columns, those of one phase of the stride. Rows of outputs, with positions in lanes and, for the mean,
   weighted by column, are kept in a ring with margins, unless they can be used in place. */
static bool V_(backwardRows)(const V_(Backward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const THNNPhases margins = thnn_phasesOfOutput(w);
  const bool in_place = f->indices && g->sw == 1 && at->sw == 1 && thnn_phasesSeenNoMargin(&margins, w);
  const int64_t ring = thnn_ring(thnn_windowOverlap(h));
  V_(BackwardBuffers) sizes;
  const size_t bytes = V_(backwardRowsBuffers)(NULL, f->window, &margins, ring, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->input;
  int64_t per_task = thnn_perTask(w->input);
  if (per_task < 2 * h->kernel) per_task = 2 * h->kernel;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input) {
    V_(BackwardBuffers) b;
    V_(backwardRowsBuffers)(thnn_scratch(bytes), f->window, &margins, ring, &b);
    V_(findSources)(w, &margins, b.sources);
    V_(fill)(b.rows, in_place ? 0 : ring * margins.pitch, 0); /* so that margins add 0, wherever they point */
    memset(b.positions, 0, sizeof(V_(lane)) * (size_t)(in_place ? 0 : ring * margins.pitch));
    for (int64_t j = 0; j < w->output && !f->indices; j++)
      b.weights[j] = 1 / (real)thnn_windowDivisor(w, j, f->count_pad);
    const V_(Sources) s = b.sources[0];
    const vint ramp = V_(ramp)(w->stride);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, plane = row / h->input, i = row % h->input;
    for (; row < end; plane++, i = 0) {
      const real *from = f->gradOutput + thnn_plane(g, plane);
      const int64_t *at_from = f->indices ? f->indices + thnn_plane(at, plane) : NULL;
      real *to = f->gradInput + thnn_plane(x, plane) + i * x->sh;
      for (int64_t slot = 0; slot < ring; slot++) b.held[slot] = -1;
      for (int64_t low = 0, high = 0; i < h->input && row < end; i++, row++, to += x->sh) {
        thnn_windowSlide(h, i, &low, &high);
        int64_t seen = 0;
        for (int64_t o = low; o < high; o++) {
          if (!thnn_windowSees(h, o, i)) continue;
          const int64_t slot = o & (ring - 1);
          if (in_place) {
            s.row[seen] = from + o * g->sh - margins.left;
            s.atRow[seen++] = at_from + o * at->sh - margins.left;
            continue;
          }
          real *line = b.rows + slot * margins.pitch;
          V_(lane) *positions = b.positions + slot * margins.pitch;
          s.row[seen] = line;
          s.atRow[seen] = positions;
          if (!f->indices) s.rowWeight[seen] = 1 / (real)thnn_windowDivisor(h, o, f->count_pad);
          seen++;
          if (b.held[slot] == o) continue;
          b.held[slot] = o;
          V_(layOut)(&margins, from + o * g->sh, w->output, g->sw, f->indices ? NULL : b.weights, line);
          if (f->indices) V_(narrow)(w->output, at_from + o * at->sh, at->sw, positions + margins.left);
        }
        const int64_t here = i * w->input;
        if (!f->indices) V_(collectRow)(w, seen, b.sources, V_(WEIGHTED), here, x->sw, ramp, b.phase, to);
        else if (in_place) V_(collectRow)(w, seen, b.sources, V_(WIDE_INDEX), here, x->sw, ramp, b.phase, to);
        else V_(collectRow)(w, seen, b.sources, V_(LANE_INDEX), here, x->sw, ramp, b.phase, to);
      }
    }
  }
  return true;
}

static size_t V_(backwardPixelsBuffers)(void *memory, const THNNWindow *window, int64_t packed, V_(Sources) *s,
                                        real **pack)
{
  THNNPieces pieces = {memory, 0};
  const double rows = (double)thnn_windowOverlap(&window->h), cols = (double)thnn_windowOverlap(&window->w);
  s->row = thnn_piece(&pieces, rows, sizeof(real *));
  s->atRow = thnn_piece(&pieces, rows, sizeof(void *));
  s->col = thnn_piece(&pieces, cols, sizeof(int64_t));
  s->atCol = thnn_piece(&pieces, cols, sizeof(int64_t));
  s->rowWeight = thnn_piece(&pieces, rows, sizeof(real));
  s->colWeight = thnn_piece(&pieces, cols, sizeof(real));
  *pack = thnn_piece(&pieces, rows * cols * (double)packed, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of channels. A gradOutput of another layout, an expanded one say, is packed pixel by pixel. */
static bool V_(backwardPixels)(const V_(Backward) *f)
{
  const THNNAxis *h = &f->window->h, *w = &f->window->w;
  const THNNImages *g = &f->g, *at = &f->at, *x = &f->x;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  V_(Sources) sizes;
  real *pack;
  const size_t bytes = V_(backwardPixelsBuffers)(NULL, f->window, packed, &sizes, &pack);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * h->input, per_task = thnn_perTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input * x->c) {
    V_(Sources) s = {0};
    real *pixels;
    V_(backwardPixelsBuffers)(thnn_scratch(bytes), f->window, packed, &s, &pixels);
    const vint ramp = {0};
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t n = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0;
      thnn_windowSlide(h, i, &low, &high);
      int64_t seen = 0;
      for (int64_t o = low; o < high; o++) {
        if (!thnn_windowSees(h, o, i)) continue;
        s.row[seen] = f->gradOutput + n * g->sn + o * g->sh;
        s.atRow[seen] = f->indices ? f->indices + n * at->sn + o * at->sh : NULL;
        s.rowWeight[seen++] = f->indices ? 0 : 1 / (real)thnn_windowDivisor(h, o, f->count_pad);
      }
      const real *from = f->gradOutput + n * g->sn;
      real *to = f->gradInput + n * x->sn + i * x->sh;
      int64_t left = 0, right = 0, seen_left = -1, seen_right = -1;
      for (int64_t j = 0; j < w->input; j++, to += x->sw) {
        thnn_windowSlide(w, j, &left, &right);
        if (left != seen_left || right != seen_right || w->dilation > 1) {
          seen_left = left;
          seen_right = right;
          s.cols = 0;
          for (int64_t o = left; o < right; o++) {
            if (!thnn_windowSees(w, o, j)) continue;
            s.col[s.cols] = o * g->sw;
            s.atCol[s.cols] = o * at->sw;
            s.colWeight[s.cols++] = f->indices ? 0 : 1 / (real)thnn_windowDivisor(w, o, f->count_pad);
          }
          if (packed) {
            int64_t r = 0;
            for (int64_t o = low; o < high; o++) {
              if (!thnn_windowSees(h, o, i)) continue;
              real *line = pixels + r * s.cols * packed;
              for (int64_t k = 0; k < s.cols; k++)
                for (int64_t c = 0; c < packed; c++) line[k * packed + c] = from[o * g->sh + s.col[k] + c * g->sc];
              s.row[r++] = line;
            }
            for (int64_t k = 0; k < s.cols; k++) s.col[k] = k * packed;
          }
        }
        if (f->indices)
          WINDOW_RUN(x->c, V_(collectBlock), seen, &s, V_(WIDE_INDEX), i * w->input + j, 0, ramp, to);
        else WINDOW_RUN(x->c, V_(collectBlock), seen, &s, V_(WEIGHTED), 0, 0, ramp, to);
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
                          false};
  const bool pixels = thnn_channelsInside(&f.at) && thnn_channelsInside(&f.x);
  if (!in_windows || !(pixels ? V_(backwardPixels)(&f) : V_(backwardRows)(&f))) V_(scatter)(&f);
}

void THNN_(windowMeanBackward)(const THNNWindow *window, bool count_pad, const THTensor *gradOutput,
                               THTensor *gradInput)
{
  const V_(Backward) f = {window, thnn_images(gradOutput), {0},      thnn_images(gradInput), TH_DATA(gradOutput),
                          NULL,   TH_DATA(gradInput),      count_pad};
  if (!(thnn_channelsInside(&f.x) ? V_(backwardPixels)(&f) : V_(backwardRows)(&f))) V_(spread)(&f);
}
