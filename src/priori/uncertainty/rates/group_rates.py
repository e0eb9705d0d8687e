"""Group rates: the error rates of groups of people at one threshold, and how far apart the groups are.

The interval of each group is that of `rate_interval`, all groups of a rate together (Sidak). The largest difference
between two groups, and the largest ratio, are bounded by the intervals of all pairs of groups together (Tukey).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.above import Plotted
from priori.base.alphas import as_fractions
from priori.base.cautions import Caution, named, of_systems
from priori.base.declarations import Cautions, Level, columns_of
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.limits import FEW_USERS, check_level
from priori.base.results import Result
from priori.base.types import Floats, Ints, Texts
from priori.decisions.outcomes import as_threshold
from priori.decisions.recipe import choose_threshold
from priori.scores import Names, Scores, ScoreSet, Trials, condense
from priori.scores.influence import People, correlation_of_means
from priori.uncertainty.rates.combined import Pairs, gini, gini_limits, level_of_pairs
from priori.uncertainty.rates.rate_intervals import (
    CountedRates,
    Dependence,
    Rate,
    RateTrials,
    judge,
    only_scores,
    shared_by,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: With more groups than this there are no differentials: every pair is looked at.
MOST_COMPARED = 1000


@dataclass(frozen=True, eq=False, repr=False)
class GroupRates(Result, Plotted):
    """Error rates by group at a threshold fixed in advance, and the differentials between groups.

    Made by `group_rates`.

    Attributes
    ----------
    rate, what : ndarray
        Which rate a row is about (``far``, ``frr``, ...), and what it says: the ``rate`` of a group, the largest
        ``gap`` between two groups, their largest ``ratio``, or the ``ratio-to-mean``, that of the highest rate to the
        geometric mean of all; ``worst``, the highest rate of any group. Of two rates together (``far+frr``) it is
        the fairness discrepancy rate ``fdr``, of which 1 is fair, or ``garbe``, of which 0 is.
    group, other : ndarray
        The group; in the rows about two groups, the one with the highest rate and the one with the lowest. Empty where
        a row is about all.
    value, lower, upper : ndarray
        The number and its interval.
    errors, trials, people : ndarray
        What it was counted from; in rows about several groups, from all of these together.
    warnings : tuple of str
        Warnings about it.
    """

    rate: Texts
    what: Texts
    group: Texts
    other: Texts
    errors: Ints
    trials: Ints
    people: Ints
    value: Floats
    lower: Floats
    upper: Floats
    by: str
    threshold: float
    dependence: Dependence
    confidence_level: Level
    warnings: Cautions = ()

    def rows(self, rate: str, what: str = "rate") -> dict[str, NDArray[Any]]:
        """Return the rows of the table about one rate that say one thing."""
        chosen = (self.rate == rate) & (self.what == what)
        return {name: column[chosen] for name, column in self.columns().items()}


#: A row of the table: its columns in order.
_Row = tuple[str, str, str, str, int, int, int, float, float, float]


def cross_groups(sets: Sequence[ScoreSet]) -> Scores:
    """Return the scores of several readings of the same trials, grouped by every combination of their groups.

    Examples
    --------
    >>> sex, age = (
    ...     Scores.from_predictions([0, 1, 0], [1.0, 2.0, 3.0], group=group)
    ...     for group in (["f", "m", "f"], ["old", "old", "young"])
    ... )
    >>> cross_groups([sex, age]).groups.values.tolist()
    ['f, old', 'f, young', 'm, old']
    """
    loaded = [scores.load() for scores in sets]
    columns = []
    for side in ("negative", "positive"):
        named = []
        for scores in loaded:
            codes = getattr(scores, side).group
            if scores.groups is None or codes is None:
                raise InputError(f"{scores.source}: groups are not known for every trial")
            named.append(scores.groups.values.astype(str)[codes])
        columns.append(np.array([", ".join(names) for names in zip(*named, strict=True)], dtype=str))
    groups, (negative, positive) = Names.encode(*columns)
    first = loaded[0]
    sides = (replace(first.negative, group=negative), replace(first.positive, group=positive))
    return replace(first, negative=sides[0], positive=sides[1], groups=groups)


def group_rates(
    scores: ScoreSet,
    threshold: float,
    *,
    rates: Sequence[Rate] = ("far", "frr"),
    by: str = "group",
    groups: Mapping[Any, Any] | None = None,
    min_users: int = 1,
    dependence: Dependence | None = None,
    confidence_level: float = 0.95,
) -> GroupRates:
    """Compare the error rates of groups of people at a threshold fixed in advance.

    Parameters
    ----------
    scores : Scores
        The test scores with a group of each trial (``columns={"group": "sex"}`` in `priori.read`), that of the claimed
        identity; and with users, without whom trials are taken for independent.
    threshold : float
        Accept when score > threshold.
    rates : sequence of {"far", "frr", "fmr", "fnmr", "fta"}
        Which rates; see `priori.rate_interval`.
    by : str
        What the groups are of, for tables and figures.
    groups : mapping, optional
        The group of each claimed user, by the user's name, instead of a column.
    min_users : int
        Leave out groups with fewer claimed users in the trials of a rate; a warning names them.
    dependence : {"none", "user", "crossed"}, optional
        What makes trials alike; see `priori.rate_interval`.
    confidence_level : float
        That of all groups' intervals of one rate together, and of each differential.

    Notes
    -----
    The differentials are those of NISTIR 8280 and its sequels: the highest rate minus the lowest, over the lowest, and
    over the geometric mean. Observed ones are too large on average, as the highest rate is the luckless one; the
    intervals allow for that: they hold for all pairs of groups at once, so they start at no difference (0, or a ratio
    of 1) where no two groups differ significantly.

    The highest rate of any group lies between the largest lower and the largest upper limit of all groups: what holds
    for all of them holds for the worst, whichever it is.

    The fairness discrepancy rate is 1 minus the mean of the largest gaps of FAR and FRR; GARBE is the mean of their
    Gini coefficients. With ``fmr`` and ``fnmr`` both are of these. Their limits are the means of those of the two gaps
    or coefficients, at a level at which both hold together (Bonferroni): wide rather than wrong.

    Examples
    --------
    >>> import priori, priori.examples
    >>> dev, test = priori.examples.load("faces").systems["eigenfaces"]
    >>> half = {name: ("first", "second")[number % 2] for number, name in enumerate(test.users.values)}
    >>> found = priori.group_rates(test, priori.choose_threshold(dev, alpha=0.5), groups=half, by="half")
    >>> for row in range(2):
    ...     print(found.group[row], f"{found.value[row]:.3f} from {found.lower[row]:.3f} to {found.upper[row]:.3f}")
    first 0.066 from 0.023 to 0.180
    second 0.079 from 0.031 to 0.204
    """
    level, threshold = check_level(confidence_level), as_threshold(threshold)
    if isinstance(min_users, bool) or not isinstance(min_users, (int, np.integer)) or min_users < 1:
        raise OptionError(f"{argument('min_users')} must be a whole number from 1 on, not {min_users!r}")
    known, notes = condense(only_scores(scores), ("user", "probe_user", "group"), cuts=[threshold])
    known = _grouped(known, groups)
    assert known.groups is not None
    shared = shared_by(known, dependence)
    if min_users > 1 and not known.has_users:
        raise OptionError(f"{argument('min_users')} needs the user of each trial; read a user column")
    rows, said, warnings = list[_Row](), list[tuple[str, tuple[str, ...]]](), list[str]()
    compared: dict[str, _Compared] = {}
    for rate in dict.fromkeys(rates):
        if rate not in get_args(Rate):
            raise unknown("rate", rate, get_args(Rate))
        judged, left_out = _large(judge(known, threshold, rate), known.groups, rate, min_users)
        warnings += left_out
        assert judged.trials.group is not None
        present, group = np.unique(judged.trials.group, return_inverse=True)
        names = [str(name) for name in known.groups.values[present]]
        found = judged.counted(shared, group, present.size, alone=True)
        limits = found.limits(level ** (1 / len(names)))  # they hold together (Sidak)
        columns = (found.errors, found.trials, found.spread.people, found.rate, *limits)
        each = zip(names, *(column.tolist() for column in columns), strict=True)
        rows += [(rate, "rate", name, "", *numbers) for name, *numbers in each]
        said += [(f"{rate.upper()} of {name}", each) for name, each in zip(names, found.cautions(), strict=True)]
        if 1 < present.size <= MOST_COMPARED:
            compared[rate] = _Compared(rate, names, found, _correlations(judged, group, present.size, shared))
            rows += [*compared[rate].differentials(level), compared[rate].worst(limits)]
        warnings += _doubts(names, found.spread.people)
    for pair in (("far", "frr"), ("fmr", "fnmr")):
        if all(rate in compared for rate in pair):
            rows += _fairness([compared[rate] for rate in pair], level)
    table = zip(columns_of(GroupRates), zip(*rows, strict=True), strict=True)
    made: dict[str, Any] = {name: np.array(column) for name, column in table}
    return GroupRates(
        **made,
        by=by,
        threshold=threshold,
        dependence=shared,
        confidence_level=level,
        warnings=tuple(dict.fromkeys([*notes, *of_systems(said), *warnings])),
    )._came_from(known)


def group_threshold(
    dev: Any, *, rate: Literal["far", "frr"] = "far", limit: Any, groups: Mapping[Any, Any] | None = None
) -> float:
    """Choose the threshold on development scores that keeps a limit of one rate in every group, so in the worst.

    Of the thresholds at which no group's rate is above the limit, it is the one with the best other rate of all trials,
    as ``at-most-far`` and ``at-most-frr`` choose.

    Parameters
    ----------
    dev : Scores
        The development scores, in memory, with a group of each trial.
    rate : {"far", "frr"}
        Which rate keeps the limit.
    limit : number or text
        The most that the rate may be in any group of the development scores.
    groups : mapping, optional
        The group of each claimed user, as in `group_rates`.

    Examples
    --------
    >>> import priori
    >>> label, score = [0, 0, 0, 0, 1, 1], [0.1, 0.2, 0.3, 0.6, 0.5, 0.9]
    >>> dev = priori.Scores.from_predictions(label, score, group=["f", "f", "m", "m", "f", "m"])
    >>> round(priori.choose_threshold(dev, criterion="at-most-far", alpha="0.25"), 2)
    0.4
    >>> priori.group_threshold(dev, limit="0.25")
    0.75
    """
    known, criterion = _grouped(only_scores(dev).load(), groups), f"at-most-{rate}"
    (fraction,) = limits_in_groups(known, criterion, as_fractions(limit, "limit"))
    return choose_threshold(known, criterion=criterion, alpha=fraction)


def limits_in_groups(scores: Scores, criterion: str, limits: Sequence[Fraction]) -> list[Fraction]:
    """Return the limits with which a criterion, ``at-most-far`` or ``at-most-frr``, keeps each limit in every group."""
    if criterion not in ("at-most-far", "at-most-frr"):
        raise OptionError(f"groups keep a limit of FAR or FRR: choose at-most-far or at-most-frr, not {criterion}")
    above = criterion == "at-most-far"
    trials = scores.negative if above else scores.positive
    return [Fraction(errors_allowed(trials, limit, above=above), len(trials)) for limit in limits]


def errors_allowed(trials: Trials, limit: Fraction, *, above: bool) -> int:
    """Return the most errors of all groups with which, at one threshold, no group's rate is above the limit.

    They are fewer than the trials that are accepted (``above``), or rejected, before a group has one error too many.
    """
    assert trials.group is not None
    score = trials.score if above else -trials.score
    order = np.lexsort((-score, trials.group))
    group = trials.group[order]
    number = np.ones(score.size, np.int64) if trials.number is None else trials.number[order]
    size = np.bincount(group, number).astype(np.int64)
    erring = np.cumsum(number) - (np.cumsum(size) - size)[group]
    allowed = np.array([int(limit * each) for each in size.tolist()])
    too_many = score[order][erring > allowed[group]].max(initial=-np.inf)
    return int(number[score[order] > too_many].sum())


def _large(judged: RateTrials, groups: Names, rate: str, min_users: int) -> tuple[RateTrials, list[str]]:
    """Return the trials of groups with so many claimed users, and say which groups are left out."""
    group, user = judged.trials.group, judged.trials.user
    if min_users == 1 or group is None or user is None:
        return judged, []
    pairs = np.unique(np.stack([group, user]), axis=1)
    users = np.bincount(pairs[0], minlength=len(groups))
    small = users < min_users
    few = [f"{groups.values[code]} ({users[code]})" for code in np.flatnonzero(small & (users > 0))]
    if not few:
        return judged, []
    text = f"{rate.upper()}: groups with fewer than {min_users} users are left out: {named(few)}"
    if small.all():
        raise InputError(f"no group is left. {text}")
    return judged.only(~small[group]), [Caution("few-units", text)]


def _doubts(names: list[str], people: Ints) -> list[str]:
    """Warn where groups have few users, or are too many."""
    doubts: list[str] = []
    few = [f"{names[row]} ({people[row]})" for row in np.flatnonzero((people > 0) & (people < FEW_USERS))]
    if few:
        doubts.append(Caution("few-units", f"groups with fewer than {FEW_USERS} users, too few to judge: {named(few)}"))
    if len(names) > MOST_COMPARED:
        text = f"{len(names)} groups: differences are computed for at most {MOST_COMPARED}; for users, group by user"
        doubts.append(Caution("many-groups", text))
    return doubts


def _grouped(scores: Scores, groups: Mapping[Any, Any] | None) -> Scores:
    """Return the scores with the group of each trial, as they have it or by its user."""
    if groups is None:
        if scores.groups is None or scores.negative.group is None:
            raise InputError(
                f"{scores.source}: the groups of the trials are not known; name the column that has them "
                "(columns={'group': 'sex'}), or give groups={user: group}"
            )
        return scores
    if scores.users is None or scores.negative.user is None or scores.positive.user is None:
        raise InputError(f"{scores.source}: the users of the trials are not known; read a user column")
    by_name = {str(user): str(group) for user, group in groups.items()}
    # Trials are grouped by who is claimed; who only probes needs no group.
    users = [str(name) for name in scores.users.values[scores.users_in_use].tolist()]
    unheard = next((name for name in users if name not in by_name), None)
    if unheard is not None:
        raise InputError(f"groups: the group of user {unheard!r} is missing; give one for each claimed user")
    names, (own,) = Names.encode(np.array([by_name[name] for name in users]))
    assert own is not None
    codes = np.zeros(len(scores.users), dtype=np.int32)
    codes[scores.users_in_use] = own
    negative = replace(scores.negative, group=codes[scores.negative.user])
    positive = replace(scores.positive, group=codes[scores.positive.user])
    return replace(scores, negative=negative, positive=positive, groups=names)


def _correlations(judged: RateTrials, group: NDArray[np.integer], groups: int, shared: Dependence) -> csr_array:
    """Return the correlations of the groups' rates that are not 0: they come from people with trials in several."""
    from scipy.sparse import csr_array

    trials = judged.trials
    if shared == "none" or trials.user is None:
        return csr_array((groups, groups))
    times = np.ones(group.size) if trials.number is None else trials.number
    off = times * (judged.wrong - (np.bincount(group, times * judged.wrong) / np.bincount(group, times))[group])
    (people,) = People.of(trials, crossed=shared == "crossed")
    return correlation_of_means(off, group, people)


class _Compared(NamedTuple):
    """The groups of one rate, and the correlations of their rates."""

    rate: str
    names: list[str]
    found: CountedRates
    correlation: csr_array

    def differentials(self, level: float) -> list[_Row]:
        """Return the rows about the largest gap and ratios between groups; the limits hold for all pairs together."""
        value, size = self.found.rate, len(self.names)
        limits = self.found.limits(level_of_pairs(level, size))
        pairs, others = Pairs.of(value, *limits, self.correlation.toarray()), ~np.eye(size, dtype=bool)
        largest = [column[others].max() for column in pairs]
        high, low = self._extremes()
        with np.errstate(divide="ignore"):
            logs = [np.log(np.where(others, column, 1.0)).mean(axis=1).max() for column in pairs[2:]]
            mean = float(np.exp(np.log(value).mean()))
        gap, both = (max(0.0, largest[0]), min(1.0, largest[1])), [high, low]
        return [
            self._row("gap", both, float(value[high] - value[low]), *gap),
            self._row("ratio", both, _over(value[high], value[low]), *np.maximum(1.0, largest[2:])),
            self._row("ratio-to-mean", slice(None), _over(value[high], mean), *np.maximum(1.0, np.exp(logs))),
        ]

    def worst(self, limits: tuple[Floats, Floats]) -> _Row:
        """Return the row about the highest rate; ``limits`` are those of all groups together."""
        high, _ = self._extremes()
        lower, upper = (float(limit.max()) for limit in limits)
        return self._row("worst", [high], float(self.found.rate[high]), lower, upper)

    def _extremes(self) -> tuple[int, int]:
        """Return the groups with the highest and with the lowest rate, two where all are alike."""
        value = self.found.rate
        return int(value.argmax()), value.size - 1 - int(value[::-1].argmin())

    def _row(self, what: str, of: list[int] | slice, number: float, lower: float, upper: float) -> _Row:
        (high, low), found = self._extremes(), self.found
        errors, trials, people = (int(each[of].sum()) for each in (found.errors, found.trials, found.spread.people))
        of_two = self.names[high], "" if what == "worst" else self.names[low]
        return self.rate, what, *of_two, errors, trials, people, number, float(lower), float(upper)


def _fairness(pair: Sequence[_Compared], level: float) -> list[_Row]:
    """Return the rows of the fairness discrepancy rate and of GARBE; the limits of the two rates hold together.

    T. de Freitas Pereira and S. Marcel, "Fairness in biometrics: a figure of merit to assess biometric verification
    systems", IEEE Transactions on Biometrics, Behavior, and Identity Science 4, 2022.
    """
    each = (1 + level) / 2  # Bonferroni: whatever the two rates share
    gaps = [one.differentials(each)[0] for one in pair]
    rates = [one.found.rate for one in pair]
    limits = [gini_limits(rate, *one.found.limits(each), each) for rate, one in zip(rates, pair, strict=True)]
    ginis = [(gini(rate), *ends) for rate, ends in zip(rates, limits, strict=True)]
    gap, low_gap, high_gap = np.mean([gap[-3:] for gap in gaps], axis=0).tolist()
    name = "+".join(one.rate for one in pair)
    errors, trials = (sum(int(getattr(one.found, of).sum()) for one in pair) for of in ("errors", "trials"))
    people = max(int(one.found.spread.people.sum()) for one in pair)
    numbers = {"fdr": (1 - gap, 1 - high_gap, 1 - low_gap), "garbe": tuple(np.mean(ginis, axis=0).tolist())}
    return [(name, what, "", "", errors, trials, people, *found) for what, found in numbers.items()]


def _over(high: float, low: float) -> float:
    """Return a ratio of rates; that of two zeros is 1."""
    return float(high / low) if low > 0 else (np.inf if high > 0 else 1.0)
