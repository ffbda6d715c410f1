"""Inference of a network by other libraries that compute on CPUs, for the benchmark, where they are installed."""

from __future__ import annotations

import importlib.util
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

#: Name in the tables of the benchmark -> package.
PEERS = {"ONNX Runtime": "onnxruntime", "OpenVINO": "openvino"}


def onnx_program(network: nn.Module, input: Tensor) -> bytes:
    """The network as a file of ONNX. Raises the errors of torch.onnx.export."""
    # Reports that torchvision is missing.
    logger = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about torch
            program = torch.onnx.export(network, (input,), dynamo=True, verbose=False)
    finally:
        logger.setLevel(level)
    assert program is not None
    content: bytes = program.model_proto.SerializeToString()
    return content


class Peer:
    """Computes a network in float32 with as many threads as torch. Raises the errors of the library."""

    def __init__(self, name: str, program: bytes, input: Tensor) -> None:
        make = {"ONNX Runtime": _onnx_runtime, "OpenVINO": _openvino}[name]
        with _all_cores():
            self._infer = make(program, input.numpy())
            self._infer()

    def __call__(self) -> object:
        return self._infer()

    def result(self) -> Tensor:
        return torch.from_numpy(self._infer()).clone()


def _onnx_runtime(program: bytes, array: Any) -> Callable[[], Any]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(program, options, providers=["CPUExecutionProvider"])
    inputs = {session.get_inputs()[0].name: array}
    return lambda: session.run(None, inputs)[0]


def _openvino(program: bytes, array: Any) -> Callable[[], Any]:
    import openvino

    core = openvino.Core()
    settings = {
        "INFERENCE_NUM_THREADS": torch.get_num_threads(),
        "INFERENCE_PRECISION_HINT": "f32",  # otherwise bfloat16 where the processor has it
        "PERFORMANCE_HINT": "LATENCY",
    }
    request = core.compile_model(core.read_model(program), "CPU", settings).create_infer_request()
    return lambda: request.infer([array], share_inputs=True, share_outputs=True)[0]


def installed() -> list[str]:
    """The names of the peers that can be imported, with the packages that torch.onnx.export needs."""
    if any(importlib.util.find_spec(package) is None for package in ("onnx", "onnxscript")):
        return []
    return [name for name, package in PEERS.items() if importlib.util.find_spec(package) is not None]


@contextmanager
def _all_cores() -> Iterator[None]:
    """Threads inherit the cores of the thread that creates them, which OMP_PROC_BIND binds to one core."""
    bound = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, bound)
