"""Types: the arrays and callbacks that most modules use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

#: Scores, rates, alphas, thresholds.
Floats = NDArray[np.float64]
#: How many of something.
Counts = NDArray[np.int64]
#: Whole numbers that are no counts.
Ints = NDArray[np.int64]
#: Which entries are meant.
Mask = NDArray[np.bool_]
#: Names.
Texts = NDArray[np.str_]
#: Where entries stand in an array.
Index = NDArray[np.intp]
#: Whole numbers that stand for names.
Codes = NDArray[np.int32]

#: Called with how much is done and how much there is to do in all.
Progress = Callable[[int, int], None]
