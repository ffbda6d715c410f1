#ifndef THNN_POOLING_REGIONS_H
#define THNN_POOLING_REGIONS_H

#include "pooling/pooling.h"

/* Pooling regions: the inputs from a start to an end along each axis. The number of regions is given instead of a
   stride. Adaptive regions cover the input evenly. Fractional regions have one size and begin at multiples of a
   fractional stride, shifted by a random sample of each plane (Graham 2014). */
typedef struct PoolingRegions {
  Pooling pooling; /* input and output of each axis, and the size of fractional regions as the kernel */
  bool isAdaptive;
  const THTensor *samples; /* (N, C, axes) in [0, 1] for the forward of fractional regions; otherwise NULL */
  int sampleOf[WINDOW_AXES];
} PoolingRegions;

/* The inputs start <= i < end of an output. */
typedef struct Region {
  int64_t start, end;
} Region;

/* From floor(o * input / output) to ceil((o + 1) * input / output). With input and output swapped, the outputs whose
   regions contain an input. */
static inline Region regionAdaptive(const WindowAxis *axis, int64_t o)
{
  const uint64_t whole = (uint64_t)(axis->input / axis->output), rest = (uint64_t)(axis->input % axis->output);
  const uint64_t n = (uint64_t)axis->output, low = (uint64_t)o * rest, high = low + rest + n - 1;
  /* Division of 32 bits is faster on many processors. */
  const uint64_t start = high >> 32 ? low / n : (uint32_t)low / (uint32_t)n;
  const uint64_t end = high >> 32 ? high / n : (uint32_t)high / (uint32_t)n;
  return (Region){(int64_t)((uint64_t)o * whole + start), (int64_t)((uint64_t)(o + 1) * whole + end)};
}

/* Computed in the element type, so that the regions are the same as in results recorded with the original THNN. */
static inline Region regionFractional(const WindowAxis *axis, real sample, int64_t o)
{
  const int64_t last = axis->input - axis->kernel;
  int64_t start = last;
  if (o < axis->output - 1) {
    const real stride = (real)last / (real)(axis->output - 1);
    start = (int64_t)(((real)o + sample) * stride) - (int64_t)(sample * stride);
    if (start > last) start = last; /* rounding */
  }
  return (Region){start, start + axis->kernel};
}

static inline real regionSample(const PoolingRegions *r, int axis, int64_t n, int64_t c)
{
  const THTensor *samples = r->samples;
  if (samples == NULL || axis < WINDOW_AXES - r->pooling.axes) return 0;
  const int batch = samples->ndim - 3; /* -1 without N */
  return TH_DATA(samples)[(batch < 0 ? 0 : n * samples->stride[0]) + c * samples->stride[batch + 1] +
                          r->sampleOf[axis] * samples->stride[batch + 2]];
}

static inline Region regionOf(const PoolingRegions *r, int axis, real sample, int64_t o)
{
  return r->samples ? regionFractional(&r->pooling.axis[axis], sample, o)
                    : regionAdaptive(&r->pooling.axis[axis], o);
}

/* An upper bound on the number of inputs of a region. */
static inline int64_t regionAdaptiveLongest(const WindowAxis *axis)
{
  return axis->input / axis->output + (axis->input % axis->output ? 2 : 0);
}

static inline int64_t regionLongest(const PoolingRegions *r, int a)
{
  return r->samples ? r->pooling.axis[a].kernel : regionAdaptiveLongest(&r->pooling.axis[a]);
}

/* Adaptive regions with input and output swapped: for each input, the outputs that it belongs to. */
static inline PoolingRegions regionsInverse(const PoolingRegions *r)
{
  PoolingRegions inverse = {.isAdaptive = true};
  for (int a = 0; a < WINDOW_AXES; a++)
    inverse.pooling.axis[a] = (WindowAxis){.input = r->pooling.axis[a].output, .output = r->pooling.axis[a].input};
  return inverse;
}

/* True if windows are the adaptive regions of the same sizes, so that each input belongs to one window. Windows of at
   most 2 elements along each axis are left to the loops for sliding windows, which are faster for them. */
static inline bool windowsAreRegions(const Pooling *p)
{
  bool large = false;
  for (int a = 0; a < WINDOW_AXES; a++) {
    const WindowAxis *axis = &p->axis[a];
    if (axis->padding != 0 || axis->input != axis->output * axis->kernel) return false;
    if (axis->stride != axis->kernel && axis->output != 1) return false;
    large |= axis->kernel > 2;
  }
  return large;
}

/* True if sliding windows in small planes are faster with planes in lanes than with the pixels of a row in lanes: if
   rows fill few lanes or windows are large. Windows of up to 4 elements, 2 x 2 of stride 2, have fast loops for
   rows. */
static inline bool windowsSuitTiles(const Pooling *p)
{
  double kernel = 1;
  for (int a = 0; a < WINDOW_AXES; a++) kernel *= (double)p->axis[a].kernel;
  return kernel > 9 || p->axis[2].output < (kernel > 4 ? 24 : 12);
}

/* Tensors may have any strides. */

/* output and indices (INDEX_INPUT): the first of the largest elements of each region. NaN counts as larger than any
   value, another NaN included, so that the last NaN wins. */
void THNN_(poolingRegionMax)(const PoolingRegions *regions, const THTensor *input, THTensor *output,
                             THIndexTensor *indices);

/* gradInput: for each input, the sum of the elements of gradOutput with the index of that input. Indices must be
   valid. Fractional regions need no samples. */
void THNN_(poolingRegionMaxBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                     const THIndexTensor *indices, THTensor *gradInput);

/* output: the mean of each adaptive region; and the gradient. */
void THNN_(poolingRegionAverage)(const PoolingRegions *regions, const THTensor *input, THTensor *output);
void THNN_(poolingRegionAverageBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                         THTensor *gradInput);

/* The mean of sliding windows, and the gradient. False, and nothing is computed, unless planes are small and dense. */
bool THNN_(poolingAverageTiles)(const Pooling *pooling, bool countPadding, const THTensor *input,
                                THTensor *output);
bool THNN_(poolingAverageTilesBackward)(const Pooling *pooling, bool countPadding, const THTensor *gradOutput,
                                        THTensor *gradInput);

#endif
