/* What SoftMax and LogSoftMax share: the largest channel and the sum of exp(channel - largest), of one row of
   channels or of all positions of a tile. NaN and an infinite maximum end up in the sum. No include guard. */

#include "channels.h"
#include "vector_math.h"

/* Float sums are handed on to double after this many terms. */
#define SOFTMAX_TERMS 128

static inline real THNN_(softmax_rowMost)(const real *x, int64_t channels)
{
  vreal a = v_load(x), b = a, c = a, d = a; /* the walk makes rows of at least two vectors */
  int64_t i = 0;
  for (; i + 4 * VL <= channels; i += 4 * VL) {
    a = v_max(v_load(x + i), a);
    b = v_max(v_load(x + i + VL), b);
    c = v_max(v_load(x + i + 2 * VL), c);
    d = v_max(v_load(x + i + 3 * VL), d);
  }
  for (; i + VL <= channels; i += VL) a = v_max(v_load(x + i), a);
  a = v_max(v_max(v_load(x + channels - VL), a), v_max(b, v_max(c, d)));
  real lane[VBYTES / sizeof(real)], most = -(real)INFINITY;
  v_store(lane, a);
  for (int l = 0; l < VL; l++) most = lane[l] > most ? lane[l] : most;
  return most;
}

static inline double THNN_(softmax_rowSum)(const real *x, real most, int64_t channels)
{
  double sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t c = 0; c < channels; c++) sum += th_exp_le0(x[c] - most);
  return sum;
}

/* The columns of a tile are computed in whole vectors. */
#define SOFTMAX_FOR_POSITIONS(i)                                                                             \
  THNN_PRAGMA(omp simd)                                                                                      \
  for (int i = 0; i < (n & -16); i++)

/* Loads the tile of operand 0, the last part of it where it comes in parts. */
static inline void THNN_(softmax_tileMost)(const THNNChannels *walk, int64_t task, int n, real *tile, real *most)
{
  for (int i = 0; i < n; i++) most[i] = -(real)INFINITY;
  for (int64_t first = 0; first < walk->channels; first += walk->chunk) {
    const int64_t channels = thnn_channelsLoad(walk, task, 0, first, tile);
    for (int64_t c = 0; c < channels; c++) {
      const real *x = tile + c * walk->width;
      SOFTMAX_FOR_POSITIONS(i) most[i] = x[i] > most[i] ? x[i] : most[i];
    }
  }
}

/* With `keep` the terms replace the channels, in the tile if that is whole, else in operand 1. */
static inline void THNN_(softmax_tileSum)(const THNNChannels *walk, int64_t task, int n, real *tile, const real *most,
                                          bool keep, double *sum)
{
  const bool whole = walk->chunk == walk->channels;
  for (int i = 0; i < n; i++) sum[i] = 0;
  for (int64_t first = 0; first < walk->channels; first += walk->chunk) {
    const int64_t channels = whole ? walk->channels : thnn_channelsLoad(walk, task, 0, first, tile);
    for (int64_t c = 0; c < channels;) {
      real part[THNN_CHANNELS_WIDTH] = {0};
      for (int64_t end = c + SOFTMAX_TERMS < channels ? c + SOFTMAX_TERMS : channels; c < end; c++) {
        real *x = tile + c * walk->width;
        SOFTMAX_FOR_POSITIONS(i)
        {
          const real e = th_exp_le0(x[i] - most[i]);
          if (keep) x[i] = e;
          part[i] += e;
        }
      }
      SOFTMAX_FOR_POSITIONS(i) sum[i] += part[i];
    }
    if (keep && !whole) thnn_channelsStore(walk, task, 1, first, tile);
  }
}
