/* The indices that come back for the backward: each has to lie in its window. */

#include "pooling/lanes.h"

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
        thnn_fetchAhead(from + part, left * (int)sizeof *from);
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
