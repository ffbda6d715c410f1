/* The stages of batch normalization, and the fused forward and backward made of them. */

#include "batch_norm/tile.h"

/* Channels of one task in the loops over vectors (C). */
#define TASK_CHANNELS (MAX_TILE_CHANNELS / 4)

/* ---- vectors (C), copied into contiguous arrays ---- */

static void loadInverseStd(const ChannelParameters *parameters, int64_t first, int64_t n, accreal *inverseStd)
{
  real values[MAX_TILE_CHANNELS];
  loadVector(parameters->inverseStd != NULL ? parameters->inverseStd : parameters->variance, first, n, 0, values);
  if (parameters->inverseStd != NULL)
    for (int64_t j = 0; j < n; j++) inverseStd[j] = values[j];
  else
    for (int64_t j = 0; j < n; j++) inverseStd[j] = inverseDeviation(values[j], parameters->eps);
}

/* Loads the coefficients of the forward; slope and constant, which only the gradient uses, are 0. */
static void loadCoefficients(const ChannelParameters *parameters, int64_t first, int64_t n, accreal *inverseStd,
                             Coefficients *k)
{
  loadInverseStd(parameters, first, n, inverseStd);
  loadVector(parameters->mean, first, n, 0, k->mean);
  loadVector(parameters->weight, first, n, 1, k->scale);
  loadVector(parameters->bias, first, n, 0, k->bias);
  k->limit = (real)parameters->limit;
  for (int64_t j = 0; j < n; j++) {
    k->scale[j] = (real)(inverseStd[j] * k->scale[j]);
    k->slope[j] = k->constant[j] = 0;
  }
}

/* Loads n pairs from channel `first` of C on. */
static void loadPairs(ChannelPairs pairs, int64_t C, int64_t first, int64_t n, accreal *a, accreal *b)
{
  const accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) a[j] = p[j * pairs.stride], b[j] = q[j * pairs.stride];
}

static void storePairs(ChannelPairs pairs, int64_t C, int64_t first, int64_t n, const accreal *a, const accreal *b)
{
  accreal *p = pairs.data + first * pairs.stride, *q = p + C * pairs.stride;
  for (int64_t j = 0; j < n; j++) p[j * pairs.stride] = a[j], q[j * pairs.stride] = b[j];
}

/* Writes the saved and updates the running statistics of n channels. */
static void storeStatistics(const StatisticsOutputs *to, int64_t first, int64_t n, const accreal *mean,
                            const accreal *squares, accreal count)
{
  accreal inverseStd[MAX_TILE_CHANNELS];
  for (int64_t j = 0; j < n; j++) inverseStd[j] = inverseDeviation(squares[j] / count, to->eps);
  const accreal momentum = to->momentum, kept = 1 - momentum;
  const accreal varianceFactor = momentum / (to->unbiased ? count - 1 : count);
  for (int64_t j = 0; j < n; j++) {
    *elementOf(to->save_mean, first + j) = (real)mean[j];
    *elementOf(to->save_std, first + j) = (real)inverseStd[j];
    if (to->running_mean != NULL) {
      real *running_mean = elementOf(to->running_mean, first + j);
      *running_mean = (real)(momentum * mean[j] + kept * *running_mean);
    }
    if (to->running_var != NULL) {
      real *running_var = elementOf(to->running_var, first + j);
      *running_var = (real)(varianceFactor * squares[j] + kept * *running_var);
    }
  }
}

static void addParameterGradients(const GradientOutputs *to, const ChannelParameters *parameters, int64_t first,
                                  int64_t n, const accreal *sum, const accreal *dot)
{
  if (to->gradWeight != NULL) {
    accreal inverseStd[MAX_TILE_CHANNELS];
    loadInverseStd(parameters, first, n, inverseStd);
    for (int64_t j = 0; j < n; j++)
      *elementOf(to->gradWeight, first + j) += (real)(to->scale * inverseStd[j] * dot[j]);
  }
  if (to->gradBias != NULL)
    for (int64_t j = 0; j < n; j++) *elementOf(to->gradBias, first + j) += (real)(to->scale * sum[j]);
}

/* ---- one tile ---- */

static Activation activationWith(bool relu, accreal limit)
{
  if (!relu) return IDENTITY;
  return limit < (accreal)INFINITY ? CLAMP : RELU;
}

static Activation activationAfter(const ChannelParameters *parameters)
{
  return activationWith(parameters->relu, parameters->limit);
}

static void tileGradSums(const BatchNorm *b, Tile tile, const ChannelParameters *parameters, accreal *sum,
                         accreal *dot)
{
  Coefficients k;
  accreal inverseStd[MAX_TILE_CHANNELS];
  loadCoefficients(parameters, tile.c, tile.cEnd - tile.c, inverseStd, &k);
  THNN_(batchNormTileGradSums)(b, tile, &k, activationAfter(parameters), sum, dot);
}

/* exactMean: the means before they were rounded to `real`, or NULL. The bias compensates the rounding. */
static void tileNormalize(const BatchNorm *b, Tile tile, const ChannelParameters *parameters,
                          const accreal *exactMean)
{
  const int64_t n = tile.cEnd - tile.c;
  Coefficients k;
  accreal inverseStd[MAX_TILE_CHANNELS];
  loadCoefficients(parameters, tile.c, n, inverseStd, &k);
  /* With relu nothing is compensated: the backward recomputes the signs from the rounded means. With a residual it reads
     them from the output. */
  const bool adds = b->g.data != NULL;
  if (exactMean != NULL && (adds || !parameters->relu))
    for (int64_t j = 0; j < n; j++) k.bias[j] = (real)(k.bias[j] + (k.mean[j] - exactMean[j]) * k.scale[j]);
  THNN_(batchNormTileApply)(b, tile, mapWith(adds ? ADD : NORMALIZE, activationAfter(parameters)), &k);
}

/* sum, dot: the sums of `count` values of each channel of the tile; NULL if the statistics are constants. */
static void tileGradInput(const BatchNorm *b, Tile tile, const ChannelParameters *parameters, const accreal *sum,
                          const accreal *dot, accreal count)
{
  const int64_t n = tile.cEnd - tile.c;
  Coefficients k;
  accreal inverseStd[MAX_TILE_CHANNELS];
  loadCoefficients(parameters, tile.c, n, inverseStd, &k);
  if (sum == NULL) {
    THNN_(batchNormTileApply)(b, tile, mapWith(SCALE, activationAfter(parameters)), &k);
    return;
  }
  for (int64_t j = 0; j < n; j++) {
    const accreal factor = -k.scale[j] / count;
    k.slope[j] = (real)(factor * inverseStd[j] * inverseStd[j] * dot[j]);
    k.constant[j] = (real)(factor * sum[j]);
  }
  THNN_(batchNormTileApply)(b, tile, mapWith(GRADIENT, activationAfter(parameters)), &k);
}

static void tileCut(const Cut *cut, Tile tile)
{
  const BatchNorm *b = &cut->batch;
  Coefficients k = {.limit = (real)cut->limit};
  if (isHalf(b->x.type)) {
    /* The output is at most the limit rounded to its type. */
    real rounded = 0;
    storeElement(&rounded, 0, b->x.type, k.limit);
    k.limit = loadElement(&rounded, 0, b->x.type);
  }
  THNN_(batchNormTileApply)(b, tile, mapWith(CUT, activationWith(cut->relu, cut->limit)), &k);
}

/* ---- a stage: one function over all tiles ---- */

/* `pairs` has 2 * C numbers per position block, which a reduction writes and combines in the first block; the next
   stage reads the first block. */
typedef struct StageArguments {
  const BatchNorm *batch;
  const Cut *cut; /* computed before the sums of each tile; NULL: none, or computed already */
  const ChannelParameters *parameters;
  const StatisticsOutputs *statistics;
  const GradientOutputs *gradients;
  ChannelPairs pairs;
  accreal count;
} StageArguments;

typedef void (*Stage)(const StageArguments *arguments, Tile tile);

/* reversed: each thread visits its tiles backwards, since the tiles that it read last in the previous stage are most
   likely still in its cache. */
static void runStage(Stage stage, const StageArguments *arguments, bool reversed)
{
  const BatchNorm *b = arguments->batch;
  const int64_t tiles = b->channelTiles * b->positionBlocks, work = b->channels * b->positions;
  const int threads = thnn_threads(tiles, work);
  if (threads == 1) {
    for (int64_t i = 0; i < tiles; i++) stage(arguments, tileAt(b, reversed ? tiles - 1 - i : i));
    return;
  }
  THNN_PARALLEL_FOR(i, tiles, work) {
    /* The thread's range of tiles under a static schedule: the first `longer` tiles are in ranges of range + 1
       tiles. */
    const int64_t range = tiles / threads, longer = tiles % threads * (range + 1);
    const int64_t size = i < longer ? range + 1 : range;
    const int64_t begin = i < longer ? i / size * size : longer + (i - longer) / size * size;
    stage(arguments, tileAt(b, reversed ? 2 * begin + size - 1 - i : i));
  }
}

static ChannelPairs pairsOfBlock(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  const int64_t block = tile.p / b->blockPositions;
  const ChannelPairs pairs = {arguments->pairs.data + block * 2 * b->channels, arguments->pairs.stride};
  return pairs;
}

static void momentsStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  accreal mean[MAX_TILE_CHANNELS], squares[MAX_TILE_CHANNELS];
  THNN_(batchNormTileMoments)(b, tile, mean, squares);
  storePairs(pairsOfBlock(arguments, tile), b->channels, tile.c, tile.cEnd - tile.c, mean, squares);
}

static void gradSumsStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  accreal sum[MAX_TILE_CHANNELS], dot[MAX_TILE_CHANNELS];
  if (arguments->cut != NULL) tileCut(arguments->cut, tile);
  tileGradSums(b, tile, arguments->parameters, sum, dot);
  storePairs(pairsOfBlock(arguments, tile), b->channels, tile.c, tile.cEnd - tile.c, sum, dot);
}

/* Without training, gradInput does not depend on the sums, so it is computed while the tile is in the cache. */
static void evaluationBackwardStage(const StageArguments *arguments, Tile tile)
{
  gradSumsStage(arguments, tile);
  tileGradInput(arguments->batch, tile, arguments->parameters, NULL, NULL, 0);
}

/* Runs a stage that stores the moments or the gradient sums of each tile, and combines the pairs of the position blocks
   in block order. The result is in arguments->pairs, and in `result` unless that is NULL; with one block `result` must
   not be NULL. */
static void reduce(StageArguments *arguments, Stage stage, const ChannelPairs *result)
{
  const BatchNorm *b = arguments->batch;
  const int64_t C = b->channels;
  if (b->positionBlocks == 1) {
    arguments->pairs = *result;
    runStage(stage, arguments, false);
    for (int64_t i = 0; b->positions == 0 && i < 2 * C; i++) result->data[i * result->stride] = 0;
    return;
  }
  /* setGrid bounds the number of blocks, so that their pairs are within THNN_SCRATCH_LIMIT. */
  arguments->pairs.data = thnn_scratch(sizeof(accreal) * (size_t)(2 * b->positionBlocks * C));
  arguments->pairs.stride = 1;
  runStage(stage, arguments, false);
  THNN_PARALLEL_FOR(i, ceilDivide(C, TASK_CHANNELS), (b->positionBlocks + 16) * C) {
    const int64_t c = i * TASK_CHANNELS, n = MIN(TASK_CHANNELS, C - c);
    accreal *first = arguments->pairs.data + c, *second = first + C;
    for (int64_t k = 1; k < b->positionBlocks; k++) {
      const accreal *other = first + k * 2 * C;
      if (stage == momentsStage)
        THNN_(batchNormMergeMoments)(n, first, second, (accreal)(k * b->blockPositions), other, other + C,
                                     (accreal)MIN(b->blockPositions, b->positions - k * b->blockPositions));
      else
        for (int64_t j = 0; j < n; j++) first[j] += other[j], second[j] += other[j + C];
    }
    if (result != NULL) storePairs(*result, C, c, n, first, second);
  }
}

void THNN_(batchNormMoments)(const BatchNorm *b, ChannelPairs result)
{
  StageArguments arguments = {.batch = b};
  reduce(&arguments, momentsStage, &result);
}

void THNN_(batchNormGradSums)(const BatchNorm *b, const ChannelParameters *parameters, ChannelPairs result)
{
  StageArguments arguments = {.batch = b, .parameters = parameters};
  reduce(&arguments, gradSumsStage, &result);
}

void THNN_(batchNormSaveStatistics)(const StatisticsOutputs *to, int64_t C, ChannelPairs moments, accreal count)
{
  THNN_PARALLEL_FOR(i, ceilDivide(C, TASK_CHANNELS), 16 * C) {
    const int64_t c = i * TASK_CHANNELS, n = MIN(TASK_CHANNELS, C - c);
    accreal mean[MAX_TILE_CHANNELS], squares[MAX_TILE_CHANNELS];
    loadPairs(moments, C, c, n, mean, squares);
    storeStatistics(to, c, n, mean, squares, count);
  }
}

/* pairs: the moments from which parameters->mean was rounded, or none. */
static void normalizeStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  accreal mean[MAX_TILE_CHANNELS], squares[MAX_TILE_CHANNELS];
  const bool exact = arguments->pairs.data != NULL;
  if (exact) loadPairs(arguments->pairs, b->channels, tile.c, tile.cEnd - tile.c, mean, squares);
  tileNormalize(b, tile, arguments->parameters, exact ? mean : NULL);
}

void THNN_(batchNormNormalize)(const BatchNorm *b, const ChannelParameters *parameters)
{
  const StageArguments arguments = {.batch = b, .parameters = parameters};
  runStage(normalizeStage, &arguments, false);
}

/* pairs: the sums, or none if the statistics are constants. */
static void gradInputStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  accreal sum[MAX_TILE_CHANNELS], dot[MAX_TILE_CHANNELS];
  const bool sums = arguments->pairs.data != NULL;
  if (sums) loadPairs(arguments->pairs, b->channels, tile.c, tile.cEnd - tile.c, sum, dot);
  tileGradInput(b, tile, arguments->parameters, sums ? sum : NULL, sums ? dot : NULL, arguments->count);
}

void THNN_(batchNormGradInput)(const BatchNorm *b, const ChannelParameters *parameters, const ChannelPairs *sums,
                               accreal count)
{
  StageArguments arguments = {.batch = b, .parameters = parameters, .count = count};
  if (sums != NULL) arguments.pairs = *sums;
  runStage(gradInputStage, &arguments, false);
}

static void cutStage(const StageArguments *arguments, Tile tile) { tileCut(arguments->cut, tile); }

void THNN_(batchNormCut)(const Cut *cut)
{
  const StageArguments arguments = {.batch = &cut->batch, .cut = cut};
  runStage(cutStage, &arguments, false);
}

/* ---- fused ---- */

/* All stages of the forward for a tile with all positions of its channels. */
static void forwardStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  accreal mean[MAX_TILE_CHANNELS], squares[MAX_TILE_CHANNELS];
  THNN_(batchNormTileMoments)(b, tile, mean, squares);
  storeStatistics(arguments->statistics, tile.c, tile.cEnd - tile.c, mean, squares, (accreal)b->positions);
  tileNormalize(b, tile, arguments->parameters, mean);
}

void THNN_(batchNormForward)(const BatchNorm *b, const StatisticsOutputs *to, const ChannelParameters *parameters)
{
  StageArguments arguments = {.batch = b, .parameters = parameters, .statistics = to};
  if (b->positionBlocks == 1) {
    runStage(forwardStage, &arguments, false);
  } else {
    reduce(&arguments, momentsStage, NULL);
    THNN_(batchNormSaveStatistics)(to, b->channels, arguments.pairs, (accreal)b->positions);
    runStage(normalizeStage, &arguments, true);
  }
}

/* All stages of the backward for a tile with all positions of its channels. */
static void backwardStage(const StageArguments *arguments, Tile tile)
{
  const BatchNorm *b = arguments->batch;
  const bool train = arguments->gradients->train;
  accreal sum[MAX_TILE_CHANNELS], dot[MAX_TILE_CHANNELS];
  if (arguments->cut != NULL) tileCut(arguments->cut, tile);
  tileGradSums(b, tile, arguments->parameters, sum, dot);
  addParameterGradients(arguments->gradients, arguments->parameters, tile.c, tile.cEnd - tile.c, sum, dot);
  if (b->out.data != NULL)
    tileGradInput(b, tile, arguments->parameters, train ? sum : NULL, train ? dot : NULL, arguments->count);
}

/* True if the two have the same tiles, in the same layout. */
static bool isSameGrid(const BatchNorm *a, const BatchNorm *b)
{
  if (a->layout != b->layout || a->dims != b->dims) return false;
  for (int d = 0; d < a->dims; d++)
    if (a->size[d] != b->size[d]) return false;
  return a->tileChannels == b->tileChannels && a->blockPositions == b->blockPositions;
}

void THNN_(batchNormBackward)(const BatchNorm *b, const Cut *cut, const GradientOutputs *to,
                              const ChannelParameters *parameters)
{
  Cut near;
  if (cut != NULL && isSameGrid(&cut->batch, b)) {
    near = *cut;
    near.batch.nonTemporal = false; /* the sums read it next */
    cut = &near;
  } else if (cut != NULL) {
    THNN_(batchNormCut)(cut);
    cut = NULL;
  }
  StageArguments arguments = {
      .batch = b, .cut = cut, .parameters = parameters, .gradients = to, .count = (accreal)b->positions};
  if (b->positionBlocks == 1) {
    runStage(backwardStage, &arguments, false);
    return;
  }
  const bool evaluates = b->out.data != NULL && !to->train;
  reduce(&arguments, evaluates ? evaluationBackwardStage : gradSumsStage, NULL);
  const accreal *sum = arguments.pairs.data, *dot = sum + b->channels;
  for (int64_t c = 0; c < b->channels; c += MAX_TILE_CHANNELS)
    addParameterGradients(to, parameters, c, MIN(MAX_TILE_CHANNELS, b->channels - c), sum + c, dot + c);
  if (b->out.data != NULL && to->train) runStage(gradInputStage, &arguments, true);
}
