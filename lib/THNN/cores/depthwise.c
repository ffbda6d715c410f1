#include "gemm.h"
#include "convolution.h"
#include "patches.h"
#include "depthwise.h"

/* A task copies the patches of a box of positions into a strip that stays in L1, and goes through it vector by vector.
   A coordinate of the strip has `lanes` reals: 1, and a vector is VL positions; or VL, and a vector is one position of
   VL groups. Weights are packed as vectors, [output][k], so that both kinds are one loop. */

#define DEPTHWISE_STRIP_BYTES ((int64_t)20 << 10)
#define DEPTHWISE_TERMS GEMM_DEPTH /* longer sums are split, which gemm.h does */
#define DEPTHWISE_TAPS 10          /* sums of gradWeight at a time */

typedef struct V_(plan) {
  const V_(correlation) *c;
  int64_t count[4], taps[4], box[4];
  int64_t lanes, groupTasks, boxes, terms;
  Strip strip;
} V_(plan);

static int64_t V_(stripReals)(const V_(plan) *p, const int64_t *box)
{
  return strip_make(p->c->axis, box, p->taps, REALS_PER_LINE).channel * p->c->channels * p->lanes;
}

static V_(plan) V_(makePlan)(const V_(correlation) *c)
{
  V_(plan) p = {.c = c, .lanes = 1, .box = {1, 1, 1, 1}};
  const bool groupsInside = c->channels == 1 && c->outputs == 1 && c->sourceChannel == 1 && c->targetChannel == 1;
  if (groupsInside && c->groups > 1) p.lanes = VL;
  for (int d = 0; d < 4; d++) {
    p.count[d] = c->axis[d].count;
    p.taps[d] = c->axis[d].taps;
  }
  for (int d = 3; d >= 0 && (d == 3 || p.box[d + 1] == p.count[d + 1]); d--) {
    int64_t box[4];
    memcpy(box, p.box, sizeof box);
    for (box[d] = MAX(p.count[d], 1); box[d] > 1; box[d] = nextPiece(p.count[d], box[d]))
      if (V_(stripReals)(&p, box) * (int64_t)sizeof(real) <= DEPTHWISE_STRIP_BYTES) break;
    p.box[d] = box[d];
  }
  p.strip = strip_make(c->axis, p.box, p.taps, REALS_PER_LINE);
  p.groupTasks = ceilDivide(c->groups, p.lanes);
  p.boxes = box_pieces(p.count, p.box);
  p.terms = c->channels * volume(p.taps);
  return p;
}

bool THNN_(depthwise_is)(const V_(correlation) *c)
{
  if (c->groups == 1 || c->outputs > DEPTHWISE_OUTPUTS || c->channels > DEPTHWISE_TERMS) return false;
  double terms = (double)c->channels;
  for (int d = 0; d < 4; d++) terms *= (double)c->axis[d].taps;
  if (terms > DEPTHWISE_TERMS) return false;
  const V_(plan) p = V_(makePlan)(c);
  return V_(stripReals)(&p, p.box) * (int64_t)sizeof(real) <= STRIP_BYTES;
}

/* strip_fill for VL groups at once, the last ones of which may be missing. */
static void V_(fillGroups)(const V_(plan) *p, const Box *box, const real *source, int n, real *memory)
{
  const V_(correlation) *c = p->c;
  const Axis *last = c->axis + 3;
  const Strip *strip = &p->strip;
  int64_t first[4], extent[3], at[3] = {0};
  for (int d = 0; d < 4; d++) first[d] = c->axis[d].first + box->start[d] * c->axis[d].step;
  for (int d = 0; d < 3; d++) extent[d] = axis_extent(c->axis + d, box->count[d], p->taps[d]);
  const int64_t width = box->count[3] + (p->taps[3] - 1) * last->skip / last->step;
  for (int64_t row = extent[0] * extent[1] * extent[2]; row > 0; row--, box_next(at, extent, 3)) {
    real *to = memory;
    const real *from = source;
    bool inside = true;
    for (int d = 0; d < 3; d++) {
      const int64_t x = first[d] + at[d];
      inside = inside && x >= 0 && x < c->axis[d].size;
      if (inside) from += x * c->axis[d].source;
      to += at[d] * strip->pitch[d] * VL;
    }
    for (int64_t phase = 0; phase < strip->phases; phase++, to += strip->pitch[3] * VL)
      for (int64_t i = 0; i < width; i++) {
        const int64_t x = first[3] + phase * last->skip % last->step + i * last->step;
        const bool exists = inside && x >= 0 && x < last->size;
        v_store(to + i * VL, exists ? v_load_n(from + x * last->source, n) : (vreal){0});
      }
  }
}

typedef struct V_(work) {
  real *strip, *weight;
  int32_t offset[DEPTHWISE_TERMS]; /* of a term, from the position's own place */
} V_(work);

/* Scratch memory, with the offsets of the terms; weight has room for `vectors` vectors. */
static V_(work) V_(makeWork)(const V_(plan) *p, int64_t vectors)
{
  const int64_t reals = ceilDivide(V_(stripReals)(p, p->box), VL) * VL;
  V_(work) w;
  w.strip =
      thnn_scratch(sizeof(real) * (size_t)(reals + (4 + vectors) * VL)); /* vectors may begin in the last row */
  w.weight = w.strip + reals + 4 * VL;
  int64_t t[4] = {0};
  const int64_t T = volume(p->taps);
  for (int64_t i = 0; i < T; i++, box_next(t, p->taps, 4))
    for (int64_t ch = 0; ch < p->c->channels; ch++)
      w.offset[ch * T + i] = (int32_t)((ch * p->strip.channel + strip_tap(&p->strip, p->c->axis, t)) * p->lanes);
  return w;
}

static void V_(fill)(const V_(plan) *p, const Box *box, int64_t group, int n, real *strip)
{
  const V_(correlation) *c = p->c;
  const Box taps = {.count = {p->taps[0], p->taps[1], p->taps[2], p->taps[3]}};
  const real *source = c->source + group * c->channels * c->sourceChannel;
  if (p->lanes == 1) THNN_(strip_fill)(c, &p->strip, box, &taps, source, c->channels, strip);
  else V_(fillGroups)(p, box, source, n, strip);
}

static inline
    __attribute__((always_inline)) void V_(sums)(const int V, real *sum, const real *strip, const int32_t *offset,
                                                 int64_t terms, const real *weight)
{
  vreal acc[4];
#pragma GCC unroll 4
  for (int i = 0; i < V; i++) acc[i] = v_load(weight); /* the biases come first */
  for (int64_t k = 0; k < terms; k++) {
    const vreal w = v_load(weight + (k + 1) * VL);
#pragma GCC unroll 4
    for (int i = 0; i < V; i++) acc[i] += w * v_load(strip + offset[k] + i * VL);
  }
#pragma GCC unroll 4
  for (int i = 0; i < V; i++) v_store(sum + i * VL, acc[i]);
}

static void V_(correlateTask)(const V_(plan) *p, int64_t task)
{
  const V_(correlation) *c = p->c;
  const Box box = box_piece(p->count, p->box, task % p->boxes);
  const int64_t group = task / p->boxes * p->lanes, T = volume(p->taps), stride = c->axis[3].target;
  const int n = (int)MIN(p->lanes, c->groups - group);
  const V_(work) w = V_(makeWork)(p, c->outputs * (p->terms + 1));
  for (int64_t o = 0; o < c->outputs; o++) {
    real *packed = w.weight + o * (p->terms + 1) * VL;
    memset(packed, 0, sizeof(real) * VL * (size_t)(p->terms + 1));
    for (int l = 0; l < n; l++) {
      const int64_t g = group + l;
      const real *weight = c->weight + g * c->weightGroup + o * c->weightOutput;
      if (c->bias) packed[l] = c->bias[g * c->biasGroup + o * c->biasOutput];
      int64_t t[4] = {0};
      for (int64_t i = 0; i < T; i++, box_next(t, p->taps, 4)) {
        const real *from = weight;
        for (int d = 0; d < 4; d++) from += t[d] * c->axis[d].weight;
        for (int64_t ch = 0; ch < c->channels; ch++)
          packed[(ch * T + i + 1) * VL + l] = from[ch * c->weightChannel];
      }
    }
    if (p->lanes == 1)
      for (int64_t k = 0; k <= p->terms; k++) v_store(packed + k * VL, v_set1(packed[k * VL]));
  }
  V_(fill)(p, &box, group, n, w.strip);
  const int64_t vectors = p->lanes == 1 ? ceilDivide(box.count[3], VL) : box.count[3];
  int64_t q[4] = {0};
  for (int64_t row = box.count[0] * box.count[1] * box.count[2]; row > 0; row--, box_next(q, box.count, 3)) {
    const real *strip = w.strip + strip_position(&p->strip, c->axis, q) * p->lanes;
    real *target = c->target + group * c->outputs * c->targetChannel + box.start[3] * stride;
    for (int d = 0; d < 3; d++) target += (box.start[d] + q[d]) * c->axis[d].target;
    for (int64_t o = 0; o < c->outputs; o++, target += c->targetChannel) {
      const real *packed = w.weight + o * (p->terms + 1) * VL;
      for (int64_t v = 0; v < vectors; v += 4) {
        real sum[4 * VBYTES / sizeof(real)];
        const int V = (int)MIN(4, vectors - v);
        const real *from = strip + v * VL;
        if (V == 4) V_(sums)(4, sum, from, w.offset, p->terms, packed);
        else if (V == 3) V_(sums)(3, sum, from, w.offset, p->terms, packed);
        else if (V == 2) V_(sums)(2, sum, from, w.offset, p->terms, packed);
        else V_(sums)(1, sum, from, w.offset, p->terms, packed);
        for (int i = 0; i < V; i++) {
          if (p->lanes > 1) {
            v_store_n(target + (v + i) * stride, v_load(sum + i * VL), n);
          } else {
            const int64_t x = (v + i) * VL, m = MIN(VL, box.count[3] - x);
            if (stride == 1) v_store_n(target + x, v_load(sum + i * VL), (int)m);
            else
              for (int64_t l = 0; l < m; l++) target[(x + l) * stride] = sum[i * VL + l];
          }
        }
      }
    }
  }
}

void THNN_(depthwise_correlate)(const V_(correlation) *c)
{
  const V_(plan) p = V_(makePlan)(c);
  const int64_t tasks = p.groupTasks * p.boxes;
  const double work = (double)(c->groups * c->outputs) * (double)volume(p.count) * (double)p.terms / 8;
  THNN_PARALLEL_FOR(task, tasks, (int64_t)MIN(work, 1e15)) V_(correlateTask)(&p, task);
}

/* The sums of T taps over a box, [tap][lane]. Gradients are read where they lie. */
static inline __attribute__((always_inline)) void V_(products)(const int T, const V_(plan) *p, const Box *box,
                                                               int n, const real *strip, const int32_t *offset,
                                                               const real *gradient, real *sum)
{
  const V_(correlation) *c = p->c;
  const int64_t stride = c->axis[3].target, width = box->count[3];
  const int64_t vectors = p->lanes == 1 ? ceilDivide(width, VL) : width;
  vreal acc[DEPTHWISE_TAPS];
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) acc[t] = (vreal){0};
  int64_t q[4] = {0};
  for (int64_t row = box->count[0] * box->count[1] * box->count[2]; row > 0; row--, box_next(q, box->count, 3)) {
    const real *x = strip + strip_position(&p->strip, c->axis, q) * p->lanes;
    const real *g = gradient;
    for (int d = 0; d < 3; d++) g += q[d] * c->axis[d].target;
    for (int64_t v = 0; v < vectors; v++, x += VL) {
      const int m = p->lanes > 1 ? n : (int)MIN(VL, width - v * VL);
      vreal y;
      if (p->lanes > 1) {
        y = v_load_n(g + v * stride, n);
      } else if (stride == 1) {
        y = v_load_n(g + v * VL, m);
      } else {
        y = (vreal){0};
        for (int l = 0; l < m; l++) y[l] = g[(v * VL + l) * stride];
      }
      if (m == VL) {
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) acc[t] += y * v_load(x + offset[t]);
      } else {
#pragma GCC unroll 10
        for (int t = 0; t < T; t++) acc[t] += y * v_load_n(x + offset[t], m);
      }
    }
  }
#pragma GCC unroll 10
  for (int t = 0; t < T; t++) v_store(sum + t * VL, acc[t]);
}

#define PRODUCTS(T)                                                    \
  case T:                                                              \
    V_(products)(T, p, &box, n, w.strip, w.offset + k, gradient, sum); \
    break;

static void V_(gradWeightTask)(const V_(plan) *p, int64_t task, real scale)
{
  const V_(correlation) *c = p->c;
  const int64_t group = task * p->lanes, T = volume(p->taps);
  const int n = (int)MIN(p->lanes, c->groups - group);
  const V_(work) w = V_(makeWork)(p, 0);
  const int64_t together = ceilDivide(p->terms, ceilDivide(p->terms, DEPTHWISE_TAPS));
  double total[DEPTHWISE_OUTPUTS][DEPTHWISE_TERMS][VBYTES / sizeof(real)];
  memset(total, 0, sizeof total[0] * (size_t)c->outputs);
  for (int64_t b = 0; b < p->boxes; b++) {
    const Box box = box_piece(p->count, p->box, b);
    V_(fill)(p, &box, group, n, w.strip);
    for (int64_t o = 0; o < c->outputs; o++) {
      const real *gradient = c->target + (group * c->outputs + o) * c->targetChannel;
      for (int d = 0; d < 4; d++) gradient += box.start[d] * c->axis[d].target;
      for (int64_t k = 0; k < p->terms; k += together) {
        real sum[DEPTHWISE_TAPS * VBYTES / sizeof(real)];
        const int64_t taps = MIN(together, p->terms - k);
        switch (taps) {
          PRODUCTS(1)
          PRODUCTS(2)
          PRODUCTS(3)
          PRODUCTS(4)
          PRODUCTS(5)
          PRODUCTS(6)
          PRODUCTS(7)
          PRODUCTS(8)
          PRODUCTS(9)
          PRODUCTS(10)
        }
        for (int64_t t = 0; t < taps; t++) {
          if (p->lanes == 1) total[o][k + t][0] += (double)v_sum(v_load(sum + t * VL));
          else
            for (int l = 0; l < n; l++) total[o][k + t][l] += (double)sum[t * VL + l];
        }
      }
    }
  }
  for (int64_t o = 0; o < c->outputs; o++)
    for (int l = 0; l < n; l++) {
      real *weight = c->weight + (group + l) * c->weightGroup + o * c->weightOutput;
      int64_t t[4] = {0};
      for (int64_t i = 0; i < T; i++, box_next(t, p->taps, 4))
        for (int64_t ch = 0; ch < c->channels; ch++) {
          real *to = weight + ch * c->weightChannel;
          for (int d = 0; d < 4; d++) to += t[d] * c->axis[d].weight;
          *to += (real)((double)scale * total[o][ch * T + i][l]);
        }
    }
}

void THNN_(depthwise_gradWeight)(const V_(correlation) *c, real scale)
{
  const V_(plan) p = V_(makePlan)(c);
  const double work = (double)(c->groups * c->outputs) * (double)volume(p.count) * (double)p.terms / 8;
  THNN_PARALLEL_FOR(task, p.groupTasks, (int64_t)MIN(work, 1e15)) V_(gradWeightTask)(&p, task, scale);
}
