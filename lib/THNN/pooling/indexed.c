/* Scatters to, and gathers from, the elements of planes that indices name. */

#include "pooling/indexed.h"
#include "pooling/backward.h"

#define CHANNEL_BLOCK 16    /* channels of a cache line */
#define STREAM_BYTES 262144 /* most bytes of a plane that is assembled in the second-level cache */
#define PACKED_ROW 64       /* indices of a row that are converted together */
#define CHANNEL_TASKS 16    /* tasks that channels are divided into if there are enough */

typedef enum IndexedCopy { SCATTER_ADD, SCATTER_LAST, TAKE } IndexedCopy;

typedef struct IndexedPlanes {
  const Pooling *pooling;
  PoolingImages pooled, index, plane;
  real *pooledData, *planeData;
  const int64_t *indices;
  int64_t pitch; /* from one element of a dense plane to the next; 0 if the plane is not dense */
  bool streams;  /* planes are dense, and stored with non-temporal stores */
  int64_t step;  /* an index times this is the offset in the plane; 0 if no factor gives the offset */
} IndexedPlanes;

/* The channels of an image that a task processes: one, unless channels are innermost in memory. */
static int64_t channelBlock(const PoolingImages *x)
{
  if (!imagesAreChannelsLast(x)) return 1;
  const int64_t most = x->n * x->c / CHANNEL_TASKS / CHANNEL_BLOCK * CHANNEL_BLOCK;
  return MIN(MAX(most, CHANNEL_BLOCK), x->c);
}

static void clearPlanes(const IndexedPlanes *p, int64_t channels, real *to)
{
  const PoolingImages *x = &p->plane;
  if (channels == 1 && p->pitch == 1) {
    memset(to, 0, sizeof *to * (size_t)(x->d * x->h * x->w));
    return;
  }
  for (int64_t d = 0; d < x->d; d++)
    for (int64_t h = 0; h < x->h; h++)
      for (int64_t w = 0; w < x->w; w++) {
        real *pixel = to + d * x->sd + h * x->sh + w * x->sw;
        if (x->sc != 1) {
          for (int64_t c = 0; c < channels; c++) pixel[c * x->sc] = 0;
          continue;
        }
        for (int64_t c = 0; c < channels; c += VL) v_store_n(pixel + c, (vreal){0}, (int)MIN(VL, channels - c));
      }
}

/* The offset in the plane; -1 if the index names nothing. */
static ALWAYS_INLINE int64_t planeOffset(const IndexedPlanes *p, int64_t step, const int64_t *o, int64_t index)
{
  int64_t in[WINDOW_AXES];
  if (step) return index < 0 ? -1 : index * step;
  if (!indexInput(p->pooling, o, index, in)) return -1;
  return in[0] * p->plane.sd + in[1] * p->plane.sh + in[2] * p->plane.sw;
}

static ALWAYS_INLINE void copyElement(IndexedCopy copy, int64_t offset, real *pooled, real *plane)
{
  if (copy == TAKE) *pooled = offset < 0 ? 0 : plane[offset];
  else if (offset < 0) return;
  else if (copy == SCATTER_ADD) plane[offset] += *pooled;
  else plane[offset] = *pooled;
}

/* The offsets in the plane of n packed kernel elements, `step` apart; the window of the first one begins at offset
   `origin`, the next one's `next` further. -1 if the index is -1. */
static ALWAYS_INLINE void packedOffsets(const Pooling *pooling, const PoolingImages *x, int64_t origin,
                                        int64_t next, int64_t n, const int64_t *index, int64_t step,
                                        int64_t *offset)
{
  const WindowAxis *axis = pooling->axis;
  const int64_t d = axis[0].dilation * x->sd, h = axis[1].dilation * x->sh, w = axis[2].dilation * x->sw;
  for (int64_t i = 0; i < n; i++) {
    const int64_t k = index[i * step];
    const int64_t at = origin + i * next + (k & 255) * d + (k >> 8 & 255) * h + (k >> 16) * w;
    offset[i] = k < 0 ? -1 : at;
  }
}

/* Copies n elements whose indices are packed. */
static ALWAYS_INLINE void copyPackedRun(const IndexedPlanes *p, IndexedCopy copy, int64_t origin, int64_t next,
                                        int64_t n, const int64_t *indices, int64_t indexStep, real *pooled,
                                        int64_t pooledStep, real *plane)
{
  int64_t offset[PACKED_ROW];
  for (int64_t i = 0; i < n; i += PACKED_ROW) {
    const int64_t count = MIN(PACKED_ROW, n - i), start = origin + i * next;
    if (indexStep == 1) packedOffsets(p->pooling, &p->plane, start, next, count, indices + i, 1, offset);
    else packedOffsets(p->pooling, &p->plane, start, next, count, indices + i * indexStep, indexStep, offset);
    if (copy == SCATTER_ADD)
      for (int64_t k = 0; k < count; k++)
        copyElement(SCATTER_ADD, offset[k], pooled + (i + k) * pooledStep, plane);
    else
      for (int64_t k = 0; k < count; k++) copyElement(copy, offset[k], pooled + (i + k) * pooledStep, plane);
  }
}

/* Copies row (d, h) of `channels` channels, whose indices are packed. Inlined, it would slow down the other loops. */
static __attribute__((noinline)) void copyPackedRow(const IndexedPlanes *p, IndexedCopy copy, int64_t channels,
                                                    const int64_t *indices, real *pooled, real *plane, int64_t d,
                                                    int64_t h)
{
  const PoolingImages *x = &p->plane, *y = &p->pooled, *index = &p->index;
  const WindowAxis *axis = p->pooling->axis;
  const int64_t row = windowStart(&axis[0], d) * x->sd + windowStart(&axis[1], h) * x->sh;
  indices += d * index->sd + h * index->sh;
  pooled += d * y->sd + h * y->sh;
  if (channels == 1) {
    const int64_t origin = row + windowStart(&axis[2], 0) * x->sw, next = axis[2].stride * x->sw;
    copyPackedRun(p, copy, origin, next, y->w, indices, index->sw, pooled, y->sw, plane);
    return;
  }
  for (int64_t w = 0; w < y->w; w++)
    copyPackedRun(p, copy, row + windowStart(&axis[2], w) * x->sw, x->sc, channels, indices + w * index->sw,
                  index->sc, pooled + w * y->sw, y->sc, plane);
}

/* Copies row (d, h) of `channels` channels. */
static ALWAYS_INLINE void copyRow(const IndexedPlanes *p, IndexedCopy copy, int64_t step, int64_t channels,
                                  const int64_t *indices, real *pooled, real *plane, int64_t d, int64_t h)
{
  const PoolingImages *y = &p->pooled, *index = &p->index;
  indices += d * index->sd + h * index->sh;
  pooled += d * y->sd + h * y->sh;
  for (int64_t w = 0; w < y->w; w++) {
    const int64_t o[WINDOW_AXES] = {d, h, w};
    if (channels == 1) {
      copyElement(copy, planeOffset(p, step, o, indices[w * index->sw]), pooled + w * y->sw, plane);
      continue;
    }
    for (int64_t c = 0; c < channels; c++)
      copyElement(copy, planeOffset(p, step, o, indices[w * index->sw + c * index->sc]),
                  pooled + w * y->sw + c * y->sc, plane + c * p->plane.sc);
  }
}

static ALWAYS_INLINE void copyPlanes(const IndexedPlanes *p, IndexedCopy copy)
{
  const PoolingImages *x = &p->plane, *y = &p->pooled, *index = &p->index;
  const int64_t most = channelBlock(x), blocks = ceilDivide(x->c, most);
  THNN_PARALLEL_FOR(task, x->n * blocks, x->n * x->c * x->d * x->h * x->w) {
    const int64_t n = task / blocks, c = task % blocks * most, channels = MIN(most, x->c - c);
    real *plane = p->planeData + n * x->sn + c * x->sc;
    real *pooled = p->pooledData + n * y->sn + c * y->sc;
    const int64_t *indices = p->indices + n * index->sn + c * index->sc;
    real *const to = plane;
    if (p->streams) plane = thnn_scratch(STREAM_BYTES);
    if (copy != TAKE) clearPlanes(p, channels, plane);
    for (int64_t d = 0; d < y->d; d++)
      for (int64_t h = 0; h < y->h; h++) {
        if (p->step == 1 && channels == 1) copyRow(p, copy, 1, 1, indices, pooled, plane, d, h);
        else if (p->pooling->index == INDEX_KERNEL_PACKED)
          copyPackedRow(p, copy, channels, indices, pooled, plane, d, h);
        else copyRow(p, copy, p->step, channels, indices, pooled, plane, d, h);
      }
    if (p->streams) streamLanes(to, plane, x->d * x->h * x->w);
  }
}

static IndexedPlanes indexedPlanes(const Pooling *pooling, const THTensor *pooled, const THIndexTensor *indices,
                                   const THTensor *plane)
{
  IndexedPlanes p = {.pooling = pooling,
                     .pooled = poolingImages(pooling, pooled),
                     .index = poolingImages(pooling, indices),
                     .plane = poolingImages(pooling, plane),
                     .pooledData = TH_DATA(pooled),
                     .planeData = TH_DATA(plane),
                     .indices = indices->data};
  const PoolingImages *x = &p.plane;
  const int64_t row = x->w > 1 ? x->w * x->sw : x->sh, pitch = x->w > 1 ? x->sw : x->sh;
  if ((x->h == 1 || x->sh == row) && (x->d == 1 || x->sd == x->h * row)) p.pitch = pitch;
  if (pooling->index == INDEX_INPUT) p.step = p.pitch;
  return p;
}

void THNN_(poolingScatter)(const Pooling *pooling, const THTensor *pooled, const THIndexTensor *indices,
                           THTensor *plane, bool add)
{
  IndexedPlanes p = indexedPlanes(pooling, pooled, indices, plane);
  const PoolingImages *x = &p.plane;
  p.streams = add && p.pitch == 1 && channelBlock(x) == 1 && backwardStreams(plane, pooled, indices) &&
              (double)x->d * (double)x->h * (double)x->w * sizeof(real) <= STREAM_BYTES;
  if (add) copyPlanes(&p, SCATTER_ADD);
  else copyPlanes(&p, SCATTER_LAST);
}

void THNN_(poolingTake)(const Pooling *pooling, const THTensor *plane, const THIndexTensor *indices,
                        THTensor *pooled)
{
  const IndexedPlanes p = indexedPlanes(pooling, pooled, indices, plane);
  copyPlanes(&p, TAKE);
}
