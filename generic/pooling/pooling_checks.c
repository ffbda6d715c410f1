#include "pooling/pooling_checks.h"
#include "pooling/text.h"

static void checkArguments(THNNState *state, int count, const PoolingArguments *axes)
{
  for (int a = 0; a < count; a++)
    if (axes[a].kernel < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].kernelName, "expected a kernel of at least 1, got %d",
                axes[a].kernel);
  for (int a = 0; a < count; a++)
    if (axes[a].stride < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].strideName, "expected a stride of at least 1, got %d",
                axes[a].stride);
  for (int a = 0; a < count; a++)
    if (axes[a].padding < 0 || axes[a].padding > axes[a].kernel / 2)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].paddingName, "expected 0 <= %s <= %s / 2 = %d, got %d",
                axes[a].paddingName, axes[a].kernelName, axes[a].kernel / 2, axes[a].padding);
  for (int a = 0; a < count; a++)
    if (axes[a].dilation < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].dilationName, "expected a dilation of at least 1, got %d",
                axes[a].dilation);
}

/* The dimension of a tensor, with or without N, that is the first axis of the window. Channels follow a single axis, and
   precede two or three. */
static int firstAxis(const Pooling *pooling, const THNNTensor *t)
{
  return t->ndim - pooling->axes - (pooling->axes == 1);
}

static void checkInput(THNNState *state, const THTensor *input, Pooling *pooling)
{
  static const char *const dimensions[WINDOW_AXES][2] = {
      {"(N, T, C)", "(T, C)"}, {"(N, C, H, W)", "(C, H, W)"}, {"(N, C, T, H, W)", "(C, T, H, W)"}};
  const char *const *expected = dimensions[pooling->axes - 1];
  const int batchless = pooling->axes + 1;
  THNN_CHECK(input->ndim == batchless || input->ndim == batchless + 1, input,
             "expected %d dimensions %s or %d %s, got %s", batchless + 1, expected[0], batchless, expected[1],
             THNN_shape(input));
  for (int d = input->ndim - batchless; d < input->ndim; d++) {
    THNN_CHECK(input->size[d] > 0, input, "expected no empty dimension but N, got %s", THNN_shape(input));
  }
  for (int d = 0; d < pooling->axes; d++) {
    const int64_t size = input->size[firstAxis(pooling, input) + d];
    THNN_CHECK(size < INT64_MAX / 16, input, "%s is too large to address", THNN_shape(input));
    pooling->axis[WINDOW_AXES - pooling->axes + d].input = size;
  }
}

static void pooledSize(const THTensor *input, const Pooling *pooling, int64_t *size)
{
  memcpy(size, input->size, sizeof *size * (size_t)input->ndim);
  for (int d = 0; d < pooling->axes; d++)
    size[firstAxis(pooling, input) + d] = pooling->axis[WINDOW_AXES - pooling->axes + d].output;
}

/* Sets the size of the output. A window beyond the padding is dropped if there is padding along any axis, as in torch. */
static void slideWindow(THNNState *state, const THTensor *input, bool ceilMode, Pooling *pooling)
{
  int64_t in[WINDOW_AXES], kernel[WINDOW_AXES], stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
  int64_t out[WINDOW_AXES];
  bool padded = false, dilated = false, fits = true;
  for (int a = 0; a < WINDOW_AXES; a++) {
    padded |= pooling->axis[a].padding > 0;
    dilated |= pooling->axis[a].dilation > 1;
  }
  for (int a = 0; a < WINDOW_AXES; a++) {
    WindowAxis *axis = &pooling->axis[a];
    windowPositions(axis, ceilMode, &axis->output);
    if (padded) windowDropOutside(axis);
    fits &= axis->output > 0;
    in[a] = axis->input, out[a] = axis->output;
    kernel[a] = axis->kernel, stride[a] = axis->stride, padding[a] = axis->padding, dilation[a] = axis->dilation;
  }
  static const char *const name[WINDOW_AXES] = {"a sequence", "an image", "a volume"};
  THNN_CHECK(fits, input,
             "%s of %s with kernel %s%s%s, stride %s and padding %s has no output: its size would be %s",
             name[pooling->axes - 1], axisText(pooling, " x ", in).text, axisText(pooling, " x ", kernel).text,
             dilated ? ", dilation " : "", dilated ? axisText(pooling, " x ", dilation).text : "",
             axisText(pooling, " x ", stride).text, axisText(pooling, " x ", padding).text,
             axisText(pooling, " x ", out).text);
  int64_t elements = 1;
  int64_t size[THNN_MAX_DIM];
  pooledSize(input, pooling, size);
  for (int d = 0; d < input->ndim; d++) fits &= !__builtin_mul_overflow(elements, size[d], &elements);
  /* Then bytes of a tensor, strides and sums of sizes are below 2^63. */
  THNN_CHECK(fits && elements < INT64_MAX / 16, input, "%s gives an output too large to address",
             THNN_shape(input));
}

void THNN_(checkPooling)(THNNState *state, const THTensor *input, int count, const PoolingArguments *axes,
                         bool ceilMode, Pooling *pooling)
{
  *pooling = (Pooling){.axes = count, .axis = {WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL}};
  for (int a = 0; a < count; a++)
    pooling->axis[WINDOW_AXES - 1 - a] = (WindowAxis){.kernel = axes[a].kernel,
                                                      .stride = axes[a].stride,
                                                      .padding = axes[a].padding,
                                                      .dilation = axes[a].dilation};
  checkArguments(state, count, axes);
  THNN_RETURN_IF_FAILED(state);
  checkInput(state, input, pooling);
  THNN_RETURN_IF_FAILED(state);
  slideWindow(state, input, ceilMode, pooling);
}

void THNN_(resizePooled)(THNNState *state, const char *name, THNNTensor *tensor, const THTensor *input,
                         const Pooling *pooling)
{
  int64_t size[THNN_MAX_DIM];
  pooledSize(input, pooling, size);
  THNN_resize(state, name, tensor, input->ndim, size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
}

void THNN_(checkPooled)(THNNState *state, const char *name, const THNNTensor *tensor, const THTensor *input,
                        const Pooling *pooling)
{
  int64_t size[THNN_MAX_DIM];
  pooledSize(input, pooling, size);
  if (tensor->ndim != input->ndim || memcmp(tensor->size, size, sizeof *size * (size_t)input->ndim))
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected the size of output, %s, got %s",
              THNN_shapeOf(input->ndim, size), THNN_shape(tensor));
}
