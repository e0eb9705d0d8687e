"""Clustered variance: how much an error rate varies when its trials share users, or either of two people.

Trials that share somebody err together: the variance of a rate is the sum of e_s e_t / n^2 over all pairs of trials
s, t that share somebody, e being an error minus the rate. So it comes from the sums of e by user; where a trial has
two people, from the sums by person, in either role, minus those by pair of people, which would count twice. A trial of
one person only (`Trials.partner`) is in the sums by user alone.

The consumers divide by n at different places. Each keeps its own, as the last bit of a published number depends on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats, Ints
from priori.scores import Trials
from priori.scores.sorting import counts_by
from priori.scores.trials import codes_in_use

#: With fewer people that err, or who make most of the errors, nothing tells how errors flock.
FEW_ERRING = 5
#: Sums by pair that are made at a time: some hundred megabytes at most.
PAIRS_AT_A_TIME = 1 << 24


def kish(shares: NDArray[Any]) -> Floats:
    """Return how many equal shares would say as much (Kish 1965): (sum s)^2 / sum s^2, by column where there are some.

    Examples
    --------
    >>> kish(np.array([2, 2, 2, 0])).item(), round(kish(np.array([48, 1, 1])).item(), 3)
    (3.0, 1.084)
    """
    total, squares = np.abs(shares).sum(axis=0), (shares**2).sum(axis=0)
    return np.asarray(total**2 / np.maximum(squares, 1e-300), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class GroupSums:
    """By group (rows): what its trials deviate from the rate together, and how many trials it has.

    The deviations have a column for each threshold where there are several.
    """

    deviation: Floats
    size: Floats

    @classmethod
    def of(
        cls, deviations: Floats, group: NDArray[np.integer], groups: int, number: NDArray[Any] | None = None
    ) -> GroupSums:
        """Add up the deviations of single trials, or of entries that stand for a ``number`` of trials each."""
        size, whole = np.bincount(group, number, groups), deviations if number is None else deviations * number
        return cls(np.asarray(np.bincount(group, whole, groups), dtype=np.float64), size.astype(np.float64))

    @classmethod
    def from_errors(cls, errors: NDArray[Any], size: Floats, rate: Floats | float) -> GroupSums:
        """Return the deviations of groups whose errors are counted."""
        return cls(errors - np.multiply.outer(size, rate), size)

    @property
    def squares(self) -> Floats:
        """The sum of e_s e_t over the pairs of trials of the same group."""
        return np.asarray((self.deviation**2).sum(axis=0))

    @property
    def sharing(self) -> float:
        """The number of pairs of trials of the same group, each trial with itself included."""
        return float(self.size @ self.size)

    @property
    def effective(self) -> float:
        """How many groups of one size would say as much, all of them where sizes agree."""
        return float(kish(self.size))

    @property
    def freedom(self) -> float:
        """The degrees of freedom of a variance between groups: one less than the effective number, at least 1."""
        return max(self.effective - 1, 1.0)

    @property
    def used(self) -> int:
        """The number of groups that have trials."""
        return int(np.count_nonzero(self.size))


def pair_codes(
    claimed: NDArray[np.integer], probe: NDArray[np.integer], people: int, group: NDArray[np.integer] | int = 0
) -> tuple[NDArray[np.intp], int]:
    """Return the pair of people of each trial, whichever of the two claims to be the other, and how many there are.

    A pair that has trials in several groups is one in each.
    """
    low, high = np.minimum(claimed, probe), np.maximum(claimed, probe)
    key = (np.asarray(group, dtype=np.int64) * people + low) * people + high
    pairs, pair = _numbered(key, (int(np.max(group, initial=0)) + 1) * people**2)
    return pair, int(pairs.size)


def _numbered(key: Ints, span: int) -> tuple[Ints, NDArray[np.intp]]:
    """Return the distinct keys, ascending, and the number of each key among them; keys lie below the span."""
    if span > max(4 * key.size, 1 << 16):
        present, number = np.unique(key, return_inverse=True)
        return present, number
    present = codes_in_use(key)
    place = np.zeros(span, dtype=np.intp)
    place[present] = np.arange(present.size)
    return present, place[key]


def welch(variances: Floats, freedom: Floats, most: float) -> Floats:
    """Return the degrees of freedom of a sum of variances (rows), each with its own (Welch and Satterthwaite)."""
    total, own = variances.sum(axis=0), (variances**2 / freedom).sum(axis=0)
    lowest = np.broadcast_to(freedom, variances.shape).min(axis=0)
    joint = np.divide(total**2, own, out=lowest.astype(np.float64), where=own > 0)
    return np.asarray(np.minimum(joint, most))


def pseudo_user(effect: Floats, trials: Floats | float, erring: Floats | float) -> Floats:
    """Return the trials of the pseudo-user that errs half: what one more person might add to what was seen.

    As many as make one independent decision (the design effect); but while few people err, ``erring`` of them, nothing
    tells how errors flock, and the next person may err in all of his ``trials``.
    """
    return np.maximum(effect, trials / (1 + np.asarray(erring)))


# -- one rate ------------------------------------------------------------------------------------------------------


class RateSpread(NamedTuple):
    """How rates vary, one of each group of trials: design effects, people they rest on, degrees of freedom.

    So many make the errors as ``erring`` people would that made as many each (or the right decisions, if those are
    fewer).
    """

    effect: Floats
    people: Ints
    freedom: Floats
    erring: Floats


def rate_spread(
    wrong: NDArray[np.bool_], trials: Trials, shared: str, group: NDArray[np.integer] | None = None, groups: int = 1
) -> RateSpread:
    """Measure how the errors of one class come together by user, or by two identities, in each group of its trials.

    All groups are counted at once, by group and person; each of them has trials.
    """
    if shared == "none" or trials.user is None:
        none = np.zeros(groups)
        return RateSpread(none + 1.0, none.astype(np.int64), none + np.inf, none)
    # Somebody who claims to be himself (a genuine trial) is one person, not two.
    partner = trials.partner if shared == "crossed" else None
    second = np.empty(0, np.intp) if partner is None else np.flatnonzero(partner >= 0)
    probe = trials.user[:0] if partner is None else partner[second]
    many = 1 + int(max(trials.user.max(), probe.max(initial=0)))
    both = np.append(trials.user, probe) if second.size else trials.user
    if group is None:
        group, key = np.zeros(wrong.size, np.int64), both.astype(np.int64)
    else:
        group = group.astype(np.int64)
        key = np.concatenate([group, group[second]]) * many + both.astype(np.int64)
    units, coded = _numbered(key, groups * many)
    owner = units // many
    people = np.bincount(owner, minlength=groups)
    times = None if trials.number is None else np.asarray(trials.number, dtype=np.float64)

    def summed(of_unit: NDArray[Any]) -> Floats:
        return np.asarray(np.bincount(owner, of_unit, groups))

    def counted(of_trial: NDArray[np.bool_] | None, rows: NDArray[np.intp] | slice, codes: NDArray[np.intp]) -> Floats:
        """Return how many trials, or how many of those that are marked, each unit has."""
        number = None if times is None else times[rows]
        if of_trial is not None:
            marked = of_trial[rows]
            codes, number = codes[marked], None if number is None else number[marked]
        return np.bincount(codes, number, units.size).astype(np.float64)

    everyone, probed = slice(None), coded[wrong.size :]
    size, errors_of = (counted(kind, everyone, coded[: wrong.size]) for kind in (None, wrong))
    n, errors = summed(size), summed(errors_of)
    rate = errors / n
    by_user = GroupSums(errors_of - rate[owner] * size, size)
    variance = _corrected(summed(by_user.deviation**2), summed(by_user.size**2), n)
    either = by_user
    if second.size:
        size, errors_of = size + counted(None, second, probed), errors_of + counted(wrong, second, probed)
        either = GroupSums(errors_of - rate[owner] * size, size)
    counts = [errors_of, size - errors_of]
    erring = np.min([summed(each > 0) for each in counts], axis=0)
    squares, sharing = summed(either.deviation**2), summed(either.size**2)
    if second.size:
        pair, pairs = pair_codes(trials.user[second], probe, many, group[second])
        off = wrong[second] - rate[group[second]]
        by_pair = GroupSums.of(off, pair, pairs, None if times is None else times[second])
        of_pair = np.empty(pairs, np.int64)
        of_pair[pair] = group[second]
        # Trials of one pair share two people and are in two people's sums; they count once.
        twice = [np.bincount(of_pair, each**2, groups) for each in (by_pair.deviation, by_pair.size)]
        two_way = _corrected(squares - twice[0], sharing - twice[1], n)
        variance = np.maximum(two_way, variance)
    alone = rate * (1 - rate) / n  # the variance of independent trials
    effect = np.divide(variance, alone, out=np.ones(groups), where=(errors > 0) & (errors < n))
    effect = np.maximum(effect, 1.0)
    assumed = pseudo_user(effect, np.minimum(sharing / summed(either.size), n), erring)
    # Satterthwaite: twice the squared variance over the variance of the variance. Few people may make most errors.
    fourth = summed(either.deviation**4)
    freedom = np.maximum(summed(either.size) ** 2 / sharing - 1, 1.0)
    few = np.divide(2 * squares**2, fourth, out=np.full(groups, np.inf), where=(assumed <= effect) & (fourth > 0))
    alike = [summed(each) ** 2 / np.maximum(summed(each**2), 1e-300) for each in counts]  # `kish`, by group
    return RateSpread(assumed, people, np.minimum(few, freedom), np.min(alike, axis=0))


def _corrected(squares: Floats, sharing: Floats, n: NDArray[Any]) -> Floats:
    """Return the variances of means from the sums of squares by person, minus those by pair that are in them twice.

    Deviations from the mean observed lack a share of it, that of the pairs that share someone among all; for users
    this is the well-known 1 / users.
    """
    share = sharing / n**2
    return np.asarray(squares / n**2 / np.where(share < 1, 1 - share, 1.0))


# -- rates at many thresholds --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ErrorSpread:
    """How the error rate of each class (rows), or the difference of two systems', varies at each threshold (columns).

    ``variance`` is that of the rate when users (or identities) are drawn, without small-sample factors; ``freedom`` is
    how sure it is, by the effective number of its people; ``erring`` how many make the errors, in whichever role fewer
    do (`kish`: as if each made as many); ``count`` how many people there are (0: unknown).
    """

    variance: Floats
    freedom: Floats
    erring: Floats
    count: int

    def joint_freedom(self, slopes: Floats | None) -> Floats:
        """Return the degrees of freedom of a number that moves by ``slopes`` with the rate of each class.

        Classes share the variance (Welch and Satterthwaite). Where slopes are not known, the less sure class decides.
        """
        most = self.count - 1 if self.count else np.inf
        if slopes is None:
            return np.asarray(np.minimum(self.freedom.min(axis=0), most))
        return welch(slopes**2 * self.variance, self.freedom, most)


@dataclass(frozen=True)
class Clusters(ErrorSpread):
    """More about the errors of one system.

    ``within`` is the part of the variance that comes from the trials of each user, ``effect`` the ratio of the variance
    to independent trials', at least 1, ``pseudo`` the trials of a pseudo-user (`pseudo_user`).
    ``by_identity`` sums the squared deviations of each identity, in either role, ``by_pair`` those of each pair
    of identities, ``floor`` is the larger of the variances by independent trials and by claimed identity alone.
    ``lost`` is the share of a variance that goes missing because deviations are taken from the rate observed: that
    of the pairs of trials that share someone.
    """

    rate: Floats
    within: Floats
    effect: Floats
    by_identity: Floats
    by_pair: Floats
    floor: Floats
    lost: Floats
    pseudo: Floats


@dataclass(frozen=True, eq=False)
class Errors:
    """Errors of one class at each threshold, minus those of a second system if there is one.

    For each system, ``gaps`` are the gaps of the trials' scores between the ascending thresholds, ``ranks`` the
    places of the thresholds in that order. ``above`` says whether a score above a threshold is an error. ``number``
    is how many trials each row stands for, where it is not one.
    """

    gaps: list[NDArray[np.intp]]
    ranks: list[NDArray[np.intp]]
    above: bool
    number: Ints | None = None

    @property
    def trials(self) -> int:
        """The number of trials."""
        return int(self.gaps[0].size) if self.number is None else round(self.number.sum())

    def by_group(self, group: NDArray[Any], groups: int) -> tuple[Floats, Floats]:
        """Return the errors of each group (rows) at each threshold, and the number of its trials."""
        total, sizes = np.zeros((groups, self.ranks[0].size)), np.zeros(groups)
        for sign, gap, rank in zip((1.0, -1.0), self.gaps, self.ranks, strict=False):
            size = rank.size + 1
            counts = counts_by(group, groups, gap, size, self.number)
            rejected, sizes = np.cumsum(counts, axis=1, dtype=np.float64)[:, :-1], counts.sum(axis=1, dtype=np.float64)
            errors = sizes[:, None] - rejected if self.above else rejected
            total += sign * errors[:, rank]
        return total, sizes

    def take(self, index: NDArray[np.intp]) -> Errors:
        """Return the errors of some of the trials."""
        number = None if self.number is None else self.number[index]
        return Errors([gap[index] for gap in self.gaps], self.ranks, self.above, number)

    def all(self) -> Floats:
        """Return the errors of all trials at each threshold."""
        return np.asarray(self.by_group(np.zeros(self.gaps[0].size, dtype=np.intp), 1)[0][0])

    def squares(self) -> Floats:
        """Return the sum of squared errors: where systems differ, 1."""
        if len(self.gaps) == 1:
            return self.all()
        differing = []
        for rank_a, rank_b in zip(*self.ranks, strict=True):
            differ = (self.gaps[0] > rank_a) != (self.gaps[1] > rank_b)
            differing.append(np.count_nonzero(differ) if self.number is None else self.number[differ].sum())
        return np.array(differing, dtype=np.float64)


def measure_differences(errors: Sequence[Errors], users: Sequence[NDArray[np.int32]], people: int) -> dict[str, Floats]:
    """Return, of one class, what users tell of the difference of two systems: its variance, freedom and ``erring``.

    The errors of each system are counted on their own; the codes of the users are the same.
    """
    (of_a, sizes), (of_b, _) = (each.by_group(codes, people) for each, codes in zip(errors, users, strict=True))
    n, difference = sizes.sum(), of_a - of_b
    by_user = GroupSums.from_errors(difference, sizes, difference.sum(axis=0) / n)
    rows = difference.shape[1]
    freedom = np.full(rows, by_user.freedom)
    return {"variance": by_user.squares / n**2, "freedom": freedom, "erring": kish(difference)}


def measure_clusters(
    errors: Errors, users: NDArray[np.int32] | None, partner: NDArray[np.int32] | None, people: int
) -> dict[str, Floats]:
    """Return one class's rows of `Clusters`, by name; ``partner`` are the other people of crossed trials, -1: none."""
    n = errors.trials
    rate = errors.all() / n
    independent = np.maximum(errors.squares() / n - rate**2, 0.0) / n
    if users is None:
        zero = np.zeros_like(rate)
        return {
            "rate": rate, "variance": independent, "within": independent, "effect": np.ones_like(rate),
            "by_identity": zero, "by_pair": zero, "floor": independent, "lost": zero,
            "freedom": np.full_like(rate, np.inf), "erring": errors.squares(),
            "pseudo": np.ones_like(rate),
        }  # fmt: skip
    claimed = users.astype(np.intp)
    user_errors, sizes = errors.by_group(claimed, people)
    by_user = GroupSums.from_errors(user_errors, sizes, rate)
    variance = by_identity = by_user.squares / n**2
    by_pair = np.zeros_like(variance)
    floor = np.maximum(independent, variance)
    sharing = by_user.sharing
    largest = trials = max(sharing / n, 1.0)
    freedom, erring = np.full_like(rate, by_user.freedom), kish(user_errors)
    involved = _involved(user_errors, sizes)
    if partner is not None:
        two = np.flatnonzero(partner >= 0)
        probe, crossed = partner[two].astype(np.intp), errors.take(two)
        probe_errors, probes = crossed.by_group(probe, people)
        # Not the sum of two deviations: the last bit depends on the order.
        either = GroupSums(by_user.deviation + probe_errors - probes[:, None] * rate, sizes + probes)
        by_identity = either.squares / n**2
        squares, twice = _by_pair(crossed, claimed[two], probe, people, rate)
        by_pair = squares / n**2
        sharing = either.sharing - twice
        by_probe = GroupSums.from_errors(probe_errors, probes, rate)
        floor = np.maximum(floor, by_probe.squares / n**2)
        variance = np.maximum(by_identity - by_pair, floor)
        largest, trials = n, either.sharing / float(either.size.sum())
        involved = _involved(user_errors + probe_errors, sizes + probes)
        sides = np.array([[by_user.freedom], [by_probe.freedom]])
        freedom = welch(np.stack([by_user.squares, by_probe.squares]), sides, either.freedom)
        erring = np.minimum(erring, kish(probe_errors))
    effect = np.divide(variance, independent, out=np.ones_like(variance), where=independent > 0)
    effect = np.clip(effect, 1.0, largest)
    return {
        "rate": rate, "variance": variance, "within": np.minimum(_within(user_errors, sizes, n), variance),
        "effect": effect, "by_identity": by_identity, "by_pair": by_pair, "floor": floor,
        "lost": np.full_like(rate, min(sharing / n**2, 1 - 1 / max(people, 2))),
        "freedom": freedom, "erring": erring, "pseudo": pseudo_user(effect, trials, involved),
    }  # fmt: skip


def _involved(errors: Floats, sizes: Floats) -> Floats:
    """Return how many groups have a part in the errors at each threshold, or in what is right if those are fewer."""
    wrong, right = np.count_nonzero(errors, axis=0), np.count_nonzero(errors < sizes[:, None], axis=0)
    return np.asarray(np.minimum(wrong, right), dtype=np.float64)


def _within(errors: Floats, sizes: Floats, n: int) -> Floats:
    """Return the variance of the rate that comes from the trials of each user, were the users given."""
    rates = errors / np.maximum(sizes, 1)[:, None]
    spare = np.maximum(sizes - 1, 1)[:, None]
    return np.asarray((sizes[:, None] ** 2 * rates * (1 - rates) / spare).sum(axis=0) / n**2)


def _by_pair(
    errors: Errors, claimed: NDArray[np.intp], probe: NDArray[np.intp], people: int, rate: Floats
) -> tuple[Floats, float]:
    """Return `GroupSums.squares` and ``sharing`` of the pairs of people, made for some pairs at a time."""
    pair, pairs = pair_codes(claimed, probe, people)
    squares, sharing = np.zeros_like(rate), 0.0
    step = max(1, PAIRS_AT_A_TIME // (rate.size + 1))
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(0, pairs + step, step))
    for first, (begin, end) in zip(range(0, pairs, step), pairwise(starts), strict=False):
        chosen = order[begin:end]
        counted = errors.take(chosen).by_group(pair[chosen] - first, min(step, pairs - first))
        sums = GroupSums.from_errors(*counted, rate)
        squares += sums.squares
        sharing += sums.sharing
    return squares, sharing
