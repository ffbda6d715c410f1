"""thnn.load with CUDA sources, whose kernels the emulation runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import thnn
from thnn._load.templates import write

HEADER = """\
/* Square: output = input^2. */
TH_API void THNN_(Square_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *output); // [OUT] [LIKE input] result
TH_API void THNN_(Square_updateGradInput)(
    THNNState *state,      // library state
    THTensor *input,       // input
    THTensor *gradOutput,  // gradient of the loss by output
    THTensor *gradInput);  // [OUT] [LIKE input] gradient of the loss by input
"""
# The checks, and no kernels for the CPU.
CHECKS = """\
#include "runtime/check.h"

static void refuse(THNNState *state)
{
  THNN_fail(state, THNN_NOT_IMPLEMENTED, NULL, "there is no kernel for the CPU");
}
void THNN_(Square_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_RETURN_IF_META(state);
  refuse(state);
}
void THNN_(Square_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput)
{
  THNN_CHECK_SAME_SIZE(input, gradOutput);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_RETURN_IF_META(state);
  refuse(state);
}
"""
KERNELS = """\
#include "elementwise/map.h"

void THNN_(Square_updateOutput)(THNNState *state, THTensor *input, THTensor *output)
{
  THNN_MAP2(y, output, x, input, x * x);
}
void THNN_(Square_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput)
{
  THNN_MAP3(dx, gradInput, x, input, g, gradOutput, 2 * x * g);
}
"""
LINES = '#include "pointwise.h"\n/* no THNN_( */ POINTWISE(Square, (), FROM_INPUT, x * x, 2 * x * g)\n'


@pytest.fixture(scope="module", autouse=True)
def _cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("THNN_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def files(folder: Path, kernels: str | None = KERNELS, checks: str = CHECKS, header: str = HEADER) -> Path:
    """Writes the files; returns the path of the header."""
    path = folder / "Square.h"
    path.write_text(header)
    path.with_suffix(".c").write_text(checks)
    if kernels is not None:
        path.with_suffix(".cu").write_text(kernels)
    return path


def compile_error(header: Path) -> str:
    with pytest.raises(thnn.CompileError) as raised:
        thnn.load(header)
    return str(raised.value)


def test_a_cuda_source_computes(tmp_path: Path) -> None:
    header = files(tmp_path)
    own = thnn.load(header)
    x = torch.randn(3, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(own.SquareFunction(), x)
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        given = x.detach().to(dtype)
        assert torch.equal(own.SquareFunction.apply(given), given * given)
    assert torch.equal(own.SquareFunction.apply(x.t()), (x * x).t())
    output = torch.empty(0)
    own.type2backend["THCUNNHalfBackend"].Square_updateOutput(0, x.detach().half(), output := output.half())
    assert output.shape == x.shape
    with pytest.raises(ValueError, match=r"^Square_updateGradInput: gradOutput: "):
        own.type2backend[torch.float32].Square_updateGradInput(0, torch.ones(2), torch.ones(3), torch.ones(2))
    assert own.sources == (header.with_suffix(".c"), header.with_suffix(".cu"))
    assert "THNN_MAP3(dx" in own.source


def test_objects_of_old_kernels_go_on_working(tmp_path: Path) -> None:
    header = files(tmp_path)
    old = thnn.load(header)
    files(tmp_path, KERNELS.replace("x * x)", "x * x + 1)"))
    new = thnn.load(header)
    for own, expected in ((old, 9.0), (new, 10.0)):
        assert own.SquareFunction.apply(torch.tensor([3.0])).item() == expected


def test_lines_of_pointwise_are_compiled_as_they_stand(tmp_path: Path) -> None:
    own = thnn.load(files(tmp_path, None, LINES))
    x = torch.tensor([3.0], dtype=torch.bfloat16)
    assert own.SquareFunction.apply(x).item() == 9


# With the names of constants that a criterion computes.
CRITERION_HEADER = """\
/* ScaledCriterion: output = factor * sum of (input - target)^scale. */
TH_API void THNN_(ScaledCriterion_updateOutput)(
    THNNState *state,  // library state
    THTensor *input,   // input, any shape
    THTensor *target,  // as many elements as input
    THTensor *output,  // [OUT] loss, one element
    bool sizeAverage,  // divide by the number of elements
    accreal scale,     // exponent
    accreal factor);   // factor of the sum
TH_API void THNN_(ScaledCriterion_updateGradInput)(
    THNNState *state,     // library state
    THTensor *input,      // input
    THTensor *target,     // target
    THTensor *gradInput,  // [OUT] [LIKE input] gradient of the loss by input
    bool sizeAverage,     // as in the forward
    accreal scale,        // as in the forward
    accreal factor);      // as in the forward
"""
CRITERION = """\
#include "pointwise.h"
CRITERION(ScaledCriterion, (SCALAR(scale), SCALAR(factor)), factor * (real)pow(x - t, scale),
          norm * factor * scale * (real)pow(x - t, scale - 1))
"""


def test_scalars_with_the_names_of_constants_of_criteria(tmp_path: Path) -> None:
    header = files(tmp_path, None, CRITERION, CRITERION_HEADER)
    own = thnn.load(header.rename(tmp_path / "ScaledCriterion.h"), tmp_path / "Square.c")
    x = torch.tensor([3.0, 5.0], requires_grad=True)
    loss = own.ScaledCriterionFunction.apply(x, torch.ones(2), True, 3, 10)
    (gradient,) = torch.autograd.grad(loss, x)
    assert (loss.item(), gradient.tolist()) == (360, [60, 240])


def test_a_header_without_cuda_sources_computes_on_the_cpu(tmp_path: Path) -> None:
    own = thnn.load(files(tmp_path, None, LINES + "static void THNN_(unused)(void) {}\n"))
    assert own.SquareFunction.apply(torch.tensor([3.0])).item() == 9
    assert own.SquareFunction.apply(torch.tensor([3.0]).half()).item() == 9


def test_errors_of_the_compiler(tmp_path: Path) -> None:
    header = files(tmp_path, KERNELS.replace("2 * x * g", "2 * y"))
    text = compile_error(header)
    assert f"{header.with_suffix('.cu')}:9:" in text
    assert "'y' was not declared" in text


def test_a_prototype_that_differs_from_the_header(tmp_path: Path) -> None:
    header = files(tmp_path, KERNELS.replace("THTensor *output)\n", "THTensor *output, int n)\n"))
    assert compile_error(header) == (
        f"{header.with_suffix('.cu')}:3: THNN_(Square_updateOutput) has the arguments (THNNState*, THTensor*,"
        f" THTensor*, int), but is declared at {header}:2:19 with (THNNState*, THTensor*, THTensor*)"
    )


def test_a_prototype_with_another_type_of_tensor(tmp_path: Path) -> None:
    header = files(tmp_path, KERNELS.replace("THTensor *output)\n", "THIndexTensor *output)\n"))
    assert compile_error(header) == (
        f"{header.with_suffix('.cu')}:3: THNN_(Square_updateOutput) has 'THIndexTensor *output', but 'output' is"
        f" declared at {header}:5:5 as 'THTensor*'"
    )


def test_a_missing_kernel(tmp_path: Path) -> None:
    header = files(tmp_path, KERNELS.replace("THNN_(Square_updateGradInput)", "THNN_(Square_updateGrad)"))
    assert compile_error(header) == (
        f"Square_updateGradInput: declared at {header}:6:19, and no kernel file for CUDA (Square.cu) defines "
        "THNN_(Square_updateGradInput)"
    )


def test_a_module_without_a_kernel(tmp_path: Path) -> None:
    text = HEADER + HEADER.replace("Square", "Third")
    header = files(tmp_path, KERNELS, CHECKS, text)
    (tmp_path / "Third.c").write_text(CHECKS.replace("Square", "Third"))
    own = thnn.load(header)
    assert own.SquareFunction.apply(torch.tensor([3.0])).item() == 9
    with pytest.raises(NotImplementedError, match=r"^Third_updateOutput: none of .* \(Square\.cu\)"):
        own.ThirdFunction.apply(torch.tensor([3.0]))


def test_fast_math_in_the_command_of_the_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "g++ -ffast-math")
    own = thnn.load(files(tmp_path))
    assert own.SquareFunction.apply(torch.tensor([3.0])).item() == 9
    assert (
        torch.tensor(5e-324, dtype=torch.float64).mul(1).item() > 0
    )  # the library did not change the process


def test_flags_of_nvcc(tmp_path: Path) -> None:
    header = files(tmp_path, KERNELS.replace("x * x)", "x * FACTOR)"))
    own = thnn.load(header, extra_cuda_cflags=["--use_fast_math", "-DFACTOR=5"])
    assert own.SquareFunction.apply(torch.tensor([3.0])).item() == 15


def test_the_layer_of_new(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written = write("Affine", "layer", tmp_path, package=False, cuda=True)
    assert tmp_path / "Affine.cu" in written
    assert thnn.load(tmp_path / "Affine.h").check()
    assert "float16" in capsys.readouterr().out


def test_sanitizer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("Box", "window", tmp_path, package=False, cuda=True)
    source = tmp_path / "Box.cu"
    source.write_text(source.read_text().replace("first + k * x.stride[2]", "first + (k + 1) * x.stride[2]"))
    line = 1 + source.read_text().splitlines().index(
        "    for (int k = 0; k < kW; k++) sum += thcunn::load(first + (k + 1) * x.stride[2]);"
    )
    assert not thnn.load(tmp_path / "Box.h").check(sanitize=True)
    printed = capsys.readouterr().out
    assert "Box_updateOutput, sample " in printed
    assert f"{source}:{line}" in printed


def test_a_package(tmp_path: Path) -> None:
    header = files(tmp_path)
    library = thnn.build_library(header, tmp_path / "libsquare.so")
    own = thnn.open_library(header, library)
    assert own.SquareFunction.apply(torch.tensor([3.0]).half()).item() == 9
