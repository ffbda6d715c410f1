#ifndef THNN_CONVOLUTION_PACKING_H
#define THNN_CONVOLUTION_PACKING_H

#include "convolution/convolution.h"
#include "gemm/microkernel.h"

/* How convolutions read patches without unfolding them.

   A correlation maps positions of a target to patches of a source. Along each of its four axes (batch, depth,
   height, width, or fewer after simplification) position q sees, for tap t, the source coordinate

     first + q * step + t * skip

   and zero where that lies outside 0 .. size - 1. Output and gradWeight are such correlations of input and
   output; gradInput is one per residue of the stride.

   A strip is a piece of the source copied with its surrounding zeros, for a box of target positions and some
   channels, so that the register tiles of gemm.h read it without a test. Its rows are split by the residue of the
   width modulo step: neighbouring positions are neighbours in memory whatever the stride. */

typedef struct Axis {
  int64_t count;                  /* target positions */
  int64_t size;                   /* source coordinates */
  int64_t step, first;            /* of the positions */
  int64_t taps, skip;             /* of the kernel, skip > 0 */
  int64_t source, target, weight; /* strides: per source coordinate, target position, tap */
} Axis;

/* A range of positions or taps on every axis. */
typedef struct Box {
  int64_t start[4], count[4];
} Box;

typedef struct Strip {
  int64_t phases; /* residues of t * skip modulo step that occur on the last axis: tap t is in phase t % phases */
  int64_t pitch[4]; /* from one coordinate to the next on the first three axes; of a phase on the last */
  int64_t channel;  /* from one channel to the next */
} Strip;

#define STRIP_BYTES ((int64_t)576 << 10)
#define PIECE_TAPS 128

static inline int64_t greatestDivisor(int64_t a, int64_t b)
{
  while (b) {
    const int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
/* Division by strides, which mostly are 1. */
static inline int64_t quotient(int64_t a, int64_t b) { return b == 1 ? a : a / b; }
static inline int64_t modulo(int64_t a, int64_t b) { return b == 1 ? 0 : a % b; }
/* The size of equal pieces when there are more of them. */
static inline int64_t nextPiece(int64_t all, int64_t piece)
{
  const int64_t next = ceilDivide(all, ceilDivide(all, piece) + 1);
  return next < piece ? next : piece - 1;
}

/* Source rows that `count` positions and `taps` taps of an axis touch. */
static inline int64_t axis_extent(const Axis *axis, int64_t count, int64_t taps)
{
  return (count - 1) * axis->step + (taps - 1) * axis->skip + 1;
}

/* A position is a coordinate. */
static inline bool axis_isPlain(const Axis *a)
{
  return a->taps == 1 && a->step == 1 && a->first == 0 && a->size == a->count;
}

/* Of what is larger than any strip may be, no more is known. */
#define STRIP_MOST ((int64_t)1 << 28)
static inline int64_t strip_product(int64_t a, int64_t b)
{
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) || product > STRIP_MOST ? STRIP_MOST : product;
}

/* The strip for boxes of these counts. */
static inline Strip strip_make(const Axis *axis, const int64_t *count, const int64_t *taps, int realsPerLine)
{
  const Axis *last = axis + 3;
  Strip strip = {.phases = MIN(last->step / greatestDivisor(last->step, last->skip), taps[3])};
  strip.pitch[3] = count[3] + (taps[3] - 1) * last->skip / last->step;
  strip.pitch[2] = strip_product(strip.pitch[3], strip.phases);
  strip.pitch[1] = strip_product(strip.pitch[2], axis_extent(axis + 2, count[2], taps[2]));
  strip.pitch[0] = strip_product(strip.pitch[1], axis_extent(axis + 1, count[1], taps[1]));
  /* An odd number of cache lines, so that the channels of one pixel do not fall into one cache set. */
  const int64_t reals = strip_product(strip.pitch[0], axis_extent(axis, count[0], taps[0]));
  strip.channel = (ceilDivide(reals, realsPerLine) | 1) * realsPerLine;
  return strip;
}

/* Where tap t lies from the position's own place. */
static inline int64_t strip_tap(const Strip *strip, const Axis *axis, const int64_t *t)
{
  int64_t at = modulo(t[3], strip->phases) * strip->pitch[3] + quotient(t[3] * axis[3].skip, axis[3].step);
  for (int d = 0; d < 3; d++) at += t[d] * axis[d].skip * strip->pitch[d];
  return at;
}

static inline int64_t strip_position(const Strip *strip, const Axis *axis, const int64_t *q)
{
  int64_t at = q[3];
  for (int d = 0; d < 3; d++) at += q[d] * axis[d].step * strip->pitch[d];
  return at;
}

/* Counts q up within count, the last index fastest. */
static inline void box_next(int64_t *q, const int64_t *count, int axes)
{
  for (int d = axes - 1; d >= 0; d--) {
    if (++q[d] < count[d]) return;
    q[d] = 0;
  }
}

/* Range number i of those that cut `all` into pieces of at most `piece`. */
static inline Box box_piece(const int64_t *all, const int64_t *piece, int64_t i)
{
  Box box;
  for (int d = 3; d >= 0; d--) {
    int64_t pieces = ceilDivide(all[d], piece[d]);
    box.start[d] = i % pieces * piece[d];
    box.count[d] = MIN(piece[d], all[d] - box.start[d]);
    i /= pieces;
  }
  return box;
}

static inline int64_t box_pieces(const int64_t *all, const int64_t *piece)
{
  int64_t pieces = 1;
  for (int d = 0; d < 4; d++) pieces *= ceilDivide(all[d], piece[d]);
  return pieces;
}

typedef struct Correlation {
  Axis axis[4];
  int64_t groups, channels, outputs; /* channels of the source and of the target, per group */
  const real *source;
  real *target;
  real *weight;
  int64_t sourceChannel, targetChannel; /* strides */
  int64_t weightGroup, weightChannel, weightOutput;
  const real *bias; /* of a target, or NULL */
  int64_t biasGroup, biasOutput;
} Correlation;

/* The forward correlation of a convolution, with as few axes that matter as possible. */
Correlation THNN_(correlation_make)(const Convolution *geometry, ConvolutionView input, ConvolutionView weight,
                                    ConvolutionView output);
void THNN_(correlation_simplify)(Correlation *correlation);

/* Taps per piece so that one piece has at most PIECE_TAPS of them and that the strip of a channel and `width`
   positions fits into STRIP_BYTES. Less width, if nothing else helps. */
void THNN_(correlation_cutTaps)(const Correlation *correlation, int64_t *taps, int64_t *width);

/* Copies `channels` channels of the source, beginning at `source`, and may write VL reals beyond them. The strip has at
   most GEMM_DEPTH phases. */
void THNN_(strip_fill)(const Correlation *correlation, const Strip *strip, const Box *positions, const Box *taps,
                       const real *source, int64_t channels, real *memory);

#endif
