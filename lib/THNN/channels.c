#include "channels.h"

#include <string.h>

#define TILES_BYTES ((int64_t)256 << 10) /* of a task: they stay in the second-level cache */
#define ROWS_FROM 32                     /* fewer channels leave vectors mostly empty */
#define ROWS_ELEMENTS 4096

void thnn_channelsBegin(THNNChannels *walk, size_t element, int count, const THNNTensor *const *tensor)
{
  const int ndim = tensor[0]->ndim, channel = ndim == 2 || ndim == 4 ? 1 : 0;
  const int64_t bytes = (int64_t)element;
  int n = 0;
  walk->channels = tensor[0]->size[channel];
  walk->elements = THNNTensor_numel(tensor[0]);
  walk->element = element;
  walk->rows = walk->channels >= ROWS_FROM;
  for (int d = 0; d < 3; d++) walk->size[d] = 1;
  for (int k = 0; k < count; k++) {
    walk->operand[k].data = tensor[k]->data;
    walk->operand[k].channel = tensor[k]->stride[channel] * bytes;
    for (int d = 0; d < 3; d++) walk->operand[k].position[d] = 0;
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
  if (walk->elements == 0) {
    walk->tasks = 0;
    return;
  }
  const int tiles = count - 1;
  if (walk->rows) {
    walk->width = walk->channels < ROWS_ELEMENTS ? (int)(ROWS_ELEMENTS / walk->channels) : 1;
  } else {
    const int64_t fit = TILES_BYTES / (tiles * walk->channels * bytes) & -16, useful = (walk->size[0] + 15) & -16;
    walk->width = THNN_CHANNELS_WIDTH;
    if (walk->width > useful) walk->width = (int)useful;
    if (walk->width > fit) walk->width = fit < 16 ? 16 : (int)fit;
    walk->chunk = (int64_t)THNN_SCRATCH_LIMIT / (tiles * walk->width * bytes);
    if (walk->chunk > walk->channels) walk->chunk = walk->channels;
  }
  walk->tasks = (walk->size[0] + walk->width - 1) / walk->width * walk->size[1] * walk->size[2];
}

static int64_t firstPosition(const THNNChannels *walk, int64_t task)
{
  return task % ((walk->size[0] + walk->width - 1) / walk->width) * walk->width;
}

int thnn_channelsCount(const THNNChannels *walk, int64_t task)
{
  const int64_t rest = walk->size[0] - firstPosition(walk, task);
  return rest < walk->width ? (int)rest : walk->width;
}

void *thnn_channelsRow(const THNNChannels *walk, int64_t task, int k, int i)
{
  const int64_t outer = task / ((walk->size[0] + walk->width - 1) / walk->width);
  return walk->operand[k].data + (firstPosition(walk, task) + i) * walk->operand[k].position[0] +
         outer % walk->size[1] * walk->operand[k].position[1] + outer / walk->size[1] * walk->operand[k].position[2];
}

typedef uint32_t Word4 __attribute__((may_alias));
typedef uint64_t Word8 __attribute__((may_alias));

int64_t thnn_channelsLoad(const THNNChannels *walk, int64_t task, int k, int64_t first, void *tile)
{
  const int n = thnn_channelsCount(walk, task), padding = -n & 15;
  const int64_t rest = walk->channels - first, channels = rest < walk->chunk ? rest : walk->chunk;
  const int64_t step = walk->operand[k].channel, next = walk->operand[k].position[0];
  const size_t bytes = walk->element;
  const char *from = (char *)thnn_channelsRow(walk, task, k, 0) + first * step;
  char *to = tile;
  for (int64_t c = 0; c < channels; c++, from += step, to += (size_t)walk->width * bytes) {
    if (next == (int64_t)bytes || n == 1)
      memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 4)
      for (int i = 0; i < n; i++) ((Word4 *)to)[i] = *(const Word4 *)(from + i * next);
    else
      for (int i = 0; i < n; i++) ((Word8 *)to)[i] = *(const Word8 *)(from + i * next);
    memset(to + (size_t)n * bytes, 0, (size_t)padding * bytes);
  }
  return channels;
}

void thnn_channelsStore(const THNNChannels *walk, int64_t task, int k, int64_t first, const void *tile)
{
  const int n = thnn_channelsCount(walk, task);
  const int64_t rest = walk->channels - first, channels = rest < walk->chunk ? rest : walk->chunk;
  const int64_t step = walk->operand[k].channel, next = walk->operand[k].position[0];
  const size_t bytes = walk->element;
  const char *from = tile;
  char *to = (char *)thnn_channelsRow(walk, task, k, 0) + first * step;
  for (int64_t c = 0; c < channels; c++, from += (size_t)walk->width * bytes, to += step) {
    if (next == (int64_t)bytes || n == 1)
      memcpy(to, from, (size_t)n * bytes);
    else if (bytes == 4)
      for (int i = 0; i < n; i++) *(Word4 *)(to + i * next) = ((const Word4 *)from)[i];
    else
      for (int i = 0; i < n; i++) *(Word8 *)(to + i * next) = ((const Word8 *)from)[i];
  }
}
