"""Drawn sets: what units are drawn from, for every system in one order: trials, or counts of tables.

Of paired tables it takes no more than counts: units are random parts of the trials, a trial in the same part whichever
system scored it, and every system is counted by part on its own axis. Which trial is which does not matter within one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.errors import OptionError, argument
from priori.engines import Table
from priori.scores import BOUND, Scores, ScoreSet, Trials, condense_all, counts_of
from priori.scores.histogram import most_between
from priori.scores.score_set import mixed_sets
from priori.uncertainty.expected.score_axis import ScoreAxis

#: So many parts at least tell how much sets vary.
FEWEST_PARTS = 30


def in_one_order(sets: Sequence[ScoreSet], *, by_user: bool) -> list[Scores]:
    """Return the trials of each system in one order; of tables by trials all of it in narrow cells, in no order."""
    tables = [each for each in sets if isinstance(each, Table)]
    if not tables or by_user:
        return _in_order([_written_out(each.load(), by_user) for each in sets])
    if len(tables) < len(sets):
        raise mixed_sets()
    return [entries for entries, _ in condense_all(tables, narrow=BOUND, said="resampled")]


def in_parts(
    sets: Sequence[ScoreSet],
    whole: Sequence[Scores],
    axes: Sequence[ScoreAxis],
    cells: Sequence[NDArray[Any]],
    number: int,
) -> list[Scores]:
    """Return the sets as they are, or tables counted by random parts of the trials, ``number`` of them if they fit.

    Counts are exact at the thresholds that reject these ``cells`` of each axis.
    """
    tables = [each for each in sets if isinstance(each, Table)]
    if whole[0].negative.number is None or not tables:
        return list(whole)
    cuts = [np.unique(axis.thresholds(own)) for axis, own in zip(axes, cells, strict=True)]
    parts = min(table.parts_at_most(number, cut.size) for table, cut in zip(tables, cuts, strict=True))
    if parts < FEWEST_PARTS:
        raise OptionError(
            f"{tables[0].source}: {parts} random parts of the trials are what the {tables[0].memory // 10**6} MB given "
            f"can count in, too few; raise {argument('memory')}"
        )
    return counts_of(tables, cuts, parts)


def cells_caution(wholes: Sequence[Sequence[Scores]], axes: Sequence[ScoreAxis]) -> Caution:
    """Say in how many cells paired tables are counted, and what most of a class lies in a cell of several scores."""
    cuts = [axis.thresholds(axis.every) for axis in axes]
    most = max(most_between(scores, cut) for whole in wholes for scores, cut in zip(whole, cuts, strict=True))
    cells = max(axis.cells for axis in axes)
    return Caution(
        "resampled-in-cells",
        f"paired systems, resampled by random parts of their trials in {cells} cells of scores: "
        f"no rate at any threshold is off by more than {most:.1e}",
    )


def _written_out(scores: Scores, by_user: bool) -> Scores:
    """Return a set whose trials can be drawn: counts of trials written out, unless users come with all of theirs."""
    if by_user or scores.negative.number is None:
        return scores
    negative, positive = (
        Trials(np.repeat(trials.score, 1 if trials.number is None else trials.number))
        for trials in (scores.negative, scores.positive)
    )
    return Scores(negative, positive, source=scores.source)


def _in_order(sets: Sequence[Scores]) -> list[Scores]:
    """Return the sets with their trials in one order, by user and scores: that in which they came changes nothing."""
    orders = []
    for classes in ([scores.negative for scores in sets], [scores.positive for scores in sets]):
        if any(trials.number is not None for trials in classes) or len({len(trials) for trials in classes}) > 1:
            return list(sets)
        first = classes[0]
        names = [codes for codes in (first.probe_user, first.user) if codes is not None]
        keys: list[NDArray[Any]] = [*(trials.score for trials in reversed(classes)), *names]
        orders.append(np.lexsort(keys))
    return [
        replace(scores, negative=scores.negative.take(orders[0]), positive=scores.positive.take(orders[1]))
        for scores in sets
    ]
