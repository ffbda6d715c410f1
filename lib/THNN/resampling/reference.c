/* The functions of resampling.h as plain loops over outputs. */

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

/* Corner `corner` of the cell that output out[] is interpolated in: its input in[] and its weight. Bit a of `corner` says
   whether it is the second input along axis a. */
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

void THNN_(resample)(const Resampling *resampling, const THTensor *input, THTensor *output)
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

void THNN_(resampleBackward)(const Resampling *resampling, const THTensor *gradOutput, THTensor *gradInput)
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
