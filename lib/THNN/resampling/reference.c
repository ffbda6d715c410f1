/* The functions of resampling.h and grid_sampler.h as plain loops over outputs. */

#include "resampling/grid_sampler.h"
#include "resampling/resampling.h"

static real *element(const THTensor *t, const int64_t *at)
{
  int64_t offset = 0;
  for (int d = 0; d < t->ndim; d++) offset += at[d] * t->stride[d];
  return TH_DATA(t) + offset;
}

/* The next position in a tensor, the last dimension first; false at the end. */
static bool step(const THTensor *t, int64_t *at)
{
  for (int d = t->ndim - 1; d >= 0; d--) {
    if (++at[d] < t->size[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* Corner `corner` of the cell that output out[] is interpolated in: its input in[] and its weight. Bit a of `corner`
   says whether it is the second input along axis a. */
static double corner(const Resampling *r, int ndim, const int64_t *out, int corner, int64_t *in)
{
  double weight = 1;
  memcpy(in, out, sizeof *in * (size_t)ndim);
  for (int a = 0; a < r->axes; a++) {
    const int d = ndim - r->axes + a;
    const ResampleSource source = resampleSource(&r->axis[RESAMPLING_AXES - r->axes + a], out[d]);
    in[d] = source.index + (corner >> a & 1);
    weight *= corner >> a & 1 ? source.fraction : 1 - source.fraction;
  }
  return weight;
}

void THNN_(resample)(THNNState *state __attribute__((unused)), const Resampling *resampling, const THTensor *input,
                     THTensor *output)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM];
  if (THNNTensor_numel(output) == 0) return;
  do {
    double sum = 0;
    for (int c = 0; c < 1 << resampling->axes; c++) {
      const double weight = corner(resampling, input->ndim, out, c, in);
      if (weight != 0) sum += weight * (double)*element(input, in);
    }
    *element(output, out) = (real)sum;
  } while (step(output, out));
}

void THNN_(resampleBackward)(THNNState *state __attribute__((unused)), const Resampling *resampling,
                             const THTensor *gradOutput, THTensor *gradInput)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM] = {0};
  if (THNNTensor_numel(gradInput) == 0) return;
  do *element(gradInput, in) = 0;
  while (step(gradInput, in));
  do
    for (int c = 0; c < 1 << resampling->axes; c++) {
      const double weight = corner(resampling, gradInput->ndim, out, c, in);
      if (weight != 0) *element(gradInput, in) += (real)(weight * (double)*element(gradOutput, out));
    }
  while (step(gradOutput, out));
}

/* --- grid sampler --------------------------------------------------------------------------------------------- */

/* Corner `corner` of the cell around position at[] of the output: its input in[], its weight, and the derivatives of
   the weight w.r.t. the coordinates. False if it is outside. Axis a of the tensors is coordinate axes - 1 - a. */
static bool gridCorner(int axes, const THTensor *input, const THTensor *grid, const int64_t *at, int corner,
                       int64_t *in, double *weight, double *slope)
{
  int64_t where[THNN_MAX_DIM] = {at[0]};
  bool inside = true;
  *weight = 1;
  in[0] = at[0];
  in[1] = at[1];
  for (int a = 0; a < axes; a++) where[1 + a] = at[2 + a], slope[a] = 1;
  for (int a = 0; a < axes; a++) {
    const int64_t size = input->size[2 + a];
    const int second = corner >> a & 1;
    real fraction;
    where[axes + 1] = axes - 1 - a;
    in[2 + a] = gridIndex(*element(grid, where), size, &fraction) + second;
    inside &= in[2 + a] >= 0 && in[2 + a] < size;
    const double factor = second ? (double)fraction : 1 - (double)fraction;
    *weight *= factor;
    for (int b = 0; b < axes; b++) slope[b] *= a != b ? factor : (second ? 0.5 : -0.5) * (double)(size - 1);
  }
  return inside;
}

void THNN_(gridSample)(THNNState *state __attribute__((unused)), int axes, const THTensor *input,
                       const THTensor *grid, THTensor *output)
{
  int64_t at[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM];
  double weight, slope[RESAMPLING_AXES];
  if (THNNTensor_numel(output) == 0) return;
  do {
    double sum = 0;
    for (int c = 0; c < 1 << axes; c++)
      if (gridCorner(axes, input, grid, at, c, in, &weight, slope)) sum += weight * (double)*element(input, in);
    *element(output, at) = (real)sum;
  } while (step(output, at));
}

void THNN_(gridSampleBackward)(THNNState *state __attribute__((unused)), int axes, const THTensor *input,
                               const THTensor *grid, const THTensor *gradOutput, THTensor *gradInput,
                               THTensor *gradGrid)
{
  int64_t at[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM] = {0}, where[THNN_MAX_DIM] = {0};
  double weight, slope[RESAMPLING_AXES];
  if (THNNTensor_numel(gradInput) == 0) return;
  do *element(gradInput, in) = 0;
  while (step(gradInput, in));
  do *element(gradGrid, where) = 0;
  while (step(gradGrid, where));
  do
    for (int c = 0; c < 1 << axes; c++) {
      if (!gridCorner(axes, input, grid, at, c, in, &weight, slope)) continue;
      const double g = (double)*element(gradOutput, at);
      *element(gradInput, in) += (real)(weight * g);
      where[0] = at[0];
      for (int a = 0; a < axes; a++) where[1 + a] = at[2 + a];
      for (int a = 0; a < axes; a++) {
        where[axes + 1] = axes - 1 - a;
        *element(gradGrid, where) += (real)(slope[a] * g * (double)*element(input, in));
      }
    }
  while (step(gradOutput, at));
}
