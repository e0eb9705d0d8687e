"""The first screen: what it shows at each alpha, and the words of its slider."""

from __future__ import annotations

from typing import Any

from priori.studies.evaluation import Study
from priori.studies.evaluation.pairs import alike_runs
from priori.studies.evaluation.study import FEW
from priori.words.glossary import GLOSSARY
from priori.words.headline import FirstScreen
from priori.words.numbers import counted, level_text, percent, rank_range, unbroken, value
from priori.words.tasks import task_words


def screen_at(first: FirstScreen, index: int) -> dict[str, Any]:
    """Return everything that the first screen says at an alpha."""
    headline, deployed, caution = first.headline(index), first.deployment(index), first.gravest(index)
    extreme = deployed.threshold in ("inf", "-inf")
    return {
        "headline": unbroken(headline.text), "mark": headline.mark, "why": unbroken(headline.why),
        "name": deployed.name, "threshold": deployed.threshold, "extreme": extreme,
        "rule": deployed.rule if extreme else "accept when the score is greater than",
        "lines": [[line.who, line.number, line.fate, line.interval] for line in deployed.lines],
        "caution": None if caution is None else [caution.heading, unbroken(caution.sentence)],
        "groups": alike_runs(first.study.pairs, index, first.study.order_at(index)[:FEW]),
    }  # fmt: skip


def dots(study: Study, index: int) -> list[tuple[str, ...]]:
    """Return what stands beside each system's interval at an alpha: its value, and between which ranks it lies."""
    values = [unbroken(value(float(curve.value[index]), curve.measure)) for curve in study.curves]
    if study.standings is None:
        return [(text,) for text in values]
    lower, upper = (side[:, index].tolist() for side in study.standings[:2])
    return [(text, rank_range(*ranks)) for text, *ranks in zip(values, lower, upper, strict=True)]


def about_sets(study: Study) -> str:
    """Say what thresholds were chosen on and judged on."""
    sets = [study.curves[0].dev, study.curves[0].test]
    users = [scores.n_users for scores in sets]
    counts = [counted(n, "user") for n in users] if all(users) else [counted(len(scores), "trial") for scores in sets]
    return f"thresholds chosen on {counts[0]}, judged on {counts[1]}"


def what_is_shown(study: Study) -> str:
    """Return the title of the first figure."""
    measure, band = study.settings.shown, study.members[0].band
    interval = "" if band is None else f", {level_text(study.settings.confidence_level)} interval"
    return f"What to expect in use: {measure.title}{interval}"


def slider_words(study: Study) -> dict[str, Any]:
    """Return what stands at the ends of the slider, and its presets: an alpha and the words for it."""
    criterion, words = study.settings.rule.name, task_words(study.settings.domain)
    costs = criterion in ("wer", "pr")
    ends = (f"avoid {words.missing}", f"avoid {words.letting_in}") if costs else ("alpha 0", "alpha 1")
    if criterion in ("target-v1", "target-v2"):
        target = study.settings.domain.v1 if criterion == "target-v1" else study.settings.domain.v2
        ends = (f"{target.title} of {percent(0.0)}", f"{target.title} of {percent(1.0)}")
    tenfold = [
        (1 / 11, f"{words.missing} 10 times worse"),
        (0.5, "equal costs"),
        (10 / 11, f"{words.letting_in} 10 times worse"),
    ]
    return {
        "slider_ends": ends,
        "presets": tenfold if criterion == "wer" else [],
        "own_costs": criterion == "wer",
        "task_words": words,
    }


def meaning_of(study: Study) -> str:
    """Return what the measure shown means, in a sentence."""
    title = study.settings.shown.title
    known = {term.lower(): meaning for term, meaning in GLOSSARY.items()}
    return known.get(title.lower(), f"{'higher' if study.settings.shown.greater_is_better else 'lower'} is better.")
