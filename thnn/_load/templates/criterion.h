/* NAME: the sum of log(cosh(input - target)), divided by the number of elements if sizeAverage.

   Shapes: input and target with the same number of elements, paired in row-major order; output one element.
   Errors: ValueError for numbers of elements that differ. */
TH_API void THNN_(NAME_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, any shape
    THTensor *target,   // [TARGET] with as many elements as input
    THTensor *output,   // [OUT] the loss, one element
    bool sizeAverage);  // [DEFAULT true] divide by the number of elements

/* Gradient of NAME w.r.t. its input: tanh(input - target), divided by the number of elements if sizeAverage. */
TH_API void THNN_(NAME_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input, any shape
    THTensor *target,     // [TARGET] with as many elements as input
    THTensor *gradInput,  // [OUT] [LIKE input] dL/dinput
    bool sizeAverage);    // divide by the number of elements
