#include <stdio.h>

#include "convolution/convolution_module.h"

static void checkInput(THNNState *state, const ConvolutionModule *m, const THTensor *input)
{
  static const char *const channelsFirst[] = {"(N, nInputPlane, T)", "(N, nInputPlane, H, W)",
                                              "(N, nInputPlane, T, H, W)"};
  const int dims = m->geometry.dims;
  const char *dimensions = m->framesFirst ? "(N, T, nInputPlane)" : channelsFirst[dims - 1];
  if (input->ndim != dims + 1 && input->ndim != dims + 2)
    return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected %d dimensions %s or %d, got %s", dims + 2,
                     dimensions, dims + 1, THNN_shape(input));
  for (int d = input->ndim - dims - 1; d < input->ndim; d++)
    if (input->size[d] < 1)
      return THNN_fail(state, THNN_VALUE_ERROR, "input", "expected %s, of which only N may be 0, got %s",
                       dimensions, THNN_shape(input));
}

static void checkAxes(THNNState *state, const ConvolutionModule *m)
{
  for (int d = WINDOW_AXES - m->geometry.dims; d < WINDOW_AXES; d++) {
    const WindowAxis *axis = m->geometry.axis + d;
    const ConvolutionAxisNames *name = m->name + d;
    const int64_t added = m->outputPadding[d];
    thnn_checkAtLeast(state, name->kernel, axis->kernel, 1);
    thnn_checkAtLeast(state, name->stride, axis->stride, 1);
    thnn_checkAtLeast(state, name->padding, axis->padding, 0);
    thnn_checkAtLeast(state, name->dilation, axis->dilation, 1);
    thnn_checkAtLeast(state, name->outputPadding, added, 0);
    THNN_RETURN_IF_FAILED(state);
    if (added > 0 && added >= axis->stride && added >= axis->dilation)
      return THNN_fail(state, THNN_VALUE_ERROR, name->outputPadding,
                       "expected less than the stride (%lld) or the dilation (%lld), got %lld",
                       (long long)axis->stride, (long long)axis->dilation, (long long)added);
  }
}

/* Checks the sizes of weight, and sets kernel, channels and groups from them. */
static void checkWeight(THNNState *state, ConvolutionModule *m, int64_t inputChannels, const THTensor *weight,
                        const char *name)
{
  /* By ConvolutionWeight: the name of the size that only weight determines. */
  static const char *const any[] = {"nOutputPlane", "nOutputPlane", "multiplier", "", "outputFrameSize"};
  Convolution *g = &m->geometry;
  const int ndim = m->weight == CONVOLUTION_FRAMES ? 2 : g->dims + 2;
  const bool flat = m->weight == CONVOLUTION_FRAMES || (m->flattened && weight->ndim == 2);
  const bool inputFirst = m->weight == CONVOLUTION_TRANSPOSED || m->weight == CONVOLUTION_ROWS;
  int64_t expected[5] = {inputFirst ? inputChannels : 0,
                         inputFirst ? m->weight == CONVOLUTION_ROWS : inputChannels / m->groups}; /* 0: any */
  bool fits = weight->ndim == (flat ? 2 : ndim);
  if (inputChannels % m->groups != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, "groups", "expected a divisor of the %lld input channels, got %lld",
                     (long long)inputChannels, (long long)m->groups);
  for (int i = 2; i < g->dims + 2; i++) {
    int64_t *kernel = &g->axis[1 - g->dims + i].kernel;
    if (m->kernelOfWeight && fits) *kernel = weight->size[i];
    expected[i] = *kernel;
    if (flat) fits = fits && !__builtin_mul_overflow(expected[1], *kernel, expected + 1);
  }
  for (int i = 0; fits && i < weight->ndim; i++)
    fits = weight->size[i] >= 1 && (expected[i] == 0 || weight->size[i] == expected[i]);
  if (!fits) {
    if (flat && ndim > 2) expected[1] = inputChannels / m->groups; /* the loop above merged the kernel into it */
    char text[160];
    size_t n = 0;
    for (int i = 0; i < ndim; i++) {
      const char *comma = i ? ", " : "";
      char *to = text + n;
      const size_t room = sizeof text - n;
      if (i >= 2 && m->kernelOfWeight) n += (size_t)snprintf(to, room, ", k%c", "THW"[1 - g->dims + i]);
      else if (expected[i] == 0)
        n += (size_t)snprintf(to, room, "%s%s%s", comma, any[m->weight],
                              m->weight == CONVOLUTION_TRANSPOSED && m->groups > 1 ? " / groups" : "");
      else n += (size_t)snprintf(to, room, "%s%lld", comma, (long long)expected[i]);
    }
    char groups[48] = "";
    if (m->groups > 1) snprintf(groups, sizeof groups, " in %lld groups", (long long)m->groups);
    return THNN_fail(state, THNN_VALUE_ERROR, name,
                     "expected %d dimensions (%s)%s for an input of %lld channels%s, got %s", ndim, text,
                     m->flattened ? ", or 2 with all but the first merged," : "", (long long)inputChannels, groups,
                     THNN_shape(weight));
  }
  const bool depthwise = m->weight == CONVOLUTION_DEPTHWISE || m->weight == CONVOLUTION_ROWS;
  const bool transposed = m->weight == CONVOLUTION_TRANSPOSED;
  int64_t outputChannels = weight->size[transposed];
  if (m->weight == CONVOLUTION_FILTERS && outputChannels % m->groups != 0)
    return THNN_fail(state, THNN_VALUE_ERROR, "groups", "expected a divisor of the %lld output channels, got %lld",
                     (long long)outputChannels, (long long)m->groups);
  const int64_t factor = transposed ? m->groups : m->weight == CONVOLUTION_DEPTHWISE ? inputChannels : 1;
  if (__builtin_mul_overflow(outputChannels, factor, &outputChannels))
    return THNN_fail(state, THNN_VALUE_ERROR, name, "more output channels than can be counted, got %s",
                     THNN_shape(weight));
  g->groups = depthwise ? inputChannels : m->groups;
  g->inputChannels = transposed ? outputChannels : inputChannels;
  g->outputChannels = transposed ? inputChannels : outputChannels;
}

/* Channels and sizes of the module's output, which is the input of the geometry if the module is transposed. */
static int64_t outputChannels(const ConvolutionModule *m)
{
  return m->weight == CONVOLUTION_TRANSPOSED ? m->geometry.inputChannels : m->geometry.outputChannels;
}

static int64_t outputSize(const ConvolutionModule *m, int d)
{
  return m->weight == CONVOLUTION_TRANSPOSED ? m->geometry.axis[d].input : m->geometry.axis[d].output;
}

/* Appends `before` and one number per axis to `text`, such as "3 x 5 x 5". Returns the length of text. */
static size_t appendSizes(char *text, size_t n, size_t room, const char *before, const int64_t *size, int dims)
{
  for (int d = WINDOW_AXES - dims; d < WINDOW_AXES; d++, before = " x ")
    n += (size_t)snprintf(text + n, room - n, "%s%lld", before, (long long)size[d]);
  return n;
}

/* Sets the size of the module's output; fails if the output would be empty or larger than memory. */
static void checkOutput(THNNState *state, ConvolutionModule *m)
{
  Convolution *g = &m->geometry;
  const bool transposed = m->weight == CONVOLUTION_TRANSPOSED;
  int64_t bytes = (int64_t)sizeof(real), input[WINDOW_AXES], output[WINDOW_AXES];
  int64_t kernel[WINDOW_AXES], stride[WINDOW_AXES], padding[WINDOW_AXES], dilation[WINDOW_AXES];
  bool fits = true, empty = false, dilated = false, outputPadded = false;
  for (int d = 0; d < WINDOW_AXES; d++) {
    WindowAxis *a = g->axis + d;
    input[d] = transposed ? a->output : a->input;
    fits = fits && (transposed ? windowInputSize(a, m->outputPadding[d]) : windowOutputSize(a, false));
    output[d] = outputSize(m, d);
    kernel[d] = a->kernel;
    stride[d] = a->stride;
    padding[d] = a->padding;
    dilation[d] = a->dilation;
    dilated = dilated || a->dilation > 1;
    outputPadded = outputPadded || m->outputPadding[d] > 0;
  }
  for (int d = 0; fits && d < WINDOW_AXES; d++) {
    empty = empty || output[d] == 0;
    fits = empty || !__builtin_mul_overflow(bytes, output[d], &bytes);
  }
  fits = fits && !__builtin_mul_overflow(bytes, g->batch ? g->batch : 1, &bytes) &&
         !__builtin_mul_overflow(bytes, outputChannels(m), &bytes);
  if (fits && !empty) return;
  char text[512], sizes[72];
  size_t n = appendSizes(text, 0, sizeof text, "", input, g->dims);
  n = appendSizes(text, n, sizeof text, ", kernel ", kernel, g->dims);
  n = appendSizes(text, n, sizeof text, ", stride ", stride, g->dims);
  n = appendSizes(text, n, sizeof text, ", padding ", padding, g->dims);
  if (dilated) n = appendSizes(text, n, sizeof text, ", dilation ", dilation, g->dims);
  if (outputPadded) n = appendSizes(text, n, sizeof text, ", output padding ", m->outputPadding, g->dims);
  appendSizes(sizes, 0, sizeof sizes, "", output, g->dims);
  if (!fits)
    THNN_fail(state, THNN_VALUE_ERROR, "input", "the output would be larger than memory can hold: input %s", text);
  else THNN_fail(state, THNN_VALUE_ERROR, "input", "the output would be empty, %s: input %s", sizes, text);
}

/* The checks that all three functions share. Sets the fields of the geometry that the module leaves open. weight may
   be gradWeight. */
static void check(THNNState *state, ConvolutionModule *m, const THTensor *input, const THTensor *weight,
                  const char *weightName)
{
  checkInput(state, m, input);
  checkAxes(state, m);
  THNN_RETURN_IF_FAILED(state);
  Convolution *g = &m->geometry;
  const int64_t *size = input->size + (input->ndim - g->dims - 1), *position = size + !m->framesFirst;
  g->type = input->type;
  g->batch = input->ndim == g->dims + 2 ? input->size[0] : 1;
  for (int d = WINDOW_AXES - g->dims; d < WINDOW_AXES; d++)
    g->axis[d].input = g->axis[d].output = *position++; /* checkOutput changes one of them */
  checkWeight(state, m, size[m->framesFirst ? g->dims : 0], weight, weightName);
  THNN_RETURN_IF_FAILED(state);
  checkOutput(state, m);
}

/* Takes tensors of a half type without copies, if the core computes the product of them. */
static void takeHalf(THNNState *state, const ConvolutionModule *m, ConvolutionProduct product)
{
  static const ConvolutionProduct ofTransposed[] = {CONVOLUTION_GRAD_INPUT, CONVOLUTION_OUTPUT,
                                                    CONVOLUTION_GRAD_WEIGHT};
  const bool transposed = m->weight == CONVOLUTION_TRANSPOSED;
  if (THNN_(convolutionTakesHalf)(&m->geometry, transposed ? ofTransposed[product] : product))
    THNN_TAKES_HALF(state);
}

static void checkBias(THNNState *state, const ConvolutionModule *m, const THTensor *bias, const char *name)
{
  if (bias == NULL) return;
  const int64_t groups = m->geometry.groups;
  if (m->weight == CONVOLUTION_DEPTHWISE) {
    if (bias->ndim != 2 || bias->size[0] != outputChannels(m) / groups || bias->size[1] != groups)
      THNN_fail(state, THNN_VALUE_ERROR, name, "expected 2 dimensions (%lld, %lld), got %s",
                (long long)(outputChannels(m) / groups), (long long)groups, THNN_shape(bias));
  } else if (bias->ndim != 1 || bias->size[0] != outputChannels(m)) {
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one value per output channel (%lld), got %s",
              (long long)outputChannels(m), THNN_shape(bias));
  }
}

/* Sets the shape of the output, which has a batch dimension if the input has one. Returns the number of dimensions. */
static int outputShape(const ConvolutionModule *m, const THTensor *input, int64_t *shape)
{
  int ndim = 0;
  if (input->ndim == m->geometry.dims + 2) shape[ndim++] = m->geometry.batch;
  if (!m->framesFirst) shape[ndim++] = outputChannels(m);
  for (int d = WINDOW_AXES - m->geometry.dims; d < WINDOW_AXES; d++) shape[ndim++] = outputSize(m, d);
  if (m->framesFirst) shape[ndim++] = outputChannels(m);
  return ndim;
}

static void checkGradOutput(THNNState *state, const ConvolutionModule *m, const THTensor *input,
                            const THTensor *gradOutput)
{
  int64_t shape[2 + WINDOW_AXES];
  const int ndim = outputShape(m, input, shape);
  thnn_checkGradOutput(state, gradOutput, ndim, shape);
}

static ConvolutionView viewImages(const ConvolutionModule *m, const THTensor *t)
{
  const bool batched = t->ndim == m->geometry.dims + 2;
  const int64_t *stride = t->stride + batched;
  ConvolutionView view = {.data = t->data, .stride = {[1] = stride[m->framesFirst ? m->geometry.dims : 0]}};
  if (batched) view.stride[0] = t->stride[0];
  for (int d = 0; d < m->geometry.dims; d++) view.stride[5 - m->geometry.dims + d] = stride[d + !m->framesFirst];
  return view;
}

static ConvolutionView viewWeight(const ConvolutionModule *m, const THTensor *t)
{
  ConvolutionView view = {.data = t->data, .stride = {t->stride[0], t->stride[1]}};
  if (m->weight == CONVOLUTION_FRAMES) {
    view.stride[4] = m->geometry.inputChannels * t->stride[1];
  } else if (t->ndim == m->geometry.dims + 2) {
    for (int d = 0; d < m->geometry.dims; d++) view.stride[5 - m->geometry.dims + d] = t->stride[2 + d];
  } else {
    view.stride[4] = t->stride[1];
    for (int d = 3; d > 0; d--) view.stride[d] = view.stride[d + 1] * m->geometry.axis[d - 1].kernel;
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
  if (m->groups > 1) view.group = outputChannels(m) / m->groups * t->stride[0];
  return view;
}

static void checkTrivial(THNNState *state, const char *name, int64_t value, int64_t trivial, int dims)
{
  if (value != trivial)
    THNN_fail(state, THNN_VALUE_ERROR, name,
              "expected %lld, because weight has only %d spatial dimension%s, got %lld", (long long)trivial, dims,
              dims == 1 ? "" : "s", (long long)value);
}

void THNN_(convolutionModuleCheckAxes)(THNNState *state, const ConvolutionModule *m)
{
  const int dims = m->geometry.dims;
  for (int d = 0; d < WINDOW_AXES - dims; d++) {
    const WindowAxis *axis = m->geometry.axis + d;
    checkTrivial(state, m->name[d].stride, axis->stride, 1, dims);
    checkTrivial(state, m->name[d].padding, axis->padding, 0, dims);
    checkTrivial(state, m->name[d].dilation, axis->dilation, 1, dims);
    checkTrivial(state, m->name[d].outputPadding, m->outputPadding[d], 0, dims);
  }
  if (m->groups < 1)
    THNN_fail(state, THNN_VALUE_ERROR, "groups", "expected at least 1, got %lld", (long long)m->groups);
}

void THNN_(convolutionModuleUpdateOutput)(THNNState *state, ConvolutionModule *m, THTensor *input,
                                          THTensor *output, THTensor *weight, THTensor *bias)
{
  check(state, m, input, weight, "weight");
  THNN_RETURN_IF_FAILED(state);
  checkBias(state, m, bias, "bias");
  THNN_RETURN_IF_FAILED(state);
  int64_t shape[5];
  const int ndim = outputShape(m, input, shape);
  /* As in torch, a channels-last weight makes the output channels-last. */
  const bool last =
      THNNTensor_isChannelsLast(input) || (ndim == weight->ndim && THNNTensor_isChannelsLast(weight));
  THNN_resize(state, "output", output, ndim, shape, last ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_CHECK_NO_OVERLAP(output, bias);
  takeHalf(state, m, CONVOLUTION_OUTPUT);
  THNN_RETURN_IF_META(state);
  const ConvolutionView images = viewImages(m, input), result = viewImages(m, output);
  const ConvolutionView filters = viewWeight(m, weight), biases = viewBias(m, bias);
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolutionGradInput)(&m->geometry, images, filters, biases, result);
  else THNN_(convolutionOutput)(&m->geometry, images, filters, biases, result);
}

void THNN_(convolutionModuleUpdateGradInput)(THNNState *state, ConvolutionModule *m, THTensor *input,
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
  takeHalf(state, m, CONVOLUTION_GRAD_INPUT);
  THNN_RETURN_IF_META(state);
  const ConvolutionView gradients = viewImages(m, gradOutput), result = viewImages(m, gradInput);
  const ConvolutionView filters = viewWeight(m, weight), none = {0};
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolutionOutput)(&m->geometry, gradients, filters, none, result);
  else THNN_(convolutionGradInput)(&m->geometry, gradients, filters, none, result);
}

void THNN_(convolutionModuleAccGradParameters)(THNNState *state, ConvolutionModule *m, THTensor *input,
                                               THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                               accreal scale)
{
  check(state, m, input, gradWeight, "gradWeight");
  THNN_RETURN_IF_FAILED(state);
  checkGradOutput(state, m, input, gradOutput);
  checkBias(state, m, gradBias, "gradBias");
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);
  const bool overwrites = scale == 1 && THNN_overwrites(state, gradWeight);
  takeHalf(state, m, CONVOLUTION_GRAD_WEIGHT);
  THNN_RETURN_IF_META(state);
  const ConvolutionView images = viewImages(m, input), gradients = viewImages(m, gradOutput);
  const ConvolutionView filters = viewWeight(m, gradWeight);
  if (m->weight == CONVOLUTION_TRANSPOSED)
    THNN_(convolutionGradWeight)(&m->geometry, gradients, images, filters, (real)scale, overwrites);
  else THNN_(convolutionGradWeight)(&m->geometry, images, gradients, filters, (real)scale, overwrites);
  if (gradBias == NULL) return;
  /* gradBias sums the output of the module, which is the input of the geometry if the module is transposed. */
  Convolution biased = m->geometry;
  biased.outputChannels = outputChannels(m);
  for (int d = 0; d < WINDOW_AXES; d++) biased.axis[d].output = outputSize(m, d);
  THNN_(convolutionGradBias)(&biased, gradients, viewBias(m, gradBias), (real)scale);
}
