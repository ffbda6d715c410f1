"""Training across the devices of one process: one network, replicated, one thread per device.

``SelfDataParallel`` runs a network on several devices and normalizes batches across them, ``DataParallelCriterion`` is
the loss of what it returns, ``AllReduce`` the differentiable sum over devices, ``equivalent_decay`` says which decay
makes summed updates of running statistics equal to one.
"""

from thnn.parallel._batch_normalization import equivalent_decay
from thnn.parallel._sums import AllReduce
from thnn.parallel.criterion import DataParallelCriterion
from thnn.parallel.data_parallel import SelfDataParallel

__all__ = ["AllReduce", "DataParallelCriterion", "SelfDataParallel", "equivalent_decay"]
