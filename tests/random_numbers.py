"""Random numbers taken from a stream one by one, as a kernel takes them."""

from __future__ import annotations

import numpy as np
from numba import njit

from priori.uncertainty.bootstrap import streams


@njit
def uniforms_of(seed, purpose, replicate, size):
    state = streams.stream(seed, purpose, replicate)
    found = np.empty(size)
    for i in range(size):
        found[i] = streams.uniform(state)
    return found
