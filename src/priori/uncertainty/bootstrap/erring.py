"""Warnings about the errors seen: none, those of few users, or few users who count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.types import Floats
from priori.scores import ScoreSet
from priori.scores.influence import Spread, unit_cautions
from priori.uncertainty.bootstrap.calibration import Calibration, error_rates, slopes_of
from priori.uncertainty.bootstrap.plans import BootstrapPlan

#: A class that has less of the variance than this hardly matters to the measure.
MATTERS = 0.2
CLASSES = ("negatives", "positives")


def error_cautions(
    test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, calibration: Calibration | None, *, paired: bool = False
) -> tuple[Caution, ...]:
    """Return warnings about the errors at these thresholds; of ``paired`` systems, about those they do not share.

    Where a threshold accepts or rejects everything whatever its score, that is no finding.
    """
    spread = plan.design.spread(test, thresholds, plan) if calibration is None else calibration.spread
    decides = np.isfinite(thresholds)
    if plan.alpha is not None and plan.alpha.shape == decides.shape and decides.size > 2:
        decides &= (plan.alpha > 0) & (plan.alpha < 1)  # the ends of a grid are no finding
    matters = _matters(test, thresholds, plan, spread, calibration) & decides
    found: list[Caution] = []
    for row, (important, name) in enumerate(zip(matters, CLASSES, strict=True)):
        own = spread.row(row)
        none = important & (own.erring == 0)
        if 3 * none.sum() >= important.sum() > 0 and not paired:
            users = f" and {spread.people} users" if spread.people else ""
            found.append(
                Caution(
                    "no-errors",
                    f"no error among the {name}{_where(none, plan)}: the interval rests on "
                    f"{getattr(test, f'n_{name}')} trials{users} without one, not on any that was seen",
                )
            )
        what = f"what tells the systems apart on the {name}" if paired else f"the errors among the {name}"
        found += unit_cautions(own, important, lambda mask: _where(mask, plan), what)
    return tuple({caution.code: caution for caution in reversed(found)}.values())[::-1]


def _matters(
    test: ScoreSet, thresholds: Floats, plan: BootstrapPlan, spread: Spread, calibration: Calibration | None
) -> NDArray[np.bool_]:
    """Tell where each class (rows) has a share worth mentioning in the variance, that of pseudo-users included."""
    rate = error_rates(test, thresholds) if calibration is None else calibration.rate
    slopes = slopes_of(test, rate, plan)
    sizes = np.array([[test.n_negatives], [test.n_positives]])
    pseudo = np.ones_like(rate) if calibration is None else calibration.weight
    variance = spread.variance + (pseudo / sizes) ** 2 / 2
    if slopes is not None:
        variance = variance * slopes**2
    return np.asarray((variance >= MATTERS * variance.sum(axis=0)) & (variance > 0))


def _where(here: NDArray[np.bool_], plan: BootstrapPlan) -> str:
    if plan.alpha is None or plan.alpha.shape != here.shape:
        return f" at {here.sum()} of {here.size} thresholds" if here.size > 1 else ""
    alphas = plan.alpha[here]
    if alphas.size == 1:
        return f" at alpha {alphas[0]:.4g}"
    return f" at {alphas.size} of {here.size} alphas from {alphas.min():.4g} to {alphas.max():.4g}"
