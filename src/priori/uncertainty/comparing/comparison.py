"""Comparison: is A better than B? The test of their difference at every alpha, under the claim asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.above import Plotted
from priori.base.cautions import joined
from priori.base.declarations import FLAG, TEXT, Cautions, Column, Flat, Schema, Summary, Unsaved
from priori.base.options import Interval
from priori.base.results import Result
from priori.base.types import Floats, Mask, Progress
from priori.curves.epc import EPC
from priori.uncertainty.bootstrap.resampling import RESAMPLED, Resampling
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.evidence import Evidence, gather_evidence
from priori.uncertainty.comparing.verdicts import (
    MarginRegion,
    MarginVerdict,
    Region,
    Verdict,
    judge_margin,
    judge_points,
    judge_together,
    margin_caution,
    runs,
)

COMPARED: dict[str, Schema] = (
    {"measure": TEXT, "rate": FLAG, "criterion": TEXT, "claim": {"enum": list(get_args(Claim))}}
    | {name: schema for name, schema in RESAMPLED.items() if name != "resample"}
    | {"paired": FLAG}
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Result, Plotted):
    """Two systems compared along alpha by the bootstrap: one row per alpha; the difference is A's value minus B's.

    Made by `compare`.

    Attributes
    ----------
    alpha, value_a, value_b : ndarray
        The two curves.
    pointwise, simultaneous : Verdict
        Interval and p-value at each alpha on its own, and for all alphas at once.
    area : Verdict
        The same for the mean difference over the alphas (the area between the curves).
    margin : MarginVerdict or None
        Whether each system is no worse than the other by more than a margin, where one was given.
    replicates : ndarray
        The difference in every replicate, one row each: what Figure 6 of the 2005 paper shows. With the
        claim "method", the expected difference plus what chance may add to it.
    settings, warnings : dict, tuple of str
        How it was done, and its warnings.
    """

    name_a: str
    name_b: str
    alpha: Floats
    value_a: Floats
    value_b: Floats
    greater_is_better: bool
    pointwise: Unsaved[Verdict]
    simultaneous: Unsaved[Verdict]
    area: Verdict
    margin: MarginVerdict | None
    replicates: Unsaved[Floats]
    settings: Annotated[dict[str, Any], Flat(COMPARED)]
    warnings: Cautions = ()

    @property
    def verdict(self) -> Verdict:
        """The verdict asked for: simultaneous or pointwise."""
        return self.simultaneous if self.settings["simultaneous"] else self.pointwise

    @property
    def difference(self) -> Column[Floats]:
        """The signed difference, A's value minus B's."""
        return self.value_a - self.value_b

    @property
    def expected(self) -> Column[Floats]:
        """The difference that the interval and the p-value are about.

        For the claim "deployed" this is the observed difference. For the claim "method" it is the mean over
        thresholds chosen on other development sets like this one, so the interval need not contain the observed
        difference.
        """
        return self.verdict.expected

    @property
    def lower(self) -> Column[Floats]:
        """The lower bounds of the difference."""
        return self.verdict.lower

    @property
    def upper(self) -> Column[Floats]:
        """The upper bounds of the difference."""
        return self.verdict.upper

    @property
    def p_value(self) -> Column[Floats]:
        """The p-value at each alpha."""
        return self.verdict.p_value

    @property
    def significant(self) -> Column[Mask]:
        """Whether the difference is significant, at each alpha."""
        return self.verdict.significant

    @property
    def regions(self) -> Summary[tuple[Region, ...]]:
        """The ranges of alpha over which one system is significantly better (Figure 8)."""
        return self.regions_of(self.verdict)

    @cached_property
    def simultaneous_regions(self) -> Summary[tuple[Region, ...]]:
        """The same, with one confidence for all alphas at once."""
        return self.regions_of(self.simultaneous)

    def regions_of(self, verdict: Verdict) -> tuple[Region, ...]:
        """Return the ranges of alpha over which a verdict finds one system significantly better."""
        better = np.where((verdict.expected > 0) == self.greater_is_better, self.name_a, self.name_b)
        return tuple(Region(*run) for run in runs(self.alpha, np.where(verdict.significant, better, "")))

    @property
    def margin_regions(self) -> Summary[tuple[MarginRegion, ...]]:
        """The ranges of alpha over which something is shown against the margin, where one was given."""
        return () if self.margin is None else self.margin.regions(self.alpha)

    def histogram(self, alpha: float, bins: int = 50) -> tuple[NDArray[np.int64], Floats]:
        """Return the histogram of the replicates' differences at the nearest alpha: counts and edges (Figure 6)."""
        return np.histogram(self.replicates[:, self.nearest(alpha)], bins=bins)

    def nearest(self, alpha: float) -> int:
        """Return the index of the alpha nearest to the one given."""
        return int(np.argmin(np.abs(self.alpha - float(alpha))))


def compare(
    curve_a: EPC,
    curve_b: EPC,
    *,
    claim: Claim = "method",
    margin: float | None = None,
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
) -> Comparison:
    """Compare two systems: the paired test of their difference at every alpha.

    Both systems are resampled by the same trials or users, so that what makes a trial hard for both cancels out.

    Parameters
    ----------
    curve_a, curve_b : EPC
        Two curves at the same alphas, with the same measure.
    claim : {"method", "deployed"}
        ``method``: would A again beat B, with thresholds chosen on another development set like this one? Both sets
        vary (2007, section 3). ``deployed``: do these two thresholds differ? The test set alone varies (2005,
        section 5); significance then says nothing about systems tuned on other data.
    margin : float, optional
        Also test whether each system is no worse than the other by more than this, and whether they are equivalent.
    unpaired : bool
        The systems were tested on different trials: resample each on its own.
    bootstrap, n_resamples, confidence_level, simultaneous, rng, shared_users, threads, progress
        As in `priori.EPC.band`. The claim "method" takes the bootstraps sample, user and crossed:
        what varies independently are trials, users, or both identities of a trial.
    interval : {"calibrated", "percentile", "centred"}, optional
        For the claim "deployed", as in `priori.EPC.band`. The p-value counts replicates beyond 0, with
        one added to their number and to all (Davison and Hinkley 1997).

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 500)
    >>> def scores(quality):
    ...     return priori.Scores.from_predictions(label, rng.normal(quality * label))
    >>> a, b = (priori.epc(scores(q), scores(q), alpha=[0.5], name=n) for q, n in ((2.5, "A"), (1.5, "B")))
    >>> priori.compare(a, b, n_resamples=1000).regions
    (Region(start=0.5, end=0.5, better='A'),)
    >>> priori.compare(a, b, margin=0.01, n_resamples=1000).margin_regions  # no worse by more than one point
    (MarginRegion(start=0.5, end=0.5, shown='a_no_worse'),)
    """
    resampling = Resampling(bootstrap, n_resamples, "test", confidence_level, interval, simultaneous, rng, shared_users)
    asked: dict[str, Any] = {"unpaired": unpaired, "margin": margin, "threads": threads, "progress": progress}
    return comparison_of(gather_evidence([curve_a, curve_b], resampling, claim, **asked))


def comparison_of(evidence: Evidence) -> Comparison:
    """Test the difference of two systems on the evidence about them."""
    compared = evidence.compared
    (curve_a, curve_b), margin = compared.given, compared.margin
    points, at_alphas = judge_points(evidence), slice(curve_a.alpha.size)
    pointwise = points.part((slice(None), at_alphas))
    against = None if margin is None else judge_margin(evidence, margin)
    notes = () if against is None else margin_caution(evidence, against)
    return Comparison(
        curve_a.name,
        curve_b.name,
        curve_a.alpha,
        curve_a.value,
        curve_b.value,
        curve_a.measure.greater_is_better,
        pointwise.part(0),
        judge_together(evidence, pointwise).part(0),
        points.part((0, slice(-1, None))),
        against,
        evidence.drawn_difference()[:, at_alphas],
        compared.settings(),
        joined(notes, compared.warnings, evidence.warnings),
    )._came_from(*compared.given)
