"""Autograd functions with a non-static forward, which `install` lets be called."""

from __future__ import annotations

import gc
import threading
import warnings
import weakref
from typing import Any

import pytest
import torch
from leaves import leaf
from torch import Tensor, nn
from torch.autograd import Function, Variable, gradcheck
from torch.autograd.function import InplaceFunction, NestedIOFunction, once_differentiable
from torch.utils.checkpoint import checkpoint

import thnn

pytestmark = pytest.mark.usefixtures("compat")


class Scale(Function):
    def __init__(self, factor):
        super().__init__()
        self.factor = factor

    def forward(self, input):
        self.save_for_backward(input)
        self.output = input * self.factor
        return self.output

    def backward(self, grad_output):
        (input,) = self.saved_tensors
        assert not input.requires_grad
        assert input.grad_fn is None
        assert self.needs_input_grad == (True,)
        assert self.output.shape == input.shape
        return grad_output * self.factor


class Product(Function):
    def forward(self, first, second):
        self.save_for_backward(first, second)
        return first * second

    def backward(self, grad_output):
        first, second = self.saved_tensors
        return grad_output * second, grad_output * first


class Relu(InplaceFunction):
    def forward(self, input):
        output = input if self.inplace else input.clone()
        if self.inplace:
            self.mark_dirty(input)
        output.clamp_(min=0)
        self.save_for_backward(output)
        return output

    def backward(self, grad_output):
        (output,) = self.saved_tensors
        return grad_output * (output > 0).type_as(grad_output)


def test_calls() -> None:
    x = leaf(3)
    f = Scale(2.0)
    assert type(f) is Scale
    assert isinstance(f, Scale)
    y = f(x)
    torch.testing.assert_close(y, x * 2)
    assert y.requires_grad
    assert y.grad_fn is not None
    assert isinstance(y.grad_fn, Scale)
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "Scale"
    assert f.output is y.grad_fn.output
    y.sum().backward()
    torch.testing.assert_close(x.grad, torch.full_like(x, 2))
    assert gradcheck(Scale(3.0), x)
    assert gradcheck(Product(), (leaf(2, 3), leaf(3, 2).t()))
    torch.testing.assert_close(Product()(x, x), x * x)
    (grad,) = torch.autograd.grad(Product()(x, x).sum(), x)
    torch.testing.assert_close(grad, 2 * x)


def test_calls_without_gradients() -> None:
    x = leaf(3)
    for y in (Scale(2.0)(x.detach()), torch.no_grad()(Scale(2.0))(x)):
        assert y.grad_fn is None
        assert not y.requires_grad
        torch.testing.assert_close(y, x.detach() * 2)
    with torch.no_grad():
        assert not Scale(2.0)(x).requires_grad


def test_called_instances_show_their_node() -> None:
    class Hook(Function):
        """Prepares the backward of another function, which runs later."""

        def __init__(self, other):
            self.other = other

        def forward(self, input):
            return input.view_as(input)

        def backward(self, grad_output):
            first, second = self.other.saved_tensors
            assert not first.requires_grad
            assert self.other.saved_variables[0].requires_grad
            assert self.other.needs_input_grad == (True, False)
            self.other.prepared = first * second
            return grad_output

    class Prepared(Product):
        def backward(self, grad_output):
            return grad_output * self.prepared, None

    x, factor, f = leaf(3), torch.full((3,), 2.0).double(), Prepared()
    y = Hook(f)(f(x, factor) * 3)
    y.sum().backward()
    torch.testing.assert_close(x.grad, 6 * x.detach())
    assert isinstance(f, Prepared)
    assert type(f).__name__ == "Prepared"
    torch.testing.assert_close(f(x, x), x * x)
    with pytest.raises(ValueError, match=r"Prepared\.saved_tensors: the graph of the call does not exist"):
        _ = f.saved_tensors


def test_results_in_shared_memory_are_restored_for_the_backward() -> None:
    """Like a densenet whose layers write their results to the same memory."""
    memory = torch.empty(3).double()

    class Exp(Function):
        def forward(self, input):
            self.save_for_backward(input)
            self.result = memory.new().set_(memory)
            return torch.exp(input, out=self.result)

        def restore(self):
            (input,) = self.saved_tensors
            torch.exp(input, out=self.result)

        def backward(self, grad_output):
            return grad_output * self.result

    class Restore(Function):
        def __init__(self, other):
            self.other = other

        def forward(self, input):
            return input.clone()

        def backward(self, grad_output):
            self.other.restore()
            return grad_output

    def layer(x: Tensor, weight: Tensor) -> Tensor:
        f = Exp()
        return Restore(f)(f(x) * weight)  # the product saves the shared memory

    x, weight = leaf(3), leaf(1, 3).view(3)
    grads = torch.autograd.grad(layer(layer(x, weight), weight).sum(), (x, weight))
    expected = torch.autograd.grad(((x.exp() * weight).exp() * weight).sum(), (x, weight))
    torch.testing.assert_close(grads, expected)


def test_one_instance_has_a_node_per_call() -> None:
    class Power(Function):
        def forward(self, input, power):
            self.input, self.power = input, power
            return input**power

        def backward(self, grad_output):
            return grad_output * self.power * self.input ** (self.power - 1)

    f, x = Power(), leaf(3)
    first, second = f(x, 2), f(x, 3)
    assert f.power == 3
    for y, power in ((first, 2), (second, 3)):
        (grad,) = torch.autograd.grad(y.sum(), x)
        torch.testing.assert_close(grad, power * x ** (power - 1))
    third = f(x, 3)
    f.power = 0  # until 0.3 the instance was the node
    (grad,) = torch.autograd.grad(third.sum(), x)
    assert not grad.any()


def test_several_backward_passes_and_hooks() -> None:
    x = leaf(3)
    y = Product()(x, x.detach())
    seen = []
    y.register_hook(lambda g: seen.append("tensor"))
    y.grad_fn.register_hook(lambda *_: seen.append("node"))
    y.sum().backward(retain_graph=True)
    torch.testing.assert_close(x.grad, x.detach())
    y.sum().backward()
    torch.testing.assert_close(x.grad, 2 * x.detach())
    assert seen == ["tensor", "node"] * 2
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.sum().backward()


def test_saved_tensors_are_checked_for_changes() -> None:
    x = leaf(3) * 1
    y = Product()(x, x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    x = leaf(3)
    y = Relu()(x)
    y.add_(1)  # saved as an output
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_in_place_functions() -> None:
    x = leaf(4)
    assert gradcheck(Relu(), x)
    assert gradcheck(lambda t: Relu(True)(t * 1), x)
    base = x * 1
    y = Relu(True)(base)
    assert y is base
    torch.testing.assert_close(y, x.clamp(min=0))
    (y * 2).sum().backward()
    torch.testing.assert_close(x.grad, 2 * (x > 0).double())
    half = x * 1
    Relu(True)(half[:2])
    torch.testing.assert_close(half, torch.cat([x[:2].clamp(min=0), x[2:]]))
    (grad,) = torch.autograd.grad(half.sum(), x)
    torch.testing.assert_close(grad, torch.cat([(x[:2] > 0).double(), torch.ones(2).double()]))
    squares = x * 1
    product = squares * squares
    Relu(inplace=True)(squares)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        Relu(True)(leaf(2))
    constant = torch.ones(2)
    assert Relu(True)(constant) is constant


def test_changed_inputs_that_are_no_outputs() -> None:
    class Count(Function):
        def forward(self, input, total):
            self.mark_dirty(total)
            total.data.add_(input.sum())  # unseen by autograd
            return input.clone()

        def backward(self, grad_output):
            return grad_output, None

    x, total = leaf(3), torch.zeros(1).double()
    before = total._version
    y = Count()(x, total)
    assert total._version > before
    torch.testing.assert_close(total, x.detach().sum().view(1))
    (grad,) = torch.autograd.grad(y.sum(), x)
    assert grad.eq(1).all()

    class Wrong(Count):
        def forward(self, input, total):
            self.mark_dirty(input.clone())

    with pytest.raises(ValueError, match=r"Wrong\.mark_dirty: expected inputs of forward"):
        Wrong()(x, total)


def test_several_outputs() -> None:
    class MaxWithIndex(Function):
        def __init__(self, dim):
            self.dim = dim

        def forward(self, input):
            values, indices = input.max(self.dim, keepdim=True)
            self.save_for_backward(input, indices)
            self.mark_non_differentiable(indices)
            return values, indices, values * 2

        def backward(self, grad_values, grad_indices, grad_double):
            input, indices = self.saved_tensors
            assert not grad_indices.any()
            return torch.zeros_like(input).scatter_(self.dim, indices, grad_values + 2 * grad_double)

    x = leaf(3, 4)
    values, indices, double = MaxWithIndex(1)(x)
    assert not indices.requires_grad
    torch.testing.assert_close(values, x.gather(1, indices))
    expected = torch.zeros_like(x).scatter_(1, indices, 1)
    torch.testing.assert_close(torch.autograd.grad(values.sum(), x, retain_graph=True)[0], expected)
    torch.testing.assert_close(torch.autograd.grad(double.sum(), x)[0], expected * 2)

    class Split(Function):
        def forward(self, input):
            return [input[0], input[1]]  # views

        def backward(self, *grads):
            return torch.stack(grads)

    first, second = Split()(x[:2])
    first = first.mul_(2)
    assert gradcheck(Split(), x[:2].detach().requires_grad_())
    (grad,) = torch.autograd.grad((first + 3 * second).sum(), x)
    torch.testing.assert_close(grad[:, 0], torch.tensor([2.0, 3, 0]).double())

    class Same(Function):
        def forward(self, input):
            output = input * 2
            self.mark_non_differentiable(output)
            return output, output, input

        def backward(self, first, second, third):
            return third

    outputs = Same()(x)
    assert [y.requires_grad for y in outputs] == [False, False, True]
    assert outputs[2] is not x
    (grad,) = torch.autograd.grad(outputs[2].sum(), x)
    assert grad.eq(1).all()


def test_inputs_and_gradients_of_every_kind() -> None:
    class Affine(Function):
        def forward(self, input, weight, bias, *rest):
            assert self.needs_input_grad == (True, True, False, *(False for _ in rest))
            self.save_for_backward(input, weight, bias)
            return input * weight if bias is None else input * weight + bias

        def backward(self, grad_output):
            input, weight, bias = self.saved_tensors
            assert bias is None
            return self.gradients(grad_output, input, weight)

    x, w = leaf(3), leaf(2, 1, 3)

    def gradient(result: Any, *rest: Any) -> Any:
        f = Affine()
        f.gradients = lambda *_: result
        return torch.autograd.grad(f(x, w, None, *rest).sum(), (x, w), allow_unused=True)

    g, h = torch.ones(3).double(), torch.ones(2, 1, 3).double()
    # Too few gradients if the other inputs require none, too many if the last ones are None.
    for result in ((g, h), [g, h], (g, h, None), (g, h, None, None, None)):
        assert gradient(result)[1] is not None
        assert gradient(result, 1, "text", torch.ones(2))[1] is not None
    assert gradient((None, None)) == (None, None)
    with pytest.raises(ValueError, match=r"Affine\.backward: .* of 3 inputs, got 1; input 1 requires one"):
        gradient(g)
    with pytest.raises(ValueError, match=r"Affine\.backward: expected gradients of 3 inputs, got 4"):
        gradient((g, h, None, g))
    with pytest.raises(TypeError, match=r"Affine\.backward: gradient of input 1: .* got float"):
        gradient((g, 1.0))
    with pytest.raises(RuntimeError, match=r"Function Affine returned an invalid gradient at index 1"):
        gradient((g, h[..., :2]))
    with pytest.raises(TypeError, match=r"Affine\.__call__: takes no keywords, got bias"):
        Affine()(x, w, bias=None)
    with pytest.raises(TypeError, match="forward"):
        Affine()(x)


def test_own_graphs_inside() -> None:
    """Until 0.3 a function could differentiate Variables that it made."""

    class Checkpoint(Function):
        def __init__(self, function):
            self.function = function

        def forward(self, *inputs):
            self.save_for_backward(*inputs)
            return self.function(*[Variable(input) for input in inputs]).data

        def backward(self, grad_output):
            inputs = [Variable(input, requires_grad=True) for input in self.saved_tensors]
            self.function(*inputs).backward(grad_output)
            return tuple(input.grad for input in inputs)

    def function(x: Tensor, w: Tensor) -> Tensor:
        return (x * w).tanh()

    x, w = leaf(2, 3), leaf(3)
    assert gradcheck(Checkpoint(function), (x, w))

    class InForward(Function):
        def forward(self, input):
            self.input = Variable(input, requires_grad=True)
            self.output = self.input.exp()
            return self.output  # with history

        def backward(self, grad_output):
            return torch.autograd.grad(self.output, self.input, grad_output, retain_graph=True)

    assert gradcheck(InForward(), x)


def test_saved_variables_have_their_history() -> None:
    class Square(Function):
        def forward(self, input):
            self.save_for_backward(input)
            return input * input

        def backward(self, grad_output):
            (variable,), (tensor,) = self.saved_variables, self.saved_tensors
            assert variable.requires_grad
            assert variable.data_ptr() == tensor.data_ptr()
            return 2 * variable * grad_output

    assert gradcheck(Square(), leaf(3))


def test_second_derivatives_are_refused() -> None:
    x = leaf(3)
    y = Product()(x, x) + x**3
    (grad,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    torch.testing.assert_close(grad, 2 * x + 3 * x * x)
    with pytest.raises(NotImplementedError, match=r"Product\.backward: .* can be differentiated once only"):
        grad.sum().backward()

    class Decorated(Product):
        @once_differentiable
        def backward(self, grad_output):
            return super().backward(grad_output)

    assert gradcheck(Decorated(), (leaf(3), leaf(3)))
    (grad,) = torch.autograd.grad(Decorated()(x, x).sum(), x, create_graph=True)
    with pytest.raises(NotImplementedError, match=r"Decorated\.backward"):
        grad.sum().backward()


def test_second_derivatives_by_chosen_tensors_are_refused() -> None:
    refused = pytest.raises(NotImplementedError, match=r"Scale\.backward: .* can be differentiated once only")
    for inputs in (leaf(3), leaf(3) * 1):
        x, v = inputs, leaf(3)
        for needed in (x, v):
            (grad,) = torch.autograd.grad(Scale(2.0)(x), x, v, create_graph=True)
            total = (grad**2).sum() + (x**3).sum() + v.sum()
            with refused:
                torch.autograd.grad(total, needed, retain_graph=True)
        with refused:
            total.backward(inputs=[x])
    # Other paths of the graph can be differentiated.
    y = leaf(3)
    (grad,) = torch.autograd.grad((Scale(2.0)(x) * y**3).sum(), y, create_graph=True)
    torch.testing.assert_close(torch.autograd.grad(grad.sum(), y)[0], 6 * y * Scale(2.0)(x))


def test_missing_methods_are_named() -> None:
    class ForwardOnly(Function):
        def forward(self, input):
            return input * 2

    y = ForwardOnly()(leaf(2))
    with pytest.raises(NotImplementedError, match=r"ForwardOnly\.backward: is not defined"):
        y.sum().backward()

    class Nothing(Function):
        pass

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        nothing = Nothing()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        nothing(leaf(2))


def test_errors_of_the_methods_pass() -> None:
    class Fails(Function):
        def __init__(self, where):
            self.where = where

        def forward(self, input):
            if self.where == "forward":
                raise LookupError(self.where)
            return input * 1

        def backward(self, grad_output):
            raise LookupError(self.where)

    with pytest.raises(LookupError, match="forward"):
        Fails("forward")(leaf(2))
    with pytest.raises(LookupError, match="backward"):
        Fails("backward")(leaf(2)).sum().backward()


def test_subclasses_and_nested_functions() -> None:
    class Twice(Scale):
        def __init__(self):
            super().__init__(2.0)

        def backward(self, grad_output):
            return 10 * super().backward(grad_output)

    x = leaf(3)
    y, z = Scale(1.0)(x), Twice()(x)
    assert type(z.grad_fn).__name__ == "Twice"
    assert not isinstance(y.grad_fn, Twice)
    (grad,) = torch.autograd.grad(z.sum(), x)
    torch.testing.assert_close(grad, torch.full_like(x, 20))

    class Pair(NestedIOFunction):
        def forward_extended(self, input, pair):
            self.save_for_backward(input, pair)
            return input * pair[0], (pair[1] * 2,)

        def backward_extended(self, grad, nested):
            input, (first, _) = self.saved_tensors
            return grad * first, (grad * input, nested[0] * 2)

    a, b = leaf(2, 1, 1).view(2), leaf(1, 2).view(2)
    first, (second,) = Pair()(a, (b, b))
    grads = torch.autograd.grad((first + 3 * second).sum(), (a, b))
    torch.testing.assert_close(grads, (b.detach(), a.detach() + 6))


def test_classes_with_static_methods_are_torchs() -> None:
    class New(Function):
        @staticmethod
        def forward(ctx, input):
            return input * 2

        @staticmethod
        def backward(ctx, grad_output):
            return grad_output * 2

    x = leaf(2)
    assert type(New.apply(x).grad_fn).__name__ == "NewBackward"
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        f = New()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        f(x)
    assert torch.autograd.gradgradcheck(New.apply, x)


def test_mark_shared_storage_has_no_effect() -> None:
    class View(Function):
        def forward(self, input):
            output = input.view(-1)
            self.mark_shared_storage((input, output))
            return output

        def backward(self, grad_output):
            return grad_output.view(2, 3)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gradcheck(View(), leaf(2, 3))
    y = View()(leaf(2, 3))
    y.zero_()


def test_no_cycle_keeps_tensors_alive() -> None:
    class Keeps(Function):
        def forward(self, input):
            self.input = input
            self.output = input * 2
            self.save_for_backward(input, self.output)
            return self.output

        def backward(self, grad_output):
            self.grad_output = grad_output
            return grad_output * 2

    gc.collect()
    gc.disable()
    try:
        for differentiate in (False, True):
            x, f = leaf(3), Keeps()
            y = f(x * 1)
            if differentiate:
                y.sum().backward(retain_graph=True)
            kept = [weakref.ref(t) for t in (y, y.grad_fn, f.output, f.input, x)]
            del x, y, f
            assert [ref() for ref in kept] == [None] * len(kept)
    finally:
        gc.enable()

    def make() -> weakref.ref[type]:
        class Local(Scale):
            pass

        Local(1.0)(leaf(2)).sum().backward()
        return weakref.ref(Local)

    reference = make()
    gc.collect()
    assert reference() is None


def test_threads() -> None:
    failures = []

    def work(factor: float) -> None:
        try:
            for _ in range(50):
                x = leaf(4)
                Relu(True)(Scale(factor)(x) * Scale(2.0)(x)).sum().backward()
                torch.testing.assert_close(x.grad, 4 * factor * x.detach())
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(factor,)) for factor in (1.0, 3.0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_inside_of_other_tools() -> None:
    x = leaf(3)
    for reentrant in (False, True):
        x.grad = None
        checkpoint(Scale(2.0), x, use_reentrant=reentrant).sum().backward()
        torch.testing.assert_close(x.grad, torch.full_like(x, 2))
    with torch.autograd.set_detect_anomaly(True):
        Scale(2.0)(x).sum().backward()
    with torch.inference_mode():
        torch.testing.assert_close(Scale(2.0)(x), 2 * x)
    y = Scale(2.0)(x)
    z = y.grad_fn(y)  # the node is an instance
    torch.testing.assert_close(z, 4 * x)
    torch.testing.assert_close(z.grad_fn.saved_tensors, (2 * x.detach(),))
    torch.testing.assert_close(y.grad_fn.saved_tensors, (x.detach(),))
    for transform in (torch.func.grad(lambda t: Scale(2.0)(t).sum()), torch.func.vmap(Scale(2.0))):
        with pytest.raises(RuntimeError, match=r"autograd\.Function with functorch transforms"):
            transform(x)


def test_in_modules() -> None:
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.full((3,), 2.0).double())

        def forward(self, input):
            return Product()(input, self.weight)

    layer, x = Layer(), leaf(3)
    layer(x).sum().backward()
    torch.testing.assert_close(layer.weight.grad, x.detach())
    torch.testing.assert_close(x.grad, layer.weight.detach())


def test_uninstall_restores_torch() -> None:
    thnn.compat.__exit__(None, None, None)
    try:
        with pytest.warns(DeprecationWarning, match="should not be instantiated"):
            refused = Relu()
        with pytest.raises(RuntimeError, match="Legacy autograd function"):
            refused(leaf(2))
        before = dict(vars(Function))
        thnn.compat.install()
        x = leaf(3)
        y, f = Product()(x, x), Scale(2.0)
        thnn.compat.uninstall()
        assert dict(vars(Function)) == before
        with pytest.raises(RuntimeError, match="Legacy autograd function"):
            f(x)
        y.sum().backward()  # the graph stays
        torch.testing.assert_close(x.grad, 2 * x.detach())
    finally:
        thnn.compat.__enter__()
