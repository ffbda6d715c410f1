"""Batch normalization across processes when one fails: each other process gets a right result or an error in time.

One process forks the processes of all cases below, which run at the same time, and writes their reports to a file.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
import torch.distributed as dist
from new_process import python
from torch import Tensor

from thnn._batch_norm.communicator import ProcessGroupCommunicator
from thnn.nn import BatchNorm1d, convert_sync_batchnorm

TIMEOUT = 5.0  # of the group, from the failing step on, in seconds
PATIENCE = 60.0  # seconds for everything else
MARGIN = 5.0  # seconds after the timeout in which an error may come
CHANNELS = 4
SAMPLES = 3  # of each rank
# The collectives of a step: two layers in the forward, in the first derivative and in the second.
LAYERS = ("narrow", "wide")
COLLECTIVES = 8
FIRST_STEP, LATER_STEP = 0, 2


class Case(NamedTuple):
    """Ranks that fail, and the errors of the others."""

    size: int
    victims: tuple[int, ...]
    act: str  # kill, stop, delay, leave or raise
    step: int = LATER_STEP
    collective: int = 0  # of the step
    at: str = "gather"  # before the processes agree on a length, gather, or have gathered
    host: int | None = None  # the rank with the store; None: a process without a rank
    error: str = ""  # in the error of each survivor
    seconds: float = TIMEOUT + MARGIN  # until the last error


SILENT = "SyncBatchNorm 'narrow', forward, 4 channels of torch.float64: "
NO_STORE = "waited for the other ranks, and the store of the group"
CASES = {
    "the host of the store stops in the first batch": Case(
        3, (0,), "stop", FIRST_STEP, at="agree", host=0, error=NO_STORE
    ),
    "the host of the store stops in a later batch": Case(3, (0,), "stop", host=0, error=NO_STORE),
    "the host of the store dies in the first batch": Case(
        3, (0,), "kill", FIRST_STEP, at="agree", host=0, error=NO_STORE
    ),
    "one of four dies": Case(4, (1,), "kill", error=SILENT + "rank 1 has not answered", seconds=TIMEOUT),
    "one of four raises after a collective": Case(
        4,
        (1,),
        "raise",
        collective=3,
        at="gathered",
        error="rank 1 has failed in another collective",
        seconds=TIMEOUT,
    ),
    "two of six die": Case(6, (1, 2), "kill", error=SILENT + "ranks 1, 2 have not answered", seconds=TIMEOUT),
}


# The processes.


def network() -> Any:
    torch.manual_seed(1)
    return torch.nn.ModuleDict(
        {
            LAYERS[0]: BatchNorm1d(CHANNELS, dtype=torch.float64),
            "linear": torch.nn.Linear(CHANNELS, 2 * CHANNELS, dtype=torch.float64),
            LAYERS[1]: BatchNorm1d(2 * CHANNELS, dtype=torch.float64),
        }
    )


def results(net: Any, x: Tensor) -> list[Tensor]:
    """Output, first and second derivative of a network w.r.t. its input."""
    x = x.detach().requires_grad_()
    y = net["wide"](net["linear"](net["narrow"](x)).tanh())
    (first,) = torch.autograd.grad(y.sin().sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.square().sum(), x)
    return [y.detach(), first.detach(), second]


def striking(case: Case, record: Callable[[], None]) -> None:
    """Makes this process fail at the point that a case names."""
    collectives = 0

    def strike(at: str) -> None:
        if at != case.at or collectives != case.step * COLLECTIVES + case.collective:
            return
        record()
        if case.act == "delay":
            time.sleep(TIMEOUT / 3)
        elif case.act == "leave":
            raise KeyboardInterrupt  # the process goes on, without another collective
        elif case.act == "raise":
            raise RuntimeError("of the test")
        else:
            os.kill(os.getpid(), signal.SIGSTOP if case.act == "stop" else signal.SIGKILL)

    agree, gather = ProcessGroupCommunicator._agree_on_length, dist.all_gather

    def struck_agree(*args: Any) -> None:
        strike("agree")
        agree(*args)

    def struck_gather(*args: Any) -> None:
        nonlocal collectives
        strike("gather")
        gather(*args)
        strike("gathered")
        collectives += 1

    ProcessGroupCommunicator._agree_on_length = struck_agree  # type: ignore[method-assign]
    dist.all_gather = struck_gather


def run(name: str, rank: int, port: int, report: Path, expected: list[Tensor], steps: int = 4) -> None:
    case = CASES[name]
    made: Any = dist.TCPStore("127.0.0.1", port, is_master=case.host == rank, wait_for_workers=False)
    if case.host == rank:
        report.with_name(f"{name} port").write_text(str(made.port))
    found: dict[str, Any] = {"rank": rank, "steps": 0}
    if rank in case.victims:
        striking(case, lambda: report.with_name(f"{name} struck").write_text(str(time.monotonic())))
    # The short timeout begins with the failure: earlier steps may be slow on a busy machine.
    ProcessGroupCommunicator._timeout = (  # type: ignore[method-assign]
        lambda *_: TIMEOUT if found["steps"] >= case.step else PATIENCE
    )
    dist.init_process_group(
        "gloo", store=made, rank=rank, world_size=case.size, timeout=timedelta(seconds=PATIENCE)
    )
    net = convert_sync_batchnorm(network())
    try:
        for _ in range(steps):
            for ours, whole in zip(results(net, whole_input(case.size).split(SAMPLES)[rank]), expected):
                torch.testing.assert_close(ours, whole.split(SAMPLES)[rank], rtol=1e-9, atol=1e-9)
            found["steps"] += 1
    except BaseException as error:
        found |= {"kind": type(error).__name__, "text": str(error), "time": time.monotonic()}
    report.write_text(json.dumps(found))
    # The process with the store has to outlive the others.
    time.sleep(TIMEOUT + MARGIN)


def whole_input(size: int) -> Tensor:
    return torch.randn(
        size * SAMPLES, CHANNELS, generator=torch.Generator().manual_seed(size), dtype=torch.float64
    )


def forked(function: Callable[..., None], *arguments: Any) -> int:
    """The process number of a child that ends with this process, at the latest after a while."""
    pid = os.fork()
    if pid:
        return pid
    try:
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG, which ends stopped processes, too
        signal.alarm(2 * int(PATIENCE))
        function(*arguments)
    finally:
        os._exit(0)


def serve(file: Path) -> None:
    store = dist.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    file.write_text(str(store.port))
    time.sleep(2 * PATIENCE)


def read(file: Path) -> str:
    """The content of a file that another process writes."""
    while not (file.exists() and (text := file.read_text())):
        time.sleep(0.01)
    return text


def main(directory: Path, names: list[str]) -> None:
    """Runs cases. This process has no threads, which a fork would stop with their locks."""
    torch.set_num_threads(1)
    # The loopback interface, since the host name may resolve to an unreachable address.
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    children: list[int] = []
    try:
        for name in names:
            case = CASES[name]
            expected = results(network(), whole_input(case.size))
            ranks = list(range(case.size))
            file = directory / f"{name} port"
            if case.host is None:
                children.append(forked(serve, file))
            else:
                ranks.remove(case.host)
                children.append(forked(run, name, case.host, 0, directory / f"{name} {case.host}", expected))
            port = int(read(file))
            children += [forked(run, name, r, port, directory / f"{name} {r}", expected) for r in ranks]
        survivors = [
            directory / f"{name} {r}"
            for name in names
            for r in range(CASES[name].size)
            if r not in CASES[name].victims
        ]
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and not all(file.exists() for file in survivors):
            time.sleep(0.05)
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


# The tests.


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("processes")
    python(__file__, directory, timeout=2 * PATIENCE)
    return directory


@pytest.mark.parametrize("name", CASES)
def test_survivors(reports: Path, name: str) -> None:
    case = CASES[name]
    struck = float((reports / f"{name} struck").read_text())
    for rank in {*range(case.size)} - {*case.victims}:
        file = reports / f"{name} {rank}"
        assert file.exists(), f"rank {rank} hangs"
        found = json.loads(file.read_text())
        assert found["kind"] == "RuntimeError", found
        assert case.error in found["text"], found
        # Without Store.clone (torch 2.6) the client that waits for a silent host is torch's: a minute longer.
        patience = case.seconds if hasattr(dist.Store, "clone") else case.seconds + 60
        assert found["time"] - struck < patience, found


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] or list(CASES))
