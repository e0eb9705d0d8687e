"""Trials: the columns of one class, and the checks that every column passes on its way in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from fractions import Fraction
from functools import cached_property
from math import gcd
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.dataframes import as_text, missing_entries, unmasked
from priori.base.errors import InputError, argument
from priori.base.limits import MOST_TRIALS
from priori.base.types import Codes, Counts, Floats, Mask
from priori.scores.ids import BuiltIds, decoded

NanPolicy = Literal["error", "reject", "drop"]
NAN_POLICIES: tuple[NanPolicy, ...] = get_args(NanPolicy)

#: The columns a trial may have besides its score, in the order in which they are shown.
IDENTITY_COLUMNS = ("user", "probe_user", "trial", "dataset", "group")

#: Larger than any real amount of money; sums of such amounts stay far below the largest float.
MOST_AMOUNT = 1e18


@dataclass(frozen=True)
class Names:
    """The distinct names behind whole-number codes: ``values[code]`` is the name."""

    values: NDArray[Any]

    def __len__(self) -> int:
        return int(self.values.size)

    @classmethod
    def encode(cls, *columns: NDArray[Any] | None) -> tuple[Names | None, list[Codes | None]]:
        """Give every column its codes in one shared list of names (sorted, so row order does not matter)."""
        present = [column for column in columns if column is not None]
        if not present:
            return None, [None for _ in columns]
        if len({kind_of(column) for column in present}) > 1:
            present = [column.astype(str) for column in present]
        values, codes = np.unique(np.concatenate(present), return_inverse=True)
        pieces = iter(np.split(codes.astype(np.int32), np.cumsum([column.size for column in present])[:-1]))
        return cls(values), [None if column is None else next(pieces) for column in columns]


def kind_of(column: NDArray[Any]) -> str:
    """Return whether a column of names holds numbers or text; the two compare as text."""
    return "number" if column.dtype.kind in "iub" else "text"


@dataclass(frozen=True)
class Trials:
    """The trials of one class, in the order in which they came.

    ``user`` and ``probe_user`` are codes into ``Scores.users``, ``dataset`` into ``Scores.datasets``, ``group`` into
    ``Scores.groups``; ``ids`` are the trial ids (``trial`` the same as an array); ``row`` the row of the table that was
    read (None: 0, 1, 2, ...); ``failed`` says which trials failed to acquire, NaN scores that count as rejected (None:
    none did). ``time`` is when each trial was made, ``amount`` what an error in it costs.
    ``built_ids`` knows whether ids that we made from other columns are such.
    ``attack`` are codes into ``Scores.attack_types``, of which 0 is no attack (None: none of the trials is one).
    ``number`` is how many trials each entry stands for (None: one); only a bootstrap of counts that came from
    elsewhere has such trials, or one of users that weigh alike, whose numbers are not whole.
    """

    score: Floats
    user: Codes | None = None
    probe_user: Codes | None = None
    ids: NDArray[Any] | None = None
    dataset: Codes | None = None
    row: NDArray[np.int64] | None = None
    number: NDArray[Any] | None = None
    group: Codes | None = None
    failed: Mask | None = None
    attack: Codes | None = None
    time: NDArray[np.datetime64] | None = None
    amount: Floats | None = None
    built_ids: BuiltIds | None = None

    def __len__(self) -> int:
        return int(self.score.size) if self.number is None else round(self.number.sum())

    @property
    def has_ids(self) -> bool:
        """Whether every trial has an id; those that we made from other columns are none if they repeat."""
        return self.ids is not None and (self.built_ids is None or self.built_ids.unique)

    @cached_property
    def trial(self) -> NDArray[Any] | None:
        """The trial ids, decoded when they are first asked for; None where there are none."""
        return decoded(self.ids) if self.ids is not None and self.has_ids else None

    @property
    def partner(self) -> Codes | None:
        """The other person of each trial, -1 where there is none but the user; None where no trial has one."""
        if self.user is None or self.probe_user is None:
            return None
        alone = self.probe_user == self.user
        if not alone.any():
            return self.probe_user
        return None if alone.all() else np.where(alone, np.int32(-1), self.probe_user)

    @property
    def weighted(self) -> bool:
        """Whether entries have weights that are no whole numbers."""
        return self.number is not None and self.number.dtype.kind == "f"

    @cached_property
    def sorted(self) -> Floats:
        """The scores in ascending order."""
        ordered = np.sort(self.score)
        ordered.setflags(write=False)
        return ordered

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The stable permutation that sorts the scores: ``sorted == score[order]``.

        Dearer than ``sorted`` alone, so only made when something must follow the scores.
        """
        return np.argsort(self.score, kind="stable")

    def rejected(self, thresholds: ArrayLike) -> NDArray[np.int64]:
        """Return how many trials have a score at or below each threshold."""
        entries = np.searchsorted(self.sorted, np.asarray(thresholds, dtype=np.float64), side="right")
        if self.number is None:
            return np.asarray(entries, dtype=np.int64)
        below = np.append(0, np.cumsum(self.number[self.order]))
        if self.weighted:  # rounding must not make the total more or less than all trials
            below = np.append(np.minimum(below[:-1], len(self)), len(self))
        return np.asarray(below[entries])

    def at_rank(self, rank: NDArray[np.integer]) -> Floats:
        """Return the scores of the trials of these ranks, from the lowest score, 0, on."""
        if self.number is None:
            return np.asarray(self.sorted[rank])
        return np.asarray(self.sorted[np.searchsorted(np.cumsum(self.number[self.order]), rank, side="right")])

    def in_order(self, index: NDArray[np.intp]) -> Trials:
        """Return the trials at places that hold all of them: these themselves, where they are in that order."""
        return self if np.array_equal(index, np.arange(index.size)) else self.take(index)

    def take(self, index: NDArray[Any]) -> Trials:
        """Return the trials at ``index`` (whole numbers or a mask)."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        taken = {name: column[index] for name, column in columns.items() if isinstance(column, np.ndarray)}
        if "row" not in taken:
            rows = np.flatnonzero(index) if index.dtype == np.bool_ else index
            taken["row"] = rows.astype(np.int64, copy=False)
        return Trials(**taken, built_ids=self.built_ids)


class Mixture(NamedTuple):
    """The negatives of a set whose attacks have the share omega: two strata, and what a trial of each weighs.

    Given omega, FAR_omega = omega IAPMR + (1 - omega) FAR (Chingovska, Anjos and Marcel 2014) is a rate of false
    acceptance whose negatives weigh differently: an attack omega / attacks, a zero-effort impostor (1 - omega) /
    impostors. Multiplied by the denominator of omega and by the sizes of both, these are whole numbers, so the
    hull, the ties and every threshold are exact as always, and an EPSC at one omega is an EPC of such a set. A
    trial that weighs nothing is as if it were not there: at omega 0 and 1 the set is that of impostors, or of
    attacks, alone.
    """

    impostors: Trials
    attacks: Trials
    impostor_weight: int
    attack_weight: int

    @classmethod
    def of(cls, negative: Trials, omega: Fraction) -> Mixture:
        """Take the negatives of a set apart; ``omega`` lies between 0 and 1."""
        assert negative.attack is not None
        attack = negative.attack > 0
        impostors, attacks = (negative.take(np.flatnonzero(mask)) for mask in (~attack, attack))
        p, q = omega.numerator, omega.denominator
        weights = (q - p) * len(attacks), p * len(impostors)
        common = gcd(*weights)
        return cls(impostors, attacks, weights[0] // common, weights[1] // common)

    @property
    def whole(self) -> int:
        """What all negatives weigh together."""
        return self.impostor_weight * len(self.impostors) + self.attack_weight * len(self.attacks)

    @property
    def heaviest(self) -> float:
        """How many average trials the heaviest trial is worth."""
        trials = len(self.impostors) + len(self.attacks)
        return max(self.impostor_weight, self.attack_weight) * trials / self.whole

    def rejected(self, thresholds: Any) -> Counts:
        """Return what the negatives at or below each threshold weigh."""
        tn = [weight * part.rejected(thresholds) for part, weight in zip(self[:2], self[2:], strict=True)]
        return np.asarray(tn[0] + tn[1])

    def variance(self, thresholds: Any) -> Floats:
        """Return the variance of FAR_omega at each threshold, trials being independent."""
        variance = np.zeros(np.shape(thresholds))
        for part, weight in zip(self[:2], self[2:], strict=True):
            rate = 1 - part.rejected(thresholds) / len(part)
            variance += (weight * len(part) / self.whole) ** 2 * rate * (1 - rate) / len(part)
        return variance

    def weights(self, negative: Trials) -> Floats:
        """Return what each negative weighs, in average trials."""
        assert negative.attack is not None
        each = np.where(negative.attack > 0, float(self.attack_weight), float(self.impostor_weight))
        number = 1.0 if negative.number is None else negative.number
        return np.asarray(number * each * (len(negative) / self.whole))


def whole_weights(weights: ArrayLike, what: str, size: int | None = None) -> NDArray[np.int64]:
    """Return how often each row counts; weights that are no whole numbers are an error, with the reason.

    Each is small enough that sums cannot overflow.
    """
    try:
        given = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: every weight must be a whole number, how often a row counts") from None
    given = one_each(given, what, size)
    wrong = ~((given >= 0) & (given == np.rint(given)))
    if wrong.any():
        raise InputError(
            f"{what}: {given[wrong][0]:.6g} is no whole number from 0 up; a weight says how often a row counts: "
            "outcomes are counted, and an interval needs to know how many trials there are"
        )
    if given.size and given.max() > MOST_TRIALS:
        raise _too_heavy(f"{what}: one row counts {given.max():.3g} times")
    return given.astype(np.int64)


def _too_heavy(said: str) -> InputError:
    return InputError(f"{said}, and {MOST_TRIALS:.0e} is the most in all; divide the weights by a common factor")


def repeated(trials: Trials, weights: NDArray[np.int64] | None) -> Trials:
    """Return the trials, each as often as it counts; copies of a trial with an id have ids of their own.

    Examples
    --------
    >>> repeated(Trials(np.array([0.1, 0.7]), ids=np.array(["a", "b"])), np.array([2, 1])).trial.tolist()
    ['a', 'a (2)', 'b']
    """
    if weights is None:
        return trials
    if weights.sum() > MOST_TRIALS:
        raise _too_heavy(f"the weights add up to {weights.sum():.3g} trials")
    copies = trials.take(np.repeat(np.arange(weights.size), weights))
    if copies.trial is None:
        return copies
    number = np.arange(copies.trial.size) - np.repeat(np.cumsum(weights) - weights, weights)
    ids = [f"{name} ({copy + 1})" if copy else f"{name}" for name, copy in zip(copies.trial, number, strict=True)]
    return replace(copies, ids=np.array(ids))


def as_times(values: Iterable[Any], what: str) -> NDArray[np.datetime64]:
    """Return dates or times, in ISO form or as objects, as one column; those with a zone in UTC.

    Examples
    --------
    >>> as_times(["2024-01-01", "2024-01-01T12:00:00+02:00"], "date").astype(str).tolist()
    ['2024-01-01T00:00:00.000000', '2024-01-01T10:00:00.000000']
    """
    known: dict[Any, datetime] = {}
    listed = [value.item() if isinstance(value, np.str_) else value for value in values]
    for value in dict.fromkeys(listed):
        try:
            time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value).strip())
        except ValueError:
            shape = "write dates as 2024-01-31 or 2024-01-31T12:30"
            raise InputError(f"{what}: {str(value)!r} is no date; {shape}") from None
        known[value] = time if time.tzinfo is None else time.astimezone(UTC).replace(tzinfo=None)
    return np.array([known[value] for value in listed], dtype="datetime64[us]")


def as_amounts(values: ArrayLike, what: str, size: int | None = None) -> Floats:
    """Return amounts of money as one column: numbers from 0 up, none missing.

    Examples
    --------
    >>> as_amounts(["12.50", "0"], "amount").tolist()
    [12.5, 0.0]
    """
    try:
        given = np.asarray(unmasked(np.asanyarray(values)), dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what}: every amount must be a number, such as 12.50 (0 where an error is free)") from None
    given = one_each(given, what, size)
    wrong = ~((given >= 0) & (given <= MOST_AMOUNT))
    if wrong.any():
        first = given[wrong][0]
        said = "is missing" if np.isnan(first) else f"is {first:.6g}"
        raise InputError(f"{what}: an amount {said}; amounts are numbers from 0 to {MOST_AMOUNT:.0e}, none missing")
    return given + 0.0


def nan_error(source: str, missing: int, first: str | None = None) -> InputError:
    """Return the error for NaN scores without a policy; ``first`` says where the first one is, if rows have places."""
    where = f" (the first {first})" if first else ""
    scores = "1 score is" if missing == 1 else f"{missing} scores are"
    return InputError(
        f"{source}: {scores} NaN{where}; choose a policy ({argument('nan')}): "
        "'reject' counts them as rejected trials, 'drop' leaves them out"
    )


def as_floats(values: ArrayLike, name: str) -> Floats:
    """Return a column of scores as floats."""
    try:
        if type(values) is not np.ndarray and isinstance(values, np.ma.MaskedArray):
            values = np.where(np.ma.getmaskarray(values), np.nan, values.data)
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name}: every score must be a number ({error})") from None
    array = one_column(array)
    if array.ndim != 1:
        raise InputError(f"{name}: one column of scores is needed, not an array of shape {array.shape}")
    return array


def one_column(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of one column, of shape (n, 1), as one of n values; any other as it is."""
    return array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array


def one_each(array: NDArray[Any], what: str, size: int | None) -> NDArray[Any]:
    """Return a column that has a value for each score."""
    column = one_column(array)
    if column.ndim != 1 or (size is not None and column.size != size):
        raise InputError(f"{what}: {column.size} values for {size} scores")
    return column


def as_names(values: ArrayLike, name: str, size: int | None = None) -> NDArray[Any]:
    """Return a column of names, none of them missing."""
    array = one_each(unmasked(np.asanyarray(values)), name, size)
    missing = missing_entries(array)
    if missing.any():
        raise InputError(f"{name}: {missing.sum()} values are missing; every trial needs one")
    if array.dtype.kind == "O" and any("\0" in str(value) for value in array):
        raise InputError(f"{name}: a value holds a NUL character, which arrays of text cannot hold; remove it")
    return as_text(array, name) if array.dtype.kind in "OS" else array


def count_nan(scores: Floats) -> int:
    """Return how many scores are NaN."""
    return int(np.count_nonzero(np.isnan(scores)))


def codes_in_use(*columns: NDArray[Any] | None) -> NDArray[np.intp]:
    """Return the codes that columns hold, in ascending order; a column that is not there holds none.

    Examples
    --------
    >>> codes_in_use(np.array([3, 1, 3], dtype=np.int32), None).tolist()
    [1, 3]
    """
    present = [column for column in columns if column is not None and column.size]
    used = np.zeros(1 + max((int(column.max()) for column in present), default=-1), dtype=np.bool_)
    for column in present:
        used[column] = True  # codes are small whole numbers: marking them beats sorting them
    return np.flatnonzero(used)


def first_nan(*classes: Trials) -> int:
    """Return the row of the first NaN score."""
    rows: list[int] = []
    for trials in classes:
        where = np.flatnonzero(np.isnan(trials.score))
        rows.extend((where if trials.row is None else trials.row[where])[:1].tolist())
    return int(min(rows))


def settle(trials: Trials, nan: NanPolicy, lower_is_better: bool, *, ours: bool = False) -> Trials:
    """Apply the NaN policy and the direction; -0.0 becomes 0.0, so that equal scores have equal bits.

    ``ours`` says that no one else holds the array, so that it can be changed in place.
    """
    missing = 0 if nan == "error" else count_nan(trials.score)
    if missing and nan == "drop":
        trials, ours, missing = trials.take(~np.isnan(trials.score)), True, 0
    given, failed = trials.score, trials.failed
    score = given if ours else np.empty_like(given)
    np.add(np.negative(given, out=score) if lower_is_better else given, 0.0, out=score)
    if missing:
        failed = np.isnan(score)
        score[failed] = -np.inf
    score.setflags(write=False)
    return replace(trials, score=score, failed=failed)
