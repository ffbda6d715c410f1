"""A header and its kernel file."""

HEADER = """\
/* Cube: output = gain * input^3. */
TH_API void THNN_(Cube_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output,  // [OUT] [LIKE input] result
    accreal gain);   // [DEFAULT 1] gain
TH_API void THNN_(Cube_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss by output
    THTensor *gradInput,   // [OUT] [LIKE input] gradient of the loss by input
    accreal gain);       // gain
"""

KERNEL = """\
#include "pointwise.h"

POINTWISE(Cube, (SCALAR(gain)), FROM_INPUT, gain * x * x * x, 3 * gain * x * x * g)
"""
