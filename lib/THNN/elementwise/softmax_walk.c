#include "elementwise/softmax_walk.h"

#include <string.h>

#include "runtime/integer.h"
#include "runtime/streaming.h"

#define TASK_ELEMENTS 4096 /* most elements of a task with contiguous channels, unless it is a single position */

void thnn_softmaxWalkBegin(SoftmaxWalk *walk, size_t elementBytes, int cached, int count,
                           const THNNTensor *const *tensor)
{
  const int ndim = tensor[0]->ndim, channel = ndim == 2 || ndim == 4 ? 1 : 0;
  const int64_t bytes = (int64_t)elementBytes;
  int n = 0;
  walk->channels = tensor[0]->size[channel];
  walk->elements = THNNTensor_numel(tensor[0]);
  walk->elementBytes = elementBytes;
  walk->count = count;
  walk->tasks = 0;
  if (walk->elements == 0) return;
  walk->contiguousChannels = walk->channels >= SOFTMAX_MIN_CONTIGUOUS;
  for (int d = 0; d < 3; d++) walk->size[d] = 1;
  for (int k = 0; k < count; k++) {
    walk->operand[k].data = tensor[k]->data;
    walk->operand[k].channel = tensor[k]->stride[channel] * bytes;
    for (int d = 0; d < 3; d++) walk->operand[k].position[d] = bytes;
    if (walk->operand[k].channel != bytes) walk->contiguousChannels = false;
  }
  for (int d = ndim - 1; d >= 0; d--) {
    const int64_t size = tensor[0]->size[d];
    if (d == channel || size == 1) continue;
    bool merge = n > 0;
    for (int k = 0; k < count && merge; k++)
      merge = tensor[k]->stride[d] * bytes == walk->size[n - 1] * walk->operand[k].position[n - 1];
    if (merge) {
      walk->size[n - 1] *= size;
      continue;
    }
    walk->size[n] = size;
    for (int k = 0; k < count; k++) walk->operand[k].position[n] = tensor[k]->stride[d] * bytes;
    n++;
  }
  if (walk->contiguousChannels) {
    walk->width = walk->channels < TASK_ELEMENTS ? (int)(TASK_ELEMENTS / walk->channels) : 1;
  } else {
    const int64_t channelBytes = SOFTMAX_TILE * bytes, cacheBytes = channelBytes * walk->channels;
    const bool fits = cached * cacheBytes <= (int64_t)THNN_SCRATCH_LIMIT;
    walk->width = SOFTMAX_TILE;
    walk->cacheStride = fits ? SOFTMAX_TILE : 0;
    walk->cacheBytes = (size_t)(fits ? cacheBytes : channelBytes);
  }
  walk->nonTemporal = thnn_exceedsLastLevelCache(count * walk->elements * bytes);
  walk->tasks = ceilDivide(walk->size[0], walk->width) * walk->size[1] * walk->size[2];
}

SoftmaxTile thnn_softmaxWalkTile(const SoftmaxWalk *walk, int64_t task)
{
  const int64_t inner = ceilDivide(walk->size[0], walk->width), outer = task / inner;
  const int64_t first = task % inner * walk->width;
  SoftmaxTile tile = {.channels = walk->channels,
                      .cacheStride = walk->cacheStride,
                      .elementBytes = walk->elementBytes,
                      .nonTemporal = walk->nonTemporal};
  tile.positions = (int)MIN(walk->size[0] - first, walk->width);
  tile.lanes = (tile.positions + SOFTMAX_GROUP - 1) & -SOFTMAX_GROUP;
  for (int k = 0; k < walk->count; k++) {
    const int64_t *position = walk->operand[k].position;
    tile.operand[k].data = walk->operand[k].data + first * position[0] + outer % walk->size[1] * position[1] +
                           outer / walk->size[1] * position[2];
    tile.operand[k].channel = walk->operand[k].channel;
    tile.operand[k].position = position[0];
    tile.operand[k].direct = position[0] == (int64_t)walk->elementBytes && tile.positions == tile.lanes;
  }
  return tile;
}

typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

void thnn_softmaxTileGather(const SoftmaxTile *tile, int k, int64_t channel, void *buffer)
{
  const char *from = tile->operand[k].data + channel * tile->operand[k].channel;
  const int64_t stride = tile->operand[k].position;
  const int n = tile->positions;
  if (stride == (int64_t)tile->elementBytes) memcpy(buffer, from, (size_t)n * tile->elementBytes);
  else if (tile->elementBytes == 4)
    for (int i = 0; i < n; i++) ((Word4 *)buffer)[i] = *(const Word4 *)(from + i * stride);
  else
    for (int i = 0; i < n; i++) ((Word8 *)buffer)[i] = *(const Word8 *)(from + i * stride);
  memset((char *)buffer + (size_t)n * tile->elementBytes, 0, (size_t)(tile->lanes - n) * tile->elementBytes);
}

void thnn_softmaxTileScatter(const SoftmaxTile *tile, int k, int64_t channel, const void *buffer)
{
  char *to = tile->operand[k].data + channel * tile->operand[k].channel;
  const int64_t stride = tile->operand[k].position;
  const int n = tile->positions;
  if (stride == (int64_t)tile->elementBytes) memcpy(to, buffer, (size_t)n * tile->elementBytes);
  else if (tile->elementBytes == 4)
    for (int i = 0; i < n; i++) *(Word4 *)(to + i * stride) = ((const Word4 *)buffer)[i];
  else
    for (int i = 0; i < n; i++) *(Word8 *)(to + i * stride) = ((const Word8 *)buffer)[i];
}
