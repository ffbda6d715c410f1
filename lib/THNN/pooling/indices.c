/* The indices that come back for the backward: each has to lie in its window. */

#include "pooling/lanes.h"

/* Unsigned, as an index may be anything: int64 lanes, and lanes as wide as real. */
typedef uint64_t Wide __attribute__((vector_size(VBYTES)));
#ifdef THNN_REAL_IS_FLOAT
typedef uint32_t Bits __attribute__((vector_size(VBYTES)));
#else
typedef uint64_t Bits __attribute__((vector_size(VBYTES)));
#endif
#define WIDE ((int)(VBYTES / sizeof(int64_t)))

/* Sign bits tell: `bad` has one if an index is neither -1 nor in a plane of `plane` elements, `outside` if one is
   not -1 and not in its window either. */
typedef struct Verdict {
  Wide bad;
  Bits outside;
} Verdict;

/* Rows of indices. Row r of the window of lane i begins at the position at + row[r] + low[i] and is width[i] + 1
   wide; every dilation-th column counts. low[0] and width[0] hold for all lanes if not `each`. Each next row of
   indices has its windows further on by at_step. */
typedef struct Bounds {
  int64_t plane, rows, columns, dilation, at_step;
  vlane *row, *low, *width;
} Bounds;

static inline Bits bits1(int64_t x) { return (Bits)vi_set1((vlane)x); }

WINDOW_INLINE void checkBlock(const int64_t *first, int vectors, int lanes, int64_t count, const int64_t *index,
                              int64_t index_step, int64_t at, const Bounds *bounds, bool each, Verdict *verdict)
{
  const Bounds b = *bounds;
  const int words = (int)(sizeof(int64_t) / sizeof(real));
  for (int v = 0; v < vectors; v++) {
    Wide bad = {0};
    Bits low = bits1(b.low[0]), width = bits1(b.width[0]), outside = {0};
    if (each) low = (Bits)loadLanes((const real *)b.low + first[v], lanes);
    if (each) width = (Bits)loadLanes((const real *)b.width + first[v], lanes);
    low += bits1(at);
    const int64_t *from = index + first[v];
    for (int64_t n = 0; n < count; n++, from += index_step) {
      for (int part = 0; part < lanes; part += WIDE) {
        const int left = lanes - part < WIDE ? lanes - part : WIDE;
        thnn_prefetchAhead(from + part, left * (int)sizeof *from);
        Wide all = (Wide)loadLanes((const real *)(from + part), left * words);
        bad |= (all + 1) | ((uint64_t)(b.plane - 1) - all);
      }
      const Bits position = (Bits)loadPositions(from, lanes);
      Bits nowhere = ~position;
      for (int64_t r = 0; r < b.rows; r++) {
        Bits past = position - low - bits1(b.row[r]);
        if (b.dilation == 1) {
          nowhere &= past | (width - past);
        } else {
          for (int64_t c = 0; c < b.columns; c++, past -= bits1(b.dilation))
            nowhere &= past | -past | (width - bits1(c * b.dilation));
        }
      }
      outside |= nowhere;
      low += bits1(b.at_step);
    }
    if (lanes < VL) outside &= (Bits)(ramp(1) < vi_set1((vlane)lanes));
    verdict->bad |= bad;
    verdict->outside |= outside;
  }
}

static void span(const THNNAxis *a, int64_t o, vlane *low, vlane *width)
{
  int64_t k, end;
  thnn_windowTaps(a, o, &k, &end);
  *low = (vlane)(thnn_windowStart(a, o) + k * a->dilation);
  *width = (vlane)((end - 1 - k) * a->dilation);
}

static size_t boundsBuffers(void *memory, const THNNWindow *window, bool each, Bounds *b, int64_t **line)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  const double outputs = each ? (double)w->output : 1;
  *b = (Bounds){h->input * w->input, h->kernel, w->kernel, w->dilation, h->stride * w->input, NULL, NULL, NULL};
  b->row = thnn_piece(&pieces, (double)h->kernel, sizeof(vlane));
  b->low = thnn_piece(&pieces, outputs, sizeof(vlane));
  b->width = thnn_piece(&pieces, outputs, sizeof(vlane));
  *line = thnn_piece(&pieces, outputs, sizeof(int64_t));
  return (size_t)pieces.bytes;
}

/* Bit 0: some index is out of range; bit 1: some is outside its window. Both if there is no telling in lanes. Rows
   of a window above or below the image need no care: no position in the plane is in their columns. */
static int checkIndices(const THNNWindow *window, const THNNImages *at, const int64_t *indices)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const bool pixels = thnn_channelsInside(at);
  Bounds sizes;
  int64_t *size;
  const size_t bytes = boundsBuffers(NULL, window, !pixels, &sizes, &size);
  if (!positionsFit(window) || bytes > THNN_SCRATCH_LIMIT) return 3;

  /* A group is an image's pixels or one of its planes. */
  const int64_t groups = at->n * (pixels ? 1 : at->c), rows = groups * h->output;
  const int64_t row_size = w->output * (pixels ? at->c : 1), per_task = thnn_perTask(row_size);
  int found = 0;
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size) {
    Bounds b;
    int64_t *line;
    boundsBuffers(thnn_scratch(bytes), window, !pixels, &b, &line);
    Verdict verdict = {{0}, {0}};
    for (int64_t r = 0; r < h->kernel; r++) b.row[r] = (vlane)(r * h->dilation * w->input);
    for (int64_t j = 0; j < w->output && !pixels; j++) span(w, j, b.low + j, b.width + j);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t row = task * per_task, group = row / h->output, o = row % h->output;
    for (int64_t count; row < end; row += count, o += count) {
      if (o == h->output) group++, o = 0;
      const int64_t *from = indices + (pixels ? group * at->sn : thnn_plane(at, group)) + o * at->sh;
      const int64_t top = thnn_windowStart(h, o) * w->input;
      count = 1;
      if (pixels) {
        for (int64_t j = 0; j < w->output; j++) {
          span(w, j, b.low, b.width);
          WINDOW_RUN(at->c, checkBlock, 1, from + j * at->sw, 0, top, &b, false, &verdict);
        }
      } else if (at->sw == 1) {
        count = end - row < h->output - o ? end - row : h->output - o;
        WINDOW_RUN(w->output, checkBlock, count, from, at->sh, top, &b, true, &verdict);
      } else {
        for (int64_t j = 0; j < w->output; j++) line[j] = from[j * at->sw];
        WINDOW_RUN(w->output, checkBlock, 1, line, 0, top, &b, true, &verdict);
      }
    }
    int bits = 0;
    for (int i = 0; i < WIDE; i++) bits |= (int)(verdict.bad[i] >> 63);
    for (int i = 0; i < VL; i++) bits |= (vlane)verdict.outside[i] < 0 ? 2 : 0;
    if (bits) __atomic_fetch_or(&found, bits, __ATOMIC_RELAXED);
  }
  return found;
}

static void failAtIndex(THNNState *state, const THNNWindow *window, const THNNImages *at, const int64_t *indices)
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
  int found = checkIndices(window, &at, indices->data);
  if (found & 1) failAtIndex(state, window, &at, indices->data);
  return !(found & 2);
}
