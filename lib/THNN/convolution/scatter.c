#include "convolution/scatter.h"

#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/direct.h"
#include "convolution/implicit_gemm.h"
#include "convolution/scatter_rows.h"
#include "convolution/winograd.h"
#include "runtime/shared_scratch.h"

/* With at most this many output channels per group, products are computed while they are added. */
#define FEW_CHANNELS 4

/* A block with at most this many positions is not divided by positions. */
#define LEAST_POSITIONS 64

/* --- columns ----------------------------------------------------------------------------------------------------- */

static void scatterColumns(const Scatter *all, const int *order, ConvolutionView gradOutput,
                           ConvolutionView weight, int64_t terms, int64_t group, const ColumnBlock *b,
                           real *columns)
{
  int64_t stride[COLUMN_AXES];
  static const ColumnIndex innermost[] = {
      [ALONG_POSITIONS] = COLUMN_POSITION, [ALONG_ELEMENTS] = COLUMN_ELEMENT, [ALONG_CHANNELS] = COLUMN_CHANNEL};
  THNN_(columnStrides)(b->size, innermost[all->direction], stride);
  const real *from = (const real *)gradOutput.data + group * terms * gradOutput.stride[1],
             *factors = (const real *)weight.data + group * weight.group;
  Gemm m = {.a = {.kStride = {[3] = gradOutput.stride[1]}},
            .b = {.kStride = {[3] = weight.stride[0]}},
            .kSize = {1, 1, 1, terms},
            .groups = 1,
            .c = columns,
            .scale = 1};
  for (int i = 0; i < 4; i++) {
    const int axis = i == 0 ? 0 : order[i - 1] + 2; /* axis of the views; i is the block's axis */
    m.a.size[i] = b->size[i];
    m.a.stride[i] = gradOutput.stride[axis];
    m.a.cStride[i] = stride[i];
    from += b->first[i] * m.a.stride[i];
    const int j = all->direction != ALONG_CHANNELS ? i : i == 0 ? 3 : i - 1; /* in b, the contiguous axis last */
    m.b.size[j] = b->size[4 + i];
    m.b.stride[j] = weight.stride[i == 0 ? 1 : axis];
    m.b.cStride[j] = stride[4 + i];
    factors += b->first[4 + i] * m.b.stride[j];
  }
  m.a.data = from;
  m.b.data = factors;
  THNN_(mergeAxes)(m.a.size, m.a.stride, m.a.cStride);
  THNN_(mergeAxes)(m.b.size, m.b.stride, m.b.cStride);
  THNN_(gemm)(&m);

  static const real one = 1;
  Scatter s = *all;
  s.batch = b->size[0];
  s.groups = 1;
  s.channels = b->size[4];
  s.terms = 1;
  s.factor = &one;
  s.row = columns;
  s.rowBatch = stride[0];
  s.rowChannel = stride[4];
  s.rowTerm = s.factorBatch = s.factorChannel = s.factorTerm = 0;
  s.image += b->first[0] * s.imageBatch + group * s.imageGroup + b->first[4] * s.imageChannel;
  for (int d = 0; d < 3; d++) {
    ScatterAxis *a = s.axis + d;
    a->firstPosition = b->first[1 + d];
    a->endPosition = a->firstPosition + b->size[1 + d];
    a->firstElement = b->first[5 + d];
    a->endElement = a->firstElement + b->size[5 + d];
    a->rowPosition = stride[1 + d];
    a->rowElement = stride[5 + d];
    a->factorPosition = a->factorElement = 0;
    s.row -= a->firstPosition * a->rowPosition + a->firstElement * a->rowElement;
  }
  THNN_(scatterRows)(&s);
}

static bool allColumns(const Scatter *p, const int *order, const Convolution *g, ConvolutionView gradOutput,
                       ConvolutionView weight)
{
  real *columns = thnn_sharedScratch(sizeof(real) * COLUMN_REALS);
  if (columns == NULL) return false;
  int64_t whole[COLUMN_AXES] = {[0] = g->batch, [4] = p->channels};
  for (int d = 0; d < 3; d++) {
    whole[1 + d] = g->axis[order[d]].output;
    whole[5 + d] = g->axis[order[d]].kernel;
  }
  ColumnBlock b;
  int64_t most[COLUMN_AXES], blocks[COLUMN_AXES], i[COLUMN_AXES] = {0}, count = 1;
  memcpy(most, whole, sizeof most);
  THNN_(columnBlockSize)(most, LEAST_POSITIONS);
  for (int d = 0; d < COLUMN_AXES; d++) count *= blocks[d] = ceilDivide(whole[d], most[d]);
  for (int64_t group = 0; group < g->groups; group++)
    for (int64_t n = 0; n < count; n++, nextIndex(i, blocks, COLUMN_AXES)) {
      for (int d = 0; d < COLUMN_AXES; d++) {
        b.first[d] = i[d] * most[d];
        b.size[d] = MIN(most[d], whole[d] - b.first[d]);
      }
      scatterColumns(p, order, gradOutput, weight, g->outputChannels / g->groups, group, &b, columns);
    }
  return true;
}

/* --- the choice -------------------------------------------------------------------------------------------------- */

/* True if the other algorithms may compute many products with padding, or in many calls: kernels longer than gradOutput
   or of more than 128 elements, more residue classes than direct convolution joins, or a dilation above 2. */
static bool isIrregular(const Convolution *g)
{
  double elements = 1;
  bool irregular = false;
  for (int d = 0; d < 3; d++) {
    const WindowAxis *a = g->axis + d;
    elements *= (double)a->kernel;
    irregular = irregular || a->kernel > a->output || residueCount(a) > DIRECT_CLASSES ||
                (a->kernel > 1 && a->dilation > 2);
  }
  return irregular || elements > 128;
}

/* The estimated time of the other algorithms in multiply-adds of vectors. */
static double gatherCost(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                         ConvolutionView bias, ConvolutionView gradInput)
{
  double classes = 1,
         products = (double)g->batch * (double)g->outputChannels * (double)(g->inputChannels / g->groups);
  for (int d = 0; d < 3; d++) {
    const WindowAxis *a = g->axis + d;
    classes *= (double)residueCount(a);
    products *= (double)a->input * (double)a->kernel / (double)(a->stride / gcd(a->stride, a->dilation));
  }
  Correlation c = THNN_(correlationBackward)(g, gradOutput, weight, bias, gradInput);
  const double calls = classes * (2000 + 500 * (double)g->groups);
  const int64_t first[3] = {0};
  const bool depthwise = THNN_(depthwiseSuits)(&c);
  ResidueClasses residues[4];
  if (!depthwise && THNN_(directClasses)(g, weight, gradInput, residues)) {
    bool reached = true;
    for (int d = 0; d < 4; d++) reached = reached && residues[d].count > 0;
    Correlation direct = c;
    if (reached) THNN_(directJoin)(&direct, residues);
    if (reached && THNN_(directSuits)(&direct)) return 1.8 * THNN_(directCost)(&direct, residues);
  }
  const double lanes = (double)(ceilDivide(c.outChannels, VL) * VL);
  const double regular = products * MIN(lanes, 4 * (double)c.outChannels) / (double)c.outChannels / VL + calls;
  if (depthwise || !THNN_(correlationOfResidue)(&c, g, first, weight, gradInput)) return regular;
  THNN_(correlationSimplify)(&c);
  if (THNN_(winogradSuits)(&c) && winogradPays(&c, winogradLeastTiles(&c)))
    return 0.6 * regular; /* measured, transforms included */
  if (c.outChannels <= VL / 2 || !correlationIsIrregular(&c)) return regular;
  return MAX(regular, classes * THNN_(implicitGemmCost)(&c) + calls);
}

/* The rows that are added: their direction, the last axis of the block, and their length; contiguous if they and their
   pixels are. */
typedef struct Rows {
  RowDirection direction;
  int axis;
  int64_t length;
  bool contiguous;
} Rows;

/* The estimated time of scattering in multiply-adds of vectors. A row of pixels is a task with a fixed cost, which is
   small if nothing is added to the row. */
static double scatterCost(const Convolution *g, Rows rows)
{
  const double terms = (double)(g->outputChannels / g->groups), channels = (double)(g->inputChannels / g->groups),
               length = (double)rows.length;
  double columns = (double)g->batch * (double)g->inputChannels, pixels = columns, reached = columns;
  for (int d = 0; d < 3; d++) {
    const double input = (double)g->axis[d].input, pairs = (double)g->axis[d].output * (double)g->axis[d].kernel;
    columns *= pairs;
    pixels *= input;
    reached *= d == rows.axis ? input : MIN(input, pairs);
  }
  const bool few = terms <= FEW_CHANNELS, ofChannels = rows.direction == ALONG_CHANNELS;
  const double addition =
      (few ? terms : 1) * (rows.contiguous ? 2.0 / VL : 1) + (few ? 4 : 6 + 2 * terms / VL) / length;
  const double product = few ? 0 : 0.5 + terms / VL * MAX(1, 4 / (ofChannels ? channels : channels * length));
  const double row = (double)g->axis[rows.axis].input * (ofChannels ? channels : 1);
  return 20000 + columns * (product + addition) + pixels * (0.05 + 30 / row) + reached * (0.2 + 270 / row) +
         (few ? 0 : 4000 * (double)g->groups);
}

/* Channels of channels-last images are rows, if they fill a vector. Otherwise rows run along the axis with the most
   kernel elements or positions; a gap between their pixels or between their elements makes them slower. */
static Rows chooseRows(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                       ConvolutionView gradInput)
{
  const int64_t terms = g->outputChannels / g->groups, channels = g->inputChannels / g->groups;
  if (gradInput.stride[1] == 1 && weight.stride[1] == 1 && channels >= VL)
    return (Rows){ALONG_CHANNELS, 2, channels, true};
  Rows rows = {0};
  double longest = 0;
  for (int d = 2; d >= 0; d--) {
    const WindowAxis *a = g->axis + d;
    for (int along = 0; along < 2; along++) {
      const bool contiguous =
          (along ? a->dilation : a->stride) == 1 &&
          (terms > FEW_CHANNELS || (along ? weight : gradOutput).stride[d + 2] == 1); /* columns are contiguous */
      const int64_t length = along ? a->kernel : a->output;
      const double weighted = (double)length / (contiguous ? 1 : 8);
      if (weighted <= longest) continue;
      longest = weighted;
      rows = (Rows){along ? ALONG_ELEMENTS : ALONG_POSITIONS, d, length, contiguous};
    }
  }
  return rows;
}

bool THNN_(scatterGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                             ConvolutionView bias, ConvolutionView gradInput)
{
  const int64_t terms = g->outputChannels / g->groups, channels = g->inputChannels / g->groups;
  bool empty = terms * channels * g->batch == 0;
  for (int d = 0; d < 3; d++) empty = empty || g->axis[d].output < 1 || g->axis[d].input < 1;
  if (empty || !isIrregular(g)) return false;
  const Rows rows = chooseRows(g, gradOutput, weight, gradInput);
  if (2 * scatterCost(g, rows) > gatherCost(g, gradOutput, weight, bias, gradInput)) return false;
  const int order[3] = {rows.axis == 0 ? 1 : 0, rows.axis == 2 ? 1 : 2, rows.axis};
  const bool ofWeight = rows.direction != ALONG_POSITIONS; /* rows of weight, with factors of gradOutput */
  Scatter s = {.direction = rows.direction,
               .batch = g->batch,
               .groups = g->groups,
               .channels = channels,
               .terms = terms,
               .image = gradInput.data,
               .imageBatch = gradInput.stride[0],
               .imageChannel = gradInput.stride[1],
               .imageGroup = channels * gradInput.stride[1],
               .row = ofWeight ? weight.data : gradOutput.data,
               .factor = ofWeight ? gradOutput.data : weight.data};
  /* gradOutput has strides of batch, group and term; weight has strides of group, channel and term. */
  *(ofWeight ? &s.factorBatch : &s.rowBatch) = gradOutput.stride[0];
  s.rowGroup = ofWeight ? weight.group : terms * gradOutput.stride[1];
  s.factorGroup = ofWeight ? terms * gradOutput.stride[1] : weight.group;
  s.rowTerm = ofWeight ? weight.stride[0] : gradOutput.stride[1];
  s.factorTerm = ofWeight ? gradOutput.stride[1] : weight.stride[0];
  *(ofWeight ? &s.rowChannel : &s.factorChannel) = weight.stride[1];
  for (int d = 0; d < 3; d++) {
    const WindowAxis *a = g->axis + order[d];
    const int64_t position = gradOutput.stride[order[d] + 2], element = weight.stride[order[d] + 2];
    s.axis[d] = (ScatterAxis){.input = a->input,
                              .stride = a->stride,
                              .padding = a->padding,
                              .dilation = a->dilation,
                              .endPosition = a->output,
                              .endElement = a->kernel,
                              .pixel = gradInput.stride[order[d] + 2],
                              .rowPosition = ofWeight ? 0 : position,
                              .rowElement = ofWeight ? element : 0,
                              .factorPosition = ofWeight ? position : 0,
                              .factorElement = ofWeight ? 0 : element};
  }
  THNN_(fillWithBias)(g, gradInput, bias);
  if (terms > FEW_CHANNELS) return allColumns(&s, order, g, gradOutput, weight);
  THNN_(scatterRows)(&s);
  return true;
}
