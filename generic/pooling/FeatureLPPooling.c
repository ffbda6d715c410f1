#include "modules/FeatureLPPooling.h"
#include "runtime/integer.h"
#include "runtime/pieces.h"

/* Lanes: outputs that are computed together, adjacent along the last dimension or, without one, along the features. */
#define MOST_LANES 256

enum { BATCH, FEATURE, ROW, LANE };

/* (N, F, A, B), where only F is required: missing dimensions have size 1. If B has size 1, A takes its place, so that
   the lanes run along A. */
typedef struct Features {
  real *data;
  int64_t size[4], stride[4];
} Features;

static Features features(const THTensor *t, bool batchMode)
{
  Features f = {TH_DATA(t), {1, 1, 1, 1}, {0, 0, 0, 0}};
  for (int d = 0; d < t->ndim; d++) {
    f.size[d + !batchMode] = t->size[d];
    f.stride[d + !batchMode] = t->stride[d];
  }
  if (f.size[LANE] == 1) {
    f.size[LANE] = f.size[ROW];
    f.stride[LANE] = f.stride[ROW];
    f.size[ROW] = 1;
  }
  return f;
}

static real *featureAt(const Features *f, int64_t n, int64_t feature, int64_t a, int64_t b)
{
  return f->data + n * f->stride[BATCH] + feature * f->stride[FEATURE] + a * f->stride[ROW] + b * f->stride[LANE];
}

/* Checks the arguments, and sets the size of the output. */
static void check(THNNState *state, const THTensor *input, accreal power, int width, int stride, bool batchMode,
                  int64_t *size)
{
  const int dimension = batchMode ? 1 : 0;
  THNN_CHECK(power > 0 && power < (accreal)INFINITY, power, "expected a positive finite number, got %g", power);
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

/* n outputs, whose windows begin `lane` elements apart. */
static ALWAYS_INLINE void poolWith(const real *x, int64_t lane, int64_t feature, real *y, int64_t yLane, int n,
                                   int width, accreal power, bool square)
{
  accreal sum[MOST_LANES] = {0};
  for (int k = 0; k < width; k++, x += feature) {
    THNN_PRAGMA(omp simd)
    for (int i = 0; i < n; i++) {
      const accreal value = x[i * lane];
      sum[i] += square ? value * value : pow(value, power);
    }
  }
  THNN_PRAGMA(omp simd)
  for (int i = 0; i < n; i++) y[i * yLane] = (real)(square ? sqrt(sum[i]) : root(sum[i], power));
}

static void pool(const real *x, int64_t lane, int64_t feature, real *y, int64_t yLane, int n, int width,
                 accreal power)
{
  if (power != 2) poolWith(x, lane, feature, y, yLane, n, width, power, false);
  else if (lane == 1 && yLane == 1) poolWith(x, 1, feature, y, 1, n, width, power, true);
  else poolWith(x, lane, feature, y, yLane, n, width, power, true);
}

static void poolFeatures(const THTensor *input, const THTensor *output, accreal power, int width, int stride,
                         bool batchMode)
{
  const Features x = features(input, batchMode), y = features(output, batchMode);
  const bool along = y.size[LANE] == 1; /* lanes along the features */
  const int64_t outputs = along ? 1 : y.size[FEATURE], lanes = along ? y.size[FEATURE] : y.size[LANE];
  const int64_t blocks = ceilDivide(lanes, MOST_LANES), rows = y.size[BATCH] * outputs * y.size[ROW];
  const int64_t step = along ? stride * x.stride[FEATURE] : x.stride[LANE];
  THNN_PARALLEL_FOR(task, rows * blocks, rows * lanes * width) {
    const int64_t first = task % blocks * MOST_LANES, row = task / blocks;
    const int64_t a = row % y.size[ROW], o = row / y.size[ROW] % outputs, n = row / y.size[ROW] / outputs;
    pool(featureAt(&x, n, o * stride, a, 0) + first * step, step, x.stride[FEATURE],
         featureAt(&y, n, o, a, 0) + first * y.stride[along ? FEATURE : LANE], y.stride[along ? FEATURE : LANE],
         (int)MIN(MOST_LANES, lanes - first), width, power);
  }
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
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, batchMode ? 1 : 0, tensors,
                 { poolFeatures(t[0], t[1], power, width, stride, batchMode); });
}

/* n outputs and their windows: pointers to the first lane, the strides of lanes, and of features in a window. */
typedef struct LaneOperands {
  const real *x, *y, *g;
  real *dx;
  int64_t xLane, yLane, gLane, dxLane, xFeature, dxFeature;
} LaneOperands;

/* Adds the gradients of n outputs to their windows, the last feature first: where the lanes are features, an input then
   gets the gradients of its windows in their order. */
static ALWAYS_INLINE void addSlopesWith(const LaneOperands *s, int64_t xLane, int64_t yLane, int64_t gLane,
                                        int64_t dxLane, int64_t n, int width, accreal power, bool square)
{
  const real *const y = s->y, *const g = s->g;
  for (int k = width - 1; k >= 0; k--) {
    const real *const x = s->x + k * s->xFeature;
    real *const dx = s->dx + k * s->dxFeature;
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) {
      const accreal norm = y[i * yLane], ratio = x[i * xLane] / norm;
      const accreal slope = g[i * gLane] * (square ? ratio : pow(ratio, power - 1));
      dx[i * dxLane] += (real)(norm != 0 ? slope : 0);
    }
  }
}

static void addSlopes(const LaneOperands *s, int64_t n, int width, accreal power)
{
  if (power != 2) addSlopesWith(s, s->xLane, s->yLane, s->gLane, s->dxLane, n, width, power, false);
  else if (s->xLane == 1 && s->yLane == 1 && s->gLane == 1 && s->dxLane == 1)
    addSlopesWith(s, 1, 1, 1, 1, n, width, power, true);
  else addSlopesWith(s, s->xLane, s->yLane, s->gLane, s->dxLane, n, width, power, true);
}

static void gradFeatures(const THTensor *gradOutput, const THTensor *input, const THTensor *output,
                         const THTensor *gradInput, accreal power, int width, int stride, bool batchMode)
{
  const Features x = features(input, batchMode), y = features(output, batchMode);
  const Features g = features(gradOutput, batchMode), dx = features(gradInput, batchMode);
  const bool along = y.size[LANE] == 1;
  const int64_t blocks = ceilDivide(x.size[LANE], MOST_LANES), rows = x.size[BATCH] * x.size[ROW];
  const int lane = along ? FEATURE : LANE;
  THNN_PARALLEL_FOR(task, rows * blocks, rows * x.size[LANE] * x.size[FEATURE] * width) {
    const int64_t b = task % blocks * MOST_LANES, row = task / blocks, a = row % x.size[ROW],
                  n = row / x.size[ROW];
    const int64_t lanes = MIN(MOST_LANES, x.size[LANE] - b);
    for (int64_t f = 0; f < x.size[FEATURE]; f++) {
      real *const zeroed = featureAt(&dx, n, f, a, b);
      for (int64_t i = 0; i < lanes; i++) zeroed[i * dx.stride[LANE]] = 0;
    }
    for (int64_t o = 0; o < (along ? 1 : y.size[FEATURE]); o++) {
      const LaneOperands s = {.x = featureAt(&x, n, o * stride, a, b),
                              .y = featureAt(&y, n, o, a, b),
                              .g = featureAt(&g, n, o, a, b),
                              .dx = featureAt(&dx, n, o * stride, a, b),
                              .xLane = along ? stride * x.stride[FEATURE] : x.stride[LANE],
                              .yLane = y.stride[lane],
                              .gLane = g.stride[lane],
                              .dxLane = along ? stride * dx.stride[FEATURE] : dx.stride[LANE],
                              .xFeature = x.stride[FEATURE],
                              .dxFeature = dx.stride[FEATURE]};
      addSlopes(&s, along ? y.size[FEATURE] : lanes, width, power);
    }
  }
}

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
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_READ(input), THNN_READ(output),
                                 THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, batchMode ? 1 : 0, tensors,
                 { gradFeatures(t[0], t[1], t[2], t[3], power, width, stride, batchMode); });
}
