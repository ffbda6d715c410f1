"""From the header model to C: the dispatcher of libTHNN, the glue of the Python binding, and its cdef."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from thnn._header import Argument, Function, HeaderError, group_modules

BANNER = "/* Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit. */\n"

TYPES = ("Float", "Double")
# C type of a scalar, and how the glue reads it from Python.
SCALARS = {
    "int": ("int", "GLUE_INT"),
    "int64_t": ("int64_t", "GLUE_INT64"),
    "THIndex_t": ("int64_t", "GLUE_INT64"),
    "long": ("long", "GLUE_INT64"),
    "bool": ("bool", "GLUE_BOOL"),
    "accreal": ("double", "GLUE_DOUBLE"),
    "double": ("double", "GLUE_DOUBLE"),
}
TENSORS = {
    "THTensor*": "GLUE_REAL",
    "THAccrealTensor*": "GLUE_ACCREAL",
    "THIndexTensor*": "GLUE_INDEX",
    "THIntegerTensor*": "GLUE_INTEGER",
}


def _c_type(argument: Argument, real: str) -> str:
    if argument.type == "THTensor*":
        return f"TH{real}Tensor *"
    if argument.type.endswith("*"):
        return argument.type[:-1] + " *"
    return SCALARS[argument.type][0] + " "


def _parameters(function: Function, real: str) -> str:
    return ", ".join(_c_type(a, real) + a.name for a in function.arguments)


def check_supported(functions: Sequence[Function]) -> None:
    """Raises HeaderError at the first argument that the binding cannot pass."""
    for function in functions:
        for argument in function.arguments:
            if argument.type not in (*SCALARS, *TENSORS, "THNNState*"):
                raise HeaderError(argument.location, f"{argument.type} cannot be passed by the binding")
            if argument.is_tensor and argument.variable != argument.name:
                raise HeaderError(argument.location, f"no tensor can be called {argument.name!r} in Python")


def emit_dispatch(functions: Sequence[Function]) -> str:
    """lib/THNN/generated/dispatch.c: each public symbol, choosing its variant by instruction set."""
    return "".join(_dispatch(functions))


def _dispatch(functions: Sequence[Function]) -> Iterator[str]:
    yield BANNER
    yield '#include "runtime/dispatch.h"\n\n#define THNN_PUBLIC __attribute__((visibility("default")))\n'
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


def emit_declarations(functions: Sequence[Function]) -> dict[str, str]:
    """lib/THNN/generated/modules/<Module>.h: for kernel files, the declarations of their own module only."""
    return {
        name: "".join(_declarations(name, module.functions.values()))
        for name, module in group_modules(functions).items()
    }


def _declarations(name: str, functions: Iterable[Function]) -> Iterator[str]:
    guard = f"THNN_MODULES_{name.upper()}_H"
    yield BANNER
    yield f'#ifndef {guard}\n#define {guard}\n\n#include "runtime/kernel.h"\n\n'
    for function in functions:
        parameters = ", ".join(
            (a.type[:-1] + " *" if a.type.endswith("*") else SCALARS[a.type][0] + " ") + a.name
            for a in function.arguments
        )
        yield f"void THNN_({function.name})({parameters});\n"
    yield "\n#endif\n"


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
int thnn_open_exchange(uintptr_t capsule, uintptr_t get_num_threads, uintptr_t allocate);
int thnn_increment(uintptr_t tensor);
const char *thnn_message(void);
int thnn_request_count(void);
void thnn_request(int i, int64_t *out);
const char *THNN_capabilityName(void);
const char *THNN_environmentError(void);
"""
    for function in functions:
        yield f"int {function.name}(int flags, uintptr_t arguments);\n"


def emit_glue(functions: Sequence[Function], digest: str) -> str:
    """lib/THNN/generated/glue.c: one function per header function that takes a tuple."""
    return "".join(_glue(functions, digest))


def _glue(functions: Sequence[Function], digest: str) -> Iterator[str]:
    yield BANNER
    yield f"""
#include "THNN.h"
#include "runtime/dispatch.h"
#include "binding/dlpack.h"

static const char *const thnn_digest = "{digest}";
"""
    for function in functions:
        given = [a for a in function.arguments if a.role != "state"]
        kinds = [TENSORS[a.type] if a.is_tensor else SCALARS[a.type][1] for a in given]
        rows = [
            f"{{{kind}, {'true' if a.is_optional or a.role == 'buffer' else 'false'}, {position}}}"
            for position, (a, kind) in enumerate(zip(given, kinds), start=1)
        ]
        passed = ["state"] if len(given) < len(function.arguments) else []
        for i, kind in enumerate(kinds):
            if kind in TENSORS.values():
                passed.append(f"v[{i}].tensor")
            else:
                passed.append(
                    {"GLUE_DOUBLE": f"v[{i}].number", "GLUE_INT": f"(int)v[{i}].integer"}.get(
                        kind, f"v[{i}].integer"
                    )
                )
        yield f"\nstatic int {function.name}(int flags, uintptr_t arguments)\n{{\n"
        yield f"  static const GlueArgument expected[] = {{{', '.join(rows)}}};\n"
        yield f"  THNNTensor views[{sum(kind in TENSORS.values() for kind in kinds)}];\n"
        yield f"  GlueValue v[{len(given)}];\n"
        yield "  THNNState *state = THNN_lastState();\n"
        yield f"  int type = thnn_unpack(state, flags, arguments, {len(given)}, expected, views, v);\n"
        yield "  if (type < 0) return state->status;\n"
        yield f"  if (type == THNN_TYPE_FLOAT) THNN_Float{function.name}({', '.join(passed)});\n"
        yield f"  else THNN_Double{function.name}({', '.join(passed)});\n"
        yield "  return state->status;\n}\n"
