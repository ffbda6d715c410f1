/* The functions of pooling.h as plain loops over windows, in double: one output after the other, one kernel element
   after the other. */

#include "pooling/indexed.h"
#include "pooling/pooling.h"
#include "pooling/regions.h"

static double valueAt(const THTensor *t, const int64_t *at)
{
  int64_t offset = 0;
  for (int d = 0; d < t->ndim; d++) offset += at[d] * t->stride[d];
  return (double)TH_DATA(t)[offset];
}

static void setValue(THTensor *t, const int64_t *at, double value)
{
  int64_t offset = 0;
  for (int d = 0; d < t->ndim; d++) offset += at[d] * t->stride[d];
  TH_DATA(t)[offset] = (real)value;
}

static int64_t *indexPointer(const THIndexTensor *t, const int64_t *at)
{
  int64_t offset = 0;
  for (int d = 0; d < t->ndim; d++) offset += at[d] * t->stride[d];
  return (int64_t *)t->data + offset;
}

/* Advances to the next position of a tensor in row-major order; false at the end. */
static bool step(const THTensor *t, int64_t *at)
{
  for (int d = t->ndim - 1; d >= 0; d--) {
    if (++at[d] < t->size[d]) return true;
    at[d] = 0;
  }
  return false;
}

/* Finds in[], the position of the input that kernel element `number` reads in the window of the output at out[], and
   its index. False if the input does not exist. Window axes follow the channels, or precede them if there is only
   one. */
static bool element(const Pooling *p, int ndim, const int64_t *out, int64_t number, int64_t *in, int64_t *index)
{
  const int first = ndim - p->axes - (p->axes == 1);
  int64_t rest = number, weight = 1;
  bool exists = true;
  memcpy(in, out, sizeof *in * (size_t)ndim);
  *index = p->index == INDEX_KERNEL ? number : 0;
  for (int a = WINDOW_AXES - 1; a >= WINDOW_AXES - p->axes; a--) {
    const WindowAxis *axis = &p->axis[a];
    int64_t *position = in + first + a - (WINDOW_AXES - p->axes);
    const int64_t k = rest % axis->kernel;
    rest /= axis->kernel;
    *position = windowStart(axis, *position) + k * axis->dilation;
    exists &= *position >= 0 && *position < axis->input;
    if (p->index == INDEX_INPUT) *index += *position * weight;
    if (p->index == INDEX_KERNEL_PACKED) *index += k << (8 * a);
    weight *= axis->input;
  }
  return exists;
}

static int64_t elementCount(const Pooling *p) { return p->axis[0].kernel * p->axis[1].kernel * p->axis[2].kernel; }

static double divisor(const Pooling *p, int ndim, const int64_t *out, bool countPadding)
{
  const int first = ndim - p->axes - (p->axes == 1);
  double product = 1;
  for (int a = 0; a < p->axes; a++)
    product *= (double)poolingDivisor(&p->axis[WINDOW_AXES - p->axes + a], out[first + a], countPadding);
  return product;
}

void THNN_(poolingMax)(const Pooling *pooling, const THTensor *input, THTensor *output, THIndexTensor *indices)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM], index;
  if (THNNTensor_numel(output) == 0) return;
  do {
    double best = sizeof(real) == sizeof(float) ? -FLT_MAX : -DBL_MAX;
    int64_t *bestIndex = indexPointer(indices, out);
    *bestIndex = -1;
    for (int64_t e = 0; e < elementCount(pooling); e++) {
      if (!element(pooling, input->ndim, out, e, in, &index)) continue;
      const double x = valueAt(input, in);
      if (*bestIndex < 0 || x > best || isnan(x)) best = x, *bestIndex = index;
    }
    setValue(output, out, best);
  } while (step(output, out));
}

/* Finds in[], the position of the input that an index names. INDEX_INPUT does not tell the window, so the position may
   be outside of it. */
static bool inputOf(const Pooling *p, int ndim, const int64_t *out, int64_t wanted, int64_t *in)
{
  const WindowAxis *axis = p->axis;
  int64_t index, k[WINDOW_AXES] = {wanted & 255, wanted >> 8 & 255, wanted >> 16};
  if (wanted < 0) return false;
  if (p->index == INDEX_INPUT) {
    memcpy(in, out, sizeof *in * (size_t)ndim);
    for (int a = WINDOW_AXES - 1, d = ndim - 1 - (p->axes == 1); a >= WINDOW_AXES - p->axes; a--, d--) {
      in[d] = wanted % axis[a].input;
      wanted /= axis[a].input;
    }
    return wanted == 0;
  }
  if (p->index == INDEX_KERNEL_PACKED) {
    if (k[0] >= axis[0].kernel || k[1] >= axis[1].kernel || k[2] >= axis[2].kernel) return false;
    wanted = (k[0] * axis[1].kernel + k[1]) * axis[2].kernel + k[2];
  }
  return wanted < elementCount(p) && element(p, ndim, out, wanted, in, &index);
}

bool THNN_(poolingCheckIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM];
  if (THNNTensor_numel(indices) == 0) return true;
  do {
    const int64_t index = *indexPointer(indices, out);
    if (index == -1 || (index >= 0 && inputOf(pooling, indices->ndim, out, index, in))) continue;
    THNN_fail(state, THNN_INDEX_ERROR, "indices", "expected -1 or an element of the input, got %lld",
              (long long)index);
    return false;
  } while (step(indices, out));
  return true;
}

void THNN_(poolingMaxBackward)(const Pooling *pooling, bool inWindows, const THTensor *gradOutput,
                               const THIndexTensor *indices, THTensor *gradInput)
{
  (void)inWindows;
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM] = {0};
  if (THNNTensor_numel(gradInput) == 0) return;
  do setValue(gradInput, in, 0);
  while (step(gradInput, in));
  do {
    const int64_t index = *indexPointer(indices, out);
    if (index >= 0 && inputOf(pooling, gradInput->ndim, out, index, in))
      setValue(gradInput, in, valueAt(gradInput, in) + valueAt(gradOutput, out));
  } while (step(gradOutput, out));
}

void THNN_(poolingAverage)(const Pooling *pooling, bool countPadding, const THTensor *input, THTensor *output)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM], index;
  if (THNNTensor_numel(output) == 0) return;
  do {
    double sum = 0;
    for (int64_t e = 0; e < elementCount(pooling); e++)
      if (element(pooling, input->ndim, out, e, in, &index)) sum += valueAt(input, in);
    setValue(output, out, sum / divisor(pooling, input->ndim, out, countPadding));
  } while (step(output, out));
}

void THNN_(poolingAverageBackward)(const Pooling *pooling, bool countPadding, const THTensor *gradOutput,
                                   THTensor *gradInput)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM] = {0}, index;
  if (THNNTensor_numel(gradInput) == 0) return;
  do setValue(gradInput, in, 0);
  while (step(gradInput, in));
  do {
    const double g = valueAt(gradOutput, out) / divisor(pooling, gradInput->ndim, out, countPadding);
    for (int64_t e = 0; e < elementCount(pooling); e++)
      if (element(pooling, gradInput->ndim, out, e, in, &index))
        setValue(gradInput, in, valueAt(gradInput, in) + g);
  } while (step(gradOutput, out));
}

/* --- indices --- */

void THNN_(poolingRequireIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM];
  if (THNNTensor_numel(indices) == 0) return;
  do {
    const int64_t index = *indexPointer(indices, out);
    if (index >= 0 && inputOf(pooling, indices->ndim, out, index, in)) continue;
    THNN_fail(state, THNN_INDEX_ERROR, "indices", "expected an element of the input, got %lld", (long long)index);
    return;
  } while (step(indices, out));
}

void THNN_(poolingScatter)(const Pooling *pooling, const THTensor *pooled, const THIndexTensor *indices,
                           THTensor *plane, bool add)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM] = {0};
  if (THNNTensor_numel(plane) == 0) return;
  do setValue(plane, in, 0);
  while (step(plane, in));
  do {
    const int64_t index = *indexPointer(indices, out);
    if (index >= 0 && inputOf(pooling, plane->ndim, out, index, in))
      setValue(plane, in, valueAt(pooled, out) + (add ? valueAt(plane, in) : 0));
  } while (step(pooled, out));
}

void THNN_(poolingTake)(const Pooling *pooling, const THTensor *plane, const THIndexTensor *indices,
                        THTensor *pooled)
{
  int64_t out[THNN_MAX_DIM] = {0}, in[THNN_MAX_DIM];
  if (THNNTensor_numel(pooled) == 0) return;
  do
    setValue(pooled, out,
             inputOf(pooling, plane->ndim, out, *indexPointer(indices, out), in) ? valueAt(plane, in) : 0);
  while (step(pooled, out));
}

/* --- regions --- */

/* True if the input at in[] belongs to the region of the output at out[]. Sets *index to the index of that input and
   *size to the number of elements of the region. */
static bool inRegion(const PoolingRegions *r, int ndim, const int64_t *out, const int64_t *in, int64_t *index,
                     double *size)
{
  const int axes = r->pooling.axes, first = ndim - axes;
  const int64_t n = first == 2 ? out[0] : 0, c = out[first - 1];
  *index = 0;
  *size = 1;
  for (int d = 0; d < first; d++)
    if (in[d] != out[d]) return false;
  for (int a = WINDOW_AXES - axes; a < WINDOW_AXES; a++) {
    const int d = first + a - (WINDOW_AXES - axes);
    const Region region = regionOf(r, a, regionSample(r, a, n, c), out[d]);
    if (in[d] < region.start || in[d] >= region.end) return false;
    *index = *index * r->pooling.axis[a].input + in[d];
    *size *= (double)(region.end - region.start);
  }
  return true;
}

void THNN_(poolingRegionMax)(const PoolingRegions *regions, const THTensor *input, THTensor *output,
                             THIndexTensor *indices)
{
  int64_t out[THNN_MAX_DIM] = {0}, index;
  double size;
  if (THNNTensor_numel(output) == 0) return;
  do {
    int64_t in[THNN_MAX_DIM] = {0}, *bestIndex = indexPointer(indices, out);
    double best = 0;
    *bestIndex = -1;
    do {
      if (!inRegion(regions, input->ndim, out, in, &index, &size)) continue;
      const double x = valueAt(input, in);
      if (*bestIndex < 0 || x > best || isnan(x)) best = x, *bestIndex = index;
    } while (step(input, in));
    setValue(output, out, best);
  } while (step(output, out));
}

void THNN_(poolingRegionMaxBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                     const THIndexTensor *indices, THTensor *gradInput)
{
  THNN_(poolingScatter)(&regions->pooling, gradOutput, indices, gradInput, true);
}

void THNN_(poolingRegionAverage)(const PoolingRegions *regions, const THTensor *input, THTensor *output)
{
  int64_t out[THNN_MAX_DIM] = {0}, index;
  double size;
  if (THNNTensor_numel(output) == 0) return;
  do {
    int64_t in[THNN_MAX_DIM] = {0};
    double sum = 0, count = 1;
    do {
      if (inRegion(regions, input->ndim, out, in, &index, &size)) sum += valueAt(input, in), count = size;
    } while (step(input, in));
    setValue(output, out, sum / count);
  } while (step(output, out));
}

void THNN_(poolingRegionAverageBackward)(const PoolingRegions *regions, const THTensor *gradOutput,
                                         THTensor *gradInput)
{
  int64_t in[THNN_MAX_DIM] = {0}, index;
  double size;
  if (THNNTensor_numel(gradInput) == 0) return;
  do {
    int64_t out[THNN_MAX_DIM] = {0};
    double sum = 0;
    do {
      if (inRegion(regions, gradInput->ndim, out, in, &index, &size)) sum += valueAt(gradOutput, out) / size;
    } while (step(gradOutput, out));
    setValue(gradInput, in, sum);
  } while (step(gradInput, in));
}

/* --- scaled sums, which callers compute by other loops --- */

bool THNN_(poolingScaledSum)(const Pooling *pooling, const THTensor *input, const real *scale, const real *bias,
                             THTensor *output)
{
  (void)pooling, (void)input, (void)scale, (void)bias, (void)output;
  return false;
}

bool THNN_(poolingScaledSumBackward)(const Pooling *pooling, const THTensor *gradOutput, const real *scale,
                                     THTensor *gradInput)
{
  (void)pooling, (void)gradOutput, (void)scale, (void)gradInput;
  return false;
}
