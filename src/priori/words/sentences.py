"""Sentences: the verdict of a study, a comparison, a ranking, a z-test or about people; the same everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from priori.base.quantiles import error_allowed
from priori.curves.epc import EPC
from priori.decisions.measure import Measure
from priori.studies.evaluation.member import Member
from priori.studies.evaluation.pairs import Pair, Span, against_best
from priori.studies.evaluation.study import Study, ranks_of
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.comparing.claims import Claim
from priori.uncertainty.comparing.comparison import Comparison
from priori.uncertainty.comparing.ztests import DECISIVE, ZTest
from priori.uncertainty.expected.thresholds import ThresholdInterval
from priori.uncertainty.ranking.leaderboard import Leaderboard
from priori.uncertainty.rates.group_rates import GroupRates
from priori.uncertainty.rates.user_rates import ROLES, UserRates
from priori.words.numbers import (
    abridged,
    aggregate,
    alpha_text,
    decision,
    gap,
    interval,
    level_text,
    listing,
    p_text,
    percent,
    possessive,
    short,
    value,
    values_apart,
    weighing,
)
from priori.words.vocabulary import study_words


@dataclass(frozen=True)
class Answer:
    """A question and its answer; ``key`` names the question for a program."""

    key: str
    question: str
    answer: str


@dataclass(frozen=True)
class Answers:
    """The verdict at one alpha: every question with its answer."""

    alpha: Fraction
    answers: tuple[Answer, ...]

    @property
    def text(self) -> str:
        """The answers, one paragraph each."""
        return "\n".join(answer.answer for answer in self.answers)


def verdict(study: Study, index: int | None = None) -> Answers:
    """Answer every question at one alpha, by default the alpha of interest."""
    index = study.at if index is None else index
    curves = study.curves
    leader = study.best_at(index)
    best, several = leader.curve, len(curves) > 1
    answers = [
        Answer("performance", "How well will it work?", _performance(study.members, index)),
        Answer("threshold", "Which threshold should be deployed?", _threshold(leader, index, several)),
        Answer("optimism", "How optimistic is a threshold chosen on the test set?", _optimism(best, index)),
    ]
    if several:
        differ = difference(curves, study.pairs, index)
        claim = "" if study.settings.bootstrap is None else f", {CLAIM_IN_SHORT[study.settings.claim]}"
        answers.insert(1, Answer("difference", f"Is the difference more than chance{claim}?", differ))
    return Answers(curves[0].fractions[index], tuple(answers))


def _performance(members: Sequence[Member], index: int) -> str:
    curves = [member.curve for member in members]
    first, names, ranks = curves[0], [short(curve.name) for curve in curves], ranks_of(curves, index)
    title = aggregate(first.measure)
    opening = weighing(first.criterion, first.task, first.fractions[index], with_alpha=True)
    values = [with_interval(member, index) for member in members]
    order = sorted(range(len(curves)), key=ranks.__getitem__)
    if len(curves) <= 3:
        leader, *others = range(len(curves)) if len(curves) < 3 else order
        parts = [f"{possessive(names[leader])} {title} is {values[leader]}"]
        parts += [f"{possessive(names[system])} is {values[system]}" for system in others]
        return f"{opening}, {'; '.join(parts)}."
    extreme = "highest" if first.measure.greater_is_better else "lowest"
    leaders = [system for system in order if ranks[system] == 1]
    of_all = f"the {extreme} {title} of {len(curves)} systems: {values[leaders[0]]}."
    if len(leaders) > 1:
        return f"{opening}, {listing([names[system] for system in leaders])} share {of_all}"
    second, last = order[1], order[-1]
    return (
        f"{opening}, {names[leaders[0]]} has {of_all} "
        f"Next comes {names[second]} with {values[second]}, last {names[last]} with {values[last]}."
    )


def with_interval(member: Member, index: int) -> str:
    """Return the value of a system at an alpha, with its interval in brackets where there is one."""
    curve, band = member.curve, member.band
    number = float(curve.value[index])
    text = value(number, curve.measure)
    if band is None:
        return text
    limits = interval(number, float(band.lower[index]), float(band.upper[index]), curve.measure)
    return f"{text} ({level_text(band.settings['confidence_level'])}: {limits})"


def difference(curves: Sequence[EPC], pairs: Sequence[Pair], index: int) -> str:
    """Say whether systems differ at an alpha; of two also where along alpha each is better.

    ``pairs`` are all pairs of the curves, by their numbers.
    """
    return _two(curves, pairs[0], index) if len(curves) == 2 else _many(curves, pairs, index)


def _where(curve: EPC, index: int) -> str:
    return f"At {curve.criterion.alpha_name} = {alpha_text(curve.alpha[index])},"


def _two(curves: Sequence[EPC], pair: Pair, index: int) -> str:
    names, where = [short(curve.name) for curve in curves], _where(curves[0], index)
    observed = gap(float(pair.difference[index]), curves[0].measure)
    leader = pair.better(index)
    if pair.significant is None or pair.p_value is None:
        return _without_bootstrap(index, pair, observed, None if leader is None else names[leader])
    size = f"observed difference of {observed}"
    if pair.expected is not None and pair.expected[index] != pair.difference[index]:
        expected = gap(float(pair.expected[index]), curves[0].measure)
        size = f"difference of {observed}, observed and expected over similar development sets,"
        if expected != observed or pair.expected[index] * pair.difference[index] < 0:
            where = f"{where} the observed difference is {observed};"
            size = f"one expected over similar development sets, {expected},"
    p_value = _p(float(pair.p_value[index]))
    if leader is None:
        here = f"{where} the two systems are equal."
    elif pair.significant[index]:
        here = f"{where} the {size} is significant ({p_value}): {names[leader]} is better."
    else:
        here = f"{where} the {size} is not significant ({p_value}): the data cannot tell which is better."
    return here if pair.alpha.size == 1 else f"{here} {_along(pair, names, curves[0])}"


def _along(pair: Pair, names: Sequence[str], curve: EPC) -> str:
    """Say where along alpha each system is better: a claim about many alphas, so they are tested together."""
    if not curve.criterion.uses_alpha and not curve.measure.needs_alpha:
        return "It is the same at every alpha, which this criterion does not use."
    assert pair.throughout is not None
    everywhere = bool(pair.throughout.all())
    regions = [(name, pair.regions(system)) for system, name in zip((pair.a, pair.b), names, strict=True)]
    opening = "With all alphas tested together,"
    for name, spans in regions:
        if everywhere and spans == ((float(pair.alpha[0]), float(pair.alpha[-1])),):
            return f"{opening} {name} is significantly better at every one."
    parts = _better_where(regions)
    if not parts:
        return f"{opening} the difference is significant at none."
    return f"{opening} {parts}{'' if everywhere else '; elsewhere the data cannot tell'}."


def pointwise_regions(comparison: Comparison) -> str:
    """Say where along alpha each system is better, each alpha tested by itself."""
    regions: dict[str, list[Span]] = {}
    for region in comparison.regions_of(comparison.pointwise):
        regions.setdefault(region.better, []).append((region.start, region.end))
    parts = _better_where((short(name), spans) for name, spans in regions.items())
    return f"With each alpha tested by itself, {parts or 'the difference is significant at none'}."


def margin_regions(comparison: Comparison, measure: Measure) -> str:
    """Say where along alpha systems are equivalent, or one is no worse than the other, up to the margin."""
    assert comparison.margin is not None
    regions: dict[str, list[Span]] = {}
    for region in comparison.margin_regions:
        regions.setdefault(region.shown, []).append((region.start, region.end))
    a, b = short(comparison.name_a), short(comparison.name_b)
    said = {
        "equivalent": "the two are equivalent",
        "a_no_worse": f"{a} is no worse than {b}",
        "b_no_worse": f"{b} is no worse than {a}",
    }
    parts = [f"{said[shown]} {_ranges(spans)}" for shown, spans in regions.items()]
    size = gap(comparison.margin.margin, measure)
    return f"Within a margin of {size}: {', '.join(parts) or 'neither is shown to be no worse'}."


def _better_where(regions: Iterable[tuple[str, Sequence[Span]]]) -> str:
    return ", ".join(f"{name} is significantly better {_ranges(spans)}" for name, spans in regions if spans)


def _ranges(regions: Sequence[Span]) -> str:
    """Say where: the wide ranges first where there are too many to list."""
    listed = list(regions)
    if len(listed) > 3:
        listed = sorted(sorted(listed, key=lambda region: region[0] - region[1])[:2])
    ranges = []
    for low, high in listed:
        between = f"for alpha between {alpha_text(low)} and {alpha_text(high)}"
        ranges.append(f"at alpha = {alpha_text(low)}" if low == high else between)
    if others := len(regions) - len(listed):
        ranges.append(f"in {others} narrower ranges")
    return listing(ranges)


def _without_bootstrap(index: int, pair: Pair, size: str, leader: str | None) -> str:
    if leader is None:
        return "Both have the same value on this test set. No bootstrap was run."
    here = f"On this test set {leader} is better by {size}. No bootstrap was run"
    if pair.confidence is None:
        return f"{here}, so there is no test of the difference."
    return (
        f"{here}; a z-test, which treats trials as independent, gives {_confident(float(pair.confidence[index]))} "
        "confidence that they differ."
    )


def _confident(confidence: float) -> str:
    return "more than 99.9 %" if confidence > 0.999 else f"{100 * confidence:.1f} %"


def _p(p_value: float) -> str:
    return "p < 0.001" if p_value < 0.001 else f"p = {p_value:.2g}"


def _many(curves: Sequence[EPC], pairs: Sequence[Pair], index: int) -> str:
    names, where = [short(curve.name) for curve in curves], _where(curves[0], index)
    if pairs[0].significant is None:
        return "No bootstrap was run, so there is no test of the differences."
    best, *others = against_best(curves, pairs, index)
    worse, undecided = ([names[system] for system in systems] for systems in others)
    first = ranks_of(curves, index)[best] == 1
    # The tests are about systems tuned on other development sets; with these thresholds another may come first.
    expected = f"{where} of systems tuned on similar development sets, {names[best]} is expected to be best"
    leader = f"{where} {names[best]}" if first else f"{expected}. It"
    if not undecided:
        return f"{leader} is significantly better than each of the other {len(worse)} systems."
    if not worse:
        begun, whom = (where, names[best]) if first else (f"{expected}, but", "it")
        return f"{begun} the data cannot separate {whom} from any of the other {len(undecided)} systems."
    tell = f"the data cannot separate {names[best]} from {abridged(undecided, 'or')}"
    return f"{leader} is significantly better than {abridged(worse)}; {tell}."


def tested_together(study: Study) -> str:
    """Say what the tests of three or more systems allow for."""
    return "each compared with the best" if study.many else "all pairs tested together"


def about_letters(confidence_level: float) -> str:
    """Say what the letters of a ranking mean."""
    return (
        f"Systems that share a letter do not differ significantly at the {level_text(confidence_level)} level "
        "(all pairs, tested together by max-T)."
    )


def about_standings(study: Study) -> str:
    """Say what the ranks between which systems lie mean, and what they are a claim about."""
    settings = study.settings
    if study.many:
        could = (
            f"p: that the system is the best; one of those with p of at least {1 - settings.confidence_level:.2g} is"
        )
        level = level_text(settings.confidence_level)
        return f"{could}, with {level} confidence (model confidence set). {about_claim(settings.claim)}"
    parts = [
        f"Between: the rank of every system lies in its interval, with {level_text(settings.confidence_level)} "
        "confidence for all systems together (max-T); the interval beside a value is for that system alone."
    ]
    if study.letters is not None:
        parts.append(about_letters(settings.confidence_level))
    return " ".join([*parts, about_claim(settings.claim)])


def about_ranks(board: Leaderboard) -> str:
    """Say which systems could be the best, how the two rankings agree, and who moves between them."""
    settings = board.settings
    level, post = level_text(settings["confidence_level"]), settings["against"]
    best = [short(name) for name in board.could_be_best]
    lines = [
        f"The best is {best[0]} ({level} confidence)."
        if len(best) == 1
        else f"The best is one of {len(best)} systems ({level} confidence): {abridged(best)}.",
        f"Kendall's tau between this ranking and the one by {post} on the test scores: "
        f"{board.tau:.2f} ({level} interval {board.tau_lower:.2f} to {board.tau_upper:.2f}).",
    ]
    for gains, verb in ((True, "gain"), (False, "lose")):
        moved = [move for move in board.moves if move["significant"] and (move["gain"] > 0) == gains]
        if moved:
            names = abridged([f"{short(move['name'])} ({move['gain']:+d})" for move in moved])
            lines.append(f"{names} {verb}{'s' * (len(moved) == 1)} significantly at thresholds fixed in advance.")
    if settings["family"] == "pairs":
        lines.append(f"Intervals of ranks hold for all systems at once. {about_letters(settings['confidence_level'])}")
    else:
        lines.append("Only the first rank is tested.")
    return "\n".join([*lines, about_claim(settings["claim"])])


#: What a comparison is about, as part of a question or a caption.
CLAIM_IN_SHORT: dict[Claim, str] = {
    "deployed": "with these thresholds (claim: deployed)",
    "method": "with systems tuned on similar development sets (claim: method)",
}


def about_claim(claim: Claim) -> str:
    """Say what a comparison is about, and why its interval need not contain the difference observed."""
    if claim == "deployed":
        return "Claim: about these thresholds (deployed)."
    return (
        "Claim: about systems tuned on similar development sets (method). Intervals are around the expected difference "
        "and need not contain the observed one."
    )


def ztest_verdict(tested: ZTest) -> str:
    """Say the interval of one system, or whether two differ."""
    level = level_text(tested.confidence_level)
    if tested.comparison is None or tested.b is None:
        hter = tested.a.hter
        return f"{tested.measure.title} {hter.value:.5f}, {level} interval {hter.lower:.5f} to {hter.upper:.5f}"
    tests = tested.comparison
    confidence = [f"{name} {_confident(float(tests[name].confidence))}" for name in DECISIVE if name in tests]
    differ = "differ significantly" if tested.significant else "do not differ significantly"
    return f"{tested.a.name} and {tested.b.name} {differ} at {level} (confidence: {', '.join(confidence)})"


def _threshold(member: Member, index: int, several: bool) -> str:
    dev, test = member.curve.dev_outcomes[index], member.curve.outcomes[index]
    rule = decision(member.deployable[index], member.curve.distances)
    opening = f"With {short(member.name)}, {rule}." if several else f"{rule[:1].upper()}{rule[1:]}."
    return (
        f"{opening} On the development set this wrongly accepts {_of(dev.fp, dev.negatives)} negatives and wrongly "
        f"rejects {_of(dev.fn, dev.positives)} positives; on the test set, {_of(test.fp, test.negatives)} and "
        f"{_of(test.fn, test.positives)}."
    )


def _of(part: object, whole: object) -> str:
    return f"{int(part):,} of {int(whole):,}"  # type: ignore[call-overload]


def _optimism(curve: EPC, index: int) -> str:
    best, reached = values_apart(float(curve.best[index]), float(curve.value[index]), curve.measure)
    optimism = float(curve.optimism[index])
    opening = f"Choosing {possessive(short(curve.name))} threshold on the test set itself would have shown"
    if optimism == 0:
        return f"{opening} the same {best}: no optimism here."
    if optimism < 0:
        return f"{opening} {best} instead of {reached}, since the criterion is not the measure shown."
    return f"{opening} {best} instead of {reached}: {gap(optimism, curve.measure)} of optimism."


def heading(study: Study) -> str:
    """Return the title given, or the systems' names; of many their number."""
    if study.settings.title.strip():
        return short(study.settings.title, 200)
    if study.many:
        return f"{len(study.members)} systems"
    return abridged([short(member.name, 30) for member in study.members])


def about_interval(settings: Mapping[str, Any]) -> str:
    """Name an interval by the settings of its band or comparison.

    Examples
    --------
    >>> about_interval({"confidence_level": 0.95, "simultaneous": False, "bootstrap": "user"})
    '95 % pointwise confidence interval, user bootstrap'
    """
    reach = "simultaneous" if settings["simultaneous"] else "pointwise"
    return f"{level_text(settings['confidence_level'])} {reach} confidence interval, {settings['bootstrap']} bootstrap"


def describe_settings(study: Study) -> dict[str, str]:
    """Return the settings of a study, by what they are called."""
    settings, band = study.settings, study.members[0].band
    described = {
        "Task": settings.domain.name,
        "Criterion": settings.rule.name,
        "Measure": settings.shown.title,
        "Alphas": f"{len(study.curves[0].alpha)} from 0 to 1",
        "Alpha of interest": alpha_text(settings.alpha),
    }
    if band is None:
        return {**described, "Bootstrap": "none"}
    resamples, kind = band.settings["n_resamples"], band.settings["bootstrap"]
    return {
        **described,
        "Bootstrap": f"{kind}: {study_words(study).said(BOOTSTRAPS[kind].resamples)}",
        "Resamples": " x ".join(f"{n:,}" for n in resamples) if isinstance(resamples, list) else f"{resamples:,}",
        "Resampled": "test set, thresholds fixed" if settings.resample == "test" else "both sets, new thresholds",
        "Intervals": about_interval(band.settings),
        "Systems compared": "unpaired" if settings.unpaired else "paired, trial by trial",
        "Seed": str(settings.seed),
    }


def about_groups(found: GroupRates) -> str:
    """Say for each rate how far apart the groups are, and whether that is more than chance."""
    level = level_text(found.confidence_level)
    lines = []
    for rate in dict.fromkeys(found.rate[found.what == "rate"].tolist()):
        gap, ratio = found.rows(rate, "gap"), found.rows(rate, "ratio")
        if not gap["value"].size:
            groups = found.rows(rate)["value"].size
            few = "one group only, nothing to compare" if groups == 1 else f"{groups} groups, too many to compare pairs"
            lines.append(f"{rate.upper()}: {few}.")
            continue
        high, low = short(str(gap["group"][0])), short(str(gap["other"][0]))
        lower, upper = float(gap["lower"][0]), float(gap["upper"][0])
        difference = f"{percent(float(gap['value'][0]))} ({level} interval {percent(lower)} to {percent(upper)})"
        times = f"{ratio['value'][0]:.3g} times ({ratio['lower'][0]:.3g} to {ratio['upper'][0]:.3g})"
        verdict = "groups differ" if lower > 0 else "no difference between groups is significant"
        lines.append(
            f"{rate.upper()}: {verdict}; {high} has the highest rate and {low} the lowest, {difference}, {times}."
        )
    if "garbe" in found.what.tolist():
        lines.append("FDR is the fairness discrepancy rate: 1 if all groups have the same rates; GARBE is then 0.")
    by = "users are kept together" if found.dependence != "none" else "trials are treated as independent"
    return "\n".join([*lines, f"Intervals hold for all groups and pairs together; {by}."])


def about_users(found: UserRates) -> str:
    """Say for each role whether users differ, and how many stand out."""
    lines = []
    for about in found.roles:
        differ = about["p_value"] < error_allowed(found.confidence_level)
        verdict = "users differ" if differ else "users do not differ significantly"
        rate, trials = ROLES[about["role"]]
        lines.append(
            f"{rate.upper()} of {trials}: {verdict} (p {p_text(about['p_value'])}); {about['above']} of "
            f"{about['users']} are clearly above {percent(about['overall'])}."
        )
    level = level_text(found.confidence_level)
    lines.append(f"{level} intervals of each user's own rate; users are ordered by the lower bounds.")
    return "\n".join(lines)


def about_thresholds(found: ThresholdInterval) -> str:
    """Say what the three ranges of a threshold mean."""
    if all(map(math.isnan, found.new_lower.tolist())):  # a margin for a confidence is each set's own
        known = "the best threshold of the population lies within the second range.\n"
    else:
        known = (
            "other development sets like this one choose within the first range, and the best threshold of\nthe "
            "population lies within the second. "
        )
    least = "Within the third the cost here is within one standard error of the least."
    return f"With {level_text(found.confidence_level)} confidence {known}{least}"
