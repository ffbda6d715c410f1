#include "modules/AbsCriterion.h"
#include "modules/BCECriterion.h"
#include "modules/DistKLDivCriterion.h"
#include "modules/L1Cost.h"
#include "modules/MSECriterion.h"
#include "modules/MarginCriterion.h"
#include "modules/SmoothL1Criterion.h"
#include "modules/SoftMarginCriterion.h"
#include "pointwise.h"

THNN_ELEMENT static inline real huber(real d) { return d < 1 ? (real)0.5 * d * d : d - (real)0.5; }
THNN_ELEMENT static inline real clamp(real d) { return d < -1 ? -1 : d > 1 ? 1 : d; }

/* Each logarithm is at least -100; the result is NaN if x is outside of [0, 1]. */
THNN_ELEMENT static inline real crossEntropy(real x, real t)
{
  const real loss = (t - 1) * th_log_complement(x) - t * th_log_probability(x);
  return x >= 0 && x <= 1 ? loss : (real)NAN;
}
THNN_ELEMENT static inline real crossEntropySlope(real x, real t)
{
  const real denominator = (1 - x) * x, least = (real)1e-12;
  return (x - t) / (denominator < least ? least : denominator);
}

/* An input outside of [0, 1] makes the sum NaN, so the input is searched for it only if the sum is NaN. */
#define CHECK_PROBABILITIES                                                 \
  double value;                                                             \
  THNN_CHECK(!isnan(loss) || !thnn_findOutside(input, 0, 1, &value), input, \
             "expected values from 0 to 1, got %g", value)

/* 2 * norm comes first because 2 * (x - t) may overflow where the gradient does not. A comparison with NaN is
   false; conditions are written such that the loss is NaN then. */

/* clang-format off */

CRITERION(AbsCriterion, (), x < t ? t - x : x - t, x >= t ? norm : -norm)
CRITERION(BCECriterion, (WEIGHTS), crossEntropy(x, t), norm * crossEntropySlope(x, t), CHECK_PROBABILITIES)
CRITERION(DistKLDivCriterion, (), t <= 0 ? 0 : t * (th_log(t) - x), ((void)x, t <= 0 ? 0 : -norm * t))
COST(L1Cost, th_abs(x), x > 0 ? norm : x < 0 ? -norm : x)
CRITERION(MarginCriterion, (SCALAR(margin)),
          x * t >= margin ? 0 : margin - x * t, x * t >= margin ? 0 : -norm * t)
CRITERION(MSECriterion, (), (x - t) * (x - t), 2 * norm * (x - t))
CRITERION(SmoothL1Criterion, (), huber(x < t ? t - x : x - t), norm * clamp(x - t))
CRITERION(SoftMarginCriterion, (), th_softplus(-x * t), -norm * t * th_sigmoid(-x * t))
