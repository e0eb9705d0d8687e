"""Attacks with a share of their own, in the bootstrap: they are laid out above all other scores on one axis.

One draw then counts impostors and attacks apart, whatever is drawn (trials, users, identities), and each keeps its
share in every replicate, however many of them came.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats
from priori.decisions.measure import divide
from priori.decisions.outcomes import Outcomes
from priori.scores import Scores


def stack_gaps(test: Scores, thresholds: Floats) -> tuple[Scores, Floats]:
    """Return a set whose scores are gaps between thresholds, those of attacks above all others, and its thresholds.

    They are the thresholds of the impostors, one above all impostors, and those of the attacks.
    """
    edges, index = np.unique(thresholds, return_inverse=True)
    gaps = [np.searchsorted(edges, trials.score, side="left") for trials in (test.negative, test.positive)]
    gaps[0] = gaps[0] + above(test) * (edges.size + 1)
    negative, positive = (
        replace(trials, score=gap.astype(np.float64))
        for trials, gap in zip((test.negative, test.positive), gaps, strict=True)
    )
    stacked = replace(test.unmixed, negative=negative, positive=positive)
    return stacked, np.concatenate([index, [edges.size], edges.size + 1 + index]).astype(np.float64)


def above(scores: Scores) -> NDArray[np.bool_]:
    """Return which negatives lie above all other scores: attacks, where they have a share of their own."""
    attack = scores.negative.attack
    return (
        np.zeros(scores.negative.score.size, dtype=np.bool_) if scores.omega is None or attack is None else attack > 0
    )


def fold(outcomes: Outcomes, omega: Fraction) -> Outcomes:
    """Return the outcomes at the thresholds that were stacked; false positives are FAR_omega of all negatives."""
    size = outcomes.tn.shape[1] // 2
    impostors = outcomes.tn[:, [size]]
    negatives, share = outcomes.tn[:, [0]] + outcomes.fp[:, [0]], float(omega)
    far = divide(impostors - outcomes.tn[:, :size], impostors, 1.0)
    iapmr = divide(outcomes.fp[:, size + 1 :], negatives - impostors, 1.0)
    fp: Any = (share * iapmr + (1 - share) * far) * negatives
    return Outcomes(tp=outcomes.tp[:, :size], fp=fp, tn=negatives - fp, fn=outcomes.fn[:, :size])


def scaled(outcomes: Outcomes, negatives: int) -> Outcomes:
    """Return outcomes whose negatives add up to so many; those of a mixture are counted in its own small units."""
    fp: Any = divide(outcomes.fp, outcomes.negatives, 1.0) * negatives
    return Outcomes(tp=outcomes.tp, fp=fp, tn=negatives - fp, fn=outcomes.fn)
