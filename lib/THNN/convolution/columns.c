#include "convolution/columns.h"

#include "gemm/microkernel.h"
#include "runtime/shared_scratch.h"

/* A block with at most this many positions is not divided by positions: the weights are packed once per block. */
#define LEAST_POSITIONS 256

/* Halves the longest of three axes. */
static void halveLongest(int64_t *size)
{
  int longest = 0;
  for (int d = 1; d < 3; d++)
    if (size[d] > size[longest]) longest = d;
  size[longest] = ceilDivide(size[longest], 2);
}

void THNN_(columnBlockSize)(int64_t *size, int64_t leastPositions)
{
  int64_t *elements = size + 4;
  while (elementCount(size) > COLUMN_REALS / elementCount(elements)) {
    if (elementCount(size) > leastPositions) {
      if (size[0] > 1) size[0] = ceilDivide(size[0], 2);
      else halveLongest(size + 1);
    } else if (elements[0] > 1) elements[0] = ceilDivide(elements[0], 2);
    else halveLongest(elements + 1);
  }
}

void THNN_(columnStrides)(const int64_t *size, ColumnIndex innermost, int64_t *stride)
{
  static const int order[][COLUMN_AXES] = {[COLUMN_POSITION] = {4, 5, 6, 7, 0, 1, 2, 3},
                                           [COLUMN_CHANNEL] = {0, 1, 2, 3, 5, 6, 7, 4},
                                           [COLUMN_ELEMENT] = {0, 1, 2, 3, 4, 5, 6, 7}};
  int64_t pitch = 1;
  for (int i = COLUMN_AXES - 1; i >= 0; i--) {
    const int d = order[innermost][i];
    stride[d] = pitch;
    pitch *= size[d];
  }
}

void THNN_(mergeAxes)(int64_t *size, int64_t *stride, int64_t *otherStride)
{
  int n = 3;
  for (int d = 2; d >= 0; d--) {
    if (size[d] == 1) continue;
    const int64_t count = size[d], distance = stride[d], otherDistance = otherStride[d];
    size[d] = 1;
    if (size[n] > 1 && distance == size[n] * stride[n] && otherDistance == size[n] * otherStride[n]) {
      size[n] *= count;
      continue;
    }
    if (size[n] > 1) n--;
    size[n] = count;
    stride[n] = distance;
    otherStride[n] = otherDistance;
  }
}

/* --- unfolding --------------------------------------------------------------------------------------------------- */

/* The source's three spatial axes in the order in which they are unfolded, the axis of the rows last. Rows are copied
   along its kernel elements or along its positions. */
typedef struct Unfolding {
  CorrelationAxis batch, axis[3];
  bool alongElements;
  int64_t channelStride;
} Unfolding;

static Unfolding makeUnfolding(const Correlation *c)
{
  Unfolding u = {.batch = c->axis[0], .channelStride = c->sourceChannelStride};
  int last = 3;
  double longest = 0;
  for (int d = 3; d > 0; d--) {
    const CorrelationAxis *a = c->axis + d;
    for (int along = 0; along < 2; along++) {
      const int64_t pitch = a->sourceStride * (along ? a->dilation : a->stride);
      const double length = (double)(along ? a->kernel : a->targetSize) / (pitch == 1 ? 1 : 4);
      if (length <= longest) continue;
      longest = length;
      last = d;
      u.alongElements = along;
    }
  }
  u.axis[0] = c->axis[last == 1 ? 2 : 1];
  u.axis[1] = c->axis[last == 3 ? 2 : 3];
  u.axis[2] = c->axis[last];
  return u;
}

/* Sets to[i] to element start + i * pitch of the source, or to 0 if that lies outside of the source, for i < count. */
static inline void copyRow(real *to, const real *source, const CorrelationAxis *a, int64_t start, int64_t pitch,
                           int64_t count)
{
  const int64_t low = start < 0 ? MIN(ceilDivide(-start, pitch), count) : 0,
                high = start < a->sourceSize ? MIN((a->sourceSize - 1 - start) / pitch + 1, count) : 0;
  const real *from = source + start * a->sourceStride;
  const int64_t step = pitch * a->sourceStride;
  int64_t i = 0;
  for (; i < low; i++) to[i] = 0;
  if (step == 1) {
    for (; i + VL <= high; i += VL) v_store(to + i, v_load(from + i));
    if (i < high) {
      v_store_n(to + i, v_load_n(from + i, (int)(high - i)), (int)(high - i));
      i = high;
    }
  } else {
    for (; i < high; i++) to[i] = from[i * step];
  }
  for (; i < count; i++) to[i] = 0;
}

/* Unfolds a block. A task has the rows of one image and channel that share their position and their kernel element of
   the outer axis. */
static void unfold(const Unfolding *u, const real *source, const ColumnBlock *b, const int64_t *stride,
                   real *columns)
{
  const int64_t *positions = b->size + 1, *elements = b->size + 5;
  const CorrelationAxis *outer = u->axis, *middle = u->axis + 1, *last = u->axis + 2;
  const bool along = u->alongElements;
  const int64_t pairs = positions[0] * elements[0], tasks = b->size[0] * b->size[4] * pairs;
  const int64_t rowStep = along ? last->stride : last->dilation, pitch = along ? last->dilation : last->stride;
  const int64_t rows = along ? positions[2] : elements[2], length = along ? elements[2] : positions[2];
  const int64_t firstRow = b->first[along ? 3 : 7], firstInRow = b->first[along ? 7 : 3];
  const int64_t rowStride = stride[along ? 3 : 7];
  THNN_PARALLEL_FOR(task, tasks, tasks * positions[1] * elements[1] * rows * (length / 4 + 4)) {
    const int64_t k0 = task % elements[0], q0 = task / elements[0] % positions[0],
                  channel = task / pairs % b->size[4], n = task / pairs / b->size[4];
    real *to = columns + n * stride[0] + channel * stride[4] + q0 * stride[1] + k0 * stride[5];
    const int64_t x0 = outer->offset + (b->first[1] + q0) * outer->stride + (b->first[5] + k0) * outer->dilation;
    const real *image = source + (b->first[0] + n) * u->batch.sourceStride +
                        (b->first[4] + channel) * u->channelStride + x0 * outer->sourceStride;
    for (int64_t q1 = 0; q1 < positions[1]; q1++)
      for (int64_t k1 = 0; k1 < elements[1]; k1++) {
        const int64_t x1 =
            middle->offset + (b->first[2] + q1) * middle->stride + (b->first[6] + k1) * middle->dilation;
        const bool inside = x0 >= 0 && x0 < outer->sourceSize && x1 >= 0 && x1 < middle->sourceSize;
        real *row = to + q1 * stride[2] + k1 * stride[6];
        for (int64_t i = 0; i < rows; i++, row += rowStride) {
          const int64_t start = last->offset + (firstRow + i) * rowStep + firstInRow * pitch;
          if (inside) copyRow(row, image + x1 * middle->sourceStride, last, start, pitch, length);
          else memset(row, 0, sizeof(real) * (size_t)length);
        }
      }
  }
}

/* --- products ---------------------------------------------------------------------------------------------------- */

/* Adds the product of a block of columns and the weights to the target, or updates the weights by the product of the
   columns and the target. */
static void addProduct(const Correlation *c, const Unfolding *u, int64_t group, const ColumnBlock *b,
                       const int64_t *stride, const real *columns, bool gradWeight, GradWeightUpdate update)
{
  const CorrelationAxis *axis[4] = {&u->batch, u->axis, u->axis + 1, u->axis + 2};
  real *target = c->target + group * c->outChannels * c->targetChannelStride,
       *weight = c->weight + group * c->weightGroupStride;
  int64_t positions[4], elements[4], columnPosition[4], columnElement[4], targetStride[4], weightStride[4];
  for (int d = 0; d < 4; d++) {
    positions[d] = b->size[d];
    elements[d] = b->size[4 + d];
    columnPosition[d] = stride[d];
    columnElement[d] = stride[4 + d];
    targetStride[d] = axis[d]->targetStride;
    weightStride[d] = d == 0 ? c->weightInStride : axis[d]->weightStride;
    target += b->first[d] * targetStride[d];
    weight += b->first[4 + d] * weightStride[d];
  }
  THNN_(mergeAxes)(positions, columnPosition, targetStride);
  THNN_(mergeAxes)(elements, columnElement, weightStride);
  Gemm p = {.a = {.data = columns},
            .b = {.data = gradWeight ? target : weight,
                  .size = {1, 1, 1, c->outChannels},
                  .stride = {[3] = gradWeight ? c->targetChannelStride : c->weightOutStride},
                  .cStride = {[3] = gradWeight ? c->weightOutStride : c->targetChannelStride}},
            .groups = 1,
            .c = gradWeight ? weight : target,
            .accumulate = !update.overwrites,
            .scale = update.scale};
  memcpy(p.a.size, gradWeight ? elements : positions, sizeof elements);
  memcpy(p.a.stride, gradWeight ? columnElement : columnPosition, sizeof elements);
  memcpy(p.a.cStride, gradWeight ? weightStride : targetStride, sizeof elements);
  memcpy(p.kSize, gradWeight ? positions : elements, sizeof elements);
  memcpy(p.a.kStride, gradWeight ? columnPosition : columnElement, sizeof elements);
  memcpy(p.b.kStride, gradWeight ? targetStride : weightStride, sizeof elements);
  THNN_(gemm)(&p);
}

static bool addAllProducts(const Correlation *c, const Unfolding *u, bool gradWeight, GradWeightUpdate update)
{
  real *columns = thnn_sharedScratch(sizeof(real) * COLUMN_REALS);
  if (columns == NULL) return false;
  int64_t whole[COLUMN_AXES] = {[0] = u->batch.targetSize, [4] = c->inChannels};
  for (int d = 0; d < 3; d++) {
    whole[1 + d] = u->axis[d].targetSize;
    whole[5 + d] = u->axis[d].kernel;
  }
  int64_t most[COLUMN_AXES], blocks[COLUMN_AXES], i[COLUMN_AXES] = {0}, stride[COLUMN_AXES], count = 1;
  memcpy(most, whole, sizeof most);
  THNN_(columnBlockSize)(most, LEAST_POSITIONS);
  for (int d = 0; d < COLUMN_AXES; d++) count *= blocks[d] = ceilDivide(whole[d], most[d]);
  for (int64_t group = 0; group < c->groups; group++)
    for (int64_t n = 0; n < count; n++, nextIndex(i, blocks, COLUMN_AXES)) {
      ColumnBlock b;
      for (int d = 0; d < COLUMN_AXES; d++) {
        b.first[d] = i[d] * most[d];
        b.size[d] = MIN(most[d], whole[d] - b.first[d]);
      }
      THNN_(columnStrides)(b.size, u->alongElements ? COLUMN_ELEMENT : COLUMN_POSITION, stride);
      unfold(u, c->source + group * c->inChannels * c->sourceChannelStride, &b, stride, columns);
      const bool isFirst = i[0] == 0 && i[1] == 0 && i[2] == 0 && i[3] == 0; /* block of positions */
      addProduct(c, u, group, &b, stride, columns, gradWeight,
                 (GradWeightUpdate){update.scale, update.overwrites && isFirst});
    }
  return true;
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

/* The estimated time in multiply-adds of vectors. */
static double cost(const Correlation *c, const Unfolding *u)
{
  double columns = (double)c->groups * (double)c->inChannels;
  for (int d = 0; d < 4; d++) columns *= (double)c->axis[d].targetSize * (double)c->axis[d].kernel;
  const CorrelationAxis *last = u->axis + 2;
  const double row = (double)(u->alongElements ? last->kernel : last->targetSize);
  const double copy =
      (last->sourceStride * (u->alongElements ? last->dilation : last->stride) == 1 ? 0.25 : 1) + 8 / row;
  const double outputs = (double)c->outChannels, lanes = (double)(ceilDivide(c->outChannels, VL) * VL);
  return columns * (copy + 0.5 + MIN(lanes, MAX(4, outputs)) / VL) + 10000 * (double)c->groups;
}

bool THNN_(columnsCorrelate)(const Correlation *c, double otherCost)
{
  if (c->inChannels == 0) return false;
  const Unfolding u = makeUnfolding(c);
  if (1.5 * cost(c, &u) > otherCost) return false;
  THNN_(correlationFill)(c);
  return addAllProducts(c, &u, false, (GradWeightUpdate){.scale = 1});
}

bool THNN_(columnsGradWeight)(const Correlation *c, GradWeightUpdate update, double otherCost)
{
  const Unfolding u = makeUnfolding(c);
  return 1.5 * cost(c, &u) <= otherCost && addAllProducts(c, &u, true, update);
}
