/* NAME: means of windows of kW elements, dW apart, along the last dimension.

     output[n,c,t] = 1/kW * sum_k input[n,c,t*dW+k]

   Shapes: input (N, C, T); output (N, C, (T - kW) / dW + 1).
   Errors: ValueError for another number of dimensions, for kW or dW below 1, and if no window fits.
   [DERIVATIVE linear] */
TH_API void THNN_(NAME_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, T)
    THTensor *output,  // [OUT] means
    int kW,            // size of a window
    int dW);           // distance of neighbouring windows

/* Gradient of NAME w.r.t. its input. */
TH_API void THNN_(NAME_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input (N, C, T)
    THTensor *gradOutput,  // dL/doutput, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] dL/dinput
    int kW,                // size of a window
    int dW);               // distance of neighbouring windows
