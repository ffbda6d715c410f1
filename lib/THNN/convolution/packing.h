#ifndef THNN_CONVOLUTION_PACKING_H
#define THNN_CONVOLUTION_PACKING_H

#include "convolution/correlation.h"
#include "gemm/microkernel.h"
#include "gemm/transpose.h"

/* A packed input tile is a copy of the source with its zero padding, for a tile of target positions and some channels.
   Micro-kernels read patches from it without bounds checks and without unfolding them.

   Rows of a packed tile are split by the residue of the width coordinate modulo the stride. Adjacent positions are then
   adjacent in memory whatever the stride. Coordinates of the other axes that no kernel element reads, because windows
   or the elements of a window are far apart, are left out: along these axes a packed tile has its own stride and
   dilation. */

/* A range of positions or of kernel elements on every axis. */
typedef struct Tile {
  int64_t start[4], size[4];
} Tile;

typedef struct PackedTile {
  int64_t residues; /* number of residues; element t of the last kernel axis reads residue t % residues */
  int64_t stride[3], dilation[3]; /* between positions and between kernel elements, in packed coordinates */
  int64_t pitch[4];     /* between packed coordinates of the first three axes; between residues on the last */
  int64_t channelPitch; /* between channels */
} PackedTile;

/* The size limit of packed tiles, which stay in L2. */
#define PACKED_TILE_BYTES ((int64_t)576 << 10)

/* The size limit of kernel tiles. */
#define KERNEL_TILE_ELEMENTS 128

/* The most residues of a packed tile. A packed tile of a kernel tile has at most one per kernel element; an algorithm
   that packs a whole kernel must not be chosen for more. */
#define PACKED_TILE_RESIDUES KERNEL_TILE_ELEMENTS

/* Instantiates X for 1 to 9 accumulators, because only a constant number of them stays in registers. */
#define UP_TO_9(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9)

/* The next smaller tile size: it divides `size` into at least one more tile, of about equal sizes. */
static inline int64_t smallerTile(int64_t size, int64_t tile)
{
  const int64_t next = ceilDivide(size, ceilDivide(size, tile) + 1);
  return next < tile ? next : tile - 1;
}

/* Tile number i of the tiles of tileSize that cover `size`. */
static inline Tile tileAt(const int64_t *size, const int64_t *tileSize, int64_t i)
{
  Tile tile;
  for (int d = 3; d >= 0; d--) {
    int64_t tiles = ceilDivide(size[d], tileSize[d]);
    tile.start[d] = i % tiles * tileSize[d];
    tile.size[d] = MIN(tileSize[d], size[d] - tile.start[d]);
    i /= tiles;
  }
  return tile;
}

static inline int64_t tileCount(const int64_t *size, const int64_t *tileSize)
{
  int64_t tiles = 1;
  for (int d = 0; d < 4; d++) tiles *= ceilDivide(size[d], tileSize[d]);
  return tiles;
}

/* A product of sizes that saturates at SATURATED_REALS reals, more than any packed tile may have. */
#define SATURATED_REALS ((int64_t)1 << 28)
static inline int64_t saturatingProduct(int64_t a, int64_t b)
{
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > SATURATED_REALS ? SATURATED_REALS : product;
}

/* Packed coordinates of axis d, one of the first three, that `positions` positions and `kernel` kernel elements
   span. */
static inline int64_t packedTileExtent(const PackedTile *packed, int d, int64_t positions, int64_t kernel)
{
  return (positions - 1) * packed->stride[d] + (kernel - 1) * packed->dilation[d] + 1;
}

/* The layout of a packed tile for tiles of positions and of kernel elements of these sizes. */
static inline PackedTile packedTileLayout(const CorrelationAxis *axis, const int64_t *positions,
                                          const int64_t *kernel)
{
  const CorrelationAxis *last = axis + 3;
  PackedTile packed = {.residues = MIN(last->stride / gcd(last->stride, last->dilation), kernel[3])};
  packed.pitch[3] = positions[3] + (kernel[3] - 1) * last->dilation / last->stride;
  int64_t reals = saturatingProduct(packed.pitch[3], packed.residues);
  for (int d = 2; d >= 0; d--) {
    const CorrelationAxis *a = axis + d;
    const int64_t window = axisExtent(a, 1, kernel[d]), span = axisExtent(a, positions[d], 1);
    packed.stride[d] = positions[d] > 1 ? MIN(a->stride, window) : a->stride;
    packed.dilation[d] = kernel[d] > 1 ? MIN(a->dilation, span) : a->dilation;
    packed.pitch[d] = reals;
    reals = saturatingProduct(reals, packedTileExtent(&packed, d, positions[d], kernel[d]));
  }
  /* An odd number of cache lines, so that the channels of one pixel map to different cache sets. */
  packed.channelPitch = (ceilDivide(reals, REALS_PER_LINE) | 1) * REALS_PER_LINE;
  return packed;
}

/* Offset from a position to the source element that kernel element t reads for it. */
static inline int64_t packedTileKernelOffset(const PackedTile *packed, const CorrelationAxis *axis,
                                             const int64_t *t)
{
  int64_t offset =
      modulo(t[3], packed->residues) * packed->pitch[3] + quotient(t[3] * axis[3].dilation, axis[3].stride);
  for (int d = 0; d < 3; d++) offset += t[d] * packed->dilation[d] * packed->pitch[d];
  return offset;
}

/* Offset of the source element that kernel element 0 reads for position q of the tile. */
static inline int64_t packedTilePositionOffset(const PackedTile *packed, const int64_t *q)
{
  int64_t offset = q[3];
  for (int d = 0; d < 3; d++) offset += q[d] * packed->stride[d] * packed->pitch[d];
  return offset;
}

/* Sets the size of kernel tiles so that a tile has at most KERNEL_TILE_ELEMENTS elements, and one channel of the
   packed tile for `width` positions at most PACKED_TILE_BYTES. Reduces the width only if kernel tiles of one element
   are not small enough. */
void THNN_(correlationSplitKernel)(const Correlation *correlation, int64_t *kernelTile, int64_t *width);

/* Packs `channels` channels, starting at `source`. Up to VL reals after the last channel are overwritten. The layout
   has at most PACKED_TILE_RESIDUES residues. */
void THNN_(packTile)(const Correlation *correlation, const PackedTile *packed, const Tile *positions,
                     const Tile *kernel, const real *source, int64_t channels, real *memory);

#endif
