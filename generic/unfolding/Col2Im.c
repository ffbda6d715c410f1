#include "modules/Col2Im.h"
#include "unfolding/im2col_checks.h"

void THNN_(Col2Im_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputHeight,
                                int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH,
                                int sW)
{
  foldColumns(state, "input", input, "output", output, "outputHeight", outputHeight, "outputWidth", outputWidth,
              kH, kW, dH, dW, padH, padW, sH, sW);
}

void THNN_(Col2Im_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int kH, int kW,
                                   int dH, int dW, int padH, int padW, int sH, int sW)
{
  unfoldImages(state, "gradOutput", gradOutput, "gradInput", gradInput, kH, kW, dH, dW, padH, padW, sH, sW);
}
