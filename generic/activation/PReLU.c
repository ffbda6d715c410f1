#include "modules/PReLU.h"
#include "batch_norm/batch_norm.h"
#include "elementwise/map.h"
#include "runtime/integer.h"
#include "simd/half_lanes.h"

/* Channels summed at a time; their sums are on the stack. */
#define SUM_CHANNELS 1024

static int channelDim(const THTensor *input) { return input->ndim == 1 ? 0 : 1; }

static void checkSlopes(THNNState *state, const THTensor *input, const char *name, const THTensor *slopes,
                        int64_t nOutputPlane)
{
  if (nOutputPlane == 0) {
    if (THNNTensor_numel(slopes) != 1)
      THNN_fail(state, THNN_VALUE_ERROR, name,
                "expected one element for nOutputPlane 0, the default (or give nOutputPlane), got %s",
                THNN_shape(slopes));
    return;
  }
  THNN_CHECK(nOutputPlane > 0, nOutputPlane, "expected a number of channels or 0, got %lld",
             (long long)nOutputPlane);
  THNN_CHECK(input->ndim > 0 && input->size[channelDim(input)] == nOutputPlane, input,
             "expected %lld channels, got %s", (long long)nOutputPlane, THNN_shape(input));
  if (slopes->ndim != 1 || slopes->size[0] != nOutputPlane)
    THNN_fail(state, THNN_VALUE_ERROR, name, "expected one slope for each of %lld channels, got %s",
              (long long)nOutputPlane, THNN_shape(slopes));
}

/* The slopes expanded to the size of the input, with strides of 0. */
static THTensor expanded(const THTensor *slopes, const THTensor *input, int64_t nOutputPlane)
{
  THTensor wide = *input;
  wide.data = slopes->data;
  for (int d = 0; d < wide.ndim; d++)
    wide.stride[d] = nOutputPlane > 0 && d == channelDim(input) ? slopes->stride[0] : 0;
  return wide;
}

void THNN_(PReLU_updateOutput)(THNNState *state, THTensor *input, THTensor *output, THTensor *weight,
                               int64_t nOutputPlane)
{
  checkSlopes(state, input, "weight", weight, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, weight);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THTensor slopes = expanded(weight, input, nOutputPlane);
  THNN_MAP3(y, output, x, input, w, &slopes, x > 0 ? x : w * x);
}

void THNN_(PReLU_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                  THTensor *weight, int64_t nOutputPlane)
{
  checkSlopes(state, input, "weight", weight, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_NO_OVERLAP(gradInput, weight);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THTensor slopes = expanded(weight, input, nOutputPlane);
  THNN_MAP4(dx, gradInput, x, input, g, gradOutput, w, &slopes, x > 0 ? g : w * g);
}

/* Channels c to c + n - 1 of a tensor (N, C, ...) or (C), with a dimension for N. */
static THTensor channels(const THTensor *tensor, int64_t c, int64_t n)
{
  THTensor part = *tensor;
  if (part.ndim == 1) {
    part.ndim = 2;
    part.size[1] = part.size[0];
    part.stride[1] = part.stride[0];
    part.size[0] = 1;
  }
  part.data = elementAt(tensor->data, c * part.stride[1], tensor->type);
  part.size[1] = n;
  return part;
}

/* A vector with one value everywhere. */
static THTensor repeated(real *value, int64_t n)
{
  THTensor vector = {.data = value, .ndim = 1};
  vector.size[0] = n;
  vector.stride[0] = 0;
  return vector;
}

/* Adds the sums of gradOutput * input over the inputs that are negative or NaN to gradWeight, for at most SUM_CHANNELS
   channels. They are the gradient sums of batch normalization with relu: with mean 0 and inverse deviation -1 the
   normalized input is -input, so that relu keeps the gradients where the input is negative or NaN. */
static void addGradWeight(THTensor *input, THTensor *gradOutput, real *gradWeight, int64_t stride, accreal scale)
{
  const int64_t n = input->size[1];
  real zero = 0, minusOne = -1;
  THTensor mean = repeated(&zero, n), inverseStd = repeated(&minusOne, n);
  const ChannelParameters negated = {
      .mean = &mean, .inverseStd = &inverseStd, .relu = true, .limit = (accreal)INFINITY};
  accreal sums[2 * SUM_CHANNELS];
  BatchNorm batch;
  THNN_(batchNormInit)(&batch, input, gradOutput, NULL, true);
  THNN_(batchNormGradSums)(&batch, &negated, (ChannelPairs){sums, 1});
  for (int64_t c = 0; c < n; c++) {
    accreal sum = sums[n + c];
    if (!isfinite(sum)) { /* an infinite input may have been multiplied by 0: add without products by 0 */
      const THTensor x = channels(input, c, 1), g = channels(gradOutput, c, 1);
      THNN_SUM2(sum, xi, &x, gi, &g, xi > 0 ? 0 : xi * gi);
    }
    gradWeight[c * stride] += (real)(scale * sum);
  }
}

void THNN_(PReLU_accGradParameters)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                    THTensor *weight, THTensor *gradWeight, THTensor *gradWeightBuf,
                                    THTensor *gradWeightBuf2, int64_t nOutputPlane, accreal scale)
{
  (void)gradInput, (void)gradWeightBuf, (void)gradWeightBuf2;
  checkSlopes(state, input, "weight", weight, nOutputPlane);
  checkSlopes(state, input, "gradWeight", gradWeight, nOutputPlane);
  THNN_RETURN_IF_FAILED(state);
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, NULL, input, gradOutput);
  THNN_TAKES_HALF_OF(state, input);
  THNN_TAKES_HALF_OF(state, gradOutput);
  THNN_RETURN_IF_META(state);
  if (nOutputPlane == 0) {
    double sum;
    THNN_SUM2(sum, x, input, g, gradOutput, x > 0 ? 0 : x * g);
    *TH_DATA(gradWeight) += (real)(scale * sum);
    return;
  }
  if (THNNTensor_numel(input) == 0) return;
  for (int64_t c = 0, n; c < nOutputPlane; c += n) {
    n = MIN(SUM_CHANNELS, nOutputPlane - c);
    THTensor x = channels(input, c, n), g = channels(gradOutput, c, n);
    addGradWeight(&x, &g, TH_DATA(gradWeight) + c * gradWeight->stride[0], gradWeight->stride[0], scale);
  }
}
