#include "modules/Col2Im.h"
#include "unfolding/unfolding_module.h"

void THNN_(Col2Im_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int outputHeight,
                                int outputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH,
                                int sW)
{
  THNN_(columnsToImages)(state, "input", input, "output", output, "outputHeight", outputHeight, "outputWidth",
                         outputWidth, (UnfoldingWindow){kH, kW, sH, sW, padH, padW, dH, dW});
}

void THNN_(Col2Im_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int kH, int kW,
                                   int dH, int dW, int padH, int padW, int sH, int sW)
{
  THNN_(imagesToColumns)(state, "gradOutput", gradOutput, "gradInput", gradInput,
                         (UnfoldingWindow){kH, kW, sH, sW, padH, padW, dH, dW});
}
