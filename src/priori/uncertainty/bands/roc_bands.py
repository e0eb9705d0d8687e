"""Bands around ROC and DET curves, a posteriori like the curves themselves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.alphas import as_fractions, grid, share
from priori.base.cautions import Caution
from priori.base.declarations import Cautions
from priori.base.errors import OptionError, argument
from priori.base.options import Interval, ResamplingOptions
from priori.base.results import Aposteriori, Result
from priori.base.types import Floats, Progress
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense
from priori.scores.score_set import as_score_set
from priori.uncertainty.bootstrap.calibration import half_missed
from priori.uncertainty.bootstrap.designs import SAMPLE, USER
from priori.uncertainty.bootstrap.layout import bins_caution
from priori.uncertainty.bootstrap.readers import along_the_roc, gather
from priori.uncertainty.bootstrap.resampling import ResampledSettings, Resampling

#: With so few negatives beyond a threshold, the bootstrap does not show how the threshold varies.
FEW_BEYOND = 5
#: How many such points a simultaneous band allows for: neighbouring ones are correlated.
TOGETHER = 5


@dataclass(frozen=True, eq=False, repr=False)
class RocBand(Result, Aposteriori):
    """A vertical band around a ROC curve, a posteriori: one row per false positive rate.

    Made by `AposterioriROC.band`.
    """

    fpr: Floats
    tpr: Floats
    lower: Floats
    upper: Floats
    settings: ResampledSettings
    warnings: Cautions = ()

    @property
    def det(self) -> dict[str, Floats]:
        """The same band for a DET curve: the FNR at each FPR, with its bounds."""
        return {"fpr": self.fpr, "fnr": 1 - self.tpr, "lower": 1 - self.upper, "upper": 1 - self.lower}


@dataclass(frozen=True, eq=False, repr=False)
class PrecisionBand(Result, Aposteriori):
    """A band around precision, a posteriori: one row per recall. Made by `precision_band`.

    ``prior`` is the share of positives that precision is for.
    """

    recall: Floats
    precision: Floats
    lower: Floats
    upper: Floats
    prior: float
    settings: ResampledSettings
    warnings: Cautions = ()


def precision_band(
    scores: Any,
    *,
    recall: Any = None,
    prior: Any = None,
    points: int = 101,
    bootstrap: str | None = None,
    n_resamples: int | tuple[int, int] = 10_000,
    confidence_level: float = 0.95,
    interval: Interval | None = None,
    simultaneous: bool = False,
    rng: int | np.random.Generator | None = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> PrecisionBand:
    """Compute a bootstrap band around precision at the same recalls. *A posteriori*, like the curve.

    Parameters
    ----------
    scores : Scores, Table, or frame
        The set whose curve it is.
    recall : list of numbers, optional
        The recalls, above 0 and at most 1 - 1/n of n positives; by default ``points`` of them from 0 to 1 without the
        others. From 1 - 5/n on bounds are wide, and a caution says so.
    prior : number, optional
        Precision where the share of positives is this; by default that of the set.
    bootstrap, n_resamples, confidence_level, interval, simultaneous, rng, threads, progress
        As in `priori.AposterioriROC.band`.

    Notes
    -----
    At a given recall precision depends on the false positive rate alone, and falls with it. So the band is that of the
    false positive rate at a recall: the vertical band of the ROC curve with the classes exchanged. The share of
    positives is taken as known.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> scores = priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(2, 1, 200))
    >>> band = priori.precision_band(scores, recall=[0.5, 0.8])
    >>> bool((band.lower < band.precision).all() and (band.precision < band.upper).all())
    True
    """
    score_set, most = as_score_set(scores), 1 - Fraction(1, as_score_set(scores).n_positives)
    if recall is None:
        recalls = tuple(each for each in grid(points) if 0 < each <= most)
    else:
        recalls = tuple(sorted(set(as_fractions(recall, "recall"))))
        if not 0 < recalls[0] <= recalls[-1] <= most:
            raise OptionError(f"a band of precision is at recalls above 0 and up to {float(most):.6g}, one miss")
    options = ResamplingOptions(bootstrap, n_resamples, "test", confidence_level, interval, simultaneous, rng)
    known, notes = condense(score_set, ("user",) if score_set.has_users else (), narrow=BOUND, said="resampled")
    exchanged = [replace(trials, score=0.0 - trials.score, attack=None) for trials in (known.positive, known.negative)]
    mirrored = replace(known, negative=exchanged[0], positive=exchanged[1], attack_types=None)
    missed = [1 - each for each in recalls]
    band = roc_band(mirrored, options, fpr=missed, threads=threads, progress=progress, mirrored=True)
    positive = known.n_positives / len(known) if prior is None else float(share(prior))
    found = np.array([float(each) for each in recalls])

    def precision(far: Floats) -> Floats:
        return positive * found / (positive * found + (1 - positive) * far[::-1])

    rows = precision(1 - band.tpr), precision(1 - band.lower), precision(1 - band.upper)
    return PrecisionBand(found, *rows, positive, band.settings, (*band.warnings, *notes))._came_from(score_set)


def roc_band(
    scores: ScoreSet,
    options: ResamplingOptions,
    *,
    fpr: Any = None,
    points: int = 101,
    threads: int | None = None,
    progress: Progress | None = None,
    mirrored: bool = False,
) -> RocBand:
    """Compute a vertical band around a ROC curve; the options: `priori.AposterioriROC.band`.

    Where scores are ``mirrored`` the classes are exchanged, and cautions speak of recall.
    """
    from priori.curves.averaging.curves import heights
    from priori.curves.averaging.methods import Axis

    resampling = Resampling(**vars(options))
    if resampling.bootstrap is None:
        resampling = replace(resampling, bootstrap=(USER if USER.suits([scores]) else SAMPLE).name)
    fractions = _rates(fpr, points, scores.n_negatives)
    plan = resampling.settle(None, scores, threads=threads, progress=progress)
    rates = np.array([float(fraction) for fraction in fractions])
    trials, notes = condense(scores, ("user",) if plan.design.by_user else (), narrow=BOUND, said="resampled")
    # The thresholds at which the curve has about these rates, to see how errors cluster there.
    seen = np.clip(rates, min(FEW_BEYOND / trials.n_negatives, 1.0), 1.0)
    near = trials.negative.at_rank(np.floor((1 - seen) * (trials.n_negatives - 1)).astype(np.int64))
    calibration = plan.calibration(scores, near)
    batch, rows = along_the_roc(trials, fractions, plan)

    def replicated(first: int, size: int) -> Floats:
        drawn = batch(first, size)
        if calibration is None:
            return drawn
        return half_missed(drawn, trials.n_positives, calibration.weight[1], plan, first)

    values = gather(replicated, plan.n_resamples, rows, plan)
    lower, upper = plan.bounds(values, calibration, rate=True)
    tpr = heights(trials, rates, Axis(cosine=1.0, sine=0.0))
    weight = np.ones((2, rates.size)) if calibration is None else calibration.weight
    low = np.flatnonzero(rates * trials.n_negatives <= FEW_BEYOND * weight[0])
    if plan.interval == "calibrated":
        level = 1 - (1 - plan.confidence_level) / TOGETHER if plan.simultaneous else plan.confidence_level
        for point in low:
            found = _between_order_statistics(trials, rates[point], weight[:, point], level)
            lower[point], upper[point] = min(found[0], tpr[point]), max(found[1], tpr[point])
    lower, upper = plan.as_seen(tpr, lower, upper)
    notes = notes or tuple(bins_caution(trials))
    if low.size:
        bounds = (
            "bounds are wide, and a lower bound of 0 says nothing"
            if plan.interval == "calibrated"
            else f"{plan.interval} bounds cover too little; use {argument('interval', 'calibrated')}"
        )
        where = f"at most {FEW_BEYOND} negatives up to an FPR of {rates[low].max():.3g}"
        if mirrored:
            where = f"at most {FEW_BEYOND} positives missed from a recall of {1 - rates[low].max():.3g} on"
        notes = (Caution("low-fpr", f"{where}: {bounds}"), *notes)
    warnings = (*plan.warnings, *notes)
    return RocBand(rates, tpr, lower, upper, plan.settings(), warnings)._came_from(scores)


def _rates(fpr: Any, points: int, negatives: int) -> tuple[Fraction, ...]:
    """Return the false positive rates in order; below one of all negatives there are no data."""
    lowest = Fraction(1, negatives)
    if fpr is None:
        return tuple(rate for rate in grid(points) if rate >= lowest)
    fractions = tuple(sorted(set(as_fractions(fpr))))
    if fractions[0] < lowest:
        raise OptionError(
            f"a band at a false positive rate of {float(fractions[0]):g} would be a guess: with {negatives} negatives "
            f"the lowest rate is 1/{negatives} = {float(lowest):.3g}"
        )
    return fractions


def _between_order_statistics(scores: Scores, rate: float, weight: Floats, level: float) -> tuple[float, float]:
    """Return bounds of the TPR at the threshold where the population's FPR is ``rate``, from the ranks of negatives.

    The number of n negatives beyond that threshold is binomial, so it lies between two neighbouring order statistics
    with known probabilities; the TPR at the stricter one gives the lower bound, at the laxer one the upper, each with
    Jeffreys' distribution. ``weight`` says how many trials of each class make one independent decision.
    """
    from scipy.special import bdtr, betainc

    n = max(int(scores.n_negatives / weight[0]), 1)
    beyond = np.arange(n + 1)
    below = bdtr(beyond, n, rate)
    chance = np.diff(below, prepend=0.0)
    beyond, chance = beyond[chance > 1e-12], chance[chance > 1e-12]
    stricter, laxer = (_from_above(scores.negative, np.rint(k * weight[0]).astype(int)) for k in (beyond, beyond + 1))
    decisions = scores.n_positives / weight[1]
    positives = scores.positive
    below_laxer = np.where(laxer == -np.inf, 0, positives.rejected(np.nextafter(laxer, -np.inf)))

    def solve(missed: NDArray[np.intp], share: float, never: NDArray[np.bool_]) -> float:
        """Return where the mixture of the TPR's distributions reaches a share."""
        shares = 1 - missed / scores.n_positives
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            each = betainc(shares * decisions + 0.5, (1 - shares) * decisions + 0.5, middle)
            below = float(chance @ np.where(never, 1.0, each))
            low, high = (middle, high) if below < share else (low, middle)
        return low if share < 0.5 else high

    tail = (1 - level) / 2
    # Beyond every negative there are no data: the TPR may be anything down to 0.
    lower = solve(positives.rejected(stricter), tail, np.isinf(stricter))
    upper = solve(below_laxer, 1 - tail, np.zeros(laxer.size, dtype=bool))
    return (lower if lower > 1e-12 else 0.0), upper


def _from_above(trials: Trials, rank: NDArray[np.intp]) -> Floats:
    """Return the scores with these ranks from the highest, 1, down; +inf above it and -inf below the lowest."""
    inside = trials.at_rank(np.clip(len(trials) - rank, 0, len(trials) - 1))
    return np.where(rank == 0, np.inf, np.where(rank > len(trials), -np.inf, inside))
