/* Mean and centred sum of squares of the channels of a tile. */

#include "batch_norm/layouts.h"
#include "batch_norm/vectors.h"

void THNN_(batchNormMergeMoments)(int64_t channels, accreal *mean, accreal *squares, accreal count,
                                  const accreal *otherMean, const accreal *otherSquares, accreal otherCount)
{
  if (otherCount == 0) return;
  if (count == 0) {
    for (int64_t c = 0; c < channels; c++) mean[c] = otherMean[c], squares[c] = otherSquares[c];
    return;
  }
  const accreal fraction = otherCount / (count + otherCount), weight = count * fraction;
  for (int64_t c = 0; c < channels; c++) {
    const accreal delta = otherMean[c] - mean[c];
    mean[c] += delta * fraction;
    squares[c] += otherSquares[c] + delta * delta * weight;
  }
}

/* ---- the fallback from shifted sums ---- */

/* True if the shifted sums of n new values cancelled or overflowed, so that two passes must recompute their moments.
   `offset` is the distance of the new mean from the shift; mean and squares are the moments of the `count` previous
   values. If squares is not finite, two passes would not help. */
static inline bool needsTwoPasses(accreal mean, accreal squares, int64_t count, accreal newMean,
                                  accreal newSquares, int64_t n, accreal offset)
{
  const accreal delta = newMean - mean, weight = (accreal)count * (accreal)n / (accreal)(count + n);
  const accreal merged = squares + newSquares + delta * delta * weight;
  return (squares < (accreal)INFINITY) &
         !((offset * offset * (accreal)n <= 16 * merged) & (merged < (accreal)INFINITY));
}

/* Mean and centred sum of squares in two passes of accreal. */
static ONE_COPY void twoPassMoments(const real *x, int64_t runs, int64_t length, int64_t pitch, accreal *mean,
                                    accreal *squares)
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

/* ---- runs: `runs` of `length` values of one channel, `pitch` apart ---- */

/* An estimate of the mean, exact where all values are equal. */
static real estimateMean(const real *x, int64_t length)
{
  return length < VL ? x[0] : x[0] + v_sum(v_load(x) - v_set1(x[0])) / VL;
}

static ALWAYS_INLINE void addShifted(vreal d, vreal *sum, vreal *squares)
{
  *sum += d;
  *squares += d * d;
}

/* sum(x - shift) and sum((x - shift)^2) */
static void shiftedSums(const real *x, int64_t runs, int64_t toPrefetch, int64_t length, int64_t pitch, real shift,
                        accreal *sum, accreal *squares)
{
  const vreal k = v_set1(shift);
  const int tail = (int)(length % VL);
  real lanes[VBYTES / sizeof(real)];
  v_store(lanes, k);
  const vreal kTail = v_load_n(lanes, tail);
  vreal s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, q0 = {0}, q1 = {0}, q2 = {0}, q3 = {0};
  for (int64_t r = 0; r < runs; r++, x += pitch) {
    const real *p = x, *end = x + length - tail;
    const int64_t ahead = prefetchOffset(toPrefetch - r, length, pitch);
    for (; p + 4 * VL <= end; p += 4 * VL) {
      if (ahead) prefetchVectors(p + ahead);
      addShifted(v_load(p) - k, &s0, &q0);
      addShifted(v_load(p + VL) - k, &s1, &q1);
      addShifted(v_load(p + 2 * VL) - k, &s2, &q2);
      addShifted(v_load(p + 3 * VL) - k, &s3, &q3);
    }
    /* Short runs are common, so the remainder also uses independent sums. */
    if (p < end) addShifted(v_load(p) - k, &s0, &q0);
    if (p + VL < end) addShifted(v_load(p + VL) - k, &s1, &q1);
    if (p + 2 * VL < end) addShifted(v_load(p + 2 * VL) - k, &s2, &q2);
    if (tail) addShifted(v_load_n(end, tail) - kTail, &s3, &q3);
  }
  *sum = v_sum((s0 + s1) + (s2 + s3));
  *squares = v_sum((q0 + q1) + (q2 + q3));
}

/* Merges the moments of the runs into the moments of the `count` previous values. */
static void addRuns(const real *x, int64_t runs, int64_t toPrefetch, int64_t length, int64_t pitch, accreal *mean,
                    accreal *squares, int64_t count)
{
  const int64_t n = runs * length;
  const real shift = count == 0 ? estimateMean(x, length) : (real)*mean;
  accreal sum, square;
  shiftedSums(x, runs, toPrefetch, length, pitch, shift, &sum, &square);
  const accreal offset = sum / (accreal)n;
  accreal newMean = shift + offset, newSquares = square - sum * offset;
  if (needsTwoPasses(*mean, *squares, count, newMean, newSquares, n, offset))
    twoPassMoments(x, runs, length, pitch, &newMean, &newSquares);
  THNN_(batchNormMergeMoments)(1, mean, squares, (accreal)count, &newMean, &newSquares, (accreal)n);
}

void THNN_(batchNormRunMoments)(const real *x, int64_t n, accreal *mean, accreal *squares, int64_t count)
{
  for (int64_t i = 0, length; i < n; i += length, count += length) {
    length = MIN(n - i, SUM_CHUNK);
    addRuns(x + i, 1, 0, length, 0, mean, squares, count);
  }
}

static void channelsFirstMoments(const BatchNorm *b, Tile tile, accreal *mean, accreal *squares)
{
  real buffer[SUM_CHUNK];
  for (int64_t c = tile.c; c < tile.cEnd; c++)
    for (int64_t p = tile.p, count = 0; p < tile.pEnd;) {
      const Chunk chunk = chunkAt(b, p, tile.pEnd);
      const ChannelRuns x = chunkRuns(&b->x, c, chunk, buffer);
      addRuns(x.data, chunk.runs, runsToPrefetch(b, p, tile.pEnd), chunk.length, x.pitch, mean + (c - tile.c),
              squares + (c - tile.c), count);
      p += chunk.runs * chunk.length;
      count += chunk.runs * chunk.length;
    }
}

static void stridedMoments(const BatchNorm *b, Tile tile, accreal *mean, accreal *squares)
{
  real packed[GATHER_CHANNELS * GATHER_PITCH];
  for (int64_t p = tile.p, count; p < tile.pEnd; p += count) {
    count = MIN(tile.pEnd - p, GATHER_POSITIONS);
    gather(b, &b->x, tile, p, count, packed);
    for (int64_t c = 0; c < tile.cEnd - tile.c; c++)
      addRuns(packed + c * GATHER_PITCH, 1, 0, count, 0, mean + c, squares + c, p - tile.p);
  }
}

/* ---- channels-last ---- */

/* Shifted sums and sums of squares of adjacent channels. */
typedef struct ShiftedSums {
  real *sum, *square;
} ShiftedSums;

static inline ShiftedSums shiftedSumsFrom(ShiftedSums sums, int64_t c)
{
  return (ShiftedSums){sums.sum + c, sums.square + c};
}

/* Adds n <= VL channels of a row to partial sums. The first row begins them, the last adds them to the totals. */
static ALWAYS_INLINE void addRowLanes(const real *x, bool first, bool last, int n, const real *shift,
                                      ShiftedSums partial, ShiftedSums total)
{
  const vreal zero = {0}, d = loadLanes(x, n) - loadLanes(shift, n);
  vreal s = first ? zero : v_load(partial.sum), q = first ? zero : v_load(partial.square);
  s += d, q += d * d;
  v_store(last ? total.sum : partial.sum, last ? v_load(total.sum) + s : s);
  v_store(last ? total.square : partial.square, last ? v_load(total.square) + q : q);
}

static ALWAYS_INLINE void addRow(const real *x, bool first, bool last, int64_t channels, const real *shift,
                                 ShiftedSums partial, ShiftedSums total)
{
  int64_t c = 0;
  for (; c + VL <= channels; c += VL)
    addRowLanes(x + c, first, last, VL, shift + c, shiftedSumsFrom(partial, c), shiftedSumsFrom(total, c));
  if (c < channels)
    addRowLanes(x + c, first, last, (int)(channels - c), shift + c, shiftedSumsFrom(partial, c),
                shiftedSumsFrom(total, c));
}

static void addRows(const TileRows *t, const real *shift, ShiftedSums partial, ShiftedSums total)
{
  const int64_t channels = t->channels;
  real buffer[ROW_BUFFER];
  for (int64_t r = 0; r < t->rows; r++) {
    const real *const x = rowAt(t, r, buffer);
    switch (rowPlace(r, t->rows)) {
    case ROW_ALONE:
      addRow(x, true, true, channels, shift, partial, total);
      break;
    case ROW_FIRST:
      addRow(x, true, false, channels, shift, partial, total);
      break;
    case ROW_WITHIN:
      addRow(x, false, false, channels, shift, partial, total);
      break;
    case ROW_LAST:
      addRow(x, false, true, channels, shift, partial, total);
      break;
    }
  }
}

static void channelsLastMoments(const BatchNorm *b, Tile tile, accreal *mean, accreal *squares)
{
  const int64_t channels = tile.cEnd - tile.c;
  real shift[MAX_TILE_CHANNELS], sum[ROW_SUMS], square[ROW_SUMS];
  real partialSum[ROW_SUMS], partialSquare[ROW_SUMS];
  accreal newMean[MAX_TILE_CHANNELS], newSquares[MAX_TILE_CHANNELS];
  for (int64_t p = tile.p, count = 0, rows; p < tile.pEnd; p += rows, count += rows) {
    rows = MIN(tile.pEnd - p, SUM_CHUNK_CHANNELS_LAST);
    const TileRows t = tileRows(b, &b->x, tile, p, rows);
    if (count == 0) {
      real firstRows[4 * MAX_TILE_CHANNELS];
      const bool converts = isHalf(b->x.type);
      if (converts) widenRows(&t, 0, rows < 4 ? 1 : 4, firstRows);
      const real *const x = converts ? firstRows : rowAt(&t, 0, NULL);
      const int64_t next = rows < 4 ? 0 : converts ? channels : t.pitch;
      for (int64_t c = 0; c < channels; c++)
        shift[c] = x[c] + ((x[c + next] - x[c]) + (x[c + 2 * next] - x[c]) + (x[c + 3 * next] - x[c])) / 4;
    } else {
      for (int64_t c = 0; c < channels; c++) shift[c] = (real)mean[c];
    }
    memset(sum, 0, sizeof(real) * (size_t)(channels + VL));
    memset(square, 0, sizeof(real) * (size_t)(channels + VL));
    addRows(&t, shift, (ShiftedSums){partialSum, partialSquare}, (ShiftedSums){sum, square});

    int redo = 0;
    const accreal n = (accreal)rows;
    for (int64_t c = 0; c < channels; c++) {
      const accreal offset = sum[c] / n;
      newMean[c] = shift[c] + offset;
      newSquares[c] = square[c] - sum[c] * offset;
      redo |= needsTwoPasses(mean[c], squares[c], count, newMean[c], newSquares[c], rows, offset);
    }
    if (redo)
      for (int64_t c = 0; c < channels; c++)
        if (needsTwoPasses(mean[c], squares[c], count, newMean[c], newSquares[c], rows, sum[c] / n)) {
          real buffer[SUM_CHUNK_CHANNELS_LAST];
          const ChannelRuns x = rowsColumn(&t, c, buffer);
          twoPassMoments(x.data, rows, 1, x.pitch, newMean + c, newSquares + c);
        }
    THNN_(batchNormMergeMoments)(channels, mean, squares, (accreal)count, newMean, newSquares, (accreal)rows);
  }
}

void THNN_(batchNormTileMoments)(const BatchNorm *b, Tile tile, accreal *mean, accreal *squares)
{
  for (int64_t c = 0; c < tile.cEnd - tile.c; c++) mean[c] = squares[c] = 0;
  if (b->layout == LAYOUT_CHANNELS_FIRST) channelsFirstMoments(b, tile, mean, squares);
  else if (b->layout == LAYOUT_CHANNELS_LAST) channelsLastMoments(b, tile, mean, squares);
  else stridedMoments(b, tile, mean, squares);
}
