/* sum(g) and sum(g * (x - mean)) of the channels of a tile. */

#include "batch_norm/layouts.h"
#include "batch_norm/vectors.h"

/* False if a sum in `real` overflowed or a value was not finite; then the sums are recomputed in accreal. */
static inline bool sumsAreFinite(accreal a, accreal b) { return fabs(a) + fabs(b) < (accreal)INFINITY; }

/* ---- runs of one channel, channel c of the coefficients ---- */

/* The fallback: adds element by element in accreal. */
static __attribute__((noinline)) void addRunsInAccreal(const real *g, const real *x, int64_t runs, int64_t length,
                                                       int64_t gPitch, int64_t xPitch,
                                                       const Coefficients *coefficients, int64_t c, bool relu,
                                                       accreal *sum, accreal *dot)
{
  const CoefficientLanes k = oneChannel(coefficients, c);
  real gs[VBYTES / sizeof(real)];
  for (int64_t r = 0; r < runs; r++)
    for (int64_t i = 0; i < length; i += VL) {
      const real *p = g + r * gPitch + i, *q = x + r * xPitch + i;
      const int n = (int)MIN(length - i, VL);
      v_store(gs, gradientLanes(v_load_n(p, n), v_load_n(q, n), k, relu));
      for (int l = 0; l < n; l++) {
        *sum += gs[l];
        *dot += (accreal)gs[l] * ((accreal)q[l] - coefficients->mean[c]);
      }
    }
}

static ALWAYS_INLINE void addLanes(vreal g, vreal x, CoefficientLanes k, bool relu, vreal *sum, vreal *dot)
{
  const vreal gradient = gradientLanes(g, x, k, relu);
  *sum += gradient;
  *dot += gradient * (x - k.mean);
}

static ALWAYS_INLINE void addRunsWith(const real *g, const real *x, int64_t runs, int64_t toPrefetch,
                                      int64_t length, int64_t gPitch, int64_t xPitch,
                                      const Coefficients *coefficients, int64_t c, bool relu, accreal *sum,
                                      accreal *dot)
{
  const CoefficientLanes k = oneChannel(coefficients, c);
  const int tail = (int)(length % VL);
  vreal s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, q0 = {0}, q1 = {0}, q2 = {0}, q3 = {0};
  for (int64_t r = 0; r < runs; r++) {
    const real *p = g + r * gPitch, *q = x + r * xPitch, *end = p + length - tail;
    const int64_t gAhead = prefetchOffset(toPrefetch - r, length, gPitch);
    const int64_t xAhead = prefetchOffset(toPrefetch - r, length, xPitch);
    for (; p + 4 * VL <= end; p += 4 * VL, q += 4 * VL) {
      if (gAhead) prefetchVectors(p + gAhead), prefetchVectors(q + xAhead);
      addLanes(v_load(p), v_load(q), k, relu, &s0, &q0);
      addLanes(v_load(p + VL), v_load(q + VL), k, relu, &s1, &q1);
      addLanes(v_load(p + 2 * VL), v_load(q + 2 * VL), k, relu, &s2, &q2);
      addLanes(v_load(p + 3 * VL), v_load(q + 3 * VL), k, relu, &s3, &q3);
    }
    if (p < end) addLanes(v_load(p), v_load(q), k, relu, &s0, &q0);
    if (p + VL < end) addLanes(v_load(p + VL), v_load(q + VL), k, relu, &s1, &q1);
    if (p + 2 * VL < end) addLanes(v_load(p + 2 * VL), v_load(q + 2 * VL), k, relu, &s2, &q2);
    if (tail) addLanes(v_load_n(end, tail), v_load_n(q + (end - p), tail), k, relu, &s3, &q3);
  }
  const accreal s = v_sum((s0 + s1) + (s2 + s3)), d = v_sum((q0 + q1) + (q2 + q3));
  if (sumsAreFinite(s, d)) *sum += s, *dot += d;
  else addRunsInAccreal(g, x, runs, length, gPitch, xPitch, coefficients, c, relu, sum, dot);
}

static void addRuns(const real *g, const real *x, int64_t runs, int64_t toPrefetch, int64_t length, int64_t gPitch,
                    int64_t xPitch, const Coefficients *k, int64_t c, bool relu, accreal *sum, accreal *dot)
{
  if (relu) addRunsWith(g, x, runs, toPrefetch, length, gPitch, xPitch, k, c, true, sum, dot);
  else addRunsWith(g, x, runs, toPrefetch, length, gPitch, xPitch, k, c, false, sum, dot);
}

static void channelsFirstGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, bool relu, accreal *sum,
                                  accreal *dot)
{
  for (int64_t c = tile.c; c < tile.cEnd; c++)
    for (int64_t p = tile.p; p < tile.pEnd;) {
      const Chunk chunk = chunkAt(b, p, tile.pEnd);
      addRuns(channelRun(&b->g, c, chunk.n, chunk.l), channelRun(&b->x, c, chunk.n, chunk.l), chunk.runs,
              runsToPrefetch(b, p, tile.pEnd), chunk.length, b->g.stride[0], b->x.stride[0], k, c - tile.c, relu,
              sum + (c - tile.c), dot + (c - tile.c));
      p += chunk.runs * chunk.length;
    }
}

static void stridedGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, bool relu, accreal *sum,
                            accreal *dot)
{
  real g[GATHER_CHANNELS * GATHER_PITCH], x[GATHER_CHANNELS * GATHER_PITCH];
  for (int64_t p = tile.p, count; p < tile.pEnd; p += count) {
    count = MIN(tile.pEnd - p, GATHER_POSITIONS);
    gather(b, &b->g, tile, p, count, g);
    gather(b, &b->x, tile, p, count, x);
    for (int64_t c = 0; c < tile.cEnd - tile.c; c++)
      addRuns(g + c * GATHER_PITCH, x + c * GATHER_PITCH, 1, 0, count, 0, 0, k, c, relu, sum + c, dot + c);
  }
}

/* ---- channels-last ---- */

/* Adds `count` rows of n <= VL channels; `count` is a constant, so that sums and coefficients stay in registers. */
static ALWAYS_INLINE void addRowLanes(const real *g, const real *x, int count, int64_t gPitch, int64_t xPitch,
                                      bool prefetch, int n, CoefficientLanes k, bool relu, real *sum, real *dot)
{
  vreal s = {0}, q = {0};
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    if (prefetch) thnn_prefetchAhead(g + r * gPitch, VBYTES), thnn_prefetchAhead(x + r * xPitch, VBYTES);
    const vreal xv = loadLanes(x + r * xPitch, n);
    const vreal gv = gradientLanes(loadLanes(g + r * gPitch, n), xv, k, relu);
    s += gv, q += gv * (xv - k.mean);
  }
  v_store(sum, v_load(sum) + s);
  v_store(dot, v_load(dot) + q);
}

static ALWAYS_INLINE void addRows(const real *g, const real *x, int count, int64_t gPitch, int64_t xPitch,
                                  bool prefetch, int64_t channels, const Coefficients *k, bool relu, real *sum,
                                  real *dot)
{
  for (int64_t c = 0; c + VL <= channels; c += VL)
    addRowLanes(g + c, x + c, count, gPitch, xPitch, prefetch, VL, adjacentChannels(k, c, VL), relu, sum + c,
                dot + c);
  const int n = (int)(channels % VL);
  const int64_t c = channels - n;
  if (n)
    addRowLanes(g + c, x + c, count, gPitch, xPitch, prefetch, n, adjacentChannels(k, c, n), relu, sum + c,
                dot + c);
}

static ALWAYS_INLINE void addAllRows(const real *g, const real *x, int64_t rows, int64_t gPitch, int64_t xPitch,
                                     bool prefetch, int64_t channels, const Coefficients *k, bool relu, real *sum,
                                     real *dot)
{
  int64_t r = 0;
  for (; r + SUM_ROWS <= rows; r += SUM_ROWS)
    addRows(g + r * gPitch, x + r * xPitch, SUM_ROWS, gPitch, xPitch, prefetch, channels, k, relu, sum, dot);
  for (; r < rows; r++)
    addRows(g + r * gPitch, x + r * xPitch, 1, gPitch, xPitch, prefetch, channels, k, relu, sum, dot);
}

static void channelsLastGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, bool relu, accreal *sum,
                                 accreal *dot)
{
  const int64_t channels = tile.cEnd - tile.c;
  const int64_t gPitch = rowPitch(b, &b->g), xPitch = rowPitch(b, &b->x);
  real s[ROW_SUMS], d[ROW_SUMS];
  for (int64_t p = tile.p, rows; p < tile.pEnd; p += rows) {
    rows = MIN(tile.pEnd - p, SUM_CHUNK_CHANNELS_LAST);
    const real *g = b->g.data + tile.c + p * gPitch, *x = b->x.data + tile.c + p * xPitch;
    memset(s, 0, sizeof(real) * (size_t)(channels + VL));
    memset(d, 0, sizeof(real) * (size_t)(channels + VL));
    if (relu) addAllRows(g, x, rows, gPitch, xPitch, b->large, channels, k, true, s, d);
    else addAllRows(g, x, rows, gPitch, xPitch, b->large, channels, k, false, s, d);

    int redo = 0;
    for (int64_t c = 0; c < channels; c++) redo |= !sumsAreFinite(s[c], d[c]);
    if (!redo)
      for (int64_t c = 0; c < channels; c++) sum[c] += s[c], dot[c] += d[c];
    else
      for (int64_t c = 0; c < channels; c++)
        if (sumsAreFinite(s[c], d[c])) sum[c] += s[c], dot[c] += d[c];
        else addRunsInAccreal(g + c, x + c, rows, 1, gPitch, xPitch, k, c, relu, sum + c, dot + c);
  }
}

void THNN_(batchNormTileGradSums)(const BatchNorm *b, Tile tile, const Coefficients *k, bool relu, accreal *sum,
                                  accreal *dot)
{
  for (int64_t c = 0; c < tile.cEnd - tile.c; c++) sum[c] = dot[c] = 0;
  if (b->layout == LAYOUT_CHANNELS_FIRST) channelsFirstGradSums(b, tile, k, relu, sum, dot);
  else if (b->layout == LAYOUT_CHANNELS_LAST) channelsLastGradSums(b, tile, k, relu, sum, dot);
  else stridedGradSums(b, tile, k, relu, sum, dot);
}
