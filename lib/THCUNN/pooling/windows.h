#ifndef THCUNN_POOLING_WINDOWS_H
#define THCUNN_POOLING_WINDOWS_H

/* The windows of pooling along one axis: SlidingAxis, AdaptiveAxis and FractionalAxis (lib/THNN/pooling). Each axis has

     Span<I> inputs(const Place<I> &output, int a)   the inputs of an output that exist, along axis a
     Span<I> outputs(I i)                            all outputs that read input i, and perhaps others bool mayRead(I o,
     I i)                          whether output o is one of them
     I divisor(I o, bool countPadding)               the divisor of output o (poolingDivisor)
     static int64_t uniformDivisor(const WindowAxis &, bool countPadding)   the divisor of all outputs; 0 if they differ
     static int64_t longest(const WindowAxis &)      an upper bound on the number of inputs of an output
     static bool isNarrow(const WindowAxis &)        whether 32 bits hold all intermediate numbers

   FractionalAxis, which has maxima only, has no divisors. A kind of windows (Sliding, Adaptive, Fractional) makes the
   axes from their geometry. */

#include <limits>

#include "pooling/images.h"
#include "pooling/pooling.h"

namespace thcunn
{
namespace pooling
{

/* The `count` numbers begin, begin + step, ...; `count` may be 0. The first one belongs to kernel element `first`. */
template <class I> struct Span {
  I begin, count, step, first;
};

template <class I> __device__ inline bool contains(const Span<I> &span, I i)
{
  return i >= span.begin && i < span.begin + span.count;
}

template <class I> __device__ inline I smaller(I a, I b) { return a < b ? a : b; }
template <class I> __device__ inline I larger(I a, I b) { return a > b ? a : b; }

/* Output o reads inputs o * stride - padding + k * dilation, 0 <= k < kernel. */
template <class I> struct SlidingAxis {
  typedef typename DivisorOf<I>::type Division;
  static const bool EMPTY_IS_NAN = false, MAY_BE_LARGE = true;
  I input, output, kernel, padding;
  Division stride, dilation;

  SlidingAxis() = default;
  SlidingAxis(const WindowAxis &a)
      : input((I)a.input), output((I)a.output), kernel((I)a.kernel), padding((I)a.padding), stride(a.stride),
        dilation(a.dilation)
  {
  }
  static bool isNarrow(const WindowAxis &a)
  {
    return (double)a.output * (double)a.stride + (double)a.kernel * (double)a.dilation + (double)a.input < 0x1p30;
  }
  static int64_t longest(const WindowAxis &a) { return a.kernel < a.input ? a.kernel : a.input; }
  /* If the divisors of the first and of the last output are `kernel`, all divisors are. */
  static int64_t uniformDivisor(const WindowAxis &a, bool countPadding)
  {
    const int64_t first = poolingDivisor(&a, 0, countPadding),
                  last = poolingDivisor(&a, a.output - 1, countPadding);
    return a.output == 1 || (first == a.kernel && last == a.kernel) ? first : 0;
  }

  __device__ I start(I o) const { return o * (I)stride.divisor - padding; }
  __device__ Span<I> inputs(const Place<I> &p, int a) const
  {
    const I from = start(p.x[a]), step = (I)dilation.divisor;
    const I first = from >= 0 ? 0 : dilation.quotient(step - 1 - from), begin = from + first * step;
    const I room = begin < input ? dilation.quotient(input - 1 - begin) + 1 : 0;
    return {begin, larger<I>(smaller<I>(kernel - first, room), 0), step, first};
  }
  __device__ Span<I> outputs(I i) const
  {
    const I last = stride.quotient(i + padding), behind = i + padding - (kernel - 1) * (I)dilation.divisor;
    const I first = behind <= 0 ? 0 : stride.quotient(behind + (I)stride.divisor - 1);
    return {first, larger<I>(smaller<I>(last, output - 1) - first + 1, 0), 1, 0};
  }
  __device__ bool mayRead(I o, I i) const
  {
    const I k = i - start(o);
    return k >= 0 && k <= (kernel - 1) * (I)dilation.divisor;
  }
  __device__ I divisor(I o, bool countPadding) const
  {
    const I from = start(o), end = smaller<I>(from + kernel, input + (countPadding ? padding : 0));
    return larger<I>(end - (from < 0 && !countPadding ? 0 : from), 1);
  }
};

struct Sliding {
  template <class I> using Axis = SlidingAxis<I>;
  template <class I> SlidingAxis<I> axis(int, const WindowAxis &a) const { return a; }
};

/* Regions from floor(o * input / output) to ceil((o + 1) * input / output), and their inverse. */
template <class I> struct AdaptiveAxis {
  typedef typename DivisorOf<I>::type Division;
  static const bool EMPTY_IS_NAN = false, MAY_BE_LARGE = true;
  Division input, output;
  I whole, rest, inverseWhole, inverseRest;

  AdaptiveAxis() = default;
  AdaptiveAxis(const WindowAxis &a)
      : input(a.input), output(a.output), whole((I)(a.input / a.output)), rest((I)(a.input % a.output)),
        inverseWhole((I)(a.output / a.input)), inverseRest((I)(a.output % a.input))
  {
  }
  static bool isNarrow(const WindowAxis &a) { return ((double)a.input + 2) * ((double)a.output + 2) < 0x1p30; }
  static int64_t longest(const WindowAxis &a) { return a.input / a.output + (a.input % a.output ? 2 : 0); }
  static int64_t uniformDivisor(const WindowAxis &a, bool) { return a.input % a.output ? 0 : a.input / a.output; }

  __device__ static Span<I> region(I o, I whole, I rest, const Division &regions)
  {
    const I low = o * rest, begin = o * whole + regions.quotient(low);
    const I end = (o + 1) * whole + regions.quotient(low + rest + (I)regions.divisor - 1);
    return {begin, end - begin, 1, 0};
  }
  __device__ Span<I> inputs(const Place<I> &p, int a) const { return region(p.x[a], whole, rest, output); }
  __device__ Span<I> outputs(I i) const { return region(i, inverseWhole, inverseRest, input); }
  __device__ bool mayRead(I o, I i) const { return contains(outputs(i), o); }
  __device__ I divisor(I o, bool) const { return region(o, whole, rest, output).count; }
};

struct Adaptive {
  template <class I> using Axis = AdaptiveAxis<I>;
  template <class I> AdaptiveAxis<I> axis(int, const WindowAxis &a) const { return a; }
};

/* Regions of `kernel` inputs that begin at multiples of a fraction, shifted by a sample in [0, 1] of each plane. They
   are computed in the type of the arithmetic, as on the CPU. A region with a bad sample has no inputs, and its maximum
   is NaN. */
template <class I, class T> struct FractionalAxis {
  typedef typename Arithmetic<T>::type R;
  static const bool EMPTY_IS_NAN = true, MAY_BE_LARGE = false; /* a thread per output is enough */
  I input, output, kernel;
  R stride, perStride; /* perStride: outputs per input */
  R margin;            /* inputs, more than rounding moves a region */
  const T *samples;    /* NULL for 0 */
  I sn, sc;
  NumberCheck check;

  FractionalAxis() = default;
  FractionalAxis(const WindowAxis &a)
      : input((I)a.input), output((I)a.output), kernel((I)a.kernel), samples(NULL), sn(0), sc(0), check()
  {
    stride = output > 1 ? (R)(a.input - a.kernel) / (R)(a.output - 1) : 0;
    perStride = stride > 0 ? 1 / stride : 0;
    margin = (R)0.25 + (R)a.input * 8 * std::numeric_limits<R>::epsilon();
  }
  static bool isNarrow(const WindowAxis &a) { return a.input < 1 << 30; }
  static int64_t longest(const WindowAxis &a) { return a.kernel; }

  __device__ Span<I> inputs(const Place<I> &p, int a) const
  {
    const I last = input - kernel, o = p.x[a];
    const R sample = samples ? load(samples + (p.n * sn + p.c * sc)) : 0;
    if (samples && !(sample >= 0 && sample <= 1)) {
      check.refuse((float)sample);
      return {0, 0, 1, 0};
    }
    const I start = o < output - 1 ? (I)(((R)o + sample) * stride) - (I)(sample * stride) : last;
    return {smaller<I>(start, last), kernel, 1, 0};
  }
  /* For any sample, a region begins less than one input from o * stride. */
  __device__ Span<I> outputs(I i) const
  {
    const I first = larger<I>((I)(((R)(i - kernel) - margin) * perStride), 0);
    const I end = i >= input - kernel ? output : smaller<I>((I)(((R)i + 1 + margin) * perStride) + 1, output);
    return {first, larger<I>(end - first, 0), 1, 0};
  }
  __device__ bool mayRead(I o, I i) const { return contains(outputs(i), o); }
};

template <class T> struct Fractional {
  template <class I> using Axis = FractionalAxis<I, T>;
  const THNNTensor *samples; /* (N, C, axes) or (C, axes); NULL for a gradient, which does not need them */
  int axes;
  int column[WINDOW_AXES]; /* column of the samples for each axis of the window */
  NumberCheck check;

  template <class I> FractionalAxis<I, T> axis(int a, const WindowAxis &geometry) const
  {
    FractionalAxis<I, T> result(geometry);
    const int first = WINDOW_AXES - axes;
    if (samples == NULL || a < first) return result;
    const int64_t *stride = samples->stride + samples->ndim - 2;
    result.samples = (const T *)samples->data + column[a - first] * stride[1];
    result.sc = (I)stride[0];
    result.check = check;
    result.sn = samples->ndim == 3 ? (I)samples->stride[0] : 0;
    return result;
  }
};

/* The geometry of a pooling on the host. */
struct PoolingShape {
  WindowAxis axis[WINDOW_AXES];
  ImageShape input,
      output; /* layouts of the tensor that is pooled or its gradient, and of the result or its gradient */

  /* `window`: the axes of the window, depth first; the sizes come from the tensors. */
  PoolingShape(int axes, const WindowAxis *window, const THNNTensor *inputTensor, const THNNTensor *outputTensor)
      : input(imageShape(axes, inputTensor)), output(imageShape(axes, outputTensor))
  {
    for (int a = 0; a < WINDOW_AXES; a++) {
      const int k = a - (WINDOW_AXES - axes);
      axis[a] = k < 0 ? WindowAxis{1, 1, 1, 1, 0, 1} : window[k];
      axis[a].input = input.x[a], axis[a].output = output.x[a];
    }
  }
  template <class Kind> bool isNarrow() const
  {
    bool narrow = pooling::isNarrow(input) && pooling::isNarrow(output);
    for (int a = 0; a < WINDOW_AXES; a++) narrow = narrow && Kind::template Axis<int32_t>::isNarrow(axis[a]);
    return narrow;
  }
};

/* The loop of a gradient. A thread computes SIZE inputs that are neighbours ALONG an axis, one that is not the
   innermost of an image: neighbouring threads have neighbours in memory, and the inputs of a thread share most of the
   outputs that read them. */
template <class I, class Kind, int AXES> struct InputGroups {
  typedef typename Kind::template Axis<I> Axis;
  static const int SIZE = 4, ALONG = AXES == 1 ? 2 : 1, ACROSS = 3 - ALONG;
  static const int LOADS = sizeof(I) == 4 ? 2 : 1; /* outputs at a time, as registers allow */
  Axis axis[WINDOW_AXES];
  ImageLoop<I> groups;
  I inputs, outputs; /* along the axis */

  InputGroups(const PoolingShape &shape, const Kind &kind)
      : groups(grouped(shape.input)), inputs((I)shape.input.x[ALONG]), outputs((I)shape.output.x[ALONG])
  {
    for (int a = 0; a < WINDOW_AXES; a++) axis[a] = kind.template axis<I>(a, shape.axis[a]);
  }
  static ImageShape grouped(ImageShape shape)
  {
    shape.x[ALONG] = (shape.x[ALONG] + SIZE - 1) / SIZE;
    return shape;
  }
  /* The first input of group i. */
  __device__ Place<I> first(I i) const
  {
    Place<I> p = groups.at(i);
    p.x[ALONG] *= SIZE;
    return p;
  }
  /* The outputs that read an input of the group that begins at p, and perhaps others. */
  __device__ void readers(const Place<I> &p, Span<I> (&span)[WINDOW_AXES]) const
  {
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++)
      span[a] = a < WINDOW_AXES - AXES ? Span<I>{0, 1, 1, 0} : axis[a].outputs(p.x[a]);
    const Span<I> last = axis[ALONG].outputs(smaller<I>(p.x[ALONG] + SIZE, inputs) - 1);
    span[ALONG].count = smaller<I>(last.begin + last.count, outputs) - span[ALONG].begin;
  }
  /* Stores the results of the group that begins at p. */
  template <class T, class R>
  __device__ void finish(const Images<T, I> &to, const Place<I> &p, const R (&result)[SIZE]) const
  {
    T *const at = to.at(p);
#pragma unroll
    for (int j = 0; j < SIZE; j++)
      if (p.x[ALONG] + j < inputs) store(at + j * to.sx[ALONG], result[j]);
  }
};

/* An output, and its inputs along the axes. */
template <class I> struct Window {
  Place<I> output;
  Span<I> span[WINDOW_AXES];
};

/* The windows of outputs on the device. */
template <class T, class I, class Kind> struct WindowReader {
  typedef typename Kind::template Axis<I> Axis;
  typedef typename DivisorOf<I>::type Division;
  Axis axis[WINDOW_AXES];
  ImageLoop<I> outputs;
  Images<const T, I> x;
  Division height, width; /* size of the largest window, whose elements are the terms of a reduction */
  int64_t terms;

  WindowReader(const PoolingShape &shape, const Kind &kind, const T *input)
      : outputs(shape.output), x(input, shape.input)
  {
    for (int a = 0; a < WINDOW_AXES; a++) axis[a] = kind.template axis<I>(a, shape.axis[a]);
    height = Division(Axis::longest(shape.axis[1]));
    width = Division(Axis::longest(shape.axis[2]));
    terms = Axis::longest(shape.axis[0]) * (int64_t)height.divisor * (int64_t)width.divisor;
  }

  __device__ void spans(const Place<I> &p, Span<I> (&span)[WINDOW_AXES]) const
  {
#pragma unroll
    for (int a = 0; a < WINDOW_AXES; a++) span[a] = axis[a].inputs(p, a);
  }
  __device__ Window<I> window(int64_t i) const
  {
    Window<I> window;
    window.output = outputs.at((I)i);
    spans(window.output, window.span);
    return window;
  }
  __device__ const T *first(const Place<I> &p, const Span<I> (&span)[WINDOW_AXES]) const
  {
    return x.plane(p) + (span[0].begin * x.sx[0] + span[1].begin * x.sx[1] + span[2].begin * x.sx[2]);
  }
  /* The position of a term within the window; false if this window has no such element. */
  __device__ bool element(I term, const Span<I> (&span)[WINDOW_AXES], I (&k)[WINDOW_AXES]) const
  {
    const I row = width.quotient(term), slice = height.quotient(row);
    k[0] = slice, k[1] = row - slice * (I)height.divisor, k[2] = term - row * (I)width.divisor;
    return k[0] < span[0].count && k[1] < span[1].count && k[2] < span[2].count;
  }
  __device__ const T *at(const Place<I> &p, const Span<I> (&span)[WINDOW_AXES], const I (&k)[WINDOW_AXES]) const
  {
    return first(p, span) +
           (k[0] * span[0].step * x.sx[0] + k[1] * span[1].step * x.sx[1] + k[2] * span[2].step * x.sx[2]);
  }
};

/* Outputs that lanes of a warp share: each of `count` lanes, a power of two, has a column of the window, so that the
   lanes of a warp read adjacent elements of adjacent windows. */
struct WindowLanes {
  int64_t outputs;
  int shift;

  static const int ROWS = 64; /* most window rows that a lane reads one after another */

  /* True if windows are narrow enough, and their columns are adjacent in memory. */
  template <class Windows> static bool fit(const PoolingShape &shape, const Windows &windows)
  {
    const int64_t columns = windows.width.divisor;
    return columns <= WARP && windows.terms <= ROWS * columns && !shape.output.isChannelsLast();
  }
  WindowLanes(int64_t outputs, int64_t columns) : outputs(outputs), shift(0)
  {
    while ((int64_t)1 << shift < columns) shift++;
  }
  /* Whole warps of threads; threads beyond the last output repeat it. */
  int64_t threads() const { return ((outputs << shift) + WARP - 1) / WARP * WARP; }
  __device__ int count() const { return 1 << shift; }
  __device__ int lane(int64_t i) const { return (int)i & (count() - 1); }
  __device__ int64_t output(int64_t i) const { return smaller<int64_t>(i >> shift, outputs - 1); }
  __device__ bool stores(int64_t i) const { return lane(i) == 0 && i >> shift < outputs; }
};

/* True if several threads should share an output: its window is large, and either there are few outputs, or windows
   hardly overlap, so that the threads of an output read adjacent elements that no other output reads. */
static inline bool threadsShareOutputs(const PoolingShape &shape, int64_t terms)
{
  const int64_t outputs = shape.output.count();
  if (outputs < 65536 && terms >= 128) return true;
  return terms >= 32 && !shape.output.isChannelsLast() &&
         (double)outputs * (double)terms < 2 * (double)shape.input.count();
}

} // namespace pooling
} // namespace thcunn

#endif
