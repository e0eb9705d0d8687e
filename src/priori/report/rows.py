"""The tables of a study as texts: what the page, Markdown and LaTeX show."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from priori.decisions.measures import Measure
from priori.studies.evaluation import Study
from priori.studies.evaluation.study import ranks_of
from priori.words.numbers import alpha_text, cell, deployable, level_text, short, threshold_text
from priori.words.sentences import about_letters

#: The alphas that a table along the curve shows: the nearest there are.
SHOWN = (0.1, 0.25, 0.5, 0.75, 0.9)
MISSING = "–"


@dataclass(frozen=True)
class TextTable:
    """A table of texts; the first column names the row, the others are numbers unless they are listed in ``words``.

    ``groups`` are headings over several columns: (text, number of columns), beginning at the second column.
    ``systems`` are the places of the systems that the rows belong to, where they do.
    """

    key: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: tuple[int, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    systems: tuple[int, ...] | None = None


def _filled(table: TextTable) -> TextTable:
    """Return the table without the columns that have nothing to show."""
    kept = [at for at in range(len(table.header)) if any(row[at] != MISSING for row in table.rows)]
    if len(kept) == len(table.header):
        return table
    over = [""] + [text for text, width in table.groups for _ in range(width)]
    widths: list[tuple[str, int]] = []
    for at in kept[1:] if table.groups else []:
        if widths and widths[-1][0] == over[at]:
            widths[-1] = (over[at], widths[-1][1] + 1)
        else:
            widths.append((over[at], 1))
    return replace(
        table,
        header=tuple(table.header[at] for at in kept),
        rows=tuple(tuple(row[at] for at in kept) for row in table.rows),
        words=tuple(kept.index(at) for at in table.words if at in kept),
        groups=tuple(widths),
    )


def _signed(value: float, measure: Measure) -> str:
    text = f"{100 * value:+.2f}" if measure.rate else f"{value:+.4g}"
    return text.replace("-", "−")


def _between(lower: float, upper: float, measure: Measure) -> str:
    ends = [f"{100 * end:.2f}" if measure.rate else f"{end:.4g}" for end in (lower, upper)]
    return " to ".join(ends).replace("-", "−")


def _level(study: Study) -> str:
    return level_text(study.settings.confidence_level)


def _interval(study: Study, place: int, index: int) -> str:
    band = study.members[place].band
    if band is None:
        return MISSING
    return _between(float(band.lower[index]), float(band.upper[index]), study.settings.shown)


def _names(study: Study) -> list[str]:
    return [short(member.name) for member in study.members]


def _v(study: Study) -> tuple[str, str]:
    task = study.settings.domain
    v1, v2 = (name.upper() if len(name) == 3 else name.capitalize() for name in (task.v1.name, task.v2.name))
    return v1, v2


def operating_points(study: Study, index: int) -> TextTable:
    """Return what each system's threshold is at an alpha, and what it gives on both sets."""
    measure, (v1, v2) = study.settings.shown, _v(study)
    rows = []
    for place, (name, member) in enumerate(zip(_names(study), study.members, strict=True)):
        curve = member.curve
        rates = (curve.dev_v1, curve.dev_v2, curve.v1, curve.v2)
        rows.append(
            (
                name,
                threshold_text(deployable(curve, index)),
                *(cell(float(rate[index])) for rate in rates),
                cell(float(curve.value[index]), measure.rate),
                _interval(study, place, index),
                cell(float(curve.best[index]), measure.rate),
                _signed(float(curve.optimism[index]), measure),
            )
        )
    return TextTable(
        "operating-points",
        "Operating points",
        ("System", "Threshold", v1, v2, v1, v2, measure.title, _level(study), "A posteriori", "Optimism"),
        tuple(rows),
        "A trial is accepted when its score is greater than the threshold. A posteriori: the threshold chosen on the "
        "test set itself.",
        groups=(("", 1), ("Development", 2), ("Test", 6)),
        systems=tuple(range(len(rows))),
    )


def outcome_counts(study: Study, index: int) -> TextTable:
    """Return the whole-number outcomes of each system's threshold at an alpha, on both sets."""
    rows = []
    for name, curve in zip(_names(study), study.curves, strict=True):
        cells = [
            f"{int(getattr(outcomes, kind)[index]):,}"
            for outcomes in (curve.dev_outcomes, curve.outcomes)
            for kind in ("tp", "fp", "tn", "fn")
        ]
        rows.append((name, *cells))
    return TextTable(
        "outcomes",
        "Outcomes",
        ("System", *("TP", "FP", "TN", "FN") * 2),
        tuple(rows),
        "Trials: true and false positives (accepted), true and false negatives (rejected).",
        groups=(("Development", 4), ("Test", 4)),
        systems=tuple(range(len(rows))),
    )


def comparisons(study: Study, index: int) -> TextTable:
    """Return every two systems against each other at an alpha."""
    measure, names = study.settings.shown, _names(study)
    rows = []
    for pair in study.pairs:
        leader = pair.better(index)
        limits = p_value = winner = MISSING
        if pair.significant is not None and pair.lower is not None and pair.upper is not None:
            limits = _between(float(pair.lower[index]), float(pair.upper[index]), measure)
            winner = "cannot tell"
            if pair.significant[index] and leader is not None:
                winner = f"{names[leader]} is better"
        if pair.p_value is not None:
            p_value = f"{float(pair.p_value[index]):.4f}"
        confidence = MISSING if pair.confidence is None else f"{100 * float(pair.confidence[index]):.1f} %"
        difference = _signed(float(pair.difference[index]), measure)
        rows.append((f"{names[pair.a]} − {names[pair.b]}", difference, limits, p_value, confidence, winner))
    unit = " (points)" if measure.rate else ""
    return TextTable(
        "comparisons",
        "Differences",
        ("Pair", f"Difference{unit}", _level(study), "p", "z-test", "Verdict"),
        tuple(rows),
        _about_tests(study),
        words=(5,),
    )


def _about_tests(study: Study) -> str:
    first, parts = study.pairs[0], []
    if first.p_value is not None:
        holm = ", Holm-adjusted over the pairs" if len(study.pairs) > 1 else ""
        parts.append(f"p: paired bootstrap{holm}.")
    if first.confidence is not None:
        parts.append("z-test: its confidence that the two differ, taking trials for independent.")
    return " ".join(parts)


def leaderboard(study: Study, index: int) -> TextTable:
    """Return the systems from best to worst at an alpha."""
    ranks, names = ranks_of(study.curves, index), _names(study)
    order = sorted(range(len(names)), key=lambda place: (ranks[place], place))
    best = order[0]
    rows = []
    for place in order:
        pair = next((pair for pair in study.pairs if {pair.a, pair.b} == {place, best}), None)
        if pair is None:
            said = "" if study.pairs[0].significant is not None else MISSING
        elif pair.significant is None:
            said = MISSING
        else:
            said = f"worse than {names[best]}" if pair.significant[index] else f"cannot be told from {names[best]}"
        value = cell(float(study.curves[place].value[index]), study.settings.shown.rate)
        letters = MISSING if study.letters is None else study.letters[index][place]
        rows.append((names[place], str(ranks[place]), value, _interval(study, place, index), letters, said))
    return TextTable(
        "leaderboard",
        "Ranking",
        ("System", "Rank", study.settings.shown.title, _level(study), "Group", "Against the first"),
        tuple(rows),
        about_letters(study.settings.confidence_level) if study.letters is not None else "",
        words=(4, 5),
        systems=tuple(order),
    )


def areas_table(study: Study) -> TextTable:
    """Return the areas, a priori, and the summaries that are a posteriori."""
    measure, (v1, v2) = study.settings.shown, _v(study)
    rows = [
        (
            name,
            MISSING if member.area is None else cell(member.area, measure.rate),
            *(cell(area) for area in (member.areas.e_v1, member.areas.e_v2, member.areas.g)),
            cell(member.areas.post_g),
            f"{member.auc:.4f}",
            cell(member.eer),
        )
        for name, member in zip(_names(study), study.members, strict=True)
    ]
    return TextTable(
        "areas",
        "Areas",
        ("System", "Under the EPC", "E(V1)", "E(V2)", "G", "G", "AUC", "EER"),
        tuple(rows),
        f"Under the EPC: the mean {measure.title} over all alphas. E(V1), E(V2): the expected ({v1} + {v2})/2 over all "
        f"targets of {v1}, of {v2}; G is their mean.",
        groups=(("A priori", 4), ("A posteriori", 3)),
        systems=tuple(range(len(rows))),
    )


def along_alpha(study: Study) -> TextTable:
    """Return the curve at a few alphas."""
    measure, alpha = study.settings.shown, study.curves[0].alpha
    places = list(dict.fromkeys(int(np.argmin(np.abs(alpha - one))) for one in SHOWN))
    rows = [
        (name, *(cell(float(curve.value[place]), measure.rate) for place in places))
        for name, curve in zip(_names(study), study.curves, strict=True)
    ]
    return TextTable(
        "along-alpha",
        f"{measure.title} along alpha",
        ("System", *(alpha_text(alpha[place]) for place in places)),
        tuple(rows),
        groups=(("alpha", len(places)),),
        systems=tuple(range(len(rows))),
    )


def moving_tables(study: Study, index: int) -> list[TextTable]:
    """Return the tables that move with alpha."""
    tables = [operating_points(study, index), outcome_counts(study, index)]
    if study.pairs:
        tables.append(comparisons(study, index))
    if len(study.members) > 2:
        tables.insert(0, leaderboard(study, index))
    return [_filled(table) for table in tables]


def fixed_tables(study: Study) -> list[TextTable]:
    """Return the tables about all alphas."""
    return [_filled(table) for table in (along_alpha(study), areas_table(study))]
