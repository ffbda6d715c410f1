#include "modules/LSTMFused.h"
#include "recurrent/steps.h"

enum { INPUT, FORGET, CELL, OUTPUT, GATES };

typedef struct Forward {
  CellMatrix input, hidden, bias1, bias2, cell, output, outputCell, storage;
  int64_t columns;
} Forward;

/* Replaces the sums of the gates by the activated gates, and computes the next states. `new` may be `old`. */
static void computeStates(real *const *gate, const real *old, real *new, real *y, int64_t n)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = th_sigmoid(gate[INPUT][k]), f = th_sigmoid(gate[FORGET][k]), g = th_tanh(gate[CELL][k]),
               o = th_sigmoid(gate[OUTPUT][k]), value = f * old[k] + i * g;
    gate[INPUT][k] = i;
    gate[FORGET][k] = f;
    gate[CELL][k] = g;
    gate[OUTPUT][k] = o;
    new[k] = value;
    y[k] = o * th_tanh(value);
  }
}

static void forwardTile(const Forward *f, int64_t row, int64_t first, int count)
{
  real buffers[4][CELL_TILE], gates[GATES][CELL_TILE];
  const int n = cellPadded(count);
  real *gate[GATES];
  for (int g = 0; g < GATES; g++) {
    const int64_t at = g * f->columns + first;
    const real *x = cellLoad(&f->input, row, at, count, buffers[0]);
    const real *h = cellLoad(&f->hidden, row, at, count, buffers[1]);
    const real *b = cellLoad(&f->bias1, row, at, count, buffers[2]);
    const real *c = cellLoad(&f->bias2, row, at, count, buffers[3]);
    gate[g] = f->storage.data ? cellTarget(&f->storage, row, at, count, gates[g]) : gates[g];
    cellSum(gate[g], x, h, b, c, n);
  }
  const real *old = cellLoad(&f->cell, row, first, count, buffers[0]);
  real *const new = cellTarget(&f->outputCell, row, first, count, buffers[1]);
  real *const y = cellTarget(&f->output, row, first, count, buffers[2]);
  computeStates(gate, old, new, y, n);
  for (int g = 0; g < GATES && f->storage.data; g++)
    cellStore(&f->storage, row, g * f->columns + first, count, gate[g]);
  cellStore(&f->outputCell, row, first, count, new);
  cellStore(&f->output, row, first, count, y);
}

/* Activated gates are written to `gates`: a separate tensor, hidden, or NULL. */
static void forward(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2,
                    THTensor *cell, THTensor *output, THTensor *outputCell, THTensor *gates)
{
  CELL_CHECK_STATE(cell);
  CELL_CHECK(input, cell, GATES);
  CELL_CHECK(hidden, cell, GATES);
  CELL_CHECK_BIAS(bias1, cell, GATES);
  CELL_CHECK_BIAS(bias2, cell, GATES);
  THNN_RESIZE_LIKE(output, cell);
  THNN_RESIZE_LIKE(outputCell, cell);
  if (gates == hidden) THNN_CHECK_DISTINCT_ADDRESSES(hidden);
  else THNN_RESIZE_LIKE(gates, input);
  THNN_RETURN_IF_FAILED(state);
  const char *gatesName = gates == hidden ? "hidden" : "gates";
  const THNNTensor *const read[] = {input, bias1, bias2, cell, gates == hidden ? NULL : hidden};
  for (int k = 0; k < 5; k++) {
    if (read[k] == NULL) continue;
    THNN_CHECK(!THNN_overlaps(output, read[k], false), output, "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(outputCell, read[k], false), outputCell,
               "must not share memory with other arguments");
    if (gates && THNN_overlaps(gates, read[k], false))
      return THNN_fail(state, THNN_VALUE_ERROR, gatesName, "must not share memory with other arguments");
  }
  THNN_CHECK(gates == NULL || !THNN_overlaps(output, gates, false), output, "must not share memory with %s",
             gatesName);
  THNN_CHECK(gates == NULL || !THNN_overlaps(outputCell, gates, false), outputCell,
             "must not share memory with %s", gatesName);
  THNN_CHECK_NO_OVERLAP(outputCell, output);
  THNN_RETURN_IF_META(state);
  const int64_t columns = cell->size[cell->ndim - 1], rows = cell->ndim == 2 ? cell->size[0] : 1;
  const Forward f = {cellMatrix(input),      cellMatrix(hidden), cellMatrix(bias1),
                     cellMatrix(bias2),      cellMatrix(cell),   cellMatrix(output),
                     cellMatrix(outputCell), cellMatrix(gates),  columns};
  CELL_FOR_TILES(row, first, count, rows, columns, rows * columns * GATES)
  forwardTile(&f, row, first, (int)count);
}

void THNN_(LSTMFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1,
                                   THTensor *bias2, THTensor *cell, THTensor *output, THTensor *outputCell)
{
  forward(state, input, hidden, bias1, bias2, cell, output, outputCell, hidden);
}

void THNN_(LSTMFused_cell)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1, THTensor *bias2,
                           THTensor *cell, THTensor *output, THTensor *outputCell, THTensor *gates)
{
  forward(state, input, hidden, bias1, bias2, cell, output, outputCell, gates);
}

/* Gradients w.r.t. the sums of the gates and the old cell state. `d` may be `gate`, and `dOld` may be `dNew`. */
static void computeGradients(const real *const *gate, real *const *d, const real *old, const real *new,
                             const real *dy, const real *dNew, real *dOld, int64_t n)
{
#pragma omp simd
  for (int64_t k = 0; k < n; k++) {
    const real i = gate[INPUT][k], f = gate[FORGET][k], g = gate[CELL][k], o = gate[OUTPUT][k],
               t = th_tanh(new[k]);
    const real dc = dy[k] * o * (1 - t * t) + dNew[k];
    d[INPUT][k] = dc * g * i * (1 - i);
    d[FORGET][k] = dc * old[k] * f * (1 - f);
    d[CELL][k] = dc * i * (1 - g * g);
    d[OUTPUT][k] = dy[k] * t * o * (1 - o);
    dOld[k] = dc * f;
  }
}

static void backwardTile(const CellMatrix *storage, const CellMatrix *gradGates, const CellMatrix *cell,
                         const CellMatrix *outputCell, const CellMatrix *gradOutput,
                         const CellMatrix *gradOutputCell, const CellMatrix *gradCell, int64_t columns,
                         int64_t row, int64_t first, int count)
{
  real buffers[5][CELL_TILE], gates[GATES][CELL_TILE], gradients[GATES][CELL_TILE];
  const int n = cellPadded(count);
  const real *gate[GATES];
  real *d[GATES];
  for (int g = 0; g < GATES; g++) {
    gate[g] = cellLoad(storage, row, g * columns + first, count, gates[g]);
    d[g] = cellTarget(gradGates, row, g * columns + first, count, gradients[g]);
  }
  const real *old = cellLoad(cell, row, first, count, buffers[0]);
  const real *new = cellLoad(outputCell, row, first, count, buffers[1]);
  const real *dy = cellLoad(gradOutput, row, first, count, buffers[2]);
  const real *dNew = cellLoad(gradOutputCell, row, first, count, buffers[3]);
  real *const dOld = cellTarget(gradCell, row, first, count, buffers[4]);
  computeGradients(gate, d, old, new, dy, dNew, dOld, n);
  for (int g = 0; g < GATES; g++) cellStore(gradGates, row, g * columns + first, count, d[g]);
  cellStore(gradCell, row, first, count, dOld);
}

void THNN_(LSTMFused_updateGradInput)(THNNState *state, THTensor *storage, THTensor *gradInGates, THTensor *cx,
                                      THTensor *cy, THTensor *gradOutput, THTensor *gradOutputCell,
                                      THTensor *gradInputCx)
{
  CELL_CHECK_STATE(cx);
  CELL_CHECK(storage, cx, GATES);
  THNN_CHECK_SAME_SIZE(cx, cy);
  if (gradOutput) THNN_CHECK_SAME_SIZE(cx, gradOutput);
  if (gradOutputCell) THNN_CHECK_SAME_SIZE(cx, gradOutputCell);
  THNN_RESIZE_LIKE(gradInGates, storage);
  THNN_RESIZE_LIKE(gradInputCx, cx);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const read[] = {storage, cx, cy, gradOutput, gradOutputCell};
  for (int k = 0; k < 5; k++) {
    if (read[k] == NULL) continue;
    THNN_CHECK(!THNN_overlaps(gradInGates, read[k], false), gradInGates,
               "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(gradInputCx, read[k], false), gradInputCx,
               "must not share memory with other arguments");
  }
  THNN_CHECK_NO_OVERLAP(gradInputCx, gradInGates);
  THNN_RETURN_IF_META(state);
  const CellMatrix gates = cellMatrix(storage), dGates = cellMatrix(gradInGates), old = cellMatrix(cx),
                   new = cellMatrix(cy), dy = cellMatrix(gradOutput), dNew = cellMatrix(gradOutputCell),
                   dOld = cellMatrix(gradInputCx);
  const int64_t columns = cx->size[cx->ndim - 1], rows = cx->ndim == 2 ? cx->size[0] : 1;
  CELL_FOR_TILES(row, first, count, rows, columns, rows * columns * GATES)
  backwardTile(&gates, &dGates, &old, &new, &dy, &dNew, &dOld, columns, row, first, (int)count);
}

static void forwardStates(real *const *blocks, real *const *states, int64_t n)
{
  computeStates(blocks, states[1], states[1], states[0], n);
}

static void backwardStates(real *const *blocks, real *const *gradStates, const real *cellBefore,
                           const real *cellAfter, int64_t n)
{
  const real *const gate[GATES] = {blocks[INPUT], blocks[FORGET], blocks[CELL], blocks[OUTPUT]};
  computeGradients(gate, blocks, cellBefore, cellAfter, gradStates[0], gradStates[1], gradStates[1], n);
  memset(gradStates[0], 0, sizeof(real) * (size_t)n);
}

static const Cell lstmCell = {GATES, GATES, 2, forwardStates, backwardStates};

void THNN_(LSTMFused_steps)(THNNState *state, THTensor *input, THTensor *weight1, THTensor *weight2,
                            THTensor *bias1, THTensor *bias2, THTensor *hx, THTensor *cell, THIndexTensor *sizes,
                            THTensor *output, THTensor *outputCell, THTensor *gates, THTensor *buffer,
                            bool reverse)
{
  STEPS_CHECK_FORWARD(hx, input, weight1, weight2, bias1, bias2, sizes, GATES);
  THNN_CHECK_SAME_SIZE(hx, cell);
  const int64_t rows = input->size[0], columns = hx->size[1];
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, rows, columns);
  THNN_RESIZE_TO(outputCell, THNN_CONTIGUOUS, rows, columns);
  if (gates) THNN_RESIZE_TO(gates, THNN_CONTIGUOUS, rows, GATES * columns);
  STEPS_RESIZE_BUFFER(buffer, THNN_(forwardBuffer)(&lstmCell, hx->size[0], input->size[1], columns));
  THNN_RETURN_IF_FAILED(state);
  THTensor *const written[] = {output, outputCell, gates, buffer};
  const char *const names[] = {"output", "outputCell", "gates", "buffer"};
  const THNNTensor *const read[] = {input, weight1, weight2, bias1, bias2, hx, cell, sizes};
  THNN_(checkStepsApart)(state, 4, written, names, 8, read);
  THNN_RETURN_IF_META(state);
  const Steps steps = THNN_(makeSteps)(state, &lstmCell, sizes, reverse, rows, hx, weight2, gates, buffer);
  THNN_RETURN_IF_FAILED(state);
  const ForwardSteps f = {.steps = steps,
                          .inputs = input->size[1],
                          .input = cellMatrix(input),
                          .weight1 = cellMatrix(weight1),
                          .bias1 = cellMatrix(bias1),
                          .bias2 = cellMatrix(bias2),
                          .initial = {cellMatrix(hx), cellMatrix(cell)},
                          .after = {cellMatrix(output), cellMatrix(outputCell)}};
  THNN_(stepsForward)(&f);
}

void THNN_(LSTMFused_gradSteps)(THNNState *state, THTensor *storage, THTensor *weight2, THTensor *cell,
                                THTensor *outputCell, THIndexTensor *sizes, THTensor *gradOutput,
                                THTensor *gradInGates, THTensor *gradHx, THTensor *gradCell, THTensor *buffer,
                                bool reverse)
{
  STEPS_CHECK_BACKWARD(gradHx, storage, weight2, sizes, gradOutput, GATES, GATES);
  THNN_CHECK_SAME_SIZE(gradHx, cell);
  THNN_CHECK_SAME_SIZE(gradHx, gradCell);
  const int64_t rows = storage->size[0], columns = cell->size[1];
  STEPS_CHECK_SIZE(outputCell, rows, columns);
  THNN_RESIZE_LIKE(gradInGates, storage);
  THNN_CHECK_DISTINCT_ADDRESSES(gradHx);
  THNN_CHECK_DISTINCT_ADDRESSES(gradCell);
  STEPS_RESIZE_BUFFER(buffer, THNN_(backwardBuffer)(&lstmCell, cell->size[0], columns));
  THNN_RETURN_IF_FAILED(state);
  THTensor *const written[] = {gradInGates, gradHx, gradCell, buffer};
  const char *const names[] = {"gradInGates", "gradHx", "gradCell", "buffer"};
  const THNNTensor *const read[] = {storage, weight2, cell, outputCell, sizes, gradOutput};
  THNN_(checkStepsApart)(state, 4, written, names, 6, read);
  THNN_RETURN_IF_META(state);
  const Steps steps = THNN_(makeSteps)(state, &lstmCell, sizes, reverse, rows, cell, weight2, storage, buffer);
  THNN_RETURN_IF_FAILED(state);
  const BackwardSteps b = {.steps = steps,
                           .gradInput = cellMatrix(gradInGates),
                           .gradOutput = cellMatrix(gradOutput),
                           .gradStates = {cellMatrix(gradHx), cellMatrix(gradCell)},
                           .initialCell = cellMatrix(cell),
                           .outputCell = cellMatrix(outputCell)};
  THNN_(stepsBackward)(&b);
}
