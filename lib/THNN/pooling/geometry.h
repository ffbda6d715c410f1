#ifndef THNN_POOLING_GEOMETRY_H
#define THNN_POOLING_GEOMETRY_H

#include "pooling/pooling.h"
#include "runtime/arena.h"
#include "runtime/integer.h"
#include "runtime/streaming.h"

/* A tensor seen as (N, C, D, H, W). Dimensions of size 1 have stride 1, a missing depth or height has stride 0. */
typedef struct PoolingImages {
  int64_t n, c, d, h, w;
  int64_t sn, sc, sd, sh, sw;
} PoolingImages;

static inline PoolingImages poolingImages(const Pooling *pooling, const THNNTensor *t)
{
  static const int dimensions[WINDOW_AXES][5] = {{0, 4, 1}, {0, 1, 3, 4}, {0, 1, 2, 3, 4}};
  const int *dimension = dimensions[pooling->axes - 1] + (pooling->axes + 2 - t->ndim);
  int64_t size[5] = {1, 1, 1, 1, 1}, stride[5] = {1, 1, 0, 0, 1};
  for (int d = 0; d < t->ndim; d++) {
    size[dimension[d]] = t->size[d];
    stride[dimension[d]] = t->size[d] != 1 ? t->stride[d] : 1;
  }
  return (PoolingImages){size[0],   size[1],   size[2],   size[3],   size[4],
                         stride[0], stride[1], stride[2], stride[3], stride[4]};
}

/* True if the lanes of this tensor are the channels of a pixel. */
static inline bool imagesAreChannelsLast(const PoolingImages *t) { return t->c > 1 && t->sc == 1; }

/* The offsets of the first element of a plane and of a slice. Planes are numbered n * C + c, slices plane * D + d. */
static inline int64_t imagesPlane(const PoolingImages *t, int64_t plane)
{
  return plane / t->c * t->sn + plane % t->c * t->sc;
}

static inline int64_t imagesSlice(const PoolingImages *t, int64_t slice)
{
  return imagesPlane(t, slice / t->d) + slice % t->d * t->sd;
}

static inline bool rowsAreDense(const PoolingImages *t) { return t->sw == 1 && (t->h == 1 || t->sh == t->w); }

static inline bool planesAreDense(const PoolingImages *t)
{
  return rowsAreDense(t) && (t->d == 1 || t->sd == t->h * t->w);
}

/* Makes one dimension of samples and channels; false if their strides do not allow it. */
static inline bool imagesMergeSamples(PoolingImages *t)
{
  if (t->n > 1 && t->c > 1 && t->sn != t->c * t->sc) return false;
  if (t->c == 1) t->sc = t->sn;
  t->c *= t->n, t->n = 1;
  return true;
}

/* True for dense planes of at most SMALL_PLANE pixels. Small planes of VL channels are transposed into a tile with the
   channels in lanes. */
#define SMALL_PLANE 1024
static inline bool planesAreSmall(const PoolingImages *t)
{
  return planesAreDense(t) && (double)t->d * (double)t->h * (double)t->w <= SMALL_PLANE;
}

/* The increment of an index for one step along an axis. */
static inline int64_t indexWeight(const Pooling *pooling, int axis)
{
  if (pooling->index == INDEX_KERNEL_PACKED) return (int64_t)1 << (8 * axis);
  int64_t weight = 1;
  for (int a = axis + 1; a < WINDOW_AXES; a++)
    weight *= pooling->index == INDEX_INPUT ? pooling->axis[a].input : pooling->axis[a].kernel;
  return weight;
}

/* The index of a maximum is the sum of indexAt over the three axes. */
typedef struct IndexAxis {
  int64_t origin, perOutput, perElement;
} IndexAxis;

static inline void indexAxes(const Pooling *pooling, IndexAxis axes[WINDOW_AXES])
{
  for (int a = 0; a < WINDOW_AXES; a++) {
    const WindowAxis *axis = &pooling->axis[a];
    const int64_t weight = indexWeight(pooling, a);
    axes[a] = pooling->index == INDEX_INPUT
                  ? (IndexAxis){-axis->padding * weight, axis->stride * weight, axis->dilation * weight}
                  : (IndexAxis){0, 0, weight};
  }
}

/* The contribution of one axis to the index: kernel element k of output o. */
static inline int64_t indexAt(const IndexAxis *axis, int64_t o, int64_t k)
{
  return axis->origin + o * axis->perOutput + k * axis->perElement;
}

/* Valid indices are below this limit. */
static inline int64_t indexLimit(const Pooling *pooling)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  if (pooling->index == INDEX_INPUT) return d->input * h->input * w->input;
  return pooling->index == INDEX_KERNEL ? d->kernel * h->kernel * w->kernel : 1 << 24;
}

/* Sets in[] to the input element of an index of output o[]; false if the index is not valid. */
static inline bool indexInput(const Pooling *pooling, const int64_t *o, int64_t index, int64_t *in)
{
  const WindowAxis *h = &pooling->axis[1], *w = &pooling->axis[2];
  const bool isInput = pooling->index == INDEX_INPUT;
  if (index < 0 || index >= indexLimit(pooling)) return false;
  if (pooling->index == INDEX_KERNEL_PACKED) {
    in[0] = index & 255, in[1] = index >> 8 & 255, in[2] = index >> 16;
  } else {
    const int64_t width = isInput ? w->input : w->kernel, height = isInput ? h->input : h->kernel;
    in[0] = index / width / height, in[1] = index / width % height, in[2] = index % width;
  }
  for (int a = 0; a < WINDOW_AXES && !isInput; a++) {
    const WindowAxis *axis = &pooling->axis[a];
    if (in[a] >= axis->kernel) return false;
    in[a] = windowStart(axis, o[a]) + in[a] * axis->dilation;
    if (in[a] < 0 || in[a] >= axis->input) return false;
  }
  return true;
}

/* Indices are computed in lanes as wide as real. False if the indices of this geometry, padding included, do not
   fit. */
static inline bool indexFitsLanes(const Pooling *pooling)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const double slices =
      (double)d->input + 2 * (double)(d->kernel - 1) * (double)d->dilation + (double)(d->stride - 1);
  const double rows = (double)h->input + 2 * (double)h->kernel * (double)h->dilation + (double)h->stride;
  const double columns = (double)w->input + 2 * (double)w->kernel * (double)w->dilation + (double)w->stride;
  return slices * rows * columns < (sizeof(real) == 4 ? 0x1p30 : 0x1p62);
}

static inline bool axisHalves(const WindowAxis *axis, int64_t kernel)
{
  return axis->kernel == kernel && axis->padding == kernel - 2 && axis->stride == 2 && axis->dilation == 1 &&
         axis->input == 2 * axis->output;
}

/* True for 2x2 or 3x3 stride-2 pooling of an image of even size (halving.c). */
static inline bool poolingHalves(const Pooling *pooling, int64_t kernel)
{
  return windowIsIdentity(&pooling->axis[0]) && axisHalves(&pooling->axis[1], kernel) &&
         axisHalves(&pooling->axis[2], kernel) && pooling->index == INDEX_INPUT;
}

#define ROW_BLOCK_BYTES 24576 /* fits the first-level cache */

/* The number of rows of a block, at most `rows`, such that the lines that it reads have about ROW_BLOCK_BYTES. The
   first row reads `span` lines, each further row `stride` more. */
static inline int64_t rowBlockCount(int64_t rows, int64_t span, int64_t stride, double lineBytes)
{
  double more = (ROW_BLOCK_BYTES / lineBytes - (double)span) / (double)stride;
  return more < 1 ? 1 : more < (double)rows - 1 ? 1 + (int64_t)more : rows;
}

#define TASK_ELEMENTS 16384

/* The number of rows of a parallel task, which has about TASK_ELEMENTS elements; `elements` is the size of a row. */
static inline int64_t rowsPerTask(int64_t elements)
{
  return elements < TASK_ELEMENTS ? TASK_ELEMENTS / elements : 1;
}

#endif
