"""A panel over scores in memory: tests ask it what they would ask of files."""

from __future__ import annotations

from collections.abc import Generator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OneClassError
from priori.engines.counting import By, Owned, Rows
from priori.engines.panel import Panel
from priori.engines.sql import Known, Labels
from priori.scores import Names, Scores

#: Rows in a batch.
ROWS = 1 << 17


class Memory(Panel):
    """Answers from a `Scores` that is in memory, by the same algorithm as from anywhere else."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.sources = [scores.source]
        self.backend = scores.backend
        self.format = scores.format
        self.has_users = scores.has_users
        self.columns = {"score": "score", **({"user": "user"} if scores.has_users else {})}

    labels = Labels("", [1])

    @cached_property
    def _sizes(self) -> tuple[int, int]:
        return len(self.scores.negative), len(self.scores.positive)

    def known(self, system: int) -> Known:
        sizes = self._sizes
        for name, number in zip(("negative", "positive"), sizes, strict=True):
            if not number:
                raise OneClassError(f"no {name} trial; both classes are needed")
        return Known(*sizes, self.scores.nan_rejected, -np.inf, np.inf)

    def survey(self, system: int = 0) -> tuple[int, NDArray[Any]]:
        each = [
            trials.score[:: max(1, len(trials) // 32768)] for trials in (self.scores.negative, self.scores.positive)
        ]
        sample = np.concatenate(each)
        return len(self.scores), sample[np.isfinite(sample)]

    def dtype(self, system: int) -> Any:
        return np.float64

    def names(self, system: int = 0) -> Names:
        if self.scores.users is None:
            return Names(np.empty(0))
        used = [trials.user for trials in (self.scores.negative, self.scores.positive) if trials.user is not None]
        return Names(self.scores.users.values[np.unique(np.concatenate(used))])

    def load(self, system: int = 0) -> Scores:
        return self.scores

    def owned(self, by: By, limit: int | None = None) -> Owned:
        return Owned(len(self.names()), {"user": self.names().values}) if by else Owned()

    def batches(self, systems: tuple[int, ...], by: By) -> Generator[Rows, None, None]:
        used = None
        if by:
            used = np.searchsorted(self.names().values, self.scores.users.values)  # type: ignore[union-attr]
        for own, trials in enumerate((self.scores.negative, self.scores.positive)):
            for start in range(0, len(trials), ROWS):
                some = slice(start, start + ROWS)
                score = trials.score[some]
                codes = None if used is None or trials.user is None else used[trials.user[some]]
                yield Rows({0: score}, np.full(score.size, own, dtype=np.uint8), codes, "error")
