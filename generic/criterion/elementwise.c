#include "modules/AbsCriterion.h"
#include "modules/BCECriterion.h"
#include "modules/MSECriterion.h"
#include "modules/SmoothL1Criterion.h"
#include "pointwise.h"

static inline real huber(real d) { return d < 1 ? (real)0.5 * d * d : d - (real)0.5; }
static inline real clamp(real d) { return d < -1 ? -1 : d > 1 ? 1 : d; }

/* Each logarithm at least -100; NaN if x is outside of [0, 1]. */
static inline real crossEntropy(real x, real t)
{
  const real loss = (t - 1) * th_log_of_rest(x) - t * th_log_of_probability(x);
  return x >= 0 && x <= 1 ? loss : (real)NAN;
}
static inline real crossEntropySlope(real x, real t)
{
  const real slope = (1 - x) * x, least = (real)1e-12;
  return (x - t) / (slope < least ? least : slope);
}

/* Finds the first element in row-major order that is outside of [0, 1]. */
static bool outsideUnitInterval(const THTensor *input, real *value)
{
  const THNNTensor *const operands[] = {input};
  THNNMap map;
  thnn_mapBegin(&map, sizeof(real), false, 1, operands);
  for (int64_t block = 0; block < map.blocks; block++) {
    real buffer[THNN_MAP_BLOCK];
    void *p[1];
    const int n = thnn_mapLoad(&map, 1, block, buffer, p);
    for (int i = 0; i < n; i++) {
      *value = ((real *)p[0])[i];
      if (!(*value >= 0 && *value <= 1)) return true;
    }
  }
  return false;
}

/* An input outside of [0, 1] makes the sum NaN, hence the search for it is rare. */
#define CHECK_PROBABILITIES                                                                                     \
  real value;                                                                                                   \
  THNN_CHECK(!isnan(loss) || !outsideUnitInterval(input, &value), input, "expected values from 0 to 1, got %g", \
             (double)value)

/* 2 * norm comes first because 2 * (x - t) may overflow where the gradient does not. */

/* clang-format off */

CRITERION(AbsCriterion, (), x < t ? t - x : x - t, x >= t ? norm : -norm)
CRITERION(BCECriterion, (WEIGHTS), crossEntropy(x, t), norm * crossEntropySlope(x, t), CHECK_PROBABILITIES)
CRITERION(MSECriterion, (), (x - t) * (x - t), 2 * norm * (x - t))
CRITERION(SmoothL1Criterion, (), huber(x < t ? t - x : x - t), norm * clamp(x - t))
