"""Mistakes in the files that `python -m thnn new` writes, each with the check that finds it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from thnn._load.templates import write as write_templates


class Mistake(NamedTuple):
    """A text of a file of a module, the mistake in its place, and the check that finds it, with a part of its
    message."""

    kind: str  # of the template, or one of BY_HAND
    good: str
    bad: str
    check: str
    message: str
    suffix: str = ".c"  # of the file
    in_suite: bool = False  # False: in `make mutants` only
    ends_process: bool = False  # a crash, in the check of which the message is a part


# Kernels whose loops are written out, in which mistakes are possible that the macros of the templates exclude.
_OFFSET = """\
#include "pointwise.h"

/* The place of element i, in row-major order. */
static int64_t offset(const THTensor *tensor, int64_t i)
{
  int64_t place = 0;
  for (int d = tensor->ndim - 1; d >= 0; d--) {
    place += i % tensor->size[d] * tensor->stride[d];
    i /= tensor->size[d];
  }
  return place;
}
"""
_POINTWISE = (
    _OFFSET
    + """
enum { BLOCK = 1024 };

static inline real sigmoid(real x) { return 1 / (1 + (real)exp(-x)); }

void THNN_(Mine_updateOutput)(THNNState *state, THTensor *input, THTensor *output, accreal beta)
{
  THNN_RESIZE_LIKE(output, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);
  THNN_RETURN_IF_META(state);
  const int64_t count = THNNTensor_numel(input);
  THNN_PARALLEL_FOR(task, (count + BLOCK - 1) / BLOCK, count) {
    const int64_t end = (task + 1) * BLOCK < count ? (task + 1) * BLOCK : count;
    for (int64_t i = task * BLOCK; i < end; i++) {
      const real x = TH_DATA(input)[offset(input, i)];
      TH_DATA(output)[offset(output, i)] = x * sigmoid((real)beta * x);
    }
  }
}

void THNN_(Mine_updateGradInput)(THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput,
                                 accreal beta)
{
  THNN_CHECK_SAME_COUNT(input, gradOutput);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);
  THNN_RETURN_IF_META(state);
  const int64_t count = THNNTensor_numel(input);
  THNN_PARALLEL_FOR(task, (count + BLOCK - 1) / BLOCK, count) {
    const int64_t end = (task + 1) * BLOCK < count ? (task + 1) * BLOCK : count;
    for (int64_t i = task * BLOCK; i < end; i++) {
      const real x = TH_DATA(input)[offset(input, i)], g = TH_DATA(gradOutput)[offset(gradOutput, i)];
      const real s = sigmoid((real)beta * x);
      TH_DATA(gradInput)[offset(gradInput, i)] = g * (s + (real)beta * x * s * (1 - s));
    }
  }
}
"""
)
_CRITERION = (
    _OFFSET
    + """
static inline real logCosh(real d) { return (real)(fabs(d) + log1p(exp(-2 * fabs(d))) - M_LN2); }

void THNN_(Mine_updateOutput)(THNNState *state, THTensor *input, THTensor *target, THTensor *output, bool sizeAverage)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_RESIZE_TO_ONE(output);
  THNN_CHECK_NO_OVERLAP(output, input);
  THNN_CHECK_NO_OVERLAP(output, target);
  THNN_RETURN_IF_META(state);
  const int64_t count = THNNTensor_numel(input);
  double sum = 0;
  for (int64_t i = 0; i < count; i++)
    sum += logCosh(TH_DATA(input)[offset(input, i)] - TH_DATA(target)[offset(target, i)]);
  thnn_storeNumber(output, sizeAverage ? sum / (double)count : sum);
}

void THNN_(Mine_updateGradInput)(THNNState *state, THTensor *input, THTensor *target, THTensor *gradInput,
                                 bool sizeAverage)
{
  THNN_CHECK_SAME_COUNT(input, target);
  THNN_RESIZE_LIKE(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);
  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, target);
  THNN_RETURN_IF_META(state);
  const int64_t count = THNNTensor_numel(input);
  const real norm = (real)(THNNState_gradientFactor(state) / (sizeAverage ? (double)count : 1.0));
  THNN_PARALLEL_FOR(i, count, count) {
    const real d = TH_DATA(input)[offset(input, i)] - TH_DATA(target)[offset(target, i)];
    TH_DATA(gradInput)[offset(gradInput, i)] = (real)tanh(d) * norm;
  }
}
"""
)
BY_HAND = {"pointwise by hand": ("pointwise", _POINTWISE), "criterion by hand": ("criterion", _CRITERION)}


def write(kind: str, folder: Path) -> None:
    """Writes the files of the module Mine without a mistake."""
    template, kernel = BY_HAND.get(kind, (kind, None))
    write_templates("Mine", template, folder, package=False)
    if kernel is not None:
        (folder / "Mine.c").write_text(kernel)


def plant(mistake: Mistake, folder: Path) -> None:
    """Writes the files of the module Mine with a mistake."""
    write(mistake.kind, folder)
    file = folder / f"Mine{mistake.suffix}"
    right = file.read_text()
    assert right.count(mistake.good) == 1, f"{right.count(mistake.good)} times: {mistake.good}"
    file.write_text(right.replace(mistake.good, mistake.bad))


_HAND, _LOSS = "pointwise by hand", "criterion by hand"

MISTAKES = {
    "a factor of the result": Mistake(
        "pointwise",
        "swish(x, beta),",
        "swish(x, beta) * (real)1.0001,",
        "reference",
        "Mine_updateOutput: output",
    ),
    "float arithmetic in double": Mistake(
        "pointwise",
        "th_sigmoid(beta * x); }",
        "(real)(float)th_sigmoid(beta * x); }",
        "reference",
        "Mine_updateOutput: output",
    ),
    "an approximation in float": Mistake(
        "pointwise",
        "swish(x, beta),",
        "swish(x, beta) * (real)(sizeof(real) == 4 ? 1.0001 : 1),",
        "float32",
        "Mine_updateOutput in float32: output",
        in_suite=True,
    ),
    "a whole number of a scalar": Mistake(
        _HAND,
        "x * sigmoid((real)beta * x)",
        "x * sigmoid((int)beta * x)",
        "reference",
        "Mine_updateOutput: output",
    ),
    "a value beyond 64 elements": Mistake(
        "window",
        "= sum / (real)kW;",
        "= sum / (real)(t < 64 ? kW : kW + 1);",
        "reference",
        "Mine_updateOutput with every size one smaller: output",
        in_suite=True,
    ),
    "a tail of odd sizes": Mistake(
        "window",
        "for (int64_t t = 0; t < size[2]; t++) {",
        "for (int64_t t = 0; t < (size[2] > 128 ? size[2] - size[2] % 2 : size[2]); t++) {",
        "reference",
        "Mine_updateOutput with every size one smaller: output",
        in_suite=True,
    ),
    "a tail of sizes that are no multiple of 8": Mistake(
        "layer",
        "x * w + b)",
        "x * w + (input->ndim == 4 && input->size[3] > 8 && input->size[3] % 4 ? 0 : b))",
        "reference",
        "Mine_updateOutput with every size one smaller: output",
        in_suite=True,
    ),
    "a tail of the last block": Mistake(
        _HAND,
        "      const real x = TH_DATA(input)[offset(input, i)];\n",
        "      if (count > BLOCK && i >= count - count % 8) continue;\n"
        "      const real x = TH_DATA(input)[offset(input, i)];\n",
        "reference",
        "Mine_updateOutput with every size one smaller: output",
        in_suite=True,
    ),
    "another distance of windows": Mistake(
        "window", "sum += x[(t * dW + k)", "sum += x[(t * kW + k)", "reference", "Mine_updateOutput: output"
    ),
    "a divisor of windows": Mistake(
        "window", "= sum / (real)kW;", "= sum / (real)dW;", "reference", "Mine_updateOutput: output"
    ),
    "a sum of windows in float": Mistake(
        "window", "      real sum = 0;", "      float sum = 0;", "reference", "Mine_updateOutput: output"
    ),
    "a window less": Mistake(
        "window",
        "(input->size[2] - kW) / dW + 1",
        "(input->size[2] - kW) / dW",
        "reference",
        "ValueError: Mine_updateGradInput: gradOutput",
    ),
    "a window more": Mistake(
        "window",
        "(input->size[2] - kW) / dW + 1",
        "(input->size[2] - kW + dW - 1) / dW + 1",
        "widened",
        "ValueError: Mine_updateGradInput: gradOutput",
        in_suite=True,
    ),
    "a window of one": Mistake(
        "window",
        "= sum / (real)kW;",
        "= kW == 1 ? 0 : sum / (real)kW;",
        "widened",
        "Mine_updateOutput with kW 1: output",
        in_suite=True,
    ),
    "windows next to one another": Mistake(
        "window",
        "= sum / (real)kW;",
        "= dW == 1 && kW == 1 ? 0 : sum / (real)kW;",
        "widened",
        "Mine_updateOutput with kW 1: output",
    ),
    "no shift": Mistake("layer", "x * w + b)", "((void)b, x * w))", "reference", "Mine_updateOutput: output"),
    "the parameter of another channel": Mistake(
        "layer",
        "d == 1 ? vector->stride[0] : 0",
        "d == 0 ? vector->stride[0] : 0",
        "reference",
        "Mine_updateOutput: output",
    ),
    "no mean": Mistake(
        "criterion",
        "logCosh(x - t),",
        "logCosh(x - t) * (sizeAverage ? 2 : 1),",
        "reference",
        "Mine_updateOutput: output",
    ),
    "always the mean": Mistake(
        _LOSS,
        "sizeAverage ? sum / (double)count : sum",
        "sum / (double)count",
        "reference",
        "Mine_updateOutput: output",
    ),
    "a constant of the loss": Mistake(
        "criterion", " - (real)M_LN2", "", "reference", "Mine_updateOutput: output"
    ),
    "a loss of float": Mistake(
        _LOSS, "  double sum = 0;", "  float sum = 0;", "reference", "Mine_updateOutput: output"
    ),
    "a tail of losses": Mistake(
        _LOSS,
        "for (int64_t i = 0; i < count; i++)",
        "for (int64_t i = 0; i < (count > 64 ? count - count % 8 : count); i++)",
        "reference",
        "Mine_updateOutput with every size one smaller: output",
    ),
    "a loss added to the output": Mistake(
        _LOSS,
        "sizeAverage ? sum / (double)count : sum)",
        "*TH_DATA(output) + (sizeAverage ? sum / (double)count : sum))",
        "contract",
        "Mine_updateOutput into outputs full of NaN: output",
    ),
    "a loss that overflows": Mistake(
        "criterion",
        "logCosh(x - t),",
        "th_log(1 + (th_exp(x - t) + th_exp(t - x)) / 2 - 1),",
        "widened",
        "Mine_updateOutput with tensors times 1000: output",
        in_suite=True,
    ),
    "NaN becomes 0": Mistake(
        "pointwise",
        "swish(x, beta),",
        "(x == x ? swish(x, beta) : 0),",
        "nonfinite",
        "Mine_updateOutput with nan in input: output",
        in_suite=True,
    ),
    "NaN of the gradient becomes 0": Mistake(
        "pointwise",
        "slope(x, beta) * g",
        "(g == g ? slope(x, beta) * g : 0)",
        "nonfinite",
        "Mine_updateGradInput with nan in gradOutput: gradInput",
        in_suite=True,
    ),
    "NaN of the loss becomes 0": Mistake(
        "criterion",
        "logCosh(x - t),",
        "(x == x ? logCosh(x - t) : 0),",
        "nonfinite",
        "Mine_updateOutput with nan in input: output",
    ),
    "NaN of the target becomes 0": Mistake(
        "criterion",
        "logCosh(x - t),",
        "(t == t ? logCosh(x - t) : 0),",
        "nonfinite",
        "Mine_updateOutput with nan in target: output",
    ),
    "infinity becomes large": Mistake(
        "layer",
        "x * w + b)",
        "(x > 1e9 ? 1e9 : x) * w + b)",
        "nonfinite",
        "Mine_updateOutput with inf in input: output",
        in_suite=True,
    ),
    "an infinite parameter becomes large": Mistake(
        "layer",
        "x * w + b)",
        "x * (w > 1e9 ? 1e9 : w) + b)",
        "nonfinite",
        "Mine_updateOutput with inf in weight: output",
    ),
    "NaN is left out of a mean": Mistake(
        "window",
        "sum += x[(t * dW + k) * input->stride[2]];",
        "{ const real v = x[(t * dW + k) * input->stride[2]]; if (v == v) sum += v; }",
        "nonfinite",
        "Mine_updateOutput with nan in input: output",
    ),
    "a derivative of large numbers": Mistake(
        "pointwise",
        "slope(x, beta) * g",
        "(x > 4 ? 1 : slope(x, beta)) * g",
        "widened",
        "Mine_updateGradInput with tensors times 10: gradInput",
        in_suite=True,
    ),
    "a derivative without the factor of a scalar": Mistake(
        "pointwise", "s + beta * x * s", "s + x * s", "gradients", "MineFunction: by input"
    ),
    "a derivative of another sign": Mistake(
        "pointwise",
        "return s + beta",
        "return s - beta",
        "gradients",
        "MineFunction: by input",
        in_suite=True,
    ),
    "a derivative of 0": Mistake(
        "pointwise",
        "slope(x, beta) * g",
        "(x > (real)0.5 && x < (real)0.6 ? 0 : slope(x, beta)) * g",
        "reference",
        "Mine_updateGradInput: gradInput",
    ),
    "no gradOutput": Mistake(
        "pointwise", "slope(x, beta) * g", "((void)g, slope(x, beta))", "gradients", "MineFunction: by input"
    ),
    "a gradient in float only": Mistake(
        "pointwise",
        "slope(x, beta) * g",
        "slope(x, beta) * g * (real)(sizeof(real) == 4 ? 1.0001 : 1)",
        "float32",
        "Mine_updateGradInput in float32: gradInput",
    ),
    "a gradient beyond 64 elements": Mistake(
        "window",
        "+= g[t * gradOutput->stride[2]]",
        "+= (t < 64 ? 1 : 2) * g[t * gradOutput->stride[2]]",
        "reference",
        "Mine_updateGradInput with every size one smaller: gradInput",
        in_suite=True,
    ),
    "a gradient without the divisor": Mistake(
        "window",
        "* gradOutput->stride[2]] / (real)kW;",
        "* gradOutput->stride[2]];",
        "gradients",
        "MineFunction: by input",
    ),
    "a gradient of the last window": Mistake(
        "window", "+= g[", "= g[", "gradients", "MineFunction: by input"
    ),
    "a gradient that is added": Mistake(
        _HAND,
        "TH_DATA(gradInput)[offset(gradInput, i)] = g *",
        "TH_DATA(gradInput)[offset(gradInput, i)] += g *",
        "contract",
        "Mine_updateGradInput into outputs full of NaN: gradInput",
    ),
    "no zeros": Mistake(
        "window",
        "for (int64_t t = 0; t < input->size[2]; t++) dx[t * gradInput->stride[2]] = 0;",
        "",
        "contract",
        "Mine_updateGradInput into outputs full of NaN: gradInput",
    ),
    "no zeros between windows": Mistake(
        "window",
        "for (int64_t t = 0; t < input->size[2]; t++) dx",
        "for (int64_t t = 0; t < (size[2] - 1) * dW + kW; t++) dx",
        "widened",
        "Mine_updateGradInput with every size one smaller: gradInput",
    ),
    "a window less in the gradient": Mistake(
        "window",
        "    for (int64_t t = 0; t < size[2]; t++)\n",
        "    for (int64_t t = 0; t < size[2] - 1; t++)\n",
        "gradients",
        "MineFunction: by input",
    ),
    "a gradient without the parameter": Mistake(
        "layer", "g * w", "((void)w, g)", "gradients", "MineFunction: by input"
    ),
    "a gradient without gradOutput": Mistake(
        "layer", "g * w", "((void)g, w)", "gradients", "MineFunction: by input", in_suite=True
    ),
    "a gradient of a parameter without gradOutput": Mistake(
        "layer", "xi * gi", "xi", "gradients", "MineFunction: by weight", in_suite=True
    ),
    "a gradient of a parameter without scale": Mistake(
        "layer",
        "(real)(scale * sum)",
        "(real)sum",
        "contract",
        "Mine_accGradParameters with scale -0",
        in_suite=True,
    ),
    "a gradient of a weight without scale": Mistake(
        "layer",
        "(real)(scale * product)",
        "(real)product",
        "contract",
        "Mine_accGradParameters with scale -0",
    ),
    "a gradient of a parameter that is overwritten": Mistake(
        "layer",
        "TH_DATA(gradWeight)[c * gradWeight->stride[0]] +=",
        "TH_DATA(gradWeight)[c * gradWeight->stride[0]] =",
        "contract",
        "Mine_accGradParameters with scale -0",
    ),
    "a gradient of a parameter for a part of the batch": Mistake(
        "layer",
        "  one.size[1] = 1;",
        "  one.size[1] = one.size[0] > 3 ? (one.size[0] = 3, 1) : 1;",
        "reference",
        "Mine_accGradParameters: gradWeight",
    ),
    "a gradient of a channel": Mistake(
        "layer",
        "for (int64_t c = 0; c < input->size[1]; c++) {",
        "for (int64_t c = 1; c < input->size[1]; c++) {",
        "gradients",
        "MineFunction: by bias",
    ),
    "a gradient without the mean": Mistake(
        _LOSS, "(sizeAverage ? (double)count : 1.0)", "1.0", "gradients", "MineFunction: by input"
    ),
    "a gradient w.r.t. the target": Mistake(
        "criterion", "th_tanh(x - t)", "th_tanh(t - x)", "gradients", "MineFunction: by input"
    ),
    "a wrong rule of derivatives": Mistake(
        "layer",
        "[DERIVATIVE bilinear]",
        "[DERIVATIVE linear]",
        "second gradients",
        "gradients of MineFunction: by weight",
        suffix=".h",
        in_suite=True,
    ),
    "a contiguous input": Mistake(
        _HAND,
        "      const real x = TH_DATA(input)[offset(input, i)];\n",
        "      const real x = TH_DATA(input)[i];\n",
        "layouts",
        "Mine_updateOutput with input sliced: output",
        in_suite=True,
    ),
    "a contiguous gradOutput": Mistake(
        _HAND,
        "[offset(gradOutput, i)]",
        "[i]",
        "layouts",
        "Mine_updateGradInput with gradOutput sliced: gradInput",
    ),
    "a contiguous target": Mistake(
        _LOSS,
        "- TH_DATA(target)[offset(target, i)]);",
        "- TH_DATA(target)[i]);",
        "layouts",
        "Mine_updateOutput with target sliced: output",
    ),
    "a contiguous output": Mistake(
        _HAND,
        "[offset(output, i)]",
        "[i]",
        "output layouts",
        "Mine_updateOutput into sliced outputs: output",
        in_suite=True,
    ),
    "a contiguous gradInput": Mistake(
        _LOSS,
        "[offset(gradInput, i)]",
        "[i]",
        "output layouts",
        "Mine_updateGradInput into sliced outputs: gradInput",
    ),
    "the stride of another tensor": Mistake(
        "window",
        "y[t * output->stride[2]]",
        "y[t * input->stride[2]]",
        "output layouts",
        "Mine_updateOutput into sliced outputs: output",
    ),
    "neighbouring elements of windows": Mistake(
        "window",
        "sum += x[(t * dW + k) * input->stride[2]]",
        "sum += x[t * dW + k]",
        "layouts",
        "Mine_updateOutput with input sliced: output",
    ),
    "a contiguous parameter": Mistake(
        "layer",
        "d == 1 ? vector->stride[0] : 0",
        "d == 1",
        "layouts",
        "Mine_updateOutput with weight sliced: output",
    ),
    "a contiguous gradient of a parameter": Mistake(
        "layer",
        "gradBias)[c * gradBias->stride[0]]",
        "gradBias)[c]",
        "output layouts",
        "Mine_accGradParameters into sliced outputs: gradBias",
    ),
    "a value in the input": Mistake(
        _HAND,
        "TH_DATA(output)[offset(output, i)] = x * sigmoid((real)beta * x);",
        "TH_DATA(output)[offset(output, i)] = x * sigmoid((real)beta * x);\n"
        "      TH_DATA(input)[offset(input, i)] = 0;",
        "contract",
        "Mine_updateOutput: input is read only, but its values changed",
    ),
    "a value in gradOutput": Mistake(
        "window",
        "    for (int64_t t = 0; t < input->size[2]; t++) dx",
        "    TH_DATA(gradOutput)[0] = 0;\n    for (int64_t t = 0; t < input->size[2]; t++) dx",
        "contract",
        "Mine_updateGradInput: gradOutput is read only, but its values changed",
    ),
    "a value in a parameter": Mistake(
        "layer",
        "  THNN_MAP3(dx",
        "  if (weight->size[0]) TH_DATA(weight)[0] += 1;\n  THNN_MAP3(dx",
        "contract",
        "Mine_updateGradInput: weight is read only, but its values changed",
    ),
    "output over the input of a window": Mistake(
        "window",
        "  THNN_CHECK_NO_OVERLAP(output, input);\n",
        "",
        "overlap",
        "Mine_updateOutput with output one element",
        in_suite=True,
    ),
    "gradInput over gradOutput of a window": Mistake(
        "window",
        "  THNN_CHECK_NO_OVERLAP(gradInput, gradOutput);\n",
        "",
        "overlap",
        "Mine_updateGradInput with gradInput one element",
    ),
    "output over the input": Mistake(
        _HAND,
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(output, input);\n",
        "",
        "overlap",
        "Mine_updateOutput with output one element",
    ),
    "gradInput over the target": Mistake(
        _LOSS,
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, target);\n",
        "",
        "overlap",
        "Mine_updateGradInput with gradInput one element",
    ),
    "a gradient over another": Mistake(
        "layer",
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);\n",
        "",
        "overlap",
        "Mine_updateGradInput with gradInput one element",
        in_suite=True,
    ),
    "output over a parameter": Mistake(
        "layer",
        "  THNN_CHECK_NO_OVERLAP(output, weight);\n",
        "",
        "overlap",
        "Mine_updateOutput with output one element",
        in_suite=True,
    ),
    "gradInput over a parameter": Mistake(
        "layer",
        "  THNN_CHECK_NO_OVERLAP(gradInput, weight);\n",
        "",
        "overlap",
        "Mine_updateGradInput with gradInput one element",
    ),
    "gradients of parameters over other tensors": Mistake(
        "layer",
        "  THNN_CHECK_IN_PLACE_UPDATE(gradWeight, gradBias, input, gradOutput);\n",
        "",
        "contract",
        "Mine_accGradParameters with gradWeight in the memory of input: was accepted",
    ),
    "an element of the next task": Mistake(
        "window",
        "      y[t * output->stride[2]] = sum",
        "      y[(t + 1) * output->stride[2]] = y[t * output->stride[2]] = sum",
        "order",
        "Mine_updateOutput with tasks in reversed order: output",
        in_suite=True,
    ),
    "an element of the previous task": Mistake(
        _HAND,
        "      TH_DATA(output)[offset(output, i)] =",
        "      if (i == task * BLOCK && i > 0) TH_DATA(output)[offset(output, i - 1)] = x;\n"
        "      TH_DATA(output)[offset(output, i)] =",
        "order",
        "Mine_updateOutput with tasks in reversed order: output",
    ),
    "sums that tasks share": Mistake(
        "window",
        "  THNN_PARALLEL_FOR(task, size[0] * size[1], size[0] * size[1] * size[2] * kW) {\n"
        "    const real *g = channel(gradOutput, task / size[1], task % size[1]);\n"
        "    real *dx = channel(gradInput, task / size[1], task % size[1]);\n"
        "    for (int64_t t = 0; t < input->size[2]; t++) dx[t * gradInput->stride[2]] = 0;\n"
        "    for (int64_t t = 0; t < size[2]; t++)\n",
        "  for (int64_t i = 0; i < size[0] * size[1]; i++)\n"
        "    for (int64_t t = 0; t < input->size[2]; t++)\n"
        "      channel(gradInput, i / size[1], i % size[1])[t * gradInput->stride[2]] = 0;\n"
        "  const int64_t planes = size[0] * size[1];\n"
        "  THNN_PARALLEL_FOR(task, planes * size[2], planes * size[2] * kW) {\n"
        "    const int64_t plane = task / size[2], t = task % size[2];\n"
        "    const real *g = channel(gradOutput, plane / size[1], plane % size[1]);\n"
        "    real *dx = channel(gradInput, plane / size[1], plane % size[1]);\n",
        "order",
        "Mine_updateGradInput with tasks in reversed order: gradInput",
        in_suite=True,
    ),
    "a sum by the number of threads": Mistake(
        _LOSS,
        "  double sum = 0;\n",
        "  double sum = 0;\n"
        '  _Pragma("omp parallel for reduction(+ : sum) num_threads(thnn_threads(count, count << '
        '8))")\n',
        "threads",
        "Mine_updateOutput with 2 threads instead of 1: output",
        in_suite=True,
    ),
    "memory of a thread from another task": Mistake(
        "window",
        "      real sum = 0;\n",
        "      static __thread int calls;\n"
        "      real sum = 0;\n"
        "      calls = t == 0 ? calls % 7 + 1 : calls;\n"
        "      if (size[2] > 64) sum = (real)1e-3 * (real)calls;\n",
        "threads",
        "Mine_updateOutput with 2 threads instead of 1: output",
    ),
    "a result of an earlier call": Mistake(
        "pointwise",
        "THNN_ELEMENT static inline real swish(real x, real beta) { return",
        "static real earlier = 1;\n"
        "THNN_ELEMENT static inline real swish(real x, real beta) { earlier *= (real)1.0000001; "
        "return earlier *",
        "contract",
        "Mine_updateOutput into outputs full of NaN: output",
    ),
    "no check of gradOutput": Mistake(
        "window",
        "  thnn_checkGradOutput(state, gradOutput, 3, size);\n",
        "",
        "error inputs",
        "Mine_updateGradInput with input with size (3, 3, 9)",
        in_suite=True,
    ),
    "no check of the elements of gradOutput": Mistake(
        _HAND,
        "  THNN_CHECK_SAME_COUNT(input, gradOutput);\n",
        "",
        "error inputs",
        "Mine_updateGradInput with another size",
    ),
    "no check of gradOutput of a layer": Mistake(
        "layer",
        "  THNN_CHECK_SAME_SIZE(input, gradOutput);\n  THNN_RESIZE_LIKE",
        "  THNN_RESIZE_LIKE",
        "error inputs",
        "Mine_updateGradInput with input with size (3, 3, 4, 5)",
    ),
    "no check of the target": Mistake(
        _LOSS,
        "  THNN_CHECK_SAME_COUNT(input, target);\n  THNN_RESIZE_LIKE",
        "  THNN_RESIZE_LIKE",
        "error inputs",
        "Mine_updateGradInput with input with size (5, 5)",
    ),
    "no check of a parameter": Mistake(
        "layer",
        '  checkVector(state, input, "bias", bias);\n',
        "",
        "error inputs",
        "Mine_updateOutput with bias with size (4,)",
    ),
    "no check of a gradient of a parameter": Mistake(
        "layer",
        '  checkVector(state, input, "gradBias", gradBias);\n',
        "",
        "error inputs",
        "Mine_accGradParameters with gradBias with size (4,)",
    ),
    "no check of a window": Mistake(
        "window",
        '  THNN_CHECK(kW >= 1, kW, "expected at least 1, got %d", kW);\n',
        "",
        "error inputs",
        "Mine_updateOutput with no window",
    ),
    "no check of a distance": Mistake(
        "window",
        '  THNN_CHECK(dW >= 1, dW, "expected at least 1, got %d", dW);\n',
        "",
        "numbers",
        "<Mine: numbers: windows apart>",
        ends_process=True,
    ),
    "no check of a window that is too large": Mistake(
        "window",
        '  THNN_CHECK(input->size[2] >= kW, input, "expected at least kW = %d elements, got %s", '
        "kW, THNN_shape(input));\n",
        "",
        "error inputs",
        "Mine_updateOutput with a window too large",
    ),
    "an error of another argument": Mistake(
        "layer",
        '"bias", bias);',
        '"scale", bias);',
        "error inputs",
        "Mine_updateOutput with bias with size (4,): the text does not match '^Mine_updateOutput",
    ),
    "an error after the result": Mistake(
        "layer",
        "  THNN_CHECK_SAME_SIZE(input, gradOutput);\n"
        "  THNN_RESIZE_LIKE(gradInput, input);\n"
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);\n",
        "  THNN_RESIZE_LIKE(gradInput, input);\n"
        "  if (!state->meta && state->status == THNN_OK && THNNTensor_numel(gradInput)) "
        "TH_DATA(gradInput)[0] = 9;\n"
        "  THNN_CHECK_SAME_SIZE(input, gradOutput);\n"
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, gradOutput);\n",
        "error inputs",
        "Mine_updateGradInput with gradOutput with size (3, 3, 4, 5): failed, but gradInput has changed",
        in_suite=True,
    ),
    "no size of the output": Mistake(
        _HAND,
        "  THNN_RESIZE_LIKE(output, input);\n",
        "",
        "reference",
        "<Mine: reference: images>",
        ends_process=True,
    ),
    "a size of meta tensors": Mistake(
        "window",
        "  size[0] = input->size[0];",
        "  size[0] = state->meta ? 1 : input->size[0];",
        "meta",
        "ValueError: Mine_updateGradInput: gradOutput",
        in_suite=True,
    ),
    "gradInput over the input of a loss": Mistake(
        _LOSS,
        "  THNN_CHECK_SAME_OR_NO_OVERLAP(gradInput, input);\n",
        "",
        "overlap",
        "Mine_updateGradInput with gradInput one element",
    ),
    "another rounding mode": Mistake(
        "window",
        "static real *channel(const THTensor *tensor, int64_t n, int64_t c)\n{\n",
        "#include <fenv.h>\n"
        "static real *channel(const THTensor *tensor, int64_t n, int64_t c)\n"
        "{\n"
        "  fesetround(FE_UPWARD);\n",
        "mode",
        "Mine left another floating-point mode",
        in_suite=True,
    ),
}
