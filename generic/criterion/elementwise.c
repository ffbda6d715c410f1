#include "modules/AbsCriterion.h"
#include "modules/BCECriterion.h"
#include "modules/BCEWithLogitsCriterion.h"
#include "modules/DistKLDivCriterion.h"
#include "modules/HingeEmbeddingCriterion.h"
#include "modules/HuberCriterion.h"
#include "modules/L1Cost.h"
#include "modules/MSECriterion.h"
#include "modules/MarginCriterion.h"
#include "modules/MarginRankingCriterion.h"
#include "modules/PoissonNLLCriterion.h"
#include "modules/PoissonRateNLLCriterion.h"
#include "modules/SmoothL1Criterion.h"
#include "modules/SoftMarginCriterion.h"
#include "pointwise.h"

THNN_ELEMENT static inline real huber(real d, real delta)
{
  return d <= delta ? (real)0.5 * d * d : delta * (d - (real)0.5 * delta);
}
THNN_ELEMENT static inline real clamp(real d, real bound) { return d < -bound ? -bound : d > bound ? bound : d; }

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
CRITERION(BCEWithLogitsCriterion, (WEIGHTS),
          (x > 0 ? x : 0) - x * t + th_log1p_le1(th_exp_le0(-th_abs(x))), norm * (th_sigmoid(x) - t))
CRITERION(DistKLDivCriterion, (), t <= 0 ? 0 : t * (th_log(t) - x), ((void)x, t <= 0 ? 0 : -norm * t))
CRITERION(HingeEmbeddingCriterion, (SCALAR(margin)),
          (t == -1 ? 0 : x) + (t == 1 || x > margin ? 0 : margin - x),
          norm * ((t == -1 ? 0 : 1) - (t == 1 || x > margin ? 0 : 1)))
CRITERION(HuberCriterion, (POSITIVE(delta)), huber(th_abs(x - t), delta), norm * clamp(x - t, delta))
COST(L1Cost, th_abs(x), x > 0 ? norm : x < 0 ? -norm : x)
CRITERION(MarginCriterion, (SCALAR(margin)),
          x * t >= margin ? 0 : margin - x * t, x * t >= margin ? 0 : -norm * t)
CRITERION(MarginRankingCriterion, (SCALAR(margin)),
          x * t > margin ? 0 : margin - x * t, x * t > margin ? 0 : -norm * t)
CRITERION(MSECriterion, (), (x - t) * (x - t), 2 * norm * (x - t))
CRITERION(PoissonNLLCriterion, (), th_exp(x) - t * x, norm * (th_exp(x) - t))
CRITERION(PoissonRateNLLCriterion, (SCALAR(eps)), x - t * th_log(x + eps), norm * (1 - t / (x + eps)))
CRITERION(SmoothL1Criterion, (), huber(th_abs(x - t), 1), norm * clamp(x - t, 1))
CRITERION(SoftMarginCriterion, (), th_softplus(-x * t), -norm * t * th_sigmoid(-x * t))
