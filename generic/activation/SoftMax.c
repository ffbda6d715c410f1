#include "modules/SoftMax.h"
#include "activation/softmax.h"

static void SoftMax_row(const real *x, real *y, int64_t channels)
{
  const real most = softmax_rowMost(x, channels);
  const real scale = (real)(1 / softmax_rowSum(x, y, most, channels));
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) y[c] *= scale;
}

SOFTMAX_INLINE void SoftMax_tileAs(const THNNTile *tile, int lanes, real *kept)
{
  real most[THNN_CHANNELS_WIDTH], scale[THNN_CHANNELS_WIDTH], y[THNN_CHANNELS_WIDTH];
  double sum[THNN_CHANNELS_WIDTH];
  softmax_tileMost(tile, lanes, kept, most);
  softmax_tileSum(tile, lanes, kept, most, true, sum);
  SOFTMAX_LANES(i, lanes) scale[i] = (real)(1 / sum[i]);
  for (int64_t c = 0; c < tile->channels; c++) {
    const real *row = kept + c * tile->step;
    if (tile->step) {
      SOFTMAX_LANES(i, lanes) y[i] = row[i] * scale[i];
    } else {
      const real *x = thnn_tileGet(tile, 0, c, kept);
      SOFTMAX_LANES(i, lanes) y[i] = th_exp_le0(x[i] - most[i]) * scale[i];
    }
    softmax_tilePut(tile, lanes, 1, c, y);
  }
}

static void SoftMax_tile(const THNNTile *tile, real *kept)
{
#define TILE(lanes) SoftMax_tileAs(tile, lanes, kept)
  SOFTMAX_TILE(tile, TILE);
#undef TILE
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
    if (!walk.rows) SoftMax_tile(&tile, thnn_scratch(walk.scratch));
    for (int i = 0; walk.rows && i < tile.positions; i++)
      SoftMax_row(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), walk.channels);
  }
}

static void SoftMax_gradRow(const real *g, const real *y, real *dx, int64_t channels)
{
  double sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t c = 0; c < channels; c++) sum += g[c] * y[c];
  const real dot = (real)sum;
  THNN_PRAGMA(omp simd)
  for (int64_t c = 0; c < channels; c++) dx[c] = y[c] * (g[c] - dot);
}

SOFTMAX_INLINE void SoftMax_gradTileAs(const THNNTile *tile, int lanes, real *kept_g, real *kept_y)
{
  real dot[THNN_CHANNELS_WIDTH], dx[THNN_CHANNELS_WIDTH];
  softmax_tileDot(tile, lanes, kept_g, kept_y, dot);
  for (int64_t c = 0; c < tile->channels; c++) {
    const real *g = thnn_tileAgain(tile, 0, c, kept_g + c * tile->step);
    const real *y = thnn_tileAgain(tile, 1, c, kept_y + c * tile->step);
    SOFTMAX_LANES(i, lanes) dx[i] = y[i] * (g[i] - dot[i]);
    softmax_tilePut(tile, lanes, 2, c, dx);
  }
}

static void SoftMax_gradTile(const THNNTile *tile, real *kept_g, real *kept_y)
{
#define TILE(lanes) SoftMax_gradTileAs(tile, lanes, kept_g, kept_y)
  SOFTMAX_TILE(tile, TILE);
#undef TILE
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
      SoftMax_gradTile(&tile, (real *)kept, (real *)(kept + walk.scratch));
    }
    for (int i = 0; walk.rows && i < tile.positions; i++)
      SoftMax_gradRow(thnn_tileRow(&tile, 0, i), thnn_tileRow(&tile, 1, i), thnn_tileRow(&tile, 2, i),
                      walk.channels);
  }
}
