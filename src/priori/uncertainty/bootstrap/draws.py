"""Draws: a set laid out in units and bins, and how many trials of each class a replicate has in each bin.

A unit is what is drawn together: a user with all trials, or a trial among others. Whatever reads a draw
(`priori.uncertainty.bootstrap.readers`) sees the counts in bins only, nothing of units, scores or trials.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Codes, Floats, Ints
from priori.scores import Scores
from priori.scores.influence import People
from priori.uncertainty.bootstrap.layout import Bins, Owners

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import BootstrapPlan

#: A bin of a unit with fewer trials is drawn trial by trial, one with more by a binomial, which costs as much.
LIGHT = 24
#: The purposes of streams; systems that are drawn apart get their own set of four.
DEV_USERS, DEV_TRIALS, TEST_USERS, TEST_TRIALS = range(1, 5)
#: How many counts a batch of replicates holds: as many as fit a processor's cache, or those of so many replicates.
HELD, TOGETHER = 1 << 19, 16

#: The counts of the negatives and of the positives of some replicates: (replicates, bins) each.
Pair = tuple[Any, Any]

_log = logging.getLogger("priori")
_warned = False


def load_kernel(name: str) -> Any:
    """Import a kernel by name; announce a compilation, which happens once per machine."""
    global _warned
    kernel = getattr(import_module("priori.uncertainty.bootstrap.kernels"), name)
    cached = Path(kernel.stats.cache_path or "/").glob(f"kernels.{kernel.__name__}-*.nbi")
    if not _warned and not kernel.signatures and not any(cached):
        _warned = True
        _log.warning("compiling the bootstrap kernels, once on this machine ...")
    return kernel


def rows_for(numbers: int, work: int, held: int) -> int:
    """Return how many replicates fit a batch: some megabytes, and a fraction of a second."""
    return max(
        1,
        min(
            (1 << 19) // max(numbers, 1), (1 << 26) // max(work, 1), max(HELD // held, min(TOGETHER, (1 << 22) // held))
        ),
    )


# -- what is drawn ----------------------------------------------------------------------------------------------


class Draws(NamedTuple):
    """Paired systems laid out, to be drawn: ``counts(first, rows)`` are those of each system in turn, by replicate.

    ``work`` is about how many numbers a replicate touches, ``held`` how many of its counts are held at once.
    """

    counts: Callable[[int, int], Iterator[Pair]]
    work: int
    held: int


# -- units that come with all their trials -----------------------------------------------------------------------


class Layout(NamedTuple):
    """The trials of one class by bin: those of bin b from ``start[b]`` to ``start[b + 1]``.

    Entry t stands for ``number[t]`` trials of ``unit[t]``, which come as often as this and ``partner[t]`` do (-1: as
    often as the unit).
    """

    start: Ints
    unit: NDArray[np.int32]
    partner: NDArray[np.int32]
    number: Floats


def make_layout(bins: Codes, count: int, people: People, number: Any) -> Layout:
    """Lay out the trials of one class; those that nothing can tell apart become one entry."""
    partner = people.partner
    others = 0 if partner is None else int(partner.max(initial=-1)) + 1
    key = bins.astype(np.int64) * people.count + people.unit
    if partner is not None:
        key = key * (others + 1) + partner + 1
    present, trials = _distinct(key, count * people.count * (others + 1), number)
    rest, other = np.divmod(present, others + 1)
    bin_, unit = np.divmod(rest, people.count)
    other = (other - 1).astype(np.int32) if others else np.empty(0, dtype=np.int32)
    start = np.searchsorted(bin_, np.arange(count + 1))
    return Layout(start, unit.astype(np.int32), other, trials.astype(np.float64))


def whole_units(
    sets: Sequence[Scores],
    bins: Sequence[Bins],
    owners: Sequence[Owners],
    strata: Ints,
    purpose: int,
    seed: int,
    inner: int = 1,
) -> Draws:
    """Lay out sets whose units come with all their trials, each system on its own.

    Units from one of ``strata`` to the next are drawn among themselves; one draw serves both classes.
    """
    laid_out = []
    for scores, own, (of_negatives, of_positives) in zip(sets, bins, owners, strict=True):
        negative = make_layout(own.negative, own.of_negatives, of_negatives, scores.negative.number)
        laid_out.append((negative, make_layout(own.positive, own.number, of_positives, scores.positive.number)))

    def counts(first: int, rows: int) -> Iterator[Pair]:
        drawn = np.empty((int(strata[-1]), rows))
        load_kernel("multiplicities")(first, seed, inner, purpose, strata, drawn)
        for pair, own in zip(laid_out, bins, strict=True):
            negative, positive = (_weighed(drawn, each) for each in pair)
            yield join_attacks(negative, positive, own.omega)

    work = sum(each.unit.size + each.start.size for pair in laid_out for each in pair) // 4
    return Draws(counts, work, 2 * max(each.number for each in bins) + 2 * int(strata[-1]))


def _weighed(drawn: Floats, layout: Layout) -> Any:
    """Return how many trials each draw has in each bin."""
    whole = bool((layout.number == np.rint(layout.number)).all())
    sums = np.empty((drawn.shape[1], layout.start.size - 1), dtype=np.int64 if whole else np.float64)
    load_kernel("weigh")(drawn, layout, sums)
    # Weights are rounded, so that parts add up to the whole exactly.
    return sums if whole else np.round(sums, 9)


# -- trials drawn within their unit ------------------------------------------------------------------------------


class Within(NamedTuple):
    """The trials of one class by unit, to be drawn among themselves.

    ``size[u]`` trials belong to unit u. Its heavy bins are ``bin[i]`` with ``number[i]`` trials, i from ``heavy[u]`` to
    ``heavy[u + 1]``, the fullest first; the trials of its light bins are written out, ``single[i]`` the bin of each, i
    from ``light[u]`` to ``light[u + 1]``.
    """

    size: Ints
    heavy: Ints
    bin: NDArray[np.int32]
    number: Ints
    light: Ints
    single: NDArray[np.int32]


def make_within(bins: Codes, unit: Codes | None = None, units: int = 1, number: Ints | None = None) -> Within:
    """Lay out the trials of one class: ``bins[i]`` is the bin of entry i, ``unit[i]`` its unit (None: one for all).

    Entry i stands for ``number[i]`` trials (None: for one).
    """
    span = int(bins.max(initial=0)) + 1
    key = bins.astype(np.int64)
    if unit is not None:
        key += unit.astype(np.int64) * span
    present, trials = _distinct(key, units * span, number)
    unit_of, bin_ = np.divmod(present, span)
    few = trials < LIGHT
    heavy = np.flatnonzero(~few)
    heavy = heavy[np.lexsort((-trials[heavy], unit_of[heavy]))]
    light = np.flatnonzero(few)
    return Within(
        np.bincount(unit_of, trials, units).astype(np.int64),
        np.append(0, np.cumsum(np.bincount(unit_of[heavy], minlength=units))),
        bin_[heavy].astype(np.int32),
        trials[heavy],
        np.append(0, np.cumsum(np.bincount(unit_of[light], trials[light], units).astype(np.int64))),
        np.repeat(bin_[light], trials[light]).astype(np.int32),
    )


def trials_within(
    sets: Sequence[Scores], bins: Sequence[Bins], plan: BootstrapPlan, people: Owners | None, *, dev: bool = False
) -> Draws:
    """Lay out paired systems whose trials are drawn within their unit: all of them, or a user who may be drawn too.

    The trials of several systems are drawn in combinations of their bins, for all systems together.
    """
    pairs, places = [(each.negative, each.positive) for each in bins], None
    drawn_in, widths = pairs[0], (bins[0].of_negatives, bins[0].number)
    if len(bins) > 1:
        (negative, of_negatives), (positive, of_positives) = (_combined([pair[c] for pair in pairs]) for c in range(2))
        drawn_in, widths = (negative, positive), (of_negatives.shape[1], of_positives.shape[1])
        places = list(zip(of_negatives, of_positives, strict=True))
    numbers = sets[0].negative.number, sets[0].positive.number
    units = (None, None) if people is None else (people[0].unit, people[1].unit)
    count = 1 if people is None else people[0].count
    classes = [
        make_within(own, unit, count, number) for own, unit, number in zip(drawn_in, units, numbers, strict=True)
    ]
    of_users, of_trials = user_stream(plan, dev=dev), (DEV_TRIALS if dev else TEST_TRIALS) + 4 * plan.streams

    def counts(first: int, rows: int) -> Iterator[Pair]:
        negative, positive = (np.empty((rows, width), dtype=np.int64) for width in widths)
        times = np.ones((count, rows))
        if people is not None and plan.design.draws_users:
            load_kernel("multiplicities")(first, plan.seed, plan.inner, of_users, np.array([0, count]), times)
        draw = load_kernel("draw_within")
        draw(first, plan.seed, plan.design.draws_rows, times, of_trials, *classes, negative, positive)
        if places is None:
            yield join_attacks(negative, positive, bins[0].omega)
            return
        spread = load_kernel("spread")
        for own, (of_negatives, of_positives) in zip(bins, places, strict=True):
            of_system = [np.empty((rows, width), dtype=np.int64) for width in (own.of_negatives, own.number)]
            spread(negative, of_negatives, of_system[0])
            spread(positive, of_positives, of_system[1])
            yield join_attacks(of_system[0], of_system[1], own.omega)

    work = sum(each.bin.size + each.single.size for each in classes) + len(bins) * sum(widths)
    return Draws(counts, work, 2 * max(each.number for each in bins) + sum(widths))


def lay_out(
    sets: Sequence[Scores],
    bins: Sequence[Bins],
    plan: BootstrapPlan,
    people: Sequence[Owners] | None,
    *,
    dev: bool = False,
) -> Draws:
    """Lay out the sets of paired systems as a plan draws them, with the people of each where it asks for them."""
    if people is None or plan.design.draws_trials:
        return trials_within(sets, bins, plan, None if people is None else people[0], dev=dev)
    strata = np.array([0, people[0][0].count])
    return whole_units(sets, bins, people, strata, user_stream(plan, dev=dev), plan.seed, plan.inner)


def user_stream(plan: BootstrapPlan, *, dev: bool = False) -> int:
    """Return the stream that draws the users of a set."""
    return (DEV_USERS if dev and not plan.shared_users else TEST_USERS) + 4 * plan.streams


def join_attacks(negative: Any, positive: Any, omega: Ints) -> Pair:
    """Bring attacks, which lie above all other bins, down to where they scored, with the share ``omega``, if any.

    An impostor and an attack weigh whole numbers. Where products of all counts would pass 64 bits these are rounded;
    where one kind did not come they are 1.
    """
    if not omega[1]:
        return negative, positive
    width = positive.shape[1]
    impostors, attacks = (part.sum(axis=1).astype(np.int64) for part in (negative[:, :width], negative[:, width:]))
    own, other = (omega[1] - omega[0]) * attacks, omega[0] * impostors
    total = (own.astype(np.float64) * impostors + other.astype(np.float64) * attacks) * np.maximum(
        positive.sum(axis=1), 1
    )
    while (large := total > 2.0**61).any():
        own, other = (np.where(large, np.maximum((each + 1) >> 1, 1), each) for each in (own, other))
        total = np.where(large, total / 2, total)
    own, other = (np.where((impostors == 0) | (attacks == 0), 1, each)[:, None] for each in (own, other))
    return own * negative[:, :width] + other * negative[:, width:], positive


def _combined(bins: Sequence[Codes]) -> tuple[Codes, NDArray[np.int32]]:
    """Return the combination of bins that each trial has, and the bin of each combination by system."""
    key = bins[0].astype(np.int64)
    combined = np.arange(int(key.max(initial=0)) + 1, dtype=np.int64)[:, None]
    for own in bins[1:]:
        span = int(own.max(initial=0)) + 1
        present, key = np.unique(key * span + own, return_inverse=True)
        before, last = np.divmod(present, span)
        combined = np.column_stack([combined[before], last])
    return key.astype(np.int32), np.ascontiguousarray(combined.T.astype(np.int32))


def _distinct(key: Ints, size: int, number: Any) -> tuple[Ints, Any]:
    """Return the distinct keys, ascending, and how many trials have each."""
    if number is not None:
        present, index = np.unique(key, return_inverse=True)
        trials = np.bincount(index, weights=number, minlength=present.size)
        return present, trials if number.dtype.kind == "f" else trials.astype(np.int64)
    if size <= max(4 * key.size, 1 << 16):
        counts = np.bincount(key, minlength=size)
        present = np.flatnonzero(counts).astype(np.int64)
        return present, counts[present].astype(np.int64)
    present, counts = np.unique(key, return_counts=True)
    return present, counts.astype(np.int64)
