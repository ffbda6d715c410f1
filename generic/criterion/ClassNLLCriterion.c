#include "modules/ClassNLLCriterion.h"
#include "criterion/class_targets.h"
#include "modules/SpatialClassNLLCriterion.h"
#include "runtime/half.h"
#include "runtime/streaming.h"

typedef uint16_t Half __attribute__((may_alias));

/* The positions of a target, one class each, as images x rows x width: N x H x W for (N, H, W), 1 x 1 x N for (N),
   1 x 1 x 1 for (1). The strides are for images, rows, positions and classes. */
typedef struct Positions {
  int64_t images, rows, width, classes, ignoreIndex;
  const void *input;
  int32_t type; /* of input, which may be a half type */
  const real *weights;
  const THIndex_t *target;
  int64_t inputStride[4], targetStride[3], weightStride;
} Positions;

#define POSITIONS_PER_TASK 512 /* until MAX_TASKS is reached */
#define POSITIONS_AHEAD 64     /* the scores of classes are far apart in memory, and are prefetched */

static void setStrides(const THTensor *tensor, int64_t *stride)
{
  const bool spatial = tensor->ndim == 4, batched = tensor->ndim >= 2;
  stride[0] = spatial ? tensor->stride[0] : 0;
  stride[1] = spatial ? tensor->stride[2] : 0;
  stride[2] = spatial ? tensor->stride[3] : batched ? tensor->stride[0] : 0;
  stride[3] = tensor->stride[batched];
}

static Positions positionsOf(const THTensor *input, const THIndexTensor *target, const THTensor *weights,
                             int64_t ignoreIndex)
{
  const bool spatial = input->ndim == 4, batched = input->ndim >= 2;
  Positions p = {.images = spatial ? input->size[0] : 1,
                 .rows = spatial ? input->size[2] : 1,
                 .width = spatial   ? input->size[3]
                          : batched ? input->size[0]
                                    : 1,
                 .classes = input->size[batched],
                 .ignoreIndex = ignoreIndex,
                 .input = input->data,
                 .type = input->type,
                 .weights = weights ? TH_DATA(weights) : NULL,
                 .target = (const THIndex_t *)target->data,
                 .weightStride = weights ? weights->stride[0] : 0};
  setStrides(input, p.inputStride);
  for (int d = 0; d < 3; d++)
    p.targetStride[d] = spatial ? target->stride[d] : d == 2 && target->ndim ? target->stride[0] : 0;
  return p;
}

/* Merges the rows of an image into one if they are adjacent in the target and in the tensor with these strides. */
static void mergeRows(Positions *p, const int64_t *stride)
{
  if (stride[1] != p->width * stride[2] || p->targetStride[1] != p->width * p->targetStride[2]) return;
  p->width *= p->rows;
  p->rows = 1;
}

static inline int64_t countOf(const Positions *p) { return p->images * p->rows * p->width; }
static inline int64_t tasksOf(const Positions *p)
{
  return MIN(ceilDivide(countOf(p), POSITIONS_PER_TASK), MAX_TASKS);
}

/* Adjacent positions of one row. */
typedef struct Run {
  int64_t image, row, x, length;
} Run;

static inline Run runAt(const Positions *p, int64_t position, int64_t end)
{
  const int64_t row = position / p->width, x = position % p->width;
  return (Run){row / p->rows, row % p->rows, x, MIN(end - position, p->width - x)};
}

static inline int64_t offsetOf(Run run, const int64_t *stride)
{
  return run.image * stride[0] + run.row * stride[1] + run.x * stride[2];
}

static inline real weightOf(const Positions *p, int64_t class)
{
  return p->weights ? p->weights[class * p->weightStride] : 1;
}

static void checkSpatial(THNNState *state, const THTensor *input, const THIndexTensor *target,
                         const THTensor *weights)
{
  THNN_CHECK_DIM(input, 4, "(N, C, H, W)");
  const int64_t size[] = {input->size[0], input->size[2], input->size[3]};
  THNN_CHECK(THNNTensor_hasSize(target, 3, size), target, "expected a class for each pixel of input, %s, got %s",
             THNN_shapeOf(3, size), THNN_shape(target));
  checkWeights(state, weights, input->size[1]);
}

/* True if the target of a position of the run is neither a class nor ignoreIndex. */
static bool isAnyWrong(const Positions *p, const THIndex_t *target, int64_t length)
{
  const int64_t stride = p->targetStride[2];
  bool wrong = false;
  for (int64_t i = 0; i < length; i++) {
    const THIndex_t class = target[i * stride];
    wrong |= (class < 0 || class >= p->classes) && class != p->ignoreIndex;
  }
  return wrong;
}

/* Finds the first position whose target is neither a class nor ignoreIndex. */
static void checkTarget(THNNState *state, const Positions *p)
{
  const int64_t count = countOf(p), tasks = tasksOf(p);
  int64_t firstOf[MAX_TASKS];
  THIndex_t found[MAX_TASKS];
  THNN_PARALLEL_FOR(task, tasks, count) {
    firstOf[task] = count;
    const int64_t end = firstOfTask(task + 1, tasks, count);
    int64_t at = firstOfTask(task, tasks, count);
    for (Run run; at < end && firstOf[task] == count; at += run.length) {
      run = runAt(p, at, end);
      const THIndex_t *const target = p->target + offsetOf(run, p->targetStride);
      if (!isAnyWrong(p, target, run.length)) continue;
      for (int64_t i = 0; i < run.length; i++) {
        const THIndex_t class = target[i * p->targetStride[2]];
        if ((class < 0 || class >= p->classes) && class != p->ignoreIndex && firstOf[task] == count)
          firstOf[task] = at + i, found[task] = class;
      }
    }
  }
  for (int64_t task = 0; task < tasks; task++)
    THNN_CHECK_INDEX(firstOf[task] == count, target,
                     "expected a class from 0 to %lld or ignore_index, got %lld at position %lld",
                     (long long)p->classes - 1, (long long)found[task], (long long)firstOf[task]);
}

/* The score of the class of each position of a run, of at most POSITIONS_PER_TASK positions; 0 where it is ignored. */
static void gatherScores(const Positions *p, Run run, const THIndex_t *classes, real *score)
{
  const bool half = thnn_isHalf(p->type);
  const int64_t offset = offsetOf(run, p->inputStride), step = p->inputStride[2], classStep = p->inputStride[3];
  const real *const x = (const real *)p->input + (half ? 0 : offset);
  const Half *const narrow = (const Half *)p->input + (half ? offset : 0);
  Half halves[POSITIONS_PER_TASK];
  for (int64_t i = 0; i < run.length; i++) {
    const THIndex_t class = classes[i * p->targetStride[2]];
    const int64_t ahead = MIN(i + POSITIONS_AHEAD, p->width - run.x - 1);
    const THIndex_t next = classes[ahead * p->targetStride[2]];
    /* ignoreIndex may be any number, also one whose offset would overflow. */
    if (next != p->ignoreIndex) {
      const int64_t at = ahead * step + next * classStep;
      __builtin_prefetch(half ? (const void *)(narrow + at) : (const void *)(x + at));
    }
    const bool ignored = class == p->ignoreIndex;
    const int64_t at = ignored ? 0 : i * step + class * classStep;
    if (half) halves[i] = ignored ? 0 : narrow[at];
    else score[i] = ignored ? 0 : x[at];
  }
  if (half) thnn_widen((float *)score, halves, p->type, run.length);
}

static void loss(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *output, bool sizeAverage,
                 THTensor *weights, THTensor *total_weight, int64_t ignoreIndex)
{
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_TO_ONE(output);
  THNN_RESIZE_TO_ONE(total_weight);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_CHECK_NO_OVERLAP(output, weights);
  THNN_CHECK_NO_OVERLAP(output, total_weight);
  THNN_CHECK_NO_OVERLAP(total_weight, input);
  THNN_CHECK_NO_OVERLAP(total_weight, target);
  THNN_CHECK_NO_OVERLAP(total_weight, weights);
  THNN_TAKES_HALF_OF(state, input);
  THNN_RETURN_IF_META(state);
  Positions p = positionsOf(input, target, weights, ignoreIndex);
  mergeRows(&p, p.inputStride);
  checkTarget(state, &p);
  THNN_RETURN_IF_FAILED(state);
  const int64_t count = countOf(&p), tasks = tasksOf(&p);
  double losses[MAX_TASKS], totals[MAX_TASKS];
  THNN_PARALLEL_FOR(task, tasks, count) {
    double sum = 0, total = 0;
    const int64_t end = firstOfTask(task + 1, tasks, count);
    Run run;
    for (int64_t at = firstOfTask(task, tasks, count); at < end; at += run.length) {
      run = runAt(&p, at, MIN(end, at + POSITIONS_PER_TASK));
      const THIndex_t *const classes = p.target + offsetOf(run, p.targetStride);
      real score[POSITIONS_PER_TASK];
      gatherScores(&p, run, classes, score);
      for (int64_t i = 0; i < run.length; i++) {
        const THIndex_t class = classes[i * p.targetStride[2]];
        if (class == p.ignoreIndex) continue;
        const double weight = weightOf(&p, class);
        sum -= weight * score[i];
        total += weight;
      }
    }
    losses[task] = sum;
    totals[task] = total;
  }
  double sum = 0, total = 0;
  for (int64_t task = 0; task < tasks; task++) {
    sum += losses[task];
    total += totals[task];
  }
  *TH_DATA(total_weight) = (real)total;
  *TH_DATA(output) = (real)(sizeAverage && total != 0 ? sum / total : sum);
}

/* The gradient of a run, position by position: for contiguous classes, and for strides that gradientByClass does not
   handle. */
static void gradientByPosition(const THIndex_t *target, const real *slope, int64_t length, int64_t targetStride,
                               int64_t classes, real *dx, const int64_t *stride)
{
  /* All positions at once, since one call of memset for each would take a tenth longer. */
  const bool dense = stride[3] == 1 && (stride[2] == classes || length == 1);
  if (dense) memset(dx, 0, sizeof(real) * (size_t)(length * classes));
  for (int64_t i = 0; i < length; i++, dx += stride[2]) {
    for (int64_t c = 0; !dense && c < classes; c++) dx[c * stride[3]] = 0;
    if (slope[i] != 0) dx[target[i * targetStride] * stride[3]] = slope[i];
  }
}

/* The gradient of a run where the positions of a class are contiguous. */
static void gradientByClass(const THIndex_t *target, const real *slope, int64_t length, int64_t targetStride,
                            int64_t classes, real *dx, int64_t classStride, bool stream)
{
  vlane class[POSITIONS_PER_TASK];
  for (int64_t i = 0; i < length; i++) class[i] = (vlane)target[i * targetStride];
  for (int64_t c = 0; c < classes; c++, dx += classStride) {
    int64_t i = 0;
    const vint wanted = vi_set1((vlane)c);
    const vreal zero = {0};
    if (stream && (uintptr_t)dx % VBYTES == 0)
      for (; i + VL <= length; i += VL)
        v_stream(dx + i, v_sel(vi_eq(vi_load(class + i), wanted), v_load(slope + i), zero));
    for (; i + VL <= length; i += VL)
      v_store(dx + i, v_sel(vi_eq(vi_load(class + i), wanted), v_load(slope + i), zero));
    for (; i < length; i++) dx[i] = class[i] == c ? slope[i] : 0;
  }
}

/* The gradient of a run of a tensor of a half type, whose slopes are rounded once. With contiguous positions, classes of
   16 bits are compared in the lanes of the slopes. */
static void halfGradient(const THIndex_t *target, const Half *slope, int64_t length, int64_t targetStride,
                         int64_t classes, Half *dx, const int64_t *stride)
{
  if (stride[2] == 1 && stride[3] != 1 && classes <= UINT16_MAX) {
    uint16_t class[POSITIONS_PER_TASK];
    for (int64_t i = 0; i < length; i++) class[i] = slope[i] ? (uint16_t)target[i * targetStride] : UINT16_MAX;
    for (int64_t c = 0; c < classes; c++, dx += stride[3]) {
      THNN_PRAGMA(omp simd)
      for (int64_t i = 0; i < length; i++) dx[i] = class[i] == (uint16_t)c ? slope[i] : 0;
    }
    return;
  }
  const bool dense = stride[3] == 1 && (stride[2] == classes || length == 1);
  if (dense) memset(dx, 0, sizeof(Half) * (size_t)(length * classes));
  for (int64_t i = 0; i < length; i++, dx += stride[2]) {
    for (int64_t c = 0; !dense && c < classes; c++) dx[c * stride[3]] = 0;
    if (slope[i] != 0) dx[target[i * targetStride] * stride[3]] = slope[i];
  }
}

static void gradient(THNNState *state, THTensor *input, THIndexTensor *target, THTensor *gradInput,
                     bool sizeAverage, THTensor *weights, THTensor *total_weight, int64_t ignoreIndex)
{
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(THNNTensor_numel(total_weight) == 1, total_weight, "expected one element, got %s",
             THNN_shape(total_weight));
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, weights);
  THNN_CHECK_NO_OVERLAP(gradInput, total_weight);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradInput);
  THNN_RETURN_IF_META(state);
  Positions p = positionsOf(input, target, weights, ignoreIndex);
  int64_t stride[4];
  setStrides(gradInput, stride);
  mergeRows(&p, stride);
  checkTarget(state, &p);
  THNN_RETURN_IF_FAILED(state);
  const real total = *TH_DATA(total_weight), factor = (real)THNNState_gradientFactor(state);
  const bool one = input->ndim == 1;
  const real unweighted = !(total > 0) ? 0 : factor * (sizeAverage && !one ? -1 / total : -1);
  const bool byClass = stride[2] == 1 && stride[3] != 1 && p.classes < INT32_MAX;
  const int64_t elements = THNNTensor_numel(gradInput), rows = p.images * p.rows;
  const int64_t most = byClass ? POSITIONS_PER_TASK : MIN(MAX(16384 / MAX(p.classes, 1), 1), POSITIONS_PER_TASK);
  const int64_t runs = ceilDivide(p.width, most);
  const bool stream = thnn_exceedsLastLevelCache(elements * (int64_t)sizeof(real));
  /* Setting contiguous classes to 0 is a quarter of the work of other loops. */
  THNN_PARALLEL_FOR(task, rows * runs, byClass || stride[3] != 1 ? elements : elements / 4) {
    const int64_t at = task / runs * p.width + task % runs * most;
    const Run run = runAt(&p, at, at + most);
    const THIndex_t *const classes = p.target + offsetOf(run, p.targetStride);
    real slope[POSITIONS_PER_TASK];
    for (int64_t i = 0; i < run.length; i++) {
      const THIndex_t class = classes[i * p.targetStride[2]];
      slope[i] = class == p.ignoreIndex ? 0 : unweighted;
    }
    for (int64_t i = 0; i < run.length && p.weights && total > 0; i++) {
      const THIndex_t class = classes[i * p.targetStride[2]];
      if (class == p.ignoreIndex) continue;
      const real weight = weightOf(&p, class);
      slope[i] = factor * (!sizeAverage ? -weight : one ? -1 : -weight / total);
    }
    if (thnn_isHalf(gradInput->type)) {
      Half narrow[POSITIONS_PER_TASK];
      thnn_narrow(narrow, (const float *)slope, gradInput->type, run.length);
      halfGradient(classes, narrow, run.length, p.targetStride[2], p.classes,
                   (Half *)gradInput->data + offsetOf(run, stride), stride);
      continue;
    }
    real *const dx = TH_DATA(gradInput) + offsetOf(run, stride);
    if (byClass) gradientByClass(classes, slope, run.length, p.targetStride[2], p.classes, dx, stride[3], stream);
    else gradientByPosition(classes, slope, run.length, p.targetStride[2], p.classes, dx, stride);
  }
}

void THNN_(ClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                           THTensor *output, bool sizeAverage, THTensor *weights,
                                           THTensor *total_weight, int64_t ignore_index)
{
  checkClassOfRows(state, input, target, weights);
  loss(state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(ClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                              THTensor *gradInput, bool sizeAverage, THTensor *weights,
                                              THTensor *total_weight, int64_t ignore_index)
{
  checkClassOfRows(state, input, target, weights);
  gradient(state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(SpatialClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                  THTensor *output, bool sizeAverage, THTensor *weights,
                                                  THTensor *total_weight, int64_t ignore_index)
{
  checkSpatial(state, input, target, weights);
  loss(state, input, target, output, sizeAverage, weights, total_weight, ignore_index);
}

void THNN_(SpatialClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                                     THTensor *gradInput, bool sizeAverage, THTensor *weights,
                                                     THTensor *total_weight, int64_t ignore_index)
{
  checkSpatial(state, input, target, weights);
  gradient(state, input, target, gradInput, sizeAverage, weights, total_weight, ignore_index);
}
