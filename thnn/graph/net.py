"""Net: operators on named variables, with a branch for training and one for inference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import torch
from torch import Tensor

from thnn.graph.operators import Operator, Scope, Variable, names_of

BranchName = Literal["train", "infer"]
BRANCHES: Final = ("train", "infer")


@dataclass(frozen=True)
class _Plan:
    """What running a target takes."""

    targets: tuple[str, ...]
    leaves: dict[str, str]  # variable that is fed or has a value -> who reads it
    steps: tuple[tuple[Operator, tuple[str, ...]], ...]  # an operator, and results that nobody needs after it


class Net:
    """Operators on named variables. Operators are appended in any order; each variable is written by at most one.

    A net forks at its batch normalization: the operators that depend on one (or on another operator that differs
    between training and inference) exist twice, once in the branch that `train` runs and once in the branch that
    `infer` runs; those before are shared. The branches work on the same variables and never merge. Running a target
    runs what it depends on, and nothing else.

    Arguments:
        scope: Scope or None: where the variables live; None: an own one

    A net is not safe to be trained by several threads at a time: two updates of one estimate would race.
    """

    def __init__(self, scope: Scope | None = None) -> None:
        if scope is not None and not isinstance(scope, Scope):
            raise TypeError(f"Net: scope: expected a Scope, got {type(scope).__name__}")
        self.scope = Scope() if scope is None else scope
        self.operators: tuple[Operator, ...] = ()
        self._writers: dict[str, Operator] = {}
        self._readers: dict[str, list[Operator]] = {}
        self._twins: dict[Operator, Operator] = {}
        self._batches: dict[Operator, int] = {}
        self._plans: dict[tuple[str, tuple[str, ...]], _Plan] = {}

    # The scope's own ways of making variables.
    def new_var(self, name: str, value: Tensor | None = None, *, trainable: bool = True) -> Variable:
        """`Scope.new_var` in this net's scope."""
        return self.scope.new_var(name, value, trainable=trainable)

    def new_parameter(self, name: str, size: Sequence[int], initialize: Any, **options: Any) -> Variable:
        """`Scope.new_parameter` in this net's scope."""
        return self.scope.new_parameter(name, size, initialize, **options)

    def append_op(self, operator: Operator) -> Operator:
        """Adds an operator, and its variables to the scope where they are new.

        Estimates of a batch_norm_op that have no value yet get one: mean 0, variance 1, sized as its scale.

        Errors: TypeError for what is no operator; ValueError for one that is in the net already, for a variable that
        another one writes or that has a value, for a cycle, and for estimates whose size is not known. The net is as
        before then.
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
        self._plans.clear()
        self._twins.clear()
        return operator

    def _value(self, name: str) -> Tensor | None:
        variable = self.scope.get(name)
        return None if variable is None else variable.value

    def _refuse_cycle(self, operator: Operator) -> None:
        written, seen = set(operator.writes), set()
        if written.isdisjoint(self._readers) and written.isdisjoint(operator.reads):
            return  # as for each one that is appended after what it reads
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
                    f"append_op: {operator}: {slot}: variable {name!r} has no value, and its size is not known since"
                    f" scale, variable {scale!r}, has none either"
                )
            made[name] = torch.full_like(like, initial, requires_grad=False)
        return made

    # What the fork makes of the operators.

    def branch(self, name: BranchName) -> tuple[Operator, ...]:
        """The operators of a branch in an order in which they can run: the shared ones and its own.

        A shared operator is the same object in both branches; a duplicated one that differs in nothing but its branch
        is equal in kind and attributes. Operators that need statistics of a batch are not in the branch for inference.
        """
        _check_branch("branch", name)
        lost = {} if name == "train" else self._train_only
        available = [n for o in self.operators for n in o.writes if n not in lost]
        return tuple(operator for operator, _ in self._plan(name, tuple(dict.fromkeys(available))).steps)

    def shared(self) -> tuple[Operator, ...]:
        """The operators that no fork precedes, in an order in which they can run."""
        return tuple(o for o in self.branch("train") if self._of_branch("infer", o) is o)

    def _of_branch(self, branch: str, operator: Operator) -> Operator:
        if branch == "train":
            return operator
        if not self._twins:
            self._twins.update(self._make_twins())
        return self._twins[operator]

    def _make_twins(self) -> dict[Operator, Operator]:
        twins: dict[Operator, Operator] = {}
        forked: set[str] = set()
        for operator in self._ordered(o for o in self.operators):
            if operator.forks:
                twins[operator] = operator.for_inference()
            elif not forked.isdisjoint(operator.reads):
                twins[operator] = operator.replace()
            else:
                twins[operator] = operator
                continue
            forked.update(operator.writes)
        return twins

    @property
    def _train_only(self) -> dict[str, str]:
        """Variables that the branch for inference does not have -> the variable that they come from."""
        sources: dict[str, str] = {}
        for operator in self._ordered(o for o in self.operators):
            sources |= {name: name for name in operator.train_only}
            for name in operator.reads:
                if name in sources:
                    sources |= dict.fromkeys(operator.writes, sources[name])
                    break
        return sources

    def _ordered(self, operators: Iterator[Operator]) -> Iterator[Operator]:
        """Operators and all that they depend on, each after what it depends on."""
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

    def _plan(self, branch: str, targets: tuple[str, ...]) -> _Plan:
        plan = self._plans.get((branch, targets))
        if plan is not None:
            return plan
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
        plan = _Plan(
            targets, leaves, tuple((self._of_branch(branch, o), tuple(f)) for o, f in zip(ordered, free))
        )
        self._plans[branch, targets] = plan
        return plan

    def plan(self, branch: BranchName, target: Any) -> tuple[Operator, ...]:
        """The operators that running a target takes, in order. Errors: as `train` and `infer`, feeds aside."""
        _check_branch("plan", branch)
        return tuple(operator for operator, _ in self._plan(branch, _targets(branch, target)[0]).steps)

    # Running.

    def train(self, target: Any, feeds: Mapping[str, Tensor] | None = None, /, **named: Tensor) -> Any:
        """The value of a target in the branch for training, from the values of variables that are fed.

        Every batch_norm_op that the target depends on updates its estimates; the first batch that it sees replaces
        them.

        Arguments:
            target: name, Variable, or a sequence of them: what is wanted
            feeds: Mapping: name -> tensor, also as keywords

        Returns the value, or a tuple of values for a sequence. Nothing is kept of results that are no target.

        Errors: ValueError for an unknown target or feed, a variable without a value that is not fed, a feed for what
        an operator writes or what has a value; TypeError for a feed that is no tensor. What an operator raises names
        the operator and its variables; operators before it have updated their estimates then.
        """
        return self._run("train", target, feeds, named)

    def infer(self, target: Any, feeds: Mapping[str, Tensor] | None = None, /, **named: Tensor) -> Any:
        """The value of a target in the branch for inference: estimates are used, and no variable changes.

        Arguments and errors: those of `train`. A target that only the branch for training has is a ValueError. As
        everywhere in torch, a gradient is recorded unless torch.no_grad() is on.
        """
        return self._run("infer", target, feeds, named)

    def _run(
        self, branch: str, target: Any, feeds: Mapping[str, Tensor] | None, named: dict[str, Tensor]
    ) -> Any:
        targets, single = _targets(branch, target)
        plan = self._plan(branch, targets)
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
        for name, reader in plan.leaves.items():
            if name not in values:
                value_ = scope[name].value
                if value_ is None:
                    raise ValueError(f"{branch}: feeds: variable {name!r} is missing, which {reader} reads")
                values[name] = value_
        for operator, unneeded in plan.steps:
            results = operator.compute(values, self._batches.get(operator, 0))
            values.update((n, r) for n, r in zip(operator.outputs.values(), results) if n is not None)
            if operator.updates:
                self._batches[operator] += 1
            for name in unneeded:
                del values[name]
        return values[targets[0]] if single else tuple(values[name] for name in targets)

    # State.

    def parameters(self) -> Iterator[Tensor]:
        """The trainable variables that have a value, and the parameters of modules: for an optimizer."""
        seen = set()
        for value in (
            *(v.value for v in self.scope.values() if v.trainable and v.value is not None),
            *(p for o in self.operators if isinstance(o.kind, torch.nn.Module) for p in o.kind.parameters()),
        ):
            if value.is_floating_point() and id(value) not in seen:
                seen.add(id(value))
                yield value

    def state_dict(self) -> dict[str, Tensor]:
        """The values of all variables by name, detached but not copied, and for each batch_norm_op, as '<y>.batches',
        how many batches it was trained with. Modules keep their own state."""
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

        Errors: TypeError for what is no mapping of tensors; ValueError for missing or unknown names, other sizes, and a
        count below 0. Nothing is copied then.
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
    """Appends a batch_norm_op, with variables for its estimates; returns the name of its output.

    Arguments:
        net: Net: where it is appended
        input, output: variables (N, C, ...): what is normalized, and the result
        scale, bias: variables (C): parameters; scale has a value already
        use_global_est: bool: normalize by the estimates in training too
        epsilon: float: added to the variance
        momentum: float: share of the old estimates in the new ones

    It makes the variables '<output>.estimated_mean' (C), '<output>.estimated_var' (C; a biased variance) and, in
    training, '<output>.batch_mean' (C) and '<output>.batch_var' (C).

    Errors: those of `Operator` and `Net.append_op`.
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
