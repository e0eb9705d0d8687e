"""Table: a set of scores that stays where it is, and answers by scans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from priori.base.cautions import Caution
from priori.base.errors import OptionError, argument
from priori.base.types import Counts, Floats
from priori.engines.batch_counting import LEAST_ROOM, Streaming
from priori.engines.binning import edge_candidates, most_between, narrow_cuts, relative_cuts
from priori.engines.cells import NOTHING, Histogram, shortlisted
from priori.engines.engine import Engine, Tally, TooMany, changed
from priori.engines.explorer import CELLS, Explorer
from priori.scores import Names, Scores, ScoreSet, Trials
from priori.scores.candidates import Chooser, Shortlist
from priori.scores.score_set import Role, mixed_sets

#: The most that a rate may be off where cells stand in for trials.
BOUND = 1e-4
#: Bytes that a trial needs in memory while it is resampled.
PER_TRIAL = 128
#: Bytes that an entry, which stands for several trials, needs.
PER_ENTRY = 64
#: Cells that hold more of a class say too little.
COARSEST = 0.05
#: Both identities of a trial.
PEOPLE = ("user", "probe_user")
#: What cells that stand in for trials do to rates.
WITHIN = "no rate at any threshold is off by more than"


class Table(ScoreSet):
    """The trials of one system on one set, in files, a database or a cluster. Made by `priori.scan`.

    ``memory`` (bytes) bounds what is fetched at a time, ``cells`` how many cells are counted in. Like `Scores` it has
    a ``source``, and a ``backend`` and a ``format`` where the trials came from a dataframe library or from files.
    """

    scanned = True

    def __init__(self, engine: Engine, *, memory: int = 1 << 30, cells: int = CELLS) -> None:
        self.engine = engine
        self.source, self.backend, self.format = engine.source, engine.backend, engine.format
        self.memory = memory
        self.explorer = Explorer(engine, memory, cells)
        self._stand_ins: tuple[object, list[Scores]] | None = None
        self._counted: tuple[Floats, Counts, Counts] = np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64)
        # No cached properties: those of Python 3.11 let one table in at a time, and who shares a scan waits for all.
        self._edge_candidates: Shortlist | None = None
        self._narrow_cuts: tuple[float, tuple[Floats, float]] | None = None
        self._condensed: tuple[object, Floats, tuple[Scores, tuple[Caution, ...]]] | None = None
        if isinstance(engine, Streaming):
            engine.retain = memory // 8

    # -- what it is --------------------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in cells."""
        return self.explorer.histogram

    @property
    def n_negatives(self) -> int:
        return self.histogram.negatives

    @property
    def n_positives(self) -> int:
        return self.histogram.positives

    @property
    def nan_rejected(self) -> int:
        return self.histogram.nan

    @property
    def has_users(self) -> bool:
        return self.engine.has_users

    @property
    def has_identities(self) -> bool:
        return False  # an engine keeps the claimed one only

    @property
    def leaves_out_probes(self) -> bool:
        return self.has_users and "probe_user" in self.engine.columns

    @property
    def users(self) -> Names | None:
        return self.engine.users() if self.has_users else None

    @property
    def n_users(self) -> int:
        return 0 if self.users is None else len(self.users)

    def __repr__(self) -> str:
        return f"Table({self.source!r}, {type(self.engine).__name__.lower()})"

    def close(self) -> None:
        """Close what was opened for this table, and remove temporary files."""
        self.engine.close()

    def __enter__(self) -> Table:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- thresholds and counts ---------------------------------------------------------------------------

    def prepare(self, *, in_background: bool = False) -> None:
        """Make the first scan now; in the background, if asked, where nobody watches its progress."""
        if not in_background:
            _ = self.histogram
        elif self.engine.alone and self.engine.progress is None:
            self.explorer.begin()

    def candidates(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Shortlist:
        # Where only all scores together tell, and do not fit, counts at the ends of narrow cells tell nearly as much.
        of_all = alphas is None and chooser.winners(shortlisted(self.histogram, NOTHING), None) is None
        if of_all and not self.explorer.look_at_all():
            return self._edges
        return self.explorer.shortlist(chooser, alphas)

    @property
    def _edges(self) -> Shortlist:
        if self._edge_candidates is None:
            edges = self._edge_candidates = edge_candidates(self.explorer, self.engine.finest)
            self._remember(edges.below, edges.n_negatives - edges.fp, edges.fn)
        return self._edge_candidates

    def expect(self, thresholds: ArrayLike) -> None:
        self.explorer.expect(thresholds)

    def relative_cuts(self, share: float) -> Floats:
        """Return cuts between which FAR and FRR change by at most about a share of themselves."""
        return relative_cuts(self.histogram, share)

    def rejected(self, thresholds: ArrayLike) -> tuple[Counts, Counts]:
        asked = np.asarray(thresholds, dtype=np.float64)
        new = np.setdiff1d(asked, self._counted[0])
        if new.size:
            self._remember(new, *self.explorer.rejected(new))
        known, tn, fn = self._counted
        place = np.searchsorted(known, asked)
        return tn[place], fn[place]

    def _remember(self, thresholds: Floats, tn: Counts, fn: Counts) -> None:
        """Keep the counts at ascending thresholds: more is asked of the same ones, and that need not cost a scan."""
        known, first = np.unique(np.concatenate([self._counted[0], thresholds]), return_index=True)
        counts = (np.concatenate(both)[first] for both in zip(self._counted[1:], (tn, fn), strict=True))
        self._counted = known, next(counts), next(counts)

    def pairs_in_order(self, *, rough: bool = False) -> int:
        return self.histogram.pairs_in_order() if rough else self.explorer.pairs_in_order()

    # -- the trials themselves ---------------------------------------------------------------------------

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
        return self.engine.load()

    def condensed(
        self, roles: Sequence[Role], *, cuts: ArrayLike = (), narrow: bool = False
    ) -> tuple[Scores, tuple[Caution, ...]]:
        if "attack" in roles:
            self.engine.refuse_attackers()
        if self.fits:
            return self.load().condensed(roles)
        key, asked = (tuple(roles), narrow), np.ravel(np.asarray(cuts, dtype=np.float64))
        if self._condensed is None or self._condensed[0] != key or not np.isin(asked, self._condensed[1]).all():
            self._condensed = None  # before the next takes its room
            self._condensed = key, asked, self._condense(roles, cuts, narrow)
        return self._condensed[2]

    def _condense(self, roles: Sequence[Role], cuts: ArrayLike, narrow: bool) -> tuple[Scores, tuple[Caution, ...]]:
        wanted = [role for role in roles if self.engine.tells(role)]
        limit, notes = self.memory // PER_ENTRY, list[Caution]()
        bound = max(self.engine.finest, self._bound(self.n_users if {*PEOPLE} & {*wanted} else 1))
        while not narrow or bound <= COARSEST:
            edges, error = narrow_cuts(self.explorer, bound, trials=1) if narrow else (np.empty(0), 0.0)
            try:
                entries = self.engine.load_between(_with_ends(edges, cuts), wanted, limit)
                break
            except TooMany:
                if {*PEOPLE} <= {*wanted}:
                    wanted.remove("probe_user")
                    notes.append(self._said("probes-left-out", "too many pairs of people for the memory given: "
                                                               "trials are told apart by user only"))  # fmt: skip
                elif narrow:
                    bound *= 4
                else:
                    raise self._too_many(limit) from None
        else:
            raise self._too_many(limit)
        if (entries.n_negatives, entries.n_positives) != (self.n_negatives, self.n_positives):
            raise changed(self.source)
        counted = ""
        if narrow:
            cells = f"counted in {edges.size + 1} cells of scores"
            notes.append(self._said("counted-in-cells", f"{cells}: {WITHIN} {error:.1e}"))
            counted = str(notes[-1])
        notes += entries.condensed(wanted)[1]
        return replace(entries, backend=self.backend, format=self.format, counted=counted), tuple(notes)

    def sketched(self) -> Scores:
        if self.fits:
            return self.load()
        cuts = self._edges.below
        negative, positive = self._tally([cuts], [], by_user=False)
        return Scores(_trials(negative, 0, cuts), _trials(positive, 0, cuts), source=self.source)

    @property
    def fits(self) -> bool:
        """Whether all the trials fit into the memory given."""
        return len(self) * PER_TRIAL <= self.memory

    def _said(self, code: str, text: str) -> Caution:
        return Caution(code, f"{self.source}: {text}")

    def _too_many(self, limit: int, *, paired: bool = False) -> OptionError:
        what, else_ = "names", ""
        if paired:
            what, else_ = "what paired systems decide", ", or compare fewer systems, or at fewer alphas"
        return OptionError(
            f"{self.source}: there are more than {limit} combinations of {what} to count trials by, too many for the "
            f"{self.memory // 10**6} MB given; raise {argument('memory')}{else_}"
        )

    def between(self, edges: Sequence[Floats], others: Sequence[ScoreSet] = (), *, by_user: bool) -> list[Scores]:
        """Return sets that hold, between the edges of each system, as many trials as this and paired others do.

        One scan, or one join of all the tables, which is remembered: a band asks more than once.
        """
        key = (by_user, tuple(id(other) for other in others), tuple(edge.tobytes() for edge in edges))
        if self._stand_ins is None or self._stand_ins[0] != key:
            negative, positive = self._tally(edges, _tables(others), by_user)
            users = self.users if by_user else None
            sets = [
                Scores(_trials(negative, s, edge), _trials(positive, s, edge), users, source=self.source)
                for s, edge in enumerate(edges)
            ]
            self._stand_ins = key, sets
        return self._stand_ins[1]

    def by_user(self, cuts: Floats) -> Scores:
        """Return a set that holds, between the cuts, as many trials of each user as this does; it is not remembered."""
        negative, positive = self._tally([cuts], [], by_user=True)
        return Scores(_trials(negative, 0, cuts), _trials(positive, 0, cuts), self.users, source=self.source)

    def parts_at_most(self, number: int, cuts: int) -> int:
        """Return how many random parts of the trials, of so many, can be counted between so many cuts."""
        return min(number, max(self.memory // 8, LEAST_ROOM) // (16 * (cuts + 1)))

    def in_parts(self, cuts: Floats, parts: int) -> Scores:
        """Return a set that holds, between the cuts, as many trials of each of so many random parts as this does.

        The parts are the users of that set, by codes. A trial is in the same part whichever table it is in.
        """
        negative, positive = self._checked(self.engine.tally_parts(cuts, parts))
        return Scores(_trials(negative, 0, cuts), _trials(positive, 0, cuts), source=self.source)

    def apart(self, edges: Sequence[Floats], others: Sequence[ScoreSet]) -> list[Scores] | None:
        """Return sets with the counts by user, each system counted on its own; None without others, or other users.

        An error says where others have other trials.
        """
        tables = [self, *_tables(others)]
        if len(tables) == 1 or not all(self.engine.same_trials(other.engine) for other in tables[1:]):
            return None
        each = zip(tables, edges, strict=True)
        return [counted for table, edge in each for counted in table.between([edge], by_user=True)]

    def by_both_identities(self, others: Sequence[ScoreSet], cuts: Sequence[Floats]) -> list[Scores]:
        """Return sets that hold, entry by entry, as many trials of each two people between the cuts of all systems."""
        limit, engines = self.memory // PER_ENTRY, [table.engine for table in _tables(others)]
        try:
            sets = self.engine.load_paired(engines, cuts, PEOPLE, limit)
        except TooMany:
            raise self._too_many(limit, paired=True) from None
        if (sets[0].n_negatives, sets[0].n_positives) != (self.n_negatives, self.n_positives):
            raise changed(self.source)
        return sets

    def by_people(self, cuts: Sequence[Floats]) -> tuple[Scores, tuple[Caution, ...]]:
        """Return all the trials, or as many of each two people between cuts, the first that fit, and what to say."""
        if self.fits:
            return self.load(), ()
        limit, roles = self.memory // PER_ENTRY, [role for role in PEOPLE if self.engine.tells(role)]
        for each in cuts:
            try:
                entries = self.engine.load_between(_with_ends(each, ()), roles, limit)
            except TooMany:
                continue
            if (entries.n_negatives, entries.n_positives) != (self.n_negatives, self.n_positives):
                raise changed(self.source)
            counted = f"resampled in {each.size + 1} cells of scores: {WITHIN} {most_between(entries, each):.1e}"
            return entries, (self._said("resampled-in-cells", counted),)
        raise self._too_many(limit)

    def check_same_trials(self, other: ScoreSet) -> None:
        if not (self.fits and other.fits):
            (table,) = _tables([other])
            self.engine.same_trials(table.engine)

    def _tally(self, edges: Sequence[Floats], others: Sequence[Table], by_user: bool) -> tuple[Tally, Tally]:
        """Count between edges: the negatives, the positives."""
        if not others and not by_user:
            tn, fn = self.rejected(edges[0])
            return _by_gap(tn, self.n_negatives), _by_gap(fn, self.n_positives)
        if others:
            limit, engines = self.memory // PER_ENTRY, [other.engine for other in others]
            try:
                tallies = self.engine.tally_paired(engines, edges, limit, by_user=by_user)
            except TooMany:
                raise self._too_many(limit, paired=True) from None
        else:
            tallies = self.engine.tally(edges[0], by_user=by_user)
        return self._checked(tallies)

    def _checked(self, tallies: tuple[Tally, Tally]) -> tuple[Tally, Tally]:
        if [int(tally.number.sum()) for tally in tallies] != [self.n_negatives, self.n_positives]:
            raise changed(self.source)
        return tallies

    def resamplable(self, *, by_user: bool) -> tuple[Scores, str | None]:
        """Return all the trials if the memory given holds them, else trials in narrow cells in their place.

        No rate at any threshold then differs by more than `BOUND`, or one trial, from the exact one; where users are so
        many that the memory given does not hold their counts in such cells, cells are wider. The text says so.
        """
        if self.fits:
            return self.load(), None
        cuts, error = self._narrow(self._bound(self.n_users if by_user else 1))
        (cells,) = self.between([cuts], by_user=by_user)
        counted = f"resampled in {cuts.size + 1} cells of scores"
        return cells, self._said("resampled-in-cells", f"{counted}: {WITHIN} {error:.1e}")

    def _bound(self, people: int) -> float:
        """Return the least share of a class that cells may hold, such that counts of so many people in them fit."""
        # Counts have 16 bytes, and there are twice as many cells as the bound asks for, in each class.
        return max(BOUND, 64 * people / max(self.memory // 8, LEAST_ROOM))

    def _narrow(self, bound: float) -> tuple[Floats, float]:
        if bound > COARSEST:
            raise self._too_many(self.memory // PER_ENTRY)
        if self._narrow_cuts is None or self._narrow_cuts[0] != bound:
            self._narrow_cuts = bound, narrow_cuts(self.explorer, bound, trials=1)
        return self._narrow_cuts[1]


def _tables(others: Sequence[ScoreSet]) -> list[Table]:
    """Return the other systems, which must be scanned like the first: trials are paired where they are."""
    tables = [other for other in others if isinstance(other, Table)]
    if len(tables) < len(others):
        raise mixed_sets()
    return tables


def _with_ends(edges: Floats, cuts: ArrayLike) -> Floats:
    """Return the cuts in order, with those that keep infinite scores apart from the others."""
    ends = -np.inf, np.finfo(np.float64).max
    return np.unique(np.concatenate([edges, np.ravel(np.asarray(cuts, dtype=np.float64)), ends]))


def _by_gap(rejected: Counts, size: int) -> Tally:
    number = np.diff(rejected, prepend=0, append=size)
    gap = np.flatnonzero(number)
    return Tally(gap[None, :], None, number[gap])


def _trials(tally: Tally, system: int, edges: Floats) -> Trials:
    """Return trials that lie in the gaps of a tally: a gap holds the edge above it, the last one +inf."""
    score = np.append(edges, np.inf)[tally.gap[system]]
    user = None if tally.user is None else tally.user.astype(np.int32)
    return Trials(score, user, number=tally.number)
