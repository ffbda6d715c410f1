#include "modules/BCECriterion.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"
#include "pointwise.h"

/* The first element in row-major order that is no probability; false if all are. */
static bool BCECriterion_notInRange(THTensor *input, real *value)
{
  THNNMap map;
  thnn_mapBegin(&map, sizeof(real), false, 1, (const THNNTensor *const[]){input});
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

void THNN_(BCECriterion_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output,
                                      bool sizeAverage, THTensor *weights)
{
  THNN_CHECK_SAME_COUNT(input, target);
  if (weights) THNN_CHECK_SAME_COUNT(input, weights);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_CHECK_NO_OVERLAP(output, weights);
  THNN_RETURN_IF_META(state);
  double loss;
  if (weights) THNN_SUM3(loss, x, input, t, target, w, weights, w * BCECriterion(x, t));
  else THNN_SUM2(loss, x, input, t, target, BCECriterion(x, t));
  /* An input that is no probability makes the sum NaN, so only then is it worth looking for one. */
  real value;
  THNN_CHECK(!isnan(loss) || !BCECriterion_notInRange(input, &value), input, "expected values from 0 to 1, got %g",
             (double)value);
  *TH_DATA(output) = (real)(sizeAverage ? loss / (double)THNNTensor_numel(input) : loss);
}

void THNN_(BCECriterion_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput,
                                         bool sizeAverage, THTensor *weights)
{
  THNN_CHECK_SAME_COUNT(input, target);
  if (weights) THNN_CHECK_SAME_COUNT(input, weights);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, target);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, weights);
  THNN_RETURN_IF_META(state);
  const real norm = (real)(sizeAverage ? 1.0 / (double)THNNTensor_numel(input) : 1.0);
  if (weights) THNN_MAP4(dx, gradInput, x, input, t, target, w, weights, norm * w * BCECriterion_grad(x, t));
  else THNN_MAP3(dx, gradInput, x, input, t, target, norm * BCECriterion_grad(x, t));
}
