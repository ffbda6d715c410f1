#include "modules/GatedLinear.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"

static void checkHalves(THNNState *state, const THTensor *input, int dim)
{
  THNN_CHECK(dim >= 0 && dim < input->ndim, dim, "expected a dimension of input, %s, got %d", THNN_shape(input),
             dim);
  THNN_CHECK(input->size[dim] % 2 == 0, input, "expected an even size in dimension %d, got %s", dim,
             THNN_shape(input));
}

/* Half 0 or 1 along a dimension. */
static THTensor halfOf(const THTensor *tensor, int dim, int which)
{
  THTensor half = *tensor;
  half.size[dim] /= 2;
  const int64_t bytes = (int64_t)THNNTensor_elementSize(tensor);
  if (half.data != NULL) half.data = (char *)tensor->data + which * half.size[dim] * tensor->stride[dim] * bytes;
  return half;
}

void THNN_(GatedLinear_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int dim)
{
  checkHalves(state, input, dim);
  THNN_RETURN_IF_FAILED(state);
  const THTensor a = halfOf(input, dim, 0), b = halfOf(input, dim, 1);
  THNN_resize(state, "output", output, a.ndim, a.size,
              THNNTensor_isChannelsLast(input) ? THNN_CHANNELS_LAST : THNN_CONTIGUOUS);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  THNN_MAP3(y, output, x, &a, gate, &b, x * th_sigmoid(gate));
}

void THNN_(GatedLinear_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput,
                                        THTensor *gradInput, int dim)
{
  checkHalves(state, input, dim);
  THNN_RETURN_IF_FAILED(state);
  const THTensor a = halfOf(input, dim, 0), b = halfOf(input, dim, 1);
  thnn_checkGradOutput(state, gradOutput, a.ndim, a.size);
  THNN_RETURN_IF_FAILED(state);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, input);
  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);
  THNN_TAKES_HALF(state);
  THNN_RETURN_IF_META(state);
  const THTensor da = halfOf(gradInput, dim, 0), db = halfOf(gradInput, dim, 1);
  THNNMap first, second;
  thnn_mapBegin(&first, sizeof(real), true, 3, (const THNNTensor *const[]){&da, gradOutput, &b});
  thnn_mapBegin(&second, sizeof(real), true, 3, (const THNNTensor *const[]){&db, gradOutput, &a});
  THNN_MAP_FOR(block, first, {
    real s[THNN_MAP_BLOCK]; /* sigmoid of the gates */
    THNN_MAP_BLOCK3(first, block, g, gate, g * (s[thnn_at] = th_sigmoid(gate)))
    THNN_MAP_BLOCK3(second, block, g, x, g * x * s[thnn_at] * (1 - s[thnn_at]))
  })
}
