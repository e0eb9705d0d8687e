"""The command that makes a visitor's report again, on the command line and from the files they have."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from priori.app.form_fields import Choices

#: Choices that are options of ``priori report``, as they are told; bootstrap and columns come after them.
OPTIONS = (
    "task",
    "criterion",
    "measure",
    "alpha",
    "resample",
    "resamples",
    "level",
    "seed",
    "title",
    "nan",
    "positive",
    "format",
    "simultaneous",
    "unpaired",
    "claim",
    "lower_is_better",
)
#: Names that differ on the command line.
RENAMED = {"format": "input-format"}


def command_of(systems: Iterable[tuple[str, str, str]], trials: Mapping[str, Any] | None, choices: Choices) -> str:
    """Return the command for systems given as name, development file and test file.

    Examples
    --------
    >>> command_of([("my system", "dev.csv", "-test.csv")], None, Choices(measure="far"))
    "priori report --system 'my system' dev.csv ./-test.csv --measure far -o report.html"
    """
    words = ["priori", "report"]
    for name, dev, test in systems:
        words += ["--system", name, _as_path(dev), _as_path(test)]
    if trials and len(trials) == 2:
        words += [word for part in ("dev", "test") for word in ("--trials", _as_path(trials[part]["name"]))]
    return shlex.join([*words, *_options(choices), "-o", "report.html"])


def example_command(example: str, systems: Iterable[str], choices: Choices) -> str:
    """Return the commands for a bundled example: one writes its files, the other makes the report."""
    files = [(name, f"demo/{name}-dev.csv", f"demo/{name}-test.csv") for name in systems]
    return f"priori demo {example} --output demo && {command_of(files, None, choices)}"


def _as_path(name: str) -> str:
    """Return a file name that no command takes for an option."""
    return f"./{name}" if name.startswith("-") else name


def _options(choices: Choices) -> list[str]:
    """Return the options that differ from what goes without saying."""
    usual, words = Choices(), []
    for name in OPTIONS:
        value, option = getattr(choices, name), "--" + RENAMED.get(name, name.replace("_", "-"))
        if value != getattr(usual, name):
            words += [option] if value is True else [option, f"{value:g}" if isinstance(value, float) else str(value)]
    if choices.bootstrap == "none":
        words.append("--no-bootstrap")
    elif choices.bootstrap != usual.bootstrap:
        words += ["--bootstrap", choices.bootstrap]
    for ours, theirs in choices.column_names().items():
        words += ["--column", f"{ours}={theirs}"]
    return words
