#include "convolution/grad_weight.h"
#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/depthwise_planes.h"
#include "convolution/direct.h"
#include "convolution/winograd.h"
#include "gemm/gemm.h"
#include "runtime/algorithm.h"
#include "runtime/shared_scratch.h"

/* With at most this many samples of a Linear layer, packing would take longer than the products. */
#define FEW_SAMPLES 8

static bool hasFewSamples(const Correlation *c)
{
  bool few = c->sourceChannelStride == 1 && c->weightInStride == 1 && c->axis[3].targetSize <= FEW_SAMPLES;
  for (int d = 0; d < 3; d++) few = few && c->axis[d].targetSize == 1;
  return few;
}

/* Computes gradWeight without packing: for each of its vectors, a sum over samples. */
static void multiplyFewSamples(const Correlation *c, GradWeightUpdate update, int64_t work)
{
  const CorrelationAxis *axis = c->axis + 3;
  THNN_PARALLEL_FOR(o, c->groups * c->outChannels, work) {
    const int64_t group = o / c->outChannels;
    const real *source = c->source + group * c->inChannels, *gradient = c->target + o * c->targetChannelStride;
    real *weight = c->weight + group * c->weightGroupStride + o % c->outChannels * c->weightOutStride;
    for (int64_t i = 0; i < c->inChannels; i += VL) {
      const int n = (int)MIN(VL, c->inChannels - i);
      vreal sum = {0};
      for (int64_t q = 0; q < axis->targetSize; q++)
        sum += gradient[q * axis->targetStride] * v_load_n(source + q * axis->sourceStride + i, n);
      updateEntries(update, weight + i, sum, n);
    }
  }
}

/* gradWeight of a pointwise convolution as a matrix product: output channels times input channels, summed over
   positions. */
static void multiplyPointwise(const Correlation *c, GradWeightUpdate update)
{
  Gemm p = {.a = {.data = c->target,
                  .size = {1, 1, 1, c->outChannels},
                  .stride = {[3] = c->targetChannelStride},
                  .groupStride = c->outChannels * c->targetChannelStride,
                  .cStride = {[3] = c->weightOutStride}},
            .b = {.data = c->source,
                  .size = {1, 1, 1, c->inChannels},
                  .stride = {[3] = c->sourceChannelStride},
                  .groupStride = c->inChannels * c->sourceChannelStride,
                  .cStride = {[3] = c->weightInStride}},
            .groups = c->groups,
            .type = c->type,
            .c = c->weight,
            .cGroupStride = c->weightGroupStride,
            .accumulate = !update.overwrites,
            .scale = update.scale};
  for (int d = 0; d < 4; d++) {
    p.kSize[d] = c->axis[d].targetSize;
    p.a.kStride[d] = c->axis[d].targetStride;
    p.b.kStride[d] = c->axis[d].sourceStride;
  }
  THNN_(gemm)(&p);
}

/* For thnn_threads(); 0 if there is nothing to compute. */
static int64_t workOf(const Correlation *c) { return (int64_t)ceil(MIN(correlationProducts(c) / 16, 1e15)); }

/* The whole gradWeight, for clear(). */
typedef struct Gradient {
  GradWeightUpdate update;
  int32_t type;
  real *data;
  int64_t elements;
} Gradient;

/* Clears a gradWeight that would be overwritten, for algorithms that cannot tell the first sum of an entry from later
   ones, or do not reach all entries. */
static void clear(Gradient *gradient)
{
  if (gradient->update.overwrites) thnn_clear(gradient->data, gradient->elements * elementBytes(gradient->type));
  gradient->update.overwrites = false;
}

/* True if no kernel element reads only padding. The correlation has already dropped such elements at the ends of an
   axis. */
static bool reachesAllElements(const Convolution *g, const Correlation *c)
{
  int64_t elements = 1, kept = 1;
  for (int d = 0; d < WINDOW_AXES; d++) elements *= g->axis[d].kernel;
  for (int d = 0; d < 4; d++) {
    kept *= c->axis[d].kernel;
    for (int64_t t = 0; t < c->axis[d].kernel; t++) {
      int64_t begin, end;
      axisPositions(c->axis + d, t, &begin, &end);
      if (begin == end) return false;
    }
  }
  return kept == elements;
}

/* A gradWeight of at most PART_ELEMENTS elements is summed over PARTS parts of at least PART_POSITIONS positions, and
   then over the parts: it has too few tasks for several threads, and each of them would pack the whole source. */
#define PART_ELEMENTS 16384
#define PART_POSITIONS 64
#define PARTS 8

/* Sets strides of a weight [group][output channel][channel][kernel element]; returns its number of elements. */
static int64_t makeWeightDense(Correlation *c)
{
  int64_t elements = 1;
  for (int d = 3; d >= 0; elements *= c->axis[d].kernel, d--) c->axis[d].weightStride = elements;
  c->weightInStride = elements;
  c->weightOutStride = elements *= c->inChannels;
  c->weightGroupStride = elements *= c->outChannels;
  return elements * c->groups;
}

/* Updates gradWeight by dense sums of its elements. */
static void updateFromDense(const Correlation *c, const real *sum, GradWeightUpdate update)
{
  int64_t k[4] = {0};
  const int64_t kernel[4] = {c->axis[0].kernel, c->axis[1].kernel, c->axis[2].kernel, c->axis[3].kernel};
  for (int64_t o = 0; o < c->groups * c->outChannels; o++)
    for (int64_t i = 0; i < c->inChannels; i++) {
      real *filter = c->weight + o / c->outChannels * c->weightGroupStride +
                     o % c->outChannels * c->weightOutStride + i * c->weightInStride;
      for (int64_t element = elementCount(kernel); element > 0; element--, nextIndex(k, kernel, 4), sum++) {
        real *entry = filter;
        for (int d = 0; d < 4; d++) entry += k[d] * c->axis[d].weightStride;
        *entry = updatedEntry(update, *entry, *sum);
      }
    }
}

/* The axis whose positions divide most evenly into parts. */
static int axisOfParts(const Correlation *c)
{
  int best = 0;
  double least = INFINITY;
  for (int d = 0; d < 4; d++) {
    const int64_t positions = c->axis[d].targetSize;
    const double longest = (double)ceilDivide(positions, PARTS) / (double)positions;
    if (longest >= least) continue;
    least = longest;
    best = d;
  }
  return best;
}

/* Returns false, without a result, if gradWeight is large, positions are few, or the process is out of memory. */
static bool sumParts(const Correlation *c, GradWeightUpdate update, int64_t work)
{
  const int d = axisOfParts(c);
  const int64_t positions = c->axis[d].targetSize;
  int64_t all = 1;
  for (int i = 0; i < 4; i++) all *= c->axis[i].targetSize;
  Correlation dense = *c;
  const int64_t elements = makeWeightDense(&dense);
  if (elements > PART_ELEMENTS || positions < PARTS || all < PARTS * PART_POSITIONS) return false;
  real *sums = thnn_sharedScratch(sizeof(real) * (size_t)(PARTS * elements));
  if (sums == NULL) return false;
  THNN_PARALLEL_FOR(i, PARTS, work) {
    const int64_t first = i * positions / PARTS;
    GradWeightPlan p = {.c = dense};
    p.c.weight = sums + i * elements;
    p.c.target += first * p.c.axis[d].targetStride;
    p.c.axis[d].offset += first * p.c.axis[d].stride;
    p.c.axis[d].targetSize = (i + 1) * positions / PARTS - first;
    THNN_(gradWeightPlan)(&p, 1);
    for (int64_t t = 0; t < gradWeightTasks(&p); t++)
      THNN_(gradWeightImplicitGemm)(&p, t, (GradWeightUpdate){1, true});
  }
  for (int64_t i = 1; i < PARTS; i++)
    for (int64_t e = 0; e < elements; e++) sums[e] += sums[i * elements + e];
  updateFromDense(c, sums, update);
  return true;
}

/* Updates gradWeight by the implicit GEMM. */
static void implicitGemmGradWeight(const Correlation *c, GradWeightUpdate update)
{
  GradWeightPlan p = {.c = *c};
  const int64_t work = workOf(c);
  if (work == 0) return;
  thnn_useAlgorithm("implicit GEMM");
  if (sumParts(c, update, work)) return;
  THNN_(gradWeightPlan)(&p, thnn_threads(1 << 20, work));
  const int64_t tasks = gradWeightTasks(&p);
  THNN_PARALLEL_FOR(i, tasks, work) THNN_(gradWeightImplicitGemm)(&p, i, update);
}

/* Zones share kernel elements, so that each adds to the sums of the others. */
static CorrelationFunction implicitGemmZone, correlateZone;

static bool columns(const Correlation *c, GradWeightUpdate update, double otherCost)
{
  if (!correlationIsIrregular(c) || !THNN_(columnsGradWeight)(c, update, otherCost)) return false;
  thnn_useAlgorithm("columns");
  return true;
}

/* Updates gradWeight by the algorithm that suits. */
static void correlateGradWeight(const Correlation *correlation, Gradient *gradient)
{
  GradWeightPlan p = {.c = *correlation};
  const int64_t work = workOf(&p.c);
  if (work == 0) return;
  if (THNN_(depthwiseSuits)(&p.c)) {
    thnn_useAlgorithm("depthwise");
    return THNN_(depthwiseGradWeight)(&p.c, gradient->update.scale);
  }
  if (THNN_(correlateZones)(&p.c, correlateZone, gradient)) return;
  THNN_(correlationLengthenRows)(&p.c);
  const GradWeightUpdate update = gradient->update;
  if (THNN_(directSuitsGradWeight)(&p.c)) {
    if (columns(&p.c, update, THNN_(directGradWeightCost)(&p.c))) return;
    thnn_useAlgorithm("direct");
    return THNN_(directGradWeight)(&p.c, gradient->update.scale);
  }
  if (correlationIsPointwise(&p.c)) {
    thnn_useAlgorithm("GEMM");
    if (hasFewSamples(&p.c)) multiplyFewSamples(&p.c, update, work);
    else multiplyPointwise(&p.c, update);
    return;
  }
  if (THNN_(winogradGradWeight)(&p.c, update)) return thnn_useAlgorithm("Winograd");
  const int threads = thnn_threads(1 << 20, work);
  THNN_(gradWeightPlan)(&p, 1); /* the choice of the algorithm must not depend on threads */
  if (THNN_(gradWeightUnfoldedSuits)(&p)) {
    thnn_useAlgorithm("unfolded GEMM");
    return THNN_(gradWeightUnfolded)(&p, threads, work, update);
  }
  if (columns(&p.c, update, THNN_(gradWeightCost)(&p))) return;
  if (!THNN_(correlateColumnZones)(&p.c, implicitGemmZone, gradient)) implicitGemmGradWeight(&p.c, update);
}

static void implicitGemmZone(const Correlation *zone, void *gradient)
{
  clear(gradient);
  implicitGemmGradWeight(zone, ((Gradient *)gradient)->update);
}

static void correlateZone(const Correlation *zone, void *gradient)
{
  clear(gradient);
  correlateGradWeight(zone, gradient);
}

void THNN_(convolutionGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                  ConvolutionView gradWeight, real scale, bool overwrites)
{
  const Correlation c = THNN_(correlationForward)(g, input, gradWeight, gradOutput);
  Gradient gradient = {{scale, overwrites}, c.type, gradWeight.data, c.groups * c.inChannels * c.outChannels};
  for (int d = 0; d < WINDOW_AXES; d++) gradient.elements *= g->axis[d].kernel;
  const int64_t work = workOf(&c);
  /* The algorithms for groups add to gradWeight, whose filters have few channels. */
  if (work == 0 || c.groups > 1 || !reachesAllElements(g, &c)) clear(&gradient);
  if (work == 0) return;
  if (isHalf(c.type)) {
    thnn_useAlgorithm(multipliesPairs(c.type) ? "bfloat16 GEMM" : "GEMM");
    if (correlationIsPointwise(&c)) multiplyPointwise(&c, gradient.update);
    else THNN_(gradWeightTiles)(&c, gradient.update, work);
    return;
  }
  if (THNN_(depthwisePlanesGradWeight)(g, input, gradOutput, gradWeight, scale))
    return thnn_useAlgorithm("depthwise planes");
  correlateGradWeight(&c, &gradient);
}
