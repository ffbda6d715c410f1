"""thnn.compat.upgrade: what the rules change, what they leave, and what they note."""

from __future__ import annotations

import errno
import importlib.util
import re
import sys
import time
from pathlib import Path

import pytest

import thnn
from thnn.__main__ import main

PROLOGUE = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable
"""

#: Program after the prologue -> the same program mended.
CHANGES = {
    # Losses
    "nn.MSELoss(False)": 'nn.MSELoss(reduction="sum")',
    "nn.MSELoss(size_average=True)": 'nn.MSELoss(reduction="mean")',
    "nn.CrossEntropyLoss(w, False, -1)": 'nn.CrossEntropyLoss(w, reduction="sum", ignore_index=-1)',
    "nn.CrossEntropyLoss(w, True, reduce=False)": 'nn.CrossEntropyLoss(w, reduction="none")',
    "nn.NLLLoss2d(w, size_average=False)": 'nn.NLLLoss(w, reduction="sum")',
    "F.nll_loss(x, y, None, False, 255, False)": 'F.nll_loss(x, y, None, reduction="none", ignore_index=255)',
    "F.mse_loss(x,y,False)": 'F.mse_loss(x,y,reduction="sum")',
    "F.poisson_nll_loss(x, y, True, False, False)": 'F.poisson_nll_loss(x, y, True, False, reduction="sum")',
    "F.cross_entropy(\n    x, y,\n    size_average=False,  # summed\n)": (
        'F.cross_entropy(\n    x, y,\n    reduction="sum",  # summed\n)'
    ),
    # Elements of losses
    "loss = F.mse_loss(x, y)\ntotal += loss.data[0]": "loss = F.mse_loss(x, y)\ntotal += loss.item()",
    "c = nn.MSELoss().cuda()\nprint(c(x, y).data[0])": "c = nn.MSELoss().cuda()\nprint(c(x, y).item())",
    "loss = a.sum()\nloss = loss + 2 * b.mean()\nloss.data.cpu().numpy()[0]": (
        "loss = a.sum()\nloss = loss + 2 * b.mean()\nloss.item()"
    ),
    "loss = x.sum() if y else x.norm()\nloss.data[0]": "loss = x.sum() if y else x.norm()\nloss.item()",
    "loss = None\nfor x in y:\n    loss = x.sum()\nloss.data[0]": (
        "loss = None\nfor x in y:\n    loss = x.sum()\nloss.item()"
    ),
    "(a.sum() + b.mean()).data[0]": "(a.sum() + b.mean()).item()",
    "class A:\n    def f(self):\n        self.c = nn.L1Loss()\n        g(self.c(x, y).data[0])": (
        "class A:\n    def f(self):\n        self.c = nn.L1Loss()\n        g(self.c(x, y).item())"
    ),
    "def f(self):\n    self.c = nn.L1Loss()\n    x.norm().data[0]": (
        "def f(self):\n    self.c = nn.L1Loss()\n    x.norm().item()"
    ),
    # Names
    "nn.init.xavier_uniform(w)": "nn.init.xavier_uniform_(w)",
    "from torch.nn.init import normal as n, kaiming_normal\nn(w); kaiming_normal(w)": (
        "from torch.nn.init import normal_ as n, kaiming_normal_\nn(w); kaiming_normal_(w)"
    ),
    "from torch.nn.init import normal\nf(normal=1)\nx.normal\na = {1: [normal]}\ndef g(normal, b=normal): pass": (
        "from torch.nn.init import normal_\nf(normal=1)\nx.normal\na = {1: [normal_]}\ndef g(normal, b=normal_): pass"
    ),
    "torch.nn.utils.clip_grad_norm(p, 5)": "torch.nn.utils.clip_grad_norm_(p, 5)",
    "F.sigmoid(F.tanh(x))": "torch.sigmoid(torch.tanh(x))",
    "def backward(ctx, g):\n    x, = ctx.saved_variables": "def backward(ctx, g):\n    x, = ctx.saved_tensors",
    # Defaults that changed
    "F.dropout(x, 0.5)": "F.dropout(x, 0.5, training=False)",
    "F.dropout(\n    x,  # a\n    0.5,\n)": "F.dropout(\n    x,  # a\n    0.5,\n    training=False,\n)",
    "F.upsample(x, scale_factor=2)": "F.interpolate(x, scale_factor=2)",
    "F.upsample(x, None, 2, 'bilinear')": "F.interpolate(x, None, 2, 'bilinear', align_corners=True)",
    "nn.Upsample(scale_factor=2, mode='trilinear')": (
        "nn.Upsample(scale_factor=2, mode='trilinear', align_corners=True)"
    ),
    "F.grid_sample(x, F.affine_grid(t, s))": (
        "F.grid_sample(x, F.affine_grid(t, s, align_corners=True), align_corners=True)"
    ),
    # Variables
    "Variable(x, volatile=False)": "Variable(x)",
    "if type(h) == Variable: pass": "if isinstance(h, Variable): pass",
    "if (type(h) is not torch.cuda.FloatTensor): pass": "if (not isinstance(h, torch.cuda.FloatTensor)): pass",
    "def test():\n    x = Variable(y, volatile=True)\n    print(net(x, Variable(z)))": (
        "@torch.no_grad()\ndef test():\n    x = Variable(y)\n    print(net(x, Variable(z)))"
    ),
    "def test(r):\n    x = net(Variable(y, volatile=True))\n    r.n = n = x.data.sum()\n    return n / len(y)": (
        "@torch.no_grad()\ndef test(r):\n    x = net(Variable(y))\n    r.n = n = x.data.sum()\n    return n / len(y)"
    ),
    # Numbers, integers and masks
    "p.data.add_(-lr, d)": "p.data.add_(d, alpha=-lr)",
    "a.addcmul_(1 - b, g, g)": "a.addcmul_(g, g, value=1 - b)",
    "torch.add(x, 2, y)": "torch.add(x, y, alpha=2)",
    "x.sub_(2, y); torch.sub(x, 2, y)": "x.sub_(y, alpha=2); torch.sub(x, y, alpha=2)",
    "torch.addcdiv(x, 2, y, z)": "torch.addcdiv(x, y, z, value=2)",
    "x.addmm_(0, 1, y, z.t())": "x.addmm_(y, z.t(), beta=0, alpha=1)",
    "x.addmv(b, y, z)": "x.addmv(y, z, beta=b)",
    "x.addr_(1, y, z)": "x.addr_(y, z, beta=1)",
    "torch.baddbmm(0, x, 2, y, z)": "torch.baddbmm(x, y, z, beta=0, alpha=2)",
    "torch.addmm(b, x, y, z)": "torch.addmm(x, y, z, beta=b)",
    "_, i = x.topk(3)\nrow = i / 7": '_, i = x.topk(3)\nrow = torch.div(i, 7, rounding_mode="trunc")',
    "i = x.long() / y.size(1)": 'i = torch.div(x.long(), y.size(1), rounding_mode="trunc")',
    "n = (x.data.max(1)[1] / y.long())": (
        'n = (torch.div(x.data.max(1)[1], y.long(), rounding_mode="trunc"))'
    ),
    "x.view(n / 2, -1)\nfor i in range(n/2): pass": "x.view(n // 2, -1)\nfor i in range(n//2): pass",
    "1 - x.eq(y)": "~x.eq(y)",
    "m = x.data > y\nx[(1 - m)] = 0": "m = x.data > y\nx[(~m)] = 0",
    "x[m.byte()]": "x[m.bool()]",
    "x[:, m.byte()] = 1": "x[:, m.bool()] = 1",
    "x.masked_fill_(m.byte(), 0)": "x.masked_fill_(m.bool(), 0)",
    # Python
    "x.cuda(async=True)": "x.cuda(non_blocking=True)",
    "y.copy_(f(x), async = True)  # é": "y.copy_(f(x), non_blocking = True)  # é",
    "it = iter(loader)\nx = it.next()": "it = iter(loader)\nx = next(it)",
    "iter(loader).next()": "next(iter(loader))",
}

#: Programs that stay as they are, without a note.
LEFT = """
x.data[1]
x.data[0] = 3
nn.MSELoss(reduction="sum")
F.mse_loss(x, y)
F.mse_loss(*pair)
F.dropout(x, 0.5, self.training)
F.dropout(*settings)
F.softmax(x, dim=1)
F.upsample_nearest(x, scale_factor=2)
F.affine_grid(x, size, True)
F.grid_sample(x, grid, mode, "zeros", False)
nn.Upsample(None, 2, "bilinear", True)
nn.Upsample(None, 2, "nearest")
torch.ops.thnn.relu(x)
np.frob(x)
x.max(1)[1] / 2
net._backend
Variable(x.data, requires_grad=True)
meter.add(x, y)
x.addmm_(y, z)
x.addmm_(y, z, beta=0)
torch.addmm(x, y, z)
x.addcmul_(y, z)
socket.addr(1, x, y)
torch.tensor.frob
self.data[0]
seen.add_(x)
1 - x
n / 2
print(n / 2, x.view(n, 2) / 2)
range(n // 2)
def f(type): return type(x) == 1
other.sigmoid(x)
type(x) == int
x[mask]
x.masked_fill_(mask, 0)
torch.arange(0, 5).long()
torch.load(f, weights_only=True)
text.next()
def async_copy(): pass
ctx.saved_tensors
mask.byte()
isinstance(x, Variable)
""".strip().splitlines()

#: Program -> what its note says.
NOTES = {
    "def f(loss): print(loss.data[0])": r"1: note: loss\.data.0.: an IndexError if loss has no dimensions",
    "c = nn.MSELoss(reduction='none')\nc(x, y).data[0]": "2: note: c.x, y..data.0.: an IndexError",
    "nn.MSELoss(average)": "size_average and reduce are reduction='mean', 'sum' or 'none' today",
    "nn.MSELoss(*a, size_average=False)": "size_average and reduce are reduction=",
    "nn.MSELoss(\n    size_average=False,  # a\n    reduce=True)": 'these are reduction="sum" today',
    "F.softmax(x)": "without dim it is 1 for tensors with 2 or 4 dimensions",
    "nn.Upsample(size, mode=mode)": "the linear modes aligned the corners",
    "def f(y):\n    return net(Variable(y, volatile=True))": "2: note: .*volatile has no effect today",
    "def f(y):\n    x = Variable(y, volatile=True)\n    g(x)\ndef g(x):\n    x.backward()": "2: note: .*volatile",
    "def f(y):\n    r.x = Variable(y, volatile=True)": "2: note: .*volatile",
    "def f(y):\n    r.append(Variable(y, volatile=True) + y)": "2: note: .*volatile",
    "def f(y):\n    x = Variable(y, volatile=True)\n    def g(): use(x)\n    start(g)": "2: note: .*volatile",
    "def f(y):\n    x = Variable(y, volatile=True)\n    yield x": "2: note: .*volatile",
    "loss = x.sum() if y else x\nloss.data[0]": "2: note: loss.data.0.: an IndexError",
    "loss = None\nloss.data[0]": "2: note: loss.data.0.: an IndexError",
    "x.volatile": "no effect today",
    "x.creator": "grad_fn",
    "torch.arange(0, 5)": "was a FloatTensor",
    "torch.load(f)": "weights_only=False",
    "import torch.legacy.nn as old": "has no torch.legacy; use torch.nn",
    "from torch.utils.ffi import create_extension": "has no torch.utils.ffi; use thnn.load",
    "x.btrifact()": "tensors have no btrifact today; use torch.linalg.lu_factor",
    "torch.btriunpack(*x)": "has no torch.btriunpack; use torch.lu_unpack",
    "torch.is_tensor(x)": "is True for Variables too since 0.4",
    "isinstance(x, torch._TensorBase)": "has no torch._TensorBase; use torch.Tensor, the type of Variables too",
    "isinstance(x, torch.tensor._TensorBase)": "has no torch.tensor._TensorBase; use torch.Tensor",
    "from torch.tensor import _TensorBase": "has no torch.tensor._TensorBase; use torch.Tensor",
    "torch.potrf(x)": "has no torch.potrf; use torch.linalg.cholesky",
    "from torch.nn.modules.utils import _frob": "has no torch.nn.modules.utils._frob",
    "x.long() / n": "integer tensors: if both are",
    "i = x.long()\ni /= 2": "2: note: .*an error for integer tensors",
    "x.eq(y) - x.eq(z)": "comparisons are bools since 1.2",
    "m = torch.ByteTensor(5)\nx[m]": "2: note: x.m.: masks are bools",
    "m = None\nm = x.byte()\nx[m]": "3: note: .*masks are bools",
    "m = x.byte()\nx.masked_select(m)": "2: note: .*masks are bools",
}


@pytest.mark.parametrize("program", CHANGES)
def test_changes(program: str) -> None:
    result = thnn.compat.upgrade(PROLOGUE + program)
    assert result.text == PROLOGUE + CHANGES[program]
    compile(result.text, "program", "exec")
    assert all(finding.new is not None for finding in result.findings)
    assert result.findings
    again = thnn.compat.upgrade(result.text)
    assert again.text == result.text
    assert not again.findings


def test_other_lines_stay() -> None:
    for program in LEFT:
        result = thnn.compat.upgrade(PROLOGUE + program)
        assert (result.text, result.findings) == (PROLOGUE + program, ()), program


@pytest.mark.parametrize("program", NOTES)
def test_notes(program: str) -> None:
    result = thnn.compat.upgrade(
        "import torch, torch.nn as nn, torch.nn.functional as F; from torch.autograd import Variable; " * 1
        + "\n"
        + program
    )
    assert result.text.endswith(program)
    (finding,) = result.findings
    assert finding.new is None
    line, _, rest = str(finding).partition(":")
    assert re.search(NOTES[program], f"{int(line) - 1}:{rest}")


RESTORED = """\
# A program.
'''Its text.'''
from __future__ import division

import torch
{statement}
"""
_INSTALL = "import thnn\nthnn.compat.install()\n"
_LEGACY = """

class Double(torch.autograd.Function):

    def forward(self, x):
        return 2 * x
"""
_STATIC = _LEGACY.replace("    def forward(self", "    @staticmethod\n    def forward(ctx")


@pytest.mark.parametrize(
    "statement",
    [
        "# the backend\nfrom torch._thnn import type2backend",
        "import torch.nn._functions.thnn.auto as auto",
        "from torch.nn.backends.thnn import backend",
        "try:\n    from torch.nn._functions.thnn import *\nexcept ImportError:\n    pass",
    ],
)
def test_imports_are_restored(statement: str) -> None:
    text = RESTORED.format(statement=statement)
    result = thnn.compat.upgrade(text)
    assert result.text == text.replace("import torch\n", f"import torch\n{_INSTALL}", 1)
    assert [str(f).partition(" (")[0] for f in result.findings] == [
        f"{6 + statement.startswith('#')}: insert import thnn; thnn.compat.install()"
    ]
    assert not thnn.compat.upgrade(result.text).findings


@pytest.mark.parametrize(
    "statement", [_LEGACY, "f = net._backend.Linear", "y = torch.nn.functional._functions"]
)
def test_classes_and_attributes_are_restored(statement: str) -> None:
    text = RESTORED.format(statement=statement)
    result = thnn.compat.upgrade(text)
    assert result.text == text.replace("import torch\n", f"import torch\n{_INSTALL}", 1)
    for other in (_STATIC, "class A:\n    def f(self):\n        self._backend = 1\n        self._backend()"):
        text = RESTORED.format(statement=other)
        assert thnn.compat.upgrade(text).text == text


def test_names_that_compat_lacks_are_noted() -> None:
    text = "from torch.nn._functions.thnn.auto import MSECriterion"
    findings = thnn.compat.upgrade(text).findings
    assert "has no torch.nn._functions.thnn.auto.MSECriterion; its name here is MSELoss" in str(findings[0])


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("print 'x'", "a print statement of Python 2"),
        ("print loss.data[0]", "a print statement of Python 2"),
        ("raise ValueError, 'x'", "a raise statement of Python 2"),
        ("print k, v.shape", "a print statement of Python 2"),
        ("x = = 1", "not Python 3"),
        ("move(x, async=True)", "async is a keyword of Python since 3.7: rename it"),
        ("self.async = 1", "async is a keyword of Python since 3.7: rename it"),
        ("x = '\\d' if y: z", "not Python 3"),
    ],
)
def test_what_is_not_python_3(line: str, why: str) -> None:
    with pytest.raises(ValueError, match=f"^line 3: {re.escape(repr(line))}: {why}$") as error:
        thnn.compat.upgrade(f"import torch\nif x:\n    {line}\n")
    assert error.value.line == 3


def test_indentation_of_python_2() -> None:
    with pytest.raises(ValueError, match=r"^line 3: 'y = x': indented by tabs and by spaces") as error:
        thnn.compat.upgrade("def f(x):\n        x.y\n\ty = x\n        return y\n")
    assert error.value.line == 3
    with pytest.raises(ValueError, match=r"^line \d: .*: not Python 3$"):
        thnn.compat.upgrade("x = 1\0\n")


def test_lines_are_those_of_python() -> None:
    """A form feed, as sources of the time have it between sections, ends no line."""
    result = thnn.compat.upgrade("import torch\n\f\nx = 'async'\nx.cuda(async=True)\n")
    assert result.text == "import torch\n\f\nx = 'async'\nx.cuda(non_blocking=True)\n"
    assert result.findings[0].line == 4


def test_form_feeds_stay() -> None:
    program = "import torch\n\x0cx = torch.add(x, 2, y)\n\x0cdef f():\n    return 1\n"
    assert thnn.compat.upgrade(program).text == program.replace("\x0cx", "x").replace("2, y", "y, alpha=2")


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n\r", "\r\r"])
def test_line_ends_stay(end: str) -> None:
    program = f"import torch{end}x = torch.add(x, 2, y){end}"
    assert thnn.compat.upgrade(program).text == program.replace("2, y", "y, alpha=2")


@pytest.mark.parametrize(
    "expression", ["1" + "+1" * 5000, "(" * 1500 + "1" + ")" * 1500, "f" + ".g()" * 5000]
)
def test_deep_expressions(expression: str) -> None:
    """In time, and with an error: libcst itself takes minutes, or ends the process."""
    start = time.process_time()
    with pytest.raises(ValueError, match="nested too deeply for libcst"):
        thnn.compat.upgrade(f"x = {expression}\n")
    assert time.process_time() - start < 5


def test_files_are_replaced_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The old file stays until the new one is complete, with its mode; a link stays a link."""
    file, link = tmp_path / "old.py", tmp_path / "link.py"
    file.write_text(old := "import torch\ntorch.add(x, 2, y)\n")
    file.chmod(0o751)
    link.symlink_to("old.py")
    write_bytes = Path.write_bytes

    def on_full_disk(path: Path, data: bytes) -> int:
        write_bytes(path, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", on_full_disk)
        assert main(["upgrade", "--write", str(link)]) == 2
    assert file.read_text() == old
    assert main(["upgrade", "--write", str(link)]) == 0
    assert file.read_text() == old.replace("2, y", "y, alpha=2")
    assert file.stat().st_mode & 0o777 == 0o751
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [link, file]


def test_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match=r"thnn\.compat\.upgrade: text: expected a string, got bytes"):
        thnn.compat.upgrade(b"")
    assert thnn.compat.upgrade("").text == ""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("thnn.compat._upgrade.find_spec", lambda name: None)
    with pytest.raises(NotImplementedError, match=r"needs libcst: pip install 'thnn\[upgrade\]'"):
        thnn.compat.upgrade("")


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    old, broken, latin = tmp_path / "old.py", tmp_path / "broken.py", tmp_path / "latin.py"
    old.write_bytes(
        b"\xef\xbb\xbfimport torch\r\nx = torch.add(x,  2, y)  \r\n\tif_not_parsed = 1\r\n".replace(
            b"\t", b""
        )
    )
    broken.write_text("print 1\n")
    latin.write_bytes("# -*- coding: latin-1 -*-\nx.cuda(async=True)  # é\n".encode("latin-1"))
    before = old.read_bytes()
    names = [str(old), str(broken), str(latin), str(tmp_path / "none.py")]
    assert main(["upgrade", *names]) == 2
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith(f"{old}:2: torch.add(x, 2, y) -> torch.add(x, y, alpha=2) (")
    assert out.splitlines()[1].startswith(f"{latin}:2: async= -> non_blocking= (")
    assert f"{broken}: line 1: 'print 1': a print statement of Python 2" in err
    assert "none.py" in err
    assert old.read_bytes() == before
    assert main(["upgrade", "--write", str(old), str(latin)]) == 0
    assert old.read_bytes() == before.replace(b"(x,  2, y)", b"(x,  y, alpha=2)")
    assert latin.read_bytes() == "# -*- coding: latin-1 -*-\nx.cuda(non_blocking=True)  # é\n".encode(
        "latin-1"
    )
    assert f"wrote {old}" in capsys.readouterr().out
    notebook, full = tmp_path / "a.ipynb", tmp_path / "full.py"
    notebook.write_text('{"cells": []}')
    full.write_text("import torch\ntorch.add(x, 2, y)\n")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", lambda *_: (_ for _ in ()).throw(PermissionError("denied")))
        assert main(["upgrade", "--write", str(notebook), str(full), str(old)]) == 2
    assert capsys.readouterr().err.splitlines() == [
        f"{notebook}: a notebook: `jupyter nbconvert --to script` writes its program to a file",
        f"{full}: denied",
    ]
    assert main(["upgrade", "--write", str(old), str(latin)]) == 0
    assert capsys.readouterr().out == ""
    monkeypatch.setattr("thnn.compat._upgrade.find_spec", lambda name: None)
    monkeypatch.setattr(sys, "argv", ["thnn"])
    with pytest.raises(SystemExit) as end:
        main(["upgrade", str(old)])
    assert end.value.code == 2
    assert "pip install 'thnn[upgrade]'" in capsys.readouterr().err
