"""An engine over scores in memory: tests ask it what they would ask of files."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from functools import cached_property, partial

import numpy as np

from priori.base.processors import processors
from priori.base.types import Floats
from priori.engines.batch_counting import ROWS, Batch, Owner, Scan, Streaming, settled
from priori.engines.engine import Survey
from priori.scores import Names, Scores


class Memory(Streaming):
    """Answers from a `Scores` that is in memory, by the same algorithm as from anywhere else."""

    def __init__(self, scores: Scores) -> None:
        self.scores = scores
        self.source = scores.source
        self.backend = scores.backend
        self.format = scores.format
        self.has_users = scores.has_users
        self.nan = scores.nan_rejected

    def survey(self) -> Survey:
        each = [
            trials.score[:: max(1, len(trials) // 32768)] for trials in (self.scores.negative, self.scores.positive)
        ]
        sample = np.concatenate(each)
        return Survey(len(self.scores), sample[np.isfinite(sample)])

    @cached_property
    def _names(self) -> Names:
        if self.scores.users is None:
            return Names(np.empty(0))
        used = [trials.user for trials in (self.scores.negative, self.scores.positive) if trials.user is not None]
        return Names(self.scores.users.values[np.unique(np.concatenate(used))])

    def load(self) -> Scores:
        return self.scores

    def load_between(self, cuts: Floats, roles: Sequence[str], limit: int) -> Scores:
        raise NotImplementedError

    def pieces(self, *, by: Owner = None) -> list[Scan]:
        count = min(processors(), -(-len(self.scores) // ROWS))
        return [partial(self._scan, by == "user", part, count) for part in range(count)]

    def _scan(self, user: bool, part: int, parts: int) -> Generator[Batch, None, None]:
        """Yield one of some equal parts of the trials of each class."""
        used = None
        if user:
            used = np.searchsorted(self.users().values, self.scores.users.values)  # type: ignore[union-attr]
        for own, trials in enumerate((self.scores.negative, self.scores.positive)):
            first, last = (len(trials) * edge // parts for edge in (part, part + 1))
            for start in range(first, last, ROWS):
                some = slice(start, min(start + ROWS, last))
                score = trials.score[some]
                codes = None if used is None or trials.user is None else used[trials.user[some]]
                yield settled(score, np.full(score.size, own, dtype=np.uint8), codes, "error")[0]
