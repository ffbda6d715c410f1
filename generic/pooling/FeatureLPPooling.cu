#include "modules/FeatureLPPooling.h"

#include "runtime/loops.h"
#include "simd/vector_math.h"

using thcunn::load;
using thcunn::store;

/* The elements (N, F, A, B) of a tensor, which always has F, in the order of its memory: features are the second
   dimension or, where they are innermost, the last one. */
typedef thcunn::View<Element, 4> Features;

struct Layout {
  bool batchMode, featuresLast;
};

static Layout layoutOf(const THTensor *t, bool batchMode)
{
  return {batchMode, t->size[batchMode] > 1 && t->stride[batchMode] == 1};
}

static int position(Layout layout, int dimension)
{
  if (!layout.featuresLast || dimension == 0) return dimension;
  return dimension == 1 ? 3 : dimension - 1;
}

static Features featuresOf(const THTensor *t, Layout layout)
{
  Features f = {TH_DATA(t), {0, 0, 0, 0}};
  for (int d = 0; d < t->ndim; d++) f.stride[position(layout, d + !layout.batchMode)] = t->stride[d];
  return f;
}

static thcunn::Extents<4> extentsOf(const THTensor *t, Layout layout)
{
  thcunn::Extents<4> extents = {{1, 1, 1, 1}};
  for (int d = 0; d < t->ndim; d++) extents.size[position(layout, d + !layout.batchMode)] = t->size[d];
  return extents;
}

/* The power and its inverse. Odd powers keep the sign of their base, and so does the root. */
template <class T> struct Power {
  typedef typename thcunn::Arithmetic<T>::type R;
  R power, inverse, slope; /* slope: power - 1 */
  bool isSquare, isOdd;

  Power(accreal power)
      : power((R)power), inverse((R)(1 / power)), slope((R)(power - 1)), isSquare(power == 2),
        isOdd(fmod(power, 2) == 1)
  {
  }
  __device__ R of(R x) const { return isSquare ? x * x : th_pow(x, power); }
  __device__ R root(R sum) const
  {
    if (isSquare) return th_sqrt(sum);
    return sum < 0 && isOdd ? -th_pow(-sum, inverse) : th_pow(sum, inverse);
  }
  __device__ R slopeOf(R ratio) const { return isSquare ? ratio : th_pow(ratio, slope); }
};

/* Elements are divided by a power of two near the largest one, so that no power overflows or vanishes. */
template <class T> struct PoolFeatures {
  typedef typename thcunn::Arithmetic<T>::type R;
  thcunn::Extents<4> extents;
  thcunn::View<T, 4> x, y;
  Power<T> power;
  int64_t width, stride, step; /* step: from one feature of x to the next, in elements */
  bool featuresLast;

  __device__ void operator()(int64_t i) const
  {
    int64_t index[4];
    extents.indices(i, index);
    T *to = y.at(index);
    index[1] *= featuresLast ? 1 : stride;
    index[3] *= featuresLast ? stride : 1;
    const T *window = x.at(index);
    R largest = 0, sum = 0;
    for (int64_t k = 0; k < width; k++) largest = fmax(largest, th_abs(load(window + k * step)));
    const int exponent = largest > 0 && largest < (R)INFINITY ? ilogb(largest) : 0;
    for (int64_t k = 0; k < width; k++) sum += power.of(scalbn(load(window + k * step), -exponent));
    store(to, scalbn(power.root(sum), exponent));
  }
};

/* A thread per input adds the slopes of the windows that contain the input. */
template <class T> struct AddSlopes {
  typedef typename thcunn::Arithmetic<T>::type R;
  thcunn::Extents<4> extents;
  thcunn::View<T, 4> x, y, g, dx;
  Power<T> power;
  int64_t width, outputs;
  thcunn::Divisor stride;
  bool featuresLast;

  __device__ void operator()(int64_t i) const
  {
    int64_t index[4];
    extents.indices(i, index);
    const R value = load(x.at(index));
    T *to = dx.at(index);
    const int64_t feature = featuresLast ? index[3] : index[1], last = stride.quotient(feature);
    const int64_t first = feature < width ? 0 : stride.quotient(feature - width + stride.divisor);
    R sum = 0;
    for (int64_t o = first; o <= last && o < outputs; o++) {
      if (featuresLast) index[3] = o;
      else index[1] = o;
      const R norm = load(y.at(index));
      if (norm != 0) sum += load(g.at(index)) * power.slopeOf(value / norm);
    }
    store(to, sum);
  }
};

void THNN_(FeatureLPPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal power,
                                          int width, int stride, bool batchMode)
{
  const Layout layout = layoutOf(output, batchMode);
  const Features x = featuresOf(input, layout);
  const PoolFeatures<Element> pool = {extentsOf(output, layout),
                                      x,
                                      featuresOf(output, layout),
                                      Power<Element>(power),
                                      width,
                                      stride,
                                      x.stride[position(layout, 1)],
                                      layout.featuresLast};
  thcunn::forEach(state, pool.extents.count(), pool);
}

void THNN_(FeatureLPPooling_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *input,
                                             THTensor *output, THTensor *gradInput, accreal power, int width,
                                             int stride, bool batchMode)
{
  const Layout layout = layoutOf(gradInput, batchMode);
  const AddSlopes<Element> add = {extentsOf(input, layout),
                                  featuresOf(input, layout),
                                  featuresOf(output, layout),
                                  featuresOf(gradOutput, layout),
                                  featuresOf(gradInput, layout),
                                  Power<Element>(power),
                                  width,
                                  output->size[batchMode],
                                  stride,
                                  layout.featuresLast};
  thcunn::forEach(state, add.extents.count(), add);
}
