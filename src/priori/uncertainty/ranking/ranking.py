"""Ranking: more than two systems compared on one set of draws: every pair, every rank, and which could be the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import OptionError, unknown
from priori.base.layouts import CAUTIONS, FLAG, INTEGER, NUMBER, NUMBERS, TEXT, Layout, choice, listed, of, record
from priori.base.options import Interval
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Floats, Ints, Mask, Progress
from priori.curves.epc import EPC
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling
from priori.uncertainty.comparing.claims import Claim, Compared, prepare, shares_of
from priori.uncertainty.comparing.comparison import COMPARED
from priori.uncertainty.comparing.evidence import Evidence, error_allowed, gather_evidence
from priori.uncertainty.ranking.board import AdjustedVerdict, Board, pairs_of_systems
from priori.uncertainty.ranking.ranks import group_letters, rank_bounds, ranks_of
from priori.uncertainty.rates.proportions import Alternative, check_alternative

#: What is tested together: every pair of systems, or the best against the rest.
Tests = Literal["pairs", "best"]
#: With more systems for each user than this the familywise error was measured as 10 % instead of 5 %.
SYSTEMS_A_USER = 2


class Place(NamedTuple):
    """A system in a ranking.

    ``value`` is the one observed, ``expected`` the one that ranks and tests are about. Systems that share a letter in
    ``groups`` do not differ significantly. The true rank lies between ``rank_lower`` and ``rank_upper``, with the
    stated confidence for all systems at once; with that confidence one of those that ``could_be_best`` is.
    """

    name: str
    value: float
    expected: float
    groups: str
    rank: int
    rank_lower: int
    rank_upper: int
    could_be_best: bool


PLACE = record(
    {"name": TEXT, **of(NUMBER, "value expected"), "groups": TEXT}
    | {**of(INTEGER, "rank rank_lower rank_upper"), "could_be_best": FLAG}
)


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Several systems compared on one set of draws. Made by `compare_all`.

    Pairs come in the order AB, AC, ..., BC, ...; of verdicts each row is a pair, each column an alpha.

    Attributes
    ----------
    values, expected_values : ndarray
        The value of each system (row) at each alpha, as observed and as the tests are about.
    pointwise : AdjustedVerdict
        Intervals and p-values at each alpha, adjusted for all pairs (step-down max-T).
    simultaneous : AdjustedVerdict
        The same, adjusted for all pairs and all alphas together.
    area : AdjustedVerdict
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

    names: tuple[str, ...]
    alpha: Floats
    values: Floats
    expected_values: Floats
    greater_is_better: bool
    pointwise: AdjustedVerdict
    simultaneous: AdjustedVerdict
    area: AdjustedVerdict
    best_p_value: Floats
    rank_probability: Floats
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()
    replicates: Floats | None = None

    _layout = Layout(
        "Every pair of several systems compared on one set of draws: one row per pair and alpha.",
        of("text", "system_a system_b")
        | of("number", "alpha difference expected lower upper p_adjusted")
        | of("boolean", "p_fitted significant"),
        {**COMPARED, "family": choice(*get_args(Tests)), "greater_is_better": FLAG, "ranking": listed(PLACE)}
        | {"rank_probability": listed(NUMBERS), "warnings": CAUTIONS},
        settings=(*COMPARED, "family"),
        shown="ranking",
        descriptions={
            "measure": "The measure, as figures call it.",
            "expected": "The difference that interval and p-value are about (claim).",
            "family": "What is tested together: every pair of systems, or the best against the rest.",
            "lower": "The lower bound of the interval, adjusted as the p-value is (single-step).",
            "upper": "The upper bound of the interval, adjusted as the p-value is (single-step).",
            "rank_probability": "How often each system had each rank, for the mean over the alphas.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        table, level = saved.columns(*cls._layout.columns), saved["confidence_level"]
        pairs = list(dict.fromkeys(zip(table["system_a"].tolist(), table["system_b"].tolist(), strict=True)))
        by_pair = {name: values.reshape(len(pairs), -1) for name, values in table.items()}
        asked = "simultaneous" if saved["simultaneous"] else "pointwise"
        known |= {"names": tuple(dict.fromkeys(name for pair in pairs for name in pair)), "alpha": by_pair["alpha"][0]}
        known |= {asked: AdjustedVerdict.of_columns(by_pair, level), "_differences": by_pair["difference"]}
        known |= {"rank_probability": np.array(saved["rank_probability"], dtype=np.float64)}
        return super()._from_parts(saved, _overall=tuple(Place(**ranked) for ranked in saved["ranking"]), **known)

    @property
    def verdict(self) -> AdjustedVerdict:
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
        return tuple(combinations(range(len(self.names)), 2))

    @cached_property
    def _differences(self) -> Floats:
        first, second = pairs_of_systems(len(self.names))
        return self.values[first] - self.values[second]

    def places(self, alpha: float | None = None) -> tuple[Place, ...]:
        """Return the systems from best to worst, at one alpha or by their mean over the alphas."""
        if alpha is None:
            return self._overall
        column = int(np.argmin(np.abs(self.alpha - float(alpha))))
        value, expected, significant = self.values[:, column], self.expected_values[:, column], self.verdict.significant
        return self._places(value, expected, significant[:, column], self.best_p_value[:, column])

    def could_be_best(self, alpha: float | None = None) -> tuple[str, ...]:
        """Return the systems of which one is the best with the stated confidence (model confidence set)."""
        return tuple(place.name for place in self.places(alpha) if place.could_be_best)

    def standings(self) -> tuple[Ints, Ints, Mask]:
        """Return for each system (row) at each alpha between which ranks it lies, and whether it could be the best."""
        possible = self.best_p_value[:, :-1] >= error_allowed(self.confidence_level)
        columns = (self.expected_values.T, self.verdict.significant.T, possible.T)
        bounds = [self._rank_bounds(self._better(*column[:2]), column[2]) for column in zip(*columns, strict=True)]
        lower, upper = (np.stack(side, axis=1) for side in zip(*bounds, strict=True))
        return lower, upper, possible

    @cached_property
    def _overall(self) -> tuple[Place, ...]:
        shares = shares_of(self.alpha)
        return self._places(
            self.values @ shares, self.expected_values @ shares, self.area.significant, self.best_p_value[:, -1]
        )

    def _places(self, value: Floats, expected: Floats, significant: Mask, best_p_value: Floats) -> tuple[Place, ...]:
        badness, better = -expected if self.greater_is_better else expected, self._better(expected, significant)
        possible = best_p_value >= error_allowed(self.confidence_level)
        ranks = ranks_of(badness)
        order = np.argsort(ranks, kind="stable")
        lower, upper = self._rank_bounds(better, possible)
        if self.settings["family"] == "pairs":
            letters = group_letters(~(better | better.T)[np.ix_(order, order)])
        else:
            letters = ["a" if could else "" for could in possible[order].tolist()]
        return tuple(
            Place(
                self.names[i],
                float(value[i]),
                float(expected[i]),
                letter,
                int(ranks[i]),
                int(lower[i]),
                int(upper[i]),
                bool(possible[i]),
            )
            for i, letter in zip(order.tolist(), letters, strict=True)
        )

    def _better(self, expected: Floats, significant: Mask) -> Mask:
        """Return which system (row) is significantly better than which (column)."""
        first, second = pairs_of_systems(len(self.names))
        badness = -expected if self.greater_is_better else expected
        better = np.zeros((len(self.names), len(self.names)), dtype=np.bool_)
        ahead = badness[first] < badness[second]
        better[np.where(ahead, first, second)[significant], np.where(ahead, second, first)[significant]] = True
        return better

    def _rank_bounds(self, better: Mask, possible: Mask) -> tuple[Ints, Ints]:
        if self.settings["family"] == "pairs":
            return rank_bounds(better)
        # Known is only who is not the best.
        return np.where(possible, 1, 2), np.where(possible & (possible.sum() == 1), 1, len(self.names))

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per pair and alpha."""
        names, verdict = np.array(self.names), self.verdict
        first, second = (np.repeat(names[side], self.alpha.size) for side in pairs_of_systems(names.size))
        pairs = len(verdict.p_value)
        columns = {"system_a": first, "system_b": second, "alpha": np.tile(self.alpha, pairs)}
        columns["difference"] = self._differences.ravel()
        columns |= {name: getattr(verdict, name).ravel() for name in ("expected", "lower", "upper")}
        return {
            **columns,
            "p_adjusted": verdict.p_value.ravel(),
            "p_fitted": verdict.fitted.ravel(),
            "significant": verdict.significant.ravel(),
        }

    def summary(self) -> dict[str, Any]:
        """Return the ranking by the mean over the alphas and how it was made."""
        return {
            **self.settings,
            "greater_is_better": self.greater_is_better,
            "ranking": [ranked._asdict() for ranked in self.places()],
            "rank_probability": self.rank_probability,
            "warnings": list(self.warnings),
        }


def compare_all(
    curves: Sequence[EPC],
    *,
    claim: Claim = "method",
    family: Tests = "pairs",
    unpaired: bool = False,
    alternative: Alternative = "two-sided",
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
    claim, unpaired, alternative, bootstrap, n_resamples, confidence_level, interval, simultaneous, rng, ...
        As in `priori.compare`.
    keep : bool
        Keep the values of every draw in the result.

    Notes
    -----
    p-values are adjusted by stepping down, intervals in a single step: a difference may be significant while its
    interval reaches a little beyond 0. A p-value smaller than draws can show comes from a generalized Pareto
    distribution fitted to the largest of their maxima, and is marked as fitted.

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
    resampling = Resampling(
        bootstrap,
        n_resamples,
        confidence_level=confidence_level,
        interval=interval,
        simultaneous=simultaneous,
        rng=rng,
        shared_users=shared_users,
    )
    return make_ranking(
        curves,
        resampling,
        claim=claim,
        family=family,
        unpaired=unpaired,
        alternative=alternative,
        threads=threads,
        progress=progress,
        keep=keep,
    )


def make_ranking(
    curves: Sequence[EPC],
    resampling: Resampling,
    *,
    claim: Claim = "method",
    family: Tests = "pairs",
    unpaired: bool = False,
    alternative: Alternative = "two-sided",
    threads: int | None = None,
    progress: Progress | None = None,
    keep: bool = False,
) -> Ranking:
    """Compare several systems as a resampling describes; its ``resample`` follows from the claim."""
    check_names(curves)
    check_alternative(alternative)
    compared = prepare(curves, resampling, claim, unpaired=unpaired)
    evidence = gather_evidence(compared, threads=threads, progress=progress)
    ranking = ranking_of(compared, evidence, family=family, alternative=alternative, threads=threads, keep=keep)
    return ranking._came_from(*curves)


def check_names(curves: Sequence[EPC]) -> None:
    """Refuse what is no set of systems."""
    names = tuple(curve.name for curve in curves)
    if len(curves) < 2 or len(set(names)) < len(names):
        raise OptionError(f"compare_all needs two or more curves, each with a name of its own, not {names}")


def ranking_of(
    compared: Compared,
    evidence: Evidence,
    *,
    family: Tests,
    alternative: Alternative = "two-sided",
    threads: int | None = None,
    keep: bool = False,
) -> Ranking:
    """Test all pairs of systems together on the evidence about them, and rank them."""
    if family not in get_args(Tests):
        raise unknown("family", family, get_args(Tests))
    curves = compared.curves
    greater = curves[0].measure.greater_is_better
    board = Board(evidence, greater, alternative, threads)
    points, best_p_value = board.pairs(), board.best_p_values()
    if family == "best":
        points = board.against_best(points, best_p_value)
    pointwise, area = points.at(slice(None, -1)), points.at(-1)
    values = np.stack([curve.value for curve in curves])
    return Ranking(
        tuple(curve.name for curve in curves),
        curves[0].alpha,
        values,
        evidence.expected[:-1].T,
        greater,
        pointwise,
        board.simultaneous(pointwise),
        area,
        best_p_value,
        board.rank_shares(),
        {**compared.settings(), "alternative": alternative, "family": family},
        (*compared.warnings, *evidence.warnings, *_many_systems(curves, compared.plan)),
        evidence.draws[:, :-1].swapaxes(1, 2) if keep else None,
    )


def _many_systems(curves: Sequence[EPC], plan: BootstrapPlan) -> tuple[Caution, ...]:
    """Say so where pairs are so many that their largest difference lies further out than so few users can show."""
    users = curves[0].test.n_users if plan.design.by_user else 0
    if not users or len(curves) <= SYSTEMS_A_USER * users:
        return ()
    text = f"{len(curves)} systems are tested together on {users} users: one such ranking in ten tells systems apart"
    return (Caution("many-systems", f"{text} that are alike, where one in twenty may; rank fewer, or test more users"),)
