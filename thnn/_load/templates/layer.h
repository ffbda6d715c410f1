/* NAME: every channel times a number, plus a number.

     output[n,c,...] = input[n,c,...] * weight[c] + bias[c]

   Shapes: input (N, C) or (N, C, ...); weight and bias (C).
   Errors: ValueError for fewer than 2 dimensions and for sizes that do not fit.
   [DERIVATIVE bilinear] */
TH_API void THNN_(NAME_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input (N, C, ...)
    THTensor *output,  // [OUT] [LIKE input] result
    THTensor *weight,  // factor of each channel (C)
    THTensor *bias);   // shift of each channel (C)

/* Gradient of NAME w.r.t. its input: gradOutput * weight. */
TH_API void THNN_(NAME_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // dL/doutput, sized as output
    THTensor *gradInput,   // [OUT] [LIKE input] dL/dinput
    THTensor *weight);     // factor of each channel (C)

/* Gradients of NAME w.r.t. its parameters, accumulated: gradWeight[c] += scale * the sum of gradOutput * input over
   the channel; gradBias[c] += scale * the sum of gradOutput. */
TH_API void THNN_(NAME_accGradParameters)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // dL/doutput, sized as output
    THTensor *gradWeight,  // [MODIFIED] (C)
    THTensor *gradBias,    // [MODIFIED] (C)
    accreal scale);        // factor of the gradients added
