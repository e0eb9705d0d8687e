"""Leaderboard: many systems ranked at thresholds fixed in advance, beside the ranking that the test set gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.errors import OptionError, unknown
from priori.base.layouts import (
    CAUTIONS,
    FLAG,
    INTEGER,
    NUMBER,
    NUMBERS,
    PLAIN_NUMBER,
    TEXT,
    TEXTS,
    Layout,
    choice,
    listed,
    of,
    record,
)
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Floats, Ints, Progress
from priori.curves.cross import CrossEPC
from priori.curves.epc import EPC, at_alphas
from priori.uncertainty.bands.bands import bounds_together, make_band
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparing.claims import CLAIMS, Claim, Compared, prepare
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.ranking.both_rankings import (
    POSTERIORS,
    Against,
    as_methods,
    draw_both,
    kendall_tau,
    moved_ranks,
    tau_interval,
)
from priori.uncertainty.ranking.ranking import Tests, check_names, ranking_of
from priori.uncertainty.ranking.ranks import ranks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Draws of both rankings; their spread is all that is used.
DRAWS = 1000

MOVE = record({"name": TEXT, **of(INTEGER, "gain"), **of(PLAIN_NUMBER, "lower upper"), "significant": FLAG})
#: What the settings of a leaderboard say.
RANKED = {
    **of(TEXT, "measure against bootstrap"),
    "claim": choice(*CLAIMS),
    "family": choice(*get_args(Tests)),
    **of(PLAIN_NUMBER, "alpha confidence_level"),
    **of(INTEGER, "n_resamples seed"),
    **of(FLAG, "rate greater_is_better post_greater_is_better"),
}


@dataclass(frozen=True, eq=False, repr=False)
class Leaderboard(Result):
    """Many systems, from best to worst. Made by `rank`.

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

    system: NDArray[Any]
    value: Floats
    lower: Floats
    upper: Floats
    rank: Ints
    rank_lower: Ints
    rank_upper: Ints
    post_value: Floats
    post_rank: Ints
    groups: NDArray[Any]
    could_be_best: tuple[str, ...]
    tau: float
    tau_lower: float
    tau_upper: float
    moves: tuple[dict[str, Any], ...]
    rank_probability: Floats
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "Many systems from best to worst, at thresholds fixed in advance and a posteriori: one row per system.",
        {"system": "text", **of("number", "value lower upper"), **of("integer", "rank rank_lower rank_upper")}
        | {"post_value": "number", "post_rank": "integer", "groups": "text"},
        {**RANKED, "could_be_best": TEXTS, **of(NUMBER, "tau tau_lower tau_upper"), "moves": listed(MOVE)}
        | {"rank_probability": listed(NUMBERS), "warnings": CAUTIONS},
        settings=tuple(RANKED),
        descriptions={
            "against": "What the a posteriori ranking goes by, on the test set itself.",
            "groups": "Systems that share a letter do not differ significantly.",
            "moves": "How many ranks each system gains at thresholds fixed in advance, with a simultaneous interval.",
            "post_rank": "The rank a posteriori.",
            "post_value": "What the test set itself shows, a posteriori.",
            "rank_lower": "The lowest rank that the system may have, simultaneously for all systems.",
            "rank_upper": "The highest rank that the system may have, simultaneously for all systems.",
            "rank_probability": "How often each system had each rank under resampling.",
            "tau": "Kendall's tau between the two rankings.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        known |= {"moves": tuple(saved["moves"]), "could_be_best": tuple(saved["could_be_best"])}
        return super()._from_parts(saved, **known)

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
    resampling = Resampling(
        bootstrap, n_resamples, confidence_level=confidence_level, rng=rng, shared_users=shared_users
    )
    return make_leaderboard(
        curves, resampling, alpha=alpha, against=against, claim=claim, family=family, threads=threads, progress=progress
    )


def make_leaderboard(
    curves: Sequence[EPC],
    resampling: Resampling,
    *,
    alpha: Any = None,
    against: Against = "eer",
    claim: Claim = "deployed",
    family: Tests = "pairs",
    threads: int | None = None,
    progress: Progress | None = None,
) -> Leaderboard:
    """Rank systems as a resampling describes."""
    if against not in POSTERIORS:
        raise unknown("a posteriori figure", against, POSTERIORS)
    check_names(curves)
    if any(isinstance(curve, CrossEPC) for curve in curves):
        raise OptionError(
            "a leaderboard needs one threshold for each system: split the set in two (--split 50/50), or "
            "compare the cross-fitted curves"
        )
    alpha = curves[0].criterion.alpha_or_half(alpha)
    curves = at_alphas(curves, [alpha])
    compared = prepare(curves, resampling, claim)
    evidence = gather_evidence(compared, threads=threads, progress=progress)
    intervals = _intervals(curves, resampling, compared, evidence, threads)
    return leaderboard_of(curves, compared, evidence, intervals, against=against, family=family, threads=threads)


def leaderboard_of(
    curves: Sequence[EPC],
    compared: Compared,
    evidence: Evidence,
    intervals: tuple[Floats, Floats],
    *,
    against: Against = "eer",
    family: Tests = "pairs",
    threads: int | None = None,
) -> Leaderboard:
    """Rank systems on the evidence about them at one alpha; ``intervals`` are those of their values."""
    ranking = ranking_of(compared, evidence, family=family, threads=threads)
    measure, plan = curves[0].measure, compared.plan
    title, figures = POSTERIORS[against]
    # Of tables counts at other places are needed than what new thresholds were chosen on.
    judged = [
        placed if curve.test.fits else replace(placed, test=curve.judged)
        for placed, curve in zip(compared.curves, curves, strict=True)
    ]
    post_value = np.array(figures([curve.test for curve in judged]))
    signs = (-1 if measure.greater_is_better else 1), (-1 if against == "auc" else 1)
    before, after = draw_both(judged, plan, against, DRAWS, threads=threads)
    if compared.claim == "method":
        before = as_methods(before, evidence.expected[0], evidence.covariance(0), plan.seed)
    rankings = _Rankings(
        signs[0] * evidence.expected[0],
        signs[1] * post_value,
        signs[0] * before,
        signs[1] * after,
        plan.confidence_level,
    )
    places = ranking.places()
    order = [ranking.names.index(place.name) for place in places]
    settings = {
        "measure": measure.title,
        "rate": measure.rate,
        "against": title,
        "claim": compared.claim,
        "family": family,
        "alpha": float(curves[0].alpha[0]),
        "bootstrap": plan.design.name,
        "confidence_level": plan.confidence_level,
        "n_resamples": plan.n_resamples,
        "seed": plan.seed,
        "greater_is_better": measure.greater_is_better,
        "post_greater_is_better": against == "auc",
    }
    moves = rankings.moves()
    ranks = {
        name: np.array([getattr(place, name) for place in places]) for name in ("rank", "rank_lower", "rank_upper")
    }
    tau, tau_lower, tau_upper = rankings.tau()
    return Leaderboard(
        system=np.array([place.name for place in places]),
        value=np.array([place.value for place in places]),
        lower=intervals[0][order],
        upper=intervals[1][order],
        **ranks,
        post_value=post_value[order],
        post_rank=rankings.after[order],
        groups=np.array([place.groups for place in places]),
        could_be_best=tuple(place.name for place in places if place.could_be_best),
        tau=tau,
        tau_lower=tau_lower,
        tau_upper=tau_upper,
        moves=tuple({"name": ranking.names[system], **moves[system]} for system in order),
        rank_probability=ranking.rank_probability[order],
        settings=settings,
        warnings=ranking.warnings,
    )._came_from(*curves)


def _intervals(
    curves: Sequence[EPC], resampling: Resampling, compared: Compared, evidence: Evidence, threads: int | None
) -> tuple[Floats, Floats]:
    """Return the interval of each system's value, as its own band has it."""
    if compared.claim == "deployed" and compared.plan.design.whole_users and not curves[0].test.scanned:
        lower, upper = bounds_together(compared.curves, compared.plan, threads=threads)
        return lower[:, 0], upper[:, 0]
    resampled = replace(resampling, resample="both" if compared.claim == "method" else "test")
    bands = [
        make_band(curve, resampled, threads=threads, estimated=evidence.estimated(number))
        for number, curve in enumerate(curves)
    ]
    return np.array([band.lower[0] for band in bands]), np.array([band.upper[0] for band in bands])


@dataclass(frozen=True, eq=False)
class _Rankings:
    """How bad systems are at thresholds fixed in advance and a posteriori, as ranked and in draws of both."""

    badness: Floats
    post_badness: Floats
    drawn: Floats
    post_drawn: Floats
    level: float

    @property
    def after(self) -> Ints:
        """The ranks a posteriori."""
        return ranks_of(self.post_badness)

    def tau(self) -> tuple[float, float, float]:
        """Return Kendall's tau between the rankings, and its interval."""
        rankings = [(self.badness, self.drawn), (self.post_badness, self.post_drawn)]
        return float(kendall_tau(self.badness, self.post_badness)), *tau_interval(rankings, self.level)

    def moves(self) -> list[dict[str, Any]]:
        """Return for each system how many ranks it gains, with the interval of that."""
        gain = self.after - ranks_of(self.badness)
        moved = moved_ranks(gain, ranks_of(self.post_drawn) - ranks_of(self.drawn), self.level)
        rows = zip(gain.tolist(), *(column.tolist() for column in moved), strict=True)
        return [dict(zip(("gain", "lower", "upper", "significant"), row, strict=True)) for row in rows]
