/* Checks the indices that the gradient of the maximum reads: whether they are valid, and whether they lie in their
   windows. */

#include "pooling/geometry.h"
#include "pooling/indexed.h"
#include "pooling/lanes.h"
#include "pooling/text.h"

/* int64 lanes, and lanes as wide as real. Unsigned, because arithmetic on indices of any value may wrap around. */
typedef uint64_t vwide __attribute__((vector_size(VBYTES)));
#ifdef THNN_REAL_IS_FLOAT
typedef uint32_t vbits __attribute__((vector_size(VBYTES)));
#else
typedef uint64_t vbits __attribute__((vector_size(VBYTES)));
#endif
#define WIDE_LANES ((int)(VBYTES / sizeof(int64_t)))

/* The sign bit of a lane is set in `invalid` if an index is neither -1 nor in [0, limit), and in `outside` if an index
   in [0, limit) is not in its window. */
typedef struct IndexErrors {
  vwide invalid;
  vbits outside;
} IndexErrors;

enum { INDEX_INVALID = 1, INDEX_OUTSIDE = 2 };

/* The indices that lie in the windows of an output row. Lane i and row r of the kernel have the indices from
   base + row[r] + low[i] to width[i] steps of columnStep above that; if not `each`, all lanes have low[0] and width[0].
   From one output row to the next, base advances by rowStep. A number is divided by columnStep by multiplying with the
   inverse of its odd factor, modulo the size of a lane, and rotating by the exponent of its power of two; if the
   quotient is not whole, it exceeds every width (Granlund, Montgomery 1994). */
typedef struct IndexBounds {
  int64_t limit, rows, columnStep, rowStep, inverse;
  int shift;
  vlane *row, *low, *width;
} IndexBounds;

static inline vbits bits1(int64_t x) { return (vbits)vi_set1((vlane)x); }

static ALWAYS_INLINE void checkBlock(const int64_t *first, int vectors, int lanes, int64_t count,
                                     const int64_t *index, int64_t indexStep, int64_t base,
                                     const IndexBounds *bounds, bool each, IndexErrors *errors)
{
  const IndexBounds b = *bounds;
  const int words = (int)(sizeof(int64_t) / sizeof(real)), laneBits = 8 * (int)sizeof(real);
  for (int v = 0; v < vectors; v++) {
    vwide invalid = {0};
    vbits low = bits1(b.low[0]), width = bits1(b.width[0]), outside = {0};
    if (each) low = (vbits)loadLanes((const real *)b.low + first[v], lanes);
    if (each) width = (vbits)loadLanes((const real *)b.width + first[v], lanes);
    low += bits1(base);
    const int64_t *from = index + first[v];
    for (int64_t n = 0; n < count; n++, from += indexStep) {
      for (int part = 0; part < lanes; part += WIDE_LANES) {
        const int left = lanes - part < WIDE_LANES ? lanes - part : WIDE_LANES;
        thnn_prefetchAhead(from + part, left * (int)sizeof *from);
        vwide all = (vwide)loadLanes((const real *)(from + part), left * words);
        invalid |= (all + 1) | ((uint64_t)(b.limit - 1) - all);
      }
      const vbits narrow = (vbits)loadIndices(from, lanes);
      vbits nowhere = ~narrow;
      for (int64_t r = 0; r < b.rows; r++) {
        const vbits past = narrow - low - bits1(b.row[r]);
        if (b.columnStep == 1) {
          nowhere &= past | (width - past);
        } else {
          const vbits odd = past * bits1(b.inverse), steps = odd >> b.shift | odd << (laneBits - 1 - b.shift) << 1;
          nowhere &= steps | (width - steps);
        }
      }
      outside |= nowhere;
      low += bits1(b.rowStep);
    }
    if (lanes < VL) outside &= (vbits)(ramp(1) < vi_set1((vlane)lanes));
    errors->invalid |= invalid;
    errors->outside |= outside;
  }
}

/* fixedRows: kernel rows outside the input have no valid index, so that all windows can be checked with all rows. */
typedef struct IndexCheck {
  const Pooling *pooling;
  IndexAxis axes[WINDOW_AXES];
  bool fixedRows;
} IndexCheck;

static void columnBounds(const IndexCheck *check, int64_t o, vlane *low, vlane *width)
{
  const IndexAxis *axis = &check->axes[2];
  int64_t k, end;
  windowElements(&check->pooling->axis[2], o, &k, &end);
  *low = (vlane)indexAt(axis, o, k);
  *width = (vlane)(end - 1 - k);
}

/* Sets the kernel rows of the windows of output row (od, oh). */
static void rowBounds(const IndexCheck *check, int64_t od, int64_t oh, IndexBounds *b)
{
  const WindowAxis *d = &check->pooling->axis[0], *h = &check->pooling->axis[1];
  int64_t d0 = 0, dEnd = d->kernel, h0 = 0, hEnd = h->kernel;
  if (!check->fixedRows) {
    windowElements(d, od, &d0, &dEnd);
    windowElements(h, oh, &h0, &hEnd);
  }
  b->rows = 0;
  for (int64_t k = d0; k < dEnd; k++)
    for (int64_t r = h0; r < hEnd; r++)
      b->row[b->rows++] = (vlane)(k * check->axes[0].perElement + r * check->axes[1].perElement);
}

static void findInverse(IndexBounds *b)
{
  b->shift = __builtin_ctzll((uint64_t)b->columnStep);
  const uint64_t odd = (uint64_t)b->columnStep >> b->shift;
  uint64_t inverse = odd; /* three bits are right, and twice as many after each step of Newton's method */
  for (int i = 0; i < 5; i++) inverse *= 2 - odd * inverse;
  b->inverse = (int64_t)inverse;
}

static size_t boundsBuffers(void *memory, const IndexCheck *check, bool each, IndexBounds *b, int64_t **line)
{
  ScratchArena arena = {memory, 0};
  const WindowAxis *d = &check->pooling->axis[0], *h = &check->pooling->axis[1], *w = &check->pooling->axis[2];
  const double outputs = each ? (double)w->output : 1;
  *b = (IndexBounds){.limit = indexLimit(check->pooling),
                     .columnStep = check->axes[2].perElement,
                     .rowStep = check->axes[1].perOutput};
  findInverse(b);
  b->row = arenaTake(&arena, (double)d->kernel * (double)h->kernel, sizeof(vlane));
  b->low = arenaTake(&arena, outputs, sizeof(vlane));
  b->width = arenaTake(&arena, outputs, sizeof(vlane));
  *line = arenaTake(&arena, outputs, sizeof(int64_t));
  return (size_t)arena.bytes;
}

/* The errors found, INDEX_INVALID and INDEX_OUTSIDE; both if lanes cannot hold the indices. */
static int findErrors(const Pooling *pooling, const PoolingImages *index, const int64_t *indices)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const bool channelsLast = imagesAreChannelsLast(index);
  /* The indices of rows above or below a single slice are negative or beyond the last index. */
  IndexCheck check = {pooling, {{0}}, pooling->index == INDEX_INPUT && windowIsIdentity(d) && d->input == 1};
  indexAxes(pooling, check.axes);
  IndexBounds sizes;
  int64_t *none;
  const size_t bytes = boundsBuffers(NULL, &check, !channelsLast, &sizes, &none);
  if (!indexFitsLanes(pooling) || bytes > THNN_SCRATCH_LIMIT) return INDEX_INVALID | INDEX_OUTSIDE;

  /* Channels-last: a row has the pixels of an image row, with all channels. Otherwise: a row of one plane. */
  const int64_t images = index->n * (channelsLast ? 1 : index->c), rows = images * d->output * h->output;
  const int64_t rowSize = w->output * (channelsLast ? index->c : 1), perTask = rowsPerTask(rowSize);
  int found = 0;
  THNN_PARALLEL_FOR(task, ceilDivide(rows, perTask), rows * rowSize) {
    IndexBounds b;
    int64_t *line;
    boundsBuffers(thnn_scratch(bytes), &check, !channelsLast, &b, &line);
    IndexErrors errors = {{0}, {0}};
    if (check.fixedRows) rowBounds(&check, 0, 0, &b);
    for (int64_t j = 0; j < w->output && !channelsLast; j++) columnBounds(&check, j, b.low + j, b.width + j);
    const int64_t end = MIN(rows, (task + 1) * perTask);
    int64_t row = task * perTask, slice = row / h->output, o = row % h->output;
    for (int64_t count; row < end; row += count, o += count) {
      if (o == h->output) slice++, o = 0;
      const int64_t image = slice / d->output, od = slice % d->output;
      const int64_t *from = indices + (channelsLast ? image * index->sn : imagesPlane(index, image)) +
                            od * index->sd + o * index->sh;
      const int64_t base = indexAt(&check.axes[0], od, 0) + indexAt(&check.axes[1], o, 0);
      count = 1;
      if (!check.fixedRows) rowBounds(&check, od, o, &b);
      if (channelsLast) {
        for (int64_t j = 0; j < w->output; j++) {
          columnBounds(&check, j, b.low, b.width);
          FOR_LANE_BLOCKS(index->c, checkBlock, 1, from + j * index->sw, 0, base, &b, false, &errors);
        }
      } else if (index->sw == 1) {
        if (check.fixedRows) count = MIN(end - row, h->output - o);
        FOR_LANE_BLOCKS(w->output, checkBlock, count, from, index->sh, base, &b, true, &errors);
      } else {
        for (int64_t j = 0; j < w->output; j++) line[j] = from[j * index->sw];
        FOR_LANE_BLOCKS(w->output, checkBlock, 1, line, 0, base, &b, true, &errors);
      }
    }
    int bits = 0;
    for (int i = 0; i < WIDE_LANES; i++) bits |= (int)(errors.invalid[i] >> 63) * INDEX_INVALID;
    for (int i = 0; i < VL; i++) bits |= (vlane)errors.outside[i] < 0 ? INDEX_OUTSIDE : 0;
    if (bits) __atomic_fetch_or(&found, bits, __ATOMIC_RELAXED);
  }
  return found;
}

/* Fails at the first invalid index, if there is one; -1 is valid if it is `allowed`. */
static void failAtIndex(THNNState *state, const Pooling *pooling, const PoolingImages *index,
                        const int64_t *indices, bool allowed)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  static const char *const name[WINDOW_AXES] = {"sequence", "plane", "volume"};
  const int64_t rows = index->n * index->c * d->output * h->output;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t j = 0; j < w->output; j++) {
      const int64_t slice = row / h->output, plane = slice / d->output;
      const int64_t o[WINDOW_AXES] = {slice % d->output, row % h->output, j};
      const int64_t found = indices[imagesSlice(index, slice) + o[1] * index->sh + j * index->sw];
      int64_t in[WINDOW_AXES];
      if ((found == -1 && allowed) || indexInput(pooling, o, found, in)) continue;
      const long long n = plane / index->c, channel = plane % index->c;
      char at[128];
      if (pooling->axes == 1) snprintf(at, sizeof at, "%lld, %lld, %lld", n, (long long)j, channel);
      else snprintf(at, sizeof at, "sample %lld, channel %lld, %s", n, channel, axisText(pooling, ", ", o).text);
      const AxisText size = axisText(pooling, " x ", (int64_t[]){d->input, h->input, w->input});
      const char *rest = allowed ? ", or -1" : "";
      if (pooling->index == INDEX_INPUT)
        THNN_fail(state, THNN_INDEX_ERROR, "indices",
                  "expected a position in a %s of %s, 0 to %lld%s; got %lld at (%s)", name[pooling->axes - 1],
                  size.text, (long long)(indexLimit(pooling) - 1), rest, (long long)found, at);
      else
        THNN_fail(state, THNN_INDEX_ERROR, "indices",
                  "expected an element of its window in a %s of %s with kernel %s%s; got %lld at (%s)",
                  name[pooling->axes - 1], size.text,
                  axisText(pooling, " x ", (int64_t[]){d->kernel, h->kernel, w->kernel}).text, rest,
                  (long long)found, at);
      return;
    }
}

/* True if all elements of a dense tensor are positions in the input or, if it is `allowed`, -1; reads them in the order
   of memory. */
static bool positionsAreValid(const Pooling *pooling, const THIndexTensor *indices, bool allowed)
{
  const int64_t *index = indices->data, count = THNNTensor_numel(indices);
  const uint64_t last = (uint64_t)indexLimit(pooling) - 1, below = allowed;
  int found = 0;
  THNN_PARALLEL_FOR(task, ceilDivide(count, TASK_ELEMENTS), count) {
    const int64_t end = MIN(count, (task + 1) * TASK_ELEMENTS);
    uint64_t invalid = 0; /* sign bit */
    for (int64_t i = task * TASK_ELEMENTS; i < end; i++)
      invalid |= ((uint64_t)index[i] + below) | (last - (uint64_t)index[i]);
    if (invalid >> 63) __atomic_store_n(&found, 1, __ATOMIC_RELAXED);
  }
  return !found;
}

/* True if all elements of a dense tensor are packed kernel elements. */
static bool packedAreValid(const Pooling *pooling, const THIndexTensor *indices)
{
  const int64_t *index = indices->data, count = THNNTensor_numel(indices);
  const int64_t d = pooling->axis[0].kernel - 1, h = pooling->axis[1].kernel - 1, w = pooling->axis[2].kernel - 1;
  int found = 0;
  THNN_PARALLEL_FOR(task, ceilDivide(count, TASK_ELEMENTS), count) {
    const int64_t end = MIN(count, (task + 1) * TASK_ELEMENTS);
    int64_t invalid = 0; /* sign bit */
    for (int64_t i = task * TASK_ELEMENTS; i < end; i++)
      invalid |= index[i] | (d - (index[i] & 255)) | (h - (index[i] >> 8 & 255)) | (w - (index[i] >> 16));
    if (invalid < 0) __atomic_store_n(&found, 1, __ATOMIC_RELAXED);
  }
  return !found;
}

/* Indices in planes are compared with their windows only where the gradient is gathered, or a kernel element may lie in
   the padding. */
bool THNN_(poolingCheckIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices)
{
  const PoolingImages index = poolingImages(pooling, indices);
  const bool gathers = imagesAreChannelsLast(&index) || poolingHalves(pooling, 2) || poolingHalves(pooling, 3);
  if (!gathers && pooling->index == INDEX_INPUT && THNNTensor_isDense(indices)) {
    if (!positionsAreValid(pooling, indices, true)) failAtIndex(state, pooling, &index, indices->data, true);
    return false;
  }
  const bool allInside =
      windowIsInside(&pooling->axis[0]) && windowIsInside(&pooling->axis[1]) && windowIsInside(&pooling->axis[2]);
  if (pooling->index == INDEX_KERNEL_PACKED && allInside && THNNTensor_isDense(indices)) {
    if (!packedAreValid(pooling, indices)) failAtIndex(state, pooling, &index, indices->data, true);
    return true;
  }
  const int found = findErrors(pooling, &index, indices->data);
  /* A kernel index that is outside its window has no input element, hence is invalid. */
  if (found & (pooling->index == INDEX_INPUT ? INDEX_INVALID : INDEX_INVALID | INDEX_OUTSIDE))
    failAtIndex(state, pooling, &index, indices->data, true);
  return !(found & INDEX_OUTSIDE);
}

static bool indicesAreValid(const Pooling *pooling, const PoolingImages *index, const int64_t *indices)
{
  const WindowAxis *d = &pooling->axis[0], *h = &pooling->axis[1], *w = &pooling->axis[2];
  const int64_t rows = index->n * index->c * d->output * h->output;
  int found = 0;
  THNN_PARALLEL_FOR(row, rows, rows * w->output) {
    const int64_t slice = row / h->output, o = row % h->output;
    const int64_t *from = indices + imagesSlice(index, slice) + o * index->sh;
    int64_t in[WINDOW_AXES];
    bool valid = true;
    for (int64_t j = 0; j < w->output; j++)
      valid &= indexInput(pooling, (int64_t[]){slice % d->output, o, j}, from[j * index->sw], in);
    if (!valid) __atomic_store_n(&found, 1, __ATOMIC_RELAXED);
  }
  return !found;
}

void THNN_(poolingRequireIndices)(THNNState *state, const Pooling *pooling, const THIndexTensor *indices)
{
  const PoolingImages index = poolingImages(pooling, indices);
  if (THNNTensor_numel(indices) == 0) return;
  if (pooling->index == INDEX_INPUT && THNNTensor_isDense(indices)
          ? !positionsAreValid(pooling, indices, false)
          : !indicesAreValid(pooling, &index, indices->data))
    failAtIndex(state, pooling, &index, indices->data, false);
}
