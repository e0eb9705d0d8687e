"""What the kernels do, in a few lines of numpy each: tests compare the two, and readers should begin here."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from priori.base.types import Floats, Index, Ints
from priori.decisions.criteria import Criterion
from priori.scores import Scores, Trials
from priori.uncertainty.bootstrap.draws import Layout


def weigh(drawn: Floats, layout: Layout) -> Floats:
    """Return how many trials each draw (row) has in each bin, where unit u comes ``drawn[u, d]`` times."""
    times = drawn[layout.unit] * layout.number[:, None]
    if layout.partner.size:
        times *= np.where(layout.partner[:, None] < 0, 1.0, drawn[layout.partner])
    sums = np.vstack([np.zeros(drawn.shape[1]), np.cumsum(times, axis=0)])
    return np.diff(sums[layout.start], axis=0).T


def choose_again(
    criterion: Criterion,
    fractions: tuple[Fraction, ...],
    counts: tuple[Any, Any],
    values: Floats,
    others: Floats,
    kept: Floats,
) -> Index:
    """Return how many of the ``others`` each new threshold rejects, by any criterion.

    Where a draw lacks a class nothing can be chosen, and the thresholds are those ``kept``.
    """
    ranks = []
    for negative, positive in zip(*counts, strict=True):
        thresholds = kept
        if negative.any() and positive.any():
            thresholds = criterion.choose(counted(negative, positive, values), fractions).threshold
        ranks.append(np.searchsorted(others, thresholds, side="right"))
    return np.array(ranks)


def counted(negative: Ints, positive: Ints, values: Floats) -> Scores:
    """Return a set with so many trials of each class at these values."""
    classes = [Trials(values[each > 0], number=each[each > 0]) for each in (negative, positive)]
    return Scores(classes[0], classes[1])


def climb(negative: Ints, positive: Ints, rate: Fraction) -> float:
    """Return the height of the ROC curve of one row of counts: on the line to the first point beyond the rate."""
    fp, tp = (np.append(0, np.cumsum(counts[::-1])) for counts in (negative, positive))
    beyond = np.flatnonzero(fp * rate.denominator > rate.numerator * fp[-1])
    if not beyond.size:
        return float(tp[-1] / max(tp[-1], 1))
    after = beyond[0]
    part = (float(rate) * fp[-1] - fp[after - 1]) / (fp[after] - fp[after - 1])
    return float((tp[after - 1] + max(part, 0.0) * (tp[after] - tp[after - 1])) / max(tp[-1], 1))


def along_the_curve(negative: Ints, positive: Ints, cost_fn: float, cost_fp: float) -> tuple[float, float, float]:
    """Return EER, least cost and AUC of one row of counts that has both classes."""
    tn, fn = (np.append(0, np.cumsum(counts)) for counts in (negative, positive))
    far, frr = 1 - tn / tn[-1], fn / fn[-1]
    apart = np.abs((tn[-1] - tn) * fn[-1] - fn * tn[-1])
    nearest = int(np.lexsort((far + frr, apart))[0])
    area = 1 - float(np.sum((frr[1:] + frr[:-1]) / 2 * (far[:-1] - far[1:])))
    return float((far + frr)[nearest] / 2), float((cost_fn * frr + cost_fp * far).min()), area
