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
from priori.base.types import Counts, Floats
from priori.engines.counting import Count, TooMany
from priori.engines.explorer import Explorer, ask, candidates_of, narrow_cuts_of, pairs_in_order_of, rejected_of
from priori.engines.panel import LEAST_ROOM, Panel, changed
from priori.scores import Names, Scores, ScoreSet
from priori.scores.candidates import Candidates, Chooser
from priori.scores.histogram import BINS, Histogram
from priori.scores.labels import unnamed
from priori.scores.score_set import NarrowCuts, Role, TooManyEntries, mixed_sets

#: Bytes that a trial needs in memory while it is resampled.
PER_TRIAL = 128
#: Bytes that an entry, which stands for several trials, needs.
PER_ENTRY = 64
#: The least share of a class that may lie between two of many cuts.
FINEST = 1e-5
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
        self.explorer = Explorer(engine, memory, bins, system)
        engine.memory = memory * len(engine.sources)
        self._counted: tuple[Floats, Counts, Counts] = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        self._narrow: dict[float, NarrowCuts] = {}
        #: The last counts, as many as a quarter of the memory holds: more than one asks for the same.
        self._entries: dict[Any, list[Scores]] = {}

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in bins."""
        return self.explorer.histogram

    @property
    def n_negatives(self) -> int:
        return self._sizes[0]

    @property
    def n_positives(self) -> int:
        return self._sizes[1]

    @property
    def _sizes(self) -> tuple[int, int]:
        if self.explorer.sizes is None:
            _ = self.histogram
        assert self.explorer.sizes is not None
        return self.explorer.sizes

    @property
    def nan_rejected(self) -> int:
        _ = self._sizes
        return self.engine.nan(self.system) if self.engine.settings.nan == "reject" else 0

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
        self.explorer.expect(thresholds)

    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Candidates:
        return self.candidates_of([self], [chooser], [alphas])[0]

    @classmethod
    def candidates_of(
        cls, tables: Sequence[Table], choosers: Sequence[Chooser], alphas: Sequence[Sequence[Fraction] | None]
    ) -> list[Candidates]:
        """Return the candidates of several tables."""
        return candidates_of([each.explorer for each in tables], choosers, alphas, FINEST)

    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        return self.rejected_of([self], [thresholds])[0]

    @classmethod
    def rejected_of(cls, tables: Sequence[Table], thresholds: Sequence[ArrayLike]) -> list[tuple[Counts, Counts]]:
        """Count the trials of several tables; more is asked of the same thresholds, and that costs no scan."""
        wanted = [np.asarray(own, dtype=np.float64) for own in thresholds]
        new = [np.setdiff1d(own, each._counted[0]) for each, own in zip(tables, wanted, strict=True)]
        asked = [number for number, own in enumerate(new) if own.size]
        told = rejected_of([tables[number].explorer for number in asked], [new[number] for number in asked])
        for number, counts in zip(asked, told, strict=True):
            tables[number]._remember(new[number], *counts)
        places = [np.searchsorted(each._counted[0], own) for each, own in zip(tables, wanted, strict=True)]
        return [(each._counted[1][place], each._counted[2][place]) for each, place in zip(tables, places, strict=True)]

    def _remember(self, thresholds: Floats, tn: Counts, fn: Counts) -> None:
        known, first = np.unique(np.concatenate([self._counted[0], thresholds]), return_index=True)
        counts = (np.concatenate(both)[first] for both in zip(self._counted[1:], (tn, fn), strict=True))
        self._counted = known, next(counts), next(counts)

    def pairs_in_order(self, rough: bool = False) -> int:
        return self.histogram.pairs_in_order() if rough else self.pairs_in_order_of([self])[0]

    @classmethod
    def pairs_in_order_of(cls, tables: Sequence[Table]) -> list[int]:
        """Return twice the number of pairs in order of several tables."""
        return pairs_in_order_of([each.explorer for each in tables])

    def relative_cuts(self, share: float) -> Floats:
        """Return cuts between which FAR and FRR change by at most about a share of themselves."""
        return self.histogram.relative_cuts(share)

    # -- entries in place of trials ------------------------------------------------------------------------

    def narrow_cuts(self, bound: float, by: Sequence[Role] = ()) -> NarrowCuts:
        return self.narrow_cuts_of([self], [bound], [by])[0]

    @classmethod
    def narrow_cuts_of(
        cls, tables: Sequence[Table], bounds: Sequence[float], by: Sequence[Sequence[Role]]
    ) -> list[NarrowCuts]:
        """Return narrow cuts of several tables."""
        wanted = [(each, each._finest(bound, roles)) for each, bound, roles in zip(tables, bounds, by, strict=True)]
        new = [(each, bound) for each, bound in dict.fromkeys(wanted) if bound not in each._narrow]
        found = narrow_cuts_of([each.explorer for each, _ in new], [bound for _, bound in new])
        for (each, bound), cuts in zip(new, found, strict=True):
            each._narrow[bound] = cuts
        return [each._narrow[bound] for each, bound in wanted]

    def _finest(self, bound: float, by: Sequence[Role]) -> float:
        """Return the bound, or the finest that counts by these roles fit in memory with."""
        # Counts have 16 bytes, and there are 2.5 times as many bins as the bound asks for, in each class.
        people = self.n_users if self.has_users and {"user", "probe_user"} & {*by} else 1
        bound = max(bound, FINEST, 80 * people / max(self.memory // 8, LEAST_ROOM))
        if bound > COARSEST:
            raise self._too_many(self.memory // PER_ENTRY, paired=False)
        return bound

    def parts_at_most(self, number: int, cuts: int) -> int:
        """Return how many random parts of the trials, of so many, can be counted between so many cuts."""
        return min(number, max(self.memory // 8, LEAST_ROOM) // (16 * (cuts + 1)))

    def count(
        self, cuts: Sequence[ArrayLike], by: Sequence[Role] | int = (), others: Sequence[ScoreSet] = ()
    ) -> list[Scores]:
        return self.count_of([self], [cuts], [by], [others])[0]

    @classmethod
    def count_of(
        cls,
        tables: Sequence[Table],
        cuts: Sequence[Sequence[ArrayLike]],
        by: Sequence[Sequence[Role] | int],
        others: Sequence[Sequence[ScoreSet]] | None = None,
    ) -> list[list[Scores]]:
        """Return the counts of several tables, each perhaps with others."""
        beside = [_tables(each) for each in others or [()] * len(tables)]
        asked = [table._request(*own) for table, own in zip(tables, zip(cuts, by, beside, strict=True), strict=True)]
        new = {key: number for number, (key, _) in enumerate(asked) if key not in tables[number]._entries}
        told = ask([asked[number][1] for number in new.values()])
        found = {key: tables[number]._entries.get(key, []) for number, (key, _) in enumerate(asked)}
        for (key, number), counts in zip(new.items(), told, strict=True):
            found[key] = tables[number]._as_sets(key, asked[number][1], counts, paired=bool(beside[number]))
        return [found[key] for key, _ in asked]

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
        if isinstance(counts, TooMany):
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


def _size(sets: Sequence[Scores]) -> int:
    return sum(each.negative.score.size + each.positive.score.size for each in sets)


def _tables(others: Sequence[ScoreSet]) -> list[Table]:
    """Return the other systems, which must be scanned like the first: trials are paired where they are."""
    tables = [other for other in others if isinstance(other, Table)]
    if len(tables) < len(others):
        raise mixed_sets()
    return tables
