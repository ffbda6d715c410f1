#include "modules/Im2Col.h"
#include "unfolding/unfolding_module.h"

void THNN_(Im2Col_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int kH, int kW, int dH,
                                int dW, int padH, int padW, int sH, int sW)
{
  THNN_(imagesToColumns)(state, "input", input, "output", output,
                         (UnfoldingWindow){kH, kW, sH, sW, padH, padW, dH, dW});
}

void THNN_(Im2Col_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput, int inputHeight,
                                   int inputWidth, int kH, int kW, int dH, int dW, int padH, int padW, int sH,
                                   int sW)
{
  THNN_(columnsToImages)(state, "gradOutput", gradOutput, "gradInput", gradInput, "inputHeight", inputHeight,
                         "inputWidth", inputWidth, (UnfoldingWindow){kH, kW, sH, sW, padH, padW, dH, dW});
}
