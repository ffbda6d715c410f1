#include "modules/ClassNLLCriterion.h"
#include "runtime/integer.h"

/* Input and target as a batch of samples. Without a batch dimension there is one sample, of stride 0. */
typedef struct Batch {
  int64_t samples, classes, ignoreIndex;
  int64_t tasks; /* each computes a range of samples */
  const real *input, *weights;
  const THIndex_t *target;
  int64_t inputStride, classStride, weightStride, targetStride;
} Batch;

#define MAX_TASKS 1024
#define SAMPLES_PER_TASK 512 /* more if there would be over MAX_TASKS tasks */

static Batch makeBatch(const THTensor *input, const THIndexTensor *target, const THTensor *weights,
                       int64_t ignoreIndex)
{
  const bool batched = input->ndim == 2;
  const int64_t samples = batched ? input->size[0] : 1;
  return (Batch){.samples = samples,
                 .classes = input->size[batched],
                 .ignoreIndex = ignoreIndex,
                 .tasks = MIN(ceilDivide(samples, SAMPLES_PER_TASK), MAX_TASKS),
                 .input = TH_DATA(input),
                 .weights = weights ? TH_DATA(weights) : NULL,
                 .target = (const THIndex_t *)target->data,
                 .inputStride = batched ? input->stride[0] : 0,
                 .classStride = input->stride[batched],
                 .weightStride = weights ? weights->stride[0] : 0,
                 .targetStride = target->ndim ? target->stride[0] : 0};
}

static inline int64_t firstSample(const Batch *b, int64_t task) { return task * b->samples / b->tasks; }
static inline int64_t classOf(const Batch *b, int64_t n) { return b->target[n * b->targetStride]; }
static inline real weightOf(const Batch *b, int64_t class)
{
  return b->weights ? b->weights[class * b->weightStride] : 1;
}

static void checkShapes(THNNState *state, const THTensor *input, const THIndexTensor *target,
                        const THTensor *weights)
{
  THNN_CHECK(input->ndim == 1 || input->ndim == 2, input, "expected 2 dimensions (N, C) or 1 (C), got %s",
             THNN_shape(input));
  if (input->ndim == 2)
    THNN_CHECK(target->ndim == 1 && target->size[0] == input->size[0], target,
               "expected 1 dimension (%lld), one class per row of input, got %s", (long long)input->size[0],
               THNN_shape(target));
  else
    THNN_CHECK(target->ndim <= 1 && THNNTensor_numel(target) == 1, target, "expected one class, got %s",
               THNN_shape(target));
  const int64_t classes = input->size[input->ndim - 1];
  THNN_CHECK(weights == NULL || (weights->ndim == 1 && weights->size[0] == classes), weights,
             "expected 1 dimension (%lld), one weight per class, got %s", (long long)classes, THNN_shape(weights));
}

/* Fails at the first sample whose target is neither a class nor ignoreIndex. */
static void checkTarget(THNNState *state, const Batch *b)
{
  int64_t firstOf[MAX_TASKS];
  THNN_PARALLEL_FOR(task, b->tasks, b->samples) {
    int64_t first = b->samples;
    const int64_t end = firstSample(b, task + 1);
    for (int64_t n = firstSample(b, task); n < end; n++) {
      const int64_t class = classOf(b, n);
      if ((class < 0 || class >= b->classes) && class != b->ignoreIndex && n < first) first = n;
    }
    firstOf[task] = first;
  }
  for (int64_t task = 0; task < b->tasks; task++)
    THNN_CHECK_INDEX(firstOf[task] == b->samples, target,
                     "expected a class from 0 to %lld or ignore_index, got %lld at position %lld",
                     (long long)b->classes - 1, (long long)classOf(b, firstOf[task]), (long long)firstOf[task]);
}

void THNN_(ClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                           THTensor *output, bool sizeAverage, THTensor *weights,
                                           THTensor *total_weight, int64_t ignore_index)
{
  checkShapes(state, input, target, weights);
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
  THNN_RETURN_IF_META(state);
  const Batch b = makeBatch(input, target, weights, ignore_index);
  checkTarget(state, &b);
  THNN_RETURN_IF_FAILED(state);
  double losses[MAX_TASKS], totals[MAX_TASKS];
  THNN_PARALLEL_FOR(task, b.tasks, b.samples) {
    double loss = 0, total = 0;
    const int64_t end = firstSample(&b, task + 1);
    for (int64_t n = firstSample(&b, task); n < end; n++) {
      const int64_t class = classOf(&b, n);
      if (class == b.ignoreIndex) continue;
      const double weight = weightOf(&b, class);
      loss -= weight * b.input[n * b.inputStride + class * b.classStride];
      total += weight;
    }
    losses[task] = loss;
    totals[task] = total;
  }
  double loss = 0, total = 0;
  for (int64_t task = 0; task < b.tasks; task++) {
    loss += losses[task];
    total += totals[task];
  }
  *TH_DATA(total_weight) = (real)total;
  *TH_DATA(output) = (real)(sizeAverage && total != 0 ? loss / total : loss);
}

void THNN_(ClassNLLCriterion_updateGradInput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                              THTensor *gradInput, bool sizeAverage, THTensor *weights,
                                              THTensor *total_weight, int64_t ignore_index)
{
  checkShapes(state, input, target, weights);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK(THNNTensor_numel(total_weight) == 1, total_weight, "expected one element, got %s",
             THNN_shape(total_weight));
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, weights);
  THNN_CHECK_NO_OVERLAP(gradInput, total_weight);
  THNN_RETURN_IF_META(state);
  const Batch b = makeBatch(input, target, weights, ignore_index);
  checkTarget(state, &b);
  THNN_RETURN_IF_FAILED(state);
  const real total = *TH_DATA(total_weight);
  const bool batched = input->ndim == 2;
  const int64_t sampleStride = batched ? gradInput->stride[0] : 0, classStride = gradInput->stride[batched];
  THNN_PARALLEL_FOR(n, b.samples, b.samples * b.classes) {
    real *const dx = TH_DATA(gradInput) + n * sampleStride;
    if (classStride == 1) memset(dx, 0, sizeof(real) * (size_t)b.classes);
    else
      for (int64_t c = 0; c < b.classes; c++) dx[c * classStride] = 0;
    const int64_t class = classOf(&b, n);
    if (class == b.ignoreIndex || !(total > 0)) continue;
    const real weight = weightOf(&b, class);
    dx[class * classStride] = !sizeAverage ? -weight : batched ? -weight / total : -1;
  }
}
