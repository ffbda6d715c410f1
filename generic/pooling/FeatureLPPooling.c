#include "modules/FeatureLPPooling.h"
#include "runtime/integer.h"

/* (N, F, A, B), of which only F is certain: dimensions that are missing have the size 1. */
typedef struct Features {
  int64_t size[4], stride[4];
} Features;

static Features features(const THTensor *t, bool batchMode)
{
  Features f = {{1, 1, 1, 1}, {0, 0, 0, 0}};
  for (int d = 0; d < t->ndim; d++) {
    f.size[d + !batchMode] = t->size[d];
    f.stride[d + !batchMode] = t->stride[d];
  }
  return f;
}

static int64_t featureOffset(const Features *f, int64_t n, int64_t feature, int64_t a)
{
  return n * f->stride[0] + feature * f->stride[1] + a * f->stride[2];
}

/* Checks the arguments, and sets the size of the output. */
static void check(THNNState *state, const THTensor *input, accreal power, int width, int stride, bool batchMode,
                  int64_t *size)
{
  const int dimension = batchMode ? 1 : 0;
  THNN_CHECK(power > 0 && power < (accreal)INFINITY, power, "expected a positive number, got %g", power);
  THNN_CHECK(width >= 2 && width <= 16, width, "expected 2 to 16, got %d", width);
  THNN_CHECK(stride >= 1 && stride <= 4, stride, "expected 1 to 4, got %d", stride);
  THNN_CHECK(input->ndim > dimension && input->ndim <= dimension + 3, input, "expected %s, got %s",
             batchMode ? "2 to 4 dimensions (N, F), (N, F, A) or (N, F, A, B)"
                       : "1 to 3 dimensions (F), (F, A) or (F, A, B)",
             THNN_shape(input));
  THNN_CHECK(input->size[dimension] >= width, input, "expected at least %d features in dimension %d, got %s",
             width, dimension, THNN_shape(input));
  memcpy(size, input->size, sizeof *size * (size_t)input->ndim);
  size[dimension] = (input->size[dimension] - width) / stride + 1;
}

/* Odd powers keep the sign of their base, and so does the root. */
static accreal root(accreal sum, accreal power)
{
  if (power == 2) return sqrt(sum);
  if (sum < 0 && fmod(power, 2) == 1) return -pow(-sum, 1 / power);
  return pow(sum, 1 / power);
}

void THNN_(FeatureLPPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal power,
                                          int width, int stride, bool batchMode)
{
  int64_t size[THNN_MAX_DIM];
  check(state, input, power, width, stride, batchMode, size);
  THNN_RETURN_IF_FAILED(state);
  THNN_resize(state, "output", output, input->ndim, size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);

  const Features x = features(input, batchMode), y = features(output, batchMode);
  const int64_t rows = y.size[0] * y.size[1] * y.size[2];
  THNN_PARALLEL_FOR(row, rows, rows * y.size[3] * width) {
    const int64_t a = row % y.size[2], o = row / y.size[2] % y.size[1], n = row / y.size[2] / y.size[1];
    const real *from = TH_DATA(input) + featureOffset(&x, n, o * stride, a);
    real *to = TH_DATA(output) + featureOffset(&y, n, o, a);
    for (int64_t b = 0; b < y.size[3]; b++) {
      accreal sum = 0;
      for (int k = 0; k < width; k++) {
        const accreal value = from[k * x.stride[1] + b * x.stride[3]];
        sum += power == 2 ? value * value : pow(value, power);
      }
      to[b * y.stride[3]] = (real)root(sum, power);
    }
  }
}

/* Each input adds up the gradients of the windows that it belongs to, in their order. */
void THNN_(FeatureLPPooling_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *input,
                                             THTensor *output, THTensor *gradInput, accreal power, int width,
                                             int stride, bool batchMode)
{
  int64_t size[THNN_MAX_DIM];
  check(state, input, power, width, stride, batchMode, size);
  THNN_RETURN_IF_FAILED(state);
  thnn_checkGradOutput(state, gradOutput, input->ndim, size);
  THNN_CHECK(THNNTensor_hasSize(output, input->ndim, size), output, "expected the size %s, got %s",
             THNN_shapeOf(input->ndim, size), THNN_shape(output));
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, output);
  THNN_RETURN_IF_META(state);

  const Features x = features(input, batchMode), y = features(output, batchMode);
  const Features g = features(gradOutput, batchMode), dx = features(gradInput, batchMode);
  const int64_t rows = x.size[0] * x.size[1] * x.size[2];
  THNN_PARALLEL_FOR(row, rows, rows * x.size[3] * width) {
    const int64_t a = row % x.size[2], feature = row / x.size[2] % x.size[1], n = row / x.size[2] / x.size[1];
    const int64_t first = feature < width ? 0 : (feature - width) / stride + 1;
    const int64_t end = MIN(feature / stride + 1, y.size[1]);
    for (int64_t b = 0; b < x.size[3]; b++) {
      const accreal value = TH_DATA(input)[featureOffset(&x, n, feature, a) + b * x.stride[3]];
      accreal sum = 0;
      for (int64_t o = first; o < end; o++) {
        const accreal norm = TH_DATA(output)[featureOffset(&y, n, o, a) + b * y.stride[3]];
        const accreal gradient = TH_DATA(gradOutput)[featureOffset(&g, n, o, a) + b * g.stride[3]];
        if (norm != 0) sum += gradient * (power == 2 ? value / norm : pow(value / norm, power - 1));
      }
      TH_DATA(gradInput)[featureOffset(&dx, n, feature, a) + b * dx.stride[3]] = (real)sum;
    }
  }
}
