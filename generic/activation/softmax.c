#include "modules/LogSoftMax.h"
#include "modules/SoftMax.h"
#include "elementwise/softmax_walk.h"
#include "runtime/pieces.h"
#include "simd/vector_math.h"

/* SoftMax and LogSoftMax. Both subtract the maximum of the channels and sum exp(x - max). A NaN among the channels, or
   an infinite maximum, makes that sum NaN. Partial sums of SUM_BLOCK terms are added in double.

   Functions for one position run along its contiguous channels, functions for a tile have the positions in their lanes
   (softmax_walk.h). `logarithm` is a constant wherever it is passed, so that the compiler specializes the loops for
   each module. */

#define SUM_BLOCK 512

/* --- one position ----------------------------------------------------------------------------------------- */

/* Requires channels >= VL. */
static ALWAYS_INLINE real positionMax(const real *x, int64_t channels)
{
  vreal a = v_load(x), b = a, c = a, d = a;
  int64_t i = 0;
  for (; i + 4 * VL <= channels; i += 4 * VL) {
    a = v_max(v_load(x + i), a);
    b = v_max(v_load(x + i + VL), b);
    c = v_max(v_load(x + i + 2 * VL), c);
    d = v_max(v_load(x + i + 3 * VL), d);
  }
  for (; i + VL <= channels; i += VL) a = v_max(v_load(x + i), a);
  a = v_max(v_max(v_load(x + channels - VL), a), v_max(b, v_max(c, d)));
  real lane[VBYTES / sizeof(real)], max = -(real)INFINITY;
  v_store(lane, a);
  for (int l = 0; l < VL; l++) max = lane[l] > max ? lane[l] : max;
  return max;
}

/* Returns the sum of n terms exp(x - max), n a multiple of 16; stores the terms unless y is NULL. */
static inline real termSum(const real *x, real *y, real max, int n)
{
  real sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int i = 0; i < (n & -16); i++) {
    const real e = th_exp_le0(x[i] - max);
    if (y) y[i] = e;
    sum += e;
  }
  return sum;
}

static ALWAYS_INLINE double positionSum(const real *x, real *y, real max, int64_t channels)
{
  double sum = 0;
  int64_t c = 0;
  for (; c + SUM_BLOCK <= channels; c += SUM_BLOCK) sum += termSum(x + c, y ? y + c : NULL, max, SUM_BLOCK);
  const int n = (int)(channels - c), whole = n & -16;
  sum += termSum(x + c, y ? y + c : NULL, max, whole);
  if (whole == n) return sum;
  real last[16];
  for (int i = 0; i < 16; i++) last[i] = whole + i < n ? x[c + whole + i] : -(real)INFINITY;
  sum += termSum(last, last, max, 16);
  if (y) memcpy(y + c + whole, last, sizeof(real) * (size_t)(n - whole));
  return sum;
}

static ALWAYS_INLINE void positionOutput(const real *x, real *y, int64_t channels, bool logarithm)
{
  const real max = positionMax(x, channels);
  const double sum = positionSum(x, logarithm ? NULL : y, max, channels);
  if (logarithm) {
    const real logSum = (real)log(sum);
    THNN_PRAGMA(omp simd)
    for (int64_t c = 0; c < channels; c++) y[c] = (x[c] - max) - logSum;
  } else {
    const real scale = (real)(1 / sum);
    THNN_PRAGMA(omp simd)
    for (int64_t c = 0; c < channels; c++) y[c] *= scale;
  }
}

static inline void logGradInput(const real *g, const real *y, real *dx, real sum, int64_t n)
{
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < (n & -16); c++) dx[c] = g[c] - th_exp(y[c]) * sum;
}

static ALWAYS_INLINE void positionGradInput(const real *g, const real *y, real *dx, int64_t channels,
                                            bool logarithm)
{
  double total = 0;
  if (!logarithm) {
    THNN_PRAGMA(omp simd reduction(+ : total))
    for (int64_t c = 0; c < channels; c++) total += g[c] * y[c];
    const real dot = (real)total;
    THNN_PRAGMA(omp simd)
    for (int64_t c = 0; c < channels; c++) dx[c] = y[c] * (g[c] - dot);
    return;
  }
  THNN_PRAGMA(omp simd reduction(+ : total))
  for (int64_t c = 0; c < channels; c++) total += g[c];
  const real sum = (real)total;
  logGradInput(g, y, dx, sum, channels);
  const int64_t whole = channels & -16;
  real lastG[16] = {0}, lastY[16] = {0};
  memcpy(lastG, g + whole, sizeof(real) * (size_t)(channels - whole));
  memcpy(lastY, y + whole, sizeof(real) * (size_t)(channels - whole));
  logGradInput(lastG, lastY, lastG, sum, 16);
  memcpy(dx + whole, lastG, sizeof(real) * (size_t)(channels - whole));
}

/* --- a tile of positions ---------------------------------------------------------------------------------- */

#define TILE_VECTORS (SOFTMAX_TILE * sizeof(real) / VBYTES)
#define FOR_LANES(i, lanes) \
  THNN_PRAGMA(omp simd)     \
  for (int i = 0; i < ((lanes) & -16); i++)

/* Sets max[] to the maximum of each lane, and copies the channels to the cache. */
static ALWAYS_INLINE void tileMax(const SoftmaxTile *tile, int lanes, real *cache, real *max)
{
  vreal maxima[TILE_VECTORS];
#pragma GCC unroll 16
  for (int v = 0; v < lanes / VL; v++) maxima[v] = v_set1(-(real)INFINITY);
  for (int64_t c = 0; c < tile->channels; c++) {
    real *cached = cache + c * tile->cacheStride;
    const real *x = softmaxTileLoad(tile, 0, c, cached);
    softmaxTilePrefetch(tile, 0, c);
#pragma GCC unroll 16
    for (int v = 0; v < lanes / VL; v++) {
      const vreal value = v_load(x + v * VL);
      maxima[v] = v_max(value, maxima[v]);
      v_store(cached + v * VL, value);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < lanes / VL; v++) v_store(max + v * VL, maxima[v]);
}

/* If `replace`, the terms of the sum replace the cached channels. */
static ALWAYS_INLINE void tileSum(const SoftmaxTile *tile, int lanes, real *cache, const real *max, bool replace,
                                  double *sum)
{
  real partial[SOFTMAX_TILE] = {0};
  FOR_LANES(i, lanes) sum[i] = 0;
  for (int64_t c = 0; c < tile->channels; c++) {
    real *cached = cache + c * tile->cacheStride;
    const real *x = softmaxTileReload(tile, 0, c, cached);
    if (replace) FOR_LANES(i, lanes)
      {
        cached[i] = th_exp_le0(x[i] - max[i]);
        partial[i] += cached[i];
      }
    else FOR_LANES(i, lanes) partial[i] += th_exp_le0(x[i] - max[i]);
    if (c % SUM_BLOCK == SUM_BLOCK - 1 || c == tile->channels - 1) FOR_LANES(i, lanes)
      {
        sum[i] += partial[i];
        partial[i] = 0;
      }
  }
}

/* Sets dot[] to the sum of g * y of each lane, or to the sum of g if cacheY is NULL. Copies the channels to cacheG and
   cacheY: when tileGradInput reads them again, channels whose stride is a power of two are no longer in the caches of
   the processor. */
static ALWAYS_INLINE void tileDot(const SoftmaxTile *tile, int lanes, real *cacheG, real *cacheY, real *dot)
{
  double sum[SOFTMAX_TILE] = {0};
  for (int64_t first = 0, end; first < tile->channels; first = end) {
    end = first + SUM_BLOCK < tile->channels ? first + SUM_BLOCK : tile->channels;
    vreal partial[TILE_VECTORS] = {{0}};
    for (int64_t c = first; c < end; c++) {
      real *const cachedG = cacheG + c * tile->cacheStride;
      real *const cachedY = cacheY ? cacheY + c * tile->cacheStride : NULL;
      const real *g = softmaxTileLoad(tile, 0, c, cachedG),
                 *y = cacheY ? softmaxTileLoad(tile, 1, c, cachedY) : NULL;
      softmaxTilePrefetch(tile, 0, c);
      if (cacheY) softmaxTilePrefetch(tile, 1, c);
#pragma GCC unroll 16
      for (int v = 0; v < lanes / VL; v++) {
        const vreal slope = v_load(g + v * VL);
        v_store(cachedG + v * VL, slope);
        if (y) {
          const vreal value = v_load(y + v * VL);
          v_store(cachedY + v * VL, value);
          partial[v] += slope * value;
        } else {
          partial[v] += slope;
        }
      }
    }
    real partials[SOFTMAX_TILE];
#pragma GCC unroll 16
    for (int v = 0; v < lanes / VL; v++) v_store(partials + v * VL, partial[v]);
    FOR_LANES(i, lanes) sum[i] += partials[i];
  }
  FOR_LANES(i, lanes) dot[i] = (real)sum[i];
}

/* The destination of channel c of tensor k, the result: its memory, or the buffer, which tileStore copies into it. */
static ALWAYS_INLINE real *tileTarget(const SoftmaxTile *tile, int k, int64_t c, real *buffer)
{
  const bool inPlace = tile->operand[k].direct && !tile->nonTemporal;
  return inPlace ? (real *)(tile->operand[k].data + c * tile->operand[k].channel) : buffer;
}

/* Writes channel c of tensor k, the result. */
static ALWAYS_INLINE void tileStore(const SoftmaxTile *tile, int lanes, int k, int64_t c, const real *result)
{
  real *y = (real *)(tile->operand[k].data + c * tile->operand[k].channel);
  if (!tile->operand[k].direct) thnn_softmaxTileScatter(tile, k, c, result);
  else if (tile->nonTemporal && (uintptr_t)y % VBYTES == 0)
    for (int i = 0; i < lanes; i += VL) v_stream(y + i, v_load(result + i));
  else memcpy(y, result, sizeof(real) * (size_t)lanes);
}

static ALWAYS_INLINE void tileOutput(const SoftmaxTile *tile, int lanes, real *cache, bool logarithm)
{
  real max[SOFTMAX_TILE], scale[SOFTMAX_TILE], logSum[SOFTMAX_TILE], buffer[SOFTMAX_TILE];
  double sum[SOFTMAX_TILE];
  tileMax(tile, lanes, cache, max);
  tileSum(tile, lanes, cache, max, !logarithm, sum);
  if (logarithm) FOR_LANES(i, lanes) logSum[i] = th_log((real)sum[i]);
  else FOR_LANES(i, lanes) scale[i] = (real)(1 / sum[i]);
  for (int64_t c = 0; c < tile->channels; c++) {
    real *cached = cache + c * tile->cacheStride;
    const real *x = softmaxTileReload(tile, 0, c, cached);
    real *const y = tileTarget(tile, 1, c, buffer);
    if (logarithm) FOR_LANES(i, lanes) y[i] = (x[i] - max[i]) - logSum[i];
    else if (tile->cacheStride) FOR_LANES(i, lanes) y[i] = x[i] * scale[i]; /* x: the terms of the sum */
    else FOR_LANES(i, lanes) y[i] = th_exp_le0(x[i] - max[i]) * scale[i];
    if (y == buffer) tileStore(tile, lanes, 1, c, y);
  }
}

static ALWAYS_INLINE void tileGradInput(const SoftmaxTile *tile, int lanes, real *cacheG, real *cacheY,
                                        bool logarithm)
{
  real dot[SOFTMAX_TILE], buffer[SOFTMAX_TILE], result[SOFTMAX_TILE];
  tileDot(tile, lanes, cacheG, logarithm ? NULL : cacheY, dot);
  for (int64_t c = 0; c < tile->channels; c++) {
    const real *g = softmaxTileReload(tile, 0, c, cacheG + c * tile->cacheStride);
    const real *y = logarithm ? softmaxTileLoad(tile, 1, c, buffer)
                              : softmaxTileReload(tile, 1, c, cacheY + c * tile->cacheStride);
    if (logarithm) softmaxTilePrefetch(tile, 1, c);
    real *const dx = tileTarget(tile, 2, c, result);
    if (logarithm) FOR_LANES(i, lanes) dx[i] = g[i] - th_exp(y[i]) * dot[i];
    else FOR_LANES(i, lanes) dx[i] = y[i] * (g[i] - dot[i]);
    if (dx == result) tileStore(tile, lanes, 2, c, dx);
  }
}

/* --- tasks ------------------------------------------------------------------------------------------------ */

/* Nearly all tiles are full, so full tiles get loops of constant length. */

static ALWAYS_INLINE void taskOutput(const SoftmaxWalk *walk, int64_t task, bool logarithm)
{
  const SoftmaxTile tile = thnn_softmaxWalkTile(walk, task);
  if (walk->contiguousChannels) {
    for (int i = 0; i < tile.positions; i++)
      positionOutput(softmaxTileChannels(&tile, 0, i), softmaxTileChannels(&tile, 1, i), tile.channels, logarithm);
    return;
  }
  real *cache = thnn_scratch(walk->cacheBytes);
  if (tile.lanes == SOFTMAX_TILE) tileOutput(&tile, SOFTMAX_TILE, cache, logarithm);
  else tileOutput(&tile, tile.lanes, cache, logarithm);
}

static ALWAYS_INLINE void taskGradInput(const SoftmaxWalk *walk, int64_t task, bool logarithm)
{
  const SoftmaxTile tile = thnn_softmaxWalkTile(walk, task);
  if (walk->contiguousChannels) {
    for (int i = 0; i < tile.positions; i++)
      positionGradInput(softmaxTileChannels(&tile, 0, i), softmaxTileChannels(&tile, 1, i),
                        softmaxTileChannels(&tile, 2, i), tile.channels, logarithm);
    return;
  }
  char *cache = thnn_scratch((logarithm ? 1 : 2) * walk->cacheBytes);
  real *cacheG = (real *)cache, *cacheY = (real *)(cache + walk->cacheBytes);
  if (tile.lanes == SOFTMAX_TILE) tileGradInput(&tile, SOFTMAX_TILE, cacheG, cacheY, logarithm);
  else tileGradInput(&tile, tile.lanes, cacheG, cacheY, logarithm);
}

static void walkOutput(const THTensor *input, const THTensor *output, bool logarithm)
{
  SoftmaxWalk walk;
  thnn_softmaxWalkBegin(&walk, sizeof(real), 1, 2, (const THNNTensor *const[]){input, output});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    if (logarithm) taskOutput(&walk, task, true);
    else taskOutput(&walk, task, false);
  }
}

static void walkGradInput(const THTensor *gradOutput, const THTensor *output, const THTensor *gradInput,
                          bool logarithm)
{
  SoftmaxWalk walk;
  thnn_softmaxWalkBegin(&walk, sizeof(real), logarithm ? 1 : 2, 3,
                        (const THNNTensor *const[]){gradOutput, output, gradInput});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    if (logarithm) taskGradInput(&walk, task, true);
    else taskGradInput(&walk, task, false);
  }
}

/* The dimensions before the channels. */
static int sampleDims(const THTensor *tensor) { return tensor->ndim == 2 || tensor->ndim == 4; }

static void updateOutput(THNNState *state, THTensor *input, THTensor *output, bool logarithm)
{
  THNN_CHECK_CHANNELS(input);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, sampleDims(input), tensors, { walkOutput(t[0], t[1], logarithm); });
}

static void updateGradInput(THNNState *state, THTensor *gradOutput, THTensor *gradInput, THTensor *output,
                            bool logarithm)
{
  THNN_CHECK_CHANNELS(output);
  THNN_CHECK_SAME_SIZE(output, gradOutput);
  THNN_RESIZE_LIKE(gradInput, output);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, output);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_READ(output), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, sampleDims(output), tensors, { walkGradInput(t[0], t[1], t[2], logarithm); });
}

void THNN_(SoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  updateOutput(state, input, output, false);
}

void THNN_(SoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                    THTensor *output)
{
  (void)input;
  updateGradInput(state, gradOutput, gradInput, output, false);
}

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  updateOutput(state, input, output, true);
}

void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, THTensor *output)
{
  (void)input;
  updateGradInput(state, gradOutput, gradInput, output, true);
}
