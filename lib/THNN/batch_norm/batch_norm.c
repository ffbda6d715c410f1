/* Batch normalization: how the work is cut into boxes, and the phases that go over them. */

#include "batch_norm/layouts.h"

/* Boxes: elements at most, and how many of them keep a few threads busy. Where channels are small, some of them make a
   box of SMALL_BOX elements: the square roots and divisions at the end of one hide behind the sums of the next. */
#define BOX 65536
#define MIN_BOXES 16
#define SMALL_BOX 8192

/* ---- geometry ---- */

/* How many channels and positions make a box. */
static void THNN_(grid)(THNN_(Batch) *b)
{
  const bool planes = b->layout == THNN_BATCH_PLANES, rows = b->layout == THNN_BATCH_ROWS;
  const int64_t C = b->channels, positions = b->positions, elements = C * positions;
  const int64_t length = b->dims > 0 ? b->size[b->dims - 1] : 1;

  int64_t width = rows ? CHANNELS : TILE_WIDTH;
  if (planes) width = b->reduces ? THNN_(smaller)(C / (2 * MIN_BOXES), SMALL_BOX / positions) : BOX / 2 / length;
  b->width = THNN_(larger)(1, THNN_(smaller)(width, THNN_(smaller)(C, CHANNELS)));
  b->groups = THNN_(ceilDiv)(C, b->width);

  int64_t blocks = 1;
  if (planes && !b->reduces) {
    blocks = THNN_(ceilDiv)(positions * b->width, BOX / 2);
  } else if (elements >= PIECE && b->groups < MIN_BOXES) {
    blocks = THNN_(smaller)(THNN_(ceilDiv)(MIN_BOXES, b->groups), positions / 1024);
    if (rows) {
      blocks = THNN_(larger)(THNN_(ceilDiv)(MIN_BOXES / 2, b->groups), elements / BOX);
      blocks = THNN_(smaller)(blocks, positions / 32);
      blocks = THNN_(smaller)(blocks, (int64_t)(THNN_SCRATCH_LIMIT / 2 / (2 * sizeof(accreal))) / C);
    }
    blocks = THNN_(larger)(1, blocks);
  }
  b->block = THNN_(ceilDiv)(positions, blocks);
  if (planes && length <= PIECE) b->block = THNN_(ceilDiv)(b->block, length) * length;
  b->blocks = THNN_(ceilDiv)(positions, b->block);
}

void THNN_(Batch_init)(THNN_(Batch) *b, THTensor *x, THTensor *g, THTensor *out, bool reduces)
{
  const THTensor *shape = x != NULL ? x : g;
  THTensor *tensors[] = {x, g, out};
  THNN_(BatchView) *views[] = {&b->x, &b->g, &b->out};
  int operands = 0;
  bool planes = true, rows = true;
  for (int i = 0; i < 3; i++) {
    views[i]->data = tensors[i] != NULL ? TH_DATA(tensors[i]) : NULL;
    views[i]->channel = tensors[i] != NULL && shape->size[1] > 1 ? tensors[i]->stride[1] : 1;
    rows = rows && views[i]->channel == 1;
    operands += tensors[i] != NULL;
  }

  b->channels = shape->size[1];
  b->positions = 1;
  b->dims = 0;
  int inner = -1; /* the last dimension of the tensors that went into the latest one of the batch */
  for (int d = 0; d < shape->ndim; d++) {
    const int64_t size = shape->size[d];
    if (d == 1) continue;
    b->positions *= size;
    if (size == 1) continue;
    bool joins = inner >= 0;
    for (int i = 0; i < 3 && joins; i++)
      joins = tensors[i] == NULL || tensors[i]->stride[inner] == size * tensors[i]->stride[d];
    if (!joins) b->size[b->dims++] = 1;
    b->size[b->dims - 1] *= size;
    planes = true;
    for (int i = 0; i < 3; i++)
      if (tensors[i] != NULL) {
        views[i]->stride[b->dims - 1] = tensors[i]->stride[d];
        planes = planes && tensors[i]->stride[d] == 1;
      }
    inner = d;
  }

  b->layout = planes && b->dims > 0 && b->dims <= 2 ? THNN_BATCH_PLANES
              : rows && b->dims <= 1                ? THNN_BATCH_ROWS
                                                    : THNN_BATCH_STRIDED;
  b->reduces = reduces;
  b->groups = 0;
  b->blocks = 1;
  if (b->channels * b->positions > 0) THNN_(grid)(b);

  /* A result that stays in the cache is better stored there, and one that begins in the middle of vectors, row
     after row, is not worth the trouble. */
  const uintptr_t start = (uintptr_t)b->out.data;
  b->large = thnn_outgrowsCaches(operands * b->channels * b->positions * (int64_t)sizeof(real));
  b->stream =
      b->large && out != NULL && b->out.data != b->x.data && b->out.data != b->g.data && start % sizeof(real) == 0;
  if (b->layout == THNN_BATCH_ROWS) b->stream &= start % VBYTES == 0 && b->dims > 0 && b->out.stride[0] % VL == 0;
}

static THNN_(Box) THNN_(box)(const THNN_(Batch) *b, int64_t task)
{
  THNN_(Box) box = {task % b->groups * b->width, 0, task / b->groups * b->block, 0};
  box.c_end = THNN_(smaller)(box.c + b->width, b->channels);
  box.p_end = THNN_(smaller)(box.p + b->block, b->positions);
  return box;
}

/* ---- statistics ---- */

void THNN_(Batch_merge)(int64_t channels, accreal *mean, accreal *squares, accreal count, const accreal *otherMean,
                        const accreal *otherSquares, accreal otherCount)
{
  if (otherCount == 0) return;
  if (count == 0) {
    for (int64_t c = 0; c < channels; c++) mean[c] = otherMean[c], squares[c] = otherSquares[c];
    return;
  }
  const accreal share = otherCount / (count + otherCount), weight = count * share;
  for (int64_t c = 0; c < channels; c++) {
    const accreal apart = otherMean[c] - mean[c];
    mean[c] += apart * share;
    squares[c] += otherSquares[c] + apart * apart * weight;
  }
}

/* Statistics of `count` values into the saved and running ones of n channels. */
static void THNN_(keepStatistics)(const THNN_(BatchStatistics) *to, int64_t first, int64_t n, const accreal *mean,
                                  const accreal *squares, accreal count)
{
  accreal inverse[CHANNELS];
  for (int64_t j = 0; j < n; j++) inverse[j] = THNN_(inverseDeviation)(squares[j] / count, to->eps);
  const accreal fresh = to->momentum, old = 1 - fresh, part = fresh / (to->unbiased ? count - 1 : count);
  for (int64_t j = 0; j < n; j++) {
    *THNN_(address)(to->save_mean, first + j) = (real)mean[j];
    *THNN_(address)(to->save_std, first + j) = (real)inverse[j];
    if (to->running_mean != NULL) {
      real *running_mean = THNN_(address)(to->running_mean, first + j);
      *running_mean = (real)(fresh * mean[j] + old * *running_mean);
    }
    if (to->running_var != NULL) {
      real *running_var = THNN_(address)(to->running_var, first + j);
      *running_var = (real)(part * squares[j] + old * *running_var);
    }
  }
}

static void THNN_(keepGradients)(const THNN_(BatchGradients) *to, const THNN_(BatchVectors) *v, int64_t first,
                                 int64_t n, const accreal *sum, const accreal *dot)
{
  if (to->gradWeight != NULL) {
    accreal inverse[CHANNELS];
    THNN_(fetchInverse)(v, first, n, inverse);
    for (int64_t j = 0; j < n; j++)
      *THNN_(address)(to->gradWeight, first + j) += (real)(to->scale * inverse[j] * dot[j]);
  }
  if (to->gradBias != NULL)
    for (int64_t j = 0; j < n; j++) *THNN_(address)(to->gradBias, first + j) += (real)(to->scale * sum[j]);
}

/* ---- boxes ---- */

static void THNN_(boxStatistics)(const THNN_(Batch) *b, THNN_(Box) box, accreal *mean, accreal *squares)
{
  for (int64_t j = 0; j < box.c_end - box.c; j++) mean[j] = squares[j] = 0;
  if (b->layout == THNN_BATCH_PLANES) THNN_(planesStatistics)(b, box, mean, squares);
  else if (b->layout == THNN_BATCH_ROWS) THNN_(rowsStatistics)(b, box, mean, squares);
  else THNN_(stridedStatistics)(b, box, mean, squares);
}

static void THNN_(boxDots)(const THNN_(Batch) *b, THNN_(Box) box, const THNN_(BatchVectors) *v, accreal *sum,
                           accreal *dot)
{
  const int64_t n = box.c_end - box.c;
  THNN_(Coefficients) k;
  accreal inverse[CHANNELS];
  THNN_(fetchForward)(v, box.c, n, inverse, &k);
  for (int64_t j = 0; j < n; j++) sum[j] = dot[j] = 0;
  if (b->layout == THNN_BATCH_PLANES) THNN_(planesDots)(b, box, &k, v->relu, sum, dot);
  else if (b->layout == THNN_BATCH_ROWS) THNN_(rowsDots)(b, box, &k, v->relu, sum, dot);
  else THNN_(stridedDots)(b, box, &k, v->relu, sum, dot);
}

static void THNN_(boxApply)(const THNN_(Batch) *b, THNN_(Box) box, THNNBatchMap map, const THNN_(Coefficients) *c)
{
  if (b->layout == THNN_BATCH_PLANES) THNN_(planesApply)(b, box, map, c);
  else if (b->layout == THNN_BATCH_ROWS) THNN_(rowsApply)(b, box, map, c);
  else THNN_(stridedApply)(b, box, map, c);
}

/* exact: the means of the box's channels before they were rounded, or NULL. What rounding took goes into the bias. */
static void THNN_(boxNormalize)(const THNN_(Batch) *b, THNN_(Box) box, const THNN_(BatchVectors) *v,
                                const accreal *exact)
{
  const int64_t n = box.c_end - box.c;
  THNN_(Coefficients) k;
  accreal inverse[CHANNELS];
  THNN_(fetchForward)(v, box.c, n, inverse, &k);
  /* The backward of relu, which knows only the rounded means, has to find the same signs. */
  if (exact != NULL && !v->relu)
    for (int64_t j = 0; j < n; j++) k.bias[j] = (real)(k.bias[j] + (k.mean[j] - exact[j]) * k.scale[j]);
  THNN_(boxApply)(b, box, v->relu ? NORMALIZE_RELU : NORMALIZE, &k);
}

/* sum and dot of the box's channels, or NULL. */
static void THNN_(boxGradInput)(const THNN_(Batch) *b, THNN_(Box) box, const THNN_(BatchVectors) *v,
                                const accreal *sum, const accreal *dot, accreal count)
{
  const int64_t n = box.c_end - box.c;
  THNN_(Coefficients) k;
  accreal inverse[CHANNELS];
  THNN_(fetchForward)(v, box.c, n, inverse, &k);
  if (sum == NULL) {
    THNN_(boxApply)(b, box, v->relu ? SCALE_RELU : SCALE, &k);
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    const accreal part = -k.scale[j] / count;
    k.slope[j] = (real)(part * inverse[j] * inverse[j] * dot[j]);
    k.shift[j] = (real)(part * sum[j]);
  }
  THNN_(boxApply)(b, box, v->relu ? GRADIENT_RELU : GRADIENT, &k);
}

/* ---- phases ---- */

/* A phase, and all that its boxes know. */
typedef struct THNN_(Phase) {
  const THNN_(Batch) *batch;
  const THNN_(BatchVectors) *vectors;
  const THNN_(BatchStatistics) *statistics;
  const THNN_(BatchGradients) *gradients;
  THNNBatchPairs
      found; /* what a reduction leaves, or what follows it takes; those of the first block come first */
  accreal count;
} THNN_(Phase);

typedef void (*THNN_(Step))(const THNN_(Phase) *phase, THNN_(Box) box);

/* A thread goes through its boxes backwards if `again`: those that the phase before read last are the likeliest to
   be in its cache. */
static void THNN_(forBoxes)(const THNN_(Phase) *phase, THNN_(Step) step, bool again)
{
  const THNN_(Batch) *b = phase->batch;
  const int64_t boxes = b->groups * b->blocks, work = b->channels * b->positions;
  const int threads = thnn_threads(boxes, work);
  if (threads == 1) { /* no parallel region: small tensors would feel it */
    for (int64_t i = 0; i < boxes; i++) step(phase, THNN_(box)(b, again ? boxes - 1 - i : i));
    return;
  }
  THNN_PARALLEL_FOR(i, boxes, work) {
    /* The share of a thread under a static schedule. */
    const int64_t share = boxes / threads, longer = boxes % threads * (share + 1);
    const int64_t size = i < longer ? share + 1 : share;
    const int64_t begin = i < longer ? i / size * size : longer + (i - longer) / size * size;
    step(phase, THNN_(box)(b, again ? 2 * begin + size - 1 - i : i));
  }
}

/* n pairs of C channels, from channel `first` on, between where they are kept and two arrays. */
static void THNN_(getPairs)(THNNBatchPairs pairs, int64_t C, int64_t first, int64_t n, accreal *a, accreal *b)
{
  const accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) a[j] = p[j * pairs.stride], b[j] = q[j * pairs.stride];
}

static void THNN_(putPairs)(THNNBatchPairs pairs, int64_t C, int64_t first, int64_t n, const accreal *a,
                            const accreal *b)
{
  accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) p[j * pairs.stride] = a[j], q[j * pairs.stride] = b[j];
}

static THNNBatchPairs THNN_(pairsOfBlock)(const THNN_(Phase) *phase, int64_t block)
{
  const THNNBatchPairs of = {phase->found.data + block * 2 * phase->batch->channels, phase->found.stride};
  return of;
}

static void THNN_(statisticsStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  const THNN_(Batch) *b = phase->batch;
  accreal mean[CHANNELS], squares[CHANNELS];
  THNN_(boxStatistics)(b, box, mean, squares);
  THNN_(putPairs)(THNN_(pairsOfBlock)(phase, box.p / b->block), b->channels, box.c, box.c_end - box.c, mean,
                  squares);
}

static void THNN_(sumsStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  const THNN_(Batch) *b = phase->batch;
  accreal sum[CHANNELS], dot[CHANNELS];
  THNN_(boxDots)(b, box, phase->vectors, sum, dot);
  THNN_(putPairs)(THNN_(pairsOfBlock)(phase, box.p / b->block), b->channels, box.c, box.c_end - box.c, sum, dot);
}

/* Runs a step that finds a pair of each channel, and joins what the blocks found in their order: into `result` if
   that is not NULL, as it may be where there is more than one block. */
static void THNN_(reduce)(THNN_(Phase) *phase, THNN_(Step) step, const THNNBatchPairs *result)
{
  const THNN_(Batch) *b = phase->batch;
  const int64_t C = b->channels, width = CHANNELS / 4;
  if (b->blocks == 1) {
    phase->found = *result;
    THNN_(forBoxes)(phase, step, false);
    for (int64_t i = 0; b->positions == 0 && i < 2 * C; i++) result->data[i * result->stride] = 0;
    return;
  }
  /* There is more than one block only where they find room in half of the scratch memory. */
  phase->found.data = thnn_scratch(sizeof(accreal) * (size_t)(2 * b->blocks * C));
  phase->found.stride = 1;
  THNN_(forBoxes)(phase, step, false);
  THNN_PARALLEL_FOR(i, THNN_(ceilDiv)(C, width), (b->blocks + 16) * C) {
    const int64_t c = i * width, n = THNN_(smaller)(width, C - c);
    accreal *first = phase->found.data + c, *second = first + C;
    for (int64_t k = 1; k < b->blocks; k++) {
      const accreal *other = first + k * 2 * C;
      if (step == THNN_(statisticsStep))
        THNN_(Batch_merge)(n, first, second, (accreal)(k * b->block), other, other + C,
                           (accreal)THNN_(smaller)(b->block, b->positions - k * b->block));
      else
        for (int64_t j = 0; j < n; j++) first[j] += other[j], second[j] += other[j + C];
    }
    if (result != NULL) THNN_(putPairs)(*result, C, c, n, first, second);
  }
}

void THNN_(Batch_statistics)(const THNN_(Batch) *b, THNNBatchPairs result)
{
  THNN_(Phase) phase = {.batch = b};
  THNN_(reduce)(&phase, THNN_(statisticsStep), &result);
}

void THNN_(Batch_gradSums)(const THNN_(Batch) *b, const THNN_(BatchVectors) *vectors, THNNBatchPairs result)
{
  THNN_(Phase) phase = {.batch = b, .vectors = vectors};
  THNN_(reduce)(&phase, THNN_(sumsStep), &result);
}

void THNN_(Batch_saveStatistics)(const THNN_(BatchStatistics) *to, int64_t C, THNNBatchPairs statistics,
                                 accreal count)
{
  const int64_t width = CHANNELS / 4;
  THNN_PARALLEL_FOR(i, THNN_(ceilDiv)(C, width), 16 * C) {
    const int64_t c = i * width, n = THNN_(smaller)(width, C - c);
    accreal mean[CHANNELS], squares[CHANNELS];
    THNN_(getPairs)(statistics, C, c, n, mean, squares);
    THNN_(keepStatistics)(to, c, n, mean, squares, count);
  }
}

/* found: the statistics, where these are not yet rounded. */
static void THNN_(normalizeStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  accreal mean[CHANNELS], squares[CHANNELS];
  const bool exact = phase->found.data != NULL;
  if (exact) THNN_(getPairs)(phase->found, phase->batch->channels, box.c, box.c_end - box.c, mean, squares);
  THNN_(boxNormalize)(phase->batch, box, phase->vectors, exact ? mean : NULL);
}

void THNN_(Batch_normalize)(const THNN_(Batch) *b, const THNN_(BatchVectors) *vectors)
{
  const THNN_(Phase) phase = {.batch = b, .vectors = vectors};
  THNN_(forBoxes)(&phase, THNN_(normalizeStep), false);
}

static void THNN_(gradInputStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  accreal sum[CHANNELS], dot[CHANNELS];
  const bool sums = phase->found.data != NULL;
  if (sums) THNN_(getPairs)(phase->found, phase->batch->channels, box.c, box.c_end - box.c, sum, dot);
  THNN_(boxGradInput)(phase->batch, box, phase->vectors, sums ? sum : NULL, sums ? dot : NULL, phase->count);
}

void THNN_(Batch_gradInput)(const THNN_(Batch) *b, const THNN_(BatchVectors) *vectors, const THNNBatchPairs *sums,
                            accreal count)
{
  THNN_(Phase) phase = {.batch = b, .vectors = vectors, .count = count};
  if (sums != NULL) phase.found = *sums;
  THNN_(forBoxes)(&phase, THNN_(gradInputStep), false);
}

static void THNN_(forwardStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  const THNN_(Batch) *b = phase->batch;
  accreal mean[CHANNELS], squares[CHANNELS];
  THNN_(boxStatistics)(b, box, mean, squares);
  THNN_(keepStatistics)(phase->statistics, box.c, box.c_end - box.c, mean, squares, (accreal)b->positions);
  THNN_(boxNormalize)(b, box, phase->vectors, mean);
}

void THNN_(Batch_forward)(const THNN_(Batch) *b, const THNN_(BatchStatistics) *to,
                          const THNN_(BatchVectors) *vectors)
{
  THNN_(Phase) phase = {.batch = b, .vectors = vectors, .statistics = to};
  if (b->blocks == 1) {
    THNN_(forBoxes)(&phase, THNN_(forwardStep), false);
  } else {
    THNN_(reduce)(&phase, THNN_(statisticsStep), NULL);
    THNN_(Batch_saveStatistics)(to, b->channels, phase.found, (accreal)b->positions);
    THNN_(forBoxes)(&phase, THNN_(normalizeStep), true);
  }
}

static void THNN_(backwardStep)(const THNN_(Phase) *phase, THNN_(Box) box)
{
  const bool train = phase->gradients->train;
  accreal sum[CHANNELS], dot[CHANNELS];
  THNN_(boxDots)(phase->batch, box, phase->vectors, sum, dot);
  THNN_(keepGradients)(phase->gradients, phase->vectors, box.c, box.c_end - box.c, sum, dot);
  if (phase->batch->out.data != NULL)
    THNN_(boxGradInput)(phase->batch, box, phase->vectors, train ? sum : NULL, train ? dot : NULL, phase->count);
}

void THNN_(Batch_backward)(const THNN_(Batch) *b, const THNN_(BatchGradients) *to,
                           const THNN_(BatchVectors) *vectors)
{
  THNN_(Phase) phase = {.batch = b, .vectors = vectors, .gradients = to, .count = (accreal)b->positions};
  if (b->blocks == 1) {
    THNN_(forBoxes)(&phase, THNN_(backwardStep), false);
    return;
  }
  THNN_(reduce)(&phase, THNN_(sumsStep), NULL);
  const accreal *sum = phase.found.data, *dot = sum + b->channels;
  for (int64_t c = 0; c < b->channels; c += CHANNELS)
    THNN_(keepGradients)(to, vectors, c, THNN_(smaller)(CHANNELS, b->channels - c), sum + c, dot + c);
  if (!to->train) phase.found.data = NULL;
  if (b->out.data != NULL) THNN_(forBoxes)(&phase, THNN_(gradInputStep), true);
}
