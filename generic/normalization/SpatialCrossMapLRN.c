#include "modules/SpatialCrossMapLRN.h"
#include "runtime/integer.h"
#include "runtime/pieces.h"
#include "simd/vector_math.h"

/* Runs of lanes are neighbouring positions of a channel, or neighbouring channels of a pixel if channels are
   innermost. */

#define LANES_PER_TASK 1024

enum { BATCH, CHANNEL, ROW, COLUMN };

typedef struct Image {
  real *data;
  int64_t stride[4];
} Image;

typedef struct Normalization {
  int64_t size[4];
  int64_t before, after; /* channels of a window before and after its centre */
  real alpha, beta, k;   /* alpha is divided by the number of channels of a window */
} Normalization;

static Image image(const THTensor *t)
{
  Image m = {.data = TH_DATA(t)};
  for (int d = 0; d < t->ndim; d++) m.stride[d + 4 - t->ndim] = t->stride[d];
  return m;
}

static void check(THNNState *state, const THTensor *input, int size, double alpha, double beta, double k,
                  Normalization *l)
{
  THNN_CHECK(input->ndim == 3 || input->ndim == 4, input,
             "expected 4 dimensions (N, C, H, W) or 3 (C, H, W), got %s", THNN_shape(input));
  THNN_CHECK(size >= 1, size, "expected at least 1, got %d", size);
  *l = (Normalization){{1, 0, 0, 0}, size / 2, (size - 1) / 2, (real)(alpha / size), (real)beta, (real)k};
}

/* Merges the rows of an image into one if they are adjacent in all tensors. */
static void mergeRows(Normalization *l, Image *const *images, int count)
{
  for (int k = 0; k < count; k++)
    if (images[k]->stride[ROW] != l->size[COLUMN] * images[k]->stride[COLUMN]) return;
  l->size[COLUMN] *= l->size[ROW];
  l->size[ROW] = 1;
}

static ALWAYS_INLINE real power(real base, real exponent)
{
  return exponent == 0 ? 1 : th_exp(exponent * th_log(base));
}

/* Runs a statement for the lanes 0 <= i < n, vectorized if `unit`: the lanes of all tensors are contiguous. */
#define FOR_LANES(i, n, unit, ...)                  \
  do {                                              \
    if (unit) {                                     \
      THNN_PRAGMA(omp simd)                         \
      for (int64_t i = 0; i < (n); i++) __VA_ARGS__ \
    } else {                                        \
      for (int64_t i = 0; i < (n); i++) __VA_ARGS__ \
    }                                               \
  } while (0)

/* A run of n lanes: elements of tensor k from at[k] on, stride[k] apart. */
typedef struct Run {
  real *at[5];
  int64_t stride[5]; /* distance between lanes */
  int64_t channelStride[5];
  int64_t n;
  int count;
  bool unit;
} Run;

typedef void RunFunction(const Normalization *l, const Run *run, int64_t channel, bool alongChannels);

/* Calls `compute` for the runs of all images, which have the size of `tensor`; where lanes are channels a run is a pixel,
   otherwise a channel. */
static void forEachRun(Normalization normalization, const THTensor *tensor, Image *const *images, int count,
                       RunFunction *compute)
{
  Normalization *const l = &normalization;
  for (int d = 0; d < tensor->ndim; d++) l->size[d + 4 - tensor->ndim] = tensor->size[d];
  bool alongChannels = l->size[CHANNEL] > 1;
  for (int k = 0; k < count; k++) alongChannels = alongChannels && images[k]->stride[CHANNEL] == 1;
  mergeRows(l, images, count);
  const int64_t columns =
      alongChannels ? MAX(1, LANES_PER_TASK / l->size[CHANNEL]) : LANES_PER_TASK; /* per task */
  const int64_t blocks = ceilDivide(l->size[COLUMN], columns);
  THNN_PARALLEL_FOR(task, l->size[BATCH] * l->size[ROW] * blocks, elementCount(l->size)) {
    const int64_t n = task / blocks / l->size[ROW], h = task / blocks % l->size[ROW], w = task % blocks * columns;
    const int64_t end = MIN(w + columns, l->size[COLUMN]);
    Run run = {.n = alongChannels ? l->size[CHANNEL] : end - w, .count = count, .unit = true};
    for (int k = 0; k < count; k++) {
      const int64_t *s = images[k]->stride;
      run.at[k] = images[k]->data + n * s[BATCH] + h * s[ROW] + w * s[COLUMN];
      run.stride[k] = s[alongChannels ? CHANNEL : COLUMN];
      run.channelStride[k] = s[CHANNEL];
      run.unit = run.unit && run.stride[k] == 1;
    }
    const int64_t runs = alongChannels ? end - w : l->size[CHANNEL];
    for (int64_t i = 0; i < runs; i++) {
      compute(l, &run, i, alongChannels);
      for (int k = 0; k < count; k++) run.at[k] += images[k]->stride[alongChannels ? COLUMN : CHANNEL];
    }
  }
}

/* A loop over the shifts from -lower to upper. Channel + shift exists for the lanes [begin, end) of the run. */
#define FOR_WINDOW(l, run, channel, alongChannels, lower, upper, shift, begin, end)                          \
  const int64_t thnn_channels = (l)->size[CHANNEL];                                                          \
  const int64_t thnn_first = (alongChannels) ? MAX(-(lower), 1 - thnn_channels) : MAX(-(lower), -(channel)), \
                thnn_last = MIN(upper, (alongChannels) ? thnn_channels - 1 : thnn_channels - 1 - (channel)); \
  for (int64_t shift = thnn_first, begin = 0, end = 0;                                                       \
       shift <= thnn_last && (begin = (alongChannels) ? MAX(0, -shift) : 0,                                  \
                             end = (alongChannels) ? MIN((run)->n, (run)->n - shift) : (run)->n, true);      \
       shift++)

static void forwardRun(const Normalization *l, const Run *run, int64_t channel, bool alongChannels)
{
  const int64_t xs = run->stride[0], ys = run->stride[1], ss = run->stride[2];
  const real *x = run->at[0];
  real *const y = run->at[1], *const s = run->at[2];
  FOR_LANES(i, run->n, run->unit, { s[i * (run->unit ? 1 : ss)] = 0; });
  FOR_WINDOW(l, run, channel, alongChannels, l->before, l->after, shift, begin, end)
  {
    const real *const from = x + begin * xs + shift * run->channelStride[0];
    real *const to = s + begin * ss;
    if (run->unit) FOR_LANES(i, end - begin, true, { to[i] += from[i] * from[i]; });
    else FOR_LANES(i, end - begin, false, { to[i * ss] += from[i * xs] * from[i * xs]; });
  }
  const real alpha = l->alpha, beta = l->beta, k = l->k;
  if (run->unit)
    FOR_LANES(i, run->n, true, {
      s[i] = k + alpha * s[i];
      y[i] = x[i] * power(s[i], -beta);
    });
  else
    FOR_LANES(i, run->n, false, {
      s[i * ss] = k + alpha * s[i * ss];
      y[i * ys] = x[i * xs] * power(s[i * ss], -beta);
    });
}

void THNN_(SpatialCrossMapLRN_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *scales,
                                            int size, accreal alpha, accreal beta, accreal k)
{
  Normalization l;
  check(state, input, size, alpha, beta, k, &l);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  THNN_RESIZE_LIKE(scales, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(scales, input);
  THNN_CHECK_NO_OVERLAP(scales, output);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output), THNN_WRITTEN(scales)};
  THNN_BY_PIECES(state, t, input->ndim - 3, tensors, {
    Image x = image(t[0]), y = image(t[1]), s = image(t[2]), *const images[] = {&x, &y, &s};
    forEachRun(l, t[0], images, 3, forwardRun);
  });
}

static void backwardRun(const Normalization *l, const Run *run, int64_t channel, bool alongChannels)
{
  enum { X, G, DX, S, Y };
  const int64_t *st = run->stride, *cs = run->channelStride;
  const real *x = run->at[X], *g = run->at[G], *s = run->at[S], *y = run->at[Y];
  real *const dx = run->at[DX];
  FOR_LANES(i, run->n, run->unit, { dx[i * (run->unit ? 1 : st[DX])] = 0; });
  FOR_WINDOW(l, run, channel, alongChannels, l->after, l->before, shift, begin, end)
  {
    const real *const g1 = g + begin * st[G] + shift * cs[G], *const y1 = y + begin * st[Y] + shift * cs[Y];
    const real *const s1 = s + begin * st[S] + shift * cs[S];
    real *const to = dx + begin * st[DX];
    if (run->unit) FOR_LANES(i, end - begin, true, { to[i] += g1[i] * y1[i] / s1[i]; });
    else FOR_LANES(i, end - begin, false, { to[i * st[DX]] += g1[i * st[G]] * y1[i * st[Y]] / s1[i * st[S]]; });
  }
  const real beta = l->beta, factor = 2 * l->alpha * beta;
  if (run->unit) FOR_LANES(i, run->n, true, { dx[i] = g[i] * power(s[i], -beta) - factor * x[i] * dx[i]; });
  else
    FOR_LANES(i, run->n, false, {
      dx[i * st[DX]] = g[i * st[G]] * power(s[i * st[S]], -beta) - factor * x[i * st[X]] * dx[i * st[DX]];
    });
}

void THNN_(SpatialCrossMapLRN_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THTensor *scales, THTensor *output, int size,
                                               accreal alpha, accreal beta, accreal k)
{
  Normalization l;
  check(state, input, size, alpha, beta, k, &l);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_CHECK_SAME_SIZE(input, scales);
  THNN_CHECK_SAME_SIZE(input, output);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, scales);
  THNN_CHECK_NO_OVERLAP(gradInput, output);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_READ(gradOutput), THNN_WRITTEN(gradInput),
                                 THNN_READ(scales), THNN_READ(output)};
  THNN_BY_PIECES(state, t, input->ndim - 3, tensors, {
    Image x = image(t[0]), g = image(t[1]), dx = image(t[2]), s = image(t[3]), y = image(t[4]);
    Image *const images[] = {&x, &g, &dx, &s, &y};
    forEachRun(l, t[0], images, 5, backwardRun);
  });
}
