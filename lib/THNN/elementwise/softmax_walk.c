#include "elementwise/softmax_walk.h"

#include <string.h>

#include "runtime/streaming.h"

#define ROWS_FROM 32 /* fewer channels leave vectors mostly empty */
#define ROWS_ELEMENTS 4096

void thnn_channelsBegin(THNNChannels *walk, size_t element, int kept, int count, const THNNTensor *const *tensor)
{
  const int ndim = tensor[0]->ndim, channel = ndim == 2 || ndim == 4 ? 1 : 0;
  const int64_t bytes = (int64_t)element;
  int n = 0;
  walk->channels = tensor[0]->size[channel];
  walk->elements = THNNTensor_numel(tensor[0]);
  walk->element = element;
  walk->count = count;
  walk->tasks = 0;
  if (walk->elements == 0) return;
  walk->rows = walk->channels >= ROWS_FROM;
  for (int d = 0; d < 3; d++) walk->size[d] = 1;
  for (int k = 0; k < count; k++) {
    walk->operand[k].data = tensor[k]->data;
    walk->operand[k].channel = tensor[k]->stride[channel] * bytes;
    for (int d = 0; d < 3; d++) walk->operand[k].position[d] = bytes;
    if (walk->operand[k].channel != bytes) walk->rows = false;
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
  if (walk->rows) {
    walk->width = walk->channels < ROWS_ELEMENTS ? (int)(ROWS_ELEMENTS / walk->channels) : 1;
  } else {
    const int64_t bytes_of_tile = THNN_CHANNELS_WIDTH * bytes, scratch = bytes_of_tile * walk->channels;
    const bool keep = kept * scratch <= (int64_t)THNN_SCRATCH_LIMIT;
    walk->width = THNN_CHANNELS_WIDTH;
    walk->step = keep ? THNN_CHANNELS_WIDTH : 0;
    walk->scratch = (size_t)(keep ? scratch : bytes_of_tile);
  }
  walk->streams = thnn_exceedsLastLevelCache(count * walk->elements * bytes);
  walk->tasks = (walk->size[0] + walk->width - 1) / walk->width * walk->size[1] * walk->size[2];
}

THNNTile thnn_channelsTile(const THNNChannels *walk, int64_t task)
{
  const int64_t inner = (walk->size[0] + walk->width - 1) / walk->width, outer = task / inner;
  const int64_t first = task % inner * walk->width, rest = walk->size[0] - first;
  THNNTile tile = {
      .channels = walk->channels, .step = walk->step, .element = walk->element, .streams = walk->streams};
  tile.positions = rest < walk->width ? (int)rest : walk->width;
  tile.lanes = (tile.positions + THNN_CHANNELS_GROUP - 1) & -THNN_CHANNELS_GROUP;
  for (int k = 0; k < walk->count; k++) {
    const int64_t *position = walk->operand[k].position;
    tile.operand[k].data = walk->operand[k].data + first * position[0] + outer % walk->size[1] * position[1] +
                           outer / walk->size[1] * position[2];
    tile.operand[k].channel = walk->operand[k].channel;
    tile.operand[k].position = position[0];
    tile.operand[k].direct = position[0] == (int64_t)walk->element && tile.positions == tile.lanes;
  }
  return tile;
}

typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

void thnn_tileGather(const THNNTile *tile, int k, int64_t channel, void *buffer)
{
  const char *from = tile->operand[k].data + channel * tile->operand[k].channel;
  const int64_t next = tile->operand[k].position;
  const int n = tile->positions;
  if (next == (int64_t)tile->element) memcpy(buffer, from, (size_t)n * tile->element);
  else if (tile->element == 4)
    for (int i = 0; i < n; i++) ((Word4 *)buffer)[i] = *(const Word4 *)(from + i * next);
  else
    for (int i = 0; i < n; i++) ((Word8 *)buffer)[i] = *(const Word8 *)(from + i * next);
  memset((char *)buffer + (size_t)n * tile->element, 0, (size_t)(tile->lanes - n) * tile->element);
}

void thnn_tileScatter(const THNNTile *tile, int k, int64_t channel, const void *buffer)
{
  char *to = tile->operand[k].data + channel * tile->operand[k].channel;
  const int64_t next = tile->operand[k].position;
  const int n = tile->positions;
  if (next == (int64_t)tile->element) memcpy(to, buffer, (size_t)n * tile->element);
  else if (tile->element == 4)
    for (int i = 0; i < n; i++) *(Word4 *)(to + i * next) = ((const Word4 *)buffer)[i];
  else
    for (int i = 0; i < n; i++) *(Word8 *)(to + i * next) = ((const Word8 *)buffer)[i];
}
