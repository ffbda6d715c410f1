"""Generated from generic/THNN.h by `python -m thnn regenerate`: do not edit."""
from .convolution import *
from .linear import *
from .unfolding import *
from .pooling import *
from .padding import *
from .resampling import *
from .activation import *
from .criterion import *
from .tables import *
from .recurrent import *
from .normalization import *
