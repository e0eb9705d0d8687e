"""Outcomes: whole-number counts of TP, FP, TN, FN at thresholds. The one place where trials are counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError, short
from priori.base.types import Counts
from priori.scores import ScoreSet
from priori.scores.score_set import as_score_set, rejected_of


@dataclass(frozen=True)
class Outcomes:
    """Counts of the four outcomes (Table 1 of the papers), one entry per threshold.

    The counts are whole numbers; every rate is divided once, from them.
    """

    tp: Counts
    fp: Counts
    tn: Counts
    fn: Counts

    @classmethod
    def from_errors(cls, fp: ArrayLike, fn: ArrayLike, *, negatives: int, positives: int) -> Outcomes:
        """Complete the four counts from the two errors and the two class sizes."""
        fp_ = np.asarray(fp, dtype=np.int64)
        fn_ = np.asarray(fn, dtype=np.int64)
        return cls(tp=positives - fn_, fp=fp_, tn=negatives - fp_, fn=fn_)

    @property
    def positives(self) -> Counts:
        """Trials of the positive class: TP + FN."""
        return self.tp + self.fn

    @property
    def negatives(self) -> Counts:
        """Trials of the negative class: FP + TN."""
        return self.fp + self.tn

    def __len__(self) -> int:
        return int(np.size(self.fp))

    def __getitem__(self, index: Any) -> Outcomes:
        return Outcomes(self.tp[index], self.fp[index], self.tn[index], self.fn[index])

    def to_dict(self) -> dict[str, Any]:
        """Return plain lists (or numbers, for one threshold) by name."""
        return {name: getattr(self, name).tolist() for name in ("tp", "fp", "tn", "fn")}


def as_threshold(value: Any) -> float:
    """Return a threshold as a number; NaN is none: everything would be rejected without a word."""
    try:
        threshold = float(value)
    except (TypeError, ValueError):
        threshold = math.nan
    if math.isnan(threshold):
        raise _no_threshold(value)
    return threshold


def _no_threshold(value: Any) -> OptionError:
    return OptionError(f"a threshold is a number (inf and -inf are), not {short(repr(value))}")


def count(scores: Any, thresholds: ArrayLike) -> Outcomes:
    """Count the outcomes of accepting exactly the trials with ``score > threshold`` (Eq. 1).

    Examples
    --------
    >>> from priori import Scores
    >>> scores = Scores.from_arrays(negatives=[0.1, 0.4], positives=[0.3, 0.8])
    >>> count(scores, [0.35]).to_dict()
    {'tp': [1], 'fp': [1], 'tn': [1], 'fn': [1]}
    """
    return count_all([as_score_set(scores)], [thresholds])[0]


def count_all(sets: Sequence[ScoreSet], thresholds: Sequence[ArrayLike]) -> list[Outcomes]:
    """Count the same on several sets, each at its own thresholds."""
    if any(np.isnan(np.asarray(own, dtype=float)).any() for own in thresholds):
        raise _no_threshold(math.nan)
    return [
        Outcomes(tp=np.asarray(scores.n_positives - fn), fp=np.asarray(scores.whole_negatives - tn), tn=tn, fn=fn)
        for scores, (tn, fn) in zip(sets, rejected_of(sets, thresholds), strict=True)
    ]
