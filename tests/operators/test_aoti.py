"""A package of AOTInductor with functions of thnn."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from new_process import python

import thnn

LOAD = """
import sys, torch, thnn
thnn.register_operators()
model = torch._inductor.aoti_load_package(sys.argv[1])
torch.save([model(torch.ones(n, 3)) for n in (2, 5)], sys.argv[2])
"""


@pytest.mark.filterwarnings("ignore:.torch.jit.script_method. is deprecated:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.isinstance.treespec, LeafSpec:FutureWarning")
@pytest.mark.filterwarnings("ignore:Skipping serialization of skipfiles:UserWarning")  # torch 2.6
def test_package(tmp_path: Path) -> None:
    """Another process loads the package, and calls it with batches of two sizes."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(thnn.nn.Linear(3, 4), thnn.nn.Softplus())
    package, outputs = tmp_path / "model.pt2", tmp_path / "outputs.pt"
    with torch.no_grad():
        program = torch.export.export(
            model, (torch.ones(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)
        )
        torch._inductor.aoti_compile_and_package(program, package_path=str(package))
        python("-c", LOAD, package, outputs)
        for n, output in zip((2, 5), torch.load(outputs)):
            torch.testing.assert_close(output, model(torch.ones(n, 3)))
