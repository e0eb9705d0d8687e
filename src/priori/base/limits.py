"""Limits: the most that may be asked for, each with its reason, and the one check of a whole number that is given."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.base.errors import OptionError, argument, short

#: Trials in memory that nobody read one by one: rows that count more than once are repeated, simulated ones are drawn.
MOST_TRIALS = 10**8
#: Trials of a set that is only thought of, for a plan or a prediction: products of two such numbers fit into 64 bits.
MOST_PLANNED = 10**9
#: Users of a future test set: each is drawn in every replicate.
MOST_USERS = 10**7
#: Replicates: at 101 alphas so many take 8 GB.
MOST_RESAMPLES = 10**7
#: Threads: more help on no machine, and a system refuses to start many thousands.
MOST_THREADS = 1024
#: Random splits of a coverage experiment, each of which takes a good part of a second, and its simulated systems.
MOST_REPEATS, MOST_SYSTEMS = 10**6, 1000


def whole_number(value: Any, name: str, least: int, most: int, why: str = "") -> int:
    """Return a whole number that lies between two others, both included; ``name`` is the argument's.

    Examples
    --------
    >>> whole_number(3, "threads", 1, 1024)
    3
    """
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or not least <= value <= most:
        given = short(repr(value))
        raise OptionError(f"{argument(name)} must be a whole number from {least} to {most}, not {given}{why}")
    return int(value)
