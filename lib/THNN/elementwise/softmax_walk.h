#ifndef THNN_ELEMENTWISE_SOFTMAX_WALK_H
#define THNN_ELEMENTWISE_SOFTMAX_WALK_H

#include "runtime/check.h"
#include "runtime/parallel.h"

/* Walks over the vectors of channels of tensors (C), (N, C), (C, H, W) or (N, C, H, W), one vector for each
   position (n, h, w). Where channels are neighbours in memory, and enough of them, a task is some `rows`, one
   vector each. Otherwise it is a tile, some positions side by side, which a kernel goes through channel by channel with
   the positions in the lanes. What a pass leaves for the next one, gathered channels among them, is kept in scratch
   memory where it fits: channel c at kept + c * step. Where it does not fit, step is 0. */

#define THNN_CHANNELS_TENSORS 3
#define THNN_CHANNELS_WIDTH 256 /* positions of a tile at most: as many floats as sixteen registers hold */
#define THNN_CHANNELS_GROUP 16  /* lanes are a multiple of it */

#define THNN_CHECK_CHANNELS(tensor)                              \
  THNN_CHECK((tensor)->ndim >= 1 && (tensor)->ndim <= 4, tensor, \
             "expected 1 to 4 dimensions (C), (N, C), (C, H, W) or (N, C, H, W), got %s", THNN_shape(tensor))

typedef struct THNNChannels {
  int64_t channels, tasks, elements;
  int64_t size[3]; /* positions, innermost first, neighbouring dimensions merged */
  int64_t step;    /* elements, or 0 */
  size_t scratch;  /* bytes that a tensor's kept channels take */
  size_t element;
  int count;
  int width; /* positions of a task */
  bool rows;
  bool streams; /* the operands are too large for the caches, see streaming.h */
  struct {
    char *data;
    int64_t channel, position[3]; /* strides in bytes */
  } operand[THNN_CHANNELS_TENSORS];
} THNNChannels;

/* `kept`: how many tensors have their channels kept. */
void thnn_channelsBegin(THNNChannels *walk, size_t element, int kept, int count, const THNNTensor *const *tensor);

typedef struct THNNTile {
  int64_t channels, step;
  size_t element;
  int positions, lanes; /* lanes: positions rounded up to whole groups */
  bool streams;
  struct {
    char *data;
    int64_t channel, position;
    bool direct; /* a channel's lanes can be used where they are */
  } operand[THNN_CHANNELS_TENSORS];
} THNNTile;

THNNTile thnn_channelsTile(const THNNChannels *walk, int64_t task);

/* The row of tensor k at position i of the task. */
static inline void *thnn_tileRow(const THNNTile *tile, int k, int i)
{
  return tile->operand[k].data + i * tile->operand[k].position;
}

/* A channel of tensor k to a buffer, or from it, position by position. */
void thnn_tileGather(const THNNTile *tile, int k, int64_t channel, void *buffer);
void thnn_tileScatter(const THNNTile *tile, int k, int64_t channel, const void *buffer);

/* A channel of tensor k to read: in place, or gathered in the buffer with zeros in the lanes left over. */
static inline const void *thnn_tileGet(const THNNTile *tile, int k, int64_t channel, void *buffer)
{
  if (tile->operand[k].direct) return tile->operand[k].data + channel * tile->operand[k].channel;
  thnn_tileGather(tile, k, channel, buffer);
  return buffer;
}

/* The same in a later pass: what was gathered may still be there. */
static inline const void *thnn_tileAgain(const THNNTile *tile, int k, int64_t channel, void *buffer)
{
  return tile->step && !tile->operand[k].direct ? buffer : thnn_tileGet(tile, k, channel, buffer);
}

/* Fetches the channel of the next tile, which lies beside this one. */
static inline void thnn_tileFetch(const THNNTile *tile, int k, int64_t channel)
{
  if (!tile->operand[k].direct) return;
  const int64_t bytes = tile->lanes * (int64_t)tile->element;
  const char *next = tile->operand[k].data + channel * tile->operand[k].channel + bytes;
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(next + i);
}

#endif
