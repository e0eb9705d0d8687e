"""What --help shows: the options of a command that most people need, the others by name; --help-all describes all."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from textwrap import fill, shorten

import click

#: The options that --help only names, under the heading that --help-all describes them under.
HEADINGS = {
    "One file or table": ("folds", "mixed_users", "split_seed", "systems_in", "systems_columns", "split", "where"),
    "Curves": ("task", "calibrate", "preset", "points", "bounds", "weight", "exact", "theta", "positions"),
    "Tests": ("alternative", "unpaired", "family"),
    "Rates and sizes": (
        "assurance",
        "far_b",
        "frr_b",
        "intraclass",
        "negatives_per_positive",
        "negatives_per_user",
        "positives_per_user",
        "test",
        "development",
        "one_sided",
    ),
    "Resampling": (
        "resamples",
        "resample",
        "level",
        "interval",
        "simultaneous",
        "seed",
        "shared_users",
        "promise",
        "future_users",
        "future_trials",
        "threads",
        "no_bootstrap",
    ),
    "Output": ("json_", "raw_text", "silence", "static", "pdf", "title", "histogram"),
    "Reading files": (
        "trials",
        "input_format",
        "column",
        "positive",
        "attack",
        "attack_column",
        "nan",
        "lower_is_better",
        "engine",
        "memory",
        "temp",
    ),
}
#: A command with at most this many options is described whole.
FEW = 14
#: How wide options are in the short help, before what they do.
WRITTEN = 22
_META = "priori.help_all"


class DescribedCommand(click.Command):
    """A command whose --help fits a screen, and whose --help-all describes every option under its heading."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what was typed; an error knows the command, so that its message can say what an option takes."""
        try:
            return super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            error.ctx = error.ctx or ctx
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with --help-all at the end where --help leaves something out."""
        params = super().get_params(ctx)
        return [*params, HELP_ALL] if len(self.params) > FEW else params

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help; without --help-all its first paragraph and its examples."""
        if self._whole(ctx) or not self.help:
            super().format_help_text(ctx, formatter)
            return
        first, *others = inspect.cleandoc(self.help).split("\n\n")
        shown = "\n\n".join([first, *(part for part in others if part.startswith("\b"))])
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(shown)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those that --help shows first."""
        if len(self.params) <= FEW:
            super().format_options(ctx, formatter)
            return
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        headed = {name for names in HEADINGS.values() for name in names}
        whole = self._whole(ctx)
        first = [option for option in options if option.name not in headed]
        with formatter.section("Options"):
            _write(formatter, _records(first, ctx, whole), whole)
        groups = [
            (heading, [option for option in options if option.name in names]) for heading, names in HEADINGS.items()
        ]
        groups = [(heading, members) for heading, members in groups if members]
        if not whole:
            with formatter.section("More options, described by --help-all"):
                for heading, members in groups:
                    # A name stays on one line: people search for it, and copy it.
                    names = ", ".join(option.opts[-1] for option in members)
                    lines = fill(
                        names,
                        formatter.width,
                        break_on_hyphens=False,
                        initial_indent=f"  {heading:20}",
                        subsequent_indent=" " * 22,
                    )
                    formatter.write(lines + "\n")
            return
        for heading, members in groups:
            with formatter.section(heading):
                _write(formatter, _records(members, ctx, whole), whole)

    def _whole(self, ctx: click.Context) -> bool:
        return bool(ctx.meta.get(_META)) or len(self.params) <= FEW


def _write(formatter: click.HelpFormatter, records: Iterator[tuple[str, str]], whole: bool) -> None:
    """Write options; in short one line each, what does not fit left to --help-all."""
    if whole:
        formatter.write_dl(list(records))
        return
    for written, text in records:
        formatter.write(f"  {written:{WRITTEN}}  {shorten(text, formatter.width - WRITTEN - 4, placeholder=' …')}\n")


def _records(options: list[click.Option], ctx: click.Context, whole: bool) -> Iterator[tuple[str, str]]:
    """Yield how each option is written and what it does; in short, its first sentence without lists and defaults."""
    for option in options:
        record = option.get_help_record(ctx)
        if record is not None:
            written, text = record
            if whole:
                yield written, text
            else:
                yield _briefly(written), re.split(r"[:;.] |\.?$| +\[", text, maxsplit=1)[0] + "."


def _briefly(written: str) -> str:
    """Return an option as it is written, a long list of choices as what it is: a name."""
    return written if len(written) <= WRITTEN else re.sub(r"\[[^]]*\]", "NAME", written)


def _help_all(context: click.Context, parameter: click.Parameter, asked: bool) -> None:
    if asked:
        context.meta[_META] = True
        click.echo(context.get_help())
        context.exit()


HELP_ALL = click.Option(
    ["--help-all"], is_flag=True, is_eager=True, expose_value=False, callback=_help_all, help="Describe all options."
)
