"""Training on several devices of one process: a replica of the network and a thread per device.

``SelfDataParallel`` runs a network on several devices with batch normalization across them. ``DataParallelCriterion``
computes the loss of its outputs. ``AllReduce`` is the differentiable sum over devices. ``equivalent_decay`` converts
the decay of one device to the decay for several devices whose updates of running statistics are added.
"""

from thnn.parallel._collectives import AllReduce
from thnn.parallel._moving_statistics import equivalent_decay
from thnn.parallel.criterion import DataParallelCriterion
from thnn.parallel.data_parallel import SelfDataParallel

__all__ = ["AllReduce", "DataParallelCriterion", "SelfDataParallel", "equivalent_decay"]


def __dir__() -> list[str]:
    return __all__
