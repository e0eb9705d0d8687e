"""Pages that run: the README's and the documentation's commands and Python, in page order, in a folder of their own.

A ``console`` block holds commands after ``$ `` and what they print; a ``python`` block is a doctest where it has
``>>>`` and only shown where it has not. A page says which example its folder holds with a comment such as
``<!-- example: spam -->`` or ``<!-- examples: faces, spam -->``; faces by default. ``...`` in the shown output stands
for any text.

``python tests/pages.py PAGE...`` writes what the commands print now into the pages.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import priori
from priori.cli import main

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
CHECKER = doctest.OutputChecker()


def unexplained(names: Iterable[str], page: str) -> list[str]:
    """Return the names that people type and a page of the documentation does not explain."""
    content = (DOCS / page).read_text(encoding="utf-8")
    return [name for name in names if f"`{name}`" not in content and f"({name}.md)" not in content]


def pages() -> list[Path]:
    """Return the README and every page of the documentation."""
    return [ROOT / "README.md", *sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)]


def runnable() -> list[Path]:
    """Return the pages with something to run."""
    return [
        page for page in pages() if any(_runs(*found.groups()) for found in BLOCK.finditer(page.read_text("utf-8")))
    ]


def _runs(language: str, text: str) -> bool:
    return language == "console" or ">>>" in text


@dataclass(frozen=True)
class Step:
    """One command as shown: its lines, its words, and the output under it."""

    lines: str
    words: list[str]
    shown: str


def steps(block: str) -> Iterator[Step]:
    """Give the commands of a console block."""
    for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        lines = piece.splitlines(keepends=True)
        last = next(index for index, line in enumerate(lines) if not line.endswith("\\\n"))
        command = "".join(lines[: last + 1])
        words = shlex.split(command.replace("\\\n", " "))
        assert words[0] == "priori", f"only our own commands are run, not {words[0]!r}"
        yield Step(command, words[1:], "".join(lines[last + 1 :]))


def run(words: list[str]) -> str:
    """Run a command here; return what it prints, or, where it fails, what it says."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words)
        except SystemExit as ending:
            if ending.code:
                return err.getvalue()
    return out.getvalue()


def _stripped(text: str) -> str:
    return "".join(line.rstrip() + "\n" for line in text.rstrip().split("\n")) if text.strip() else ""


@contextlib.contextmanager
def folder_of(page: Path) -> Iterator[None]:
    """Stand in a new folder with the example that the page wants."""
    found = re.search(r"<!-- examples?: ([\w, ]+) -->", page.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        for example in found[1].split(", ") if found else ["faces"]:
            priori.examples.write(example, folder)
        with contextlib.chdir(folder):
            yield


def check(page: Path) -> list[str]:
    """Run a page and return what is not as it shows."""
    wrong: list[str] = []
    names: dict[str, Any] = {}
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    with folder_of(page):
        for found in BLOCK.finditer(page.read_text("utf-8")):
            language, block = found.groups()
            if language == "console":
                for step in steps(block):
                    printed = _stripped(run(step.words))
                    if step.shown and not CHECKER.check_output(_stripped(step.shown), printed, doctest.ELLIPSIS):
                        wrong.append(f"$ {step.lines}prints\n{printed}")
            elif _runs(language, block):
                said: list[str] = []
                test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
                runner.run(test, out=said.append, clear_globs=False)
                names = test.globs
                wrong += said
    return wrong


def _renewed(shown: str, printed: str) -> str:
    """Return the output to show: all of it, or, where ``...`` leaves something out, the same lines with new numbers."""
    if "..." not in shown:
        return printed
    lines = iter(printed.split("\n"))
    renewed = []
    for line in shown.split("\n"):
        kept = line in ("...", "")
        renewed.append(line if kept else next((new for new in lines if _kind(new) == _kind(line)), line))
    return "\n".join(renewed)


def _kind(line: str) -> str:
    return re.sub(r"[\d.,-]+", "#", "".join(line.split()))


def refresh(page: Path) -> None:
    """Write what the commands print now under them."""
    text = page.read_text("utf-8")

    def renewed(found: re.Match[str]) -> str:
        language, block = found.groups()
        if language == "python":
            if ">>>" in block:
                test = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
                doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
                names.update(test.globs)
            return found[0]
        parts = []
        for step in steps(block):
            printed = _stripped(run(step.words))
            parts.append(f"$ {step.lines}{_renewed(step.shown, printed)}")
        return f"```console\n{''.join(parts)}```"

    names: dict[str, Any] = {}
    with folder_of(page):
        new = BLOCK.sub(renewed, text)
    page.write_text(new, "utf-8")


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        refresh(Path(os.path.abspath(argument)))
