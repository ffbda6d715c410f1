#include "window.h"

/* Positions in a plane are computed in lanes as wide as real; planes beyond that go the plain way. */
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

/* An int64 is two lanes of float. */
WINDOW_INLINE void V_(storePositions)(int64_t *index, vint at, int lanes)
{
#ifdef THNN_REAL_IS_FLOAT
  const vreal zero = {0};
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  vreal low = V_(low)((vreal)at, zero), high = V_(high)((vreal)at, zero);
#else
  vreal low = V_(low)(zero, (vreal)at), high = V_(high)(zero, (vreal)at);
#endif
  if (lanes == VL) {
    v_store((real *)index, low);
    v_store((real *)index + VL, high);
  } else {
    real both[2 * VL];
    v_store(both, low);
    v_store(both + VL, high);
    memcpy(index, both, sizeof(int64_t) * (size_t)lanes);
  }
#else
  V_(storeLanes)((real *)index, (vreal)at, lanes);
#endif
}

/* n positions from int64 (`wide`) or from lanes. */
WINDOW_INLINE vint V_(loadPositions)(const void *index, int64_t i, bool wide, int lanes)
{
#ifdef THNN_REAL_IS_FLOAT
  if (wide) {
    const real *p = (const real *)((const int64_t *)index + i);
    real both[2 * VL] = {0};
    if (lanes != VL) p = memcpy(both, p, sizeof(int64_t) * (size_t)lanes);
    vreal a = v_load(p), b = v_load(p + VL);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (vint)V_(even)(a, b);
#else
    return (vint)V_(odd)(a, b);
#endif
  }
#endif
  (void)wide;
  return (vint)V_(loadLanes)((const real *)index + i, lanes);
}

/* --- forward ----------------------------------------------------------------------------------------------- */

/* The largest tap of each lane, the first of equal ones; NaN is larger than anything, itself included, as in
   torch. Tap (r, c) of lane i has the position rowAt[r] + colAt[c] + i*step. */
WINDOW_INLINE void V_(maxBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *taps,
                                const V_(lane) *rowAt, const V_(lane) *colAt, int64_t step, vint ramp, real *y,
                                int64_t *index)
{
  vreal best[WINDOW_VECTORS];
  vint at[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    best[v] = v_set1((real)-INFINITY);
    at[v] = vi_set1(rowAt[0] + colAt[0]);
  }
  for (int64_t r = 0; r < taps->rows; r++)
    for (int64_t c = 0; c < taps->cols; c++) {
      const real *tap = taps->row[r] + taps->col[c];
      vint here = vi_set1(rowAt[r] + colAt[c]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        vreal x = V_(loadLanes)(tap + first[v], lanes);
        vmask larger = m_or(v_gt(x, best[v]), v_ne(x, x));
        best[v] = v_sel(larger, x, best[v]);
        at[v] = vi_sel(larger, here, at[v]);
      }
    }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    V_(storeLanes)(y + first[v], best[v], lanes);
    V_(storePositions)(index + first[v], at[v] + (vi_set1((V_(lane))(first[v] * step)) + ramp), lanes);
  }
}

static void V_(maxRun)(int64_t n, const V_(Taps) *taps, const V_(lane) *rowAt, const V_(lane) *colAt, int64_t step,
                       vint ramp, real *y, int64_t *index)
{
  WINDOW_RUN(n, V_(maxBlock), taps, rowAt, colAt, step, ramp, y, index);
}

typedef struct V_(MaxBuffers) {
  real *rows, *y;
  int64_t *index;
  int64_t *held; /* which row each part of the ring holds */
  V_(Taps) taps;
  V_(lane) *rowAt, *colAt;
} V_(MaxBuffers);

static size_t V_(maxRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *phases, int64_t ring,
                                 V_(MaxBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  double outputs = (double)window->w.output, kH = (double)window->h.kernel, kW = (double)window->w.kernel;
  b->rows = thnn_piece(&pieces, (double)ring * (double)phases->stride * (double)phases->pitch, sizeof(real));
  b->held = thnn_piece(&pieces, (double)ring, sizeof(int64_t));
  b->y = thnn_piece(&pieces, outputs, sizeof(real));
  b->index = thnn_piece(&pieces, outputs, sizeof(int64_t));
  b->taps.row = thnn_piece(&pieces, kH, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, kW, sizeof(int64_t));
  b->rowAt = thnn_piece(&pieces, kH, sizeof(V_(lane)));
  b->colAt = thnn_piece(&pieces, kW, sizeof(V_(lane)));
  return (size_t)pieces.bytes;
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

/* Runs of output columns. `ring` split rows of the image are kept, as successive outputs share them. False, and
   nothing done, if that takes more scratch than there is. */
static bool V_(maxRows)(const THNNWindow *window, const THNNImages *x, const real *input, const THNNImages *y,
                        real *output, const THNNImages *at, int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  THNNPhases phases = thnn_phasesOfInput(w);
  const int64_t span = (h->kernel - 1) * h->dilation + 1, ring = thnn_ring(span < h->input ? span : h->input);
  V_(MaxBuffers) sizes;
  size_t bytes = V_(maxRowsBuffers)(NULL, window, &phases, ring, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  int64_t rows = x->n * x->c * h->output, elements = rows * w->input * (h->stride < h->kernel ? h->stride : h->kernel);
  int64_t per_task = thnn_perTask(w->input * h->stride);
  if (per_task < 2 * h->kernel) per_task = 2 * h->kernel;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, elements)
  {
    V_(MaxBuffers) b;
    V_(maxRowsBuffers)(thnn_scratch(bytes), window, &phases, ring, &b);
    const int64_t row_size = phases.stride * phases.pitch;
    V_(fill)(b.rows, ring * row_size, (real)-INFINITY);
    b.taps.cols = w->kernel;
    for (int64_t k = 0; k < w->kernel; k++) {
      b.taps.col[k] = thnn_phasesTap(&phases, w, k);
      b.colAt[k] = (V_(lane))(k * w->dilation - w->pad);
    }
    const vint ramp = V_(ramp)(w->stride);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, plane = row / h->output, o = row % h->output;
    for (; row < end; plane++, o = 0) {
      const real *from = input + thnn_plane(x, plane);
      real *y_plane = output + thnn_plane(y, plane);
      int64_t *at_plane = indices + thnn_plane(at, plane);
      for (int64_t i = 0; i < ring; i++) b.held[i] = -1;
      for (; o < h->output && row < end; o++, row++) {
        int64_t k, k_end;
        thnn_windowTaps(h, o, &k, &k_end);
        b.taps.rows = 0;
        for (; k < k_end; k++) {
          int64_t i = thnn_windowStart(h, o) + k * h->dilation, slot = i & (ring - 1);
          if (b.held[slot] != i) V_(split)(&phases, from + i * x->sh, w->input, x->sw, b.rows + slot * row_size);
          b.held[slot] = i;
          b.rowAt[b.taps.rows] = (V_(lane))(i * w->input);
          b.taps.row[b.taps.rows++] = b.rows + slot * row_size;
        }
        real *to = y_plane + o * y->sh, *y_row = y->sw == 1 ? to : b.y;
        int64_t *at_to = at_plane + o * at->sh, *at_row = at->sw == 1 ? at_to : b.index;
        const bool any = b.taps.rows > 0;
        if (any) V_(maxRun)(w->output, &b.taps, b.rowAt, b.colAt, w->stride, ramp, y_row, at_row);
        for (int64_t j = 0; j < w->output && (!any || thnn_windowStart(w, j) < 0); j++)
          V_(maxAtEdge)(w, j, any ? b.rowAt[0] : -1, y_row + j, at_row + j);
        for (int64_t j = w->output - 1; j >= 0 && any && thnn_windowStart(w, j) >= w->input; j--)
          V_(maxAtEdge)(w, j, -1, y_row + j, at_row + j);
        if (y_row != to)
          for (int64_t j = 0; j < w->output; j++) to[j * y->sw] = y_row[j];
        if (at_row != at_to)
          for (int64_t j = 0; j < w->output; j++) at_to[j * at->sw] = at_row[j];
      }
    }
  }
  return true;
}

static size_t V_(maxPixelsBuffers)(void *memory, const THNNWindow *window, V_(MaxBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  double rows = (double)(h->kernel < h->input ? h->kernel : h->input);
  double cols = (double)(w->kernel < w->input ? w->kernel : w->input);
  b->taps.row = thnn_piece(&pieces, rows, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, cols, sizeof(int64_t));
  b->rowAt = thnn_piece(&pieces, rows, sizeof(V_(lane)));
  b->colAt = thnn_piece(&pieces, cols, sizeof(V_(lane)));
  return (size_t)pieces.bytes;
}

/* Runs of channels. */
static bool V_(maxPixels)(const THNNWindow *window, const THNNImages *x, const real *input, const THNNImages *y,
                          real *output, const THNNImages *at, int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  V_(MaxBuffers) sizes;
  size_t bytes = V_(maxPixelsBuffers)(NULL, window, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  int64_t pixels = x->n * h->output * w->output, per_task = thnn_perTask(x->c * 4);
  THNN_PARALLEL_FOR(task, (pixels + per_task - 1) / per_task, pixels * x->c)
  {
    V_(MaxBuffers) b;
    V_(maxPixelsBuffers)(thnn_scratch(bytes), window, &b);
    const vint ramp = {0};
    const int64_t end = pixels < (task + 1) * per_task ? pixels : (task + 1) * per_task;
    int64_t pixel = task * per_task, j = pixel % w->output, row = pixel / w->output;
    for (; pixel < end; j = 0, row++) {
      const int64_t n = row / h->output, o = row % h->output;
      int64_t k, k_end;
      thnn_windowTaps(h, o, &k, &k_end);
      b.taps.rows = 0;
      for (; k < k_end; k++) {
        int64_t i = thnn_windowStart(h, o) + k * h->dilation;
        b.rowAt[b.taps.rows] = (V_(lane))(i * w->input);
        b.taps.row[b.taps.rows++] = input + n * x->sn + i * x->sh;
      }
      real *y_row = output + n * y->sn + o * y->sh;
      int64_t *at_row = indices + n * at->sn + o * at->sh;
      for (; j < w->output && pixel < end; j++, pixel++) {
        real *to = y_row + j * y->sw;
        int64_t *at_to = at_row + j * at->sw;
        thnn_windowTaps(w, j, &k, &k_end);
        if (b.taps.rows == 0 || k >= k_end) {
          for (int64_t c = 0; c < x->c; c++) to[c] = LOWEST, at_to[c] = -1;
          continue;
        }
        b.taps.cols = 0;
        for (; k < k_end; k++) {
          int64_t i = thnn_windowStart(w, j) + k * w->dilation;
          b.colAt[b.taps.cols] = (V_(lane))i;
          b.taps.col[b.taps.cols++] = i * x->sw;
        }
        V_(maxRun)(x->c, &b.taps, b.rowAt, b.colAt, 0, ramp, to, at_to);
      }
    }
  }
  return true;
}

/* One output after the other: geometries too large for scratch or for positions in lanes. */
static void V_(maxPlain)(const THNNWindow *window, const THNNImages *x, const real *input, const THNNImages *y,
                         real *output, const THNNImages *at, int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  int64_t rows = x->n * x->c * h->output;
  THNN_PARALLEL_FOR(row, rows, rows * w->input)
  {
    const int64_t plane = row / h->output, o = row % h->output;
    const real *from = input + thnn_plane(x, plane);
    int64_t r0, r_end;
    thnn_windowTaps(h, o, &r0, &r_end);
    for (int64_t j = 0; j < w->output; j++) {
      int64_t c0, c_end, best_at = -1;
      thnn_windowTaps(w, j, &c0, &c_end);
      real best = LOWEST;
      for (int64_t r = r0; r < r_end; r++)
        for (int64_t c = c0; c < c_end; c++) {
          int64_t ih = thnn_windowStart(h, o) + r * h->dilation, iw = thnn_windowStart(w, j) + c * w->dilation;
          real value = from[ih * x->sh + iw * x->sw];
          if (best_at < 0 || value > best || value != value) best = value, best_at = ih * w->input + iw;
        }
      output[thnn_plane(y, plane) + o * y->sh + j * y->sw] = best;
      indices[thnn_plane(at, plane) + o * at->sh + j * at->sw] = best_at;
    }
  }
}

void THNN_(windowMax)(const THNNWindow *window, const THTensor *input, THTensor *output, THIndexTensor *indices)
{
  const THNNImages x = thnn_images(input), y = thnn_images(output), at = thnn_images(indices);
  const bool pixels = thnn_channelsInside(&x) && thnn_channelsInside(&y) && thnn_channelsInside(&at);
  const real *from = TH_DATA(input);
  real *to = TH_DATA(output);
  if (!V_(positionsFit)(window) ||
      !(pixels ? V_(maxPixels)(window, &x, from, &y, to, &at, indices->data)
               : V_(maxRows)(window, &x, from, &y, to, &at, indices->data)))
    V_(maxPlain)(window, &x, from, &y, to, &at, indices->data);
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

WINDOW_INLINE void V_(checkBlock)(const int64_t *index, int lanes, int64_t i, const V_(Bounds) *b, bool each,
                                  V_(Verdict) *verdict)
{
  int64_t all[VL];
  if (lanes != VL) {
    for (int l = 0; l < VL; l++) all[l] = l < lanes ? index[i + l] : -1;
    index = all - i;
  }
  V_(wide) bad = verdict->bad;
  for (int part = 0; part < VL; part += WIDE) {
    V_(wide) at = (V_(wide))v_load((const real *)(index + i + part));
    bad |= (at + 1) | ((uint64_t)(b->plane - 1) - at);
  }
  verdict->bad = bad;
  vint at = V_(loadPositions)(index, i, true, VL), outside = ~at;
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
  verdict->outside |= outside;
}

WINDOW_INLINE void V_(checkRun)(int64_t n, const int64_t *index, const V_(Bounds) *b, bool each, V_(Verdict) *verdict)
{
  int64_t i = 0;
  for (; i + VL <= n; i += VL) V_(checkBlock)(index, VL, i, b, each, verdict);
  if (i < n) V_(checkBlock)(index, (int)(n - i), i, b, each, verdict);
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
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size)
  {
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

static void V_(failAtIndex)(THNNState *state, const THNNWindow *window, const THNNImages *at, const int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  for (int64_t plane = 0; plane < at->n * at->c; plane++)
    for (int64_t o = 0; o < h->output; o++)
      for (int64_t j = 0; j < w->output; j++) {
        int64_t index = indices[thnn_plane(at, plane) + o * at->sh + j * at->sw];
        if (index >= -1 && index < h->input * w->input) continue;
        THNN_fail(state, THNN_INDEX_ERROR, "indices",
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

/* Every input collects, in row order of the outputs that see it, the gradients of those whose index it is: no
   clearing, no adding to memory, and the sums are those of scattering. Lane i is position at + i*step. */
WINDOW_INLINE void V_(gatherSums)(const int64_t *first, int vectors, int lanes, const V_(Taps) *grads,
                                  const void *const *row, const int64_t *col, bool wide, int64_t at, int64_t step,
                                  vint ramp, vreal *sum)
{
  const vreal zero = {0};
  vint here[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    sum[v] = zero;
    here[v] = vi_set1((V_(lane))(at + first[v] * step)) + ramp;
  }
  for (int64_t r = 0; r < grads->rows; r++)
    for (int64_t c = 0; c < grads->cols; c++) {
      const real *g = grads->row[r] + grads->col[c];
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) {
        vmask taken = vi_eq(V_(loadPositions)(row[r], col[c] + first[v], wide, lanes), here[v]);
        sum[v] += v_sel(taken, V_(loadLanes)(g + first[v], lanes), zero);
      }
    }
}

WINDOW_INLINE void V_(gatherBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *grads,
                                   const void *const *row, const int64_t *col, bool wide, int64_t at, int64_t step,
                                   vint ramp, real *out)
{
  vreal sum[WINDOW_VECTORS];
  V_(gatherSums)(first, vectors, lanes, grads, row, col, wide, at, step, ramp, sum);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) V_(storeLanes)(out + first[v], sum[v], lanes);
}

/* Two phases at once, grads[0] and grads[1]. */
WINDOW_INLINE void V_(gatherPair)(const int64_t *first, int vectors, int lanes, const V_(Taps) *grads,
                                  const void *const *row, bool wide, int64_t at, vint ramp, real *out)
{
  vreal even[WINDOW_VECTORS], odd[WINDOW_VECTORS];
  V_(gatherSums)(first, vectors, lanes, grads, row, grads[0].col, wide, at, 2, ramp, even);
  V_(gatherSums)(first, vectors, lanes, grads + 1, row, grads[1].col, wide, at + 1, 2, ramp, odd);
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) V_(storePair)(out + 2 * first[v], even[v], odd[v], lanes);
}

typedef struct V_(GatherBuffers) {
  real *grads, *phases;
  V_(lane) *positions;
  int64_t *held;
  V_(Taps) *taps; /* of gradOutput, for each phase; where those of the indices differ: */
  const void **row;
  int64_t *col;
} V_(GatherBuffers);

static size_t V_(gatherRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *margins, int64_t ring,
                                    V_(GatherBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *w = &window->w;
  b->grads = thnn_piece(&pieces, (double)ring * (double)margins->pitch, sizeof(real));
  b->positions = thnn_piece(&pieces, (double)ring * (double)margins->pitch, sizeof(V_(lane)));
  b->phases = thnn_piece(&pieces, (double)w->input + (double)w->stride, sizeof(real));
  b->held = thnn_piece(&pieces, (double)ring, sizeof(int64_t));
  b->taps = thnn_piece(&pieces, (double)w->stride, sizeof(V_(Taps)));
  const real **row = thnn_piece(&pieces, (double)ring, sizeof(real *));
  b->row = thnn_piece(&pieces, (double)ring, sizeof(void *));
  b->col = thnn_piece(&pieces, (double)w->kernel, sizeof(int64_t));
  if (memory) b->taps[0].row = row;
  return (size_t)pieces.bytes;
}

/* n indices to lanes. */
static void V_(narrow)(int64_t n, const int64_t *index, int64_t step, V_(lane) *positions)
{
  int64_t i = 0;
  if (step == 1)
    for (; i + VL <= n; i += VL) vi_store(positions + i, V_(loadPositions)(index, i, true, VL));
  for (; i < n; i++) positions[i] = (V_(lane))index[i * step];
}

/* Runs of input columns of one phase. A ring of output rows is kept with positions in lanes. */
static bool V_(gatherRows)(const THNNWindow *window, const THNNImages *g, const real *gradOutput,
                           const THNNImages *at, const int64_t *indices, const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const THNNPhases margins = thnn_phasesOfOutput(w);
  const int64_t ring = thnn_ring(thnn_windowOverlap(h)), columns = (w->input + w->stride - 1) / w->stride;
  V_(GatherBuffers) sizes;
  const size_t bytes = V_(gatherRowsBuffers)(NULL, window, &margins, ring, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->input;
  int64_t per_task = thnn_perTask(w->input);
  if (per_task < 2 * h->kernel) per_task = 2 * h->kernel;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input)
  {
    V_(GatherBuffers) b;
    V_(gatherRowsBuffers)(thnn_scratch(bytes), window, &margins, ring, &b);
    V_(fill)(b.grads, ring * margins.pitch, 0);
    memset(b.positions, 0, sizeof(V_(lane)) * (size_t)(ring * margins.pitch));
    int64_t *col = b.col;
    for (int64_t q = 0; q < w->stride; q++) {
      V_(Taps) *taps = b.taps + q;
      *taps = (V_(Taps)){0, 0, b.taps[0].row, col};
      for (int64_t k = w->kernel - 1; k >= 0; k--) {
        int64_t place = thnn_phasesSeen(&margins, w, q, k);
        if (place >= 0) taps->col[taps->cols++] = place;
      }
      col += taps->cols;
    }
    const vint ramp = V_(ramp)(w->stride);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, plane = row / h->input, i = row % h->input;
    for (; row < end; plane++, i = 0) {
      const real *g_plane = gradOutput + thnn_plane(g, plane);
      const int64_t *at_plane = indices + thnn_plane(at, plane);
      real *x_plane = gradInput + thnn_plane(x, plane);
      for (int64_t s = 0; s < ring; s++) b.held[s] = -1;
      for (int64_t low = 0, high = 0; i < h->input && row < end; i++, row++) {
        thnn_windowSlide(h, i, &low, &high);
        int64_t seen = 0;
        for (int64_t o = low; o < high; o++) {
          if (!thnn_windowSees(h, o, i)) continue;
          const int64_t slot = o & (ring - 1);
          real *grads = b.grads + slot * margins.pitch;
          V_(lane) *positions = b.positions + slot * margins.pitch;
          b.taps[0].row[seen] = grads;
          b.row[seen++] = positions;
          if (b.held[slot] == o) continue;
          b.held[slot] = o;
          V_(split)(&margins, g_plane + o * g->sh, w->output, g->sw, grads);
          V_(narrow)(w->output, at_plane + o * at->sh, at->sw, positions + margins.left);
        }
        real *to = x_plane + i * x->sh;
        const int64_t here = i * w->input;
        for (int64_t q = 0; q < w->stride; q++) b.taps[q].rows = seen;
        if (w->stride == 1 && x->sw == 1) {
          WINDOW_RUN(w->input, V_(gatherBlock), b.taps, b.row, b.col, false, here, 1, ramp, to);
        } else if (w->stride == 2 && x->sw == 1) {
          const int64_t pairs = w->input / 2;
          if (pairs > 0) WINDOW_RUN(pairs, V_(gatherPair), b.taps, b.row, false, here, ramp, to);
          if (w->input > 2 * pairs)
            V_(gatherBlock)(&pairs, 1, 1, b.taps, b.row, b.col, false, here, 2, ramp, to + pairs);
        } else {
          for (int64_t q = 0; q < w->stride && q < w->input; q++) {
            const int64_t n = (w->input - q + w->stride - 1) / w->stride;
            WINDOW_RUN(n, V_(gatherBlock), b.taps + q, b.row, b.taps[q].col, false, here + q, w->stride, ramp,
                       b.phases + q * columns);
          }
          V_(merge)(w->stride, columns, b.phases, w->input, x->sw, to);
        }
      }
    }
  }
  return true;
}

static size_t V_(gatherPixelsBuffers)(void *memory, const THNNWindow *window, int64_t packed,
                                      V_(GatherBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  double rows = (double)thnn_windowOverlap(&window->h), cols = (double)thnn_windowOverlap(&window->w);
  b->grads = thnn_piece(&pieces, rows * cols * (double)packed, sizeof(real));
  b->taps = thnn_piece(&pieces, 1, sizeof(V_(Taps)));
  V_(Taps) taps = {0, 0, thnn_piece(&pieces, rows, sizeof(real *)), thnn_piece(&pieces, cols, sizeof(int64_t))};
  b->row = thnn_piece(&pieces, rows, sizeof(void *));
  b->col = thnn_piece(&pieces, cols, sizeof(int64_t));
  if (memory) *b->taps = taps;
  return (size_t)pieces.bytes;
}

/* Runs of channels. A gradOutput of another layout (an expanded one, say) is packed pixel by pixel. */
static bool V_(gatherPixels)(const THNNWindow *window, const THNNImages *g, const real *gradOutput,
                             const THNNImages *at, const int64_t *indices, const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  V_(GatherBuffers) sizes;
  const size_t bytes = V_(gatherPixelsBuffers)(NULL, window, packed, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * h->input, per_task = thnn_perTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input * x->c)
  {
    V_(GatherBuffers) b;
    V_(gatherPixelsBuffers)(thnn_scratch(bytes), window, packed, &b);
    const vint ramp = {0};
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0, left, right;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t n = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0;
      thnn_windowSlide(h, i, &low, &high);
      left = right = 0;
      for (int64_t j = 0; j < w->input; j++) {
        thnn_windowSlide(w, j, &left, &right);
        b.taps->rows = b.taps->cols = 0;
        for (int64_t o = left; o < right; o++) {
          if (!thnn_windowSees(w, o, j)) continue;
          b.col[b.taps->cols] = o * at->sw;
          b.taps->col[b.taps->cols++] = o * g->sw;
        }
        for (int64_t o = low; o < high; o++) {
          if (!thnn_windowSees(h, o, i)) continue;
          const real *from = gradOutput + n * g->sn + o * g->sh;
          b.row[b.taps->rows] = indices + n * at->sn + o * at->sh;
          if (packed) {
            real *to = b.grads + b.taps->rows * b.taps->cols * packed;
            for (int64_t k = 0; k < b.taps->cols; k++)
              for (int64_t c = 0; c < packed; c++) to[k * packed + c] = from[b.taps->col[k] + c * g->sc];
            from = to;
          }
          b.taps->row[b.taps->rows++] = from;
        }
        for (int64_t k = 0; k < b.taps->cols && packed; k++) b.taps->col[k] = k * packed;
        real *out = gradInput + n * x->sn + i * x->sh + j * x->sw;
        WINDOW_RUN(x->c, V_(gatherBlock), b.taps, b.row, b.col, true, i * w->input + j, 0, ramp, out);
      }
    }
  }
  return true;
}

/* Any indices, any strides. */
static void V_(scatter)(const THNNWindow *window, const THNNImages *g, const real *gradOutput, const THNNImages *at,
                        const int64_t *indices, const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const int64_t planes = x->n * x->c;
  THNN_PARALLEL_FOR(plane, planes, planes * h->input * w->input)
  {
    real *to = gradInput + thnn_plane(x, plane);
    for (int64_t i = 0; i < h->input; i++)
      for (int64_t j = 0; j < w->input; j++) to[i * x->sh + j * x->sw] = 0;
    for (int64_t o = 0; o < h->output; o++)
      for (int64_t j = 0; j < w->output; j++) {
        int64_t index = indices[thnn_plane(at, plane) + o * at->sh + j * at->sw];
        if (index >= 0)
          to[index / w->input * x->sh + index % w->input * x->sw] +=
              gradOutput[thnn_plane(g, plane) + o * g->sh + j * g->sw];
      }
  }
}

void THNN_(windowMaxBackward)(const THNNWindow *window, bool in_windows, const THTensor *gradOutput,
                              const THIndexTensor *indices, THTensor *gradInput)
{
  const THNNImages g = thnn_images(gradOutput), at = thnn_images(indices), x = thnn_images(gradInput);
  const real *from = TH_DATA(gradOutput);
  real *to = TH_DATA(gradInput);
  const bool pixels = thnn_channelsInside(&at) && thnn_channelsInside(&x);
  if (!in_windows || !V_(positionsFit)(window) ||
      !(pixels ? V_(gatherPixels)(window, &g, from, &at, indices->data, &x, to)
               : V_(gatherRows)(window, &g, from, &at, indices->data, &x, to)))
    V_(scatter)(window, &g, from, &at, indices->data, &x, to);
}
