"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""

from thnn._header.model import Function, digest

from . import activation
from . import convolution
from . import criterion
from . import linear
from . import normalization
from . import padding
from . import pooling
from . import recurrent
from . import resampling
from . import tables
from . import unfolding

#: The functions in the order of the header.
FUNCTIONS: tuple[Function, ...] = (
    *convolution.FUNCTIONS,
    *linear.FUNCTIONS,
    *unfolding.FUNCTIONS,
    *pooling.FUNCTIONS,
    *padding.FUNCTIONS,
    *resampling.FUNCTIONS,
    *activation.FUNCTIONS,
    *criterion.FUNCTIONS,
    *tables.FUNCTIONS,
    *recurrent.FUNCTIONS,
    *normalization.FUNCTIONS,
)
DIGEST = digest(FUNCTIONS)
