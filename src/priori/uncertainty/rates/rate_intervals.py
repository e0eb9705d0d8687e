"""Rate intervals: an interval for one error rate when trials share people, from scores whose identities are known.

Wilson's interval with as many independent trials as the rate's variance stands for; where both identities of a
trial are known the variance is the two-way one. R. Fogliato, P. Patil and P. Perona, "Confidence intervals for
error rates in 1:1 matching tasks", International Journal of Computer Vision, 2024.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.declarations import Cautions, Column, Level, Size
from priori.base.errors import FewUsersError, InputError, OptionError, unknown
from priori.base.limits import check_level
from priori.base.results import Result
from priori.base.types import Floats, Ints, Mask
from priori.decisions.measures import ALIASES
from priori.decisions.outcomes import as_threshold
from priori.scores import Scores, ScoreSet, Trials, condense
from priori.scores.influence import Spread, rate_spread, rate_spreads, unit_cautions, unit_doubts, unseen
from priori.scores.score_set import as_score_set
from priori.uncertainty.rates.proportions import quantiles, wilson

Rate = Literal["far", "frr", "fmr", "fnmr", "fta"]
#: What the rates are called, in the words of ISO/IEC 19795-1.
RATE_TITLES: dict[Rate, str] = {
    "far": "False acceptance rate",
    "frr": "False rejection rate",
    "fmr": "False match rate",
    "fnmr": "False non-match rate",
    "fta": "Failure-to-acquire rate",
}
Dependence = Literal["none", "user", "crossed"]


@dataclass(frozen=True, repr=False)
class RateInterval(Result):
    """An interval of an error rate at a threshold fixed in advance: one row. Made by `rate_interval`.

    Attributes
    ----------
    rate, lower, upper : float
        The rate observed and its interval.
    errors, trials : int
        What it was counted from.
    design_effect : float
        Its variance over that of independent trials.
    effective_trials : float
        How many independent trials would leave it as unsure: ``trials / design_effect``.
    people : int
        How many users (or, with both identities, people) the variance rests on; 0 where they are not known.
    freedom : float
        The degrees of freedom of Student's quantile: how sure that variance itself is.
    rate_per_user : float
        The mean of the users' own rates, each counted once; where users who try more err more it is another number.
    size_effect : float
        T: how clearly the rates of users grow with their number of trials, in standard errors; above 2.5 is a warning.
    dependence : {"none", "user", "crossed"}
        What trials were taken to share: nothing, their user, or either of their identities.
    warnings : tuple of str
        Warnings about it.
    """

    name: Rate
    threshold: Column[float]
    errors: Column[int]
    trials: Column[int]
    rate: Column[float]
    lower: Column[float]
    upper: Column[float]
    design_effect: Column[float]
    effective_trials: Column[float]
    people: Size
    freedom: float
    rate_per_user: float
    size_effect: float
    dependence: Dependence
    confidence_level: Level
    warnings: Cautions = ()

    @property
    def width(self) -> Column[float]:
        """The whole interval, upper minus lower."""
        return self.upper - self.lower


def rate_interval(
    scores: ScoreSet,
    threshold: float,
    *,
    rate: Rate = "far",
    dependence: Dependence | None = None,
    confidence_level: float = 0.95,
) -> RateInterval:
    """Return an interval for an error rate at a threshold fixed in advance, allowing for who the trials share.

    Parameters
    ----------
    scores : Scores
        The test scores; with users, and better with both identities (``user`` and ``probe_user``).
    threshold : float
        Accept when score > threshold.
    rate : {"far", "frr", "fmr", "fnmr", "fta"}
        The false acceptance rate (of the negatives) or the false rejection rate (of the positives); ``fpr`` and
        ``fnr`` are other names. NaN scores that count as rejected (``nan="reject"``) are failures to acquire: the
        false match and the false non-match rate leave them out, the failure-to-acquire rate is their share of all
        trials (ISO/IEC 19795-1).
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; by default both identities where they are known, else the user, else nothing.
    confidence_level : float
        0.95 by default.

    Notes
    -----
    The interval is Wilson's for n / d trials, where the design effect d is the variance of the rate over p (1 - p) / n,
    with Student's quantile.

    The variance is the sum of e_s e_t / n^2 over all pairs of trials s, t that share a person, e being an error
    minus the rate; divided by one minus the share of pairs that do, as the mean was subtracted; and never less than
    that of the users alone or of independent trials. Its degrees of freedom are Satterthwaite's: few, where few
    people make most of the errors. Where few people err, the data do not show how errors cluster: the design effect
    is then at least m / (1 + k), m being the trials of a person and k the people with a part in the errors. The
    upper limit allows for one more user, unlike those seen, who errs four times as often or in half of the trials.
    Without an error the effective number is the number of trials that share no person: the users, or half the people.

    Examples
    --------
    >>> import priori, priori.examples
    >>> dev, test = priori.examples.load("faces").systems["eigenfaces"]
    >>> far = priori.rate_interval(test, priori.choose_threshold(dev, alpha=0.5))
    >>> f"{far.rate:.3f} from {far.lower:.3f} to {far.upper:.3f}, design effect {far.design_effect:.1f}"
    '0.072 from 0.035 to 0.144, design effect 13.1'
    """
    level = check_level(confidence_level)
    rate = ALIASES.get(rate, rate)  # type: ignore[assignment] # checked below
    if rate not in get_args(Rate):
        raise unknown("rate", rate, get_args(Rate))
    threshold = as_threshold(threshold)
    scores, notes = condense(only_scores(scores), ("user", "probe_user"), cuts=[threshold])
    shared: Dependence = shared_by(scores, dependence)
    (found,) = judge(scores, threshold, rate).counted(shared).intervals(rate, threshold, shared, level)
    return replace(found, warnings=(*found.warnings, *notes))._came_from(scores)


def only_scores(given: Any) -> ScoreSet:
    """Return scores that can be counted at a threshold, or say that they are none."""
    refusal = InputError(f"the scores must be Scores (priori.read, Scores.from_...), not {type(given).__name__}")
    return as_score_set(given, refusal)


class RateTrials(NamedTuple):
    """The trials that a rate is counted on, which of them are errors, and names of impostors that are nobody's."""

    trials: Trials
    wrong: Mask
    nobody: tuple[str, ...] = ()

    def only(self, chosen: Mask) -> RateTrials:
        """Return some of the trials."""
        return self._replace(trials=self.trials.take(chosen), wrong=self.wrong[chosen])

    def counted(
        self, shared: Dependence, group: NDArray[np.integer] | None = None, groups: int = 1, *, alone: bool = False
    ) -> CountedRates:
        """Return the rate of each group of trials; that of a single user is an error, unless he may stand ``alone``."""
        where = np.zeros(self.wrong.size, np.int64) if group is None else group
        number, user = self.trials.number, self.trials.user
        trials = np.bincount(where, number, groups)
        errors = np.bincount(where, self.wrong if number is None else number * self.wrong, groups)
        spread = rate_spread(self.wrong, self.trials, shared, group, groups)
        if user is not None and shared != "none":
            if not alone and spread.people.min() < 2:
                raise FewUsersError("an interval that allows for users needs trials of at least two of them")
            if alone:  # one user is one independent trial, whatever he does
                last, several = np.empty(groups, user.dtype), np.zeros(groups, np.bool_)
                last[where] = user
                several[where[user != last[where]]] = True
                one: dict[str, Any] = {"pseudo": trials, "people": 1, "freedom": 1.0, "erring": 0.0}
                held = {name: np.where(several, getattr(spread, name), single) for name, single in one.items()}
                spread = replace(spread, **held)
        return CountedRates(np.rint(errors).astype(np.int64), np.rint(trials).astype(np.int64), spread, self.nobody)


class CountedRates(NamedTuple):
    """The errors of groups of trials, and how their rates vary."""

    errors: Ints
    trials: Ints
    spread: Spread
    nobody: tuple[str, ...] = ()

    @property
    def rate(self) -> Floats:
        """The rate of each group."""
        return np.asarray(self.errors / self.trials)

    def limits(self, level: float) -> tuple[Floats, Floats]:
        """Return Wilson's interval of each rate for an effective number of trials, with Student's quantile.

        The upper limit also allows for one more user who is unlike those seen.
        """
        p, spread = self.rate, self.spread
        quantile, alone = quantiles((1 + level) / 2, spread.freedom), p * (1 - p)
        larger = spread.effect + np.divide(
            self.trials * unseen(p, spread.people), alone, out=np.zeros_like(p), where=alone > 0
        )
        below, above = (self.trials / each for each in (spread.pseudo, np.maximum(spread.pseudo, larger)))
        lower, upper = wilson(p * below, below, quantile)[0], wilson(p * above, above, quantile)[1]
        return np.clip(lower, 0.0, p), np.clip(upper, p, 1.0)

    def intervals(self, rate: Rate, thresholds: Any, shared: Dependence, level: float) -> list[RateInterval]:
        """Return the interval of each group, at its threshold or one for all."""
        limits, rates, found = self.limits(level), self.rate, list[RateInterval]()
        columns = (np.broadcast_to(np.float64(thresholds), rates.shape), self.errors, self.trials, rates, *limits)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for row, ((threshold, errors, n, p, lower, upper), said) in enumerate(zip(rows, self.cautions(), strict=True)):
            spread, counted = self.spread.at(row), (threshold, errors, n, p, lower, upper)
            effect, people, per_user = spread.pseudo, int(spread.people), spread.per_unit if spread.people else p
            varies = effect, n / effect, people, spread.freedom, per_user, spread.follows
            found.append(RateInterval(rate, *counted, *varies, shared, level, said))
        return found

    def cautions(self) -> list[tuple[str, ...]]:
        """Warn of each group where no error was seen in it, or only those of few people."""
        few, follows, unknown = unit_doubts(self.spread, self.nobody)
        doubtful = np.broadcast_to(few | follows | unknown, self.errors.shape)
        found: list[tuple[str, ...]] = [()] * doubtful.size  # of most of many groups there is nothing to say
        for row in np.flatnonzero(doubtful & (self.errors > 0)).tolist():
            found[row] = tuple(unit_cautions(self.spread.at(row), nobody=self.nobody))
        for row in np.flatnonzero(self.errors == 0).tolist():
            people = self.spread.people[row]
            trials = f"{self.trials[row]} trials{f' and {people:g} people' if people else ''}"
            found[row] = (Caution("no-errors", f"no error in {trials}: read the upper bound, not the rate"),)
        return found


def judge(scores: Scores, threshold: float, rate: Rate) -> RateTrials:
    """Return the trials that a rate is counted on; those that failed to acquire are rejected, or left out."""
    if rate == "fta":
        classes = scores.negative, scores.positive
        failed = [np.zeros(each.score.size, np.bool_) if each.failed is None else each.failed for each in classes]
        return RateTrials(both_classes(scores), np.concatenate(failed))
    trials = scores.negative if rate in ("far", "fmr") else scores.positive
    if rate in ("fmr", "fnmr") and trials.failed is not None:
        trials = trials.take(~trials.failed)
        if not len(trials):
            raise InputError(f"{scores.source}: every trial of a class failed to acquire; there is no {rate.upper()}")
    if rate in ("far", "fmr"):
        return RateTrials(trials, trials.score > threshold, scores.nobody)
    return RateTrials(trials, trials.score <= threshold)


def both_classes(scores: Scores) -> Trials:
    """Return the trials of both classes as one, with the columns that both have."""
    both = scores.negative, scores.positive

    def column(name: str) -> NDArray[Any] | None:
        columns = [getattr(trials, name) for trials in both]
        return None if any(held is None for held in columns) else np.concatenate(columns)

    score = np.concatenate([trials.score for trials in both])
    return Trials(score, column("user"), column("probe_user"), number=column("number"), group=column("group"))


def shared_by(scores: Scores, asked: Dependence | None) -> Dependence:
    """Return what trials are taken to share: as asked where the scores know it, else the most that they know."""
    known: Dependence = "crossed" if scores.has_identities else "user" if scores.has_users else "none"
    order = get_args(Dependence)
    if asked is None:
        return known
    if asked not in order:
        raise unknown("dependence", asked, order)
    if order.index(asked) > order.index(known):
        need = "the user of each trial" if asked == "user" else "both identities of each trial (user, probe_user)"
        raise OptionError(f"dependence {asked!r} needs {need}, and {scores.source} does not have that")
    return asked


def intervals_along(
    scores: Scores, thresholds: Floats, *, rate: Literal["far", "frr"], levels: Sequence[float]
) -> list[list[RateInterval]]:
    """Return, for each level of confidence, the interval of a rate at each threshold; how it varies is found once.

    The trials of a single user, who shows nothing of users, are taken for independent. A decision that is the same
    for every trial has no sampling error.
    """
    shared, trials = shared_by(scores, None), scores.negative if rate == "far" else scores.positive
    spread = rate_spreads(trials, thresholds, shared, above=rate == "far")
    if shared != "none" and spread.people[0] < 2:
        shared, spread = "none", rate_spreads(trials, thresholds, "none", above=rate == "far")
    n, rejected = len(trials), trials.rejected(thresholds)
    errors, nobody = (n - rejected, scores.nobody) if rate == "far" else (rejected, ())
    counted = CountedRates(errors, np.full(thresholds.size, n), spread, nobody)
    return [
        [
            replace(one, lower=one.rate, upper=one.rate) if np.isinf(one.threshold) and one.rate in (0, 1) else one
            for one in counted.intervals(rate, thresholds, shared, level)
        ]
        for level in levels
    ]
