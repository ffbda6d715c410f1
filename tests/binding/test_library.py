"""A library other than the package's: its own header, kernels and table, called through the same binding."""

from __future__ import annotations

import shutil
import subprocess
import threading
from pathlib import Path

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import thnn
from thnn._binding.backend import Backend
from thnn._binding.library import ANY, FLOAT, Library
from thnn._emit.c import emit_functions
from thnn._functions.generate import _make_function_class
from thnn._header import group_modules, parse_header

ROOT = Path(__file__).resolve().parent.parent.parent

HEADER = """
/* Scale: output = factor * input, through a buffer of the size of input that the kernel requests. */
TH_API void THNN_(Scale_updateOutput)(
    THNNState *state,   // library state
    THTensor *input,    // input, contiguous
    THTensor *output,   // [OUT] [LIKE input] result
    THTensor *scratch,  // [BUFFER] sized as input
    double factor);     // factor
TH_API void THNN_(Scale_updateGradInput)(
    THNNState *state,      // library state
    THTensor *gradOutput,  // gradient of the loss by output
    THTensor *gradInput,   // [OUT] gradient of the loss by input
    THTensor *scratch,     // [BUFFER] sized as input
    double factor);        // factor
"""

KERNELS = r"""
#include "runtime/function_table.h"

static void scale(THNNState *state, const THNNTensor *x, THNNTensor *y, THNNTensor *scratch, double factor)
{
  if (factor != factor) return THNN_fail(state, THNN_VALUE_ERROR, "factor", "expected a number, got NaN");
  THNN_resizeLike(state, "output", y, x);
  THNN_resize(state, "scratch", scratch, x->ndim, x->size, THNN_CONTIGUOUS);
  if (state->status != THNN_OK || state->meta) return;
  for (int64_t i = 0; i < THNNTensor_numel(x); i++) ((float *)scratch->data)[i] = ((float *)x->data)[i];
  for (int64_t i = 0; i < THNNTensor_numel(x); i++) ((float *)y->data)[i] = (float)factor * ((float *)scratch->data)[i];
}

#define THTensor THNNTensor
static void Scale_updateOutput(THNNState *state, THTensor *input, THTensor *output, THTensor *scratch, double factor)
{
  scale(state, input, output, scratch, factor);
}
static void Scale_updateGradInput(THNNState *state, THTensor *gradOutput, THTensor *gradInput, THTensor *scratch,
                                  double factor)
{
  scale(state, gradOutput, gradInput, scratch, factor);
}

#define THNN_FUNCTION(name, letters, arguments, tensors, parameters, names, values) \
  static void call_##name(THNNState *state, const THNNValue *v) { THNNState_begin(state, #name); name values; }
#include "functions.inc"
#undef THNN_FUNCTION
#define THNN_FUNCTION(name, letters, arguments, tensors, ...) {#name, letters, arguments, tensors, {call_##name}},
static const THNNFunction functions[] = {
#include "functions.inc"
};
static const char *capability(void) { return "plain"; }
static const char *environmentError(void) { return NULL; }
const THNNLibrary *THNN_library(void)
{
  static const THNNLibrary library = {THNN_ABI, THNN_DEVICE_CPU, sizeof functions / sizeof functions[0],
                                      THNN_HEADER_DIGEST, functions, capability, environmentError};
  return &library;
}
"""


@pytest.fixture(scope="module")
def scale(tmp_path_factory: pytest.TempPathFactory) -> tuple[Library, dict]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("scale")
    (folder / "Scale.h").write_text(HEADER)
    (folder / "scale.c").write_text(KERNELS)
    functions = parse_header(str(folder / "Scale.h"))
    (folder / "functions.inc").write_text(emit_functions(functions, "digest of Scale.h"))
    runtime = ROOT / "lib/THNN/runtime"
    sources = [folder / "scale.c", runtime / "state.c", runtime / "tensor.c"]
    output = folder / "libscale.so"
    command = [compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", f"-I{ROOT / 'lib/THNN'}", f"-I{folder}"]
    subprocess.run([*command, *map(str, sources), "-o", str(output)], check=True)
    return Library(output), {f.name: f for f in functions}


def test_table(scale: tuple[Library, dict]) -> None:
    library, _ = scale
    assert library.digest == "digest of Scale.h"
    assert repr(library) == "<libscale.so: 2 functions, cpu, plain>"


def test_backend_of_another_library(scale: tuple[Library, dict]) -> None:
    library, functions = scale
    backend = Backend("ScaleBackend", FLOAT, library, functions)
    x, y, scratch = torch.randn(3, 4), torch.empty(0), torch.empty(0)
    backend.Scale_updateOutput(0, x, y, scratch, 2)
    assert y.equal(2 * x)
    assert scratch.equal(x)  # the caller's tensor, which the call has resized
    backend.Scale_updateOutput(0, x, y, None, 3)  # requested from torch's allocator
    assert y.equal(3 * x)
    with pytest.raises(ValueError, match="Scale_updateOutput: factor: expected a number, got NaN"):
        backend.Scale_updateOutput(0, x, y, None, float("nan"))
    with pytest.raises(TypeError, match=r"input: expected torch\.float32"):
        backend.Scale_updateOutput(0, x.double(), y, None, 2)
    assert not hasattr(backend, "Tanh_updateOutput")


def test_class_of_another_library(scale: tuple[Library, dict]) -> None:
    library, functions = scale
    cls = _make_function_class(group_modules(functions.values())["Scale"], library=library)
    x = torch.randn(5, requires_grad=True)
    cls.apply(x, 2.5).backward(torch.ones(5))
    assert x.grad is not None
    assert x.grad.equal(torch.full((5,), 2.5))
    assert cls.apply(torch.randn(2, 3, device="meta"), 2.0).shape == (2, 3)


STATELESS = r"""
#include <stdio.h>
#include <string.h>
#include "runtime/function_table.h"

static void *allocate(THNNState *state, int64_t bytes) { return (void)state, (void)bytes, NULL; }

int main(void)
{
  const THNNLibrary *library = THNN_library();
  const THNNFunction *f = library->functions;
  while (strcmp(f->name, "unfolded_copy") != 0) f++;
  int64_t size[1] = {2};
  float data[2] = {0};
  THNNTensor a, b;
  THNNTensor_init(&a, THNN_TYPE_FLOAT, data, 1, size);
  THNNTensor_init(&b, THNN_TYPE_FLOAT, data, 1, size);
  THNNValue values[13] = {{&a}, {&b}};
  int stream = 0, factor = 0, memory = 0;
  THNNState state = {.stream = &stream, .meta = true, .gradientFactor = &factor, .allocate = allocate,
                     .allocations = &memory};
  f->call[0](&state, values);
  puts(state.message);
  return !(state.status == THNN_VALUE_ERROR && state.meta && state.stream == &stream && state.allocate == allocate &&
           state.gradientFactor == &factor && state.allocations == &memory);
}
"""


def test_a_function_without_state_leaves_the_fields_of_the_caller(tmp_path: Path) -> None:
    (tmp_path / "stateless.c").write_text(STATELESS)
    package = Path(thnn.__file__).parent
    command = ["cc", "-std=gnu11", f"-I{ROOT / 'lib/THNN'}", str(tmp_path / "stateless.c")]
    links = [str(package / "libTHNN.so"), f"-Wl,-rpath,{package}", "-o", str(tmp_path / "stateless")]
    subprocess.run([*command, *links], check=True)
    done = subprocess.run([tmp_path / "stateless"], capture_output=True, text=True)
    assert done.stdout.startswith("unfolded_copy: ")
    assert done.returncode == 0


def test_files_that_are_no_library(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="cannot open shared object"):
        Library(tmp_path / "missing.so")
    empty = tmp_path / "empty.so"
    (tmp_path / "empty.c").write_text("int unused;\n")
    subprocess.run(["cc", "-shared", "-fPIC", str(tmp_path / "empty.c"), "-o", str(empty)], check=True)
    with pytest.raises(ImportError, match="has no THNN_library"):
        Library(empty)


def test_calls_may_be_nested() -> None:
    """A dispatch mode that calls thnn runs between a request for memory and the repeated call."""

    class Nested(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            with pytest.raises(ValueError, match="kernel"):
                backend.SpatialMaxPooling_updateOutput(0, image, out, indices, 0, 2, 2, 2, 0, 0, False)
            return function(*args, **(kwargs or {}))

    backend = thnn.type2backend["torch.FloatTensor"]
    image, out, indices = torch.randn(1, 2, 4, 4), torch.empty(0), torch.empty(0, dtype=torch.int64)
    x = torch.randn(2, 3, 8, 8)
    expected = torch.nn.functional.max_pool2d(x, 2)
    with Nested():
        y = thnn.SpatialMaxPoolingFunction.apply(x, 2, 2, 2, 2, 0, 0)
    assert y.equal(expected)


def test_errors_of_threads_do_not_mix() -> None:
    backend = thnn.type2backend["torch.FloatTensor"]
    failures: list[str] = []

    def work(kernel: int) -> None:
        x, out, indices = torch.randn(1, 1, 4, 4), torch.empty(0), torch.empty(0, dtype=torch.int64)
        for _ in range(300):
            try:
                backend.SpatialMaxPooling_updateOutput(0, x, out, indices, kernel, 2, 2, 2, 0, 0, False)
            except ValueError as error:  # noqa: PERF203
                if f"got {kernel}" not in str(error):
                    failures.append(str(error))

    threads = [threading.Thread(target=work, args=(-k,)) for k in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_any_is_no_element_type() -> None:
    assert ANY not in (0, 1, 2, 3)
