"""Candidates: the thresholds that can be chosen on a set of scores, one per gap between distinct scores.

A candidate is named by its two errors: ``fp`` negatives above it and ``fn`` positives at or below it. No two
candidates share both, since at least one score lies between them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from priori.base.types import Counts, Floats, Index, Mask
from priori.scores.sorting import places_of

#: The candidates' ``fp`` and ``fn``.
Errors = tuple[Counts, Counts]


class Edges(NamedTuple):
    """The errors at the edges of cells of scores, thresholds rising, and the sizes of the classes."""

    fp: Counts
    fn: Counts
    n_negatives: int
    n_positives: int


class Chooser(Protocol):
    """What a scan asks of the criterion that it looks for candidates for; ``alphas`` None means any alpha."""

    @property
    def name(self) -> str:
        """What people call it."""

    def promising(self, edges: Edges, alphas: Sequence[Fraction] | None) -> Mask | None:
        """Return which cells between neighbouring edges may hold a choice; None: all."""

    def winners(self, candidates: Candidates, alphas: Sequence[Fraction] | None) -> Errors | None:
        """Return those of some candidates that may be chosen among all; None where only all together can tell."""


class Candidates(ABC):
    """The candidates of a set, or as many of them as a criterion needs."""

    def __init__(self, n_negatives: int, n_positives: int) -> None:
        self.n_negatives, self.n_positives = n_negatives, n_positives

    @abstractmethod
    def every(self) -> Errors:
        """Return every candidate, from the lowest threshold to the highest."""

    def lowest(self) -> tuple[int, int]:
        """Return (fp, fn) of the threshold -inf: accept all but the trials whose score is -inf."""
        fp, fn = self.every()
        return int(fp[0]), int(fn[0])

    @abstractmethod
    def per_negative(self) -> Errors:
        """Return, for each fp that can be reached, the candidate with the fewest fn: the lowest one. fp falls."""

    @abstractmethod
    def per_positive(self) -> Errors:
        """Return, for each fn that can be reached, the candidate with the fewest fp: the highest one. fn rises."""

    @abstractmethod
    def neighbours(self, fp: Counts, fn: Counts) -> tuple[Floats, Floats]:
        """Return the distinct scores on either side of each candidate; -inf and +inf beyond the ends."""

    def corners(self) -> Errors:
        """Return the undominated candidates: fn strictly rising, fp strictly falling.

        Only these can be optimal for a criterion that dislikes both errors. The smaller class is looked up in the
        larger.
        """
        return undominated(*(self.per_positive() if self.n_positives <= self.n_negatives else self.per_negative()))

    def thresholds(self, fp: Counts, fn: Counts) -> Floats:
        """Return the threshold of each candidate: the midpoint of its gap (a, b), or a where rounding leaves [a, b).

        Accept-all is ``-inf``, reject-all ``+inf``.
        """
        return thresholds_between(*self.neighbours(fp, fn), (fp == 0) & (fn == self.n_positives))


class Gaps(Candidates):
    """All the candidates of two classes of sorted scores, looked up when they are asked for."""

    def __init__(self, negatives: Floats, positives: Floats) -> None:
        super().__init__(negatives.size, positives.size)
        self.negatives, self.positives = negatives, positives

    def every(self) -> Errors:
        values = np.concatenate([self.negatives, self.positives])
        values.sort(kind="stable")  # two ascending runs: this is a merge
        values = values[first_of_each(values)]
        if values[0] != -np.inf:
            values = np.insert(values, 0, -np.inf)
        return self._errors(values)

    def _errors(self, thresholds: Any) -> Errors:
        fp = self.n_negatives - np.searchsorted(self.negatives, thresholds, side="right")
        fn = np.searchsorted(self.positives, thresholds, side="right")
        return np.asarray(fp, dtype=np.int64), np.asarray(fn, dtype=np.int64)

    def lowest(self) -> tuple[int, int]:
        fp, fn = self._errors(-np.inf)
        return int(fp), int(fn)

    def per_negative(self) -> Errors:
        last = np.append(first_of_each(self.negatives)[1:], self.n_negatives) - 1
        fp = self.n_negatives - 1 - last
        fn = places_of(self.positives, self.negatives[last], "right")
        if self.negatives[0] != -np.inf:
            fp_all, fn_all = self.lowest()
            fp, fn = np.insert(fp, 0, fp_all), np.insert(fn, 0, fn_all)
        return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)

    def per_positive(self) -> Errors:
        first = first_of_each(self.positives)
        if self.positives[0] == -np.inf:  # nothing lies below it
            first = first[1:]
        fp = self.n_negatives - places_of(self.negatives, self.positives[first], "left")
        fp, fn = np.append(fp, 0), np.append(first, self.n_positives)
        return fp.astype(np.int64, copy=False), fn.astype(np.int64, copy=False)

    def neighbours(self, fp: Counts, fn: Counts) -> tuple[Floats, Floats]:
        negatives, positives, tn = self.negatives, self.positives, self.n_negatives - fp
        below = np.maximum(_scores_at(negatives, tn - 1, -np.inf), _scores_at(positives, fn - 1, -np.inf))
        return below, np.minimum(_scores_at(negatives, tn, np.inf), _scores_at(positives, fn, np.inf))


class Shortlist(Candidates):
    """Some of the candidates of a set: all that can be chosen, and always the lowest and the highest.

    Thresholds rise along it. ``below`` and ``above`` are the distinct scores on either side of each candidate.
    """

    def __init__(
        self, fp: Counts, fn: Counts, below: Floats, above: Floats, n_negatives: int, n_positives: int
    ) -> None:
        super().__init__(n_negatives, n_positives)
        self.fp, self.fn, self.below, self.above = fp, fn, below, above

    def every(self) -> Errors:
        return self.fp, self.fn

    def per_negative(self) -> Errors:
        first = np.append(True, self.fp[1:] < self.fp[:-1])
        return self.fp[first], self.fn[first]

    def per_positive(self) -> Errors:
        last = np.append(self.fn[1:] > self.fn[:-1], True)
        return self.fp[last], self.fn[last]

    def neighbours(self, fp: Counts, fn: Counts) -> tuple[Floats, Floats]:
        index = self._index(fp, fn)
        return self.below[index], self.above[index]

    def only(self, fp: Counts, fn: Counts) -> Shortlist:
        """Return the candidates with these errors, each once."""
        return self._take(np.unique(self._index(fp, fn)))

    def _index(self, fp: Counts, fn: Counts) -> Index:
        return np.searchsorted(self.fn - self.fp, fn - fp)  # rises with every rejected trial, so it names them

    def _take(self, index: Index) -> Shortlist:
        fp, fn, below, above = self.fp[index], self.fn[index], self.below[index], self.above[index]
        return Shortlist(fp, fn, below, above, self.n_negatives, self.n_positives)


def joined(parts: Sequence[Shortlist]) -> Shortlist:
    """Return the candidates of several shortlists of one set as one."""
    columns = zip(*((part.fp, part.fn, part.below, part.above) for part in parts), strict=True)
    fp, fn, below, above = (np.concatenate(column) for column in columns)
    _, first = np.unique(fn - fp, return_index=True)
    return Shortlist(fp, fn, below, above, parts[0].n_negatives, parts[0].n_positives)._take(first)


def thresholds_between(below: Floats, above: Floats, rejects_all: Mask) -> Floats:
    """Return the thresholds of gaps between neighbouring scores; see `Candidates.thresholds`."""
    with np.errstate(invalid="ignore"):
        middle = 0.5 * below + 0.5 * above
    threshold = np.where((below <= middle) & (middle < above), middle, below)
    # Where every score is -inf, the lowest threshold already rejects all of them.
    return np.where(rejects_all & (below > -np.inf), np.inf, threshold)


def first_of_each(ordered: Floats) -> Index:
    """Return the index of the first of each run of equal values."""
    return np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))


def undominated(fp: Counts, fn: Counts) -> Errors:
    """Keep of equal fp the smallest fn (the first), of equal fn the smallest fp (the last)."""
    keep = np.append(True, fp[1:] < fp[:-1])
    fp, fn = fp[keep], fn[keep]
    keep = np.append(fn[:-1] < fn[1:], True)
    return fp[keep], fn[keep]


def _scores_at(ordered: Floats, index: Counts, beyond: float) -> Floats:
    inside = (index >= 0) & (index < ordered.size)
    return np.where(inside, ordered[np.where(inside, index, 0)], beyond)
