#include "resampling/grid_sampler.h"

#include "resampling/pixels.h"
#include "segment_sum/sort.h"

namespace thcunn
{

/* The cell of the input in which a position lies: along each axis, pixel index[a] with the weight 1 - fraction[a], and
   the next pixel with the weight fraction[a]. Pixels outside do not count; the index is -2 if both are outside. Axes
   are depth, height, width. */
template <class Number, int AXES> struct Cell {
  int64_t index[AXES];
  Number fraction[AXES];

  __device__ Number weight(int axis, bool next) const { return next ? fraction[axis] : 1 - fraction[axis]; }
};

/* The pixels around a position. */
template <class Number, int AXES> struct Corners {
  static const int count = 1 << AXES;
  bool inside[count];
  int64_t offset[count];
  Number weight[count];
};

__device__ static inline bool isNext(int corner, int axis) { return corner >> axis & 1; }

template <class T, int AXES> struct GridSampler {
  typedef typename Arithmetic<T>::type Number;
  const T *grid;
  int64_t size[AXES];                    /* size of the input */
  int64_t batch, axis[AXES], coordinate; /* strides of the grid */

  /* As gridIndex of lib/THNN. */
  __device__ Cell<Number, AXES> cell(int64_t n, const int64_t *at) const
  {
    Cell<Number, AXES> cell;
    const T *p = grid + n * batch;
#pragma unroll
    for (int a = 0; a < AXES; a++) p += at[a] * axis[a];
#pragma unroll
    for (int a = 0; a < AXES; a++) {
      const Number position = (load(p + (AXES - 1 - a) * coordinate) + 1) / 2 * (Number)(size[a] - 1);
      const bool outside = position < -1 || position >= (Number)size[a], isNumber = position == position;
      const Number index = outside ? -2 : isNumber ? floor(position) : 0;
      cell.index[a] = (int)index;
      cell.fraction[a] = position - index;
    }
    return cell;
  }

  /* Offsets are by the strides of `pixels`. */
  __device__ Corners<Number, AXES> corners(const Cell<Number, AXES> &cell, const Pixels<T, AXES> &pixels) const
  {
    Corners<Number, AXES> corners;
#pragma unroll
    for (int k = 0; k < corners.count; k++) {
      corners.inside[k] = true;
      corners.offset[k] = 0;
      corners.weight[k] = 1;
#pragma unroll
      for (int a = 0; a < AXES; a++) {
        const int64_t index = cell.index[a] + isNext(k, a);
        corners.inside[k] = corners.inside[k] && index >= 0 && index < size[a];
        corners.offset[k] += index * pixels.axis[a];
        corners.weight[k] *= cell.weight(a, isNext(k, a));
      }
    }
    return corners;
  }
};

template <class T, int AXES> GridSampler<T, AXES> gridSampler(const THNNTensor *input, const THNNTensor *grid)
{
  GridSampler<T, AXES> s;
  s.grid = (const T *)grid->data;
  s.batch = grid->stride[0];
  s.coordinate = grid->stride[AXES + 1];
  for (int a = 0; a < AXES; a++) {
    s.size[a] = input->size[2 + a];
    s.axis[a] = grid->stride[1 + a];
  }
  return s;
}

template <class T, int AXES>
void sample(THNNState *state, const THNNTensor *input, const THNNTensor *grid, const THNNTensor *output)
{
  typedef typename Arithmetic<T>::type Number;
  const GridSampler<T, AXES> sampler = gridSampler<T, AXES>(input, grid);
  const PixelLoop<AXES> loop = pixelLoop<AXES>(output);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(input), y = pixelsOf<T, AXES>(output);
  forEach(state, loop.extents.count(), [=] __device__(int64_t i) {
    int64_t n, c, end, at[AXES];
    loop.indices(i, &n, &c, &end, at);
    const Corners<Number, AXES> corners = sampler.corners(sampler.cell(n, at), x);
    const T *from = x.sample(n, c);
    T *to = y.sample(n, c);
#pragma unroll
    for (int a = 0; a < AXES; a++) to += at[a] * y.axis[a];
    for (; c < end; c++, from += x.channel, to += y.channel) {
      Number sum = 0;
#pragma unroll
      for (int k = 0; k < corners.count; k++)
        if (corners.inside[k]) sum += corners.weight[k] * load(from + corners.offset[k]);
      store(to, sum);
    }
  });
}

/* --- gradGrid ----------------------------------------------------------------------------------------------------- */

/* The gradient w.r.t. a position, in pixels along each axis: the sum over all channels of gradOutput times the
   derivative of the output. */
template <class Number, int AXES> struct Slopes {
  Number along[AXES];
};

template <class Number, int AXES> struct AddSlopes {
  typedef Slopes<Number, AXES> Value;
  __device__ Value merge(Value a, const Value &b) const
  {
#pragma unroll
    for (int k = 0; k < AXES; k++) a.along[k] += b.along[k];
    return a;
  }
};

/* Blocks of X positions; THREADS / X threads of a position share its channels. */
template <class T, int AXES, int X>
__global__ void __launch_bounds__(THREADS)
    gradGridKernel(GridSampler<T, AXES> sampler, Extents<AXES + 1> points, int64_t count, int64_t channels,
                   Pixels<const T, AXES> x, Pixels<const T, AXES> y, Pixels<T, AXES> gradGrid)
{
  typedef typename Arithmetic<T>::type Number;
  const int64_t point = (int64_t)blockIdx.x * X + threadIdx.x % X;
  int64_t index[AXES + 1];
  Slopes<Number, AXES> slopes;
#pragma unroll
  for (int a = 0; a < AXES; a++) slopes.along[a] = 0;
  points.indices(point < count ? point : 0, index);
  if (point < count) {
    const Cell<Number, AXES> cell = sampler.cell(index[0], index + 1);
    Number product[1 << AXES];
    bool inside[1 << AXES];
    int64_t offset[1 << AXES];
#pragma unroll
    for (int k = 0; k < 1 << AXES; k++) {
      product[k] = 0;
      inside[k] = true;
      offset[k] = 0;
#pragma unroll
      for (int a = 0; a < AXES; a++) {
        const int64_t i = cell.index[a] + isNext(k, a);
        inside[k] = inside[k] && i >= 0 && i < sampler.size[a];
        offset[k] += i * x.axis[a];
      }
    }
    const T *g = y.sample(index[0], 0);
#pragma unroll
    for (int a = 0; a < AXES; a++) g += index[1 + a] * y.axis[a];
    for (int64_t c = threadIdx.x / X; c < channels; c += THREADS / X) {
      const Number gradient = load(g + c * y.channel);
      const T *const from = x.sample(index[0], c);
#pragma unroll
      for (int k = 0; k < 1 << AXES; k++)
        if (inside[k]) product[k] += gradient * load(from + offset[k]);
    }
#pragma unroll
    for (int k = 0; k < 1 << AXES; k++)
      if (inside[k])
#pragma unroll
        for (int a = 0; a < AXES; a++) {
          Number slope = isNext(k, a) ? product[k] : -product[k];
#pragma unroll
          for (int b = 0; b < AXES; b++)
            if (b != a) slope *= cell.weight(b, isNext(k, b));
          slopes.along[a] += slope;
        }
  }
  slopes = mergeColumns<X>(AddSlopes<Number, AXES>(), slopes);
  if (threadIdx.x >= X || point >= count) return;
  T *to = gradGrid.sample(index[0], 0);
#pragma unroll
  for (int a = 0; a < AXES; a++) to += index[1 + a] * gradGrid.axis[a];
  /* gradGrid.channel is the stride of the coordinates. */
#pragma unroll
  for (int a = 0; a < AXES; a++)
    store(to + (AXES - 1 - a) * gradGrid.channel, slopes.along[a] * ((Number)(sampler.size[a] - 1) / 2));
}

template <class T, int AXES> Extents<AXES + 1> pointExtents(const THNNTensor *grid)
{
  Extents<AXES + 1> points;
  for (int d = 0; d <= AXES; d++) points.size[d] = grid->size[d];
  return points;
}

template <class T, int AXES, int X>
void launchGradGrid(THNNState *state, const THNNTensor *input, const THNNTensor *grid,
                    const THNNTensor *gradOutput, const THNNTensor *gradGrid)
{
  const Extents<AXES + 1> points = pointExtents<T, AXES>(grid);
  const int64_t count = points.count();
  const unsigned blocks = blockCount(state, count, X);
  if (blocks == 0) return;
  Pixels<T, AXES> to;
  to.data = (T *)gradGrid->data;
  to.batch = gradGrid->stride[0];
  to.channel = gradGrid->stride[AXES + 1];
  for (int a = 0; a < AXES; a++) to.axis[a] = gradGrid->stride[1 + a];
  THCUNN_LAUNCH((gradGridKernel<T, AXES, X>), blocks, THREADS, streamOf(state))
  (gridSampler<T, AXES>(input, grid), points, count, input->size[1], pixelsOf<const T, AXES>(input),
   pixelsOf<const T, AXES>(gradOutput), to);
}

/* --- gradInput ---------------------------------------------------------------------------------------------------- */

/* Positions as entries of a sort (segment_sum/sort.h), whose keys are their cells. A sample has size[a] + 1 cells along
   an axis, the first of which begins at index -1. */
template <class T, int AXES> struct PointCells {
  GridSampler<T, AXES> sampler;
  Extents<AXES + 1> points;

  /* `index`: of the first pixel of the cell, plus 1. */
  __device__ int64_t cellNumber(int64_t n, const int64_t *index) const
  {
#pragma unroll
    for (int a = 0; a < AXES; a++) n = n * (sampler.size[a] + 1) + index[a];
    return n;
  }
  __device__ int64_t key(int64_t i) const
  {
    int64_t at[AXES + 1];
    points.indices(i, at);
    Cell<typename Arithmetic<T>::type, AXES> cell = sampler.cell(at[0], at + 1);
    bool inside = true;
#pragma unroll
    for (int a = 0; a < AXES; a++) {
      inside = inside && cell.index[a] != -2;
      cell.index[a]++;
    }
    return inside ? cellNumber(at[0], cell.index) : -1;
  }
};

/* A thread per pixel sums the gradients of the positions in the cells around it, in the order of the grid within a
   cell. So no two threads add to the same element, and the result does not depend on their order. */
template <class T, int AXES>
void sumCells(THNNState *state, const THNNTensor *input, const THNNTensor *grid, const THNNTensor *gradOutput,
              const THNNTensor *gradInput)
{
  typedef typename Arithmetic<T>::type Number;
  PointCells<T, AXES> entries;
  entries.sampler = gridSampler<T, AXES>(input, grid);
  entries.points = pointExtents<T, AXES>(grid);
  int64_t cells = input->size[0];
  for (int a = 0; a < AXES; a++) cells *= input->size[2 + a] + 1;
  const SortedItems sorted = sortByKey(state, entries, entries.points.count(), cells);
  if (state->status != THNN_OK) return;
  int64_t *const firsts = (int64_t *)scratch(state, (cells + 1) * (int64_t)sizeof(int64_t));
  if (firsts == NULL) return;
  forEach(state, cells + 1, [=] __device__(int64_t cell) { firsts[cell] = sorted.firstOf(cell); });

  const PixelLoop<AXES> loop = pixelLoop<AXES>(gradInput);
  const Pixels<T, AXES> x = pixelsOf<T, AXES>(gradInput), y = pixelsOf<T, AXES>(gradOutput);
  forEach(state, loop.extents.count(), [=] __device__(int64_t i) {
    int64_t n, c, end, at[AXES], index[AXES];
    loop.indices(i, &n, &c, &end, at);
    const int channels = (int)(end - c);
    const T *const from = y.sample(n, c);
    T *to = x.sample(n, c);
#pragma unroll
    for (int a = 0; a < AXES; a++) {
      to += at[a] * x.axis[a];
      index[a] = at[a] + 1;
    }
    const int64_t ownCell = entries.cellNumber(n, index);
    Number sum[CHANNELS_PER_THREAD];
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++) sum[k] = 0;
    for (int corner = 0; corner < 1 << AXES; corner++) {
#pragma unroll
      for (int a = 0; a < AXES; a++) index[a] = isNext(corner, a);
      const int64_t cell = ownCell - entries.cellNumber(0, index), last = firsts[cell + 1];
      for (int64_t j = firsts[cell]; j < last; j++) {
        int64_t point[AXES + 1];
        entries.points.indices(sorted.position(j), point);
        const Cell<Number, AXES> of = entries.sampler.cell(n, point + 1);
        Number weight = 1;
        const T *g = from;
#pragma unroll
        for (int a = 0; a < AXES; a++) {
          weight *= of.weight(a, isNext(corner, a));
          g += point[1 + a] * y.axis[a];
        }
#pragma unroll
        for (int k = 0; k < CHANNELS_PER_THREAD; k++, g += y.channel)
          if (k < channels) sum[k] += weight * load(g);
      }
    }
#pragma unroll
    for (int k = 0; k < CHANNELS_PER_THREAD; k++)
      if (k < channels) store(to + k * x.channel, sum[k]);
  });
}

template <class T, int AXES>
void differentiate(THNNState *state, const THNNTensor *input, const THNNTensor *grid, const THNNTensor *gradOutput,
                   const THNNTensor *gradInput, const THNNTensor *gradGrid)
{
  if (hasChannelsInnermost<AXES>(input)) launchGradGrid<T, AXES, 4>(state, input, grid, gradOutput, gradGrid);
  else launchGradGrid<T, AXES, 32>(state, input, grid, gradOutput, gradGrid);
  if (state->status == THNN_OK) sumCells<T, AXES>(state, input, grid, gradOutput, gradInput);
}

} // namespace thcunn

void THNN_(gridSample)(THNNState *state, int axes, const THTensor *input, const THTensor *grid, THTensor *output)
{
  if (THNNTensor_numel(output) == 0) return;
  if (axes == 2) thcunn::sample<Element, 2>(state, input, grid, output);
  else thcunn::sample<Element, 3>(state, input, grid, output);
}

void THNN_(gridSampleBackward)(THNNState *state, int axes, const THTensor *input, const THTensor *grid,
                               const THTensor *gradOutput, THTensor *gradInput, THTensor *gradGrid)
{
  if (THNNTensor_numel(gradInput) == 0) return;
  if (axes == 2) thcunn::differentiate<Element, 2>(state, input, grid, gradOutput, gradInput, gradGrid);
  else thcunn::differentiate<Element, 3>(state, input, grid, gradOutput, gradInput, gradGrid);
}
