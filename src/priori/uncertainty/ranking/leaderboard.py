"""Leaderboard: many systems ranked at thresholds fixed in advance, beside the ranking that the test set gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, TypedDict

import numpy as np

from priori.base.above import Plotted
from priori.base.declarations import FLAG, NUMBER, TEXT, Cautions, Flat, Rows
from priori.base.errors import OptionError, unknown
from priori.base.results import Result
from priori.base.types import Floats, Ints, Progress, Texts
from priori.curves.cross import CrossEPC
from priori.curves.epc import EPC, at_alphas, rows_of
from priori.curves.roc import all_aucs, all_eers, all_min_dcfs
from priori.engines import Table
from priori.scores import Scores, ScoreSet, counts_of
from priori.scores.score_set import Role
from priori.uncertainty.bands.bands import make_band
from priori.uncertainty.bootstrap.designs import Bootstrap
from priori.uncertainty.bootstrap.draws import TEST_USERS, load_kernel, rows_for, whole_units
from priori.uncertainty.bootstrap.layout import bin_ends, bins_between, narrow_cuts
from priori.uncertainty.bootstrap.readers import gather, outcomes_at, value_of
from priori.uncertainty.bootstrap.resampling import BootstrapPlan, Resampling
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.expected.influences import group_units
from priori.uncertainty.expected.method import ends
from priori.uncertainty.ranking.ranking import RANKING, Place, Ranking, Tests, check_systems, ranking_of
from priori.uncertainty.ranking.ranks import kendall_tau, moved_ranks, rank_shares, ranks_of, tau_interval

#: Draws of both rankings; their spread is all that is used.
DRAWS = 1000

#: What the settings of a leaderboard say besides those of its ranking.
RANKED = {**RANKING, "against": TEXT, "alpha": NUMBER, "greater_is_better": FLAG, "post_greater_is_better": FLAG}


class Move(TypedDict):
    """How many ranks a system gains at thresholds fixed in advance, the interval of that, and whether it excludes 0."""

    name: str
    gain: int
    lower: float
    upper: float
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result, Plotted):
    """Many systems from best to worst, at thresholds fixed in advance and a posteriori: one row per system.

    Made by `rank`.

    Attributes
    ----------
    system, value, lower, upper : ndarray
        Each system, its value at thresholds fixed in advance, and the interval of that value.
    rank, rank_lower, rank_upper : ndarray
        Its rank, and between which ranks the true one lies, with the stated confidence for all systems at once.
    groups : ndarray
        Systems that share a letter do not differ significantly.
    post_value, post_rank : ndarray
        What the test set itself shows (EER, minDCF, AUC), and the rank by that.
    could_be_best : tuple of str
        The systems of which one is the best with the stated confidence (model confidence set).
    tau, tau_lower, tau_upper : float
        Kendall's tau between the two rankings, and the interval of the one between the true rankings: pairs of systems
        that either ranking does not tell apart may be in the same order in both or not.
    moves : tuple of dict
        For each system how many ranks it gains (or loses, if negative) at thresholds fixed in advance, the interval of
        that, simultaneous over the systems, and whether it excludes 0.
    rank_probability : ndarray
        How often each system (row) had each rank (column) under resampling.
    settings, warnings : dict, tuple of str
        How it was done, and its warnings.
    """

    system: Texts
    value: Floats
    lower: Floats
    upper: Floats
    rank: Ints
    rank_lower: Ints
    rank_upper: Ints
    post_value: Floats
    post_rank: Ints
    groups: Texts
    could_be_best: tuple[str, ...]
    tau: float
    tau_lower: float
    tau_upper: float
    moves: tuple[Move, ...]
    rank_probability: Rows
    settings: Annotated[dict[str, Any], Flat(RANKED)]
    warnings: Cautions = ()


def rank(
    curves: Sequence[EPC],
    *,
    alpha: Any = None,
    against: Against = "eer",
    claim: Claim = "deployed",
    family: Tests = "pairs",
    bootstrap: str | None = None,
    n_resamples: int | tuple[int, int] = 10_000,
    confidence_level: float = 0.95,
    rng: int | np.random.Generator | None = 0,
    shared_users: bool | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Rank many systems at thresholds fixed in advance, and compare that with the ranking a posteriori.

    Parameters
    ----------
    curves : sequence of EPC
        Two or more curves on the same test trials, each with a name of its own.
    alpha : float, optional
        The trade-off at which systems are ranked, 0.5 by default; a limit or a target has to be given.
    against : {"eer", "min_dcf", "auc"}
        What the test set itself ranks systems by.
    claim : {"deployed", "method"}
        Rank the thresholds as they were handed in, the default for a leaderboard; or the systems as methods, tuned on
        other development sets like this one (see `priori.compare`).
    family, bootstrap, n_resamples, confidence_level, rng, shared_users, threads, progress
        As in `priori.compare_all`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 300)
    >>> def curve(quality, name):
    ...     dev, test = (priori.Scores.from_predictions(label, rng.normal(quality * label)) for _ in range(2))
    ...     return priori.epc(dev, test, name=name)
    >>> board = priori.rank([curve(1, "A"), curve(3, "B"), curve(2, "C")], n_resamples=1000)
    >>> [(str(name), int(low), int(high)) for name, low, high in zip(board.system, board.rank_lower, board.rank_upper)]
    [('B', 1, 1), ('C', 2, 2), ('A', 3, 3)]
    >>> board.tau
    1.0
    """
    if against not in POSTERIORS:
        raise unknown("a posteriori figure", against, POSTERIORS)
    check_systems(curves, family)
    resampling = Resampling(bootstrap, n_resamples, "test", confidence_level, None, False, rng, shared_users)
    here = at_one_alpha(curves, alpha)
    evidence = gather_evidence(here, resampling, claim, threads=threads, progress=progress)
    return leaderboard_of(evidence, ranking_of(evidence, family=family), against=against)


def at_one_alpha(curves: Sequence[EPC], alpha: Any) -> Sequence[EPC]:
    """Return curves at the alpha at which systems are ranked, each with one threshold there."""
    if any(isinstance(curve, CrossEPC) for curve in curves):
        raise OptionError(
            "a leaderboard needs one threshold for each system: split the set in two (Scores.split), or "
            "compare the cross-fitted curves"
        )
    return at_alphas(curves, [curves[0].criterion.alpha_or_half(alpha)])


def leaderboard_of(
    evidence: Evidence,
    ranking: Ranking,
    point: int = 0,
    intervals: tuple[Floats, Floats] | None = None,
    *,
    against: Against = "eer",
) -> Leaderboard:
    """Rank systems at one alpha, on the evidence about them and the ranking by it.

    There may be ``intervals`` of their values that are known.
    """
    compared, alpha = evidence.compared, float(ranking.alpha[point])
    measure, plan = compared.measure, replace(compared.plan, progress=None)
    title, figures = POSTERIORS[against]
    lower, upper = intervals or _intervals(evidence, plan)
    expected, replicates = evidence.expected[point], evidence.draws[:, point]
    # Tables need counts at other cuts than those that new thresholds were chosen on.
    judged = [
        rows_of(ready if curve.test.fits else replace(ready, test=curve.judged), [point])
        for ready, curve in zip(compared.curves, compared.given, strict=True)
    ]
    post_value = np.array(figures([curve.test for curve in judged]))
    drawn, post_drawn = draw_both(judged, plan, against, DRAWS)
    warnings = ranking.warnings
    if compared.claim == "method":
        elsewhere = (line for line in warnings if getattr(line, "code", "") != "ends")
        warnings = (*elsewhere, *ends(np.array([alpha])))
        drawn = as_methods(drawn, expected, evidence.covariances[point].astype(np.float64), plan.seed)
    sign, post_sign = (-1 if measure.greater_is_better else 1), (-1 if against == "auc" else 1)
    before, after = (sign * expected, sign * drawn), (post_sign * post_value, post_sign * post_drawn)
    gain = ranks_of(after[0]) - ranks_of(before[0])
    moved = moved_ranks(gain, ranks_of(after[1]) - ranks_of(before[1]), plan.confidence_level)
    moves = [
        Move(name=name, gain=gained, lower=low, upper=high, significant=sure)
        for name, gained, low, high, sure in zip(
            ranking.names, *(column.tolist() for column in (gain, *moved)), strict=True
        )
    ]
    tau_lower, tau_upper = tau_interval([before, after], plan.confidence_level)
    places = ranking.places(alpha)
    order = [ranking.names.index(place.name) for place in places]
    of_places = {name: np.array([getattr(place, name) for place in places]) for name in Place._fields}
    settings = {**ranking.settings, "against": title, "alpha": alpha}
    settings |= {"greater_is_better": measure.greater_is_better, "post_greater_is_better": against == "auc"}
    return Leaderboard(
        system=of_places["name"],
        lower=lower[order],
        upper=upper[order],
        **{name: of_places[name] for name in ("value", "rank", "rank_lower", "rank_upper", "groups")},
        post_value=post_value[order],
        post_rank=ranks_of(after[0])[order],
        could_be_best=tuple(place.name for place in places if place.could_be_best),
        tau=float(kendall_tau(before[0], after[0])),
        tau_lower=tau_lower,
        tau_upper=tau_upper,
        moves=tuple(moves[system] for system in order),
        rank_probability=rank_shares(sign * replicates)[order],
        settings=settings,
        warnings=warnings,
    )._came_from(*compared.given)


def _intervals(evidence: Evidence, plan: BootstrapPlan) -> tuple[Floats, Floats]:
    """Return the interval of each system's value, as its own band has it."""
    compared = evidence.compared
    bands = [
        make_band(curve, compared.resampling, threads=plan.threads, estimated=evidence.estimated(number))
        for number, curve in enumerate(compared.given)
    ]
    return np.array([band.lower[0] for band in bands]), np.array([band.upper[0] for band in bands])


# -- both rankings under resampling ----------------------------------------------------------------------------------

#: What systems are ranked by on the test set itself.
Against = Literal["eer", "min_dcf", "auc"]
#: Each with its title, and how it is computed from test sets.
POSTERIORS: dict[Against, tuple[str, Callable[[Sequence[ScoreSet]], list[float]]]] = {
    "eer": ("EER", all_eers),
    "min_dcf": ("minDCF", all_min_dcfs),
    "auc": ("AUC", all_aucs),
}
#: The costs of a miss and a false alarm, and the prior, of minDCF.
DCF = (10.0, 1.0, 0.01)
#: More users than this are drawn in as many random groups, trials in half as many groups of each class.
GROUPS = 1 << 13
#: The share of themselves by which rates change within a bin of scanned tables.
RESOLUTION = 1 / 16
#: Random parts of the trials of scanned tables, where these have no users.
PARTS = 500
#: The seed of noise, with the plan's own.
DRAWN = 3_000_001


def draw_both(curves: Sequence[EPC], plan: BootstrapPlan, against: Against, draws: int) -> tuple[Floats, Floats]:
    """Return the values of the systems in each draw, (draws, systems): at fixed thresholds, and a posteriori.

    One draw of users (or trials, or identities) serves both, so that what they have in common cancels out. The curves
    have one alpha, and hold the same trials in the same order. Many scores are counted in narrow bins; for tables that
    are scanned, users (or random parts of their trials) are drawn.
    """
    if any(curve.test.scanned for curve in curves):
        tests, cuts = _counted(curves, plan)
        units = [group_units(each, plan, GROUPS) for each in tests]
    else:
        tests = [curve.test.load() for curve in curves]
        ends = (bin_ends(each, narrow_cuts(each)) for each in tests)
        cuts = [np.union1d(own, curve.threshold) for own, curve in zip(ends, curves, strict=True)]
        units = [group_units(tests[0], plan, GROUPS)] * len(curves)
    bins = [bins_between(test.unmixed, cut) for test, cut in zip(tests, cuts, strict=True)]
    laid_out = whole_units(tests, bins, [each.classes for each in units], units[0].strata, TEST_USERS, plan.seed)
    cost_fn, cost_fp, prior = DCF
    kernel, figure = load_kernel("along_the_curve"), list(POSTERIORS).index(against)

    def work(first: int, rows: int) -> Floats:
        values = np.empty((rows, 2, len(curves)))
        for s, counts in enumerate(laid_out.counts(first, rows)):
            outcomes = outcomes_at(*counts, np.searchsorted(cuts[s], curves[s].threshold) + 1, tests[s].unmixed)
            values[:, 0, s] = value_of(curves[s].measure, outcomes, curves[s].alpha)[:, 0]
            kernel(*counts, figure, cost_fn * prior, cost_fp * (1 - prior), values[:, 1, s])
        return values.reshape(rows, -1)

    rows = rows_for(2 * len(curves), laid_out.work, laid_out.held)
    values = gather(work, draws, rows, plan).reshape(draws, 2, len(curves))
    return values[:, 0], values[:, 1]


def can_draw_tables(design: Bootstrap) -> bool:
    """Tell whether counts by user, or by random parts of the trials, are enough to draw scanned tables."""
    return design.whole_users or not design.by_user


def _counted(curves: Sequence[EPC], plan: BootstrapPlan) -> tuple[list[Scores], list[Floats]]:
    """Return tables counted by user, or by random parts of their trials, between cuts."""
    tables = [curve.test for curve in curves if isinstance(curve.test, Table)]
    if not can_draw_tables(plan.design) or len(tables) < len(curves):
        raise OptionError(
            "a leaderboard of scanned tables draws their users, or trials: choose the bootstrap user or sample, or "
            "read the table into memory"
        )
    cuts = [
        np.union1d(table.histogram.relative_cuts(RESOLUTION), curve.threshold)
        for table, curve in zip(tables, curves, strict=True)
    ]
    by: tuple[Role, ...] | int = ("user",)
    if not plan.design.by_user:
        by = min(table.parts_at_most(PARTS, cut.size) for table, cut in zip(tables, cuts, strict=True))
    return counts_of(tables, cuts, by), cuts


def as_methods(drawn: Floats, expected: Floats, covariance: Floats, seed: int) -> Floats:
    """Return draws at fixed thresholds as draws of what systems are expected to show, with new thresholds.

    They lie around the expected values, and what their covariances lack of those given is added as normal noise: the
    part of the development set, of which the ranking a posteriori knows nothing.
    """
    lacking = covariance - np.cov(drawn, rowvar=False, bias=True)
    values, vectors = np.linalg.eigh(lacking)
    normal = np.random.default_rng((seed, DRAWN)).standard_normal(drawn.shape)
    added = (normal * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return np.asarray(drawn - drawn.mean(axis=0) + expected + added)
