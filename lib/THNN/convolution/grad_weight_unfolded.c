#include "convolution/grad_weight.h"

#define UNFOLDED_POSITIONS (2 * TILE_POSITIONS) /* most positions in all */
#define UNFOLDED_CHANNELS 64                    /* channels per block */

/* True if positions are few and channels enough, if the entries of a filter or the channels of each kernel element are
   contiguous in memory, and if packed tile and patches fit into scratch memory. */
bool THNN_(gradWeightUnfoldedSuits)(const GradWeightPlan *p)
{
  const Correlation *c = &p->c;
  int64_t run = 1;
  for (int d = 3; d >= 0; d--)
    if (run > 0 && c->axis[d].kernel > 1) run = c->axis[d].weightStride == run ? run * c->axis[d].kernel : 0;
  return elementCount(p->outputSize) <= UNFOLDED_POSITIONS && p->kernelTasks == 1 &&
         elementCount(p->kernelSize) > 1 && c->inChannels >= VL && c->outChannels >= GEMM_MR &&
         (c->weightInStride == 1 || c->weightInStride == run) &&
         (p->packed.channelPitch * UNFOLDED_CHANNELS +
          elementCount(p->kernelSize) * UNFOLDED_CHANNELS * TILE_POSITIONS) *
                 (int64_t)sizeof(real) <=
             3 * PACKED_TILE_BYTES;
}

/* A block of channels, for a range of output channels. The filters of the block consist of `runs` runs of `length`
   contiguous entries: one run, or one per kernel element if channels are innermost. */
typedef struct Task {
  Tile kernel;
  int64_t group, channel, channels;
  bool channelsInnermost;
  int64_t runs, length;
  real *input, *sum, *gradients, *patches;
} Task;

/* Unfolds the packed input tile to patches, [panel of entries][position][n]. */
static void unfold(const GradWeightPlan *p, const Task *t, const Tile *output)
{
  const Correlation *c = &p->c;
  const int64_t positions = elementCount(output->size), elements = elementCount(t->kernel.size);
  int32_t offset[TILE_POSITIONS];
  int64_t q[4] = {0};
  for (int64_t i = 0; i < positions; i++, nextIndex(q, output->size, 4))
    offset[i] = (int32_t)packedTilePositionOffset(&p->packed, q);
  real *patch = t->patches;
  for (int64_t i = 0; i < t->runs; i++)
    for (int64_t e = 0; e < t->length; e += GEMM_NR) {
      const int64_t lanes = MIN(GEMM_NR, t->length - e), width = lanes > VL ? GEMM_NR : VL, pitch = positions + VL;
      real column[GEMM_NR * (TILE_POSITIONS + GEMM_NR)]; /* [n][position] */
      for (int64_t l = 0; l < width; l++) {              /* an incomplete panel repeats its last entry */
        const int64_t entry = e + MIN(l, lanes - 1), ch = t->channelsInnermost ? entry : entry / elements;
        int64_t element = t->channelsInnermost ? i : entry % elements, k[4];
        for (int d = 3; d >= 0; element /= t->kernel.size[d], d--) k[d] = element % t->kernel.size[d];
        const real *from = t->input + ch * p->packed.channelPitch + packedTileKernelOffset(&p->packed, c->axis, k);
        for (int64_t row = 0; row < positions; row += output->size[3])
          for (int64_t x = 0; x < output->size[3]; x += VL) /* the next row overwrites the excess */
            v_store(column + l * pitch + row + x, v_load(from + offset[row] + x));
      }
      THNN_(transpose)(patch, width, column, pitch, width, positions);
      patch += positions * width;
    }
}

/* Updates gradWeight by the products of a row of micro-tiles, up to GEMM_MR output channels from outChannel on. */
static void multiplyRow(const GradWeightPlan *p, const Task *t, const Tile *output, int64_t outChannel,
                        GradWeightUpdate update)
{
  static const real zero[GEMM_NR];
  const Correlation *c = &p->c;
  const int64_t positions = elementCount(output->size);
  const int Q = (int)MIN(GEMM_MR, c->outChannels - outChannel);
  int32_t offset[TILE_POSITIONS];
  for (int32_t k = 0; k < positions; k++) offset[k] = k * Q;
  THNN_(packGradients)(c, output, t->group * c->outChannels + outChannel, Q, Q, t->gradients);
  const real *const a[1] = {t->gradients};
  const real *patch = t->patches;
  for (int64_t i = 0; i < t->runs; i++) {
    int64_t element = i;
    real *weight = c->weight + t->group * c->weightGroupStride + outChannel * c->weightOutStride +
                   t->channel * c->weightInStride;
    for (int d = 3; t->channelsInnermost && d >= 0; element /= t->kernel.size[d], d--)
      weight += element % t->kernel.size[d] * c->axis[d].weightStride;
    for (int64_t e = 0; e < t->length; e += GEMM_NR) {
      const int64_t lanes = MIN(GEMM_NR, t->length - e), width = lanes > VL ? GEMM_NR : VL;
      for (int m = 0; m < Q; m++)
        for (int64_t l = 0; l < lanes; l += REALS_PER_LINE)
          __builtin_prefetch(weight + m * c->weightOutStride + e + l, 1);
      THNN_(microkernel)(1, Q, (int)(width / VL), false)(t->sum, width, zero, 0, a, (KRange){offset, 0, positions},
                                                         patch, width, NULL);
      for (int m = 0; m < Q; m++)
        for (int64_t l = 0; l < lanes; l += VL)
          updateEntries(update, weight + m * c->weightOutStride + e + l, v_load(t->sum + m * width + l),
                        (int)MIN(VL, lanes - l));
      patch += positions * width;
    }
  }
}

/* Computes task number `index`: part index % parts of the output channels, block index / parts of the channels. */
static void runTask(const GradWeightPlan *p, int64_t index, int64_t parts, GradWeightUpdate update)
{
  const Correlation *c = &p->c;
  const int64_t part = index % parts, rows = ceilDivide(c->outChannels, GEMM_MR);
  index /= parts;
  const int64_t blocks = ceilDivide(c->inChannels, UNFOLDED_CHANNELS);
  Task t = {.kernel = tileAt(p->kernelSize, p->kernelSize, 0),
            .group = index / blocks,
            .channel = index % blocks * UNFOLDED_CHANNELS,
            .channelsInnermost = c->weightInStride == 1};
  t.channels = MIN(UNFOLDED_CHANNELS, c->inChannels - t.channel);
  const int64_t elements = elementCount(t.kernel.size);
  t.runs = t.channelsInnermost ? elements : 1;
  t.length = t.channelsInnermost ? t.channels : t.channels * elements;
  const int64_t inputReals = p->packed.channelPitch * t.channels + VL,
                gradientReals = GEMM_MR * TILE_POSITIONS + VL,
                patchReals = t.runs * ceilDivide(t.length, GEMM_NR) * GEMM_NR * TILE_POSITIONS;
  t.input = thnn_scratch(sizeof(real) * (size_t)(inputReals + MICROTILE_REALS + gradientReals + patchReals));
  t.sum = t.input + inputReals;
  t.gradients = t.sum + MICROTILE_REALS;
  t.patches = t.gradients + gradientReals;
  for (int64_t tile = 0; tile < tileCount(p->outputSize, p->outputTile); tile++) {
    const Tile output = tileAt(p->outputSize, p->outputTile, tile);
    THNN_(packTile)(c, &p->packed, &output, &t.kernel,
                    c->source + (t.group * c->inChannels + t.channel) * c->sourceChannelStride, t.channels,
                    t.input);
    unfold(p, &t, &output);
    for (int64_t row = part * rows / parts; row < (part + 1) * rows / parts; row++)
      multiplyRow(p, &t, &output, row * GEMM_MR, update);
    update.overwrites = false;
  }
}

/* Output channels are divided only if threads would not share the blocks of channels evenly. */
void THNN_(gradWeightUnfolded)(const GradWeightPlan *p, int threads, int64_t work, GradWeightUpdate update)
{
  const Correlation *c = &p->c;
  const int64_t blocks = c->groups * ceilDivide(c->inChannels, UNFOLDED_CHANNELS);
  const int64_t parts =
      blocks % threads == 0 || blocks >= 4 * threads ? 1 : MIN(threads, ceilDivide(c->outChannels, GEMM_MR));
  THNN_PARALLEL_FOR(i, blocks * parts, work) runTask(p, i, parts, update);
}
