#include "modules/GRUFused.h"
#include "recurrent/cell_matrix.h"
#include "simd/vector_math.h"

typedef thcunn::CellMatrix<Element> Matrix;

enum { RESET, UPDATE, NEW, GATES };
/* Blocks of storage: the gates, hx, and the hidden part of the new gate. */
enum { OLD = GATES, HIDDEN_NEW, STORED };

/* Storage may also come as a vector, the rows one after the other. */
static Matrix storageMatrix(const THTensor *storage, const THTensor *hx, int64_t columns)
{
  Matrix m = thcunn::cellMatrix<Element>(storage, columns);
  if (storage->ndim == 1 && hx->ndim == 2) m.rowStride = STORED * columns * m.columnStride;
  return m;
}

void THNN_(GRUFused_updateOutput)(THNNState *state, THTensor *input, THTensor *hidden, THTensor *bias1,
                                  THTensor *bias2, THTensor *hx, THTensor *output, THTensor *storage)
{
  const thcunn::CellLoop loop(output);
  const int64_t columns = loop.columns;
  const Matrix x = thcunn::cellMatrix<Element>(input, columns), h = thcunn::cellMatrix<Element>(hidden, columns),
               b = thcunn::cellMatrix<Element>(bias1, columns), c = thcunn::cellMatrix<Element>(bias2, columns),
               old = thcunn::cellMatrix<Element>(hx, columns), y = thcunn::cellMatrix<Element>(output, columns),
               stored = storageMatrix(storage, hx, columns);
  thcunn::forEach(state, loop.count(), [=] __device__(int64_t i) {
    int64_t row, column;
    loop.indices(i, &row, &column);
    real gate[2];
#pragma unroll
    for (int g = RESET; g <= UPDATE; g++)
      gate[g] = th_sigmoid((x.read(row, column, g) + b.read(row, column, g)) +
                           (h.read(row, column, g) + c.read(row, column, g)));
    const real hiddenNew = h.read(row, column, NEW) + c.read(row, column, NEW), before = old.read(row, column);
    const real value = th_tanh((x.read(row, column, NEW) + b.read(row, column, NEW)) + gate[RESET] * hiddenNew);
    y.write(row, column, value + gate[UPDATE] * (before - value));
    stored.write(row, column, gate[RESET], RESET);
    stored.write(row, column, gate[UPDATE], UPDATE);
    stored.write(row, column, value, NEW);
    stored.write(row, column, before, OLD);
    stored.write(row, column, hiddenNew, HIDDEN_NEW);
  });
}

void THNN_(GRUFused_updateGradInput)(THNNState *state, THTensor *gradInInput, THTensor *gradInHidden,
                                     THTensor *gradOutput, THTensor *gradInputHx, THTensor *storage)
{
  const thcunn::CellLoop loop(gradInputHx);
  const int64_t columns = loop.columns;
  const Matrix dx = thcunn::cellMatrix<Element>(gradInInput, columns),
               dh = thcunn::cellMatrix<Element>(gradInHidden, columns),
               dy = thcunn::cellMatrix<Element>(gradOutput, columns),
               dOld = thcunn::cellMatrix<Element>(gradInputHx, columns),
               stored = storageMatrix(storage, gradOutput, columns);
  thcunn::forEach(state, loop.count(), [=] __device__(int64_t i) {
    int64_t row, column;
    loop.indices(i, &row, &column);
    const real r = stored.read(row, column, RESET), z = stored.read(row, column, UPDATE),
               value = stored.read(row, column, NEW), g = dy.read(row, column);
    const real dUpdate = g * (stored.read(row, column, OLD) - value) * z * (1 - z),
               dNew = g * (1 - z) * (1 - value * value);
    const real dReset = dNew * stored.read(row, column, HIDDEN_NEW) * r * (1 - r);
    dx.write(row, column, dReset, RESET);
    dh.write(row, column, dReset, RESET);
    dx.write(row, column, dUpdate, UPDATE);
    dh.write(row, column, dUpdate, UPDATE);
    dx.write(row, column, dNew, NEW);
    dh.write(row, column, dNew * r, NEW);
    dOld.write(row, column, g * z);
  });
}
