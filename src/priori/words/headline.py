"""The first screen in words: the answer as a headline with its mark, what to deploy, and the gravest caution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from priori.base.cautions import CODES, Caution, shown
from priori.curves.checks import CHECKS, EXPLAIN_DISAGREEMENT
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.scores import Scores
from priori.studies.evaluation.study import Study, ranks_of
from priori.uncertainty.rate_intervals import Rate, interval_of_any
from priori.words.numbers import (
    abridged,
    aggregate,
    decision,
    deployable,
    level_text,
    per_thousand,
    per_thousand_range,
    short,
    told_apart,
    value,
)
from priori.words.sentences import against_best
from priori.words.tasks import task_words

Mark = Literal["clear", "not clear", "not tested", "do not trust"]

#: Cautions that leave nothing of the numbers: the data are not what they are taken for.
UNTRUSTED = (
    "same-data", "shared-trials", "reversed-scores", "flipped-labels", "different-scales", "dev-looks-trained-on",
)  # fmt: skip
#: The longest name in a headline.
NAME = 28
#: Cautions that depend on the threshold, and so on alpha.
MOVING = ("disagreement", "extreme-threshold", "few-errors")


@dataclass(frozen=True)
class Headline:
    """The answer at one alpha: ``text``, whether it is clear, and why."""

    text: str
    mark: Mark | None
    why: str


@dataclass(frozen=True)
class ErrorLine:
    """Of 1,000 of a class (``who``) about ``number`` meet an error (``fate``), with its interval."""

    who: str
    number: str
    fate: str
    interval: str


@dataclass(frozen=True)
class Deployment:
    """What to deploy at one alpha: the best system, its threshold, and what to expect of it."""

    system: int
    name: str
    threshold: str
    rule: str
    lines: tuple[ErrorLine, ErrorLine]


def _counts_errors(measure: Measure) -> bool:
    """Return whether the measure is a share of errors, so that it can be said as errors in 1,000."""
    return measure.rate and measure.name.partition(":")[0] in ("hter", "wer", "error")


class FirstScreen:
    """What the first screen says of a study at each alpha; what does not depend on alpha is looked for once."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._rates: dict[tuple[int, float, Rate], tuple[str, str]] = {}
        self._untrusted: dict[int, Caution | None] = {}
        self._counted: dict[int, Scores] = {}

    def headline(self, index: int) -> Headline:
        """Answer the question of the study at one alpha in a line, and whether it is clear."""
        study = self.study
        text, mark, why = _alone(study, index) if len(study.members) == 1 else _compared(study, index)
        for system in _in_order(study, index)[:2]:
            if (caution := self._of_data(system)) is not None:
                name = "" if len(study.members) == 1 else f"{short(study.members[system].name)}: "
                return Headline(text, "do not trust", f"{name}{caution.heading[:1].lower()}{caution.heading[1:]}")
        return Headline(text, mark, why)

    def _of_data(self, system: int) -> Caution | None:
        """Return the caution that leaves nothing of a system's numbers, if one does."""
        if system not in self._untrusted:
            curve = self.study.curves[system]
            found = (Caution(code, text) for code in UNTRUSTED if (text := CHECKS[code](curve, self.study.at)))
            self._untrusted[system] = next(iter(shown(found)), None)
        return self._untrusted[system]

    def deployment(self, index: int) -> Deployment:
        """Return what to deploy at an alpha, and what to expect of it."""
        system = _in_order(self.study, index)[0]
        curve, words = self.study.curves[system], task_words(self.study.settings.domain)
        threshold = deployable(curve, index)
        missed, let_in = self._rate(system, index, "frr"), self._rate(system, index, "far")
        lines = (
            ErrorLine(words.positives, missed[0], words.missed, missed[1]),
            ErrorLine(words.negatives, let_in[0], words.let_in, let_in[1]),
        )
        return Deployment(system, short(curve.name), threshold, decision(threshold), lines)

    def _rate(self, system: int, index: int, rate: Rate) -> tuple[str, str]:
        """Return an error rate and its interval, in 1,000."""
        threshold = float(self.study.curves[system].threshold[index])
        if (system, threshold, rate) not in self._rates:
            level = self.study.settings.confidence_level
            found = interval_of_any(self._trials(system), threshold, rate=rate, confidence_level=level)
            interval = per_thousand_range(found.lower, found.upper)
            self._rates[system, threshold, rate] = per_thousand(found.rate), interval
        return self._rates[system, threshold, rate]

    def _trials(self, system: int) -> Scores:
        """Return the test trials of a system; of a table, their counts between all thresholds, from one scan."""
        if system not in self._counted:
            curve = self.study.curves[system]
            edges = [np.unique(curve.threshold)]
            (self._counted[system],) = curve.test.count(edges, ("user",))
        return self._counted[system]

    def gravest(self, index: int) -> Caution | None:
        """Return the caution to show beside the answer at an alpha: of the data, or of the best one's threshold."""
        study = self.study
        codes = {caution.code for caution in study.cautions}
        curve = study.curves[_in_order(study, index)[0]]
        found = [caution for caution in study.cautions if caution.code not in MOVING]
        for code in MOVING:
            if code == "disagreement" and codes & EXPLAIN_DISAGREEMENT:
                continue
            if text := CHECKS[code](curve, index):
                several = len(study.members) > 1
                found.append(Caution(code, f"{short(curve.name)}: {text}" if several else text, named=several))
        order = {code: number for number, code in enumerate(CODES)}
        grave = [caution for caution in shown(found) if caution.level == "warning"]
        return min(grave, key=lambda caution: order.get(caution.code, len(order)), default=None)

    def groups(self, index: int, systems: list[int]) -> list[list[int]]:
        """Return the largest runs in ``systems``, from best to worst, that cannot be told apart: first and last row.

        A run is drawn as a bracket: every two of it were tested and did not differ significantly.
        """
        place = {system: row for row, system in enumerate(systems)}
        differ = np.zeros((len(systems), len(systems)), dtype=np.bool_)
        for pair in self.study.pairs:
            if pair.significant is None:
                return []
            if pair.a in place and pair.b in place and pair.significant[index]:
                differ[place[pair.a], place[pair.b]] = differ[place[pair.b], place[pair.a]] = True
        groups: list[list[int]] = []
        for start in range(len(systems)):
            end = start
            while end + 1 < len(systems) and not differ[start : end + 1, end + 1].any():
                end += 1
            if end > start and not (groups and groups[-1][1] >= end):
                groups.append([start, end])
        return groups


def _in_order(study: Study, index: int) -> list[int]:
    """Return the systems from best to worst at an alpha."""
    return sorted(range(len(study.members)), key=ranks_of(study.curves, index).__getitem__)


def _alone(study: Study, index: int) -> tuple[str, Mark | None, str]:
    curve, name = study.curves[0], short(study.members[0].name)
    amount = float(curve.value[index])
    if _counts_errors(curve.measure):
        return f"{name} makes about {per_thousand(amount)} errors in 1,000", None, ""
    return f"{name} reaches {aggregate(curve.measure)} {value(amount, curve.measure)}", None, ""


def _compared(study: Study, index: int) -> tuple[str, Mark | None, str]:
    curves, names = study.curves, [short(curve.name, NAME) for curve in study.curves]
    leader, second, *_ = _in_order(study, index)
    first, next_one = _amounts(curves[leader], curves[second], index)
    alike = bool(np.isclose(curves[leader].value[index], curves[second].value[index], rtol=1e-9, atol=0))
    if study.pairs[0].significant is None:
        text = f"On this test set {names[leader]} comes first with {first}; {names[second]}, next, has {next_one}"
        return text, "not tested", "no bootstrap was run, so this may be chance"
    best, _, undecided = against_best(curves, study.pairs, index)
    others = len(curves) - 1
    sure = f"{level_text(study.settings.confidence_level)} confidence"
    together = sure if others == 1 else f"{sure}, all pairs tested together"
    if not undecided and best != leader:  # as expected of the method, not as observed with these thresholds
        rest = names[1 - best] if others == 1 else f"each of the other {others} systems"
        return f"{names[best]} is expected to be better than {rest}", "clear", together
    _, worse, undecided = against_best(curves, study.pairs, index, best=leader)
    if not undecided:
        rest = names[second] if others == 1 else f"the other {others} systems"
        nearest = "" if others == 1 else f" of {names[second]}, the next"
        return f"{names[leader]} is better than {rest}: {first} against {next_one}{nearest}", "clear", together
    if others == 1:
        amounts = f"both {first}" if alike else f"{first} against {next_one}"
        return f"{names[leader]} and {names[second]} cannot be told apart: {amounts}", "not clear", sure
    near, far = ([names[system] for system in _in_order(study, index) if system in group]
                 for group in (undecided, worse))  # fmt: skip
    why = f"{names[leader]} cannot be told from {abridged(near, 'or')}"
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
    if measure.rate:
        texts = told_apart(100 * first, 100 * second, lambda number: value(number / 100, measure), " %")
    else:
        texts = told_apart(first, second, lambda number: value(number, measure))
    return f"{aggregate(measure)} {texts[0]}", texts[1]
