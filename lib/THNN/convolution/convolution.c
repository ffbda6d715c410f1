#include "gemm/microkernel.h"
#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/direct.h"
#include "convolution/depthwise.h"
#include "gemm/gemm.h"

/* target[n, o, q] = bias[o] + sum over channels c, taps t of weight[o, c, t] * source[n, c, patch of q at t].

   Lanes are output channels, in panels of 2 * VL; rows of a register tile are neighbouring positions; a tile
   is added to memory after GEMM_DEPTH terms. Each thread has its part of the positions or of the panels, goes
   through it box by box, and holds in its scratch memory

     strip    the patches of a box of positions, a block of channels of it,
     weights  packed, [k][lane] with k = (channel, tap),
     sums     of the tiles of a box, [position][lane].

   If the weights of a thread's panels fit there, they are packed once; boxes are then as large as a strip of
   all channels allows. If not, boxes are as large as their sums allow, channels come block by block, and the
   weights of a block and panel are packed right before their use. */

#define LANES (2 * VL)
#define LANES_MAX (2 * VBYTES / 4)
#define WEIGHT_BYTES ((int64_t)1 << 20)
#define BLOCK_BYTES ((int64_t)256 << 10)
#define TILE_REALS (GEMM_ROWS * LANES)
#define RESIDENT_TILES ((int64_t)128)
#define SUM_TILES ((int64_t)(((int64_t)1 << 20) / (2 * VBYTES * GEMM_ROWS)))
#define MAX_ROWS 768 /* RESIDENT_TILES of 6 */

typedef struct Plan {
  Correlation c;
  int64_t count[4], taps[4]; /* all of them */
  int64_t boxPositions[4], boxTaps[4];
  bool resident;         /* all weights of a part are packed at once */
  int64_t blockChannels; /* channels of a strip */
  int64_t depthChannels; /* channels of one pass of a tile */
  int skip;              /* axis on which rows leave out the taps that only see padding, or -1 */
  int64_t panelsAtOnce;
  Strip strip;
  int64_t boxes, panels; /* panels of all groups */
  bool byPanels;         /* threads share panels, not boxes */
} Plan;

static int64_t countTilesOfBox(const int64_t *positions)
{
  const int64_t columns = gemm_columns(positions[3]), rows = volume(positions) / columns;
  const int together = gemm_rowsPerTile(columns);
  return together == 1 ? rows * ceilDivide(columns, GEMM_ROWS) : ceilDivide(rows, together);
}

static int64_t realsOfStrip(const Plan *p, const int64_t *positions, int64_t channels)
{
  return strip_make(p->c.axis, positions, p->boxTaps, REALS_PER_LINE).channel * channels + VL;
}

static bool boxFits(const Plan *p, const int64_t *box, int64_t stripRoom, int64_t mostTiles)
{
  return realsOfStrip(p, box, p->blockChannels) * (int64_t)sizeof(real) <= stripRoom &&
         countTilesOfBox(box) <= mostTiles && volume(box) / gemm_columns(box[3]) <= MAX_ROWS;
}

/* Along the axes that are innermost in memory first. */
static void growBox(Plan *p, int64_t stripRoom, int64_t mostTiles)
{
  for (int d = 3; d >= 0; d--) {
    int64_t box[4];
    memcpy(box, p->boxPositions, sizeof box);
    const int64_t step = d == 3 ? GEMM_ROWS : 1;
    while (p->boxPositions[d] < p->count[d]) {
      box[d] = MIN((p->boxPositions[d] / step + 1) * step, p->count[d]);
      if (!boxFits(p, box, stripRoom, mostTiles)) break;
      p->boxPositions[d] = box[d];
    }
    if (p->boxPositions[d] < p->count[d]) {
      if (d < 3) p->boxPositions[d] = ceilDivide(p->count[d], ceilDivide(p->count[d], p->boxPositions[d]));
      break;
    }
  }
}

/* What strips of all boxes hold, and weights if they are packed for each. */
static double copied(const Plan *p)
{
  const double reals = (double)realsOfStrip(p, p->boxPositions, MAX(p->c.channels, 1)),
               weights = p->resident ? 0 : (double)(p->c.outputs * p->c.channels * volume(p->taps));
  return (reals + weights) * (double)box_pieces(p->count, p->boxPositions);
}

/* Only depthChannels, the taps of a box and the order of channels matter to a sum, and they depend on sizes alone;
   all the rest may depend on the number of threads. */
static void makePlan(Plan *p, int threads)
{
  const Correlation *c = &p->c;
  const int64_t panelsOfGroup = ceilDivide(c->outputs, LANES), realBytes = sizeof(real);
  for (int d = 0; d < 4; d++) {
    p->count[d] = c->axis[d].count;
    p->taps[d] = c->axis[d].taps;
    p->boxPositions[d] = 1;
  }
  int64_t width = MIN(p->count[3], 4 * GEMM_ROWS);
  THNN_(correlation_cutTaps)(c, p->boxTaps, &width);
  p->boxPositions[3] = width;
  const int64_t taps = volume(p->boxTaps), channels = MAX(c->channels, 1);
  p->depthChannels = MIN(GEMM_DEPTH / taps, channels);
  while (p->depthChannels > 1 && realsOfStrip(p, p->boxPositions, p->depthChannels) * realBytes > STRIP_BYTES)
    p->depthChannels = (p->depthChannels + 1) / 2;

  /* What is cut is copied by one thread only, what is not by each: cut the larger of source and weights. */
  const int64_t tiles = countTilesOfBox(p->count), weights = c->outputs * c->channels * volume(p->taps),
                source = volume(p->count) * c->channels;
  p->panels = c->groups * panelsOfGroup;
  p->byPanels = p->panels >= threads && (weights > source || tiles < 4 * threads);
  const int64_t panels = MIN(p->byPanels ? ceilDivide(p->panels, threads) : p->panels, panelsOfGroup);

  int64_t mostTiles = RESIDENT_TILES, stripRoom = STRIP_BYTES / 2;
  p->resident = taps == volume(p->taps) && panels * (channels * taps + 1) * LANES * realBytes <= WEIGHT_BYTES &&
                realsOfStrip(p, p->boxPositions, channels) * realBytes <= STRIP_BYTES;
  p->panelsAtOnce = panels;
  p->blockChannels = p->resident ? channels : p->depthChannels;
  if (!p->resident) {
    /* Strips are copied once per group of panels, weights once per box, and sums limit both. */
    double least = INFINITY;
    for (int64_t groups = 1; groups <= panels; groups++) {
      const int64_t together = ceilDivide(panels, groups), most = SUM_TILES / together;
      if (most < countTilesOfBox(p->boxPositions)) continue;
      const double cost = (double)source * (double)groups + (double)weights * (double)ceilDivide(tiles, most);
      if (cost >= least) continue;
      least = cost;
      mostTiles = most;
      p->panelsAtOnce = together;
    }
    stripRoom = STRIP_BYTES;
  }
  /* Boxes of few planes share less of their rims: of all depths of a box the one that copies least. */
  int64_t start[4];
  memcpy(start, p->boxPositions, sizeof start);
  growBox(p, stripRoom, mostTiles);
  for (int64_t depth = c->axis[1].taps > 1 ? p->count[1] : 1; depth > 1; depth = nextPiece(p->count[1], depth)) {
    Plan deep = *p;
    memcpy(deep.boxPositions, start, sizeof start);
    deep.boxPositions[1] = depth;
    if (!boxFits(p, deep.boxPositions, stripRoom, mostTiles)) continue;
    growBox(&deep, stripRoom, mostTiles);
    if (copied(&deep) < copied(p)) *p = deep;
  }
  /* Cut boxes until threads share them evenly. */
  for (;;) {
    p->boxes = box_pieces(p->count, p->boxPositions);
    if (p->byPanels || p->boxes % threads == 0 || p->boxes >= 8 * threads) break;
    int d = 0;
    while (d < 4 && p->boxPositions[d] == 1) d++;
    if (d == 4 || (d == 3 && p->boxPositions[3] <= GEMM_ROWS)) break;
    if (d < 3) p->boxPositions[d] = nextPiece(p->count[d], p->boxPositions[d]);
    else
      p->boxPositions[d] =
          nextPiece(ceilDivide(p->count[d], GEMM_ROWS), ceilDivide(p->boxPositions[d], GEMM_ROWS)) * GEMM_ROWS;
  }
  p->strip = strip_make(c->axis, p->boxPositions, p->boxTaps, REALS_PER_LINE);
  /* The outermost axis of the kernel: its taps can be a range of a pass. Tiles of several whole rows take all. */
  p->skip = 0;
  while (p->skip < 3 && c->axis[p->skip].taps == 1) p->skip++;
  const Axis *outer = c->axis + p->skip;
  if (p->skip == 3 || p->boxTaps[p->skip] < outer->taps || p->count[3] <= GEMM_ROWS / 2 ||
      (outer->first >= 0 && outer->first + axis_extent(outer, outer->count, outer->taps) <= outer->size))
    p->skip = -1;
  while (!p->resident && p->blockChannels < channels) {
    const int64_t more = p->blockChannels + p->depthChannels;
    if (realsOfStrip(p, p->boxPositions, more) * realBytes > STRIP_BYTES ||
        more * taps * LANES * realBytes > BLOCK_BYTES)
      break;
    p->blockChannels = more;
  }
}

/* From each tap to the next, forwards or backwards, or 0 if they don't lie evenly. */
static int64_t tapStep(const Correlation *c, const Box *taps)
{
  int64_t step = 0, run = 1;
  for (int d = 3; d >= 0; d--) {
    if (taps->count[d] == 1) continue;
    if (step == 0) step = c->axis[d].weight;
    if (c->axis[d].weight != step * run) return 0;
    run *= taps->count[d];
  }
  return step;
}

/* A row of output channels for each channel and tap. Where channels are innermost the taps can be in `parts` parts, which
   are outermost in what is packed; elsewhere they are one. */
static void packChannels(const Correlation *c, const real *weight, int64_t lanes, int64_t width, int64_t channels,
                         const Box *taps, int64_t parts, real *packed)
{
  const int64_t T = volume(taps->count), step = tapStep(c, taps);
  int64_t t[4] = {0}, at[GEMM_DEPTH];
  for (int64_t k = 0; k < T; k++, box_next(t, taps->count, 4)) {
    at[k] = 0;
    for (int d = 0; d < 4; d++) at[k] += t[d] * c->axis[d].weight;
  }
  if (c->weightOutput != 1 && c->weightChannel == 1) {
    const int64_t rest = T / parts;
    for (int64_t k = 0; k < T; k++)
      THNN_(gemm_transpose)(packed + (k / rest * channels * rest + k % rest) * width, rest * width, weight + at[k],
                            c->weightOutput, lanes, channels);
  } else if (c->weightOutput != 1 && step == 1 && c->weightChannel == T) {
    THNN_(gemm_transpose)(packed, width, weight, c->weightOutput, lanes, channels * T);
  } else if (c->weightOutput != 1 && (step == 1 || step == -1)) {
    for (int64_t i = 0; i < channels; i++, packed += T * width, weight += c->weightChannel) {
      if (step > 0) THNN_(gemm_transpose)(packed, width, weight, c->weightOutput, lanes, T);
      else THNN_(gemm_transpose)(packed + (T - 1) * width, -width, weight - (T - 1), c->weightOutput, lanes, T);
    }
  } else {
    /* The taps of a channel share cache lines. */
    for (int64_t i = 0; i < channels; i++, weight += c->weightChannel)
      for (int64_t k = 0; k < T; k++, packed += width) {
        const real *from = weight + at[k];
        if (c->weightOutput == 1)
          for (int64_t l = 0; l < lanes; l++) packed[l] = from[l];
        else
          for (int64_t l = 0; l < lanes; l++) packed[l] = from[l * c->weightOutput];
      }
  }
}

static const real *weightsOf(const Correlation *c, int64_t group, int64_t o, int64_t channel, const Box *taps)
{
  const real *weight = c->weight + group * c->weightGroup + o * c->weightOutput + channel * c->weightChannel;
  for (int d = 0; d < 4; d++) weight += taps->start[d] * c->axis[d].weight;
  return weight;
}

/* What packPanel reads: a piece for every lane or for every channel, whichever are further apart, and for each of its
   taps if these are as many pieces. */
static Pieces weightPieces(const Correlation *c, int64_t group, int64_t o, int64_t channel, int64_t channels,
                           const Box *taps)
{
  const int64_t lanes = MIN(LANES, c->outputs - o), T = volume(taps->count);
  const real *from = weightsOf(c, group, o, channel, taps);
  for (int d = 0; d < 4; d++) from += MIN(c->axis[d].weight, 0) * (taps->count[d] - 1); /* counted backwards */
  const bool byChannel = c->weightOutput < c->weightChannel;
  Pieces p = byChannel ? (Pieces){from, channels, c->weightChannel, lanes * c->weightOutput}
                       : (Pieces){from, lanes, c->weightOutput, channels * c->weightChannel};
  /* Filters far apart, or the stride of a single one, which means nothing: not worth asking for. */
  if (p.length > 64 * lanes * channels * T) return (Pieces){0};
  const int64_t step = tapStep(c, taps);
  if (p.stride == T * llabs(step) && p.length <= llabs(step)) {
    p.count *= T;
    p.stride = llabs(step);
  }
  return p;
}

/* One panel: the biases, then for each pass of a tile its channels and taps, those of the skipped axis outermost. */
static void packPanel(const Plan *p, int64_t group, int64_t o, int64_t lanes, int64_t width, int64_t channel,
                      int64_t channels, const Box *taps, real *packed)
{
  const Correlation *c = &p->c;
  const int64_t T = volume(taps->count), S = p->skip < 0 ? 1 : taps->count[p->skip], rest = T / S;
  if (lanes < width) memset(packed, 0, sizeof(real) * (size_t)((channels * T + 1) * width));
  for (int64_t i = 0; i < lanes; i++)
    packed[i] = c->bias ? c->bias[group * c->biasGroup + (o + i) * c->biasOutput] : 0;
  packed += width;
  const real *weight = weightsOf(c, group, o, channel, taps);
  const bool inOrder = S == 1 || (c->weightOutput != 1 && c->weightChannel == 1);
  const int64_t depth = S == 1 ? channels : p->depthChannels;
  real pass[GEMM_DEPTH * LANES_MAX];
  if (lanes < width && !inOrder) memset(pass, 0, sizeof pass);
  for (int64_t k = 0; k < channels; k += depth, weight += depth * c->weightChannel) {
    const int64_t n = MIN(depth, channels - k);
    packChannels(c, weight, lanes, width, n, taps, inOrder ? S : 1, inOrder ? packed : pass);
    for (int64_t s = 0; s < S && !inOrder; s++)
      for (int64_t i = 0; i < n; i++)
        memcpy(packed + (s * n + i) * rest * width, pass + (i * T + s * rest) * width,
               sizeof(real) * (size_t)(rest * width));
    packed += n * T * width;
  }
}

/* At most VL finished positions, [position][lane], to where they belong. */
static void storePositions(const Correlation *c, const real *sum, int64_t width, real *target, int64_t positions,
                           int64_t lanes)
{
  const int64_t stride = c->axis[3].target;
  if (c->targetChannel == 1) {
    for (int64_t q = 0; q < positions; q++, target += stride, sum += width) {
      int64_t i = 0;
      for (; i + VL <= lanes; i += VL) v_store(target + i, v_load(sum + i));
      if (i < lanes) v_store_n(target + i, v_load(sum + i), (int)(lanes - i));
    }
  } else if (stride == 1) {
    THNN_(gemm_transpose)(target, c->targetChannel, sum, width, positions, lanes);
  } else {
    real row[LANES_MAX * REALS_PER_LINE]; /* [lane][position] */
    THNN_(gemm_transpose)(row, VL, sum, width, positions, lanes);
    for (int64_t i = 0; i < lanes; i++)
      for (int64_t q = 0; q < positions; q++) target[q * stride + i * c->targetChannel] = row[i * VL + q];
  }
}

/* Asks for the lines that a row of positions is written to, so that they are there when the sums are. */
static inline void prefetchRow(const Correlation *c, const real *target, int64_t positions, int64_t lanes)
{
  if (c->targetChannel == 1) {
    for (int64_t q = 0; q < positions; q++)
      for (int64_t i = 0; i < lanes; i += REALS_PER_LINE)
        __builtin_prefetch(target + q * c->axis[3].target + i, 1);
  } else {
    /* A row begins on the line on which the one before ends. */
    for (int64_t i = 0; i < lanes; i++)
      __builtin_prefetch(target + (positions - 1) * c->axis[3].target + i * c->targetChannel, 1);
  }
}

typedef struct Work {
  real *strip, *weight, *sum;
  int32_t step[2][GEMM_DEPTH]; /* of channel and tap, from a position: in a pass, and in the last one */
  int64_t rowStrip[MAX_ROWS + GEMM_ROWS], rowTarget[MAX_ROWS + GEMM_ROWS];
  int32_t rowTaps[MAX_ROWS + GEMM_ROWS][2]; /* of the skipped axis: those that a tile beginning here meets */
  int64_t rowsOfRun;                        /* rows that follow each other in the target without a gap */
} Work;

/* Positions first .. end - 1 of a box are finished. Those that fill vectors, or end a run, are stored; returns which
   are not. */
static int64_t storeRuns(const Correlation *c, const Work *w, const real *sum, int64_t width, real *target,
                         int64_t columns, int64_t lanes, int64_t first, int64_t end)
{
  const int64_t run = w->rowsOfRun * columns;
  while (first < end) {
    const int64_t x = first < run ? first : first % run, n = MIN(VL, run - x);
    if (first + n > end) break;
    storePositions(c, sum + first * width, width,
                   target + w->rowTarget[first / run * w->rowsOfRun] + x * c->axis[3].target, n, lanes);
    first += n;
  }
  return first;
}

/* One panel over one box and one block of channels. */
static void panelOf(const Plan *p, const Work *w, const Box *box, const real *weight, int64_t group, int64_t o,
                    int64_t channels, int64_t taps, real *sums, bool begin, bool end, Pieces next)
{
  const Correlation *c = &p->c;
  const int64_t lanes = MIN(LANES, c->outputs - o);
  const int V = lanes > VL ? 2 : 1;
  const int64_t width = V * VL, columns = gemm_columns(box->count[3]), rows = volume(box->count) / columns;
  const int together = gemm_rowsPerTile(columns);
  const int64_t tiles = together > 1 ? 1 : ceilDivide(columns, GEMM_ROWS);
  const int64_t narrow = columns / tiles, wider = columns % tiles; /* so many tiles are one wider */
  real *target = c->target + (group * c->outputs + o) * c->targetChannel;
  Requests ahead =
      requests_make(next, MAX(ceilDivide(channels, p->depthChannels), 1) * ceilDivide(rows, together) * tiles,
                    MIN(p->depthChannels, channels) * taps);
  for (int64_t k = 0; k < channels || k == 0; k += p->depthChannels) {
    const int64_t n = MIN(p->depthChannels, channels - k);
    const int32_t *step = w->step[n < p->depthChannels];
    const int64_t perTap = n * taps / (p->skip < 0 ? 1 : p->boxTaps[p->skip]);
    const bool first = begin && k == 0, last = end && k + n == channels;
    const real *packed = weight + (1 + k * taps) * width;
    real *sum = sums;
    int64_t done = 0, stored = 0;
    for (int64_t row = 0; row < rows; row += together) {
      const int R = rows - row > 1 ? together : 1;
      for (int64_t tile = 0, x = 0, Q; tile < tiles; tile++, x += Q) {
        Q = narrow + (tile < wider);
        const real *a[GEMM_ROWS];
        for (int r = 0; r < R; r++) a[r] = w->strip + k * p->strip.channel + w->rowStrip[row + r] + x;
        for (int r = 0; last && r < R && row + r < rows; r++) /* a pixel that others follow is on their line */
          if (columns > 1 || r + 1 == R || c->targetChannel == 1 ||
              w->rowTarget[row + r + 1] - w->rowTarget[row + r] != c->axis[3].target)
            prefetchRow(c, target + w->rowTarget[row + r] + x * c->axis[3].target, Q, lanes);
        const GemmSteps steps = {step, w->rowTaps[row][0] * perTap, w->rowTaps[row][1] * perTap};
        const GemmAhead request = requests_next(&ahead);
        THNN_(gemm_tile)(R, (int)Q, V, request.row > 0)(sum, first ? weight : sum, first ? 0 : width, a, steps,
                                                        packed, &request);
        sum += R * Q * width;
        done = MIN(done + R * Q, rows * columns);
        if (last) stored = storeRuns(c, w, sums, width, target, columns, lanes, stored, done);
      }
    }
  }
}

/* Panels firstPanel .. lastPanel - 1 of boxes firstBox .. lastBox - 1. */
static void Part(const Plan *p, int64_t firstPanel, int64_t lastPanel, int64_t firstBox, int64_t lastBox)
{
  const Correlation *c = &p->c;
  const int64_t panelsOfGroup = ceilDivide(c->outputs, LANES), tilesOfBox = countTilesOfBox(p->boxPositions);
  const int64_t packedPanel = (p->blockChannels * volume(p->boxTaps) + 1) * LANES;
  const int64_t stripReals = ceilDivide(realsOfStrip(p, p->boxPositions, p->blockChannels), VL) * VL;
  const int64_t packedPanels = p->resident ? p->panelsAtOnce : 1, sumPanels = p->resident ? 1 : p->panelsAtOnce;
  Work w;
  w.strip = thnn_scratch(sizeof(real) *
                         (size_t)(stripReals + packedPanel * packedPanels + tilesOfBox * TILE_REALS * sumPanels));
  w.sum = w.strip + stripReals;
  w.weight = w.sum + tilesOfBox * TILE_REALS * sumPanels;
  const int64_t channelBlocks = MAX(ceilDivide(c->channels, p->blockChannels), 1),
                blocks = channelBlocks * box_pieces(p->taps, p->boxTaps);

  for (int64_t panel = firstPanel, next; panel < lastPanel; panel = next) {
    const int64_t group = panel / panelsOfGroup, firstOfGroup = group * panelsOfGroup;
    next = MIN(MIN(panel + p->panelsAtOnce, lastPanel), firstOfGroup + panelsOfGroup);
    for (int64_t b = firstBox; b < lastBox; b++) {
      const Box box = box_piece(p->count, p->boxPositions, b);
      int64_t q[4] = {0};
      const int64_t columns = gemm_columns(box.count[3]);
      const int64_t rows[4] = {box.count[0], box.count[1], box.count[2], box.count[3] / columns};
      w.rowsOfRun = rows[3];
      for (int d = 2; d >= 0; d--) {
        if (box.count[d] == 1) continue;
        if (c->axis[d].target != w.rowsOfRun * columns * c->axis[3].target) break;
        w.rowsOfRun *= box.count[d];
      }
      const int64_t lastRow = volume(rows) - 1;
      for (int64_t row = 0; row <= lastRow; row++, box_next(q, rows, 4)) {
        w.rowStrip[row] = strip_position(&p->strip, c->axis, q);
        w.rowTarget[row] = 0;
        for (int d = 0; d < 4; d++) w.rowTarget[row] += (box.start[d] + q[d]) * c->axis[d].target;
        w.rowTaps[row][0] = 0;
        w.rowTaps[row][1] = 1;
        if (p->skip < 0) continue;
        const Axis *a = c->axis + p->skip;
        const int64_t first = a->first + (box.start[p->skip] + q[p->skip]) * a->step, left = a->size - first;
        const int64_t begin = first < 0 ? MIN(ceilDivide(-first, a->skip), a->taps) : 0,
                      end = left > 0 ? MIN(ceilDivide(left, a->skip), a->taps) : 0;
        w.rowTaps[row][0] = (int32_t)begin;
        w.rowTaps[row][1] = (int32_t)MAX(begin, end);
      }
      const int together = gemm_rowsPerTile(columns);
      for (int r = 1; r < together; r++)
        w.rowStrip[lastRow + r] = w.rowStrip[lastRow]; /* stands in for rows beyond */
      for (int64_t row = 0; row <= lastRow; row += together)
        for (int64_t r = row; r < MIN(row + together, lastRow + 1); r++) {
          w.rowTaps[row][0] = MIN(w.rowTaps[row][0], w.rowTaps[r][0]);
          w.rowTaps[row][1] = MAX(w.rowTaps[row][1], w.rowTaps[r][1]);
        }
      for (int64_t block = 0; block < blocks; block++) {
        const Box taps = box_piece(p->taps, p->boxTaps, block / channelBlocks);
        const int64_t T = volume(taps.count), channel = block % channelBlocks * p->blockChannels,
                      channels = MIN(p->blockChannels, c->channels - channel);
        for (int last = 0; last < 2; last++) {
          const int64_t n = last ? channels % p->depthChannels : p->depthChannels;
          const int64_t rest = p->skip < 0 ? T : T / taps.count[p->skip];
          int64_t t[4] = {0};
          for (int64_t i = 0; i < T; i++, box_next(t, taps.count, 4)) {
            const int64_t tap = strip_tap(&p->strip, c->axis, t);
            for (int64_t ch = 0; ch < n; ch++)
              w.step[last][(i / rest * n + ch) * rest + i % rest] = (int32_t)(ch * p->strip.channel + tap);
          }
        }
        const real *source = c->source + (group * c->channels + channel) * c->sourceChannel;
        THNN_(strip_fill)(c, &p->strip, &box, &taps, source, channels, w.strip);
        for (int64_t i = panel; i < next; i++) {
          const int64_t o = (i - firstOfGroup) * LANES, lanes = MIN(LANES, c->outputs - o);
          real *weight = w.weight + (p->resident ? (i - panel) * packedPanel : 0);
          if (!p->resident || b == firstBox)
            packPanel(p, group, o, lanes, lanes > VL ? LANES : VL, channel, channels, &taps, weight);
          Pieces ahead = {0};
          if (!p->resident && i + 1 < next) ahead = weightPieces(c, group, o + LANES, channel, channels, &taps);
          else if (!p->resident && block + 1 < blocks)
            ahead = weightPieces(c, group, (panel - firstOfGroup) * LANES,
                                 (block + 1) % channelBlocks * p->blockChannels, channels, &taps);
          panelOf(p, &w, &box, weight, group, o, channels, T,
                  w.sum + (p->resident ? 0 : (i - panel) * tilesOfBox * TILE_REALS), block == 0,
                  block == blocks - 1, ahead);
        }
      }
    }
  }
}

/* Without taps it is one product, of positions and filters. */
static void multiply(const Correlation *c)
{
  Product p = {.rows = {.data = c->source, .depth = {[3] = c->sourceChannel}},
               .lanes = {.data = c->weight,
                         .count = {1, 1, 1, c->outputs},
                         .stride = {[3] = c->weightOutput},
                         .depth = {[3] = c->weightChannel},
                         .group = c->weightGroup,
                         .result = {[3] = c->targetChannel},
                         .bias = c->biasOutput},
               .depth = {1, 1, 1, c->channels},
               .groups = c->groups,
               .c = c->target,
               .bias = c->bias,
               .resultGroup = c->outputs * c->targetChannel,
               .biasGroup = c->biasGroup,
               .scale = 1};
  p.rows.group = c->channels * c->sourceChannel;
  for (int d = 0; d < 4; d++) {
    p.rows.count[d] = c->axis[d].count;
    p.rows.stride[d] = c->axis[d].source;
    p.rows.result[d] = c->axis[d].target;
  }
  THNN_(product)(&p);
}

static void correlate(const Correlation *correlation)
{
  bool plain = true;
  for (int d = 0; d < 4; d++) plain = plain && axis_isPlain(correlation->axis + d);
  if (plain) return multiply(correlation);
  Plan p = {.c = *correlation};
  const Correlation *c = &p.c;
  double terms = (double)(c->groups * c->outputs) * (double)(c->channels + 16);
  for (int d = 0; d < 4; d++) terms *= (double)c->axis[d].count * (double)c->axis[d].taps;
  if (terms == 0) return;
  const int64_t work = (int64_t)MIN(terms / 16, 1e15);
  makePlan(&p, thnn_threads(1 << 20, work));
  const int64_t parts = MIN(p.byPanels ? p.panels : p.boxes, thnn_threads(1 << 20, work));
  THNN_PARALLEL_FOR(i, parts, work) {
    if (p.byPanels) Part(&p, i * p.panels / parts, (i + 1) * p.panels / parts, 0, p.boxes);
    else Part(&p, 0, p.panels, i * p.boxes / parts, (i + 1) * p.boxes / parts);
  }
}

void THNN_(convolutionOutput)(const Convolution *g, ConvolutionView input, ConvolutionView weight,
                              ConvolutionView bias, ConvolutionView output)
{
  Correlation c = THNN_(correlation_make)(g, input, weight, output);
  c.bias = bias.data;
  c.biasGroup = bias.group;
  c.biasOutput = bias.stride[0];
  if (THNN_(depthwise_is)(&c)) return THNN_(depthwise_correlate)(&c);
  Correlation few = c;
  Residues residues[4];
  for (int d = 0; d < 4; d++) {
    const Axis *a = c.axis + d;
    residues[d] = (Residues){1, {{a->count, a->first, a->taps, a->skip, 0, 0, a->weight}}};
  }
  THNN_(few_join)(&few, residues);
  if (THNN_(few_suits)(&few)) THNN_(few_correlate)(&few, residues);
  else correlate(&c);
}

/* Every plane is its bias, or 0. */
static void clear(const Convolution *g, ConvolutionView images, ConvolutionView bias)
{
  const int64_t planes = g->inputChannels / g->groups;
  const int64_t count[5] = {g->batch, g->inputChannels, g->axis[0].input, g->axis[1].input, g->axis[2].input};
  const int64_t rows = count[0] * count[1] * count[2] * count[3];
  THNN_PARALLEL_FOR(row, rows, rows * count[4]) {
    real *data = images.data;
    for (int64_t d = 3, rest = row; d >= 0; rest /= count[d], d--) data += rest % count[d] * images.stride[d];
    const int64_t plane = row / (count[2] * count[3]) % count[1];
    const real *b = bias.data;
    const real value = b ? b[plane / planes * bias.group + plane % planes * bias.stride[0]] : 0;
    for (int64_t x = 0; x < count[4]; x++) data[x * images.stride[4]] = value;
  }
}

/* gradInput at y meets tap t of the output at (y + padding - t * dilation) / stride where that divides. So the
   taps firstTap, firstTap + period, ... meet every stride-th y only, and these are a correlation with step 1.
   Its taps are counted backwards, since the last one meets the smallest coordinate. False when no y is left. */
static bool residueAxis(const Convolution *g, int d, int64_t firstTap, Axis *axis, int64_t *y, int64_t *lastTap)
{
  const int64_t s = g->axis[d].stride, dilation = g->axis[d].dilation, period = s / greatestDivisor(s, dilation);
  const int64_t residue = firstTap * dilation % s, shift = g->axis[d].padding - residue;
  const int64_t first = shift > 0 ? ceilDivide(shift, s) : 0, reach = g->axis[d].input - 1 + shift;
  if (reach < first * s) return false;
  const int64_t taps = (g->axis[d].kernel - 1 - firstTap) / period + 1;
  *lastTap = firstTap + (taps - 1) * period;
  *y = first * s - shift;
  axis->count = reach / s + 1 - first;
  axis->size = g->axis[d].output;
  axis->step = 1;
  axis->first = first - (*lastTap * dilation - residue) / s;
  axis->taps = taps;
  axis->skip = period * dilation / s;
  axis->weight = -period;
  return true;
}

/* All residues at once, where outputs are few. */
static bool gradInputOfFew(const Convolution *g, Correlation c, ConvolutionView weight, ConvolutionView gradInput,
                           const int64_t *count)
{
  Residues residues[4] = {{1, {{.count = g->batch, .taps = 1, .skip = 1}}}};
  for (int d = 0; d < 3; d++) {
    Residues *all = residues + d + 1;
    all->count = 0;
    if (count[d] > FEW_RESIDUES) return false;
    for (int64_t i = 0; i < count[d]; i++) {
      Axis axis;
      int64_t y, lastTap;
      if (!residueAxis(g, d, i, &axis, &y, &lastTap)) continue;
      all->list[all->count++] = (Residue){.count = axis.count,
                                          .first = axis.first,
                                          .taps = axis.taps,
                                          .skip = axis.skip,
                                          .target = y * gradInput.stride[d + 2],
                                          .weight = lastTap * weight.stride[d + 2],
                                          .weightStep = axis.weight * weight.stride[d + 2]};
    }
    if (all->count == 0) return true; /* no element meets a tap */
  }
  THNN_(few_join)(&c, residues);
  if (!THNN_(few_suits)(&c)) return false;
  THNN_(few_correlate)(&c, residues);
  return true;
}

void THNN_(convolutionGradInput)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView weight,
                                 ConvolutionView bias, ConvolutionView gradInput)
{
  int64_t residues[3], i[3] = {0};
  bool reached = true;
  for (int d = 0; d < 3; d++) {
    residues[d] =
        MIN(g->axis[d].stride / greatestDivisor(g->axis[d].stride, g->axis[d].dilation), g->axis[d].kernel);
    reached = reached && residues[d] == g->axis[d].stride;
  }
  if (!reached) clear(g, gradInput, bias);
  Correlation all = {.groups = g->groups,
                     .channels = g->outputChannels / g->groups,
                     .outputs = g->inputChannels / g->groups,
                     .source = gradOutput.data,
                     .target = gradInput.data,
                     .weight = weight.data,
                     .sourceChannel = gradOutput.stride[1],
                     .targetChannel = gradInput.stride[1],
                     .weightGroup = weight.group,
                     .weightChannel = weight.stride[0],
                     .weightOutput = weight.stride[1],
                     .bias = bias.data,
                     .biasGroup = bias.group,
                     .biasOutput = bias.stride[0]};
  for (int d = -1; d < 3; d++)
    all.axis[d + 1] = (Axis){.count = g->batch,
                             .size = d < 0 ? g->batch : g->axis[d].output,
                             .step = 1,
                             .taps = 1,
                             .skip = 1,
                             .source = gradOutput.stride[d < 0 ? 0 : d + 2],
                             .target = gradInput.stride[d < 0 ? 0 : d + 2] * (d < 0 ? 1 : g->axis[d].stride)};
  Correlation allTaps = all;
  for (int d = 0; d < 3; d++) allTaps.axis[d + 1].taps = g->axis[d].kernel;
  const bool depthwise = THNN_(depthwise_is)(&allTaps);
  if (!depthwise && gradInputOfFew(g, all, weight, gradInput, residues)) return;
  for (int64_t n = residues[0] * residues[1] * residues[2]; n > 0; n--, box_next(i, residues, 3)) {
    Correlation c = all;
    bool some = true;
    for (int d = 0; d < 3 && some; d++) {
      Axis *axis = c.axis + d + 1;
      int64_t y, lastTap;
      some = residueAxis(g, d, i[d], axis, &y, &lastTap);
      if (!some) break;
      axis->weight *= weight.stride[d + 2];
      c.target += y * gradInput.stride[d + 2];
      c.weight += lastTap * weight.stride[d + 2];
    }
    if (!some) continue;
    THNN_(correlation_simplify)(&c);
    if (depthwise) THNN_(depthwise_correlate)(&c);
    else correlate(&c);
  }
}
