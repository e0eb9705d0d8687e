"""Narrow cuts: moving each score within its bin changes no rate by more than a bound."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from priori.base.errors import OptionError, argument
from priori.base.types import Floats, Ints, Mask
from priori.engines.explorer import ROUNDS, Explorer
from priori.engines.histogram import NOTHING, Distinct, Histogram
from priori.scores import Scores
from priori.scores.asking import Asking
from priori.scores.candidates import Shortlist
from priori.scores.sorting import gaps_of

#: Of the negatives and of the positives.
Shares = tuple[float, float]


def narrow_cuts(explorer: Explorer, bound: float, *, trials: int = 0) -> Asking[tuple[Floats, float]]:
    """Return ascending cuts between which lies at most a share ``bound`` of either class, and the largest share.

    A bin that holds more is cut finer, or at each of its distinct scores: any number of scores may be equal. So many
    ``trials`` of a class may lie in a bin whatever their share.
    """
    yield from explorer.begin()
    atoms, ends, largest = yield from _cut(explorer, _bounds(explorer.histogram, bound, trials))
    return np.unique(np.append(-np.inf, atoms.value[ends])), largest


def most_between(scores: Scores, cuts: Floats) -> float:
    """Return the largest share of a class that lies between two cuts, where it has several scores.

    Examples
    --------
    >>> most_between(Scores.from_arrays([0.1, 0.2, 0.7, 0.7], [0.7]), np.array([0.5]))
    0.5
    """
    most = 0.0
    for trials in (scores.negative, scores.positive):
        share = np.bincount(gaps_of(cuts, trials.score), trials.number, cuts.size + 1) / len(trials)
        several = np.bincount(gaps_of(cuts, np.unique(trials.score)), minlength=cuts.size + 1) > 1
        most = max(most, float(share[several].max(initial=0.0)))
    return most


def cut_candidates(explorer: Explorer, bound: float) -> Asking[Shortlist]:
    """Return the candidates at such cuts, with their exact counts, for whoever would need all scores at once."""
    yield from explorer.begin()
    atoms, ends, _ = yield from _cut(explorer, _bounds(explorer.histogram, bound, trials=1))
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


def _cut(explorer: Explorer, bounds: Shares) -> Asking[tuple[Distinct, list[int], float]]:
    """Return pieces of the scores, those of them that end at a cut, and the largest share between two cuts."""
    yield from explorer.restart()
    inside = np.ones(explorer.histogram.grid.size, dtype=np.bool_)
    parts: list[tuple[Distinct, Mask]] = []
    for round_ in range(ROUNDS):
        # Finer bins of some are bought with wider bins of the others, which are kept as they were.
        histogram = explorer.histogram
        wide = histogram.grid.cut_finer(_wide(histogram, bounds) & inside, explorer.panel.segments)
        looked = bool(round_) and (yield from explorer.look(wide))
        parts.append(_atoms(histogram, inside & ~wide, explorer.known_in(wide) if looked else NOTHING))
        if looked or not wide.any():
            break
        yield from explorer.refine(wide, max(explorer.most_bins, int(8 / min(bounds))))
        inside = explorer.within(wide, histogram.grid)
    else:
        parts.append(_atoms(explorer.histogram, inside, NOTHING))
    atoms, single = _in_order(parts)
    ends, largest = _joined(atoms, single, explorer.histogram, bounds)
    if largest > max(bounds) * (1 + 1e-8):
        raise OptionError(
            f"{explorer.source}: too many of these scores lie too close together to be counted in bins that hold "
            f"less than {max(bounds):g} of them; give more memory ({argument('memory')}), or keep the thresholds fixed "
            f"({argument('resample', 'test')})"
        )
    return atoms, ends, largest


def relative_cuts(histogram: Histogram, share: float, least: float = 1e-4) -> Floats:
    """Return ascending cuts between which FAR and FRR change by at most about a share of themselves.

    The ends of bins are what there is to choose from; rates below the ``least`` are not told apart.
    """
    far, frr = (
        np.maximum(rate, least)
        for rate in (
            1 - np.cumsum(histogram.negative[histogram.filled]) / histogram.negatives,
            np.cumsum(histogram.positive[histogram.filled]) / histogram.positives,
        )
    )
    steps = np.floor((np.log(frr) - np.log(far)) / share)
    ends = histogram.grid.highest(histogram.filled).astype(np.float64)
    return np.asarray(ends[np.diff(steps, append=np.inf) > 0])


def _ends(histogram: Histogram) -> tuple[Floats, Mask]:
    """Return the largest number of each filled bin, and whether it is the only one in it."""
    low, high = histogram.limits
    ends = np.minimum(histogram.grid.highest(histogram.filled).astype(np.float64), high)
    starts = np.maximum(histogram.grid.lowest(histogram.filled).astype(np.float64), low)
    return ends, np.asarray(starts == ends)


def _wide(histogram: Histogram, bounds: Shares) -> Mask:
    """Return the bins of several numbers that hold too much of a class."""
    filled = histogram.filled
    share = [counts[filled] / size for counts, size in _classes(histogram)]
    wide = np.zeros(histogram.grid.size, dtype=np.bool_)
    too_much = [own > most for own, most in zip(share, bounds, strict=True)]
    wide[filled[(too_much[0] | too_much[1]) & ~_ends(histogram)[1]]] = True
    return wide


def _classes(histogram: Histogram) -> tuple[tuple[Ints, int], tuple[Ints, int]]:
    return (histogram.negative, histogram.negatives), (histogram.positive, histogram.positives)


def _bounds(histogram: Histogram, bound: float, trials: int) -> Shares:
    """Return the most of each class that a bin may hold: so many trials always."""
    return max(bound, trials / histogram.negatives), max(bound, trials / histogram.positives)


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


def _in_order(parts: list[tuple[Distinct, Mask]]) -> tuple[Distinct, Mask]:
    """Return the atoms of several grids as one list, ascending; they do not overlap."""
    value, negative, positive, single = (
        np.concatenate(column)
        for column in zip(*((atoms.value, atoms.negative, atoms.positive, one) for atoms, one in parts), strict=True)
    )
    order = np.argsort(value)
    return Distinct(value, negative, positive).take(order), single[order]


def _joined(atoms: Distinct, single: Mask, histogram: Histogram, bounds: Shares) -> tuple[list[int], float]:
    """Join atoms while they hold no more than the bounds together; return the last of each, and the most in one."""
    # Lists, which are searched ten times faster than arrays, one number at a time.
    running = [
        (np.cumsum(column) / size).tolist()
        for column, size in ((atoms.negative, histogram.negatives), (atoms.positive, histogram.positives))
    ]
    ends: list[int] = []
    most = [own * (1 + 1e-9) for own in bounds]
    largest = 0.0
    start = 0
    while start < atoms.value.size:
        before = [column[start - 1] if start else 0.0 for column in running]
        reach = (
            bisect_right(column, share + own, start) for column, share, own in zip(running, before, most, strict=True)
        )
        end = max(min(reach), start + 1)
        ends.append(end - 1)
        if end > start + 1 or not single[start]:
            largest = max(largest, *(column[end - 1] - share for column, share in zip(running, before, strict=True)))
        start = end
    return ends, float(largest)
