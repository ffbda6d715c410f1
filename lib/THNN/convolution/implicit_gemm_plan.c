#include "convolution/implicit_gemm.h"

/* Limits of the packed weights and sums of a task: with its packed input tile they fit an L2 of 2 MiB. */
#define RESIDENT_WEIGHT_BYTES ((int64_t)1 << 20)
#define RESIDENT_MICROTILES ((int64_t)128)
#define BLOCK_WEIGHT_BYTES ((int64_t)256 << 10)
#define SUM_MICROTILES ((int64_t)(((int64_t)1 << 20) / (2 * VBYTES * GEMM_MR)))

/* Upper bounds for one output tile. */
typedef struct TileLimits {
  int64_t packedBytes, microtiles;
} TileLimits;

static bool tileFits(const ImplicitGemmPlan *p, const int64_t *tile, TileLimits limits)
{
  return packedTileReals(p, tile, p->packedChannels) * (int64_t)sizeof(real) <= limits.packedBytes &&
         microtileCount(tile) <= limits.microtiles &&
         elementCount(tile) / adjacentPositions(tile[3]) <= IMPLICIT_GEMM_ROWS;
}

/* Grows the output tile within the limits, along the axes that are innermost in memory first. */
static void growTile(ImplicitGemmPlan *p, TileLimits limits)
{
  for (int d = 3; d >= 0; d--) {
    int64_t tile[4];
    memcpy(tile, p->outputTile, sizeof tile);
    const int64_t step = d == 3 ? GEMM_MR : 1;
    while (p->outputTile[d] < p->outputSize[d]) {
      tile[d] = MIN((p->outputTile[d] / step + 1) * step, p->outputSize[d]);
      if (!tileFits(p, tile, limits)) break;
      p->outputTile[d] = tile[d];
    }
    if (p->outputTile[d] < p->outputSize[d]) {
      if (d < 3) p->outputTile[d] = ceilDivide(p->outputSize[d], ceilDivide(p->outputSize[d], p->outputTile[d]));
      break;
    }
  }
}

/* Reals that are packed for an output tile, with the halo once per kernel tile. */
static double packedReals(const ImplicitGemmPlan *p)
{
  return (double)packedTileReals(p, p->outputTile, MAX(p->c.inChannels, 1)) *
         (double)tileCount(p->kernelSize, p->kernelTile);
}

/* Reals that are packed for all output tiles: input, and weights unless they are resident. */
static double packingCost(const ImplicitGemmPlan *p)
{
  const double input = (double)packedTileReals(p, p->outputTile, MAX(p->c.inChannels, 1)),
               weights = p->weightsResident
                             ? 0
                             : (double)(p->c.outChannels * p->c.inChannels * elementCount(p->kernelSize));
  return (input + weights) * (double)tileCount(p->outputSize, p->outputTile);
}

/* Sets the output tile. Deep tiles have less halo in depth but more in height, so the tile is grown from several
   depths, and the one with the lowest packing cost is taken. */
static void chooseTile(ImplicitGemmPlan *p, TileLimits limits)
{
  int64_t start[4];
  memcpy(start, p->outputTile, sizeof start);
  growTile(p, limits);
  for (int64_t depth = p->c.axis[1].kernel > 1 ? p->outputSize[1] : 1; depth > 1;
       depth = smallerTile(p->outputSize[1], depth)) {
    ImplicitGemmPlan deep = *p;
    memcpy(deep.outputTile, start, sizeof start);
    deep.outputTile[1] = depth;
    if (!tileFits(p, deep.outputTile, limits)) continue;
    growTile(&deep, limits);
    if (packingCost(&deep) < packingCost(p)) *p = deep;
  }
}

/* Makes output tiles smaller until threads share them evenly, and counts them. */
static void balanceTiles(ImplicitGemmPlan *p, int threads)
{
  for (;;) {
    p->outputTiles = tileCount(p->outputSize, p->outputTile);
    if (p->splitsPanels || p->outputTiles % threads == 0 || p->outputTiles >= 8 * threads) break;
    int d = 0;
    while (d < 4 && p->outputTile[d] == 1) d++;
    if (d == 4 || (d == 3 && p->outputTile[3] <= GEMM_MR)) break;
    if (d < 3) p->outputTile[d] = smallerTile(p->outputSize[d], p->outputTile[d]);
    else
      p->outputTile[d] =
          smallerTile(ceilDivide(p->outputSize[d], GEMM_MR), ceilDivide(p->outputTile[d], GEMM_MR)) * GEMM_MR;
  }
}

/* Sets panelsTogether and returns the most micro-tiles of an output tile for which the sums of these panels fit. With
   more panels together the input is packed less often; with larger output tiles the weights are packed less often. */
static int64_t choosePanelsTogether(ImplicitGemmPlan *p, int64_t panels, int64_t input, int64_t weights)
{
  const int64_t allTiles = microtileCount(p->outputSize);
  int64_t microtiles = RESIDENT_MICROTILES;
  double least = INFINITY;
  for (int64_t parts = 1; parts <= panels; parts++) {
    const int64_t together = ceilDivide(panels, parts), most = SUM_MICROTILES / together;
    if (most < microtileCount(p->outputTile)) continue;
    const double cost = (double)input * (double)parts + (double)weights * (double)ceilDivide(allTiles, most);
    if (cost >= least) continue;
    least = cost;
    microtiles = most;
    p->panelsTogether = together;
  }
  return microtiles;
}

/* Returns the outermost kernel axis if positions near its ends read padding, else -1. That axis is outermost in a
   K-block, so that the kernel elements that read the source are one range. Micro-tiles of several whole rows skip
   nothing. */
static int choosePaddedAxis(const ImplicitGemmPlan *p)
{
  const CorrelationAxis *axis = p->c.axis;
  int d = 0;
  while (d < 3 && axis[d].kernel == 1) d++;
  const CorrelationAxis *outer = axis + d;
  const bool readsPadding =
      outer->offset < 0 || outer->offset + axisExtent(outer, outer->targetSize, outer->kernel) > outer->sourceSize;
  return d < 3 && p->kernelTile[d] >= outer->kernel && p->outputSize[3] > GEMM_MR / 2 && readsPadding ? d : -1;
}

void THNN_(implicitGemmPlan)(ImplicitGemmPlan *p, int threads)
{
  const Correlation *c = &p->c;
  const int64_t panelsOfGroup = ceilDivide(c->outChannels, GEMM_NR), realBytes = sizeof(real);
  for (int d = 0; d < 4; d++) {
    p->outputSize[d] = c->axis[d].targetSize;
    p->kernelSize[d] = c->axis[d].kernel;
    p->outputTile[d] = 1;
  }
  int64_t width = MIN(p->outputSize[3], 4 * GEMM_MR);
  THNN_(correlationSplitKernel)(c, p->kernelTile, &width);
  p->outputTile[3] = width;
  const int64_t elements = elementCount(p->kernelTile), channels = MAX(c->inChannels, 1);
  p->tiles = c->pairs && elements <= GEMM_KC / TILE_TERMS && multipliesTiles();
  const int64_t step = p->tiles ? TILE_TERMS : 1; /* of channels */
  p->kBlockChannels = MIN(GEMM_KC / elements / step * step, paddedChannels(p, channels));
  while (p->kBlockChannels > step &&
         packedTileReals(p, p->outputTile, p->kBlockChannels) * realBytes > PACKED_TILE_BYTES)
    p->kBlockChannels = ceilDivide(p->kBlockChannels, 2 * step) * step;

  /* Every task packs its part of the divided operand and all of the other one, so the larger operand is divided. */
  const int64_t weights = c->outChannels * c->inChannels * elementCount(p->kernelSize),
                input = elementCount(p->outputSize) * c->inChannels;
  p->panels = c->groups * panelsOfGroup;
  p->splitsPanels = p->panels >= threads && (weights > input || microtileCount(p->outputSize) < 4 * threads);
  const int64_t panels = MIN(p->splitsPanels ? ceilDivide(p->panels, threads) : p->panels, panelsOfGroup);

  p->weightsResident = elements == elementCount(p->kernelSize) &&
                       panels * packedPanelReals(p, channels) * realBytes <= RESIDENT_WEIGHT_BYTES &&
                       packedTileReals(p, p->outputTile, channels) * realBytes <= PACKED_TILE_BYTES;
  p->panelsTogether = panels;
  p->packedChannels = p->weightsResident ? channels : p->kBlockChannels;
  TileLimits limits = {PACKED_TILE_BYTES / 2, RESIDENT_MICROTILES};
  if (!p->weightsResident)
    limits = (TileLimits){PACKED_TILE_BYTES, choosePanelsTogether(p, panels, input, weights)};
  chooseTile(p, limits);
  balanceTiles(p, threads);
  p->packed = packedTileLayout(c->axis, p->outputTile, p->kernelTile);
  p->paddedAxis = choosePaddedAxis(p);
  while (!p->weightsResident && p->packedChannels < channels) {
    const int64_t more = p->packedChannels + p->kBlockChannels;
    if (packedTileReals(p, p->outputTile, more) * realBytes > PACKED_TILE_BYTES ||
        more * elements * GEMM_NR * realBytes > BLOCK_WEIGHT_BYTES)
      break;
    p->packedChannels = more;
  }
}

double THNN_(implicitGemmCost)(const Correlation *c)
{
  ImplicitGemmPlan p = {.c = *c};
  THNN_(implicitGemmPlan)(&p, 1);
  const double tiles = (double)p.outputTiles * (double)c->groups;
  const double panels = (double)ceilDivide(c->outChannels, GEMM_NR),
               vectors = (double)ceilDivide(c->outChannels, VL);
  const double terms = (double)c->inChannels * (double)elementCount(p.kernelSize);
  /* A micro-tile of few positions waits for its own accumulators. */
  const double rows = (double)microtileCount(p.outputTile) * GEMM_MR / 2 + (double)elementCount(p.outputTile) / 2;
  const double packed = packedReals(&p) * ceil(panels / (double)p.panelsTogether);
  const double weights = p.weightsResident ? 0 : vectors * terms;
  return tiles * (rows * vectors * terms + packed / 2 + weights);
}
