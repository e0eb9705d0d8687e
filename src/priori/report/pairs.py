"""Pairs: two systems of a study against each other, along alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.report.settings import Settings

__all__ = ["Pair", "make_pairs", "regions_of"]

Chosen = NDArray[np.bool_]
Region = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Pair:
    """System ``a`` against system ``b`` (their places in the study), one entry per alpha.

    ``difference`` is a's value minus b's. What follows it comes from the paired bootstrap, and is None where none was
    asked for: ``lower``, ``upper``, ``p_value`` and ``significant`` at each alpha as the settings say, by itself or
    simultaneously; ``throughout`` whether the difference is significant with all alphas looked at together. Several
    pairs are adjusted for their number (Holm). ``confidence`` is the z-test's that the two differ (thesis, Figure
    3.11), and None for measures it is not made for.
    """

    a: int
    b: int
    greater_is_better: bool
    alpha: Floats
    difference: Floats
    lower: Floats | None = None
    upper: Floats | None = None
    p_value: Floats | None = None
    significant: Chosen | None = None
    throughout: Chosen | None = None
    confidence: Floats | None = None

    def better(self, index: int) -> int | None:
        """Return which of the two is better at an alpha, on this test set; None where they are equal."""
        difference = float(self.difference[index])
        if difference == 0:
            return None
        return self.a if (difference > 0) == self.greater_is_better else self.b

    def regions(self, system: int | None = None) -> tuple[Region, ...]:
        """Return the ranges of alpha where the difference is significant, all alphas looked at together.

        With ``system``, those where it is in that system's favour.
        """
        if self.throughout is None:
            return ()
        chosen = self.throughout
        if system is not None:
            in_favour = np.array([self.better(index) == system for index in range(self.alpha.size)])
            chosen = chosen & in_favour
        return regions_of(self.alpha, chosen)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists by name."""
        names = ("difference", "lower", "upper", "p_value", "significant", "throughout", "confidence")
        found = {name: getattr(self, name) for name in names}
        lists = {name: None if column is None else column.tolist() for name, column in found.items()}
        return {"a": self.a, "b": self.b, **lists, "regions": [list(region) for region in self.regions()]}


def regions_of(alpha: Floats, chosen: Chosen) -> tuple[Region, ...]:
    """Return the runs of neighbouring alphas that are chosen, each as (first, last).

    Examples
    --------
    >>> import numpy as np
    >>> regions_of(np.array([0, 0.25, 0.5, 0.75, 1]), np.array([False, True, True, False, True]))
    ((0.25, 0.5), (1.0, 1.0))
    """
    change = np.diff(np.concatenate([[0], chosen.astype(np.int8), [0]]))
    starts, ends = np.flatnonzero(change == 1), np.flatnonzero(change == -1) - 1
    return tuple((float(alpha[start]), float(alpha[end])) for start, end in zip(starts, ends, strict=True))


def make_pairs(
    curves: Sequence[EPC], settings: Settings, *, progress: Callable[[int, int], None] | None = None
) -> tuple[tuple[Pair, ...], tuple[tuple[str, ...], ...] | None]:
    """Compare every two systems.

    Returns the pairs and, where a bootstrap was asked for, for each alpha the letters of every system: those that
    share a letter do not differ significantly.
    """
    if len(curves) < 2:
        return (), None
    places = list(combinations(range(len(curves)), 2))
    tests: list[dict[str, Any]] = [{} for _ in places]
    letters = None
    if settings.bootstrap is not None:
        tests, letters = _bootstrap(curves, settings, progress)
    pairs = tuple(
        Pair(
            a,
            b,
            settings.shown.greater_is_better,
            curves[a].alpha,
            curves[a].value - curves[b].value,
            **found,
            confidence=_confidence(curves[a], curves[b], settings),
        )
        for (a, b), found in zip(places, tests, strict=True)
    )
    return pairs, letters


def _bootstrap(
    curves: Sequence[EPC], settings: Settings, progress: Callable[[int, int], None] | None
) -> tuple[list[dict[str, Any]], tuple[tuple[str, ...], ...]]:
    from priori.uncertainty.ranking import holm, make_ranking

    # A test of the whole population has no future set, and the interval that its bootstrap has by default.
    resampling = replace(
        settings.resampling, interval=None, promise="confidence", future_users=None, future_trials=None
    )
    ranking = make_ranking(curves, resampling, unpaired=settings.unpaired, threads=settings.threads, progress=progress)
    allowed = 1 - settings.confidence_level
    together = holm(np.stack([one.simultaneous.p_value for one in ranking.comparisons]))
    tests = [
        {
            "lower": one.lower,
            "upper": one.upper,
            "p_value": p_value,
            "significant": p_value < allowed,
            "throughout": simultaneous < allowed,
        }
        for one, p_value, simultaneous in zip(ranking.comparisons, ranking.p_value, together, strict=True)
    ]
    letters = []
    for alpha in ranking.alpha.tolist():
        groups = {place.name: place.groups for place in ranking.places(alpha)}
        letters.append(tuple(groups[curve.name] for curve in curves))
    return tests, tuple(letters)


def _confidence(a: EPC, b: EPC, settings: Settings) -> Floats | None:
    """Return the z-tests' confidence that two systems differ: the lesser, since both must find it."""
    from priori.uncertainty.normal_tests import weights_of
    from priori.uncertainty.ztest_curves import ztest_epc

    try:
        weights_of(settings.shown, a.alpha)
    except OptionError:
        return None  # the measure does not add FAR and FRR
    found = ztest_epc(a, b, unpaired=settings.unpaired, confidence_level=settings.confidence_level).comparison.tests
    both = [found[name].confidence for name in ("dependent", "independent") if name in found]
    return np.asarray(np.min(both, axis=0))
