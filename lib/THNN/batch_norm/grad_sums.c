/* sum(g) and sum(g * (x - mean)) of the channels of a tile. */

#include "batch_norm/layouts.h"
#include "batch_norm/vectors.h"

/* False if a sum in `real` overflowed or a value was not finite; then the sums are recomputed in accreal. */
static inline bool sumsAreFinite(accreal a, accreal b) { return fabs(a) + fabs(b) < (accreal)INFINITY; }

/* ---- runs of one channel, channel c of the coefficients ---- */

/* The fallback: adds element by element in accreal. */
static __attribute__((noinline)) void addRunsInAccreal(const real *g, const real *x, int64_t runs, int64_t length,
                                                       int64_t gPitch, int64_t xPitch,
                                                       const Coefficients *coefficients, int64_t c,
                                                       Activation activation, accreal *sum, accreal *dot)
{
  const CoefficientLanes k = oneChannel(coefficients, c);
  real gs[VBYTES / sizeof(real)];
  for (int64_t r = 0; r < runs; r++)
    for (int64_t i = 0; i < length; i += VL) {
      const real *p = g + r * gPitch + i, *q = x + r * xPitch + i;
      const int n = (int)MIN(length - i, VL);
      v_store(gs, gradientLanes(v_load_n(p, n), v_load_n(q, n), k, activation));
      for (int l = 0; l < n; l++) {
        *sum += gs[l];
        *dot += (accreal)gs[l] * ((accreal)q[l] - coefficients->mean[c]);
      }
    }
}

static ALWAYS_INLINE void addLanes(vreal g, vreal x, CoefficientLanes k, Activation activation, vreal *sum,
                                   vreal *dot)
{
  const vreal gradient = gradientLanes(g, x, k, activation);
  *sum += gradient;
  *dot += gradient * (x - k.mean);
}

static ALWAYS_INLINE void addRunsWith(const real *g, const real *x, int64_t runs, int64_t toPrefetch,
                                      int64_t length, int64_t gPitch, int64_t xPitch,
                                      const Coefficients *coefficients, int64_t c, Activation activation,
                                      accreal *sum, accreal *dot)
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
      addLanes(v_load(p), v_load(q), k, activation, &s0, &q0);
      addLanes(v_load(p + VL), v_load(q + VL), k, activation, &s1, &q1);
      addLanes(v_load(p + 2 * VL), v_load(q + 2 * VL), k, activation, &s2, &q2);
      addLanes(v_load(p + 3 * VL), v_load(q + 3 * VL), k, activation, &s3, &q3);
    }
    if (p < end) addLanes(v_load(p), v_load(q), k, activation, &s0, &q0);
    if (p + VL < end) addLanes(v_load(p + VL), v_load(q + VL), k, activation, &s1, &q1);
    if (p + 2 * VL < end) addLanes(v_load(p + 2 * VL), v_load(q + 2 * VL), k, activation, &s2, &q2);
    if (tail) addLanes(v_load_n(end, tail), v_load_n(q + (end - p), tail), k, activation, &s3, &q3);
  }
  const accreal s = v_sum((s0 + s1) + (s2 + s3)), d = v_sum((q0 + q1) + (q2 + q3));
  if (sumsAreFinite(s, d)) *sum += s, *dot += d;
  else addRunsInAccreal(g, x, runs, length, gPitch, xPitch, coefficients, c, activation, sum, dot);
}

static void addRuns(const real *g, const real *x, int64_t runs, int64_t toPrefetch, int64_t length, int64_t gPitch,
                    int64_t xPitch, const Coefficients *k, int64_t c, Activation activation, accreal *sum,
                    accreal *dot)
{
  if (activation == IDENTITY)
    addRunsWith(g, x, runs, toPrefetch, length, gPitch, xPitch, k, c, IDENTITY, sum, dot);
  else if (activation == RELU) addRunsWith(g, x, runs, toPrefetch, length, gPitch, xPitch, k, c, RELU, sum, dot);
  else addRunsWith(g, x, runs, toPrefetch, length, gPitch, xPitch, k, c, CLAMP, sum, dot);
}

static void channelsFirstGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, Activation activation,
                                  accreal *sum, accreal *dot)
{
  real gBuffer[SUM_CHUNK], xBuffer[SUM_CHUNK];
  for (int64_t c = tile.c; c < tile.cEnd; c++)
    for (int64_t p = tile.p; p < tile.pEnd;) {
      const Chunk chunk = chunkAt(b, p, tile.pEnd);
      const ChannelRuns g = chunkRuns(&b->g, c, chunk, gBuffer), x = chunkRuns(&b->x, c, chunk, xBuffer);
      addRuns(g.data, x.data, chunk.runs, runsToPrefetch(b, p, tile.pEnd), chunk.length, g.pitch, x.pitch, k,
              c - tile.c, activation, sum + (c - tile.c), dot + (c - tile.c));
      p += chunk.runs * chunk.length;
    }
}

static void stridedGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, Activation activation,
                            accreal *sum, accreal *dot)
{
  real g[GATHER_CHANNELS * GATHER_PITCH], x[GATHER_CHANNELS * GATHER_PITCH];
  for (int64_t p = tile.p, count; p < tile.pEnd; p += count) {
    count = MIN(tile.pEnd - p, GATHER_POSITIONS);
    gather(b, &b->g, tile, p, count, g);
    gather(b, &b->x, tile, p, count, x);
    for (int64_t c = 0; c < tile.cEnd - tile.c; c++)
      addRuns(g + c * GATHER_PITCH, x + c * GATHER_PITCH, 1, 0, count, 0, 0, k, c, activation, sum + c, dot + c);
  }
}

/* ---- channels-last ---- */

/* sum(g) and sum(g * (x - mean)) of adjacent channels. */
typedef struct GradSums {
  real *sum, *dot;
} GradSums;

static inline GradSums gradSumsFrom(GradSums sums, int64_t c) { return (GradSums){sums.sum + c, sums.dot + c}; }

/* Adds n <= VL channels of a row to partial sums. The first row begins them, the last adds them to the totals. */
static ALWAYS_INLINE void addRowLanes(const real *g, const real *x, bool first, bool last, int n,
                                      CoefficientLanes k, Activation activation, GradSums partial, GradSums total)
{
  const vreal zero = {0}, xv = loadLanes(x, n), gv = gradientLanes(loadLanes(g, n), xv, k, activation);
  vreal s = first ? zero : v_load(partial.sum), q = first ? zero : v_load(partial.dot);
  s += gv, q += gv * (xv - k.mean);
  v_store(last ? total.sum : partial.sum, last ? v_load(total.sum) + s : s);
  v_store(last ? total.dot : partial.dot, last ? v_load(total.dot) + q : q);
}

static ALWAYS_INLINE void addRow(const real *g, const real *x, bool first, bool last, int64_t channels,
                                 const Coefficients *k, Activation activation, GradSums partial, GradSums total)
{
  for (int64_t c = 0; c + VL <= channels; c += VL)
    addRowLanes(g + c, x + c, first, last, VL, adjacentChannels(k, c, VL), activation, gradSumsFrom(partial, c),
                gradSumsFrom(total, c));
  const int n = (int)(channels % VL);
  const int64_t c = channels - n;
  if (n)
    addRowLanes(g + c, x + c, first, last, n, adjacentChannels(k, c, n), activation, gradSumsFrom(partial, c),
                gradSumsFrom(total, c));
}

static ALWAYS_INLINE void addRows(const TileRows *gRows, const TileRows *xRows, const Coefficients *k,
                                  Activation activation, GradSums partial, GradSums total)
{
  const int64_t channels = xRows->channels;
  real gBuffer[ROW_BUFFER], xBuffer[ROW_BUFFER];
  for (int64_t r = 0; r < xRows->rows; r++) {
    const real *const g = rowAt(gRows, r, gBuffer), *const x = rowAt(xRows, r, xBuffer);
    switch (rowPlace(r, xRows->rows)) {
    case ROW_ALONE:
      addRow(g, x, true, true, channels, k, activation, partial, total);
      break;
    case ROW_FIRST:
      addRow(g, x, true, false, channels, k, activation, partial, total);
      break;
    case ROW_WITHIN:
      addRow(g, x, false, false, channels, k, activation, partial, total);
      break;
    case ROW_LAST:
      addRow(g, x, false, true, channels, k, activation, partial, total);
      break;
    }
  }
}

static void channelsLastGradSums(const BatchNorm *b, Tile tile, const Coefficients *k, Activation activation,
                                 accreal *sum, accreal *dot)
{
  const int64_t channels = tile.cEnd - tile.c;
  real s[ROW_SUMS], d[ROW_SUMS], partialSum[ROW_SUMS], partialDot[ROW_SUMS];
  const GradSums partial = {partialSum, partialDot}, total = {s, d};
  for (int64_t p = tile.p, rows; p < tile.pEnd; p += rows) {
    rows = MIN(tile.pEnd - p, SUM_CHUNK_CHANNELS_LAST);
    const TileRows g = tileRows(b, &b->g, tile, p, rows), x = tileRows(b, &b->x, tile, p, rows);
    memset(s, 0, sizeof(real) * (size_t)(channels + VL));
    memset(d, 0, sizeof(real) * (size_t)(channels + VL));
    if (activation == IDENTITY) addRows(&g, &x, k, IDENTITY, partial, total);
    else if (activation == RELU) addRows(&g, &x, k, RELU, partial, total);
    else addRows(&g, &x, k, CLAMP, partial, total);

    int redo = 0;
    for (int64_t c = 0; c < channels; c++) redo |= !sumsAreFinite(s[c], d[c]);
    if (!redo)
      for (int64_t c = 0; c < channels; c++) sum[c] += s[c], dot[c] += d[c];
    else
      for (int64_t c = 0; c < channels; c++)
        if (sumsAreFinite(s[c], d[c])) {
          sum[c] += s[c], dot[c] += d[c];
        } else {
          real gBuffer[SUM_CHUNK_CHANNELS_LAST], xBuffer[SUM_CHUNK_CHANNELS_LAST];
          const ChannelRuns gRuns = rowsColumn(&g, c, gBuffer), xRuns = rowsColumn(&x, c, xBuffer);
          addRunsInAccreal(gRuns.data, xRuns.data, rows, 1, gRuns.pitch, xRuns.pitch, k, c, activation, sum + c,
                           dot + c);
        }
  }
}

void THNN_(batchNormTileGradSums)(const BatchNorm *b, Tile tile, const Coefficients *k, Activation activation,
                                  accreal *sum, accreal *dot)
{
  for (int64_t c = 0; c < tile.cEnd - tile.c; c++) sum[c] = dot[c] = 0;
  if (b->layout == LAYOUT_CHANNELS_FIRST) channelsFirstGradSums(b, tile, k, activation, sum, dot);
  else if (b->layout == LAYOUT_CHANNELS_LAST) channelsLastGradSums(b, tile, k, activation, sum, dot);
  else stridedGradSums(b, tile, k, activation, sum, dot);
}
