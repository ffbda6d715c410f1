#include "modules/SpatialCrossMapLRN.h"

#include <type_traits>

#include "runtime/loops.h"
#include "simd/vector_math.h"

/* The channels of a window are summed afresh for each channel, so that an infinite element has no effect beyond its
   windows. A thread computes several channels of a position, whose overlapping windows stay in the first-level cache;
   where channels are innermost, it computes one channel, and the windows of neighbouring threads overlap. */
static const int64_t CHANNELS_PER_THREAD = 16;

enum { BATCH, CHANNEL, ROW, COLUMN };

namespace
{

struct Image {
  Element *data;
  int64_t stride[4];

  __device__ Element *position(const int64_t *at) const
  {
    return data + at[BATCH] * stride[BATCH] + at[ROW] * stride[ROW] + at[COLUMN] * stride[COLUMN];
  }
  __device__ Element *channel(Element *position, int64_t c) const { return position + c * stride[CHANNEL]; }
};

struct Normalization {
  thcunn::Extents<4> loop; /* (N, groups of channels, H, W), or (N, H, W, C) */
  int64_t channels, channelsPerThread;
  int64_t before, after; /* channels of a window before and after its centre */
  bool channelsInnermost;
  real alpha, beta, k; /* alpha is divided by the number of channels of a window */

  /* Sets at[CHANNEL] to the first channel of thread i, and returns the end of its channels. */
  __device__ int64_t indices(int64_t i, int64_t *at) const
  {
    int64_t index[4];
    loop.indices(i, index);
    at[BATCH] = index[0];
    at[CHANNEL] = (channelsInnermost ? index[3] : index[1]) * channelsPerThread;
    at[ROW] = channelsInnermost ? index[1] : index[2];
    at[COLUMN] = channelsInnermost ? index[2] : index[3];
    return at[CHANNEL] + channelsPerThread < channels ? at[CHANNEL] + channelsPerThread : channels;
  }
  __device__ int64_t first(int64_t c, int64_t lower) const { return c > lower ? c - lower : 0; }
  __device__ int64_t end(int64_t c, int64_t upper) const
  {
    return upper < channels - 1 - c ? c + upper + 1 : channels;
  }
};

} // namespace

/* The scale of channel c of a position. */
__device__ static inline real scaleOf(const Normalization &l, const Image &x, Element *position, int64_t c)
{
  const int64_t last = l.end(c, l.after);
  real sum = 0;
  for (int64_t j = l.first(c, l.before); j < last; j++) {
    const real element = thcunn::load(x.channel(position, j));
    sum += element * element;
  }
  return l.k + l.alpha * sum;
}

/* The saved scale, or, beyond the normal numbers of float16, the scale computed again. */
__device__ static inline real scaleOf(const Normalization &l, const Image &x, Element *position, int64_t c,
                                      const Element *saved)
{
  const real scale = thcunn::load(saved);
  if constexpr (std::is_same<Element, __half>::value)
    if (!(scale >= 0x1p-14f && scale <= 65504.0f)) return scaleOf(l, x, position, c);
  return scale;
}

static Image image(const THTensor *t)
{
  Image m = {TH_DATA(t), {0, 0, 0, 0}};
  for (int d = 0; d < t->ndim; d++) m.stride[d + 4 - t->ndim] = t->stride[d];
  return m;
}

static Normalization normalization(const THTensor *input, const THTensor *output, int size, double alpha,
                                   double beta, double k)
{
  Normalization l;
  const int channel = input->ndim - 3;
  const int64_t *sizes = output->size + channel;
  l.channels = sizes[0];
  l.channelsInnermost = sizes[0] > 1 && output->stride[channel] < output->stride[channel + 2];
  l.channelsPerThread = l.channelsInnermost ? 1 : CHANNELS_PER_THREAD;
  l.loop.size[0] = channel > 0 ? output->size[0] : 1;
  l.loop.size[l.channelsInnermost ? 3 : 1] = (sizes[0] + l.channelsPerThread - 1) / l.channelsPerThread;
  l.loop.size[l.channelsInnermost ? 1 : 2] = sizes[1];
  l.loop.size[l.channelsInnermost ? 2 : 3] = sizes[2];
  l.before = size / 2;
  l.after = (size - 1) / 2;
  l.alpha = (real)(alpha / size);
  l.beta = (real)beta;
  l.k = (real)k;
  return l;
}

__device__ static inline real power(real base, real exponent)
{
  return exponent == 0 ? 1 : th_exp(exponent * th_log(base));
}

void THNN_(SpatialCrossMapLRN_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *scales,
                                            int size, accreal alpha, accreal beta, accreal k)
{
  const Normalization l = normalization(input, output, size, alpha, beta, k);
  const Image x = image(input), y = image(output), s = image(scales);
  thcunn::forEach(state, l.loop.count(), [=] __device__(int64_t i) {
    int64_t at[4];
    const int64_t end = l.indices(i, at);
    Element *const from = x.position(at), *const to = y.position(at), *const scale = s.position(at);
    for (int64_t c = at[CHANNEL]; c < end; c++) {
      const real own = scaleOf(l, x, from, c);
      thcunn::store(s.channel(scale, c), own);
      thcunn::store(y.channel(to, c), thcunn::load(x.channel(from, c)) * power(own, -l.beta));
    }
  });
}

void THNN_(SpatialCrossMapLRN_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                               THTensor *gradInput, THTensor *scales, THTensor *output, int size,
                                               accreal alpha, accreal beta, accreal k)
{
  const Normalization l = normalization(input, gradInput, size, alpha, beta, k);
  const Image x = image(input), g = image(gradOutput), dx = image(gradInput), s = image(scales), y = image(output);
  const real factor = 2 * l.alpha * l.beta;
  thcunn::forEach(state, l.loop.count(), [=] __device__(int64_t i) {
    int64_t at[4];
    const int64_t end = l.indices(i, at);
    Element *const gradient = g.position(at), *const scale = s.position(at), *const result = y.position(at);
    Element *const from = x.position(at), *const to = dx.position(at);
    for (int64_t c = at[CHANNEL]; c < end; c++) {
      const int64_t last = l.end(c, l.before);
      real sum = 0;
      for (int64_t j = l.first(c, l.after); j < last; j++)
        sum += thcunn::load(g.channel(gradient, j)) * thcunn::load(y.channel(result, j)) /
               scaleOf(l, x, from, j, s.channel(scale, j));
      const real own =
          thcunn::load(g.channel(gradient, c)) * power(scaleOf(l, x, from, c, s.channel(scale, c)), -l.beta);
      thcunn::store(dx.channel(to, c), own - factor * thcunn::load(x.channel(from, c)) * sum);
    }
  });
}
