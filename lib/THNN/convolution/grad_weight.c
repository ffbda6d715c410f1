#include "gemm/microkernel.h"
#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/depthwise.h"
#include "convolution/direct.h"
#include "gemm/gemm.h"

/* gradWeight[o, c, t] += scale * sum over n, q of target[n, o, q] * source[n, c, patch of q at t].

   Here the sum runs over positions, lanes are output channels, and the rows of a register tile are taps and
   channels: the same strip of patches, read from other places. A task owns some output channels, channels and
   taps of gradWeight and goes through all positions, box by box, so nothing is ever reduced over threads. Its
   scratch memory holds a strip, the box's gradients transposed to [position][lane], and its part of gradWeight
   as [tile][row][lane], to which each tile is added after BOX_POSITIONS positions. */

#define LANES (2 * VL)
#define TILE_REALS (GEMM_ROWS * LANES)
#define LANES_MAX (2 * VBYTES / 4)
#define SUM_BYTES ((int64_t)896 << 10)
#define BOX_POSITIONS 256 /* at most; they are one pass of a tile */
#define GRADIENT_PANELS 8 /* of BOX_POSITIONS positions: 256 KiB */
#define ROW_BYTES ((int64_t)128 << 10)

typedef struct Plan {
  Correlation c;
  int64_t count[4], taps[4]; /* all of them */
  int64_t boxPositions[4], boxTaps[4];
  int64_t panels, channels; /* of a task */
  Strip strip;
  int64_t panelTasks, channelTasks, tapTasks;
} Plan;

/* Taps of one phase are neighbours in a strip row if they leave no gaps, and then share a pointer. */
static int64_t tapsTogether(const Correlation *c, const Strip *strip, int64_t taps, int64_t phase)
{
  const int64_t n = (taps - phase - 1) / strip->phases + 1;
  return strip->phases * c->axis[3].skip == c->axis[3].step && n <= GEMM_ROWS ? n : 1;
}

/* Rows of the kind of `phase`: Q neighbouring taps of one channel, R rows to a tile. Where taps are no neighbours
   there is one kind only, a row for every tap.

   A tap of the kernel's outermost axis sees only zeros at the positions near one end of that axis, and these are left
   out. So the rows of a tile should have that tap in common: of R channels at a time it is outermost. */
typedef struct Kind {
  int64_t phase, lastTaps, rows, channels;
  int64_t outer, rest; /* rows of a channel: taps of the outermost axis, and the others */
  int Q, R;
} Kind;

/* The first axis with taps, or 3. */
static int outerAxis(const Correlation *c)
{
  int d = 0;
  while (d < 3 && c->axis[d].taps == 1) d++;
  return d;
}

static int64_t countKinds(const Correlation *c, const Strip *strip, const int64_t *taps)
{
  return tapsTogether(c, strip, taps[3], 0) > 1 ? strip->phases : 1;
}

static Kind kindOf(const Correlation *c, const Strip *strip, const int64_t *taps, int64_t channels, int64_t phase)
{
  const bool together = tapsTogether(c, strip, taps[3], 0) > 1;
  Kind k = {.phase = phase,
            .lastTaps = together ? 1 : taps[3],
            .Q = together ? (int)tapsTogether(c, strip, taps[3], phase) : 1};
  k.R = gemm_rowsPerTile(k.Q);
  const int outer = outerAxis(c);
  k.channels = channels;
  k.rest = taps[0] * taps[1] * taps[2] * k.lastTaps;
  k.rows = channels * k.rest;
  k.outer = outer < 3 ? taps[outer] : 1;
  k.rest /= k.outer;
  return k;
}

/* Which row is number i of those in the order of channels and taps, and the outer tap of a row. */
static int64_t rowOf(const Kind *k, int64_t i)
{
  const int64_t tap = i / k->rest, channel = tap / k->outer, before = channel / k->R * k->R;
  const int64_t together = MIN(k->R, k->channels - before);
  return (before * k->outer + tap % k->outer * together + channel - before) * k->rest + i % k->rest;
}

static int64_t outerTapOf(const Kind *k, int64_t row)
{
  const int64_t before = row / (k->R * k->outer * k->rest) * k->R, together = MIN(k->R, k->channels - before);
  return (row - before * k->outer * k->rest) / (together * k->rest);
}

/* Tiles of sums and, in *rows, rows that a task has. */
static int64_t countTiles(const Plan *p, int64_t channels, int64_t *rows)
{
  int64_t tiles = 0;
  *rows = 0;
  for (int64_t phase = 0; phase < countKinds(&p->c, &p->strip, p->boxTaps); phase++) {
    const Kind k = kindOf(&p->c, &p->strip, p->boxTaps, channels, phase);
    tiles += ceilDivide(k.rows, k.R);
    *rows += k.rows;
  }
  return tiles;
}

static bool fits(const Plan *p, int64_t channels, int64_t panels)
{
  int64_t rows;
  return countTiles(p, channels, &rows) * TILE_REALS * panels * (int64_t)sizeof(real) <= SUM_BYTES &&
         rows * 12 <= ROW_BYTES && p->strip.channel * channels * (int64_t)sizeof(real) <= STRIP_BYTES;
}

/* How gradWeight is shared out depends on the number of threads, but that changes no sum: boxes of positions
   depend on sizes only. */
static void makePlan(Plan *p, int threads)
{
  const Correlation *c = &p->c;
  for (int d = 0; d < 4; d++) {
    p->count[d] = c->axis[d].count;
    p->taps[d] = c->axis[d].taps;
    p->boxPositions[d] = 1;
  }
  int64_t width = MIN(p->count[3], BOX_POSITIONS);
  THNN_(correlation_cutTaps)(c, p->boxTaps, &width);
  p->boxPositions[3] = ceilDivide(p->count[3], ceilDivide(p->count[3], width));
  /* Boxes of at most BOX_POSITIONS positions: they are one pass of a tile. */
  for (int d = 2; d >= 0 && p->boxPositions[d + 1] == p->count[d + 1]; d--) {
    int64_t box[4];
    memcpy(box, p->boxPositions, sizeof box);
    for (box[d] = p->count[d]; box[d] > 1; box[d] = nextPiece(p->count[d], box[d]))
      if (volume(box) <= BOX_POSITIONS &&
          strip_make(c->axis, box, p->boxTaps, REALS_PER_LINE).channel * (int64_t)sizeof(real) <= STRIP_BYTES / 16)
        break;
    p->boxPositions[d] = box[d];
  }
  p->strip = strip_make(c->axis, p->boxPositions, p->boxTaps, REALS_PER_LINE);
  p->tapTasks = box_pieces(p->taps, p->boxTaps);
  /* The source is copied once for each part of the output channels, the gradients once for each part of the
     channels. */
  const int64_t panels = ceilDivide(c->outputs, LANES);
  double least = INFINITY;
  for (int64_t together = MIN(panels, GRADIENT_PANELS); together > 0; together /= 2) {
    int64_t channels = MAX(c->channels, 1);
    while (channels > 1 && !fits(p, channels, together)) channels = nextPiece(c->channels, channels);
    const double cost = (double)c->channels * (double)ceilDivide(panels, together) +
                        (double)c->outputs * (double)ceilDivide(c->channels, channels);
    if (cost >= least) continue;
    least = cost;
    p->panels = together;
    p->channels = channels;
  }
  for (;;) {
    p->panelTasks = ceilDivide(panels, p->panels);
    p->channelTasks = ceilDivide(c->channels, p->channels);
    const int64_t tasks = c->groups * p->panelTasks * p->channelTasks * p->tapTasks;
    if (tasks % threads == 0 || tasks >= 4 * threads) break;
    if (p->channels > 16 || (p->panels == 1 && p->channels > 1)) p->channels = nextPiece(c->channels, p->channels);
    else if (p->panels > 1) p->panels = (p->panels + 1) / 2;
    else {
      int longest = 0;
      for (int d = 1; d < 4; d++)
        if (p->boxTaps[d] > p->boxTaps[longest]) longest = d;
      if (p->boxTaps[longest] == 1) break;
      p->boxTaps[longest] = nextPiece(p->taps[longest], p->boxTaps[longest]);
      p->tapTasks = box_pieces(p->taps, p->boxTaps);
      p->strip = strip_make(c->axis, p->boxPositions, p->boxTaps, REALS_PER_LINE);
    }
  }
}

/* The gradients of one box and one panel, [position][lane]. */
static void packGradients(const Correlation *c, const Box *box, int64_t channel, int64_t lanes, int64_t width,
                          real *packed)
{
  const Axis *last = c->axis + 3;
  const real *start = c->target + channel * c->targetChannel;
  const int64_t stride = last->target;
  int64_t rows[3], q[3] = {0}, columns = box->count[3];
  for (int d = 0; d < 4; d++) start += box->start[d] * c->axis[d].target;
  for (int d = 0; d < 3; d++) rows[d] = box->count[d];
  /* Rows that follow each other without a gap are one row. */
  for (int d = 2; d >= 0 && (rows[d] == 1 || c->axis[d].target == columns * last->target); d--) {
    columns *= rows[d];
    rows[d] = 1;
  }
  for (int64_t row = rows[0] * rows[1] * rows[2]; row > 0; row--, box_next(q, rows, 3)) {
    const real *from = start;
    for (int d = 0; d < 3; d++) from += q[d] * c->axis[d].target;
    if (c->targetChannel == 1) {
      const real *a = from, *end = packed + columns * width;
      real *b = packed;
      for (; lanes <= VL && b < end; a += stride, b += width) v_store(b, v_load_n(a, (int)lanes));
      for (; b < end; a += stride, b += width) { /* the next position takes what is too much */
        int64_t i = 0;
        for (; i + VL <= lanes; i += VL) v_store(b + i, v_load(a + i));
        if (i < lanes) v_store(b + i, v_load_n(a + i, (int)(lanes - i)));
      }
    } else if (last->target == 1) {
      THNN_(gemm_transpose)(packed, width, from, c->targetChannel, lanes, columns);
    } else {
      for (int64_t x = 0; x < columns; x++)
        for (int64_t i = 0; i < lanes; i++) packed[x * width + i] = from[x * last->target + i * c->targetChannel];
    }
    packed += columns * width;
  }
}

/* What packGradients reads, where the positions of a box follow each other. */
static Pieces gradientPieces(const Correlation *c, const Box *box, int64_t channel, int64_t lanes)
{
  const int64_t stride = c->axis[3].target;
  int64_t columns = box->count[3];
  const real *from = c->target + channel * c->targetChannel;
  for (int d = 0; d < 4; d++) from += box->start[d] * c->axis[d].target;
  for (int d = 2; d >= 0 && (box->count[d] == 1 || c->axis[d].target == columns * stride); d--)
    columns *= box->count[d];
  if (c->targetChannel != 1) return (Pieces){from, lanes, c->targetChannel, stride == 1 ? columns : 0};
  return stride == lanes ? (Pieces){from, 1, 0, columns * lanes} : (Pieces){from, columns, stride, lanes};
}

/* Adds finished sums, [entry][lane], to gradWeight. Entry e goes to weight + at[e]. */
static void addSums(const Correlation *c, const real *sums, int64_t width, const int64_t *at, int64_t entries,
                    int64_t lanes, real *weight, real scale)
{
  if (c->weightOutput == 1) {
    for (int64_t e = 0; e < entries; e++)
      for (int64_t i = 0; i < lanes; i++) weight[at[e] + i] += scale * sums[e * width + i];
    return;
  }
  bool neighbours = true;
  for (int64_t e = 1; e < entries; e++) neighbours = neighbours && at[e] == at[0] + e;
  real column[LANES_MAX][BOX_POSITIONS];
  THNN_(gemm_transpose)(column[0], BOX_POSITIONS, sums, width, entries, lanes);
  for (int64_t i = 0; i < lanes; i++) {
    real *to = weight + i * c->weightOutput;
    int64_t e = 0;
    for (; neighbours && e + VL <= entries; e += VL)
      v_store(to + at[e], v_load(to + at[e]) + scale * v_load(column[i] + e));
    for (; e < entries; e++) to[at[e]] += scale * column[i][e];
  }
}

/* From where to where positions of a box meet the source with each tap of the outer axis. */
static void positionsOfTaps(const Correlation *c, const Box *box, const Box *taps, int64_t *from, int64_t *to)
{
  const int d = outerAxis(c);
  int64_t inner = 1, around = 1;
  for (int i = 0; i < d; i++) around *= box->count[i];
  for (int i = d + 1; i < 4; i++) inner *= box->count[i];
  if (d == 3 || around > 1) { /* positions that follow each other are no range of the axis */
    for (int64_t t = 0; t < (d == 3 ? 1 : taps->count[d]); t++) {
      from[t] = 0;
      to[t] = volume(box->count);
    }
    return;
  }
  const Axis *a = c->axis + d;
  for (int64_t t = 0; t < taps->count[d]; t++) {
    const int64_t x = a->first + box->start[d] * a->step + (taps->start[d] + t) * a->skip, left = a->size - x;
    const int64_t low = x < 0 ? MIN(ceilDivide(-x, a->step), box->count[d]) : 0,
                  high = left > 0 ? MIN(ceilDivide(left, a->step), box->count[d]) : 0;
    from[t] = low * inner;
    to[t] = MAX(low, high) * inner;
  }
}

static void task(const Plan *p, int64_t index, real scale)
{
  const Correlation *c = &p->c;
  const Box taps = box_piece(p->taps, p->boxTaps, index % p->tapTasks);
  index /= p->tapTasks;
  const int64_t channel = index % p->channelTasks * p->channels,
                channels = MIN(p->channels, c->channels - channel);
  index /= p->channelTasks;
  const int64_t o = index % p->panelTasks * p->panels * LANES, group = index / p->panelTasks;
  const int64_t panels = ceilDivide(MIN(p->panels * LANES, c->outputs - o), LANES);
  real *weight = c->weight + group * c->weightGroup + o * c->weightOutput + channel * c->weightChannel;
  for (int d = 0; d < 4; d++) weight += taps.start[d] * c->axis[d].weight;

  int64_t rowsOfTask;
  const int64_t tiles = countTiles(p, p->channels, &rowsOfTask), positions = volume(p->boxPositions);
  const int64_t sumReals = tiles * TILE_REALS, gradientReals = positions * LANES;
  real *strip = thnn_scratch(
      sizeof(real) * (size_t)(p->strip.channel * p->channels + VL + (gradientReals + sumReals) * panels) +
      12 * (size_t)rowsOfTask);
  real *gradients = strip + p->strip.channel * p->channels + VL, *sums = gradients + gradientReals * panels;
  int64_t *rowWeight = (int64_t *)(sums + sumReals * panels);
  int32_t *rowStrip = (int32_t *)(rowWeight + rowsOfTask);
  memset(gradients, 0, sizeof(real) * (size_t)(gradientReals * panels)); /* lanes beyond the last output channel */

  const int64_t kinds = countKinds(c, &p->strip, taps.count);
  for (int64_t phase = 0, firstRow = 0; phase < kinds; phase++) {
    const Kind kind = kindOf(c, &p->strip, taps.count, channels, phase);
    const int64_t count[4] = {taps.count[0], taps.count[1], taps.count[2], kind.lastTaps};
    int64_t t[4] = {0};
    for (int64_t i = 0; i < kind.rows; i++, box_next(t, count, 4)) {
      const int64_t ch = i / volume(count), tap[4] = {t[0], t[1], t[2], t[3] + phase},
                    row = firstRow + rowOf(&kind, i);
      rowStrip[row] = (int32_t)(ch * p->strip.channel + strip_tap(&p->strip, c->axis, tap));
      rowWeight[row] = ch * c->weightChannel;
      for (int d = 0; d < 4; d++) rowWeight[row] += tap[d] * c->axis[d].weight;
    }
    firstRow += kind.rows;
  }

  static const real zero[LANES_MAX];
  int32_t step[BOX_POSITIONS]; /* of the positions of a box */
  const int64_t boxes = box_pieces(p->count, p->boxPositions);
  for (int64_t b = 0; b < boxes; b++) {
    const Box box = box_piece(p->count, p->boxPositions, b);
    const int64_t rows = box.count[0] * box.count[1] * box.count[2];
    int64_t q[4] = {0};
    for (int64_t r = 0; r < rows; r++, box_next(q, box.count, 3)) {
      const int32_t first = (int32_t)strip_position(&p->strip, c->axis, q);
      for (int32_t x = 0; x < box.count[3]; x++) step[r * box.count[3] + x] = first + x;
    }
    THNN_(strip_fill)(c, &p->strip, &box, &taps, c->source + (group * c->channels + channel) * c->sourceChannel,
                      channels, strip);
    const int64_t terms = rows * box.count[3];
    int64_t from[GEMM_DEPTH], to[GEMM_DEPTH]; /* positions of a tap of the outer axis */
    positionsOfTaps(c, &box, &taps, from, to);
    const Box after = box_piece(p->count, p->boxPositions, MIN(b + 1, boxes - 1));
    for (int64_t panel = 0; panel < panels; panel++) {
      const int64_t lanes = MIN(LANES, c->outputs - o - panel * LANES), width = lanes > VL ? LANES : VL;
      real *gradient = gradients + panel * gradientReals, *sum = sums + panel * sumReals;
      packGradients(c, &box, group * c->outputs + o + panel * LANES, lanes, width, gradient);
      Requests ahead = {0};
      for (int64_t phase = 0, firstRow = 0; phase < kinds; phase++) {
        const Kind kind = kindOf(c, &p->strip, taps.count, channels, phase);
        if (phase == 0)
          ahead = requests_make(gradientPieces(c, &after, group * c->outputs + o + panel * LANES, lanes),
                                ceilDivide(kind.rows, kind.R), terms);
        for (int64_t row = 0; row < kind.rows; row += kind.R, sum += TILE_REALS) {
          const int R = kind.rows - row > 1 ? kind.R : 1;
          const real *a[GEMM_ROWS];
          for (int r = 0; r < R; r++) a[r] = strip + rowStrip[firstRow + MIN(row + r, kind.rows - 1)];
          const int64_t firstTap = outerTapOf(&kind, row),
                        lastTap = outerTapOf(&kind, MIN(row + R, kind.rows) - 1);
          int64_t begin = from[firstTap], end = to[firstTap];
          for (int64_t tap = firstTap + 1; tap <= lastTap; tap++) {
            begin = MIN(begin, from[tap]);
            end = MAX(end, to[tap]);
          }
          if (b > 0 && begin == end) continue;
          const GemmSteps steps = {step, begin, end};
          const GemmAhead request = requests_next(&ahead);
          THNN_(gemm_tile)(R, kind.Q, (int)(width / VL), request.row > 0)(sum, b ? sum : zero, b ? width : 0, a,
                                                                          steps, gradient, &request);
        }
        firstRow += kind.rows;
      }
    }
  }

  const int64_t tap = p->strip.phases * c->axis[3].weight;
  for (int64_t panel = 0; panel < panels; panel++) {
    const int64_t lanes = MIN(LANES, c->outputs - o - panel * LANES), width = lanes > VL ? LANES : VL;
    const real *sum = sums + panel * sumReals;
    for (int64_t phase = 0, firstRow = 0; phase < kinds; phase++) {
      const Kind kind = kindOf(c, &p->strip, taps.count, channels, phase);
      const int64_t rowsAtOnce = BOX_POSITIONS / kind.Q;
      for (int64_t i = 0; i < kind.rows; i += rowsAtOnce) {
        real ordered[BOX_POSITIONS * LANES_MAX];
        int64_t at[BOX_POSITIONS], entries = 0;
        for (int64_t r = i; r < MIN(i + rowsAtOnce, kind.rows); r++) {
          const int64_t row = rowOf(&kind, r);
          const real *from = sum + row / kind.R * TILE_REALS + row % kind.R * kind.Q * width;
          memcpy(ordered + entries * width, from, sizeof(real) * (size_t)(kind.Q * width));
          for (int q = 0; q < kind.Q; q++) at[entries++] = rowWeight[firstRow + row] + q * tap;
        }
        addSums(c, ordered, width, at, entries, lanes, weight + panel * LANES * c->weightOutput, scale);
      }
      sum += ceilDivide(kind.rows, kind.R) * TILE_REALS;
      firstRow += kind.rows;
    }
  }
}

/* Many weights and few positions, as of many planes of 7x7: most of the work is to add to gradWeight, so its own
   order becomes that of the lanes. These are filters' entries that follow each other in memory, patches are unfolded
   for a block of channels and a box of positions, and the rows of a tile are output planes. */
#define SHORT_POSITIONS (2 * BOX_POSITIONS)
#define SHORT_CHANNELS 64

/* Filters that are one row in memory, or a row of channels per tap. */
static bool isShort(const Plan *p)
{
  const Correlation *c = &p->c;
  int64_t run = 1;
  for (int d = 3; d >= 0; d--)
    if (run > 0 && c->axis[d].taps > 1) run = c->axis[d].weight == run ? run * c->axis[d].taps : 0;
  return volume(p->count) <= SHORT_POSITIONS && p->tapTasks == 1 && volume(p->taps) > 1 && c->channels >= VL &&
         c->outputs >= GEMM_ROWS && (c->weightChannel == 1 || c->weightChannel == run) &&
         (p->strip.channel * SHORT_CHANNELS + volume(p->taps) * SHORT_CHANNELS * BOX_POSITIONS) *
                 (int64_t)sizeof(real) <=
             3 * STRIP_BYTES;
}

/* Output planes are in `parts` parts where blocks of channels alone would not keep all threads busy. */
static void shortTask(const Plan *p, int64_t index, int64_t parts, real scale)
{
  const Correlation *c = &p->c;
  const int64_t part = index % parts, rows = ceilDivide(c->outputs, GEMM_ROWS);
  index /= parts;
  const int64_t blocks = ceilDivide(c->channels, SHORT_CHANNELS), group = index / blocks,
                channel = index % blocks * SHORT_CHANNELS, channels = MIN(SHORT_CHANNELS, c->channels - channel);
  const Box taps = box_piece(p->taps, p->taps, 0);
  const int64_t T = volume(taps.count);
  const bool tapByTap = c->weightChannel == 1;
  const int64_t runs = tapByTap ? T : 1, run = tapByTap ? channels : channels * T,
                panelsOfRun = ceilDivide(run, LANES);
  real *strip = thnn_scratch(sizeof(real) *
                             (size_t)(p->strip.channel * channels + VL + TILE_REALS + GEMM_ROWS * BOX_POSITIONS +
                                      VL + runs * panelsOfRun * LANES * BOX_POSITIONS));
  real *sum = strip + p->strip.channel * channels + VL, *left = sum + TILE_REALS,
       *patches = left + GEMM_ROWS * BOX_POSITIONS + VL;
  static const real zero[LANES_MAX];
  for (int64_t b = 0; b < box_pieces(p->count, p->boxPositions); b++) {
    const Box box = box_piece(p->count, p->boxPositions, b);
    const int64_t positions = volume(box.count);
    THNN_(strip_fill)(c, &p->strip, &box, &taps, c->source + (group * c->channels + channel) * c->sourceChannel,
                      channels, strip);
    int32_t place[BOX_POSITIONS], step[BOX_POSITIONS];
    int64_t q[4] = {0};
    for (int64_t i = 0; i < positions; i++, box_next(q, box.count, 4))
      place[i] = (int32_t)strip_position(&p->strip, c->axis, q);
    real *patch = patches;
    for (int64_t i = 0; i < runs; i++)
      for (int64_t e = 0; e < run; e += LANES) {
        const int64_t lanes = MIN(LANES, run - e), width = lanes > VL ? LANES : VL, pitch = positions + VL;
        real column[LANES_MAX * (BOX_POSITIONS + LANES_MAX)]; /* [lane][position] */
        for (int64_t l = 0; l < width; l++) {                 /* the last entry stands in for entries beyond */
          const int64_t entry = e + MIN(l, lanes - 1), ch = tapByTap ? entry : entry / T;
          int64_t tap = tapByTap ? i : entry % T, t[4];
          for (int d = 3; d >= 0; tap /= taps.count[d], d--) t[d] = tap % taps.count[d];
          const real *from = strip + ch * p->strip.channel + strip_tap(&p->strip, c->axis, t);
          for (int64_t k = 0; k < positions; k += box.count[3])
            for (int64_t x = 0; x < box.count[3]; x += VL) /* the next row takes what is too much */
              v_store(column + l * pitch + k + x, v_load(from + place[k] + x));
        }
        THNN_(gemm_transpose)(patch, width, column, pitch, width, positions);
        patch += positions * width;
      }
    for (int64_t row = part * rows / parts; row < (part + 1) * rows / parts; row++) {
      const int64_t o = row * GEMM_ROWS;
      const int Q = (int)MIN(GEMM_ROWS, c->outputs - o);
      for (int32_t k = 0; k < positions; k++) step[k] = k * Q;
      packGradients(c, &box, group * c->outputs + o, Q, Q, left);
      const real *const a[1] = {left};
      patch = patches;
      for (int64_t i = 0; i < runs; i++) {
        int64_t tap = i;
        real *weight = c->weight + group * c->weightGroup + o * c->weightOutput + channel * c->weightChannel;
        for (int d = 3; tapByTap && d >= 0; tap /= taps.count[d], d--)
          weight += tap % taps.count[d] * c->axis[d].weight;
        for (int64_t e = 0; e < run; e += LANES) {
          const int64_t lanes = MIN(LANES, run - e), width = lanes > VL ? LANES : VL;
          for (int r = 0; r < Q; r++)
            for (int64_t l = 0; l < lanes; l += REALS_PER_LINE)
              __builtin_prefetch(weight + r * c->weightOutput + e + l, 1);
          THNN_(gemm_tile)(1, Q, (int)(width / VL), false)(sum, zero, 0, a, (GemmSteps){step, 0, positions}, patch,
                                                           NULL);
          for (int r = 0; r < Q; r++)
            for (int64_t l = 0; l < lanes; l += VL) {
              real *to = weight + r * c->weightOutput + e + l;
              const int n = (int)MIN(VL, lanes - l);
              const vreal x = scale * v_load(sum + r * width + l);
              if (n == VL) v_store(to, v_load(to) + x);
              else v_store_n(to, v_load_n(to, n) + x, n);
            }
          patch += positions * width;
        }
      }
    }
  }
}

/* A Linear layer with a few samples: too little to do with each element of gradWeight for packing anything. */
#define FEW_POSITIONS 8

static bool isFew(const Correlation *c)
{
  bool few = c->sourceChannel == 1 && c->weightChannel == 1 && c->axis[3].count <= FEW_POSITIONS;
  for (int d = 0; d < 3; d++) few = few && c->axis[d].count == 1;
  return few;
}

static void addFew(const Correlation *c, real scale, int64_t work)
{
  const Axis *axis = c->axis + 3;
  THNN_PARALLEL_FOR(o, c->groups * c->outputs, work) {
    const int64_t group = o / c->outputs;
    const real *source = c->source + group * c->channels, *gradient = c->target + o * c->targetChannel;
    real *weight = c->weight + group * c->weightGroup + o % c->outputs * c->weightOutput;
    for (int64_t i = 0; i < c->channels; i += VL) {
      const int n = (int)MIN(VL, c->channels - i);
      vreal sum = {0};
      for (int64_t q = 0; q < axis->count; q++)
        sum += gradient[q * axis->target] * v_load_n(source + q * axis->source + i, n);
      v_store_n(weight + i, v_load_n(weight + i, n) + scale * sum, n);
    }
  }
}

/* Without taps it is one product, summed over positions. */
static void multiply(const Correlation *c, real scale)
{
  Product p = {.rows = {.data = c->target,
                        .count = {1, 1, 1, c->outputs},
                        .stride = {[3] = c->targetChannel},
                        .group = c->outputs * c->targetChannel,
                        .result = {[3] = c->weightOutput}},
               .lanes = {.data = c->source,
                         .count = {1, 1, 1, c->channels},
                         .stride = {[3] = c->sourceChannel},
                         .group = c->channels * c->sourceChannel,
                         .result = {[3] = c->weightChannel}},
               .groups = c->groups,
               .c = c->weight,
               .resultGroup = c->weightGroup,
               .add = true,
               .scale = scale};
  for (int d = 0; d < 4; d++) {
    p.depth[d] = c->axis[d].count;
    p.rows.depth[d] = c->axis[d].target;
    p.lanes.depth[d] = c->axis[d].source;
  }
  THNN_(product)(&p);
}

void THNN_(convolutionGradWeight)(const Convolution *g, ConvolutionView input, ConvolutionView gradOutput,
                                  ConvolutionView gradWeight, real scale)
{
  Plan p = {.c = THNN_(correlation_make)(g, input, gradWeight, gradOutput)};
  double terms = (double)p.c.groups * (double)p.c.outputs * (double)p.c.channels;
  for (int d = 0; d < 4; d++) terms *= (double)p.c.axis[d].count * (double)p.c.axis[d].taps;
  if (terms == 0) return;
  const int64_t work = (int64_t)MIN(terms / 16, 1e15);
  if (THNN_(depthwise_is)(&p.c)) return THNN_(depthwise_gradWeight)(&p.c, scale);
  if (THNN_(few_suitsWeight)(&p.c)) return THNN_(few_gradWeight)(&p.c, scale);
  bool plain = true;
  for (int d = 0; d < 4; d++) plain = plain && axis_isPlain(p.c.axis + d);
  if (plain && isFew(&p.c)) return addFew(&p.c, scale, work);
  if (plain) return multiply(&p.c, scale);
  const int threads = thnn_threads(1 << 20, work);
  makePlan(&p, 1);
  if (isShort(&p)) {
    const int64_t blocks = p.c.groups * ceilDivide(p.c.channels, SHORT_CHANNELS);
    const int64_t parts =
        blocks % threads == 0 || blocks >= 4 * threads ? 1 : MIN(threads, ceilDivide(p.c.outputs, GEMM_ROWS));
    THNN_PARALLEL_FOR(i, blocks * parts, work) shortTask(&p, i, parts, scale);
  } else {
    makePlan(&p, threads);
    const int64_t tasks = p.c.groups * p.panelTasks * p.channelTasks * p.tapTasks;
    THNN_PARALLEL_FOR(i, tasks, work) task(&p, i, scale);
  }
}

/* Planes are summed in four vectors of 16 terms per lane, these pairwise, and what they add up to in double. */
void THNN_(convolutionGradBias)(const Convolution *g, ConvolutionView gradOutput, ConvolutionView gradBias,
                                real scale)
{
  /* The filters play no role: one tap, seen from the output alone. */
  Convolution plain = convolutionMake(3);
  plain.batch = g->batch;
  plain.inputChannels = plain.outputChannels = g->outputChannels;
  for (int d = 0; d < WINDOW_AXES; d++) plain.axis[d].input = plain.axis[d].output = g->axis[d].output;
  const Correlation c = THNN_(correlation_make)(&plain, gradOutput, (ConvolutionView){0}, gradOutput);
  const int64_t count[3] = {c.axis[0].count, c.axis[1].count, c.axis[2].count}, width = c.axis[3].count,
                stride = c.axis[3].source;
  const int64_t rows = count[0] * count[1] * count[2], planes = g->outputChannels;
  if (rows * width == 0) return;
  const int64_t planesOfGroup = planes / g->groups;
  const int64_t together = c.sourceChannel == 1 && planes > 1 ? VL : 1, tasks = ceilDivide(planes, together);
  THNN_PARALLEL_FOR(task, tasks, rows * width * planes) {
    const int64_t first = task * together;
    const int n = (int)MIN(together, planes - first);
    double sum[LANES_MAX] = {0};
    int64_t q[3] = {0};
    for (int64_t row = 0; row < rows; row++, box_next(q, count, 3)) {
      const real *from = c.source + first * c.sourceChannel;
      for (int d = 0; d < 3; d++) from += q[d] * c.axis[d].source;
      if (together > 1) {
        for (int64_t x = 0; x < width;) {
          vreal part[4] = {{0}};
          const int64_t end = MIN(x + 64, width);
          for (; x + 4 <= end; x += 4)
            for (int i = 0; i < 4; i++) {
              __builtin_prefetch(from + (x + 16 + i) * stride);
              part[i] += v_load_n(from + (x + i) * stride, n);
            }
          for (; x < end; x++) part[0] += v_load_n(from + x * stride, n);
          const vreal all = (part[0] + part[1]) + (part[2] + part[3]);
          for (int i = 0; i < n; i++) sum[i] += (double)all[i];
        }
      } else if (stride == 1) {
        for (int64_t x = 0; x < width;) {
          vreal part[4] = {{0}};
          const int64_t end = MIN(x + 64 * VL, width);
          for (; x + 4 * VL <= end; x += 4 * VL)
            for (int i = 0; i < 4; i++) {
              __builtin_prefetch(from + x + (64 + i) * VL);
              part[i] += v_load(from + x + i * VL);
            }
          for (; x + VL <= end; x += VL) part[0] += v_load(from + x);
          if (x < end) part[0] += v_load_n(from + x, (int)(end - x));
          x = end;
          sum[0] += (double)v_sum((part[0] + part[1]) + (part[2] + part[3]));
        }
      } else {
        for (int64_t x = 0; x < width; x++) sum[0] += (double)from[x * stride];
      }
    }
    for (int i = 0; i < n; i++) {
      const int64_t group = (first + i) / planesOfGroup, plane = (first + i) % planesOfGroup;
      real *to = gradBias.data;
      to[group * gradBias.group + plane * gradBias.stride[0]] += (real)((double)scale * sum[i]);
    }
  }
}
