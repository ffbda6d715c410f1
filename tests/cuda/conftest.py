"""Tests of the CUDA library in its emulation, which `make emulate` builds and selects."""

import os

collect_ignore_glob = [] if os.environ.get("THNN_CUDA_EMULATE", "0") not in ("", "0") else ["test_*.py"]
