/* Geometry: joined dimensions, layout, and the grid of tiles. */

#include "batch_norm/tile.h"

/* A tile of a channels-first tensor whose stages do not sum has about TILE_ELEMENTS / 2 elements. Otherwise a tile has
   all positions of its channels, unless that leaves a tensor of at least SUM_CHUNK elements with fewer than MIN_TILES
   tiles, too few for several threads: then positions are divided. In channels-last tensors, blocks have about
   TILE_ELEMENTS elements of all channels; they are smaller if that gives about MIN_TILES / 2 tiles, and larger if
   scratch memory cannot hold the channel pairs of all blocks. Channels-first tiles of several small channels have at
   most SMALL_TILE_ELEMENTS elements, so that the square roots and divisions at the end of one tile overlap with the
   sums of the next. */
#define TILE_ELEMENTS 65536
#define SMALL_TILE_ELEMENTS 8192
#define MIN_TILES 16

/* Channels-first operands of more bytes, which the second-level cache does not hold, are prefetched in software:
   hardware prefetchers do not follow the jumps between the planes of a channel. */
#define PREFETCHED_BYTES (2 << 20)

static void setGrid(BatchNorm *b)
{
  const bool channelsFirst = b->layout == LAYOUT_CHANNELS_FIRST, channelsLast = b->layout == LAYOUT_CHANNELS_LAST;
  const int64_t C = b->channels, positions = b->positions, elements = C * positions;
  const int64_t length = b->dims > 0 ? b->size[b->dims - 1] : 1;

  int64_t channels = channelsLast ? MAX_TILE_CHANNELS : GATHER_CHANNELS;
  if (channelsFirst)
    channels = b->reduces ? MIN(C / (2 * MIN_TILES), SMALL_TILE_ELEMENTS / positions) : TILE_ELEMENTS / 2 / length;
  b->tileChannels = MAX(1, MIN(channels, MIN(C, MAX_TILE_CHANNELS)));
  b->channelTiles = ceilDivide(C, b->tileChannels);

  int64_t blocks = 1;
  if (channelsFirst && !b->reduces) {
    blocks = ceilDivide(positions * b->tileChannels, TILE_ELEMENTS / 2);
  } else if (elements >= SUM_CHUNK && b->channelTiles < MIN_TILES) {
    blocks = MIN(ceilDivide(MIN_TILES, b->channelTiles), positions / 1024);
    if (channelsLast) {
      blocks = MAX(ceilDivide(MIN_TILES / 2, b->channelTiles), elements / TILE_ELEMENTS);
      blocks = MIN(blocks, positions / 32);
      /* The two sums per channel of all blocks fill at most half of the scratch memory. */
      blocks = MIN(blocks, (int64_t)(THNN_SCRATCH_LIMIT / 2 / (2 * sizeof(accreal))) / C);
    }
    blocks = MAX(1, blocks);
  }
  b->blockPositions = ceilDivide(positions, blocks);
  if (channelsFirst && length <= SUM_CHUNK) b->blockPositions = ceilDivide(b->blockPositions, length) * length;
  b->positionBlocks = ceilDivide(positions, b->blockPositions);
}

void THNN_(batchNormInit)(BatchNorm *b, THTensor *x, THTensor *g, THTensor *out, bool reduces)
{
  const THTensor *shape = x != NULL ? x : g;
  THTensor *tensors[] = {x, g, out};
  Operand *operands[] = {&b->x, &b->g, &b->out};
  int present = 0;
  bool channelsFirst = true, channelsLast = true;
  for (int i = 0; i < 3; i++) {
    operands[i]->data = tensors[i] != NULL ? TH_DATA(tensors[i]) : NULL;
    operands[i]->type = tensors[i] != NULL ? tensors[i]->type : THNN_TYPE_OTHER;
    operands[i]->channelStride = tensors[i] != NULL && shape->size[1] > 1 ? tensors[i]->stride[1] : 1;
    channelsLast = channelsLast && operands[i]->channelStride == 1;
    present += tensors[i] != NULL;
  }

  b->channels = shape->size[1];
  b->positions = 1;
  b->dims = 0;
  int previous = -1; /* the tensor dimension before d, channels and sizes of 1 left out */
  for (int d = 0; d < shape->ndim; d++) {
    const int64_t size = shape->size[d];
    if (d == 1) continue;
    b->positions *= size;
    if (size == 1) continue;
    bool joins = previous >= 0;
    for (int i = 0; i < 3 && joins; i++)
      joins = tensors[i] == NULL || tensors[i]->stride[previous] == size * tensors[i]->stride[d];
    if (!joins) b->size[b->dims++] = 1;
    b->size[b->dims - 1] *= size;
    channelsFirst = true;
    for (int i = 0; i < 3; i++)
      if (tensors[i] != NULL) {
        operands[i]->stride[b->dims - 1] = tensors[i]->stride[d];
        channelsFirst = channelsFirst && tensors[i]->stride[d] == 1;
      }
    previous = d;
  }

  b->layout = channelsFirst && b->dims > 0 && b->dims <= 2 ? LAYOUT_CHANNELS_FIRST
              : channelsLast && b->dims <= 1               ? LAYOUT_CHANNELS_LAST
                                                           : LAYOUT_STRIDED;
  b->reduces = reduces;
  b->channelTiles = 0;
  b->positionBlocks = 1;
  if (b->channels * b->positions > 0) setGrid(b);

  /* Non-temporal stores only for outputs that no cache holds: large outputs that are not in place. Channels-last rows
     must be aligned, too. Elements of a half type are stored by the conversion. */
  const uintptr_t start = (uintptr_t)b->out.data;
  const int64_t bytes = present * b->channels * b->positions * (int64_t)sizeof(real);
  b->prefetches = b->layout == LAYOUT_CHANNELS_FIRST && bytes > PREFETCHED_BYTES && !isHalf(shape->type);
  b->nonTemporal = thnn_exceedsLastLevelCache(bytes) && out != NULL && b->out.data != b->x.data &&
                   b->out.data != b->g.data && start % sizeof(real) == 0 && !isHalf(b->out.type);
  if (b->layout == LAYOUT_CHANNELS_LAST)
    b->nonTemporal &= start % VBYTES == 0 && b->dims > 0 && b->out.stride[0] % VL == 0;
}
