#ifndef THNN_ELEMENTWISE_SOFTMAX_WALK_H
#define THNN_ELEMENTWISE_SOFTMAX_WALK_H

#include "runtime/check.h"
#include "runtime/parallel.h"

/* The soft-max iterator: visits every position (n, h, w) of tensors (C), (N, C), (C, H, W) or (N, C, H, W), with all
   channels of a position in one task.

   - If at least SOFTMAX_MIN_CONTIGUOUS channels are contiguous in all tensors, a task is a range of positions, each of
     which is processed along its channels.
   - Otherwise a task is a tile of adjacent positions, which are the SIMD lanes; its loops run over the channels. The
     task may cache channels in scratch memory between these loops: channel c at cache + c * cacheStride. If the
     channels exceed the scratch memory, cacheStride is 0 and each loop loads them again. */

#define SOFTMAX_MIN_CONTIGUOUS 32 /* fewer channels leave vectors mostly empty */
#define SOFTMAX_TENSORS 3
#define SOFTMAX_TILE 256 /* positions of a full tile: 16 AVX-512 registers of float */
#define SOFTMAX_GROUP 16 /* lanes are a multiple of it */

#define THNN_CHECK_CHANNELS(tensor)                              \
  THNN_CHECK((tensor)->ndim >= 1 && (tensor)->ndim <= 4, tensor, \
             "expected 1 to 4 dimensions (C), (N, C), (C, H, W) or (N, C, H, W), got %s", THNN_shape(tensor))

typedef struct SoftmaxWalk {
  int64_t channels, tasks, elements;
  int64_t size[3];     /* sizes of the positions, innermost first, adjacent dimensions merged */
  int64_t cacheStride; /* in elements */
  size_t cacheBytes;   /* per cached tensor */
  size_t elementBytes; /* size in bytes */
  int count;
  int width; /* positions of a task */
  bool contiguousChannels;
  bool nonTemporal; /* the result is written with non-temporal stores */
  struct {
    char *data;
    int64_t channel, position[3]; /* strides in bytes */
  } operand[SOFTMAX_TENSORS];
} SoftmaxWalk;

/* `cached` is the number of tensors that a task caches. */
void thnn_softmaxWalkBegin(SoftmaxWalk *walk, size_t elementBytes, int cached, int count,
                           const THNNTensor *const *tensor);

/* The positions of a task. */
typedef struct SoftmaxTile {
  int64_t channels, cacheStride;
  size_t elementBytes;
  int positions, lanes; /* lanes: positions rounded up to whole groups */
  bool nonTemporal;
  struct {
    char *data;
    int64_t channel, position; /* strides in bytes */
    bool direct;               /* all lanes of a channel are contiguous */
  } operand[SOFTMAX_TENSORS];
} SoftmaxTile;

SoftmaxTile thnn_softmaxWalkTile(const SoftmaxWalk *walk, int64_t task);

/* The channels of tensor k at position i, if they are contiguous. */
static inline void *softmaxTileChannels(const SoftmaxTile *tile, int k, int i)
{
  return tile->operand[k].data + i * tile->operand[k].position;
}

/* Gather copies one channel of tensor k to the buffer, with zeros in the lanes after the last position; scatter copies
   the buffer back. */
void thnn_softmaxTileGather(const SoftmaxTile *tile, int k, int64_t channel, void *buffer);
void thnn_softmaxTileScatter(const SoftmaxTile *tile, int k, int64_t channel, const void *buffer);

/* Returns one channel of tensor k: in place if direct, otherwise gathered in the buffer. */
static inline const void *softmaxTileLoad(const SoftmaxTile *tile, int k, int64_t channel, void *buffer)
{
  if (tile->operand[k].direct) return tile->operand[k].data + channel * tile->operand[k].channel;
  thnn_softmaxTileGather(tile, k, channel, buffer);
  return buffer;
}

/* As softmaxTileLoad, in a later loop over the channels: reads the copy in the cache if the channels fit. */
static inline const void *softmaxTileReload(const SoftmaxTile *tile, int k, int64_t channel, void *buffer)
{
  return tile->cacheStride ? buffer : softmaxTileLoad(tile, k, channel, buffer);
}

/* Prefetches the channel after the next one, at the end a channel of the next tile, which is adjacent in memory. A
   longer distance would not fit the cache sets that the channels share if their stride is a power of two. */
static inline void softmaxTilePrefetch(const SoftmaxTile *tile, int k, int64_t channel)
{
  if (!tile->operand[k].direct) return;
  const int64_t bytes = tile->lanes * (int64_t)tile->elementBytes, next = channel + 2;
  const bool inTile = next < tile->channels;
  const char *p = tile->operand[k].data + (inTile ? next : next - tile->channels) * tile->operand[k].channel;
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + (inTile ? 0 : bytes) + i);
}

#endif
