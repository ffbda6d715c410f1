"""Layers with buffers and explicit gradients, like torch.legacy.nn, written for PyTorch 0.2.

Every module allocates its own outputs, passes them to the backend of its type, and keeps what the backward needs.
"""

# ruff: noqa: N802
import torch
import torch._thnn


def recursive_type(value, type, cache):
    if isinstance(value, list):
        return [recursive_type(v, type, cache) for v in value]
    if isinstance(value, (Module, Criterion)):
        return value.type(type, cache)
    if torch.is_tensor(value):
        return cache.setdefault(id(value), value.type(type))
    return value


class Typed:
    """The base of modules and criteria: an object of one tensor type, with the backend of that type."""

    def __init__(self):
        self.gradInput = torch.Tensor()
        self.output = torch.Tensor()
        self._type = self.gradInput.type()
        self._backend = torch._thnn.type2backend[type(self.gradInput)]

    def call(self, name, *arguments):
        getattr(self._backend, name)(self._backend.library_state, *arguments)

    def type(self, type=None, cache=None):
        if type is None:
            return self._type
        cache = {} if cache is None else cache
        for key, value in self.__dict__.items():
            self.__dict__[key] = recursive_type(value, type, cache)
        self._backend = torch._thnn.type2backend[type]
        self._type = type
        return self

    def float(self):
        return self.type("torch.FloatTensor")

    def double(self):
        return self.type("torch.DoubleTensor")


class Module(Typed):
    parameter_names = ()
    buffer_names = ()

    def __init__(self):
        super().__init__()
        self.train = True
        for name in self.buffer_names:
            setattr(self, name, torch.Tensor())

    def make_parameters(self, **sizes):
        self.parameter_names = tuple(sizes)
        for name, size in sizes.items():
            setattr(self, name, torch.Tensor(*size).uniform_(-0.5, 0.5))
            setattr(self, "grad" + name.capitalize(), torch.Tensor(*size).fill_(float("nan")))

    def parameters(self):
        grads = [getattr(self, "grad" + name.capitalize()) for name in self.parameter_names]
        return [getattr(self, name) for name in self.parameter_names], grads

    def forward(self, input):
        return self.updateOutput(input)

    def backward(self, input, gradOutput, scale=1):
        self.updateGradInput(input, gradOutput)
        self.accGradParameters(input, gradOutput, scale)
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        pass

    def zeroGradParameters(self):
        for grad in self.parameters()[1]:
            grad.zero_()

    def evaluate(self):
        self.train = False

    def clearState(self):
        for name in ("output", "gradInput", "indices", *self.buffer_names):
            if torch.is_tensor(getattr(self, name, None)):
                getattr(self, name).set_()
        return self


class Plain(Module):
    """A layer without parameters: its name, arguments and buffers. The backward takes the output if `saves`, otherwise
    the buffers."""

    def __init__(self, name, *arguments, saves=False, buffers=(), inplace=None):
        self.buffer_names = buffers
        super().__init__()
        self.name, self.arguments, self.saves = name, arguments, saves
        if inplace is not None:
            self.arguments = (*arguments, inplace)

    def updateOutput(self, input):
        buffers = [getattr(self, name) for name in self.buffer_names]
        self.call(f"{self.name}_updateOutput", input, self.output, *buffers, *self.arguments)
        return self.output

    def updateGradInput(self, input, gradOutput):
        saved = [self.output] if self.saves else [getattr(self, name) for name in self.buffer_names]
        arguments = () if self.name == "Sqrt" else self.arguments
        self.call(f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, *saved, *arguments)
        return self.gradInput


class RReLU(Module):
    def __init__(self, lower=1.0 / 8, upper=1.0 / 3, inplace=False):
        super().__init__()
        self.lower, self.upper, self.inplace = lower, upper, inplace
        self.noise = torch.Tensor()

    def updateOutput(self, input):
        self.call(
            "RReLU_updateOutput", input, self.output, self.noise, self.lower, self.upper, self.train,
            self.inplace, None,
        )  # fmt: skip
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            "RReLU_updateGradInput", input, gradOutput, self.gradInput, self.noise, self.lower, self.upper,
            self.train, self.inplace,
        )  # fmt: skip
        return self.gradInput


class PReLU(Module):
    def __init__(self, nOutputPlane=0):
        super().__init__()
        self.nOutputPlane = nOutputPlane
        self.make_parameters(weight=(nOutputPlane or 1,))
        self.gradWeightBuf = self.gradWeightBuf2 = None

    def updateOutput(self, input):
        self.call("PReLU_updateOutput", input, self.output, self.weight, self.nOutputPlane)
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call("PReLU_updateGradInput", input, gradOutput, self.gradInput, self.weight, self.nOutputPlane)
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        if self.gradWeightBuf is None:
            self.gradWeightBuf = input.new()
            self.gradWeightBuf2 = input.new()
        self.call(
            "PReLU_accGradParameters", input, gradOutput, self.gradInput, self.weight, self.gradWeight,
            self.gradWeightBuf, self.gradWeightBuf2, self.nOutputPlane, scale,
        )  # fmt: skip


class Convolution(Module):
    """A convolution by its module's name; `backward` are the buffers of updateGradInput."""

    buffer_names = ("finput", "fgradInput")

    def __init__(self, name, weight, *arguments, buffers=("finput", "fgradInput"), backward=None):
        super().__init__()
        self.name, self.arguments = name, arguments
        self.buffers = buffers
        self.backward_buffers = buffers if backward is None else backward
        bias = weight[1] if name.startswith(("SpatialFull", "VolumetricFull")) else weight[0]
        self.make_parameters(weight=weight, bias=(bias,))

    def noBias(self):
        self.bias = self.gradBias = None
        self.parameter_names = ("weight",)
        return self

    def updateOutput(self, input):
        buffers = [getattr(self, name) for name in self.buffers]
        self.call(
            f"{self.name}_updateOutput", input, self.output, self.weight, self.bias, *buffers, *self.arguments
        )
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.gradInput.resize_as_(input).zero_()
        buffers = [getattr(self, name) for name in self.backward_buffers]
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, self.weight, *buffers,
            *self.arguments,
        )  # fmt: skip
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        buffers = [getattr(self, name) for name in self.buffers]
        self.call(
            f"{self.name}_accGradParameters", input, gradOutput, self.gradWeight, self.gradBias, *buffers,
            *self.arguments, scale,
        )  # fmt: skip


class Temporal(Module):
    """TemporalConvolution, TemporalSubSampling and SpatialSubSampling: only the forward takes the sizes of frames."""

    def __init__(self, name, weight, bias, *arguments, sizes=()):
        super().__init__()
        self.name, self.arguments, self.sizes = name, arguments, sizes
        self.make_parameters(weight=weight, bias=bias)

    def updateOutput(self, input):
        self.call(
            f"{self.name}_updateOutput",
            input,
            self.output,
            self.weight,
            self.bias,
            *self.arguments,
            *self.sizes,
        )
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, self.weight, *self.arguments
        )
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        self.call(
            f"{self.name}_accGradParameters", input, gradOutput, self.gradWeight, self.gradBias, *self.arguments,
            scale,
        )  # fmt: skip


class ConvolutionMap(Module):
    def __init__(self, name, table, planes, kernel, stride):
        super().__init__()
        self.name, self.connTable, self.arguments = name, table, (*planes, *stride)
        self.make_parameters(weight=(table.size(0), *kernel), bias=(planes[1],))

    def updateOutput(self, input):
        self.call(
            f"{self.name}_updateOutput",
            input,
            self.output,
            self.weight,
            self.bias,
            self.connTable,
            *self.arguments,
        )
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, self.weight, self.bias,
            self.connTable, *self.arguments,
        )  # fmt: skip
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        self.call(
            f"{self.name}_accGradParameters", input, gradOutput, self.gradWeight, self.gradBias, self.connTable,
            *self.arguments, scale,
        )  # fmt: skip


def full_table(inputs, outputs):
    table = torch.zeros(inputs * outputs, 2)
    for i in range(outputs):
        for j in range(inputs):
            table[i * inputs + j][0], table[i * inputs + j][1] = j, i
    return table


class BatchNormalization(Module):
    def __init__(self, features, eps=1e-5, momentum=0.1, affine=True):
        super().__init__()
        self.eps, self.momentum = eps, momentum
        self.running_mean, self.running_var = torch.zeros(features), torch.ones(features)
        self.save_mean = self.save_std = None
        if affine:
            self.make_parameters(weight=(features,), bias=(features,))
        else:
            self.weight = self.bias = self.gradWeight = self.gradBias = None

    def updateOutput(self, input):
        self.output.resize_as_(input)
        if self.save_mean is None:
            self.save_mean, self.save_std = input.new(), input.new()
        self.save_mean.resize_as_(self.running_mean)
        self.save_std.resize_as_(self.running_var)
        self.call(
            "BatchNormalization_updateOutput", input, self.output, self.weight, self.bias, self.running_mean,
            self.running_var, self.save_mean, self.save_std, self.train, self.momentum, self.eps,
        )  # fmt: skip
        return self.output

    def backward_call(self, input, gradOutput, scale, gradInput=None, gradWeight=None, gradBias=None):
        if gradInput is not None:
            gradInput.resize_as_(gradOutput)
        self.call(
            "BatchNormalization_backward", input, gradOutput, gradInput, gradWeight, gradBias, self.weight,
            self.running_mean, self.running_var, self.save_mean, self.save_std, self.train, scale, self.eps,
        )  # fmt: skip
        return self.gradInput

    def backward(self, input, gradOutput, scale=1.0):
        return self.backward_call(input, gradOutput, scale, self.gradInput, self.gradWeight, self.gradBias)

    def updateGradInput(self, input, gradOutput):
        return self.backward_call(input, gradOutput, 1.0, self.gradInput)

    def accGradParameters(self, input, gradOutput, scale=1.0):
        return self.backward_call(input, gradOutput, scale, None, self.gradWeight, self.gradBias)


class MaxPooling(Module):
    """A pooling with indices, which type() has converted to the type of the module."""

    def __init__(self, name, *arguments, backward=None):
        super().__init__()
        self.name, self.arguments = name, arguments
        self.backward_arguments = arguments if backward is None else backward
        self.indices = None

    def updateOutput(self, input):
        if self.indices is None:
            self.indices = input.new()
        self.indices = self.indices.long()
        self.call(f"{self.name}_updateOutput", input, self.output, self.indices, *self.arguments)
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, self.indices,
            *self.backward_arguments,
        )  # fmt: skip
        return self.gradInput


class MaxUnpooling(Module):
    def __init__(self, name, pooling, *arguments):
        super().__init__()
        self.name, self.pooling, self.arguments = name, pooling, arguments

    def updateOutput(self, input):
        self.indices = self.pooling.indices.long()
        self.call(f"{self.name}_updateOutput", input, self.output, self.indices, *self.arguments)
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, self.indices, *self.arguments
        )
        return self.gradInput


class FractionalMaxPooling(Module):
    """Also for one sample, whose random numbers have a batch of 1."""

    def __init__(self, name, *sizes):
        super().__init__()
        self.name, self.sizes = name, sizes
        self.indices = self.randomSamples = None

    def updateOutput(self, input):
        dimensions = len(self.sizes) // 2
        if self.indices is None:
            self.indices = input.new()
        self.indices = self.indices.long()
        if self.randomSamples is None:
            batch = input.size()[:2] if input.dim() == dimensions + 2 else (1, input.size(0))
            self.randomSamples = input.new().resize_(*batch, dimensions).uniform_()
        self.call(
            f"{self.name}_updateOutput", input, self.output, *self.sizes, self.indices, self.randomSamples
        )
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(
            f"{self.name}_updateGradInput", input, gradOutput, self.gradInput, *self.sizes, self.indices
        )
        return self.gradInput


class UpSampling(Module):
    """Linear interpolation, whose backward takes all sizes."""

    def __init__(self, name, *sizes):
        super().__init__()
        self.name, self.sizes = name, sizes

    def updateOutput(self, input):
        self.call(f"{self.name}_updateOutput", input, self.output, *self.sizes)
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.call(f"{self.name}_updateGradInput", gradOutput, self.gradInput, *input.size(), *self.sizes)
        return self.gradInput


class LookupTable(Module):
    def __init__(self, nIndex, nOutput, paddingValue=-1, maxNorm=None, normType=None, byFrequency=False):
        super().__init__()
        self.make_parameters(weight=(nIndex, nOutput))
        self.paddingValue, self.maxNorm, self.normType = paddingValue, maxNorm, normType
        self.shouldScaleGradByFreq = byFrequency
        self._count, self._input = torch.IntTensor(), torch.LongTensor()
        self._sorted = self._indices = None

    def type(self, type=None, cache=None):
        if type is None:
            return self._type
        super().type(type, cache)
        self._count, self._input = torch.IntTensor(), torch.LongTensor()
        return self

    def updateOutput(self, input):
        if self.maxNorm is not None:
            rows = self._input.resize_(input.size()).copy_(input)
            self.call("LookupTable_renorm", rows.view(-1), self.weight, self.maxNorm, self.normType or 2)
        torch.index_select(self.weight, 0, input.view(-1), out=self.output)
        self.output = self.output.view(*input.size(), self.weight.size(1))
        return self.output

    def updateGradInput(self, input, gradOutput):
        self.gradInput.resize_(input.size()).zero_()
        return self.gradInput

    def accGradParameters(self, input, gradOutput, scale=1):
        self.call(
            "LookupTable_accGradParameters", input, gradOutput, self.gradWeight, self._count, self._sorted,
            self._indices, self.shouldScaleGradByFreq, self.paddingValue, scale,
        )  # fmt: skip


class SparseLinear(Module):
    """The product with a matrix of (row, column, value); `legacy`: one list of (column, value) per row, from 1."""

    def __init__(self, inputs, outputs, legacy=False):
        super().__init__()
        self.make_parameters(weight=(outputs, inputs), bias=(outputs,))
        self.legacy, self.weightDecay, self.lastInput = legacy, 0, None

    def name(self, legacy, new):
        return f"SparseLinear_{legacy if self.legacy else new}"

    def updateOutput(self, input):
        if not self.legacy:  # the entries do not tell the number of rows
            self.output.resize_(int(input[:, 0].max()), self.bias.size(0))
        self.call(self.name("legacyUpdateOutput", "updateOutput"), input, self.output, self.weight, self.bias)
        return self.output

    def updateGradInput(self, input, gradOutput):
        return None

    def accGradParameters(self, input, gradOutput, scale=1):
        self.lastInput = input
        self.call(
            self.name("legacyAccGradParameters", "accGradParameters"), input, gradOutput, self.gradWeight,
            self.gradBias, self.weight, self.bias, self.weightDecay, scale,
        )  # fmt: skip

    def updateParameters(self, rate):
        self.call(
            self.name("legacyUpdateParameters", "updateParameters"), self.weight, self.bias, self.gradWeight,
            self.gradBias, self.lastInput, rate,
        )  # fmt: skip

    def zeroGradParameters(self):
        if self.lastInput is None:
            super().zeroGradParameters()
        else:
            name = self.name("legacyZeroGradParameters", "zeroGradParameters")
            self.call(name, self.gradWeight, self.gradBias, self.lastInput)


class Criterion(Typed):
    """A loss by its module's name; the arguments are in the order of the header, after the buffer if there is one."""

    def __init__(self, name, *arguments, buffer=None, long=False):
        super().__init__()
        self.output = 0
        self.output_tensor = torch.zeros(1)
        self.name, self.arguments, self.long = name, list(arguments), long
        self.buffer = buffer

    def extra(self):
        return self.arguments if self.buffer is None else [self.buffer, *self.arguments]

    def forward(self, input, target):
        target = target.long() if self.long else target
        self.call(f"{self.name}_updateOutput", input, target, self.output_tensor, *self.extra())
        self.output = self.output_tensor[0]
        return self.output

    def backward(self, input, target):
        target = target.long() if self.long else target
        self.gradInput.resize_as_(input).zero_()
        self.call(f"{self.name}_updateGradInput", input, target, self.gradInput, *self.extra())
        return self.gradInput


class ClassNLLCriterion(Typed):
    def __init__(self, name="ClassNLLCriterion", weights=None, sizeAverage=True, ignore_index=-100):
        super().__init__()
        self.output_tensor, self.total_weight_tensor = torch.zeros(1), torch.ones(1)
        self.name, self.weights, self.sizeAverage, self.ignore_index = (
            name,
            weights,
            sizeAverage,
            ignore_index,
        )

    def forward(self, input, target):
        self.call(
            f"{self.name}_updateOutput", input, target.long(), self.output_tensor, self.sizeAverage, self.weights,
            self.total_weight_tensor, self.ignore_index,
        )  # fmt: skip
        return self.output_tensor[0]

    def backward(self, input, target):
        self.gradInput.resize_as_(input).zero_()
        self.call(
            f"{self.name}_updateGradInput", input, target.long(), self.gradInput, self.sizeAverage, self.weights,
            self.total_weight_tensor, self.ignore_index,
        )  # fmt: skip
        return self.gradInput


class L1Cost(Typed):
    def __init__(self):
        super().__init__()
        self.output_tensor = torch.zeros(1)

    def forward(self, input, target=None):
        self.call("L1Cost_updateOutput", input, self.output_tensor)
        return self.output_tensor[0]

    def backward(self, input, target=None):
        self.call("L1Cost_updateGradInput", input, None, self.gradInput)
        return self.gradInput
