"""Table: a set of scores that stays where it is: one system of a panel, which answers by scans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError, argument
from priori.base.types import Counts, Floats, Ints, Mask
from priori.engines import looks
from priori.engines.counting import Count
from priori.engines.panel import LEAST_ROOM, Panel, changed
from priori.scores import Names, Scores, ScoreSet
from priori.scores.candidates import Candidates, Chooser
from priori.scores.histogram import BINS, NOTHING, Histogram
from priori.scores.labels import unnamed
from priori.scores.score_set import NarrowCuts, Role, TooManyEntries, mixed_sets
from priori.scores.sorting import at_most

#: Bytes that a fetched score needs while it is sorted and matched.
PER_SCORE = 96
#: Bytes that a trial needs in memory while it is resampled.
PER_TRIAL = 128
#: Bytes that an entry, which stands for several trials, needs.
PER_ENTRY = 64
#: Bins that hold more of a class say too little.
COARSEST = 0.05
#: With so few cuts, trials that failed to acquire have entries of their own; thresholds are known then.
FEW_CUTS = 16


class Table(ScoreSet):
    """The trials of one system on one set, in files, a database or a cluster. Made by `priori.scan`.

    ``memory`` (bytes) bounds what is fetched at a time, ``bins`` how many bins are counted in. Like `Scores` it has
    a ``source``, and a ``backend`` and a ``format`` where the trials came from a dataframe library or from files.
    """

    scanned = True

    def __init__(self, engine: Panel, *, memory: int = 1 << 30, bins: int = BINS, system: int = 0) -> None:
        self.engine, self.system, self.memory = engine, system, memory
        self.source, self.backend, self.format = engine.sources[system], engine.backend, engine.format
        self.distances = engine.settings.lower_is_better
        engine.memory = memory * len(engine.sources)
        #: How many scores are fetched at a time, and how many bins are counted in.
        self.limit, self.most_bins = max(1, memory // PER_SCORE), bins
        #: The first count; the scores known, and which bins hold no others; whether many scores are equal.
        self.counted: Histogram | None = None
        self.known, self.looked, self.tied = NOTHING, np.zeros(0, dtype=np.bool_), False
        self._expected: Floats = np.empty(0)
        self._at: tuple[Floats, Counts, Counts] = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        self._narrow: dict[float, NarrowCuts] = {}
        #: The last counts, as many as a quarter of the memory holds: more than one asks for the same.
        self._entries: dict[Any, list[Scores]] = {}

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def n_negatives(self) -> int:
        return self.engine.known(self.system).negatives

    @property
    def n_positives(self) -> int:
        return self.engine.known(self.system).positives

    @property
    def nan_rejected(self) -> int:
        return self.engine.known(self.system).nan if self.engine.settings.nan == "reject" else 0

    @property
    def has_users(self) -> bool:
        return self.engine.has_users

    @property
    def has_identities(self) -> bool:
        return False  # users are counted by, and both identities only where that is asked for

    @property
    def leaves_out_probes(self) -> bool:
        return self.has_users and "probe_user" in self.engine.columns

    @property
    def nobody(self) -> tuple[str, ...]:
        return () if self.leaves_out_probes or not self.has_users else unnamed(self.engine.words)

    @property
    def users(self) -> Names | None:
        return self.engine.names(self.system) if self.has_users else None

    @property
    def n_users(self) -> int:
        return 0 if self.users is None else len(self.users)

    @property
    def fits(self) -> bool:
        """Whether all the trials fit into the memory given."""
        return len(self) * PER_TRIAL <= self.memory

    def refuse_attackers(self) -> None:
        self.engine.refuse_attackers()

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {type(self.engine).__name__.lower()})"

    def close(self) -> None:
        """Close what was opened for this table, and remove temporary files."""
        self.engine.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- what is asked -----------------------------------------------------------------------------------

    def expect(self, thresholds: ArrayLike) -> None:
        self._expected = np.union1d(self._expected, np.asarray(thresholds, dtype=np.float64))

    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Candidates:
        return looks.candidates_of([self], [chooser], [alphas])[0]

    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        return looks.rejected_of([self], [thresholds])[0]

    def pairs_in_order(self, rough: bool = False) -> int:
        return self.histogram.pairs_in_order() if rough else looks.pairs_in_order_of([self])[0]

    candidates_of = staticmethod(looks.candidates_of)
    rejected_of = staticmethod(looks.rejected_of)
    pairs_in_order_of = staticmethod(looks.pairs_in_order_of)

    # -- what is known from looks --------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in bins: the first count."""
        looks.begin([self])
        assert self.counted is not None
        return self.counted

    @property
    def nothing_to_see(self) -> Mask:
        """The bins whose counts are enough: those without scores, and those of infinite ones."""
        empty = np.asarray(self.histogram.rows == 0)
        empty[[0, -1]] = True
        return empty

    def _bins_of(self, thresholds: Floats) -> Ints:
        """Return the bins of the first count that thresholds lie in."""
        grid = self.histogram.grid
        return grid.bins(at_most(thresholds, grid.dtype))

    def bins_expected(self) -> Mask:
        """Return the bins that hold a threshold of which counts will be asked, and were not looked into."""
        bins = np.zeros(self.histogram.grid.size, dtype=np.bool_)
        bins[self._bins_of(self._expected)] = True
        return bins & ~self.looked

    def not_counted(self, thresholds: Floats) -> Floats:
        """Return those of some thresholds at which no counts are known, ascending."""
        new = np.setdiff1d(thresholds, self._at[0])
        if self.counted is None or not new.size or not self.looked[bins := self._bins_of(new)].all():
            return new
        value, owner = self.known.value, self.counted.grid.bins(self.known.value)
        first, last = np.searchsorted(owner, bins, side="left"), np.searchsorted(value, new, side="right")
        outer = (bins == 0) | (bins == self.counted.grid.size - 1)
        counts = []
        for column, before in zip((self.known.negative, self.known.positive), self.counted.before, strict=True):
            running = np.append(0, np.cumsum(column))
            within = np.maximum(running[last] - running[first], 0)
            counts.append(np.where(outer, before[bins + 1], before[bins] + within))
        self.remember(new, *counts)
        return np.empty(0)

    def remember(self, thresholds: Floats, tn: Counts, fn: Counts) -> None:
        """Keep the counts at some thresholds: more is asked of the same ones."""
        known, first = np.unique(np.concatenate([self._at[0], thresholds]), return_index=True)
        counts = (np.concatenate(both)[first] for both in zip(self._at[1:], (tn, fn), strict=True))
        self._at = known, next(counts), next(counts)

    def remembered(self, thresholds: Floats) -> tuple[Counts, Counts]:
        """Return the counts at thresholds that are known."""
        known, tn, fn = self._at
        number = np.searchsorted(known, thresholds)
        return tn[number], fn[number]

    # -- entries in place of trials ------------------------------------------------------------------------

    @staticmethod
    def narrow_cuts_of(tables: Sequence[Table], bound: float, by: Sequence[Role] = ()) -> list[NarrowCuts]:
        """Return cuts of several tables between which lies about a share of either class, or what memory allows."""
        wanted = [(each, each._finest(bound, by)) for each in tables]
        new = [(each, finest) for each, finest in dict.fromkeys(wanted) if finest not in each._narrow]
        found = looks.narrow_cuts_of([each for each, _ in new], [finest for _, finest in new])
        for (each, finest), cuts in zip(new, found, strict=True):
            each._narrow[finest] = cuts
        return [each._narrow[finest] for each, finest in wanted]

    def _finest(self, bound: float, by: Sequence[Role]) -> float:
        """Return the bound, or the finest that counts by these roles fit in memory with."""
        # Counts have 16 bytes, and there are 2.5 times as many bins as the bound asks for, in each class.
        people = self.n_users if self.has_users and {"user", "probe_user"} & {*by} else 1
        bound = max(bound, looks.FINEST, 80 * people / max(self.memory // 8, LEAST_ROOM))
        if bound > COARSEST:
            raise self._too_many(self.memory // PER_ENTRY, paired=False)
        return bound

    def parts_at_most(self, number: int, cuts: int) -> int:
        """Return how many random parts of the trials, of so many, can be counted between so many cuts."""
        return min(number, max(self.memory // 8, LEAST_ROOM) // (16 * (cuts + 1)))

    def count(
        self, cuts: Sequence[ArrayLike], by: Sequence[Role] | int = (), others: Sequence[ScoreSet] = ()
    ) -> list[Scores]:
        return _counted([(self, cuts, _tables(others))], by)[0]

    @staticmethod
    def counts_of(tables: Sequence[Table], cuts: Sequence[ArrayLike], by: Sequence[Role] | int) -> list[Scores]:
        """Return the counts of several tables, each between its own cuts."""
        return [
            counted for (counted,) in _counted([(each, [own], ()) for each, own in zip(tables, cuts, strict=True)], by)
        ]

    def _request(
        self, cuts: Sequence[ArrayLike], by: Sequence[Role] | int, others: Sequence[Table]
    ) -> tuple[Any, Count]:
        """Return what counts are kept by, and the request for them."""
        at = tuple(np.unique(np.asarray(own, dtype=np.float64)) for own in cuts)
        roles = by if isinstance(by, int) else tuple(role for role in by if self.engine.tells(role))
        panel, systems = self.engine.joined(self.system, [(table.engine, table.system) for table in others])
        limit = None
        if not isinstance(by, int) and (others or roles not in (("user",), ())):
            limit = self.memory // PER_ENTRY  # so many users fit as the cuts are made for
        failures = len(at) == 1 and at[0].size <= FEW_CUTS and self.nan_rejected > 0
        key = id(self), roles, *(id(other) for other in others), *(own.tobytes() for own in at)
        return key, Count(panel, systems, at, roles, limit, failures)

    def _as_sets(self, key: Any, request: Count, counts: Any, *, paired: bool) -> list[Scores]:
        """Return counts as sets of entries; they are kept, in place of others."""
        if counts is None:
            raise self._too_many(self.memory // PER_ENTRY, paired=paired)
        sets = request.panel.counted(request, counts)
        if (sets[0].n_negatives, sets[0].n_positives) != (self.n_negatives, self.n_positives):
            raise changed(self.source)
        while sum(map(_size, self._entries.values())) > self.memory // PER_ENTRY // 4:
            del self._entries[next(iter(self._entries))]
        self._entries[key] = [replace(each, backend=self.backend, format=self.format) for each in sets]
        return self._entries[key]

    def _too_many(self, limit: int, *, paired: bool) -> TooManyEntries:
        what, else_ = "names", ""
        if paired:
            what, else_ = "what paired systems decide", ", or compare fewer systems, or at fewer alphas"
        return TooManyEntries(
            f"{self.source}: there are more than {limit} combinations of {what} to count trials by, too many for the "
            f"{self.memory // 10**6} MB given; raise {argument('memory')}{else_}"
        )

    # -- trials ------------------------------------------------------------------------------------------

    def load(self) -> Scores:
        """Return all the trials in memory, if they fit; they are kept there."""
        return self._all_trials

    @cached_property
    def _all_trials(self) -> Scores:
        if not self.fits:
            raise OptionError(
                f"{self.source}: this needs all {len(self)} trials in memory ({len(self) * PER_TRIAL // 10**6} MB; "
                f"{self.memory // 10**6} MB are given); raise {argument('memory')}, or ask for what counts can answer: "
                "a curve at given alphas, its band with thresholds fixed, a paired comparison, a ROC at given points"
            )
        return self.engine.load(self.system)

    def check_same_trials(self, other: ScoreSet) -> bool:
        (table,) = _tables([other])
        return self.engine.same_trials(self.system, table.engine, table.system)


def _counted(
    asked: Sequence[tuple[Table, Sequence[ArrayLike], Sequence[Table]]], by: Sequence[Role] | int
) -> list[list[Scores]]:
    """Return counts of tables between cuts, each with others on the same trials; what is known costs no scan."""
    requests = [table._request(cuts, by, others) for table, cuts, others in asked]
    new = {key: n for n, (key, _) in enumerate(requests) if key not in asked[n][0]._entries}
    told = looks.ask([requests[n][1] for n in new.values()])
    found = {key: asked[n][0]._entries.get(key, []) for n, (key, _) in enumerate(requests)}
    for (key, n), counts in zip(new.items(), told, strict=True):
        found[key] = asked[n][0]._as_sets(key, requests[n][1], counts, paired=bool(asked[n][2]))
    return [found[key] for key, _ in requests]


def _size(sets: Sequence[Scores]) -> int:
    return sum(each.negative.score.size + each.positive.score.size for each in sets)


def _tables(others: Sequence[ScoreSet]) -> list[Table]:
    """Return the other systems, which must be scanned like the first: trials are paired where they are."""
    tables = [other for other in others if isinstance(other, Table)]
    if len(tables) < len(others):
        raise mixed_sets()
    return tables
