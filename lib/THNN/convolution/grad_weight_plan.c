#include "convolution/grad_weight.h"

/* Limits of a task's scratch memory. */
#define SUM_BYTES ((int64_t)896 << 10)
#define ROW_BYTES ((int64_t)128 << 10)
#define GRADIENT_PANELS 8 /* panels of gradients, TILE_POSITIONS positions each: 256 KiB at most */

/* Bytes of a row in the tables of offsets, rowInput and rowWeight. */
#define BYTES_PER_ROW 12

static bool taskFits(const GradWeightPlan *p, int64_t channels, int64_t panels)
{
  int64_t rows;
  return taskMicrotiles(p, channels, &rows) * MICROTILE_REALS * panels * (int64_t)sizeof(real) <= SUM_BYTES &&
         rows * BYTES_PER_ROW <= ROW_BYTES &&
         p->packed.channelPitch * channels * (int64_t)sizeof(real) <= PACKED_TILE_BYTES;
}

static void chooseOutputTile(GradWeightPlan *p)
{
  const Correlation *c = &p->c;
  int64_t width = MIN(p->outputSize[3], TILE_POSITIONS);
  THNN_(correlationSplitKernel)(c, p->kernelTile, &width);
  p->outputTile[3] = ceilDivide(p->outputSize[3], ceilDivide(p->outputSize[3], width));
  for (int d = 2; d >= 0 && p->outputTile[d + 1] == p->outputSize[d + 1]; d--) {
    int64_t tile[4];
    memcpy(tile, p->outputTile, sizeof tile);
    for (tile[d] = p->outputSize[d]; tile[d] > 1; tile[d] = smallerTile(p->outputSize[d], tile[d]))
      if (elementCount(tile) <= TILE_POSITIONS &&
          packedTileLayout(c->axis, tile, p->kernelTile).channelPitch * (int64_t)sizeof(real) <=
              PACKED_TILE_BYTES / 16)
        break;
    p->outputTile[d] = tile[d];
  }
}

/* Reals that tasks pack per position: the source once for each range of panels, the gradients once for each range of
   channels. */
static double packingCost(const Correlation *c, int64_t panels, int64_t channels)
{
  return (double)c->inChannels * (double)ceilDivide(ceilDivide(c->outChannels, GEMM_NR), panels) +
         (double)c->outChannels * (double)ceilDivide(c->inChannels, channels);
}

/* Sets the panels and channels of a task: of the largest tasks that fit, the one with the lowest packing cost. */
static void chooseTask(GradWeightPlan *p)
{
  const Correlation *c = &p->c;
  double least = INFINITY;
  for (int64_t panels = MIN(ceilDivide(c->outChannels, GEMM_NR), GRADIENT_PANELS); panels > 0; panels /= 2) {
    int64_t channels = MAX(c->inChannels, 1);
    while (channels > 1 && !taskFits(p, channels, panels)) channels = smallerTile(c->inChannels, channels);
    const double cost = packingCost(c, panels, channels);
    if (cost >= least) continue;
    least = cost;
    p->panels = panels;
    p->channels = channels;
  }
}

/* Makes tasks smaller until threads share them evenly, and counts them. */
static void balanceTasks(GradWeightPlan *p, int threads)
{
  const Correlation *c = &p->c;
  for (;;) {
    p->panelTasks = ceilDivide(ceilDivide(c->outChannels, GEMM_NR), p->panels);
    p->channelTasks = ceilDivide(c->inChannels, p->channels);
    const int64_t tasks = gradWeightTasks(p);
    if (tasks % threads == 0 || tasks >= 4 * threads) break;
    if (p->channels > 16 || (p->panels == 1 && p->channels > 1))
      p->channels = smallerTile(c->inChannels, p->channels);
    else if (p->panels > 1) p->panels = (p->panels + 1) / 2;
    else {
      int longest = 0;
      for (int d = 1; d < 4; d++)
        if (p->kernelTile[d] > p->kernelTile[longest]) longest = d;
      if (p->kernelTile[longest] == 1) break;
      p->kernelTile[longest] = smallerTile(p->kernelSize[longest], p->kernelTile[longest]);
      p->kernelTasks = tileCount(p->kernelSize, p->kernelTile);
      p->packed = packedTileLayout(c->axis, p->outputTile, p->kernelTile);
    }
  }
}

void THNN_(gradWeightPlan)(GradWeightPlan *p, int threads)
{
  for (int d = 0; d < 4; d++) {
    p->outputSize[d] = p->c.axis[d].targetSize;
    p->kernelSize[d] = p->c.axis[d].kernel;
    p->outputTile[d] = 1;
  }
  chooseOutputTile(p);
  p->packed = packedTileLayout(p->c.axis, p->outputTile, p->kernelTile);
  p->kernelTasks = tileCount(p->kernelSize, p->kernelTile);
  chooseTask(p);
  balanceTasks(p, threads);
}

double THNN_(gradWeightCost)(const GradWeightPlan *p)
{
  const Correlation *c = &p->c;
  const double tiles = (double)tileCount(p->outputSize, p->outputTile),
               positions = (double)elementCount(p->outputTile);
  const double tasks = (double)gradWeightTasks(p);
  int64_t rows;
  const double microtiles = (double)taskMicrotiles(p, p->channels, &rows);
  const double vectors = (double)ceilDivide(MIN(c->outChannels, p->panels * GEMM_NR), VL);
  /* Per output tile, the sums of a micro-tile are loaded and stored, and its row pointers are read from the table. */
  const double sums = microtiles * vectors * GEMM_MR * (positions + 4) + 8 * (double)rows;
  const double packed = (double)p->packed.channelPitch * (double)p->channels / 2 + vectors * positions;
  return tasks * tiles * (sums + packed);
}
