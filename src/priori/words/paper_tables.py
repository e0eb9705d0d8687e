"""Tables for papers: one table of texts as Markdown or as LaTeX (booktabs), names escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from priori.words.numbers import clean

#: What a LaTeX document that holds such a table needs.
PREAMBLE = "% \\usepackage{booktabs}"

_LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "–": "--",
    "−": "$-$",
    "…": r"\ldots{}",
    "\u2068": "",
    "\u2069": "",
}


def markdown_text(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", text)


def markdown_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, note: str = "", words: Sequence[int] = ()
) -> str:
    """Return a table under its title; columns are numbers but for the first and those in ``words``."""
    lines = [[markdown_text(cell) for cell in row] for row in (header, *rows)]
    lines.insert(1, ["---", *("---" if column in words else "---:" for column in range(1, len(header)))])
    table = "\n".join(f"| {' | '.join(row)} |" for row in lines)
    notes = [markdown_text(line) for line in note.splitlines() if line.strip()]
    return "\n\n".join([*([f"## {markdown_text(title)}"] if title else []), table, *notes])


def latex_text(text: str) -> str:
    """Return a text that LaTeX shows as it is."""
    escaped = "".join(_LATEX.get(char, char) for char in clean(text))
    return escaped.replace(r" \%", r"\,\%")


def latex_table(
    title: str,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    note: str = "",
    words: Sequence[int] = (),
    groups: Sequence[tuple[str, int]] = (),
) -> str:
    """Return a table with its title and note as caption; ``groups`` are headings over several columns."""
    align = "l" + "".join("l" if column in words else "r" for column in range(1, len(header)))
    caption = f"{latex_text(title)}. {latex_text(' '.join(note.split()))}".removeprefix(". ").strip()
    lines = [
        "\\begin{table}",
        "  \\centering",
        *([f"  \\caption{{{caption}}}"] if caption not in ("", ".") else []),
        f"  \\begin{{tabular}}{{{align}}}",
        "    \\toprule",
    ]
    if any(text for text, _ in groups):
        lines += _latex_groups(groups)
    lines += [f"    {_latex_row(header)}", "    \\midrule", *(f"    {_latex_row(row)}" for row in rows)]
    return "\n".join([*lines, "    \\bottomrule", "  \\end{tabular}", "\\end{table}"])


def _latex_row(cells: Sequence[str]) -> str:
    return " & ".join(latex_text(cell) for cell in cells) + r" \\"


def _latex_groups(groups: Sequence[tuple[str, int]]) -> list[str]:
    cells, rules, column = [""], [], 2
    for text, width in groups:
        cells.append(f"\\multicolumn{{{width}}}{{c}}{{{latex_text(text)}}}")
        if text:
            rules.append(f"\\cmidrule(lr){{{column}-{column + width - 1}}}")
        column += width
    return [f"    {' & '.join(cells)} \\\\", f"    {' '.join(rules)}"]
