#include "convolution/convolution.h"
#include "convolution/packing.h"
#include "convolution/direct.h"

/* gradWeight of groups of few planes, neighbouring positions in the lanes. A task has a group. It copies the patches
   of a box of positions into a strip that stays in L1, as few.c does, and adds up a few terms at a time, a term being
   a tap of a channel; gradients are read where they lie. */

#ifndef FEW_WEIGHT_TERMS

#define FEW_WEIGHT_TERMS FEW_TERMS
#define FEW_WEIGHT_SUMS 10 /* at a time */
#define FEW_WEIGHT_STRIP_BYTES ((int64_t)20 << 10)

#endif

typedef struct Plan {
  const Correlation *c;
  int64_t count[4], taps[4], box[4];
  int64_t boxes, terms;
  PackedTile strip;
  int32_t offset[FEW_WEIGHT_TERMS]; /* of a term, from the position's own place */
} Plan;

static int64_t stripBytes(const Plan *p, const int64_t *box)
{
  return packedTileLayout(p->c->axis, box, p->taps).channelPitch * p->c->inChannels * (int64_t)sizeof(real);
}

bool THNN_(few_suitsWeight)(const Correlation *c)
{
  if (c->groups == 1 || c->outChannels > FEW_OF_GROUP) return false;
  double terms = (double)c->inChannels;
  for (int d = 0; d < 4; d++) terms *= (double)c->axis[d].kernel;
  if (terms > FEW_WEIGHT_TERMS) return false;
  Plan p = {.c = c};
  for (int d = 0; d < 4; d++) p.taps[d] = c->axis[d].kernel;
  const int64_t one[4] = {1, 1, 1, MIN(c->axis[3].targetSize, 4 * VL)};
  return stripBytes(&p, one) <= PACKED_TILE_BYTES;
}

static void makePlan(Plan *p)
{
  const Correlation *c = p->c;
  for (int d = 0; d < 4; d++) {
    p->count[d] = c->axis[d].targetSize;
    p->taps[d] = c->axis[d].kernel;
    p->box[d] = 1;
  }
  for (int d = 3; d >= 0 && (d == 3 || p->box[d + 1] == p->count[d + 1]); d--) {
    /* A row is cut into whole vectors. */
    const int64_t unit = d == 3 ? VL : 1;
    int64_t box[4];
    memcpy(box, p->box, sizeof box);
    for (box[d] = p->count[d]; box[d] > unit && stripBytes(p, box) > FEW_WEIGHT_STRIP_BYTES;)
      box[d] = smallerTile(ceilDivide(p->count[d], unit), ceilDivide(box[d], unit)) * unit;
    p->box[d] = box[d];
  }
  p->strip = packedTileLayout(c->axis, p->box, p->taps);
  p->boxes = tileCount(p->count, p->box);
  const int64_t T = volume(p->taps);
  p->terms = c->inChannels * T;
  int64_t t[4] = {0};
  for (int64_t i = 0; i < T; i++, nextIndex(t, p->taps, 4))
    for (int64_t ch = 0; ch < c->inChannels; ch++)
      p->offset[ch * T + i] =
          (int32_t)(ch * p->strip.channelPitch + packedTileKernelOffset(&p->strip, c->axis, t));
}

static inline vreal loadEach(const real *from, int64_t stride, int n)
{
  vreal x = {0};
  for (int i = 0; i < n; i++) x[i] = from[i * stride];
  return x;
}

/* The sums of T terms over a box. */
static inline __attribute__((always_inline)) void products(const int T, const Plan *p, const Tile *box,
                                                           const real *strip, const int32_t *offset,
                                                           const real *gradient, double *sum)
{
  const Correlation *c = p->c;
  const int64_t stride = c->axis[3].targetStride, width = box->size[3];
  const int64_t sourceRow = c->axis[2].stride * p->strip.pitch[2];
  const int64_t ahead =
      c->outChannels * c->targetChannelStride; /* the same place of the next group, on another page */
  vreal acc[FEW_WEIGHT_SUMS];
  const real *from[FEW_WEIGHT_SUMS];
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) {
    acc[t] = (vreal){0};
    from[t] = strip + offset[t];
  }
  int64_t q[4] = {0};
  for (int64_t plane = box->size[0] * box->size[1]; plane > 0; plane--, nextIndex(q, box->size, 2)) {
    int64_t x = packedTilePositionOffset(&p->strip, c->axis, q);
    const real *g = gradient + q[0] * c->axis[0].targetStride + q[1] * c->axis[1].targetStride;
    for (int64_t row = 0; row < box->size[2]; row++, x += sourceRow, g += c->axis[2].targetStride)
      for (int64_t i = 0; i < width; i += VL) {
        /* Lanes beyond are 0 on both sides: what lies there need not be finite. */
        const int n = (int)MIN(VL, width - i);
        const vreal y = stride == 1 ? v_load_n(g + i, n) : loadEach(g + i * stride, stride, n);
        __builtin_prefetch(g + i * stride + ahead);
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) acc[t] += y * v_load_n(from[t] + x + i, n);
      }
  }
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) sum[t] += (double)v_sum(acc[t]);
}

#define PRODUCTS(T)                                                     \
  case T:                                                               \
    products(T, p, &box, strip, p->offset + k, gradient, total[o] + k); \
    break;

static void task(const Plan *p, int64_t group, real scale)
{
  const Correlation *c = p->c;
  const int64_t T = volume(p->taps);
  real *strip = thnn_scratch((size_t)stripBytes(p, p->box) + 4 * VBYTES); /* vectors may begin in the last row */
  const Tile taps = {.size = {p->taps[0], p->taps[1], p->taps[2], p->taps[3]}};
  const int64_t together = ceilDivide(p->terms, ceilDivide(p->terms, FEW_WEIGHT_SUMS));
  double total[FEW_OF_GROUP][FEW_WEIGHT_TERMS] = {{0}};
  for (int64_t b = 0; b < p->boxes; b++) {
    const Tile box = tileAt(p->count, p->box, b);
    THNN_(packTile)(c, &p->strip, &box, &taps, c->source + group * c->inChannels * c->sourceChannelStride,
                    c->inChannels, strip);
    for (int64_t o = 0; o < c->outChannels; o++) {
      const real *gradient = c->target + (group * c->outChannels + o) * c->targetChannelStride;
      for (int d = 0; d < 4; d++) gradient += box.start[d] * c->axis[d].targetStride;
      for (int64_t k = 0; k < p->terms; k += together) {
        switch (MIN(together, p->terms - k)) {
          UP_TO_9(PRODUCTS)
          PRODUCTS(10)
        }
      }
    }
  }
  for (int64_t o = 0; o < c->outChannels; o++) {
    real *weight = c->weight + group * c->weightGroupStride + o * c->weightOutStride;
    int64_t t[4] = {0};
    for (int64_t i = 0; i < T; i++, nextIndex(t, p->taps, 4))
      for (int64_t ch = 0; ch < c->inChannels; ch++) {
        real *to = weight + ch * c->weightInStride;
        for (int d = 0; d < 4; d++) to += t[d] * c->axis[d].weightStride;
        *to += (real)((double)scale * total[o][ch * T + i]);
      }
  }
}

void THNN_(few_gradWeight)(const Correlation *c, real scale)
{
  Plan p = {.c = c};
  makePlan(&p);
  const double work = (double)(c->groups * c->outChannels) * (double)volume(p.count) * (double)p.terms / 8;
  THNN_PARALLEL_FOR(group, c->groups, (int64_t)MIN(work, 1e15)) task(&p, group, scale);
}
