"""Programs in the style of 2017, which run on today's torch after `upgrade`, without a warning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F

import thnn

PROGRAMS = Path(__file__).resolve().parent / "programs"


def names_after(program: str) -> dict[str, Any]:
    """The names of a program after it ran, mended."""
    text = (PROGRAMS / f"{program}.txt").read_text()
    result = thnn.compat.upgrade(text)
    unchanged = len(set(text.splitlines()) & set(result.text.splitlines()))
    assert unchanged + len(result.findings) >= len(set(text.splitlines()))  # a changed line has a finding
    names: dict[str, Any] = {"__name__": program}
    try:
        exec(compile(result.text, program, "exec"), names)
    finally:
        thnn.compat.uninstall()
    assert thnn.compat.upgrade(result.text).text == result.text
    names["notes"] = [str(f) for f in result.findings if f.new is None]
    return names


def test_digits(capsys: pytest.CaptureFixture[str]) -> None:
    names = names_after("digits")
    first, last = (float(line.split()[-1]) for line in capsys.readouterr().out.splitlines())
    assert last < first < 1.1
    assert names["results"]["accuracy"] == 1
    assert names["results"]["loss"] < 0.3


def test_language_model() -> None:
    names = names_after("language_model")
    losses = names["losses"]
    assert losses[-1] < 0.6 * losses[0]
    assert 0 < names["last"] < 1
    model, text = names["model"], names["text"]
    lstm = torch.nn.LSTM(8, 8)
    lstm.load_state_dict(
        {
            f"weight_{name[2:]}_l0" if name[0] == "w" else f"bias_{name[2:]}_l0": p.detach()
            for name, p in model.named_parameters()
            if name[:2] in ("w_", "b_")
        }
    )
    with thnn.compat:
        output, hidden = model(text[:4], model.init_hidden(2))
    expected, state = lstm(model.encoder(text[:4]))
    torch.testing.assert_close(output, model.decoder(expected).flatten(0, 1))
    torch.testing.assert_close(hidden, state)
    assert names["notes"] == []


def test_segmentation() -> None:
    names = names_after("segmentation")
    assert names["losses"][-1] < 0.6 * names["losses"][0]
    net, image, label = names["net"], names["image"], names["label"]
    # The same network in today's functions.
    x = F.leaky_relu(net.down(image), 0.2)
    pooled, indices = F.max_pool2d(x, 2, return_indices=True)
    x = F.max_unpool2d(pooled, indices, 2)
    x = F.avg_pool2d(F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True), 2)
    scores = F.log_softmax(net.up(x), 1)
    torch.testing.assert_close(names["scores"], scores.detach())
    assert torch.equal(names["rows"] * 8 + names["columns"], names["place"])
    assert names["rows"].dtype is torch.int64
    ignored = label == 255
    assert torch.equal(names["kept"], label[~ignored])
    assert torch.equal(names["hits"], (scores.argmax(1) == label) & ~ignored)
    assert torch.equal(names["weight"], (~ignored).float())
    torch.testing.assert_close(names["same"], image[:1])
