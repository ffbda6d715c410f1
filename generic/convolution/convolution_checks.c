#include <stdio.h>

#include "convolution/convolution_checks.h"

static void checkInput(THNNState *state, const ConvolutionModule *m, const THTensor *input)
{
  static const char *const planesFirst[] = {"(N, nInputPlane, T)", "(N, nInputPlane, H, W)",
                                            "(N, nInputPlane, T, H, W)"};
  const char *dimensions = m->planesLast ? "(N, T, nInputPlane)" : planesFirst[m->dims - 1];
  if (input->ndim != m->dims + 1 && input->ndim != m->dims + 2)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected %d dimensions %s or %d, got %s", m->dims + 2,
                     dimensions, m->dims + 1, THNN_shape(input));
  for (int d = input->ndim - m->dims - 1; d < input->ndim; d++)
    if (input->size[d] < 1)
      return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected %s, of which only N may be 0, got %s",
                       dimensions, THNN_shape(input));
}

static void checkAxes(THNNState *state, const ConvolutionModule *m)
{
  for (int d = 3 - m->dims; d < 3; d++) {
    const int64_t *axis = m->axis[d];
    for (int i = 0; i < 5; i++) {
      const int least = i != PADDING && i != ADDED;
      if (axis[i] < least)
        return THNN_fail(state, THNN_VALUE_ERROR, m->name[d][i], "expected at least %d, got %lld", least,
                         (long long)axis[i]);
    }
    if (axis[ADDED] > 0 && axis[ADDED] >= axis[STRIDE] && axis[ADDED] >= axis[DILATION])
      return THNN_fail(state, THNN_VALUE_ERROR, m->name[d][ADDED],
                       "expected less than the stride (%lld) or the dilation (%lld), got %lld",
                       (long long)axis[STRIDE], (long long)axis[DILATION], (long long)axis[ADDED]);
  }
}

/* Weight's sizes, and what they say about kernel, planes and groups. */
static void checkWeight(THNNState *state, ConvolutionModule *m, int64_t inputPlanes, const THTensor *weight,
                        const char *name)
{
  static const char *const any[] = {"nOutputPlane", "nOutputPlane", "multiplier", "", "outputFrameSize"};
  const int ndim = m->weight == CONVOLUTION_FRAMES ? 2 : m->dims + 2;
  const bool flat = m->weight == CONVOLUTION_FRAMES || (m->flattened && weight->ndim == 2);
  const bool first = m->weight == CONVOLUTION_TRANSPOSED || m->weight == CONVOLUTION_ROWS;
  int64_t expected[5] = {first ? inputPlanes : 0,
                         first ? m->weight == CONVOLUTION_ROWS : inputPlanes / m->groups}; /* 0: any */
  bool fits = weight->ndim == (flat ? 2 : ndim);
  if (inputPlanes % m->groups != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, "groups", "expected a divisor of the %lld input planes, got %lld",
                     (long long)inputPlanes, (long long)m->groups);
  for (int i = 2; i < m->dims + 2; i++) {
    int64_t *kernel = m->axis[1 - m->dims + i] + KERNEL;
    if (m->kernelOfWeight && fits) *kernel = weight->size[i];
    expected[i] = *kernel;
    if (flat) fits = fits && !__builtin_mul_overflow(expected[1], *kernel, expected + 1);
  }
  for (int i = 0; fits && i < weight->ndim; i++)
    fits = weight->size[i] >= 1 && (expected[i] == 0 || weight->size[i] == expected[i]);
  if (!fits) {
    char text[160];
    size_t n = 0;
    for (int i = 0; i < ndim; i++) {
      const char *comma = i ? ", " : "";
      char *to = text + n;
      const size_t room = sizeof text - n;
      if (i >= 2 && m->kernelOfWeight) n += (size_t)snprintf(to, room, ", k%c", "THW"[1 - m->dims + i]);
      else if (expected[i] == 0) n += (size_t)snprintf(to, room, "%s%s", comma, any[m->weight]);
      else n += (size_t)snprintf(to, room, "%s%lld", comma, (long long)expected[i]);
    }
    char groups[48] = "";
    if (m->groups > 1) snprintf(groups, sizeof groups, " in %lld groups", (long long)m->groups);
    return THNN_fail(state, THNN_VALUE_ERROR, name,
                     "expected %d dimensions (%s)%s for an input of %lld planes%s, got %s", ndim, text,
                     m->flattened ? " or all but the first as one" : "", (long long)inputPlanes, groups,
                     THNN_shape(weight));
  }
  const bool depthwise = m->weight == CONVOLUTION_DEPTHWISE || m->weight == CONVOLUTION_ROWS;
  m->planes = weight->size[m->weight == CONVOLUTION_TRANSPOSED];
  if (m->weight == CONVOLUTION_FILTERS && m->planes % m->groups != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, "groups", "expected a divisor of the %lld output planes, got %lld",
                     (long long)m->planes, (long long)m->groups);
  if (m->weight == CONVOLUTION_TRANSPOSED && __builtin_mul_overflow(m->planes, m->groups, &m->planes))
    return THNN_fail(state, THNN_VALUE_ERROR, name, "more output planes than can be counted, got %s",
                     THNN_shape(weight));
  if (m->weight == CONVOLUTION_DEPTHWISE && __builtin_mul_overflow(m->planes, inputPlanes, &m->planes))
    return THNN_fail(state, THNN_VALUE_ERROR, name, "more output planes than can be counted, got %s",
                     THNN_shape(weight));
  m->geometry.groups = depthwise ? inputPlanes : m->groups;
}

/* Fills in the size of the output; false where it cannot be counted. */
static bool outputSize(ConvolutionModule *m, const int64_t *input)
{
  bool fits = true;
  for (int d = 3 - m->dims; d < 3; d++) {
    const int64_t *a = m->axis[d];
    int64_t reach, size;
    fits = fits && !__builtin_mul_overflow(a[DILATION], a[KERNEL] - 1, &reach);
    if (m->weight == CONVOLUTION_TRANSPOSED) {
      fits = fits && !__builtin_mul_overflow(input[d] - 1, a[STRIDE], &size) &&
             !__builtin_add_overflow(size, reach, &size) && !__builtin_add_overflow(size, a[ADDED] + 1, &size);
      if (fits) m->size[d] = size > 2 * a[PADDING] ? size - 2 * a[PADDING] : 0;
    } else {
      fits = fits && !__builtin_add_overflow(input[d], 2 * a[PADDING], &size);
      if (fits) m->size[d] = size <= reach ? 0 : (size - reach - 1) / a[STRIDE] + 1;
    }
  }
  return fits;
}

static void checkOutput(THNNState *state, ConvolutionModule *m, int64_t batch, const int64_t *input)
{
  int64_t elements = (int64_t)sizeof(real);
  bool fits = outputSize(m, input), empty = false;
  for (int d = 3 - m->dims; fits && d < 3; d++) {
    empty = empty || m->size[d] == 0;
    fits = empty || !__builtin_mul_overflow(elements, m->size[d], &elements);
  }
  fits = fits && !__builtin_mul_overflow(elements, batch ? batch : 1, &elements) &&
         !__builtin_mul_overflow(elements, m->planes, &elements);
  if (fits && !empty) return;
  static const char *const words[] = {"", ", kernel ", ", stride ", ", padding ", ", dilation ", ", added "};
  char text[512], sizes[72];
  size_t n = 0;
  for (int i = 0; i < 6; i++) {
    int64_t most = 0;
    for (int d = 3 - m->dims; i && d < 3; d++) most |= m->axis[d][i - 1];
    if ((i == 1 + DILATION && most == 1) || (i == 1 + ADDED && most == 0)) continue;
    n += (size_t)snprintf(text + n, sizeof text - n, "%s", words[i]);
    for (int d = 3 - m->dims; d < 3; d++)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", d > 3 - m->dims ? " x " : "",
                            (long long)(i ? m->axis[d][i - 1] : input[d]));
  }
  n = 0;
  for (int d = 3 - m->dims; d < 3; d++)
    n += (size_t)snprintf(sizes + n, sizeof sizes - n, "%s%lld", n ? " x " : "", (long long)m->size[d]);
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, "input", "the output would be larger than memory can hold: input %s", text);
  else THNN_fail(state, THNN_VALUE_ERROR, "input", "the output would be empty, %s: input %s", sizes, text);
}

/* What all three functions check; fills the rest of the module. */
static void check(THNNState *state, ConvolutionModule *m, const THTensor *input, const THTensor *weight,
                  const char *weightName)
{
  checkInput(state, m, input);
  checkAxes(state, m);
  THNN_RETURN_IF_FAILED(state);
  Convolution *g = &m->geometry;
  const int64_t *size = input->size + (input->ndim - m->dims - 1);
  const int64_t planes = size[m->planesLast ? m->dims : 0],
                batch = input->ndim == m->dims + 2 ? input->size[0] : 1;
  int64_t inputSize[3] = {1, 1, 1};
  for (int d = 3 - m->dims; d < 3; d++) inputSize[d] = size[d - (3 - m->dims) + !m->planesLast];
  memcpy(m->size, inputSize, sizeof inputSize);
  *g = convolution_make(m->dims);
  checkWeight(state, m, planes, weight, weightName);
  THNN_RETURN_IF_FAILED(state);
  checkOutput(state, m, batch, inputSize);
  const bool transposed = m->weight == CONVOLUTION_TRANSPOSED;
  g->batch = batch;
  g->inputPlanes = transposed ? m->planes : planes;
  g->outputPlanes = transposed ? planes : m->planes;
  for (int d = 3 - m->dims; d < 3; d++) {
    g->inputSize[d] = transposed ? m->size[d] : inputSize[d];
    g->outputSize[d] = transposed ? inputSize[d] : m->size[d];
    g->kernel[d] = m->axis[d][KERNEL];
    g->stride[d] = m->axis[d][STRIDE];
    g->padding[d] = m->axis[d][PADDING];
    g->dilation[d] = m->axis[d][DILATION];
  }
}

static void checkBias(THNNState *state, const ConvolutionModule *m, const THTensor *bias, const char *name)
{
  if (bias == NULL) return;
  const int64_t groups = m->geometry.groups;
  if (m->weight == CONVOLUTION_DEPTHWISE) {
    if (bias->ndim != 2 || bias->size[0] != m->planes / groups || bias->size[1] != groups)
      THNN_fail(state, THNN_VALUE_ERROR, name, "expected 2 dimensions (%lld, %lld), got %s",
                (long long)(m->planes / groups), (long long)groups, THNN_shape(bias));
  } else if (bias->ndim != 1 || bias->size[0] != m->planes) {
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one value per output plane (%lld), got %s",
              (long long)m->planes, THNN_shape(bias));
  }
}

/* Sizes of the output, with or without batch as the input; returns the number of dimensions. */
static int outputShape(const ConvolutionModule *m, const THTensor *input, int64_t *shape)
{
  int ndim = 0;
  if (input->ndim == m->dims + 2) shape[ndim++] = m->geometry.batch;
  if (!m->planesLast) shape[ndim++] = m->planes;
  for (int d = 3 - m->dims; d < 3; d++) shape[ndim++] = m->size[d];
  if (m->planesLast) shape[ndim++] = m->planes;
  return ndim;
}

static void checkGradOutput(THNNState *state, const ConvolutionModule *m, const THTensor *input,
                            const THTensor *gradOutput)
{
  int64_t shape[5];
  const int ndim = outputShape(m, input, shape);
  if (gradOutput->ndim != ndim || memcmp(gradOutput->size, shape, sizeof(int64_t) * (size_t)ndim) != 0)
    THNN_fail(state, THNN_VALUE_ERROR, "gradOutput", "expected the size of the output, %s, got %s",
              THNN_shapeOf(ndim, shape), THNN_shape(gradOutput));
}

static ConvolutionView viewImages(const ConvolutionModule *m, const THTensor *t)
{
  const bool batched = t->ndim == m->dims + 2;
  const int64_t *stride = t->stride + batched;
  ConvolutionView view = {.data = t->data, .stride = {[1] = stride[m->planesLast ? m->dims : 0]}};
  if (batched) view.stride[0] = t->stride[0];
  for (int d = 0; d < m->dims; d++) view.stride[5 - m->dims + d] = stride[d + !m->planesLast];
  return view;
}

static ConvolutionView viewWeight(const ConvolutionModule *m, const THTensor *t)
{
  const int64_t *kernel = m->geometry.kernel;
  ConvolutionView view = {.data = t->data, .stride = {t->stride[0], t->stride[1]}};
  if (m->weight == CONVOLUTION_FRAMES) {
    view.stride[4] = m->geometry.inputPlanes * t->stride[1];
  } else if (t->ndim == m->dims + 2) {
    for (int d = 0; d < m->dims; d++) view.stride[5 - m->dims + d] = t->stride[2 + d];
  } else {
    view.stride[4] = t->stride[1];
    for (int d = 3; d > 0; d--) view.stride[d] = view.stride[d + 1] * kernel[d - 1];
  }
  if (m->weight == CONVOLUTION_DEPTHWISE) view.group = view.stride[1];
  if (m->weight == CONVOLUTION_ROWS) view.group = view.stride[0];
  if (m->groups > 1) view.group = t->size[0] / m->groups * view.stride[0];
  return view;
}

static ConvolutionView viewBias(const ConvolutionModule *m, const THTensor *t)
{
  if (t == NULL) return (ConvolutionView){0};
  ConvolutionView view = {.data = t->data, .stride = {t->stride[0]}};
  if (m->weight == CONVOLUTION_DEPTHWISE) view.group = t->stride[1];
  if (m->weight == CONVOLUTION_ROWS) view.group = t->stride[0];
  if (m->groups > 1) view.group = m->planes / m->groups * t->stride[0];
  return view;
}

void THNN_(convolution_updateOutput)(THNNState *state, ConvolutionModule *m, THTensor *input, THTensor *output,
                                     THTensor *weight, THTensor *bias)
{
  check(state, m, input, weight, "weight");
  THNN_RETURN_IF_FAILED(state);
  checkBias(state, m, bias, "bias");
  THNN_RETURN_IF_FAILED(state);
  int64_t shape[5];
  const int ndim = outputShape(m, input, shape);
  /* As in torch, a network is in channels-last where its weights are, whatever its images come in. */
  const bool last =
      THNNTensor_isChannelsLast(input) || (ndim == weight->ndim && THNNTensor_isChannelsLast(weight));
  THNN_resize(state, "output", output, ndim, shape, last ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  THNN_RETURN_IF_META(state);
  const ConvolutionView images = viewImages(m, input), result = viewImages(m, output);
  const ConvolutionView filters = viewWeight(m, weight), biases = viewBias(m, bias);
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolution_gradInput)(&m->geometry, images, filters, biases, result);
  else THNN_(convolution_output)(&m->geometry, images, filters, biases, result);
}

void THNN_(convolution_updateGradInput)(THNNState *state, ConvolutionModule *m, THTensor *input,
                                        THTensor *gradOutput, THTensor *gradInput, THTensor *weight)
{
  check(state, m, input, weight, "weight");
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, m, input, gradOutput);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_RETURN_IF_META(state);
  const ConvolutionView gradients = viewImages(m, gradOutput), result = viewImages(m, gradInput);
  const ConvolutionView filters = viewWeight(m, weight), none = {0};
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolution_output)(&m->geometry, gradients, filters, none, result);
  else THNN_(convolution_gradInput)(&m->geometry, gradients, filters, none, result);
}

void THNN_(convolution_accGradParameters)(THNNState *state, ConvolutionModule *m, THTensor *input,
                                          THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                          accreal scale)
{
  check(state, m, input, gradWeight, "gradWeight");
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, m, input, gradOutput);
  checkBias(state, m, gradBias, "gradBias");
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_ADDED_TO(gradWeight, gradBias, input, gradOutput);
  THNN_RETURN_IF_META(state);
  const ConvolutionView images = viewImages(m, input), gradients = viewImages(m, gradOutput);
  const ConvolutionView filters = viewWeight(m, gradWeight);
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolution_gradWeight)(&m->geometry, gradients, images, filters, (real)scale);
  else THNN_(convolution_gradWeight)(&m->geometry, images, gradients, filters, (real)scale);
  if (gradBias == NULL) return;
  /* Of the geometry the core looks at the images of gradOutput only. */
  Convolution sums = m->geometry;
  sums.outputPlanes = m->planes;
  memcpy(sums.outputSize, m->size, sizeof m->size);
  THNN_(convolution_gradBias)(&sums, gradients, viewBias(m, gradBias), (real)scale);
}
