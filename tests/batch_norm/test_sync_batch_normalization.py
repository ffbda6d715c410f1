"""Batch normalization across processes: three processes run all scenarios below once and write their results to files.

The tests compare these results with one process on the whole batch.
"""

from __future__ import annotations

import copy
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from new_process import Program
from torch import Tensor

import thnn
from thnn.nn import SyncBatchNorm, convert_sync_batchnorm

SIZE = 3
C = 4
PARTS = (5, 0, 3)  # samples of each rank
SHORT = 3.0  # timeout in seconds of a group that is expected to time out
STEPS = ((5, 2, 3), (1, 0, 1), (4, 4, 4), (0, 6, 1))
TOLERANCE = {"atol": 1e-10, "rtol": 1e-10}


# Data and functions that the processes and the tests share.


def whole(seed: int, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def part(tensor: Tensor, rank: int, sizes: tuple[int, ...] = PARTS) -> Tensor:
    """The samples of a rank; ranks have different layouts."""
    mine = tensor.split(sizes)[rank]
    if rank == 0 and mine.dim() == 4:
        return mine.clone(memory_format=torch.channels_last)
    if rank == 2:
        return mine.transpose(0, -1).contiguous().transpose(0, -1)
    return mine.clone()


def parameters(dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """weight, bias, running_mean, running_var"""
    # With a weight at which relu6 cuts some outputs.
    return [whole(10, C, dtype=dtype) * 6, whole(11, C, dtype=dtype), whole(12, C, dtype=dtype),
            whole(13, C, dtype=dtype).square() + 1]  # fmt: skip


def layer(cls: Any, options: dict[str, Any], dtype: torch.dtype = torch.float64) -> Any:
    made = cls(C, dtype=dtype, **options)
    with torch.no_grad():
        for target, value in zip(
            (made.weight, made.bias, made.running_mean, made.running_var), parameters(dtype)
        ):
            target.copy_(value)
    return made


OPTIONS: dict[str, dict[str, Any]] = {
    "default": {},
    "relu": {"activation": "relu"},
    "relu6": {"activation": "relu6"},
    "biased, decay": {"unbiased": False, "decay": 0.7},
    "average": {"momentum": None},
    "initialize, relu": {"first_batch": "initialize", "activation": "relu"},
    "no update": {"update_statistics": False},
}


def train(made: Any, x: Tensor, g: Tensor) -> dict[str, Tensor]:
    """Two steps of a layer."""
    found = {}
    for step in (1, 2):
        x = (x.detach() * step).requires_grad_()
        y = made(x)
        y.backward(g)
        found[f"output {step}"] = y.detach()
        found[f"input {step}"] = x.grad
        found |= {f"{n} {step}": p.grad.clone() for n, p in made.named_parameters()}
        found |= {f"{n} {step}": b.clone() for n, b in made.named_buffers()}
    return found


def twice(function: Callable[[Tensor, Tensor, Tensor], Tensor], tensors: list[Tensor]) -> list[Tensor]:
    """First derivatives, and second derivatives of a function of them that depends on all arguments."""
    x, weight, bias, g, u = tensors
    leaves = [t.requires_grad_() for t in (x, weight, bias, g)]
    first = torch.autograd.grad(function(x, weight, bias), leaves[:3], g, create_graph=True)
    value = (first[0] * u).sum() + (first[1] * weight.detach().sin()).sum()
    second = torch.autograd.grad(value, leaves, allow_unused=True)
    return [t.detach() for t in first] + [
        torch.zeros_like(x) if t is None else t for t, x in zip(second, leaves)
    ]


def network() -> torch.nn.Module:
    torch.manual_seed(3)
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, C, 3, dtype=torch.float64),
        torch.nn.BatchNorm2d(C, dtype=torch.float64),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(C * 4, 6, dtype=torch.float64),
        torch.nn.BatchNorm1d(6, dtype=torch.float64),
    )


def four_steps(net: Any, rank: int | None) -> dict[str, Tensor]:
    """Four training steps on a part, or on the whole batch (rank None); the loss is the mean over all samples."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step, sizes in enumerate(STEPS):
        total = sum(sizes)
        x, target = whole(20 + step, total, 2, 4, 4), whole(30 + step, total, 6)
        if rank is not None:
            x, target = part(x, rank, sizes), part(target, rank, sizes)
        loss = (net(x) - target).square().sum() / (total * 6)
        optimizer.zero_grad()
        (loss * (1 if rank is None else SIZE)).backward()  # DistributedDataParallel divides by SIZE
        optimizer.step()
    return {k.removeprefix("module."): v for k, v in net.state_dict().items()}


# The scenarios that the processes run. Each returns results to compare, or the exception that was raised.

SCENARIOS: list[Callable[[int], Any]] = []


def scenario(function: Callable[[int], Any]) -> Callable[[int], Any]:
    SCENARIOS.append(function)
    return function


class Counter:
    """Counts the collectives that are called."""

    NAMES = (
        "all_gather", "all_gather_into_tensor", "all_gather_single", "all_gather_object", "all_gather_coalesced",
        "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier", "broadcast",
        "broadcast_object_list", "gather", "gather_object", "monitored_barrier", "reduce", "reduce_scatter",
        "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "recv", "isend", "irecv",
        "batch_isend_irecv", "new_group",
    )  # fmt: skip

    def __enter__(self) -> Counter:
        self.calls: list[str] = []
        self.saved = {n: getattr(dist, n) for n in self.NAMES if hasattr(dist, n)}
        for name, function in self.saved.items():

            def counted(*args: Any, _name: str = name, _function: Any = function, **keywords: Any) -> Any:
                self.calls.append(_name)
                return _function(*args, **keywords)

            setattr(dist, name, counted)
        return self

    def __exit__(self, *_: object) -> None:
        for name, function in self.saved.items():
            setattr(dist, name, function)


@scenario
def function(rank: int) -> Any:
    weight, bias, *running = parameters()
    x = part(whole(1, sum(PARTS), C, 3, 2), rank).requires_grad_()
    weight.requires_grad_()
    bias.requires_grad_()
    with Counter() as forward:
        y = thnn.SyncBatchNormalizationFunction(*running, True, 0.3, 1e-3)(x, weight, bias)
    with Counter() as backward:
        y.backward(part(whole(2, *whole(1, sum(PARTS), C, 3, 2).shape), rank))
    again = thnn.SyncBatchNormalizationFunction.apply(x, weight, bias, None, None, True, 0.3, 1e-3)
    by_name = thnn.SyncBatchNormalizationFunction.apply(
        x, train=True, eps=1e-3, momentum=0.3, weight=weight, bias=bias, process_group=dist.group.WORLD
    )
    with Counter() as evaluation:
        evaluated = thnn.SyncBatchNormalizationFunction.apply(x, weight, bias, *running, False, 0.3, 1e-3)
        evaluated.sum().backward()
    return {
        "output": y.detach(), "running": running, "input": x.grad, "same": y.equal(again) and y.equal(by_name),
        "collectives": (forward.calls, backward.calls, evaluation.calls),
        "weight": weight.grad, "bias": bias.grad, "evaluated": evaluated.detach(),
    }  # fmt: skip


@scenario
def layers(rank: int) -> Any:
    shape = (sum(PARTS), C, 3, 2)
    return {
        (name, dtype): train(
            layer(SyncBatchNorm, options, dtype),
            part(whole(1, *shape, dtype=dtype), rank),
            part(whole(2, *shape, dtype=dtype), rank),
        )
        for name, options in OPTIONS.items()
        for dtype in (torch.float64, torch.float32)
    }


@scenario
def double_backward(rank: int) -> Any:
    shape = (sum(PARTS), C, 3)
    tensors = [part(whole(seed, *shape), rank) for seed in (1, 2, 3)]
    found = {}
    for activation in (None, "relu", "relu6"):
        made = SyncBatchNorm(C, dtype=torch.float64, activation=activation, track_running_stats=False)

        def run(x: Tensor, weight: Tensor, bias: Tensor, made: Any = made) -> Tensor:
            return torch.func.functional_call(made, {"weight": weight, "bias": bias}, x)

        x, g, u = (t.clone() for t in tensors)
        with Counter() as counter:
            results = twice(run, [x, *parameters()[:2], g, u])
        found[activation] = results, counter.calls
    return found


@scenario
def subgroup(rank: int) -> Any:
    group = dist.new_group([0, 2])
    alone = [dist.new_group([r]) for r in range(SIZE)][rank]
    found: dict[str, Any] = {}
    made = layer(SyncBatchNorm, {"process_group": group})
    x = part(whole(1, sum(PARTS), C, 3, 2), rank)
    if rank != 1:
        found["pair"] = made(x).detach(), made.running_var
        found["copied"] = copy.deepcopy(made).process_group is group
    x = part(whole(1, 9, C, 3, 2), rank, (3, 3, 3))
    with Counter() as counter:
        made = layer(SyncBatchNorm, {"process_group": alone})
        found["alone"] = made(x).detach(), made.running_var
        if rank == 1:
            made = layer(SyncBatchNorm, {"process_group": group})  # not a member
            found["outside"] = made(x).detach(), made.running_var
    found["collectives"] = counter.calls
    return found


@scenario
def distributed_data_parallel(rank: int) -> Any:
    net = convert_sync_batchnorm(network())
    return four_steps(torch.nn.parallel.DistributedDataParallel(net), rank)


@scenario
def one_value(rank: int) -> Any:
    made = layer(SyncBatchNorm, {})
    with pytest.raises(ValueError, match="more than 1 value per channel") as caught:
        made(whole(1, int(rank == 1), C))
    return str(caught.value), made.running_mean, made.running_var, made.num_batches_tracked


def failure(function: Callable[[], Any]) -> tuple[str, str, float]:
    start = time.monotonic()
    try:
        function()
    except (TypeError, ValueError, RuntimeError) as error:
        return type(error).__name__, str(error), time.monotonic() - start
    return "", "nothing was raised", time.monotonic() - start


def model(channels: int = C, dtype: torch.dtype = torch.float64) -> Any:
    inner = torch.nn.ModuleDict({"first": torch.nn.BatchNorm1d(channels, dtype=dtype)})
    return convert_sync_batchnorm(
        torch.nn.ModuleDict({"body": inner, "second": torch.nn.BatchNorm1d(channels, dtype=dtype)})
    )


@scenario
def other_channels(rank: int) -> Any:
    channels = C + (rank == 1)
    return failure(lambda: model(channels)["body"]["first"](whole(1, 3, channels)))


@scenario
def more_channels_than_before(rank: int) -> Any:
    channels = 50 + (rank == 1)
    return failure(lambda: model(channels)["second"](whole(1, 3, channels)))


@scenario
def other_type(rank: int) -> Any:
    dtype = torch.float32 if rank == 2 else torch.float64
    return failure(lambda: model(dtype=dtype)["second"](whole(1, 3, C, dtype=dtype)))


@scenario
def bad_arguments(rank: int) -> Any:
    """Bad arguments in rank 1, then in all ranks; the group remains usable."""
    found = []
    for name, value in (("momentum", "a"), ("eps", -1.0), ("activation", "tanh")):
        net = model()
        made = net["body"]["first"]
        if rank == 1:
            setattr(made, name, value)
        found.append(failure(lambda made=made: made(whole(1, 3, C))))
        assert made.num_batches_tracked == 0
    for channels, x in (
        (C, whole(1, C)),
        (C, whole(1, 3, C + 1)),
        (C, whole(1, 3, C).half()),
        (60, whole(1, 3, 1)),
    ):
        made = model(channels)["body"]["first"]
        found.append(failure(lambda made=made, x=x: made(x if rank == 1 else whole(1, 3, made.num_features))))
    made = model()["second"]
    found.append(failure(lambda: made(None if rank == 1 else whole(1, 3, C))))
    made = layer(SyncBatchNorm, {})
    if rank == 1:
        made.first_batch = "ignore"
    found.append(failure(lambda: made(whole(1, 3, C))))
    weight, *others = parameters()
    if rank == 1:
        weight = weight.float()
    found.append(failure(lambda: thnn.SyncBatchNormalizationFunction.apply(
        whole(1, 3, C), weight, *others, True, 0.1, 1e-5)))  # fmt: skip
    inference = whole(1, 3, C)
    if rank == 1:
        with torch.inference_mode():
            inference = inference + 1
    made = model()["second"]
    found.append(failure(lambda: made(inference)))
    assert made.running_mean.equal(torch.zeros_like(made.running_mean))
    x = whole(1, 3, C)
    found.append(failure(lambda: model()["second"](x.to_sparse() if rank == 1 else x)))
    wrong = failure(lambda: model()["second"](whole(1, C)))
    return found, wrong, model()["second"](part(whole(1, sum(PARTS), C), rank))


@scenario
def a_group_for_each_thread(rank: int) -> Any:
    """Each thread has its group; the ranks start their threads in different orders."""
    groups = [dist.new_group(timeout=timedelta(seconds=20)) for _ in range(SIZE)]
    layers = [layer(SyncBatchNorm, {"process_group": group}) for group in groups]
    outputs: dict[int, Any] = {}

    def run(k: int) -> None:
        try:
            outputs[k] = layers[k](part(whole(k, sum(PARTS), C), rank)).detach()
        except (ValueError, RuntimeError) as error:
            outputs[k] = str(error)

    threads = [threading.Thread(target=run, args=((rank + k) % SIZE,)) for k in range(SIZE)]
    for thread in threads:
        thread.start()
        time.sleep(0.3)
    for thread in threads:
        thread.join()
    return [outputs[k] for k in range(SIZE)]


@scenario
def autocast(rank: int) -> Any:
    made = layer(SyncBatchNorm, {}, torch.float32)
    x = part(whole(1, sum(PARTS), C, dtype=torch.bfloat16), rank).requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = made(x)
    y.square().sum().backward()
    return y.detach(), made.running_var, x.grad


@scenario
def skips_to_another_layer(rank: int) -> Any:
    net = model()
    made = net["body"]["first"] if rank == 0 else net["second"]
    return failure(lambda: made(whole(1, 3, C)))


@scenario
def names_of_one_checksum(rank: int) -> Any:
    """The names have the same CRC-32."""
    net = convert_sync_batchnorm(
        torch.nn.ModuleDict({n: torch.nn.BatchNorm1d(C) for n in ("plumless", "buckeroo")})
    )
    made = net["plumless"] if rank == 0 else net["buckeroo"]
    return failure(lambda: made(whole(1, 3, C, dtype=torch.float32)))


@scenario
def backward_elsewhere(rank: int) -> Any:
    net = model()
    y = net["second"](whole(1, 3, C).requires_grad_())
    return failure(y.sum().backward if rank == 0 else lambda: net["second"](whole(1, 3, C)))


@scenario
def create_graph_elsewhere(rank: int) -> Any:
    x = whole(1, 3, C).requires_grad_()
    y = model()["second"](x).square().sum()
    return failure(lambda: torch.autograd.grad(y, x, create_graph=rank == 0))


@scenario
def profiled(rank: int) -> Any:
    x = whole(1, 3, C).requires_grad_()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], acc_events=True) as profile:
        model()["second"](x).sum().backward()
    return [event.name for event in profile.events()]


@scenario
def compiled(rank: int) -> Any:
    x = part(whole(1, sum(PARTS), C), rank)
    made, function = layer(SyncBatchNorm, {}), layer(SyncBatchNorm, {})
    found = train(torch.compile(made, backend="eager"), x, x)
    expected = train(function, x, x)
    return [(found[f"_orig_mod.{k}" if f"_orig_mod.{k}" in found else k], v) for k, v in expected.items()]


@scenario
def skips_to_another_collective(rank: int) -> Any:
    """Rank 2 skips the layer and is in a collective of the application, which must not be mistaken for the layer's."""
    group = dist.new_group(timeout=timedelta(seconds=SHORT))
    net = convert_sync_batchnorm(torch.nn.ModuleDict({"first": torch.nn.BatchNorm1d(C)}), group)
    net["first"](whole(1, 3, C, dtype=torch.float32))
    if rank == 2:
        return failure(lambda: dist.all_reduce(torch.ones(3), group=group))
    return failure(lambda: net["first"](whole(1, 3, C, dtype=torch.float32)))


@scenario
def does_not_arrive(rank: int) -> Any:
    group = dist.new_group(timeout=timedelta(seconds=SHORT / 3))
    net = convert_sync_batchnorm(torch.nn.ModuleDict({"first": torch.nn.BatchNorm1d(C)}), group)
    if rank == 0:
        return ()
    return failure(lambda: net["first"](whole(1, 3, C, dtype=torch.float32)))


@scenario
def dies(rank: int) -> Any:
    """Must be the last scenario, since rank 1 exits."""
    net = model()
    y = net["second"](whole(1, 3, C).requires_grad_())
    if rank == 1:
        os._exit(7)
    return failure(y.sum().backward)


def main(rank: int, directory: Path, port: int) -> None:
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    # The loopback interface, since the host name may resolve to an unreachable address.
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    store = dist.TCPStore("127.0.0.1", port)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=SIZE, timeout=timedelta(seconds=60))
    for function in SCENARIOS:
        torch.save(function(rank), directory / f"{function.__name__} {rank}")
    sys.stdout.flush()
    # Not destroy_process_group(): a process has died.
    os._exit(0)


# The tests.


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Any], list[Any]]]:
    """A function that returns the results of a scenario by rank."""
    directory = tmp_path_factory.mktemp("processes")
    # Not a FileStore, which may exceed a timeout by a second.
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    programs = [Program(__file__, rank, directory, store.port) for rank in range(SIZE)]
    done = [program.wait(180) for program in programs]
    assert [d.returncode for d in done] == [0, 7, 0], "\n".join(d.stdout + d.stderr for d in done)

    def load(function: Any, ranks: range | tuple[int, ...] = range(SIZE)) -> list[Any]:
        return [torch.load(directory / f"{function.__name__} {r}", weights_only=False) for r in ranks]

    return load


def close(actual: Any, expected: Any, **tolerance: float) -> None:
    torch.testing.assert_close(actual, expected, **(tolerance or TOLERANCE))


def test_function(found: Any) -> None:
    results = found(function)
    weight, bias, *running = parameters()
    x = whole(1, sum(PARTS), C, 3, 2).requires_grad_()
    weight.requires_grad_()
    bias.requires_grad_()
    y = thnn.BatchNormalizationFunction.apply(x, weight, bias, *running, True, 0.3, 1e-3)
    y.backward(whole(2, *x.shape))
    evaluated = thnn.BatchNormalizationFunction.apply(x, weight, bias, *running, False, 0.3, 1e-3)
    evaluated.sum().backward()
    close(torch.cat([r["output"] for r in results]), y.detach())
    close(torch.cat([r["input"] for r in results]), x.grad)
    close(torch.cat([r["evaluated"] for r in results]), evaluated.detach())
    close(sum(r["weight"] for r in results), weight.grad)
    close(sum(r["bias"] for r in results), bias.grad)
    for result in results:
        assert result["same"]
        assert result["collectives"] == (["all_gather"], ["all_gather"], [])
        for ours, first, expected in zip(result["running"], results[0]["running"], running):
            assert ours.equal(first)
            close(ours, expected)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("name", OPTIONS)
def test_layer(found: Any, name: str, dtype: torch.dtype) -> None:
    results = [r[name, dtype] for r in found(layers)]
    shape = (sum(PARTS), C, 3, 2)
    expected = train(
        layer(thnn.nn.BatchNorm2d, OPTIONS[name], dtype),
        whole(1, *shape, dtype=dtype),
        whole(2, *shape, dtype=dtype),
    )
    tolerance = TOLERANCE if dtype == torch.float64 else {"atol": 1e-4, "rtol": 1e-4}
    for key, value in expected.items():
        parts = [r[key] for r in results]
        if key.startswith(("running", "num")):
            assert all(p.equal(parts[0]) for p in parts)
            close(parts[0], value, **tolerance)
        elif key.startswith(("output", "input")):
            close(torch.cat(parts), value, **tolerance)
        else:
            close(sum(parts), value, **tolerance)
    assert [p.shape[0] for p in (r["output 1"] for r in results)] == [*PARTS]


@pytest.mark.parametrize("activation", [None, "relu", "relu6"])
def test_double_backward(found: Any, activation: str | None) -> None:
    results = [r[activation] for r in found(double_backward)]

    def run(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        y = torch.nn.functional.batch_norm(x, None, None, weight, bias, True)
        return {None: y, "relu": y.relu(), "relu6": torch.nn.functional.relu6(y)}[activation]

    shape = (sum(PARTS), C, 3)
    x, g, u = (whole(seed, *shape) for seed in (1, 2, 3))
    expected = twice(run, [x, *parameters()[:2], g, u])
    for position, value in enumerate(expected):
        parts = [r[0][position] for r in results]
        close(torch.cat(parts) if value.dim() == 3 else sum(parts), value)
    # Forward, backward, and the backward of the backward.
    assert all(r[1] == ["all_gather"] * 3 for r in results)


def test_subgroup(found: Any) -> None:
    first, second, third = found(subgroup)
    x = whole(1, sum(PARTS), C, 3, 2)
    x = torch.cat([part(x, 0), part(x, 2)])
    expected = layer(thnn.nn.BatchNorm2d, {})
    close(torch.cat([first["pair"][0], third["pair"][0]]), expected(x).detach())
    assert first["pair"][1].equal(third["pair"][1])
    close(first["pair"][1], expected.running_var)
    assert first["copied"]
    # In a group of one and outside of the group the layer computes as BatchNorm2d.
    x = whole(1, 9, C, 3, 2)
    for rank, result in enumerate((first, second, third)):
        expected = layer(thnn.nn.BatchNorm2d, {})
        y = expected(part(x, rank, (3, 3, 3))).detach()
        for key in ("alone", "outside") if rank == 1 else ("alone",):
            assert result[key][0].equal(y)
            assert result[key][1].equal(expected.running_var)
        assert result["collectives"] == []


def test_distributed_data_parallel(found: Any) -> None:
    expected = four_steps(network(), None)
    for result in found(distributed_data_parallel):
        assert result.keys() == expected.keys()
        for key, value in expected.items():
            close(result[key], value)


def test_one_value_in_all_processes(found: Any) -> None:
    for text, *buffers in found(one_value):
        assert "got 1" in text
        for ours, expected in zip(buffers, (*parameters()[2:], torch.tensor(0))):
            assert ours.equal(expected)


def test_channels_differ(found: Any) -> None:
    for kind, text, seconds in found(other_channels):
        assert kind == "ValueError"
        assert "SyncBatchNorm 'body.first'" in text
        assert "4 channels" in text and "5 channels" in text
        assert seconds < 30
    assert "rank 1 is in" in found(other_channels)[0][1]
    for kind, text, _ in found(more_channels_than_before):
        assert kind == "ValueError"
        assert "SyncBatchNorm 'second'" in text
        assert "50 channels" in text and "51 channels" in text


def test_types_differ(found: Any) -> None:
    for kind, text, _ in found(other_type):
        assert kind == "ValueError"
        assert "torch.float32" in text and "torch.float64" in text
    assert "rank 2 is in" in found(other_type)[0][1]


def test_bad_arguments_raise_in_all_ranks(found: Any) -> None:
    first, second, third = found(bad_arguments)
    for (kind, text, seconds), *others in zip(second[0], first[0], third[0]):
        assert kind in ("TypeError", "ValueError") and "rank" not in text
        for other, message, waited in others:
            assert other == "ValueError"
            assert "rank 1 is in" in message and f"which failed: {kind}: {text}" in message
            assert max(seconds, waited) < 30
    for _, wrong, _ in (first, second, third):
        assert wrong[0] == "ValueError" and "rank" not in wrong[1]
    expected = torch.nn.BatchNorm1d(C, dtype=torch.float64)(whole(1, sum(PARTS), C))
    close(torch.cat([first[2], second[2], third[2]]), expected)


@pytest.mark.skipif(
    not hasattr(dist.Store, "clone"),
    reason="needs torch with Store.clone: without it threads with different groups block each other",
)
def test_a_group_for_each_thread(found: Any) -> None:
    for k, parts in enumerate(zip(*found(a_group_for_each_thread))):
        assert all(isinstance(p, Tensor) for p in parts), parts
        close(torch.cat(parts), layer(thnn.nn.BatchNorm1d, {})(whole(k, sum(PARTS), C)).detach())


def test_autocast(found: Any) -> None:
    outputs, variances, gradients = zip(*found(autocast))
    made = layer(thnn.nn.BatchNorm1d, {}, torch.float32)
    expected = made(whole(1, sum(PARTS), C, dtype=torch.bfloat16).float()).detach()
    close(torch.cat(outputs), expected.bfloat16(), rtol=1e-2, atol=1e-5)
    assert all(v.equal(variances[0]) for v in variances)
    assert all(g.dtype is torch.bfloat16 for g in gradients)


def test_layer_skipped(found: Any) -> None:
    for kind, text, _ in found(skips_to_another_layer):
        assert kind == "ValueError"
        assert "'body.first'" in text and "'second'" in text
    for kind, text, _ in found(names_of_one_checksum):
        assert kind == "ValueError"
        assert "'plumless'" in text and "'buckeroo'" in text
    for kind, text, _ in found(backward_elsewhere):
        assert kind == "ValueError"
        assert "'second', forward" in text and "'second', backward" in text


def test_create_graph_on_one_rank(found: Any) -> None:
    for kind, text, _ in found(create_graph_elsewhere):
        assert kind == "ValueError"
        assert "backward with create_graph" in text and "backward, 4 channels" in text


def test_names_in_the_record_of_the_profiler(found: Any) -> None:
    for names in found(profiled):
        for operation in ("forward", "backward"):
            assert f"SyncBatchNorm 'second', {operation}, 4 channels of torch.float64" in names


def test_compiled(found: Any) -> None:
    for pairs in found(compiled):
        for actual, expected in pairs:
            assert actual.equal(expected)


def test_layer_skipped_for_a_collective(found: Any) -> None:
    for kind, text, seconds in found(skips_to_another_collective, (0, 1)):
        assert kind == "RuntimeError"
        assert "SyncBatchNorm 'first'" in text
        assert "rank 2 has not answered" in text
        assert SHORT * 0.7 < seconds < SHORT
    assert found(skips_to_another_collective)[2][0] == "RuntimeError"


def test_process_does_not_arrive(found: Any) -> None:
    for kind, text, seconds in found(does_not_arrive)[1:]:
        assert kind == "RuntimeError"
        assert "SyncBatchNorm 'first'" in text
        assert "rank 0 has not answered" in text
        assert seconds < SHORT / 3


def test_process_dies(found: Any) -> None:
    for kind, text, seconds in found(dies, (0, 2)):
        assert kind == "RuntimeError"
        assert "SyncBatchNorm 'second', backward" in text
        assert "rank 1 has not answered" in text
        assert seconds < 60


# Without other processes.


def test_alone() -> None:
    x = whole(1, 5, C, 3, 2)
    for options in OPTIONS.values():
        ours = train(layer(SyncBatchNorm, options), x, whole(2, *x.shape))
        expected = train(layer(thnn.nn.BatchNorm2d, options), x, whole(2, *x.shape))
        assert all(ours[k].equal(expected[k]) for k in expected)


def test_function_has_the_arguments_of_batch_normalization() -> None:
    weight, bias, *running = parameters()
    x = whole(1, 5, C)
    expected = thnn.BatchNormalizationFunction.apply(x, weight, bias, *running, False, 0.1, 1e-5)
    call = thnn.SyncBatchNormalizationFunction(*running, False, 0.1, 1e-5, None)
    assert call(x, weight, bias).equal(expected)
    assert call(input=x, bias=bias, weight=weight).equal(expected)
    assert thnn.SyncBatchNormalizationFunction(*running, 0, 0.1, eps=1e-5)(x, weight, bias).equal(expected)
    with pytest.raises(TypeError, match="eps is missing"):
        thnn.SyncBatchNormalizationFunction(*running, False, 0.1)
    with pytest.raises(TypeError, match="process_group: expected a process group"):
        thnn.SyncBatchNormalizationFunction.apply(x, weight, bias, *running, True, 0.1, 1e-5, "all")
    with pytest.raises(TypeError, match="process_group: expected a process group"):
        SyncBatchNorm(C, process_group="all")


def test_state_of_torch_loads() -> None:
    ours, theirs = SyncBatchNorm(3), torch.nn.SyncBatchNorm(3)
    theirs.running_mean.fill_(2)
    ours.load_state_dict(theirs.state_dict())
    assert ours.running_mean.tolist() == [2, 2, 2]
    theirs.load_state_dict(ours.state_dict())
    assert repr(ours) == repr(theirs)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]))
