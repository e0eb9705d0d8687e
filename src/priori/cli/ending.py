"""How commands end: the figure, then the numbers as a table, CSV or JSON, to standard output or to a file."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from priori.base.errors import OptionError
from priori.base.results import csv_text, json_text
from priori.cli.options import Command
from priori.cli.output import emit, tell, warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Columns = Mapping[str, Any]


@dataclass(frozen=True)
class Ending:
    """In which format the numbers of a command go where, and in which file its figure."""

    format: str
    output: str | None
    plot: str | None = None

    def finish(
        self,
        *,
        table: Callable[[], str],
        csv: Callable[[], Columns | Iterable[Columns]],
        json: Callable[[], Mapping[str, Any]],
        figure: Callable[[], Axes | Figure] | None = None,
        warnings: Iterable[str] = (),
    ) -> None:
        """Give the warnings, draw the figure, and give the numbers; only what was asked for is made.

        Parameters
        ----------
        table, csv, json : callable
            Return the text for people, one table or several of the same columns, and the whole content.
        figure : callable, optional
            Draws what ``--plot`` asks for.
        warnings : iterable of str
            What the reader of the numbers should know.
        """
        warn(warnings)
        if self.plot and figure is not None:
            from priori.plots import save

            save(figure(), self.plot)
            tell(f"wrote {self.plot}")
        if self.format == "csv":
            columns = csv()
            text = csv_text([columns] if isinstance(columns, Mapping) else columns)
        else:
            text = json_text(json()) if self.format == "json" else table()
        emit(text, self.output)


def ending_options(
    *formats: str,
    plot: str = "",
    format_help: str = "How the numbers are printed.",
    output_help: str = "Write the numbers to a file, whole or not at all, instead of standard output.",
) -> Callable[[Command], Command]:
    """Add ``--format`` (the first is the default), ``--json``, ``-o``, and ``--plot`` where there is help for it.

    The command gets them together, as ``ending``.
    """
    options = [
        click.option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=True,
                     help=format_help),
        click.option("--json", "json_", is_flag=True, help="Short for --format json."),
        click.option("-o", "--output", metavar="FILE", default=None, help=output_help),
    ]  # fmt: skip
    if plot:
        options.append(click.option("--plot", metavar="FILE", callback=_drawable, help=plot))

    def apply(command: Command) -> Command:
        @functools.wraps(command)
        def ended(
            *args: Any, format_: str, json_: bool, output: str | None, plot: str | None = None, **given: Any
        ) -> Any:
            return command(*args, ending=Ending(_chosen(format_, json_), output, plot), **given)

        for option in reversed(options):
            ended = option(ended)
        return ended  # type: ignore[return-value]

    return apply


def _chosen(format_: str, json_: bool) -> str:
    """Return the format; ``--json`` beside another one is a mistake."""
    if json_ and format_ != "json":
        source = click.get_current_context().get_parameter_source("format_")
        if source is click.core.ParameterSource.COMMANDLINE:
            raise OptionError(f"--json is short for --format json; leave out --format {format_}")
    return "json" if json_ else format_


def _drawable(context: click.Context, parameter: click.Parameter, plot: str | None) -> str | None:
    """Refuse at once the name of a figure that could only fail after the work."""
    if plot:
        from priori.plots.style import check_format

        check_format(plot)
    return plot
