"""Converted models over the processes of torch.distributed: DTensor, tensor parallelism, FSDP2, DDP and distributed
checkpoints.

Two processes run this file once: each compares every scenario with one process on the whole tensors.
"""

from __future__ import annotations

import copy
import re
import sys
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from new_process import Program
from torch import Tensor, nn
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_module, distribute_tensor

import thnn
from thnn._operators.sharding import POINTWISE

SIZE = 2
MODELS: dict[str, Callable[[], nn.Module]] = {
    "Tanh": nn.Tanh,
    "ReLU in place": lambda: nn.Sequential(nn.Conv2d(6, 6, 1), nn.ReLU(inplace=True)),
    "Conv2d": lambda: nn.Conv2d(6, 4, 3),
    "ConvTranspose2d": lambda: nn.ConvTranspose2d(6, 4, 3, groups=2),
    "MaxPool2d": lambda: nn.MaxPool2d(2),
    "AvgPool2d": lambda: nn.AvgPool2d(2),
    "BatchNorm2d": lambda: nn.BatchNorm2d(6),
    "BatchNorm2d, evaluation": lambda: nn.BatchNorm2d(6).eval(),
    "Linear": lambda: nn.Linear(8, 5),
    "Linear without bias": lambda: nn.Linear(8, 6, bias=False),
    "Softmax": lambda: nn.Softmax(1),
}
PLACES = {"batch": Shard(0), "channels": Shard(1), "whole": Replicate()}
#: Outputs that stay shards of the batch, and of the channels; any other redistributes them, or makes them whole.
STAY = {
    "batch": {"Tanh", "ReLU in place", "Conv2d", "ConvTranspose2d", "MaxPool2d", "AvgPool2d", "Linear"},
    "channels": {"Tanh", "BatchNorm2d", "BatchNorm2d, evaluation"},
}
OTHERS = ("columns and rows", "FSDP2", "DDP", "checkpoint")
SCENARIOS = [*(f"{model}, {place}" for model in MODELS for place in PLACES), *OTHERS]


def whole(value: Any) -> Any:
    return value.full_tensor() if isinstance(value, DTensor) else value


def agree(model: nn.Module, other: nn.Module, x: Tensor, given: Tensor, average: float = 1) -> str:
    """The names of outputs, gradients and buffers in which two models differ; '' if they agree."""
    output, found = model(x), other(given)
    factor = torch.randn(output.shape, dtype=output.dtype, generator=torch.Generator().manual_seed(3))
    (output * factor).sum().backward()
    if isinstance(found, DTensor):
        factor = distribute_tensor(factor, found.device_mesh, [Replicate()])
    (found * factor).sum().backward()
    pairs = {"output": (output, found), "input": (x.grad, given.grad)}
    pairs |= {n: (p.grad, q.grad) for (n, p), q in zip(model.named_parameters(), other.parameters())}
    pairs |= {n: (p, q) for (n, p), q in zip(model.named_buffers(), other.buffers())}
    return ", ".join(
        name
        for name, (a, b) in pairs.items()
        if a is not None and not torch.allclose(a.double(), average * whole(b).double(), rtol=1e-9, atol=1e-9)
    )


def network() -> nn.Module:
    torch.manual_seed(0)
    first = nn.Sequential(nn.Conv2d(6, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    return nn.Sequential(first, nn.Flatten(), nn.Linear(144, 4)).double()


def converted(model: nn.Module) -> nn.Module:
    made = copy.deepcopy(model)
    thnn.convert(made)
    return made


def scenarios(folder: Path) -> Iterator[tuple[str, Callable[[], str]]]:
    from torch.distributed import checkpoint
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    mesh = init_device_mesh("cpu", (SIZE,))
    images = torch.randn(4, 6, 8, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(1))

    def sharded(name: str, place: str) -> str:
        torch.manual_seed(0)
        model = MODELS[name]().double()
        x = images[:, 0, 0] if name.startswith("Linear") else images
        given = distribute_tensor(x.clone(), mesh, [PLACES[place]]).requires_grad_()
        other = distribute_module(converted(model), mesh)
        if name in STAY.get(place, ()):
            assert other(given).placements == (PLACES[place],)
            other = distribute_module(converted(model), mesh)  # with its first statistics
        return agree(model, other, x.clone().requires_grad_(), given)

    for name in MODELS:
        for place in PLACES:
            yield f"{name}, {place}", lambda n=name, p=place: sharded(n, p)  # type: ignore[misc]

    def columns_and_rows() -> str:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(8, 12), nn.Tanh(), nn.Linear(12, 4, bias=False)).double()
        plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}
        other = parallelize_module(converted(model), mesh, plan)
        x = images[:, 0, 0]
        wrong = agree(model, other, x.clone().requires_grad_(), x.clone().requires_grad_())
        assert [p.placements for p in other.parameters()] == [(Shard(0),), (Shard(0),), (Shard(1),)]
        return wrong

    def fsdp() -> str:
        other = converted(network())
        fully_shard(other[0])
        fully_shard(other)
        return agree(network(), other, images.clone().requires_grad_(), images.clone().requires_grad_())

    def ddp() -> str:
        other = nn.parallel.DistributedDataParallel(converted(network()))
        return agree(network(), other, images.clone().requires_grad_(), images.clone().requires_grad_())

    def stored() -> str:
        model = network()
        torch.nn.init.ones_(model[2].weight)
        other = distribute_module(converted(model), mesh)
        checkpoint.save(other.state_dict(), checkpoint_id=folder / "checkpoint")
        loaded = distribute_module(converted(network()), mesh)
        state = loaded.state_dict()
        checkpoint.load(state, checkpoint_id=folder / "checkpoint")
        loaded.load_state_dict(state)
        x = distribute_tensor(images.clone(), mesh, [Shard(0)]).requires_grad_()
        return agree(model, loaded, images.clone().requires_grad_(), x)

    yield from zip(OTHERS, (columns_and_rows, fsdp, ddp, stored))


def outcome(scenario: Callable[[], str]) -> str:
    try:
        return scenario()
    except Exception:
        return traceback.format_exc()


def main(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    store = dist.FileStore(str(folder / "store"), SIZE)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=SIZE)
    found = {name: outcome(scenario) for name, scenario in scenarios(folder)}
    torch.save(found, folder / f"{rank}.pt")
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    folder = tmp_path_factory.mktemp("sharding")
    programs = [Program(__file__, rank, folder) for rank in range(SIZE)]
    done = [program.wait(300) for program in programs]
    assert not any(d.returncode for d in done), "\n".join(d.stdout + d.stderr for d in done)
    return [torch.load(folder / f"{rank}.pt") for rank in range(SIZE)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(s, marks=pytest.mark.needs_torch("2.9", "fully_shard on CPUs")) if s == "FSDP2" else s
        for s in SCENARIOS
    ],
)
def test_scenario(found: list[dict[str, str]], scenario: str) -> None:
    assert [results[scenario] for results in found] == ["", ""]


def test_the_point_wise_functions_are_those_of_the_list() -> None:
    page = Path(__file__).parents[2] / "generic" / "activation" / "pointwise.c"
    assert set(re.findall(r"^POINTWISE(?:_OUTPUT)?\((\w+),", page.read_text(), re.MULTILINE)) == POINTWISE


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
