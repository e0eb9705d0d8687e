"""Table: a set of scores that lives elsewhere, and can stand where a `Scores` stands."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from priori.base.errors import OptionError
from priori.base.types import Floats
from priori.decisions.criteria import Criterion
from priori.decisions.outcomes import Outcomes
from priori.decisions.shortlist import Shortlist
from priori.engines.base import Engine, Tally, changed
from priori.engines.binning import narrow_cuts
from priori.engines.cells import Histogram
from priori.engines.explorer import CELLS, Explorer
from priori.engines.streaming import Streaming
from priori.scores import Names, Scores, Trials
from priori.scores.remote import Remote

__all__ = ["Table"]


#: The most that a rate may be off where cells stand in for trials.
BOUND = 1e-4
#: Bytes that a trial needs in memory while it is resampled.
PER_TRIAL = 128


class Table(Remote):
    """The trials of one system on one set, in files, a database or a cluster. Made by `priori.scan`.

    ``memory`` (bytes) bounds what is fetched at a time, ``cells`` how many cells are counted in.
    """

    def __init__(self, engine: Engine, *, memory: int = 1 << 30, cells: int = CELLS) -> None:
        self.engine = engine
        self.memory = memory
        self.explorer = Explorer(engine, memory, cells)
        self._stand_ins: tuple[Any, list[Scores]] | None = None
        if isinstance(engine, Streaming):
            engine.retain = memory // 8

    # -- what it shares with Scores ----------------------------------------------------------------------

    @property
    def source(self) -> str:
        """Where the trials are."""
        return self.engine.source

    @property
    def backend(self) -> str | None:
        """The dataframe library the trials came from, if any."""
        return self.engine.backend

    @property
    def format(self) -> str | None:
        """The file format, if any."""
        return self.engine.format

    @property
    def histogram(self) -> Histogram:
        """The counts in cells."""
        return self.explorer.histogram

    @property
    def negative(self) -> Trials:
        """Stands for the negative trials; has their number."""
        return cast(Trials, _Class(self, "negative"))

    @property
    def positive(self) -> Trials:
        """Stands for the positive trials; has their number."""
        return cast(Trials, _Class(self, "positive"))

    @property
    def nan_rejected(self) -> int:
        """How many NaN scores count as rejected trials."""
        return self.histogram.nan

    @property
    def has_users(self) -> bool:
        """Whether the claimed identity of each trial is known."""
        return self.engine.has_users

    @property
    def has_identities(self) -> bool:
        """Whether both identities are used: not out of memory."""
        return False

    @property
    def leaves_out_probes(self) -> bool:
        """Whether the real identity of each trial is there, but not used."""
        return self.engine.has_probes and self.has_users

    @property
    def users(self) -> Names | None:
        """The users (claimed identities), in order."""
        return self.engine.users() if self.has_users else None

    @property
    def n_users(self) -> int:
        """How many users there are; 0 when unknown."""
        return 0 if self.users is None else len(self.users)

    def __len__(self) -> int:
        return self.histogram.negatives + self.histogram.positives

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {type(self.engine).__name__.lower()})"

    def close(self) -> None:
        """Close what was opened for this table, and remove temporary files."""
        self.engine.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def begin(self) -> None:
        """Start the first scan now, in a thread of its own, where nobody watches its progress."""
        if self.engine.alone and self.engine.progress is None:
            self.explorer.begin()

    # -- thresholds and counts ---------------------------------------------------------------------------

    def shortlist(self, criterion: Criterion, alphas: Sequence[Fraction] | None) -> Shortlist:
        """Return the candidates that the criterion may choose at these alphas (None: at any)."""
        return self.explorer.shortlist(criterion, alphas)

    def expect(self, thresholds: ArrayLike) -> None:
        """Say that counts at these thresholds will be asked for, so that one scan can serve both."""
        self.explorer.expect(thresholds)

    def count(self, thresholds: ArrayLike) -> Outcomes:
        """Count the outcomes at thresholds, exactly; a scan, unless the scores beside them are known already."""
        return self.explorer.count(thresholds)

    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair."""
        return self.explorer.pairs_in_order()

    # -- what needs all trials ---------------------------------------------------------------------------

    @cached_property
    def loaded(self) -> Scores:
        """All the trials, in memory, if they fit."""
        needed = len(self) * PER_TRIAL
        if needed > self.memory:
            raise OptionError(
                f"{self.source}: this needs all {len(self)} trials in memory ({needed // 10**6} MB; "
                f"{self.memory // 10**6} MB are given); raise --memory (memory=), or ask for what counts can answer: a "
                "curve at given alphas, its band with thresholds fixed, a paired comparison, a ROC at given points"
            )
        return self.engine.load()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Scores, name):
            raise AttributeError(f"a Table has no {name!r}")
        return getattr(self.loaded, name)

    # -- for the bootstrap -------------------------------------------------------------------------------

    def stand_ins(self, others: Sequence[Any], edges: Sequence[Floats], *, by_user: bool) -> list[Scores]:
        """Return sets that hold, between the edges of each system, as many trials as this and paired others do.

        One scan, or one join of two tables, which is remembered: a band asks more than once.
        """
        key = (by_user, tuple(id(other) for other in others), tuple(edge.tobytes() for edge in edges))
        if self._stand_ins is None or self._stand_ins[0] != key:
            negative, positive = self._tally(others, edges, by_user)
            users = self.users if by_user else None
            sets = [
                Scores(_trials(negative, s, edge), _trials(positive, s, edge), users, source=self.source)
                for s, edge in enumerate(edges)
            ]
            self._stand_ins = key, sets
        return self._stand_ins[1]

    def same_trials(self, other: Any) -> bool:
        """Raise an error unless another system has the same trials; return whether its users are the same too."""
        return self.engine.same_trials(other.engine)

    def _tally(self, others: Sequence[Any], edges: Sequence[Floats], by_user: bool) -> tuple[Tally, Tally]:
        """Count between edges: the negatives, the positives."""
        if not others and not by_user:
            at = self.count(edges[0])
            return _by_gap(at.tn, len(self.negative)), _by_gap(at.fn, len(self.positive))
        if others:
            (other,) = others
            found = self.engine.tally_pairs(other.engine, (edges[0], edges[1]), by_user=by_user)
        else:
            found = self.engine.tally(edges[0], by_user=by_user)
        if [int(tally.number.sum()) for tally in found] != [len(self.negative), len(self.positive)]:
            raise changed(self.source)
        return found

    def in_memory(self, *, by_user: bool, paired: bool = False) -> tuple[Scores, str | None]:
        """Return all the trials if the memory given holds them, else trials in narrow cells in their place.

        No rate at any threshold then differs by more than `BOUND` from the exact one; the text says so.
        """
        if len(self) * PER_TRIAL <= self.memory:
            return self.loaded, None
        if paired:
            raise OptionError(
                f"{self.source}: to redraw the development scores of paired systems, the {len(self)} trials must be "
                f"in memory ({len(self) * PER_TRIAL // 10**6} MB; {self.memory // 10**6} MB are given): raise --memory "
                "(memory=), or keep the thresholds fixed (--resample test, resample='test')"
            )
        cuts, error = narrow_cuts(self.explorer, BOUND)
        (found,) = self.stand_ins([], [cuts], by_user=by_user)
        return found, (
            f"{self.source}: redrawn in {cuts.size + 1} cells of scores: no rate at any threshold is off by more "
            f"than {error:.1e}"
        )


class _Class:
    """The trials of one class of a table: their number, and whatever else is asked once they are all in memory."""

    def __init__(self, table: Table, name: str) -> None:
        self._table, self._name = table, name

    def __len__(self) -> int:
        return int(getattr(self._table.histogram, f"{self._name}s"))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(getattr(self._table.loaded, self._name), name)


def _by_gap(rejected: NDArray[np.int64], size: int) -> Tally:
    number = np.diff(rejected, prepend=0, append=size)
    gap = np.flatnonzero(number)
    return Tally(gap[None, :], None, number[gap])


def _trials(tally: Tally, system: int, edges: Floats) -> Trials:
    """Return trials that lie in the gaps of a tally: a gap holds the edge above it, the last one +inf."""
    score = np.append(edges, np.inf)[tally.gap[system]]
    user = None if tally.user is None else tally.user.astype(np.int32)
    return Trials(score, user, number=tally.number)
