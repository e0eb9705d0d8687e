"""Criteria: the cost C(V1, V2; alpha) whose minimiser on development data is the threshold.

Each criterion chooses exactly: the hull for weighted sums, order statistics for class rates, a search through
every candidate for the rest. A tie goes to the smaller V1 + V2 (both turned into errors), then to the lower
threshold.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from priori.base.alphas import as_fractions
from priori.base.errors import OptionError, unknown
from priori.base.types import Counts, Floats
from priori.decisions import candidates
from priori.decisions.hull import NEAR, Envelope, error_envelope, precision_recall_envelope
from priori.decisions.measures import FAR, FRR, PRECISION, RECALL, Ratio, Task, get_task
from priori.decisions.outcomes import Outcomes, count
from priori.decisions.shortlist import Shortlist
from priori.scores import Scores
from priori.scores.remote import Remote

__all__ = ["CRITERIA", "Choice", "Criterion", "Pieces", "choose_threshold", "get_criterion"]


@dataclass(frozen=True)
class Choice:
    """The thresholds chosen on a set, one per alpha, and the outcomes they have on that same set."""

    threshold: Floats
    outcomes: Outcomes


@dataclass(frozen=True)
class Pieces:
    """The choice for every alpha at once: candidate ``i`` holds between ``breaks[i]`` and ``breaks[i + 1]``."""

    breaks: Floats
    choice: Choice


@dataclass(frozen=True)
class Criterion:
    """A cost to minimise on development data; ``v1`` and ``v2`` are the pair it trades off."""

    name: str
    v1: Ratio
    v2: Ratio
    uses_alpha: bool = True

    def choose(self, scores: Scores | Shortlist | Remote, alphas: Sequence[Fraction]) -> Choice:
        """Return the minimiser at each alpha."""
        if isinstance(scores, Remote):
            scores = scores.shortlist(self, alphas)
        fp, fn = self._select(scores, alphas)
        return _choice(scores, fp, fn)

    def pieces(self, scores: Scores | Shortlist | Remote) -> Pieces:
        """Return the minimiser for every alpha from 0 to 1."""
        if isinstance(scores, Remote):
            scores = scores.shortlist(self, None)
        return self._pieces(scores)

    def _pieces(self, scores: Scores | Shortlist) -> Pieces:
        raise OptionError(f"the criterion {self.name!r} has no exact curve; use a grid or a list of alphas")

    def _select(self, scores: Scores | Shortlist, alphas: Sequence[Fraction]) -> tuple[Counts, Counts]:
        raise NotImplementedError


def _choice(scores: Scores | Shortlist, fp: Counts, fn: Counts) -> Choice:
    return Choice(candidates.threshold_of(scores, fp, fn), _outcomes(scores, fp, fn))


def _outcomes(scores: Scores | Shortlist, fp: Counts, fn: Counts) -> Outcomes:
    return Outcomes.from_errors(fp, fn, negatives=len(scores.negative), positives=len(scores.positive))


class WeightedSum(Criterion):
    """``alpha V1 + (1 - alpha) V2`` of two errors: FAR and FRR in wer (Eq. 10), precision and recall in pr (Eq. 11)."""

    def envelope(self, scores: Scores | Shortlist) -> Envelope:
        return precision_recall_envelope(scores) if self.name == "pr" else error_envelope(scores)

    def _select(self, scores: Scores | Shortlist, alphas: Sequence[Fraction]) -> tuple[Counts, Counts]:
        envelope = self.envelope(scores)
        chosen = envelope.choose(alphas)
        return envelope.fp[chosen], envelope.fn[chosen]

    def _pieces(self, scores: Scores | Shortlist) -> Pieces:
        envelope = self.envelope(scores)
        return Pieces(np.concatenate([[0.0], envelope.breaks(), [1.0]]), _choice(scores, envelope.fp, envelope.fn))


@dataclass(frozen=True)
class Target(Criterion):
    """``|alpha - V|``: come as near as possible to a wanted value of V1 (Eq. 12) or of V2 (Eq. 13)."""

    which: int = 1

    @property
    def target(self) -> Ratio:
        return self.v1 if self.which == 1 else self.v2

    def reachable(self, scores: Scores | Shortlist) -> tuple[Counts, Counts]:
        """Return the best candidate for each value of the target that can be reached, the values rising."""
        other = self.v2 if self.which == 1 else self.v1
        match self.target.of_class, other.of_class:
            case "negative", "positive":
                fp, fn = candidates.per_negative(scores)
                rising = self.target.greater_is_better
            case "positive", "negative":
                fp, fn = candidates.per_positive(scores)
                rising = not self.target.greater_is_better
            case _:
                fp, fn = candidates.all_candidates(scores)
                outcomes = _outcomes(scores, fp, fn)
                # Counts are far below 2^53, so equal ratios give equal floats: division rounds correctly.
                value = self.target(outcomes)
                order = np.lexsort((self.v1.error(outcomes) + self.v2.error(outcomes), value))
                first = order[candidates.first_of_each(value[order])]
                return fp[first], fn[first]
        return (fp, fn) if rising else (fp[::-1], fn[::-1])

    def _select(self, scores: Scores | Shortlist, alphas: Sequence[Fraction]) -> tuple[Counts, Counts]:
        fp, fn = self.reachable(scores)
        outcomes = _outcomes(scores, fp, fn)
        value = self.target(outcomes)
        if value.size == 1:
            return np.repeat(fp, len(alphas)), np.repeat(fn, len(alphas))
        at = np.array([float(alpha) for alpha in alphas])
        upper = np.clip(np.searchsorted(value, at), 1, value.size - 1)
        below, beyond = at - value[upper - 1], value[upper] - at
        chosen = np.where(below <= beyond, upper - 1, upper)
        for index in np.flatnonzero(np.abs(below - beyond) < NEAR).tolist():
            chosen[index] = self._choose_exactly(outcomes, int(upper[index]), alphas[index])
        return fp[chosen], fn[chosen]

    def _choose_exactly(self, outcomes: Outcomes, upper: int, alpha: Fraction) -> int:
        def cost(index: int) -> tuple[Fraction, Fraction, int]:
            at = outcomes[index]
            rejected = int(at.tn + at.fn)  # rises with the threshold
            return abs(alpha - self.target.exact(at)), self.v1.exact_error(at) + self.v2.exact_error(at), rejected

        # Two floats on each side: more values than that cannot be nearer together than a float can tell.
        return min(range(max(upper - 2, 0), min(upper + 2, len(outcomes))), key=cost)

    def _pieces(self, scores: Scores | Shortlist) -> Pieces:
        fp, fn = self.reachable(scores)
        choice = _choice(scores, fp, fn)
        value = self.target(choice.outcomes)
        middles = (value[1:] + value[:-1]) / 2
        return Pieces(np.concatenate([[0.0], middles, [1.0]]), choice)


class Search(Criterion):
    """A criterion minimised by looking at every candidate."""

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        """Return the cost of each candidate, as floats."""
        raise NotImplementedError

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Any:
        """Return the cost of one candidate in a form that compares exactly."""
        raise NotImplementedError

    def _select(self, scores: Scores | Shortlist, alphas: Sequence[Fraction]) -> tuple[Counts, Counts]:
        fp, fn = candidates.all_candidates(scores)
        outcomes = _outcomes(scores, fp, fn)
        errors = self.v1.error(outcomes) + self.v2.error(outcomes)
        chosen = [self._best(outcomes, errors, alpha) for alpha in alphas]
        return fp[chosen], fn[chosen]

    def _best(self, outcomes: Outcomes, errors: Floats, alpha: Fraction) -> int:
        cost = np.asarray(self.cost(outcomes, alpha), dtype=np.float64)
        if cost.shape != errors.shape or np.isnan(cost).all():
            raise OptionError(f"the criterion {self.name!r} must give one number per candidate")
        lowest = np.nanmin(cost)
        tied = np.flatnonzero(cost <= lowest + NEAR * (1 + abs(lowest)))
        tied = tied[_lowest([self.exact_cost(outcomes[i], alpha) for i in tied])]
        tied = tied[errors[tied] <= errors[tied].min() + NEAR]
        sums = [self.v1.exact_error(outcomes[i]) + self.v2.exact_error(outcomes[i]) for i in tied]
        return int(tied[_lowest(sums)[0]])


def _lowest(costs: Sequence[Any]) -> list[int]:
    lowest = min(costs)
    return [index for index, cost in enumerate(costs) if cost == lowest]


class BreakEven(Search):
    """``|V1 - V2|``: the equal error rate, or break-even point (Eq. 8). It does not depend on alpha.

    Precision and recall are both 0, hence equal, wherever no positive is accepted; such a candidate is no
    break-even point anyone wants, and is taken only when there is no other.
    """

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        gap = np.abs(self.v1(outcomes) - self.v2(outcomes))
        useless = (outcomes.tp == 0) & (gap == 0)
        return gap if useless.all() else np.where(useless, np.inf, gap)

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Fraction:
        return abs(self.v1.exact(outcome) - self.v2.exact(outcome))

    def _select(self, scores: Scores | Shortlist, alphas: Sequence[Fraction]) -> tuple[Counts, Counts]:
        if {self.v1.name, self.v2.name} in ({"far", "frr"}, {"sensitivity", "specificity"}):
            fp, fn = _equal_errors(scores)
        else:
            fp, fn = super()._select(scores, [Fraction(0)])
        return np.repeat(fp, len(alphas)), np.repeat(fn, len(alphas))

    def _pieces(self, scores: Scores | Shortlist) -> Pieces:
        return Pieces(np.array([0.0, 1.0]), self.choose(scores, [Fraction(0)]))


def _equal_errors(scores: Scores | Shortlist) -> tuple[Counts, Counts]:
    """Return the candidate with the smallest |FAR - FRR|."""
    fp, fn = (scores.fp, scores.fn) if isinstance(scores, Shortlist) else _beside_equal_errors(scores)
    negatives, positives = len(scores.negative), len(scores.positive)
    if negatives * positives >= 2**62:  # products of counts pass 64 bits: Python's whole numbers do not
        fp, fn = fp.astype(object), fn.astype(object)
    gap, errors = np.abs(fp * positives - fn * negatives), fp * positives + fn * negatives
    nearest = np.flatnonzero(gap == gap.min())
    best = nearest[np.argmin(errors[nearest])]
    return fp[[best]].astype(np.int64), fn[[best]].astype(np.int64)


def _beside_equal_errors(scores: Scores) -> tuple[Counts, Counts]:
    """Return the two candidates beside the equal error.

    FAR - FRR falls strictly from candidate to candidate, so the best one stands beside the change of sign, which
    is found by bisection in each class.
    """
    negatives, positives = scores.negatives, scores.positives

    def excess(threshold: float) -> int:
        at = count(scores, threshold)
        return int(at.fp) * positives.size - int(at.fn) * negatives.size

    last, first = -np.inf, np.inf
    for ordered in (negatives, positives):
        change = bisect_left(ordered, True, key=lambda value: excess(value) < 0)
        last = max(last, ordered[change - 1] if change else -np.inf)
        first = min(first, ordered[change] if change < ordered.size else np.inf)
    beside = count(scores, [last, first])
    return beside.fp, beside.fn


@dataclass(frozen=True)
class Custom(Search):
    """A user's own criterion: ``function(outcomes, alpha)`` gives a cost for each candidate."""

    function: Callable[[Outcomes, float], Any] = lambda outcomes, alpha: outcomes.fp

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.asarray(self.function(outcomes, float(alpha)), dtype=np.float64)

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> float:
        return float(self.function(outcome, float(alpha)))


#: Every criterion by the name people type, with what it minimises.
CRITERIA: dict[str, str] = {
    "wer": "alpha FAR + (1 - alpha) FRR",
    "pr": "-(alpha precision + (1 - alpha) recall)",
    "target-v1": "|alpha - V1| of the task",
    "target-v2": "|alpha - V2| of the task",
    "eer": "|V1 - V2| of the task (equal error rate, break-even point)",
}
_ALIASES = {"break-even": "eer", "bep": "eer"}


def get_criterion(
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None, task: str | Task = "authentication"
) -> Criterion:
    """Return a criterion from its name, from a function of outcomes and alpha, or the task's own.

    Examples
    --------
    >>> get_criterion("wer").name
    'wer'
    >>> get_criterion(None, "retrieval").name
    'pr'
    """
    domain = get_task(task)
    if criterion is None:
        criterion = domain.criterion
    if isinstance(criterion, Criterion):
        return criterion
    if callable(criterion):
        return Custom(str(getattr(criterion, "__name__", "custom")), domain.v1, domain.v2, function=criterion)
    name = str(criterion).strip().lower().replace("_", "-")
    name = _ALIASES.get(name, name)
    match name:
        case "wer":
            return WeightedSum("wer", FAR, FRR)
        case "pr":
            return WeightedSum("pr", PRECISION, RECALL)
        case "target-v1" | "target-v2":
            return Target(name, domain.v1, domain.v2, which=int(name[-1]))
        case "eer":
            return BreakEven("eer", domain.v1, domain.v2, uses_alpha=False)
        case _:
            raise unknown("criterion", criterion, [*CRITERIA, *_ALIASES])


def choose_threshold(
    dev: Scores | Remote,
    *,
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    alpha: Any = 0.5,
    task: str | Task = "authentication",
) -> float:
    """Choose the threshold on development scores: the minimiser of the criterion at one alpha.

    Examples
    --------
    >>> from priori import Scores, choose_threshold
    >>> dev = Scores.from_arrays(negatives=[0.1, 0.2, 0.6], positives=[0.4, 0.7, 0.9])
    >>> choose_threshold(dev, alpha=0.5)
    0.30000000000000004
    """
    (fraction,) = as_fractions(alpha)
    return float(get_criterion(criterion, task).choose(dev, [fraction]).threshold[0])
