#include "convolution/scatter_rows.h"

/* Pixels of a row of gradInput that a task sums in L1, at most. */
#define SEGMENT_REALS 4096

/* Terms of a partial sum, which is then added to the total and cleared: this bounds the rounding error. */
#define PARTIAL_TERMS 128

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

/* Sets the pixels low .. high - 1 of each axis to which the block adds, and returns the work of adding, in elements. */
static int64_t pixelRanges(const Scatter *p, int64_t *low, int64_t *high)
{
  double terms = (double)p->terms * (double)(p->batch * p->groups * p->channels);
  for (int d = 0; d < 3; d++) {
    const ScatterAxis *a = p->axis + d;
    low[d] = MAX(a->firstPosition * a->stride + a->firstElement * a->dilation - a->padding, 0);
    high[d] = MIN((a->endPosition - 1) * a->stride + (a->endElement - 1) * a->dilation - a->padding + 1, a->input);
    high[d] = MAX(low[d], high[d]);
    terms *= (double)(a->endPosition - a->firstPosition) * (double)(a->endElement - a->firstElement);
  }
  return (int64_t)MIN(terms / 4, 1e15);
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
  const int64_t work = pixelRanges(p, low, high);
  const int64_t segments = ceilDivide(p->channels, SEGMENT_REALS), size[2] = {high[0] - low[0], high[1] - low[1]},
                tasks = p->batch * p->groups * size[0] * size[1] * segments;
  if (tasks == 0) return;
  THNN_PARALLEL_FOR(task, tasks, work) {
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

/* A task owns a segment of pixels. */
void THNN_(scatterRows)(const Scatter *p)
{
  if (p->direction == ALONG_CHANNELS) return scatterChannels(p);
  int64_t low[3], high[3];
  const int64_t work = pixelRanges(p, low, high);
  const int64_t pixels = high[2] - low[2], segments = ceilDivide(pixels, SEGMENT_REALS),
                size[2] = {high[0] - low[0], high[1] - low[1]};
  const int64_t images = p->batch * p->groups * p->channels, tasks = images * size[0] * size[1] * segments;
  if (tasks == 0) return;
  THNN_PARALLEL_FOR(task, tasks, work) {
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
