"""Leaderboard: many systems ranked at thresholds fixed in advance, beside the ranking that the test set gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, get_args

import numpy as np

from priori.base.above import above
from priori.base.declarations import FLAG, INTEGER, LEVEL, TEXT, Cautions, Flat, Rows
from priori.base.errors import OptionError, unknown
from priori.base.results import Result
from priori.base.types import Floats, Ints, Progress, Texts
from priori.curves.cross import CrossEPC
from priori.curves.epc import EPC, at_alphas
from priori.uncertainty.bands.bands import bounds_together, make_band
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import CLAIMS, Claim
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.ranking.both_rankings import POSTERIORS, Against, as_methods, draw_both
from priori.uncertainty.ranking.ranking import Place, Tests, check_systems, ranking_of
from priori.uncertainty.ranking.ranks import kendall_tau, moved_ranks, ranks_of, tau_interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Draws of both rankings; their spread is all that is used.
DRAWS = 1000

#: What the settings of a leaderboard say.
RANKED = {
    **dict.fromkeys(("measure", "against", "bootstrap"), TEXT),
    "claim": {"enum": list(CLAIMS)},
    "family": {"enum": list(get_args(Tests))},
    "alpha": {"type": "number"},
    "confidence_level": LEVEL,
    **dict.fromkeys(("n_resamples", "seed"), INTEGER),
    **dict.fromkeys(("rate", "greater_is_better", "post_greater_is_better"), FLAG),
}


class Move(TypedDict):
    """How many ranks a system gains at thresholds fixed in advance, the interval of that, and whether it excludes 0."""

    name: str
    gain: int
    lower: float
    upper: float
    significant: bool


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
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

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the slope chart: each system's rank a posteriori, and at thresholds fixed in advance."""
        return above(self, "plot")(self, ax=ax)


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
    resampling = Resampling(
        bootstrap, n_resamples, confidence_level=confidence_level, rng=rng, shared_users=shared_users
    )
    here = at_one_alpha(curves, alpha)
    evidence = gather_evidence(here, resampling, claim, threads=threads, progress=progress)
    return leaderboard_of(evidence, against=against, family=family, threads=threads)


def at_one_alpha(curves: Sequence[EPC], alpha: Any) -> Sequence[EPC]:
    """Return curves at the alpha at which systems are ranked, each with one threshold there."""
    if any(isinstance(curve, CrossEPC) for curve in curves):
        raise OptionError(
            "a leaderboard needs one threshold for each system: split the set in two (--split 50/50), or "
            "compare the cross-fitted curves"
        )
    return at_alphas(curves, [curves[0].criterion.alpha_or_half(alpha)])


def leaderboard_of(
    evidence: Evidence,
    intervals: tuple[Floats, Floats] | None = None,
    *,
    against: Against = "eer",
    family: Tests = "pairs",
    threads: int | None = None,
) -> Leaderboard:
    """Rank systems on the evidence about them at one alpha; ``intervals`` of their values, where they are known."""
    compared, ranking = evidence.compared, ranking_of(evidence, family=family, threads=threads)
    measure, plan = compared.measure, compared.plan
    title, figures = POSTERIORS[against]
    lower, upper = intervals or _intervals(evidence, threads)
    # Of tables counts at other places are needed than what new thresholds were chosen on.
    judged = [
        ready if curve.test.fits else replace(ready, test=curve.judged)
        for ready, curve in zip(compared.curves, compared.given, strict=True)
    ]
    post_value = np.array(figures([curve.test for curve in judged]))
    drawn, post_drawn = draw_both(judged, plan, against, DRAWS, threads=threads)
    if compared.claim == "method":
        drawn = as_methods(drawn, evidence.expected[0], evidence.covariances[0].astype(np.float64), plan.seed)
    sign, post_sign = (-1 if measure.greater_is_better else 1), (-1 if against == "auc" else 1)
    before, after = (sign * evidence.expected[0], sign * drawn), (post_sign * post_value, post_sign * post_drawn)
    gain = ranks_of(after[0]) - ranks_of(before[0])
    moved = moved_ranks(gain, ranks_of(after[1]) - ranks_of(before[1]), plan.confidence_level)
    moves = [
        Move(name=name, gain=gained, lower=low, upper=high, significant=sure)
        for name, gained, low, high, sure in zip(
            ranking.names, *(column.tolist() for column in (gain, *moved)), strict=True
        )
    ]
    tau_lower, tau_upper = tau_interval([before, after], plan.confidence_level)
    places = ranking.places()
    order = [ranking.names.index(place.name) for place in places]
    of_places = {name: np.array([getattr(place, name) for place in places]) for name in Place._fields}
    settings = {
        "measure": measure.title,
        "rate": measure.rate,
        "against": title,
        "claim": compared.claim,
        "family": family,
        "alpha": float(compared.alpha[0]),
        "bootstrap": plan.design.name,
        "confidence_level": plan.confidence_level,
        "n_resamples": plan.n_resamples,
        "seed": plan.seed,
        "greater_is_better": measure.greater_is_better,
        "post_greater_is_better": against == "auc",
    }
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
        rank_probability=ranking.rank_probability[order],
        settings=settings,
        warnings=ranking.warnings,
    )._came_from(*compared.given)


def _intervals(evidence: Evidence, threads: int | None) -> tuple[Floats, Floats]:
    """Return the interval of each system's value, as its own band has it."""
    compared = evidence.compared
    if compared.claim == "deployed" and compared.plan.design.whole_users and not compared.given[0].test.scanned:
        lower, upper = bounds_together(compared.curves, compared.plan, threads=threads)
        return lower[:, 0], upper[:, 0]
    bands = [
        make_band(curve, compared.resampling, threads=threads, estimated=evidence.estimated(number))
        for number, curve in enumerate(compared.given)
    ]
    return np.array([band.lower[0] for band in bands]), np.array([band.upper[0] for band in bands])
