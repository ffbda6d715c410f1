"""Headers that several test files use."""

from __future__ import annotations

from pathlib import Path

from thnn._header import Function, parse_header_text

THNN_2017 = Path(__file__).resolve().parent.parent / "data" / "thnn_2017.h"


def parse_one(text: str) -> Function:
    (function,) = parse_header_text(text, "h")
    return function


# One function in the different styles of headers.
STYLES = {
    "2017": """
        TH_API void THNN_(A_updateOutput)(
                  THNNState *state,            // library's state
                  THTensor *input,             // input, values in [0,1]
                  THTensor *output,            // [OUT] output
                  THTensor *bias,              // [OPTIONAL] bias [N]
                  bool inplace);""",
    "one line": "void A_updateOutput(THNNState*state,THTensor*input,THTensor*output,"
    "THTensor*bias/*[OPTIONAL]*/,bool inplace);",
    "repr": "A_updateOutput(THNNState* state, THTensor* input, THTensor* output, "
    "THTensor* bias /*[optional]*/, bool inplace)",
    "before": """
        TH_EXTERNC void THNN_(A_updateOutput)(
            THNNState * state, const THTensor *input, THTensor* const output,
            /* [OPTIONAL] the
               bias */
            THTensor *bias,
            bool inplace)
        ;""",
    "after a comma": "void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,\n"
    "  THTensor *bias, // [OPTIONAL]\n  bool inplace);",
    "several on a line": "void A_updateOutput(THNNState *state, THTensor *input, // prose\n"
    "  THTensor *output, THTensor *bias, // [OPTIONAL]\n  bool inplace);",
    "before on the line": "void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,"
    " /* [OPTIONAL] */ THTensor *bias, bool inplace);",
    "inside": "extern void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,"
    " THTensor /* [OPTIONAL] */ *bias, bool inplace);",
    "second line": """
        void A_updateOutput(THNNState *state, THTensor *input, THTensor *output,
            THTensor *bias,   // the bias,
                              // [OPTIONAL]
            bool inplace);""",
    "comma first": """
        void A_updateOutput(
            THNNState *state
          , THTensor *input
          , THTensor *output
          , THTensor *bias  // [OPTIONAL]
          , bool inplace
        );""",
    "guards": """
        #ifndef GUARD /* [NOTATAG] */
        #define GUARD "generic/THNN.h"
        #else
        #pragma once
        #define TH_API
        #
        typedef struct THNNState THNNState;
        typedef long THIndex_t;
        #ifdef __cplusplus
        extern "C" {
        #endif
        #if 0
        #include "what.h"
        #if this
        what is /* this ( */
        #elif that
        #endif
        #else
        ;
        #endif
        #ifndef __cplusplus
        TH_API void THNN_(A_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
        #if 1
            THTensor *bias,  // [OPTIONAL]
        #else
            THTensor *shift,
        #endif
            bool inplace);
        #endif
        #if defined(__cplusplus)
        }
        #endif
        #endif""",
    "continued": "void A_updateOutput(THNNState *state, \\\n  THTensor *input, THTensor *output, \\\n"
    "  THTensor *bias, /* [OPTIONAL] */ \\\n bool inplace);",
}
