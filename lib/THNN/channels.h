#ifndef THNN_CHANNELS_H
#define THNN_CHANNELS_H

#include "check.h"
#include "parallel.h"

/* Walks over the vectors of channels of tensors (C), (N, C), (C, H, W) or (N, C, H, W), one vector for each
   position (n, h, w). Where channels are neighbours in memory, and enough of them, a task is some `rows`. Otherwise
   it is some positions side by side, loaded as a tile [channel][width] whose columns from `count` on are zero;
   a tile has `chunk` channels, all of them unless they are too many for the scratch memory. */

#define THNN_CHANNELS_TENSORS 3
#define THNN_CHANNELS_WIDTH 128 /* a multiple of it suits every vector length */

typedef struct THNNChannels {
  int64_t channels, chunk, tasks, elements;
  int64_t size[3]; /* positions, innermost first, merged */
  int width;       /* positions of a task */
  bool rows;
  size_t element;
  struct {
    char *data;
    int64_t channel, position[3]; /* strides in bytes */
  } operand[THNN_CHANNELS_TENSORS];
} THNNChannels;

#define THNN_CHECK_CHANNELS(tensor)                                                                          \
  THNN_CHECK((tensor)->ndim >= 1 && (tensor)->ndim <= 4, tensor,                                             \
             "expected 1 to 4 dimensions (C), (N, C), (C, H, W) or (N, C, H, W), got %s", THNN_shape(tensor))

/* The last tensor is the output, the others share the scratch memory as tiles. */
void thnn_channelsBegin(THNNChannels *walk, size_t element, int count, const THNNTensor *const *tensor);

/* Positions of the task. */
int thnn_channelsCount(const THNNChannels *walk, int64_t task);
/* Operand k, at position i of the task. */
void *thnn_channelsRow(const THNNChannels *walk, int64_t task, int k, int i);
/* Channels [first, first + walk->chunk), as far as there are any: how many. */
int64_t thnn_channelsLoad(const THNNChannels *walk, int64_t task, int k, int64_t first, void *tile);
void thnn_channelsStore(const THNNChannels *walk, int64_t task, int k, int64_t first, const void *tile);

#endif
