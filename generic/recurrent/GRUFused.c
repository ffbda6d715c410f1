#include "modules/GRUFused.h"
#include "recurrent/steps.h"

enum { RESET, UPDATE, NEW, GATES };
/* Blocks of storage: the gates, hx, and the hidden part of the new gate. */
enum { OLD = GATES, HIDDEN_NEW, STORED };

/* Reads from `s` the sums of the gates; the sum of NEW is in two parts, the input's in NEW and the hidden state's in
   HIDDEN_NEW. Writes the storage to `s`, and the next state to y, which may be `old`. */
static void computeState(real *const *s, const real *old, real *y, int64_t n)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real reset = th_sigmoid(s[RESET][i]), update = th_sigmoid(s[UPDATE][i]),
               value = th_tanh(s[NEW][i] + reset * s[HIDDEN_NEW][i]), before = old[i];
    s[RESET][i] = reset;
    s[UPDATE][i] = update;
    s[NEW][i] = value;
    s[OLD][i] = before;
    y[i] = value + update * (before - value);
  }
}

static void forwardTile(const CellMatrix *input, const CellMatrix *hidden, const CellMatrix *bias1,
                        const CellMatrix *bias2, const CellMatrix *hx, const CellMatrix *output,
                        const CellMatrix *storage, int64_t columns, int64_t row, int64_t first, int count)
{
  static const real zeros[CELL_TILE];
  real buffers[4][CELL_TILE], stored[STORED][CELL_TILE];
  const int n = cellPadded(count);
  real *s[STORED];
  for (int k = 0; k < STORED; k++) s[k] = cellTarget(storage, row, k * columns + first, count, stored[k]);
  for (int g = 0; g < GATES; g++) {
    const int64_t at = g * columns + first;
    const real *x = cellLoad(input, row, at, count, buffers[0]);
    const real *h = cellLoad(hidden, row, at, count, buffers[1]);
    const real *b = cellLoad(bias1, row, at, count, buffers[2]), *c = cellLoad(bias2, row, at, count, buffers[3]);
    if (g == NEW) cellSum(s[HIDDEN_NEW], zeros, h, zeros, c, n);
    cellSum(s[g], x, g == NEW ? zeros : h, b, g == NEW ? zeros : c, n);
  }
  const real *old = cellLoad(hx, row, first, count, buffers[0]);
  real *const y = cellTarget(output, row, first, count, buffers[1]);
  computeState(s, old, y, n);
  cellStore(output, row, first, count, y);
  for (int k = 0; k < STORED; k++) cellStore(storage, row, k * columns + first, count, s[k]);
}

/* Storage may also come as a vector, the rows one after the other. */
static bool isFlat(const THTensor *storage, const THTensor *hx)
{
  return storage->ndim == 1 && hx->ndim == 2 && storage->size[0] > 0 &&
         storage->size[0] == STORED * THNNTensor_numel(hx);
}

static CellMatrix storageMatrix(const THTensor *storage, const THTensor *hx)
{
  CellMatrix m = cellMatrix(storage);
  if (isFlat(storage, hx)) m.rowStride = STORED * hx->size[1] * m.columnStride;
  return m;
}

void THNN_(GRUFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1,
                                  THTensor *bias2, THTensor *hx, THTensor *output, THTensor *storage)
{
  CELL_CHECK_STATE(hx);
  CELL_CHECK(input, hx, GATES);
  CELL_CHECK(hidden, hx, GATES);
  CELL_CHECK_BIAS(bias1, hx, GATES);
  CELL_CHECK_BIAS(bias2, hx, GATES);
  const int64_t columns = hx->size[hx->ndim - 1], rows = hx->ndim == 2 ? hx->size[0] : 1;
  THNN_RESIZE_LIKE(output, hx);
  if (isFlat(storage, hx)) THNN_CHECK_DISTINCT_ADDRESSES(storage);
  else if (hx->ndim == 2) THNN_RESIZE_TO(storage, THNN_CONTIGUOUS, rows, STORED * columns);
  else THNN_RESIZE_TO(storage, THNN_CONTIGUOUS, STORED * columns);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const read[] = {input, hidden, bias1, bias2, hx};
  for (int k = 0; k < 5; k++) {
    if (read[k] == NULL) continue;
    THNN_CHECK(!THNN_overlaps(output, read[k], false), output, "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(storage, read[k], false), storage, "must not share memory with other arguments");
  }
  THNN_CHECK_NO_OVERLAP(storage, output);
  THNN_RETURN_IF_META(state);
  const CellMatrix x = cellMatrix(input), h = cellMatrix(hidden), b = cellMatrix(bias1), c = cellMatrix(bias2);
  const CellMatrix old = cellMatrix(hx), y = cellMatrix(output), stored = storageMatrix(storage, hx);
  CELL_FOR_TILES(row, first, count, rows, columns, rows * columns * GATES)
  forwardTile(&x, &h, &b, &c, &old, &y, &stored, columns, row, first, (int)count);
}

/* Gradients w.r.t. the sums of the gates and the old state. The sum of NEW is in two parts, as in computeState. All
   results may be the storage `s`, and `dOld` may be dy. */
static void computeGradients(const real *const *s, real *const *dx, real *const *dh, const real *dy, real *dOld,
                             int64_t n)
{
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    const real r = s[RESET][i], z = s[UPDATE][i], new = s[NEW][i], g = dy[i];
    const real dUpdate = g * (s[OLD][i] - new) * z * (1 - z), dNew = g * (1 - z) * (1 - new * new);
    const real dReset = dNew * s[HIDDEN_NEW][i] * r * (1 - r);
    dx[RESET][i] = dh[RESET][i] = dReset;
    dx[UPDATE][i] = dh[UPDATE][i] = dUpdate;
    dx[NEW][i] = dNew;
    dh[NEW][i] = dNew * r;
    dOld[i] = g * z;
  }
}

static void backwardTile(const CellMatrix *gradInput, const CellMatrix *gradHidden, const CellMatrix *gradOutput,
                         const CellMatrix *gradHx, const CellMatrix *storage, int64_t columns, int64_t row,
                         int64_t first, int count)
{
  real buffers[2][CELL_TILE], stored[STORED][CELL_TILE], inputs[GATES][CELL_TILE], hiddens[GATES][CELL_TILE];
  const int n = cellPadded(count);
  const real *s[STORED];
  real *dx[GATES], *dh[GATES];
  for (int k = 0; k < STORED; k++) s[k] = cellLoad(storage, row, k * columns + first, count, stored[k]);
  for (int g = 0; g < GATES; g++) {
    dx[g] = cellTarget(gradInput, row, g * columns + first, count, inputs[g]);
    dh[g] = cellTarget(gradHidden, row, g * columns + first, count, hiddens[g]);
  }
  const real *dy = cellLoad(gradOutput, row, first, count, buffers[0]);
  real *const dOld = cellTarget(gradHx, row, first, count, buffers[1]);
  computeGradients(s, dx, dh, dy, dOld, n);
  for (int g = 0; g < GATES; g++) {
    cellStore(gradInput, row, g * columns + first, count, dx[g]);
    cellStore(gradHidden, row, g * columns + first, count, dh[g]);
  }
  cellStore(gradHx, row, first, count, dOld);
}

void THNN_(GRUFused_updateGradInput)(THNNState *state, THTensor *gradInInput, THTensor *gradInHidden,
                                     THTensor *gradOutput, THTensor *gradInputHx, THTensor *storage)
{
  CELL_CHECK_STATE(gradOutput);
  THNN_CHECK(isFlat(storage, gradOutput) || cellFits(storage, gradOutput, STORED), storage,
             "expected %d times the columns of gradOutput, %s, got %s", STORED, THNN_shape(gradOutput),
             THNN_shape(storage));
  const int64_t columns = gradOutput->size[gradOutput->ndim - 1],
                rows = gradOutput->ndim == 2 ? gradOutput->size[0] : 1;
  if (gradOutput->ndim == 2) {
    THNN_RESIZE_TO(gradInInput, THNN_CONTIGUOUS, rows, GATES * columns);
    THNN_RESIZE_TO(gradInHidden, THNN_CONTIGUOUS, rows, GATES * columns);
  } else {
    THNN_RESIZE_TO(gradInInput, THNN_CONTIGUOUS, GATES * columns);
    THNN_RESIZE_TO(gradInHidden, THNN_CONTIGUOUS, GATES * columns);
  }
  THNN_RESIZE_LIKE(gradInputHx, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  const THNNTensor *const read[] = {gradOutput, storage};
  for (int k = 0; k < 2; k++) {
    THNN_CHECK(!THNN_overlaps(gradInInput, read[k], false), gradInInput,
               "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(gradInHidden, read[k], false), gradInHidden,
               "must not share memory with other arguments");
    THNN_CHECK(!THNN_overlaps(gradInputHx, read[k], false), gradInputHx,
               "must not share memory with other arguments");
  }
  THNN_CHECK_NO_OVERLAP(gradInHidden, gradInInput);
  THNN_CHECK_NO_OVERLAP(gradInputHx, gradInInput);
  THNN_CHECK_NO_OVERLAP(gradInputHx, gradInHidden);
  THNN_RETURN_IF_META(state);
  const CellMatrix dx = cellMatrix(gradInInput), dh = cellMatrix(gradInHidden), dy = cellMatrix(gradOutput),
                   dOld = cellMatrix(gradInputHx), stored = storageMatrix(storage, gradOutput);
  CELL_FOR_TILES(row, first, count, rows, columns, rows * columns * GATES)
  backwardTile(&dx, &dh, &dy, &dOld, &stored, columns, row, first, (int)count);
}

static void forwardState(real *const *blocks, real *const *states, int64_t n)
{
  computeState(blocks, states[0], states[0], n);
}

static void backwardState(real *const *blocks, real *const *gradStates, const real *cellBefore,
                          const real *cellAfter, int64_t n)
{
  (void)cellBefore, (void)cellAfter;
  const real *const s[STORED] = {blocks[RESET], blocks[UPDATE], blocks[NEW], blocks[OLD], blocks[HIDDEN_NEW]};
  real *const dh[GATES] = {blocks[RESET], blocks[UPDATE], blocks[HIDDEN_NEW]};
  computeGradients(s, blocks, dh, gradStates[0], gradStates[0], n);
}

static const Cell gruCell = {GATES, STORED, 1, forwardState, backwardState};

void THNN_(GRUFused_steps)(THNNState *state, THTensor *input, THTensor *weight1, THTensor *weight2,
                           THTensor *bias1, THTensor *bias2, THTensor *hx, THIndexTensor *sizes, THTensor *output,
                           THTensor *gates, THTensor *buffer, bool reverse)
{
  STEPS_CHECK_FORWARD(hx, input, weight1, weight2, bias1, bias2, sizes, GATES);
  const int64_t rows = input->size[0], columns = hx->size[1];
  THNN_RESIZE_TO(output, THNN_CONTIGUOUS, rows, columns);
  if (gates) THNN_RESIZE_TO(gates, THNN_CONTIGUOUS, rows, STORED * columns);
  STEPS_RESIZE_BUFFER(buffer, THNN_(forwardBuffer)(&gruCell, hx->size[0], input->size[1], columns));
  THNN_RETURN_IF_FAILED(state);
  THTensor *const written[] = {output, gates, buffer};
  const char *const names[] = {"output", "gates", "buffer"};
  const THNNTensor *const read[] = {input, weight1, weight2, bias1, bias2, hx, sizes};
  THNN_(checkStepsApart)(state, 3, written, names, 7, read);
  THNN_RETURN_IF_META(state);
  const Steps steps = THNN_(makeSteps)(state, &gruCell, sizes, reverse, rows, hx, weight2, gates, buffer);
  THNN_RETURN_IF_FAILED(state);
  const ForwardSteps f = {.steps = steps,
                          .inputs = input->size[1],
                          .input = cellMatrix(input),
                          .weight1 = cellMatrix(weight1),
                          .bias1 = cellMatrix(bias1),
                          .bias2 = cellMatrix(bias2),
                          .initial = {cellMatrix(hx)},
                          .after = {cellMatrix(output)}};
  THNN_(stepsForward)(&f);
}

void THNN_(GRUFused_gradSteps)(THNNState *state, THTensor *storage, THTensor *weight2, THIndexTensor *sizes,
                               THTensor *gradOutput, THTensor *gradInInput, THTensor *gradInHidden,
                               THTensor *gradHx, THTensor *buffer, bool reverse)
{
  STEPS_CHECK_BACKWARD(gradHx, storage, weight2, sizes, gradOutput, GATES, STORED);
  const int64_t rows = storage->size[0], columns = gradHx->size[1];
  THNN_RESIZE_TO(gradInInput, THNN_CONTIGUOUS, rows, GATES * columns);
  THNN_RESIZE_TO(gradInHidden, THNN_CONTIGUOUS, rows, GATES * columns);
  THNN_CHECK_DISTINCT_ADDRESSES(gradHx);
  STEPS_RESIZE_BUFFER(buffer, THNN_(backwardBuffer)(&gruCell, gradHx->size[0], columns));
  THNN_RETURN_IF_FAILED(state);
  THTensor *const written[] = {gradInInput, gradInHidden, gradHx, buffer};
  const char *const names[] = {"gradInInput", "gradInHidden", "gradHx", "buffer"};
  const THNNTensor *const read[] = {storage, weight2, sizes, gradOutput};
  THNN_(checkStepsApart)(state, 4, written, names, 4, read);
  THNN_RETURN_IF_META(state);
  const Steps steps = THNN_(makeSteps)(state, &gruCell, sizes, reverse, rows, gradHx, weight2, storage, buffer);
  THNN_RETURN_IF_FAILED(state);
  const BackwardSteps b = {.steps = steps,
                           .gradInput = cellMatrix(gradInInput),
                           .gradHidden = cellMatrix(gradInHidden),
                           .gradOutput = cellMatrix(gradOutput),
                           .gradStates = {cellMatrix(gradHx)}};
  THNN_(stepsBackward)(&b);
}
