"""Influence: what each trial moves a number by, added up by who shares trials, and how the number varies for that.

A mean over trials is moved by e = (value - mean) / n with each of them. Trials that share somebody go together, so the
variance is the sum of e_s e_t over all pairs of trials s, t that share somebody: the squares of the sums of e by unit.
Where a trial has two people, the sums are by person in either role, and the squares of those by pair of people are
taken off, as such trials are in two people's sums. Nothing else is needed: a rate at many thresholds, the difference of
two systems, an AUC (a mean over the negatives plus one over the positives) and a test of methods differ in their values
only.

Deviations from the mean observed lack a share of the variance: that of the pairs of trials that share somebody among
all pairs. For users alike that is the well-known 1 / users; it is as simple for two people a trial, where corrections
by the leverage of single units (CR2) are not known, and it is one factor for all sums of a class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import FewUsersError
from priori.base.types import Codes, Floats
from priori.scores.sorting import counts_by, gaps_of
from priori.scores.trials import Trials, codes_in_use

#: With fewer people that err, or who make most of the errors, nothing tells how errors flock.
FEW_ERRING = 5
#: Sums by pair that are made at a time: some hundred megabytes at most.
SUMS_AT_A_TIME = 1 << 24


# -- how many units count, and how sure a variance is --------------------------------------------------------------


def kish(shares: NDArray[Any]) -> Floats:
    """Return how many equal shares would say as much (Kish 1965): (sum s)^2 / sum s^2, by column where there are some.

    Examples
    --------
    >>> kish(np.array([2, 2, 2, 0])).item(), round(kish(np.array([48, 1, 1])).item(), 3)
    (3.0, 1.084)
    """
    total, squares = np.abs(shares).sum(axis=0), (shares**2).sum(axis=0)
    return np.asarray(total**2 / np.maximum(squares, 1e-300), dtype=np.float64)


def freedom_of_sizes(sizes: NDArray[Any], variances: Floats) -> Floats:
    """Return the most degrees of freedom that a sum of variances (rows; columns: values) can have, at least 1.

    One less than the effective units, where each row has its own sizes of the units (columns) and counts as much as
    its variance: a user with trials of both classes is one unit, and classes of different users add up.

    Examples
    --------
    >>> same, apart = np.ones((2, 4)), np.eye(2).repeat(4, axis=1)
    >>> [freedom_of_sizes(sizes, np.ones((2, 1))).item() for sizes in (same, apart)]
    [3.0, 7.0]
    """
    shares = sizes / np.maximum(sizes.sum(axis=1, keepdims=True), 1e-300)
    known = np.where(variances.sum(axis=0) > 0, variances, 1.0)
    return np.clip(kish(shares.T @ known) - 1, 1.0, max(np.count_nonzero(sizes.any(axis=0)) - 1, 1))


def satterthwaite(squares: Any, fourths: Any, most: Any, units: float = np.inf) -> Floats:
    """Return the degrees of freedom of sums of squares whose sums of fourth powers are known (Satterthwaite 1946).

    Twice the square of a variance over the variance of it: few where few units have most of the influence. With the
    number of ``units``, fourth powers count as far as they exceed those of units alike: then normal influences have as
    many degrees as units, and two thirds of that without.

    Examples
    --------
    >>> satterthwaite(10.0, 58.0, 9.0).item(), satterthwaite(10.0, 58.0, 9.0, units=10).item()
    (3.4482758620689653, 4.166666666666667)
    """
    squares = np.asarray(squares, dtype=np.float64)
    spread = fourths - squares**2 / units
    found = np.divide(2 * squares**2, spread, out=np.full(np.shape(spread), np.inf), where=spread > 0)
    return np.asarray(np.clip(found, 1.0, most))


def welch(variances: Any, freedom: Any, most: Any = np.inf) -> Floats:
    """Return the degrees of freedom of a sum of independent variances (rows), each with its own (Welch, Satterthwaite).

    Examples
    --------
    >>> welch([1.0, 3.0], [4.0, 9.0]).item()
    12.8
    """
    variances, freedom = np.broadcast_arrays(np.asarray(variances, dtype=np.float64), freedom)
    own = (variances**2 / freedom).sum(axis=0)
    fewest = np.asarray(freedom.min(axis=0), dtype=np.float64)
    joint = np.divide(variances.sum(axis=0) ** 2, own, out=fewest.copy(), where=own > 0)
    return np.asarray(np.minimum(joint, most))


# -- who the trials share ------------------------------------------------------------------------------------------


def pair_codes(claimed: NDArray[np.integer], probe: NDArray[np.integer], people: int) -> tuple[NDArray[np.intp], int]:
    """Return the pair of people of each trial, whichever of the two claims to be the other, and how many there are."""
    low, high = np.minimum(claimed, probe), np.maximum(claimed, probe)
    key = low.astype(np.int64) * people + high
    if people**2 > max(4 * key.size, 1 << 16):
        pairs, pair = np.unique(key, return_inverse=True)
        return pair, int(pairs.size)
    present = codes_in_use(key)
    place = np.zeros(people**2, dtype=np.intp)
    place[present] = np.arange(present.size)
    return place[key], int(present.size)


@dataclass(frozen=True, eq=False)
class People:
    """Who the entries of a class belong to, as codes below ``count``, and the ``number`` of trials each stands for.

    ``partner`` is the other person, -1 where an entry has none but its ``unit``.
    """

    unit: NDArray[Any]
    count: int
    partner: NDArray[Any] | None = None
    number: NDArray[Any] | None = None

    @classmethod
    def of(cls, *classes: Trials, crossed: bool) -> list[Self]:
        """Return the people of several classes, the same code for the same person; both of a trial's if ``crossed``."""
        partners = [trials.partner if crossed else None for trials in classes]
        others = [None if partner is None else partner[partner >= 0] for partner in partners]
        present = codes_in_use(*(trials.user for trials in classes), *others)
        # One place more, the last, for nobody.
        code = np.full(int(present[-1]) + 2, -1, dtype=np.int32)
        code[present] = np.arange(present.size)
        found = []
        for trials, partner in zip(classes, partners, strict=True):
            assert trials.user is not None
            other = None if partner is None else code[partner]
            found.append(cls(code[trials.user], int(present.size), other, trials.number))
        return found

    @cached_property
    def roles(self) -> tuple[tuple[Codes, NDArray[Any] | slice], ...]:
        """The people in each role, and the entries that have somebody in it."""
        if self.partner is None or not (crossed := np.flatnonzero(self.partner >= 0)).size:
            return ((self.unit, slice(None)),)
        return (self.unit, slice(None)), (self.partner[crossed], crossed)

    @cached_property
    def n(self) -> float:
        """The number of trials."""
        return float(self.unit.size if self.number is None else self.number.sum())

    def number_of(self, entries: NDArray[Any] | slice) -> NDArray[Any] | None:
        """Return the number of trials of some of the entries."""
        return None if self.number is None else self.number[entries]

    @cached_property
    def sizes(self) -> Floats:
        """The trials of each person (columns) in each role (rows)."""
        counted = [np.bincount(code, self.number_of(entries), self.count) for code, entries in self.roles]
        return np.stack(counted).astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], int]:
        """The pair of people of each entry that has two, and how many pairs there are."""
        (claimed, _), (probe, crossed) = self.roles
        return pair_codes(claimed[crossed], probe, self.count)

    @cached_property
    def lost(self) -> float:
        """The share of a variance that goes missing with the mean: that of the pairs of trials that share somebody."""
        either = self.sizes.sum(axis=0)
        sharing = float(either @ either)
        if len(self.roles) > 1:
            by_pair = np.bincount(self.pairs[0], self.number_of(self.roles[1][1]))
            sharing -= float(by_pair.astype(np.float64) @ by_pair)
        return min(sharing / self.n**2, 1 - 1 / max(self.count, 2))


# -- what the trials add -------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Moves:
    """What entries add to values (columns): the row of ``moves`` that each entry has as its bin."""

    bins: NDArray[Any]
    moves: Floats

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return the moves of entries that each have values of their own."""
        return cls(np.arange(len(values)), values.reshape(len(values), -1))

    def take(self, entries: NDArray[Any] | slice) -> Moves:
        """Return those of some of the entries."""
        return replace(self, bins=self.bins[entries])

    def about(self, mean: Floats) -> Moves:
        """Return the deviations from the mean."""
        return replace(self, moves=self.moves - mean)

    def sums(self, code: NDArray[Any], codes: int, number: NDArray[Any] | None = None) -> Floats:
        """Return what entries of the same code add together: a row for each code."""
        bins, columns = self.moves.shape
        if columns == 1:
            moved = self.moves[self.bins, 0]
            return np.bincount(code, moved if number is None else moved * number, codes)[:, None]
        if self.bins.size * columns < codes * bins:
            order = np.argsort(code, kind="stable")
            present, start = np.unique(code[order], return_index=True)
            moved = self.moves[self.bins[order]]
            sums = np.zeros((codes, columns))
            sums[present] = np.add.reduceat(moved if number is None else moved * number[order, None], start, axis=0)
            return sums
        return np.asarray(counts_by(code, codes, self.bins, bins, number) @ self.moves)

    def powers(self, power: int, number: NDArray[Any] | None = None) -> Floats:
        """Return the sums over single trials of a power of what each adds."""
        return np.asarray(np.bincount(self.bins, number, len(self.moves)) @ self.moves**power)


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of entries at thresholds (columns), minus those of a second system where there is one.

    For each system, ``bins`` are those of the entries between the ascending thresholds, ``ranks`` the places of the
    thresholds in that order. ``above`` says whether a score above a threshold is an error. Deviations are from a
    ``mean``, where it is given.
    """

    bins: tuple[NDArray[np.intp], ...]
    ranks: tuple[NDArray[np.intp], ...]
    above: bool
    mean: Floats | None = None

    @classmethod
    def of(cls, scores: Sequence[Floats], cuts: Sequence[Floats], *, above: bool) -> Self:
        """Return the errors of each system's scores at its own thresholds."""
        ranks = tuple(np.argsort(np.argsort(cut, kind="stable"), kind="stable") for cut in cuts)
        return cls(tuple(gaps_of(np.sort(cut), each) for each, cut in zip(scores, cuts, strict=True)), ranks, above)

    @classmethod
    def where(cls, wrong: NDArray[np.bool_]) -> Self:
        """Return the errors at one threshold."""
        return cls((wrong.astype(np.intp),), (np.zeros(1, dtype=np.intp),), above=True)

    def take(self, entries: NDArray[Any] | slice) -> Errors:
        """Return those of some of the entries."""
        return replace(self, bins=tuple(own[entries] for own in self.bins))

    def about(self, mean: Floats) -> Errors:
        """Return the deviations from the mean."""
        return replace(self, mean=mean)

    def sums(self, code: NDArray[Any], codes: int, number: NDArray[Any] | None = None) -> Floats:
        """Return the errors of entries of the same code: a row for each code."""
        total, sizes = np.zeros((codes, self.ranks[0].size)), np.zeros(codes)
        for sign, own, rank in zip((1.0, -1.0), self.bins, self.ranks, strict=False):
            counts = counts_by(code, codes, own, rank.size + 1, number)
            rejected, sizes = np.cumsum(counts, axis=1, dtype=np.float64)[:, :-1], counts.sum(axis=1, dtype=np.float64)
            errors = sizes[:, None] - rejected if self.above else rejected
            total += sign * errors[:, rank]
        return total if self.mean is None else total - np.multiply.outer(sizes, self.mean)

    def squares(self, total: Floats, number: NDArray[Any] | None = None) -> Floats:
        """Return the sum of squared errors, whose sum is ``total``: where systems differ, 1."""
        if len(self.bins) == 1:
            return total
        differing = []
        for rank_a, rank_b in zip(*self.ranks, strict=True):
            differ = (self.bins[0] > rank_a) != (self.bins[1] > rank_b)
            differing.append(np.count_nonzero(differ) if number is None else number[differ].sum())
        return np.array(differing, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Sample:
    """A class of trials whose mean is asked for: what its entries add, and who they belong to."""

    values: Moves | Errors
    people: People
    sign: float = 1.0

    @cached_property
    def mean(self) -> Floats:
        """The mean over trials."""
        people = self.people
        return np.asarray(self.values.sums(np.zeros_like(people.unit), 1, people.number)[0] / people.n)

    @property
    def negative(self) -> Sample:
        """The same with its sign changed."""
        return replace(self, sign=-1.0)

    @cached_property
    def centred(self) -> Moves | Errors:
        """The deviations from the mean."""
        return self.values.about(self.mean)

    @cached_property
    def scale(self) -> float:
        """What a deviation moves the mean by, and what is missing of it."""
        return float(self.sign / (self.people.n * np.sqrt(1 - self.people.lost)))

    @cached_property
    def by_role(self) -> list[Floats]:
        """What each person (rows) moves the mean by in each role."""
        people = self.people
        return [
            self.scale * self.centred.take(entries).sums(code, people.count, people.number_of(entries))
            for code, entries in people.roles
        ]


# -- how much a number varies --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spread:
    """How numbers vary when people are drawn.

    ``variance`` is corrected for deviations from the means observed; ``freedom`` are Satterthwaite's degrees of freedom
    from the influences, ``most`` those that the sizes of people allow; ``people`` is how many there are (0: trials are
    independent); ``erring`` how many make the errors (`kish`), in whichever role fewer do.
    """

    value: Any
    variance: Any
    freedom: Any
    most: Any
    people: int
    erring: Any = np.inf

    @property
    def sd(self) -> Any:
        """The standard deviation."""
        return np.sqrt(self.variance)

    def at(self, column: int) -> Self:
        """Return the spread of one of the numbers."""
        held = {field.name: getattr(self, field.name) for field in fields(self)}
        return replace(self, **{k: float(v[column]) for k, v in held.items() if isinstance(v, np.ndarray)})

    @classmethod
    def stack(cls, rows: Sequence[Self]) -> Self:
        """Return the spreads of several classes as rows of one."""
        held = {field.name: [getattr(row, field.name) for row in rows] for field in fields(rows[0])}
        return replace(rows[0], **{k: np.stack(v) for k, v in held.items() if isinstance(v[0], np.ndarray)})

    def plus(self, other: Spread) -> Spread:
        """Return the spread of the sum with a number from other people's trials."""
        both = [self.variance, other.variance], [self.freedom, other.freedom]
        most = welch(both[0], [self.most, other.most])
        return Spread(self.value + other.value, sum(both[0]), welch(*both), most, self.people + other.people)

    def joint_freedom(self, slopes: Floats | None) -> Floats:
        """Return the degrees of freedom of a number that moves by ``slopes`` with the rate of each class (rows).

        Classes share the variance. Where slopes are not known, the less sure class decides.
        """
        most = self.people - 1 if self.people else np.inf
        if slopes is None:
            return np.asarray(np.minimum(self.most.min(axis=0), most))
        return welch(slopes**2 * self.variance, self.most, most)


@dataclass(frozen=True, eq=False)
class ErrorSpread(Spread):
    """How error rates, or the differences of two systems', vary at thresholds.

    ``effect`` is the ratio of the variance to that of independent trials, at least 1; ``pseudo`` the trials of a
    pseudo-user (`pseudo_user`); ``right`` how many people make the right decisions, as ``erring`` the errors.
    ``within`` is the part of the variance that comes from the trials of each user, ``by_person`` the sum of squared
    influences of people in either role, ``by_pair`` that of pairs, which is in it twice; ``floor`` what the variance is
    never below: that of independent trials, or of the people in one role alone. ``lost`` is the share that was missing
    (`People.lost`).
    """

    effect: Any = 1.0
    pseudo: Any = 1.0
    right: Any = np.inf
    within: Any = 0.0
    by_person: Any = 0.0
    by_pair: Any = 0.0
    floor: Any = 0.0
    lost: Any = 0.0


def pseudo_user(effect: Floats, trials: Floats | float, erring: Floats | float) -> Floats:
    """Return the trials of the pseudo-user that errs half: what one more person might add to what was seen.

    As many as make one independent decision (the design effect); but while few people err, ``erring`` of them, nothing
    tells how errors flock, and the next person may err in all of his ``trials``.
    """
    return np.maximum(effect, trials / (1 + np.asarray(erring)))


def spread_of_means(*samples: Sample) -> Spread:
    """Return the spread of a sum of means over classes of trials, whose people have the same codes."""
    one_way = [np.sum(each, axis=0) for each in _by_role(samples)]
    variance, _, _, either = _two_way(one_way, samples)
    sizes = np.concatenate([sample.people.sizes for sample in samples])
    variances = np.stack([(moved**2).sum(axis=0) for sample in samples for moved in sample.by_role])
    most = freedom_of_sizes(sizes, variances)
    freedom = satterthwaite((either**2).sum(axis=0), (either**4).sum(axis=0), most)
    value = np.sum([sample.sign * sample.mean for sample in samples], axis=0)
    return Spread(value, variance, freedom, most, len(either))


def spread_of_trials(*classes: tuple[Moves, NDArray[Any] | None]) -> Spread:
    """Return the spread of a sum of means over classes of independent trials, so many for each entry."""
    value, squares, fourths, trials = 0.0, 0.0, 0.0, 0.0
    for moves, number in classes:
        n = float(moves.bins.size if number is None else number.sum())
        mean = moves.powers(1, number) / n
        off = moves.about(mean)
        value, trials = value + mean, trials + n
        squares = squares + off.powers(2, number) / (n * max(n - 1, 1))
        fourths = fourths + off.powers(4, number) / (n * max(n - 1, 1)) ** 2
    most = np.full(np.shape(squares), trials - 1)
    return Spread(value, np.asarray(squares), satterthwaite(squares, fourths, most), most, 0)


def spread_of_errors(sample: Sample) -> ErrorSpread:
    """Return the spread of the error rates of one class, or of the differences of two systems'."""
    people, errors = sample.people, sample.values
    assert isinstance(errors, Errors)
    totals = [errors.take(held).sums(code, people.count, people.number_of(held)) for code, held in people.roles]
    n, sizes, total = people.n, people.sizes, totals[0].sum(axis=0)
    rate = total / n
    independent = _independent(errors, total, n, people.number)
    by_role = [sample.scale * (own - np.multiply.outer(size, rate)) for own, size in zip(totals, sizes, strict=True)]
    variance, by_pair, floor, either = _two_way(by_role, [sample])
    by_person, fourths = (either**2).sum(axis=0), (either**4).sum(axis=0)
    effect = np.divide(variance, independent, out=np.ones_like(variance), where=independent > 0)
    effect = np.clip(effect, 1.0, n)
    each = sizes.sum(axis=0)
    wrong, right = totals, [size[:, None] - own for own, size in zip(totals, sizes, strict=True)]
    involved = np.min([np.count_nonzero(np.sum(kind, axis=0), axis=0) for kind in (wrong, right)], axis=0)
    pseudo = pseudo_user(effect, float(each @ each) / float(each.sum()), involved)
    most = freedom_of_sizes(sizes, np.stack([(own**2).sum(axis=0) for own in by_role]))
    # While few people err, what they did is no guide to how sure the variance is.
    freedom = np.where(pseudo <= effect, satterthwaite(by_person, fourths, most), most)
    fewest = [np.min([kish(own) for own in kind], axis=0) for kind in (wrong, right)]
    return ErrorSpread(
        rate, variance, freedom, most, people.count, fewest[0], effect, pseudo, fewest[1],
        np.minimum(_within(totals[0], sizes[0], n), variance), by_person, by_pair, np.maximum(floor, independent),
        np.full_like(rate, people.lost),
    )  # fmt: skip


def rate_spread(wrong: NDArray[np.bool_], trials: Trials, shared: str) -> ErrorSpread:
    """Return the spread of one error rate whose trials share nothing (none), their user, or either of two people."""
    if shared == "none" or trials.user is None:
        rate = float(np.average(wrong, weights=trials.number))
        return ErrorSpread(rate, rate * (1 - rate) / len(trials), np.inf, np.inf, 0)
    (people,) = People.of(trials, crossed=shared == "crossed")
    if people.count < 2:
        raise FewUsersError("an interval that allows for users needs trials of at least two of them")
    return spread_of_errors(Sample(Errors.where(wrong), people)).at(0)


def correlation_of_means(*samples: Sample) -> Floats:
    """Return the correlations of several sums of means over classes (rows and columns)."""
    either = np.sum([moved for sample in samples for moved in sample.by_role], axis=0)
    covariance = either.T @ either
    for by_pair in _by_pair(samples):
        covariance -= by_pair.T @ by_pair
    sd = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.outer(sd, sd)
    correlation = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0)
    np.fill_diagonal(correlation, 1.0)
    return np.asarray(np.clip(correlation, -1.0, 1.0))


def _by_role(samples: Sequence[Sample]) -> list[list[Floats]]:
    """Return the influences of people in each role, of the samples that have it."""
    return [
        [sample.by_role[role] for sample in samples if len(sample.by_role) > role]
        for role in range(max(len(sample.by_role) for sample in samples))
    ]


def _two_way(by_role: Sequence[Floats], samples: Sequence[Sample]) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the variance, the part of pairs, what it is at least, and what people in either role move the number by.

    Never below what people in one role alone would have.
    """
    either = np.asarray(np.sum(by_role, axis=0))
    floor = np.max([(own**2).sum(axis=0) for own in by_role], axis=0)
    by_pair = np.zeros_like(floor)
    for moved in _by_pair(samples):
        by_pair += (moved**2).sum(axis=0)
    return np.maximum((either**2).sum(axis=0) - by_pair, floor), by_pair, floor, either


def _by_pair(samples: Sequence[Sample]) -> Iterator[Floats]:
    """Give what pairs of people (rows) move the number by, some pairs at a time."""
    crossed = [sample for sample in samples if len(sample.people.roles) > 1]
    if not crossed:
        return
    roles = [sample.people.roles for sample in crossed]
    if len(crossed) == 1:
        pair, pairs = crossed[0].people.pairs
    else:
        claimed = np.concatenate([codes[entries] for (codes, _), (_, entries) in roles])
        probe = np.concatenate([codes for _, (codes, _) in roles])
        pair, pairs = pair_codes(claimed, probe, crossed[0].people.count)
    each = np.split(pair, np.cumsum([codes.size for _, (codes, _) in roles])[:-1])
    step = max(1, SUMS_AT_A_TIME // (crossed[0].mean.size + 1))
    orders = [np.argsort(own, kind="stable") for own in each]
    starts = [
        np.searchsorted(own[order], np.arange(0, pairs + step, step)) for own, order in zip(each, orders, strict=True)
    ]
    for piece, first in enumerate(range(0, pairs, step)):
        size, moved = min(step, pairs - first), []
        for sample, own, order, start in zip(crossed, each, orders, starts, strict=True):
            chosen = order[start[piece] : start[piece + 1]]
            entries = sample.people.roles[1][1][chosen]
            sums = sample.centred.take(entries).sums(own[chosen] - first, size, sample.people.number_of(entries))
            moved.append(sample.scale * sums)
        yield np.asarray(np.sum(moved, axis=0))


def _independent(errors: Errors, total: Floats, n: float, number: NDArray[Any] | None) -> Floats:
    """Return the variance of rates of independent trials."""
    return np.maximum(errors.squares(total, number) / n - (total / n) ** 2, 0.0) / n


def _within(errors: Floats, sizes: Floats, n: float) -> Floats:
    """Return the variance of the rate that comes from the trials of each user, were the users given."""
    rates = errors / np.maximum(sizes, 1)[:, None]
    spare = np.maximum(sizes - 1, 1)[:, None]
    return np.asarray((sizes[:, None] ** 2 * rates * (1 - rates) / spare).sum(axis=0) / n**2)
