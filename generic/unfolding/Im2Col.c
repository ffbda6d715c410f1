#include "modules/Im2Col.h"
#include "unfolding/im2col_checks.h"

void THNN_(Im2Col_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kH, int kW, int dH,
                                int dW, int padH, int padW, int sH, int sW)
{
  unfoldImages(state, "input", input, "output", output, kH, kW, dH, dW, padH, padW, sH, sW);
}

void THNN_(Im2Col_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int inputHeight,
                                   int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH,
                                   int sW)
{
  foldColumns(state, "gradOutput", gradOutput, "gradInput", gradInput, "inputHeight", inputHeight, "inputWidth",
              inputWidth, kH, kW, dH, dW, padH, padW, sH, sW);
}
