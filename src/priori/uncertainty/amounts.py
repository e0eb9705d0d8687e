"""Amounts: what decisions cost where every error costs the amount of its own trial, as a missed fraud does.

The threshold that costs least on the development set is found exactly: amounts are the decimals that were typed, so in
whole units of their last place all costs are whole numbers, summed along the sorted scores. On the test set the cost
per decision is a mean over all trials, and its interval comes from the sums by user.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.alphas import read_fraction
from priori.base.cautions import Caution, joined
from priori.base.declarations import Cautions, Column, Level, Size, Unsaved
from priori.base.errors import InputError, OptionError, argument, short
from priori.base.limits import check_level
from priori.base.results import Result
from priori.base.types import Floats
from priori.curves.checks import set_cautions
from priori.scores import Scores
from priori.scores.candidates import Candidates
from priori.scores.influence import Spread, unit_cautions
from priori.scores.score_set import as_score_set
from priori.uncertainty.costs import CostsTest, differences, limits_of_cost
from priori.uncertainty.rates.auc import ClassMeans, spread_of_classes
from priori.uncertainty.rates.combined import BoundedValue, joint_interval
from priori.uncertainty.rates.rate_intervals import Dependence, both_classes, shared_by

#: What ``fp`` is where a false positive costs its own amount.
OWN = "amount"
#: Floats hold whole numbers exactly up to here.
EXACT_FLOAT = 1 << 53
#: Sums of whole numbers up to here cannot wrap round.
EXACT_SUM = 1 << 62
#: Where fewer units than this carry a heavy-tailed cost, intervals of 95 % cover 73 to 85 % (measured).
FEW_CARRY = 15.0
#: Amounts with more decimals than this are not prices; their decimals are read one by one.
DECIMALS = 9


@dataclass(frozen=True, eq=False, repr=False)
class AmountCosts(Result):
    """What decisions cost where errors cost the amounts of their trials: one row. Made by `amounts`.

    Attributes
    ----------
    threshold : float
        The threshold that costs least on the development set.
    fp, fn : int
        The false positives and false negatives on the test set.
    fp_cost, fn_cost : float
        What these cost together.
    value, sd, lower, upper : float
        The cost per decision on the test set, its standard deviation and its interval (NaN where no error cost
        anything).
    dev_value : float
        The cost per decision on the development set, which is too low: the threshold was chosen there.
    accept_all, reject_all : float
        The cost per decision on the test set of accepting, or rejecting, every trial.
    carrying : float
        How many users (trials, where users are not known) effectively carry the cost (Kish): that of the false
        negatives or that of the false positives, whichever fewer carry.
    false_positive : str
        What a false positive costs: a number, or its own ``amount``.
    currency : str
        The currency of all costs, as typed.
    """

    name: str
    threshold: Column[float]
    fp: Column[int]
    fn: Column[int]
    fp_cost: Column[float]
    fn_cost: Column[float]
    value: Column[float]
    sd: Column[float]
    lower: Column[float]
    upper: Column[float]
    dev_value: Column[float]
    accept_all: Column[float]
    reject_all: Column[float]
    carrying: Column[float]
    false_positive: str
    currency: str
    dependence: Dependence
    people: Size
    confidence_level: Level
    scores: Unsaved[Scores]
    means: Unsaved[tuple[ClassMeans, ...]]
    warnings: Cautions


def amounts(
    dev: Any,
    test: Any,
    *,
    fp: Any,
    currency: str = "",
    confidence_level: float = 0.95,
    dependence: Dependence | None = None,
    name: str = "system",
) -> AmountCosts:
    """Choose the threshold that costs least where a miss costs its own amount, and say what test decisions cost.

    Parameters
    ----------
    dev, test : Scores
        The development set, on which the threshold is chosen, and the test set, with the amount of each trial:
        ``columns={"amount": NAME}`` of `priori.read`, ``amount`` of `Scores.from_predictions`. Of a scanned table all
        trials are read into the memory that it may use.
    fp : number, text or "amount"
        What a false positive costs: as much each time (``5``, ``"2.50"``), or its own amount. A false negative costs
        its own amount.
    currency : str
        The currency, for what is shown.
    confidence_level : float
        0.95 by default.
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; by default both identities where they are known, else the user, else nothing.

    Notes
    -----
    An amount of 0.1 is one tenth: costs are added and compared as whole numbers. Of thresholds that cost the same, the
    one with the smaller FAR + FRR is chosen, then the lowest. The share of positives is that of the two sets: where it
    differs in use, so do the best threshold and the cost. The costs of false
    negatives and of false positives have Student's intervals on log scales, with Satterthwaite's degrees of freedom;
    where users are known the upper bounds allow for a user unlike those seen. Both are joined by their correlation
    (Zou and Donner 2008). With very heavy tails, or where few units carry the cost, the interval covers less often than
    stated: a large amount that the test set does not have cannot be known. Cautions say so where it can be seen.

    Examples
    --------
    >>> import priori
    >>> label, score, amount = [0, 0, 1, 0, 1, 1], [0.1, 0.2, 0.3, 0.4, 0.6, 0.8], [20, 15, 9.5, 30, 250, 80]
    >>> scores = priori.Scores.from_predictions(label, score, amount=amount)
    >>> costs = priori.amounts(scores, scores, fp=10, currency="EUR")
    >>> costs.threshold, costs.fn_cost, round(costs.value, 4)
    (0.5, 9.5, 1.5833)
    """
    level, price = check_level(confidence_level), _price(fp)
    sets = known_dev, known = [as_score_set(given).unmixed.load() for given in (dev, test)]
    (*of_dev, price_unit), candidates = _whole_costs(known_dev, price), known_dev.candidates()
    chosen, least = _cheapest(candidates, known_dev, *of_dev)
    threshold = float(candidates.thresholds(candidates.fp[chosen], candidates.fn[chosen])[0])
    negative, positive, unit = _whole_costs(known, price)
    alarms, misses = known.negative.score > threshold, known.positive.score <= threshold
    fp_cost, fn_cost, n = int(negative[alarms].sum()), int(positive[misses].sum()), len(known)
    shared = shared_by(known, dependence)
    own_alarms, own_misses = _amounts_of(known)
    of_alarms = np.where(alarms, own_alarms if price is None else float(price), 0.0)
    of_misses = misses * own_misses
    errors = _ErrorCosts.of(known, of_alarms, of_misses, shared)
    lower, upper = errors.limits(level)
    return AmountCosts(
        name,
        threshold,
        int(alarms.sum()),
        int(misses.sum()),
        float(fp_cost * unit),
        float(fn_cost * unit),
        float((fp_cost + fn_cost) * unit / n),
        float(errors.both.sd),
        lower,
        upper,
        float(least * price_unit / len(known_dev)),
        float(int(negative.sum()) * unit / n),
        float(int(positive.sum()) * unit / n),
        errors.carrying,
        OWN if price is None else f"{float(price):.15g}",
        currency,
        shared,
        errors.both.people,
        level,
        known,
        (ClassMeans(of_alarms * (alarms.size / n), of_misses * (misses.size / n), known),),
        joined(*map(set_cautions, sets), errors.cautions(n, free=price == 0)),
    )._came_from(*sets[::-1])


def compare_amounts(a: AmountCosts, b: AmountCosts) -> CostsTest:
    """Test whether two systems' decisions on the same trials cost differently.

    Parameters
    ----------
    a, b : AmountCosts
        Made by `amounts` with the same options; their trials are paired (by id, or by row where there are none).

    Notes
    -----
    The cost per decision of A minus that of B is a mean over trials, which the two systems share: Student's interval,
    with Satterthwaite's degrees of freedom, from the sums by user. Where few users or trials carry the difference it
    covers less often than stated; a caution says so.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(0)
    >>> label, amount = np.arange(400) % 4 == 0, rng.integers(1, 100, 400)
    >>> good, poor = (priori.Scores.from_predictions(label, rng.normal(k * label), amount=amount) for k in (3, 1))
    >>> test = priori.compare_amounts(*(priori.amounts(each, each, fp=5) for each in (good, poor)))
    >>> test.difference.round(1).tolist(), test.significant.tolist()
    ([-2.3], [True])
    """
    if (a.false_positive, a.currency) != (b.false_positive, b.currency):
        raise OptionError("false positives of the two systems have different costs or currencies; give both the same")
    value_a, value_b = np.array([a.value]), np.array([b.value])
    found, (spread,) = differences(a, b, np.array(["amounts"]), value_a, value_b)
    if 0 < spread.erring < FEW_CARRY:
        text = f"effectively {spread.erring:.1f} of {_units(spread, len(a.scores))} carry the difference of the costs"
        few = (Caution("few-units", f"{text}: the interval may be too narrow"),)
        found = replace(found, warnings=joined(few, found.warnings))
    return found._came_from(a.scores, b.scores)


def _units(spread: Spread, trials: int) -> str:
    return f"{spread.people:g} users" if spread.people else f"{trials} trials"


# -- what is given -----------------------------------------------------------------------------------------------


def _price(fp: Any) -> Fraction | None:
    """Return what a false positive costs, as it was typed; None: its own amount."""
    if isinstance(fp, str) and fp.strip() == OWN:
        return None
    try:
        price = read_fraction(str(fp))
    except (ValueError, ZeroDivisionError):
        price = Fraction(-1)
    if not 0 <= price <= EXACT_SUM:
        raise OptionError(
            f"a false positive costs a number from 0 up or its own {OWN}: {argument('fp', OWN)}, not {short(repr(fp))}"
        )
    return price


def _amounts_of(scores: Scores) -> tuple[Floats, Floats]:
    """Return the amounts of the negatives and of the positives."""
    negative, positive = scores.negative.amount, scores.positive.amount
    if negative is None or positive is None:
        raise InputError(
            f"{scores.source}: the trials have no amounts; name their column ({argument('columns', 'amount=NAME')})"
        )
    return negative, positive


# -- exact costs -------------------------------------------------------------------------------------------------


def _whole_costs(scores: Scores, price: Fraction | None) -> tuple[NDArray[Any], NDArray[Any], Fraction]:
    """Return what an error of each negative and positive costs, in whole units, and the unit."""
    amounts = _amounts_of(scores)
    if price is None:
        (negative, positive), unit = _in_units(amounts)
        return negative, positive, unit
    (positive,), unit = _in_units(amounts[1:])
    times, whole = price.denominator, price.numerator * unit.denominator
    negative = np.full(len(scores.negative), whole, dtype=object)
    return _compact(negative), _compact(positive.astype(object) * times), unit / times


def _in_units(columns: Sequence[Floats]) -> tuple[list[NDArray[Any]], Fraction]:
    """Return amounts, as the decimals that they were typed as, in whole numbers of a unit: 12.5 is 125 tenths.

    Examples
    --------
    >>> columns, unit = _in_units([np.array([12.5, 0.1, 3.0])])
    >>> columns[0].tolist(), unit
    ([125, 1, 30], Fraction(1, 10))
    """
    for decimals in range(DECIMALS + 1):
        scale = 10**decimals
        whole = [np.rint(column * scale) for column in columns]
        same = (np.array_equal(column, own / scale) for column, own in zip(columns, whole, strict=True))
        if all(own.max() < EXACT_FLOAT for own in whole) and all(same):
            return [_compact(own.astype(np.int64)) for own in whole], Fraction(1, scale)
    exact = [[Fraction(repr(amount)) for amount in column.tolist()] for column in columns]
    unit = Fraction(1, math.lcm(*(amount.denominator for column in exact for amount in column)))
    return [_compact(np.array([int(amount / unit) for amount in column], dtype=object)) for column in exact], unit


def _compact(whole: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers in 64 bits if no sum of them can wrap round, else as Python's own."""
    fits = int(whole.max()) * whole.size < EXACT_SUM
    return whole.astype(np.int64 if fits else object)


def _cheapest(
    candidates: Candidates, scores: Scores, negative: NDArray[Any], positive: NDArray[Any]
) -> tuple[slice, int]:
    """Return where the candidate is that costs least, and its cost in units; ties go as those of criteria do."""
    of_negatives, of_positives = (
        np.append(0, np.cumsum(whole[trials.order]))
        for whole, trials in ((negative, scores.negative), (positive, scores.positive))
    )
    n_negatives, n_positives = len(scores.negative), len(scores.positive)
    rejected = of_negatives[n_negatives - candidates.fp]
    cost = of_negatives[-1] - rejected + of_positives[candidates.fn]
    cheapest = np.flatnonzero(cost == cost.min())
    errors = candidates.fp[cheapest] * n_positives + candidates.fn[cheapest] * n_negatives
    place = int(cheapest[np.argmin(errors)])
    return slice(place, place + 1), int(cost[place])


# -- intervals ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _ErrorCosts:
    """What false positives, false negatives and both cost per decision, as spreads.

    Misses are rare and of very different amounts, alarms many and alike. An interval of the sum alone would look at the
    alarms and miss how skewed the cost of misses is (it held 78 % of the time instead of 95 %).
    """

    alarms: Spread
    misses: Spread
    both: Spread

    @classmethod
    def of(cls, scores: Scores, alarms: Floats, misses: Floats, shared: str) -> _ErrorCosts:
        """Return the same of the costs of each negative and of each positive."""
        trials = both_classes(scores)
        costs = np.append(alarms, 0 * misses), np.append(0 * alarms, misses), np.append(alarms, misses)
        return cls(*(spread_of_classes([(own, trials)], shared) for own in costs))

    @property
    def carrying(self) -> float:
        """How many units effectively carry the cost of alarms, or of misses where they are fewer; 0: none."""
        return min((each.erring for each in (self.alarms, self.misses) if each.erring > 0), default=0.0)

    def limits(self, level: float) -> tuple[float, float]:
        """Return the interval of the sum: those of both kinds on their log scales, joined by their correlation."""
        if not self.carrying:
            return np.nan, np.nan
        parts, variance = (self.alarms, self.misses), float(self.alarms.variance * self.misses.variance)
        shared = float(self.both.variance - self.alarms.variance - self.misses.variance) / 2
        rho = float(np.clip(shared / np.sqrt(variance), -1, 1)) if variance > 0 else 0.0
        with np.errstate(over="ignore"):
            kinds = [BoundedValue(float(own.value), *limits_of_cost(own, level)) for own in parts]
        if any(np.isinf(kind.upper) for kind in kinds):
            return 0.0, np.inf
        _, lower, upper = joint_interval(kinds, (1.0, 1.0), below=rho, above=rho)
        return max(lower, 0.0), upper

    def cautions(self, trials: int, *, free: bool) -> tuple[str, ...]:
        """Return what to mind: errors that were not seen, or whose cost few carry; false positives may be ``free``."""
        found = list[Caution]()
        unseen = ["false negative"] * (not self.misses.value) + ["false positive"] * (
            not self.alarms.value and not free
        )
        if unseen:
            text = f"no {' and no '.join(unseen)} cost anything: the interval leaves out what one would cost"
            found.append(Caution("no-errors", text))
        if 0 < self.carrying < FEW_CARRY:
            kind = _units(self.both, trials)
            text = f"effectively {self.carrying:.1f} of {kind} carry the cost: the interval may be too narrow"
            found.append(Caution("few-units", text))
        return joined(found, unit_cautions(self.both, what=("the costs",)))
