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
from priori.engines.engine import Count, Panel, TooMany, changed
from priori.engines.explorer import Explorer, cut_candidates, narrow_cuts
from priori.engines.streaming import LEAST_ROOM
from priori.scores import Names, Scores, ScoreSet
from priori.scores.asking import Asking, asked, asking
from priori.scores.candidates import Candidates, Chooser, Shortlist
from priori.scores.histogram import BINS, NOTHING, Histogram, shortlisted
from priori.scores.score_set import Role, TooManyEntries, mixed_sets

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
        self.explorer = Explorer(engine, memory, bins, system)
        engine.memory = memory * len(engine.sources)
        engine.retain = engine.memory // 8
        self._counted: tuple[Floats, Counts, Counts] = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        self._cut_candidates: Shortlist | None = None
        self._narrow: dict[float, tuple[Floats, float]] = {}
        #: The last counts, as many as a quarter of the memory holds: more than one asks for the same.
        self._entries: dict[Any, list[Scores]] = {}

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in bins."""
        return self.explorer.histogram

    @property
    def n_negatives(self) -> int:
        return self.histogram.negatives

    @property
    def n_positives(self) -> int:
        return self.histogram.positives

    @property
    def nan_rejected(self) -> int:
        _ = self.histogram
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

    @asked
    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Asking[Candidates]:
        yield from self.explorer.begin()
        # Where only all scores together tell, and do not fit, counts at narrow cuts tell nearly as much.
        of_all = alphas is None and chooser.winners(shortlisted(self.histogram, NOTHING), None) is None
        if of_all and not (yield from self.explorer.look_at_all()):
            if self._cut_candidates is None:
                found = self._cut_candidates = yield from cut_candidates(self.explorer, self.engine.finest)
                self._remember(found.below, found.n_negatives - found.fp, found.fn)
            return self._cut_candidates
        return (yield from self.explorer.shortlist(chooser, alphas))

    @asked
    def rejected(self, thresholds: ArrayLike) -> Asking[tuple[Counts, Counts]]:
        wanted = np.asarray(thresholds, dtype=np.float64)
        new = np.setdiff1d(wanted, self._counted[0])
        if new.size:
            self._remember(new, *(yield from self.explorer.rejected(new)))
        known, tn, fn = self._counted
        place = np.searchsorted(known, wanted)
        return tn[place], fn[place]

    def _remember(self, thresholds: Floats, tn: Counts, fn: Counts) -> None:
        """Keep the counts at ascending thresholds: more is asked of the same ones, and that need not cost a scan."""
        known, first = np.unique(np.concatenate([self._counted[0], thresholds]), return_index=True)
        counts = (np.concatenate(both)[first] for both in zip(self._counted[1:], (tn, fn), strict=True))
        self._counted = known, next(counts), next(counts)

    @asked
    def pairs_in_order(self, rough: bool = False) -> Asking[int]:
        yield from self.explorer.begin()
        return self.histogram.pairs_in_order() if rough else (yield from self.explorer.pairs_in_order())

    def relative_cuts(self, share: float) -> Floats:
        """Return cuts between which FAR and FRR change by at most about a share of themselves."""
        return self.histogram.relative_cuts(share)

    # -- entries in place of trials ------------------------------------------------------------------------

    @asked
    def narrow_cuts(self, bound: float, by: Sequence[Role] = ()) -> Asking[tuple[Floats, float]]:
        # Counts have 16 bytes, and there are 2.5 times as many bins as the bound asks for, in each class.
        people = self.n_users if self.has_users and {"user", "probe_user"} & {*by} else 1
        bound = max(bound, self.engine.finest, 80 * people / max(self.memory // 8, LEAST_ROOM))
        if bound > COARSEST:
            raise self._too_many(self.memory // PER_ENTRY, paired=False)
        if bound not in self._narrow:
            self._narrow[bound] = yield from narrow_cuts(self.explorer, bound)
        return self._narrow[bound]

    def parts_at_most(self, number: int, cuts: int) -> int:
        """Return how many random parts of the trials, of so many, can be counted between so many cuts."""
        return min(number, max(self.memory // 8, LEAST_ROOM) // (16 * (cuts + 1)))

    @asked
    def count(
        self,
        cuts: Sequence[ArrayLike],
        by: Sequence[Role] | int = (),
        others: Sequence[ScoreSet] = (),
        means: bool = False,
    ) -> Asking[list[Scores]]:
        edges = tuple(np.unique(np.asarray(own, dtype=np.float64)) for own in cuts)
        if means:  # infinite scores apart from the others
            edges = tuple(np.union1d(own, [-np.inf, np.finfo(np.float64).max]) for own in edges)
        roles = by if isinstance(by, int) else tuple(role for role in by if self.engine.tells(role))
        key = roles, means, *(id(other) for other in others), *(own.tobytes() for own in edges)
        if key not in self._entries:
            while sum(map(_size, self._entries.values())) > self.memory // PER_ENTRY // 4:
                del self._entries[next(iter(self._entries))]  # before the next takes its room
            self._entries[key] = yield from self._counting(edges, roles, _tables(others), means)
        return self._entries[key]

    def _counting(
        self, cuts: tuple[Floats, ...], by: tuple[str, ...] | int, others: Sequence[Table], means: bool
    ) -> Asking[list[Scores]]:
        yield from self.explorer.begin()
        panel, systems = self.engine.joined(self.system, [(table.engine, table.system) for table in others])
        limit = self.memory // PER_ENTRY
        failures = self.nan_rejected > 0 and len(cuts) == 1 and cuts[0].size <= FEW_CUTS
        bounded = bool(others) or means or by not in (("user",), ())  # so many users fit as the cuts are made for
        bounded = bounded and not isinstance(by, int)
        request = Count(panel, systems, cuts, by, limit if bounded else None, means, failures)
        if by == () and not others and not (means or failures):
            return [self._in_bins(cuts[0], *(yield from asking(self.rejected, cuts[0])))]
        try:
            counts = yield request
        except TooMany:
            raise self._too_many(limit, paired=bool(others)) from None
        sets = panel.counted(request, counts)
        if (sets[0].n_negatives, sets[0].n_positives) != (self.n_negatives, self.n_positives):
            raise changed(self.source)
        return [replace(each, backend=self.backend, format=self.format) for each in sets]

    def _in_bins(self, cuts: Floats, tn: Counts, fn: Counts) -> Scores:
        """Return the set that has so many trials at or below the cuts."""
        classes = (tn, self.n_negatives), (fn, self.n_positives)
        number = [np.diff(rejected, prepend=0, append=size) for rejected, size in classes]
        bins = [np.flatnonzero(own) for own in number]
        score, positive = np.append(cuts, np.inf)[np.concatenate(bins)], np.repeat([False, True], [*map(len, bins)])
        entries = np.concatenate([own[index] for own, index in zip(number, bins, strict=True)])
        return self.engine.scores_of(self.system, score, positive, {}, entries)

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
