#include "modules/LayerNormalization.h"
#include "modules/RMSNormalization.h"
#include "batch_norm/batch_norm.h"
#include "normalization/batch_norm_checks.h"
#include "runtime/half.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"
#include "simd/lanes.h"

/* LayerNormalization and, without means, RMSNormalization. With xn = (x - mean) * inverse the normalized elements of a
   row:

     y = xn * weight + bias
     dx = (g * weight - mean(g * weight) - xn * mean(g * weight * xn)) * inverse

   A row is read twice, the second time from a cache if it fits. The backward sums the parameter gradients in the loop
   that computes gradInput: over BATCH rows in registers, then in double. `centred` is false for RMSNormalization; it is
   a constant wherever it is passed, so that the compiler specializes the loops. */

/* Elements of a row that are loaded, or gathered if they are not adjacent, at a time. */
#define CHUNK 1024

/* The most rows whose parameter gradients are summed in registers. Batches of more than BATCH_ELEMENTS elements, which
   would not stay in a second-level cache, have fewer. */
#define BATCH 32
#define BATCH_ELEMENTS 65536

/* The vectors of columns in registers. */
#if VBYTES == 64
#define COLUMN_VECTORS 4
#else
#define COLUMN_VECTORS 2
#endif

/* Columns of the rows of a batch that are gathered, or whose totals a task computes. */
#define GATHERED 128

/* Tasks of several rows have about TASK_ELEMENTS elements. A block of rows, which has totals of the parameter gradients,
   has at least BLOCK_ROWS rows; fewer blocks than MIN_TASKS leave threads without work. */
#define TASK_ELEMENTS 8192
#define BLOCK_ROWS 32
#define MAX_BLOCKS 64
#define MIN_TASKS 16

/* Tensors of fewer elements are computed without stages. The coefficients of STAGED_ROWS rows fit into the scratch
   memory. */
#define STAGED_ELEMENTS 16384
#define STAGED_ROWS 16384

/* ---- tensors as rows ---- */

typedef struct Rows {
  real *data;    /* NULL: absent */
  int32_t type;  /* a half type whose elements are converted, as data then points to, otherwise THNN_TYPE_OTHER */
  bool adjacent; /* the elements of a row are adjacent, and of type real */
  int64_t rowStride[THNN_MAX_DIM], stride[THNN_MAX_DIM];
} Rows;

/* Dimensions are joined where the strides of all tensors allow. */
typedef struct Shape {
  int64_t rows, length;
  int rowDims, dims;
  int64_t rowSize[THNN_MAX_DIM], size[THNN_MAX_DIM];
  bool nonTemporal; /* the results are larger than the caches */
} Shape;

/* Tensors with rows, then tensors of the size of a row. */
enum { X, G, OUT, TENSORS, WEIGHT = TENSORS, BIAS, GRAD_WEIGHT, GRAD_BIAS, OPERANDS };

typedef struct LayerNorm {
  Shape shape;
  Rows operand[OPERANDS];
} LayerNorm;

/* Joins dimensions `first` to `end` - 1 of the tensors. Returns the number of joined ones. */
static int joinDims(THTensor *const *tensors, int count, const THTensor *input, int first, int end, int64_t *size,
                    int64_t (*stride)[THNN_MAX_DIM])
{
  int dims = 0;
  for (int d = first; d < end; d++) {
    if (input->size[d] == 1) continue;
    bool joins = dims > 0;
    for (int k = 0; k < count && joins; k++)
      joins = tensors[k] == NULL || stride[k][dims - 1] == tensors[k]->stride[d] * input->size[d];
    if (joins) size[dims - 1] *= input->size[d];
    else size[dims++] = input->size[d];
    for (int k = 0; k < count; k++)
      if (tensors[k] != NULL) stride[k][dims - 1] = tensors[k]->stride[d];
  }
  return dims;
}

/* tensors: by operands, NULL where absent. */
static void layerNormInit(LayerNorm *norm, THTensor *const *tensors, int dims)
{
  Shape *shape = &norm->shape;
  const THTensor *x = tensors[X], *g = tensors[G], *out = tensors[OUT];
  const int outer = x->ndim - dims;
  THTensor wide[OPERANDS], *all[OPERANDS]; /* with the dimensions of x */
  for (int k = 0; k < OPERANDS; k++) {
    all[k] = tensors[k];
    if (k < TENSORS || tensors[k] == NULL) continue;
    all[k] = &wide[k];
    wide[k].data = tensors[k]->data;
    for (int d = 0; d < x->ndim; d++) wide[k].stride[d] = d < outer ? 0 : tensors[k]->stride[d - outer];
  }
  int64_t rowStride[OPERANDS][THNN_MAX_DIM], stride[OPERANDS][THNN_MAX_DIM];
  shape->rowDims = joinDims(all, TENSORS, x, 0, outer, shape->rowSize, rowStride);
  shape->dims = joinDims(all, OPERANDS, x, outer, x->ndim, shape->size, stride);
  shape->rows = shape->length = 1;
  for (int d = 0; d < x->ndim; d++) *(d < outer ? &shape->rows : &shape->length) *= x->size[d];

  for (int k = 0; k < OPERANDS; k++) {
    Rows *rows = &norm->operand[k];
    rows->data = all[k] != NULL ? TH_DATA(all[k]) : NULL;
    rows->adjacent = false;
    if (rows->data == NULL) continue; /* absent, or without elements */
    rows->type = k < TENSORS && thnn_isHalf(tensors[k]->type) ? tensors[k]->type : THNN_TYPE_OTHER;
    int64_t next = 1;
    rows->adjacent = rows->type == THNN_TYPE_OTHER;
    for (int d = x->ndim - 1; d >= outer; d--) {
      rows->adjacent = rows->adjacent && (x->size[d] == 1 || all[k]->stride[d] == next);
      next *= x->size[d];
    }
    for (int d = 0; d < shape->dims; d++) rows->stride[d] = stride[k][d];
    for (int d = 0; d < shape->rowDims; d++) rows->rowStride[d] = k < TENSORS ? rowStride[k][d] : 0;
  }
  const int64_t bytes = shape->rows * shape->length * (int64_t)sizeof(real);
  shape->nonTemporal = out != NULL && norm->operand[OUT].adjacent && out->data != x->data &&
                       (g == NULL || out->data != g->data) &&
                       thnn_exceedsLastLevelCache((g != NULL ? 3 : 2) * bytes);
}

/* The offset of a row from the first element of the tensor. */
static int64_t rowStart(const Shape *shape, const Rows *rows, int64_t row)
{
  int64_t offset = 0;
  for (int d = shape->rowDims - 1; d > 0; row /= shape->rowSize[d--])
    offset += row % shape->rowSize[d] * rows->rowStride[d];
  return shape->rowDims > 0 ? offset + row * rows->rowStride[0] : offset;
}

/* Copies n elements, `stride` apart, from an offset on into `packed`, or back. */
static void copyRun(const Rows *rows, int64_t offset, int64_t stride, int64_t n, real *packed, bool back)
{
  real *const data = rows->data + offset;
  if (rows->type != THNN_TYPE_OTHER) {
    const int64_t bytes = sizeof(uint16_t);
    char *const halves = (char *)rows->data + offset * bytes;
    if (back) thnn_narrowStrided(halves, stride * bytes, (const float *)packed, rows->type, n);
    else thnn_widenStrided((float *)packed, halves, stride * bytes, rows->type, n);
  } else if (back) {
    for (int64_t j = 0; j < n; j++) data[j * stride] = packed[j];
  } else {
    for (int64_t j = 0; j < n; j++) packed[j] = data[j * stride];
  }
}

/* Copies elements first to first + n - 1 of the row at an offset into `packed`, or back. */
static void copyChunk(const Shape *shape, const Rows *rows, int64_t start, int64_t first, int64_t n, real *packed,
                      bool back)
{
  const int last = shape->dims - 1;
  const int64_t inner = last < 0 ? 1 : shape->size[last], stride = last < 0 ? 1 : rows->stride[last];
  for (int64_t i = 0, run; i < n; i += run) {
    int64_t rest = (first + i) / inner, at = (first + i) % inner, offset = start + at * stride;
    for (int d = last - 1; d >= 0; rest /= shape->size[d--]) offset += rest % shape->size[d] * rows->stride[d];
    run = MIN(n - i, inner - at);
    copyRun(rows, offset, stride, run, packed + i, back);
  }
}

/* Elements first to first + n - 1 of a row of a tensor that is read: in place, or gathered in the buffer. NULL if the
   tensor is absent. */
static inline const real *loadChunk(const LayerNorm *norm, int k, int64_t row, int64_t first, int64_t n,
                                    real *buffer)
{
  const Rows *rows = &norm->operand[k];
  if (rows->data == NULL) return NULL;
  const int64_t start = rowStart(&norm->shape, rows, row);
  if (rows->adjacent) return rows->data + start + first;
  copyChunk(&norm->shape, rows, start, first, n, buffer, false);
  return buffer;
}

/* The memory for elements of a result: in place, or the buffer, which storeChunk copies to the tensor. */
static inline real *resultChunk(const LayerNorm *norm, int64_t row, int64_t first, real *buffer)
{
  const Rows *rows = &norm->operand[OUT];
  if (rows->data == NULL) return NULL;
  return rows->adjacent ? rows->data + rowStart(&norm->shape, rows, row) + first : buffer;
}

static inline void storeChunk(const LayerNorm *norm, int64_t row, int64_t first, int64_t n, real *buffer)
{
  const Rows *rows = &norm->operand[OUT];
  if (rows->data == NULL || rows->adjacent) return;
  copyChunk(&norm->shape, rows, rowStart(&norm->shape, rows, row), first, n, buffer, true);
}

/* ---- statistics of a row ---- */

/* The sum of the squares of at most CHUNK elements. */
static accreal sumOfSquares(const real *x, int64_t n)
{
  vreal s0 = {0}, s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * VL <= n; i += 4 * VL) {
    const vreal a = v_load(x + i), b = v_load(x + i + VL), c = v_load(x + i + 2 * VL), d = v_load(x + i + 3 * VL);
    s0 += a * a, s1 += b * b, s2 += c * c, s3 += d * d;
  }
  for (; i < n; i += VL) {
    const vreal a = v_load_n(x + i, (int)MIN(VL, n - i));
    s0 += a * a;
  }
  accreal sum = v_sum((s0 + s1) + (s2 + s3));
  if (sum > 0 && sum < (accreal)INFINITY) return sum;
  /* The squares overflowed or vanished, unless all elements are 0 or one is not finite. */
  sum = 0;
  for (i = 0; i < n; i++) sum += (accreal)x[i] * x[i];
  return sum;
}

/* The mean of a row, 0 unless `centred`, and the sum of the squares of the centred elements. A row of at most CHUNK
   elements that are not adjacent stays in the buffer. */
static ALWAYS_INLINE void rowMoments(const LayerNorm *norm, int64_t row, bool centred, real *buffer, accreal *mean,
                                     accreal *squares)
{
  *mean = *squares = 0;
  for (int64_t first = 0, n; first < norm->shape.length; first += n) {
    /* Adjacent elements need no buffer, and the moments divide long runs themselves. */
    n = MIN(norm->shape.length - first, centred && norm->operand[X].adjacent ? INT64_MAX : CHUNK);
    const real *x = loadChunk(norm, X, row, first, n, buffer);
    if (centred) THNN_(batchNormRunMoments)(x, n, mean, squares, first);
    else *squares += sumOfSquares(x, n);
  }
}

/* ---- forward ---- */

/* The numbers by which a row is normalized: xn = (x - mean) * inverse + shift, where shift compensates the rounding of
   the mean. */
typedef struct RowStatistics {
  real mean, inverse, shift;
} RowStatistics;

static ALWAYS_INLINE vreal normalizeLanes(vreal x, RowStatistics k, bool centred)
{
  return centred ? (x - v_set1(k.mean)) * v_set1(k.inverse) + v_set1(k.shift) : x * v_set1(k.inverse);
}

static ALWAYS_INLINE void normalizeVector(real *y, const real *x, const real *w, const real *b, int n,
                                          RowStatistics k, bool centred, bool nonTemporal)
{
  vreal value = normalizeLanes(loadLanes(x, n), k, centred);
  if (w) value *= loadLanes(w, n);
  if (b) value += loadLanes(b, n);
  if (nonTemporal && n == VL) v_stream(y, value);
  else storeLanes(y, value, n);
}

static ALWAYS_INLINE void normalizeChunk(real *y, const real *x, const real *w, const real *b, int64_t n,
                                         RowStatistics k, bool centred, bool nonTemporal)
{
  int64_t i = 0;
  for (; i + VL <= n; i += VL)
    normalizeVector(y + i, x + i, w ? w + i : NULL, b ? b + i : NULL, VL, k, centred, nonTemporal);
  if (i < n)
    normalizeVector(y + i, x + i, w ? w + i : NULL, b ? b + i : NULL, (int)(n - i), k, centred, nonTemporal);
}

static ALWAYS_INLINE void normalizeChunkWith(real *y, const real *x, const real *w, const real *b, int64_t n,
                                             RowStatistics k, bool centred, bool nonTemporal)
{
  if (w && b) normalizeChunk(y, x, w, b, n, k, centred, nonTemporal);
  else if (w) normalizeChunk(y, x, w, NULL, n, k, centred, nonTemporal);
  else normalizeChunk(y, x, NULL, b, n, k, centred, nonTemporal);
}

static ALWAYS_INLINE void forwardRow(const LayerNorm *norm, int64_t row, bool centred, THTensor *save_mean,
                                     THTensor *save_std, accreal eps)
{
  accreal mean, squares;
  real xBuffer[CHUNK], wBuffer[CHUNK], bBuffer[CHUNK];
  rowMoments(norm, row, centred, xBuffer, &mean, &squares);
  const bool isLoaded = norm->shape.length <= CHUNK && !norm->operand[X].adjacent;
  const accreal inverse = inverseDeviation(squares / (accreal)MAX(1, norm->shape.length), eps);
  const RowStatistics k = {(real)mean, (real)inverse, (real)(((real)mean - mean) * inverse)};
  if (centred) *elementOf(save_mean, row) = k.mean;
  *elementOf(save_std, row) = k.inverse;
  /* The elements that were read last are most likely still in the cache. */
  for (int64_t end = norm->shape.length, first; end > 0; end = first) {
    first = (end - 1) / CHUNK * CHUNK;
    const int64_t n = end - first;
    const real *x = isLoaded ? xBuffer : loadChunk(norm, X, row, first, n, xBuffer);
    const real *w = loadChunk(norm, WEIGHT, 0, first, n, wBuffer);
    const real *b = loadChunk(norm, BIAS, 0, first, n, bBuffer);
    real *const y = resultChunk(norm, row, first, xBuffer);
    if (norm->shape.nonTemporal && (uintptr_t)y % VBYTES == 0) normalizeChunkWith(y, x, w, b, n, k, centred, true);
    else normalizeChunkWith(y, x, w, b, n, k, centred, false);
    storeChunk(norm, row, first, n, y);
  }
}

static ALWAYS_INLINE void forward(const LayerNorm *norm, bool centred, THTensor *save_mean, THTensor *save_std,
                                  accreal eps)
{
  const Shape *shape = &norm->shape;
  const int64_t taskRows = MAX(1, TASK_ELEMENTS / MAX(1, shape->length));
  THNN_PARALLEL_FOR(task, ceilDivide(shape->rows, taskRows), shape->rows * shape->length)
    for (int64_t row = task * taskRows; row < MIN((task + 1) * taskRows, shape->rows); row++)
      forwardRow(norm, row, centred, save_mean, save_std, eps);
}

/* ---- backward ---- */

/* dx = g * weight * inverse + xn * slope + constant, with xn of `statistics`. */
typedef struct RowCoefficients {
  RowStatistics statistics;
  real slope, constant;
} RowCoefficients;

/* Sums of g * weight and g * weight * xn. */
static ALWAYS_INLINE void addSums(const real *x, const real *g, const real *w, int n, RowStatistics k,
                                  bool centred, vreal *sum, vreal *dot)
{
  vreal gw = loadLanes(g, n);
  if (w) gw *= loadLanes(w, n);
  *sum += gw;
  /* Lanes beyond n have gw = 0. */
  *dot += gw * normalizeLanes(loadLanes(x, n), k, centred);
}

static ALWAYS_INLINE void chunkSums(const real *x, const real *g, const real *w, int64_t n, RowStatistics k,
                                    bool centred, accreal *sum, accreal *dot)
{
  vreal s0 = {0}, s1 = s0, d0 = s0, d1 = s0, d2 = s0, d3 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * VL <= n; i += 4 * VL) {
    addSums(x + i, g + i, w ? w + i : NULL, VL, k, centred, &s0, &d0);
    addSums(x + i + VL, g + i + VL, w ? w + i + VL : NULL, VL, k, centred, &s1, &d1);
    addSums(x + i + 2 * VL, g + i + 2 * VL, w ? w + i + 2 * VL : NULL, VL, k, centred, &s2, &d2);
    addSums(x + i + 3 * VL, g + i + 3 * VL, w ? w + i + 3 * VL : NULL, VL, k, centred, &s3, &d3);
  }
  for (; i + VL <= n; i += VL) addSums(x + i, g + i, w ? w + i : NULL, VL, k, centred, &s0, &d0);
  if (i < n) addSums(x + i, g + i, w ? w + i : NULL, (int)(n - i), k, centred, &s1, &d1);
  *sum += v_sum((s0 + s1) + (s2 + s3));
  *dot += v_sum((d0 + d1) + (d2 + d3));
}

/* A mean whose rounding error is not small beside the deviation is computed again. */
#define LARGE_MEAN 16

static ALWAYS_INLINE RowCoefficients rowCoefficients(const LayerNorm *norm, int64_t row, bool centred,
                                                     const THTensor *save_mean, const THTensor *save_std)
{
  const accreal inverse = *elementOf(save_std, row);
  RowCoefficients k = {{centred ? *elementOf(save_mean, row) : 0, (real)inverse, 0}, 0, 0};
  if (centred && fabs(k.statistics.mean * inverse) > LARGE_MEAN) {
    accreal mean, squares;
    real buffer[CHUNK];
    rowMoments(norm, row, true, buffer, &mean, &squares);
    k.statistics.shift = (real)((k.statistics.mean - mean) * inverse);
  }
  if (norm->operand[OUT].data == NULL) return k;
  accreal sum = 0, dot = 0;
  real xBuffer[CHUNK], gBuffer[CHUNK], wBuffer[CHUNK];
  for (int64_t first = 0, n; first < norm->shape.length; first += n) {
    n = MIN(norm->shape.length - first, CHUNK);
    const real *x = loadChunk(norm, X, row, first, n, xBuffer), *g = loadChunk(norm, G, row, first, n, gBuffer);
    const real *w = loadChunk(norm, WEIGHT, 0, first, n, wBuffer);
    if (w) chunkSums(x, g, w, n, k.statistics, centred, &sum, &dot);
    else chunkSums(x, g, NULL, n, k.statistics, centred, &sum, &dot);
  }
  const accreal count = (accreal)norm->shape.length;
  k.slope = (real)(-inverse * dot / count);
  k.constant = centred ? (real)(-inverse * sum / count) : 0;
  return k;
}

/* Columns of at most BATCH rows. */
typedef struct Columns {
  const real *x[BATCH], *g[BATCH], *w;
  real *dx[BATCH]; /* NULL without gradInput */
  const RowCoefficients *k;
  int rows;
  bool nonTemporal;
} Columns;

/* gradInput of `vectors` vectors of columns from column i on, the last of `lanes` lanes. If `adds`, their terms of
   gradWeight and gradBias are added to the totals. */
static ALWAYS_INLINE void gradColumns(const Columns *c, int64_t i, int vectors, int lanes, bool centred, bool adds,
                                      accreal *weightTotals, accreal *biasTotals)
{
  vreal w[COLUMN_VECTORS], weightSum[COLUMN_VECTORS], biasSum[COLUMN_VECTORS];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    w[v] = c->w != NULL ? loadLanes(c->w + i + v * VL, lanes) : v_set1(1);
    weightSum[v] = biasSum[v] = v_set1(0);
  }
  for (int r = 0; r < c->rows; r++) {
    const RowCoefficients k = c->k[r];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++) {
      const vreal g = loadLanes(c->g[r] + i + v * VL, lanes);
      const vreal xn = normalizeLanes(loadLanes(c->x[r] + i + v * VL, lanes), k.statistics, centred);
      if (adds) weightSum[v] += g * xn;
      if (adds && centred) biasSum[v] += g;
      if (c->dx[r] == NULL) continue;
      vreal dx = g * w[v] * v_set1(k.statistics.inverse) + xn * v_set1(k.slope);
      if (centred) dx += v_set1(k.constant);
      if (c->nonTemporal && lanes == VL) v_stream(c->dx[r] + i + v * VL, dx);
      else storeLanes(c->dx[r] + i + v * VL, dx, lanes);
    }
  }
  if (!adds) return;
  real sums[2][VBYTES / sizeof(real)];
#pragma GCC unroll 4
  for (int v = 0; v < vectors; v++) {
    v_store(sums[0], weightSum[v]);
    v_store(sums[1], biasSum[v]);
    for (int l = 0; l < lanes; l++) weightTotals[i + v * VL + l] += sums[0][l];
    if (centred)
      for (int l = 0; l < lanes; l++) biasTotals[i + v * VL + l] += sums[1][l];
  }
}

static ALWAYS_INLINE void gradChunk(const Columns *c, int64_t n, bool centred, bool adds, accreal *weightTotals,
                                    accreal *biasTotals)
{
  int64_t i = 0;
  for (; i + COLUMN_VECTORS * VL <= n; i += COLUMN_VECTORS * VL)
    gradColumns(c, i, COLUMN_VECTORS, VL, centred, adds, weightTotals, biasTotals);
  for (; i + VL <= n; i += VL) gradColumns(c, i, 1, VL, centred, adds, weightTotals, biasTotals);
  if (i < n) gradColumns(c, i, 1, (int)(n - i), centred, adds, weightTotals, biasTotals);
}

/* Columns first to first + n - 1 of rows row to row + count - 1. totals has gradWeight, then at `pitch` gradBias, of
   these columns; NULL: they are not needed. */
static void gradTile(const LayerNorm *norm, int64_t row, int count, const RowCoefficients *k, int64_t first,
                     int64_t n, bool centred, accreal *totals, int64_t pitch)
{
  real xBuffer[BATCH][GATHERED], gBuffer[BATCH][GATHERED], wBuffer[GATHERED];
  const Rows *operand = norm->operand;
  bool adjacent = true;
  for (int i = X; i <= WEIGHT; i++) adjacent = adjacent && (operand[i].data == NULL || operand[i].adjacent);
  for (int64_t i = 0, length; i < n; i += length) {
    length = adjacent ? n : MIN(n - i, GATHERED);
    Columns c = {.k = k, .rows = count, .nonTemporal = norm->shape.nonTemporal};
    c.w = loadChunk(norm, WEIGHT, 0, first + i, length, wBuffer);
    for (int r = 0; r < count; r++) {
      c.x[r] = loadChunk(norm, X, row + r, first + i, length, xBuffer[r]);
      c.g[r] = loadChunk(norm, G, row + r, first + i, length, gBuffer[r]);
      c.dx[r] = resultChunk(norm, row + r, first + i, gBuffer[r]);
      c.nonTemporal = c.nonTemporal && (uintptr_t)c.dx[r] % VBYTES == 0;
    }
    if (totals == NULL && centred) gradChunk(&c, length, true, false, NULL, NULL);
    else if (totals == NULL) gradChunk(&c, length, false, false, NULL, NULL);
    else if (centred) gradChunk(&c, length, true, true, totals + i, totals + pitch + i);
    else gradChunk(&c, length, false, true, totals + i, NULL);
    for (int r = 0; r < count; r++) storeChunk(norm, row + r, first + i, length, c.dx[r]);
  }
}

/* Adds totals of columns first to first + n - 1, at most GATHERED, to gradWeight or gradBias. */
static void addTotals(const LayerNorm *norm, int k, int64_t first, int64_t n, const accreal *totals, accreal scale)
{
  const Rows *gradient = &norm->operand[k];
  if (gradient->data == NULL) return;
  real buffer[GATHERED], *to = gradient->data + first;
  if (!gradient->adjacent) {
    to = buffer;
    copyChunk(&norm->shape, gradient, 0, first, n, buffer, false);
  }
  for (int64_t i = 0; i < n; i++) to[i] += (real)(scale * totals[i]);
  if (!gradient->adjacent) copyChunk(&norm->shape, gradient, 0, first, n, buffer, true);
}

/* Rows row to end - 1, with totals of all columns. */
static ALWAYS_INLINE void backwardRows(const LayerNorm *norm, int64_t row, int64_t end, bool centred,
                                       const THTensor *save_mean, const THTensor *save_std, accreal *totals)
{
  const int64_t D = norm->shape.length;
  const int64_t batch = MIN(BATCH, MAX(8, BATCH_ELEMENTS / D));
  for (int64_t count; row < end; row += count) {
    count = MIN(end - row, batch);
    RowCoefficients k[BATCH];
    for (int r = 0; r < count; r++) k[r] = rowCoefficients(norm, row + r, centred, save_mean, save_std);
    gradTile(norm, row, (int)count, k, 0, D, centred, totals, D);
  }
}

/* A stage for the rows, and one for the columns, in which each task has all rows of some columns. */
static ALWAYS_INLINE void backwardInStages(const LayerNorm *norm, bool centred, const THTensor *save_mean,
                                           const THTensor *save_std, accreal scale)
{
  const int64_t R = norm->shape.rows, D = norm->shape.length;
  RowCoefficients *const k = thnn_scratch(sizeof(RowCoefficients) * (size_t)MIN(STAGED_ROWS, R));
  for (int64_t row = 0, rows; row < R; row += rows) {
    rows = MIN(R - row, STAGED_ROWS);
    THNN_PARALLEL_FOR(r, rows, rows * D) k[r] = rowCoefficients(norm, row + r, centred, save_mean, save_std);
    THNN_PARALLEL_FOR(task, ceilDivide(D, GATHERED), rows * D) {
      const int64_t first = task * GATHERED, n = MIN(D - first, GATHERED);
      accreal totals[2 * GATHERED] = {0};
      for (int64_t r = 0; r < rows; r += BATCH)
        gradTile(norm, row + r, (int)MIN(rows - r, BATCH), k + r, first, n, centred, totals, GATHERED);
      addTotals(norm, GRAD_WEIGHT, first, n, totals, scale);
      addTotals(norm, GRAD_BIAS, first, n, totals + GATHERED, scale);
    }
  }
}

static ALWAYS_INLINE void backward(const LayerNorm *norm, bool centred, const THTensor *save_mean,
                                   const THTensor *save_std, accreal scale)
{
  const int64_t R = norm->shape.rows, D = norm->shape.length;
  if (norm->operand[GRAD_WEIGHT].data == NULL && norm->operand[GRAD_BIAS].data == NULL) {
    const int64_t taskRows = MAX(1, TASK_ELEMENTS / D);
    THNN_PARALLEL_FOR(task, ceilDivide(R, taskRows), R * D)
      backwardRows(norm, task * taskRows, MIN((task + 1) * taskRows, R), centred, save_mean, save_std, NULL);
    return;
  }
  int64_t blocks =
      MIN(MIN(MAX_BLOCKS, ceilDivide(R, BLOCK_ROWS)), (int64_t)(THNN_SCRATCH_LIMIT / (2 * sizeof(accreal))) / D);
  if (blocks == 0 || (blocks < MIN_TASKS && R * D >= STAGED_ELEMENTS)) {
    backwardInStages(norm, centred, save_mean, save_std, scale);
    return;
  }
  const int64_t blockRows = ceilDivide(R, blocks);
  blocks = ceilDivide(R, blockRows);
  accreal *const totals = thnn_scratch(sizeof(accreal) * (size_t)(2 * blocks * D));
  THNN_PARALLEL_FOR(block, blocks, R * D) {
    accreal *const total = totals + 2 * block * D;
    memset(total, 0, sizeof(accreal) * (size_t)(2 * D));
    backwardRows(norm, block * blockRows, MIN((block + 1) * blockRows, R), centred, save_mean, save_std, total);
  }
  THNN_PARALLEL_FOR(task, ceilDivide(D, GATHERED), 2 * blocks * D) {
    const int64_t first = task * GATHERED, n = MIN(D - first, GATHERED);
    accreal weightTotal[GATHERED] = {0}, biasTotal[GATHERED] = {0};
    for (int64_t block = 0; block < blocks; block++) {
      const accreal *const w = totals + 2 * block * D + first, *const b = w + D;
      for (int64_t i = 0; i < n; i++) weightTotal[i] += w[i], biasTotal[i] += b[i];
    }
    addTotals(norm, GRAD_WEIGHT, first, n, weightTotal, scale);
    addTotals(norm, GRAD_BIAS, first, n, biasTotal, scale);
  }
}

/* ---- checks ---- */

static void checkDims(THNNState *state, const THTensor *input, int64_t dims)
{
  THNN_CHECK(dims >= 1 && dims <= input->ndim, dims,
             "expected 1 to the number of dimensions of input, %s, got %lld", THNN_shape(input), (long long)dims);
}

static int64_t rowCount(const THTensor *input, int64_t dims)
{
  int64_t rows = 1;
  for (int d = 0; d < input->ndim - dims; d++) rows *= input->size[d];
  return rows;
}

/* Fails unless each tensor is NULL or has the size of a row. */
static void checkRows(THNNState *state, const NamedTensor *tensors, int count, const THTensor *input, int64_t dims)
{
  const int64_t *size = input->size + input->ndim - dims;
  for (int i = 0; i < count; i++)
    if (tensors[i].tensor != NULL && !THNNTensor_hasSize(tensors[i].tensor, (int)dims, size))
      THNN_fail(state, THNN_VALUE_ERROR, tensors[i].name, "expected the size of a row, %s, got %s",
                THNN_shapeOf((int)dims, size), THNN_shape(tensors[i].tensor));
}

/* Fails unless each tensor is NULL or has one element for each row. */
static void checkRowStatistics(THNNState *state, const NamedTensor *tensors, int count, int64_t rows)
{
  for (int i = 0; i < count; i++)
    if (tensors[i].tensor != NULL && !THNNTensor_hasSize(tensors[i].tensor, 1, &rows))
      THNN_fail(state, THNN_VALUE_ERROR, tensors[i].name, "expected one number for each of %lld rows, got %s",
                (long long)rows, THNN_shape(tensors[i].tensor));
}

static ALWAYS_INLINE void updateOutput(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                       THTensor *bias, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                       double eps, bool centred)
{
  checkDims(state, input, dims);
  THNN_RETURN_IF_FAILED(state);
  CHECK_EPS(eps);
  const NamedTensor tensors[] = {{"output", output}, {"save_mean", save_mean}, {"save_std", save_std},
                                 {"input", input},   {"weight", weight},       {"bias", bias}};
  checkRows(state, tensors + 4, 2, input, dims);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  if (centred) THNN_RESIZE_TO(save_mean, THNN_CONTIGUOUS, rowCount(input, dims));
  THNN_RESIZE_TO(save_std, THNN_CONTIGUOUS, rowCount(input, dims));
  checkOverlap(state, tensors, 6, 3, input);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, output);
  THNN_RETURN_IF_META(state);
  LayerNorm norm;
  layerNormInit(&norm, (THTensor *[OPERANDS]){[X] = input, [OUT] = output, [WEIGHT] = weight, [BIAS] = bias},
                (int)dims);
  if (norm.shape.rows > 0) forward(&norm, centred, save_mean, save_std, eps);
}

static ALWAYS_INLINE void updateGradients(THNNState *state, THTensor *input, THTensor *gradOutput,
                                          THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                          THTensor *weight, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                          double scale, bool centred)
{
  checkDims(state, input, dims);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  const NamedTensor tensors[] = {{"gradInput", gradInput},   {"gradWeight", gradWeight}, {"gradBias", gradBias},
                                 {"gradOutput", gradOutput}, {"input", input},           {"weight", weight},
                                 {"save_mean", save_mean},   {"save_std", save_std}};
  checkRows(state, tensors + 1, 2, input, dims);
  checkRows(state, tensors + 5, 1, input, dims);
  checkRowStatistics(state, tensors + 6, 2, rowCount(input, dims));
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_DISTINCT_ADDRESSES(gradWeight);
  THNN_CHECK_DISTINCT_ADDRESSES(gradBias);
  checkOverlap(state, tensors, 8, 3, gradOutput);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_TAKES_HALF_OF(state, gradInput);
  THNN_RETURN_IF_META(state);
  if (THNNTensor_numel(input) == 0) return;
  LayerNorm norm;
  layerNormInit(&norm,
                (THTensor *[OPERANDS]){[X] = input,
                                       [G] = gradOutput,
                                       [OUT] = gradInput,
                                       [WEIGHT] = weight,
                                       [GRAD_WEIGHT] = gradWeight,
                                       [GRAD_BIAS] = gradBias},
                (int)dims);
  backward(&norm, centred, save_mean, save_std, scale);
}

void THNN_(LayerNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                            THTensor *bias, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                            double eps)
{
  updateOutput(state, input, output, weight, bias, save_mean, save_std, dims, eps, true);
}

void THNN_(LayerNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, THTensor *gradWeight, THTensor *gradBias,
                                        THTensor *weight, THTensor *save_mean, THTensor *save_std, int64_t dims,
                                        double scale)
{
  updateGradients(state, input, gradOutput, gradInput, gradWeight, gradBias, weight, save_mean, save_std, dims,
                  scale, true);
}

void THNN_(RMSNormalization_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                                          THTensor *save_std, int64_t dims, double eps)
{
  updateOutput(state, input, output, weight, NULL, NULL, save_std, dims, eps, false);
}

void THNN_(RMSNormalization_backward)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                      THTensor *gradWeight, THTensor *weight, THTensor *save_std, int64_t dims,
                                      double scale)
{
  updateGradients(state, input, gradOutput, gradInput, gradWeight, NULL, weight, NULL, save_std, dims, scale,
                  false);
}
