/* Batch normalization: how the work is cut into boxes, and the phases that go over them. */

#include "batch_norm/layouts.h"

/* Boxes: elements at most, and how many of them keep a few threads busy. Where channels are small, some of them make a
   box of SMALL_BOX elements: the square roots and divisions at the end of one hide behind the sums of the next. */
#define BOX 65536
#define MIN_BOXES 16
#define SMALL_BOX 8192

/* ---- geometry ---- */

/* How many channels and positions make a box. */
static void grid(Batch *b)
{
  const bool planes = b->layout == THNN_BATCH_PLANES, rows = b->layout == THNN_BATCH_ROWS;
  const int64_t C = b->channels, positions = b->positions, elements = C * positions;
  const int64_t length = b->dims > 0 ? b->size[b->dims - 1] : 1;

  int64_t width = rows ? CHANNELS : TILE_WIDTH;
  if (planes) width = b->reduces ? smaller(C / (2 * MIN_BOXES), SMALL_BOX / positions) : BOX / 2 / length;
  b->width = larger(1, smaller(width, smaller(C, CHANNELS)));
  b->groups = ceilDiv(C, b->width);

  int64_t blocks = 1;
  if (planes && !b->reduces) {
    blocks = ceilDiv(positions * b->width, BOX / 2);
  } else if (elements >= PIECE && b->groups < MIN_BOXES) {
    blocks = smaller(ceilDiv(MIN_BOXES, b->groups), positions / 1024);
    if (rows) {
      blocks = larger(ceilDiv(MIN_BOXES / 2, b->groups), elements / BOX);
      blocks = smaller(blocks, positions / 32);
      blocks = smaller(blocks, (int64_t)(THNN_SCRATCH_LIMIT / 2 / (2 * sizeof(accreal))) / C);
    }
    blocks = larger(1, blocks);
  }
  b->block = ceilDiv(positions, blocks);
  if (planes && length <= PIECE) b->block = ceilDiv(b->block, length) * length;
  b->blocks = ceilDiv(positions, b->block);
}

void THNN_(Batch_init)(Batch *b, THTensor *x, THTensor *g, THTensor *out, bool reduces)
{
  const THTensor *shape = x != NULL ? x : g;
  THTensor *tensors[] = {x, g, out};
  BatchView *views[] = {&b->x, &b->g, &b->out};
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
  if (b->channels * b->positions > 0) grid(b);

  /* A result that stays in the cache is better stored there, and one that begins in the middle of vectors, row
     after row, is not worth the trouble. */
  const uintptr_t start = (uintptr_t)b->out.data;
  b->large = thnn_exceedsLastLevelCache(operands * b->channels * b->positions * (int64_t)sizeof(real));
  b->stream =
      b->large && out != NULL && b->out.data != b->x.data && b->out.data != b->g.data && start % sizeof(real) == 0;
  if (b->layout == THNN_BATCH_ROWS) b->stream &= start % VBYTES == 0 && b->dims > 0 && b->out.stride[0] % VL == 0;
}

static Box box(const Batch *b, int64_t task)
{
  Box box = {task % b->groups * b->width, 0, task / b->groups * b->block, 0};
  box.c_end = smaller(box.c + b->width, b->channels);
  box.p_end = smaller(box.p + b->block, b->positions);
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
static void keepStatistics(const BatchStatistics *to, int64_t first, int64_t n, const accreal *mean,
                           const accreal *squares, accreal count)
{
  accreal inverse[CHANNELS];
  for (int64_t j = 0; j < n; j++) inverse[j] = inverseDeviation(squares[j] / count, to->eps);
  const accreal fresh = to->momentum, old = 1 - fresh, part = fresh / (to->unbiased ? count - 1 : count);
  for (int64_t j = 0; j < n; j++) {
    *address(to->save_mean, first + j) = (real)mean[j];
    *address(to->save_std, first + j) = (real)inverse[j];
    if (to->running_mean != NULL) {
      real *running_mean = address(to->running_mean, first + j);
      *running_mean = (real)(fresh * mean[j] + old * *running_mean);
    }
    if (to->running_var != NULL) {
      real *running_var = address(to->running_var, first + j);
      *running_var = (real)(part * squares[j] + old * *running_var);
    }
  }
}

static void keepGradients(const BatchGradients *to, const BatchVectors *v, int64_t first, int64_t n,
                          const accreal *sum, const accreal *dot)
{
  if (to->gradWeight != NULL) {
    accreal inverse[CHANNELS];
    fetchInverse(v, first, n, inverse);
    for (int64_t j = 0; j < n; j++) *address(to->gradWeight, first + j) += (real)(to->scale * inverse[j] * dot[j]);
  }
  if (to->gradBias != NULL)
    for (int64_t j = 0; j < n; j++) *address(to->gradBias, first + j) += (real)(to->scale * sum[j]);
}

/* ---- boxes ---- */

static void boxStatistics(const Batch *b, Box box, accreal *mean, accreal *squares)
{
  for (int64_t j = 0; j < box.c_end - box.c; j++) mean[j] = squares[j] = 0;
  if (b->layout == THNN_BATCH_PLANES) planesStatistics(b, box, mean, squares);
  else if (b->layout == THNN_BATCH_ROWS) rowsStatistics(b, box, mean, squares);
  else stridedStatistics(b, box, mean, squares);
}

static void boxDots(const Batch *b, Box box, const BatchVectors *v, accreal *sum, accreal *dot)
{
  const int64_t n = box.c_end - box.c;
  Coefficients k;
  accreal inverse[CHANNELS];
  fetchForward(v, box.c, n, inverse, &k);
  for (int64_t j = 0; j < n; j++) sum[j] = dot[j] = 0;
  if (b->layout == THNN_BATCH_PLANES) planesDots(b, box, &k, v->relu, sum, dot);
  else if (b->layout == THNN_BATCH_ROWS) rowsDots(b, box, &k, v->relu, sum, dot);
  else stridedDots(b, box, &k, v->relu, sum, dot);
}

static void boxApply(const Batch *b, Box box, THNNBatchMap map, const Coefficients *c)
{
  if (b->layout == THNN_BATCH_PLANES) planesApply(b, box, map, c);
  else if (b->layout == THNN_BATCH_ROWS) rowsApply(b, box, map, c);
  else stridedApply(b, box, map, c);
}

/* exact: the means of the box's channels before they were rounded, or NULL. What rounding took goes into the bias. */
static void boxNormalize(const Batch *b, Box box, const BatchVectors *v, const accreal *exact)
{
  const int64_t n = box.c_end - box.c;
  Coefficients k;
  accreal inverse[CHANNELS];
  fetchForward(v, box.c, n, inverse, &k);
  /* The backward of relu, which knows only the rounded means, has to find the same signs. */
  if (exact != NULL && !v->relu)
    for (int64_t j = 0; j < n; j++) k.bias[j] = (real)(k.bias[j] + (k.mean[j] - exact[j]) * k.scale[j]);
  boxApply(b, box, v->relu ? NORMALIZE_RELU : NORMALIZE, &k);
}

/* sum and dot of the box's channels, or NULL. */
static void boxGradInput(const Batch *b, Box box, const BatchVectors *v, const accreal *sum, const accreal *dot,
                         accreal count)
{
  const int64_t n = box.c_end - box.c;
  Coefficients k;
  accreal inverse[CHANNELS];
  fetchForward(v, box.c, n, inverse, &k);
  if (sum == NULL) {
    boxApply(b, box, v->relu ? SCALE_RELU : SCALE, &k);
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    const accreal part = -k.scale[j] / count;
    k.slope[j] = (real)(part * inverse[j] * inverse[j] * dot[j]);
    k.shift[j] = (real)(part * sum[j]);
  }
  boxApply(b, box, v->relu ? GRADIENT_RELU : GRADIENT, &k);
}

/* ---- phases ---- */

/* A phase, and all that its boxes know. */
typedef struct Phase {
  const Batch *batch;
  const BatchVectors *vectors;
  const BatchStatistics *statistics;
  const BatchGradients *gradients;
  THNNBatchPairs
      found; /* what a reduction leaves, or what follows it takes; those of the first block come first */
  accreal count;
} Phase;

typedef void (*THNN_(Step))(const Phase *phase, Box box);

/* A thread goes through its boxes backwards if `again`: those that the phase before read last are the likeliest to
   be in its cache. */
static void forBoxes(const Phase *phase, THNN_(Step) step, bool again)
{
  const Batch *b = phase->batch;
  const int64_t boxes = b->groups * b->blocks, work = b->channels * b->positions;
  const int threads = thnn_threads(boxes, work);
  if (threads == 1) { /* no parallel region: small tensors would feel it */
    for (int64_t i = 0; i < boxes; i++) step(phase, box(b, again ? boxes - 1 - i : i));
    return;
  }
  THNN_PARALLEL_FOR(i, boxes, work) {
    /* The share of a thread under a static schedule. */
    const int64_t share = boxes / threads, longer = boxes % threads * (share + 1);
    const int64_t size = i < longer ? share + 1 : share;
    const int64_t begin = i < longer ? i / size * size : longer + (i - longer) / size * size;
    step(phase, box(b, again ? 2 * begin + size - 1 - i : i));
  }
}

/* n pairs of C channels, from channel `first` on, between where they are kept and two arrays. */
static void getPairs(THNNBatchPairs pairs, int64_t C, int64_t first, int64_t n, accreal *a, accreal *b)
{
  const accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) a[j] = p[j * pairs.stride], b[j] = q[j * pairs.stride];
}

static void putPairs(THNNBatchPairs pairs, int64_t C, int64_t first, int64_t n, const accreal *a, const accreal *b)
{
  accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) p[j * pairs.stride] = a[j], q[j * pairs.stride] = b[j];
}

static THNNBatchPairs pairsOfBlock(const Phase *phase, int64_t block)
{
  const THNNBatchPairs of = {phase->found.data + block * 2 * phase->batch->channels, phase->found.stride};
  return of;
}

static void statisticsStep(const Phase *phase, Box box)
{
  const Batch *b = phase->batch;
  accreal mean[CHANNELS], squares[CHANNELS];
  boxStatistics(b, box, mean, squares);
  putPairs(pairsOfBlock(phase, box.p / b->block), b->channels, box.c, box.c_end - box.c, mean, squares);
}

static void sumsStep(const Phase *phase, Box box)
{
  const Batch *b = phase->batch;
  accreal sum[CHANNELS], dot[CHANNELS];
  boxDots(b, box, phase->vectors, sum, dot);
  putPairs(pairsOfBlock(phase, box.p / b->block), b->channels, box.c, box.c_end - box.c, sum, dot);
}

/* Runs a step that finds a pair of each channel, and joins what the blocks found in their order: into `result` if
   that is not NULL, as it may be where there is more than one block. */
static void reduce(Phase *phase, THNN_(Step) step, const THNNBatchPairs *result)
{
  const Batch *b = phase->batch;
  const int64_t C = b->channels, width = CHANNELS / 4;
  if (b->blocks == 1) {
    phase->found = *result;
    forBoxes(phase, step, false);
    for (int64_t i = 0; b->positions == 0 && i < 2 * C; i++) result->data[i * result->stride] = 0;
    return;
  }
  /* There is more than one block only where they find room in half of the scratch memory. */
  phase->found.data = thnn_scratch(sizeof(accreal) * (size_t)(2 * b->blocks * C));
  phase->found.stride = 1;
  forBoxes(phase, step, false);
  THNN_PARALLEL_FOR(i, ceilDiv(C, width), (b->blocks + 16) * C) {
    const int64_t c = i * width, n = smaller(width, C - c);
    accreal *first = phase->found.data + c, *second = first + C;
    for (int64_t k = 1; k < b->blocks; k++) {
      const accreal *other = first + k * 2 * C;
      if (step == statisticsStep)
        THNN_(Batch_merge)(n, first, second, (accreal)(k * b->block), other, other + C,
                           (accreal)smaller(b->block, b->positions - k * b->block));
      else
        for (int64_t j = 0; j < n; j++) first[j] += other[j], second[j] += other[j + C];
    }
    if (result != NULL) putPairs(*result, C, c, n, first, second);
  }
}

void THNN_(Batch_statistics)(const Batch *b, THNNBatchPairs result)
{
  Phase phase = {.batch = b};
  reduce(&phase, statisticsStep, &result);
}

void THNN_(Batch_gradSums)(const Batch *b, const BatchVectors *vectors, THNNBatchPairs result)
{
  Phase phase = {.batch = b, .vectors = vectors};
  reduce(&phase, sumsStep, &result);
}

void THNN_(Batch_saveStatistics)(const BatchStatistics *to, int64_t C, THNNBatchPairs statistics, accreal count)
{
  const int64_t width = CHANNELS / 4;
  THNN_PARALLEL_FOR(i, ceilDiv(C, width), 16 * C) {
    const int64_t c = i * width, n = smaller(width, C - c);
    accreal mean[CHANNELS], squares[CHANNELS];
    getPairs(statistics, C, c, n, mean, squares);
    keepStatistics(to, c, n, mean, squares, count);
  }
}

/* found: the statistics, where these are not yet rounded. */
static void normalizeStep(const Phase *phase, Box box)
{
  accreal mean[CHANNELS], squares[CHANNELS];
  const bool exact = phase->found.data != NULL;
  if (exact) getPairs(phase->found, phase->batch->channels, box.c, box.c_end - box.c, mean, squares);
  boxNormalize(phase->batch, box, phase->vectors, exact ? mean : NULL);
}

void THNN_(Batch_normalize)(const Batch *b, const BatchVectors *vectors)
{
  const Phase phase = {.batch = b, .vectors = vectors};
  forBoxes(&phase, normalizeStep, false);
}

static void gradInputStep(const Phase *phase, Box box)
{
  accreal sum[CHANNELS], dot[CHANNELS];
  const bool sums = phase->found.data != NULL;
  if (sums) getPairs(phase->found, phase->batch->channels, box.c, box.c_end - box.c, sum, dot);
  boxGradInput(phase->batch, box, phase->vectors, sums ? sum : NULL, sums ? dot : NULL, phase->count);
}

void THNN_(Batch_gradInput)(const Batch *b, const BatchVectors *vectors, const THNNBatchPairs *sums, accreal count)
{
  Phase phase = {.batch = b, .vectors = vectors, .count = count};
  if (sums != NULL) phase.found = *sums;
  forBoxes(&phase, gradInputStep, false);
}

static void forwardStep(const Phase *phase, Box box)
{
  const Batch *b = phase->batch;
  accreal mean[CHANNELS], squares[CHANNELS];
  boxStatistics(b, box, mean, squares);
  keepStatistics(phase->statistics, box.c, box.c_end - box.c, mean, squares, (accreal)b->positions);
  boxNormalize(b, box, phase->vectors, mean);
}

void THNN_(Batch_forward)(const Batch *b, const BatchStatistics *to, const BatchVectors *vectors)
{
  Phase phase = {.batch = b, .vectors = vectors, .statistics = to};
  if (b->blocks == 1) {
    forBoxes(&phase, forwardStep, false);
  } else {
    reduce(&phase, statisticsStep, NULL);
    THNN_(Batch_saveStatistics)(to, b->channels, phase.found, (accreal)b->positions);
    forBoxes(&phase, normalizeStep, true);
  }
}

static void backwardStep(const Phase *phase, Box box)
{
  const bool train = phase->gradients->train;
  accreal sum[CHANNELS], dot[CHANNELS];
  boxDots(phase->batch, box, phase->vectors, sum, dot);
  keepGradients(phase->gradients, phase->vectors, box.c, box.c_end - box.c, sum, dot);
  if (phase->batch->out.data != NULL)
    boxGradInput(phase->batch, box, phase->vectors, train ? sum : NULL, train ? dot : NULL, phase->count);
}

void THNN_(Batch_backward)(const Batch *b, const BatchGradients *to, const BatchVectors *vectors)
{
  Phase phase = {.batch = b, .vectors = vectors, .gradients = to, .count = (accreal)b->positions};
  if (b->blocks == 1) {
    forBoxes(&phase, backwardStep, false);
    return;
  }
  reduce(&phase, sumsStep, NULL);
  const accreal *sum = phase.found.data, *dot = sum + b->channels;
  for (int64_t c = 0; c < b->channels; c += CHANNELS)
    keepGradients(to, vectors, c, smaller(CHANNELS, b->channels - c), sum + c, dot + c);
  if (!to->train) phase.found.data = NULL;
  if (b->out.data != NULL) forBoxes(&phase, gradInputStep, true);
}
