#ifndef THCUNN_BATCH_NORM_ROWS_H
#define THCUNN_BATCH_NORM_ROWS_H

/* Normalization of rows: groups of channels of a sample, or the innermost dimensions of a tensor. With xn = (x - mean) *
   inverse, mean 0 unless CENTRED, and means over the terms of a row:

     out = xn * weight + bias
     gradInput = (g * weight - mean(g * weight) - xn * mean(g * weight * xn)) * inverse

   The gradient w.r.t. an element of weight or bias is a sum over a column: all elements that it applies to. Every
   dimension of the tensors belongs to the index of a row or of its terms, and to the index of a column or of its terms;
   an operand that does not have a dimension has the stride 0 along it. */

#include "batch_norm/channels.h"
#include "simd/vector_math.h"

namespace THNN_(rows)
{

using namespace THNN_(channels);

/* WEIGHT and BIAS are their gradients in sums over columns. */
enum RowOperand { X, G, OUT, WEIGHT, BIAS, MEAN, INVERSE, ROW_OPERANDS };

struct Dimension {
  int64_t size, stride[ROW_OPERANDS];
  bool ofRow, ofColumn; /* the dimension belongs to the index of a row, of a column; else to that of its terms */
};

typedef int64_t Offsets[ROW_OPERANDS];

/* Nested loops over dimensions, joined where the strides of all operands allow; innermost first. */
struct Loops {
  static const int DIMS = 8;
  int dims;
  Divisor size[DIMS];
  int64_t stride[ROW_OPERANDS][DIMS];

  int64_t count() const
  {
    int64_t n = 1;
    for (int d = 0; d < dims; d++) n *= size[d].divisor;
    return n;
  }
  bool isAdjacent(RowOperand k) const { return dims > 0 && stride[k][0] == 1; }
  __device__ void add(int64_t i, Offsets &offset) const
  {
    for (int d = 0; d < dims; d++) {
      const int64_t q = d < dims - 1 ? size[d].quotient(i) : 0, index = i - q * size[d].divisor;
#pragma unroll
      for (int k = 0; k < ROW_OPERANDS; k++) offset[k] += index * stride[k][d];
      i = q;
    }
  }
};

/* The operands, seen as rows or as columns. */
struct Walk {
  Element *data[WEIGHT]; /* x, g, out; NULL: absent */
  ChannelVector vector[ROW_OPERANDS];
  Loops rows, terms;

  __device__ void offsets(int64_t row, Offsets &offset) const
  {
#pragma unroll
    for (int k = 0; k < ROW_OPERANDS; k++) offset[k] = 0;
    rows.add(row, offset);
  }
  __device__ real get(RowOperand k, const Offsets &offset) const { return load(data[k] + offset[k]); }
};

/* The dimensions of the tensors, outermost first; `count` of them. */
struct Dimensions {
  Dimension dimension[THNN_MAX_DIM + 1];
  int count;

  Dimension &append(int64_t size, bool ofRow, bool ofColumn)
  {
    Dimension &d = dimension[count++];
    memset((void *)&d, 0, sizeof d);
    d.size = size;
    d.ofRow = ofRow;
    d.ofColumn = ofColumn;
    return d;
  }

  Loops loops(THNNState *state, bool byColumns, bool ofIndex) const;
  Walk walk(THNNState *state, bool byColumns, THTensor *const (&tensors)[ROW_OPERANDS]) const;
};

inline Loops Dimensions::loops(THNNState *state, bool byColumns, bool ofIndex) const
{
  const Dimension *chosen[THNN_MAX_DIM + 1];
  int n = 0;
  for (int d = count - 1; d >= 0; d--)
    if (dimension[d].size != 1 && (byColumns ? dimension[d].ofColumn : dimension[d].ofRow) == ofIndex) {
      /* By the strides of the input, so that neighbouring threads take neighbouring elements. */
      int at = n++;
      for (; at > 0 && chosen[at - 1]->stride[X] > dimension[d].stride[X]; at--) chosen[at] = chosen[at - 1];
      chosen[at] = &dimension[d];
    }
  Loops found;
  memset((void *)&found, 0, sizeof found);
  for (int i = 0; i < n; i++) {
    const int last = found.dims - 1;
    bool joins = found.dims > 0;
    for (int k = 0; k < ROW_OPERANDS && joins; k++)
      joins = chosen[i]->stride[k] == found.stride[k][last] * found.size[last].divisor;
    if (joins) {
      found.size[last] = Divisor(found.size[last].divisor * chosen[i]->size);
      continue;
    }
    if (found.dims == Loops::DIMS) {
      THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "a tensor has more than %d dimensions that cannot be merged",
                Loops::DIMS);
      return found;
    }
    for (int k = 0; k < ROW_OPERANDS; k++) found.stride[k][found.dims] = chosen[i]->stride[k];
    found.size[found.dims++] = Divisor(chosen[i]->size);
  }
  return found;
}

inline Walk Dimensions::walk(THNNState *state, bool byColumns, THTensor *const (&tensors)[ROW_OPERANDS]) const
{
  Walk w;
  for (int k = 0; k < ROW_OPERANDS; k++) {
    if (k < WEIGHT) w.data[k] = tensors[k] ? TH_DATA(tensors[k]) : NULL;
    w.vector[k] = ChannelVector(k < WEIGHT ? NULL : tensors[k]);
    w.vector[k].stride = 1; /* offsets include the stride */
  }
  w.rows = loops(state, byColumns, true);
  w.terms = loops(state, byColumns, false);
  return w;
}

/* ---- forward ---- */

__device__ static inline real inverseDeviation(real variance, real eps)
{
  return variance + eps == 0 ? (real)0 : 1 / th_sqrt(variance + eps);
}

/* Mean and centred sum of squares, by merging (Chan, Golub and LeVeque 1979); the sum of squares if not CENTRED. */
template <bool CENTRED> struct Moments {
  struct Value {
    real count, mean, squares;
  };
  struct Coefficients {
    Offsets offset;
  };
  typedef real Term;

  Walk walk;
  real eps;

  __device__ Value zero() const { return {0, 0, 0}; }
  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
    walk.offsets(row, k.offset);
    return k;
  }
  __device__ real load(const Coefficients &k, int64_t, int64_t term) const
  {
    Coefficients at = k;
    walk.terms.add(term, at.offset);
    return walk.get(X, at.offset);
  }
  __device__ void add(Value &partial, const Coefficients &, real x) const
  {
    partial = merge(partial, CENTRED ? Value{1, x, 0} : Value{1, 0, x * x});
  }
  __device__ Value merge(const Value &a, const Value &b) const
  {
    const real total = a.count + b.count;
    if (!CENTRED) return {total, 0, a.squares + b.squares};
    if (b.count == 0) return a;
    if (a.count == 0) return b;
    const real fraction = b.count / total, delta = b.mean - a.mean;
    return {total, a.mean + delta * fraction, a.squares + b.squares + delta * (a.count * fraction) * delta};
  }
  __device__ void finish(int64_t row, const Value &value) const
  {
    const Coefficients k = begin(row);
    if (CENTRED) walk.vector[MEAN].set(k.offset[MEAN], value.mean);
    const real variance = value.count > 0 ? value.squares / value.count : 0;
    walk.vector[INVERSE].set(k.offset[INVERSE], inverseDeviation(variance, eps));
  }
};

/* The statistics of a row. */
struct RowStatistics {
  real mean, inverse;
};

template <bool CENTRED>
__device__ static inline RowStatistics statisticsOf(const Walk &walk, const Offsets &offset)
{
  return {CENTRED ? walk.vector[MEAN].get(offset[MEAN]) : (real)0, walk.vector[INVERSE].get(offset[INVERSE])};
}

template <bool CENTRED> struct Normalize {
  typedef RowStatistics Coefficients;
  struct Operands {
    real x, weight, bias;
    Element *out;
  };

  Walk walk;

  __device__ Coefficients begin(int64_t row) const
  {
    Offsets offset;
    walk.offsets(row, offset);
    return statisticsOf<CENTRED>(walk, offset);
  }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Offsets offset;
    walk.offsets(row, offset);
    walk.terms.add(term, offset);
    return {walk.get(X, offset), walk.vector[WEIGHT].get(offset[WEIGHT], 1),
            walk.vector[BIAS].get(offset[BIAS], 0), walk.data[OUT] + offset[OUT]};
  }
  __device__ void finish(const Coefficients &k, const Operands &o) const
  {
    store(o.out, (o.x - k.mean) * k.inverse * o.weight + o.bias);
  }
};

/* The threads of a warp have consecutive rows if these are adjacent in memory, or short. */
template <class R, class F> static void reduceAndApply(THNNState *state, const R &r, const F &f, const Walk &walk)
{
  const int64_t rows = walk.rows.count(), terms = walk.terms.count();
  const bool adjacentRows = walk.rows.isAdjacent(X) && !walk.terms.isAdjacent(X);
  if (adjacentRows || terms <= WARP) reduceAndApplyRows<32>(state, r, f, rows, terms);
  else reduceAndApplyRows<1>(state, r, f, rows, terms);
}

template <bool CENTRED>
static void forward(THNNState *state, const Dimensions &dimensions, THTensor *const (&tensors)[ROW_OPERANDS],
                    double eps)
{
  const Walk walk = dimensions.walk(state, false, tensors);
  const Moments<CENTRED> moments = {walk, (real)eps};
  const Normalize<CENTRED> map = {walk};
  reduceAndApply(state, moments, map, walk);
}

/* ---- backward ---- */

/* Two sums. */
struct Sums {
  real sum, dot;
};

/* Sums over a row of g * weight and g * weight * xn, divided by the number of terms; or over a column of g and g * xn,
   times `scale`, which are added to the gradients. */
template <bool CENTRED, bool COLUMNS> struct GradSums {
  typedef Sums Value;
  struct Coefficients {
    Offsets offset;
  };
  struct Term {
    real g, xn;
  };

  Walk walk;
  real count, scale;
  Sums *ofRows;

  __device__ Value zero() const { return {0, 0}; }
  __device__ Coefficients begin(int64_t row) const
  {
    Coefficients k;
    walk.offsets(row, k.offset);
    return k;
  }
  __device__ Term load(const Coefficients &k, int64_t, int64_t term) const
  {
    Coefficients at = k;
    walk.terms.add(term, at.offset);
    const RowStatistics s = statisticsOf<CENTRED>(walk, at.offset);
    const real weight = COLUMNS ? (real)1 : walk.vector[WEIGHT].get(at.offset[WEIGHT], 1);
    return {walk.get(G, at.offset) * weight, (walk.get(X, at.offset) - s.mean) * s.inverse};
  }
  __device__ void add(Value &partial, const Coefficients &, const Term &t) const
  {
    partial.sum += t.g;
    partial.dot += t.g * t.xn;
  }
  __device__ Value merge(const Value &a, const Value &b) const { return {a.sum + b.sum, a.dot + b.dot}; }
  __device__ void finish(int64_t row, const Value &value) const
  {
    if (!COLUMNS) {
      ofRows[row] = {value.sum / count, value.dot / count};
      return;
    }
    const Coefficients k = begin(row);
    const ChannelVector &weight = walk.vector[WEIGHT], &bias = walk.vector[BIAS];
    const int64_t w = k.offset[WEIGHT], b = k.offset[BIAS];
    if (weight.isPresent()) weight.set(w, weight.get(w) + scale * value.dot);
    if (bias.isPresent()) bias.set(b, bias.get(b) + scale * value.sum);
  }
};

template <bool CENTRED> struct InputGradient {
  struct Coefficients {
    RowStatistics statistics;
    Sums mean;
  };
  struct Operands {
    real x, g;
    Element *out;
  };

  Walk walk;
  const Sums *ofRows;

  __device__ Coefficients begin(int64_t row) const
  {
    Offsets offset;
    walk.offsets(row, offset);
    return {statisticsOf<CENTRED>(walk, offset), ofRows[row]};
  }
  __device__ Operands load(int64_t row, int64_t term) const
  {
    Offsets offset;
    walk.offsets(row, offset);
    walk.terms.add(term, offset);
    return {walk.get(X, offset), walk.get(G, offset) * walk.vector[WEIGHT].get(offset[WEIGHT], 1),
            walk.data[OUT] + offset[OUT]};
  }
  __device__ void finish(const Coefficients &k, const Operands &o) const
  {
    const real xn = (o.x - k.statistics.mean) * k.statistics.inverse, g = CENTRED ? o.g - k.mean.sum : o.g;
    store(o.out, (g - xn * k.mean.dot) * k.statistics.inverse);
  }
};

/* `rows` has the weight, `columns` the gradients of weight and bias, which may be absent. */
template <bool CENTRED>
static void backward(THNNState *state, const Dimensions &rowDimensions, THTensor *const (&rows)[ROW_OPERANDS],
                     const Dimensions &columnDimensions, THTensor *const (&columns)[ROW_OPERANDS], double scale)
{
  if (columns[WEIGHT] != NULL || columns[BIAS] != NULL) {
    const Walk walk = columnDimensions.walk(state, true, columns);
    const GradSums<CENTRED, true> sums = {walk, 0, (real)scale, NULL};
    const bool adjacent = walk.terms.isAdjacent(X) && !walk.rows.isAdjacent(X);
    reduce(state, sums, walk.rows.count(), walk.terms.count(), adjacent);
  }
  if (rows[OUT] == NULL || THNNTensor_numel(rows[X]) == 0) return;
  const Walk walk = rowDimensions.walk(state, false, rows);
  const int64_t count = walk.rows.count();
  Sums *const ofRows = (Sums *)scratch(state, count * (int64_t)sizeof(Sums));
  if (ofRows == NULL) return;
  const GradSums<CENTRED, false> sums = {walk, (real)walk.terms.count(), 0, ofRows};
  const InputGradient<CENTRED> map = {walk, ofRows};
  reduceAndApply(state, sums, map, walk);
}

} // namespace THNN_(rows)

#endif
