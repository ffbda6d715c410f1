#include "modules/LogSoftMax.h"
#include "activation/softmax.h"

static void LogSoftMax_row(const real *x, real *y, int64_t channels)
{
  const real most = softmax_rowMost(x, channels);
  const real rest = (real)log(softmax_rowSum(x, NULL, most, channels));
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) y[c] = (x[c] - most) - rest;
}

SOFTMAX_INLINE void LogSoftMax_tileAs(const THNNTile *tile, int lanes, real *kept)
{
  real most[THNN_CHANNELS_WIDTH], rest[THNN_CHANNELS_WIDTH], y[THNN_CHANNELS_WIDTH];
  double sum[THNN_CHANNELS_WIDTH];
  softmax_tileMost(tile, lanes, kept, most);
  softmax_tileSum(tile, lanes, kept, most, false, sum);
  SOFTMAX_LANES(i, lanes) rest[i] = th_log((real)sum[i]);
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step;
    const real *x = tile->step ? row : thnn_tileGet(tile, 0, c, row);
    SOFTMAX_LANES(i, lanes) y[i] = (x[i] - most[i]) - rest[i];
    softmax_tilePut(tile, lanes, 1, c, y);
  }
}

static void LogSoftMax_tile(const THNNTile *tile, real *kept)
{
#define TILE(lanes) LogSoftMax_tileAs(tile, lanes, kept)
  SOFTMAX_TILE(tile, TILE);
#undef TILE
}

void THNN_(LogSoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_CHECK_CHANNELS(input);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  THNNChannels walk;
  thnn_channelsBegin(&walk, sizeof(real), 1, 2, (const THNNTensor *const[]){input, output});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    const THNNTile tile = thnn_channelsTile(&walk, task);
    if (!walk.rows) LogSoftMax_tile(&tile, thnn_scratch(walk.scratch));
    for (int i = 0; walk.rows && i < tile.positions; i++)
      LogSoftMax_row(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), walk.channels);
  }
}

static inline void LogSoftMax_gradPart(const real *g, const real *y, real *dx, real sum, int64_t n)
{
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < (n & -16); c++) dx[c] = g[c] - th_exp(y[c]) * sum;
}

static void LogSoftMax_gradRow(const real *g, const real *y, real *dx, int64_t channels)
{
  double total = 0;
  THNN_PRAGMA(omp simd reduction(+ : total))
  for (int64_t c = 0; c < channels; c++) total += g[c];
  const real sum = (real)total;
  LogSoftMax_gradPart(g, y, dx, sum, channels);
  const int64_t whole = channels & -16;
  real last_g[16] = {0}, last_y[16] = {0};
  memcpy(last_g, g + whole, sizeof(real) * (size_t)(channels - whole));
  memcpy(last_y, y + whole, sizeof(real) * (size_t)(channels - whole));
  LogSoftMax_gradPart(last_g, last_y, last_g, sum, 16);
  memcpy(dx + whole, last_g, sizeof(real) * (size_t)(channels - whole));
}

SOFTMAX_INLINE void LogSoftMax_gradTileAs(const THNNTile *tile, int lanes, real *kept)
{
  real sum[THNN_CHANNELS_WIDTH], dx[THNN_CHANNELS_WIDTH], row_y[THNN_CHANNELS_WIDTH];
  softmax_tileDot(tile, lanes, kept, NULL, sum);
  for (int64_t c = 0; c < tile->channels; c++) {
    const real *g = thnn_tileAgain(tile, 0, c, kept + c * tile->step), *y = thnn_tileGet(tile, 1, c, row_y);
    SOFTMAX_LANES(i, lanes) dx[i] = g[i] - th_exp(y[i]) * sum[i];
    softmax_tilePut(tile, lanes, 2, c, dx);
  }
}

static void LogSoftMax_gradTile(const THNNTile *tile, real *kept)
{
#define TILE(lanes) LogSoftMax_gradTileAs(tile, lanes, kept)
  SOFTMAX_TILE(tile, TILE);
#undef TILE
}

void THNN_(LogSoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                       THTensor *gradInput, THTensor *output)
{
  THNN_CHECK_CHANNELS(input);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_CHECK_SAME_SIZE(input, output);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, output);
  THNN_RETURN_IF_META(state);
  THNNChannels walk;
  thnn_channelsBegin(&walk, sizeof(real), 1, 3, (const THNNTensor *const[]){gradOutput, output, gradInput});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    const THNNTile tile = thnn_channelsTile(&walk, task);
    if (!walk.rows) LogSoftMax_gradTile(&tile, thnn_scratch(walk.scratch));
    for (int i = 0; walk.rows && i < tile.positions; i++)
      LogSoftMax_gradRow(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), thnn_tileRow(&tile, 2, i),
                         walk.channels);
  }
}
