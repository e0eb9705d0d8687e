"""Output: numbers as tables, CSV or JSON, figures, to standard output or whole files; lines and progress on stderr."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from priori.base.cautions import Caution, gravest_first, labelled, of_systems
from priori.base.errors import OptionError
from priori.base.texts import csv_text, json_text
from priori.cli.help import with_options

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from priori.base.results import Result

Columns = Mapping[str, Any]
#: How many warnings are printed unless all are asked for.
MOST_SAID = 3

#: How tables are written while a command makes its text.
_FORMAT: ContextVar[str] = ContextVar("format", default="table")


@dataclass(frozen=True)
class Output:
    """In which format the numbers of a command go where, and in which file its figure."""

    format: str
    path: str | None
    plot: str | None = None

    def finish(
        self,
        result: Any = None,
        *,
        bands: Sequence[Any] = (),
        table: Callable[[], str] | None = None,
        csv: Callable[[], Columns | Iterable[Columns]] | None = None,
        json: Callable[[], Mapping[str, Any]] | None = None,
        figure: Callable[[ModuleType], Axes | Figure] | None = None,
        warnings: Iterable[str] | None = None,
    ) -> None:
        """Print the warnings, draw the figure and write the numbers; only what was asked for is made.

        ``table`` returns text for people, ``csv`` one table or several of the same columns, ``json`` everything, and
        ``figure`` draws with `priori.plots`. What is not given is the ``result``'s own, or that of a list of results,
        one for each system, with the ``bands`` around them.
        """
        table = table or partial(tables_of, *(result if isinstance(result, list) else [result]), *bands)
        if isinstance(result, list):
            csv = csv or partial(_with_limits, result, bands)
            json = json or (lambda: {"systems": with_bands([each.to_dict() for each in result], bands)})
            said = zip(result, bands or result, strict=True)
            warnings = of_systems([(one.name, each.warnings) for one, each in said]) if warnings is None else warnings
        warn(getattr(result, "warnings", ()) if warnings is None else warnings)
        if self.plot:
            from priori import plots

            plots.save(result.plot() if figure is None else figure(plots), self.plot)
            tell(f"wrote {self.plot}")
        csv, json = csv or result.columns, json or result.to_dict
        if self.format == "csv":
            columns = csv()
            text = csv_text([columns] if isinstance(columns, Mapping) else columns)
        else:
            text = json_text(json()) if self.format == "json" else self._rendered(table)
        emit(text, self.path)

    def _rendered(self, table: Callable[[], str]) -> str:
        """Return the tables of a command as text for people, or for papers."""
        kept = _FORMAT.set(self.format)
        try:
            text = table()
        finally:
            _FORMAT.reset(kept)
        if self.format == "latex":
            from priori.words.paper_tables import PREAMBLE

            return f"{PREAMBLE}\n\n{text}"
        return text


def _with_limits(curves: Iterable[Any], bands: Sequence[Any]) -> list[Columns]:
    """Return the table of each curve, with the ends of its band where there is one."""
    ends = [{"lower": band.lower, "upper": band.upper} for band in bands]
    return [{"system": [curve.name], **curve.columns(), **end} for curve, end in zip(curves, ends or repeat({}))]  # noqa: B905


def with_bands(contents: Iterable[dict[str, Any]], bands: Sequence[Any]) -> list[dict[str, Any]]:
    """Return what is known of each curve, with its band where there is one."""
    around = [{"band": {**band.summary(), "lower": band.lower, "upper": band.upper}} for band in bands]
    return [{**content, **band} for content, band in zip(contents, around or repeat({}))]  # noqa: B905


def emit(text: str, path: str | None = None) -> None:
    """Print the text, or write it to a file."""
    if path is not None and path != "-":
        from priori.base.whole_files import write_whole

        write_whole(path, text if text.endswith("\n") else text + "\n")
        return
    if sys.stdout is None:
        raise OptionError("standard output is closed: there is nowhere to print to; leave it open, or give -o FILE")
    try:
        click.echo(text, nl=not text.endswith("\n"))
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OptionError(f"cannot write to standard output: {error.strerror}") from None


def tell(line: str) -> None:
    """Print a line on standard error; where that is full or closed, go on: the numbers matter more."""
    with contextlib.suppress(OSError):
        click.echo(f"priori: {line}", err=True)


def has_screen() -> bool:
    """Return whether somebody sits at this machine who could look at a page: a terminal, and a browser's screen."""
    if not (sys.stdout and sys.stdout.isatty()) or "SSH_CONNECTION" in os.environ:
        return False
    return sys.platform in ("darwin", "win32") or any(name in os.environ for name in ("DISPLAY", "WAYLAND_DISPLAY"))


def printable(name: str) -> str:
    """Return a name as figures and tables can show it: bytes that are no UTF-8 as their codes."""
    return name.encode("utf-8", "backslashreplace").decode()


def say_error(message: str) -> None:
    """Say what is wrong, in one line."""
    tell(f"error: {message}")


def verbose() -> bool:
    """Tell whether the command that runs was asked to say all it knows."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.params.get("verbose"))


def warn(lines: Iterable[str]) -> None:
    """Say on standard error what the reader of the numbers should know: a few lines at most."""
    found = gravest_first(dict.fromkeys(lines))
    said = found if verbose() else found[:MOST_SAID]
    for line in said:
        tell(labelled(with_options(_in_words_of_task(line) if isinstance(line, Caution) else line)))
    if left := len(found) - len(said):
        tell(f"and {left} more warning{'s' * (left > 1)} (--verbose)")


def tell_of_file(file: str, held: str) -> None:
    """Say what a file holds in the words of the task; its name stays as it is."""
    tell(f"{file}: {_in_words_of_task(held)}")


def tell_reading(line: str) -> None:
    """Say what a reader says of a file: its name, a colon, what it holds."""
    tell_of_file(*line.rsplit(": ", 1)) if ": " in line else tell(line)


def _in_words_of_task(line: str) -> str:
    """Return a line, written in the words of authentication, in those of the task: patients instead of users."""
    context = click.get_current_context(silent=True)
    task = "" if context is None else context.params.get("task")
    if not task or task == "authentication":
        return line
    from priori.words.vocabulary import WORDS

    said = WORDS[task].said
    return Caution(line.code, said(line.marked), line.named) if isinstance(line, Caution) else said(line)


def table_text(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, note: str = "") -> str:
    """Return a table in the format asked for; the first column is text, the others are numbers."""
    if _FORMAT.get() in ("markdown", "latex"):
        from priori.words.paper_tables import latex_table, markdown_table

        render = markdown_table if _FORMAT.get() == "markdown" else latex_table
        return render(" ".join(title.split()), header, rows, note=note) + "\n"
    lines = [list(header), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    lines.insert(1, ["-" * width for width in widths])
    padded = ([line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:])] for line in lines)
    text = [title] if title else []
    text += ["  ".join(cells).rstrip() for cells in padded]
    return "\n".join([*text, note] if note else text) + "\n"


#: Columns that go by a name that the summary of a result gives.
NAMED_IN_SUMMARY = {
    "value": "measure_title",
    "value_a": "name_a",
    "value_b": "name_b",
    "v1": "v1_name",
    "v2": "v2_name",
    "post_value": "against",
}


def tables_of(
    *results: Result, title: str = "", without: str = "", whole: bool = True, note: str = "", **names: str
) -> str:
    """Return results as they show themselves in a notebook: a line or the ``title``, and the table.

    Empty columns and those ``without`` names are left out, the middle of long tables where not ``whole``; ``names``
    are other names of columns.
    """
    from priori.base.notebooks import Shown

    texts = []
    for result in results:
        seen, header, columns = Shown.of(result, whole=whole), [], []
        said = {**seen.summary, "measure_title": seen.summary.get("measure_title", seen.summary.get("measure"))}
        for name, column in zip(seen.header, zip(*seen.rows, strict=True), strict=True):
            if name not in without.split() and {*column} != {"–"}:
                prefix = "dev " if name.startswith("dev_") else ""
                known = said.get(NAMED_IN_SUMMARY.get(name.removeprefix("dev_"), ""))
                header.append(names.get(name) or (f"{prefix}{known}" if known else name))
                columns.append(column)
        notes = [f"({seen.more})"] if seen.more else []
        below = "\n".join([*notes, note] if result is results[-1] and note else notes)
        texts.append(table_text(title or seen.line, header, zip(*columns, strict=True), note=below))
    return "\n".join(texts)


def table_of(title: str, columns: Mapping[str, Iterable[str]], *, note: str = "") -> str:
    """Return a table of columns of texts by their headings.

    Examples
    --------
    >>> print(table_of("Rates", {"alpha": ["0.5"], "HTER": ["25.00 %"]}), end="")
    Rates
    alpha     HTER
    -----  -------
    0.5    25.00 %
    """
    return table_text(title, [*columns], zip(*columns.values(), strict=True), note=note)


# -- progress --------------------------------------------------------------------------------------------------------


class Progress:
    """A bar on standard error, only on a terminal and only for work over a second.

    Call it with ``(done, total)``; the bar is cleared when all is done, or at the end of a ``with`` block.
    """

    def __init__(self, title: str = "", patience: float = 1.0) -> None:
        self.title, self.patience = title, patience
        self.bar: Any = None
        self.start = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if sys.stderr is None or not sys.stderr.isatty() or time.monotonic() - self.start < self.patience:
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
            self.bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task(self.title, total=total)
        self.bar.update(self.bar.task_ids[0], completed=done, total=total)
        if 0 < total <= done:
            self.close()

    def stage(self, title: str, done: int, total: int) -> None:
        """Show how far a stage of the work is; each stage has a bar of its own, one after another."""
        if title != self.title:
            self.close()
            self.title = title
        self(done, total)

    def close(self) -> None:
        """Clear the bar; work after this is timed from here."""
        if self.bar is not None:
            self.bar.stop()
        self.bar, self.start = None, time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
