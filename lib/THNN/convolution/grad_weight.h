#ifndef THNN_CONVOLUTION_GRAD_WEIGHT_H
#define THNN_CONVOLUTION_GRAD_WEIGHT_H

#include "convolution/packing.h"

/* gradWeight[o, c, t] += scale * sum over n, q of target[n, o, q] * source[n, c, patch of q at t]

   as an implicit GEMM; the target is gradOutput, which is read:

   M: (channel, kernel element). The patches of a packed input tile are read in place.
   N: output channels of a group, in panels of GEMM_NR.
   K: positions, in output tiles of at most TILE_POSITIONS, each of which is a K-block.

   A task owns some output channels, input channels and kernel elements of gradWeight and goes through all output
   tiles, so no sum is reduced over tasks. Its scratch memory holds the packed input tile, the gradients of the
   output tile as [panel][position][n], and sums as [panel][micro-tile][m][n].

   A small gradWeight has few tasks; sums over parts of its positions are added instead (sumParts in grad_weight.c).

   A sum of finite products depends only on the output tiles, and these only on sizes. How gradWeight is divided into
   tasks may depend on the number of threads. */

#define TILE_POSITIONS 256 /* positions of an output tile, at most */

typedef struct GradWeightPlan {
  Correlation c;
  int64_t outputSize[4], kernelSize[4];
  int64_t outputTile[4], kernelTile[4];
  int64_t panels, channels; /* per task */
  PackedTile packed;
  int64_t panelTasks, channelTasks, kernelTasks; /* parts into which tasks divide gradWeight */
} GradWeightPlan;

/* Sets the plan of p->c, whose source, target and weight are not empty, for this number of threads. */
void THNN_(gradWeightPlan)(GradWeightPlan *p, int threads);

/* The tasks of the plan. */
static inline int64_t gradWeightTasks(const GradWeightPlan *p)
{
  return p->c.groups * p->panelTasks * p->channelTasks * p->kernelTasks;
}

/* The estimated time of the plan in multiply-adds of vectors. */
double THNN_(gradWeightCost)(const GradWeightPlan *p);

/* --- rows of micro-tiles ----------------------------------------------------------------------------------------- */

/* If the kernel elements of a residue are adjacent in a packed tile, they share a row pointer, and the row pointers of
   each residue, of all channels, are a row group; each covers Q kernel elements. Otherwise Q is 1, and all row pointers
   are one row group. "Row" below is a row pointer.

   Near one end of the target's axis, positions read only padding through some kernel elements of that axis; for the
   outermost kernel axis, micro-tiles leave these positions out. Therefore the R row pointers of a micro-tile share
   their element of this axis where possible. The order of rows is [block of R channels][element of the outermost kernel
   axis][channel of the block][elements of the other axes]. */
typedef struct RowGroup {
  int64_t residue;
  int64_t
      lastSize; /* row pointers along the last kernel axis: its size, or 1 if its elements share a row pointer */
  int64_t rows, channels;
  int64_t outer, inner; /* rows per channel: elements of the outermost kernel axis times elements of the others */
  int Q, R;
} RowGroup;

/* The outermost kernel axis: the first with more than one kernel element, or 3. */
static inline int outermostKernelAxis(const Correlation *c)
{
  int d = 0;
  while (d < 3 && c->axis[d].kernel == 1) d++;
  return d;
}

/* The number of kernel elements of a residue that share a row pointer. */
static inline int64_t adjacentElements(const Correlation *c, const PackedTile *packed, int64_t kernel,
                                       int64_t residue)
{
  const int64_t n = (kernel - residue - 1) / packed->residues + 1;
  return packed->residues * c->axis[3].dilation == c->axis[3].stride && n <= GEMM_MR ? n : 1;
}

static inline int64_t rowGroupCount(const Correlation *c, const PackedTile *packed, const int64_t *kernel)
{
  return adjacentElements(c, packed, kernel[3], 0) > 1 ? packed->residues : 1;
}

static inline RowGroup rowGroupAt(const Correlation *c, const PackedTile *packed, const int64_t *kernel,
                                  int64_t channels, int64_t residue)
{
  const bool adjacent = adjacentElements(c, packed, kernel[3], 0) > 1;
  RowGroup g = {.residue = residue,
                .lastSize = adjacent ? 1 : kernel[3],
                .Q = adjacent ? (int)adjacentElements(c, packed, kernel[3], residue) : 1};
  g.R = rowPointerCount(g.Q);
  const int outer = outermostKernelAxis(c);
  g.channels = channels;
  g.inner = kernel[0] * kernel[1] * kernel[2] * g.lastSize;
  g.rows = channels * g.inner;
  g.outer = outer < 3 ? kernel[outer] : 1;
  g.inner /= g.outer;
  return g;
}

/* The number of micro-tiles that a task has per panel; *rows is the number of their row pointers. */
static inline int64_t taskMicrotiles(const GradWeightPlan *p, int64_t channels, int64_t *rows)
{
  int64_t tiles = 0;
  *rows = 0;
  for (int64_t residue = 0; residue < rowGroupCount(&p->c, &p->packed, p->kernelTile); residue++) {
    const RowGroup g = rowGroupAt(&p->c, &p->packed, p->kernelTile, channels, residue);
    tiles += ceilDivide(g.rows, g.R);
    *rows += g.rows;
  }
  return tiles;
}

/* --- operands ---------------------------------------------------------------------------------------------------- */

/* Packs the gradients of an output tile, [position][n]: `lanes` target channels from `channel` on. */
void THNN_(packGradients)(const Correlation *c, const Tile *output, int64_t channel, int64_t lanes, int64_t width,
                          real *packed);

/* The memory that packGradients reads, while the positions of the tile are contiguous. */
PrefetchRegion THNN_(gradientRegion)(const Correlation *c, const Tile *output, int64_t channel, int64_t lanes);

/* --- algorithms -------------------------------------------------------------------------------------------------- */

/* Computes task number `index` of the plan. */
void THNN_(gradWeightImplicitGemm)(const GradWeightPlan *p, int64_t index, GradWeightUpdate update);

/* With few positions and many weights, as for 7x7 images, most of the time is the access to gradWeight. Therefore N
   is the entries of gradWeight in memory order, M is output channels, and patches are unfolded (im2col) for a block of
   channels and an output tile. */
bool THNN_(gradWeightUnfoldedSuits)(const GradWeightPlan *p);
void THNN_(gradWeightUnfolded)(const GradWeightPlan *p, int threads, int64_t work, GradWeightUpdate update);

/* The same for tensors of bfloat16, in tiles (gemm/tiles.h), where they suit. */
#if HAS_BFLOAT16_MICROKERNEL
bool THNN_(gradWeightTilesSuit)(const Convolution *geometry);
void THNN_(gradWeightTiles)(const Correlation *c, GradWeightUpdate update, int64_t work);
#else
static inline bool THNN_(gradWeightTilesSuit)(const Convolution *geometry) { return (void)geometry, false; }
static inline void THNN_(gradWeightTiles)(const Correlation *c, GradWeightUpdate update, int64_t work)
{
  (void)c, (void)update, (void)work;
}
#endif

/* Winograd's method (winograd.h). Returns false, without a result, if another algorithm should compute gradWeight. A
   new gradWeight must have no kernel element that reads only padding. */
bool THNN_(winogradGradWeight)(const Correlation *c, GradWeightUpdate update);

#endif
