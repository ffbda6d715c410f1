#include "batch_norm/group_norm.h"
#include "batch_norm/tile.h"

/* A sample is a batch of one for the loops over tiles, which see channels x positions. Their numbers per channel become
   numbers per group: moments are merged, gradient sums are multiplied by the weight and added.

   Tasks of whole groups compute all stages of a group while it is in the cache. A few samples with groups that lie
   among one another in memory, or with few groups, have too few of these for several threads: then each stage is a
   loop over smaller tiles, and the numbers of each tile are kept in scratch memory. */

/* Fewer tasks leave threads without work. Tensors of fewer than STAGED_ELEMENTS elements are computed in one stage
   anyway. */
#define MIN_TASKS 16
#define STAGED_ELEMENTS 16384

/* Channels-first tasks of several groups have about TASK_ELEMENTS elements. */
#define TASK_ELEMENTS 8192

/* Numbers per channel that fit into half of the scratch memory. */
#define SCRATCH_NUMBERS ((int64_t)(THNN_SCRATCH_LIMIT / 2 / sizeof(accreal)))

typedef struct GroupNorm {
  BatchNorm sample;                    /* the first sample */
  int64_t xStride, gStride, outStride; /* from one sample to the next */
  int64_t samples, groups, width;      /* width: channels of a group */
  int64_t tileChannels;                /* the most channels of a tile */
  int64_t taskGroups, groupTasks;      /* groups of a task, and the number of tasks of a sample */
  int64_t blocks, blockPositions;    /* of the stages: blocks of positions, and tiles of stageChannels channels */
  int64_t stageChannels, stageTiles; /* blocks is 0: all stages in one task */
  const THTensor *weight, *bias, *save_mean, *save_std;
} GroupNorm;

static void advance(Operand *operand, int64_t offset)
{
  if (operand->data != NULL) operand->data = elementAt(operand->data, offset, operand->type);
}

static BatchNorm sampleAt(const GroupNorm *norm, int64_t n)
{
  BatchNorm b = norm->sample;
  advance(&b.x, n * norm->xStride);
  advance(&b.g, n * norm->gStride);
  advance(&b.out, n * norm->outStride);
  return b;
}

/* ---- geometry ---- */

/* The first sample of a tensor, which may be absent. */
static THTensor *firstSample(THTensor *tensor, THTensor *sample)
{
  if (tensor == NULL) return NULL;
  *sample = *tensor;
  sample->size[0] = 1;
  return sample;
}

/* Divides the work into stages if tasks of whole groups are too few. */
static void setStages(GroupNorm *norm, int64_t tasks)
{
  const BatchNorm *b = &norm->sample;
  const int64_t N = norm->samples, C = b->channels;
  norm->blocks = 0;
  if (tasks >= MIN_TASKS || N * C * b->positions < STAGED_ELEMENTS || 2 * N * C > SCRATCH_NUMBERS) return;
  norm->stageChannels = MIN(norm->tileChannels, C);
  if (b->layout == LAYOUT_CHANNELS_FIRST)
    norm->stageChannels = MIN(norm->stageChannels, ceilDivide(C * N, MIN_TASKS));
  norm->stageTiles = ceilDivide(C, norm->stageChannels);
  int64_t blocks = MIN(ceilDivide(MIN_TASKS, N * norm->stageTiles), b->positions / 64);
  blocks = MAX(1, MIN(blocks, SCRATCH_NUMBERS / (2 * N * C)));
  /* Runs of at most SUM_CHUNK positions are summed as a whole. */
  if (b->layout == LAYOUT_CHANNELS_FIRST && b->size[b->dims - 1] <= SUM_CHUNK) blocks = 1;
  norm->blockPositions = ceilDivide(b->positions, blocks);
  norm->blocks = ceilDivide(b->positions, norm->blockPositions);
}

static void groupNormInit(GroupNorm *norm, THTensor *x, THTensor *g, THTensor *out, int64_t groups)
{
  THTensor xSample, gSample, outSample;
  BatchNorm *b = &norm->sample;
  THNN_(batchNormInit)(b, firstSample(x, &xSample), firstSample(g, &gSample), firstSample(out, &outSample), true);
  norm->samples = x->size[0];
  norm->xStride = x->stride[0];
  norm->gStride = g != NULL ? g->stride[0] : 0;
  norm->outStride = out != NULL ? out->stride[0] : 0;
  norm->groups = groups;
  norm->width = b->channels / groups;
  norm->tileChannels = b->layout == LAYOUT_STRIDED ? GATHER_CHANNELS : MAX_TILE_CHANNELS;
  norm->taskGroups = MAX(1, norm->tileChannels / MAX(1, norm->width));
  if (b->layout == LAYOUT_CHANNELS_FIRST)
    norm->taskGroups = MIN(norm->taskGroups, MAX(1, TASK_ELEMENTS / (norm->width * b->positions)));
  norm->groupTasks = ceilDivide(groups, norm->taskGroups);

  const int operands = 1 + (g != NULL) + (out != NULL);
  const int64_t bytes = operands * norm->samples * b->channels * b->positions * (int64_t)sizeof(real);
  b->nonTemporal = thnn_exceedsLastLevelCache(bytes) && out != NULL && out->data != x->data &&
                   (g == NULL || out->data != g->data) && !isHalf(b->out.type) &&
                   (uintptr_t)b->out.data % sizeof(real) == 0;
  if (b->layout == LAYOUT_CHANNELS_LAST)
    b->nonTemporal &= (uintptr_t)b->out.data % VBYTES == 0 && b->dims > 0 && b->out.stride[0] % VL == 0 &&
                      norm->outStride % VL == 0;
}

/* Task i of the stages. */
static Tile stageTile(const GroupNorm *norm, int64_t i, int64_t *n, int64_t *block)
{
  const BatchNorm *b = &norm->sample;
  const int64_t tile = i % norm->stageTiles, rest = i / norm->stageTiles;
  *block = rest % norm->blocks;
  *n = rest / norm->blocks;
  Tile t = {tile * norm->stageChannels, 0, *block * norm->blockPositions, 0};
  t.cEnd = MIN(t.c + norm->stageChannels, b->channels);
  t.pEnd = MIN(t.p + norm->blockPositions, b->positions);
  return t;
}

/* The numbers of block `block` of sample n in the scratch memory of the stages: C first ones, then C second ones. */
static accreal *stageNumbers(const GroupNorm *norm, accreal *scratch, int64_t n, int64_t block)
{
  return scratch + (n * norm->blocks + block) * 2 * norm->sample.channels;
}

static int64_t stageTasks(const GroupNorm *norm) { return norm->samples * norm->blocks * norm->stageTiles; }

static int64_t elements(const GroupNorm *norm)
{
  return norm->samples * norm->sample.channels * norm->sample.positions;
}

static accreal *stageScratch(const GroupNorm *norm)
{
  return thnn_scratch(sizeof(accreal) * (size_t)(2 * norm->samples * norm->blocks * norm->sample.channels));
}

/* ---- forward ---- */

/* Saves the statistics of one group of `count` values, and returns its inverse deviation. */
static accreal save(const GroupNorm *norm, int64_t n, int64_t group, accreal mean, accreal squares, accreal eps)
{
  const accreal count = (accreal)(norm->width * norm->sample.positions);
  const accreal inverse = inverseDeviation(count > 0 ? squares / count : 0, eps);
  *statistic(norm->save_mean, n, group) = (real)mean;
  *statistic(norm->save_std, n, group) = (real)inverse;
  return inverse;
}

/* Normalizes a tile; mean and inverse belong to groups from `first` on. The bias compensates the rounding of means. */
static void normalizeTile(const GroupNorm *norm, const BatchNorm *b, Tile tile, int64_t first, const accreal *mean,
                          const accreal *inverse)
{
  const int64_t n = tile.cEnd - tile.c;
  Coefficients k;
  loadVector(norm->weight, tile.c, n, 1, k.scale);
  loadVector(norm->bias, tile.c, n, 0, k.bias);
  k.limit = 0;
  for (int64_t j = 0; j < n; j++) {
    const int64_t group = (tile.c + j) / norm->width - first;
    k.mean[j] = (real)mean[group];
    k.scale[j] = (real)(inverse[group] * k.scale[j]);
    k.bias[j] = (real)(k.bias[j] + (k.mean[j] - mean[group]) * k.scale[j]);
    k.slope[j] = k.constant[j] = 0;
  }
  THNN_(batchNormTileApply)(b, tile, NORMALIZE, &k);
}

/* Merges the moments of n channels from c on into those of their groups, which begin with group `first`. Each channel
   has `count` values, and groupCount[i] values of group i have been merged before. */
static void mergeChannels(const GroupNorm *norm, int64_t c, int64_t n, int64_t first, const accreal *mean,
                          const accreal *squares, accreal count, accreal *groupMean, accreal *groupSquares,
                          accreal *groupCount)
{
  for (int64_t j = 0; j < n; j++) {
    const int64_t group = (c + j) / norm->width - first;
    THNN_(batchNormMergeMoments)(1, groupMean + group, groupSquares + group, groupCount[group], mean + j,
                                 squares + j, count);
    groupCount[group] += count;
  }
}

/* Moments of groups from first to end - 1. */
static void groupMoments(const GroupNorm *norm, const BatchNorm *b, int64_t first, int64_t end, accreal *mean,
                         accreal *squares)
{
  const int64_t S = b->positions;
  if (b->layout == LAYOUT_CHANNELS_FIRST && b->dims == 1 && (b->x.channelStride == S || norm->width == 1)) {
    /* Each group is one run. */
    BatchNorm runs = *b;
    runs.channels = norm->groups;
    runs.positions = runs.size[0] = norm->width * S;
    runs.x.channelStride *= norm->width;
    THNN_(batchNormTileMoments)(&runs, (Tile){first, end, 0, runs.positions}, mean, squares);
    return;
  }
  accreal channelMean[MAX_TILE_CHANNELS], channelSquares[MAX_TILE_CHANNELS], count[MAX_TILE_CHANNELS];
  for (int64_t i = 0; i < end - first; i++) mean[i] = squares[i] = count[i] = 0;
  for (int64_t c = first * norm->width, cEnd; c < end * norm->width; c = cEnd) {
    cEnd = MIN(c + norm->tileChannels, end * norm->width);
    THNN_(batchNormTileMoments)(b, (Tile){c, cEnd, 0, S}, channelMean, channelSquares);
    mergeChannels(norm, c, cEnd - c, first, channelMean, channelSquares, (accreal)S, mean, squares, count);
  }
}

static void forwardTask(const GroupNorm *norm, int64_t n, int64_t task, accreal eps)
{
  const int64_t first = task * norm->taskGroups, end = MIN(first + norm->taskGroups, norm->groups);
  const BatchNorm b = sampleAt(norm, n);
  accreal mean[MAX_TILE_CHANNELS], squares[MAX_TILE_CHANNELS], inverse[MAX_TILE_CHANNELS];
  groupMoments(norm, &b, first, end, mean, squares);
  for (int64_t i = 0; i < end - first; i++) inverse[i] = save(norm, n, first + i, mean[i], squares[i], eps);
  /* The channels that were read last are most likely still in the cache. */
  for (int64_t cEnd = end * norm->width, c; cEnd > first * norm->width; cEnd = c) {
    c = MAX(cEnd - norm->tileChannels, first * norm->width);
    normalizeTile(norm, &b, (Tile){c, cEnd, 0, b.positions}, first, mean, inverse);
  }
}

static void forwardInStages(const GroupNorm *norm, accreal eps)
{
  const int64_t C = norm->sample.channels, width = norm->width;
  accreal *const scratch = stageScratch(norm);
  THNN_PARALLEL_FOR(i, stageTasks(norm), elements(norm)) {
    int64_t n, block;
    const Tile tile = stageTile(norm, i, &n, &block);
    const BatchNorm b = sampleAt(norm, n);
    accreal *const mean = stageNumbers(norm, scratch, n, block) + tile.c;
    THNN_(batchNormTileMoments)(&b, tile, mean, mean + C);
  }
  /* The mean and inverse deviation of group g replace the moments of channel g in the first block of its sample, which
     belongs to group g or to one that has been merged. */
  THNN_PARALLEL_FOR(n, norm->samples, 16 * norm->samples * norm->blocks * C) {
    accreal *const first = stageNumbers(norm, scratch, n, 0);
    for (int64_t group = 0; group < norm->groups; group++) {
      accreal mean = 0, squares = 0, count = 0;
      for (int64_t block = 0; block < norm->blocks; block++) {
        const int64_t p = block * norm->blockPositions;
        const accreal positions = (accreal)MIN(norm->blockPositions, norm->sample.positions - p);
        const accreal *const numbers = stageNumbers(norm, scratch, n, block) + group * width;
        mergeChannels(norm, group * width, width, group, numbers, numbers + C, positions, &mean, &squares, &count);
      }
      first[group] = mean;
      first[C + group] = save(norm, n, group, mean, squares, eps);
    }
  }
  THNN_PARALLEL_FOR(i, stageTasks(norm), elements(norm)) {
    int64_t n, block;
    const Tile tile = stageTile(norm, i, &n, &block);
    const BatchNorm b = sampleAt(norm, n);
    const accreal *const mean = stageNumbers(norm, scratch, n, 0);
    normalizeTile(norm, &b, tile, 0, mean, mean + C);
  }
}

void THNN_(groupNormForward)(THTensor *x, THTensor *out, const THTensor *weight, const THTensor *bias,
                             const THTensor *save_mean, const THTensor *save_std, int64_t groups, accreal eps)
{
  GroupNorm norm = {.weight = weight, .bias = bias, .save_mean = save_mean, .save_std = save_std};
  if (THNNTensor_numel(x) == 0) {
    norm.sample.positions = 0;
    for (int64_t i = 0; i < x->size[0] * groups; i++) save(&norm, i / groups, i % groups, 0, 0, eps);
    return;
  }
  groupNormInit(&norm, x, NULL, out, groups);
  const int64_t tasks = norm.samples * norm.groupTasks;
  setStages(&norm, tasks);
  if (norm.blocks > 0) {
    forwardInStages(&norm, eps);
    return;
  }
  THNN_PARALLEL_FOR(i, tasks, elements(&norm)) forwardTask(&norm, i / norm.groupTasks, i % norm.groupTasks, eps);
}

/* ---- backward ---- */

/* The gradients to which the terms of all samples are added. */
typedef struct ParameterGradients {
  const THTensor *gradWeight, *gradBias;
  accreal scale;
} ParameterGradients;

static void addGradient(const THTensor *gradient, int64_t c, accreal term)
{
  if (gradient != NULL) *elementOf(gradient, c) += (real)term;
}

/* sum(g) and sum(g * (x - mean)) of the channels of a tile. */
static void tileSums(const GroupNorm *norm, const BatchNorm *b, int64_t n, Tile tile, accreal *sum, accreal *dot)
{
  Coefficients k;
  k.limit = 0;
  for (int64_t j = 0; j < tile.cEnd - tile.c; j++) {
    k.mean[j] = *statistic(norm->save_mean, n, (tile.c + j) / norm->width);
    k.scale[j] = k.bias[j] = k.slope[j] = k.constant[j] = 0;
  }
  THNN_(batchNormTileGradSums)(b, tile, &k, IDENTITY, sum, dot);
}

/* Adds the sums of n channels from c on, times their weights, to those of their groups, which begin with group
   `first`. */
static void addToGroups(const GroupNorm *norm, int64_t c, int64_t n, int64_t first, const accreal *sum,
                        const accreal *dot, accreal *groupSum, accreal *groupDot)
{
  for (int64_t j = 0; j < n; j++) {
    const int64_t group = (c + j) / norm->width - first;
    const accreal weight = norm->weight != NULL ? *elementOf(norm->weight, c + j) : 1;
    groupSum[group] += weight * sum[j];
    groupDot[group] += weight * dot[j];
  }
}

/* The input gradient of a tile, from the sums of groups from `first` on. */
static void tileGradInput(const GroupNorm *norm, const BatchNorm *b, int64_t n, Tile tile, int64_t first,
                          const accreal *groupSum, const accreal *groupDot)
{
  const accreal count = (accreal)(norm->width * b->positions);
  const int64_t channels = tile.cEnd - tile.c;
  Coefficients k;
  loadVector(norm->weight, tile.c, channels, 1, k.scale);
  k.limit = 0;
  for (int64_t j = 0; j < channels; j++) {
    const int64_t group = (tile.c + j) / norm->width;
    const accreal inverse = *statistic(norm->save_std, n, group);
    k.mean[j] = *statistic(norm->save_mean, n, group);
    k.bias[j] = 0;
    k.scale[j] = (real)(inverse * k.scale[j]);
    k.slope[j] = (real)(-inverse * inverse * inverse * groupDot[group - first] / count);
    k.constant[j] = (real)(-inverse * groupSum[group - first] / count);
  }
  THNN_(batchNormTileApply)(b, tile, GRADIENT, &k);
}

/* All stages of the groups of a task, for samples n to nEnd - 1. totals has gradBias, then gradWeight, of these samples
   (2C); NULL: the terms are added to the gradients. */
static void backwardTask(const GroupNorm *norm, int64_t n, int64_t nEnd, int64_t task,
                         const ParameterGradients *to, accreal *totals)
{
  const int64_t first = task * norm->taskGroups, end = MIN(first + norm->taskGroups, norm->groups);
  const int64_t C = norm->sample.channels, cFirst = first * norm->width, cLast = end * norm->width;
  if (totals != NULL)
    for (int64_t c = cFirst; c < cLast; c++) totals[c] = totals[C + c] = 0;
  for (; n < nEnd; n++) {
    const BatchNorm b = sampleAt(norm, n);
    accreal sum[MAX_TILE_CHANNELS], dot[MAX_TILE_CHANNELS];
    accreal groupSum[MAX_TILE_CHANNELS] = {0}, groupDot[MAX_TILE_CHANNELS] = {0};
    for (int64_t c = cFirst, cEnd; c < cLast; c = cEnd) {
      cEnd = MIN(c + norm->tileChannels, cLast);
      tileSums(norm, &b, n, (Tile){c, cEnd, 0, b.positions}, sum, dot);
      addToGroups(norm, c, cEnd - c, first, sum, dot, groupSum, groupDot);
      for (int64_t j = 0; j < cEnd - c; j++) {
        const accreal term = *statistic(norm->save_std, n, (c + j) / norm->width) * dot[j];
        if (totals != NULL) {
          totals[c + j] += sum[j], totals[C + c + j] += term;
        } else {
          addGradient(to->gradBias, c + j, to->scale * sum[j]);
          addGradient(to->gradWeight, c + j, to->scale * term);
        }
      }
    }
    if (b.out.data == NULL) continue;
    for (int64_t cEnd = cLast, c; cEnd > cFirst; cEnd = c) {
      c = MAX(cEnd - norm->tileChannels, cFirst);
      tileGradInput(norm, &b, n, (Tile){c, cEnd, 0, b.positions}, first, groupSum, groupDot);
    }
  }
}

/* Blocks of samples, whose parameter gradients are added in their order. Without parameter gradients each sample is a
   block. */
static void backwardInTasks(const GroupNorm *norm, const ParameterGradients *to)
{
  const int64_t N = norm->samples, C = norm->sample.channels;
  const bool adds = to->gradWeight != NULL || to->gradBias != NULL;
  const int64_t most = SCRATCH_NUMBERS / (2 * C); /* blocks that fit into the scratch memory */
  int64_t blocks = N;
  if (adds) blocks = MAX(1, MIN(MIN(N, ceilDivide(MIN_TASKS, norm->groupTasks)), most));
  const int64_t blockSamples = ceilDivide(N, blocks);
  blocks = ceilDivide(N, blockSamples);
  accreal *const totals = adds && most > 0 ? thnn_scratch(sizeof(accreal) * (size_t)(2 * blocks * C)) : NULL;
  THNN_PARALLEL_FOR(i, blocks * norm->groupTasks, elements(norm)) {
    const int64_t block = i / norm->groupTasks, n = block * blockSamples;
    backwardTask(norm, n, MIN(n + blockSamples, N), i % norm->groupTasks, to,
                 totals != NULL ? totals + 2 * block * C : NULL);
  }
  if (totals == NULL) return;
  for (int64_t c = 0; c < C; c++) {
    accreal sum = 0, dot = 0;
    for (int64_t block = 0; block < blocks; block++)
      sum += totals[2 * block * C + c], dot += totals[(2 * block + 1) * C + c];
    addGradient(to->gradBias, c, to->scale * sum);
    addGradient(to->gradWeight, c, to->scale * dot);
  }
}

static void backwardInStages(const GroupNorm *norm, const ParameterGradients *to)
{
  const int64_t C = norm->sample.channels;
  accreal *const scratch = stageScratch(norm);
  THNN_PARALLEL_FOR(i, stageTasks(norm), elements(norm)) {
    int64_t n, block;
    const Tile tile = stageTile(norm, i, &n, &block);
    const BatchNorm b = sampleAt(norm, n);
    accreal *const sum = stageNumbers(norm, scratch, n, block) + tile.c;
    tileSums(norm, &b, n, tile, sum, sum + C);
  }
  for (int64_t c = 0; c < C; c++) {
    accreal sum = 0, dot = 0;
    for (int64_t n = 0; n < norm->samples; n++) {
      accreal *const total = stageNumbers(norm, scratch, n, 0) + c;
      for (int64_t block = 1; block < norm->blocks; block++) {
        const accreal *const numbers = stageNumbers(norm, scratch, n, block) + c;
        total[0] += numbers[0], total[C] += numbers[C];
      }
      sum += total[0];
      dot += *statistic(norm->save_std, n, c / norm->width) * total[C];
    }
    addGradient(to->gradBias, c, to->scale * sum);
    addGradient(to->gradWeight, c, to->scale * dot);
  }
  if (norm->sample.out.data == NULL) return;
  THNN_PARALLEL_FOR(i, stageTasks(norm), elements(norm)) {
    int64_t n, block;
    const Tile tile = stageTile(norm, i, &n, &block);
    const BatchNorm b = sampleAt(norm, n);
    const int64_t first = tile.c / norm->width, end = (tile.cEnd - 1) / norm->width + 1;
    const accreal *const sum = stageNumbers(norm, scratch, n, 0) + first * norm->width;
    accreal groupSum[MAX_TILE_CHANNELS] = {0}, groupDot[MAX_TILE_CHANNELS] = {0};
    addToGroups(norm, first * norm->width, (end - first) * norm->width, first, sum, sum + C, groupSum, groupDot);
    tileGradInput(norm, &b, n, tile, first, groupSum, groupDot);
  }
}

void THNN_(groupNormBackward)(THTensor *x, THTensor *g, THTensor *out, const THTensor *gradWeight,
                              const THTensor *gradBias, const THTensor *weight, const THTensor *save_mean,
                              const THTensor *save_std, int64_t groups, accreal scale)
{
  if (THNNTensor_numel(x) == 0) return;
  GroupNorm norm = {.weight = weight, .save_mean = save_mean, .save_std = save_std};
  const ParameterGradients to = {gradWeight, gradBias, scale};
  groupNormInit(&norm, x, g, out, groups);
  setStages(&norm, norm.samples * norm.groupTasks);
  if (norm.blocks > 0) backwardInStages(&norm, &to);
  else backwardInTasks(&norm, &to);
}
