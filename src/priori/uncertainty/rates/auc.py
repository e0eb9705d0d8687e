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
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level, Size
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.results import Aposteriori, Result
from priori.base.types import Floats
from priori.curves.roc import a_posteriori_auc
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense
from priori.scores.influence import (
    Moves,
    People,
    SampleMean,
    Spread,
    spread_of_means,
    spread_of_trials,
    unit_cautions,
    unseen,
)
from priori.scores.inputs import as_score_set
from priori.scores.pairing import Pairing, pair
from priori.uncertainty.rates.proportions import check_level, p_values, proportion_interval, quantile, standardise
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
        return self.p_value < 1 - self.confidence_level


# -- means over the classes --------------------------------------------------------------------------------------
#
# Numbers that are a mean over the negatives plus one over the positives, up to a constant: an AUC to first order
# (DeLong), a cost of log-likelihood ratios as it stands.


@dataclass(frozen=True, eq=False)
class ClassMeans:
    """What each trial of either class adds to the mean of its class; ``numbers``, where entries are several trials."""

    negative: Floats
    positive: Floats
    numbers: tuple[NDArray[Any] | None, NDArray[Any] | None] = (None, None)

    def minus(self, other: ClassMeans, pairing: Pairing | None = None) -> ClassMeans:
        """Return the same of the difference of two numbers: of the same trials, in one order unless paired."""
        if pairing is None:
            return ClassMeans(self.negative - other.negative, self.positive - other.positive, self.numbers)
        return ClassMeans(
            self.negative - other.negative[pairing.negative], self.positive - other.positive[pairing.positive]
        )

    @property
    def sum(self) -> float:
        """The mean over the negatives plus the mean over the positives."""
        return sum(self.means)

    @property
    def means(self) -> tuple[float, float]:
        """The mean of each class."""
        classes = zip((self.negative, self.positive), self.numbers, strict=True)
        negative, positive = (float(np.average(values, weights=number)) for values, number in classes)
        return negative, positive


def numbers_of(scores: Scores) -> tuple[NDArray[Any] | None, NDArray[Any] | None]:
    """Return how many trials each entry of either class stands for (None: one)."""
    return scores.negative.number, scores.positive.number


def spread_of(means: ClassMeans, negative: Trials, positive: Trials, dependence: str, *, right: bool = False) -> Spread:
    """Return the spread of such a number; the trials are in the order of their values: losses, or what is ``right``."""
    if not np.isfinite(means.sum):
        return Spread(means.sum, np.inf, 1.0, 1.0, 0)
    values = (means.negative, negative, means.numbers[0]), (means.positive, positive, means.numbers[1])
    return spread_of_classes(values, dependence, right=right)


def spread_of_classes(
    classes: Sequence[tuple[Floats, Trials, NDArray[Any] | None]], dependence: str, *, right: bool = False
) -> Spread:
    """Return the same of means over any classes: the values, the trials in their order, how many each entry is."""
    values, numbers = [Moves.of(own) for own, _, _ in classes], [number for _, _, number in classes]
    if dependence == "none":
        return spread_of_trials(*zip(values, numbers, strict=True)).at(0)
    people = People.of(*(trials for _, trials, _ in classes), crossed=dependence == "crossed")
    if min(np.count_nonzero(each.sizes[0]) for each in people) < 2:
        of_each = " of each class" if len(classes) > 1 else ""
        raise InputError(
            f"an interval that allows for users needs at least two of them with trials{of_each}; "
            "dependence='none' treats trials as independent"
        )
    samples = [SampleMean(*each) for each in zip(values, people, strict=True)]
    found = spread_of_means(*samples).of_losses(*samples, right=right)
    alone = spread_of_trials(*zip(values, numbers, strict=True)).variance
    effect, sizes = found.variance / np.maximum(alone, 1e-300), np.concatenate([each.sizes[0] for each in people])
    alike = (effect - 1) / max((sizes**2).sum() / sizes.sum() - 1, 1.0)
    return replace(found, effect=effect, alike=alike).at(0)


def spread_of_difference(a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: str) -> Spread:
    """Return the spread of the difference of two numbers on the same trials, which are paired.

    Entries of several trials are not: what people add to both counts, whichever trial it was.
    """
    (means, first), (other, second) = a, b
    if first.negative.number is None:
        return spread_of(means.minus(other, pair(first, second)), first.negative, first.positive, dependence)
    if dependence == "none":
        raise OptionError(
            f"{first.source}: trials that are counted where they are can be paired by their users only; give a user "
            f"column, or more memory ({argument('memory')})"
        )
    assert first.users is not None
    assert second.users is not None
    code = np.searchsorted(first.users.values, second.users.values).astype(np.int32)

    def both(of_class: int, name: str) -> tuple[Floats, Trials]:
        """Return the deviations of both systems' entries, the second's with their sign changed, as one class's.

        They are twice as large, as there are twice as many trials.
        """
        own, others = getattr(first, name), getattr(second, name)
        off = getattr(means, name) - means.means[of_class], other.means[of_class] - getattr(other, name)
        probes = None
        if own.probe_user is not None and others.probe_user is not None:
            probes = np.append(own.probe_user, code[others.probe_user])
        user, number = np.append(own.user, code[others.user]), np.append(own.number, others.number)
        return 2 * np.concatenate(off), Trials(np.append(own.score, others.score), user, probes, number=number)

    (of_negatives, negatives), (of_positives, positives) = both(0, "negative"), both(1, "positive")
    joined = ClassMeans(of_negatives, of_positives, (negatives.number, positives.number))
    return spread_of(joined, negatives, positives, dependence)


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
    return ClassMeans(1 - below(negative.score, positive), below(positive.score, negative), numbers_of(scores))


def _judged(scores: ScoreSet) -> tuple[tuple[ClassMeans, Scores], tuple[str, ...]]:
    """Return what trials add to the AUC, with the trials in memory (or entries in their place), and notes on that."""
    for name, trials in (("negatives", scores.n_negatives), ("positives", scores.n_positives)):
        if trials < 2:
            raise InputError(f"{scores.source}: DeLong's variance needs at least two {name}; there is {trials}")
    known, notes = condense(scores, ("user", "probe_user"), narrow=BOUND)
    return (components_of(known), known), notes


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
    (components, trials), notes = _judged(scores)
    shared = shared_by(trials, dependence)
    spread = spread_of(components, trials.negative, trials.positive, shared, right=True)
    said = unit_cautions(replace(spread, value=components.means[0]), what="what the AUC lacks", nobody=trials.nobody)
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
        shared = shared_by(first[1], dependence)
        spread = spread_of_difference(first, second, shared)
    # On the same trials, taken for independent, the statistic is normal, as in pROC.
    freedom = spread.freedom if unpaired or shared != "none" else np.inf
    auc_a, auc_b = a_posteriori_auc(a), a_posteriori_auc(b)
    difference, sd = auc_a - auc_b, float(spread.sd)
    statistic = float(standardise(difference, sd))
    half = sd * quantile(level, freedom=freedom)
    few = unit_cautions(replace(spread, follows=0.0), what="what tells the systems apart")
    notes = (*few, *first_notes, *second_notes)
    if sd == 0:
        pairs = min(_disjoint_pairs(trials, shared) for _, trials in (first, second))
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


def _unpaired(
    a: tuple[ClassMeans, Scores], b: tuple[ClassMeans, Scores], dependence: Dependence | None
) -> tuple[Spread, Dependence]:
    """Return the spread of the difference of two systems on different trials; Welch's degrees of freedom."""
    shared = min((shared_by(scores, dependence) for _, scores in (a, b)), key=get_args(Dependence).index)
    spreads = [spread_of(means, scores.negative, scores.positive, shared) for means, scores in (a, b)]
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
