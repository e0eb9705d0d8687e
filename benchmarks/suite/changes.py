"""Changes: what got slower than in the committed results, and results of which only some sections are new."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

#: Slower by more than this share is worth a line.
SLOWER = 0.25
#: Columns of tables that say what work costs, and those of which less is worse.
COSTS = {"Priori", "time", "CPU", "curve", "curve and band", "in scans", "processor, ns a row", "serial"}
GAINS = {"peer / Priori"}
UNITS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "x": 1.0}

NUMBER = r"(\d[\d,]*(?:\.\d+)?)"
#: In sentences: a time, or a multiple of something that is no gain.
IN_WORDS = re.compile(NUMBER + r" (ms|s|x)\b(?! faster)")


class Figure(NamedTuple):
    """One measured number: the work, which of its numbers, and what it is, in seconds or as a ratio."""

    work: str
    which: str
    value: float


def committed(path: Path) -> str:
    """Return the committed text of a file, or the text that it has where git cannot tell."""
    shown = subprocess.run(
        ["git", "show", f"HEAD:./{path.name}"], cwd=path.parent, capture_output=True, text=True, check=False
    )
    if shown.returncode == 0:
        return shown.stdout
    return path.read_text(encoding="utf-8") if path.exists() else ""


def merged(before: str, sections: list[str]) -> str:
    """Return results with new sections in the place of those of the same heading, and all the others as they were."""
    parts = {_heading(part): part.strip("\n") for part in _split(before)}
    parts |= {_heading(part): part.strip("\n") for section in sections for part in _split(section)}
    return "\n\n".join(parts.values()) + "\n"


def slower(before: str, after: str) -> list[str]:
    """Return a line for every number that got worse by more than a quarter."""
    old = {(figure.work, figure.which): figure.value for figure in figures(before)}
    lines = []
    for work, which, value in figures(after):
        was = old.get((work, which))
        if was and value > (1 + SLOWER) * was:
            lines.append(f"{work}: {which} {was:.3g} -> {value:.3g} ({value / was:.2f} times)")
    return lines


def figures(text: str) -> Iterator[Figure]:
    """Yield the measured numbers of results: of sentences that begin with a dash, of tables, of the readers' block."""
    for part in _split(text):
        heading, header, above = _heading(part), list[str](), list[str]()
        for line in part.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
            if line.startswith("- "):
                yield from _in_words(line[2:])
            elif re.search(r" \.\w[\w.]*( +[\d.]+){8}$", line):
                name, *numbers = re.split(r" {2,}", line)
                yield Figure(name, "read over scan", float(numbers[4]))
            elif not cells:
                header = []
            elif not header:
                header, above = cells, []
            elif not set(line) <= set("|-: "):
                # A cell that is left blank is as above.
                labels = cells[: _labels(header)]
                above = [cell or over for cell, over in zip(labels, above or labels, strict=True)]
                yield from _in_cells(f"{heading}: {', '.join(filter(None, above))}", cells, header)


def _split(text: str) -> list[str]:
    return [part for part in re.split(r"(?m)^(?=#{1,2} )", text) if part.strip()]


def _heading(part: str) -> str:
    return part.lstrip().splitlines()[0].lstrip("# ")


def _in_words(line: str) -> Iterator[Figure]:
    # The work is what is left of a sentence without its numbers, which may say it in other words next time.
    work = line.partition(": ")[0] if ": " in line else line[:40]
    for place, found in enumerate(IN_WORDS.finditer(line[len(work) :])):
        yield Figure(work, f"number {place + 1}", _number(found[1]) * UNITS[found[2]])


def _labels(header: list[str]) -> int:
    """Return how many columns of a table say what is measured; a plain scan is measured anew every time."""
    measured = COSTS | GAINS | {"scan"}
    return next((place for place, title in enumerate(header) if title in measured), len(header))


def _in_cells(work: str, cells: list[str], header: list[str]) -> Iterator[Figure]:
    peer = re.sub(r" [\d.]+$", "", cells[header.index("peer")]) if "peer" in header else ""  # of any version
    for title, cell in zip(header, cells, strict=False):
        found = re.fullmatch(NUMBER + r"(?: (\w+))?", cell)
        if found is None or (found[2] or "") not in UNITS:
            continue
        value = _number(found[1]) * UNITS[found[2] or ""]
        if title in COSTS:
            yield Figure(work, title, value)
        elif title in GAINS and value:
            yield Figure(f"{work}, against {peer}", f"{title}, inverted", 1 / value)


def _number(text: str) -> float:
    return float(text.replace(",", ""))
