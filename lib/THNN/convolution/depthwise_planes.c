#include "convolution/depthwise_planes.h"

#include "convolution/depthwise.h"
#include "gemm/transpose.h"
#include "runtime/shared_scratch.h"

/* A band is some vectors of groups in some images, whose planes are transposed into scratch memory that stays in L2:
   BAND_BYTES, or as much as one vector in one image takes, up to MOST_BYTES. */
#define BAND_BYTES ((int64_t)256 << 10)
#define MOST_BYTES ((int64_t)1 << 20)
#define SCRATCH_BYTES ((int64_t)4 << 20) /* limit for all threads together */

typedef enum Product { OUTPUT, GRAD_INPUT, GRAD_WEIGHT } Product;

/* A product of a convolution, and its division into bands. */
typedef struct Bands {
  Product product;
  Convolution geometry;
  ConvolutionView input, output, weight, bias; /* or the gradients of input, output and weight */
  real scale;
  int64_t groups; /* groups per vector */
  int64_t vectors, vectorsPerBand, imagesPerBand;
} Bands;

/* The size of an image along axis d. */
static int64_t sizeOf(const Convolution *g, bool output, int d)
{
  return output ? g->axis[d].output : g->axis[d].input;
}

static int64_t pixelsOf(const Convolution *g, bool output)
{
  return sizeOf(g, output, 0) * sizeOf(g, output, 1) * sizeOf(g, output, 2);
}

/* True if planes are contiguous and channels are not. */
static bool isChannelsFirst(const Convolution *g, bool output, ConvolutionView view)
{
  int64_t next = 1;
  for (int d = 2; d >= 0; next *= sizeOf(g, output, d--))
    if (sizeOf(g, output, d) != 1 && view.stride[d + 2] != next) return false;
  return view.stride[1] != 1;
}

/* A contiguous channels-last image. */
static ConvolutionView channelsLastView(const Convolution *g, bool output, real *data)
{
  ConvolutionView view = {.data = data, .stride = {[1] = 1}};
  int64_t next = output ? g->outputChannels : g->inputChannels;
  for (int d = 2; d >= 0; next *= sizeOf(g, output, d--)) view.stride[d + 2] = next;
  view.stride[0] = next;
  return view;
}

static void toChannelsLast(const Convolution *g, bool output, ConvolutionView to, ConvolutionView from)
{
  const int64_t channels = output ? g->outputChannels : g->inputChannels;
  for (int64_t n = 0; n < g->batch; n++)
    THNN_(transpose)((real *)to.data + n * to.stride[0], channels, (real *)from.data + n * from.stride[0],
                     from.stride[1], channels, pixelsOf(g, output));
}

static void toChannelsFirst(const Convolution *g, bool output, ConvolutionView to, ConvolutionView from)
{
  const int64_t channels = output ? g->outputChannels : g->inputChannels;
  for (int64_t n = 0; n < g->batch; n++)
    THNN_(transpose)((real *)to.data + n * to.stride[0], to.stride[1], (real *)from.data + n * from.stride[0],
                     channels, pixelsOf(g, output), channels);
}

static void computeBand(const Bands *b, int64_t firstVector, int64_t firstImage, real *scratch)
{
  const Convolution *all = &b->geometry;
  Convolution g = *all;
  const int64_t firstGroup = firstVector * b->groups, inChannels = all->inputChannels / all->groups,
                outChannels = all->outputChannels / all->groups;
  g.groups = MIN(b->vectorsPerBand * b->groups, all->groups - firstGroup);
  g.batch = MIN(b->imagesPerBand, all->batch - firstImage);
  g.inputChannels = g.groups * inChannels;
  g.outputChannels = g.groups * outChannels;
  ConvolutionView input = b->input, output = b->output, weight = b->weight, bias = b->bias;
  input.data = (real *)input.data + firstImage * input.stride[0] + firstGroup * inChannels * input.stride[1];
  output.data = (real *)output.data + firstImage * output.stride[0] + firstGroup * outChannels * output.stride[1];
  weight.data = (real *)weight.data + firstGroup * weight.group;
  if (bias.data != NULL) bias.data = (real *)bias.data + firstGroup * bias.group;
  const int64_t inputReals = g.batch * g.inputChannels * pixelsOf(&g, false);
  const ConvolutionView inputBand = channelsLastView(&g, false, scratch),
                        outputBand = channelsLastView(&g, true, scratch + ceilDivide(inputReals, VL) * VL);
  if (b->product != GRAD_INPUT) toChannelsLast(&g, false, inputBand, input);
  if (b->product != OUTPUT) toChannelsLast(&g, true, outputBand, output);
  if (b->product == OUTPUT) {
    Correlation c = THNN_(correlationForward)(&g, inputBand, weight, outputBand);
    c.bias = bias.data;
    c.biasGroupStride = bias.group;
    c.biasOutStride = bias.stride[0];
    THNN_(depthwiseCorrelate)(&c);
    toChannelsFirst(&g, true, output, outputBand);
  } else if (b->product == GRAD_INPUT) {
    const Correlation c = THNN_(correlationBackward)(&g, outputBand, weight, bias, inputBand);
    THNN_(fillUnreached)(&g, inputBand, bias);
    THNN_(depthwiseGradInput)(&c, &g, weight, inputBand);
    toChannelsFirst(&g, false, input, inputBand);
  } else {
    const Correlation c = THNN_(correlationForward)(&g, inputBand, weight, outputBand);
    THNN_(depthwiseGradWeight)(&c, b->scale);
  }
}

/* Direct convolution is faster if the stride is 1 and rows are not short. With kernels of more than 7 rows its column
   kernels are faster even for short rows. */
static bool isFaster(const Convolution *g, Product product)
{
  bool strided = false;
  for (int d = 0; d < 3; d++) strided = strided || g->axis[d].stride > 1;
  return strided || (g->axis[2].output <= VL / 2 + 1 && (product == GRAD_WEIGHT || g->axis[1].kernel <= 7));
}

static bool compute(Bands b)
{
  const Convolution *g = &b.geometry;
  const Correlation forward = THNN_(correlationForward)(g, b.input, b.weight, b.output),
                    backward = THNN_(correlationBackward)(g, b.output, b.weight, b.bias, b.input);
  if (!isFaster(g, b.product) || !THNN_(depthwiseFillsVectors)(b.product == GRAD_INPUT ? &backward : &forward) ||
      !isChannelsFirst(g, false, b.input) || !isChannelsFirst(g, true, b.output))
    return false;
  const int64_t inChannels = g->inputChannels / g->groups, outChannels = g->outputChannels / g->groups;
  b.groups = VL / MAX(inChannels, outChannels);
  b.vectors = ceilDivide(g->groups, b.groups);
  const int64_t bytes = b.groups * (inChannels * pixelsOf(g, false) + outChannels * pixelsOf(g, true)) *
                        (int64_t)sizeof(real); /* of a vector in an image */
  if (bytes == 0 || bytes > MOST_BYTES || g->batch == 0) return false;
  const int64_t bandBytes = MAX(BAND_BYTES, bytes), images = MIN(bandBytes / bytes, g->batch),
                imageBands = ceilDivide(g->batch, images);
  b.imagesPerBand = ceilDivide(g->batch, imageBands);
  const int64_t work = THNN_(depthwiseWork)(&forward), atOnce = SCRATCH_BYTES / bandBytes,
                threads = thnn_threads(atOnce, work);
  b.vectorsPerBand = MAX(MIN(bandBytes / (b.imagesPerBand * bytes), ceilDivide(b.vectors, threads)), 1);
  const int64_t vectorBands = ceilDivide(b.vectors, b.vectorsPerBand);
  /* A task owns the gradWeight of its vectors. */
  const int64_t tasks = b.product == GRAD_WEIGHT ? vectorBands : vectorBands * imageBands,
                bandsPerTask = vectorBands * imageBands / tasks, runs = MIN(tasks, threads),
                pitch = bandBytes / (int64_t)sizeof(real) + VL;
  real *scratch = thnn_sharedScratch((size_t)(runs * pitch) * sizeof(real));
  if (scratch == NULL) return false;
  THNN_PARALLEL_FOR(run, runs, work) {
    for (int64_t i = run * tasks / runs * bandsPerTask; i < (run + 1) * tasks / runs * bandsPerTask; i++)
      computeBand(&b, i / imageBands * b.vectorsPerBand, i % imageBands * b.imagesPerBand, scratch + run * pitch);
  }
  return true;
}

bool THNN_(depthwisePlanesOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                                  ConvolutionView bias, ConvolutionView output)
{
  return compute((Bands){
      .product = OUTPUT, .geometry = *g, .input = input, .output = output, .weight = weight, .bias = bias});
}

bool THNN_(depthwisePlanesGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                     ConvolutionView bias, ConvolutionView gradInput)
{
  return compute((Bands){.product = GRAD_INPUT,
                         .geometry = *g,
                         .input = gradInput,
                         .output = gradOutput,
                         .weight = weight,
                         .bias = bias});
}

bool THNN_(depthwisePlanesGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                      ConvolutionView gradWeight, real scale)
{
  return compute((Bands){.product = GRAD_WEIGHT,
                         .geometry = *g,
                         .input = input,
                         .output = gradOutput,
                         .weight = gradWeight,
                         .scale = scale});
}
