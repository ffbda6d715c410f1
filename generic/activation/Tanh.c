#include "modules/Tanh.h"
#include "elementwise/map.h"
#include "simd/vector_math.h"
#include "pointwise.h"

void THNN_(Tanh_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  THNN_MAP2(y, output, x, input, Tanh(x));
}

void THNN_(Tanh_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 THTensor *output)
{
  (void)input;
  THNN_CHECK_SAME_SIZE(output, gradOutput);
  THNN_RESIZE_LIKE(gradInput, output);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, output);
  THNN_RETURN_IF_META(state);
  THNN_MAP3(dx, gradInput, y, output, g, gradOutput, Tanh_grad(y, g));
}
