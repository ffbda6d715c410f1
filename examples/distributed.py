"""Trains a network in several processes whose batches differ in size, with batch normalization over all of them.

python examples/distributed.py [--processes N] [--steps N]

The program starts its own processes, connected by gloo. Each has a part of every batch of handwritten digits: the parts
differ in size, and the last process's part is sometimes empty. The result is compared with training in one process on
the whole batches.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from thnn.nn import convert_sync_batchnorm

BATCH = 48


def network() -> nn.Module:
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(128, 10),
    )  # fmt: skip
    return net.double()


def digits() -> tuple[Tensor, Tensor]:
    from sklearn.datasets import load_digits  # not needed in the other processes

    data = load_digits()
    return torch.from_numpy(data.images)[:, None] / 16, torch.from_numpy(data.target)


def part_sizes(step: int, processes: int) -> list[int]:
    """The number of samples per process: uneven, and in every fourth step 0 for the last process."""
    weights = [rank + 1 for rank in range(processes)]
    if step % 4 == 3 and processes > 1:
        weights[-1] = 0
    sizes = [BATCH * weight // sum(weights) for weight in weights]
    sizes[0] += BATCH - sum(sizes)
    return sizes


def train(
    net: nn.Module, images: Tensor, classes: Tensor, steps: int, rank: int = 0, processes: int = 1
) -> list[float]:
    """Trains on a part of each batch; returns the contribution of the part to each loss."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for step in range(steps):
        chosen = torch.arange(step * BATCH, (step + 1) * BATCH) % len(images)
        mine = chosen.split(part_sizes(step, processes))[rank]
        # The mean over the whole batch is the sum over its parts, divided by its size.
        loss = cross_entropy(net(images[mine]), classes[mine], reduction="sum") / BATCH
        optimizer.zero_grad()
        # DistributedDataParallel averages the gradients; this loss needs their sum.
        (loss * processes).backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def process(rank: int, processes: int, steps: int, directory: str, images: Tensor, classes: Tensor) -> None:
    """One of the processes."""
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", f"file://{directory}/store", rank=rank, world_size=processes)
    net = convert_sync_batchnorm(network())
    parts = train(DistributedDataParallel(net), images, classes, steps, rank, processes)
    losses = torch.tensor(parts, dtype=torch.float64)
    dist.all_reduce(losses)
    if rank == 0:
        torch.save((losses.tolist(), net.state_dict()), f"{directory}/trained")
    dist.destroy_process_group()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--processes", type=int, default=3, help="number of processes (default: %(default)s)")
    parser.add_argument(
        "--steps", type=int, default=24, help="number of training steps (default: %(default)s)"
    )
    options = parser.parse_args()
    for name in ("processes", "steps"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: expected at least 1, got {getattr(options, name)}")
    images, classes = digits()
    with tempfile.TemporaryDirectory() as directory:
        spawn(
            process, (options.processes, options.steps, directory, images, classes), nprocs=options.processes
        )
        losses, state = torch.load(f"{directory}/trained")
    net = network()
    expected = train(net, images, classes, options.steps)
    print("step  samples per process        loss  loss in one process")
    for step in range(options.steps):
        samples = " + ".join(map(str, part_sizes(step, options.processes)))
        print(f"{step + 1:4}  {samples:<20} {losses[step]:10.6f}  {expected[step]:19.6f}")
    largest = max((state[k] - v).abs().max().item() for k, v in net.state_dict().items())
    print(f"largest difference of a parameter or running statistic: {largest:.1e}")
    return 0 if largest < 1e-8 else 1


if __name__ == "__main__":
    sys.exit(main())
