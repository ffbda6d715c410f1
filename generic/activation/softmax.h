#ifndef THNN_GENERIC_ACTIVATION_SOFTMAX_H
#define THNN_GENERIC_ACTIVATION_SOFTMAX_H

#include "runtime/kernel.h"

/* What SoftMax and LogSoftMax share: the largest channel and the sum of exp(channel - largest), of one row of channels
   or of all positions of a tile. NaN, and an infinity as the largest, end up in the sum as NaN. Float sums are handed
   on to double after SOFTMAX_TERMS terms. */

#include "elementwise/softmax_walk.h"
#include "simd/vector_math.h"

#define SOFTMAX_TERMS 512

/* Tiles are nearly always as wide as can be: such a tile gets loops whose length the compiler knows. */
#define SOFTMAX_TILE(tile, statement)                                         \
  do {                                                                        \
    if ((tile)->lanes == THNN_CHANNELS_WIDTH) statement(THNN_CHANNELS_WIDTH); \
    else statement((tile)->lanes);                                            \
  } while (0)
#define SOFTMAX_INLINE static inline __attribute__((always_inline))
#define SOFTMAX_LANES(i, lanes) \
  THNN_PRAGMA(omp simd)         \
  for (int i = 0; i < ((lanes) & -16); i++)

/* --- rows ------------------------------------------------------------------------------------------------- */

static inline real softmax_rowMost(const real *x, int64_t channels)
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

static inline real softmax_terms(const real *x, real *y, real most, int n)
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
static inline double softmax_rowSum(const real *x, real *y, real most, int64_t channels)
{
  double sum = 0;
  int64_t c = 0;
  for (; c + SOFTMAX_TERMS <= channels; c += SOFTMAX_TERMS)
    sum += softmax_terms(x + c, y ? y + c : NULL, most, SOFTMAX_TERMS);
  const int n = (int)(channels - c), whole = n & -16;
  sum += softmax_terms(x + c, y ? y + c : NULL, most, whole);
  if (whole == n) return sum;
  real last[16];
  for (int i = 0; i < 16; i++) last[i] = whole + i < n ? x[c + whole + i] : -(real)INFINITY;
  sum += softmax_terms(last, last, most, 16);
  if (y) memcpy(y + c + whole, last, sizeof(real) * (size_t)(n - whole));
  return sum;
}

/* --- tiles ------------------------------------------------------------------------------------------------ */

#define SOFTMAX_VECTORS (THNN_CHANNELS_WIDTH * sizeof(real) / VBYTES)

/* Also keeps the channels. */
SOFTMAX_INLINE void softmax_tileMost(const THNNTile *tile, int lanes, real *kept, real *most)
{
  vreal most_of[SOFTMAX_VECTORS];
#pragma GCC unroll 16
  for (int v = 0; v < lanes / VL; v++) most_of[v] = v_set1(-(real)INFINITY);
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step;
    const real *x = thnn_tileGet(tile, 0, c, row);
    thnn_tileFetch(tile, 0, c);
#pragma GCC unroll 16
    for (int v = 0; v < lanes / VL; v++) {
      const vreal value = v_load(x + v * VL);
      most_of[v] = v_max(value, most_of[v]);
      v_store(row + v * VL, value);
    }
  }
#pragma GCC unroll 16
  for (int v = 0; v < lanes / VL; v++) v_store(most + v * VL, most_of[v]);
}

/* sum(g) of each lane, or sum(g * y), of SOFTMAX_TERMS channels at a time. */
SOFTMAX_INLINE void softmax_tileDot(const THNNTile *tile, int lanes, real *kept_g, real *kept_y, real *dot)
{
  double sum[THNN_CHANNELS_WIDTH] = {0};
  for (int64_t first = 0, end; first < tile->channels; first = end) {
    end = first + SOFTMAX_TERMS < tile->channels ? first + SOFTMAX_TERMS : tile->channels;
    vreal part[SOFTMAX_VECTORS] = {{0}};
    for (int64_t c = first; c < end; c++) {
      const real *g = thnn_tileGet(tile, 0, c, kept_g + c * tile->step);
      const real *y = kept_y ? thnn_tileGet(tile, 1, c, kept_y + c * tile->step) : NULL;
      thnn_tileFetch(tile, 0, c);
      thnn_tileFetch(tile, 1, c);
#pragma GCC unroll 16
      for (int v = 0; v < lanes / VL; v++)
        part[v] += y ? v_load(g + v * VL) * v_load(y + v * VL) : v_load(g + v * VL);
    }
    real parts[THNN_CHANNELS_WIDTH];
#pragma GCC unroll 16
    for (int v = 0; v < lanes / VL; v++) v_store(parts + v * VL, part[v]);
    SOFTMAX_LANES(i, lanes) sum[i] += parts[i];
  }
  SOFTMAX_LANES(i, lanes) dot[i] = (real)sum[i];
}

/* With `terms`, the terms of the sum replace the kept channels. */
SOFTMAX_INLINE void softmax_tileSum(const THNNTile *tile, int lanes, real *kept, const real *most, bool terms,
                                    double *sum)
{
  real part[THNN_CHANNELS_WIDTH] = {0};
  SOFTMAX_LANES(i, lanes) sum[i] = 0;
  for (int64_t c = 0; c < tile->channels; c++) {
    real *row = kept + c * tile->step;
    const real *x = tile->step ? row : thnn_tileGet(tile, 0, c, row);
    if (terms) SOFTMAX_LANES(i, lanes)
      {
        row[i] = th_exp_le0(x[i] - most[i]);
        part[i] += row[i];
      }
    else SOFTMAX_LANES(i, lanes) part[i] += th_exp_le0(x[i] - most[i]);
    if (c % SOFTMAX_TERMS == SOFTMAX_TERMS - 1 || c == tile->channels - 1) SOFTMAX_LANES(i, lanes)
      {
        sum[i] += part[i];
        part[i] = 0;
      }
  }
}

/* Writes a channel of the result, tensor k. */
SOFTMAX_INLINE void softmax_tilePut(const THNNTile *tile, int lanes, int k, int64_t c, const real *result)
{
  real *y = (real *)(tile->operand[k].data + c * tile->operand[k].channel);
  if (!tile->operand[k].direct) thnn_tileScatter(tile, k, c, result);
  else if (tile->streams && (uintptr_t)y % VBYTES == 0)
    for (int i = 0; i < lanes; i += VL) v_stream(y + i, v_load(result + i));
  else memcpy(y, result, sizeof(real) * (size_t)lanes);
}

#endif
