"""Looks: thresholds and counts from bins. Two scans choose exactly, whatever the criterion.

The first scan counts scores in bins, bounds discard the bins that cannot hold a minimiser, the second brings the scores
of the rest. Where too many are left, bins are cut finer and counted again; what is left then is looked through in
parts. Many tables are asked together: one scan of a panel answers what all of its systems need next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from priori.base.errors import OptionError, argument
from priori.base.types import Counts, Ints, Mask
from priori.engines.counting import Count, Entries, Fetch
from priori.engines.panel import changed
from priori.scores.candidates import Candidates, Chooser, joined
from priori.scores.grid import Grid, fitted_grid
from priori.scores.histogram import FEWEST_BINS, NOTHING, Distinct, Histogram, narrow_ends, shortlisted
from priori.scores.score_set import NarrowCuts
from priori.scores.sorting import long_dot

if TYPE_CHECKING:
    from priori.engines.table import Table

#: Trials for each bin of a first count, about.
PER_BIN = 32
#: After this many rounds of finer bins the rest is looked through in parts.
ROUNDS = 6
#: Bins that a round adds at least; it must leave less than this share of the scores to be followed by another.
FINER, LEFT = 1 << 12, 0.9
#: There are never more bins than so many times those that a round adds.
MOST_TIMES = 8
#: The least share of a class that may lie between two of many cuts.
FINEST = 1e-5


def ask(requests: Sequence[Count | Fetch]) -> list[Any]:
    """Return what panels answer, request by request, None where that would be too much; each panel is asked once."""
    found: list[Any] = [None] * len(requests)
    for panel in dict.fromkeys(request.panel for request in requests):
        own = [number for number, request in enumerate(requests) if request.panel is panel]
        for number, answer in zip(own, panel.answer([requests[number] for number in own]), strict=True):
            found[number] = answer
    return found


def begin(tables: Sequence[Table], beside: Sequence[Count] = ()) -> list[Any]:
    """Make the first count of those that have none; return what is answered beside it, in the same scans.

    Bins are laid out by a few scores.
    """
    requests: dict[Table, Count] = {}
    for table in tables:
        if table.counted is None and table not in requests:
            rows, sample = table.engine.survey(table.system)
            table.tied = 2 * np.unique(sample).size < sample.size
            grid = fitted_grid(sample, min(max(rows // PER_BIN, FEWEST_BINS), table.most_bins))
            requests[table] = Count(table.engine, (table.system,), (grid,))
    told = ask([*requests.values(), *beside])
    for (table, request), answer in zip(requests.items(), told, strict=False):
        table.counted = in_grid(table, request, answer)
    return told[len(requests) :]


def by_class(table: Table, counts: Entries, bins: int) -> Ints:
    """Return how many trials of each class (rows) are in each bin; they must be as many as at the first look."""
    each = np.zeros((2, bins), dtype=np.int64)
    each[counts.positive.astype(np.intp), counts.bins[0]] = counts.number
    if each.sum(axis=1).tolist() != [table.n_negatives, table.n_positives]:
        raise changed(table.source)
    return each


def in_grid(table: Table, request: Count, counts: Entries) -> Histogram:
    """Return the answer to a request for counts in a grid."""
    (grid,) = request.bins
    assert isinstance(grid, Grid)
    return Histogram(grid, *by_class(table, counts, grid.size))


# -- looking into bins -------------------------------------------------------------------------------------------------


class Look:
    """A look into those bins of a system that are ``wanted``, cut finer until all their scores fit in memory.

    ``known`` are the scores, None where they do not fit: then there are the counts in finer bins.
    """

    def __init__(self, table: Table, wanted: Callable[[Histogram], Mask], bins: int = 0) -> None:
        self.table, self.wanted = table, wanted
        self._finer = max(table.most_bins, FINER, bins)
        self.histogram = table.histogram
        self.bins = wanted(self.histogram)
        self.known: Distinct | None = None if self.bins.any() else NOTHING
        self._rounds = ROUNDS
        #: Whether a few distinct scores, which fit however many trials have them, may be all; None: nothing tells.
        self._few = True if table.tied else None

    def _rows(self, bins: Mask) -> int:
        return int(self.histogram.rows[bins].sum())

    def request(self) -> Count | Fetch | None:
        """Return what to ask next; None where there is no more to ask."""
        table, bins = self.table, self.bins
        if self.known is not None:
            return None
        fits = self._rows(bins) <= table.limit
        if not fits and not self._few:
            if self._rounds:
                finer = self.histogram.grid.finer(self.histogram.rows * bins, self._finer)
                return Count(table.engine, (table.system,), (finer,))
            if self._few is not None:
                return None
            self._few = True
        return Fetch(table.engine, table.system, self.histogram.grid, bins, None if fits else table.limit)

    def take(self, request: Count | Fetch, answer: Any) -> None:
        """Take the answer."""
        if answer is None:
            self._few = False
        elif isinstance(request, Count):
            before, self.histogram = self._rows(self.bins), in_grid(self.table, request, answer)
            self.bins = self.wanted(self.histogram)
            worth_it = self._rows(self.bins) < LEFT * before and self.bins.size < MOST_TIMES * self._finer
            self._rounds = self._rounds - 1 if worth_it else 0
        else:
            self.known = _as_counted(self.table, self.histogram, request.keep, answer)

    def parts(self, overlap: int = 0) -> Iterator[Mask]:
        """Yield bins whose scores fit in memory together, each time with some of the next part."""
        filled = self.histogram.filled
        filled = filled[self.bins[filled]]
        rows = np.cumsum(self.histogram.rows[filled])
        start = 0
        while start < filled.size:
            before = rows[start - 1] if start else 0
            end = max(int(np.searchsorted(rows, before + self.table.limit, side="right")), start + 1)
            part = np.zeros(self.bins.size, dtype=np.bool_)
            part[filled[start : end + overlap]] = True
            yield part
            start = end


def look(
    tables: Sequence[Table], wanted: Sequence[Callable[[Histogram], Mask]], bins: Sequence[int] = ()
) -> list[Look]:
    """Look into the bins of each system that are wanted; a round of finer ones adds so many ``bins``."""
    begin(tables)
    looks = [Look(*each) for each in zip(tables, wanted, bins or [0] * len(wanted), strict=True)]
    while asked := {each: request for each in looks if (request := each.request()) is not None}:
        for (each, request), answer in zip(asked.items(), ask([*asked.values()]), strict=True):
            each.take(request, answer)
    return looks


def _as_counted(table: Table, histogram: Histogram, bins: Mask, scores: Distinct) -> Distinct:
    """Return the scores of bins, as many as were counted: scores that change between scans are no set of scores."""
    own, size = histogram.grid.bins(scores.value), histogram.grid.size
    for column, counted in ((scores.negative, histogram.negative), (scores.positive, histogram.positive)):
        if not np.array_equal(np.bincount(own, weights=column, minlength=size)[bins], counted[bins]):
            raise changed(table.source)
    return scores


def _in_parts(looks: Sequence[Look], overlap: int = 0) -> Iterator[list[tuple[int, Distinct]]]:
    """Yield, part by part, the scores of the bins of several systems, by the number of the system."""
    for parts in zip_longest(*(each.parts(overlap) for each in looks)):
        asked = [(number, part) for number, part in enumerate(parts) if part is not None]
        requests = [
            Fetch(own.engine, own.system, looks[number].histogram.grid, part, None)
            for number, part, own in ((number, part, looks[number].table) for number, part in asked)
        ]
        yield [
            (number, _as_counted(looks[number].table, looks[number].histogram, part, scores))
            for (number, part), scores in zip(asked, ask(requests), strict=True)
        ]


# -- what is asked -----------------------------------------------------------------------------------------------------


def candidates_of(
    tables: Sequence[Table], choosers: Sequence[Chooser], alphas: Sequence[Sequence[Fraction] | None]
) -> list[Candidates]:
    """Return the candidates that each chooser may choose on its system at its alphas (None: at any).

    Where only all scores together decide it, and they do not fit, those at cuts with little of either class between.
    """
    asked = zip(tables, choosers, alphas, strict=True)
    wanted = [partial(Histogram.promising, chooser=rule, alphas=own, most=each.limit) for each, rule, own in asked]
    return [_found(*each) for each in zip(look(tables, wanted), choosers, alphas, strict=True)]


def _found(look: Look, chooser: Chooser, alphas: Sequence[Fraction] | None) -> Candidates:
    if look.known is not None:
        return shortlisted(look.histogram, look.known)
    if chooser.winners(shortlisted(look.histogram, NOTHING), alphas) is None:
        return _cut_candidates(look.table, FINEST)
    parts: list[Candidates] = []
    # The winner of all is the winner of its part, and one bin of overlap shows every candidate between scores.
    for ((_, scores),) in _in_parts([look], overlap=1):
        candidates = shortlisted(look.histogram, scores)
        winners = chooser.winners(candidates, alphas)
        assert winners is not None
        parts.append(candidates.only(*winners))
    return joined(parts)


def rejected_of(tables: Sequence[Table], thresholds: Sequence[ArrayLike]) -> list[tuple[Counts, Counts]]:
    """Count the trials of each class at or below thresholds of each system; what is known costs no scan.

    The first count, which most ask for next, is made in the same scan.
    """
    wanted = [np.asarray(own, dtype=np.float64) for own in thresholds]
    new = [table.not_counted(own) for table, own in zip(tables, wanted, strict=True)]
    requests = {
        number: Count(table.engine, (table.system,), (cuts,))
        for number, (table, cuts) in enumerate(zip(tables, new, strict=True))
        if cuts.size
    }
    told = begin([tables[number] for number in requests], [*requests.values()])
    for (number, request), entries in zip(requests.items(), told, strict=True):
        tn, fn = np.cumsum(by_class(tables[number], entries, request.sizes[0]), axis=1)[:, :-1]
        tables[number].remember(new[number], tn, fn)
    return [table.remembered(own) for table, own in zip(tables, wanted, strict=True)]


def pairs_in_order_of(tables: Sequence[Table]) -> list[int]:
    """Return twice the number of pairs whose positive scores above the negative, by system; a tie is half a pair.

    All scores are looked through, part by part.
    """
    begin(tables)
    looks = [Look(each, _filled) for each in tables]
    below = [int(each.histogram.negative[0]) for each in looks]
    total = [below * int(each.histogram.positive[0]) for below, each in zip(below, looks, strict=True)]
    for parts in _in_parts(looks):
        for number, part in parts:
            passed = np.cumsum(part.negative)
            total[number] += long_dot(2 * (below[number] + passed) - part.negative, part.positive)
            below[number] += int(passed[-1])
    for number, each in enumerate(looks):
        total[number] += int(each.histogram.positive[-1]) * (2 * below[number] + int(each.histogram.negative[-1]))
    return total


def _filled(histogram: Histogram) -> Mask:
    """Return the bins of finite scores that hold any."""
    filled = np.zeros(histogram.grid.size, dtype=np.bool_)
    filled[histogram.filled] = True
    return filled


# -- narrow cuts -------------------------------------------------------------------------------------------------------


def narrow_cuts_of(tables: Sequence[Table], bounds: Sequence[float]) -> list[NarrowCuts]:
    """Return ascending cuts between which lies at most a share of either class, its bound.

    A bin that holds more is cut finer, or at each of its distinct scores: any number of scores may be equal.
    """
    return [_cut(*each)[2] for each in zip(_narrowed(tables, bounds), bounds, strict=True)]


def _cut_candidates(table: Table, bound: float) -> Candidates:
    """Return the candidates at such cuts, with their exact counts, for whoever would need all scores at once."""
    (own,) = _narrowed([table], [bound])
    (atoms, ends, _), histogram = _cut(own, bound), own.histogram
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
    return Candidates(histogram.negatives - tn, fn, cuts, above, histogram.negatives, histogram.positives)


def _narrowed(tables: Sequence[Table], bounds: Sequence[float]) -> list[Look]:
    return look(tables, [partial(_wide, bound=bound) for bound in bounds], [int(8 / bound) for bound in bounds])


def _wide(histogram: Histogram, bound: float) -> Mask:
    """Return the bins that hold too much of a class to be joined with others (`narrow_ends`), unless all in one number.

    The last one is among them: its largest score ends the axis.
    """
    filled = histogram.filled
    too_much = np.zeros(filled.size, dtype=np.bool_)
    for number, size in ((histogram.negative, histogram.negatives), (histogram.positive, histogram.positives)):
        too_much |= number[filled] > max(bound * size / 5, 1)
    held = filled[too_much]
    wide = np.zeros(histogram.grid.size, dtype=np.bool_)
    wide[held[histogram.grid.lowest(held) < histogram.grid.highest(held)]] = True
    wide[filled[-1:]] = True
    return wide


def _cut(look: Look, bound: float) -> tuple[Distinct, Mask, NarrowCuts]:
    """Return pieces of the scores by their largest number, which of them end at cuts, and what is known of these."""
    histogram = look.histogram
    filled = histogram.filled
    known = NOTHING if look.known is None else look.known.take(look.bins[histogram.grid.bins(look.known.value)])
    if look.known is not None:
        filled = filled[~look.bins[filled]]
    low, high = (each(filled).astype(np.float64) for each in (histogram.grid.lowest, histogram.grid.highest))
    single = np.append(low == high, np.ones(known.value.size, dtype=np.bool_))
    low = np.maximum(low, np.minimum(histogram.grid.low[0], high))  # below lies next to nothing, if anything
    pieces = Distinct(
        np.concatenate([high, known.value]),
        np.concatenate([histogram.negative[filled], known.negative]),
        np.concatenate([histogram.positive[filled], known.positive]),
    )
    order = np.argsort(pieces.value)
    atoms, single, middle = pieces.take(order), single[order], np.append(0.5 * low + 0.5 * high, known.value)[order]
    ends = narrow_ends(atoms, bound)
    several = (np.diff(np.flatnonzero(ends), prepend=-1) > 1) | ~single[ends]
    sizes = histogram.negatives, histogram.positives
    shares = (
        np.diff(np.cumsum(number)[ends], prepend=0)[several] / size
        for number, size in zip((atoms.negative, atoms.positive), sizes, strict=True)
    )
    largest, most = float(max(share.max(initial=0.0) for share in shares)), max(bound, *(1 / size for size in sizes))
    if largest > most * (1 + 1e-8):
        raise OptionError(
            f"{look.table.source}: too many of these scores lie too close together to be counted in bins that hold "
            f"less than {most:g} of them; give more memory ({argument('memory')}), or keep the thresholds fixed "
            f"({argument('resample', 'test')})"
        )
    cuts, number = atoms.value[ends], atoms.negative + atoms.positive
    bins: Ints = np.cumsum(ends) - ends
    share = number / np.bincount(bins, number)[bins]
    means = np.append(-np.inf, np.minimum(np.bincount(bins, middle * share), cuts))
    return atoms, ends, NarrowCuts(np.append(-np.inf, cuts), largest, means)
