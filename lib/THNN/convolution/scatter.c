#include "convolution/scatter.h"

#include "convolution/columns.h"
#include "convolution/depthwise.h"
#include "convolution/direct.h"
#include "convolution/implicit_gemm.h"
#include "convolution/winograd.h"
#include "gemm/microkernel.h"
#include "runtime/shared_scratch.h"

/* With at most this many output channels per group, products are computed while they are added. */
#define FEW_CHANNELS 4

/* Pixels of a row of gradInput that a task sums in L1, at most. */
#define SEGMENT_REALS 4096

/* Terms of a partial sum, which is then added to the total and cleared: this bounds the rounding error. */
#define PARTIAL_TERMS 128

/* A block with at most this many positions is not divided by positions. */
#define LEAST_POSITIONS 64

/* One spatial axis of a block: positions firstPosition .. endPosition - 1 and kernel elements firstElement ..
   endElement - 1, which add to the pixels q * stride + k * dilation - padding. The other fields are distances in
   memory. */
typedef struct ScatterAxis {
  int64_t input, stride, padding, dilation;
  int64_t firstPosition, endPosition, firstElement, endElement;
  int64_t pixel;                         /* of gradInput */
  int64_t rowPosition, rowElement;       /* of the rows that are added */
  int64_t factorPosition, factorElement; /* of their factors */
} ScatterAxis;

/* The direction of the rows that are added: along the kernel elements or the positions of the last axis, which is the
   longest, or along the channels. */
typedef enum RowDirection { ALONG_POSITIONS, ALONG_ELEMENTS, ALONG_CHANNELS } RowDirection;

/* pixel += the sum over `terms` terms of factor * row element. */
typedef struct Scatter {
  ScatterAxis axis[3];
  RowDirection direction;
  int64_t batch, groups, channels, terms;
  real *image;
  const real *row, *factor;
  int64_t imageBatch, imageGroup, imageChannel;
  int64_t rowBatch, rowGroup, rowChannel, rowTerm;
  int64_t factorBatch, factorGroup, factorChannel, factorTerm;
} Scatter;

/* The integers i, low <= i < high, for which otherLow <= other <= otherHigh - 1, where `other`, possibly a fraction,
   solves i * step + other * otherStep = target; nextPair skips every i whose `other` is not an integer. */
typedef struct Solutions {
  int64_t low, high, step, otherStep, target;
} Solutions;

static Solutions solve(int64_t target, int64_t step, int64_t low, int64_t high, int64_t otherStep,
                       int64_t otherLow, int64_t otherHigh)
{
  return (Solutions){.low = MAX(low, -floorDivide(-(target - (otherHigh - 1) * otherStep), step)),
                     .high = MIN(high, floorDivide(target - otherLow * otherStep, step) + 1),
                     .step = step,
                     .otherStep = otherStep,
                     .target = target};
}

/* The offsets of rows and factors of one (position, kernel element) of an axis. */
typedef struct Offsets {
  int64_t row, factor;
} Offsets;

/* Iterates over the pairs of a position and a kernel element of an axis that add to pixel x: along the positions or the
   kernel elements, whichever are fewer. */
typedef struct Pairs {
  const ScatterAxis *axis;
  Solutions s;
  bool overElements;
} Pairs;

static Pairs pairsOf(const ScatterAxis *a, int64_t x)
{
  const int64_t target = x + a->padding;
  Pairs p = {.axis = a, .overElements = a->endElement - a->firstElement < a->endPosition - a->firstPosition};
  p.s = p.overElements ? solve(target, a->dilation, a->firstElement, a->endElement, a->stride, a->firstPosition,
                               a->endPosition)
                       : solve(target, a->stride, a->firstPosition, a->endPosition, a->dilation, a->firstElement,
                               a->endElement);
  return p;
}

/* Advances to the next pair; false if there is none. */
static bool nextPair(Pairs *p, Offsets *at)
{
  for (; p->s.low < p->s.high; p->s.low++) {
    const int64_t rest = p->s.target - p->s.low * p->s.step;
    if (modulo(rest, p->s.otherStep) != 0) continue;
    const int64_t other = quotient(rest, p->s.otherStep), i = p->s.low++;
    const int64_t position = p->overElements ? other : i, element = p->overElements ? i : other;
    at->row = position * p->axis->rowPosition + element * p->axis->rowElement;
    at->factor = position * p->axis->factorPosition + element * p->axis->factorElement;
    return true;
  }
  return false;
}

/* to[i * toStride] += factor * from[i * fromStride] */
static ALWAYS_INLINE void addMultiple(real *to, int64_t toStride, real factor, const real *from,
                                      int64_t fromStride, int64_t n)
{
  if (toStride == 1 && fromStride == 1) {
    int64_t i = 0;
    for (; i + VL <= n; i += VL) v_store(to + i, v_load(to + i) + factor * v_load(from + i));
    if (i < n) {
      const int rest = (int)(n - i);
      v_store_n(to + i, v_load_n(to + i, rest) + factor * v_load_n(from + i, rest), rest);
    }
  } else {
    for (int64_t i = 0; i < n; i++) to[i * toStride] += factor * from[i * fromStride];
  }
}

/* The sums of a segment of a row of pixels. */
typedef struct Sums {
  real *partial, *total;
  int64_t begin, count, terms;
} Sums;

static void clear(Sums *s)
{
  memset(s->partial, 0, sizeof(real) * (size_t)s->count);
  memset(s->total, 0, sizeof(real) * (size_t)s->count);
  s->terms = 0;
}

static void flush(Sums *s)
{
  THNN_PRAGMA(omp simd)
  for (int64_t i = 0; i < s->count; i++) {
    s->total[i] += s->partial[i];
    s->partial[i] = 0;
  }
  s->terms = 0;
}

/* Adds to the sums all rows of one position and kernel element of the first two axes. */
static void addRows(const Scatter *p, const real *row, const real *factor, Sums *s)
{
  const ScatterAxis *a = p->axis + 2;
  const bool along = p->direction == ALONG_ELEMENTS;
  /* Row i starts at i * step, and its elements are `pitch` apart. */
  const int64_t step = along ? a->stride : a->dilation, pitch = along ? a->dilation : a->stride;
  const int64_t first = along ? a->firstElement : a->firstPosition, end = along ? a->endElement : a->endPosition;
  const int64_t firstRow = along ? a->firstPosition : a->firstElement,
                endRow = along ? a->endPosition : a->endElement;
  const int64_t rowStep = along ? a->rowPosition : a->rowElement,
                rowPitch = along ? a->rowElement : a->rowPosition;
  const int64_t factorStep = along ? a->factorPosition : a->factorElement;
  const int64_t shift = a->padding + s->begin; /* element j of row i adds to sum i * step + j * pitch - shift */
  const int64_t low = MAX(firstRow, -floorDivide(-(shift - (end - 1) * pitch), step)),
                high = MIN(endRow, floorDivide(s->count - 1 + shift - first * pitch, step) + 1);
  for (int64_t i = low; i < high; i++) {
    const int64_t start = i * step - shift;
    const int64_t begin = MAX(first, start < 0 ? ceilDivide(-start, pitch) : 0),
                  n = MIN(end, floorDivide(s->count - 1 - start, pitch) + 1) - begin;
    if (n <= 0) continue;
    const real *from = row + i * rowStep + begin * rowPitch, *by = factor + i * factorStep;
    for (int64_t t = 0; t < p->terms; t++)
      addMultiple(s->partial + start + begin * pitch, pitch, by[t * p->factorTerm], from + t * p->rowTerm,
                  rowPitch, n);
    s->terms += p->terms;
    if (s->terms >= PARTIAL_TERMS) flush(s);
  }
}

/* The pixels low .. high - 1 of an axis to which the block adds. */
static void pixelRange(const ScatterAxis *a, int64_t *low, int64_t *high)
{
  *low = MAX(a->firstPosition * a->stride + a->firstElement * a->dilation - a->padding, 0);
  *high = MIN((a->endPosition - 1) * a->stride + (a->endElement - 1) * a->dilation - a->padding + 1, a->input);
  *high = MAX(*low, *high);
}

/* Sets the sums of a segment of one pixel's channels, and returns false if nothing is added to it. */
static bool sumChannels(const Scatter *p, const int64_t *pixel, const real *row, const real *factor, Sums *s)
{
  bool reached = false;
  Offsets at[3];
  for (Pairs outer = pairsOf(p->axis, pixel[0]); nextPair(&outer, at);)
    for (Pairs middle = pairsOf(p->axis + 1, pixel[1]); nextPair(&middle, at + 1);)
      for (Pairs inner = pairsOf(p->axis + 2, pixel[2]); nextPair(&inner, at + 2);) {
        if (!reached) clear(s);
        reached = true;
        const real *from = row + at[0].row + at[1].row + at[2].row,
                   *by = factor + at[0].factor + at[1].factor + at[2].factor;
        for (int64_t t = 0; t < p->terms; t++)
          addMultiple(s->partial, 1, by[t * p->factorTerm], from + t * p->rowTerm, 1, s->count);
        s->terms += p->terms;
        if (s->terms >= PARTIAL_TERMS) flush(s);
      }
  return reached;
}

/* Adds all rows of channels to a channels-last image. A task owns a row of pixels of some channels. */
static void scatterChannels(const Scatter *p)
{
  int64_t low[3], high[3];
  double work = (double)p->terms * (double)(p->batch * p->groups * p->channels);
  for (int d = 0; d < 3; d++) {
    const ScatterAxis *a = p->axis + d;
    pixelRange(a, low + d, high + d);
    work *= (double)(a->endPosition - a->firstPosition) * (double)(a->endElement - a->firstElement);
  }
  const int64_t segments = ceilDivide(p->channels, SEGMENT_REALS), size[2] = {high[0] - low[0], high[1] - low[1]},
                tasks = p->batch * p->groups * size[0] * size[1] * segments;
  if (tasks == 0) return;
  THNN_PARALLEL_FOR(task, tasks, (int64_t)MIN(work / 4, 1e15)) {
    const int64_t segment = task % segments, row = task / segments, image = row / size[1] / size[0];
    const int64_t group = image % p->groups, n = image / p->groups, first = segment * p->channels / segments,
                  end = (segment + 1) * p->channels / segments;
    int64_t x[3] = {low[0] + row / size[1] % size[0], low[1] + row % size[1]};
    Sums s = {.count = end - first, .partial = thnn_scratch(2 * SEGMENT_REALS * sizeof(real))};
    s.total = s.partial + SEGMENT_REALS;
    real *to = p->image + n * p->imageBatch + group * p->imageGroup + x[0] * p->axis[0].pixel +
               x[1] * p->axis[1].pixel + first;
    for (x[2] = low[2]; x[2] < high[2]; x[2]++) {
      if (!sumChannels(p, x, p->row + n * p->rowBatch + group * p->rowGroup + first,
                       p->factor + n * p->factorBatch + group * p->factorGroup, &s))
        continue;
      real *pixel = to + x[2] * p->axis[2].pixel;
      THNN_PRAGMA(omp simd)
      for (int64_t i = 0; i < s.count; i++) pixel[i] += s.total[i] + s.partial[i];
    }
  }
}

/* Adds all rows to the image. A task owns a segment of pixels. */
static void scatter(const Scatter *p)
{
  if (p->direction == ALONG_CHANNELS) return scatterChannels(p);
  int64_t low[3], high[3];
  double work = (double)p->terms;
  for (int d = 0; d < 3; d++) {
    const ScatterAxis *a = p->axis + d;
    pixelRange(a, low + d, high + d);
    work *= (double)(a->endPosition - a->firstPosition) * (double)(a->endElement - a->firstElement);
  }
  const int64_t pixels = high[2] - low[2], segments = ceilDivide(pixels, SEGMENT_REALS),
                size[2] = {high[0] - low[0], high[1] - low[1]};
  const int64_t images = p->batch * p->groups * p->channels, tasks = images * size[0] * size[1] * segments;
  if (tasks == 0) return;
  work = MIN(work * (double)images / 4, 1e15);
  THNN_PARALLEL_FOR(task, tasks, (int64_t)work) {
    const int64_t segment = task % segments, x1 = low[1] + task / segments % size[1],
                  x0 = low[0] + task / segments / size[1] % size[0], image = task / segments / size[1] / size[0];
    const int64_t channel = image % p->channels, group = image / p->channels % p->groups,
                  n = image / p->channels / p->groups;
    Sums s = {.begin = low[2] + segment * pixels / segments};
    s.count = low[2] + (segment + 1) * pixels / segments - s.begin;
    s.partial = thnn_scratch(2 * SEGMENT_REALS * sizeof(real));
    s.total = s.partial + SEGMENT_REALS;
    const real *row = p->row + n * p->rowBatch + group * p->rowGroup + channel * p->rowChannel,
               *factor = p->factor + n * p->factorBatch + group * p->factorGroup + channel * p->factorChannel;
    Offsets at[2];
    bool reached = false;
    for (Pairs outer = pairsOf(p->axis, x0); nextPair(&outer, at);)
      for (Pairs inner = pairsOf(p->axis + 1, x1); nextPair(&inner, at + 1);) {
        if (!reached) clear(&s);
        reached = true;
        addRows(p, row + at[0].row + at[1].row, factor + at[0].factor + at[1].factor, &s);
      }
    if (!reached) continue;
    const int64_t pixel = p->axis[2].pixel;
    real *to = p->image + n * p->imageBatch + group * p->imageGroup + channel * p->imageChannel +
               x0 * p->axis[0].pixel + x1 * p->axis[1].pixel + s.begin * pixel;
    if (pixel == 1) {
      THNN_PRAGMA(omp simd)
      for (int64_t i = 0; i < s.count; i++) to[i] += s.total[i] + s.partial[i];
    } else {
      for (int64_t i = 0; i < s.count; i++) to[i * pixel] += s.total[i] + s.partial[i];
    }
  }
}

/* --- columns ----------------------------------------------------------------------------------------------------- */

static void scatterColumns(const Scatter *all, const int *order, ConvolutionView gradOutput,
                           ConvolutionView weight, int64_t terms, int64_t group, const ColumnBlock *b,
                           real *columns)
{
  int64_t stride[COLUMN_AXES];
  static const ColumnIndex innermost[] = {
      [ALONG_POSITIONS] = COLUMN_POSITION, [ALONG_ELEMENTS] = COLUMN_ELEMENT, [ALONG_CHANNELS] = COLUMN_CHANNEL};
  THNN_(columnStrides)(b->size, innermost[all->direction], stride);
  Gemm m = {.a = {.data = gradOutput.data, .kStride = {[3] = gradOutput.stride[1]}},
            .b = {.data = weight.data, .kStride = {[3] = weight.stride[0]}},
            .kSize = {1, 1, 1, terms},
            .groups = 1,
            .c = columns,
            .scale = 1};
  m.a.data += group * terms * gradOutput.stride[1];
  m.b.data += group * weight.group;
  for (int i = 0; i < 4; i++) {
    const int axis = i == 0 ? 0 : order[i - 1] + 2; /* of the views; i of the block */
    m.a.size[i] = b->size[i];
    m.a.stride[i] = gradOutput.stride[axis];
    m.a.cStride[i] = stride[i];
    m.a.data += b->first[i] * m.a.stride[i];
    const int j = all->direction != ALONG_CHANNELS ? i : i == 0 ? 3 : i - 1; /* of b, the contiguous axis last */
    m.b.size[j] = b->size[4 + i];
    m.b.stride[j] = weight.stride[i == 0 ? 1 : axis];
    m.b.cStride[j] = stride[4 + i];
    m.b.data += b->first[4 + i] * m.b.stride[j];
  }
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
  scatter(&s);
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
  if (THNN_(winogradSuits)(&c) && winogradPays(&c)) return 0.6 * regular; /* measured, transforms included */
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

/* The estimated time of scattering in multiply-adds of vectors. A row of pixels is a task with a fixed cost, which is small
   if nothing is added to the row. */
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
   kernel elements or positions; a distance between their pixels or between their own elements makes them slower. */
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
  scatter(&s);
  return true;
}
