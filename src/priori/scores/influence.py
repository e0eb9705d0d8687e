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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.types import Floats, Ints, Mask
from priori.scores.labels import unknown_impostors
from priori.scores.sorting import bins_of, counts_by
from priori.scores.trials import Trials, codes_in_use

if TYPE_CHECKING:
    from scipy.sparse import csr_array

#: Errors that come from fewer units than this, and than this share of all units (`kish`), do not show how units differ;
#: nor, where trials of a unit are as alike as this (correlation of their errors), do those of fewer than half of the
#: units. Chosen by simulation: of 20 to 40 skewed users most are told, of as many normal ones less than a tenth.
FEW_UNITS, FEW_SHARE = 7.5, 0.12
FEW_UNLIKE_UNITS, FEW_UNLIKE_SHARE, ALIKE = 15.0, 0.5, 0.12
#: Of numbers at many thresholds, what is so of those with more than such a share of the variance is said. (One in ten
#: bands of 20 to 30 normal users is told of few, four in five of as many exponential or Cauchy ones are.)
SAID_AT = 0.2
#: Nor do fewer units than this, weighed by their trials, whatever they do.
FEWEST_UNITS = 7
#: Units with more trials have more errors in each, where the correlation with the log of their size is so many
#: standard errors (T): then the rate per trial depends on heavy units that a set of this size may not have seen.
FOLLOWS = 2.5
#: Users differ, and so may impostors, where the variance is so many times that of independent trials.
DIFFER = 1.2
#: How many times as often as the others a user errs whom nobody has seen, and how often at most; and how many times as
#: much he costs in bits, where even good users cost some.
UNSEEN_TIMES, UNSEEN_MOST, UNSEEN_COST = 4.0, 0.5, 2.0
#: Sums by pair that are made at a time: some hundred megabytes at most.
SUMS_AT_A_TIME = 1 << 24
#: What people move means by at a time: few enough megabytes to be used again and again.
MEANS_AT_A_TIME = 1 << 20


# -- how many units count, and how sure a variance is --------------------------------------------------------------


def kish(shares: NDArray[Any], owner: Ints | None = None) -> Floats:
    """Return how many equal shares would say as much (Kish 1965): (sum s)^2 / sum s^2, by column where there are some.

    Those of several groups one after the other, where ``owner`` is the group of each row.

    Examples
    --------
    >>> kish(np.array([2, 2, 2, 0])).item(), round(kish(np.array([48, 1, 1])).item(), 3)
    (3.0, 1.084)
    """
    rows = np.reshape(shares, (len(shares), -1)).astype(np.float64)
    return np.ravel(_added(np.abs(rows), owner) ** 2 / np.maximum(_added(rows**2, owner), 1e-300))


def freedom_of_sizes(sizes: Any, variances: Any, owner: Ints | None = None) -> Floats:
    """Return the most degrees of freedom that a sum of variances (rows) can have, at least 1, by group and value.

    One less than the effective units, where each row has its own sizes of the units (columns) and counts as much as
    its variances (groups and values): a user with trials of both classes is one unit, and different users add up. The
    ``owner`` of a unit is its group, where there are several.

    Examples
    --------
    >>> same, apart = np.ones((2, 4)), np.eye(2).repeat(4, axis=1)
    >>> [freedom_of_sizes(sizes, np.ones((2, 1, 1))).item() for sizes in (same, apart)]
    [3.0, 7.0]
    """
    known = np.where(variances.sum(axis=0) > 0, variances, 1.0)
    weights = 0.0
    for size, variance in zip(sizes[:, :, None], known, strict=True):
        weights = weights + size * _of_owner(variance / np.maximum(_added(size, owner), 1e-300), owner)
    used = _added((np.asarray(weights) > 0) * 1.0, owner)
    effective = _added(weights, owner) ** 2 / np.maximum(_added(weights**2, owner), 1e-300)
    return np.asarray(np.clip(effective - 1, 1.0, np.maximum(used - 1, 1.0)))


def _added(of_units: Any, owner: Ints | None) -> Floats:
    """Return the sums over the units (rows) of each group; one group where units have no owner."""
    if owner is None:
        return np.asarray(np.sum(of_units, axis=0, keepdims=True))
    return np.stack([np.bincount(owner, column, owner[-1] + 1) for column in np.transpose(of_units)], axis=1)


def _of_owner(of_groups: Floats, owner: Ints | None) -> Floats:
    """Return for each unit what its group has."""
    return of_groups if owner is None else of_groups[owner]


def satterthwaite(squares: Any, fourths: Any, most: Any, units: Any = np.inf) -> Floats:
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


def unseen(rate: Any, people: Any, times: float = UNSEEN_TIMES, most: float = UNSEEN_MOST) -> Floats:
    """Return the variance that one more user adds who is unlike those seen: without him rates are bounded too low.

    Examples
    --------
    >>> unseen(0.1, np.array([0, 19, 199])).round(8).tolist()
    [0.0, 0.0004, 4e-06]
    """
    worst = np.minimum(times * np.asarray(rate, dtype=np.float64), most)
    return np.asarray(np.where(np.asarray(people) > 0, (worst / (np.asarray(people) + 1)) ** 2, 0.0))


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


def _numbered(key: Ints, span: int) -> tuple[Ints, NDArray[np.intp]]:
    """Return the distinct keys, ascending, and the number of each key among them; keys lie below the span."""
    if span > max(4 * key.size, 1 << 16):
        present, number = np.unique(key, return_inverse=True)
        return present, number
    present = codes_in_use(key)
    place = np.zeros(span, dtype=np.intp)
    place[present] = np.arange(present.size)
    return present, place[key]


@dataclass(frozen=True, eq=False)
class People:
    """Who the entries of a class belong to, as codes below ``count``, and the ``number`` of trials each stands for.

    ``partner`` is the other person, -1 where an entry has none but its ``unit``. Where trials are in groups, each with
    a mean of its own, ``owner`` is the group of each unit, ascending: a person with trials in several is one in each.
    """

    unit: NDArray[Any]
    count: int
    partner: NDArray[Any] | None = None
    number: NDArray[Any] | None = None
    owner: Ints | None = None

    @classmethod
    def of(cls, *classes: Trials, crossed: bool, group: NDArray[np.integer] | None = None) -> list[Self]:
        """Return the people of several classes, the same code for the same person; both of a trial's if ``crossed``.

        The entries of a single class may be in groups.
        """
        others = [trials.partner if crossed else None for trials in classes]
        names: list[Any] = [*(trials.user for trials in classes), *(other for other in others if other is not None)]
        many = 1 + max(int(column.max()) for column in names)
        if group is not None:
            names = [np.where(column < 0, -1, many * group.astype(np.int64) + column) for column in names]
        # Nobody, -1, comes first where a trial lacks a second person.
        present, code = _numbered(np.concatenate(names) + 1, 1 + many * (1 if group is None else 1 + int(group.max())))
        nobody = int(present[0] == 0)
        codes = iter(np.split((code - nobody).astype(np.int32), np.cumsum([column.size for column in names])[:-1]))
        users, count = [next(codes) for _ in classes], present.size - nobody
        owner = None if group is None else (present[nobody:] - 1) // many
        partners = [None if other is None else next(codes) for other in others]
        return [
            cls(user, count, partner, trials.number, owner)
            for trials, user, partner in zip(classes, users, partners, strict=True)
        ]

    @cached_property
    def roles(self) -> list[tuple[NDArray[Any], Any]]:
        """The people in each role, and the entries that have somebody in it."""
        claimed: list[tuple[NDArray[Any], Any]] = [(self.unit, slice(None))]
        if self.partner is None or not (crossed := np.flatnonzero(self.partner >= 0)).size:
            return claimed
        return [*claimed, (self.partner[crossed], crossed)]

    @cached_property
    def n(self) -> Floats:
        """The number of trials in each group (rows; one column)."""
        return _added(self.sizes[0][:, None], self.owner)

    def number_of(self, entries: Any) -> NDArray[Any] | None:
        """Return the number of trials of some of the entries."""
        return None if self.number is None else self.number[entries]

    @cached_property
    def sizes(self) -> Floats:
        """The trials of each person (columns) in each role (rows)."""
        counted = [np.bincount(code, self.number_of(entries), self.count) for code, entries in self.roles]
        return np.stack(counted).astype(np.float64)

    @cached_property
    def pairs(self) -> tuple[NDArray[np.intp], Floats, Ints | None]:
        """The pair of people of each entry that has two, as a code, the trials of each pair, and its group.

        It is the same pair whichever of the two claims to be the other.
        """
        probe, crossed = self.roles[-1]
        low, high = np.minimum(self.unit[crossed], probe), np.maximum(self.unit[crossed], probe)
        pairs, pair = _numbered(low.astype(np.int64) * self.count + high, self.count**2)
        sizes = np.bincount(pair, self.number_of(crossed), pairs.size).astype(np.float64)
        return pair, sizes, None if self.owner is None else self.owner[pairs // self.count]

    @cached_property
    def lost(self) -> Floats:
        """The share of a variance that goes missing with the mean: that of the pairs of trials that share somebody."""
        sharing = _added(self.sizes.sum(axis=0)[:, None] ** 2, self.owner)
        if len(self.roles) > 1:
            _, sizes, owner = self.pairs
            twice = _added(sizes[:, None] ** 2, owner)
            sharing[: len(twice)] -= twice
        people = _added(np.sign(self.sizes.sum(axis=0))[:, None], self.owner)
        return np.minimum(sharing / self.n**2, 1 - 1 / np.maximum(people, 2))


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

    def sums(self, code: NDArray[Any], codes: int, entries: Any, number: NDArray[Any] | None) -> Floats:
        """Return what some of the entries add together where they have the same code: a row for each code."""
        held, (bins, columns) = self.bins[entries], self.moves.shape
        if held.size * columns >= codes * bins:
            return np.asarray(counts_by(code, codes, held, bins, number) @ self.moves)
        times = 1 if number is None else number
        return np.stack([np.bincount(code, moved[held] * times, codes) for moved in self.moves.T], axis=1)

    def power_sums(self, power: int, number: NDArray[Any] | None = None, mean: Floats | float = 0.0) -> Floats:
        """Return the sums over single trials of a power (1, 2 or 4) of their deviations from the mean."""
        powers = self.moves - mean
        while power > 1:  # squares of squares: numpy is slow at other powers
            powers, power = powers**2, power // 2
        # Not a product of matrices, which takes all processors for what one does faster.
        return np.asarray(np.einsum("i,ij->j", np.bincount(self.bins, number, len(self.moves)), powers))


@dataclass(frozen=True, eq=False)
class Errors:
    """The errors of entries at thresholds (columns), minus those of a second system where there is one.

    For each system, ``bins`` are those of the entries between the ascending thresholds, ``ranks`` the places of the
    thresholds in that order. ``above`` says whether a score above a threshold is an error.
    """

    bins: Sequence[NDArray[np.intp]]
    ranks: Sequence[NDArray[np.intp]]
    above: bool

    @classmethod
    def of(cls, scores: Sequence[Floats], cuts: Sequence[Floats], *, above: bool) -> Self:
        """Return the errors of each system's scores at its own thresholds."""
        ranks = [np.argsort(np.argsort(cut, kind="stable"), kind="stable") for cut in cuts]
        return cls([bins_of(np.sort(cut), each) for each, cut in zip(scores, cuts, strict=True)], ranks, above)

    def sums(self, code: NDArray[Any], codes: int, entries: Any, number: NDArray[Any] | None) -> Floats:
        """Return the errors of some of the entries, added where they have the same code: a row for each code."""
        total = np.zeros((codes, self.ranks[0].size))
        for sign, bins, rank in zip((1.0, -1.0), self.bins, self.ranks, strict=False):
            counts = counts_by(code, codes, bins[entries], rank.size + 1, number)
            rejected = np.cumsum(counts, axis=1, dtype=np.float64)
            total += sign * (rejected[:, -1:] - rejected[:, rank] if self.above else rejected[:, rank])
        return total

    def squares(self, total: Floats, number: NDArray[Any] | None) -> Floats:
        """Return the sum of squared errors, whose sum is ``total``: where systems differ, 1."""
        if len(self.bins) == 1:
            return total
        (bins_a, bins_b), times = self.bins, 1 if number is None else number
        differing = [(((bins_a > a) != (bins_b > b)) * times).sum() for a, b in zip(*self.ranks, strict=True)]
        return np.array(differing, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class SampleMean:
    """A class of trials whose mean is asked for, or minus it: what its entries add, and who they belong to."""

    values: Moves | Errors
    people: People
    sign: float = 1.0

    @cached_property
    def totals(self) -> list[Floats]:
        """What the trials of each person (rows) add together in each role."""
        people = self.people
        return [self.values.sums(code, people.count, held, people.number_of(held)) for code, held in people.roles]

    @cached_property
    def mean(self) -> Floats:
        """The mean over the trials of each group (rows)."""
        return _added(self.totals[0], self.people.owner) / self.people.n

    @cached_property
    def by_role(self) -> list[Floats]:
        """What each person (rows) moves the mean by in each role."""
        owner = self.people.owner
        return [self._moved(total, size, owner) for total, size in zip(self.totals, self.people.sizes, strict=True)]

    @cached_property
    def by_pair(self) -> Floats:
        """The sum of the squared influences of pairs of people; made for some pairs at once."""
        added = np.zeros_like(self.mean)
        if len(self.people.roles) < 2:
            return added
        (pair, sizes, owner), (_, crossed) = self.people.pairs, self.people.roles[1]
        step = max(1, SUMS_AT_A_TIME // (added.shape[1] + 1))
        order = np.argsort(pair, kind="stable") if sizes.size > step else None
        for first in range(0, sizes.size, step):
            chosen: Any = slice(None)
            some = slice(first, first + step)
            if order is not None:
                chosen = order[slice(*np.searchsorted(pair, [first, first + step], sorter=order))]
            held, own = crossed[chosen], None if owner is None else owner[some]
            total = self.values.sums(pair[chosen] - first, sizes[some].size, held, self.people.number_of(held))
            squares = _added(self._moved(total, sizes[some], own) ** 2, own)
            added[: len(squares)] += squares
        return added

    def _moved(self, total: Floats, size: Floats, owner: Ints | None) -> Floats:
        """Return what trials move the mean by that add a total, what is lost of it made good."""
        scale = self.sign / (self.people.n * np.sqrt(1 - self.people.lost))
        return np.asarray(_of_owner(scale, owner) * (total - size[:, None] * _of_owner(self.mean, owner)))


# -- how much a number varies --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Spread:
    """How numbers vary when people are drawn.

    ``variance`` is corrected for deviations from the means observed (``lost``); ``freedom`` are Satterthwaite's degrees
    of freedom from the influences, centred, ``most`` those that the sizes of people allow; ``people`` is how many there
    are (0: trials are independent). ``by_person`` is the sum of squared influences of people in either role,
    ``by_pair`` that of pairs of people, which is in it twice, ``floor`` what a variance is never below: that of the
    people in one role.

    Of errors also: ``effect``, the ratio of the variance to that of independent trials, at least 1; ``pseudo``, the
    trials of the pseudo-user that errs half: what one more person might add; how many people make the errors
    (``erring``) and the ``right`` decisions, by `kish`, in whichever role fewer do; the rate ``per_unit``, where each
    person counts once; whether it ``follows`` the size of people (T); and how ``alike`` trials that share somebody are,
    the correlation of their errors: (effect - 1) over how many others each of them shares somebody with.
    """

    value: Any
    variance: Any
    freedom: Any
    most: Any
    people: Any
    by_person: Any = 0.0
    by_pair: Any = 0.0
    floor: Any = 0.0
    lost: Any = 0.0
    effect: Any = 1.0
    pseudo: Any = 1.0
    erring: Any = np.inf
    right: Any = np.inf
    per_unit: Any = 0.0
    follows: Any = 0.0
    alike: Any = 0.0

    @property
    def sd(self) -> Any:
        """The standard deviation."""
        return np.sqrt(self.variance)

    def at(self, column: int) -> Spread:
        """Return the spread of one of the numbers."""
        return self._each(lambda name: float(getattr(self, name)[column]))

    def row(self, number: int) -> Spread:
        """Return the spreads of one class, of those that are stacked."""
        return self._each(lambda name: getattr(self, name)[number])

    @staticmethod
    def joined(parts: Sequence[Spread]) -> Spread:
        """Return the spreads of some numbers and of others as those of all."""
        return parts[0]._each(lambda name: np.concatenate([getattr(part, name) for part in parts]))

    @staticmethod
    def stack(rows: Sequence[Spread]) -> Spread:
        """Return the spreads of several classes as rows of one."""
        return rows[0]._each(lambda name: np.stack([getattr(row, name) for row in rows]))

    def _each(self, made: Callable[[str], Any]) -> Spread:
        names = [field.name for field in fields(self) if isinstance(getattr(self, field.name), np.ndarray)]
        return replace(self, **{name: made(name) for name in names})

    def plus(self, other: Spread) -> Spread:
        """Return the spread of the sum with a number from other people's trials."""
        variances = [self.variance, other.variance]
        freedom, most = (welch(variances, each) for each in ((self.freedom, other.freedom), (self.most, other.most)))
        erring, follows = min(self.erring, other.erring), max(self.follows, other.follows)
        people = self.people + other.people
        return Spread(self.value + other.value, sum(variances), freedom, most, people, erring=erring, follows=follows)

    def joint_freedom(self, slopes: Floats | None) -> tuple[Floats, Floats]:
        """Return the degrees of freedom of a number that moves by ``slopes`` with the rate of each class (rows).

        With it come the most that sizes allow. Classes share the variance. Where slopes are not known, the less sure
        class decides.
        """
        people = self.people - 1 if self.people else np.inf
        if slopes is None:
            most = np.asarray(np.minimum(self.most.min(axis=0), people))
            return np.minimum(self.freedom.min(axis=0), most), most
        variance = slopes**2 * self.variance
        most = welch(variance, self.most, people)
        return welch(variance, self.freedom, most), most

    @property
    def few(self) -> Any:
        """Whether so few people make the errors, or count by their trials, that they do not show how people differ."""
        known, erring = np.asarray(self.people) > 0, np.minimum(self.erring, self.right)
        effective = np.asarray(self.most) + 1
        few = erring < np.minimum(FEW_UNITS, FEW_SHARE * effective)
        few |= (erring < np.minimum(FEW_UNLIKE_UNITS, FEW_UNLIKE_SHARE * effective)) & (self.alike > ALIKE)
        return known & (erring > 0) & (few | (effective < FEWEST_UNITS - 1e-9))

    def of_losses(self, *samples: SampleMean, right: bool) -> Spread:
        """Return the spread with who makes the losses, or all but what is ``right``, in the class of fewer people."""
        losses = [sample.people.sizes[0][:, None] * right - (2 * right - 1) * sample.totals[0] for sample in samples]
        follows = [size_follows(loss, sample.people.sizes[0])[1] for loss, sample in zip(losses, samples, strict=True)]
        per_unit = [size_follows(sample.totals[0], sample.people.sizes[0])[0] for sample in samples]
        erring, mean = np.min([kish(loss) for loss in losses], axis=0), np.mean(per_unit, axis=0)
        return replace(self, erring=erring, follows=np.max(follows, axis=0), per_unit=mean)


def unit_cautions(
    spread: Spread,
    share: Any = 1.0,
    where: Callable[[NDArray[np.bool_]], str] = lambda mask: "",
    what: Sequence[str] = ("the errors",),
    nobody: tuple[str, ...] = (),
) -> list[Caution]:
    """Return what to say of numbers that rest on units: that few decide them, or that errors follow the size of units.

    Of numbers at many thresholds (columns) and of classes (rows, ``what`` is said of each), what is so of enough of the
    variance, of which each has a ``share``; the words are about the class with most of it. Impostors, the first class,
    who are ``nobody`` matter where users differ: so may they.
    """

    def doubtful(doubt: Any) -> NDArray[Any]:
        """Return the share of the variance that is in doubt, by class and threshold."""
        return np.atleast_2d(share * np.asarray(doubt))

    def most(parts: NDArray[Any]) -> tuple[int, str, Callable[[Any], Floats]]:
        """Return the class that is most in doubt, where it is, and what picks the numbers there."""
        row = int(parts.sum(axis=1).argmax())
        here = parts[row] > 0
        return row, where(here), lambda each: np.broadcast_to(np.atleast_2d(each), parts.shape)[row, here]

    few, follows, unknown = map(doubtful, unit_doubts(spread, nobody))
    found = list[Caution]()
    if few.sum() > SAID_AT:
        row, there, of = most(few)
        number = min(of(spread.erring).min(), of(spread.right).min(), of(spread.most).min() + 1)
        text = f"{what[row]}{there} come from effectively {number:.1f} of {np.max(spread.people):g} users"
        found.append(Caution("few-units", f"{text}: the interval may be too narrow"))
    if follows.sum() > SAID_AT:
        row, there, of = most(follows)
        rates = f"{np.median(of(spread.value)):.3g} per trial, {np.median(of(spread.per_unit)):.3g} per user"
        found.append(Caution("size-follows-error", f"users who try more err more{there}: {rates}; report both"))
    if unknown[0].sum() > SAID_AT:
        found.append(unknown_impostors(nobody))
    return found


def unit_doubts(spread: Spread, nobody: tuple[str, ...]) -> list[Mask]:
    """Return of which numbers few units decide, errors follow the size of units, and unknown impostors matter."""
    doubts = spread.few, spread.follows > FOLLOWS, np.asarray(spread.effect > DIFFER) & bool(nobody)
    return [np.asarray(doubt) for doubt in doubts]


def spread_of_means(*samples: SampleMean) -> Spread:
    """Return the spread of a sum of means over classes of trials, whose people have the same codes.

    Never below what people in one role alone would have. Groups are one after the other, each with its values.
    """
    owner = samples[0].people.owner
    roles: Any = zip_longest(*(sample.by_role for sample in samples), fillvalue=0.0)
    by_role = [np.asarray(sum(each)) for each in roles]
    either = np.asarray(sum(by_role))
    squares, floor = _added(either**2, owner), np.max([_added(moved**2, owner) for moved in by_role], axis=0)
    by_pair = np.sum([sample.by_pair for sample in samples], axis=0)
    sizes = np.concatenate([sample.people.sizes for sample in samples])
    variances = np.stack([_added(moved**2, owner) for sample in samples for moved in sample.by_role])
    most = freedom_of_sizes(sizes, variances, owner)
    units = np.maximum(_added((sizes.sum(axis=0) > 0)[:, None] * 1.0, owner), 1)
    freedom = satterthwaite(squares, _added((either**2) ** 2, owner), most, units)
    value, lost = np.sum([sample.sign * sample.mean for sample in samples], axis=0), samples[0].people.lost + 0 * floor
    found = value, np.maximum(squares - by_pair, floor), freedom, most, len(either), squares, by_pair, floor, lost
    return Spread(*(np.ravel(each) if isinstance(each, np.ndarray) else each for each in found))


def spread_of_trials(*classes: tuple[Moves, NDArray[Any] | None]) -> Spread:
    """Return the spread of a sum of means over classes of independent trials, so many for each entry."""
    parts = []
    for moves, number in classes:
        n = float(moves.bins.size if number is None else number.sum())
        mean = moves.power_sums(1, number) / n
        squares, fourths = (moves.power_sums(power, number, mean) for power in (2, 4))
        scale = n * max(n - 1, 1)
        parts.append((mean, squares / scale, fourths / scale**2, np.full_like(mean, n)))
    value, variance, fourths, trials = (np.sum(column, axis=0) for column in zip(*parts, strict=True))
    return Spread(value, variance, satterthwaite(variance, fourths, trials - 1), trials - 1, 0)


def spread_of_errors(sample: SampleMean) -> Spread:
    """Return the spread of the error rates of one class, or of the differences of two systems'."""
    people, errors, found = sample.people, sample.values, spread_of_means(sample)
    assert isinstance(errors, Errors)
    owner, sizes, wrong = people.owner, people.sizes[:, :, None], np.stack(sample.totals)
    either, kinds = sizes.sum(axis=0), (wrong, sizes - wrong)
    n, total = (np.broadcast_to(each, sample.mean.shape).ravel() for each in (people.n, _added(wrong[0], owner)))
    alone = np.maximum(errors.squares(total, people.number) / n - found.value**2, 0.0) / n
    effect = np.divide(found.variance, alone, out=np.ones_like(alone), where=alone > 0).clip(1.0, n)
    # While few people err nothing tells how errors cluster: the next person may err in all of his trials, and what was
    # seen is no guide to how sure the variance is.
    involved = np.min([_added((np.abs(kind.sum(axis=0)) > 1e-9) * 1.0, owner) for kind in kinds], axis=0)
    pseudo = np.maximum(effect, np.ravel(_added(either**2, owner) / _added(either, owner) / (1 + involved)))
    per_unit, follows = size_follows(wrong[0], people.sizes[0], owner)
    erring, right = (np.min([kish(role, owner) for role in kind], axis=0) for kind in kinds)
    return replace(
        found,
        freedom=np.where(pseudo <= effect, found.freedom, found.most),
        floor=np.maximum(found.floor, alone / (1 - found.lost)),
        effect=effect,
        pseudo=pseudo,
        erring=erring,
        right=right,
        per_unit=per_unit,
        follows=follows,
        alike=(effect - 1) / np.maximum(found.lost * n - 1, 1.0),
    )


def spread_along(scores: Sequence[Floats], cuts: Sequence[Floats], people: People, *, above: bool) -> Spread:
    """Return the spread of the error rates of each system's scores at its own thresholds, a few at a time."""
    step = max(1, MEANS_AT_A_TIME // people.count)
    parts = [slice(first, first + step) for first in range(0, max(cuts[0].size, 1), step)]
    errors = (Errors.of(scores, [cut[part] for cut in cuts], above=above) for part in parts)
    return Spread.joined([spread_of_errors(SampleMean(each, people)) for each in errors])


def rate_spread(
    wrong: NDArray[np.bool_], trials: Trials, shared: str, group: NDArray[np.integer] | None = None, groups: int = 1
) -> Spread:
    """Return the spread of the error rate of each group, whose trials share nothing (none), their user, or two people.

    All groups are counted at once; each of them has trials.
    """
    at_one = Errors([wrong.astype(np.intp)], [np.zeros(1, dtype=np.intp)], above=True)
    if (people := _sharing(trials, shared, group)) is None:
        return _spread_of_independent(at_one, trials, group, groups)
    return _of_all(people, spread_of_errors(SampleMean(at_one, people)))


def rate_spreads(trials: Trials, thresholds: Floats, shared: str, *, above: bool) -> Spread:
    """Return the spread of the error rate at each of several thresholds; ``above`` says where errors lie."""
    if (people := _sharing(trials, shared)) is None:
        return _spread_of_independent(Errors.of([trials.score], [thresholds], above=above), trials)
    return _of_all(people, spread_along([trials.score], [thresholds], people, above=above))


def _sharing(trials: Trials, shared: str, group: NDArray[np.integer] | None = None) -> People | None:
    """Return who the trials share; None where they are independent."""
    if shared == "none" or trials.user is None:
        return None
    (people,) = People.of(trials, crossed=shared == "crossed", group=group)
    return people


def _spread_of_independent(
    errors: Errors, trials: Trials, group: NDArray[np.integer] | None = None, groups: int = 1
) -> Spread:
    where = np.zeros(trials.score.size, np.intp) if group is None else group
    n = np.bincount(where, trials.number, groups)[:, None]
    rate = errors.sums(where, groups, slice(None), trials.number) / n
    sure = np.full(rate.size, np.inf)
    nobody, one = np.zeros(rate.size, int), np.ones(rate.size)
    return Spread(np.ravel(rate), np.ravel(rate * (1 - rate) / n), sure, sure, nobody, pseudo=one)


def _of_all(people: People, found: Spread) -> Spread:
    counted = people.count if people.owner is None else np.bincount(people.owner)
    return replace(found, people=np.broadcast_to(counted, found.variance.shape))


def size_follows(wrong: Floats, sizes: Floats, owner: Ints | None = None) -> tuple[Floats, Floats]:
    """Return the rate per unit, each counted once, and T: how clearly it grows with the size of units, by group.

    T is the correlation of a unit's rate with the log of its size, in standard errors.
    """
    size = sizes[:, None]
    used = (size > 0) * 1.0
    number = np.maximum(_added(used, owner), 1)
    log, rate = np.log(np.maximum(size, 1)), wrong / np.maximum(size, 1)
    mean = _added(rate, owner) / number
    log = used * (log - _of_owner(_added(log, owner) / number, owner))
    off = used * (rate - _of_owner(mean, owner))
    scale = np.sqrt(_added(log**2, owner) * _added(off**2, owner))
    found = np.divide(_added(log * off, owner), scale, out=np.zeros_like(scale), where=scale > 1e-9)
    return np.ravel(mean), np.ravel(found * np.sqrt(number - 1))


def correlation_of_means(off: Floats, column: NDArray[np.integer], people: People) -> csr_array:
    """Return the correlations that are not 0 of means over columns of entries, which come from people in several.

    ``off`` is what an entry deviates from the mean of its column, all its trials together.
    """
    from scipy.sparse import coo_array, csr_array

    columns = int(column.max()) + 1

    def products(code: NDArray[np.integer], entries: Any) -> csr_array:
        sums = coo_array((off[entries], (code, column[entries])), (int(code.max()) + 1, columns)).tocsr()
        return csr_array(sums.T @ sums)

    codes, held = zip(*people.roles, strict=True)
    every = np.arange(off.size)
    covariance = products(np.concatenate(codes), np.concatenate([every[entries] for entries in held]))
    if len(held) > 1:
        covariance = covariance - products(people.pairs[0], held[1])
    sd = np.sqrt(np.maximum(covariance.diagonal(), 0.0))
    entries = covariance.tocoo()
    scale = sd[entries.row] * sd[entries.col]
    value = np.divide(entries.data, scale, out=np.zeros_like(scale), where=scale > 0)
    return csr_array((np.clip(value, -1.0, 1.0), (entries.row, entries.col)), shape=(columns, columns))
