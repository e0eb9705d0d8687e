"""Brute force in exact fractions: what the library must agree with, written as plainly as the rules are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any

import hypothesis.strategies as st


@dataclass(frozen=True)
class Candidate:
    threshold: float
    fp: int
    fn: int
    negatives: int
    positives: int

    @property
    def tp(self) -> int:
        return self.positives - self.fn

    @property
    def far(self) -> Fraction:
        return Fraction(self.fp, self.negatives)

    @property
    def frr(self) -> Fraction:
        return Fraction(self.fn, self.positives)

    @property
    def precision(self) -> Fraction:
        accepted = self.tp + self.fp
        return Fraction(self.tp, accepted) if accepted else Fraction(0)

    @property
    def recall(self) -> Fraction:
        return Fraction(self.tp, self.positives)

    @property
    def sensitivity(self) -> Fraction:
        return self.recall

    @property
    def specificity(self) -> Fraction:
        return 1 - self.far


PAIRS = {
    "authentication": ("far", "frr"),
    "detection": ("far", "frr"),
    "fraud": ("far", "frr"),
    "texts": ("far", "frr"),
    "retrieval": ("precision", "recall"),
    "spam": ("precision", "recall"),
    "diagnosis": ("sensitivity", "specificity"),
}

#: One task of each pair of rates. The others differ from these in words alone (tests/decisions/test_criteria.py).
TASKS = ("authentication", "retrieval", "diagnosis")


def named(criterion: str, task: str) -> str:
    """Return a criterion as it is called for a task: what is better when greater keeps a limit from above."""
    return criterion if PAIRS[task] == ("far", "frr") else criterion.replace("at-most", "at-least")


def midpoint(a: float, b: float) -> float:
    middle = a / 2 + b / 2
    return middle if a <= middle < b else a


def at(threshold: float, negatives: list[float], positives: list[float]) -> Candidate:
    fp = sum(score > threshold for score in negatives)
    fn = sum(not score > threshold for score in positives)
    return Candidate(threshold, fp, fn, len(negatives), len(positives))


def candidates(negatives: list[float], positives: list[float]) -> list[Candidate]:
    values = sorted(set(negatives) | set(positives))
    thresholds = [-math.inf, *(midpoint(a, b) for a, b in pairwise(values)), math.inf]
    return [at(threshold, negatives, positives) for threshold in thresholds]


def _error(candidate: Candidate, name: str) -> Fraction:
    value: Fraction = getattr(candidate, name)
    return value if name in ("far", "frr") else 1 - value


def cost(criterion: str, task: str) -> tuple[Callable[[Candidate, Fraction], Any], tuple[str, str]]:
    v1, v2 = PAIRS[task]
    if criterion == "wer":
        return lambda c, alpha: alpha * c.far + (1 - alpha) * c.frr, ("far", "frr")
    if criterion == "pr":
        return lambda c, alpha: -(alpha * c.precision + (1 - alpha) * c.recall), ("precision", "recall")
    if criterion == "target-v1":
        return lambda c, alpha: abs(alpha - getattr(c, v1)), (v1, v2)
    if criterion == "target-v2":
        return lambda c, alpha: abs(alpha - getattr(c, v2)), (v1, v2)
    if criterion.startswith("at-"):
        return _constraint(criterion[-2:] == "v1", v1, v2), (v1, v2)
    if criterion == "max:net-benefit":
        return lambda c, alpha: alpha * c.fp + (1 - alpha) * c.fn, ("far", "frr")
    if criterion in BEST:
        # A measure that weighs FAR and FRR is wer at one alpha: its ties are wer's, whatever the task.
        weighs = criterion.startswith(("min:dcf", "max:balanced"))
        return lambda c, alpha: BEST[criterion](c), (("far", "frr") if weighs else (v1, v2))
    return lambda c, alpha: abs(getattr(c, v1) - getattr(c, v2)), (v1, v2)


def _constraint(first: bool, v1: str, v2: str) -> Callable[[Candidate, Fraction], tuple[Fraction, Fraction]]:
    limited, other = (v1, v2) if first else (v2, v1)

    def broken(c: Candidate, alpha: Fraction) -> tuple[Fraction, Fraction]:
        limit = alpha if limited in ("far", "frr") else 1 - alpha
        beyond = max(Fraction(0), _error(c, limited) - limit)
        return beyond, (_error(c, limited) if beyond else _error(c, other))

    return broken


def _matthews(c: Candidate) -> tuple[int, Fraction]:
    """Return what orders as Matthews' correlation does: its sign, then its square with the sign."""
    tn = c.negatives - c.fp
    top = c.tp * tn - c.fp * c.fn
    bottom = (c.tp + c.fp) * (c.tp + c.fn) * (tn + c.fp) * (tn + c.fn)
    sign = (top > 0) - (top < 0)
    return (-sign, -sign * Fraction(top**2, bottom)) if bottom else (0, Fraction(0))


#: The best value of a measure, as a cost.
BEST: dict[str, Callable[[Candidate], object]] = {
    "max:f1": lambda c: -Fraction(2 * c.tp, 2 * c.tp + c.fp + c.fn) if c.tp + c.fp + c.fn else Fraction(0),
    "max:mcc": _matthews,
    "max:accuracy": lambda c: c.fp + c.fn,
    "max:precision": lambda c: -c.precision,
    "min:dcf:cost_fn=10,cost_fp=1,prior=0.01": lambda c: c.frr / 10 + c.far * Fraction(99, 100),
    "max:balanced-accuracy": lambda c: c.far + c.frr,
    "max:f1:prior=0.25": lambda c: -2 * c.recall / (2 * c.recall + 3 * c.far + c.frr) if c.recall else Fraction(0),
}


def choose(
    negatives: list[float], positives: list[float], criterion: str, alpha: Fraction, task: str = "authentication"
) -> Candidate:
    if criterion == "probability":
        return at(float(alpha), negatives, positives)
    if criterion == "bayes":
        odds = alpha / (1 - alpha) if alpha < 1 else math.inf
        return at(math.log(odds) if odds else -math.inf, negatives, positives)
    function, (v1, v2) = cost(criterion, task)
    possible = candidates(negatives, positives)
    if criterion == "eer" and task in ("retrieval", "spam"):  # equal because nothing is found: not a break-even point
        possible = [c for c in possible if c.tp > 0] or possible
    return min(possible, key=lambda c: (function(c, alpha), _error(c, v1) + _error(c, v2), c.threshold))


def ties(negatives: list[float], positives: list[float], criterion: str, task: str) -> list[Fraction]:
    """Return the alphas at which two candidates cost exactly the same, where the cost is a line in alpha."""
    function, _ = cost(criterion, task)
    found = {Fraction(0)}
    for one, other in combinations(candidates(negatives, positives), 2):
        apart = [function(one, Fraction(alpha)) - function(other, Fraction(alpha)) for alpha in (0, 1)]
        if apart[0] != apart[1] and 0 <= apart[0] / (apart[0] - apart[1]) <= 1:
            found.add(apart[0] / (apart[0] - apart[1]))
    return sorted(found)


_HARD = [-math.inf, math.inf, 0.0, -0.0, 1.0, math.nextafter(1.0, 2.0), 1e308, -1e308, 5e-324, -5e-324]
score = st.one_of(st.sampled_from(_HARD), st.integers(-3, 3).map(float), st.floats(allow_nan=False, width=64))
score_list = st.lists(score, min_size=1, max_size=12)
alpha = st.one_of(
    st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 2), Fraction(1, 10), Fraction(99, 109)]),
    st.fractions(0, 1, max_denominator=60),
)
