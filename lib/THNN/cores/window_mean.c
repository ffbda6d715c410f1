#include "window.h"

/* The taps of each lane, summed by rows of the window and divided by divisor, times `divisors` lane by lane if
   there are any. */
WINDOW_INLINE void V_(meanBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *taps, real divisor,
                                 const real *divisors, real *y)
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
      for (int v = 0; v < vectors; v++) sum[v] += V_(loadLanes)(tap + first[v], lanes);
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

/* The same with a weight for each tap instead of a divisor for all. */
WINDOW_INLINE void V_(spreadBlock)(const int64_t *first, int vectors, int lanes, const V_(Taps) *taps,
                                   const real *row_weight, const real *col_weight, real *x)
{
  vreal total[WINDOW_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) total[v] = (vreal){0};
  for (int64_t r = 0; r < taps->rows; r++)
    for (int64_t c = 0; c < taps->cols; c++) {
      const real *tap = taps->row[r] + taps->col[c];
      vreal weight = v_set1(row_weight[r] * col_weight[c]);
#pragma GCC unroll 4
      for (int v = 0; v < vectors; v++) total[v] += V_(loadLanes)(tap + first[v], lanes) * weight;
    }
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) V_(storeLanes)(x + first[v], total[v], lanes);
}

/* sum += weight * x, or sum = weight * x to `begin` with; weights may also differ by element. */
static void V_(addRow)(int64_t n, bool begin, const real *x, int64_t step, real weight, const real *weights, real *sum)
{
  if (weights != NULL && step == 1) {
    if (begin)
      for (int64_t i = 0; i < n; i++) sum[i] = x[i] * (weights[i] * weight);
    else
      for (int64_t i = 0; i < n; i++) sum[i] += x[i] * (weights[i] * weight);
  } else if (step == 1) {
    if (begin) memcpy(sum, x, sizeof(real) * (size_t)n);
    else
      for (int64_t i = 0; i < n; i++) sum[i] += x[i];
  } else {
    for (int64_t i = 0; i < n; i++)
      sum[i] = (begin ? 0 : sum[i]) + x[i * step] * (weights ? weights[i] * weight : weight);
  }
}

typedef struct V_(MeanBuffers) {
  real *sum, *phases, *out, *by;
  int64_t *begin;
  V_(Taps) taps;
  real *rowWeight, *colWeight;
} V_(MeanBuffers);

/* --- forward ----------------------------------------------------------------------------------------------- */

static size_t V_(meanRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *phases,
                                  V_(MeanBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  b->sum = thnn_piece(&pieces, (double)window->w.input, sizeof(real));
  b->phases = thnn_piece(&pieces, (double)phases->stride * (double)phases->pitch, sizeof(real));
  b->out = thnn_piece(&pieces, (double)window->w.output, sizeof(real));
  b->by = thnn_piece(&pieces, (double)window->w.output, sizeof(real));
  b->taps.row = thnn_piece(&pieces, 1, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, (double)window->w.kernel, sizeof(int64_t));
  return (size_t)pieces.bytes;
}

/* Runs of output columns: the rows of the windows are summed first, that sum is split, and its taps are summed. */
static bool V_(meanRows)(const THNNWindow *window, bool count_pad, const THNNImages *x, const real *input,
                         const THNNImages *y, real *output)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const THNNPhases phases = thnn_phasesOfInput(w);
  V_(MeanBuffers) sizes;
  const size_t bytes = V_(meanRowsBuffers)(NULL, window, &phases, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->output, row_size = w->input * (h->kernel < h->input ? h->kernel : h->input);
  const int64_t per_task = thnn_perTask(row_size);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * row_size)
  {
    V_(MeanBuffers) b;
    V_(meanRowsBuffers)(thnn_scratch(bytes), window, &phases, &b);
    V_(fill)(b.phases, phases.stride * phases.pitch, 0);
    b.taps.rows = 1;
    b.taps.row[0] = b.phases;
    b.taps.cols = w->kernel;
    for (int64_t k = 0; k < w->kernel; k++) b.taps.col[k] = thnn_phasesTap(&phases, w, k);
    for (int64_t j = 0; j < w->output; j++) b.by[j] = (real)thnn_windowDivisor(w, j, count_pad);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t plane = row / h->output, o = row % h->output;
      const real *from = input + thnn_plane(x, plane) + thnn_windowStart(h, o) * x->sh;
      int64_t first, k_end;
      thnn_windowTaps(h, o, &first, &k_end);
      if (first >= k_end) V_(fill)(b.sum, w->input, 0);
      for (int64_t k = first; k < k_end; k++)
        V_(addRow)(w->input, k == first, from + k * x->sh, x->sw, 1, NULL, b.sum);
      V_(split)(&phases, b.sum, w->input, 1, b.phases);
      real *to = output + thnn_plane(y, plane) + o * y->sh, *out = y->sw == 1 ? to : b.out;
      WINDOW_RUN(w->output, V_(meanBlock), &b.taps, (real)thnn_windowDivisor(h, o, count_pad), b.by, out);
      if (out != to)
        for (int64_t j = 0; j < w->output; j++) to[j * y->sw] = out[j];
    }
  }
  return true;
}

static size_t V_(meanPixelsBuffers)(void *memory, const THNNWindow *window, V_(MeanBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *h = &window->h, *w = &window->w;
  b->taps.row = thnn_piece(&pieces, (double)(h->kernel < h->input ? h->kernel : h->input), sizeof(real *));
  b->taps.col = thnn_piece(&pieces, (double)(w->kernel < w->input ? w->kernel : w->input), sizeof(int64_t));
  return (size_t)pieces.bytes;
}

/* Runs of channels. */
static bool V_(meanPixels)(const THNNWindow *window, bool count_pad, const THNNImages *x, const real *input,
                           const THNNImages *y, real *output)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  V_(MeanBuffers) sizes;
  const size_t bytes = V_(meanPixelsBuffers)(NULL, window, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t pixels = x->n * h->output * w->output, per_task = thnn_perTask(x->c * 4);
  THNN_PARALLEL_FOR(task, (pixels + per_task - 1) / per_task, pixels * x->c)
  {
    V_(MeanBuffers) b;
    V_(meanPixelsBuffers)(thnn_scratch(bytes), window, &b);
    const int64_t end = pixels < (task + 1) * per_task ? pixels : (task + 1) * per_task;
    int64_t pixel = task * per_task, j = pixel % w->output, row = pixel / w->output;
    for (; pixel < end; j = 0, row++) {
      const int64_t n = row / h->output, o = row % h->output, divisor = thnn_windowDivisor(h, o, count_pad);
      int64_t k, k_end;
      thnn_windowTaps(h, o, &k, &k_end);
      for (b.taps.rows = 0; k < k_end; k++)
        b.taps.row[b.taps.rows++] = input + n * x->sn + (thnn_windowStart(h, o) + k) * x->sh;
      for (; j < w->output && pixel < end; j++, pixel++) {
        thnn_windowTaps(w, j, &k, &k_end);
        for (b.taps.cols = 0; k < k_end; k++) b.taps.col[b.taps.cols++] = (thnn_windowStart(w, j) + k) * x->sw;
        const real by = (real)divisor * (real)thnn_windowDivisor(w, j, count_pad);
        WINDOW_RUN(x->c, V_(meanBlock), &b.taps, by, NULL, output + n * y->sn + o * y->sh + j * y->sw);
      }
    }
  }
  return true;
}

/* One output after the other: geometries too large for scratch. */
static void V_(meanPlain)(const THNNWindow *window, bool count_pad, const THNNImages *x, const real *input,
                          const THNNImages *y, real *output)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const int64_t rows = x->n * x->c * h->output;
  THNN_PARALLEL_FOR(row, rows, rows * w->input)
  {
    const int64_t plane = row / h->output, o = row % h->output;
    const real *from = input + thnn_plane(x, plane) + thnn_windowStart(h, o) * x->sh;
    int64_t r0, r_end;
    thnn_windowTaps(h, o, &r0, &r_end);
    for (int64_t j = 0; j < w->output; j++) {
      int64_t c0, c_end;
      thnn_windowTaps(w, j, &c0, &c_end);
      accreal sum = 0;
      for (int64_t r = r0; r < r_end; r++)
        for (int64_t c = c0; c < c_end; c++) sum += from[r * x->sh + (thnn_windowStart(w, j) + c) * x->sw];
      sum /= (accreal)thnn_windowDivisor(h, o, count_pad) * (accreal)thnn_windowDivisor(w, j, count_pad);
      output[thnn_plane(y, plane) + o * y->sh + j * y->sw] = (real)sum;
    }
  }
}

void THNN_(windowMean)(const THNNWindow *window, bool count_pad, const THTensor *input, THTensor *output)
{
  const THNNImages x = thnn_images(input), y = thnn_images(output);
  const real *from = TH_DATA(input);
  real *to = TH_DATA(output);
  const bool pixels = thnn_channelsInside(&x) && thnn_channelsInside(&y);
  if (!(pixels ? V_(meanPixels)(window, count_pad, &x, from, &y, to)
               : V_(meanRows)(window, count_pad, &x, from, &y, to)))
    V_(meanPlain)(window, count_pad, &x, from, &y, to);
}

/* --- backward ---------------------------------------------------------------------------------------------- */

static size_t V_(spreadRowsBuffers)(void *memory, const THNNWindow *window, const THNNPhases *margins,
                                    V_(MeanBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  const THNNAxis *w = &window->w;
  b->sum = thnn_piece(&pieces, (double)margins->pitch, sizeof(real));
  b->phases = thnn_piece(&pieces, (double)w->input + (double)w->stride, sizeof(real));
  b->by = thnn_piece(&pieces, (double)w->output, sizeof(real));
  b->begin = thnn_piece(&pieces, (double)w->stride + 1, sizeof(int64_t));
  b->taps.row = thnn_piece(&pieces, 1, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, (double)w->kernel, sizeof(int64_t));
  b->colWeight = thnn_piece(&pieces, (double)w->kernel, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of input columns of one phase: the rows of gradOutput that see the row are summed with their weights, then
   each column collects its taps from that sum. Rows seen by the same outputs are the same. */
static bool V_(spreadRows)(const THNNWindow *window, bool count_pad, const THNNImages *g, const real *gradOutput,
                           const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const THNNPhases margins = thnn_phasesOfOutput(w);
  const int64_t columns = (w->input + w->stride - 1) / w->stride;
  V_(MeanBuffers) sizes;
  const size_t bytes = V_(spreadRowsBuffers)(NULL, window, &margins, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * x->c * h->input, per_task = thnn_perTask(w->input);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input)
  {
    V_(MeanBuffers) b;
    V_(spreadRowsBuffers)(thnn_scratch(bytes), window, &margins, &b);
    V_(fill)(b.sum, margins.pitch, 0);
    V_(fill)(b.colWeight, w->kernel, 1);
    b.begin[0] = 0;
    for (int64_t q = 0; q < w->stride; q++) {
      b.begin[q + 1] = b.begin[q];
      for (int64_t k = w->kernel - 1; k >= 0; k--) {
        int64_t place = thnn_phasesSeen(&margins, w, q, k);
        if (place >= 0) b.taps.col[b.begin[q + 1]++] = place;
      }
    }
    for (int64_t j = 0; j < w->output; j++) b.by[j] = 1 / (real)thnn_windowDivisor(w, j, count_pad);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0, seen_low = -1, seen_high = -1;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t plane = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0, seen_low = -1;
      thnn_windowSlide(h, i, &low, &high);
      if (low != seen_low || high != seen_high) {
        seen_low = low;
        seen_high = high;
        const real *from = gradOutput + thnn_plane(g, plane);
        real *sum = b.sum + margins.left;
        if (low == high) V_(fill)(sum, w->output, 0);
        for (int64_t o = low; o < high; o++)
          V_(addRow)(w->output, o == low, from + o * g->sh, g->sw, 1 / (real)thnn_windowDivisor(h, o, count_pad),
                     b.by, sum);
        V_(Taps) taps = b.taps;
        const real one = 1;
        taps.rows = 1;
        taps.row[0] = b.sum;
        for (int64_t q = 0; q < w->stride && q < w->input; q++) {
          taps.cols = b.begin[q + 1] - b.begin[q];
          taps.col = b.taps.col + b.begin[q];
          WINDOW_RUN((w->input - q + w->stride - 1) / w->stride, V_(spreadBlock), &taps, &one, b.colWeight,
                     b.phases + q * columns);
        }
      }
      V_(merge)(w->stride, columns, b.phases, w->input, x->sw, gradInput + thnn_plane(x, plane) + i * x->sh);
    }
  }
  return true;
}

static size_t V_(spreadPixelsBuffers)(void *memory, const THNNWindow *window, int64_t packed, V_(MeanBuffers) *b)
{
  THNNPieces pieces = {memory, 0};
  double rows = (double)thnn_windowOverlap(&window->h), cols = (double)thnn_windowOverlap(&window->w);
  b->sum = thnn_piece(&pieces, rows * cols * (double)packed, sizeof(real));
  b->taps.row = thnn_piece(&pieces, rows, sizeof(real *));
  b->taps.col = thnn_piece(&pieces, cols, sizeof(int64_t));
  b->rowWeight = thnn_piece(&pieces, rows, sizeof(real));
  b->colWeight = thnn_piece(&pieces, cols, sizeof(real));
  return (size_t)pieces.bytes;
}

/* Runs of channels. A gradOutput of another layout is packed pixel by pixel. */
static bool V_(spreadPixels)(const THNNWindow *window, bool count_pad, const THNNImages *g, const real *gradOutput,
                             const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const int64_t packed = g->sc == 1 ? 0 : x->c;
  V_(MeanBuffers) sizes;
  const size_t bytes = V_(spreadPixelsBuffers)(NULL, window, packed, &sizes);
  if (bytes > THNN_SCRATCH_LIMIT) return false;

  const int64_t rows = x->n * h->input, per_task = thnn_perTask(w->input * x->c);
  THNN_PARALLEL_FOR(task, (rows + per_task - 1) / per_task, rows * w->input * x->c)
  {
    V_(MeanBuffers) b;
    V_(spreadPixelsBuffers)(thnn_scratch(bytes), window, packed, &b);
    const int64_t end = rows < (task + 1) * per_task ? rows : (task + 1) * per_task;
    int64_t low = 0, high = 0;
    for (int64_t row = task * per_task; row < end; row++) {
      const int64_t n = row / h->input, i = row % h->input;
      if (i == 0) low = high = 0;
      thnn_windowSlide(h, i, &low, &high);
      b.taps.rows = high - low;
      for (int64_t o = low; o < high; o++) b.rowWeight[o - low] = 1 / (real)thnn_windowDivisor(h, o, count_pad);
      int64_t left = 0, right = 0, seen_left = -1, seen_right = -1;
      for (int64_t j = 0; j < w->input; j++) {
        thnn_windowSlide(w, j, &left, &right);
        if (left != seen_left || right != seen_right) {
          seen_left = left;
          seen_right = right;
          b.taps.cols = right - left;
          for (int64_t o = left; o < right; o++) {
            b.taps.col[o - left] = o * g->sw;
            b.colWeight[o - left] = 1 / (real)thnn_windowDivisor(w, o, count_pad);
          }
          for (int64_t o = low; o < high; o++) {
            const real *from = gradOutput + n * g->sn + o * g->sh;
            b.taps.row[o - low] = from;
            if (!packed) continue;
            real *to = b.sum + (o - low) * b.taps.cols * packed;
            b.taps.row[o - low] = to;
            for (int64_t k = 0; k < b.taps.cols; k++)
              for (int64_t c = 0; c < packed; c++) to[k * packed + c] = from[b.taps.col[k] + c * g->sc];
          }
          for (int64_t k = 0; k < b.taps.cols && packed; k++) b.taps.col[k] = k * packed;
        }
        WINDOW_RUN(x->c, V_(spreadBlock), &b.taps, b.rowWeight, b.colWeight,
                   gradInput + n * x->sn + i * x->sh + j * x->sw);
      }
    }
  }
  return true;
}

/* One input after the other. */
static void V_(spreadPlain)(const THNNWindow *window, bool count_pad, const THNNImages *g, const real *gradOutput,
                            const THNNImages *x, real *gradInput)
{
  const THNNAxis *h = &window->h, *w = &window->w;
  const int64_t planes = x->n * x->c;
  THNN_PARALLEL_FOR(plane, planes, planes * h->input * w->input)
  {
    const real *from = gradOutput + thnn_plane(g, plane);
    for (int64_t i = 0, low = 0, high = 0; i < h->input; i++) {
      thnn_windowSlide(h, i, &low, &high);
      for (int64_t j = 0, left = 0, right = 0; j < w->input; j++) {
        thnn_windowSlide(w, j, &left, &right);
        accreal sum = 0;
        for (int64_t r = low; r < high; r++)
          for (int64_t c = left; c < right; c++)
            sum += from[r * g->sh + c * g->sw] / ((accreal)thnn_windowDivisor(h, r, count_pad) *
                                                  (accreal)thnn_windowDivisor(w, c, count_pad));
        gradInput[thnn_plane(x, plane) + i * x->sh + j * x->sw] = (real)sum;
      }
    }
  }
}

void THNN_(windowMeanBackward)(const THNNWindow *window, bool count_pad, const THTensor *gradOutput,
                               THTensor *gradInput)
{
  const THNNImages g = thnn_images(gradOutput), x = thnn_images(gradInput);
  const real *from = TH_DATA(gradOutput);
  real *to = TH_DATA(gradInput);
  if (!(thnn_channelsInside(&x) ? V_(spreadPixels)(window, count_pad, &g, from, &x, to)
                                : V_(spreadRows)(window, count_pad, &g, from, &x, to)))
    V_(spreadPlain)(window, count_pad, &g, from, &x, to);
}
