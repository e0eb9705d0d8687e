"""Transcripts: commands and Python calls, each followed by all that it answers.

Every ``.txt`` file here is one. A line ``$ priori ...`` is a command: what it prints follows, then what it says behind
``! ``, its exit code if it is not 0, and the files it made. A line ``>>> ...`` is a Python expression, followed by its
value: all numbers, words and, for a figure, all that is drawn. Other tests say what a value has to be; these notice
that one has changed that nobody looked at.

``python tests/transcripts/transcribing.py [FILE...]`` writes the answers anew: read what changed.
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import re
import shlex
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import described
import inputs
import numpy as np

import priori
from priori.cli import main

HERE = Path(__file__).parent
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?|(?<=[a-z(=:,;\[])-?\d+\.\d+(?:e[-+]?\d+)?")
#: Masked, since they differ from run to run or version to version.
VARIES = (
    (re.compile(r"compiling the bootstrap kernels[^\n]*\n"), ""),
    (re.compile(re.escape(priori.__version__)), "VERSION"),
    (re.compile(r"python( \| |: )\S+( \| |; )numpy( \| |: )\S+"), r"python\1VERSION\2numpy\3VERSION"),
    (re.compile(r"\b[0-9a-f]{40,64}\b"), "DIGEST"),
    (re.compile(r"(?<=digest: )\w+"), "DIGEST"),
)
#: A caution that a command prints: its code says enough, but in the one transcript that has their words.
CAUTION = re.compile(r"^(! )priori: (warning|note|caution) (\[[a-z-]+\]): .*$", re.MULTILINE)
IN_FULL = "cautions"


@dataclass(frozen=True)
class Entry:
    """What is asked, and the answer."""

    name: str
    asked: str
    answer: str


def entries(file: Path) -> Iterator[Entry]:
    """Give the entries of a transcript."""
    pieces = re.split(r"^(?=(?:\$|>>>) )", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for number, piece in enumerate(pieces[1:]):
        asked, _, answer = piece.partition("\n")
        yield Entry(f"{file.stem}-{number + 1}", asked, answer.strip("\n"))


def every() -> list[Entry]:
    """Return the entries of all transcripts."""
    return [entry for file in sorted(HERE.glob("*.txt")) for entry in entries(file)]


class Names(dict[str, Any]):
    """What Python calls may use: scores by the name of their file, and what ``inputs`` offers."""

    def __missing__(self, name: str) -> Any:
        file = Path(name.replace("_", "-") + ".csv")
        if file.exists():
            return priori.read(file)
        if hasattr(inputs, name):
            return getattr(inputs, name)
        raise KeyError(name)


def answer(asked: str, *, in_full: bool = False) -> str:
    """Ask, in the current directory, and return the whole answer; ``in_full`` with the words of cautions."""
    described.in_full = in_full
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = _printed(asked[2:]) if asked.startswith("$ ") else _value(asked[4:])
    if not in_full:
        text = CAUTION.sub(r"\1\2 \3", text)
    for pattern, mask in VARIES:
        text = pattern.sub(mask, text)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip())


def _printed(line: str) -> str:
    """Run a command and return what it printed and said, its exit code, and the files that it made."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    words = shlex.split(line)
    assert words[0] == "priori"
    before = set(Path().iterdir())
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(words[1:])
        except SystemExit as ending:
            code = int(ending.code or 0)
    said = [f"! {one}" for one in err.getvalue().splitlines()]
    parts = [described.document(out.getvalue().rstrip()), *said, *([f"exit {code}"] if code else [])]
    for file in sorted(set(Path().iterdir()) - before):
        parts += [f"-- {file}", described.page(file.read_text(encoding="utf-8"))]
        file.unlink()
    return "\n".join(parts)


def _value(expression: str) -> str:
    """Evaluate an expression and describe its value, or its error."""
    from matplotlib import pyplot

    names = Names(priori=priori, np=np)
    try:
        return described.described(eval(expression, names))
    except priori.PrioriError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        pyplot.close("all")


def same(text: str, other: str) -> bool:
    """Tell whether two answers agree: in every word, and in every number but for rounding."""
    if NUMBER.sub("#", text) != NUMBER.sub("#", other):
        return False
    pairs = zip(NUMBER.findall(text), NUMBER.findall(other), strict=True)
    return all(one == two or math.isclose(float(one), float(two), rel_tol=1e-6, abs_tol=1e-9) for one, two in pairs)


@contextlib.contextmanager
def folder() -> Iterator[None]:
    """Work in a new folder with all inputs."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        try:
            inputs.write()
            yield
        finally:
            os.chdir(before)


def rewrite(files: list[Path]) -> None:
    """Write the answers anew where they are no longer the same."""
    for file in files:
        parts = [re.split(r"^(?:\$|>>>) ", file.read_text(encoding="utf-8"), maxsplit=1, flags=re.MULTILINE)[0]]
        for entry in entries(file):
            now = answer(entry.asked, in_full=file.stem == IN_FULL)
            parts.append(f"{entry.asked}\n{entry.answer if same(entry.answer, now) else now}\n\n")
        file.write_text("".join(parts).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    os.environ |= {"COLUMNS": "100", "NO_COLOR": "1", "MPLBACKEND": "agg"}
    wanted = [Path(name).resolve() for name in sys.argv[1:]] or sorted(HERE.glob("*.txt"))
    with folder():
        rewrite(wanted)
