"""What a criterion is: a cost whose minimiser among the candidates is the threshold, and the search for it.

A tie goes to the smaller V1 + V2 (both turned into errors), then to the lower threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from priori.base.declarations import NUMBERS, TEXT, Kept, maybe, record
from priori.base.errors import OptionError, argument
from priori.base.types import Floats, Index, Mask
from priori.decisions.hull import NEAR, envelope_of_errors
from priori.decisions.measure import Ratio, of_both_classes
from priori.decisions.outcomes import Outcomes
from priori.scores import ScoreSet
from priori.scores.candidates import Candidates, CutErrors, Errors, undominated
from priori.scores.score_set import candidates_of

if TYPE_CHECKING:
    from priori.decisions.likelihood_ratios import LLRMap

#: How a file describes a fitted map: affine maps by slope and offset, step maps by boundaries and ratios.
FittedMap = Annotated[
    dict[str, Any],
    Kept(
        record(
            {"method": TEXT}
            | dict.fromkeys(("slope", "offset"), maybe({"type": "number"}))
            | dict.fromkeys(("boundaries", "llr"), maybe(NUMBERS))
        )
    ),
]


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

    def between(self, bounds: tuple[Fraction, Fraction]) -> Pieces:
        """Keep the pieces that lie between the bounds."""
        low, high = float(bounds[0]), float(bounds[1])
        breaks = np.clip(self.breaks, low, high)
        keep = breaks[1:] > breaks[:-1]
        return Pieces(
            np.append(breaks[:-1][keep], high), Choice(self.choice.threshold[keep], self.choice.outcomes[keep])
        )

    def outcomes_after(self, alphas: Floats) -> Outcomes:
        """Return the outcomes that hold just after each alpha."""
        index = np.searchsorted(self.breaks, alphas, side="right") - 1
        return self.choice.outcomes[np.clip(index, 0, len(self.choice.outcomes) - 1)]


@dataclass(frozen=True)
class Criterion:
    """A cost to minimise on development data; ``v1`` and ``v2`` are the pair it trades off."""

    name: str
    v1: Ratio
    v2: Ratio
    uses_alpha: bool = True

    @property
    def aimed_at(self) -> Ratio | None:
        """The rate that alpha is a value of, where it is one: that with a limit or a target."""
        return None

    @property
    def _by_class(self) -> bool:
        """Whether each rate is that of one class: then numbers of errors decide everything, exactly."""
        return of_both_classes(self.v1, self.v2)

    @property
    def title(self) -> str:
        """What thresholds are chosen by, in words where the name is an abbreviation."""
        return {"wer": "weighted error rate (wer)", "pr": "precision and recall (pr)"}.get(self.name, self.name)

    @property
    def alpha_name(self) -> str:
        """What alpha is called in tables and sentences."""
        return "alpha"

    def alpha_or_half(self, alpha: Any) -> Any:
        """Return an alpha, by default a half; the value of a rate has no default."""
        if alpha is None and self.aimed_at is not None:
            rate, typed = self.aimed_at.name, argument("alpha", "0.01")
            raise OptionError(f"{self.name} was given without the {rate} that is wanted: say which, such as {typed}")
        return Fraction(1, 2) if alpha is None else alpha

    @property
    def reads_development(self) -> bool:
        """Whether thresholds depend on the development scores."""
        return True

    @property
    def in_hindsight(self) -> Criterion:
        """The criterion that shows, on the test set itself, the best that thresholds could have reached."""
        return self

    def fitted(self, scores: ScoreSet) -> LLRMap | None:
        """Return the map to log-likelihood ratios that thresholds come from, where they do."""
        return None

    @property
    def exact(self) -> bool:
        """Whether every alpha can be answered at once, by `pieces`."""
        return not self.uses_alpha or type(self).pieces is not Criterion.pieces

    def settled(self, scores: ScoreSet, alphas: Sequence[Fraction]) -> tuple[Criterion, Sequence[Fraction]]:
        """Return the criterion that chooses on this set, and on sets drawn from it, by their counts alone: this one.

        What needs more than counts (the users of a set) is looked up here, once, and becomes other alphas.
        """
        return self, alphas

    def choose(self, scores: ScoreSet, alphas: Sequence[Fraction]) -> Choice:
        """Return the minimiser at each alpha."""
        return self.choose_all([scores], alphas)[0]

    def choose_all(self, sets: Sequence[ScoreSet], alphas: Sequence[Fraction]) -> list[Choice]:
        """Return the minimiser at each alpha on each of several sets."""
        rules = [self.settled(scores, alphas) for scores in sets]
        found = candidates_of(sets, [rule for rule, _ in rules], [settled for _, settled in rules])
        each = zip(rules, found, strict=True)
        return [rule.choose_among(candidates, settled) for (rule, settled), candidates in each]

    def choose_among(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Choice:
        """Return the minimiser at each alpha of those among the candidates of a set."""
        return choice_of(candidates, self.select(candidates, alphas))

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        """Return the errors of the minimiser at each alpha."""
        raise NotImplementedError

    def cost(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        """Return the cost of each candidate, as floats."""
        raise NotImplementedError

    def loss(self, outcomes: Outcomes, alpha: Fraction) -> Floats:
        """Return what the cost of each candidate is made of, without a kink: its standard error is the cost's."""
        return self.cost(outcomes, alpha)

    def pieces(self, scores: ScoreSet) -> Pieces:
        """Return the minimiser for every alpha from 0 to 1."""
        if not self.uses_alpha:
            return Pieces(np.array([0.0, 1.0]), self.choose(scores, [Fraction(1, 2)]))
        raise OptionError(f"the criterion {self.name!r} has no exact curve; use a grid or a list of alphas")

    # -- what a scan asks (`priori.scores.candidates.Chooser`) ---------------------------------------------

    def promising(self, cuts: CutErrors, alphas: Sequence[Fraction] | None) -> Mask | None:
        """Return which bins between neighbouring cuts may hold a minimiser at these alphas (None: at any).

        None means that any bin may, as with a criterion that has no `least_cost`.
        """
        if alphas is None or type(self).least_cost is Criterion.least_cost:
            return None
        return promising_bins(cuts, self, alphas)

    def least_cost(self, boxes: Boxes, alpha: float) -> Floats:
        """Return a lower bound of the cost of the candidates in boxes, if one is known: a scan looks into fewer."""
        raise NotImplementedError

    def tells_ties(self, alpha: Fraction, largest: int) -> bool:
        """Say whether equal floats mean equal costs, in classes of at most ``largest`` trials."""
        return False

    def winners(self, candidates: Candidates, alphas: Sequence[Fraction] | None) -> Errors | None:
        """Return which of some candidates may be chosen among all; None where only all together decide it."""
        return None if alphas is None else self.select(candidates, alphas)


def choice_of(candidates: Candidates, errors: Errors) -> Choice:
    """Return the thresholds and the outcomes of candidates."""
    return Choice(candidates.thresholds(*errors), outcomes_of(candidates, errors))


def outcomes_of(candidates: Candidates, errors: Errors) -> Outcomes:
    """Return the outcomes of candidates."""
    return Outcomes.from_errors(*errors, negatives=candidates.n_negatives, positives=candidates.n_positives)


@dataclass(frozen=True)
class OfRate(Criterion):
    """A criterion whose alpha is a value of one of its rates: of V1, or of V2 (``which`` is 2)."""

    which: int = 1

    @property
    def aimed_at(self) -> Ratio:
        return self.v1 if self.which == 1 else self.v2

    @property
    def alpha_name(self) -> str:
        return "limit" if self.name.startswith("at-") else "target"

    @property
    def other(self) -> Ratio:
        """The other rate of the pair, of which alpha is not a value."""
        return self.v2 if self.which == 1 else self.v1


class Search(Criterion):
    """A criterion minimised by looking at every candidate."""

    def exact_cost(self, outcome: Outcomes, alpha: Fraction) -> Any:
        """Return the cost of one candidate in a form that compares exactly."""
        raise NotImplementedError

    def select(self, candidates: Candidates, alphas: Sequence[Fraction]) -> Errors:
        fp, fn = candidates.every()
        outcomes = outcomes_of(candidates, (fp, fn))
        if self.uses_alpha:
            chosen = [self._best(outcomes, alpha) for alpha in alphas]
        else:
            chosen = [self._best(outcomes, Fraction(0))] * len(alphas)
        return fp[chosen], fn[chosen]

    def _best(self, outcomes: Outcomes, alpha: Fraction) -> int:
        cost = np.asarray(self.cost(outcomes, alpha), dtype=np.float64)
        if cost.shape != outcomes.fp.shape or np.isnan(cost).all():
            raise OptionError(f"the criterion {self.name!r} must give one number per candidate")
        best = lowest(cost, lambda index: self.exact_cost(outcomes[index], alpha))
        tied, v1, v2 = outcomes[best], self.v1, self.v2
        errors = v1.error(tied) + v2.error(tied)
        return int(best[lowest(errors, lambda index: v1.exact_error(tied[index]) + v2.exact_error(tied[index]))[0]])


def lowest(cost: Floats, exact: Callable[[int], Any]) -> Index:
    """Return which candidates cost the least: floats find those close to it, of several ``exact`` costs decide."""
    least = np.fmin.reduce(cost)
    near = np.flatnonzero(cost <= least + NEAR * (1 + abs(least)))
    if near.size == 1:
        return near
    costs = [exact(index) for index in near.tolist()]
    least = min(costs)
    return near[[cost == least for cost in costs]]


# -- which bins of a scan may hold the candidate that is chosen --------------------------------------------------

# Within a bin no candidate has fewer false positives than at its upper cut nor fewer false negatives than at its lower
# cut, so the two bound V1, V2 and any criterion. A bin whose bound is worse than what some cut reaches holds no
# minimiser. Floats decide with a margin that only ever keeps more bins than needed.

#: Bins are first examined in groups of this size.
TOGETHER = 256


@dataclass(frozen=True)
class Boxes:
    """What candidates can reach: V1 and V2 at the best and the worst corner, and V1 + V2 (as errors) at the best.

    ``corner`` are the outcomes at the best corner: no candidate has fewer errors of either kind.
    """

    best: tuple[Floats, Floats]
    worst: tuple[Floats, Floats]
    errors: Floats
    corner: Outcomes

    @property
    def ranges(self) -> list[tuple[Floats, Floats]]:
        """The least and the greatest V1, and V2."""
        pairs = zip(self.best, self.worst, strict=True)
        return [(np.minimum(best, worst), np.maximum(best, worst)) for best, worst in pairs]


def promising_bins(cuts: CutErrors, criterion: Criterion, alphas: Sequence[Fraction]) -> Mask:
    """Return, for each bin between neighbouring cuts, whether it may hold a minimiser at one of the alphas."""
    bins = cuts.fp.size - 1
    if not bins:
        return np.zeros(0, dtype=np.bool_)
    coarse = np.append(np.arange(0, bins, TOGETHER), bins)
    boxes = partial(_boxes, cuts, criterion)
    reached, groups = boxes(coarse, coarse), boxes(coarse[:-1], coarse[1:])
    keep = np.zeros(bins, dtype=np.bool_)
    for alpha in dict.fromkeys(alphas if criterion.uses_alpha else alphas[:1]):
        ties = criterion.tells_ties(alpha, max(cuts.n_negatives, cuts.n_positives))
        tried = (_survivors(criterion, reached, groups, alpha, ties)[:, None] * TOGETHER + np.arange(TOGETHER)).ravel()
        tried = tried[tried < bins]
        keep[tried[_survivors(criterion, boxes(tried, tried), boxes(tried, tried + 1), alpha, ties)]] = True
    return keep


def _boxes(cuts: CutErrors, criterion: Criterion, start: Index, end: Index) -> Boxes:
    """Return what the candidates from cut ``start`` to cut ``end`` can reach."""
    best, worst = (
        Outcomes.from_errors(cuts.fp[alarms], cuts.fn[misses], negatives=cuts.n_negatives, positives=cuts.n_positives)
        for alarms, misses in ((end, start), (start, end))
    )
    v1, v2 = criterion.v1, criterion.v2
    return Boxes((v1(best), v2(best)), (v1(worst), v2(worst)), v1.error(best) + v2.error(best), best)


def _survivors(criterion: Criterion, cuts: Boxes, boxes: Boxes, alpha: Fraction, ties: bool) -> Index:
    """Return which boxes may hold a candidate better than the best of these cuts."""
    reached, bound = (criterion.least_cost(each, float(alpha)) for each in (cuts, boxes))
    best = reached.min()
    if np.isinf(best):  # no cut gives a bound: look everywhere
        return np.arange(bound.size)
    possible = bound <= best + NEAR
    if ties or best == 0:  # costs are never below 0
        possible &= (bound != best) | (boxes.errors <= cuts.errors[reached == best].min() + NEAR)
    return np.flatnonzero(possible)


def below_hull(cuts: CutErrors) -> Mask:
    """Return which bins may hold a vertex of the lower hull of errors: those whose best corner is not above it."""
    fp, fn, negatives, positives = cuts
    hull = envelope_of_errors(*undominated(fp, fn), negatives, positives)
    height = np.interp(fn[:-1], hull.fn, hull.fp, left=np.inf)
    return np.asarray((fp[1:] < height + 0.5) & (fn[:-1] <= hull.fn[-1]))
