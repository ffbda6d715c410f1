#include "softmax.h"

static void THNN_(LogSoftMax_row)(const real *x, real *y, int64_t channels)
{
  const real most = THNN_(softmax_rowMost)(x, channels);
  const real rest = (real)log(THNN_(softmax_rowSum)(x, most, channels));
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) y[c] = (x[c] - most) - rest;
}

static void THNN_(LogSoftMax_tile)(const THNNChannels *walk, int64_t task)
{
  const int n = (thnn_channelsCount(walk, task) + 15) & -16;
  const bool whole = walk->chunk == walk->channels;
  real *tile = thnn_scratch(sizeof(real) * (size_t)(walk->chunk * walk->width));
  real most[THNN_CHANNELS_WIDTH], rest[THNN_CHANNELS_WIDTH];
  double sum[THNN_CHANNELS_WIDTH];
  THNN_(softmax_tileMost)(walk, task, n, tile, most);
  THNN_(softmax_tileSum)(walk, task, n, tile, most, false, sum);
  SOFTMAX_FOR_POSITIONS(i) rest[i] = th_log((real)sum[i]);
  for (int64_t first = 0; first < walk->channels; first += walk->chunk) {
    const int64_t channels = whole ? walk->channels : thnn_channelsLoad(walk, task, 0, first, tile);
    for (int64_t c = 0; c < channels; c++) {
      real *x = tile + c * walk->width;
      SOFTMAX_FOR_POSITIONS(i) x[i] = (x[i] - most[i]) - rest[i];
    }
    thnn_channelsStore(walk, task, 1, first, tile);
  }
}

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_CHECK_CHANNELS(input);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  THNNChannels walk;
  thnn_channelsBegin(&walk, sizeof(real), 2, (const THNNTensor *const[]){input, output});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements)
  {
    if (!walk.rows) THNN_(LogSoftMax_tile)(&walk, task);
    for (int i = 0; walk.rows && i < thnn_channelsCount(&walk, task); i++)
      THNN_(LogSoftMax_row)(thnn_channelsRow(&walk, task, 0, i), thnn_channelsRow(&walk, task, 1, i), walk.channels);
  }
}

static void THNN_(LogSoftMax_gradRow)(const real *g, const real *y, real *dx, int64_t channels)
{
  double total = 0;
  THNN_PRAGMA(omp simd reduction(+ : total))
  for (int64_t c = 0; c < channels; c++) total += g[c];
  const real sum = (real)total;
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) dx[c] = g[c] - th_exp(y[c]) * sum;
}

static void THNN_(LogSoftMax_gradTile)(const THNNChannels *walk, int64_t task)
{
  const int n = (thnn_channelsCount(walk, task) + 15) & -16;
  const bool whole = walk->chunk == walk->channels;
  real *gradient = thnn_scratch(2 * sizeof(real) * (size_t)(walk->chunk * walk->width));
  real *result = gradient + walk->chunk * walk->width, sum[THNN_CHANNELS_WIDTH];
  double total[THNN_CHANNELS_WIDTH] = {0};
  for (int64_t first = 0; first < walk->channels; first += walk->chunk) {
    const int64_t channels = thnn_channelsLoad(walk, task, 0, first, gradient);
    for (int64_t c = 0; c < channels; c++) {
      const real *g = gradient + c * walk->width;
      SOFTMAX_FOR_POSITIONS(i) total[i] += g[i];
    }
  }
  SOFTMAX_FOR_POSITIONS(i) sum[i] = (real)total[i];
  for (int64_t first = 0; first < walk->channels; first += walk->chunk) {
    const int64_t channels = thnn_channelsLoad(walk, task, 1, first, result);
    if (!whole) thnn_channelsLoad(walk, task, 0, first, gradient);
    for (int64_t c = 0; c < channels; c++) {
      real *g = gradient + c * walk->width, *y = result + c * walk->width;
      SOFTMAX_FOR_POSITIONS(i) g[i] -= th_exp(y[i]) * sum[i];
    }
    thnn_channelsStore(walk, task, 2, first, gradient);
  }
}

void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                       THTensor *output)
{
  THNN_CHECK_CHANNELS(input);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_CHECK_SAME_SIZE(input, output);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, output);
  THNN_RETURN_IF_META(state);
  THNNChannels walk;
  thnn_channelsBegin(&walk, sizeof(real), 3, (const THNNTensor *const[]){gradOutput, output, gradInput});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements)
  {
    if (!walk.rows) THNN_(LogSoftMax_gradTile)(&walk, task);
    for (int i = 0; walk.rows && i < thnn_channelsCount(&walk, task); i++)
      THNN_(LogSoftMax_gradRow)(thnn_channelsRow(&walk, task, 0, i), thnn_channelsRow(&walk, task, 1, i),
                                thnn_channelsRow(&walk, task, 2, i), walk.channels);
  }
}
