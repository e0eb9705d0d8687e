"""Which criteria the kernels choose by themselves, and the alphas as the whole numbers they want."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from priori.decisions.constraints import Constraint
from priori.decisions.criteria import BreakEven, Criterion, Target, WeightedSum

Kind = tuple[int, NDArray[np.int64], NDArray[np.int64]]

#: The kinds of criteria among which `priori.uncertainty.bootstrap.choosing.choose` has a rule.
WEIGHTED, TARGET_NEGATIVE, TARGET_POSITIVE, EQUAL_ERROR, PRECISION_RECALL, BREAK_EVEN, TARGET_RECALL = range(7)
AT_MOST_NEGATIVE, AT_MOST_POSITIVE = range(7, 9)
CLASS_RATES = ("far", "frr", "tpr", "tnr", "recall", "sensitivity", "specificity")


class Chosen(Protocol):
    """A system whose thresholds are chosen again."""

    @property
    def criterion(self) -> Criterion | None: ...

    @property
    def fractions(self) -> tuple[Fraction, ...]: ...


def common_kind(systems: Sequence[Chosen], trials: int) -> Kind | None:
    """Return the kind of the criterion that all systems share; None where their limits differ, or none is known."""
    first = systems[0]
    if any(system.fractions != first.fractions for system in systems):
        return None
    return kernel_kind(first.criterion, first.fractions, trials)


def kernel_kind(criterion: Criterion | None, fractions: Sequence[Fraction], trials: int) -> Kind | None:
    """Return the kind of a criterion with its alphas p / q, or None where only the criterion itself can choose.

    A denominator so large that products with counts pass 64 bits is brought down to the nearest fraction that
    does not; alphas on a grid or typed by hand are far from it.
    """
    kind, turned = (None, False) if criterion is None else _kind(criterion)
    if kind is None:
        return None
    largest = 2**61 // max(64 * trials, 1)
    alphas = [fraction.limit_denominator(largest) for fraction in fractions]
    if turned:
        alphas = [1 - alpha for alpha in alphas]
    p = np.array([alpha.numerator for alpha in alphas], dtype=np.int64)
    q = np.array([alpha.denominator for alpha in alphas], dtype=np.int64)
    return kind, p, q


def _kind(criterion: Criterion) -> tuple[int | None, bool]:
    """Return the kind, and whether alpha is turned round: a target on 1 - FAR is one on FAR."""
    v1, v2 = criterion.v1, criterion.v2
    by_class = (
        {v1.of_class, v2.of_class} == {"negative", "positive"} and v1.name in CLASS_RATES and v2.name in CLASS_RATES
    )
    by_precision = {v1.name, v2.name} == {"precision", "recall"}
    if isinstance(criterion, WeightedSum):
        return (PRECISION_RECALL if criterion.name == "pr" else WEIGHTED), False
    if isinstance(criterion, BreakEven):
        if by_class and v1.greater_is_better == v2.greater_is_better:
            return EQUAL_ERROR, False
        return (BREAK_EVEN if by_precision else None), False
    if isinstance(criterion, Constraint) and by_class and criterion.level is None:
        limited = criterion.aimed_at
        return (AT_MOST_NEGATIVE if limited.of_class == "negative" else AT_MOST_POSITIVE), limited.greater_is_better
    if isinstance(criterion, Target):
        target = criterion.aimed_at
        if by_class:
            return (TARGET_NEGATIVE if target.of_class == "negative" else TARGET_POSITIVE), target.greater_is_better
        if by_precision and target.name == "recall":
            return TARGET_RECALL, True
    return None, False
