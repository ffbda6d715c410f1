"""Net: operators on named variables, with a branch for training and one for inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from torch import Tensor

from thnn.graph.operators import Operator
from thnn.graph.variables import Scope, Variable, names_of

BranchName = Literal["train", "infer"]
BRANCHES: Final = ("train", "infer")


@dataclass(frozen=True)
class _Schedule:
    """The execution of targets: operators in order."""

    leaves: dict[str, str]  # variable that is fed or has a value -> its first reader, for messages
    steps: tuple[tuple[Operator, tuple[str, ...]], ...]  # operator, and the variables that no later one reads


class Net:
    """Operators on named variables. Operators are appended in any order; each variable has at most one writer.

    A net forks at its batch normalization, and at other operators that differ between training and inference: these
    operators and those that depend on them exist twice, in the branch that `train` runs and in the branch that `infer`
    runs. All others are shared. The branches use the same variables and never merge. Running a target runs its
    dependencies and nothing else.

    Arguments:
        scope: Scope or None: holds the variables; None: a new one

    A net must not be trained by several threads at the same time: their updates of an estimate would race.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        if scope is not None and not isinstance(scope, Scope):
            raise TypeError(f"Net: scope: expected a Scope, got {type(scope).__name__}")
        self.scope = Scope() if scope is None else scope
        self.operators: tuple[Operator, ...] = ()
        self._writers: dict[str, Operator] = {}
        self._readers: dict[str, list[Operator]] = {}
        self._counterparts: dict[Operator, Operator] = {}
        self._batches: dict[Operator, int] = {}
        self._schedules: dict[tuple[str, tuple[str, ...]], _Schedule] = {}

    def new_var(self, name: str, value: Tensor | None = None, *, trainable: bool = True) -> Variable:
        """`Scope.new_var` in this net's scope."""
        return self.scope.new_var(name, value, trainable=trainable)

    def new_parameter(self, name: str, size: Sequence[int], initialize: Any, **options: Any) -> Variable:
        """`Scope.new_parameter` in this net's scope."""
        return self.scope.new_parameter(name, size, initialize, **options)

    def append_op(self, operator: Operator) -> Operator:
        """Adds an operator to the net, and its new variables to the scope.

        Estimates of a batch_norm_op without a value are initialized: mean 0, variance 1, sized as its scale.

        Errors: TypeError for an argument that is not an operator; ValueError for one that is in the net already, for a
        written variable that another operator writes or that has a value, for a cycle, and for estimates of unknown
        size. After an error the net is unchanged.
        """
        if not isinstance(operator, Operator):
            raise TypeError(f"append_op: expected an Operator, got {type(operator).__name__}")
        if operator in self._batches:
            raise ValueError(f"append_op: {operator} is in the net already")
        for name in operator.writes:
            if name in self._writers:
                raise ValueError(
                    f"append_op: {operator}: variable {name!r} is written by {self._writers[name]} already"
                )
            if self._value(name) is not None:
                raise ValueError(
                    f"append_op: {operator}: variable {name!r} has a value, so no operator may write it"
                )
        for name in operator.updates:
            for other in self._readers.get(name, ()):
                if name in other.updates:
                    raise ValueError(
                        f"append_op: {operator}: variable {name!r} is updated by {other} already"
                    )
        self._refuse_cycle(operator)
        estimates = self._make_estimates(operator)
        for name in (*operator.reads, *operator.writes):
            if name not in self.scope:
                self.scope.new_var(name)
        for name, value in estimates.items():
            self.scope[name].trainable = False
            self.scope[name].value = value
        self.operators += (operator,)
        self._batches[operator] = 0
        self._writers |= dict.fromkeys(operator.writes, operator)
        for name in operator.reads:
            self._readers.setdefault(name, []).append(operator)
        self._schedules.clear()
        self._counterparts.clear()
        return operator

    def _value(self, name: str) -> Tensor | None:
        variable = self.scope.get(name)
        return None if variable is None else variable.value

    def _refuse_cycle(self, operator: Operator) -> None:
        written, seen = set(operator.writes), set()
        if written.isdisjoint(self._readers) and written.isdisjoint(operator.reads):
            return  # the usual case: appended after the operators that it depends on
        waiting = list(operator.reads)
        while waiting:
            name = waiting.pop()
            if name in written:
                raise ValueError(f"append_op: {operator}: variable {name!r} would depend on itself")
            if name not in seen and name in self._writers:
                waiting.extend(self._writers[name].reads)
            seen.add(name)

    def _make_estimates(self, operator: Operator) -> dict[str, Tensor]:
        if operator.kind != "batch_norm_op":
            return {}
        made = {}
        for slot, initial in (("estimated_mean", 0.0), ("estimated_var", 1.0)):
            name = operator.inputs[slot]
            assert isinstance(name, str)
            if name in self._writers or name in operator.writes:
                raise ValueError(
                    f"append_op: {operator}: {slot}: variable {name!r} is written by an operator"
                )
            variable = self.scope.get(name)
            if variable is not None and variable.value is not None:
                if variable.value.requires_grad:
                    raise ValueError(
                        f"append_op: {operator}: {slot}: variable {name!r} requires a gradient;"
                        " make it with trainable=False"
                    )
                continue
            scale = operator.inputs["scale"]
            assert isinstance(scale, str)
            like = self._value(scale)
            if like is None:
                raise ValueError(
                    f"append_op: {operator}: {slot}: variable {name!r} has no value, and its size is unknown, since"
                    f" scale, variable {scale!r}, has no value either"
                )
            made[name] = torch.full_like(like, initial, requires_grad=False)
        return made

    # Branches

    def branch(self, name: BranchName) -> tuple[Operator, ...]:
        """The operators of a branch, shared ones included, in order of execution.

        Shared operators are the same objects in both branches. Operators that need statistics of a batch are not in the
        branch for inference.
        """
        _check_branch("branch", name)
        lost = {} if name == "train" else self._train_only
        available = [n for o in self.operators for n in o.writes if n not in lost]
        return tuple(operator for operator, _ in self._schedule(name, tuple(dict.fromkeys(available))).steps)

    def shared(self) -> tuple[Operator, ...]:
        """The operators that both branches share, in order of execution."""
        return tuple(o for o in self.branch("train") if self._of_branch("infer", o) is o)

    def _of_branch(self, branch: str, operator: Operator) -> Operator:
        if branch == "train":
            return operator
        if not self._counterparts:
            self._counterparts.update(self._make_counterparts())
        return self._counterparts[operator]

    def _make_counterparts(self) -> dict[Operator, Operator]:
        counterparts: dict[Operator, Operator] = {}
        forked: set[str] = set()
        for operator in self._ordered(o for o in self.operators):
            if operator.forks:
                counterparts[operator] = operator.for_inference()
            elif not forked.isdisjoint(operator.reads):
                counterparts[operator] = operator.replace()
            else:
                counterparts[operator] = operator
                continue
            forked.update(operator.writes)
        return counterparts

    @property
    def _train_only(self) -> dict[str, str]:
        """Variables that the branch for inference lacks -> the statistic of a batch that they depend on."""
        sources: dict[str, str] = {}
        for operator in self._ordered(o for o in self.operators):
            sources |= {name: name for name in operator.train_only}
            for name in operator.reads:
                if name in sources:
                    sources |= dict.fromkeys(operator.writes, sources[name])
                    break
        return sources

    def _ordered(self, operators: Iterator[Operator]) -> Iterator[Operator]:
        """Operators and their dependencies in topological order."""
        done: set[Operator] = set()
        for operator in operators:
            waiting = [operator]
            while waiting:
                top = waiting[-1]
                before = [w for n in top.reads if (w := self._writers.get(n)) is not None and w not in done]
                if before and top not in done:
                    waiting.extend(reversed(before))
                    continue
                waiting.pop()
                if top not in done:
                    done.add(top)
                    yield top

    def _schedule(self, branch: str, targets: tuple[str, ...]) -> _Schedule:
        schedule = self._schedules.get((branch, targets))
        if schedule is not None:
            return schedule
        for name in targets:
            if name not in self.scope:
                raise ValueError(f"{branch}: target: there is no variable {name!r} in the net")
        if branch == "infer":
            lost = self._train_only
            for name in targets:
                if name in lost:
                    origin = self._writers[lost[name]]
                    source = "" if lost[name] == name else f", since it depends on {lost[name]!r}"
                    raise ValueError(
                        f"infer: target: variable {name!r} exists in the train branch only{source}:"
                        f" {origin} has no statistics of a batch in inference"
                    )
        ordered = list(self._ordered(w for n in targets if (w := self._writers.get(n)) is not None))
        leaves = {n: f"target {n!r}" for n in targets if n not in self._writers}
        last: dict[str, int] = {}
        for k, operator in enumerate(ordered):
            for slot, names in operator.inputs.items():
                for name in (names,) if isinstance(names, str) else names or ():
                    last[name] = k
                    if name not in self._writers:
                        leaves.setdefault(name, f"{operator} ({slot})")
            for name in operator.writes:
                last.setdefault(name, k)
        free: list[list[str]] = [[] for _ in ordered]
        for name, k in last.items():
            if name not in targets:
                free[k].append(name)
        schedule = _Schedule(
            leaves, tuple((self._of_branch(branch, o), tuple(f)) for o, f in zip(ordered, free))
        )
        self._schedules[branch, targets] = schedule
        return schedule

    def plan(self, branch: BranchName, target: Any) -> tuple[Operator, ...]:
        """The operators that a target runs, in order. Errors: the same as `train` and `infer`, except for feeds."""
        _check_branch("plan", branch)
        return tuple(operator for operator, _ in self._schedule(branch, _targets(branch, target)[0]).steps)

    # Execution

    def train(self, target: Any, feeds: Mapping[str, Tensor] | None = None, /, **named: Tensor) -> Any:
        """The value of a target in the branch for training.

        Each batch_norm_op that the target depends on updates its estimates; the first batch replaces them.

        Arguments:
            target: name, Variable, or a sequence of them
            feeds: Mapping: name -> tensor, also as keywords

        Returns the value, or a tuple of values for a sequence. Intermediate results are freed.

        Errors: ValueError for an unknown target or feed, a variable with neither a value nor a feed, a feed for a
        variable that has a value or a writer; TypeError for a feed that is not a tensor. Errors of an operator contain
        the operator and its variables; the operators before it have updated their estimates.
        """
        return self._run("train", target, feeds, named)

    def infer(self, target: Any, feeds: Mapping[str, Tensor] | None = None, /, **named: Tensor) -> Any:
        """The value of a target in the branch for inference, by the estimates; no variable changes.

        Arguments and errors: the same as `train`; ValueError for a target that only the branch for training has. As
        everywhere in torch, autograd records unless inside torch.no_grad().
        """
        return self._run("infer", target, feeds, named)

    def _run(
        self, branch: str, target: Any, feeds: Mapping[str, Tensor] | None, named: dict[str, Tensor]
    ) -> Any:
        targets, single = _targets(branch, target)
        schedule = self._schedule(branch, targets)
        if feeds is not None and not isinstance(feeds, Mapping):
            raise TypeError(f"{branch}: feeds: expected a mapping of names, got {type(feeds).__name__}")
        fed = {**feeds, **named} if feeds else named
        values: dict[str, Any] = {}
        scope = self.scope
        for name, value in fed.items():
            if name not in scope:
                raise ValueError(f"{branch}: feeds: there is no variable {name!r} in the net")
            if name in self._writers:
                raise ValueError(f"{branch}: feeds: variable {name!r} is written by {self._writers[name]}")
            if scope[name].value is not None:
                raise ValueError(f"{branch}: feeds: variable {name!r} has a value; assign it to change it")
            if not isinstance(value, Tensor):
                raise TypeError(f"{branch}: feeds: {name}: expected a tensor, got {type(value).__name__}")
            values[name] = value
        for name, reader in schedule.leaves.items():
            if name not in values:
                value_ = scope[name].value
                if value_ is None:
                    raise ValueError(f"{branch}: feeds: variable {name!r} is missing, which {reader} reads")
                values[name] = value_
        for operator, unneeded in schedule.steps:
            results = operator.compute(values, self._batches.get(operator, 0))
            values.update((n, r) for n, r in zip(operator.outputs.values(), results) if n is not None)
            if operator.updates:
                self._batches[operator] += 1
            for name in unneeded:
                del values[name]
        return values[targets[0]] if single else tuple(values[name] for name in targets)

    # State

    def parameters(self) -> Iterator[Tensor]:
        """The values of trainable variables and the parameters of modules, for an optimizer."""
        seen = set()
        for value in (
            *(v.value for v in self.scope.values() if v.trainable and v.value is not None),
            *(p for o in self.operators if isinstance(o.kind, torch.nn.Module) for p in o.kind.parameters()),
        ):
            if value.is_floating_point() and id(value) not in seen:
                seen.add(id(value))
                yield value

    def state_dict(self) -> dict[str, Tensor]:
        """The values of all variables by name, detached but not copied, and the number of training batches of each
        batch_norm_op, as '<y>.batches'. The state of modules is not included."""
        state = {name: v.value.detach() for name, v in self.scope.items() if v.value is not None}
        for operator, count in self._batches.items():
            if operator.kind == "batch_norm_op":
                name = f"{operator.outputs['y']}.batches"
                if name in state:
                    raise ValueError(
                        f"state_dict: {name!r} is a variable, but also the number of batches of {operator}"
                    )
                state[name] = torch.tensor(count)
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copies values into the variables.

        Errors: TypeError for an argument that is not a mapping of tensors; ValueError for missing or unknown names,
        wrong sizes, and negative counts. After an error nothing is copied.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"load_state_dict: expected a mapping of tensors, got {type(state).__name__}")
        own = self.state_dict()
        for name in own.keys() ^ state.keys():
            where = "is missing" if name in own else "is not in the net"
            raise ValueError(f"load_state_dict: {name!r} {where}")
        counts = {o: f"{o.outputs['y']}.batches" for o in self._batches if o.kind == "batch_norm_op"}
        for name, value in own.items():
            if not isinstance(state[name], Tensor):
                raise TypeError(
                    f"load_state_dict: {name!r}: expected a tensor, got {type(state[name]).__name__}"
                )
            if value.shape != state[name].shape:
                raise ValueError(
                    f"load_state_dict: {name!r}: expected {tuple(value.shape)}, got {tuple(state[name].shape)}"
                )
        for name in counts.values():
            if not state[name] >= 0:
                raise ValueError(
                    f"load_state_dict: {name!r}: expected 0 or more batches, got {state[name].item()}"
                )
        with torch.no_grad():
            for name, value in own.items():
                value.copy_(state[name])
        for operator, name in counts.items():
            self._batches[operator] = int(state[name])

    def __getstate__(self) -> dict[str, Any]:
        return {
            "scope": self.scope,
            "operators": self.operators,
            "batches": [self._batches[o] for o in self.operators],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        Net.__init__(self, state["scope"])
        for operator, count in zip(state["operators"], state["batches"]):
            self.append_op(operator)
            self._batches[operator] = count

    def __repr__(self) -> str:
        return f"Net({len(self.operators)} operators, {len(self.scope)} variables)"


def _check_branch(where: str, name: object) -> None:
    if name not in BRANCHES:
        raise ValueError(f"{where}: expected 'train' or 'infer', got {name!r}")


def _targets(branch: str, target: Any) -> tuple[tuple[str, ...], bool]:
    names = names_of(f"{branch}: target", target)
    if isinstance(names, str):
        return (names,), True
    return names or (), False


def batch_norm_layer(
    net: Net,
    input: str | Variable,
    output: str | Variable,
    scale: str | Variable,
    bias: str | Variable,
    use_global_est: bool = False,
    epsilon: float = 1e-6,
    momentum: float = 0.99,
) -> str:
    """Appends a batch_norm_op and variables for its estimates to a net; returns the name of its output.

    Arguments:
        net: Net
        input: variable (N, C, ...)
        output: variable (N, C, ...)
        scale: variable (C): a parameter with a value
        bias: variable (C): a parameter
        use_global_est: bool: also normalize by the estimates in training
        epsilon: float: added to the variance
        momentum: float: weight of the old estimates

    The new variables are '<output>.estimated_mean' (C), '<output>.estimated_var' (C), a biased variance, and, in
    training, '<output>.batch_mean' (C) and '<output>.batch_var' (C).

    Errors: the same as `Operator` and `Net.append_op`.
    """
    if not isinstance(net, Net):
        raise TypeError(f"batch_norm_layer: net: expected a Net, got {type(net).__name__}")
    name = names_of("batch_norm_layer: output", output)
    mean, variance = f"{name}.estimated_mean", f"{name}.estimated_var"
    net.append_op(
        Operator(
            "batch_norm_op",
            x=input,
            scale=scale,
            bias=bias,
            estimated_mean=mean,
            estimated_var=variance,
            y=output,
            batch_mean=f"{name}.batch_mean",
            batch_var=f"{name}.batch_var",
            saved_mean=mean,
            saved_var=variance,
            is_infer=False,
            use_global_est=use_global_est,
            epsilon=epsilon,
            momentum=momentum,
        )
    )
    return str(name)
