"""Histograms: how many scores of each class lie in each bin of a grid, and the scores of the bins looked into."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from priori.base.limits import in_parts
from priori.base.types import Floats, Ints, Mask
from priori.scores.candidates import Candidates, Chooser, CutErrors
from priori.scores.grid import Grid, fitted_grid
from priori.scores.sorting import bins_of, counted, long_dot

if TYPE_CHECKING:
    from priori.scores.in_memory import Scores

#: About how many trials in memory each bin gets, and the fewest and the most bins.
PER_BIN, FEWEST_BINS, BINS = 8, 1 << 10, 1 << 20
#: More alphas than this are looked at together.
MANY_ALPHAS = 16
#: How many scores of each class, in memory, the bins are laid out by.
SAMPLE = 1 << 12


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many negative and positive scores lie in each bin of a grid."""

    grid: Grid
    negative: Ints
    positive: Ints

    @cached_property
    def negatives(self) -> int:
        """The negative trials."""
        return int(self.negative.sum())

    @cached_property
    def positives(self) -> int:
        """The positive trials."""
        return int(self.positive.sum())

    @cached_property
    def rows(self) -> Ints:
        """The trials of both classes in each bin."""
        return self.negative + self.positive

    @cached_property
    def filled(self) -> NDArray[np.intp]:
        """The bins of finite scores that hold any, ascending."""
        return np.flatnonzero(self.rows[1:-1]) + 1

    @cached_property
    def before(self) -> tuple[Ints, Ints]:
        """How many negatives and positives lie in lower bins than each; one entry more than there are bins."""
        return np.append(0, np.cumsum(self.negative)), np.append(0, np.cumsum(self.positive))

    def pairs_in_order(self) -> int:
        """Return twice the number of pairs whose positive lies in a higher bin; those of one bin are half a pair."""
        return long_dot(2 * self.before[0][:-1] + self.negative, self.positive)

    @cached_property
    def ends(self) -> CutErrors:
        """The candidates between filled bins: below the first, ..., above the last.

        Where there are scores of +inf, one more stands above them.
        """
        negative, positive = self.before
        after = np.concatenate([[1], self.filled + 1])
        if self.rows[-1]:
            after = np.append(after, self.grid.size)
        return CutErrors(self.negatives - negative[after], positive[after], self.negatives, self.positives)

    def relative_cuts(self, share: float, least: float = 1e-4) -> Floats:
        """Return ascending cuts between which FAR and FRR change by at most about a share of themselves.

        The ends of bins are what there is to choose from; rates below the ``least`` are not told apart.
        """
        far = np.maximum(1 - np.cumsum(self.negative[self.filled]) / self.negatives, least)
        frr = np.maximum(np.cumsum(self.positive[self.filled]) / self.positives, least)
        steps = np.floor((np.log(frr) - np.log(far)) / share)
        ends = self.grid.highest(self.filled).astype(np.float64)
        return np.asarray(ends[np.diff(steps, append=np.inf) > 0])

    def promising(self, chooser: Chooser, alphas: Sequence[Fraction] | None, most: float = np.inf) -> Mask:
        """Return the bins that may hold what the chooser chooses at these alphas (None: at any).

        A few others may be among them, unless they hold more than the ``most`` trials then.
        """
        keep = np.zeros(self.grid.size, dtype=np.bool_)
        # To ask for any alpha keeps a few more bins, and is quicker than to ask for many alphas one by one.
        any_alpha = alphas is None or (len(alphas) > MANY_ALPHAS and self.grid.size < BINS)
        bins = chooser.promising(self.ends, None) if any_alpha else None
        bins = chooser.promising(self.ends, alphas) if bins is None else bins
        keep[self.filled] = True if bins is None else bins[: self.filled.size]
        if any_alpha and alphas is not None and self.rows[keep].sum() > most:
            bins = chooser.promising(self.ends, alphas)
            keep[self.filled] &= True if bins is None else bins[: self.filled.size]
        return keep


@dataclass(frozen=True, eq=False)
class Distinct:
    """Distinct scores, ascending, and how often each class has them."""

    value: Floats
    negative: Ints
    positive: Ints

    def take(self, index: Any) -> Distinct:
        """Return the scores at ``index``."""
        return Distinct(self.value[index], self.negative[index], self.positive[index])


#: No scores at all.
NOTHING = Distinct(np.empty(0), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def distinct(negative: NDArray[Any], positive: NDArray[Any]) -> Distinct:
    """Return the distinct scores of two unordered samples; -0.0 is 0.0."""
    ordered = [np.sort(scores) for scores in (negative, positive)]
    value = np.concatenate(ordered)
    value.sort(kind="stable")  # two ascending runs: this is a merge
    starts = np.flatnonzero(np.append(True, value[1:] != value[:-1])[: value.size])
    total = np.diff(np.append(starts, value.size))
    value = value[starts]
    # Only the scores of the smaller class are looked up: what is left of each run is the other's.
    fewer = int(negative.size > positive.size)
    counts = np.bincount(np.searchsorted(value, ordered[fewer]), minlength=value.size)
    both = (total - counts, counts) if fewer else (counts, total - counts)
    return Distinct(value.astype(np.float64) + 0.0, *both)


def merged(parts: list[Distinct]) -> Distinct:
    """Return several lists of distinct scores as one."""
    value, index = np.unique(np.concatenate([part.value for part in parts]), return_inverse=True)
    # Counts stay far below 2^53, so that adding them up as floating numbers is exact.
    negative, positive = (
        np.bincount(index, weights=np.concatenate(column), minlength=value.size).astype(np.int64)
        for column in ([part.negative for part in parts], [part.positive for part in parts])
    )
    return Distinct(value.astype(np.float64) + 0.0, negative, positive)


def distinct_of(scores: Scores) -> Distinct:
    """Return the distinct scores of a set in memory, and how many trials of each class have them."""
    classes = scores.negative, scores.positive
    value = np.unique(np.concatenate([trials.score for trials in classes]))
    return Distinct(value, *(np.diff(trials.rejected(value), prepend=0) for trials in classes))


def narrow_ends(scores: Distinct, bound: float) -> Mask:
    """Return which of the scores end a bin, so that each holds at most a share ``bound`` of either class, or one trial.

    Scores that more of a class have are bins of their own.
    """
    ends = np.zeros(scores.value.size, dtype=np.bool_)
    for number in (scores.negative, scores.positive):
        most = bound * number.sum()
        step = max(min(0.8 * most, most - 1), 1.0)  # and at most a quarter of it, or a trial, more
        alone = number > max(step / 4, 1.0)
        ends |= (np.diff(np.floor(np.cumsum(number) / step), prepend=0.0) > 0) | alone
        ends[:-1] |= alone[1:]
    ends[:1] |= scores.value[:1] == -np.inf
    ends[-1:] = True
    return ends


def most_between(scores: Scores, cuts: Floats) -> float:
    """Return the largest share of a class that lies between two cuts, where it has several scores.

    Examples
    --------
    >>> from priori.scores import Scores
    >>> most_between(Scores.from_arrays([0.1, 0.2, 0.7, 0.7], [0.7]), np.array([0.5]))
    0.5
    """
    most = 0.0
    for trials in (scores.negative, scores.positive):
        share = np.bincount(bins_of(cuts, trials.score), trials.number, cuts.size + 1) / len(trials)
        several = np.bincount(bins_of(cuts, np.unique(trials.score)), minlength=cuts.size + 1) > 1
        most = max(most, float(share[several].max(initial=0.0)))
    return most


def shortlisted(histogram: Histogram, known: Distinct) -> Candidates:
    """Return the candidates in and between the bins looked into, with the lowest and the highest of all.

    ``known`` holds all the scores of those bins. A candidate between a bin looked into and one that was not
    is left out: its threshold is not known, and were it optimal both bins would have been looked into.
    """
    filled, bins = histogram.filled, histogram.grid.bins(known.value)
    starts = np.flatnonzero(np.append(True, bins[1:] != bins[:-1])[: bins.size])
    sizes = np.diff(np.append(starts, bins.size))
    tn, fn = (
        np.cumsum(own) - np.repeat(np.append(0, np.cumsum(own))[starts], sizes) + before[bins]
        for own, before in zip((known.negative, known.positive), histogram.before, strict=True)
    )
    order = np.repeat(np.searchsorted(filled, bins[starts]), sizes)
    above = np.append(known.value[1:], np.inf)
    adjoining = np.append(np.diff(order) <= 1, order[-1:] == filled.size - 1)
    fp = np.concatenate([histogram.ends.fp[:1], histogram.negatives - tn[adjoining]])
    fn = np.concatenate([histogram.ends.fn[:1], fn[adjoining]])
    below = np.concatenate([[-np.inf], known.value[adjoining]])
    above = np.concatenate([[np.inf], above[adjoining]])
    if fp[-1] != 0 or fn[-1] != histogram.positives:  # reject-all: its threshold is +inf whatever lies below it
        fp, fn = np.append(fp, 0), np.append(fn, histogram.positives)
        below, above = np.append(below, np.inf), np.append(above, np.inf)
    return Candidates(fp, fn, below, above, histogram.negatives, histogram.positives)


def chosen_among(
    negative: Floats, positive: Floats, chooser: Chooser, alphas: Sequence[Fraction] | None
) -> Candidates | None:
    """Return the candidates of scores in memory that may be chosen; None where most of the scores must be looked at.

    Scores are counted in bins, bounds discard bins, and only the scores in the rest are sorted.
    """
    classes = negative, positive
    sample = np.concatenate([scores[:: max(1, scores.size // SAMPLE)] for scores in classes])
    size = min(max(sum(scores.size for scores in classes) // PER_BIN, FEWEST_BINS), BINS)
    grid = fitted_grid(sample[np.isfinite(sample)], size)

    def in_bins(scores: Floats) -> Ints:
        return counted(lambda part: grid.bins(scores[part]), scores.size, grid.size)

    histogram = Histogram(grid, in_bins(negative), in_bins(positive))
    keep = histogram.promising(chooser, alphas)
    if 2 * histogram.rows[keep].sum() > histogram.negatives + histogram.positives:
        return None

    def looked_into(scores: Floats) -> Floats:
        return np.concatenate(in_parts(lambda part: scores[part][keep[grid.bins(scores[part])]], scores.size))

    return shortlisted(histogram, distinct(looked_into(negative), looked_into(positive)))
