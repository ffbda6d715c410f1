#ifndef THNN_RESAMPLING_RESAMPLING_H
#define THNN_RESAMPLING_RESAMPLING_H

/* Separable resampling of series, images and volumes: every output is a weighted sum of at most two inputs along each
   axis. Padding, interpolation to the nearest element and linear interpolation are resamplings. */

#include "runtime/kernel.h"
#include "simd/vector_math.h"

#define RESAMPLING_AXES 3

typedef enum ResampleKind {
  RESAMPLE_REPLICATE, /* padding: positions outside take the element at the border */
  RESAMPLE_REFLECT,   /* padding: positions outside are mirrored at the element at the border */
  RESAMPLE_NEAREST,
  RESAMPLE_LINEAR,        /* the first and the last element of input and output coincide (aligned corners) */
  RESAMPLE_LINEAR_CENTERS /* the outer borders of input and output coincide: element i has its centre at i + 1/2 */
} ResampleKind;

typedef struct ResampleAxis {
  ResampleKind kind;
  int64_t input, output;
  int64_t before; /* for a padding: output `before` is input 0; negative values crop */
  double scale;   /* for RESAMPLE_NEAREST and RESAMPLE_LINEAR_CENTERS: inputs per output; 0 for input / output */
} ResampleAxis;

/* Depth, height, width. Axes that the tensors lack are RESAMPLE_AXIS_TRIVIAL. */
typedef struct Resampling {
  int axes;
  ResampleAxis axis[RESAMPLING_AXES];
} Resampling;

#define RESAMPLE_AXIS_TRIVIAL {.kind = RESAMPLE_REPLICATE, .input = 1, .output = 1}

/* Sizes of an interpolated axis are below this limit, so that products of two of them fit 64 bits. */
#define RESAMPLE_SIZE_LIMIT ((int64_t)1 << 31)

static inline bool axisIsPadding(const ResampleAxis *axis) { return axis->kind <= RESAMPLE_REFLECT; }

/* An output is (1 - fraction) times input `index` plus `fraction` times the next one, which is not read if `fraction`
   is 0. */
typedef struct ResampleSource {
  int64_t index;
  double fraction;
} ResampleSource;

/* Positions are ratios of integers, hence exact up to the rounding of the fraction, unless a scale is given. */
THNN_ELEMENT static inline ResampleSource resampleSource(const ResampleAxis *axis, int64_t o)
{
  const int64_t last = axis->input - 1;
  int64_t numerator, denominator;
  double position;
  switch (axis->kind) {
  case RESAMPLE_REPLICATE:
    o -= axis->before;
    return (ResampleSource){o < 0 ? 0 : o > last ? last : o, 0};
  case RESAMPLE_REFLECT:
    o -= axis->before;
    return (ResampleSource){o < 0 ? -o : o > last ? 2 * last - o : o, 0};
  case RESAMPLE_NEAREST:
    if (axis->scale == 0) return (ResampleSource){o * axis->input / axis->output, 0};
    position = floor((double)o * axis->scale);
    return (ResampleSource){position < (double)last ? (int64_t)position : last, 0};
  case RESAMPLE_LINEAR:
    if (axis->output == 1) return (ResampleSource){0, 0};
    numerator = o * last;
    denominator = axis->output - 1;
    break;
  default:
    if (axis->scale != 0) {
      position = ((double)o + 0.5) * axis->scale - 0.5;
      if (!(position > 0)) return (ResampleSource){0, 0};
      if (position >= (double)last) return (ResampleSource){last, 0};
      return (ResampleSource){(int64_t)position, position - floor(position)};
    }
    numerator = (2 * o + 1) * axis->input - axis->output;
    denominator = 2 * axis->output;
    if (numerator <= 0) return (ResampleSource){0, 0};
  }
  const int64_t index = numerator / denominator;
  if (index >= last) return (ResampleSource){last, 0};
  return (ResampleSource){index, (double)(numerator % denominator) / (double)denominator};
}

/* Tensors are (N, C) and the axes, N optional. `state` is for a library that computes on a device. */
void THNN_(resample)(THNNState *state, const Resampling *resampling, const THTensor *input, THTensor *output);
/* The transpose of the linear map from input to output. Sums follow the order of the outputs. */
void THNN_(resampleBackward)(THNNState *state, const Resampling *resampling, const THTensor *gradOutput,
                             THTensor *gradInput);

#endif
