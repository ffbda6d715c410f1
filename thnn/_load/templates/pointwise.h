/* NAME: output = input * sigmoid(beta * input).

   Shapes: input and output have the same size. */
TH_API void THNN_(NAME_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output,  // [OUT] [LIKE input] result
    accreal beta);     // [DEFAULT 1] factor inside the sigmoid

/* Gradient of NAME w.r.t. its input. */
TH_API void THNN_(NAME_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input, any shape
    THTensor *gradOutput,  // dL/doutput, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] dL/dinput
    accreal beta);         // factor inside the sigmoid
