#include "convolution/grad_weight.h"
#include "gemm/tiles.h"
#include "runtime/shared_scratch.h"

#if HAS_BFLOAT16_MICROKERNEL

/* gradWeight of bfloat16 in tiles (gemm/tiles.h). Both operands are packed so that each sum is over one range of slots:

     gradWeight[o][c, t] += scale * sum over slots s of target[o][s] * source[c][s + tapOffset[t]]

   A slot of the source is a coordinate of an image with its padding, in memory order; the padding at the end of a row is
   that at the begin of the next one. The slots of the target have the same distances, and zeros between its rows. The
   coordinates of each residue modulo the stride are a plane of slots.

   a: the source, [channel][plane][slot], which a tile reads at any slot. b: pairs of slots of the target,
   [16 output channels][pair][n]. So both are packed once for all kernel elements.

   Images are divided into chunks, whose packed operands stay in L2. A task owns some output channels and channels of
   gradWeight, and adds the products of the chunks in order; of a small gradWeight, sums over parts of the chunks are
   added afterwards. Chunks and parts depend only on sizes and layouts. */

#define SIDE 16    /* of a tile of sums */
#define BLOCK 32   /* channels and output channels of a block of gradWeight, 2 x 2 tiles per kernel element */
#define STEP 32    /* slots of a tile product */
#define K_STEPS 8  /* steps that are multiplied for all kernel elements, while their operands stay in L1 */
#define PIECE 256  /* entries of gradWeight that are stored at a time */
#define AHEAD 1024 /* elements of a channel that are prefetched */
#define MAX_TAPS 128
#define MAX_PLANES 8
#define MOST_COMPUTED 4.0 /* products of slots to those of positions, above which float32 is faster */
#define CHUNK_BYTES ((int64_t)1152 << 10)
#define SUM_BYTES ((int64_t)768 << 10)
#define MOST_CHANNELS 512
#define PARTS 8

/* Adjacent slots that are source or target elements. */
typedef struct Run {
  int32_t slot, length;
  int64_t offset;
} Run;

/* One plane of slots of a channel. */
typedef struct Plane {
  const Run *run;
  int64_t runs, length;
  int64_t stride, channelStride; /* between adjacent slots and between channels, in memory */
} Plane;

typedef struct Plan {
  const Correlation *c;
  int64_t positions[4], kernel[4], taps;
  int64_t residues[4], planes; /* of coordinates modulo the stride that kernel elements read */
  int64_t chunk[4], chunks, parts;
  int64_t extent[4], pitch[4];             /* of the source coordinates of one residue that a chunk reads */
  int64_t slots;                           /* of the target, a multiple of STEP */
  int64_t length, planePitch, sourcePitch; /* slots of a plane, and between planes and channels of the source */
  int64_t rows;                            /* most runs of a plane */
  int64_t in, out, inTasks, outTasks;      /* channels of a task, multiples of SIDE, and the number of tasks */
  bool channelsInnermost;                  /* in gradWeight */
  int64_t tapOffset[MAX_TAPS], tapWeight[MAX_TAPS]; /* in the slots of a channel and in gradWeight */
} Plan;

static int64_t wholeSides(int64_t channels) { return ceilDivide(channels, SIDE) * SIDE; }

static int64_t blockReals(const Plan *p) { return BLOCK * BLOCK * p->taps; }

/* Blocks of a group. */
static int64_t blockCount(const Plan *p)
{
  return ceilDivide(p->c->inChannels, BLOCK) * ceilDivide(p->c->outChannels, BLOCK);
}

/* --- plan -------------------------------------------------------------------------------------------------------- */

/* The coordinates in the padding at both ends of an axis that one row may share with the next. */
static int64_t sharedPadding(const CorrelationAxis *a, int64_t residues, int64_t extent, int64_t reach)
{
  int64_t shared = reach;
  for (int64_t r = 0; r < residues; r++) {
    const int64_t first = a->offset + r * a->dilation % a->stride, left = a->sourceSize - first;
    const int64_t low = first < 0 ? ceilDivide(-first, a->stride) : 0,
                  high = left > 0 ? ceilDivide(left, a->stride) : 0;
    shared = MAX(MIN(shared, MIN(low, extent - high)), 0);
  }
  return shared;
}

/* Sets the slots of a chunk. */
static void layOut(Plan *p)
{
  int64_t last = 0, farthest = 0, pitch = 1;
  for (int d = 3; d >= 0; d--) {
    const CorrelationAxis *a = p->c->axis + d;
    const int64_t reach = (a->kernel - 1) * a->dilation / a->stride;
    p->extent[d] = p->chunk[d] + reach;
    p->pitch[d] = pitch;
    last += (p->chunk[d] - 1) * pitch;
    farthest += reach * pitch;
    pitch *= p->extent[d];
    if (p->chunk[d] == a->targetSize) pitch -= p->pitch[d] * sharedPadding(a, p->residues[d], p->extent[d], reach);
  }
  p->slots = ceilDivide(last + 1, STEP) * STEP;
  p->length = p->slots + farthest;
  p->planePitch = ceilDivide(p->length, STEP) * STEP;
  /* Room after the last plane, and an odd number of lines, so that channels map to different cache sets. */
  p->sourcePitch = ((p->planes * p->planePitch / STEP + 1) | 1) * STEP;
  p->rows = p->extent[0] * p->extent[1] * p->extent[2];
}

/* Halves of the memory in which packing turns rows into columns, for SIDE channels. */
static int64_t turningHalves(const Plan *p) { return SIDE * (p->planePitch + STEP); }

/* Bytes of the packed operands, and of what packing needs. */
static int64_t packedBytes(const Plan *p, int64_t in, int64_t out)
{
  return (in * p->sourcePitch + STEP + out * p->slots + turningHalves(p)) * (int64_t)sizeof(Half) +
         p->planePitch * (int64_t)sizeof(int64_t) + (p->planes + 1) * p->rows * (int64_t)sizeof(Run);
}

/* Sets the largest chunk that fits, grown along the axes that are innermost in memory first. Returns false if there is
   none. */
static bool chooseChunk(Plan *p)
{
  for (int d = 0; d < 4; d++) p->chunk[d] = 1;
  for (int d = 3; d >= 0; d--) {
    int64_t size = MIN(p->positions[d], CHUNK_BYTES);
    for (;; size = smallerTile(p->positions[d], size)) {
      p->chunk[d] = size;
      layOut(p);
      if (size == 1 || packedBytes(p, p->in, p->out) <= CHUNK_BYTES) break;
    }
    if (size < p->positions[d]) break;
  }
  p->chunks = tileCount(p->positions, p->chunk);
  return packedBytes(p, p->in, p->out) <= CHUNK_BYTES;
}

/* The number of parts of the chunks whose sums take less memory than a quarter of the operands. */
static int64_t partCount(const Plan *p)
{
  const Correlation *c = p->c;
  const int64_t sums = c->groups * blockCount(p) * blockReals(p) * (int64_t)sizeof(real);
  const double operands = (double)(c->groups * (c->inChannels + c->outChannels)) *
                          (double)elementCount(p->positions) * (double)sizeof(Half);
  int64_t parts = MIN(PARTS, p->chunks);
  while (parts > 1 &&
         (parts * sums > (int64_t)THNN_SHARED_SCRATCH_LIMIT || 4.0 * (double)(parts * sums) > operands))
    parts--;
  return parts;
}

static void makePlan(Plan *p)
{
  const Correlation *c = p->c;
  p->taps = p->planes = 1;
  for (int d = 0; d < 4; d++) {
    const CorrelationAxis *a = c->axis + d;
    p->positions[d] = a->targetSize;
    p->kernel[d] = a->kernel;
    p->residues[d] = MIN(a->stride / gcd(a->stride, a->dilation), a->kernel);
    p->taps *= a->kernel;
    p->planes *= p->residues[d];
  }
  p->channelsInnermost = c->weightInStride == 1;
  p->in = MIN(wholeSides(c->inChannels), MOST_CHANNELS);
  p->out = MIN(wholeSides(c->outChannels), MOST_CHANNELS);
  if (!chooseChunk(p) || p->chunks > 1) {
    /* The sums of a task stay in its cache. */
    const int64_t entries = SUM_BYTES / (p->taps * (int64_t)sizeof(real));
    int64_t side = BLOCK;
    while ((side + BLOCK) * (side + BLOCK) <= entries) side += BLOCK;
    for (;; side /= 2) {
      p->in = MIN(wholeSides(c->inChannels), side);
      p->out =
          MIN(wholeSides(c->outChannels), MAX(entries / ceilDivide(p->in, BLOCK) / BLOCK / BLOCK * BLOCK, BLOCK));
      p->in =
          MIN(wholeSides(c->inChannels), MAX(entries / ceilDivide(p->out, BLOCK) / BLOCK / BLOCK * BLOCK, BLOCK));
      if (chooseChunk(p) || side <= BLOCK) break;
    }
  }
  p->parts = partCount(p);
  int64_t t[4] = {0};
  for (int64_t i = 0; i < p->taps; i++, nextIndex(t, p->kernel, 4)) {
    int64_t plane = 0, offset = 0;
    p->tapWeight[i] = 0;
    for (int d = 0; d < 4; d++) {
      plane = plane * p->residues[d] + t[d] % p->residues[d];
      offset += t[d] * c->axis[d].dilation / c->axis[d].stride * p->pitch[d];
      p->tapWeight[i] += t[d] * c->axis[d].weightStride;
    }
    p->tapOffset[i] = plane * p->planePitch + offset;
  }
}

static int64_t taskCount(const Plan *p) { return p->parts * p->c->groups * p->outTasks * p->inTasks; }

/* Makes tasks smaller until threads share them evenly, and counts them. */
static void balance(Plan *p, int threads)
{
  for (;;) {
    p->outTasks = ceilDivide(p->c->outChannels, p->out);
    p->inTasks = ceilDivide(p->c->inChannels, p->in);
    const int64_t tasks = taskCount(p);
    if (tasks % threads == 0 || tasks >= 4 * threads || MAX(p->in, p->out) <= BLOCK) return;
    int64_t *larger = p->in > p->out ? &p->in : &p->out;
    *larger = ceilDivide(*larger, 2 * BLOCK) * BLOCK;
  }
}

/* --- packing ----------------------------------------------------------------------------------------------------- */

/* Copies a channel: to[slot], zeros between runs. Up to STEP - 1 slots after the last one are overwritten. */
static void packChannel(const Plane *f, const Half *channel, Half *to)
{
  const __m512i zero = _mm512_setzero_si512();
  for (int64_t x = 0; x < (f->runs ? f->run[0].slot : f->length); x += STEP) _mm512_storeu_si512(to + x, zero);
  for (int64_t i = 0; i < f->runs; i++) {
    const Run *run = f->run + i;
    const Half *from = channel + run->offset;
    Half *row = to + run->slot;
    const int64_t end = (i + 1 < f->runs ? run[1].slot : f->length) - run->slot;
    int64_t x = 0;
    if (f->stride == 1) {
      for (; x < end; x += STEP) {
        const int64_t n = run->length - x;
        const __mmask32 mask = n >= STEP ? ~(__mmask32)0 : n > 0 ? ((__mmask32)1 << n) - 1 : 0;
        __builtin_prefetch(from + x + AHEAD);
        _mm512_storeu_si512(row + x, _mm512_maskz_loadu_epi16(mask, from + x));
      }
      continue;
    }
    if (f->stride == 2) /* the source may end before the last odd element */
      for (; x + VL < run->length; x += VL)
        _mm256_storeu_si256((__m256i *)(row + x), _mm512_cvtepi32_epi16(_mm512_loadu_si512(from + 2 * x)));
    for (; x < run->length; x++) row[x] = from[x * f->stride];
    for (; x < end; x += STEP) _mm512_storeu_si512(row + x, zero);
  }
}

/* Packs pairs of slots of at most SIDE channels that are innermost in memory: to[pair * SIDE + channel]. `at` has room for
   the slots. */
static void interleave(const Plane *f, const Half *first, int channels, int64_t *at, real *to)
{
  static const Half zeros[SIDE];
  int64_t slot = 0;
  for (int64_t i = 0; i < f->runs; i++) {
    const Run *run = f->run + i;
    for (; slot < run->slot; slot++) at[slot] = -1;
    for (int64_t x = 0; x < run->length; x++, slot++) at[slot] = run->offset + x * f->stride;
  }
  for (; slot < f->length + f->length % 2; slot++) at[slot] = -1;
  for (int64_t s = 0; s < f->length; s += 2, to += SIDE)
    v_store(to,
            v_loadPairs(at[s] < 0 ? zeros : first + at[s], at[s + 1] < 0 ? zeros : first + at[s + 1], channels));
}

/* Packs SIDE rows of slots, `pitch` apart. Rows after the last channel are 0. */
static void packRows(const Plane *f, const Half *first, int64_t channels, Half *to, int64_t pitch, Half *turning,
                     int64_t *at)
{
  if (f->channelStride == 1 && channels > 1) {
    interleave(f, first, (int)channels, at, (real *)turning);
    THNN_(transpose)((real *)to, pitch / 2, (real *)turning, SIDE, ceilDivide(f->length, 2), SIDE);
    return;
  }
  for (int64_t i = 0; i < SIDE; i++, to += pitch) {
    if (i < channels) packChannel(f, first + i * f->channelStride, to);
    else memset(to, 0, sizeof *to * (size_t)f->length);
  }
}

/* Packs pairs of slots of SIDE channels: to[pair * SIDE + channel]. */
static void packPairs(const Plane *f, const Half *first, int64_t channels, real *to, Half *turning, int64_t *at)
{
  if (f->channelStride == 1 && channels > 1) return interleave(f, first, (int)channels, at, to);
  const int64_t pitch = f->length + STEP;
  packRows(f, first, channels, turning, pitch, NULL, NULL);
  THNN_(transpose)(to, SIDE, (real *)turning, pitch / 2, SIDE, f->length / 2);
}

/* --- tasks ------------------------------------------------------------------------------------------------------- */

typedef struct Task {
  int64_t group, outChannel, channel, outs, ins; /* the numbers of channels are multiples of SIDE */
  Half *source, *turning;
  real *target, *sums;
  int64_t *at;
  Run *run;
} Task;

/* Sets the runs of a chunk of the source, of the residue with this number, and returns their number. */
static int64_t sourceRuns(const Plan *p, const Tile *chunk, int64_t plane, Run *run)
{
  const CorrelationAxis *axis = p->c->axis;
  int64_t first[4], u[3] = {0}, runs = 0;
  for (int d = 3; d >= 0; plane /= p->residues[d], d--)
    first[d] = axis[d].offset + plane % p->residues[d] * axis[d].dilation % axis[d].stride +
               chunk->start[d] * axis[d].stride;
  const int64_t left = axis[3].sourceSize - first[3];
  const int64_t low = first[3] < 0 ? ceilDivide(-first[3], axis[3].stride) : 0,
                high = left > 0 ? MIN(ceilDivide(left, axis[3].stride), p->extent[3]) : 0;
  for (int64_t row = 0; row < p->rows && low < high; row++, nextIndex(u, p->extent, 3)) {
    int64_t slot = low, offset = (first[3] + low * axis[3].stride) * axis[3].sourceStride;
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      const int64_t x = first[d] + u[d] * axis[d].stride;
      inside = inside && x >= 0 && x < axis[d].sourceSize && u[d] < chunk->size[d] + p->extent[d] - p->chunk[d];
      slot += u[d] * p->pitch[d];
      offset += x * axis[d].sourceStride;
    }
    if (inside) run[runs++] = (Run){(int32_t)slot, (int32_t)(high - low), offset};
  }
  return runs;
}

static int64_t targetRuns(const Plan *p, const Tile *chunk, Run *run)
{
  const CorrelationAxis *axis = p->c->axis;
  int64_t q[3] = {0};
  const int64_t rows = chunk->size[0] * chunk->size[1] * chunk->size[2];
  for (int64_t row = 0; row < rows; row++, nextIndex(q, chunk->size, 3)) {
    int64_t slot = 0, offset = chunk->start[3] * axis[3].targetStride;
    for (int d = 0; d < 3; d++) {
      slot += q[d] * p->pitch[d];
      offset += (chunk->start[d] + q[d]) * axis[d].targetStride;
    }
    run[row] = (Run){(int32_t)slot, (int32_t)chunk->size[3], offset};
  }
  return rows;
}

static void packChunk(const Plan *p, const Task *t, const Tile *chunk)
{
  const Correlation *c = p->c;
  const Half *source = (const Half *)c->source + (t->group * c->inChannels + t->channel) * c->sourceChannelStride,
             *target =
                 (const Half *)c->target + (t->group * c->outChannels + t->outChannel) * c->targetChannelStride;
  Plane plane[MAX_PLANES];
  for (int64_t i = 0; i < p->planes; i++) {
    Run *run = t->run + i * p->rows;
    plane[i] = (Plane){run, sourceRuns(p, chunk, i, run), p->length, c->axis[3].stride * c->axis[3].sourceStride,
                       c->sourceChannelStride};
  }
  for (int64_t i = 0; i < t->ins; i += SIDE)
    for (int64_t j = 0; j < p->planes; j++)
      packRows(plane + j, source + i * c->sourceChannelStride, MIN(SIDE, c->inChannels - t->channel - i),
               t->source + i * p->sourcePitch + j * p->planePitch, p->sourcePitch, t->turning, t->at);
  Run *run = t->run + p->planes * p->rows;
  const Plane gradients = {run, targetRuns(p, chunk, run), p->slots, c->axis[3].targetStride,
                           c->targetChannelStride};
  for (int64_t o = 0; o < t->outs; o += SIDE)
    packPairs(&gradients, target + o * c->targetChannelStride, MIN(SIDE, c->outChannels - t->outChannel - o),
              t->target + o * p->slots / 2, t->turning, t->at);
}

/* Entries of a block are [16 output channels][kernel element][channel][n] if channels are innermost in gradWeight,
   otherwise [16 output channels][channel][kernel element][n]. */
static int64_t entryOf(const Plan *p, int64_t channel, int64_t tap)
{
  return p->channelsInnermost ? tap * BLOCK + channel : channel * p->taps + tap;
}

/* The products of a chunk for the block of channels from `channel` on and output channels from `outChannel` on. */
static void multiplyBlock(const Plan *p, const Task *t, int64_t channel, int64_t outChannel, bool accumulates,
                          real *sums)
{
  const int64_t pitch = entryOf(p, 1, 0) * SIDE;
  const int M = MIN(2, (int)(t->ins - channel) / SIDE), N = MIN(2, (int)(t->outs - outChannel) / SIDE);
  const Half *source = t->source + channel * p->sourcePitch;
  const real *target = t->target + outChannel * p->slots / 2;
  for (int64_t slot = 0; slot < p->slots; slot += K_STEPS * STEP)
    for (int64_t tap = 0; tap < p->taps; tap++)
      THNN_(wholeTiles)(M, N, sums + entryOf(p, 0, tap) * SIDE, pitch, pitch * SIDE, BLOCK * p->taps * SIDE,
                        accumulates || slot > 0, source + slot + p->tapOffset[tap], p->sourcePitch,
                        target + slot / 2 * SIDE, p->slots / 2 * SIDE, MIN(K_STEPS, (p->slots - slot) / STEP));
}

/* An entry by its definition, without products with padding. */
static real sumOfEntry(const Plan *p, int64_t group, int64_t outChannel, int64_t channel, int64_t tap)
{
  const Correlation *c = p->c;
  int64_t begin[4], size[4], q[4] = {0}, count = 1;
  int64_t from = (group * c->inChannels + channel) * c->sourceChannelStride,
          to = (group * c->outChannels + outChannel) * c->targetChannelStride;
  for (int d = 3; d >= 0; tap /= p->kernel[d], d--) {
    const CorrelationAxis *a = c->axis + d;
    const int64_t k = tap % p->kernel[d];
    int64_t end;
    axisPositions(a, k, &begin[d], &end);
    count *= size[d] = end - begin[d];
    from += (a->offset + k * a->dilation + begin[d] * a->stride) * a->sourceStride;
    to += begin[d] * a->targetStride;
  }
  real sum = 0;
  for (; count > 0 && !isnan(sum); count--, nextIndex(q, size, 4)) {
    int64_t i = from, o = to;
    for (int d = 0; d < 4; d++) {
      i += q[d] * c->axis[d].stride * c->axis[d].sourceStride;
      o += q[d] * c->axis[d].targetStride;
    }
    sum += loadElement(c->source, i, c->type) * loadElement(c->target, o, c->type);
  }
  return sum;
}

/* Updates n entries of gradWeight that are adjacent in memory. */
static void updateRun(const Correlation *c, int64_t at, const real *sum, int64_t n, GradWeightUpdate update)
{
  for (int64_t i = 0; i < n; i += VL) {
    const int lanes = (int)MIN(VL, n - i);
    real *to = elementAt(c->weight, at + i, c->type);
    vreal x = v_load_n(sum + i, lanes);
    if (!update.overwrites) x = v_loadHalf(to, c->type, lanes) + update.scale * x;
    v_storeHalf(to, x, c->type, lanes);
  }
}

/* True if the entries of a filter are adjacent in memory, channel by channel. */
static bool filtersAreDense(const Plan *p)
{
  int64_t run = 1;
  bool dense = p->c->weightInStride == p->taps;
  for (int d = 3; d >= 0; run *= p->kernel[d], d--)
    dense = dense && (p->kernel[d] == 1 || p->c->axis[d].weightStride == run);
  return dense;
}

/* Updates gradWeight by the sums of a block. Sums that are not finite are computed anew, since a slot of the padding may
   have met an infinite one. */
static void storeBlock(const Plan *p, int64_t group, int64_t channel, int64_t outChannel, const real *sums,
                       GradWeightUpdate update)
{
  const Correlation *c = p->c;
  const int64_t channels = MIN(BLOCK, c->inChannels - channel), lanes = MIN(BLOCK, c->outChannels - outChannel);
  const bool adjacent = p->channelsInnermost || filtersAreDense(p);
  const int64_t entries = p->channelsInnermost ? BLOCK * p->taps : channels * p->taps,
                together = p->channelsInnermost ? BLOCK : PIECE;
  for (int64_t o = 0; o < lanes; o += SIDE, sums += BLOCK * p->taps * SIDE)
    for (int64_t first = 0; first < entries; first += together) {
      const int64_t n = p->channelsInnermost ? channels : MIN(together, entries - first);
      real column[SIDE][PIECE];
      THNN_(transpose)(column[0], PIECE, sums + first * SIDE, SIDE, n, SIDE);
      for (int64_t lane = 0; lane < MIN(SIDE, lanes - o); lane++) {
        const int64_t at = group * c->weightGroupStride + (outChannel + o + lane) * c->weightOutStride +
                           channel * c->weightInStride;
        real *sum = column[lane];
        vreal check = {0};
        for (int64_t i = 0; i < n; i += VL) check += v_load_n(sum + i, (int)MIN(VL, n - i)) * 0;
        if (v_sum(check) == 0 && adjacent) {
          const int64_t ch = p->channelsInnermost ? 0 : first / p->taps, tap = first / entryOf(p, 0, 1) % p->taps;
          updateRun(c, at + ch * c->weightInStride + p->tapWeight[tap], sum, n, update);
          continue;
        }
        for (int64_t i = 0; i < n; i++) {
          const int64_t ch = (first + i) / entryOf(p, 1, 0) % BLOCK,
                        tap = (first + i) / entryOf(p, 0, 1) % p->taps;
          const int64_t entry = at + ch * c->weightInStride + p->tapWeight[tap];
          if (!isfinite(sum[i])) sum[i] = sumOfEntry(p, group, outChannel + o + lane, channel + ch, tap);
          storeElement(c->weight, entry, c->type,
                       updatedEntry(update, loadElement(c->weight, entry, c->type), sum[i]));
        }
      }
    }
}

/* The index of a block in the sums of all. */
static int64_t blockIndex(const Plan *p, int64_t group, int64_t channel, int64_t outChannel)
{
  return group * blockCount(p) + outChannel / BLOCK * ceilDivide(p->c->inChannels, BLOCK) + channel / BLOCK;
}

/* Computes task number `index`. With several parts its sums are written to `sums`, [part][block]. */
static void computeTask(const Plan *p, int64_t index, real *sums, GradWeightUpdate update)
{
  const Correlation *c = p->c;
  Task t = {.channel = index % p->inTasks * p->in};
  index /= p->inTasks;
  t.outChannel = index % p->outTasks * p->out;
  index /= p->outTasks;
  t.group = index % c->groups;
  const int64_t part = index / c->groups, firstChunk = part * p->chunks / p->parts,
                endChunk = (part + 1) * p->chunks / p->parts;
  t.ins = MIN(p->in, wholeSides(c->inChannels - t.channel));
  t.outs = MIN(p->out, wholeSides(c->outChannels - t.outChannel));
  const int64_t blocksOfRow = ceilDivide(t.ins, BLOCK), blocks = blocksOfRow * ceilDivide(t.outs, BLOCK);
  const bool storesAtOnce = p->chunks == 1;
  const int64_t sumReals = sums ? 0 : blockReals(p) * (storesAtOnce ? 1 : blocks);
  t.source = thnn_scratch(sizeof(real) * (size_t)sumReals + (size_t)packedBytes(p, t.ins, t.outs));
  t.target = (real *)(t.source + t.ins * p->sourcePitch + STEP);
  t.sums = t.target + t.outs * p->slots / 2;
  t.turning = (Half *)(t.sums + sumReals);
  t.at = (int64_t *)(t.turning + turningHalves(p));
  t.run = (Run *)(t.at + p->planePitch);
  for (int64_t i = firstChunk; i < endChunk; i++) {
    const Tile chunk = tileAt(p->positions, p->chunk, i);
    packChunk(p, &t, &chunk);
    for (int64_t block = 0; block < blocks; block++) {
      const int64_t channel = block % blocksOfRow * BLOCK, outChannel = block / blocksOfRow * BLOCK;
      real *blockSums = t.sums + (storesAtOnce ? 0 : block * blockReals(p));
      if (sums)
        blockSums = sums + (part * c->groups * blockCount(p) +
                            blockIndex(p, t.group, t.channel + channel, t.outChannel + outChannel)) *
                               blockReals(p);
      multiplyBlock(p, &t, channel, outChannel, i > firstChunk, blockSums);
      if (!sums && i + 1 == endChunk)
        storeBlock(p, t.group, t.channel + channel, t.outChannel + outChannel, blockSums, update);
    }
  }
}

/* Adds the sums of all parts of a block, in order, and updates gradWeight. */
static void storeParts(const Plan *p, int64_t index, real *sums, GradWeightUpdate update)
{
  const int64_t blocks = p->c->groups * blockCount(p), blocksOfRow = ceilDivide(p->c->inChannels, BLOCK);
  real *sum = sums + index * blockReals(p);
  for (int64_t part = 1; part < p->parts; part++)
    for (int64_t i = 0; i < blockReals(p); i++) sum[i] += sum[part * blocks * blockReals(p) + i];
  const int64_t group = index / blockCount(p), block = index % blockCount(p);
  storeBlock(p, group, block % blocksOfRow * BLOCK, block / blocksOfRow * BLOCK, sum, update);
}

bool THNN_(gradWeightTilesSuit)(const Convolution *g)
{
  if (!multipliesPairs(g->type) || !multipliesTiles()) return false;
  const int64_t in = g->inputChannels / g->groups, out = g->outputChannels / g->groups;
  double products = (double)in * (double)out, computed = (double)wholeSides(in) * (double)wholeSides(out);
  int64_t planes = 1, taps = 1;
  for (int d = 0; d < WINDOW_AXES; d++) {
    const WindowAxis *a = g->axis + d;
    if (a->kernel > MAX_TAPS) return false;
    products *= (double)a->output;
    computed *= (double)a->output + (double)((a->kernel - 1) * a->dilation / a->stride);
    planes *= MIN(a->stride / gcd(a->stride, a->dilation), a->kernel);
    taps *= a->kernel;
  }
  return computed <= MOST_COMPUTED * products && planes <= MAX_PLANES && taps <= MAX_TAPS;
}

void THNN_(gradWeightTiles)(const Correlation *c, GradWeightUpdate update, int64_t work)
{
  Plan p = {.c = c};
  makePlan(&p);
  real *sums = NULL;
  if (p.parts > 1) {
    const int64_t reals = p.parts * c->groups * blockCount(&p) * blockReals(&p);
    sums = thnn_sharedScratch(sizeof(real) * (size_t)reals);
    if (sums == NULL) p.parts = 1;
  }
  balance(&p, thnn_threads(1 << 20, work));
  THNN_PARALLEL_FOR(i, taskCount(&p), work) {
    THNN_(configureTiles)(SIDE);
    computeTask(&p, i, sums, update);
    THNN_(releaseTiles)();
  }
  if (sums == NULL) return;
  THNN_PARALLEL_FOR(i, c->groups * blockCount(&p), work) storeParts(&p, i, sums, update);
}

#endif
