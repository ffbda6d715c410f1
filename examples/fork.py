"""Trains a small network on handwritten digits and evaluates its inference branch in the training loop.

python examples/fork.py [--epochs N] [--seed N] [--every N] [--threads N] [--draw FILE]

The network is a net of operators. At its first batch normalization it forks into a branch for training and a branch for
inference, which share parameters and estimates: nothing is copied or switched. --draw writes a picture of it.
"""

from __future__ import annotations

import argparse

import torch
from digits import BATCH, Digits, positive
from torch import Tensor

from thnn import graph


def build() -> graph.Net:
    """Two blocks of convolution, batch normalization and threshold; pooling to 4x4; one matrix for the ten classes."""
    net = graph.Net()

    def block(number: int, source: str, inputs: int, outputs: int) -> str:
        weight, scale, bias = (f"{name}{number}" for name in ("weight", "scale", "bias"))
        net.new_parameter(weight, (outputs, inputs, 3, 3), torch.nn.init.kaiming_normal_)
        net.new_parameter(scale, (outputs,), torch.nn.init.ones_)
        net.new_parameter(bias, (outputs,), torch.nn.init.zeros_)
        net.append_op(
            graph.Operator(
                "SpatialConvolutionMM", input=source, weight=weight, output=f"convolved{number}",
                kW=3, kH=3, dW=1, dH=1, padW=1, padH=1,
            )
        )  # fmt: skip
        graph.batch_norm_layer(net, f"convolved{number}", f"normalized{number}", scale, bias, momentum=0.9)
        net.append_op(
            graph.Operator("Threshold", f"normalized{number}", output=f"block{number}", threshold=0, val=0)
        )
        return f"block{number}"

    features = block(2, block(1, "images", 1, 16), 16, 32)
    net.append_op(
        graph.Operator("SpatialMaxPooling", features, output="pooled", kW=2, kH=2, dW=2, dH=2, padW=0, padH=0)
    )
    net.append_op(graph.Operator(torch.flatten, "pooled", output="flat", start_dim=1))
    net.new_parameter("matrix", (10, 32 * 4 * 4), lambda value: torch.nn.init.normal_(value, std=0.02))
    net.new_parameter("offset", (10,), torch.nn.init.zeros_)
    net.append_op(graph.Operator("Linear", "flat", "matrix", "offset", output="scores"))
    net.append_op(graph.Operator("LogSoftMax", "scores", output="digit"))
    net.append_op(graph.Operator("ClassNLLCriterion", input="digit", target="labels", output="loss"))
    return net


@torch.no_grad()
def accuracy(net: graph.Net, images: Tensor, labels: Tensor) -> float:
    """The accuracy of the inference branch, which computes no loss and needs no labels."""
    return (net.infer("digit", images=images).argmax(1) == labels).double().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a net that forks, and evaluate it during training.")
    parser.add_argument(
        "--epochs", type=positive, default=4, metavar="N", help="passes over the images (default 4)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="for weights and order (default 0)")
    parser.add_argument(
        "--every", type=positive, default=30, metavar="N", help="batches between evaluations (default 30)"
    )
    parser.add_argument("--threads", type=positive, metavar="N", help="threads (default: torch's choice)")
    parser.add_argument(
        "--draw", metavar="FILE.md", help="draw the net with the branch for inference highlighted"
    )
    options = parser.parse_args()

    if options.threads:
        torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    digits = Digits.load()
    net = build()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.003)
    for epoch in range(1, options.epochs + 1):
        for batch_id, chosen in enumerate(torch.randperm(len(digits.train)).split(BATCH)):
            loss = net.train("loss", images=digits.train[chosen], labels=digits.train_target[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if batch_id % options.every == 0:
                right = accuracy(net, digits.test, digits.test_target)
                print(
                    f"epoch {epoch}, batch {batch_id:2}: loss {loss.item():.4f}, test accuracy {right:7.2%}"
                )
    print(f"test accuracy: {100 * accuracy(net, digits.test, digits.test_target):.2f} %")
    if options.draw:
        graph.draw(net, options.draw, target=("infer", "digit"))
        print(f"picture: {options.draw}")


if __name__ == "__main__":
    main()
