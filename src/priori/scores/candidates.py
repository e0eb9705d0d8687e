"""Candidates: the thresholds that can be chosen on a set of scores, one between any two neighbouring distinct scores.

A candidate is named by its two errors: ``fp`` negatives above it and ``fn`` positives at or below it. No two
candidates share both, since at least one score lies between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np

from priori.base.types import Counts, Floats, Index, Mask

#: The candidates' ``fp`` and ``fn``.
Errors = tuple[Counts, Counts]


class CutErrors(NamedTuple):
    """The errors at cuts, thresholds rising, and the sizes of the classes."""

    fp: Counts
    fn: Counts
    n_negatives: int
    n_positives: int


class Chooser(Protocol):
    """What a scan asks of the criterion that it looks for candidates for; ``alphas`` None means any alpha."""

    @property
    def name(self) -> str:
        """What people call it."""

    def promising(self, cuts: CutErrors, alphas: Sequence[Fraction] | None) -> Mask | None:
        """Return which bins between neighbouring cuts may hold a choice; None: all."""

    def winners(self, candidates: Candidates, alphas: Sequence[Fraction] | None) -> Errors | None:
        """Return those of some candidates that may be chosen among all; None where only all together decide it."""


class Candidates:
    """The candidates of a set, or as many of them as a criterion needs, always with the lowest and the highest.

    Thresholds rise along them. ``below`` and ``above`` are the distinct scores on either side of each; -inf and +inf
    beyond the ends.
    """

    def __init__(
        self, fp: Counts, fn: Counts, below: Floats, above: Floats, n_negatives: int, n_positives: int
    ) -> None:
        self.fp, self.fn, self.below, self.above = fp, fn, below, above
        self.n_negatives, self.n_positives = n_negatives, n_positives

    @classmethod
    def of(cls, values: Floats, tn: Counts, fn: Counts, n_negatives: int, n_positives: int) -> Candidates:
        """Return every candidate, from -inf and the distinct scores, ascending, and the trials at or below them."""
        return cls(n_negatives - tn, fn, values, np.append(values[1:], np.inf), n_negatives, n_positives)

    def every(self) -> Errors:
        """Return every candidate, from the lowest threshold to the highest."""
        return self.fp, self.fn

    def lowest(self) -> tuple[int, int]:
        """Return (fp, fn) of the threshold -inf: accept all but the trials whose score is -inf."""
        return int(self.fp[0]), int(self.fn[0])

    def per_negative(self) -> Errors:
        """Return, for each fp that can be reached, the candidate with the fewest fn: the lowest one. fp falls."""
        first = np.append(True, self.fp[1:] < self.fp[:-1])
        return self.fp[first], self.fn[first]

    def per_positive(self) -> Errors:
        """Return, for each fn that can be reached, the candidate with the fewest fp: the highest one. fn rises."""
        last = np.append(self.fn[1:] > self.fn[:-1], True)
        return self.fp[last], self.fn[last]

    def corners(self) -> Errors:
        """Return the undominated candidates: fn strictly rising, fp strictly falling.

        Only these can be optimal for a criterion that dislikes both errors.
        """
        return undominated(self.fp, self.fn)

    def thresholds(self, fp: Counts, fn: Counts) -> Floats:
        """Return the threshold of each candidate: the midpoint of its bin (a, b), or a where rounding leaves [a, b).

        Accept-all is ``-inf``, reject-all ``+inf``.
        """
        index = self._index(fp, fn)
        return thresholds_between(self.below[index], self.above[index], (fp == 0) & (fn == self.n_positives))

    def only(self, fp: Counts, fn: Counts) -> Candidates:
        """Return the candidates with these errors, each once."""
        return self._take(np.unique(self._index(fp, fn)))

    def _index(self, fp: Counts, fn: Counts) -> Index:
        return np.searchsorted(self.fn - self.fp, fn - fp)  # rises with every rejected trial, so it names them

    def _take(self, index: Index) -> Candidates:
        fp, fn, below, above = self.fp[index], self.fn[index], self.below[index], self.above[index]
        return Candidates(fp, fn, below, above, self.n_negatives, self.n_positives)


def joined(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several parts of one set as one."""
    columns = zip(*((part.fp, part.fn, part.below, part.above) for part in parts), strict=True)
    fp, fn, below, above = (np.concatenate(column) for column in columns)
    _, first = np.unique(fn - fp, return_index=True)
    return Candidates(fp, fn, below, above, parts[0].n_negatives, parts[0].n_positives)._take(first)


def thresholds_between(below: Floats, above: Floats, rejects_all: Mask) -> Floats:
    """Return the thresholds between neighbouring scores; see `Candidates.thresholds`."""
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
