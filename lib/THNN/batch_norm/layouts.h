#ifndef THNN_BATCH_NORM_LAYOUTS_H
#define THNN_BATCH_NORM_LAYOUTS_H

/* Batch normalization inside one box, some channels x some positions: statistics, sums of gradients and what is done
   to each element, for each layout. Planes and gathered tiles are runs of neighbouring values of one channel, rows are
   runs of neighbouring channels. */

#include "batch_norm/batch_norm.h"
#include "runtime/streaming.h"

/* Sums run in `real` over at most PIECE values (rows: PIECE_ROWS), shifted by the mean of what came before, and
   are then merged in accreal: as fast as one plain pass, and as exact as two. */
#define PIECE 16384
#define PIECE_ROWS 256

/* Channels of a box at most: what arrays on the stack have room for. */
#define CHANNELS 512

/* Tiles of the strided layout, TILE positions of TILE_WIDTH channels: two fit into the first-level cache. */
#define TILE_WIDTH 16
#define TILE ((int)(1344 / sizeof(real)))
#define TILE_PITCH (TILE + (int)(64 / sizeof(real)))

/* Values that are fetched before they are used: so many ahead. */
#define AHEAD ((int64_t)(THNN_PREFETCH_DISTANCE / sizeof(real)))

#define ALWAYS_INLINE inline __attribute__((always_inline))

static inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
static inline int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

typedef struct Box {
  int64_t c, c_end, p, p_end;
} Box;

/* ---- what is done to one element ---- */

static ALWAYS_INLINE vreal normalized(vreal x, vreal mean, vreal scale, vreal bias)
{
  return (x - mean) * scale + bias;
}

/* What of g comes through relu to its input y. Like relu itself it lets NaN through, as torch does. */
static ALWAYS_INLINE vreal passed(vreal g, vreal y)
{
  const vreal zero = {0};
  return v_sel(v_le(y, zero), zero, g);
}

#ifndef THNN_BATCH_MAPS
#define THNN_BATCH_MAPS

/* From x, g or both to out. SCALE is the gradient where the statistics are constants. */
typedef enum THNNBatchMap { NORMALIZE, NORMALIZE_RELU, SCALE, SCALE_RELU, GRADIENT, GRADIENT_RELU } THNNBatchMap;

#define READS_X(map) ((map) != SCALE)
#define READS_G(map) ((map) >= SCALE)

/* statement(map) with a map that the compiler knows. */
#define FOR_MAP(map, statement)  \
  do {                           \
    switch (map) {               \
    case NORMALIZE:              \
      statement(NORMALIZE);      \
      break;                     \
    case NORMALIZE_RELU:         \
      statement(NORMALIZE_RELU); \
      break;                     \
    case SCALE:                  \
      statement(SCALE);          \
      break;                     \
    case SCALE_RELU:             \
      statement(SCALE_RELU);     \
      break;                     \
    case GRADIENT:               \
      statement(GRADIENT);       \
      break;                     \
    case GRADIENT_RELU:          \
      statement(GRADIENT_RELU);  \
      break;                     \
    }                            \
  } while (0)

#endif

/* The coefficients of some channels, side by side: neighbouring ones, or one VL times. */
typedef struct Channels {
  vreal mean, scale, bias, slope, shift;
} Channels;

static ALWAYS_INLINE vreal mapped(THNNBatchMap map, vreal g, vreal x, Channels k)
{
  const vreal zero = {0}, y = normalized(x, k.mean, k.scale, k.bias);
  if (map == NORMALIZE) return y;
  if (map == NORMALIZE_RELU) return v_max(zero, y);
  if (map == SCALE_RELU || map == GRADIENT_RELU) g = passed(g, y);
  if (map == SCALE || map == SCALE_RELU) return g * k.scale;
  return g * k.scale + ((x - k.mean) * k.slope + k.shift);
}

/* ---- vectors of channels: fetched into arrays, so that the loops over them are plain ones ---- */

static inline real *address(const THTensor *vector, int64_t c) { return TH_DATA(vector) + c * vector->stride[0]; }

static void fetch(const THTensor *vector, int64_t first, int64_t n, real otherwise, real *to)
{
  if (vector == NULL)
    for (int64_t j = 0; j < n; j++) to[j] = otherwise;
  else
    for (int64_t j = 0; j < n; j++) to[j] = *address(vector, first + j);
}

static inline accreal inverseDeviation(accreal variance, accreal eps)
{
  return variance + eps == 0 ? 0 : 1 / sqrt(variance + eps);
}

static void fetchInverse(const BatchVectors *v, int64_t first, int64_t n, accreal *inverse)
{
  real values[CHANNELS];
  fetch(v->inverse != NULL ? v->inverse : v->variance, first, n, 0, values);
  if (v->inverse != NULL)
    for (int64_t j = 0; j < n; j++) inverse[j] = values[j];
  else
    for (int64_t j = 0; j < n; j++) inverse[j] = inverseDeviation(values[j], v->eps);
}

/* The coefficients of the channels of a box. */
typedef struct Coefficients {
  real mean[CHANNELS], scale[CHANNELS], bias[CHANNELS], slope[CHANNELS], shift[CHANNELS];
} Coefficients;

/* Those of the forward, and the inverse deviations. */
static void fetchForward(const BatchVectors *v, int64_t first, int64_t n, accreal *inverse, Coefficients *k)
{
  fetchInverse(v, first, n, inverse);
  fetch(v->mean, first, n, 0, k->mean);
  fetch(v->weight, first, n, 1, k->scale);
  fetch(v->bias, first, n, 0, k->bias);
  for (int64_t j = 0; j < n; j++) {
    k->scale[j] = (real)(inverse[j] * k->scale[j]);
    k->slope[j] = k->shift[j] = 0;
  }
}

static ALWAYS_INLINE Channels sameChannel(const Coefficients *k, int64_t j)
{
  const Channels one = {v_set1(k->mean[j]), v_set1(k->scale[j]), v_set1(k->bias[j]), v_set1(k->slope[j]),
                        v_set1(k->shift[j])};
  return one;
}

/* ---- runs: `runs` pieces of `length` neighbouring values, each `pitch` after the one before ---- */

/* From a run to the one that is AHEAD values further on, or 0: `left` runs are worth fetching ahead. */
static inline int64_t fetchAheadBytes(int64_t left, int64_t length, int64_t pitch)
{
  const int64_t runs = ceilDiv(AHEAD, length);
  if (length > PIECE) return left > 0 ? AHEAD : 0;
  return runs < left ? runs * pitch : 0;
}

/* Four vectors. */
static ALWAYS_INLINE void prefetch(const real *p)
{
#pragma GCC unroll 4
  for (int i = 0; i < 4 * VL; i += (int)(64 / sizeof(real))) __builtin_prefetch(p + i);
}

/* A value near the mean of what follows, and equal to it where all are equal. */
static real nearMean(const real *x, int64_t length)
{
  return length < VL ? x[0] : x[0] + v_sum(v_load(x) - v_set1(x[0])) / VL;
}

/* sum(x - shift) and sum((x - shift)^2) */
static void runSums(const real *x, int64_t runs, int64_t left, int64_t length, int64_t pitch, real shift,
                    accreal *sum, accreal *squares)
{
  const vreal k = v_set1(shift);
  const int tail = (int)(length % VL);
  real lanes[VBYTES / sizeof(real)];
  v_store(lanes, k);
  const vreal k_tail = v_load_n(lanes, tail);
  vreal s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, q0 = {0}, q1 = {0}, q2 = {0}, q3 = {0};
#define ADD(i, value)         \
  do {                        \
    const vreal d = (value);  \
    s##i += d, q##i += d * d; \
  } while (0)
  for (int64_t r = 0; r < runs; r++, x += pitch) {
    const real *p = x, *end = x + length - tail;
    const int64_t ahead = fetchAheadBytes(left - r, length, pitch);
    for (; p + 4 * VL <= end; p += 4 * VL) {
      if (ahead) prefetch(p + ahead);
      ADD(0, v_load(p) - k);
      ADD(1, v_load(p + VL) - k);
      ADD(2, v_load(p + 2 * VL) - k);
      ADD(3, v_load(p + 3 * VL) - k);
    }
    /* Short runs are common: the rest goes to different sums as well. */
    if (p < end) ADD(0, v_load(p) - k);
    if (p + VL < end) ADD(1, v_load(p + VL) - k);
    if (p + 2 * VL < end) ADD(2, v_load(p + 2 * VL) - k);
    if (tail) ADD(3, v_load_n(end, tail) - k_tail);
  }
#undef ADD
  *sum = v_sum((s0 + s1) + (s2 + s3));
  *squares = v_sum((q0 + q1) + (q2 + q3));
}

/* Mean and centred squares in two passes of accreal: for values that a shift or their size makes unfit for the
   sums above. */
static __attribute__((noinline)) void runMoments(const real *x, int64_t runs, int64_t length, int64_t pitch,
                                                 accreal *mean, accreal *squares)
{
  const accreal first = x[0], n = (accreal)(runs * length);
  accreal sum = 0, square = 0;
  for (int64_t r = 0; r < runs; r++) THNN_PRAGMA(omp simd reduction(+ : sum))
  for (int64_t i = 0; i < length; i++) sum += x[r * pitch + i] - first;
  const accreal m = first + sum / n;
  for (int64_t r = 0; r < runs; r++) THNN_PRAGMA(omp simd reduction(+ : square))
  for (int64_t i = 0; i < length; i++) square += (x[r * pitch + i] - m) * (x[r * pitch + i] - m);
  *mean = m;
  *squares = square;
}

/* Whether sums whose shift proved to be `off` away from the mean of their n values lost too much beside the
   squares they are to be joined with, or overflowed. Squares that were lost before stay lost. */
static inline bool shiftIsUnfit(accreal mean, accreal squares, int64_t count, accreal new_mean,
                                accreal new_squares, int64_t n, accreal off)
{
  const accreal apart = new_mean - mean, weight = (accreal)count * (accreal)n / (accreal)(count + n);
  const accreal joined = squares + new_squares + apart * apart * weight;
  return (squares < (accreal)INFINITY) & !((off * off * (accreal)n <= 16 * joined) & (joined < (accreal)INFINITY));
}

/* Joins the moments of runs with those of `count` values before. */
static void joinRuns(const real *x, int64_t runs, int64_t left, int64_t length, int64_t pitch, accreal *mean,
                     accreal *squares, int64_t count)
{
  const int64_t n = runs * length;
  const real shift = count == 0 ? nearMean(x, length) : (real)*mean;
  accreal sum, square;
  runSums(x, runs, left, length, pitch, shift, &sum, &square);
  const accreal off = sum / (accreal)n;
  accreal new_mean = shift + off, new_squares = square - sum * off;
  if (shiftIsUnfit(*mean, *squares, count, new_mean, new_squares, n, off))
    runMoments(x, runs, length, pitch, &new_mean, &new_squares);
  THNN_(Batch_merge)(1, mean, squares, (accreal)count, &new_mean, &new_squares, (accreal)n);
}

static inline bool isFiniteResult(accreal a, accreal b) { return fabs(a) + fabs(b) < (accreal)INFINITY; }

/* g, or what of it comes through relu. */
static ALWAYS_INLINE vreal incoming(vreal g, vreal x, Channels k, bool relu)
{
  return relu ? passed(g, normalized(x, k.mean, k.scale, k.bias)) : g;
}

/* Adds sum(g) and sum(g * (x - mean)) of channel j of the coefficients, in accreal throughout. */
static __attribute__((noinline)) void addRunDotsExactly(const real *g, const real *x, int64_t runs, int64_t length,
                                                        int64_t g_pitch, int64_t x_pitch, const Coefficients *c,
                                                        int64_t j, bool relu, accreal *sum, accreal *dot)
{
  const Channels k = sameChannel(c, j);
  real gs[VBYTES / sizeof(real)];
  for (int64_t r = 0; r < runs; r++)
    for (int64_t i = 0; i < length; i += VL) {
      const real *p = g + r * g_pitch + i, *q = x + r * x_pitch + i;
      const int n = (int)smaller(length - i, VL);
      v_store(gs, incoming(v_load_n(p, n), v_load_n(q, n), k, relu));
      for (int l = 0; l < n; l++) {
        *sum += gs[l];
        *dot += (accreal)gs[l] * ((accreal)q[l] - c->mean[j]);
      }
    }
}

/* The same, fast. */
static ALWAYS_INLINE void addRunDotsAs(const real *g, const real *x, int64_t runs, int64_t left, int64_t length,
                                       int64_t g_pitch, int64_t x_pitch, const Coefficients *c, int64_t j,
                                       bool relu, accreal *sum, accreal *dot)
{
  const Channels k = sameChannel(c, j);
  const int tail = (int)(length % VL);
  vreal s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, q0 = {0}, q1 = {0}, q2 = {0}, q3 = {0};
#define ADD(i, gs, xs)                            \
  do {                                            \
    const vreal xv = (xs);                        \
    const vreal gv = incoming((gs), xv, k, relu); \
    s##i += gv, q##i += gv * (xv - k.mean);       \
  } while (0)
  for (int64_t r = 0; r < runs; r++) {
    const real *p = g + r * g_pitch, *q = x + r * x_pitch, *end = p + length - tail;
    const int64_t g_ahead = fetchAheadBytes(left - r, length, g_pitch);
    const int64_t x_ahead = fetchAheadBytes(left - r, length, x_pitch);
    for (; p + 4 * VL <= end; p += 4 * VL, q += 4 * VL) {
      if (g_ahead) prefetch(p + g_ahead), prefetch(q + x_ahead);
      ADD(0, v_load(p), v_load(q));
      ADD(1, v_load(p + VL), v_load(q + VL));
      ADD(2, v_load(p + 2 * VL), v_load(q + 2 * VL));
      ADD(3, v_load(p + 3 * VL), v_load(q + 3 * VL));
    }
    if (p < end) ADD(0, v_load(p), v_load(q));
    if (p + VL < end) ADD(1, v_load(p + VL), v_load(q + VL));
    if (p + 2 * VL < end) ADD(2, v_load(p + 2 * VL), v_load(q + 2 * VL));
    if (tail) ADD(3, v_load_n(end, tail), v_load_n(q + (end - p), tail));
  }
#undef ADD
  const accreal s = v_sum((s0 + s1) + (s2 + s3)), d = v_sum((q0 + q1) + (q2 + q3));
  if (isFiniteResult(s, d)) *sum += s, *dot += d;
  else addRunDotsExactly(g, x, runs, length, g_pitch, x_pitch, c, j, relu, sum, dot);
}

static void addRunDots(const real *g, const real *x, int64_t runs, int64_t left, int64_t length, int64_t g_pitch,
                       int64_t x_pitch, const Coefficients *c, int64_t j, bool relu, accreal *sum, accreal *dot)
{
  if (relu) addRunDotsAs(g, x, runs, left, length, g_pitch, x_pitch, c, j, true, sum, dot);
  else addRunDotsAs(g, x, runs, left, length, g_pitch, x_pitch, c, j, false, sum, dot);
}

static ALWAYS_INLINE vreal loadSome(const real *p, int n) { return n == VL ? v_load(p) : v_load_n(p, n); }

static ALWAYS_INLINE void putSome(real *p, vreal value, int n, bool stream)
{
  if (n < VL) v_store_n(p, value, n);
  else if (stream) v_stream(p, value);
  else v_store(p, value);
}

/* n <= VL values; the map may not read g, or x. */
static ALWAYS_INLINE void mapSome(THNNBatchMap map, real *out, const real *g, const real *x, int n, Channels k,
                                  bool stream)
{
  const vreal zero = {0};
  const vreal value = mapped(map, READS_G(map) ? loadSome(g, n) : zero, READS_X(map) ? loadSome(x, n) : zero, k);
  putSome(out, value, n, stream);
}

/* Streaming stores need vectors at addresses that are multiples of their size. */
static inline int64_t unaligned(const real *p, int64_t length)
{
  return smaller((int64_t)(-(uintptr_t)p % VBYTES / sizeof(real)), length);
}

static ALWAYS_INLINE void mapRun(THNNBatchMap map, real *out, const real *g, const real *x, int64_t length,
                                 Channels k, bool stream, int64_t g_ahead, int64_t x_ahead)
{
  int64_t i = 0;
  if (stream) {
    i = unaligned(out, length);
    if (i) mapSome(map, out, g, x, (int)i, k, false);
  }
  for (; i + VL <= length; i += VL) {
    if (stream && x_ahead) {
      if (READS_G(map)) __builtin_prefetch(g + i + g_ahead);
      if (READS_X(map)) __builtin_prefetch(x + i + x_ahead);
    }
    mapSome(map, out + i, g + i, x + i, VL, k, stream);
  }
  const int n = (int)(length - i);
  if (n) mapSome(map, out + i, g + i, x + i, n, k, false);
}

/* `again`: the last run comes first, since it was read last and is the likeliest to be in the cache. */
static ALWAYS_INLINE void mapRuns(THNNBatchMap map, real *out, const real *g, const real *x, int64_t runs,
                                  int64_t length, int64_t out_pitch, int64_t g_pitch, int64_t x_pitch, Channels k,
                                  bool stream, bool again)
{
  for (int64_t i = 0; i < runs; i++) {
    const int64_t r = again ? runs - 1 - i : i;
    const int64_t g_ahead = again ? -fetchAheadBytes(runs - i, length, g_pitch) : AHEAD;
    const int64_t x_ahead = again ? -fetchAheadBytes(runs - i, length, x_pitch) : AHEAD;
    real *o = out + r * out_pitch;
    mapRun(map, o, READS_G(map) ? g + r * g_pitch : o, READS_X(map) ? x + r * x_pitch : o, length, k, stream,
           g_ahead, x_ahead);
  }
}

/* Channel j of the coefficients. */
static void applyRuns(THNNBatchMap map, real *out, const real *g, const real *x, int64_t runs, int64_t length,
                      int64_t out_pitch, int64_t g_pitch, int64_t x_pitch, const Coefficients *c, int64_t j,
                      bool stream, bool again)
{
  const Channels k = sameChannel(c, j);
#define RUNS(map)                                                                                   \
  do {                                                                                              \
    if (stream) mapRuns(map, out, g, x, runs, length, out_pitch, g_pitch, x_pitch, k, true, again); \
    else mapRuns(map, out, g, x, runs, length, out_pitch, g_pitch, x_pitch, k, false, again);       \
  } while (0)
  FOR_MAP(map, RUNS);
#undef RUNS
}

/* ---- planes ---- */

static inline const real *plane(const BatchView *view, int64_t c, int64_t n, int64_t l)
{
  return view->data == NULL ? NULL : view->data + c * view->channel + n * view->stride[0] + l;
}

/* The piece at position p: whole planes, or a part of one. */
typedef struct Piece {
  int64_t n, l, runs, length;
} Piece;

static inline Piece piece(const Batch *b, int64_t p, int64_t end)
{
  const int64_t length = b->size[b->dims - 1];
  Piece piece = {0, p, 1, 0};
  if (b->dims == 2) piece.n = p / length, piece.l = p % length;
  if (length <= PIECE) {
    piece.runs = smaller(end - p, PIECE) / length;
    piece.length = length;
  } else {
    piece.length = smaller(smaller(length - piece.l, end - p), PIECE);
  }
  return piece;
}

/* Runs from position p to the end of a box, if they are worth fetching ahead. */
static inline int64_t left(const Batch *b, int64_t p, int64_t end)
{
  return b->large ? ceilDiv(end - p, b->size[b->dims - 1]) : 0;
}

static void planesStatistics(const Batch *b, Box box, accreal *mean, accreal *squares)
{
  for (int64_t c = box.c; c < box.c_end; c++)
    for (int64_t p = box.p, count = 0; p < box.p_end;) {
      const Piece at = piece(b, p, box.p_end);
      joinRuns(plane(&b->x, c, at.n, at.l), at.runs, left(b, p, box.p_end), at.length, b->x.stride[0],
               mean + (c - box.c), squares + (c - box.c), count);
      p += at.runs * at.length;
      count += at.runs * at.length;
    }
}

static void planesDots(const Batch *b, Box box, const Coefficients *k, bool relu, accreal *sum, accreal *dot)
{
  for (int64_t c = box.c; c < box.c_end; c++)
    for (int64_t p = box.p; p < box.p_end;) {
      const Piece at = piece(b, p, box.p_end);
      addRunDots(plane(&b->g, c, at.n, at.l), plane(&b->x, c, at.n, at.l), at.runs, left(b, p, box.p_end),
                 at.length, b->g.stride[0], b->x.stride[0], k, c - box.c, relu, sum + (c - box.c),
                 dot + (c - box.c));
      p += at.runs * at.length;
    }
}

static void planesApply(const Batch *b, Box box, THNNBatchMap map, const Coefficients *coefficients)
{
  const int64_t length = b->size[b->dims - 1];
  const int64_t o_pitch = b->out.stride[0], g_pitch = b->g.stride[0], x_pitch = b->x.stride[0];
  const int64_t first = box.p / length, last = (box.p_end - 1) / length;
  if (length <= PIECE) {
    for (int64_t i = 0; i < box.c_end - box.c; i++) {
      const int64_t c = b->reduces ? box.c_end - 1 - i : box.c + i;
      applyRuns(map, (real *)plane(&b->out, c, first, 0), plane(&b->g, c, first, 0), plane(&b->x, c, first, 0),
                last - first + 1, length, o_pitch, g_pitch, x_pitch, coefficients, c - box.c, b->stream,
                b->reduces);
    }
    return;
  }
  for (int64_t n = last; n >= first; n--) {
    const int64_t from = n == first ? box.p % length : 0;
    int64_t end = n == last ? box.p_end - n * length : length;
    while (end > from) {
      const int64_t l = larger(from, (end - 1) / PIECE * PIECE);
      for (int64_t c = box.c; c < box.c_end; c++)
        applyRuns(map, (real *)plane(&b->out, c, n, l), plane(&b->g, c, n, l), plane(&b->x, c, n, l), 1, end - l,
                  0, 0, 0, coefficients, c - box.c, b->stream, b->reduces);
      end = l;
    }
  }
}

/* ---- rows ---- */

/* The functions named ...Columns work on n <= VL neighbouring columns of `count` rows, the ones named ...Rows on
   all columns of them. `count` is a constant: what belongs to a column is loaded once for so many rows. */
#define SUM_ROWS 8
#define APPLY_ROWS 4

/* Columns of room for the sums of a box: vectors are whole there. */
#define ROW_SUMS (CHANNELS + VBYTES / sizeof(real))

static ALWAYS_INLINE void sumColumns(const real *x, int count, int64_t pitch, bool fetch, int n, const real *shift,
                                     real *sum, real *squares)
{
  const vreal k = loadSome(shift, n);
  vreal s = {0}, q = {0};
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    if (fetch) thnn_prefetchAhead(x + r * pitch, VBYTES);
    const vreal d = loadSome(x + r * pitch, n) - k;
    s += d, q += d * d;
  }
  v_store(sum, v_load(sum) + s);
  v_store(squares, v_load(squares) + q);
}

static ALWAYS_INLINE void sumRows(const real *x, int count, int64_t pitch, bool fetch, int64_t width,
                                  const real *shift, real *sum, real *squares)
{
  int64_t j = 0;
  for (; j + VL <= width; j += VL) sumColumns(x + j, count, pitch, fetch, VL, shift + j, sum + j, squares + j);
  if (j < width) sumColumns(x + j, count, pitch, fetch, (int)(width - j), shift + j, sum + j, squares + j);
}

static void rowsStatistics(const Batch *b, Box box, accreal *mean, accreal *squares)
{
  const int64_t width = box.c_end - box.c, pitch = b->dims > 0 ? b->x.stride[0] : 0;
  real shift[CHANNELS], sum[ROW_SUMS], square[ROW_SUMS];
  accreal new_mean[CHANNELS], new_squares[CHANNELS];
  for (int64_t p = box.p, count = 0, rows; p < box.p_end; p += rows, count += rows) {
    rows = smaller(box.p_end - p, PIECE_ROWS);
    const real *x = b->x.data + box.c + p * pitch;
    if (count == 0) {
      const int64_t near = rows < 4 ? 0 : pitch;
      for (int64_t j = 0; j < width; j++)
        shift[j] = x[j] + ((x[j + near] - x[j]) + (x[j + 2 * near] - x[j]) + (x[j + 3 * near] - x[j])) / 4;
    } else {
      for (int64_t j = 0; j < width; j++) shift[j] = (real)mean[j];
    }
    memset(sum, 0, sizeof(real) * (size_t)(width + VL));
    memset(square, 0, sizeof(real) * (size_t)(width + VL));
    int64_t r = 0;
    for (; r + SUM_ROWS <= rows; r += SUM_ROWS)
      sumRows(x + r * pitch, SUM_ROWS, pitch, b->large, width, shift, sum, square);
    for (; r < rows; r++) sumRows(x + r * pitch, 1, pitch, b->large, width, shift, sum, square);

    int unfit = 0;
    const accreal n = (accreal)rows;
    for (int64_t j = 0; j < width; j++) {
      const accreal off = sum[j] / n;
      new_mean[j] = shift[j] + off;
      new_squares[j] = square[j] - sum[j] * off;
      unfit |= shiftIsUnfit(mean[j], squares[j], count, new_mean[j], new_squares[j], rows, off);
    }
    if (unfit)
      for (int64_t j = 0; j < width; j++)
        if (shiftIsUnfit(mean[j], squares[j], count, new_mean[j], new_squares[j], rows, sum[j] / n))
          runMoments(x + j, rows, 1, pitch, new_mean + j, new_squares + j);
    THNN_(Batch_merge)(width, mean, squares, (accreal)count, new_mean, new_squares, (accreal)rows);
  }
}

/* Coefficients of n channels from j on. */
static ALWAYS_INLINE Channels someChannels(const Coefficients *c, int64_t j, int n)
{
  const Channels some = {loadSome(c->mean + j, n), loadSome(c->scale + j, n), loadSome(c->bias + j, n),
                         loadSome(c->slope + j, n), loadSome(c->shift + j, n)};
  return some;
}

static ALWAYS_INLINE void dotColumns(const real *g, const real *x, int count, int64_t g_pitch, int64_t x_pitch,
                                     bool fetch, int n, Channels k, bool relu, real *sum, real *dot)
{
  vreal s = {0}, q = {0};
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    if (fetch) thnn_prefetchAhead(g + r * g_pitch, VBYTES), thnn_prefetchAhead(x + r * x_pitch, VBYTES);
    const vreal xv = loadSome(x + r * x_pitch, n);
    const vreal gv = incoming(loadSome(g + r * g_pitch, n), xv, k, relu);
    s += gv, q += gv * (xv - k.mean);
  }
  v_store(sum, v_load(sum) + s);
  v_store(dot, v_load(dot) + q);
}

static ALWAYS_INLINE void dotRows(const real *g, const real *x, int count, int64_t g_pitch, int64_t x_pitch,
                                  bool fetch, int64_t width, const Coefficients *c, bool relu, real *sum,
                                  real *dot)
{
  for (int64_t j = 0; j + VL <= width; j += VL)
    dotColumns(g + j, x + j, count, g_pitch, x_pitch, fetch, VL, someChannels(c, j, VL), relu, sum + j, dot + j);
  const int n = (int)(width % VL);
  const int64_t j = width - n;
  if (n)
    dotColumns(g + j, x + j, count, g_pitch, x_pitch, fetch, n, someChannels(c, j, n), relu, sum + j, dot + j);
}

static ALWAYS_INLINE void dotAllRows(const real *g, const real *x, int64_t rows, int64_t g_pitch, int64_t x_pitch,
                                     bool fetch, int64_t width, const Coefficients *c, bool relu, real *sum,
                                     real *dot)
{
  int64_t r = 0;
  for (; r + SUM_ROWS <= rows; r += SUM_ROWS)
    dotRows(g + r * g_pitch, x + r * x_pitch, SUM_ROWS, g_pitch, x_pitch, fetch, width, c, relu, sum, dot);
  for (; r < rows; r++)
    dotRows(g + r * g_pitch, x + r * x_pitch, 1, g_pitch, x_pitch, fetch, width, c, relu, sum, dot);
}

static void rowsDots(const Batch *b, Box box, const Coefficients *c, bool relu, accreal *sum, accreal *dot)
{
  const int64_t width = box.c_end - box.c;
  const int64_t g_pitch = b->dims > 0 ? b->g.stride[0] : 0, x_pitch = b->dims > 0 ? b->x.stride[0] : 0;
  real s[ROW_SUMS], d[ROW_SUMS];
  for (int64_t p = box.p, rows; p < box.p_end; p += rows) {
    rows = smaller(box.p_end - p, PIECE_ROWS);
    const real *g = b->g.data + box.c + p * g_pitch, *x = b->x.data + box.c + p * x_pitch;
    memset(s, 0, sizeof(real) * (size_t)(width + VL));
    memset(d, 0, sizeof(real) * (size_t)(width + VL));
    if (relu) dotAllRows(g, x, rows, g_pitch, x_pitch, b->large, width, c, true, s, d);
    else dotAllRows(g, x, rows, g_pitch, x_pitch, b->large, width, c, false, s, d);

    int unfit = 0;
    for (int64_t j = 0; j < width; j++) unfit |= !isFiniteResult(s[j], d[j]);
    if (!unfit)
      for (int64_t j = 0; j < width; j++) sum[j] += s[j], dot[j] += d[j];
    else
      for (int64_t j = 0; j < width; j++)
        if (isFiniteResult(s[j], d[j])) sum[j] += s[j], dot[j] += d[j];
        else addRunDotsExactly(g + j, x + j, rows, 1, g_pitch, x_pitch, c, j, relu, sum + j, dot + j);
  }
}

/* Rows are gone through from the last one to the first. */
static ALWAYS_INLINE void applyColumns(THNNBatchMap map, real *out, const real *g, const real *x, int count,
                                       int64_t out_pitch, int64_t g_pitch, int64_t x_pitch, int n, Channels k,
                                       bool stream, bool fetch)
{
#pragma GCC unroll 8
  for (int r = 0; r < count; r++) {
    if (fetch && READS_G(map)) __builtin_prefetch(g + r * g_pitch - AHEAD);
    if (fetch && READS_X(map)) __builtin_prefetch(x + r * x_pitch - AHEAD);
    mapSome(map, out + r * out_pitch, g + r * g_pitch, x + r * x_pitch, n, k, stream);
  }
}

static ALWAYS_INLINE void applyRows(THNNBatchMap map, const Batch *b, Box box, int64_t row, int count,
                                    const Coefficients *c, bool stream)
{
  const int64_t width = box.c_end - box.c;
  const int64_t out_pitch = b->dims > 0 ? b->out.stride[0] : 0;
  const int64_t g_pitch = b->dims > 0 && READS_G(map) ? b->g.stride[0] : 0;
  const int64_t x_pitch = b->dims > 0 && READS_X(map) ? b->x.stride[0] : 0;
  real *out = b->out.data + box.c + row * out_pitch;
  const real *g = READS_G(map) ? b->g.data + box.c + row * g_pitch : out;
  const real *x = READS_X(map) ? b->x.data + box.c + row * x_pitch : out;
  for (int64_t j = 0; j + VL <= width; j += VL)
    applyColumns(map, out + j, g + j, x + j, count, out_pitch, g_pitch, x_pitch, VL, someChannels(c, j, VL),
                 stream, b->large);
  const int n = (int)(width % VL);
  const int64_t j = width - n;
  if (n)
    applyColumns(map, out + j, g + j, x + j, count, out_pitch, g_pitch, x_pitch, n, someChannels(c, j, n), stream,
                 b->large);
}

static ALWAYS_INLINE void rowsApplyAs(THNNBatchMap map, const Batch *b, Box box, const Coefficients *c,
                                      bool stream)
{
  int64_t row = box.p_end;
  while (row - APPLY_ROWS >= box.p) applyRows(map, b, box, row -= APPLY_ROWS, APPLY_ROWS, c, stream);
  while (row > box.p) applyRows(map, b, box, --row, 1, c, stream);
}

static void rowsApply(const Batch *b, Box box, THNNBatchMap map, const Coefficients *c)
{
#define ROWS(map)                                     \
  do {                                                \
    if (b->stream) rowsApplyAs(map, b, box, c, true); \
    else rowsApplyAs(map, b, box, c, false);          \
  } while (0)
  FOR_MAP(map, ROWS);
#undef ROWS
}

/* ---- anything else: gathered into tiles of runs, one run for each channel ---- */

static inline void move(real *tile, real *data, bool gather)
{
  if (gather) *tile = *data;
  else *data = *tile;
}

/* Moves `count` positions from p on of the box's channels between a view and a tile. */
static ALWAYS_INLINE void moveTile(const Batch *b, const BatchView *view, Box box, int64_t p, int64_t count,
                                   real *tile, bool gather)
{
  const int64_t width = box.c_end - box.c, inner = b->dims > 0 ? b->size[b->dims - 1] : 1;
  const int64_t step = b->dims > 0 ? view->stride[b->dims - 1] : 0, channel = view->channel;
  while (count > 0) {
    const int64_t run = smaller(inner - p % inner, count);
    real *data = view->data + box.c * channel;
    for (int64_t d = b->dims - 1, rest = p; d >= 0; rest /= b->size[d--])
      data += rest % b->size[d] * view->stride[d];
    if (step < channel) {
      for (int64_t c = 0; c < width; c++)
        for (int64_t i = 0; i < run; i++) move(tile + c * TILE_PITCH + i, data + c * channel + i * step, gather);
    } else {
      for (int64_t i = 0; i < run; i++)
        for (int64_t c = 0; c < width; c++) move(tile + c * TILE_PITCH + i, data + c * channel + i * step, gather);
    }
    p += run;
    tile += run;
    count -= run;
  }
}

static void gather(const Batch *b, const BatchView *view, Box box, int64_t p, int64_t count, real *tile)
{
  moveTile(b, view, box, p, count, tile, true);
}

static void scatter(const Batch *b, const BatchView *view, Box box, int64_t p, int64_t count, real *tile)
{
  moveTile(b, view, box, p, count, tile, false);
}

static void stridedStatistics(const Batch *b, Box box, accreal *mean, accreal *squares)
{
  real tile[TILE_WIDTH * TILE_PITCH];
  for (int64_t p = box.p, count; p < box.p_end; p += count) {
    count = smaller(box.p_end - p, TILE);
    gather(b, &b->x, box, p, count, tile);
    for (int64_t c = 0; c < box.c_end - box.c; c++)
      joinRuns(tile + c * TILE_PITCH, 1, 0, count, 0, mean + c, squares + c, p - box.p);
  }
}

static void stridedDots(const Batch *b, Box box, const Coefficients *k, bool relu, accreal *sum, accreal *dot)
{
  real g[TILE_WIDTH * TILE_PITCH], x[TILE_WIDTH * TILE_PITCH];
  for (int64_t p = box.p, count; p < box.p_end; p += count) {
    count = smaller(box.p_end - p, TILE);
    gather(b, &b->g, box, p, count, g);
    gather(b, &b->x, box, p, count, x);
    for (int64_t c = 0; c < box.c_end - box.c; c++)
      addRunDots(g + c * TILE_PITCH, x + c * TILE_PITCH, 1, 0, count, 0, 0, k, c, relu, sum + c, dot + c);
  }
}

static void stridedApply(const Batch *b, Box box, THNNBatchMap map, const Coefficients *coefficients)
{
  real g[TILE_WIDTH * TILE_PITCH], x[TILE_WIDTH * TILE_PITCH];
  real *out = READS_G(map) ? g : x;
  for (int64_t end = box.p_end, p; end > box.p; end = p) {
    p = larger(end - TILE, box.p);
    if (READS_G(map)) gather(b, &b->g, box, p, end - p, g);
    if (READS_X(map)) gather(b, &b->x, box, p, end - p, x);
    for (int64_t c = 0; c < box.c_end - box.c; c++)
      applyRuns(map, out + c * TILE_PITCH, g + c * TILE_PITCH, x + c * TILE_PITCH, 1, end - p, 0, 0, 0,
                coefficients, c, false, false);
    scatter(b, &b->out, box, p, end - p, out);
  }
}

#endif
