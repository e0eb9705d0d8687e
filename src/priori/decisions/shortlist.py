"""Shortlist: the candidates of a set too large to hold that a criterion may choose, in place of the set itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Counts, Floats

__all__ = ["Shortlist", "joined"]


@dataclass(frozen=True)
class Shortlist:
    """Some of the candidates of a set: all that can be chosen, and always the lowest and the highest.

    Thresholds rise along it. ``below`` and ``above`` are the distinct scores on either side of each candidate.
    Of the trials only the numbers are known: ``negative`` and ``positive`` have a length and nothing else.
    """

    fp: Counts
    fn: Counts
    below: Floats
    above: Floats
    negative: range
    positive: range

    def take(self, index: NDArray[Any]) -> Shortlist:
        """Return the candidates at ``index``."""
        return Shortlist(
            self.fp[index], self.fn[index], self.below[index], self.above[index], self.negative, self.positive
        )

    def first_of_each_fp(self) -> Shortlist:
        """Return, of the candidates with equal fp, the lowest threshold."""
        return self.take(np.append(True, self.fp[1:] < self.fp[:-1]))

    def last_of_each_fn(self) -> Shortlist:
        """Return, of the candidates with equal fn, the highest threshold."""
        return self.take(np.append(self.fn[1:] > self.fn[:-1], True))

    def at(self, fp: Counts, fn: Counts) -> Shortlist:
        """Return the candidates with these errors, each once."""
        return self.take(np.unique(self._place(fp, fn)))

    def neighbours(self, fp: Counts, fn: Counts) -> tuple[Floats, Floats]:
        """Return the scores on either side of the candidates with these errors."""
        place = self._place(fp, fn)
        return self.below[place], self.above[place]

    def _place(self, fp: Counts, fn: Counts) -> NDArray[np.intp]:
        return np.searchsorted(self.fn - self.fp, fn - fp)  # rises with every rejected trial, so it names them


def joined(parts: Sequence[Shortlist]) -> Shortlist:
    """Return the candidates of several shortlists of one set as one."""
    fp, fn, below, above = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("fp", "fn", "below", "above")
    )
    _, first = np.unique(fn - fp, return_index=True)
    return Shortlist(fp, fn, below, above, parts[0].negative, parts[0].positive).take(first)
