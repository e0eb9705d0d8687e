"""Explorer: thresholds and counts from bins. Two scans choose exactly, whatever the criterion.

The first scan counts scores in bins, bounds discard the bins that cannot hold a minimiser, the second brings the scores
of the rest. Where too many are left, bins are cut finer and counted again. What needs a scan is a generator, which asks
(`priori.scores.asking`).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from priori.base.errors import OneClassError, OptionError, PrioriError, argument
from priori.base.types import Floats, Ints, Mask
from priori.engines.engine import Count, Fetch, Panel, TooMany, changed
from priori.scores.asking import Asking, ask
from priori.scores.candidates import Chooser, Shortlist, joined
from priori.scores.grid import Grid, fitted_grid, split_grid
from priori.scores.histogram import FEWEST_BINS, NOTHING, Distinct, Histogram, merged, narrow_ends, shortlisted
from priori.scores.sorting import at_most

#: Bytes that a fetched score needs while it is sorted and matched.
PER_SCORE = 96
#: Trials for each bin of a first count, about.
PER_BIN = 32
#: After this many rounds of finer bins the rest is looked through in parts.
ROUNDS = 6


class Explorer:
    """What is known of a system so far: counts in bins, and all the scores of some of them.

    ``memory`` (bytes) bounds what is fetched at a time, ``bins`` how many bins are counted in.
    """

    def __init__(self, panel: Panel, memory: int, bins: int, system: int = 0) -> None:
        self.panel, self.system = panel, system
        self.source = panel.sources[system]
        self.memory, self.most_bins = memory, bins
        self._histogram: Histogram | None = None
        self._first: Histogram | None = None
        self._known = NOTHING
        self._looked = np.zeros(0, dtype=np.bool_)
        self._expected: Floats = np.empty(0)
        self._tied = False
        panel.explorers.add(self)

    # -- choosing ----------------------------------------------------------------------------------------

    @property
    def histogram(self) -> Histogram:
        """The counts in bins: the first scan, which counts the other systems of the panel too."""
        if self._histogram is None:
            others = (each for each in self.panel.explorers if each is not self)
            ask([self.begin(), *(_quietly(each.begin()) for each in others)])
        assert self._histogram is not None
        return self._histogram

    def begin(self) -> Asking[None]:
        """Make the first scan, unless it was made."""
        if self._histogram is None:
            survey = self.panel.survey(self.system)
            bins = min(max(survey.rows // PER_BIN, FEWEST_BINS), self.most_bins)
            self._tied = 2 * np.unique(survey.sample).size < survey.sample.size
            yield from self._count(fitted_grid(survey.sample, bins, survey.limits, self.panel.segments))
            self._first = self._histogram

    def restart(self) -> Asking[None]:
        """Go back to the first scan: what can be answered does not depend on what was asked before."""
        yield from self.begin()
        self._histogram = self._first
        self._forget()

    def _count(self, grid: Grid) -> Asking[None]:
        counts = yield Count(self.panel, (self.system,), (grid,))
        each = np.zeros((2, grid.size), dtype=np.int64)
        each[counts.positive.astype(np.intp), counts.bins[0]] = counts.number
        counted = Histogram(grid, each[0], each[1], counts.limits)
        for name, number in (("negative", counted.negatives), ("positive", counted.positives)):
            if not number:
                raise OneClassError(
                    f"{self.source}: no {name} trial; both classes are needed "
                    "(check the labels, or say which is positive)"
                )
        before = self._histogram
        if before is not None and (before.negatives, before.positives) != (counted.negatives, counted.positives):
            raise changed(self.source)
        self._histogram = counted
        # A bin of the new grid is known where all its scores are.
        known = self._known.negative + self._known.positive
        seen = np.bincount(grid.bins(self._known.value), weights=known, minlength=grid.size)
        self._looked = seen == counted.rows

    def expect(self, thresholds: Any) -> None:
        """Say that counts at these thresholds will be asked for, so that one scan can serve both."""
        self._expected = np.union1d(self._expected, np.asarray(thresholds, dtype=np.float64))

    def shortlist(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Asking[Shortlist]:
        """Return the candidates that the chooser may choose at these alphas (None: at any)."""
        yield from self.begin()
        nothing_asked = self.histogram is self._first
        keep = yield from self._narrowed(chooser, alphas)
        if not (yield from self.look(keep)) and not nothing_asked:
            yield from self.restart()
            keep = yield from self._narrowed(chooser, alphas)
        if (yield from self.look(keep)):
            return shortlisted(self.histogram, self._known)
        return (yield from self._in_parts(chooser, alphas, keep))

    def _narrowed(self, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Asking[Mask]:
        """Return the bins that may hold the chosen candidates, cut finer until all their scores are known."""
        keep = self.histogram.promising(chooser, alphas, self._limit)
        for _ in range(ROUNDS):
            if (yield from self.look(keep)):
                break
            before, coarse = self._rows(keep), self.histogram.grid
            yield from self.refine(keep)
            # What was discarded stays so, though it now lies in wide bins that say little.
            promising = self.histogram.promising(chooser, alphas, self._limit)
            keep = _within(promising, self.histogram.grid, keep, coarse)
            if self._rows(keep) > 0.9 * before:
                break
        return keep

    def refine(self, keep: Mask, bins: int | None = None) -> Asking[None]:
        """Count again, in about so many bins, finer where ``keep`` says so."""
        known = self.histogram
        yield from self._count(
            split_grid(known.grid, keep, bins or self.most_bins, known.limits, known.rows, self.panel.segments)
        )

    def within(self, keep: Mask, before: Grid) -> Mask:
        """Return the filled bins that share a number with a bin to ``keep`` of the grid before."""
        return _within(self._filled(), self.histogram.grid, keep, before)

    def _filled(self) -> Mask:
        filled = np.zeros(self.histogram.grid.size, dtype=np.bool_)
        filled[self.histogram.filled] = True
        return filled

    # -- looking into bins -------------------------------------------------------------------------------

    @property
    def _limit(self) -> int:
        return max(1, self.memory // PER_SCORE)

    def _rows(self, bins: Mask) -> int:
        return int(self.histogram.rows[bins].sum())

    def look(self, keep: Mask) -> Asking[bool]:
        """Fetch the scores of these bins, if they fit; a few distinct scores fit however many trials have them."""
        todo = keep & ~self._looked
        if not todo.any():
            return True
        if self._rows(todo) + self._known.value.size > self._limit:
            self._forget()
            todo = keep
        if self._rows(todo) > self._limit and not self._tied:
            return False
        todo = todo | (self._bins_expected() & ~self._looked)
        try:
            fetched = yield from self._fetch(todo, self._limit)
        except TooMany:
            return False
        self._known = merged([self._known, fetched]) if self._known.value.size else fetched
        self._looked = self._looked | todo
        return True

    def look_at_all(self) -> Asking[bool]:
        """Fetch all scores, if they fit."""
        return (yield from self.look(self._filled()))

    def known_in(self, bins: Mask) -> Distinct:
        """Return the scores of bins that were looked into."""
        return self._known.take(bins[self.histogram.grid.bins(self._known.value)])

    def _forget(self) -> None:
        self._known = NOTHING
        self._looked = self.histogram.rows == 0

    def _fetch(self, bins: Mask, limit: int | None) -> Asking[Distinct]:
        """Fetch the scores of bins, as many as were counted: scores that change between scans are no set of scores."""
        grid = self.histogram.grid
        scores: Distinct = yield Fetch(self.panel, self.system, grid, bins, limit)
        own = grid.bins(scores.value)
        for column, counted in ((scores.negative, self.histogram.negative), (scores.positive, self.histogram.positive)):
            if not np.array_equal(np.bincount(own, weights=column, minlength=grid.size)[bins], counted[bins]):
                raise changed(self.source)
        return scores

    def _bins_expected(self) -> Mask:
        """Return the bins that hold a threshold of which counts will be asked."""
        bins = np.zeros(self.histogram.grid.size, dtype=np.bool_)
        bins[self._bins_of(self._expected)] = True
        bins[[0, -1]] = False
        return bins

    def _bins_of(self, thresholds: Floats) -> Ints:
        grid = self.histogram.grid
        return grid.bins(at_most(thresholds, grid.dtype))

    def _in_parts(self, chooser: Chooser, alphas: Sequence[Fraction] | None, keep: Mask) -> Asking[Shortlist]:
        """Look through the bins part by part; of each part only the winners are kept.

        The winner of all is the winner of its part, whatever the criterion.
        """
        parts: list[Shortlist] = []
        for bins in self._parts(keep, overlap=1):
            self._forget()
            candidates = shortlisted(self.histogram, (yield from self._fetch(bins, None)))
            winners = chooser.winners(candidates, alphas)
            assert winners is not None  # whoever needs all scores at once is not asked part by part
            parts.append(candidates.only(*winners))
        return joined(parts)

    def _parts(self, keep: Mask, overlap: int) -> Iterator[Mask]:
        """Yield bins whose scores fit in memory together, each time with some of the next part.

        One bin of overlap is enough to see every candidate between scores.
        """
        filled = self.histogram.filled
        filled = filled[keep[filled]]
        rows = np.cumsum(self.histogram.rows[filled])
        start = 0
        while start < filled.size:
            before = rows[start - 1] if start else 0
            end = max(int(np.searchsorted(rows, before + self._limit, side="right")), start + 1)
            part = np.zeros(keep.size, dtype=np.bool_)
            part[filled[start : end + overlap]] = True
            yield part
            start = end

    def pairs_in_order(self) -> Asking[int]:
        """Return twice the number of pairs whose positive scores above the negative; a tie is half a pair.

        All scores are looked through, part by part.
        """
        yield from self.begin()
        histogram = self.histogram
        below = int(histogram.negative[0])
        total = below * int(histogram.positive[0])
        for bins in self._parts(self._filled(), overlap=0):
            self._forget()
            part = yield from self._fetch(bins, None)
            passed = np.cumsum(part.negative)
            twice = 2 * (below + passed) - part.negative
            # In halves of 32 bits: the sum of products may pass 64.
            total += sum(int((twice >> shift & 0xFFFFFFFF) @ part.positive) << shift for shift in (0, 32))
            below += int(passed[-1])
        return total + int(histogram.positive[-1]) * (2 * below + int(histogram.negative[-1]))

    # -- counting ----------------------------------------------------------------------------------------

    def rejected(self, thresholds: Floats) -> Asking[tuple[Ints, Ints]]:
        """Count the trials of each class at or below thresholds; a scan, unless the scores beside them are known."""
        yield from self.begin()
        self.expect(thresholds)
        yield from self.look(self._bins_expected())
        if not (self._bins_expected() & ~self._looked).any():
            return self._count_known(thresholds)
        cuts, index = np.unique(thresholds, return_inverse=True)
        counts = yield Count(self.panel, (self.system,), (cuts,))
        each = np.zeros((2, cuts.size + 1), dtype=np.int64)
        each[counts.positive.astype(np.intp), counts.bins[0]] = counts.number
        tn, fn = np.cumsum(each, axis=1)[:, index]
        return tn, fn

    def _count_known(self, thresholds: Floats) -> tuple[Ints, Ints]:
        bins = self._bins_of(thresholds)
        value, owner = self._known.value, self.histogram.grid.bins(self._known.value)
        first, last = np.searchsorted(owner, bins, side="left"), np.searchsorted(value, thresholds, side="right")
        outer = (bins == 0) | (bins == self.histogram.grid.size - 1)
        counts = []
        for column, before in zip((self._known.negative, self._known.positive), self.histogram.before, strict=True):
            running = np.append(0, np.cumsum(column))
            within = np.maximum(running[last] - running[first], 0)
            counts.append(np.where(outer, before[bins + 1], before[bins] + within))
        return counts[0], counts[1]


# -- narrow cuts ------------------------------------------------------------------------------------------------------


def narrow_cuts(explorer: Explorer, bound: float) -> Asking[tuple[Floats, float]]:
    """Return ascending cuts between which lies at most a share ``bound`` of either class, and the largest share.

    A bin that holds more is cut finer, or at each of its distinct scores: any number of scores may be equal.
    """
    atoms, ends, largest = yield from _cut(explorer, bound)
    return np.unique(np.append(-np.inf, atoms.value[ends])), largest


def cut_candidates(explorer: Explorer, bound: float) -> Asking[Shortlist]:
    """Return the candidates at such cuts, with their exact counts, for whoever would need all scores at once."""
    atoms, ends, _ = yield from _cut(explorer, bound)
    histogram = explorer.histogram
    cuts = np.append(-np.inf, atoms.value[ends])
    tn, fn = (
        np.append(0, np.cumsum(own)[ends]) + of_class[0]
        for own, of_class in ((atoms.negative, histogram.negative), (atoms.positive, histogram.positive))
    )
    with np.errstate(over="ignore"):
        above = np.nextafter(cuts, np.inf)  # the threshold is the cut itself: what lies next to it is not known
    if tn[-1] < histogram.negatives or fn[-1] < histogram.positives:  # scores of +inf
        tn, fn = np.append(tn, histogram.negatives), np.append(fn, histogram.positives)
        cuts, above = np.append(cuts, np.inf), np.append(above, np.inf)
    return Shortlist(histogram.negatives - tn, fn, cuts, above, histogram.negatives, histogram.positives)


def _cut(explorer: Explorer, bound: float) -> Asking[tuple[Distinct, Mask, float]]:
    """Return pieces of the scores by their largest number, which of them end at cuts, and the largest share between."""
    yield from explorer.restart()
    inside = np.ones(explorer.histogram.grid.size, dtype=np.bool_)
    pieces: list[tuple[Distinct, Mask]] = []
    for round_ in range(ROUNDS):
        # Finer bins of some are bought with wider bins of the others, which are kept as they were.
        histogram = explorer.histogram
        wide = histogram.grid.cut_finer(_wide(histogram, bound) & inside, explorer.panel.segments)
        looked = bool(round_) and (yield from explorer.look(wide))
        pieces.append(_atoms(histogram, inside & ~wide, explorer.known_in(wide) if looked else NOTHING))
        if looked or not wide.any():
            break
        yield from explorer.refine(wide, max(explorer.most_bins, int(8 / bound)))
        inside = explorer.within(wide, histogram.grid)
    else:
        pieces.append(_atoms(explorer.histogram, inside, NOTHING))
    columns = zip(*((atoms.value, atoms.negative, atoms.positive, single) for atoms, single in pieces), strict=True)
    value, negative, positive, single = (np.concatenate(column) for column in columns)
    order = np.argsort(value)  # pieces of several grids do not overlap
    atoms, single = Distinct(value, negative, positive).take(order), single[order]
    ends = narrow_ends(atoms, bound)
    largest = _largest_share(atoms, single, np.flatnonzero(ends), explorer.histogram)
    most = max(bound, *(1 / size for size in (explorer.histogram.negatives, explorer.histogram.positives)))
    if largest > most * (1 + 1e-8):
        raise OptionError(
            f"{explorer.source}: too many of these scores lie too close together to be counted in bins that hold "
            f"less than {most:g} of them; give more memory ({argument('memory')}), or keep the thresholds fixed "
            f"({argument('resample', 'test')})"
        )
    return atoms, ends, largest


def _largest_share(atoms: Distinct, single: Mask, ends: Ints, histogram: Histogram) -> float:
    """Return the largest share of a class between two ends, where there are several numbers."""
    several = (np.diff(ends, prepend=-1) > 1) | ~single[ends]
    shares = (
        np.diff(np.cumsum(number)[ends], prepend=0)[several] / size
        for number, size in ((atoms.negative, histogram.negatives), (atoms.positive, histogram.positives))
    )
    return float(max(share.max(initial=0.0) for share in shares))


def _ends(histogram: Histogram) -> tuple[Floats, Mask]:
    """Return the largest number of each filled bin, and whether it is the only one in it."""
    low, high = histogram.limits
    ends = np.minimum(histogram.grid.highest(histogram.filled).astype(np.float64), high)
    starts = np.maximum(histogram.grid.lowest(histogram.filled).astype(np.float64), low)
    return ends, np.asarray(starts == ends)


def _wide(histogram: Histogram, bound: float) -> Mask:
    """Return the bins of several numbers that hold too much of a class to be joined with others (`narrow_ends`)."""
    filled = histogram.filled
    too_much = np.zeros(filled.size, dtype=np.bool_)
    for number, size in ((histogram.negative, histogram.negatives), (histogram.positive, histogram.positives)):
        too_much |= number[filled] > max(bound * size / 5, 1)
    wide = np.zeros(histogram.grid.size, dtype=np.bool_)
    wide[filled[too_much & ~_ends(histogram)[1]]] = True
    return wide


def _atoms(histogram: Histogram, whole: Mask, known: Distinct) -> tuple[Distinct, Mask]:
    """Return what is not cut further, by its largest number, and whether all its scores are equal.

    These are the filled bins that are taken as a ``whole``, and the scores of the bins where all are known.
    """
    filled = histogram.filled
    taken = whole[filled]
    ends, single = _ends(histogram)
    atoms = Distinct(
        np.concatenate([ends[taken], known.value]),
        np.concatenate([histogram.negative[filled[taken]], known.negative]),
        np.concatenate([histogram.positive[filled[taken]], known.positive]),
    )
    return atoms, np.append(single[taken], np.ones(known.value.size, dtype=np.bool_))


def _quietly(asking: Asking[None]) -> Generator[Any, Any, None]:
    """Ask, and leave an error to whoever asks this one alone."""
    try:
        yield from asking
    except PrioriError:
        return


def _within(bins: Mask, grid: Grid, keep: Mask, coarse: Grid) -> Mask:
    """Return those of the bins that share a number with a bin to ``keep`` of a coarser grid."""
    fine = np.flatnonzero(bins)
    before = np.append(0, np.cumsum(keep))
    shared = before[coarse.bins(grid.highest(fine)) + 1] > before[coarse.bins(grid.lowest(fine))]
    within = np.zeros_like(bins)
    within[fine[shared]] = True
    return within
