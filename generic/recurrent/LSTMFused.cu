#include "modules/LSTMFused.h"
#include "recurrent/cell_matrix.h"
#include "simd/vector_math.h"

typedef thcunn::CellMatrix<Element> Matrix;

enum { INPUT, FORGET, CELL, OUTPUT, GATES };

/* Writes the activated gates to `gates`, which is a separate tensor, `hidden`, or NULL. A thread reads its elements of
   `hidden` before it writes them. */
static void forward(THNNState *state, const THTensor *input, const THTensor *hidden, const THTensor *bias1,
                    const THTensor *bias2, const THTensor *cell, const THTensor *output,
                    const THTensor *outputCell, const THTensor *gates)
{
  const thcunn::CellLoop loop(output);
  const int64_t columns = loop.columns;
  const Matrix x = thcunn::cellMatrix<Element>(input, columns), h = thcunn::cellMatrix<Element>(hidden, columns),
               b = thcunn::cellMatrix<Element>(bias1, columns), c = thcunn::cellMatrix<Element>(bias2, columns),
               old = thcunn::cellMatrix<Element>(cell, columns), y = thcunn::cellMatrix<Element>(output, columns),
               newCell = thcunn::cellMatrix<Element>(outputCell, columns),
               stored = thcunn::cellMatrix<Element>(gates, columns);
  thcunn::forEach(state, loop.count(), [=] __device__(int64_t i) {
    int64_t row, column;
    loop.indices(i, &row, &column);
    real gate[GATES];
#pragma unroll
    for (int g = 0; g < GATES; g++) {
      const real sum =
          (x.read(row, column, g) + b.read(row, column, g)) + (h.read(row, column, g) + c.read(row, column, g));
      gate[g] = g == CELL ? th_tanh(sum) : th_sigmoid(sum);
    }
    const real value = gate[FORGET] * old.read(row, column) + gate[INPUT] * gate[CELL];
    newCell.write(row, column, value);
    y.write(row, column, gate[OUTPUT] * th_tanh(value));
    if (stored.data == nullptr) return;
#pragma unroll
    for (int g = 0; g < GATES; g++) stored.write(row, column, gate[g], g);
  });
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

void THNN_(LSTMFused_updateGradInput)(THNNState *state, THTensor *storage, THTensor *gradInGates, THTensor *cx,
                                      THTensor *cy, THTensor *gradOutput, THTensor *gradOutputCell,
                                      THTensor *gradInputCx)
{
  const thcunn::CellLoop loop(gradInputCx);
  const int64_t columns = loop.columns;
  const Matrix gates = thcunn::cellMatrix<Element>(storage, columns),
               dGates = thcunn::cellMatrix<Element>(gradInGates, columns),
               old = thcunn::cellMatrix<Element>(cx, columns), newCell = thcunn::cellMatrix<Element>(cy, columns),
               dy = thcunn::cellMatrix<Element>(gradOutput, columns),
               dNew = thcunn::cellMatrix<Element>(gradOutputCell, columns),
               dOld = thcunn::cellMatrix<Element>(gradInputCx, columns);
  thcunn::forEach(state, loop.count(), [=] __device__(int64_t k) {
    int64_t row, column;
    loop.indices(k, &row, &column);
    const real i = gates.read(row, column, INPUT), f = gates.read(row, column, FORGET),
               g = gates.read(row, column, CELL), o = gates.read(row, column, OUTPUT),
               t = th_tanh(newCell.read(row, column)), before = old.read(row, column), dyk = dy.read(row, column);
    const real dc = dyk * o * (1 - t * t) + dNew.read(row, column);
    dGates.write(row, column, dc * g * i * (1 - i), INPUT);
    dGates.write(row, column, dc * before * f * (1 - f), FORGET);
    dGates.write(row, column, dc * i * (1 - g * g), CELL);
    dGates.write(row, column, dyk * t * o * (1 - o), OUTPUT);
    dOld.write(row, column, dc * f);
  });
}
