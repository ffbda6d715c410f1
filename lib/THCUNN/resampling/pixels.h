#ifndef THCUNN_RESAMPLING_PIXELS_H
#define THCUNN_RESAMPLING_PIXELS_H

#include "runtime/loops.h"

namespace thcunn
{

/* Channels that a thread computes one after another, if channels are the outermost dimension of a sample: indices and
   positions are computed once for all of them. */
static const int CHANNELS_PER_THREAD = 4;

/* A tensor (N, C, axes), N optional. The strides of a missing N are 0. */
template <class T, int AXES> struct Pixels {
  T *data;
  int64_t batch, channel, axis[AXES];

  __device__ T *sample(int64_t n, int64_t c) const { return data + n * batch + c * channel; }
};

template <class T, int AXES> Pixels<T, AXES> pixelsOf(const THNNTensor *t)
{
  Pixels<T, AXES> p;
  const int channels = t->ndim - AXES - 1;
  p.data = (T *)t->data;
  p.batch = channels > 0 ? t->stride[0] : 0;
  p.channel = t->stride[channels];
  for (int a = 0; a < AXES; a++) p.axis[a] = t->stride[channels + 1 + a];
  return p;
}

/* A loop over the pixels of a tensor in the order of its memory: the neighbour of a thread has the next element of the
   last axis or, where channels are innermost, the next channel. */
template <int AXES> struct PixelLoop {
  Extents<AXES + 2> extents;
  int64_t channels, channelsPerThread;
  bool channelsInnermost;

  /* The pixel at[] of sample n of thread i, and its channels c to end - 1. */
  __device__ void indices(int64_t i, int64_t *n, int64_t *c, int64_t *end, int64_t *at) const
  {
    int64_t index[AXES + 2];
    extents.indices(i, index);
    *n = index[0];
    *c = (channelsInnermost ? index[AXES + 1] : index[1]) * channelsPerThread;
    *end = *c + channelsPerThread < channels ? *c + channelsPerThread : channels;
#pragma unroll
    for (int a = 0; a < AXES; a++) at[a] = channelsInnermost ? index[1 + a] : index[2 + a];
  }
};

template <int AXES> bool hasChannelsInnermost(const THNNTensor *t)
{
  const int channels = t->ndim - AXES - 1;
  return t->size[channels] > 1 && t->stride[channels] < t->stride[t->ndim - 1];
}

template <int AXES> PixelLoop<AXES> pixelLoop(const THNNTensor *t, bool channelsInnermost, int channelsPerThread)
{
  PixelLoop<AXES> loop;
  const int dim = t->ndim - AXES - 1;
  loop.channels = t->size[dim];
  loop.channelsInnermost = channelsInnermost;
  loop.channelsPerThread = channelsPerThread;
  loop.extents.size[0] = dim > 0 ? t->size[0] : 1;
  loop.extents.size[loop.channelsInnermost ? AXES + 1 : 1] =
      (loop.channels + loop.channelsPerThread - 1) / loop.channelsPerThread;
  for (int a = 0; a < AXES; a++) loop.extents.size[(loop.channelsInnermost ? 1 : 2) + a] = t->size[dim + 1 + a];
  return loop;
}

template <int AXES> PixelLoop<AXES> pixelLoop(const THNNTensor *t)
{
  const bool channelsInnermost = hasChannelsInnermost<AXES>(t);
  return pixelLoop<AXES>(t, channelsInnermost, channelsInnermost ? 1 : CHANNELS_PER_THREAD);
}

} // namespace thcunn

#endif
