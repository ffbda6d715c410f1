/* Element-wise maps over a tile: normalization and input gradient. */

#include "batch_norm/layouts.h"
#include "batch_norm/vectors.h"

static ALWAYS_INLINE vreal mapLanes(ElementMap map, vreal g, vreal x, CoefficientLanes k)
{
  if (!readsG(map)) return activate(normalizeLanes(x, k), k, activationOf(map));
  if (map >= CUT) return activationGradient(g, x, k, activationOf(map));
  if (map >= ADD) return activate(normalizeLanes(x, k) + g, k, activationOf(map));
  g = gradientLanes(g, x, k, activationOf(map));
  if (map < GRADIENT) return g * k.scale;
  return g * k.scale + ((x - k.mean) * k.slope + k.constant);
}

/* Maps n <= VL values; operands that the map does not read are not loaded. */
static ALWAYS_INLINE void mapValues(ElementMap map, real *out, const real *g, const real *x, int n,
                                    CoefficientLanes k, bool nonTemporal)
{
  const vreal zero = {0};
  const vreal value = mapLanes(map, readsG(map) ? loadLanes(g, n) : zero, readsX(map) ? loadLanes(x, n) : zero, k);
  if (n < VL) v_store_n(out, value, n);
  else if (nonTemporal) v_stream(out, value);
  else v_store(out, value);
}

/* ---- runs of one channel ---- */

/* `count` runs of `length` values of each of `channels` channels, whose coefficients are those from `first` on. Runs are
   outPitch, gPitch and xPitch apart in the operands, channels outChannelStride, gChannelStride and xChannelStride. */
typedef struct Runs {
  real *out;
  const real *g, *x;
  int64_t channels, outChannelStride, gChannelStride, xChannelStride;
  int64_t count, length, outPitch, gPitch, xPitch;
  int64_t first;
} Runs;

/* The number of values before the first multiple of VBYTES: non-temporal stores need aligned vectors. */
static inline int64_t unalignedValues(const real *p, int64_t length)
{
  return MIN((int64_t)(-(uintptr_t)p % VBYTES / sizeof(real)), length);
}

static ALWAYS_INLINE void mapRun(ElementMap map, real *out, const real *g, const real *x, int64_t length,
                                 CoefficientLanes k, bool nonTemporal, int64_t gAhead, int64_t xAhead)
{
  int64_t i = 0;
  if (nonTemporal) {
    i = unalignedValues(out, length);
    if (i) mapValues(map, out, g, x, (int)i, k, false);
  }
  for (; i + VL <= length; i += VL) {
    if (nonTemporal && (readsX(map) ? xAhead : gAhead)) {
      if (readsG(map)) __builtin_prefetch(g + i + gAhead);
      if (readsX(map)) __builtin_prefetch(x + i + xAhead);
    }
    mapValues(map, out + i, g + i, x + i, VL, k, nonTemporal);
  }
  const int n = (int)(length - i);
  if (n) mapValues(map, out + i, g + i, x + i, n, k, false);
}

/* The runs of channel c of the tile. Reversed: the end of a channel was read last by the stage before. */
static ALWAYS_INLINE void mapChannel(ElementMap map, const Runs *runs, int64_t c, CoefficientLanes k,
                                     bool nonTemporal, bool reversed)
{
  const int64_t count = runs->count, length = runs->length;
  const int64_t outPitch = runs->outPitch, gPitch = readsG(map) ? runs->gPitch : 0,
                xPitch = readsX(map) ? runs->xPitch : 0;
  real *const out = runs->out + c * runs->outChannelStride;
  const real *const g = readsG(map) ? runs->g + c * runs->gChannelStride : out;
  const real *const x = readsX(map) ? runs->x + c * runs->xChannelStride : out;
  for (int64_t i = 0; i < count; i++) {
    const int64_t r = reversed ? count - 1 - i : i;
    const int64_t gAhead = reversed ? -prefetchOffset(count - i, length, gPitch) : PREFETCH_DISTANCE;
    const int64_t xAhead = reversed ? -prefetchOffset(count - i, length, xPitch) : PREFETCH_DISTANCE;
    mapRun(map, out + r * outPitch, g + r * gPitch, x + r * xPitch, length, k, nonTemporal, gAhead, xAhead);
  }
}

static ALWAYS_INLINE void mapChannels(ElementMap map, const Runs *runs, const Coefficients *k, bool nonTemporal,
                                      bool reversed)
{
  for (int64_t i = 0; i < runs->channels; i++) {
    const int64_t c = reversed ? runs->channels - 1 - i : i;
    mapChannel(map, runs, c, oneChannel(k, runs->first + c), nonTemporal, reversed);
  }
}

static ALWAYS_INLINE void applyRunsWith(ElementMap map, const Runs *runs, const Coefficients *k, bool nonTemporal,
                                        bool reversed)
{
  if (nonTemporal) mapChannels(map, runs, k, true, reversed);
  else mapChannels(map, runs, k, false, reversed);
}

/* Applies a map; the loops are specialized for each map. */
static void applyRuns(ElementMap map, const Runs *runs, const Coefficients *k, bool nonTemporal, bool reversed)
{
  if (map == NORMALIZE) applyRunsWith(NORMALIZE, runs, k, nonTemporal, reversed);
  else if (map == NORMALIZE_RELU) applyRunsWith(NORMALIZE_RELU, runs, k, nonTemporal, reversed);
  else if (map == NORMALIZE_CLAMP) applyRunsWith(NORMALIZE_CLAMP, runs, k, nonTemporal, reversed);
  else if (map == SCALE) applyRunsWith(SCALE, runs, k, nonTemporal, reversed);
  else if (map == SCALE_RELU) applyRunsWith(SCALE_RELU, runs, k, nonTemporal, reversed);
  else if (map == SCALE_CLAMP) applyRunsWith(SCALE_CLAMP, runs, k, nonTemporal, reversed);
  else if (map == GRADIENT) applyRunsWith(GRADIENT, runs, k, nonTemporal, reversed);
  else if (map == GRADIENT_RELU) applyRunsWith(GRADIENT_RELU, runs, k, nonTemporal, reversed);
  else if (map == GRADIENT_CLAMP) applyRunsWith(GRADIENT_CLAMP, runs, k, nonTemporal, reversed);
  else if (map == ADD) applyRunsWith(ADD, runs, k, nonTemporal, reversed);
  else if (map == ADD_RELU) applyRunsWith(ADD_RELU, runs, k, nonTemporal, reversed);
  else if (map == ADD_CLAMP) applyRunsWith(ADD_CLAMP, runs, k, nonTemporal, reversed);
  else if (map == CUT) applyRunsWith(CUT, runs, k, nonTemporal, reversed);
  else if (map == CUT_RELU) applyRunsWith(CUT_RELU, runs, k, nonTemporal, reversed);
  else applyRunsWith(CUT_CLAMP, runs, k, nonTemporal, reversed);
}

/* `count` runs of the tile's channels from element l of sample n on. */
static inline Runs tileRuns(const BatchNorm *b, Tile tile, int64_t n, int64_t l, int64_t count, int64_t length)
{
  const Runs runs = {(real *)channelRun(&b->out, tile.c, n, l),
                     channelRun(&b->g, tile.c, n, l),
                     channelRun(&b->x, tile.c, n, l),
                     tile.cEnd - tile.c,
                     b->out.channelStride,
                     b->g.channelStride,
                     b->x.channelStride,
                     count,
                     length,
                     b->out.stride[0],
                     b->g.stride[0],
                     b->x.stride[0],
                     0};
  return runs;
}

/* Runs of tensors of a half type: as many as have CONVERTED values at a time, or parts of one. */
static void applyConvertedRuns(const BatchNorm *b, Tile tile, int64_t n, int64_t l, int64_t count, int64_t length,
                               ElementMap map, const Coefficients *k)
{
  real g[CONVERTED], x[CONVERTED], *const out = readsG(map) ? g : x;
  const int64_t together = MAX(1, CONVERTED / length), part = MIN(length, CONVERTED);
  for (int64_t c = tile.c; c < tile.cEnd; c++)
    for (int64_t r = 0, runs; r < count; r += runs) {
      runs = MIN(together, count - r);
      for (int64_t i = 0, values; i < length; i += values) {
        values = MIN(part, length - i);
        for (int64_t j = 0; j < runs; j++) {
          const int64_t sample = n + r + j, at = l + i;
          if (readsG(map))
            widenElements(&b->g, c * b->g.channelStride + sample * b->g.stride[0] + at, 1, values, g + j * values);
          if (readsX(map))
            widenElements(&b->x, c * b->x.channelStride + sample * b->x.stride[0] + at, 1, values, x + j * values);
        }
        const Runs converted = {
            .out = out, .g = g, .x = x, .channels = 1, .count = 1, .length = runs * values, .first = c - tile.c};
        applyRuns(map, &converted, k, false, false);
        for (int64_t j = 0; j < runs; j++)
          narrowElements(&b->out, c * b->out.channelStride + (n + r + j) * b->out.stride[0] + l + i, 1, values,
                         out + j * values);
      }
    }
}

/* Applies the map to `count` runs of the tile's channels. */
static void applyTileRuns(const BatchNorm *b, Tile tile, int64_t n, int64_t l, int64_t count, int64_t length,
                          ElementMap map, const Coefficients *k)
{
  if (isHalf(b->out.type)) {
    applyConvertedRuns(b, tile, n, l, count, length, map, k);
    return;
  }
  const Runs runs = tileRuns(b, tile, n, l, count, length);
  applyRuns(map, &runs, k, b->nonTemporal, b->reduces);
}

static void channelsFirstApply(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k)
{
  const int64_t length = b->size[b->dims - 1], first = tile.p / length, last = (tile.pEnd - 1) / length;
  if (length <= SUM_CHUNK) {
    applyTileRuns(b, tile, first, 0, last - first + 1, length, map, k);
    return;
  }
  for (int64_t n = last; n >= first; n--) {
    const int64_t begin = n == first ? tile.p % length : 0;
    int64_t end = n == last ? tile.pEnd - n * length : length;
    while (end > begin) {
      const int64_t l = MAX(begin, (end - 1) / SUM_CHUNK * SUM_CHUNK);
      applyTileRuns(b, tile, n, l, 1, end - l, map, k);
      end = l;
    }
  }
}

static void stridedApply(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k)
{
  real g[GATHER_CHANNELS * GATHER_PITCH], x[GATHER_CHANNELS * GATHER_PITCH];
  real *out = readsG(map) ? g : x;
  for (int64_t end = tile.pEnd, p; end > tile.p; end = p) {
    p = MAX(end - GATHER_POSITIONS, tile.p);
    if (readsG(map)) gather(b, &b->g, tile, p, end - p, g);
    if (readsX(map)) gather(b, &b->x, tile, p, end - p, x);
    const Runs runs = {.out = out,
                       .g = g,
                       .x = x,
                       .channels = tile.cEnd - tile.c,
                       .outChannelStride = GATHER_PITCH,
                       .gChannelStride = GATHER_PITCH,
                       .xChannelStride = GATHER_PITCH,
                       .count = 1,
                       .length = end - p};
    applyRuns(map, &runs, k, false, false);
    scatter(b, &b->out, tile, p, end - p, out);
  }
}

/* ---- channels-last ---- */

static ALWAYS_INLINE void applyRow(ElementMap map, real *out, const real *g, const real *x, int64_t channels,
                                   const Coefficients *k, bool nonTemporal)
{
  for (int64_t c = 0; c + VL <= channels; c += VL)
    mapValues(map, out + c, g + c, x + c, VL, adjacentChannels(k, c, VL), nonTemporal);
  const int n = (int)(channels % VL);
  const int64_t c = channels - n;
  if (n) mapValues(map, out + c, g + c, x + c, n, adjacentChannels(k, c, n), nonTemporal);
}

/* Row by row, in memory order, which hardware prefetchers follow. */
static ALWAYS_INLINE void applyRows(ElementMap map, const BatchNorm *b, Tile tile, const Coefficients *k,
                                    bool nonTemporal)
{
  const int64_t outPitch = rowPitch(b, &b->out);
  const int64_t gPitch = readsG(map) ? rowPitch(b, &b->g) : 0, xPitch = readsX(map) ? rowPitch(b, &b->x) : 0;
  real *out = b->out.data + tile.c + tile.p * outPitch;
  const real *g = readsG(map) ? b->g.data + tile.c + tile.p * gPitch : out;
  const real *x = readsX(map) ? b->x.data + tile.c + tile.p * xPitch : out;
  for (int64_t row = tile.p; row < tile.pEnd; row++, out += outPitch, g += gPitch, x += xPitch)
    applyRow(map, out, g, x, tile.cEnd - tile.c, k, nonTemporal);
}

static ALWAYS_INLINE void channelsLastApplyWith(ElementMap map, const BatchNorm *b, Tile tile,
                                                const Coefficients *k)
{
  if (b->nonTemporal) applyRows(map, b, tile, k, true);
  else applyRows(map, b, tile, k, false);
}

static void channelsLastApply(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k)
{
  if (map == NORMALIZE) channelsLastApplyWith(NORMALIZE, b, tile, k);
  else if (map == NORMALIZE_RELU) channelsLastApplyWith(NORMALIZE_RELU, b, tile, k);
  else if (map == NORMALIZE_CLAMP) channelsLastApplyWith(NORMALIZE_CLAMP, b, tile, k);
  else if (map == SCALE) channelsLastApplyWith(SCALE, b, tile, k);
  else if (map == SCALE_RELU) channelsLastApplyWith(SCALE_RELU, b, tile, k);
  else if (map == SCALE_CLAMP) channelsLastApplyWith(SCALE_CLAMP, b, tile, k);
  else if (map == GRADIENT) channelsLastApplyWith(GRADIENT, b, tile, k);
  else if (map == GRADIENT_RELU) channelsLastApplyWith(GRADIENT_RELU, b, tile, k);
  else if (map == GRADIENT_CLAMP) channelsLastApplyWith(GRADIENT_CLAMP, b, tile, k);
  else if (map == ADD) channelsLastApplyWith(ADD, b, tile, k);
  else if (map == ADD_RELU) channelsLastApplyWith(ADD_RELU, b, tile, k);
  else if (map == ADD_CLAMP) channelsLastApplyWith(ADD_CLAMP, b, tile, k);
  else if (map == CUT) channelsLastApplyWith(CUT, b, tile, k);
  else if (map == CUT_RELU) channelsLastApplyWith(CUT_RELU, b, tile, k);
  else channelsLastApplyWith(CUT_CLAMP, b, tile, k);
}

/* Rows of tensors of a half type: as many as have CONVERTED values at a time. */
static void applyConvertedRows(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k)
{
  const int64_t channels = tile.cEnd - tile.c, most = MAX(1, CONVERTED / channels);
  real g[CONVERTED], x[CONVERTED], *const out = readsG(map) ? g : x;
  BatchNorm converted;
  converted.dims = 1;
  converted.nonTemporal = false;
  converted.out.data = out;
  converted.g.data = g;
  converted.x.data = x;
  converted.out.stride[0] = converted.g.stride[0] = converted.x.stride[0] = channels;
  for (int64_t p = tile.p, rows; p < tile.pEnd; p += rows) {
    rows = MIN(most, tile.pEnd - p);
    const TileRows gRows = tileRows(b, &b->g, tile, p, rows), xRows = tileRows(b, &b->x, tile, p, rows),
                   outRows = tileRows(b, &b->out, tile, p, rows);
    if (readsG(map)) widenRows(&gRows, 0, rows, g);
    if (readsX(map)) widenRows(&xRows, 0, rows, x);
    channelsLastApply(&converted, (Tile){0, channels, 0, rows}, map, k);
    narrowRows(&outRows, out);
  }
}

void THNN_(batchNormTileApply)(const BatchNorm *b, Tile tile, ElementMap map, const Coefficients *k)
{
  if (b->layout == LAYOUT_CHANNELS_FIRST) channelsFirstApply(b, tile, map, k);
  else if (b->layout != LAYOUT_CHANNELS_LAST) stridedApply(b, tile, map, k);
  else if (isHalf(b->out.type)) applyConvertedRows(b, tile, map, k);
  else channelsLastApply(b, tile, map, k);
}
