#ifndef THNN_CONVOLUTION_IMPLICIT_GEMM_H
#define THNN_CONVOLUTION_IMPLICIT_GEMM_H

#include "convolution/packing.h"
#include "gemm/tiles.h"

/* A correlation as an implicit GEMM, whose matrix of patches exists only as a packed input tile:

     target[n, o, q] = bias[o] + sum over channels c, kernel elements t of
                       weight[o, c, t] * source[n, c, patch of q at t]

   M: positions of an output tile. A micro-tile has adjacent positions of one or more target rows.
   N: output channels of a group, in panels of GEMM_NR.
   K: (channel, kernel element), in K-blocks of kBlockChannels channels, at most GEMM_KC terms.

   A task computes a range of output tiles or of panels. Its scratch memory holds

     the packed input tile of an output tile and `packedChannels` channels;
     packed weights, [panel][K-block][k][n], each panel preceded by its biases;
     sums of the micro-tiles of an output tile, [panel][micro-tile][m][n].

   If the weights of all panels of a task and group fit, they are packed once, and output tiles are as large as a packed
   tile of all channels allows. Otherwise output tiles are as large as their sums allow, channels are processed in
   blocks of packedChannels, and the weights of a block and panel are packed immediately before their use.

   A sum depends on kBlockChannels, paddedAxis, the kernel tile and the order of channels. These depend only on sizes;
   the other fields may depend on the number of threads.

   For products in tiles, terms are ordered [kernel element][channel] in a K-block, whose channels are filled with zeros to
   a multiple of TILE_TERMS, and the channels of a packed input tile are innermost. */

typedef struct ImplicitGemmPlan {
  Correlation c;
  bool tiles; /* micro-tiles are products of tiles (gemm/tiles.h) */
  int64_t outputSize[4], kernelSize[4];
  int64_t outputTile[4], kernelTile[4];
  bool weightsResident;   /* the weights of all panels of a task and group are packed at once */
  int64_t packedChannels; /* channels per packed input tile */
  int64_t kBlockChannels; /* channels per K-block */
  int paddedAxis;         /* the axis on which micro-tiles skip kernel elements that read only padding, or -1 */
  int64_t panelsTogether; /* panels that share a packed input tile */
  PackedTile packed;
  int64_t outputTiles, panels; /* counts; panels of all groups */
  bool splitsPanels;           /* tasks are ranges of panels, not of output tiles */
} ImplicitGemmPlan;

/* Rows of adjacent positions in an output tile, at most. Under AVX2 each position is a row with a separate pointer: 128
   micro-tiles (RESIDENT_MICROTILES) of 6 positions. */
#define IMPLICIT_GEMM_ROWS 768

/* The number of micro-tiles of an output tile or image. */
static inline int64_t microtileCount(const int64_t *positions)
{
  const int64_t adjacent = adjacentPositions(positions[3]), rows = elementCount(positions) / adjacent;
  const int R = rowPointerCount(adjacent);
  return R == 1 ? rows * ceilDivide(adjacent, GEMM_MR) : ceilDivide(rows, R);
}

/* The number of channels with these that are zeros. */
static inline int64_t paddedChannels(const ImplicitGemmPlan *p, int64_t channels)
{
  return p->tiles ? wholeTiles(channels) : channels;
}

/* Reals of a packed input tile, with the vector after it that packTile may overwrite. Tiles are loaded from rows after it,
   too. */
static inline int64_t packedTileReals(const ImplicitGemmPlan *p, const int64_t *positions, int64_t channels)
{
  const int64_t pitch = packedTileLayout(p->c.axis, positions, p->kernelTile).channelPitch;
  return (p->tiles ? pitch + GEMM_MR : pitch) * paddedChannels(p, channels) + VL;
}

/* Reals of the packed weights of a panel and `channels` channels, with the biases. */
static inline int64_t packedPanelReals(const ImplicitGemmPlan *p, int64_t channels)
{
  return (paddedChannels(p, channels) * elementCount(p->kernelTile) + 1) * GEMM_NR;
}

/* Sets the plan of p->c, whose target is not empty, for this number of threads. */
void THNN_(implicitGemmPlan)(ImplicitGemmPlan *p, int threads);

/* The weights of one panel and block of channels: output channels outChannel .. outChannel + GEMM_NR - 1 of a group,
   `channels` channels from `channel` on, the kernel elements of `kernel`. */
typedef struct WeightBlock {
  int64_t group, outChannel, channel, channels;
  const Tile *kernel;
} WeightBlock;

/* Parts of a K-block: the kernel elements of a part are adjacent terms of a channel. A part is an element of the padded
   axis, so that the elements that a micro-tile does not skip are one range of terms, and in tiles any element. */
static inline int64_t kernelParts(const ImplicitGemmPlan *p, const Tile *kernel)
{
  if (p->tiles) return elementCount(kernel->size);
  return p->paddedAxis < 0 ? 1 : kernel->size[p->paddedAxis];
}

/* Packs biases and weights, `width` output channels per row. */
void THNN_(packWeights)(const ImplicitGemmPlan *p, const WeightBlock *block, int64_t width, real *packed);

/* Packs the weights of a K-block, a row of output channels per term, as [channel][kernel element]. If channels are
   innermost in memory, kernel elements may be divided into `parts` parts: [part][channel][kernel element of the
   part]. */
void THNN_(packKBlock)(const Correlation *c, const real *weight, int64_t lanes, int64_t width, int64_t channels,
                       const Tile *kernel, int64_t parts, real *packed);

/* The memory that packWeights reads, or an empty region if prefetching is of no use. */
PrefetchRegion THNN_(weightRegion)(const Correlation *c, const WeightBlock *block);

/* Stores at most VL finished positions of a row, [position][n]. */
void THNN_(storePositions)(const Correlation *c, const real *sum, int64_t width, real *target, int64_t positions,
                           int64_t lanes);

/* The estimated time in multiply-adds of vectors, which depends only on sizes. */
double THNN_(implicitGemmCost)(const Correlation *correlation);

/* The same correlation of bfloat16 as one of pairs of channels, of which a group has an even number. Sums of pairs are
   computed where multipliesPairs(). */
Correlation THNN_(correlationOfPairs)(const Correlation *correlation);

/* Overwrites the target. A pointwise correlation becomes a plain matrix product. */
void THNN_(implicitGemm)(const Correlation *correlation);

#endif
