#ifndef THNN_RESAMPLING_CHUNK_H
#define THNN_RESAMPLING_CHUNK_H

/* A chunk is a range of results along the width, prepared for many rows. Where lanes are columns, it is a list of
   vectors of results; each of their taps is a permutation of a window of the row, times a vector of weights. */

#include "resampling/rows.h"
#include "resampling/taps.h"
#include "simd/shuffle.h"

/* Rows that are computed together, so that permutations and weights are loaded once. */
#define CHUNK_ROWS 2
/* Rows of the source that are summed in registers. */
#define WINDOW_ROWS 4
#define CHUNK_TAPS (3072 / VL)

typedef enum WindowKind {
  WINDOW_SCALAR,
  WINDOW_ONE,
  WINDOW_TWO
} WindowKind; /* vectors that the taps are permuted from */

typedef struct Chunk {
  TapTable *taps;
  int64_t first, end; /* results */
  /* Taps of the first result that earlier chunks have added; if not 0, the chunk has only this result. */
  int64_t skipped;
  int64_t nextSkip;     /* the same for the next chunk */
  int64_t offset;       /* of the first result's taps in their list */
  int64_t firstLength;  /* number of taps that this chunk adds to its first result */
  int64_t from, length; /* elements of the row that taps and windows reach */
  bool inside;          /* windows do not reach beyond the row */
  bool single;          /* windows have one vector */
  bool joint;           /* the taps of a vector have one window of one vector */
  int64_t reach;        /* the end of the last window, relative to `from` */
  bool whole;           /* all vectors begin at multiples of VL and have VL lanes */
  bool copies;          /* all results have one tap, of weight 1, in windows of one vector */
  bool pairs;           /* all vectors have two taps in windows of one vector, and every lane has the first tap */
  bool wide; /* all vectors have two taps in one window of two vectors, and every lane has the first tap */
  int vectors;
  int64_t at[CHUNK_TAPS]; /* the first result of each vector, relative to `first` */
  int lanes[CHUNK_TAPS], begin[CHUNK_TAPS + 1];
  int64_t base[CHUNK_TAPS]; /* the first element of the window of each tap, relative to `from` */
  WindowKind window[CHUNK_TAPS];
  vlane local[CHUNK_TAPS][VBYTES / sizeof(real)] __attribute__((aligned(VBYTES)));
  /* 0 for lanes without the tap */
  real weight[CHUNK_TAPS][VBYTES / sizeof(real)] __attribute__((aligned(VBYTES)));
} Chunk;

static inline int64_t listLength(const Chunk *c, int64_t result)
{
  const int64_t i = result - c->taps->first;
  return result == c->first ? c->firstLength : c->taps->start[i + 1] - c->taps->start[i];
}
static inline const Tap *listOf(const Chunk *c, int64_t result)
{
  return c->taps->tap + c->taps->start[result - c->taps->first] + (result == c->first ? c->offset : 0);
}

/* Ends the chunk after `count` taps of its first result. */
static inline void cutList(Chunk *c, int64_t count)
{
  c->end = c->first + 1;
  c->firstLength = count;
  c->nextSkip = c->skipped + count;
}

/* Shortens the chunk until its elements span at most `most`. */
static inline void limitLength(Chunk *c, int64_t most)
{
  int64_t low = INT64_MAX, high = -1;
  for (int64_t i = c->first; i < c->end; i++) {
    const int64_t count = listLength(c, i);
    const Tap *list = listOf(c, i);
    if (count == 0) continue;
    const int64_t newLow = MIN(low, list[0].index), newHigh = MAX(high, list[count - 1].index);
    if (newHigh - newLow >= most) {
      if (i > c->first) {
        c->end = i;
      } else {
        int64_t n = 0;
        while (list[n].index - list[0].index < most) n++;
        cutList(c, n);
        low = list[0].index, high = list[n - 1].index;
      }
      break;
    }
    low = newLow, high = newHigh;
  }
  c->from = high < 0 ? 0 : low;
  c->length = high < 0 ? 1 : high + 1 - low;
}

/* In the backward of a padding, the number of taps before the output at the input's own position, which is neither
   replicated nor mirrored. With these outputs in the same tap of a vector, the windows of all taps are narrow. */
static inline int64_t leadingTaps(const Chunk *c, int64_t result)
{
  const int64_t direct = c->taps->axis->before + result;
  int64_t n = 0;
  while (n < listLength(c, result) && listOf(c, result)[n].index < direct) n++;
  return n;
}

/* Tap t + lead[l] of each lane l of vector v, or tap t if `lead` is NULL; `size` is the length of a whole row. Returns
   the last element of the tap. */
static ALWAYS_INLINE int64_t fillTap(Chunk *c, int v, int64_t t, const int64_t *lead, int at, int64_t size)
{
  int64_t index[VBYTES / sizeof(real)], low = INT64_MAX, high = 0;
  const int64_t first = c->first + c->at[v];
  bool copies = true, haveFirst = true;
  for (int l = 0; l < c->lanes[v]; l++) {
    const int64_t i = lead ? t + lead[l] : t;
    const bool isListed = i >= 0 && i < listLength(c, first + l);
    haveFirst &= isListed || i > 0;
    copies &= isListed;
    if (!isListed) continue;
    const Tap tap = listOf(c, first + l)[i];
    copies &= tap.weight == 1;
    index[l] = tap.index;
    c->weight[at][l] = tap.weight;
    low = MIN(low, tap.index), high = MAX(high, tap.index);
  }
  if (low > high) low = high = c->from;
  c->window[at] = high - low < VL ? WINDOW_ONE : high - low < 2 * VL ? WINDOW_TWO : WINDOW_SCALAR;
  const int64_t width = c->window[at] == WINDOW_SCALAR ? high - low + 1 : c->window[at] * VL;
  if (width <= size) low = MIN(low, size - width);
  else c->inside = false;
  c->single &= c->window[at] == WINDOW_ONE;
  c->copies &= copies && c->window[at] == WINDOW_ONE;
  c->pairs &= haveFirst && c->window[at] == WINDOW_ONE;
  c->wide &= haveFirst && c->window[at] == WINDOW_TWO;
  for (int l = 0; l < VL; l++) c->local[at][l] = c->weight[at][l] != 0 ? (vlane)(index[l] - low) : 0;
  c->base[at] = low;
  return high;
}

/* Gives all taps of vector v, whose last element is `high`, one window of one vector, or two taps with windows of two
   vectors one such window, if it covers them. */
static inline void joinWindows(Chunk *c, int v, int64_t high)
{
  int64_t low = INT64_MAX;
  for (int k = c->begin[v]; k < c->begin[v + 1]; k++) low = MIN(low, c->base[k]);
  c->joint &= high - low < VL;
  c->wide &= high - low < 2 * VL;
  for (int k = c->begin[v]; k < c->begin[v + 1] && (c->joint || c->wide); k++) {
    if (c->base[k] == low) continue;
    for (int l = 0; l < VL; l++) c->local[k][l] += (vlane)(c->base[k] - low);
    c->base[k] = low;
  }
}

static inline void fillVectors(Chunk *c, int64_t size)
{
  const bool isPaddingGradient = c->taps->backward && axisIsPadding(c->taps->axis);
  int n = 0;
  c->vectors = 0;
  c->reach = 0;
  c->inside = c->single = c->joint = c->copies = c->pairs = c->wide = true;
  c->whole = c->first % VL == 0;
  for (int64_t i = c->first; i < c->end; i += VL) {
    const int v = c->vectors;
    int64_t taps = 1, lead[VBYTES / sizeof(real)] = {0}, most = 0;
    c->at[v] = i - c->first;
    c->lanes[v] = (int)MIN(VL, c->end - i);
    if (c->lanes[v] < VL) {
      c->whole = false;
      if (v > 0) c->at[v] = c->end - VL - c->first, c->lanes[v] = VL; /* overlaps the vector before */
    }
    for (int l = 0; l < c->lanes[v] && isPaddingGradient; l++) {
      lead[l] = leadingTaps(c, c->first + c->at[v] + l);
      most = MAX(most, lead[l]);
    }
    for (int l = 0; l < c->lanes[v] && isPaddingGradient; l++) lead[l] -= most;
    for (int l = 0; l < c->lanes[v]; l++) taps = MAX(taps, listLength(c, c->first + c->at[v] + l) - lead[l]);
    if (n + taps > CHUNK_TAPS) {
      if (v > 0) {
        c->end = i;
        break;
      }
      c->lanes[v] = 1;
      c->whole = false;
      lead[0] = 0;
      taps = MIN(MAX(listLength(c, i), 1), CHUNK_TAPS);
      if (taps < listLength(c, i)) cutList(c, taps);
      else c->end = i + 1;
    }
    memset(c->weight[n], 0, sizeof c->weight[n] * (size_t)taps);
    c->begin[v] = n;
    c->copies &= taps == 1;
    c->pairs &= taps == 2;
    c->wide &= taps == 2;
    int64_t high = 0;
    for (int64_t t = 0; t < taps; t++) {
      const int64_t last = isPaddingGradient ? fillTap(c, v, t, lead, n, size) : fillTap(c, v, t, NULL, n, size);
      n++;
      high = MAX(high, last);
    }
    c->begin[v + 1] = n;
    joinWindows(c, v, high);
    c->vectors++;
  }
  for (int k = 0; k < n; k++) {
    c->length += MAX(c->from - c->base[k], 0);
    c->from = MIN(c->from, c->base[k]);
  }
  for (int k = 0; k < n; k++) {
    c->base[k] -= c->from;
    c->reach = MAX(c->reach, c->base[k] + (c->window[k] == WINDOW_ONE ? 1 : 2) * VL);
  }
}

/* Prepares results from `first` on, the first one without its first `skip` taps. The elements span at most `most`, and
   2 * VL more if `lanes` is 1. `size` is the length of a row. */
static inline void chunkFill(Chunk *c, TapTable *taps, int64_t first, int64_t skip, int64_t lanes, int64_t size,
                             int64_t most)
{
  const bool isListed = first >= taps->first && first < taps->end;
  const int64_t i = isListed ? first - taps->first : 0, before = i == 0 ? taps->skipped : 0;
  if (!isListed || skip < before || (skip > before && skip - before >= taps->start[i + 1] - taps->start[i]))
    tapTableFill(taps, taps->axis, taps->backward, first, skip);
  c->taps = taps;
  c->first = first, c->skipped = skip, c->nextSkip = 0;
  c->offset = skip - (first == taps->first ? taps->skipped : 0);
  c->firstLength = taps->start[first - taps->first + 1] - taps->start[first - taps->first] - c->offset;
  c->end = skip > 0 ? first + 1 : taps->end;
  if (taps->continues) cutList(c, c->firstLength);
  limitLength(c, most);
  if (lanes != 1) return;
  if (c->end < resultCount(taps->axis, taps->backward) && c->end - first > VL) c->end -= (c->end - first) % VL;
  fillVectors(c, size);
}

/* --- rows of vectors ------------------------------------------------------------------------------------------ */

static ALWAYS_INLINE vreal lookupWindow(const real *from, const vlane *local, WindowKind window)
{
#if VBYTES > 16
  if (window == WINDOW_ONE) return v_lookup(v_load(from), vi_load(local));
  if (window == WINDOW_TWO) return v_lookup2(v_load(from), v_load(from + VL), vi_load(local));
#endif
  vreal x;
  for (int l = 0; l < VL; l++) x[l] = from[local[l]];
  return x;
}

/* Adds tap k of one vector of each row; `rows` and `window` are constant. */
static ALWAYS_INLINE void addTap(const Chunk *c, int k, int rows, WindowKind window, const real *const *from,
                                 bool isFirst, vreal *sum)
{
  const vreal weight = v_load(c->weight[k]), zero = {0};
  const vmask used = v_ne(weight, zero);
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++) {
    if (isFirst) thnn_prefetchAhead(from[r] + c->base[k], VBYTES);
    const vreal product = lookupWindow(from[r] + c->base[k], c->local[k], window) * weight;
    sum[r] = isFirst ? v_sel(used, product, zero) : v_sel(used, sum[r] + product, sum[r]);
  }
}

static ALWAYS_INLINE void addAnyTap(const Chunk *c, int k, int rows, const real *const *from, bool isFirst,
                                    vreal *sum)
{
  if (c->window[k] == WINDOW_ONE) addTap(c, k, rows, WINDOW_ONE, from, isFirst, sum);
  else if (c->window[k] == WINDOW_TWO) addTap(c, k, rows, WINDOW_TWO, from, isFirst, sum);
  else addTap(c, k, rows, WINDOW_SCALAR, from, isFirst, sum);
}

/* Stores a vector of each row. */
static ALWAYS_INLINE void storeVectors(int rows, real *const *to, int64_t at, int lanes, const vreal *sum,
                                       StoreKind kind)
{
#pragma GCC unroll 4
  for (int r = 0; r < rows; r++)
    if (lanes == VL) storeSum(to[r] + at, sum[r], kind);
    else v_store_n(to[r] + at, sum[r], lanes);
}

static ALWAYS_INLINE void gatherRowsOfVectors(const Chunk *c, int rows, const real *const *source,
                                              real *const *target, StoreKind kind)
{
  const real *from[CHUNK_ROWS];
  real *to[CHUNK_ROWS];
  vreal sum[CHUNK_ROWS];
  for (int r = 0; r < rows; r++) from[r] = source[r], to[r] = target[r];
  if (c->copies) {
    for (int v = 0; v < c->vectors; v++) {
#pragma GCC unroll 4
      for (int r = 0; r < rows; r++) {
        thnn_prefetchAhead(from[r] + c->base[v], VBYTES);
        sum[r] = lookupWindow(from[r] + c->base[v], c->local[v], WINDOW_ONE);
      }
      storeVectors(rows, to, c->at[v], c->lanes[v], sum, kind);
    }
    return;
  }
  if (c->pairs) {
    for (int v = 0; v < c->vectors; v++) {
      const vreal low = v_load(c->weight[2 * v]), high = v_load(c->weight[2 * v + 1]);
      const vmask used = v_ne(high, (vreal){0});
      for (int r = 0; r < rows; r++) {
        const vreal first = lookupWindow(from[r] + c->base[2 * v], c->local[2 * v], WINDOW_ONE) * low;
        const vreal second = lookupWindow(from[r] + c->base[2 * v + 1], c->local[2 * v + 1], WINDOW_ONE);
        sum[r] = v_sel(used, first + second * high, first);
      }
      storeVectors(rows, to, c->at[v], c->lanes[v], sum, kind);
    }
    return;
  }
  for (int v = 0; v < c->vectors; v++) {
    addAnyTap(c, c->begin[v], rows, from, true, sum);
    for (int k = c->begin[v] + 1; k < c->begin[v + 1]; k++) addAnyTap(c, k, rows, from, false, sum);
    storeVectors(rows, to, c->at[v], c->lanes[v], sum, kind);
  }
}

/* The results of one row or CHUNK_ROWS rows. source[r] is element c->from of a row, target[r] the first
   result. */
static __attribute__((noinline)) void gatherVectors(const Chunk *c, int rows, const real *const *source,
                                                    real *const *target, bool streams)
{
  if (rows == 1 && streams) gatherRowsOfVectors(c, 1, source, target, STORE_STREAM);
  else if (rows == 1) gatherRowsOfVectors(c, 1, source, target, STORE_PLAIN);
  else if (streams) gatherRowsOfVectors(c, CHUNK_ROWS, source, target, STORE_STREAM);
  else gatherRowsOfVectors(c, CHUNK_ROWS, source, target, STORE_PLAIN);
}

/* --- sums of rows in a window ---------------------------------------------------------------------------------- */

/* A vector of results is one permutation of a window (COPIES), the sum of two weighted permutations of a window of one
   vector (PAIRS) or two (WIDE_PAIRS), or the sum of weighted permutations of several windows of one vector. */
typedef enum WindowSum { COPIES, PAIRS, WIDE_PAIRS, WINDOWS, NO_SUM } WindowSum;

static inline WindowSum windowSum(const Chunk *c)
{
  if (c->copies) return COPIES;
  if (c->wide) return WIDE_PAIRS;
  return !c->single ? NO_SUM : c->pairs && c->joint ? PAIRS : WINDOWS;
}

/* The weighted sum of `n` rows in a window; a single row has weight 1. */
static ALWAYS_INLINE vreal sumOfRows(int n, const RowTap *tap, int64_t base)
{
  vreal sum = v_load(tap[0].row + base);
  if (n > 1) sum *= tap[0].weight;
#pragma GCC unroll 4
  for (int i = 1; i < n; i++) sum += v_load(tap[i].row + base) * tap[i].weight;
  return sum;
}

/* One row of results or CHUNK_ROWS rows, each from the weighted sum of `n` rows, which begin at element c->from.
   `rows`, `n`, `kind` and `streams` are constant; n is 1 for COPIES. */
static ALWAYS_INLINE void gatherSums(const Chunk *c, int rows, int n, WindowSum kind,
                                     const RowTap (*tap)[WINDOW_ROWS], real *to, int64_t step, bool streams)
{
  const vreal zero = {0};
  real *const target[CHUNK_ROWS] = {to, to + step};
  for (int v = 0; v < c->vectors; v++) {
    const bool pairs = kind == PAIRS || kind == WIDE_PAIRS;
    const int k = kind == COPIES ? v : pairs ? 2 * v : c->begin[v];
    const int64_t base = c->base[k];
    const vreal low = pairs ? v_load(c->weight[k]) : zero, high = pairs ? v_load(c->weight[k + 1]) : zero;
    const vmask used = v_ne(high, zero);
    vreal result[CHUNK_ROWS];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++) {
      for (int i = kind == WIDE_PAIRS ? 0 : n - 1; i < n; i++)
        thnn_prefetchAhead(tap[r][i].row + base, kind == WIDE_PAIRS ? 2 * VBYTES : VBYTES);
      if (kind == COPIES) {
        result[r] = lookupWindow(tap[r][0].row + base, c->local[k], WINDOW_ONE);
      } else if (kind == PAIRS) {
        const vreal sum = sumOfRows(n, tap[r], base), first = v_lookup(sum, vi_load(c->local[k])) * low;
        result[r] = v_sel(used, first + v_lookup(sum, vi_load(c->local[k + 1])) * high, first);
      } else if (kind == WIDE_PAIRS) {
        const vreal near = sumOfRows(n, tap[r], base), far = sumOfRows(n, tap[r], base + VL),
                    first = v_lookup2(near, far, vi_load(c->local[k])) * low;
        result[r] = v_sel(used, first + v_lookup2(near, far, vi_load(c->local[k + 1])) * high, first);
      } else {
        result[r] = zero;
        for (int i = k; i < c->begin[v + 1]; i++) {
          const vreal weight = v_load(c->weight[i]), sum = sumOfRows(n, tap[r], c->base[i]);
          result[r] =
              v_sel(v_ne(weight, zero), result[r] + v_lookup(sum, vi_load(c->local[i])) * weight, result[r]);
        }
      }
    }
    storeVectors(rows, target, c->at[v], c->lanes[v], result, streams ? STORE_STREAM : STORE_PLAIN);
  }
}

/* --- rows of pixels ------------------------------------------------------------------------------------------- */

/* The number of results from `i` on that are consecutive pixels, times one weight. */
static inline int64_t copiedRun(const Chunk *c, int64_t i)
{
  const Tap *tap = listOf(c, i);
  int64_t run = 1;
  while (i + run < c->end && listLength(c, i + run) == 1 && tap[run].index == tap->index + run &&
         tap[run].weight == tap->weight)
    run++;
  return run;
}

/* `step` is the distance between pixels of the row, `toStep` between results. `kind` is constant. */
static ALWAYS_INLINE void gatherPixelsOf(const Chunk *c, int64_t lanes, const real *source, int64_t step,
                                         int ahead, real *to, int64_t toStep, StoreKind kind)
{
  const bool copiesRuns = step == lanes && toStep == lanes;
  const real *from = source - c->from * step;
  RowTap tap[ROW_TAPS];
  for (int64_t i = c->first, run; i < c->end; i += run, to += run * toStep) {
    const Tap *list = listOf(c, i);
    const int64_t count = listLength(c, i);
    run = 1;
    if (count == 1) {
      if (copiesRuns) run = copiedRun(c, i);
      *tap = (RowTap){from + list->index * step, list->weight};
      sumContiguous(1, tap, run * lanes, ahead, to, kind);
    } else if (count == 2) {
      for (int j = 0; j < 2; j++) tap[j] = (RowTap){from + list[j].index * step, list[j].weight};
      sumContiguous(2, tap, lanes, ahead, to, kind);
    } else if (count == 0 && kind != STORE_ADD) {
      memset(to, 0, (size_t)lanes * sizeof(real));
    }
    for (int64_t k = 0; k < count && count > 2; k += ROW_TAPS) {
      const int n = (int)MIN(count - k, ROW_TAPS);
      for (int j = 0; j < n; j++) tap[j] = (RowTap){from + list[k + j].index * step, list[k + j].weight};
      sumRows(n, tap, lanes, ahead, to, k > 0 ? STORE_ADD : kind);
    }
  }
}

static inline void gatherPixels(const Chunk *c, int64_t lanes, const real *from, int64_t step, int ahead, real *to,
                                int64_t toStep, StoreKind kind)
{
  if (kind == STORE_STREAM) gatherPixelsOf(c, lanes, from, step, ahead, to, toStep, STORE_STREAM);
  else if (kind == STORE_PLAIN) gatherPixelsOf(c, lanes, from, step, ahead, to, toStep, STORE_PLAIN);
  else gatherPixelsOf(c, lanes, from, step, ahead, to, toStep, STORE_ADD);
}

#endif
