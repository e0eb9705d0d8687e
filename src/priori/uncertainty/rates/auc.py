"""DeLong: the interval of an AUC, and whether two AUCs differ. A posteriori, as the AUC itself.

E. DeLong, D. DeLong and D. Clarke-Pearson, "Comparing the areas under two or more correlated receiver operating
characteristic curves: a nonparametric approach", Biometrics 44, 1988. Where users are known: N. Obuchowski,
"Nonparametric analysis of clustered ROC curve data", Biometrics 53, 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level, Size
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.limits import check_level
from priori.base.quantiles import error_allowed
from priori.base.results import Aposteriori, Result
from priori.base.types import Floats
from priori.curves.roc import a_posteriori_auc
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense
from priori.scores.influence import (
    Moves,
    People,
    SampleMean,
    Spread,
    kish,
    spread_of_means,
    spread_of_trials,
    unit_cautions,
    unseen,
)
from priori.scores.pairing import pair
from priori.scores.score_set import as_score_set
from priori.uncertainty.rates.proportions import p_values, proportion_interval, quantile, standardise
from priori.uncertainty.rates.rate_intervals import Dependence, shared_by

Method = Literal["logit", "normal"]


@dataclass(frozen=True, repr=False)
class AposterioriAUCInterval(Result, Aposteriori):
    """An AUC, a posteriori, with DeLong's interval: one row. Made by `a_posteriori_auc_interval`."""

    auc: Column[float]
    sd: Column[float]
    lower: Column[float]
    upper: Column[float]
    method: str
    dependence: Dependence
    people: Size
    degrees_of_freedom: float | None
    confidence_level: Level
    warnings: Cautions

    @property
    def width(self) -> Column[float]:
        """The whole interval, upper minus lower."""
        return self.upper - self.lower


@dataclass(frozen=True, repr=False)
class AposterioriAUCTest(Result, Aposteriori):
    """Two AUCs, a posteriori, and DeLong's test: one row. Made by `a_posteriori_auc_test`."""

    auc_a: Column[float]
    auc_b: Column[float]
    difference: Column[float]
    sd: Column[float]
    lower: Column[float]
    upper: Column[float]
    statistic: Column[float]
    p_value: Column[float]
    paired: bool
    dependence: Dependence
    people: Size
    degrees_of_freedom: float | None
    confidence_level: Level
    warnings: Cautions

    @property
    def significant(self) -> Column[bool]:
        """Whether the AUCs differ at the confidence level."""
        return self.p_value < error_allowed(self.confidence_level)


# -- means over the classes --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """A number that is a mean over the negatives plus one over the positives, up to a constant.

    An AUC is one to first order (DeLong), a cost of log-likelihood ratios as it stands. Each trial of the ``scores``
    (or entry, for all its trials) adds its value of ``negative`` or ``positive`` to the mean of its class.
    """

    negative: Floats
    positive: Floats
    scores: Scores

    @property
    def _classes(self) -> tuple[tuple[Floats, Trials], tuple[Floats, Trials]]:
        """The values of either class, with its trials."""
        return (self.negative, self.scores.negative), (self.positive, self.scores.positive)

    @property
    def sum(self) -> float:
        """The mean over the negatives plus the mean over the positives."""
        return sum(self.means)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each class."""
        negative, positive = (float(np.average(values, weights=trials.number)) for values, trials in self._classes)
        return negative, positive

    def spread(self, dependence: str, *, right: bool = False) -> Spread:
        """Return how the number varies; values are losses, or what is ``right``."""
        if not np.isfinite(self.sum):
            return Spread(self.sum, np.inf, 1.0, 1.0, 0)
        return spread_of_classes(self._classes, dependence, right=right)


def spread_of_classes(classes: Sequence[tuple[Floats, Trials]], dependence: str, *, right: bool = False) -> Spread:
    """Return the spread of a sum of means over any classes of trials, given with the value of each."""
    values, numbers = [Moves.of(own) for own, _ in classes], [trials.number for _, trials in classes]
    alone = spread_of_trials(*zip(values, numbers, strict=True))
    if dependence == "none":
        carriers = kish(np.concatenate([own / len(trials) for own, trials in classes]))
        return replace(alone, erring=carriers).at(0)
    people = People.of(*(trials for _, trials in classes), crossed=dependence == "crossed")
    if min(np.count_nonzero(each.sizes[0]) for each in people) < 2:
        of_each = " of each class" if len(classes) > 1 else ""
        raise InputError(
            f"an interval that allows for users needs at least two of them with trials{of_each}; "
            "dependence='none' treats trials as independent"
        )
    samples = [SampleMean(*each) for each in zip(values, people, strict=True)]
    found = spread_of_means(*samples).of_losses(*samples, right=right)
    effect, sizes = found.variance / np.maximum(alone.variance, 1e-300), np.concatenate([p.sizes[0] for p in people])
    alike = (effect - 1) / max((sizes**2).sum() / sizes.sum() - 1, 1.0)
    return replace(found, effect=effect, alike=alike).at(0)


def spread_of_difference(a: ClassMeans, b: ClassMeans, dependence: str) -> Spread:
    """Return the spread of the difference of two numbers on the same trials, which are paired.

    Entries of several trials are not: what people add to both counts, whichever trial it was.
    """
    first, second = a.scores, b.scores
    if first.negative.number is None:
        paired = pair(first, second)
        negative, positive = a.negative - b.negative[paired.negative], a.positive - b.positive[paired.positive]
        return ClassMeans(negative, positive, first).spread(dependence)
    if dependence == "none":
        raise OptionError(
            f"{first.source}: trials that are counted where they are can be paired by their users only; give a user "
            f"column, or more memory ({argument('memory')})"
        )
    assert first.users is not None
    assert second.users is not None
    code = np.searchsorted(first.users.values, second.users.values).astype(np.int32)
    classes = list[tuple[Floats, Trials]]()
    for (values, own), (less, others), mean, other in zip(a._classes, b._classes, a.means, b.means, strict=True):
        # Deviations of both systems' entries, the second's with their sign changed, as one class's: twice as large, as
        # there are twice as many trials.
        assert own.user is not None
        assert others.user is not None
        probes = None
        if own.probe_user is not None and others.probe_user is not None:
            probes = np.append(own.probe_user, code[others.probe_user])
        number: Any = np.concatenate([own.number, others.number])
        both = Trials(np.append(own.score, others.score), np.append(own.user, code[others.user]), probes, number=number)
        classes.append((2 * np.append(values - mean, other - less), both))
    return spread_of_classes(classes, dependence)


# -- structural components -------------------------------------------------------------------------------------


def components_of(scores: Scores) -> ClassMeans:
    """Return for each trial the share of the other class that it stands on the right side of (ties count half).

    ``positive[i]`` is the share of negatives below positive i, ``negative[j]`` the share of positives above negative j;
    the mean of either is the AUC. Every trial is looked up in the other class, sorted: what midranks give.
    """

    def below(values: Floats, others: Trials) -> Floats:
        if others.number is None:
            ordered = others.sorted
            twice = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
        else:
            lower = np.where(values == -np.inf, 0, others.rejected(np.nextafter(values, -np.inf)))
            twice = lower + others.rejected(values)
        return np.asarray(twice / (2 * len(others)))

    negative, positive = scores.negative, scores.positive
    return ClassMeans(1 - below(negative.score, positive), below(positive.score, negative), scores)


def _judged(scores: ScoreSet) -> tuple[ClassMeans, tuple[str, ...]]:
    """Return what trials in memory (or entries in their place) add to the AUC, and notes on that."""
    for name, trials in (("negatives", scores.n_negatives), ("positives", scores.n_positives)):
        if trials < 2:
            raise InputError(f"{scores.source}: DeLong's variance needs at least two {name}; there is {trials}")
    known, notes = condense(scores, ("user", "probe_user"), narrow=BOUND)
    return components_of(known), notes


# -- the two questions -----------------------------------------------------------------------------------------


def a_posteriori_auc_interval(
    scores: Any, *, confidence_level: float = 0.95, method: Method = "logit", dependence: Dependence | None = None
) -> AposterioriAUCInterval:
    """Return DeLong's interval for the AUC of one system. *A posteriori*: no threshold is fixed in advance.

    Parameters
    ----------
    scores : Scores
        The test scores.
    confidence_level : float
        0.95 by default.
    method : {"logit", "normal"}
        Student's interval on the scale of log(AUC / (1 - AUC)), which cannot leave 0 to 1 and holds near 1,
        with Satterthwaite's degrees of freedom; or the normal interval of the AUC itself, cut at 0 and 1 (pROC's).
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; by default both identities where they are known, else the user (Obuchowski's
        variance), else nothing (DeLong's).

    Notes
    -----
    Where the classes do not overlap, DeLong's variance is 0. The interval is then Clopper and Pearson's for as many
    pairs of a negative and a positive as share nobody: all of them were in order.

    Examples
    --------
    >>> from priori import Scores, a_posteriori_auc_interval
    >>> scores = Scores.from_arrays(negatives=[0.1, 0.2, 0.4, 0.5], positives=[0.3, 0.6, 0.7, 0.8])
    >>> interval = a_posteriori_auc_interval(scores, method="normal")
    >>> f"{interval.auc:.4f} {interval.sd:.4f} {interval.lower:.4f} {interval.upper:.4f}"
    '0.8750 0.1443 0.5921 1.0000'
    >>> apart = a_posteriori_auc_interval(Scores.from_arrays(range(50), range(50, 100)))
    >>> f"{apart.auc:.4f} {apart.lower:.4f} {apart.upper:.4f}"
    '1.0000 0.9289 1.0000'
    """
    level = check_level(confidence_level)
    if method not in get_args(Method):
        raise unknown("interval", method, get_args(Method))
    scores = as_score_set(scores)
    components, notes = _judged(scores)
    trials = components.scores
    shared = shared_by(trials, dependence)
    spread = components.spread(shared, right=True)
    said = unit_cautions(replace(spread, value=components.means[0]), what=("what the AUC lacks",), nobody=trials.nobody)
    notes = (*said, *notes)
    auc, sd = a_posteriori_auc(scores), float(spread.sd)
    if sd == 0:
        pairs = _disjoint_pairs(trials, shared)
        notes = (*_doubts(pairs), *notes)
        bound = proportion_interval(auc * pairs, pairs, method="exact", confidence_level=level)
        lower, upper = float(bound.lower), float(bound.upper)
    elif method == "normal":
        half = quantile(level) * sd
        lower, upper = max(auc - half, 0.0), min(auc + half, 1.0)
    else:
        # Below, one more user, unlike those seen.
        centre, reach = np.log(auc / (1 - auc)), quantile(level, freedom=spread.freedom) / (auc * (1 - auc))
        below = reach * np.sqrt(sd**2 + float(unseen(1 - auc, spread.people)))
        lower, upper = (float(1 / (1 + np.exp(-limit))) for limit in (centre - below, centre + reach * sd))
    freedom = spread.freedom if method == "logit" else None
    return AposterioriAUCInterval(
        auc, sd, lower, upper, method, shared, spread.people, freedom, level, notes
    )._came_from(scores)


def a_posteriori_auc_test(
    a: Any, b: Any, *, unpaired: bool = False, confidence_level: float = 0.95, dependence: Dependence | None = None
) -> AposterioriAUCTest:
    """Test whether two AUCs differ, with DeLong's variance. *A posteriori*: no threshold is fixed in advance.

    Parameters
    ----------
    a, b : Scores
        Two systems on the same trials (paired by id, or by row where there are none: `priori.scores.pairing`).
    unpaired : bool
        The sets hold different trials: the variances are added, and the statistic is Welch's t, as in pROC.
    confidence_level : float
        The confidence level of the interval and of the verdict.
    dependence : {"none", "user", "crossed"}, optional
        As in `a_posteriori_auc_interval`; where users count, the statistic is Student's.

    Examples
    --------
    >>> from priori import Scores, a_posteriori_auc_test
    >>> label = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> a = Scores.from_predictions(label, [0.1, 0.2, 0.4, 0.5, 0.3, 0.6, 0.7, 0.8])
    >>> b = Scores.from_predictions(label, [0.1, 0.6, 0.4, 0.5, 0.3, 0.2, 0.7, 0.8])
    >>> test = a_posteriori_auc_test(a, b)
    >>> f"{test.difference:.4f} {test.statistic:.4f} {test.p_value:.4f}"
    '0.2500 1.2247 0.2207'
    """
    level = check_level(confidence_level)
    a, b = as_score_set(a), as_score_set(b)
    (first, first_notes), (second, second_notes) = _judged(a), _judged(b)
    if unpaired:
        spread, shared = _unpaired(first, second, dependence)
    else:
        if not (a.fits and b.fits):
            a.check_same_trials(b)
        shared = shared_by(first.scores, dependence)
        spread = spread_of_difference(first, second, shared)
    # On the same trials, taken for independent, the statistic is normal, as in pROC.
    freedom = spread.freedom if unpaired or shared != "none" else np.inf
    auc_a, auc_b = a_posteriori_auc(a), a_posteriori_auc(b)
    difference, sd = auc_a - auc_b, float(spread.sd)
    statistic = float(standardise(difference, sd))
    half = sd * quantile(level, freedom=freedom)
    few = unit_cautions(replace(spread, follows=0.0), what=("what tells the systems apart",))
    notes = (*few, *first_notes, *second_notes)
    if sd == 0:
        pairs = min(_disjoint_pairs(each.scores, shared) for each in (first, second))
        notes = (*_doubts(pairs), *notes)
        half = 1 - ((1 - level) / 2) ** (1 / pairs)
    lower, upper = max(difference - half, -1.0), min(difference + half, 1.0)
    return AposterioriAUCTest(
        auc_a,
        auc_b,
        difference,
        sd,
        lower,
        upper,
        statistic,
        float(p_values(statistic, freedom=freedom)),
        not unpaired,
        shared,
        spread.people,
        freedom if np.isfinite(freedom) else None,
        level,
        tuple(dict.fromkeys(notes)),
    )._came_from(a, b)


def _unpaired(a: ClassMeans, b: ClassMeans, dependence: Dependence | None) -> tuple[Spread, Dependence]:
    """Return the spread of the difference of two systems on different trials; Welch's degrees of freedom."""
    shared = min((shared_by(each.scores, dependence) for each in (a, b)), key=get_args(Dependence).index)
    spreads = [each.spread(shared) for each in (a, b)]
    if shared == "none":  # with all trials of a set as its size, as in pROC
        spreads = [replace(each, freedom=each.most) for each in spreads]
    return spreads[0].plus(spreads[1]), shared


def _disjoint_pairs(scores: Scores, shared: str) -> int:
    """Return how many pairs of a negative and a positive share nobody."""
    if shared == "none":
        return min(scores.n_negatives, scores.n_positives)
    classes = People.of(scores.negative, scores.positive, crossed=shared == "crossed")
    users = [int(np.count_nonzero(people.sizes[0])) for people in classes]
    return min(*users, max(classes[0].count // (3 if len(classes[0].roles) > 1 else 2), 1))


def _doubts(pairs: int) -> tuple[str, ...]:
    return (
        Caution("no-variance", f"DeLong's variance is 0: the interval is based on {pairs} independent pairs of trials"),
    )
