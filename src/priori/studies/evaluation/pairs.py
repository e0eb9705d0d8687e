"""Pairs: two systems of a study against each other, along alpha."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OptionError
from priori.base.results import plain
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.studies.evaluation.settings import Settings
from priori.uncertainty.comparing.comparison import Comparison, comparison_of
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.comparing.verdicts import runs
from priori.uncertainty.comparing.ztests import DECISIVE, weights_of, ztests_along
from priori.uncertainty.ranking.ranking import Ranking, ranking_of
from priori.uncertainty.ranking.ranks import told_apart

Chosen = NDArray[np.bool_]
#: A range of alphas: its first and its last.
Span = tuple[float, float]
#: For each alpha the letters of every system; those that share one do not differ significantly.
Letters = tuple[tuple[str, ...], ...]


#: The bars that show how replicates of a difference spread.
BARS = 30


@dataclass(frozen=True, eq=False)
class ReplicateSpread:
    """How replicates of a difference spread at each alpha: ``counts`` in equal bars from ``low`` to ``high``."""

    low: Floats
    high: Floats
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, replicates: Floats) -> ReplicateSpread:
        """Count replicates, (replicates, alphas)."""
        low, high = replicates.min(axis=0), replicates.max(axis=0)
        width = np.where(high > low, high - low, 1.0)
        bar = np.minimum((BARS * (replicates - low) / width).astype(np.int64), BARS - 1)
        alphas = low.size
        counts = np.bincount((bar + BARS * np.arange(alphas)).ravel(), minlength=BARS * alphas)
        return cls(low, low + width, counts.reshape(alphas, BARS))


@dataclass(frozen=True, eq=False)
class Pair:
    """System ``a`` against system ``b`` (their places in the study), one entry per alpha.

    ``difference`` is a's value minus b's. What follows it comes from the test, and is None where none was asked for:
    ``expected``, the difference that the test is about, ``lower``, ``upper``, ``p_value`` and ``significant`` at each
    alpha as the settings say, by itself or simultaneously; ``throughout`` whether the difference is significant with
    all alphas looked at together. Several pairs are tested together (max-T). ``confidence`` is the z-test's that the
    two differ (thesis, Figure 3.11), and None for measures it is not made for. ``spread``: how the replicates of the
    difference spread (2005, Figure 6), where they were kept.
    """

    a: int
    b: int
    greater_is_better: bool
    alpha: Floats
    difference: Floats
    expected: Floats | None = None
    lower: Floats | None = None
    upper: Floats | None = None
    p_value: Floats | None = None
    significant: Chosen | None = None
    throughout: Chosen | None = None
    confidence: Floats | None = None
    spread: ReplicateSpread | None = None

    def better(self, index: int) -> int | None:
        """Return which of the two is better at an alpha, as expected or on this test set; None where they are equal."""
        difference = float(told_apart((self.difference if self.expected is None else self.expected)[index]))
        if difference == 0:
            return None
        return self.a if (difference > 0) == self.greater_is_better else self.b

    def regions(self, system: int | None = None) -> tuple[Span, ...]:
        """Return the ranges of alpha where the difference is significant, all alphas looked at together.

        With ``system``, those where it is in that system's favour.
        """
        if self.throughout is None:
            return ()
        chosen = self.throughout
        if system is not None:
            chosen = chosen & np.array([self.better(index) == system for index in range(self.alpha.size)])
        return spans_of(self.alpha, chosen)

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists by name."""
        left_out = ("greater_is_better", "alpha", "spread")
        return {name: plain(value) for name, value in vars(self).items() if name not in left_out} | {
            "regions": plain(self.regions())
        }


def spans_of(alpha: Floats, chosen: Chosen) -> tuple[Span, ...]:
    """Return the runs of neighbouring alphas that are chosen, each as (first, last)."""
    return tuple((start, end) for start, end, _ in runs(alpha, np.where(chosen, "chosen", "")))


class Tested(NamedTuple):
    """Systems tested against each other, and what was drawn for that: bands and ranks need it too."""

    evidence: Evidence
    result: Comparison | Ranking


def run_tests(
    curves: Sequence[EPC], settings: Settings, *, few: bool, progress: Callable[[int, int], None] | None = None
) -> Tested | None:
    """Test systems, if there are two and a bootstrap was asked for: every pair of ``few``, of more each with the best.

    Replicates are kept where systems are few.
    """
    if len(curves) < 2 or settings.bootstrap is None:
        return None
    run: dict[str, Any] = {"unpaired": settings.unpaired, "threads": settings.threads, "progress": progress}
    evidence = gather_evidence(curves, settings.testing, settings.claim, **run)
    if len(curves) == 2:
        return Tested(evidence, comparison_of(evidence))
    return Tested(evidence, ranking_of(evidence, family="pairs" if few else "best", keep=few))


def compare_systems(curves: Sequence[EPC], tested: Tested | None) -> tuple[Pair, ...]:
    """Return every two systems against each other, as they were tested if they were."""
    if tested is None:
        better, two = curves[0].measure.greater_is_better, combinations(range(len(curves)), 2)
        return tuple(Pair(a, b, better, curves[a].alpha, curves[a].value - curves[b].value) for a, b in two)
    pairs, draws = pairs_of(tested.result), tested.result.replicates
    if draws is None:
        return pairs
    several = isinstance(tested.result, Ranking)
    differences = (draws[:, pair.a] - draws[:, pair.b] if several else draws for pair in pairs)
    return tuple(replace(pair, spread=ReplicateSpread.of(each)) for pair, each in zip(pairs, differences, strict=True))


def pairs_of(compared: Comparison | Ranking) -> tuple[Pair, ...]:
    """Return every two systems compared; those of a ranking as they are tested together."""
    if isinstance(compared, Ranking):
        two, values = compared.pairs, compared.values
    else:
        two, values = ((0, 1),), np.stack([compared.value_a, compared.value_b])
    names = ("expected", "lower", "upper", "p_value", "significant")
    tested = {name: np.atleast_2d(getattr(compared.verdict, name)) for name in names}
    tested["throughout"] = np.atleast_2d(compared.simultaneous.significant)
    return tuple(
        Pair(
            a,
            b,
            compared.greater_is_better,
            compared.alpha,
            values[a] - values[b],
            **{name: rows[row] for name, rows in tested.items()},
        )
        for row, (a, b) in enumerate(two)
    )


def letters_of(compared: Comparison | Ranking, pairs: Sequence[Pair]) -> Letters:
    """Return the letters of every system at each alpha."""
    if isinstance(compared, Ranking):
        by_alpha = ({place.name: place.groups for place in compared.places(alpha)} for alpha in compared.alpha.tolist())
        return tuple(tuple(groups[name] for name in compared.names) for groups in by_alpha)
    pair = pairs[0]
    assert pair.significant is not None
    differ = {None: ("a", "a"), pair.a: ("a", "b"), pair.b: ("b", "a")}
    chosen = zip(pair.significant.tolist(), map(pair.better, range(pair.alpha.size)), strict=True)
    return tuple(differ[better if significant else None] for significant, better in chosen)


def with_confidence(
    pairs: Sequence[Pair], curves: Sequence[EPC], chosen: set[int], settings: Settings
) -> tuple[Pair, ...]:
    """Return the pairs, those of the ``chosen`` systems with the z-tests' confidence: the lesser, both must find it."""
    try:
        weights_of(settings.shown, curves[0].alpha)
    except OptionError:
        return tuple(pairs)  # the measure does not add FAR and FRR
    found = []
    for pair in pairs:
        if {pair.a, pair.b} <= chosen:
            tests = ztests_along(curves[pair.a], curves[pair.b], unpaired=settings.unpaired)
            both = [tests[name].confidence for name in DECISIVE if name in tests]
            pair = replace(pair, confidence=np.asarray(np.min(both, axis=0)))
        found.append(pair)
    return tuple(found)


def against_best(
    curves: Sequence[EPC], pairs: Sequence[Pair], index: int, best: int | None = None
) -> tuple[int, list[int], list[int]]:
    """Return the best system at an alpha, those that are significantly worse, and those that the data cannot tell.

    Without ``best`` it is the one that the tests expect to be best, which need not be so on this test set.
    """
    of_two = {(pair.a, pair.b): pair for pair in pairs}
    if best is None:
        best = 0
        for system in range(1, len(curves)):
            if of_two[best, system].better(index) == system:
                best = system
    worse: list[int] = []
    undecided: list[int] = []
    for system in range(len(curves)):
        if system != best:
            pair = of_two[min(system, best), max(system, best)]
            ahead = pair.significant is not None and pair.significant[index] and pair.better(index) == best
            (worse if ahead else undecided).append(system)
    return best, worse, undecided
