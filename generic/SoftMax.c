#include "softmax.h"

static void THNN_(SoftMax_row)(const real *x, real *y, int64_t channels)
{
  const real most = THNN_(softmax_rowMost)(x, channels);
  const real scale = (real)(1 / THNN_(softmax_rowSum)(x, y, most, channels));
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) y[c] *= scale;
}

static void THNN_(SoftMax_tile)(const THNNTile *tile, real *kept)
{
  real most[THNN_CHANNELS_WIDTH], scale[THNN_CHANNELS_WIDTH];
  double sum[THNN_CHANNELS_WIDTH];
  THNN_(softmax_tileMost)(tile, kept, most);
  THNN_(softmax_tileSum)(tile, kept, most, true, sum);
  SOFTMAX_FOR(i, tile->lanes) scale[i] = (real)(1 / sum[i]);
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step, *y = thnn_tileOut(tile, 1, c, row);
    if (tile->step == 0) {
      const real *x = thnn_tileGet(tile, 0, c, row);
      SOFTMAX_FOR(i, tile->lanes) row[i] = th_exp_le0(x[i] - most[i]);
    }
    SOFTMAX_FOR(i, tile->lanes) y[i] = row[i] * scale[i];
    thnn_tilePut(tile, 1, c, y);
  }
}

void THNN_(SoftMax_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_CHECK_CHANNELS(input);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  THNNChannels walk;
  thnn_channelsBegin(&walk, sizeof(real), 1, 2, (const THNNTensor *const[]){input, output});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    const THNNTile tile = thnn_channelsTile(&walk, task);
    if (!walk.rows) THNN_(SoftMax_tile)(&tile, thnn_scratch(walk.scratch));
    for (int i = 0; walk.rows && i < tile.positions; i++)
      THNN_(SoftMax_row)(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), walk.channels);
  }
}

static void THNN_(SoftMax_gradRow)(const real *g, const real *y, real *dx, int64_t channels)
{
  double sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t c = 0; c < channels; c++) sum += g[c] * y[c];
  const real dot = (real)sum;
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) dx[c] = y[c] * (g[c] - dot);
}

static void THNN_(SoftMax_gradTile)(const THNNTile *tile, real *kept_g, real *kept_y)
{
  real dot[THNN_CHANNELS_WIDTH], part[THNN_CHANNELS_WIDTH] = {0};
  double sum[THNN_CHANNELS_WIDTH] = {0};
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row_g = kept_g + c * tile->step, *row_y = kept_y + c * tile->step;
    const real *g = thnn_tileGet(tile, 0, c, row_g), *y = thnn_tileGet(tile, 1, c, row_y);
    SOFTMAX_FOR(i, tile->lanes)
    {
      part[i] += g[i] * y[i];
      row_g[i] = g[i];
      row_y[i] = y[i];
    }
    if (c % SOFTMAX_TERMS == SOFTMAX_TERMS - 1 || c == tile->channels - 1) SOFTMAX_FOR(i, tile->lanes)
      {
        sum[i] += part[i];
        part[i] = 0;
      }
  }
  SOFTMAX_FOR(i, tile->lanes) dot[i] = (real)sum[i];
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row_g = kept_g + c * tile->step, *row_y = kept_y + c * tile->step;
    const real *g = tile->step ? row_g : thnn_tileGet(tile, 0, c, row_g);
    const real *y = tile->step ? row_y : thnn_tileGet(tile, 1, c, row_y);
    real *dx = thnn_tileOut(tile, 2, c, row_g);
    SOFTMAX_FOR(i, tile->lanes) dx[i] = y[i] * (g[i] - dot[i]);
    thnn_tilePut(tile, 2, c, dx);
  }
}

void THNN_(SoftMax_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
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
  thnn_channelsBegin(&walk, sizeof(real), 2, 3, (const THNNTensor *const[]){gradOutput, output, gradInput});
  THNN_PARALLEL_FOR(task, walk.tasks, walk.elements) {
    const THNNTile tile = thnn_channelsTile(&walk, task);
    if (!walk.rows) {
      char *kept = thnn_scratch(2 * walk.scratch);
      THNN_(SoftMax_gradTile)(&tile, (real *)kept, (real *)(kept + walk.scratch));
    }
    for (int i = 0; walk.rows && i < tile.positions; i++)
      THNN_(SoftMax_gradRow)(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), thnn_tileRow(&tile, 2, i),
                             walk.channels);
  }
}
