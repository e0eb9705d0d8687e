"""ROC, DET, AUC, EER, minimum DCF: all *a posteriori*, read with thresholds chosen on the very data shown.

They are for analysis. To compare systems, or to say how one will work, use the a priori curve (`priori.epc`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from priori.base.above import above
from priori.base.alphas import check_bounds, from_costs, grid
from priori.base.declarations import Cautions, Column, Summary, Unsaved
from priori.base.errors import unknown
from priori.base.options import Interval, ResamplingOptions
from priori.base.results import Aposteriori, Result
from priori.base.types import Floats, Progress
from priori.curves.checks import set_cautions
from priori.decisions.criteria import get_criterion
from priori.decisions.hull import error_envelope
from priori.decisions.measure import Measure, Ratio
from priori.decisions.measures import FAR, FRR, PRECISION, RECALL, SENSITIVITY, SPECIFICITY, TPR, at_prior, dcf
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task, get_task
from priori.scores import ScoreSet
from priori.scores.candidates import Candidates, Errors
from priori.scores.score_set import as_score_set, pairs_in_order_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.curves.epc import EPC
    from priori.uncertainty.bands.roc_bands import RocBand

#: What a ROC curve is drawn in: what is called so, along the x axis and along the y axis.
Axis = Literal["far-tpr", "far-frr", "specificity-sensitivity", "recall-precision"]
AXES: dict[Axis, tuple[Ratio, Ratio]] = {
    "far-tpr": (FAR, TPR),
    "far-frr": (FAR, FRR),
    "specificity-sensitivity": (SPECIFICITY, SENSITIVITY),
    "recall-precision": (RECALL, PRECISION),
}
EERMethod = Literal["nearest", "interpolated", "hull"]
Points = Literal["thin", "all", "hull"] | int


@dataclass(frozen=True, eq=False, repr=False)
class AposterioriROC(Result, Aposteriori):
    """A ROC curve, a posteriori: one row per threshold. Made by `roc`.

    It goes from (1, 1), accept all, to (0, 0), reject all.
    No threshold accepts a score of -inf, such as that of a failure to acquire: with these it begins below (1, 1).
    """

    name: str
    scores: Unsaved[ScoreSet]
    threshold: Floats
    outcomes: Unsaved[Outcomes]

    @property
    def fpr(self) -> Column[Floats]:
        """False positive rate (FAR) at each threshold."""
        return self.outcomes.fp / self.scores.n_negatives

    @property
    def tpr(self) -> Column[Floats]:
        """True positive rate (1 - FRR) at each threshold."""
        return self.outcomes.tp / self.scores.n_positives

    def rates(self, axes: Axis = "far-tpr", *, prior: Any = None) -> dict[str, Floats]:
        """Return the thresholds and the two rates of some axes, by name: ``far-frr`` as in the papers.

        Precision is that of the set, or that at a ``prior``; where nothing is accepted there is none, and no row.
        """
        x, y = measures_of(axes, prior)
        kept = slice(None) if axes != "recall-precision" else (self.outcomes.tp + self.outcomes.fp) > 0
        outcomes, threshold = self.outcomes[kept], self.threshold[kept]
        return {"threshold": threshold, x.name: x(outcomes), y.name.partition(":")[0]: y(outcomes)}

    @property
    def negatives(self) -> Summary[int]:
        """How many negative trials there are."""
        return self.scores.n_negatives

    @property
    def positives(self) -> Summary[int]:
        """How many positive trials there are."""
        return self.scores.n_positives

    @cached_property
    def auc(self) -> Summary[float]:
        """The area under the curve, a posteriori."""
        return a_posteriori_auc(self.scores)

    @cached_property
    def eer(self) -> Summary[float]:
        """The equal error rate, a posteriori."""
        return a_posteriori_eer(self.scores)

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """Warnings about the scores."""
        return set_cautions(self.scores)

    @property
    def distances(self) -> bool:
        """Whether the scores were given as distances."""
        return super().distances or self.scores.distances

    @property
    def backend(self) -> str | None:
        """The dataframe library the scores came from, if any."""
        return self.scores.backend

    def band(
        self,
        *,
        fpr: Any = None,
        points: int = 101,
        bootstrap: str | None = None,
        n_resamples: int | tuple[int, int] = 10_000,
        confidence_level: float = 0.95,
        interval: Interval | None = None,
        simultaneous: bool = False,
        rng: int | np.random.Generator | None = 0,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> RocBand:
        """Compute a vertical bootstrap band: in each replicate the TPR of its own curve at the same FPRs.

        A posteriori, like the curve: every replicate chooses its thresholds on the trials it judges. Where a
        replicate's curve runs straight up, its upper point counts, as in vertical averaging.

        Parameters
        ----------
        fpr : list of numbers, optional
            The false positive rates, from one of all negatives (1/n) up; by default ``points`` of them from 0 to 1
            without those below. Up to 5/n, where the bootstrap hardly knows the threshold, calibrated bounds come from
            order statistics: they are wide, and a caution says so.
        bootstrap, n_resamples, confidence_level, interval, simultaneous, rng, threads, progress
            As in `priori.EPC.band`. The default bootstrap is by user where users are known; ``calibrated`` corrects the
            tails for few users, and adds half a missed trial and half an accepted one, so that a stretch without a
            miss is not taken for a sure one.

        Examples
        --------
        >>> import numpy as np, priori
        >>> rng = np.random.default_rng(1)
        >>> scores = priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200))
        >>> band = priori.roc(scores).band(fpr=[0.1, 0.2])
        >>> bool((band.lower < band.tpr).all() and (band.tpr < band.upper).all())
        True
        """
        asked = ResamplingOptions(bootstrap, n_resamples, "test", confidence_level, interval, simultaneous, rng)
        band: RocBand = above(self, "band")(
            self.scores, asked, fpr=fpr, points=points, threads=threads, progress=progress
        )
        return band

    def plot(
        self,
        ax: Axes | None = None,
        *,
        operating_points: Sequence[EPC] = (),
        bands: Sequence[Mapping[str, Floats]] = (),
        chance: bool = True,
        axes: Axis = "far-tpr",
        log: bool = False,
        prior: Any = None,
    ) -> Axes:
        """Draw the curve, marked a posteriori; options as in `priori.plots.plot_roc`; returns the axes."""
        return above(self, "plot")(
            [self],
            ax=ax,
            operating_points=operating_points,
            bands=bands,
            chance=chance,
            axes=axes,
            log=log,
            prior=prior,
        )


def measures_of(axes: Axis, prior: Any = None) -> tuple[Measure, Measure]:
    """Return what is shown along both axes; a ``prior`` is for precision."""
    if axes not in AXES:
        raise unknown("pair of axes", axes, AXES)
    x, y = AXES[axes]
    return x, y if prior is None else at_prior(y, prior)


def finely(outcomes: Outcomes, parts: int = 20) -> Outcomes:
    """Return outcomes with some in between: straight lines of the ROC curve are none in precision.

    Counts are interpolated (Davis and Goadrich, 2006); where nothing is accepted there is no precision.
    """
    rows = np.arange(len(outcomes) - 1)[:, None] + np.arange(parts) / parts
    positions = np.append(rows.ravel(), len(outcomes) - 1)
    counts = (outcomes.tp, outcomes.fp, outcomes.tn, outcomes.fn)
    between = Outcomes(*(np.interp(positions, np.arange(len(outcomes)), number) for number in counts))
    return between[between.tp + between.fp > 0]


@dataclass(frozen=True, eq=False, repr=False)
class AposterioriDET(AposterioriROC):
    """A DET curve, a posteriori: one row per threshold. Made by `det`; both errors are on normal-deviate axes."""

    @property
    def tpr(self) -> Floats:
        """True positive rate (1 - FRR) at each threshold."""
        return super().tpr

    @property
    def fnr(self) -> Column[Floats]:
        """False negative rate (FRR) at each threshold."""
        return self.outcomes.fn / self.scores.n_positives

    @cached_property
    def probit_fpr(self) -> Column[Floats]:
        """The false positive rate on the normal-deviate scale; 0 and 1 are infinite there."""
        return _probit(self.fpr)

    @cached_property
    def probit_fnr(self) -> Column[Floats]:
        """The false negative rate on the normal-deviate scale."""
        return _probit(self.fnr)

    @property
    def probit(self) -> tuple[Floats, Floats]:
        """Both errors on the normal-deviate scale."""
        return self.probit_fpr, self.probit_fnr

    def plot(  # type: ignore[override] # there is no chance level on these axes
        self,
        ax: Axes | None = None,
        *,
        operating_points: Sequence[EPC] = (),
        bands: Sequence[Mapping[str, Floats]] = (),
    ) -> Axes:
        """Draw the curve on probit axes, marked a posteriori; options as in `priori.plots.plot_det`."""
        return above(self, "plot")([self], ax=ax, operating_points=operating_points, bands=bands)


def _probit(rates: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(rates))


def _corner_points(scores: ScoreSet, points: Points) -> tuple[Candidates, Errors]:
    """Return the candidates of a set, as many as are needed, and those of them that are the points of its curve."""
    candidates: Candidates
    if isinstance(points, int) and not isinstance(points, bool):
        nearest = get_criterion("target-v1")
        candidates = scores.candidates(nearest, grid(points))
        outcomes = nearest.choose_among(candidates, grid(points)[::-1]).outcomes
        _, first = np.unique(outcomes.fn - outcomes.fp, return_index=True)
        fp, fn = outcomes.fp[first], outcomes.fn[first]
    elif points == "hull":
        candidates = scores.candidates(get_criterion("wer"), None)
        envelope = error_envelope(candidates)
        fp, fn = envelope.fp, envelope.fn
    elif points in ("all", "thin"):
        candidates = _every(scores)
        fp, fn = candidates.every()
        if points == "thin" and fp.size > 2:
            # A point on the straight line between its neighbours changes nothing in the drawing.
            across, down = np.diff(fn), np.diff(fp)
            bend = across[:-1] * down[1:] != down[:-1] * across[1:]
            keep = np.concatenate([[True], bend, [True]])
            fp, fn = fp[keep], fn[keep]
    else:
        raise unknown("choice of points", points, ("thin", "all", "hull", "a number"))
    lowest = candidates.lowest()
    if (fp[0], fn[0]) != lowest:  # the hull may stop short of it
        fp, fn = np.insert(fp, 0, lowest[0]), np.insert(fn, 0, lowest[1])
    if fn[-1] != scores.n_positives:
        fp, fn = np.append(fp, 0), np.append(fn, scores.n_positives)
    return candidates, (fp, fn)


def _every(scores: ScoreSet) -> Candidates:
    """Return every candidate; of a table that does not fit in memory, those at the ends of narrow bins."""
    return scores.candidates(get_criterion("target-v1"), None)


def roc(scores: Any, *, points: Points = "thin", name: str = "system") -> AposterioriROC:
    """Return the ROC curve of a set of scores, *a posteriori*.

    Parameters
    ----------
    scores : Scores, Table, or frame
        The set; thresholds run over all its own candidates.
    points : {"thin", "all", "hull"} or int
        All candidates; those that the drawing needs (points on straight lines left out, the default); the
        vertices of the convex hull; or those nearest to so many false positive rates, evenly spaced from 0 to 1. Where
        not all scores fit in memory, "thin" and "all" have points between which neither rate moves by more than 1e-5
        (1e-3 by Spark).

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> curve = priori.roc(scores)
    >>> curve.fpr.round(2).tolist(), curve.tpr.round(2).tolist()
    ([1.0, 0.67, 0.67, 0.0, 0.0], [1.0, 1.0, 0.67, 0.67, 0.0])
    """
    score_set = as_score_set(scores)
    candidates, errors = _corner_points(score_set, points)
    outcomes = Outcomes.from_errors(*errors, negatives=score_set.n_negatives, positives=score_set.n_positives)
    return AposterioriROC(name, score_set, candidates.thresholds(*errors), outcomes)


def det(scores: Any, *, points: Points = "thin", name: str = "system") -> AposterioriDET:
    """Return the DET curve of a set of scores, *a posteriori*: FRR against FAR on normal-deviate axes.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> priori.det(scores).fnr.round(2).tolist()
    [0.0, 0.0, 0.33, 0.33, 1.0]
    """
    curve = roc(scores, points=points, name=name)
    return AposterioriDET(curve.name, curve.scores, curve.threshold, curve.outcomes)


def a_posteriori_auc(scores: Any) -> float:
    """Return the area under the ROC: the chance that a positive scores above a negative, ties counted half.

    Examples
    --------
    >>> import priori
    >>> round(priori.a_posteriori_auc(priori.Scores.from_arrays([0.1, 0.3, 0.4], [0.2, 0.5, 0.8])), 4)
    0.7778
    """
    return all_aucs([as_score_set(scores)])[0]


def all_aucs(sets: Sequence[ScoreSet]) -> list[float]:
    """Return the areas of several sets."""
    pairs = zip(sets, pairs_in_order_of(sets), strict=True)
    return [float(Fraction(number, 2 * each.n_negatives * each.n_positives)) for each, number in pairs]


def a_posteriori_partial_auc(scores: Any, bounds: tuple[Any, Any] = (0, 1), *, standardised: bool = False) -> float:
    """Return the area under the ROC between two false positive rates, a posteriori.

    ``standardised`` maps it so that chance is 1/2 and perfection 1 (McClish, 1989).
    """
    low, high = (float(bound) for bound in check_bounds(bounds))
    # From (0, 0) upwards; at equal rates the upper point comes last.
    outcomes = _from_the_corner(roc(scores).outcomes)
    fpr, tpr = FAR(outcomes)[::-1], TPR(outcomes)[::-1]
    inside = (fpr > low) & (fpr < high)
    x = np.concatenate([[low], fpr[inside], [high]])
    first, last = (heights_at(np.array([end]), fpr, tpr, upper=end == low) for end in (low, high))
    y = np.concatenate([first, tpr[inside], last])
    area = float(np.trapezoid(y, x))
    if not standardised:
        return area
    chance = (high**2 - low**2) / 2
    return (1 + (area - chance) / (high - low - chance)) / 2


def _from_the_corner(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes along a curve as an area needs them: from (1, 1), which scores of -inf keep out of reach."""
    if outcomes.tn[0] == outcomes.fn[0] == 0:
        return outcomes
    negatives, positives = outcomes.negatives[0], outcomes.positives[0]
    fp, fn = np.insert(outcomes.fp, 0, negatives), np.insert(outcomes.fn, 0, 0)
    return Outcomes.from_errors(fp, fn, negatives=negatives, positives=positives)


def heights_at(positions: Floats, x: Floats, y: Floats, *, upper: bool) -> Floats:
    """Return the height of straight lines between points, x rising: of several at a position the last or the first."""
    found = np.searchsorted(x, positions, side="right") - 1 if upper else np.searchsorted(x, positions, side="left")
    found = np.clip(found, 0, x.size - 1)
    return np.where(x[found] == positions, y[found], np.interp(positions, x, y))


def a_posteriori_eer(scores: Any, *, method: EERMethod = "nearest") -> float:
    """Return the equal error rate, a posteriori.

    Parameters
    ----------
    method : {"nearest", "interpolated", "hull"}
        The mean of FAR and FRR at the threshold where they are nearest (Eq. 8, the default); where the ROC,
        drawn with straight lines, crosses FAR = FRR; or where its convex hull does.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> round(priori.a_posteriori_eer(scores), 4)
    0.3333
    """
    scores = as_score_set(scores)
    if method == "nearest":
        return all_eers([scores])[0]
    if method not in ("interpolated", "hull"):
        raise unknown("EER method", method, ("nearest", "interpolated", "hull"))
    _, (fp, fn) = _corner_points(scores, "hull" if method == "hull" else "all")
    drawn = _from_the_corner(Outcomes.from_errors(fp, fn, negatives=scores.n_negatives, positives=scores.n_positives))
    far, frr = FAR(drawn), FRR(drawn)
    crossing = int(np.argmax(far <= frr))
    gap_before, gap_after = far[crossing - 1] - frr[crossing - 1], frr[crossing] - far[crossing]
    share = gap_before / (gap_before + gap_after)
    return float(far[crossing - 1] + share * (far[crossing] - far[crossing - 1]))


def a_posteriori_break_even(scores: Any, *, task: str | Task = "retrieval") -> float:
    """Return the break-even point of a task: (V1 + V2)/2 where they are nearest (Eq. 8), a posteriori."""
    domain = get_task(task)
    outcomes = get_criterion("eer", domain).choose(as_score_set(scores), [Fraction(0)]).outcomes
    return float((domain.v1(outcomes) + domain.v2(outcomes))[0] / 2)


def a_posteriori_min_dcf(
    scores: Any, *, cost_fn: float = 10, cost_fp: float = 1, prior: float = 0.01, normalised: bool = False
) -> float:
    """Return the smallest detection cost (Eq. 3.3) that any threshold reaches on these scores, a posteriori."""
    return all_min_dcfs([as_score_set(scores)], cost_fn, cost_fp, prior, normalised=normalised)[0]


def all_min_dcfs(
    sets: Sequence[ScoreSet], cost_fn: float = 10, cost_fp: float = 1, prior: float = 0.01, *, normalised: bool = False
) -> list[float]:
    """Return the smallest detection cost of each of several sets."""
    measure = dcf(cost_fn, cost_fp, prior, normalised=normalised)
    choices = get_criterion("wer").choose_all(sets, [from_costs(cost_fn, cost_fp, prior)])
    return [float(measure(choice.outcomes)[0]) for choice in choices]


def all_eers(sets: Sequence[ScoreSet]) -> list[float]:
    """Return the equal error rate of each of several sets, where FAR and FRR are nearest."""
    errors = [choice.outcomes for choice in get_criterion("eer").choose_all(sets, [Fraction(0)])]
    return [
        float(own.fp[0] / each.n_negatives + own.fn[0] / each.n_positives) / 2
        for each, own in zip(sets, errors, strict=True)
    ]


def average_precision(scores: Any) -> float:
    """Return the average precision, a posteriori: the sum of precision over the steps of recall.

    Examples
    --------
    >>> import priori
    >>> scores = priori.Scores.from_arrays(negatives=[0.1, 0.3, 0.4], positives=[0.2, 0.5, 0.8])
    >>> round(priori.average_precision(scores), 4)
    0.8667
    """
    scores = as_score_set(scores)
    fp, fn = _every(scores).every()
    tp = scores.n_positives - fn
    gained = tp[:-1] - tp[1:]
    accepted = tp[:-1] + fp[:-1]
    return float(np.sum(gained * (tp[:-1] / np.maximum(accepted, 1))) / scores.n_positives)
