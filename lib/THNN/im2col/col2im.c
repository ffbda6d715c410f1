#include "gemm/transpose.h"
#include "im2col/im2col.h"
#include "runtime/integer.h"

/* A task accumulates a block of segments of image rows, so small that the block stays cached while one kernel element
   after another is added to it. */

#define SEGMENT_REALS 4096 /* pixels of a segment, at most */
#define BLOCK_REALS 4096   /* sums of a block, at most, unless it is a single segment */

/* In channels-last layout this many channels are summed together, to be stored by a transposition. */
#define CHANNEL_BLOCK 16

/* Kernel elements of a partial sum, which is then added to the total and cleared: this bounds the rounding error. */
#define PARTIAL_TERMS 128

/* Up to this stride, the pixels of a segment are split by residue modulo the stride, so that the pixels that a kernel
   element reaches are contiguous. */
#define MAX_RESIDUES 4

/* to[i * toStride] += from[i * fromStride] */
static inline void addRun(real *to, int64_t toStride, const real *from, int64_t fromStride, int64_t n)
{
  if (toStride == 1 && fromStride == 1) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += from[i];
  } else if (toStride == 1 && fromStride == 2) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < n; i++) to[i] += from[2 * i];
  } else {
    for (int64_t i = 0; i < n; i++) to[i * toStride] += from[i * fromStride];
  }
}

/* Pixels first .. first + count - 1 of the image row x of sample n. */
typedef struct Segment {
  int64_t n, x[3], first, count;
} Segment;

static Segment segmentAt(int64_t i, const int64_t *size, int64_t width)
{
  const int64_t segmentsOfRow = ceilDivide(width, SEGMENT_REALS);
  Segment s;
  s.first = i % segmentsOfRow * SEGMENT_REALS;
  s.count = MIN(width - s.first, SEGMENT_REALS);
  i /= segmentsOfRow;
  for (int d = 2; d >= 0; d--) {
    s.x[d] = i % size[d];
    i /= size[d];
  }
  s.n = i;
  return s;
}

static inline void nextSegment(Segment *s, const int64_t *size, int64_t width)
{
  s->first += SEGMENT_REALS;
  if (s->first >= width) {
    s->first = 0;
    int d = 2;
    while (d >= 0 && ++s->x[d] == size[d]) s->x[d--] = 0;
    if (d < 0) s->n++;
  }
  s->count = MIN(width - s->first, SEGMENT_REALS);
}

/* Adjacent segments of one channel. The sum of pixel i of a segment has index i % residues * pitch + i / residues. */
typedef struct Block {
  const Im2col *w;
  Segment first;
  int64_t segments, size[3], width;
  int64_t residues, pitch;
} Block;

/* Adds the columns of kernel element k to the sums of a block. */
static void addElement(const Block *b, const real *columns, const int64_t *k, real *sums)
{
  const Im2col *w = b->w;
  const WindowAxis *a = w->axis, *last = a + 3;
  const int64_t start = k[3] * last->dilation - last->padding; /* x = q * stride + start */
  int64_t all[2];
  windowOutputs(last, k[3], all, all + 1);
  for (int d = 0; d < 4; d++) columns += k[d] * w->kernelStride[d];
  Segment s = b->first;
  for (int64_t i = 0; i < b->segments; i++, nextSegment(&s, b->size, b->width), sums += b->residues * b->pitch) {
    const real *from = columns + s.n * w->columnBatchStride;
    bool reached = true;
    for (int d = 0; d < 3 && reached; d++) {
      const int64_t q = windowOutputAt(a + d, s.x[d], k[d]);
      reached = q >= 0;
      from += q * w->columnStride[d];
    }
    if (!reached) continue;
    int64_t low = all[0], high = all[1];
    if (s.first > 0 || s.count < b->width) { /* positions that reach this segment of the row */
      const int64_t begin = s.first - start, end = begin + s.count;
      low = MAX(low, begin <= 0 ? 0 : (begin + last->stride - 1) / last->stride);
      high = MIN(high, end <= 0 ? 0 : (end + last->stride - 1) / last->stride);
    }
    if (low >= high) continue;
    const int64_t pixel = low * last->stride + start - s.first;
    const int64_t at = b->residues > 1 ? pixel % b->residues * b->pitch + pixel / b->residues : pixel;
    addRun(sums + at, b->residues > 1 ? 1 : last->stride, from + low * w->columnStride[3], w->columnStride[3],
           high - low);
  }
}

/* True if kernel element k of any window reads one of the inputs low .. high. */
static bool readsAny(const WindowAxis *a, int64_t k, int64_t low, int64_t high)
{
  const int64_t start = k * a->dilation - a->padding;
  const int64_t o = low <= start ? 0 : ceilDivide(low - start, a->stride);
  return o < a->output && o * a->stride + start <= high;
}

/* The range low[d] .. high[d] of the image rows of a block, on all axes but the last. */
static void blockRows(const Block *b, int64_t *low, int64_t *high)
{
  int64_t rows = ceilDivide(b->first.first / SEGMENT_REALS + b->segments, ceilDivide(b->width, SEGMENT_REALS));
  for (int d = 2; d >= 0; d--) {
    const int64_t end = b->first.x[d] + rows;
    const bool whole = end > b->size[d];
    low[d] = whole ? 0 : b->first.x[d];
    high[d] = whole ? b->size[d] - 1 : end - 1;
    rows = ceilDivide(end, b->size[d]);
  }
}

/* Adds the columns of all kernel elements to the sums of a block: to `partial`, which is added to `total` and cleared
   after each PARTIAL_TERMS elements. Kernel elements that add to none of the block's rows are skipped: most elements of
   a kernel that is as large as the image. */
static void addElements(const Block *b, const real *columns, real *partial, real *total, int64_t reals)
{
  const WindowAxis *a = b->w->axis;
  int64_t low[3], high[3], k[4], done = 0;
  blockRows(b, low, high);
  for (k[0] = 0; k[0] < a[0].kernel; k[0]++) {
    if (!readsAny(a, k[0], low[0], high[0])) continue;
    for (k[1] = 0; k[1] < a[1].kernel; k[1]++) {
      if (!readsAny(a + 1, k[1], low[1], high[1])) continue;
      for (k[2] = 0; k[2] < a[2].kernel; k[2]++) {
        if (!readsAny(a + 2, k[2], low[2], high[2])) continue;
        for (k[3] = 0; k[3] < a[3].kernel; k[3]++) {
          const int64_t element = ((k[0] * a[1].kernel + k[1]) * a[2].kernel + k[2]) * a[3].kernel + k[3];
          if (element / PARTIAL_TERMS != done) {
            done = element / PARTIAL_TERMS;
            for (int64_t i = 0; i < reals; i++) total[i] += partial[i];
            memset(partial, 0, sizeof(real) * (size_t)reals);
          }
          addElement(b, columns, k, partial);
        }
      }
    }
  }
}

/* Sets row to total + partial, in the order of pixels. row has room for one pixel more than `count`. */
static void mergeResidues(const Block *b, int64_t count, const real *partial, const real *total, real *row)
{
  if (b->residues == 1) {
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < count; i++) row[i] = total[i] + partial[i];
  } else if (b->residues == 2) {
    const real *oddPartial = partial + b->pitch, *oddTotal = total + b->pitch;
    THNN_PRAGMA(omp simd)
    for (int64_t i = 0; i < (count + 1) / 2; i++) {
      row[2 * i] = total[i] + partial[i];
      row[2 * i + 1] = oddTotal[i] + oddPartial[i];
    }
  } else {
    for (int64_t i = 0; i < count; i++) {
      const int64_t at = i % b->residues * b->pitch + i / b->residues;
      row[i] = total[at] + partial[at];
    }
  }
}

void THNN_(col2im)(THNNState *state __attribute__((unused)), const Im2col *w, bool add)
{
  const WindowAxis *a = w->axis;
  Block all = {.w = w, .width = a[3].input, .residues = a[3].stride <= MAX_RESIDUES ? a[3].stride : 1};
  int64_t segments = w->batch * ceilDivide(all.width, SEGMENT_REALS), elements = 1;
  for (int d = 0; d < 3; d++) segments *= all.size[d] = a[d].input;
  for (int d = 0; d < 4; d++) elements *= a[d].kernel;
  if (segments * w->channels == 0) return;
  all.pitch = ceilDivide(MIN(all.width, SEGMENT_REALS), all.residues);
  const int64_t pixelStride = w->imageStride[3], channelStride = w->imageChannelStride;
  const int64_t together = channelStride == 1 && pixelStride != 1 && !add ? MIN(w->channels, CHANNEL_BLOCK) : 1;
  const int64_t channelBlocks = ceilDivide(w->channels, together), segmentReals = all.residues * all.pitch;
  const int64_t blockSegments = MIN(MAX(BLOCK_REALS / together / segmentReals, 1), segments),
                blocks = ceilDivide(segments, blockSegments), rowPitch = segmentReals + VL;
  THNN_PARALLEL_FOR(task, channelBlocks * blocks, segments * w->channels * segmentReals * 2 * elements) {
    const int64_t begin = task % blocks * blockSegments, channel = task / blocks * together;
    const int64_t channels = MIN(together, w->channels - channel);
    Block block = all;
    block.segments = MIN(blockSegments, segments - begin);
    block.first = segmentAt(begin, all.size, all.width);
    const int64_t reals = block.segments * segmentReals;
    real *partials =
        thnn_scratch(sizeof(real) * (size_t)(together * (2 * blockSegments * segmentReals + rowPitch)));
    real *totals = partials + together * blockSegments * segmentReals,
         *rows = totals + together * blockSegments * segmentReals;
    memset(partials, 0, sizeof(real) * (size_t)(together * blockSegments * segmentReals) * 2);
    for (int64_t c = 0; c < channels; c++) {
      const real *columns = (const real *)w->columns + (channel + c) * w->columnChannelStride;
      real *partial = partials + c * blockSegments * segmentReals,
           *total = totals + c * blockSegments * segmentReals;
      addElements(&block, columns, partial, total, reals);
    }
    Segment s = block.first;
    for (int64_t i = 0; i < block.segments; i++, nextSegment(&s, all.size, all.width)) {
      real *to = (real *)w->image + s.n * w->imageBatchStride + channel * channelStride + s.first * pixelStride;
      for (int d = 0; d < 3; d++) to += s.x[d] * w->imageStride[d];
      for (int64_t c = 0; c < channels; c++) {
        const int64_t at = (c * blockSegments + i) * segmentReals;
        real *row = rows + c * rowPitch;
        mergeResidues(&block, s.count, partials + at, totals + at, row);
        if (add)
          for (int64_t x = 0; x < s.count; x++) to[x * pixelStride] += row[x];
        else if (pixelStride == 1) memcpy(to + c * channelStride, row, sizeof(real) * (size_t)s.count);
        else if (together == 1)
          for (int64_t x = 0; x < s.count; x++) to[x * pixelStride] = row[x];
      }
      if (together > 1) THNN_(transpose)(to, pixelStride, rows, rowPitch, channels, s.count);
    }
  }
}
