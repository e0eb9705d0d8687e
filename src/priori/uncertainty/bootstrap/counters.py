"""The streams of `priori.uncertainty.bootstrap.streams` for whole arrays of replicates, in numpy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_GAMMA, _SALT = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1342543DE82EF95)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def _mix(z: Words) -> Words:
    z = (z ^ (z >> np.uint64(30))) * _A
    z = (z ^ (z >> np.uint64(27))) * _B
    return z ^ (z >> np.uint64(31))


def uniforms(seed: int, purpose: int, first: int, rows: int, columns: int) -> NDArray[np.float64]:
    """Return the first ``columns`` uniform numbers of the streams of ``rows`` replicates from ``first`` on."""
    key = _mix(np.array([seed], dtype=np.uint64) + _GAMMA)
    key = _mix((key ^ np.uint64(purpose)) * _SALT + _GAMMA)
    replicate = np.arange(first, first + rows, dtype=np.uint64)
    start = _mix((key ^ replicate) * _SALT + _GAMMA)
    steps = np.arange(1, columns + 1, dtype=np.uint64) * _GAMMA
    words = _mix(start[:, None] + steps)
    return ((words >> np.uint64(11)).astype(np.float64) + 0.5) / 2**53
