"""Sentences: the verdict, one plain answer per question, at every alpha."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from priori.curves.epc import EPC
from priori.decisions.criteria import Criterion
from priori.decisions.measures import Task
from priori.decisions.outcomes import count
from priori.report.pairs import Pair
from priori.report.settings import Settings
from priori.uncertainty.bands import Band
from priori.words.numbers import (
    aggregate,
    alpha_text,
    decision,
    gap,
    interval,
    listing,
    percent,
    possessive,
    short,
    value,
)

__all__ = ["Answer", "Verdict", "deployable", "ranking", "verdict", "weighing"]


@dataclass(frozen=True)
class Answer:
    """A question and its answer; ``key`` names the question for a program."""

    key: str
    question: str
    answer: str


@dataclass(frozen=True)
class Verdict:
    """The answers at one alpha."""

    alpha: Fraction
    answers: tuple[Answer, ...]

    @property
    def text(self) -> str:
        """The answers, one paragraph each."""
        return "\n".join(answer.answer for answer in self.answers)


def weighing(criterion: Criterion, task: Task, alpha: Fraction) -> str:
    """Return what an alpha means, to begin a sentence with.

    Examples
    --------
    >>> from priori.decisions.criteria import get_criterion
    >>> from priori.decisions.measures import get_task
    >>> weighing(get_criterion("wer"), get_task("authentication"), Fraction(4, 5))
    'With FAR weighed 4 times FRR (alpha = 0.8)'
    """
    at = f"alpha = {alpha_text(alpha)}"
    if criterion.name in ("wer", "pr"):
        v1, v2 = ("precision", "recall") if criterion.name == "pr" else ("FAR", "FRR")
        if alpha in (0, 1):
            return f"With only {v1 if alpha else v2} counted ({at})"
        if alpha == Fraction(1, 2):
            return f"At equal costs ({at})" if criterion.name == "wer" else f"With {v1} and {v2} weighed equally ({at})"
        heavy, light = (v1, v2) if alpha > Fraction(1, 2) else (v2, v1)
        ratio = max(alpha, 1 - alpha) / min(alpha, 1 - alpha)
        return f"With {heavy} weighed {float(ratio):.3g} times {light} ({at})"
    if criterion.name in ("target-v1", "target-v2"):
        target = _rate_name((task.v1 if criterion.name == "target-v1" else task.v2).name)
        return f"Aiming at a {target} of {percent(float(alpha))} ({at})"
    if criterion.name == "eer":
        return f"With the threshold where {_rate_name(task.v1.name)} and {_rate_name(task.v2.name)} are nearest"
    return f"At {at}"


def _rate_name(name: str) -> str:
    return name.upper() if len(name) == 3 else name


def ranking(values: Sequence[float], greater_is_better: bool) -> list[int]:
    """Return the rank of each value, 1 for the best; equal values share a rank."""
    return [1 + sum((other > one) if greater_is_better else (other < one) for other in values) for one in values]


def verdict(
    index: int,
    settings: Settings,
    curves: Sequence[EPC],
    bands: Sequence[Band | None],
    pairs: Sequence[Pair],
) -> Verdict:
    """Answer every question at one alpha."""
    alpha = curves[0].fractions[index]
    ranks = ranking([float(curve.value[index]) for curve in curves], settings.shown.greater_is_better)
    best = ranks.index(1)
    answers = [
        Answer("performance", "How well will it work?", _performance(index, alpha, settings, curves, bands, ranks)),
    ]
    if len(curves) > 1:
        answers.append(
            Answer(
                "difference", "Is the difference more than chance?", _difference(index, settings, curves, pairs, best)
            )
        )
    answers.append(
        Answer("threshold", "Which threshold should be deployed?", _threshold(index, curves[best], len(curves) > 1))
    )
    answers.append(
        Answer("optimism", "How much would the test set have flattered it?", _optimism(index, settings, curves[best]))
    )
    return Verdict(alpha, tuple(answers))


# -- how well ------------------------------------------------------------------------------------------------


def _performance(
    index: int,
    alpha: Fraction,
    settings: Settings,
    curves: Sequence[EPC],
    bands: Sequence[Band | None],
    ranks: Sequence[int],
) -> str:
    measure, title = settings.shown, aggregate(settings.shown)
    opening = weighing(settings.rule, settings.domain, alpha)

    def found(place: int) -> str:
        band = bands[place]
        text = value(float(curves[place].value[index]), measure)
        if band is None:
            return text
        level = f"{100 * settings.confidence_level:g} %"
        return f"{text} ({level}: {interval(float(band.lower[index]), float(band.upper[index]), measure)})"

    order = sorted(range(len(curves)), key=lambda place: (ranks[place], place))
    names = [short(curve.name) for curve in curves]
    if len(curves) <= 3:
        first, *others = range(len(curves)) if len(curves) < 3 else order
        said = [f"{possessive(names[first])} expected {title} is {found(first)}"]
        said += [f"{possessive(names[place])} is {found(place)}" for place in others]
        return f"{opening}, {'; '.join(said)}."
    extreme = "highest" if measure.greater_is_better else "lowest"
    leaders = [place for place in order if ranks[place] == 1]
    if len(leaders) > 1:
        who = listing([names[place] for place in leaders])
        return f"{opening}, {who} share the {extreme} expected {title} of {len(curves)} systems: {found(leaders[0])}."
    last = order[-1]
    return (
        f"{opening}, {names[order[0]]} has the {extreme} expected {title} of {len(curves)} systems: {found(order[0])}. "
        f"Next comes {names[order[1]]} with {found(order[1])}, last {names[last]} with {found(last)}."
    )


# -- is it more than chance ------------------------------------------------------------------------------------


def _difference(index: int, settings: Settings, curves: Sequence[EPC], pairs: Sequence[Pair], best: int) -> str:
    if len(curves) == 2:
        return _two(index, settings, curves, pairs[0])
    return _many(index, settings, curves, pairs, best)


def _two(index: int, settings: Settings, curves: Sequence[EPC], pair: Pair) -> str:
    names = [short(curve.name) for curve in curves]
    size = gap(float(pair.difference[index]), settings.shown)
    leader = pair.better(index)
    if pair.significant is None or pair.p_value is None:
        return _without_bootstrap(index, pair, size, None if leader is None else names[leader])
    p_value = _p(float(pair.p_value[index]))
    if leader is None:
        here = "Here the two do exactly as well."
    elif pair.significant[index]:
        here = f"Here the difference of {size} is significant ({p_value}): {names[leader]} is better."
    else:
        here = f"Here the difference of {size} is not significant ({p_value}): the data cannot tell which is better."
    return f"{here} {_along(pair, names, settings)}"


def _along(pair: Pair, names: Sequence[str], settings: Settings) -> str:
    """Say where along alpha each system is better: a claim about many alphas, so all are looked at together."""
    assert pair.throughout is not None
    if not settings.rule.uses_alpha and not settings.shown.needs_alpha:
        return "It is the same at every alpha, which this criterion does not use."
    everywhere = bool(pair.throughout.all())
    said = []
    for place, name in zip((pair.a, pair.b), names, strict=True):
        regions = pair.regions(place)
        if everywhere and regions == ((float(pair.alpha[0]), float(pair.alpha[-1])),):
            return f"With all alphas looked at together, {name} is significantly better at every one."
        if regions:
            said.append(f"{name} is significantly better {_ranges(regions)}")
    if not said:
        return "With all alphas looked at together, the difference is significant at none."
    ending = "" if everywhere else "; elsewhere the data cannot tell"
    return f"With all alphas looked at together, {', '.join(said)}{ending}."


def _ranges(regions: Sequence[tuple[float, float]]) -> str:
    """Say where: the wide ranges first where there are too many to list."""
    listed = list(regions)
    if len(listed) > 3:
        listed = sorted(sorted(listed, key=lambda region: region[0] - region[1])[:2])
    said = [
        f"at alpha = {alpha_text(low)}"
        if low == high
        else f"for alpha between {alpha_text(low)} and {alpha_text(high)}"
        for low, high in listed
    ]
    others = len(regions) - len(listed)
    return listing([*said, f"in {others} narrower ranges"] if others else said)


def _without_bootstrap(index: int, pair: Pair, size: str, leader: str | None) -> str:
    if leader is None:
        return "The two do exactly as well on this test set. No bootstrap was run."
    said = f"On this test set {leader} is better by {size}. No bootstrap was run"
    if pair.confidence is None:
        return f"{said}, so nothing is said here about chance."
    return (
        f"{said}; a z-test, which takes trials for independent, is {_confident(float(pair.confidence[index]))} "
        "confident that the two differ."
    )


def _confident(confidence: float) -> str:
    return "more than 99.9 %" if confidence > 0.999 else f"{100 * confidence:.1f} %"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _many(index: int, settings: Settings, curves: Sequence[EPC], pairs: Sequence[Pair], best: int) -> str:
    names = [short(curve.name) for curve in curves]
    with_best = {(pair.b if pair.a == best else pair.a): pair for pair in pairs if best in (pair.a, pair.b)}
    if any(pair.significant is None for pair in with_best.values()):
        return "No bootstrap was run, so nothing is said here about chance."
    worse = [names[place] for place, pair in sorted(with_best.items()) if pair.significant[index]]  # type: ignore[index]
    open_ = [names[place] for place, pair in sorted(with_best.items()) if not pair.significant[index]]  # type: ignore[index]
    if not open_:
        return f"Here {names[best]} is significantly better than each of the other {len(worse)} systems."
    if not worse:
        return f"Here {names[best]} is best, but the data cannot tell it from any of the other {len(open_)} systems."
    tell = f"the data cannot tell {names[best]} from {_abridged(open_, 'or')}"
    return f"Here {names[best]} is significantly better than {_abridged(worse)}; {tell}."


def _abridged(names: list[str], last: str = "and") -> str:
    if len(names) <= 4:
        return listing(names, last)
    return f"{', '.join(names[:3])} {last} {len(names) - 3} others"


# -- what to deploy --------------------------------------------------------------------------------------------


def _threshold(index: int, curve: EPC, several: bool) -> str:
    dev, test = curve.dev_outcomes[index], curve.outcomes[index]
    rule = decision(deployable(curve, index))
    said = f"With {short(curve.name)}, {rule}." if several else f"{rule[:1].upper()}{rule[1:]}."
    return (
        f"{said} On the development set this wrongly accepts {_of(dev.fp, dev.negatives)} negatives and wrongly "
        f"rejects {_of(dev.fn, dev.positives)} positives; on the test set, {_of(test.fp, test.negatives)} and "
        f"{_of(test.fn, test.positives)}."
    )


def deployable(curve: EPC, index: int) -> str:
    """Return a threshold with the fewest digits, six or more, that decide every trial of both sets the same way."""
    threshold = float(curve.threshold[index])
    wanted = [tuple(map(int, (at.fp, at.fn))) for at in (curve.dev_outcomes[index], curve.outcomes[index])]
    for digits in range(6, 17):
        text = f"{threshold:.{digits}g}"
        found = [count(scores, float(text)) for scores in (curve.dev, curve.test)]
        if [(int(at.fp), int(at.fn)) for at in found] == wanted:
            return text
    return repr(threshold)


def _of(part: object, whole: object) -> str:
    return f"{int(part):,} of {int(whole):,}"  # type: ignore[call-overload]


def _optimism(index: int, settings: Settings, curve: EPC) -> str:
    measure = settings.shown
    best, reached = float(curve.best[index]), float(curve.value[index])
    optimism = float(curve.optimism[index])
    opening = f"Choosing {possessive(short(curve.name))} threshold on the test set itself"
    if optimism == 0:
        return f"{opening} would have shown the same {value(best, measure)}: no optimism here."
    shown = f"{opening} would have shown {value(best, measure)} instead of {value(reached, measure)}"
    if optimism < 0:
        return f"{shown}, since the criterion is not the measure shown."
    return f"{shown}: {gap(optimism, measure)} of optimism that no deployed threshold can have."
