"""The moving statistics of batch normalization when several devices each have a part of the batch.

python examples/moving_statistics.py [--devices NAME NAME]

All images of a device have the same value, so that the mean of its part is that value and the variance 0. Each row of
the table shows the moving statistics after one step of training from moving mean 0 and moving variance 1, and the
outputs on each device. The decay is 0.9, in the last row the equivalent one for two devices. Only the
moving variance of 'sync' includes the variance between the devices.
"""

from __future__ import annotations

import argparse

import torch

from thnn.nn import BatchNorm2d
from thnn.parallel import SelfDataParallel, equivalent_decay

DECAY = 0.9

# Value of the data on each device, moving_statistics, and the decay of the layer.
RUNS = [
    ((1,), "sync", DECAY),
    ((1, 1), "sum", DECAY),
    ((1, 2), "sum", DECAY),
    ((1, 2), "sync", DECAY),
    ((1, 2), "first", DECAY),
    ((1, 2), "last", DECAY),
    ((1, 2), "mean", DECAY),
    # Equal to 'mean'.
    ((1, 2), "sum", equivalent_decay(DECAY, 2)),
]


def row(values: tuple[int, ...], how: str, decay: float, devices: list[str]) -> str:
    """A row of the table: one step of training. All channels and all images of a device are equal."""
    layer = BatchNorm2d(3, eps=1e-3, decay=decay, unbiased=False, device=devices[0])
    parallel = SelfDataParallel(layer, devices[: len(values)], how)  # type: ignore[arg-type]
    outputs = parallel(torch.cat([torch.full((4, 3, 8, 8), float(value)) for value in values]))
    state = layer.state_dict()
    mean, variance = state["running_mean"][0].item(), state["running_var"][0].item()
    data = ", ".join(map(str, values))
    shown = ", ".join(f"{y[0, 0, 0, 0].item():.6f}" for y in outputs)
    return f"{len(values):>7}  {data:<5} {how:<6} {decay:<6.4g} {mean:>11.6g} {variance:>15.6g}   {shown}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Moving statistics of one layer on several devices.")
    parser.add_argument(
        "--devices",
        nargs=2,
        default=["cpu", "cpu"],
        metavar="NAME",
        help="two devices, which may be the same (default: cpu cpu)",
    )
    devices = parser.parse_args().devices

    print(
        f"{'devices':>7}  {'data':<5} {'how':<6} {'decay':<6} {'moving mean':>11} {'moving variance':>15}   outputs"
    )
    for values, how, decay in RUNS:
        print(row(values, how, decay, devices))


if __name__ == "__main__":
    main()
