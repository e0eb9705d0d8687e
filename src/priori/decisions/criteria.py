"""Criteria: the cost C(V1, V2; alpha) whose minimiser on development data is the threshold.

Each criterion chooses exactly: the hull for weighted sums, order statistics for class rates, a search through
every candidate for the rest. A tie goes to the smaller V1 + V2 (both turned into errors), then to the lower
threshold.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from priori.base.errors import OptionError, unknown
from priori.base.types import Floats, Mask
from priori.decisions.constraints import Constraint
from priori.decisions.criterion import Boxes, OfRate, Pieces, Search, below_hull, choice_of, outcomes_of
from priori.decisions.criterion import Choice as Choice
from priori.decisions.criterion import Criterion as Criterion
from priori.decisions.hull import NEAR, Envelope, error_envelope, precision_recall_envelope
from priori.decisions.measure import Measure
from priori.decisions.measures import FAR, FRR, MATTHEWS, NET_BENEFIT, PRECISION, RECALL, get_measure
from priori.decisions.outcomes import Outcomes, count_all
from priori.decisions.tasks import Task, get_task, rate_pair
from priori.scores import ScoreSet
from priori.scores.candidates import Candidates, CutErrors, Errors, first_of_each


class WeightedSum(Criterion):
    """``alpha V1 + (1 - alpha) V2`` of two errors: FAR and FRR in wer (Eq. 10), precision and recall in pr (Eq. 11)."""

    def envelope(self, candidates: Candidates) -> Envelope:
        return precision_recall_envelope(candidates) if self.name == "pr" else error_envelope(candidates)

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.asarray(float(alpha) * self.v1.error(outcomes) + float(1 - alpha) * self.v2.error(outcomes))

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        envelope = self.envelope(candidates)
        chosen = envelope.choose(alphas)
        return envelope.fp[chosen], envelope.fn[chosen]

    def pieces(self, scores: ScoreSet) -> Pieces:
        candidates = scores.candidates(self, None)
        envelope = self.envelope(candidates)
        breaks = np.concatenate([[0.0], envelope.breaks(), [1.0]])
        return Pieces(breaks, choice_of(candidates, (envelope.fp, envelope.fn)))

    def promising(self, cuts: CutErrors, alphas: Sequence[Fraction] | None) -> Mask | None:
        if alphas is not None or self.name != "wer":
            return super().promising(cuts, alphas)
        return below_hull(cuts)

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        v1, v2 = self.v1.as_error(boxes.best[0]), self.v2.as_error(boxes.best[1])
        return np.asarray(alpha * v1 + (1 - alpha) * v2)

    def tells_ties(self, alpha: Fraction, largest: int) -> bool:
        return self.name == "wer" and alpha in (0, 1)  # the rates of one class lie far apart

    def winners(self, candidates: Candidates, alphas: Sequence[Fraction] | None) -> Errors:
        if alphas is not None:
            return self.select(candidates, alphas)
        envelope = self.envelope(candidates)
        return envelope.fp, envelope.fn


class Target(OfRate):
    """``|alpha - V|``: come as near as possible to a wanted value of V1 (Eq. 12) or of V2 (Eq. 13)."""

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.abs(self.loss(outcomes, alpha))

    def loss(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.asarray(self.aimed_at(outcomes) - float(alpha))

    def reachable(self, candidates: Candidates) -> Errors:
        """Return the best candidate for each value of the target that can be reached, the values rising."""
        match self.aimed_at.of_class, self.other.of_class:
            case "negative", "positive":
                fp, fn = candidates.per_negative()
                rising = self.aimed_at.greater_is_better
            case "positive", "negative":
                fp, fn = candidates.per_positive()
                rising = not self.aimed_at.greater_is_better
            case _:
                fp, fn = candidates.every()
                outcomes = outcomes_of(candidates, (fp, fn))
                # Counts are far below 2^53, so equal ratios give equal floats: division rounds correctly.
                value = self.aimed_at(outcomes)
                order = np.lexsort((self.v1.error(outcomes) + self.v2.error(outcomes), value))
                first = order[first_of_each(value[order])]
                return fp[first], fn[first]
        return (fp, fn) if rising else (fp[::-1], fn[::-1])

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        fp, fn = self.reachable(candidates)
        outcomes = outcomes_of(candidates, (fp, fn))
        value = self.aimed_at(outcomes)
        if value.size == 1:
            return np.repeat(fp, len(alphas)), np.repeat(fn, len(alphas))
        targets = np.array([float(alpha) for alpha in alphas])
        upper = np.clip(np.searchsorted(value, targets), 1, value.size - 1)
        below, beyond = targets - value[upper - 1], value[upper] - targets
        chosen = np.where(below <= beyond, upper - 1, upper)
        for index in np.flatnonzero(np.abs(below - beyond) < NEAR).tolist():
            chosen[index] = self._choose_exactly(outcomes, int(upper[index]), alphas[index])
        return fp[chosen], fn[chosen]

    def _choose_exactly(self, outcomes: Outcomes, upper: int, alpha: Fraction) -> int:
        def cost(index: int) -> tuple[Fraction, Fraction, int]:
            outcome = outcomes[index]
            errors = self.v1.exact_error(outcome) + self.v2.exact_error(outcome)
            return abs(alpha - self.aimed_at.exact(outcome)), errors, int(outcome.tn + outcome.fn)  # rises with it

        # Two floats on each side: more values than that cannot be nearer together than a float can tell.
        return min(range(max(upper - 2, 0), min(upper + 2, len(outcomes))), key=cost)

    def pieces(self, scores: ScoreSet) -> Pieces:
        candidates = scores.candidates(self, None)
        choice = choice_of(candidates, self.reachable(candidates))
        value = self.aimed_at(choice.outcomes)
        middles = (value[1:] + value[:-1]) / 2
        return Pieces(np.concatenate([[0.0], middles, [1.0]]), choice)

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        low, high = boxes.ranges[self.which - 1]
        return np.asarray(np.maximum(np.maximum(low - alpha, alpha - high), 0.0))

    def tells_ties(self, alpha: Fraction, largest: int) -> bool:
        # The rates of one class are far apart.
        return self.aimed_at.of_class is not None and alpha.denominator * largest < 10**13


class BreakEven(Search):
    """``|V1 - V2|``: the equal error rate, or break-even point (Eq. 8). It does not depend on alpha.

    Precision and recall are both 0, hence equal, wherever no positive is accepted; nobody wants such a break-even
    point, so it is taken only when there is no other.
    """

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        apart = np.abs(self.loss(outcomes, alpha))
        useless = (outcomes.tp == 0) & (apart == 0) & (not self._by_class)
        return apart if useless.all() else np.where(useless, np.inf, apart)

    def loss(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.asarray(self.v1(outcomes) - self.v2(outcomes))

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Fraction:
        return abs(self.v1.exact(outcome) - self.v2.exact(outcome))

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        v1, v2 = boxes.ranges
        apart = np.maximum(np.maximum(v1[0] - v2[1], v2[0] - v1[1]), 0.0)
        # Where no positive is accepted precision and recall are both 0: no break-even point, see above.
        return np.where((boxes.corner.tp == 0) & (apart == 0) & (not self._by_class), np.inf, apart)


@dataclass(frozen=True)
class Custom(Search):
    """A user's own criterion: ``function(outcomes, alpha)`` gives a cost for each candidate."""

    function: Callable[[Outcomes, float], Any] = lambda outcomes, alpha: outcomes.fp

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        return np.asarray(self.function(outcomes, float(alpha)), dtype=np.float64)

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> float:
        return float(self.function(outcome, float(alpha)))


class MostBenefit(Search):
    """``alpha FP + (1 - alpha) FN``: the greatest net benefit at the threshold probability alpha."""

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        total = outcomes.negatives + outcomes.positives
        return np.asarray((float(alpha) * outcomes.fp + float(1 - alpha) * outcomes.fn) / total)

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Fraction:
        return alpha * int(outcome.fp) + (1 - alpha) * int(outcome.fn)

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        return self.cost(boxes.corner, Fraction(alpha))


@dataclass(frozen=True)
class Probability(Criterion):
    """``score > alpha``: theory's threshold for scores that are probabilities, at the threshold probability alpha."""

    @property
    def reads_development(self) -> bool:
        return False

    @property
    def in_hindsight(self) -> Criterion:
        return MostBenefit("max:net-benefit", FAR, FRR)

    def choose_all(self, sets: Sequence[ScoreSet], alphas: Sequence[Fraction]) -> list[Choice]:
        thresholds = np.array([float(alpha) for alpha in alphas])
        return [Choice(thresholds, outcomes) for outcomes in count_all(sets, [thresholds] * len(sets))]


@dataclass(frozen=True)
class FixedSum(Criterion):
    """A measure that weighs FAR and FRR as ``wer`` does at one alpha, ``weight``: HTER, DCF, balanced accuracy."""

    weight: Fraction = Fraction(1, 2)

    def settled(self, scores: ScoreSet, alphas: Sequence[Fraction]) -> tuple[Criterion, Sequence[Fraction]]:
        return WeightedSum("wer", FAR, FRR), [self.weight] * len(alphas)


@dataclass(frozen=True)
class Best(Search):
    """The best value of a measure. It does not depend on alpha."""

    measure: Measure = MATTHEWS

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        value = self.measure(outcomes)
        return 1.0 - value if self.measure.greater_is_better else value

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Any:
        value = self.measure.exact(outcome)
        return -value if self.measure.greater_is_better else value

    def promising(self, cuts: CutErrors, alphas: Sequence[Fraction] | None) -> Mask | None:
        # Our own measures worsen with either error; nothing is known of a user's function.
        return super().promising(cuts, [Fraction(0)]) if self.measure.worsens else None

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        return self.cost(boxes.corner, Fraction(0))

    def winners(self, candidates: Candidates, alphas: Sequence[Fraction] | None) -> Errors:
        return self.select(candidates, [Fraction(0)])


#: Every criterion by the name people type, with what it minimises. V1 and V2 may be rates by name: target-far.
CRITERIA: dict[str, str] = {
    "wer": "alpha FAR + (1 - alpha) FRR",
    "pr": "-(alpha precision + (1 - alpha) recall)",
    "target-v1": "|alpha - V1| of the task",
    "target-v2": "|alpha - V2| of the task",
    "at-most-v1": "V2 of the task, where V1 is at most alpha (at-least-v1: V1 at least alpha)",
    "at-most-v2": "V1 of the task, where V2 is at most alpha (at-least-v2: V2 at least alpha)",
    "eer": "|V1 - V2| of the task (equal error rate, break-even point)",
    "probability": "nothing: scores are probabilities, accept if one is above alpha",
    "bayes": "nothing: accept if the log-likelihood ratio is above log(alpha/(1 - alpha)); calibrated, bayes:logistic",
}
_ALIASES = {"break-even": "eer", "bep": "eer"}
#: How criteria that are derived from a rate or a measure are written.
_OF_RATES = ("target-far", "at-most-far", "at-most-far:0.95", "at-least-recall", "max:f1", "min:dcf")


def get_criterion(
    criterion: str | Criterion | Measure | Callable[[Outcomes, float], Any] | None = None,
    task: str | Task = "authentication",
) -> Criterion:
    """Return a criterion from its name, from a measure, from a function of outcomes and alpha, or the task's own.

    Examples
    --------
    >>> get_criterion("wer").name
    'wer'
    >>> get_criterion(None, "retrieval").name
    'pr'
    >>> get_criterion("at_most_fpr:0.95").name
    'at-most-far:0.95'
    """
    domain = get_task(task)
    if criterion is None:
        criterion = domain.criterion
    if isinstance(criterion, Criterion):
        return criterion
    if isinstance(criterion, Measure):
        return _best(criterion, domain)
    if callable(criterion):
        return Custom(str(getattr(criterion, "__name__", "custom")), domain.v1, domain.v2, function=criterion)
    name = str(criterion).strip().lower().replace("_", "-")
    name = _ALIASES.get(name, name)
    match name:
        case "wer":
            return WeightedSum("wer", FAR, FRR)
        case "pr":
            return WeightedSum("pr", PRECISION, RECALL)
        case "eer":
            return BreakEven("eer", domain.v1, domain.v2, uses_alpha=False)
        case "probability":
            return Probability("probability", FAR, FRR)
    kind, _, measured = name.partition(":")
    if kind == "bayes":
        from priori.decisions.likelihood_ratios import Bayes, get_calibrator

        calibrator = get_calibrator(measured or "none")
        label = "bayes" if calibrator.method == "none" else f"bayes:{calibrator.name}"
        return Bayes(label, FAR, FRR, calibrator=calibrator)
    if kind in ("max", "min") and measured:
        measure = get_measure(measured)
        if (kind == "max") != measure.greater_is_better:
            better = "max" if measure.greater_is_better else "min"
            raise OptionError(f"{measure.name} is best where it is {better}imal; write {better}:{measured}")
        return _best(measure, domain)
    made = re.fullmatch(r"(target|at-most|at-least)-([a-z0-9-]+)(?::(.+))?", name)
    if made is None or (made[1] == "target" and made[3]):
        raise unknown("criterion", criterion, [*CRITERIA, *_ALIASES, *_OF_RATES])
    kind, rate, level = made.groups()
    label, v1, v2, which = rate_pair(rate, domain)
    if kind == "target":
        return Target(f"target-{label}", v1, v2, which=which)
    return Constraint.named(kind, label, v1, v2, which, level)


def _best(measure: Measure, task: Task) -> Criterion:
    """Return the criterion that looks for the best value of a measure."""
    if measure is NET_BENEFIT:
        return MostBenefit("max:net-benefit", FAR, FRR)
    if measure.needs_alpha:
        return WeightedSum("wer", FAR, FRR)
    name = f"{'max' if measure.greater_is_better else 'min'}:{measure.name}"
    if measure.weight is not None:
        return FixedSum(name, FAR, FRR, uses_alpha=False, weight=measure.weight)
    return Best(name, task.v1, task.v2, uses_alpha=False, measure=measure)
