#ifndef THNN_CONVOLUTION_WINOGRAD_H
#define THNN_CONVOLUTION_WINOGRAD_H

#include "convolution/packing.h"
#include "convolution/winograd_kernels.h"

/* Winograd's method for 3x3 kernels (Winograd 1980; Lavin and Gray 2016): 2x2 positions, a Winograd tile, take 16
   products per pair of channels instead of 36. Kernels may have a depth: the slices that a position reads act as
   further channels. They may have a dilation of rows and columns, which divides positions into residue classes.

   The 4x4 source coordinates that a Winograd tile reads, its patch, and the filters are transformed to 16 components
   each. A component of all tiles and channels is a matrix, and so is a component of all filters; their product is
   transformed to positions. The lanes of all transforms are channels. */

/* Components of the patches of Winograd tiles of m x m positions. */
static inline int winogradComponents(int m) { return (m + 2) * (m + 2); }

/* --- images and Winograd tiles --------------------------------------------------------------------------------- */

/* Rows and columns of a kernel with a dilation are computed by residue classes: combinations of one class of rows and
   one of columns, each a correlation without dilation. */
static inline int64_t winogradResidues(const Correlation *c)
{
  return dilationResidues(c->axis + 2) * dilationResidues(c->axis + 3);
}

static inline Correlation winogradResidue(const Correlation *c, int64_t i)
{
  Correlation residue = *c;
  const int64_t columns = dilationResidues(c->axis + 3);
  THNN_(correlationOfDilationResidue)(&residue, 2, i / columns);
  THNN_(correlationOfDilationResidue)(&residue, 3, i % columns);
  return residue;
}

/* Winograd tiles of a residue class: two axes of images (the second may be the depth), rows and columns of tiles. All
   classes have the tiles of the first one, which is the largest. */
static inline void winogradTiles(const Correlation *c, int m, int64_t *tiles)
{
  for (int d = 0; d < 2; d++) tiles[d] = c->axis[d].targetSize;
  for (int d = 2; d < 4; d++)
    tiles[d] = ceilDivide(c->axis[d].targetSize, m * (c->axis[d].dilation / c->axis[d].stride));
}

/* Products along an axis: 4 for two positions, 3 for a single last position. */
static inline int64_t winogradAxisProducts(int64_t positions) { return 2 * positions + positions % 2; }

/* The least number of tiles of a batch in gradWeight, whose sums are over tiles: with fewer of them its rounding errors
   would exceed the implicit GEMM's. */
#define WINOGRAD_LEAST_TILES 48

/* The least number of tiles of a batch in output and gradInput, which transform the weights in each call. With many
   weights the implicit GEMM waits for them, too, so that fewer tiles suffice. */

static inline int64_t winogradLeastTiles(const Correlation *c)
{
  return c->inChannels * c->outChannels >= 1 << 16 ? 16 : WINOGRAD_LEAST_TILES;
}

/* True if Winograd's method is faster than the implicit GEMM, which leaves out padding along the depth, or along the
   height of a kernel without depth. Depends only on sizes; docs/convolution.md has the measurement. */
static inline bool winogradPays(const Correlation *c, int64_t leastTiles)
{
  /* Pairs of a tile and a slice of the kernel that it reads, and of a row of positions and a row of the kernel. */
  int64_t tiles[4], pairs = 0, rows = 0, begin, end;
  winogradTiles(c, 2, tiles);
  const int64_t slices = c->axis[1].kernel, tilesOfSlice = winogradResidues(c) * tiles[2] * tiles[3];
  if (c->inChannels < 16 || c->inChannels > 1024 / slices || c->outChannels < 16) return false;
  if (slices > 1 && c->inChannels * c->outChannels < 512) return false;
  for (int64_t t = 0; t < 3; t++) {
    axisPositions(c->axis + 2, t, &begin, &end);
    rows += slices > 1 ? c->axis[2].targetSize : end - begin;
  }
  /* Transforms of residue classes, whose pixels lie apart, cost more: about what the edges save in products. */
  const int64_t products = winogradResidues(c) > 1 ? 16 * tilesOfSlice
                                                   : winogradAxisProducts(c->axis[2].targetSize) *
                                                         winogradAxisProducts(c->axis[3].targetSize);
  const int64_t ofImplicitGemm = rows * 3 * c->axis[3].targetSize;
  if (5 * products > 4 * ofImplicitGemm) return false;
  for (int64_t t = 0; t < slices; t++) {
    axisPositions(c->axis + 1, t, &begin, &end);
    pairs += tiles[0] * (end - begin) * tilesOfSlice;
  }
  return pairs >= leastTiles * slices * slices;
}

/* Sets `block` to as many tiles as possible, at most `most`: whole rows of tiles, whole images. */
static inline void winogradBlock(const int64_t *tiles, int64_t most, int64_t *block)
{
  for (int d = 0; d < 4; d++) block[d] = 1;
  for (int d = 3; d >= 0; d--) {
    block[d] = ceilDivide(tiles[d], ceilDivide(tiles[d], MIN(most, tiles[d])));
    if (block[d] < tiles[d]) return;
    most = MAX(most / block[d], 1);
  }
}

/* True if Winograd's method is compiled and enabled, and the kernel is 3x3, of any depth, with a dilation of its rows
   and columns that is a multiple of their stride. */
bool THNN_(winogradSuits)(const Correlation *c);

/* The tiles of a block that have some of the components: rows and columns of tiles per image, total tiles, and tiles
   per micro-tile. */
typedef struct WinogradTileSet {
  int64_t rows, columns, count, together;
} WinogradTileSet;

/* Only the last position of a tile needs the last component of an axis; in gradWeight this component is the gradient of
   that position. Tiles whose last position is outside of the image do not have it. The sets of tiles by component:
   [last of the rows][last of the columns]. */
typedef struct WinogradTileSets {
  WinogradTileSet of[2][2];
} WinogradTileSets;

static inline WinogradTileSets winogradTileSets(const Correlation *c, int m, const Tile *block, int64_t microtile)
{
  WinogradTileSets sets;
  int64_t whole[2];
  for (int d = 0; d < 2; d++)
    whole[d] = MAX(MIN(c->axis[2 + d].targetSize / m - block->start[2 + d], block->size[2 + d]), 0);
  for (int y = 0; y < 2; y++)
    for (int x = 0; x < 2; x++) {
      WinogradTileSet *set = &sets.of[y][x];
      set->rows = y ? whole[0] : block->size[2];
      set->columns = x ? whole[1] : block->size[3];
      set->count = block->size[0] * block->size[1] * set->rows * set->columns;
      set->together = ceilDivide(set->count, MAX(ceilDivide(set->count, microtile), 1));
    }
  return sets;
}

/* The tiles that have component i. */
static inline const WinogradTileSet *winogradTilesWith(const WinogradTileSets *sets, int m, int i)
{
  return &sets->of[i / (m + 2) == m + 1][i % (m + 2) == m + 1];
}

/* A row of tiles of a block in a set: the number of its first tile, and its tiles. */
typedef struct WinogradRow {
  int64_t first, tiles;
} WinogradRow;

static inline WinogradRow winogradRowOf(const WinogradTileSet *set, int64_t image, int64_t row)
{
  return (WinogradRow){(image * set->rows + row) * set->columns, row < set->rows ? set->columns : 0};
}

/* The components of the patches of a block of tiles, [component][micro-tile][slice of the kernel][block of VL
   channels][tile of the micro-tile][channel of the block]; a component takes componentStride reals. */
typedef struct WinogradPatches {
  real *data;
  int64_t componentStride;
  WinogradTileSets tiles;
} WinogradPatches;

/* Reals of a strip, the memory in which rows of pixels have their channels in the lanes, for `tiles` tiles of a row. */
static inline int64_t winogradStripReals(int m, int64_t tiles) { return (m + 2) * (m * tiles + 2) * VL; }

/* Transforms the patches of a block of tiles, blocks begin .. end - 1 of VL channels of the slices of the kernel, each
   of which has `channels` channels from `source` on. */
void THNN_(winogradPatches)(const Correlation *c, int m, const Tile *block, const real *source, int64_t channels,
                            int64_t begin, int64_t end, const WinogradPatches *patches, real *strip);

/* Copies pixels first .. first + pixels - 1 of a row of `size` pixels to [pixel][VL], `channels` channels of them.
   Pixels outside of the row are 0. */
void THNN_(winogradRow)(const real *row, int64_t pixelStride, int64_t channelStride, int64_t size, int64_t first,
                        int64_t pixels, int64_t channels, real *to);

/* --- products -------------------------------------------------------------------------------------------------- */

/* Output or gradInput. Returns false, without a result, if the implicit GEMM should compute it. */
bool THNN_(winogradCorrelate)(const Correlation *c);

/* Transforms slice number `slice` of the filters of panel number `panel`, channels `begin` .. `end - 1`, to
   [component][channel][lane]; components are componentStride reals apart. */
void THNN_(winogradWeights)(const Correlation *c, int64_t panel, int64_t slice, int64_t begin, int64_t end,
                            int64_t componentStride, real *to);

#endif
