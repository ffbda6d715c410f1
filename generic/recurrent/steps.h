#ifndef THNN_RECURRENT_STEPS_H
#define THNN_RECURRENT_STEPS_H

#include "recurrent/cell_rows.h"

/* All steps of a recurrent layer, forward or backward.

   Forward: the products of the input with weight1, for some steps at once; then step by step the product of the hidden
   states with weight2, added to them, and the cell, which computes the next states from the sums.
   Backward: step by step the cell, which computes the gradients w.r.t. the gates, and their product with weight2, which
   gives the gradients w.r.t. the hidden states before the step.

   The weights are packed once. A task computes some columns of the states with all their gates, so that each thread
   reads its part of the weights from its own cache in all steps, and the cell reads the sums of a micro-tile from the
   first-level cache. */

#define STEPS_MAX_BLOCKS 5
#define STEPS_MAX_STATES 2

/* A cell. Its functions compute n elements of every array. */
typedef struct Cell {
  /* Numbers of gates, of blocks of the storage, and of states. If there are more blocks than gates, the last gate has
     two sums; the sum of the hidden states and bias2 is in the last block. */
  int gates, blocks, states;
  /* Replaces the sums by the values of the storage, and the states by the states after the step. */
  void (*forward)(real *const *blocks, real *const *states, int64_t n);
  /* Replaces the stored values by the gradients w.r.t. the gates, and the state gradients by the parts that do not pass
     through the product. On entry the first state gradient is the sum of dL/dhidden and dL/doutput. */
  void (*backward)(real *const *blocks, real *const *gradStates, const real *cellBefore, const real *cellAfter,
                   int64_t n);
} Cell;

typedef struct Steps {
  const Cell *cell;
  int64_t count, rows, sequences, columns; /* L, the sum of the sizes, N, H */
  const int64_t *sizes;                    /* sequences per step, never increasing */
  int64_t sizeStride;
  bool reverse;                /* the last step is computed first */
  CellMatrix weight2, storage; /* (gates * H, H), (rows, blocks * H) or absent */
  real *buffer;                /* has forwardBuffer() or backwardBuffer() elements */
} Steps;

typedef struct ForwardSteps {
  Steps steps;
  int64_t inputs;                          /* I */
  CellMatrix input, weight1, bias1, bias2; /* (rows, I), (gates * H, I), (gates * H) */
  CellMatrix initial[STEPS_MAX_STATES],
      after[STEPS_MAX_STATES]; /* states (N, H) and (rows, H), the hidden one first */
} ForwardSteps;

typedef struct BackwardSteps {
  Steps steps;
  CellMatrix gradInput, gradHidden; /* dL/dgates (rows, gates * H), the second one if they differ */
  CellMatrix gradOutput;            /* (rows, H) */
  /* dL/dstate (N, H): in, for the final state; out, for the initial state. */
  CellMatrix gradStates[STEPS_MAX_STATES];
  CellMatrix initialCell, outputCell; /* cell states, absent in a cell that has none */
} BackwardSteps;

/* Describes the steps; hx, or its gradient, is (N, H). Fails unless the sizes are falling, begin with N, and have the
   sum `rows`. Reads data. */
Steps THNN_(makeSteps)(THNNState *state, const Cell *cell, const THIndexTensor *sizes, bool reverse, int64_t rows,
                       const THTensor *hx, const THTensor *weight2, const THTensor *storage,
                       const THTensor *buffer);

int64_t THNN_(forwardBuffer)(const Cell *cell, int64_t sequences, int64_t inputs, int64_t columns);
int64_t THNN_(backwardBuffer)(const Cell *cell, int64_t sequences, int64_t columns);

void THNN_(stepsForward)(const ForwardSteps *f);
void THNN_(stepsBackward)(const BackwardSteps *b);

/* Checks of the arguments; gates and stored are numbers of blocks of H columns. */

#define STEPS_CHECK_STATE(state_, sizes)                                                                     \
  do {                                                                                                       \
    THNN_CHECK_DIM(state_, 2, "(N, H)");                                                                     \
    THNN_CHECK((sizes)->ndim == 1 && (sizes)->size[0] > 0, sizes, "expected at least one step, (L), got %s", \
               THNN_shape(sizes));                                                                           \
  } while (0)

#define STEPS_CHECK_SIZE(tensor, ...)                                                   \
  do {                                                                                  \
    const int64_t thnn_size[2] = {__VA_ARGS__};                                         \
    THNN_CHECK(THNNTensor_hasSize(tensor, 2, thnn_size), tensor, "expected %s, got %s", \
               THNN_shapeOf(2, thnn_size), THNN_shape(tensor));                         \
  } while (0)

/* Before a buffer for all sequences is allocated. */
#define STEPS_CHECK_SEQUENCES(state_, rows)                                                       \
  THNN_CHECK((state_)->size[0] <= (rows), state_,                                                 \
             "expected at most %lld sequences, the rows of all steps, got %s", (long long)(rows), \
             THNN_shape(state_))

/* True if the size of the buffer can be computed: its parts are products of two of these sizes, which panels and
   micro-tiles round up, and of a number of blocks. */
static inline bool stepsFit(int64_t sequences, int64_t inputs, int64_t columns)
{
  const double rounding = 256, width = (double)MAX(inputs, columns) + rounding;
  return width * ((double)sequences + (double)inputs + (double)columns + rounding) < (double)((int64_t)1 << 52);
}

#define STEPS_CHECK_FORWARD(hx, input, weight1, weight2, bias1, bias2, sizes, gates)               \
  do {                                                                                             \
    STEPS_CHECK_STATE(hx, sizes);                                                                  \
    THNN_CHECK_DIM(input, 2, "(rows, I)");                                                         \
    STEPS_CHECK_SEQUENCES(hx, (input)->size[0]);                                                   \
    THNN_CHECK(stepsFit((hx)->size[0], (input)->size[1], (hx)->size[1]), hx,                       \
               "the buffer would be larger than memory can hold: hx %s, input %s", THNN_shape(hx), \
               THNN_shape(input));                                                                 \
    STEPS_CHECK_SIZE(weight1, (gates) * (hx)->size[1], (input)->size[1]);                          \
    STEPS_CHECK_SIZE(weight2, (gates) * (hx)->size[1], (hx)->size[1]);                             \
    CELL_CHECK_BIAS(bias1, hx, gates);                                                             \
    CELL_CHECK_BIAS(bias2, hx, gates);                                                             \
  } while (0)

#define STEPS_CHECK_BACKWARD(gradHx, storage, weight2, sizes, gradOutput, gates, stored)                \
  do {                                                                                                  \
    STEPS_CHECK_STATE(gradHx, sizes);                                                                   \
    THNN_CHECK(stepsFit((gradHx)->size[0], 0, (gradHx)->size[1]), gradHx,                               \
               "the buffer would be larger than memory can hold: gradHx %s", THNN_shape(gradHx));       \
    THNN_CHECK((storage)->ndim == 2 && (storage)->size[1] == (stored) * (gradHx)->size[1], storage,     \
               "expected 2 dimensions (rows, %lld), got %s", (long long)((stored) * (gradHx)->size[1]), \
               THNN_shape(storage));                                                                    \
    STEPS_CHECK_SIZE(weight2, (gates) * (gradHx)->size[1], (gradHx)->size[1]);                          \
    STEPS_CHECK_SEQUENCES(gradHx, (storage)->size[0]);                                                  \
    if (gradOutput)                                                                                     \
      thnn_checkGradOutput(state, gradOutput, 2, (int64_t[2]){(storage)->size[0], (gradHx)->size[1]});  \
    THNN_RETURN_IF_FAILED(state);                                                                       \
  } while (0)

#define STEPS_RESIZE_BUFFER(buffer, reals)                                                       \
  do {                                                                                           \
    THNN_CHECK((buffer) != NULL, buffer, "expected a tensor");                                   \
    THNN_RESIZE_TO(buffer, THNN_CONTIGUOUS, reals);                                              \
    THNN_CHECK((buffer)->ndim != 1 || (buffer)->size[0] < 2 || (buffer)->stride[0] == 1, buffer, \
               "expected a contiguous tensor");                                                  \
  } while (0)

/* Fails if a tensor that is written shares memory with another one. Tensors may be NULL. */
void THNN_(checkStepsApart)(THNNState *state, int writtenCount, THTensor *const *written, const char *const *names,
                            int readCount, const THNNTensor *const *read);

#endif
