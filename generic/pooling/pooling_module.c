#include "pooling/pooling_module.h"
#include "pooling/text.h"
#include "runtime/pieces.h"

static void checkArguments(THNNState *state, const PoolingWindow *window)
{
  const PoolingArguments *axes = window->axis;
  for (int a = 0; a < window->axes; a++)
    if (axes[a].kernel < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].kernelName, "expected a kernel of at least 1, got %d",
                axes[a].kernel);
  for (int a = 0; a < window->axes; a++)
    if (axes[a].kernel > 256 && window->index == INDEX_KERNEL_PACKED)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].kernelName,
                "expected a kernel of at most 256, as indices hold its elements in bytes, got %d", axes[a].kernel);
  for (int a = 0; a < window->axes; a++)
    if (axes[a].stride < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].strideName, "expected a stride of at least 1, got %d",
                axes[a].stride);
  for (int a = 0; a < window->axes; a++)
    if (axes[a].padding < 0 || axes[a].padding > axes[a].kernel / 2)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].paddingName, "expected 0 <= %s <= %s / 2 = %d, got %d",
                axes[a].paddingName, axes[a].kernelName, axes[a].kernel / 2, axes[a].padding);
  for (int a = 0; a < window->axes; a++)
    if (axes[a].dilation < 1)
      THNN_fail(state, THNN_VALUE_ERROR, axes[a].dilationName, "expected a dilation of at least 1, got %d",
                axes[a].dilation);
}

/* The dimension of a tensor, with or without N, that is the first axis of the window. Channels follow a single axis,
   and precede two or three. The dimensions before it are independent. */
static int firstAxis(const Pooling *pooling, const THNNTensor *t)
{
  return t->ndim - pooling->axes - (pooling->axes == 1);
}

/* The dimensions of tensors, by the number of axes of the window. */
static const char *const layouts[WINDOW_AXES] = {"N, T, C", "N, C, H, W", "N, C, T, H, W"};

static void checkInput(THNNState *state, const THTensor *input, const char *layout, Pooling *pooling)
{
  const int batchless = pooling->axes + 1;
  THNN_CHECK(input->ndim == batchless || input->ndim == batchless + 1, input,
             "expected %d dimensions (%s) or %d (%s), got %s", batchless + 1, layout, batchless,
             layout + strlen("N, "), THNN_shape(input));
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

/* Fails if the output is too large: bytes of a tensor, strides and sums of sizes stay below 2^63. */
static void checkOutput(THNNState *state, const THTensor *input, const Pooling *pooling)
{
  int64_t elements = 1, size[THNN_MAX_DIM];
  bool fits = true;
  pooledSize(input, pooling, size);
  for (int d = 0; d < input->ndim; d++) fits &= !__builtin_mul_overflow(elements, size[d], &elements);
  THNN_CHECK(fits && elements < INT64_MAX / 16, input, "%s gives an output too large to address",
             THNN_shape(input));
}

/* Sets the size of the output. If there is padding along any axis, a last window that starts beyond the last input is
   dropped; torch drops it even without padding. */
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
  checkOutput(state, input, pooling);
}

/* Checks the arguments and the input, and finds the geometry. */
static void checkWindow(THNNState *state, const THTensor *input, const PoolingWindow *window, Pooling *pooling)
{
  *pooling = (Pooling){.axes = window->axes,
                       .axis = {WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL},
                       .index = window->index};
  for (int a = 0; a < window->axes; a++)
    pooling->axis[WINDOW_AXES - 1 - a] = (WindowAxis){.kernel = window->axis[a].kernel,
                                                      .stride = window->axis[a].stride,
                                                      .padding = window->axis[a].padding,
                                                      .dilation = window->axis[a].dilation};
  checkArguments(state, window);
  THNN_RETURN_IF_FAILED(state);
  checkInput(state, input, layouts[window->axes - 1], pooling);
  THNN_RETURN_IF_FAILED(state);
  for (int a = 0; a < window->axes && window->kernelInInput; a++)
    if (window->axis[a].kernel > pooling->axis[WINDOW_AXES - 1 - a].input)
      THNN_fail(state, THNN_VALUE_ERROR, window->axis[a].kernelName,
                "expected at most the size of the input, %lld, got %d",
                (long long)pooling->axis[WINDOW_AXES - 1 - a].input, window->axis[a].kernel);
  THNN_RETURN_IF_FAILED(state);
  slideWindow(state, input, window->ceilMode, pooling);
}

/* Gives a tensor the size of the output, in the layout of the input. */
static void resizePooled(THNNState *state, const char *name, THNNTensor *tensor, const THTensor *input,
                         const Pooling *pooling)
{
  int64_t size[THNN_MAX_DIM];
  pooledSize(input, pooling, size);
  THNN_resize(state, name, tensor, input->ndim, size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
}
#define RESIZE_POOLED(tensor, input, pooling) resizePooled(state, #tensor, tensor, input, pooling)

/* Fails unless a tensor has the size of the output. */
static void checkPooled(THNNState *state, const char *name, const THNNTensor *tensor, const THTensor *input,
                        const Pooling *pooling)
{
  int64_t size[THNN_MAX_DIM];
  pooledSize(input, pooling, size);
  if (!THNNTensor_hasSize(tensor, input->ndim, size))
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected the size of output, %s, got %s",
              THNN_shapeOf(input->ndim, size), THNN_shape(tensor));
}
#define CHECK_POOLED(tensor, input, pooling) checkPooled(state, #tensor, tensor, input, pooling)

/* The end of the checks of a forward; indices may be NULL. */
static void prepareOutput(THNNState *state, const Pooling *pooling, THTensor *input, THTensor *output,
                          THIndexTensor *indices)
{
  RESIZE_POOLED(output, input, pooling);
  if (indices) RESIZE_POOLED(indices, input, pooling);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(indices, input);
  THNN_CHECK_NO_OVERLAP(indices, output);
}

/* The end of the checks of a backward; indices may be NULL. */
static void prepareGradInput(THNNState *state, const Pooling *pooling, THTensor *input, THTensor *gradOutput,
                             THTensor *gradInput, THIndexTensor *indices)
{
  CHECK_POOLED(gradOutput, input, pooling);
  if (indices) CHECK_POOLED(indices, input, pooling);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, indices);
}

/* --- sliding windows --- */

void THNN_(maxPoolingUpdateOutput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                   THTensor *output, THIndexTensor *indices)
{
  Pooling pooling;
  checkWindow(state, input, window, &pooling);
  THNN_RETURN_IF_FAILED(state);
  prepareOutput(state, &pooling, input, output, indices);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output), THNN_WRITTEN(indices)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingMax)(&pooling, t[0], t[1], t[2]); });
}

void THNN_(maxPoolingUpdateGradInput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                      THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices)
{
  Pooling pooling;
  checkWindow(state, input, window, &pooling);
  THNN_RETURN_IF_FAILED(state);
  prepareGradInput(state, &pooling, input, gradOutput, gradInput, indices);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const bool inWindows = THNN_(poolingCheckIndices)(state, &pooling, indices);
  THNN_RETURN_IF_FAILED(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_READ(indices), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingMaxBackward)(&pooling, inWindows, t[0], t[1], t[2]); });
}

void THNN_(averagePoolingUpdateOutput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                       THTensor *output)
{
  Pooling pooling;
  checkWindow(state, input, window, &pooling);
  THNN_RETURN_IF_FAILED(state);
  prepareOutput(state, &pooling, input, output, NULL);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingAverage)(&pooling, window->countPadding, t[0], t[1]); });
}

void THNN_(averagePoolingUpdateGradInput)(THNNState *state, const PoolingWindow *window, THTensor *input,
                                          THTensor *gradOutput, THTensor *gradInput)
{
  Pooling pooling;
  checkWindow(state, input, window, &pooling);
  THNN_RETURN_IF_FAILED(state);
  prepareGradInput(state, &pooling, input, gradOutput, gradInput, NULL);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingAverageBackward)(&pooling, window->countPadding, t[0], t[1]); });
}

/* --- adaptive and fractional regions --- */

static void checkSamples(THNNState *state, const RegionWindow *window, const THTensor *input,
                         PoolingRegions *regions)
{
  const THTensor *randomSamples = window->randomSamples;
  const int batch = input->ndim - window->axes - 1;
  const int64_t size[3] = {batch ? input->size[0] : 1, input->size[batch], window->axes};
  const bool isBatch = THNNTensor_hasSize(randomSamples, 3, size);
  THNN_CHECK(isBatch || (!batch && THNNTensor_hasSize(randomSamples, 2, size + 1)), randomSamples,
             "expected %d numbers for each plane, %s, got %s", window->axes, THNN_shapeOf(3, size),
             THNN_shape(randomSamples));
  regions->samples = randomSamples;
}

/* Checks the values of the samples. It reads data, so it follows THNN_RETURN_IF_META. */
static void checkSampleValues(THNNState *state, const THTensor *randomSamples)
{
  const int first = randomSamples->ndim - 2; /* (N, C, axes) or (C, axes) */
  const int64_t N = first ? randomSamples->size[0] : 1, stride = first ? randomSamples->stride[0] : 0;
  for (int64_t n = 0; n < N; n++)
    for (int64_t c = 0; c < randomSamples->size[first]; c++)
      for (int64_t a = 0; a < randomSamples->size[first + 1]; a++) {
        const real sample = TH_DATA(
            randomSamples)[n * stride + c * randomSamples->stride[first] + a * randomSamples->stride[first + 1]];
        THNN_CHECK(sample >= 0 && sample <= 1, randomSamples,
                   "expected numbers from 0 to 1, got %g at (%lld, %lld, %lld)", (double)sample, (long long)n,
                   (long long)c, (long long)a);
      }
}

static void checkRegions(THNNState *state, const RegionWindow *window, const THTensor *input,
                         PoolingRegions *regions)
{
  Pooling *pooling = &regions->pooling;
  *regions = (PoolingRegions){.pooling = {.axes = window->axes,
                                          .axis = {WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL},
                                          .index = INDEX_INPUT}};
  checkInput(state, input, window->timeLast ? "N, C, H, W, T" : layouts[window->axes - 1], pooling);
  THNN_RETURN_IF_FAILED(state);
  for (int a = 0; a < window->axes; a++) {
    const RegionArguments *r = &window->axis[a];
    WindowAxis *axis = &pooling->axis[WINDOW_AXES - 1 - a];
    regions->sampleOf[WINDOW_AXES - 1 - a] = r->sampleColumn;
    if (r->output < 1)
      return THNN_fail(state, THNN_VALUE_ERROR, r->outputName, "expected at least 1, got %d", r->output);
    axis->output = r->output;
    regions->isAdaptive = r->sizeName == NULL;
    if (regions->isAdaptive) continue;
    if (r->size < 1)
      return THNN_fail(state, THNN_VALUE_ERROR, r->sizeName, "expected at least 1, got %d", r->size);
    if ((int64_t)r->output + r->size - 1 >= axis->input)
      return THNN_fail(state, THNN_VALUE_ERROR, r->sizeName, "expected %s + %s - 1 < %lld, got %d + %d - 1",
                       r->outputName, r->sizeName, (long long)axis->input, r->output, r->size);
    axis->kernel = r->size;
  }
  checkOutput(state, input, pooling);
}

void THNN_(regionPoolingUpdateOutput)(THNNState *state, const RegionWindow *window, THTensor *input,
                                      THTensor *output, THIndexTensor *indices)
{
  THTensor *randomSamples = (THTensor *)window->randomSamples;
  PoolingRegions regions;
  checkRegions(state, window, input, &regions);
  THNN_RETURN_IF_FAILED(state);
  if (randomSamples) checkSamples(state, window, input, &regions);
  prepareOutput(state, &regions.pooling, input, output, indices);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, randomSamples);
  THNN_CHECK_NO_OVERLAP(indices, randomSamples);
  if (!randomSamples) THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  if (randomSamples) checkSampleValues(state, randomSamples);
  THNN_RETURN_IF_FAILED(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_WRITTEN(output), THNN_WRITTEN(indices)};
  THNN_BY_PIECES(state, t, firstAxis(&regions.pooling, input), tensors, {
    if (indices) THNN_(poolingRegionMax)(&regions, t[0], t[1], t[2]);
    else THNN_(poolingRegionAverage)(&regions, t[0], t[1]);
  });
}

/* The regions of an adaptive pooling that gave gradOutput. */
static void checkAdaptedRegions(THNNState *state, int axes, const THTensor *input, const THTensor *gradOutput,
                                PoolingRegions *regions)
{
  RegionWindow window = {.axes = axes};
  THNN_CHECK(gradOutput->ndim == input->ndim, gradOutput, "expected as many dimensions as the input %s, got %s",
             THNN_shape(input), THNN_shape(gradOutput));
  for (int a = 0; a < axes && a < gradOutput->ndim; a++) {
    const int64_t size = gradOutput->size[gradOutput->ndim - 1 - a];
    THNN_CHECK(size >= 1 && size <= INT32_MAX, gradOutput,
               "expected at least one region along each of the last %d dimensions, got %s", axes,
               THNN_shape(gradOutput));
    window.axis[a] = (RegionArguments){(int)size, 0, 0, "gradOutput", NULL};
  }
  checkRegions(state, &window, input, regions);
}

void THNN_(regionPoolingUpdateGradInput)(THNNState *state, const RegionWindow *window, int axes, THTensor *input,
                                         THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices)
{
  PoolingRegions regions;
  if (window) checkRegions(state, window, input, &regions);
  else checkAdaptedRegions(state, axes, input, gradOutput, &regions);
  THNN_RETURN_IF_FAILED(state);
  prepareGradInput(state, &regions.pooling, input, gradOutput, gradInput, indices);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  if (indices) THNN_(poolingRequireIndices)(state, &regions.pooling, indices);
  THNN_RETURN_IF_FAILED(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_READ(indices), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, firstAxis(&regions.pooling, input), tensors, {
    if (indices) THNN_(poolingRegionMaxBackward)(&regions, t[0], t[1], t[2]);
    else THNN_(poolingRegionAverageBackward)(&regions, t[0], t[2]);
  });
}

/* --- unpooling --- */

/* The pooling that an unpooling inverts: `input` has the size of its output. */
static void checkUnpooling(THNNState *state, const Unpooling *unpooling, const THTensor *input, Pooling *pooling)
{
  *pooling = (Pooling){.axes = unpooling->axes,
                       .axis = {WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL, WINDOW_AXIS_TRIVIAL},
                       .index = unpooling->index};
  for (int a = 0; a < unpooling->axes; a++) {
    const UnpoolingArguments *axis = &unpooling->axis[a];
    thnn_checkAtLeast(state, axis->outputName, axis->output, 1);
    thnn_checkAtLeast(state, axis->strideName, axis->stride, 1);
    thnn_checkAtLeast(state, axis->paddingName, axis->padding, 0);
  }
  THNN_RETURN_IF_FAILED(state);
  checkInput(state, input, layouts[unpooling->axes - 1], pooling);
  THNN_RETURN_IF_FAILED(state);
  for (int a = 0; a < unpooling->axes; a++) {
    /* Kernel elements that an index may name. */
    pooling->axis[WINDOW_AXES - 1 - a].kernel = unpooling->index == INDEX_KERNEL_PACKED ? 256 : 1;
    pooling->axis[WINDOW_AXES - 1 - a].stride = unpooling->axis[a].stride;
    pooling->axis[WINDOW_AXES - 1 - a].padding = unpooling->axis[a].padding;
    pooling->axis[WINDOW_AXES - 1 - a].output = unpooling->axis[a].output;
  }
  checkOutput(state, input, pooling);
  for (int a = 0; a < WINDOW_AXES; a++) {
    WindowAxis *axis = &pooling->axis[a];
    const int64_t pooled = axis->input;
    axis->input = axis->output;
    axis->output = pooled;
  }
}

/* The size of the unpooled tensor. */
static void unpooledSize(const THTensor *input, const Pooling *pooling, int64_t *size)
{
  memcpy(size, input->size, sizeof *size * (size_t)input->ndim);
  for (int d = 0; d < pooling->axes; d++)
    size[firstAxis(pooling, input) + d] = pooling->axis[WINDOW_AXES - pooling->axes + d].input;
}

void THNN_(maxUnpoolingUpdateOutput)(THNNState *state, const Unpooling *unpooling, THTensor *input,
                                     THTensor *output, THIndexTensor *indices)
{
  Pooling pooling;
  int64_t size[THNN_MAX_DIM];
  checkUnpooling(state, unpooling, input, &pooling);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, indices);
  unpooledSize(input, &pooling, size);
  THNN_resize(state, "output", output, input->ndim, size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, indices);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THNN_(poolingRequireIndices)(state, &pooling, indices);
  THNN_RETURN_IF_FAILED(state);

  const THNNPieceOf tensors[] = {THNN_READ(input), THNN_READ(indices), THNN_WRITTEN(output)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingScatter)(&pooling, t[0], t[1], t[2], false); });
}

void THNN_(maxUnpoolingUpdateGradInput)(THNNState *state, const Unpooling *unpooling, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices)
{
  Pooling pooling;
  int64_t size[THNN_MAX_DIM];
  checkUnpooling(state, unpooling, input, &pooling);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, indices);
  unpooledSize(input, &pooling, size);
  thnn_checkGradOutput(state, gradOutput, input->ndim, size);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, indices);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THNN_(poolingRequireIndices)(state, &pooling, indices);
  THNN_RETURN_IF_FAILED(state);

  const THNNPieceOf tensors[] = {THNN_READ(gradOutput), THNN_READ(indices), THNN_WRITTEN(gradInput)};
  THNN_BY_PIECES(state, t, firstAxis(&pooling, input), tensors,
                 { THNN_(poolingTake)(&pooling, t[0], t[1], t[2]); });
}
