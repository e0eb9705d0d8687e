"""Ranking: more than two systems compared on one set of draws: every pair, every rank, and which could be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, DeclaredTable, Flat, Rows, Schema, Summary, Unsaved
from priori.base.errors import OptionError, unknown
from priori.base.options import Interval
from priori.base.quantiles import error_allowed
from priori.base.results import Result
from priori.base.types import Floats, Index, Ints, Mask, Progress
from priori.curves.epc import EPC
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling
from priori.uncertainty.comparing.claims import Claim, shares_of
from priori.uncertainty.comparing.comparison import COMPARED
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.comparing.max_t import model_confidence_set
from priori.uncertainty.comparing.verdicts import Verdict, judge_points, judge_together
from priori.uncertainty.ranking.ranks import group_letters, rank_bounds, rank_shares, ranks_of

#: What is tested together: every pair of systems, or the best against the rest.
Tests = Literal["pairs", "best"]
#: What the settings of a ranking say.
RANKING: dict[str, Schema] = {**COMPARED, "family": {"enum": list(get_args(Tests))}}
#: With more systems for each user than this the familywise error was measured as 10 % instead of 5 %.
SYSTEMS_A_USER = 2


class Place(NamedTuple):
    """A system in a ranking.

    ``value`` is the one observed, ``expected`` the one that ranks and tests are about. Systems that share a letter in
    ``groups`` do not differ significantly. The true rank lies between ``rank_lower`` and ``rank_upper``, with the
    stated confidence for all systems at once; with that confidence, the best is among those that ``could_be_best``.
    """

    name: str
    value: float
    expected: float
    groups: str
    rank: int
    rank_lower: int
    rank_upper: int
    could_be_best: bool


PairTests = Annotated[
    dict[str, NDArray[Any]],
    DeclaredTable(
        {
            "text": "system_a system_b",
            "number": "alpha difference expected lower upper p_adjusted",
            "boolean": "significant",
        }
    ),
]


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Every pair of several systems compared on one set of draws: one row per pair and alpha. Made by `compare_all`.

    Pairs come in the order AB, AC, ..., BC, ...; of verdicts each row is a pair, each column an alpha.

    Attributes
    ----------
    values, expected_values : ndarray
        The value of each system (row) at each alpha, as observed and as the tests are about.
    pointwise : Verdict
        Intervals and p-values at each alpha, adjusted for all pairs (step-down max-T).
    simultaneous : Verdict
        The same, adjusted for all pairs and all alphas together.
    area : Verdict
        The same for the mean over the alphas, adjusted for all pairs; one row per pair.
    best_p_value : ndarray
        The p-value of each system (row) being the best at each alpha, and last for the mean over the alphas.
    rank_probability : ndarray
        How often each system (row) had each rank (column) under resampling, for the mean over the alphas.
    replicates : ndarray or None
        The values in every draw, (draws, systems, alphas), where they were kept.
    settings, warnings : dict, tuple of str
        How it was done, and its warnings.
    """

    names: Unsaved[tuple[str, ...]]
    alpha: Unsaved[Floats]
    values: Unsaved[Floats]
    expected_values: Unsaved[Floats]
    greater_is_better: bool
    pointwise: Unsaved[Verdict]
    simultaneous: Unsaved[Verdict]
    area: Unsaved[Verdict]
    best_p_value: Unsaved[Floats]
    rank_probability: Rows
    settings: Annotated[dict[str, Any], Flat(RANKING)]
    warnings: Cautions = ()
    replicates: Unsaved[Floats | None] = None

    _shown: ClassVar[str] = "ranking"

    @property
    def verdict(self) -> Verdict:
        """The verdict asked for: simultaneous or pointwise."""
        return self.simultaneous if self.settings["simultaneous"] else self.pointwise

    @property
    def p_value(self) -> Floats:
        """The adjusted p-values, one row per pair, one column per alpha."""
        return self.verdict.p_value

    @property
    def confidence_level(self) -> float:
        """The confidence level of intervals, tests and ranks."""
        return float(self.settings["confidence_level"])

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs by the numbers of their systems."""
        return tuple(zip(*(side.tolist() for side in self._sides), strict=True))

    @cached_property
    def _sides(self) -> tuple[Index, Index]:
        return np.triu_indices(len(self.names), 1)

    @cached_property
    def _differences(self) -> Floats:
        first, second = self._sides
        return self.values[first] - self.values[second]

    def places(self, alpha: float | None = None) -> tuple[Place, ...]:
        """Return the systems from best to worst, at one alpha or by their mean over the alphas."""
        if alpha is None:
            return self.ranking
        column = int(np.argmin(np.abs(self.alpha - float(alpha))))
        significant = self.verdict.significant[:, column]
        return self._places(self.values[:, column], self.expected_values[:, column], significant, column)

    @cached_property
    def ranking(self) -> Summary[tuple[Place, ...]]:
        """The systems from best to worst, by their mean over the alphas."""
        shares = shares_of(self.alpha)
        return self._places(self.values @ shares, self.expected_values @ shares, self.area.significant, -1)

    def could_be_best(self, alpha: float | None = None) -> tuple[str, ...]:
        """Return the systems of which one is the best with the stated confidence (model confidence set)."""
        return tuple(place.name for place in self.places(alpha) if place.could_be_best)

    def standings(self) -> tuple[Ints, Ints, Mask]:
        """Return for each system (row) at each alpha between which ranks it lies, and whether it could be the best."""
        significant, possible = self.verdict.significant, self._possible()[:, :-1]
        columns = zip(self.expected_values.T, significant.T, possible.T, strict=True)
        bounds = [self._rank_bounds(self._better(*column[:2]), column[2]) for column in columns]
        lower, upper = (np.stack(side, axis=1) for side in zip(*bounds, strict=True))
        return lower, upper, possible

    def _possible(self) -> Mask:
        """Whether each system (row) could be the best at each alpha, and last by the mean over the alphas."""
        return self.best_p_value >= error_allowed(self.confidence_level)

    def _places(self, value: Floats, expected: Floats, significant: Mask, column: int) -> tuple[Place, ...]:
        better, possible = self._better(expected, significant), self._possible()[:, column]
        ranks = ranks_of(-expected if self.greater_is_better else expected)
        order = np.argsort(ranks, kind="stable")
        if self.settings["family"] == "pairs":
            letters = group_letters(~(better | better.T)[np.ix_(order, order)])
        else:
            letters = ["a" if could else "" for could in possible[order].tolist()]
        columns = (value, expected, ranks, *self._rank_bounds(better, possible), possible)
        rows = zip(*(each[order].tolist() for each in columns), strict=True)
        names = [self.names[system] for system in order.tolist()]
        return tuple(
            Place(name, value, expected, letter, *bounds)
            for name, letter, (value, expected, *bounds) in zip(names, letters, rows, strict=True)
        )

    def _better(self, expected: Floats, significant: Mask) -> Mask:
        """Return which system (row) is significantly better than which (column)."""
        first, second = (side[significant] for side in self._sides)
        badness = -expected if self.greater_is_better else expected
        ahead = badness[first] < badness[second]
        better = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        better[np.where(ahead, first, second), np.where(ahead, second, first)] = True
        return better

    def _rank_bounds(self, better: Mask, possible: Mask) -> tuple[Ints, Ints]:
        if self.settings["family"] == "pairs":
            return rank_bounds(better)
        # It is only known which systems are not the best.
        return np.where(possible, 1, 2), np.where(possible & (possible.sum() == 1), 1, len(self.names))

    @property
    def tests(self) -> Column[PairTests]:
        """The test of each pair at each alpha."""
        names, verdict = np.array(self.names), self.verdict
        first, second = (np.repeat(names[side], self.alpha.size) for side in self._sides)
        columns = {"system_a": first, "system_b": second, "alpha": np.tile(self.alpha, len(verdict.p_value))}
        values = {
            "difference": self._differences,
            **{name: getattr(verdict, name) for name in ("expected", "lower", "upper")},
            "p_adjusted": verdict.p_value,
            "significant": verdict.significant,
        }
        return columns | {name: each.ravel() for name, each in values.items()}


def compare_all(
    curves: Sequence[EPC],
    *,
    claim: Claim = "method",
    family: Tests = "pairs",
    unpaired: bool = False,
    bootstrap: str | None = None,
    n_resamples: int | tuple[int, int] = 10_000,
    confidence_level: float = 0.95,
    interval: Interval | None = None,
    simultaneous: bool = False,
    rng: int | np.random.Generator | None = 0,
    shared_users: bool | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    keep: bool = False,
) -> Ranking:
    """Compare several systems on one set of draws: every pair, tested together, and their ranks.

    Parameters
    ----------
    curves : sequence of EPC
        Two or more curves at the same alphas, each with a name of its own.
    family : {"pairs", "best"}
        What is tested together: every pair of systems (step-down max-T), or whether each system could be the best
        (model confidence set). Intervals are adjusted for all pairs either way.
    claim, unpaired, bootstrap, n_resamples, confidence_level, interval, simultaneous, rng, ...
        As in `priori.compare`.
    keep : bool
        Keep the values of every draw in the result.

    Notes
    -----
    p-values are adjusted by stepping down, intervals in a single step: a difference may be significant while its
    interval reaches a little beyond 0. No p-value is below 1 / (1 + draws).

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 500)
    >>> def curve(quality, name):
    ...     dev, test = (priori.Scores.from_predictions(label, rng.normal(quality * label)) for _ in range(2))
    ...     return priori.epc(dev, test, points=5, name=name)
    >>> ranking = priori.compare_all([curve(1, "A"), curve(3, "B"), curve(3, "C")], n_resamples=1000)
    >>> [(place.name, place.groups, place.rank_lower, place.rank_upper) for place in ranking.places(0.5)]
    [('C', 'a', 1, 2), ('B', 'a', 1, 2), ('A', 'b', 3, 3)]
    >>> sorted(ranking.could_be_best())
    ['B', 'C']
    """
    check_systems(curves, family)
    resampling = Resampling(bootstrap, n_resamples, "test", confidence_level, interval, simultaneous, rng, shared_users)
    evidence = gather_evidence(curves, resampling, claim, unpaired=unpaired, threads=threads, progress=progress)
    return ranking_of(evidence, family=family, keep=keep)


def check_systems(curves: Sequence[EPC], family: Tests) -> None:
    """Raise an error for what is not a set of systems, or not a family of tests."""
    names = tuple(curve.name for curve in curves)
    if len(curves) < 2 or len(set(names)) < len(names):
        raise OptionError(f"compare_all needs two or more curves, each with a name of its own, not {names}")
    if family not in get_args(Tests):
        raise unknown("family", family, get_args(Tests))


def ranking_of(evidence: Evidence, *, family: Tests = "pairs", keep: bool = False) -> Ranking:
    """Test all pairs of systems together on the evidence about them, and rank them."""
    compared = evidence.compared
    curves, greater = compared.given, compared.measure.greater_is_better
    points, best_p_value = judge_points(evidence), _best_p_values(evidence)
    if family == "best":
        points = _against_best(evidence, points, best_p_value)
    at_alphas, overall = slice(compared.alpha.size), evidence.draws[:, -1]
    pointwise = points.part((slice(None), at_alphas))
    return Ranking(
        tuple(curve.name for curve in curves),
        compared.alpha,
        np.stack([curve.value for curve in curves]),
        evidence.expected[at_alphas].T,
        greater,
        pointwise,
        judge_together(evidence, pointwise),
        points.part((slice(None), -1)),
        best_p_value[:, [*range(compared.alpha.size), -1]],
        rank_shares(-overall if greater else overall),
        {**compared.settings(), "family": family},
        (*compared.warnings, *evidence.warnings, *_many_systems(curves, compared.plan)),
        evidence.draws[:, at_alphas].swapaxes(1, 2) if keep else None,
    )._came_from(*curves)


def _best_p_values(evidence: Evidence) -> Floats:
    """Return for every system (row) at each point the p-value of its being the best."""
    sign = -1.0 if evidence.compared.measure.greater_is_better else 1.0
    found = []
    for point, family in enumerate(evidence.families):
        draws, badness = np.ascontiguousarray(evidence.draws[:, point]), sign * evidence.expected[point]
        worse = replace(family, deviates=sign * family.deviates)
        found.append(model_confidence_set(draws, worse, badness))
    return np.stack(found, axis=1)


def _against_best(evidence: Evidence, pairs: Verdict, best_p_value: Floats) -> Verdict:
    """Keep the pairs of the best at each point, with the p-value of the other being the best; others are NaN."""
    badness = -evidence.expected if evidence.compared.measure.greater_is_better else evidence.expected
    best = badness.argmin(axis=1)
    first, second = (side[:, None] for side in evidence.sides)
    tested = (first == best) | (second == best)
    other = np.where(first == best, second, first)
    p_value = np.where(tested, np.take_along_axis(best_p_value, other, axis=0), np.nan)
    lower, upper = (np.where(tested, bound, np.nan) for bound in (pairs.lower, pairs.upper))
    return replace(pairs, lower=lower, upper=upper, p_value=p_value)


def _many_systems(curves: Sequence[EPC], plan: BootstrapPlan) -> tuple[Caution, ...]:
    """Warn where the largest difference of so many pairs lies further out than so few users can show."""
    users = curves[0].test.n_users if plan.design.by_user else 0
    if not users or len(curves) <= SYSTEMS_A_USER * users:
        return ()
    text = f"{len(curves)} systems on {users} users: 10 % of such rankings separate equal systems, not 5 %"
    return (Caution("many-systems", f"{text}; rank fewer systems, or test more users"),)
