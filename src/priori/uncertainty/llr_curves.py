"""Curves of test scores as log-likelihood ratios: reliability diagram, Tippett plot, empirical cross-entropy.

Each has intervals by user where users are known: those of rates for shares of trials, Cllr's for the cross-entropy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from priori.base.above import above
from priori.base.cautions import Caution, joined
from priori.base.declarations import Cautions, Level
from priori.base.errors import OptionError, argument
from priori.base.limits import check_level
from priori.base.results import Result
from priori.base.types import Floats, Ints
from priori.decisions.likelihood_ratios import Calibrator, Meaning, best_map, llr_losses
from priori.scores.score_set import as_score_set
from priori.uncertainty.costs import limits_of_cost, llr_test
from priori.uncertainty.rates.auc import ClassMeans
from priori.uncertainty.rates.rate_intervals import (
    Dependence,
    RateInterval,
    RateTrials,
    both_classes,
    intervals_along,
    shared_by,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RATES: tuple[Literal["far", "frr"], ...] = ("far", "frr")
#: Where a Tippett plot and the cross-entropy are computed by default, in natural logarithms.
LOG_ODDS = np.linspace(-7.0, 7.0, 101)


@dataclass(frozen=True, eq=False, repr=False)
class _LLRCurve(Result):
    """What every curve of log-likelihood ratios has."""

    name: str
    calibrate: str
    dependence: Dependence
    confidence_level: Level
    warnings: Cautions

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw it; returns the axes."""
        return above(self, "plot")([self], ax=ax)


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(_LLRCurve):
    """The share of positives among test trials with like probabilities: one row per bin. Made by `reliability`.

    Attributes
    ----------
    probability : ndarray
        The mean probability stated for the trials of a bin; empty bins are left out.
    share, lower, upper : ndarray
        The share of positives among them, with intervals that hold for all bins together.
    positives, trials : ndarray
        What it was counted from.
    prior : float
        The share of positives that the probabilities are for.
    """

    probability: Floats
    share: Floats
    lower: Floats
    upper: Floats
    positives: Ints
    trials: Ints
    prior: float


@dataclass(frozen=True, eq=False, repr=False)
class Tippett(_LLRCurve):
    """The shares of trials with a larger log-likelihood ratio, by class, along it. Made by `tippett`.

    Attributes
    ----------
    llr : ndarray
        The log-likelihood ratio (natural logarithm).
    negatives, positives : ndarray
        The share of the negatives, and of the positives, with a larger one; each with pointwise limits.
    """

    llr: Floats
    negatives: Floats
    negatives_lower: Floats
    negatives_upper: Floats
    positives: Floats
    positives_lower: Floats
    positives_upper: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ECE(_LLRCurve):
    """The empirical cross-entropy in bits along the prior log-odds. Made by `ece`.

    Attributes
    ----------
    log_odds : ndarray
        The prior log-odds of the positive class (natural logarithm).
    value, lower, upper : ndarray
        The cross-entropy of the test scores with pointwise limits; at log-odds 0 it is Cllr.
    best : ndarray
        That of the best increasing map of them (PAV), fitted to the test set: a posteriori, so without limits.
    neutral : ndarray
        That of ratios of 1, which know nothing.
    """

    log_odds: Floats
    value: Floats
    lower: Floats
    upper: Floats
    best: Floats
    neutral: Floats


def reliability(
    dev: Any,
    test: Any,
    *,
    given: Meaning = "llr",
    calibrate: str | Calibrator = "none",
    bins: int = 10,
    confidence_level: float = 0.95,
    dependence: Dependence | None = None,
    name: str = "system",
) -> Reliability:
    """Return the share of positives among test trials whose stated probabilities lie in the same bin.

    Parameters
    ----------
    dev, test, given, calibrate, dependence, name
        As in `priori.llr_costs`. Log-likelihood ratios become probabilities with the share of positives in the test
        set; probabilities that were ``given`` are for that in the development set, and stay so when calibrated.
    bins : int
        How many bins of equal width there are from 0 to 1; a probability on an edge belongs to the bin below it.
    confidence_level : float
        That of the intervals of all bins together (Sidak).

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> dev, test = (priori.Scores.from_arrays(rng.normal(-1, 2**0.5, 500), rng.normal(1, 2**0.5, 500)) for _ in "ab")
    >>> found = priori.reliability(dev, test, bins=4)
    >>> found.probability.round(2).tolist(), found.share.round(2).tolist()
    ([0.13, 0.37, 0.62, 0.87], [0.17, 0.38, 0.6, 0.85])
    """
    level = check_level(confidence_level)
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or bins < 1:
        raise OptionError(f"{argument('bins')} must be a whole number from 1 on, not {bins!r}")
    ready = llr_test(dev, test, given, calibrate)
    trials = both_classes(ready.test)
    positives, negatives = len(ready.test.positive), len(ready.test.negative)
    log_odds = ready.log_odds if given == "probabilities" else math.log(positives / negatives)
    probability = _expit(ready.fitted.apply(trials.score) + log_odds)
    # Rounded, as log-odds of a probability on an edge do not lead back to its last bit.
    place = np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], probability.round(12))
    present, group = np.unique(place, return_inverse=True)
    shared = shared_by(ready.test, dependence)
    positive = np.arange(len(trials.score)) >= len(ready.test.negative.score)
    counted = RateTrials(trials, positive).counted(shared, group, present.size, alone=True)
    number = np.ones(group.size) if trials.number is None else trials.number
    lower, upper = counted.limits(level ** (1 / present.size))
    stated = np.bincount(group, number * probability) / np.bincount(group, number)
    shares = (counted.rate, lower, upper, counted.errors, counted.trials)
    prior = 1 / (1 + math.exp(-log_odds))
    return Reliability(name, ready.calibrate, shared, level, ready.warnings, stated, *shares, prior)._came_from(
        as_score_set(test), as_score_set(dev)
    )


def tippett(
    dev: Any,
    test: Any,
    *,
    given: Meaning = "llr",
    calibrate: str | Calibrator = "none",
    llr: Sequence[float] | None = None,
    confidence_level: float = 0.95,
    name: str = "system",
) -> Tippett:
    """Return the shares of negatives and of positives with a larger log-likelihood ratio than each given one.

    Parameters
    ----------
    dev, test, given, calibrate, name
        As in `priori.llr_costs`.
    llr : sequence of float, optional
        The log-likelihood ratios, natural logarithms; by default 101 from -7 to 7.
    confidence_level : float
        That of each interval; they are those of `priori.rate_interval`.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays(negatives=[-2, -1, 0, 1], positives=[-1, 0, 1, 2])
    >>> found = priori.tippett(dev, dev, llr=[-1, 0, 1])
    >>> found.negatives.tolist(), found.positives.tolist()
    ([0.5, 0.25, 0.0], [0.75, 0.5, 0.25])
    """
    level, at = check_level(confidence_level), _numbers("llr", llr)
    ready = llr_test(dev, test, given, calibrate)
    ratios = ready.fitted.apply(ready.test)
    (far, of_negatives), (frr, of_positives) = (
        _along(*intervals_along(ratios, at, rate=rate, levels=[level])) for rate in RATES
    )
    positives = (1 - frr)[[0, 2, 1]]  # the upper limit of one is the lower of the other
    warnings = joined(ready.warnings, of_negatives, of_positives)
    shared = shared_by(ratios, None)
    found = Tippett(name, ready.calibrate, shared, level, warnings, at, *far, *positives)
    return found._came_from(as_score_set(test), as_score_set(dev))


def _along(intervals: Sequence[RateInterval]) -> tuple[Floats, tuple[str, ...]]:
    """Return rates with their limits as rows, and the cautions about those with errors."""
    limits = np.array([(one.rate, one.lower, one.upper) for one in intervals]).T
    return limits, joined(*(one.warnings for one in intervals if one.errors))


def ece(
    dev: Any,
    test: Any,
    *,
    given: Meaning = "llr",
    calibrate: str | Calibrator = "none",
    log_odds: Sequence[float] | None = None,
    confidence_level: float = 0.95,
    dependence: Dependence | None = None,
    name: str = "system",
) -> ECE:
    """Return the empirical cross-entropy of test scores as log-likelihood ratios, along the prior log-odds.

    Parameters
    ----------
    dev, test, given, calibrate, dependence, name
        As in `priori.llr_costs`.
    log_odds : sequence of float, optional
        The prior log-odds of the positive class, natural logarithms; by default 101 from -7 to 7.
    confidence_level : float
        That of each interval, made as that of Cllr.

    References
    ----------
    D. Ramos and J. Gonzalez-Rodriguez, "Reliable support: measuring calibration of likelihood ratios", Forensic Science
    International 230, 2013.

    Examples
    --------
    >>> import priori
    >>> dev = priori.Scores.from_arrays(negatives=[-2, -1, 1], positives=[-1, 1, 2])
    >>> found = priori.ece(dev, dev, log_odds=[-1, 0])
    >>> found.value.round(4).tolist(), found.best.round(4).tolist(), found.neutral.round(4).tolist()
    ([0.7106, 0.8432], [0.56, 0.6667], [0.8399, 1.0])
    """
    level, odds = check_level(confidence_level), _numbers("log_odds", log_odds)
    ready = llr_test(dev, test, given, calibrate)
    known, shared = ready.test, shared_by(ready.test, dependence)
    best = best_map(known.candidates())
    scores = known.negative.score, known.positive.score
    ratios = [[of_map.apply(score) for score in scores] for of_map in (ready.fitted, best)]
    rows = []
    for prior, one in zip(_expit(odds), odds, strict=True):
        actual, least = (
            ClassMeans((1 - prior) * negative, prior * positive, known)
            for negative, positive in (llr_losses(*(llr + one for llr in of_map)) for of_map in ratios)
        )
        limits = limits_of_cost(actual.spread(shared), level)
        neutral = [float(each[0]) for each in llr_losses([one], [one])]
        rows.append((actual.sum, *limits, least.sum, (1 - prior) * neutral[0] + prior * neutral[1]))
    warnings = ready.warnings
    if not np.isfinite(rows[0][0]):
        text = "an infinite log-likelihood ratio is on the wrong side: the cost is infinite; calibrate the scores"
        warnings = (Caution("infinite-cost", text), *warnings)
    found = ECE(name, ready.calibrate, shared, level, warnings, odds, *np.array(rows).T)
    return found._came_from(as_score_set(test), as_score_set(dev))


def _numbers(name: str, given: Sequence[float] | None) -> Floats:
    """Return finite numbers as an array."""
    if given is None:
        return LOG_ODDS
    try:
        values = np.atleast_1d(np.asarray(given, dtype=np.float64))
    except (TypeError, ValueError):
        values = np.array([np.nan])
    if values.ndim != 1 or not values.size or not np.isfinite(values).all():
        raise OptionError(f"{argument(name)} must be a list of finite numbers")
    return values


def _expit(values: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(values))
