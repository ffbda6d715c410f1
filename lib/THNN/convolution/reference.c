#include "convolution/convolution.h"
#include "runtime/integer.h"

/* The three products by their definitions, one term at a time in double. Images are indexed by batch, channel, depth,
   height, width; filters by output channel and input channel of the group, depth, height, width. */

#define AXES (2 + WINDOW_AXES)

/* A loop over all values of an index. */
#define FOR_INDEX(index, size) \
  for (int64_t index[AXES] = {0}, left_ = elements(size); left_ > 0; left_--, nextIndex(index, size, AXES))

static int64_t elements(const int64_t *size)
{
  int64_t n = 1;
  for (int d = 0; d < AXES; d++) n *= size[d];
  return n;
}

static real *element(ConvolutionView view, int64_t group, const int64_t *index)
{
  real *at = (real *)view.data + group * view.group;
  for (int d = 0; d < AXES; d++) at += index[d] * view.stride[d];
  return at;
}

/* The sizes of input, output and the filters of a group. */
typedef struct Sizes {
  int64_t input[AXES], output[AXES], filter[AXES];
} Sizes;

static Sizes sizesOf(const Convolution *g)
{
  Sizes s = {.input = {g->batch, g->inputChannels},
             .output = {g->batch, g->outputChannels},
             .filter = {g->outputChannels / g->groups, g->inputChannels / g->groups}};
  for (int d = 0; d < WINDOW_AXES; d++) {
    s.input[d + 2] = g->axis[d].input;
    s.output[d + 2] = g->axis[d].output;
    s.filter[d + 2] = g->axis[d].kernel;
  }
  return s;
}

/* Sets i to the input element that filter tap k reads for output o. Returns false in the padding. */
static bool inputOf(const Convolution *g, const Sizes *s, int64_t group, const int64_t *o, const int64_t *k,
                    int64_t *i)
{
  i[0] = o[0];
  i[1] = group * s->filter[1] + k[1];
  for (int d = 0; d < WINDOW_AXES; d++) {
    i[d + 2] = o[d + 2] * g->axis[d].stride - g->axis[d].padding + k[d + 2] * g->axis[d].dilation;
    if (i[d + 2] < 0 || i[d + 2] >= g->axis[d].input) return false;
  }
  return true;
}

/* The inverse of inputOf: sets o to the output element that reads input element i through filter tap k. Returns false
   if there is none. */
static bool outputOf(const Convolution *g, const Sizes *s, int64_t group, const int64_t *i, const int64_t *k,
                     int64_t *o)
{
  o[0] = i[0];
  o[1] = group * s->filter[0] + k[0];
  for (int d = 0; d < WINDOW_AXES; d++) {
    const int64_t x = i[d + 2] + g->axis[d].padding - k[d + 2] * g->axis[d].dilation;
    o[d + 2] = x / g->axis[d].stride;
    if (x < 0 || x % g->axis[d].stride != 0 || o[d + 2] >= g->axis[d].output) return false;
  }
  return true;
}

bool THNN_(convolutionTakesHalf)(const Convolution *g, ConvolutionProduct product)
{
  (void)g, (void)product;
  return false;
}

static double biasOf(ConvolutionView bias, int64_t group, int64_t channel)
{
  return bias.data ? (double)((real *)bias.data)[group * bias.group + channel * bias.stride[0]] : 0;
}

void THNN_(convolutionOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output)
{
  const Sizes s = sizesOf(g);
  const int64_t filter[AXES] = {1, s.filter[1], s.filter[2], s.filter[3], s.filter[4]};
  FOR_INDEX(o, s.output)
  {
    const int64_t group = o[1] / s.filter[0], channel = o[1] % s.filter[0];
    double sum = biasOf(bias, group, channel);
    FOR_INDEX(k, filter)
    {
      int64_t i[AXES];
      const int64_t w[AXES] = {channel, k[1], k[2], k[3], k[4]};
      if (inputOf(g, &s, group, o, k, i))
        sum += (double)*element(input, 0, i) * (double)*element(weight, group, w);
    }
    *element(output, 0, o) = (real)sum;
  }
}

void THNN_(convolutionGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                 ConvolutionView bias, ConvolutionView gradInput)
{
  const Sizes s = sizesOf(g);
  const int64_t filter[AXES] = {s.filter[0], 1, s.filter[2], s.filter[3], s.filter[4]};
  FOR_INDEX(i, s.input)
  {
    const int64_t group = i[1] / s.filter[1], channel = i[1] % s.filter[1];
    double sum = biasOf(bias, group, channel);
    FOR_INDEX(k, filter)
    {
      int64_t o[AXES];
      const int64_t w[AXES] = {k[0], channel, k[2], k[3], k[4]};
      if (outputOf(g, &s, group, i, k, o))
        sum += (double)*element(gradOutput, 0, o) * (double)*element(weight, group, w);
    }
    *element(gradInput, 0, i) = (real)sum;
  }
}

void THNN_(convolutionGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                  ConvolutionView gradWeight, real scale, bool overwrites)
{
  const Sizes s = sizesOf(g);
  const int64_t positions[AXES] = {g->batch, 1, s.output[2], s.output[3], s.output[4]};
  for (int64_t group = 0; group < g->groups; group++) FOR_INDEX(k, s.filter)
    {
      double sum = 0;
      FOR_INDEX(q, positions)
      {
        int64_t i[AXES];
        const int64_t o[AXES] = {q[0], group * s.filter[0] + k[0], q[2], q[3], q[4]};
        if (inputOf(g, &s, group, o, k, i))
          sum += (double)*element(gradOutput, 0, o) * (double)*element(input, 0, i);
      }
      real *entry = element(gradWeight, group, k);
      *entry = (overwrites ? 0 : *entry) + (real)((double)scale * sum);
    }
}

void THNN_(convolutionGradBias)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView gradBias,
                                real scale)
{
  const Sizes s = sizesOf(g);
  const int64_t positions[AXES] = {g->batch, 1, s.output[2], s.output[3], s.output[4]};
  for (int64_t channel = 0; channel < g->outputChannels; channel++) {
    double sum = 0;
    FOR_INDEX(q, positions)
    {
      const int64_t o[AXES] = {q[0], channel, q[2], q[3], q[4]};
      sum += (double)*element(gradOutput, 0, o);
    }
    real *to = (real *)gradBias.data + channel / s.filter[0] * gradBias.group;
    to[channel % s.filter[0] * gradBias.stride[0]] += (real)((double)scale * sum);
  }
}
