"""From replicates to bounds: intervals, and corrections for what replicates lack of the stated coverage.

A bootstrap from few users is too narrow, one with two identities per trial too wide, and one that saw no error
knows of none. Each bootstrap says which of three corrections it needs (`designs`), all measured by simulation (see the
documentation):

* *tails*: as far out as Student's t has them (Hesterberg 2015), with the degrees of freedom that the influences of
  users have in each class (Satterthwaite), joined as the classes share the variance (Welch), on the logit scale;
* *half an error*: each class gets a pseudo-user who always errs and one who never does, with random weights of mean
  1/2 (Jeffreys' prior), each as heavy as the trials of one independent decision, heavier while few users err;
* *scale*: the deviations of each class's error rate are multiplied where the bootstrap's variance is known to
  differ from the one stated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.quantiles import percentile_bounds, quantile
from priori.base.texts import alpha_text
from priori.base.types import Floats
from priori.decisions.measure import divide
from priori.decisions.outcomes import Outcomes, count
from priori.scores import Scores, ScoreSet
from priori.scores.influence import (
    Errors,
    People,
    SampleMean,
    Spread,
    kish,
    size_follows,
    spread_along,
    spread_of_errors,
    spread_of_means,
    unit_cautions,
)
from priori.scores.score_set import counted_apart
from priori.uncertainty.bootstrap.layout import Owners
from priori.uncertainty.rates.proportions import normal_of, student_of

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import BootstrapPlan

#: The purpose of the pseudo-trials' stream; those of the kernels are lower.
PSEUDO_TRIALS = 1_000_003
#: From fewer users than this plain intervals cover less than they say.
FEW_FOR_PLAIN = 20
#: A class with a smaller share of the variance than this hardly matters to the measure.
MATTERS = 0.2
CLASSES = ("negatives", "positives")
#: The logit of a rate is nearly normal while its deviation is at most the first, with some ten independent errors; from
#: the second on, with some four, it is not.
RELATIVE, MOST_RELATIVE = 0.3, 0.5
#: How far a rate is moved to find the slope of a measure.
STEP = 1e-4

#: The scores of another system on the same trials and its thresholds, where two are compared.
Other = tuple[ScoreSet, Floats] | None


# -- from the values of the replicates to lower and upper bounds ---------------------------------------------------


def bounds(values: Floats, level: float | Floats, *, centred: bool = False) -> tuple[Floats, Floats]:
    """Return the bounds of a pointwise interval from replicates, one row each; ``level`` may differ by column.

    The quantiles (1 - level)/2 and (1 + level)/2 (2007, section 3.2), at exact ranks; or, ``centred``, what lies no
    farther from the mean of the replicates than a share ``level`` of them (2005, section 5).
    """
    if centred:
        mean = values.mean(axis=0)
        half = quantile(np.abs(values - mean), float(level))
        return mean - half, mean + half
    return percentile_bounds(values, level)


def deviation_bounds(values: Floats, deviations: float | Floats, *, rates: bool) -> tuple[Floats, Floats]:
    """Return the bounds that lie so many standard deviations of the replicates from their mean.

    Of ``rates``, numbers from 0 to 1, on the scale of the logit: rare errors are skewed, and it is not. The fewer
    errors were seen, the nearer to quantiles of that level, where these lie farther out.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    if not rates:
        return mean - deviations * spread, mean + deviations * spread
    from scipy.special import expit, logit, ndtr

    slope = mean * (1 - mean)
    relative = np.divide(spread, slope, out=np.zeros_like(slope), where=slope > 0)
    half = deviations * np.minimum(relative, MOST_RELATIVE)
    lower, upper = expit(logit(mean) - half), expit(logit(mean) + half)
    weight = np.clip((relative - RELATIVE) / (MOST_RELATIVE - RELATIVE), 0.0, 1.0)
    if (rare := weight > 0).any():
        level = 1 - 2 * ndtr(-np.broadcast_to(deviations, mean.shape)[rare])
        below, above = percentile_bounds(values[:, rare], level)
        lower[rare] += weight[rare] * np.minimum(below - lower[rare], 0.0)
        upper[rare] += weight[rare] * np.maximum(above - upper[rare], 0.0)
    return lower, upper


def simultaneous_bounds(
    values: Floats, level: float, *, stretch: Callable[[float], float | Floats] = float, rates: bool = False
) -> tuple[Floats, Floats]:
    """Return the bounds of a band that holds a share ``level`` of whole curves (studentised maximum).

    Each replicate's largest distance from the mean of the replicates in standard deviations is taken along the
    curve; the band reaches as many standard deviations as a share ``level`` of them stays within, or what
    ``stretch`` makes of that number. Where replicates do not differ the band has no width.
    """
    mean, spread = values.mean(axis=0), values.std(axis=0)
    moving = spread > 1e-12 * np.maximum(np.abs(mean), 1e-300)
    if not moving.any():
        return mean, mean.copy()
    distance = np.abs(values[:, moving] - mean[moving]) / spread[moving]
    return deviation_bounds(values, stretch(float(quantile(distance.max(axis=1), level))), rates=rates)


# -- what is done to replicates before -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """What is done to replicates; rows of the arrays are the classes, columns the thresholds.

    ``rate`` are the error rates observed, around which deviations are multiplied by ``scale``; ``weight`` is
    how many trials make one independent decision (0: no pseudo-trials); ``freedom`` the degrees of freedom that the
    tails are to allow for at each threshold (infinite: any number of users), from the ``spread`` of each class;
    ``units`` one less than the effective number of units drawn, for what the variance of replicates lacks.
    """

    rate: Floats
    scale: Floats
    weight: Floats
    freedom: Floats
    units: Floats
    spread: Spread

    @staticmethod
    def least_sure(each: Sequence[Calibration]) -> Calibration:
        """Return the first with the fewest degrees of freedom of any, and the largest scale."""
        freedom, units = (np.min([getattr(own, name) for own in each], axis=0) for name in ("freedom", "units"))
        return replace(each[0], freedom=freedom, units=units, scale=np.max([own.scale for own in each], axis=0))

    @property
    def overall(self) -> Calibration:
        """The calibration of one number made of all thresholds: as sure as most of them."""
        freedom, units = np.median(self.freedom, keepdims=True), self.units.min(keepdims=True)
        return replace(self, freedom=freedom, units=units)

    def reach(self, deviations: float | Floats) -> Floats:
        """Return how many standard deviations of few users' replicates are worth so many of a known one."""
        return student_of(deviations, self.freedom) * self.lost

    @property
    def lost(self) -> Floats:
        """What the deviation of replicates is to be multiplied by, as they vary around the mean of the same units."""
        return np.asarray(np.sqrt(1 + 1 / self.units))

    def level(self, level: float) -> Floats:
        """Return the level of the percentile interval whose coverage is ``level``, at each threshold."""
        from scipy.special import ndtr, ndtri

        return np.asarray(1 - 2 * ndtr(-self.reach(float(ndtri((1 + level) / 2)))))

    def tail(self, p_value: Floats) -> Floats:
        """Return the one-sided p-value that belongs to a percentile one, as `level` does for intervals."""
        from scipy.special import ndtr, ndtri

        return np.asarray(ndtr(-normal_of(-ndtri(p_value) / self.lost, self.freedom)))

    def adjust(self, outcomes: Outcomes, plan: BootstrapPlan, first: int) -> Outcomes:
        """Return the outcomes of replicates from number ``first`` on, scaled and with the pseudo-trials drawn for them.

        These move the rates; the classes stay as large as drawn, or the share of positives would move with them.
        """
        if not self.weight.any() and (self.scale == 1).all():
            return outcomes
        draws, pairs = half_trials(plan, first, len(outcomes.fp)), list[tuple[Any, Any]]()
        for c, (errors, rights) in enumerate(((outcomes.fp, outcomes.tn), (outcomes.fn, outcomes.tp))):
            total = errors + rights
            wrong = np.asarray(errors, dtype=np.float64)
            if (self.scale[c] != 1).any():
                rate = self.rate[c] + self.scale[c] * (divide(errors, total, 1.0) - self.rate[c])
                wrong = np.clip(rate, 0.0, 1.0) * total
            more = draws[:, 2 * c : 2 * c + 2, None] * self.weight[c]
            wrong = divide(wrong + more[:, 0], total + more.sum(axis=1), 1.0) * total
            pairs.append((wrong, total - wrong))
        (fp, tn), (fn, tp) = pairs
        # Weights are no whole numbers; measures divide once, as always.
        return Outcomes(tp=tp, fp=fp, tn=tn, fn=fn)


def half_missed(tpr: Floats, positives: int, weight: Floats, plan: BootstrapPlan, first: int) -> Floats:
    """Return the true positive rates of replicates with the pseudo-trials of their class: no miss is no certainty."""
    wrong, right = half_trials(plan, first, len(tpr))[:, 2:, None].swapaxes(0, 1) * weight
    return np.asarray((tpr * positives + right) / (positives + wrong + right))


def half_trials(plan: BootstrapPlan, first: int, rows: int) -> Floats:
    """Return the weights of the pseudo-trials: wrong and right negatives, wrong and right positives.

    Gamma(1/2) variables, half the squares of normal ones.
    """
    from scipy.special import ndtri

    from priori.uncertainty.bootstrap.streams import uniforms

    draws = np.empty((rows, 4))
    uniforms(plan.seed, PSEUDO_TRIALS + plan.streams, first, draws)
    return np.asarray(ndtri(draws) ** 2 / 2)


def error_rates(test: ScoreSet, thresholds: Floats) -> Floats:
    """Return the error rates of the classes (rows) at thresholds (columns)."""
    outcomes = count(test, thresholds)
    return np.stack([outcomes.fp / outcomes.negatives, outcomes.fn / test.n_positives])


def slopes_of(test: ScoreSet, rate: Floats, plan: BootstrapPlan) -> Floats | None:
    """Return how the measure moves with the error rate of each class (rows) at each threshold; None if not known."""
    measure, alpha = plan.measure, plan.alpha
    if measure is None or (measure.needs_alpha and (alpha is None or alpha.shape != rate.shape[1:])):
        return None
    sizes = np.array([[test.n_negatives], [test.n_positives]], dtype=np.float64)

    def value(moved: Floats) -> Floats:
        (fp, fn), (tn, tp) = moved * sizes, (1 - moved) * sizes
        return measure(Outcomes(tp=tp, fp=fp, tn=tn, fn=fn), alpha if measure.needs_alpha else None)

    slopes = np.empty_like(rate)
    for c in range(2):
        low, high = rate.copy(), rate.copy()
        low[c], high[c] = np.maximum(rate[c] - STEP, 0.0), np.minimum(rate[c] + STEP, 1.0)
        slopes[c] = (value(high) - value(low)) / (high[c] - low[c])
    # A measure that does not change with so small a step has no slope to measure.
    return np.where(np.isfinite(slopes).all(axis=0) & slopes.any(axis=0), slopes, 1.0)


def differences_of(test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, other: tuple[ScoreSet, Floats]) -> Spread:
    """Measure how the difference of two systems varies with whole users, each counted on its own."""
    cuts, others = [thresholds, other[1]], [other[0]]
    ascending = [np.unique(cut) for cut in cuts]
    sets = counted_apart([test, *others], ascending) or test.count(ascending, ("user",), others)
    # Tables counted apart have the same users; trials paired in memory have those of the first.
    owners = [plan.design.identities([each])[0] for each in (sets if test.scanned else sets[:1] * 2)]
    rows = []
    for row, name in enumerate(("negative", "positive")):
        a, b = (
            SampleMean(
                Errors.of([getattr(sets[k], name).score], [cuts[k]], above=name == "negative"),
                _people(sets[k], owners[k])[row],
                sign,
            )
            for k, sign in enumerate((1.0, -1.0))
        )
        of_both, n = (a.totals[0] + b.totals[0]) / 2, a.people.n[0]
        per_unit, follows = size_follows(of_both, a.people.sizes[0])
        erring, value = kish(a.totals[0] - b.totals[0]), of_both.sum(axis=0) / n
        effect = spread_of_errors(a).effect if test.nobody else np.ones_like(value)
        of_errors = {"erring": erring, "value": value, "per_unit": per_unit, "follows": follows, "effect": effect}
        rows.append(replace(spread_of_means(a, b), **of_errors))
    return Spread.stack(rows)


def clusters_of(test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, *, other: Other = None) -> Spread:
    """Measure how errors, or differences of errors between two systems, come together at each threshold."""
    cuts = [thresholds] if other is None else [thresholds, other[1]]
    sets = test.count([np.unique(cut) for cut in cuts], ("user",), [] if other is None else [other[0]])
    (owners,) = plan.design.identities(sets[:1])
    classes = zip(("negative", "positive"), _people(sets[0], owners), strict=True)
    return Spread.stack(
        [
            spread_along([getattr(each, name).score for each in sets], cuts, people, above=name == "negative")
            for name, people in classes
        ]
    )


def _people(counted: Scores, owners: Owners) -> list[People]:
    """Return who the trials of each class belong to, and how many trials each of those counted stands for."""
    numbers = counted.negative_weights, counted.positive.number
    return [replace(people, number=number) for people, number in zip(owners, numbers, strict=True)]


# -- warnings about the errors seen ---------------------------------------------------------------------------------


def error_cautions(
    test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, calibration: Calibration | None, *, paired: bool = False
) -> tuple[Caution, ...]:
    """Return warnings about the errors at these thresholds; of ``paired`` systems, about those they do not share.

    A threshold that accepts or rejects everything is not warned of.
    """
    spread = plan.design.spread(test, thresholds, plan) if calibration is None else calibration.spread
    decides = np.isfinite(thresholds)
    if plan.alpha is not None and plan.alpha.shape == decides.shape and decides.size > 2:
        decides &= (plan.alpha > 0) & (plan.alpha < 1)  # the ends of a grid are not warned of
    shares = _shares(test, thresholds, plan, spread, calibration) * decides
    found: list[Caution] = []
    for important, erring, name in zip(shares >= MATTERS, spread.erring, CLASSES, strict=True):
        none = important & (erring == 0)
        if none.any() and 3 * none.sum() >= important.sum() and not paired:
            users = f" of {spread.people} users" if spread.people else ""
            where = f"{getattr(test, f'n_{name}')} {name}{users}{_where(none, plan)}"
            found.append(Caution("no-errors", f"no error among {where}: read the upper bound, not the rate"))
    nobody = test.nobody if plan.design.by_user else ()
    errors = "the differences on" if paired else "the errors among"
    what = [f"{errors} the {name}" for name in CLASSES]
    found += unit_cautions(spread, shares / max(decides.sum(), 1), lambda mask: _where(mask, plan), what, nobody)
    return tuple({caution.code: caution for caution in reversed(found)}.values())[::-1]


def _shares(
    test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, spread: Spread, calibration: Calibration | None
) -> Floats:
    """Return the share of the variance that each class (rows) has at each threshold, pseudo-users included."""
    rate = error_rates(test, thresholds) if calibration is None else calibration.rate
    slopes = slopes_of(test, rate, plan)
    sizes = np.array([[test.n_negatives], [test.n_positives]])
    pseudo = np.ones_like(rate) if calibration is None else calibration.weight
    variance = spread.variance + (pseudo / sizes) ** 2 / 2
    if slopes is not None:
        variance = variance * slopes**2
    return divide(variance, variance.sum(axis=0), 0.0)


def _where(here: NDArray[np.bool_], plan: BootstrapPlan) -> str:
    if plan.alpha is None or plan.alpha.shape != here.shape:
        return f" at {here.sum()} of {here.size} thresholds" if here.size > 1 else ""
    alphas = plan.alpha[here]
    if alphas.size == 1:
        return f" at alpha {alpha_text(alphas[0])}"
    return f" at {alphas.size} of {here.size} alphas from {alpha_text(alphas.min())} to {alpha_text(alphas.max())}"
