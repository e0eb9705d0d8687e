"""The first screen in words: the answer as a headline with its mark, what to deploy, and the gravest caution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from priori.base.cautions import Caution, gravest_first
from priori.base.limits import FEW_USERS
from priori.curves.checks import MOVING
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.studies.evaluation.member import Member
from priori.studies.evaluation.pairs import against_best
from priori.studies.evaluation.study import Study
from priori.uncertainty.rates.rate_intervals import RateInterval
from priori.words.numbers import (
    abridged,
    aggregate,
    counted,
    decision,
    level_text,
    listing,
    per_thousand,
    per_thousand_range,
    rank_range,
    short,
    told_apart,
    unbroken,
    value,
    values_apart,
)
from priori.words.sentences import tested_together, with_interval
from priori.words.vocabulary import TaskWords, study_words

Mark = Literal["clear", "not clear", "not tested", "too few", "do not use", "do not trust"]

#: Cautions that make the numbers meaningless: there is nothing to deploy.
BROKEN = ("same-data", "reversed-scores", "flipped-labels")
#: Cautions after which numbers are not to be trusted: the data are not what they are taken for.
UNTRUSTED = (*BROKEN, "shared-trials", "different-scales", "dev-looks-trained-on")
#: An interval settles little where its bad end is so many times the value and it is at least so wide, or so wide alone.
TIMES, WIDE, VERY_WIDE = 3, 0.05, 0.25
#: Decisions that use no score: accept all, or none.
CONSTANT = ("accepting every trial", "rejecting every trial")
#: The longest name in a headline.
NAME = 28


@dataclass(frozen=True)
class Headline:
    """The answer at one alpha: ``text``, whether it is clear, and why.

    ``broken``: the data cannot tell; ``doubtful``: the system may be no better than one that looks at no score, or is
    expected to be worse than another; ``few``: who are too few to settle it, where they are.
    """

    text: str
    mark: Mark | None
    why: str
    broken: bool = False
    doubtful: bool = False
    few: str = ""


@dataclass(frozen=True)
class ErrorLine:
    """Of 1,000 of a class (``who``) about ``number`` meet an error (``fate``), with its interval; constant: none."""

    who: str
    number: str
    fate: str
    interval: str

    @property
    def about(self) -> str:
        """The number, about right unless it is exact."""
        return f"about {self.number}" if self.interval else self.number

    @property
    def text(self) -> str:
        """The line as a sentence."""
        interval = f" ({self.interval})" if self.interval else ""
        return f"Of 1,000 {self.who} {self.about} {self.fate}{interval}."


@dataclass(frozen=True)
class Deployment:
    """What to deploy at one alpha: the best system, its threshold, and what to expect of it."""

    name: str
    threshold: str
    rule: str
    lines: tuple[ErrorLine, ...]


def _counts_errors(measure: Measure) -> bool:
    """Return whether the measure is a share of errors, so that it can be said as errors in 1,000."""
    return measure.rate and measure.name.partition(":")[0] in ("hter", "wer", "error")


def headline(study: Study, index: int) -> Headline:
    """Answer the question of the study at one alpha in a line, and whether it is clear."""
    answer = _alone if len(study.members) == 1 else _compared
    found = _constant(study, index) or Headline(*answer(study, index))
    if found.mark != "do not use":
        found = _unsettled(study, index, wide=found.mark != "clear") or found
    if _expected_worse(study, index):
        found = replace(found, doubtful=True)
    for system in study.order_at(index)[:2]:
        codes = {caution.code: caution for caution in study.findings[system]}
        for caution in (codes[code] for code in UNTRUSTED if code in codes):
            name = "" if len(study.members) == 1 else f"{short(study.members[system].name)}: "
            why = f"{name}{caution.heading[:1].lower()}{caution.heading[1:]}"
            if caution.code in BROKEN:
                return Headline("These data cannot tell what to expect", "do not trust", why, broken=True)
            return Headline(found.text, "do not trust", why)
    return found


def _expected_worse(study: Study, index: int) -> bool:
    """Return whether the best system on this test set is, with other development sets, expected to be worse."""
    if len(study.members) == 1 or study.pairs[0].significant is None:
        return False
    _, worse, _ = against_best(study.curves, study.pairs, index)
    return study.order_at(index)[0] in worse


def _constant(study: Study, index: int) -> Headline | None:
    """Say so where the best system decides nothing, or is not shown to do better than one that decides nothing."""
    best = study.best_at(index)
    threshold, one = float(best.curve.threshold[index]), len(study.members) == 1
    name, every = short(best.name, NAME), f"None of the {len(study.members)} systems is"
    worse, perhaps = (
        f"{name} is no better" if one else f"{every} better",
        f"{name} may be no" if one else f"{every} clearly",
    )
    leave = f": do not use {'it' if one else 'them'}"
    if not np.isfinite(threshold):
        text = f"{worse} here than {CONSTANT[threshold > 0]}{leave}"
        return Headline(text, "do not use", "at this trade-off no threshold is worth its errors")
    if (beaten := _beaten_by(best, index)) is None:
        return None
    what, least, certainty = beaten
    why = f"{aggregate(best.curve.measure)} {with_interval(best, index)} against {value(least, best.curve.measure)}"
    if certainty == "surely":
        return Headline(f"{worse} here than {what}{leave}", "do not use", why)
    text = f"{worse if certainty == 'here' else f'{perhaps} better'} here than {what}"
    return Headline(text, "not clear", why, doubtful=True)


def _beaten_by(member: Member, index: int) -> tuple[str, float, Literal["surely", "here", "perhaps"]] | None:
    """Return which constant decision is better, its value, and how sure that is: by the interval, here, or perhaps.

    None where there is none, and of measures that a constant decision makes perfect, such as the FRR.
    """
    curve, band = member.curve, member.band
    sign = -1 if curve.measure.greater_is_better else 1
    sizes = {kind: int(getattr(curve.outcomes, kind)[index]) for kind in ("negatives", "positives")}
    perfect = float(curve.measure(Outcomes.from_errors([0], [0], **sizes), curve.alpha[[index]])[0])
    losses = [sign * (float(values[index]) - perfect) for values in curve.at_extremes()]
    sides = [curve.value] * 2 if band is None else [band.lower, band.upper]
    low, high = sorted(sign * (float(side[index]) - perfect) for side in sides)
    own, least = sign * (float(curve.value[index]) - perfect), min(losses)
    if not max(own, high) > least > 0:
        return None
    certainty: Any = "perhaps" if own <= least else "surely" if band is not None and low > least else "here"
    return CONSTANT[losses.index(least)], sign * least + perfect, certainty


def _unsettled(study: Study, index: int, *, wide: bool) -> Headline | None:
    """Lead with the interval of the best system where it comes from too few users or, if ``wide``, settles little."""
    best, words = study.best_at(index), study_words(study)
    band, measure, test = best.band, best.curve.measure, best.curve.test
    if band is None:
        return None
    number, lower, upper = (float(column[index]) for column in (band.value, band.lower, band.upper))
    bad = (1 - number, 1 - lower) if measure.greater_is_better else (number, upper)
    users = test.n_users
    too_few = 1 < users < FEW_USERS
    wide = wide and measure.rate and upper - lower >= (WIDE if bad[1] >= TIMES * bad[0] else VERY_WIDE)
    if not (too_few or wide):
        return None
    # Where trials are resampled although their one user is known, it is trials that are few.
    number_of = words.said(counted(users, "user") if users > 1 else counted(len(test), "trial"))
    few, level = f"{number_of} are too few to settle this", level_text(study.settings.confidence_level)
    seen = f"about {_said(number, measure)} on this test set"
    why = f"{level} interval; {seen}"
    if users > 1 and measure.name == "hter":
        # The rates' own bounds allow for a user unlike those seen, and the interval of their mean does not.
        why = f"allows for a next {words.said('user')} unlike these; the {level} interval is "
        why += f"{per_thousand_range(lower, upper)}, {seen}"
        low, high = best.hter_bounds(index)
        lower, upper = min(lower, low), max(upper, high)
    elif too_few:
        why += "; no interval from so few is to be trusted"
    amount = _between(lower, upper, measure)
    if len(study.members) > 1:
        amount = f"{short(best.name, NAME)} comes first with {amount}"
    return Headline(f"{amount[:1].upper()}{amount[1:]}: {few}", "too few", why, few=few)


def _said(number: float, measure: Measure) -> str:
    """Return a value as errors in 1,000 where it is a share of errors."""
    return per_thousand(number) if _counts_errors(measure) else value(number, measure)


def _between(lower: float, upper: float, measure: Measure) -> str:
    """Return an interval in words."""
    if _counts_errors(measure):
        low, high = per_thousand_range(lower, upper).split(" to ")
        return f"between {low} and {high} errors in 1,000"
    return f"{aggregate(measure)} between {value(lower, measure)} and {value(upper, measure)}"


def advice(answer: Headline) -> str:
    """Return the words before the system's name: to deploy it, or what to expect if somebody does."""
    doubtful = answer.doubtful or answer.mark in ("too few", "do not use", "do not trust")
    return "If you deploy" if doubtful else "Deploy"


def deployment(study: Study, index: int) -> Deployment:
    """Return what to deploy at an alpha, and what to expect of it."""
    member, words = study.best_at(index), study_words(study)
    threshold = member.deployable[index]
    lines = error_lines(member.rates[index], words)
    return Deployment(short(member.name), threshold, decision(threshold, member.curve.distances), lines)


def error_lines(rates: Mapping[str, RateInterval], words: TaskWords) -> tuple[ErrorLine, ...]:
    """Return what happens to 1,000 of each kind of trials."""
    lines = []
    for kind, rate in rates.items():
        who, fate = words.error(kind)
        interval = "" if rate.lower == rate.upper else per_thousand_range(rate.lower, rate.upper)
        lines.append(ErrorLine(who, per_thousand(rate.rate), fate, interval))
    return tuple(lines)


def chosen_elsewhere(member: Member, index: int) -> str:
    """Say that a threshold was fixed in advance, and between which others other development sets would put it."""
    ends = [float(side[index]) for side in member.threshold_ranges.get("new", ())]
    if not (ends and np.isfinite(ends).all()):
        return "fixed in advance"
    lower, upper = told_apart(ends[0], ends[1], lambda number: f"{number:.4g}")
    return f"fixed in advance; other development sets choose between {lower} and {upper}"


def promised(study: Study, index: int) -> str:
    """Say what the development set promised of the best system, and whether the test set agrees."""
    member, words = study.best_at(index), study_words(study)
    promises, rates = member.promises[index], member.rates[index]
    if not promises or not np.isfinite(member.curve.threshold[index]):
        return ""
    parts = [f"{per_thousand(said.rate)} of the {words.error(kind)[0]}" for kind, said in promises.items()]
    broken = [
        words.error(kind)[0] for kind, said in promises.items() if not said.lower <= rates[kind].rate <= said.upper
    ]
    agrees = f"more than chance explains for {listing(broken)}" if broken else "no more than chance explains"
    return f"Promised by the development set: {listing(parts)}. The difference is {agrees}."


def gravest(study: Study, index: int, known: Sequence[Caution]) -> Caution | None:
    """Return the caution to show beside the answer at an alpha: of those ``known``, or of the best one's threshold."""
    best = study.best_at(index)
    several, name = len(study.members) > 1, short(best.name)
    # The caution that no error was seen may concern other alphas only.
    elsewhere = MOVING if any(rate.rate == 0 for rate in best.rates[index].values()) else (*MOVING, "no-errors")
    found = [caution for caution in known if caution.code not in elsewhere]
    for caution in study.moving_findings[index]:
        found.append(Caution(caution.code, f"{name}: {caution.marked}", named=True) if several else caution)
    grave = [caution for caution in gravest_first(found) if caution.level == "warning"]
    return grave[0] if grave else None


def _alone(study: Study, index: int) -> tuple[str, Mark | None, str]:
    curve, band, name = study.curves[0], study.members[0].band, short(study.members[0].name)
    measure, amount = curve.measure, float(curve.value[index])
    errors, seen = _counts_errors(measure), _said(amount, measure)
    if band is None:
        text = f"{name} makes about {seen} errors in 1,000" if errors else f"{name}: {aggregate(measure)} {seen}"
        return text, None, ""
    between = _between(float(band.lower[index]), float(band.upper[index]), measure)
    pooled = errors and {"negatives", "attacks"} <= study.members[0].rates[index].keys()
    as_here = ", with impostors and attacks in its proportions" if pooled else ""
    why = f"{level_text(study.settings.confidence_level)} interval; {'about ' if errors else ''}{seen} on this test set"
    return f"{name} will make {between}" if errors else f"{name}: {between}", None, f"{why}{as_here}"


def _compared(study: Study, index: int) -> tuple[str, Mark | None, str]:
    curves, names = study.curves, [short(curve.name, NAME) for curve in study.curves]
    leader, second, *_ = study.order_at(index)
    first, next_one = _amounts(curves[leader], curves[second], index)
    alike = bool(np.isclose(curves[leader].value[index], curves[second].value[index], rtol=1e-9, atol=0))
    if study.pairs[0].significant is None:
        text = f"On this test set {names[leader]} comes first with {first}; {names[second]}, next, has {next_one}"
        return text, "not tested", "no bootstrap was run, so this may be chance"
    best, _, undecided = against_best(curves, study.pairs, index)
    others = len(curves) - 1
    sure = f"{level_text(study.settings.confidence_level)} confidence"
    together = sure if others == 1 else f"{sure}, {tested_together(study)}"
    if not undecided and best != leader:  # as expected of the method, not as observed with these thresholds
        rest = names[1 - best] if others == 1 else f"each of the other {others} systems"
        return f"{names[best]} is expected to be better than {rest}", "clear", together
    if study.many and best != leader:  # of many systems each was tested against the one expected to be best only
        near = [names[system] for system in undecided]
        why = f"with other development sets {names[best]} is expected to be best; it cannot be distinguished from "
        text = f"{names[leader]} comes first with {first}; {names[second]}, next, has {next_one}"
        return text, "not clear", why + abridged(near, "or")
    _, worse, undecided = against_best(curves, study.pairs, index, best=leader)
    if not undecided:
        rest = names[second] if others == 1 else f"the other {others} systems"
        nearest = "" if others == 1 else f" of {names[second]}, the next"
        return f"{names[leader]} is better than {rest}: {first} against {next_one}{nearest}", "clear", together
    if others == 1:
        amounts = f"both {first}" if alike else f"{first} against {next_one}"
        return f"{names[leader]} and {names[second]} cannot be distinguished: {amounts}", "not clear", sure
    near, far = ([names[system] for system in study.order_at(index) if system in group] for group in (undecided, worse))
    why = f"{names[leader]} cannot be distinguished from {abridged(near, 'or')}"
    if far:
        why += f"; it is better than {abridged(far)}"
    if alike:
        return f"{names[leader]} and {names[second]} come first with {first}", "not clear", why
    return f"{names[leader]} comes first with {first}; {names[second]}, next, has {next_one}", "not clear", why


def _amounts(best: EPC, other: EPC, index: int) -> tuple[str, str]:
    """Return the values of two systems as a headline says them; the second without what it shares with the first."""
    first, second, measure = float(best.value[index]), float(other.value[index]), best.measure
    if _counts_errors(measure):
        texts = told_apart(1000 * first, 1000 * second, lambda number: per_thousand(number / 1000))
        return f"about {texts[0]} errors in 1,000", texts[1]
    texts = values_apart(first, second, measure)
    return f"{aggregate(measure)} {texts[0]}", texts[1]


def dots(study: Study, index: int) -> list[tuple[str, ...]]:
    """Return what stands beside each system's interval at an alpha: its value, between which ranks it lies, letters.

    Systems that share a letter cannot be told apart. With many systems it says which could be the best.
    """
    parts = [[unbroken(value(float(curve.value[index]), curve.measure)) for curve in study.curves]]
    if study.standings is not None:
        lower, upper, possible = (side[:, index].tolist() for side in study.standings)
        ranks = ["could be the best" if could else "" for could in possible]
        parts.append(ranks if study.many else [*map(rank_range, lower, upper)])
    if study.letters is not None:
        parts.append([*study.letters[index]])
    return [*zip(*parts, strict=True)]
