"""The tables of a study: texts for the page, Markdown and LaTeX for papers, CSV with every digit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from priori.base.results import plain
from priori.base.texts import csv_text
from priori.decisions.measure import Measure
from priori.studies.evaluation import Member, Study
from priori.studies.evaluation.pairs import Pair
from priori.studies.evaluation.study import ranks_of
from priori.uncertainty.bands.bands import Band
from priori.words.cautions import cautions
from priori.words.numbers import (
    acceptance,
    alpha_text,
    bounds,
    cell,
    level_text,
    p_text,
    rank_range,
    short,
    threshold_text,
)
from priori.words.paper_tables import PREAMBLE, latex_table, markdown_table, markdown_text
from priori.words.sentences import about_claim, about_standings, heading, verdict

#: The alphas that a table along the curve shows: the nearest there are.
ALPHAS = (0.1, 0.25, 0.5, 0.75, 0.9)
MISSING = "–"


@dataclass(frozen=True)
class TextTable:
    """A table of texts; the first column names the row, the others are numbers unless they are listed in ``words``.

    ``groups`` are headings over several columns: (text, number of columns), beginning at the second column.
    ``systems`` are the numbers of the systems that the rows belong to, where they do.
    """

    key: str
    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    words: tuple[int, ...] = ()
    groups: tuple[tuple[str, int], ...] = ()
    systems: tuple[int, ...] | None = None

    @property
    def groups_by_column(self) -> list[str]:
        """The heading of the group over each column; empty where there is none."""
        headings = ["", *(text for text, width in self.groups for _ in range(width))]
        return headings + [""] * (len(self.header) - len(headings))


def without_missing(table: TextTable) -> TextTable:
    """Return the table without the columns that have nothing to show."""
    columns = [column for column, cells in enumerate(zip(*table.rows, strict=True)) if {*cells} != {MISSING}]
    groups = groupby(table.groups_by_column[column] for column in columns[1:]) if table.groups else ()
    return replace(
        table,
        header=tuple(table.header[column] for column in columns),
        rows=tuple(tuple(row[column] for column in columns) for row in table.rows),
        words=tuple(columns.index(column) for column in table.words if column in columns),
        groups=tuple((text, len(list(run))) for text, run in groups),
    )


def _signed(value: float, measure: Measure) -> str:
    text = f"{100 * value:+.2f}" if measure.rate else f"{value:+.4g}"
    return text.replace("-", "−")


def _interval(limits: Band | Pair | None, index: int, measure: Measure) -> str:
    if limits is None or limits.lower is None or limits.upper is None:
        return MISSING
    return bounds(float(limits.lower[index]), float(limits.upper[index]), measure.rate)


def _level(study: Study) -> str:
    return level_text(study.settings.confidence_level)


def _names(study: Study) -> list[str]:
    return [short(member.name) for member in study.members]


def _of_systems(
    study: Study,
    key: str,
    title: str,
    header: Sequence[str],
    cells: Callable[[Member], Iterable[str]],
    note: str = "",
    groups: tuple[tuple[str, int], ...] = (),
) -> TextTable:
    """Return a table with a row for each system."""
    rows = tuple((short(member.name), *cells(member)) for member in study.members)
    return TextTable(key, title, ("System", *header), rows, note, groups=groups, systems=tuple(range(len(rows))))


def _v(study: Study) -> tuple[str, str]:
    names = (study.settings.domain.v1.name, study.settings.domain.v2.name)
    v1, v2 = (name.upper() if len(name) == 3 else name.capitalize() for name in names)
    return v1, v2


def operating_points(study: Study, index: int) -> TextTable:
    """Return what each system's threshold is at an alpha, and what it gives on both sets."""
    measure, (v1, v2) = study.settings.shown, _v(study)

    def cells(member: Member) -> Iterator[str]:
        curve = member.curve
        yield threshold_text(member.deployable[index])
        yield from (cell(float(rate[index])) for rate in (curve.dev_v1, curve.dev_v2, curve.v1, curve.v2))
        yield cell(float(curve.value[index]), measure.rate)
        yield _interval(member.band, index, measure)
        yield cell(float(curve.best[index]), measure.rate)
        yield _signed(float(curve.optimism[index]), measure)

    header = ("Threshold", v1, v2, v1, v2, measure.title, _level(study), "A posteriori", "Optimism")
    note = (
        f"{acceptance(study.curves[0].distances).capitalize()} the threshold. A posteriori: the threshold chosen on "
        "the test set itself."
    )
    groups = (("", 1), ("Development", 2), ("Test", 6))
    return _of_systems(study, "operating-points", "Operating points", header, cells, note, groups)


def outcome_counts(study: Study, index: int) -> TextTable:
    """Return the whole-number outcomes of each system's threshold at an alpha, on both sets."""

    def cells(member: Member) -> Iterator[str]:
        for outcomes in (member.curve.dev_outcomes, member.curve.outcomes):
            yield from (f"{int(getattr(outcomes, kind)[index]):,}" for kind in ("tp", "fp", "tn", "fn"))

    note = "Trials: true and false positives (accepted), true and false negatives (rejected)."
    groups = (("Development", 4), ("Test", 4))
    return _of_systems(study, "outcomes", "Outcomes", ("TP", "FP", "TN", "FN") * 2, cells, note, groups)


def comparisons(study: Study, index: int) -> TextTable:
    """Return every two systems against each other at an alpha; of many a matrix shows them."""
    measure, names = study.settings.shown, _names(study)
    rows = []
    for pair in study.pairs:
        leader, winner = pair.better(index), MISSING
        if pair.significant is not None:
            winner = f"{names[leader]} is better" if leader is not None and pair.significant[index] else "cannot tell"
        p_value = MISSING if pair.p_value is None else p_text(float(pair.p_value[index]))
        confidence = MISSING if pair.confidence is None else f"{100 * float(pair.confidence[index]):.1f} %"
        difference, interval = _signed(float(pair.difference[index]), measure), _interval(pair, index, measure)
        rows.append((f"{names[pair.a]} − {names[pair.b]}", difference, interval, p_value, confidence, winner))
    unit = " (points)" if measure.rate else ""
    header = ("Pair", f"Difference{unit}", _level(study), "p", "z-test", "Verdict")
    return TextTable("comparisons", "Differences", header, tuple(rows), _about_tests(study), words=(5,))


def _about_tests(study: Study) -> str:
    first, parts = study.pairs[0], []
    if first.p_value is not None:
        adjusted = ", adjusted for all pairs, as the intervals are (max-T)" if len(study.pairs) > 1 else ""
        kind = "unpaired" if study.settings.unpaired else "paired"
        parts.append(f"p: {kind} test{adjusted}. {about_claim(study.settings.claim)}")
    if first.confidence is not None:
        parts.append("z-test: its confidence that the two differ, taking trials for independent.")
    return " ".join(parts)


def leaderboard(study: Study, index: int) -> TextTable:
    """Return the systems from best to worst at an alpha, and between which ranks each lies."""
    ranks, names, order = ranks_of(study.curves, index), _names(study), study.order_at(index)
    measure, best, tested = study.settings.shown, order[0], study.pairs[0].significant is not None
    against = {pair.a + pair.b - best: pair for pair in study.pairs if best in (pair.a, pair.b)}
    rows = []
    for system in order:
        member, told = study.members[system], "" if tested and not study.many else MISSING
        if tested and not study.many and system != best:
            # The tests may expect the one to be better that is not so on this test set.
            pair = against[system]
            ahead = pair.better(index) if pair.significant is not None and pair.significant[index] else None
            told = "not distinguished from" if ahead is None else "worse than" if ahead == best else "better than"
            told = f"{told} {names[best]}"
        value = cell(float(member.curve.value[index]), measure.rate)
        interval = _interval(member.band, index, measure)
        letters = MISSING if study.letters is None else study.letters[index][system]
        between, p_value, post = _between(study, system, index), MISSING, MISSING
        if study.many:
            post = cell(member.roc.eer)
            if study.ranking is not None:
                p_value = p_text(float(study.ranking.best_p_value[system, index]))
        rows.append((names[system], str(ranks[system]), between, value, interval, p_value, post, letters, told))
    header = ("System", "Rank", "Between", measure.title, _level(study), "p", "EER", "Group", "Against the first")
    note = "" if study.standings is None else about_standings(study)
    return TextTable("leaderboard", "Ranking", header, tuple(rows), note, words=(2, 7, 8), systems=tuple(order))


def _between(study: Study, system: int, index: int) -> str:
    if study.standings is None or study.many:
        return MISSING
    lower, upper, _ = study.standings
    return rank_range(int(lower[system, index]), int(upper[system, index]))


def areas_table(study: Study) -> TextTable:
    """Return the areas, a priori, and the summaries that are a posteriori."""
    measure, (v1, v2) = study.settings.shown, _v(study)

    def cells(member: Member) -> Iterator[str]:
        yield MISSING if member.area is None else cell(member.area, measure.rate)
        yield from (cell(getattr(member.areas, name)) for name in ("e_v1", "e_v2", "g", "post_g"))
        yield from (f"{member.roc.auc:.4f}", cell(member.roc.eer))

    header = ("Under the EPC", "E(V1)", "E(V2)", "G", "G", "AUC", "EER")
    note = (
        f"Under the EPC: the mean {measure.title} over all alphas. E(V1), E(V2): the expected ({v1} + {v2})/2 over all "
        f"targets of {v1}, of {v2}; G is their mean."
    )
    return _of_systems(study, "areas", "Areas", header, cells, note, (("A priori", 4), ("A posteriori", 3)))


def along_alpha(study: Study) -> TextTable:
    """Return the curve at a few alphas."""
    measure, alpha = study.settings.shown, study.curves[0].alpha
    columns = list(dict.fromkeys(int(np.argmin(np.abs(alpha - near))) for near in ALPHAS))

    def cells(member: Member) -> Iterator[str]:
        return (cell(float(member.curve.value[column]), measure.rate) for column in columns)

    header = [alpha_text(alpha[column]) for column in columns]
    groups = (("alpha", len(columns)),)
    return _of_systems(study, "along-alpha", f"{measure.title} along alpha", header, cells, groups=groups)


def moving_tables(study: Study, index: int) -> list[TextTable]:
    """Return the tables that move with alpha."""
    tables = [operating_points(study, index), outcome_counts(study, index)]
    if study.pairs and not study.many:
        tables.append(comparisons(study, index))
    if len(study.members) > 2:
        tables.insert(0, leaderboard(study, index))
    return [without_missing(table) for table in tables]


def fixed_tables(study: Study) -> list[TextTable]:
    """Return the tables about all alphas."""
    return [without_missing(table) for table in (along_alpha(study), areas_table(study))]


def render_markdown(study: Study) -> str:
    """Return the verdict, the cautions and the tables of a study as Markdown, names escaped."""
    parts = [f"# {markdown_text(heading(study))}", *(markdown_text(answer.answer) for answer in verdict(study).answers)]
    if found := cautions(study):
        parts.append("\n".join(f"- **{caution.heading}.** {markdown_text(caution.sentence)}" for caution in found))
    for heading_text, table in _headed_tables(study):
        # The words of the groups stand before those of their columns.
        headings = zip(table.groups_by_column, table.header, strict=True)
        header = [f"{group.lower()} {column}".strip() for group, column in headings]
        parts.append(markdown_table(heading_text, header, table.rows, note=table.note, words=table.words))
    return "\n\n".join(parts) + "\n"


def _headed_tables(study: Study) -> list[tuple[str, TextTable]]:
    moving = [
        (f"{table.title} at alpha = {alpha_text(study.settings.alpha)}", table)
        for table in moving_tables(study, study.at)
    ]
    return [*moving, *((table.title, table) for table in fixed_tables(study))]


def render_latex(study: Study) -> str:
    """Return the tables of a study as LaTeX (booktabs), names escaped."""
    parts = [
        latex_table(heading, table.header, table.rows, note=table.note, words=table.words, groups=table.groups)
        for heading, table in _headed_tables(study)
    ]
    return "\n\n".join([PREAMBLE, *parts]) + "\n"


def study_dict(study: Study) -> dict[str, Any]:
    """Return a study and its answers as plain dictionaries and lists, ready for JSON."""
    return {
        "title": heading(study),
        "settings": plain(study.settings.to_dict()),
        "verdict": {answer.key: answer.answer for answer in verdict(study).answers},
        "cautions": plain(list(cautions(study))),
        "systems": [member.to_dict() for member in study.members],
        "comparisons": [pair.to_dict() for pair in study.pairs_that_matter],
        "ranks": ranks_of(study.curves, study.at),
        "letters": None if study.letters is None else list(study.letters[study.at]),
        "leaderboard": None if study.board is None else study.board.to_dict(),
        "versions": study.versions,
        "command": study.command,
    }


def render_csv(study: Study) -> str:
    """Return the curves of a study as CSV, every digit kept: one row per system and alpha.

    Names that a spreadsheet would take for a formula get an apostrophe before them.
    """
    tables = (
        {
            "system": [member.curve.name],
            **member.curve.columns(),
            **({} if member.band is None else {"lower": member.band.lower, "upper": member.band.upper}),
            **vars(member.curve.outcomes),
        }
        for member in study.members
    )
    return csv_text(tables)
