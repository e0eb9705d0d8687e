"""Maxima: how often the largest of many studentised differences exceeds what was reached, compiled.

Importing this module imports numba: `priori.uncertainty.comparing.max_t` does so when systems are compared.
"""

from __future__ import annotations

import numpy as np

from priori.base.compiling import compiled

#: Which signs of a difference are looked at: its own; both; or its own, after all of them with the other sign.
OWN, BOTH, OTHERS_FIRST = range(3)


@compiled
def count_maxima(values, plus, minus, scale, reached, signs, counts, largest):  # type: ignore[no-untyped-def]
    """Add to ``counts[k]`` the draws where the largest of the deviations 0 to k is at least ``reached[k]``.

    ``values[c, d]`` is column c in draw d, ``scale[k] * (values[plus[k]] - values[minus[k]])`` deviation k, by the
    ``signs`` that count. ``largest`` becomes the largest of all in each draw. The loop over draws is the inner one, so
    that processors take several at a time.
    """
    draws = values.shape[1]
    for d in range(draws):
        largest[d] = -np.inf
    if signs == OTHERS_FIRST:
        for k in range(plus.size):
            one, other, factor = values[plus[k]], values[minus[k]], scale[k]
            for d in range(draws):
                deviation = (other[d] - one[d]) * factor
                largest[d] = deviation if deviation > largest[d] else largest[d]
    for k in range(plus.size):
        one, other, factor, enough = values[plus[k]], values[minus[k]], scale[k], reached[k]
        beyond = 0
        if signs == BOTH:
            for d in range(draws):
                deviation = abs(one[d] - other[d]) * factor
                highest = deviation if deviation > largest[d] else largest[d]
                largest[d] = highest
                beyond += highest >= enough
        else:
            for d in range(draws):
                deviation = (one[d] - other[d]) * factor
                highest = deviation if deviation > largest[d] else largest[d]
                largest[d] = highest
                beyond += highest >= enough
        counts[k] += beyond


@compiled
def count_turns(values, plus, minus, counts):  # type: ignore[no-untyped-def]
    """Add to ``counts[k]`` the draws where column ``plus[k]`` of ``values[c, d]`` is not above column ``minus[k]``."""
    for k in range(plus.size):
        one, other = values[plus[k]], values[minus[k]]
        beyond = 0
        for d in range(values.shape[1]):
            beyond += one[d] <= other[d]
        counts[k] += beyond
