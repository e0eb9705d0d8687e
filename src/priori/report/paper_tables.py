"""Tables for papers, from the same study as the page: Markdown and LaTeX, escaped; CSV with every digit."""

from __future__ import annotations

import re
from collections.abc import Sequence

from priori.base.results import csv_text
from priori.curves.epc import EPC
from priori.report.tables import TextTable, fixed_tables, moving_tables
from priori.studies.evaluation import Study
from priori.uncertainty.bands import Band
from priori.words.numbers import alpha_text, clean
from priori.words.sentences import heading


def render_markdown(study: Study) -> str:
    """Return the verdict, the cautions and the tables of a study as Markdown, names escaped."""
    parts = [f"# {_markdown(heading(study))}", *(_markdown(answer.answer) for answer in study.verdict.answers)]
    if study.cautions:
        parts.append("\n".join(f"- **{caution.title}.** {_markdown(caution.text)}" for caution in study.cautions))
    for heading_text, table in _headed_tables(study):
        # The words of the groups stand before those of their columns.
        headings = zip(table.groups_by_column, table.header, strict=True)
        header = [f"{group.lower()} {column}".strip() for group, column in headings]
        rows = [[_markdown(cell) for cell in row] for row in (header, *table.rows)]
        rows.insert(1, ["---", *("---" if column in table.words else "---:" for column in range(1, len(header)))])
        lines = [f"| {' | '.join(row)} |" for row in rows]
        note = [_markdown(table.note)] if table.note else []
        parts += [f"## {_markdown(heading_text)}", "\n".join(lines), *note]
    return "\n\n".join(parts) + "\n"


def _headed_tables(study: Study) -> list[tuple[str, TextTable]]:
    moving = [(f"{table.title} at alpha = {alpha_text(study.settings.alpha)}", table)
              for table in moving_tables(study, study.at)]  # fmt: skip
    return [*moving, *((table.title, table) for table in fixed_tables(study))]


def _markdown(text: str) -> str:
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)


def render_latex(study: Study) -> str:
    """Return the tables of a study as LaTeX (booktabs), names escaped."""
    parts = ["% \\usepackage{booktabs}"]
    for heading_text, table in _headed_tables(study):
        align = "l" + "".join("l" if column in table.words else "r" for column in range(1, len(table.header)))
        lines = [
            "\\begin{table}",
            "  \\centering",
            f"  \\caption{{{_latex(heading_text)}. {_latex(table.note)}}}".replace(". }", ".}"),
            f"  \\begin{{tabular}}{{{align}}}",
            "    \\toprule",
        ]
        if any(text for text, _ in table.groups):
            lines += _latex_groups(table)
        lines += [f"    {_latex_row(table.header)}", "    \\midrule", *(f"    {_latex_row(row)}" for row in table.rows)]
        lines += ["    \\bottomrule", "  \\end{tabular}", "\\end{table}"]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(_latex(cell) for cell in cells) + r" \\"


def _latex_groups(table: TextTable) -> list[str]:
    cells, rules, column = [""], [], 2
    for text, width in table.groups:
        cells.append(f"\\multicolumn{{{width}}}{{c}}{{{_latex(text)}}}")
        if text:
            rules.append(f"\\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    return [f"    {' & '.join(cells)} \\\\", f"    {' '.join(rules)}"]


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "|": r"\textbar{}", '"': r"\textquotedbl{}", "–": "--", "−": "$-$", "…": r"\ldots{}", "\u2068": "", "\u2069": "",
}  # fmt: skip


def _latex(text: str) -> str:
    escaped = "".join(_LATEX.get(char, char) for char in clean(text))
    return escaped.replace(r" \%", r"\,\%")


def render_csv(study: Study) -> str:
    """Return the curves of a study as CSV, every digit kept: one row per system and alpha."""
    return csv_text(_curve_columns(member.curve, member.band) for member in study.members)


def _curve_columns(curve: EPC, band: Band | None) -> dict[str, object]:
    columns: dict[str, object] = {"system": [curve.name], **curve.columns()}
    if band is not None:
        columns |= {"lower": band.lower, "upper": band.upper}
    counts = curve.outcomes
    return {**columns, "tp": counts.tp, "fp": counts.fp, "tn": counts.tn, "fn": counts.fn}
