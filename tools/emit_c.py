"""From the header model to C: the dispatcher of libTHNN, the glue of the Python binding, and its cdef."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thnn._header import Argument, Function, HeaderError

BANNER = "/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */\n"

TYPES = ("Float", "Double")
SCALARS = {
    "int": "int",
    "int64_t": "int64_t",
    "THIndex_t": "int64_t",
    "long": "long",
    "bool": "bool",
    "accreal": "double",
    "real": "double",
    "double": "double",
    "float": "float",
}
KINDS = {"THTensor*": "GLUE_REAL", "THIndexTensor*": "GLUE_INDEX", "THIntegerTensor*": "GLUE_INTEGER"}


def _c_type(argument: Argument, real: str) -> str:
    if argument.type == "THTensor*":
        return f"TH{real}Tensor *"
    if argument.type.endswith("*"):
        return argument.type[:-1] + " *"
    return SCALARS[argument.type] + " "


def _parameters(function: Function, real: str) -> str:
    return ", ".join(_c_type(a, real) + a.name for a in function.arguments)


def check_supported(functions: Sequence[Function]) -> None:
    """Raises HeaderError at the first argument whose type the binding cannot pass."""
    for function in functions:
        for argument in function.arguments:
            if argument.type not in (*SCALARS, *KINDS, "THNNState*"):
                raise HeaderError(argument.location, f"{argument.type} cannot be passed by the binding")


def emit_dispatch(functions: Sequence[Function]) -> str:
    """lib/THNN/generated/dispatch.c: each public symbol, choosing its variant by instruction set."""
    return "".join(_dispatch(functions))


def _dispatch(functions: Sequence[Function]) -> Iterator[str]:
    yield BANNER
    yield '#include "../dispatch.h"\n\n#define THNN_PUBLIC __attribute__((visibility("default")))\n'
    for function in functions:
        for real in TYPES:
            symbol, parameters = f"THNN_{real}{function.name}", _parameters(function, real)
            arguments = ", ".join(a.name for a in function.arguments)
            takes_state = any(a.role == "state" for a in function.arguments)
            yield f"\nTHNN_VARIANTS({symbol}, {parameters});\n"
            yield f"THNN_PUBLIC void {symbol}({parameters})\n{{\n"
            if not takes_state:
                yield "  THNNState *state = NULL;\n"
            yield f'  THNN_DISPATCH({symbol}, "{function.name}", {arguments});\n}}\n'


def emit_cdef(functions: Sequence[Function]) -> str:
    """lib/THNN/generated/cdef.h: what Python sees of the binding."""
    return "".join(_cdef(functions))


def _cdef(functions: Sequence[Function]) -> Iterator[str]:
    yield BANNER
    yield """
static const char *const thnn_digest;
typedef struct {
  void *data;
  int32_t type;
  int32_t ndim;
  int32_t argument;
  int64_t size[64];
  int64_t stride[64];
} THNNTensor;
int thnn_open_exchange(uintptr_t capsule, uintptr_t get_num_threads);
const char *thnn_message(void);
int thnn_request_count(void);
void thnn_request(int i, int64_t *out);
const char *THNN_capabilityName(void);
const char *THNN_capabilityError(void);
double THNN_peakFlops(int type, double seconds);
double THNN_copyBandwidth(int64_t bytes, double seconds);
"""
    for function in functions:
        yield f"int {function.name}({_glue_parameters(function)});\n"


def _glue_parameters(function: Function) -> str:
    scalars = [
        f"{SCALARS[a.type]} {a.name}" for a in function.arguments if not a.is_tensor and a.role != "state"
    ]
    return ", ".join(["int flags", "uintptr_t tensors", *scalars])


def emit_glue(functions: Sequence[Function], digest: str) -> str:
    """lib/THNN/generated/glue.c: one function per header function that takes its tensors as one."""
    return "".join(_glue(functions, digest))


def _glue(functions: Sequence[Function], digest: str) -> Iterator[str]:
    yield BANNER
    yield f"""
#include "../THNN.h"
#include "../benchmark.h"
#include "../dispatch.h"
#include "../python/exchange.h"

static const char *const thnn_digest = "{digest}";
"""
    for function in functions:
        tensors = [(i, a) for i, a in enumerate(function.arguments) if a.is_tensor]
        yield f"\nstatic int {function.name}({_glue_parameters(function)})\n{{\n"
        yield "  static const GlueArgument arguments[] = {"
        # Positions count from the state even in functions that take none.
        shift = 0 if function.arguments[0].role == "state" else 1
        yield ", ".join(
            f"{{{KINDS[a.type]}, {'true' if a.is_optional or a.role == 'buffer' else 'false'}, {i + shift}}}"
            for i, a in tensors
        )
        yield "};\n"
        n = len(tensors)
        yield f"  THNNTensor views[{n}], *t[{n}];\n"
        yield "  THNNState *state = THNN_lastState();\n"
        yield f"  int type = thnn_unpack(state, flags, tensors, {n}, arguments, views, t);\n"
        yield "  if (type < 0) return state->status;\n"
        position = {a.name: k for k, (_, a) in enumerate(tensors)}
        passed = ", ".join(
            "state" if a.role == "state" else f"t[{position[a.name]}]" if a.is_tensor else a.name
            for a in function.arguments
        )
        yield f"  if (type == THNN_TYPE_FLOAT) THNN_Float{function.name}({passed});\n"
        yield f"  else THNN_Double{function.name}({passed});\n"
        yield "  return state->status;\n}\n"
