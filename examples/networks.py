"""Trains networks of torch layers with torch and, after thnn.convert(), with thnn, and compares their losses.

python examples/networks.py [NETWORK ...] [--steps N] [--seed N] [--threads N]

Both networks of a pair have the same initial values and the same batch, in float64. Rounding errors grow with each
step; the exit status is 1 if any two losses of a pair differ by more than 1e-8 of the loss.
"""

from __future__ import annotations

import argparse
import copy

import torch
from torch import Tensor, nn

import thnn
from thnn.testing.networks import NETWORKS, Network

TOLERANCE = 1e-8  # relative to the loss
LEARNING_RATE = 0.0001


def train(modules: nn.ModuleList, input: Tensor, target: Tensor, steps: int) -> list[float]:
    """The loss after each step; `modules` are the network and its loss."""
    network, loss = modules
    torch.manual_seed(1)  # for dropout
    optimizer = torch.optim.SGD(network.parameters(), lr=LEARNING_RATE)
    losses = []
    for _ in range(steps):
        value = loss(network(input), target)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def compare(network: Network, steps: int, seed: int) -> bool:
    """Trains one network both ways and prints the losses; returns True if they agree."""
    torch.manual_seed(seed)
    original = nn.ModuleList([network.make(), network.make_loss()]).double()
    converted = copy.deepcopy(original)
    print(f"{network.name}, input {network.small}")
    print(thnn.convert(converted))
    input = network.input(network.small, torch.float64, seed)
    with torch.no_grad():
        target = network.target(copy.deepcopy(original)[0](input), seed + 1)
    pairs = list(zip(*(train(modules, input, target, steps) for modules in (original, converted))))
    print("step  loss with torch    loss with thnn")
    for step, (theirs, ours) in enumerate(pairs):
        print(f"{step:4}  {theirs:<17.12f}  {ours:<17.12f}".rstrip())
    differences = [abs(ours - theirs) / max(abs(theirs), 1e-300) for theirs, ours in pairs]
    agree = all(difference <= TOLERANCE for difference in differences)  # false for NaN
    verdict = "as expected" if agree else f"above {TOLERANCE:g} in some step"
    print(f"greatest difference: {max(differences):.1e} of the loss, {verdict}\n")
    return agree


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(NETWORKS)} (default: all)"
    )
    parser.add_argument("--steps", type=positive, default=10, help="training steps (default 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights and the batch (default 0)")
    parser.add_argument("--threads", type=positive, help="threads for both (default: torch's choice)")
    options = parser.parse_args()
    unknown = [name for name in options.networks if name not in NETWORKS]
    if unknown:
        parser.error(f"unknown network {unknown[0]!r}; expected {', '.join(NETWORKS)}")
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    agree = [compare(NETWORKS[name], options.steps, options.seed) for name in options.networks or NETWORKS]
    return 0 if all(agree) else 1


if __name__ == "__main__":
    raise SystemExit(main())
