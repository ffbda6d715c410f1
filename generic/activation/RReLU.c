#include "modules/RReLU.h"
#include "elementwise/map.h"
#include "runtime/integer.h"
#include "simd/philox.h"

static void checkSlopes(THNNState *state, accreal lower, accreal upper)
{
  THNN_CHECK(isfinite(lower), lower, "expected a finite number, got %g", lower);
  THNN_CHECK(isfinite(upper) && lower <= upper, upper, "expected a finite number not below lower, %g, got %g",
             lower, upper);
}

/* Writes the slopes of one block to noise: 1 where input > 0, else lower + u * range with u uniform in [0, 1). */
static void drawBlock(const THNNMap *map, int64_t block, int64_t seed, real lower, real range)
{
  THNNElements p[2];
  const int n = thnn_mapLoad(map, 2, block, p);
  real chunk[2][THNN_MAP_BLOCK];
  const real *const x = thnn_mapLoadChunk(map, p[1], 0, n, chunk[1]);
  real *const noise = p[0].type == THNN_TYPE_OTHER ? p[0].data : chunk[0];
  for (int first = 0; first < n; first += TH_RANDOM_GROUP) {
    real u[TH_RANDOM_GROUP];
    th_uniform(seed, (block * THNN_MAP_BLOCK + first) / TH_RANDOM_GROUP, u);
    const int count = MIN(TH_RANDOM_GROUP, n - first);
    THNN_PRAGMA(omp simd)
    for (int i = 0; i < count; i++) noise[first + i] = x[first + i] > 0 ? 1 : lower + u[i] * range;
  }
  if (p[0].type != THNN_TYPE_OTHER) thnn_narrow(p[0].data, (float *)noise, p[0].type, n);
  if (mapIsBuffered(map, n)) thnn_mapStoreBuffered(map, block, p[0].data);
}

void THNN_(RReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *noise, accreal lower,
                               accreal upper, bool train, bool inplace, THGenerator *generator)
{
  checkSlopes(state, lower, upper);
  THNN_RETURN_IF_FAILED(state);
  if (inplace) {
    THNN_CHECK_DISTINCT_ADDRESSES(input);
  } else {
    THNN_RESIZE_LIKE(output, input);
    THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  }
  if (train) {
    THNN_RESIZE_LIKE(noise, input);
    THNN_CHECK_NO_OVERLAP(noise, input);
    THNN_CHECK_NO_OVERLAP(noise, output);
  }
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THTensor *const y = inplace ? input : output;
  if (!train) {
    const real slope = (real)((lower + upper) / 2);
    THNN_MAP2(y, y, x, input, x > 0 ? x : x * slope);
    return;
  }
  THNN_REQUIRE_SEED(generator);
  /* Row-major, since element i gets number i of the generator in every layout. */
  THNNMap draw, apply;
  thnn_mapBeginRowMajor(&draw, sizeof(real), 2, (const THNNTensor *const[]){noise, input});
  thnn_mapBeginRowMajor(&apply, sizeof(real), 3, (const THNNTensor *const[]){y, input, noise});
  THNN_MAP_FOR(block, draw, {
    drawBlock(&draw, block, generator->seed, (real)lower, (real)(upper - lower));
    THNN_MAP_BLOCK3(apply, block, x, slope, x * slope)
  })
}

void THNN_(RReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                  THTensor *noise, accreal lower, accreal upper, bool train, bool inplace)
{
  checkSlopes(state, lower, upper);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_COUNT(input, gradOutput);
  const bool random = train && upper - lower > 1e-6;
  if (random) THNN_CHECK_SAME_SIZE(input, noise);
  if (inplace) {
    THNN_CHECK_DISTINCT_ADDRESSES(gradOutput);
  } else {
    THNN_RESIZE_LIKE(gradInput, input);
    THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  }
  THTensor *const dx = inplace ? gradOutput : gradInput;
  if (random && THNN_overlaps(dx, noise, true))
    return THNN_fail(state, THNN_VALUE_ERROR, inplace ? "gradOutput" : "gradInput",
                     "must not share memory with noise");
  if (!random && THNN_overlaps(dx, input, true))
    return THNN_fail(state, THNN_VALUE_ERROR, inplace ? "gradOutput" : "gradInput",
                     "must not share memory with input");
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const real slope = (real)((lower + upper) / 2);
  if (random) THNN_MAP3(dx, dx, g, gradOutput, r, noise, g * r);
  else THNN_MAP3(dx, dx, x, input, g, gradOutput, x > 0 ? g : g * slope);
}
