"""Warnings about the errors seen: none, those of few users, or few users who count."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from priori.base.cautions import Caution
from priori.base.types import Floats
from priori.scores import ScoreSet
from priori.scores.influence import FEW_ERRING, Spread
from priori.uncertainty.bootstrap.calibration import Calibration, error_rates, slopes_of
from priori.uncertainty.bootstrap.designs.base import FEW_USERS, TOO_FEW, TOO_FEW_USERS
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
    matters = _matters(test, thresholds, plan, spread, calibration) & decides
    found: list[Caution] = []
    for erring, important, name in zip(spread.erring, matters, CLASSES, strict=True):
        # Where most users err they are few users, not few that err.
        few = important & (erring > 0) & (erring < min(FEW_ERRING, spread.people / 2))
        none = important & (erring == 0)
        if none.any() and not paired:
            users = f" and {spread.people} users" if spread.people else ""
            found.append(
                Caution(
                    "no-errors",
                    f"no error among the {name} at {_where(none, plan)}: the interval rests on "
                    f"{getattr(test, f'n_{name}')} trials{users} without one, not on any that was seen",
                )
            )
        if few.any():
            number = int(np.ceil(erring[few].min() - 1e-9))
            what = "tell the systems apart on" if paired else "make all or most of the errors among"
            found.append(
                Caution(
                    "few-erring-users",
                    f"as few as {number} of {spread.people} users {what} the {name} at {_where(few, plan)}: "
                    "the next user may change the picture; trust the interval little",
                )
            )
    return (*found, *_few_users(spread, plan))


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


def _few_users(spread: Spread, plan: BootstrapPlan) -> list[Caution]:
    """Say so where users are many, but few of them have most of the trials of a class, or any."""
    least = TOO_FEW_USERS if plan.interval == "calibrated" else FEW_USERS
    effective = {name: round(float(most.min()) + 1, 9) for name, most in zip(CLASSES, spread.most, strict=True)}
    name = min(effective, key=effective.__getitem__)
    if effective[name] >= least or spread.people < least:
        return []
    few = f"the {spread.people} users count for {effective[name]:.1f} among the {name}, where few have most trials"
    return [Caution("few-users", f"{few}: {TOO_FEW}")]


def _where(here: NDArray[np.bool_], plan: BootstrapPlan) -> str:
    if plan.alpha is None or plan.alpha.shape != here.shape:
        return "a threshold" if here.sum() == 1 else f"{here.sum()} of {here.size} thresholds"
    alphas = plan.alpha[here]
    if alphas.size == 1:
        return f"alpha {alphas[0]:.4g}"
    return f"{alphas.size} of {here.size} alphas from {alphas.min():.4g} to {alphas.max():.4g}"
