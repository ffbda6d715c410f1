/* What SoftMax and LogSoftMax share: the largest channel and the sum of exp(channel - largest), of one row of channels
   or of all positions of a tile. NaN, and an infinity as the largest, end up in the sum as NaN. Float sums are handed
   on to double after SOFTMAX_TERMS terms. No include guard: included once per element type. */

#include "channels.h"
#include "vector_math.h"

#define SOFTMAX_TERMS 512

/* Lanes of a tile, or elements of a row: n is a multiple of 16. */
#define SOFTMAX_FOR(i, n) \
  THNN_PRAGMA(omp simd)   \
  for (int i = 0; i < ((n) & -16); i++)

/* --- rows ------------------------------------------------------------------------------------------------- */

static inline real THNN_(softmax_rowMost)(const real *x, int64_t channels)
{
  vreal a = v_load(x), b = a, c = a, d = a; /* a row has more than one vector */
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

static inline real THNN_(softmax_terms)(const real *x, real *y, real most, int n)
{
  real sum = 0;
  THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int i = 0; i < (n & -16); i++) {
    const real e = th_exp_le0(x[i] - most);
    if (y) y[i] = e;
    sum += e;
  }
  return sum;
}

/* Puts the terms into y unless that is NULL. */
static inline double THNN_(softmax_rowSum)(const real *x, real *y, real most, int64_t channels)
{
  double sum = 0;
  int64_t c = 0;
  for (; c + SOFTMAX_TERMS <= channels; c += SOFTMAX_TERMS)
    sum += THNN_(softmax_terms)(x + c, y ? y + c : NULL, most, SOFTMAX_TERMS);
  const int n = (int)(channels - c), whole = n & -16;
  sum += THNN_(softmax_terms)(x + c, y ? y + c : NULL, most, whole);
  if (whole == n) return sum;
  real last[16];
  for (int i = 0; i < 16; i++) last[i] = whole + i < n ? x[c + whole + i] : -(real)INFINITY;
  sum += THNN_(softmax_terms)(last, last, most, 16);
  if (y) memcpy(y + c + whole, last, sizeof(real) * (size_t)(n - whole));
  return sum;
}

/* --- tiles ------------------------------------------------------------------------------------------------ */

/* Also keeps the channels. */
static inline void THNN_(softmax_tileMost)(const THNNTile *tile, real *kept, real *most)
{
  SOFTMAX_FOR(i, tile->lanes) most[i] = -(real)INFINITY;
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step;
    const real *x = thnn_tileGet(tile, 0, c, row);
    SOFTMAX_FOR(i, tile->lanes)
    {
      most[i] = x[i] > most[i] ? x[i] : most[i];
      row[i] = x[i];
    }
  }
}

/* With `replace` the terms replace the kept channels. */
static inline void THNN_(softmax_tileSum)(const THNNTile *tile, real *kept, const real *most, bool replace,
                                          double *sum)
{
  real part[THNN_CHANNELS_WIDTH] = {0};
  SOFTMAX_FOR(i, tile->lanes) sum[i] = 0;
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step;
    const real *x = tile->step ? row : thnn_tileGet(tile, 0, c, row);
    SOFTMAX_FOR(i, tile->lanes)
    {
      const real e = th_exp_le0(x[i] - most[i]);
      if (replace) row[i] = e;
      part[i] += e;
    }
    if (c % SOFTMAX_TERMS == SOFTMAX_TERMS - 1 || c == tile->channels - 1) SOFTMAX_FOR(i, tile->lanes)
      {
        sum[i] += part[i];
        part[i] = 0;
      }
  }
}
