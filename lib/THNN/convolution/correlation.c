#include "convolution/correlation.h"
#include "convolution/columns.h"

Correlation THNN_(correlationForward)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                                      ConvolutionView output)
{
  Correlation c = {.groups = g->groups,
                   .inChannels = g->inputChannels / g->groups,
                   .outChannels = g->outputChannels / g->groups,
                   .type = g->type,
                   .weightType = g->type,
                   .targetType = g->type,
                   .source = input.data,
                   .target = output.data,
                   .weight = weight.data,
                   .sourceChannelStride = input.stride[1],
                   .targetChannelStride = output.stride[1],
                   .weightGroupStride = weight.group,
                   .weightInStride = weight.stride[1],
                   .weightOutStride = weight.stride[0]};
  c.axis[0] = (CorrelationAxis){.targetSize = g->batch,
                                .sourceSize = g->batch,
                                .stride = 1,
                                .kernel = 1,
                                .dilation = 1,
                                .sourceStride = input.stride[0],
                                .targetStride = output.stride[0]};
  for (int d = 0; d < 3; d++)
    c.axis[d + 1] = (CorrelationAxis){.targetSize = g->axis[d].output,
                                      .sourceSize = g->axis[d].input,
                                      .stride = g->axis[d].stride,
                                      .offset = -g->axis[d].padding,
                                      .kernel = g->axis[d].kernel,
                                      .dilation = g->axis[d].dilation,
                                      .sourceStride = input.stride[d + 2],
                                      .targetStride = output.stride[d + 2],
                                      .weightStride = weight.stride[d + 2]};
  THNN_(correlationSimplify)(&c);
  return c;
}

/* Leaves out the kernel elements at both ends that read outside of the source at every position. */
static void trimKernel(Correlation *c, CorrelationAxis *a)
{
  const int64_t ofLastPosition = a->offset + (a->targetSize - 1) * a->stride;
  const int64_t first = ofLastPosition < 0 ? ceilDivide(-ofLastPosition, a->dilation) : 0,
                last = MIN(floorDivide(a->sourceSize - 1 - a->offset, a->dilation), a->kernel - 1);
  if (last < first) return; /* no element reads the source */
  c->weight = elementAt(c->weight, first * a->weightStride, c->weightType);
  a->offset += first * a->dilation;
  a->kernel = last + 1 - first;
}

void THNN_(correlationSimplify)(Correlation *c)
{
  for (int d = 0; d < 4; d++) {
    CorrelationAxis *a = c->axis + d;
    if (a->kernel > 1 && a->targetSize > 0) trimKernel(c, a);
    if (a->kernel != 1 || a->targetSize == 0 || a->offset < 0 ||
        a->offset + (a->targetSize - 1) * a->stride >= a->sourceSize)
      continue;
    c->source = elementAt(c->source, a->offset * a->sourceStride, c->type);
    a->sourceStride *= a->stride;
    a->sourceSize = a->targetSize;
    a->offset = 0;
    a->stride = a->dilation = 1;
  }
  CorrelationAxis kept[4];
  int n = 0;
  for (int d = 0; d < 4; d++) {
    CorrelationAxis *a = c->axis + d, *before = kept + n - 1;
    if (axisIsIdentity(a) && a->targetSize == 1) continue;
    if (n > 0 && axisIsIdentity(a) && axisIsIdentity(before) &&
        before->sourceStride == a->targetSize * a->sourceStride &&
        before->targetStride == a->targetSize * a->targetStride) {
      a->sourceSize = a->targetSize *= before->targetSize;
      *before = *a;
    } else {
      kept[n++] = *a;
    }
  }
  const CorrelationAxis one = {.targetSize = 1, .sourceSize = 1, .stride = 1, .kernel = 1, .dilation = 1};
  for (int d = 0; d < 4; d++) c->axis[d] = d < 4 - n ? one : kept[d - (4 - n)];
}

Correlation THNN_(correlationBackward)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                       ConvolutionView bias, ConvolutionView gradInput)
{
  Correlation c = {.groups = g->groups,
                   .inChannels = g->outputChannels / g->groups,
                   .outChannels = g->inputChannels / g->groups,
                   .type = g->type,
                   .weightType = g->type,
                   .targetType = g->type,
                   .source = gradOutput.data,
                   .target = gradInput.data,
                   .weight = weight.data,
                   .sourceChannelStride = gradOutput.stride[1],
                   .targetChannelStride = gradInput.stride[1],
                   .weightGroupStride = weight.group,
                   .weightInStride = weight.stride[0],
                   .weightOutStride = weight.stride[1],
                   .bias = bias.data,
                   .biasGroupStride = bias.group,
                   .biasOutStride = bias.stride[0]};
  c.axis[0] = (CorrelationAxis){.targetSize = g->batch,
                                .sourceSize = g->batch,
                                .stride = 1,
                                .kernel = 1,
                                .dilation = 1,
                                .sourceStride = gradOutput.stride[0],
                                .targetStride = gradInput.stride[0]};
  for (int d = 0; d < 3; d++)
    c.axis[d + 1] = (CorrelationAxis){.sourceSize = g->axis[d].output,
                                      .stride = 1,
                                      .kernel = g->axis[d].kernel,
                                      .dilation = 1,
                                      .sourceStride = gradOutput.stride[d + 2],
                                      .targetStride = gradInput.stride[d + 2] * g->axis[d].stride};
  return c;
}

/* The input coordinates of the class are x = q * stride - shift. Kernel element t of the class, for which t * dilation
   and the remainder are equal modulo the stride, reads output (x + padding - t * dilation) / stride. */
bool THNN_(residueAxis)(const WindowAxis *window, int64_t classNumber, CorrelationAxis *axis, int64_t *coordinate,
                        int64_t *lastElement)
{
  const int64_t stride = window->stride, dilation = window->dilation, period = stride / gcd(stride, dilation);
  const int64_t remainder = classNumber * dilation % stride, shift = window->padding - remainder;
  const int64_t first = shift > 0 ? ceilDivide(shift, stride) : 0, reach = window->input - 1 + shift;
  if (reach < first * stride) return false;
  const int64_t kernel = (window->kernel - 1 - classNumber) / period + 1;
  *lastElement = classNumber + (kernel - 1) * period;
  *coordinate = first * stride - shift;
  axis->targetSize = reach / stride + 1 - first;
  axis->sourceSize = window->output;
  axis->stride = 1;
  axis->offset = first - (*lastElement * dilation - remainder) / stride;
  axis->kernel = kernel;
  axis->dilation = period * dilation / stride;
  axis->weightStride = -period;
  return true;
}

bool THNN_(correlationOfResidue)(Correlation *c, const Convolution *g, const int64_t *classNumber,
                                 ConvolutionView weight, ConvolutionView gradInput)
{
  for (int d = 0; d < 3; d++) {
    CorrelationAxis *axis = c->axis + d + 1;
    int64_t coordinate, lastElement;
    if (!THNN_(residueAxis)(g->axis + d, classNumber[d], axis, &coordinate, &lastElement)) return false;
    axis->weightStride *= weight.stride[d + 2];
    c->target = elementAt(c->target, coordinate * gradInput.stride[d + 2], c->targetType);
    c->weight = elementAt(c->weight, lastElement * weight.stride[d + 2], c->weightType);
  }
  return true;
}

void THNN_(correlateResidues)(const Correlation *backward, const Convolution *g, ConvolutionView weight,
                              ConvolutionView gradInput, CorrelationFunction *correlate, void *context)
{
  int64_t classes[3], classNumber[3] = {0};
  for (int d = 0; d < 3; d++) classes[d] = residueCount(g->axis + d);
  for (int64_t n = classes[0] * classes[1] * classes[2]; n > 0; n--, nextIndex(classNumber, classes, 3)) {
    Correlation c = *backward;
    if (!THNN_(correlationOfResidue)(&c, g, classNumber, weight, gradInput)) continue;
    THNN_(correlationSimplify)(&c);
    correlate(&c, context);
  }
}

void THNN_(correlationOfDilationResidue)(Correlation *c, int d, int64_t classNumber)
{
  CorrelationAxis *a = c->axis + d;
  const int64_t classes = a->dilation / a->stride, first = a->offset + classNumber * a->stride,
                coordinate = floorDivide(first, a->dilation), residue = first - coordinate * a->dilation;
  c->source += residue * a->sourceStride;
  c->target += classNumber * a->targetStride;
  a->sourceSize = residue < a->sourceSize ? ceilDivide(a->sourceSize - residue, a->dilation) : 0;
  a->targetSize = ceilDivide(a->targetSize - classNumber, classes);
  a->offset = coordinate;
  a->sourceStride *= a->dilation;
  a->targetStride *= classes;
  a->stride = a->dilation = 1;
}

/* correlateColumnZones does not divide kernels of more columns. */
#define MAX_ZONE_KERNEL 7

/* Products that correlateZones must save per zone, for the fixed cost of a correlation. */
#define ZONE_PRODUCTS 3e5

/* The time of reading and packing a weight, in products. */
#define WEIGHT_PRODUCTS 8

/* The fraction of the products along an axis that do not involve padding. */
static double partOfSource(const CorrelationAxis *a)
{
  double pairs = 0; /* pairs of a position and a kernel element */
  for (int64_t t = 0; t < a->kernel; t++) {
    int64_t begin, end;
    axisPositions(a, t, &begin, &end);
    pairs += (double)(end - begin);
  }
  return pairs / ((double)a->kernel * (double)a->targetSize);
}

/* The total size of the weights that the zones of an axis read, as a multiple of the weight. */
static double weightsOfZones(const CorrelationAxis *a)
{
  double elements = 0;
  for (int64_t q = 0, lastFirst = -1, lastEnd = -1; q < a->targetSize; q++) {
    int64_t first, end;
    axisElements(a, q, &first, &end);
    if (first != lastFirst || end != lastEnd) elements += (double)(end - first);
    lastFirst = first;
    lastEnd = end;
  }
  return elements / (double)a->kernel;
}

/* Calls `correlate` with each zone of axis d. */
static void divideAxis(const Correlation *c, int d, CorrelationFunction *correlate, void *context)
{
  const CorrelationAxis *a = c->axis + d;
  for (int64_t q = 0, end; q < a->targetSize; q = end) {
    int64_t first, last, otherFirst = 0, otherLast = 0;
    axisElements(a, q, &first, &last);
    for (end = q + 1; end < a->targetSize; end++) {
      axisElements(a, end, &otherFirst, &otherLast);
      if (otherFirst != first || otherLast != last) break;
    }
    Correlation zone = *c;
    CorrelationAxis *z = zone.axis + d;
    zone.target = elementAt(zone.target, q * a->targetStride, c->targetType);
    zone.weight = elementAt(zone.weight, first * a->weightStride, c->weightType);
    z->targetSize = end - q;
    z->offset += q * a->stride + first * a->dilation;
    z->kernel = last - first;
    THNN_(correlationSimplify)(&zone);
    correlate(&zone, context);
  }
}

bool THNN_(correlateZones)(const Correlation *c, CorrelationFunction *correlate, void *context)
{
  const double products = correlationProducts(c);
  double weights = (double)c->groups * (double)c->inChannels * (double)c->outChannels;
  for (int d = 0; d < 4; d++) weights *= (double)c->axis[d].kernel;
  for (int d = 1; d < 4; d++) {
    const CorrelationAxis *a = c->axis + d;
    const double zones = (double)MIN(2 * a->kernel + 1, a->targetSize);
    if (a->kernel < 2 || products < ZONE_PRODUCTS * zones) continue;
    const double part = partOfSource(a);
    const double saved = products * (1 - part);
    if (part > 1. / 3 || saved < ZONE_PRODUCTS * zones) continue;
    /* Each zone reads its part of the weight: with few positions in a zone, that takes longer than the products. */
    if (saved < WEIGHT_PRODUCTS * weights * (weightsOfZones(a) - 1)) continue;
    divideAxis(c, d, correlate, context);
    return true;
  }
  return false;
}

bool THNN_(correlateColumnZones)(const Correlation *c, CorrelationFunction *correlate, void *context)
{
  const CorrelationAxis *a = c->axis + 3;
  if (a->kernel < 2 || a->kernel > MAX_ZONE_KERNEL || a->dilation < 3 || a->targetSize < VL) return false;
  if (partOfSource(a) > 0.9) return false;
  divideAxis(c, 3, correlate, context);
  return true;
}

bool THNN_(correlationLengthenRows)(Correlation *c)
{
  int longest = 3;
  for (int d = 2; d > 0; d--)
    if (c->axis[d].targetSize > c->axis[longest].targetSize) longest = d;
  if (c->axis[3].targetSize >= VL / 2 || c->axis[longest].targetSize < VL) return false;
  const CorrelationAxis last = c->axis[3];
  c->axis[3] = c->axis[longest];
  c->axis[longest] = last;
  return true;
}

static real biasOf(const Correlation *c, int64_t channel)
{
  return c->bias == NULL ? 0
                         : loadElement(c->bias,
                                       channel / c->outChannels * c->biasGroupStride +
                                           channel % c->outChannels * c->biasOutStride,
                                       c->targetType);
}

/* About the number of elements that a task of correlationFill writes. */
#define FILL_ELEMENTS 8192

/* Fills `pixels` pixels, `stride` apart: all channels of each, or one channel. */
static void fillPixels(const Correlation *c, bool allChannels, int64_t channel, real *to, int64_t stride,
                       int64_t pixels)
{
  const int64_t channels = c->groups * c->outChannels;
  if (c->bias == NULL && stride == (allChannels ? channels : 1)) {
    memset(to, 0, (size_t)(pixels * stride * elementBytes(c->targetType)));
  } else if (isHalf(c->targetType)) {
    for (int64_t x = 0; x < pixels; x++)
      for (int64_t i = 0; i < (allChannels ? channels : 1); i++)
        storeElement(to, x * stride + i, c->targetType, biasOf(c, allChannels ? i : channel));
  } else if (!allChannels) {
    const real value = biasOf(c, channel);
    if (stride == 1)
      for (int64_t x = 0; x < pixels; x++) to[x] = value;
    else
      for (int64_t x = 0; x < pixels; x++) to[x * stride] = value;
  } else {
    for (int64_t x = 0; x < pixels; x++)
      for (int64_t i = 0; i < channels; i++) to[x * stride + i] = biasOf(c, i);
  }
}

void THNN_(correlationFill)(const Correlation *c)
{
  const int64_t channels = c->groups * c->outChannels;
  int64_t size[4], stride[4], sameStride[4];
  for (int d = 0; d < 4; d++) {
    size[d] = c->axis[d].targetSize;
    stride[d] = sameStride[d] = c->axis[d].targetStride;
  }
  const int64_t elements = channels * elementCount(size);
  if (elements == 0) return;
  THNN_(mergeAxes)(size, stride, sameStride);
  /* A task is a segment of a row, or several rows if they are short: of all channels in channels-last layout,
     otherwise of one channel. */
  const bool channelsLast = c->targetChannelStride == 1;
  const int64_t pixels = channelsLast ? MAX(FILL_ELEMENTS / channels, 1) : FILL_ELEMENTS,
                segments = ceilDivide(size[3], pixels), rows = size[0] * size[1] * size[2],
                together = MAX(pixels / size[3], 1), tasks = ceilDivide(rows, together) * segments;
  THNN_PARALLEL_FOR(task, channelsLast ? tasks : tasks * channels, elements) {
    const int64_t channel = task / tasks, segment = task % segments, firstRow = task % tasks / segments * together,
                  endRow = MIN(firstRow + together, rows);
    const int64_t begin = segment * size[3] / segments, end = (segment + 1) * size[3] / segments;
    int64_t q[3] = {firstRow / (size[1] * size[2]), firstRow / size[2] % size[1], firstRow % size[2]};
    const int64_t image = channel * c->targetChannelStride + begin * stride[3];
    for (int64_t row = firstRow; row < endRow; row++, nextIndex(q, size, 3)) {
      const int64_t at = image + q[0] * stride[0] + q[1] * stride[1] + q[2] * stride[2];
      fillPixels(c, channelsLast, channel, elementAt(c->target, at, c->targetType), stride[3], end - begin);
    }
  }
}

void THNN_(fillWithBias)(const Convolution *g, ConvolutionView gradInput, ConvolutionView bias)
{
  Correlation c = THNN_(correlationBackward)(g, gradInput, gradInput, bias, gradInput);
  for (int d = 0; d < 3; d++) {
    c.axis[d + 1].targetSize = g->axis[d].input;
    c.axis[d + 1].targetStride = gradInput.stride[d + 2];
  }
  THNN_(correlationFill)(&c);
}

void THNN_(fillUnreached)(const Convolution *g, ConvolutionView gradInput, ConvolutionView bias)
{
  bool reachesAll = true;
  for (int d = 0; d < 3; d++) reachesAll = reachesAll && residueCount(g->axis + d) == g->axis[d].stride;
  if (!reachesAll) THNN_(fillWithBias)(g, gradInput, bias);
}
