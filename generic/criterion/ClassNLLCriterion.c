#include "modules/ClassNLLCriterion.h"
#include "elementwise/map.h"

#define TASKS 1024

/* The tensors as rows; an input without a batch is one row. */
typedef struct ClassNLL {
  int64_t rows, classes, tasks, ignore_index;
  const real *input, *weights;
  const THIndex_t *target;
  int64_t input_row, input_class, weights_class, target_row; /* strides */
} ClassNLL;

static ClassNLL ClassNLL_rows(THTensor *input, THIndexTensor *target, THTensor *weights, int64_t ignore_index)
{
  const bool batch = input->ndim == 2;
  ClassNLL p = {.classes = input->size[batch], .ignore_index = ignore_index};
  p.rows = batch ? input->size[0] : 1;
  p.tasks = (p.rows + 511) / 512 < TASKS ? (p.rows + 511) / 512 : TASKS;
  p.input = TH_DATA(input);
  p.input_row = batch ? input->stride[0] : 0;
  p.input_class = input->stride[batch];
  p.target = target->data;
  p.target_row = target->ndim ? target->stride[0] : 0;
  p.weights = weights ? TH_DATA(weights) : NULL;
  p.weights_class = weights ? weights->stride[0] : 0;
  return p;
}

/* for (int64_t n = the rows of the task) */
#define FOR_ROWS(n, p, task)                                                                                    \
  for (int64_t n = (task) * (p).rows / (p).tasks, thnn_end = ((task) + 1) * (p).rows / (p).tasks; n < thnn_end; \
       n++)

static inline real ClassNLL_weight(const ClassNLL *p, int64_t t)
{
  return p->weights ? p->weights[t * p->weights_class] : 1;
}

/* The first row whose target is neither a class nor to be ignored, or `rows`. */
static int64_t ClassNLL_firstWrong(const ClassNLL *p)
{
  int64_t wrong[TASKS];
  THNN_PARALLEL_FOR(task, p->tasks, p->rows) {
    int64_t first = p->rows;
    FOR_ROWS(n, *p, task)
    {
      const int64_t t = p->target[n * p->target_row];
      if ((t < 0 || t >= p->classes) && t != p->ignore_index && n < first) first = n;
    }
    wrong[task] = first;
  }
  for (int64_t task = 0; task < p->tasks; task++)
    if (wrong[task] < p->rows) return wrong[task];
  return p->rows;
}

#define CHECK_SHAPES()                                                                                     \
  THNN_CHECK(input->ndim == 1 || input->ndim == 2, input, "expected 2 dimensions (N, C) or 1 (C), got %s", \
             THNN_shape(input));                                                                           \
  if (input->ndim == 2)                                                                                    \
    THNN_CHECK(target->ndim == 1 && target->size[0] == input->size[0], target,                             \
               "expected 1 (%lld), a class for each row of input, got %s", (long long)input->size[0],      \
               THNN_shape(target));                                                                        \
  else                                                                                                     \
    THNN_CHECK(target->ndim <= 1 && THNNTensor_numel(target) == 1, target, "expected one class, got %s",   \
               THNN_shape(target));                                                                        \
  const int64_t classes = input->size[input->ndim - 1];                                                    \
  THNN_CHECK(weights == NULL || (weights->ndim == 1 && weights->size[0] == classes), weights,              \
             "expected 1 (%lld), one for each class, got %s", (long long)classes, THNN_shape(weights))

#define CHECK_TARGET(p)                                                                          \
  const int64_t wrong = ClassNLL_firstWrong(&p);                                                 \
  THNN_CHECK_INDEX(wrong == p.rows, target,                                                      \
                   "expected a class from 0 to %lld or ignore_index, got %lld at position %lld", \
                   (long long)p.classes - 1, (long long)p.target[wrong * p.target_row], (long long)wrong)

void THNN_(ClassNLLCriterion_updateOutput)(THNNState *state, THTensor *input, THIndexTensor *target,
                                           THTensor *output, bool sizeAverage, THTensor *weights,
                                           THTensor *total_weight, int64_t ignore_index)
{
  CHECK_SHAPES();
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
  const ClassNLL p = ClassNLL_rows(input, target, weights, ignore_index);
  CHECK_TARGET(p);
  double losses[TASKS], totals[TASKS];
  THNN_PARALLEL_FOR(task, p.tasks, p.rows) {
    double loss = 0, total = 0;
    FOR_ROWS(n, p, task)
    {
      const int64_t t = p.target[n * p.target_row];
      if (t == p.ignore_index) continue;
      const double weight = ClassNLL_weight(&p, t);
      loss -= weight * p.input[n * p.input_row + t * p.input_class];
      total += weight;
    }
    losses[task] = loss;
    totals[task] = total;
  }
  double loss = 0, total = 0;
  for (int64_t task = 0; task < p.tasks; task++) {
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
  CHECK_SHAPES();
  THNN_CHECK(THNNTensor_numel(total_weight) == 1, total_weight, "expected one element, got %s",
             THNN_shape(total_weight));
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, target);
  THNN_CHECK_NO_OVERLAP(gradInput, weights);
  THNN_CHECK_NO_OVERLAP(gradInput, total_weight);
  THNN_RETURN_IF_META(state);
  const ClassNLL p = ClassNLL_rows(input, target, weights, ignore_index);
  CHECK_TARGET(p);
  const real total = *TH_DATA(total_weight);
  real *const dx = TH_DATA(gradInput);
  const int64_t row = input->ndim == 2 ? gradInput->stride[0] : 0, class = gradInput->stride[input->ndim - 1];
  THNN_PARALLEL_FOR(n, p.rows, p.rows * p.classes) {
    if (class == 1) memset(dx + n * row, 0, sizeof(real) * (size_t)p.classes);
    else
      for (int64_t c = 0; c < p.classes; c++) dx[n * row + c * class] = 0;
    const int64_t t = p.target[n * p.target_row];
    if (t == p.ignore_index || !(total > 0)) continue;
    const real weight = ClassNLL_weight(&p, t);
    dx[n * row + t * class] = !sizeAverage ? -weight : input->ndim == 1 ? -1 : -weight / total;
  }
}
