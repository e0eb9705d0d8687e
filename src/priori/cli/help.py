"""What people are told: --help in short and in full, and every error in one line, of options instead of arguments."""

from __future__ import annotations

import inspect
import re
import shlex
from textwrap import fill
from typing import Any

import click

from priori.base.cautions import Caution
from priori.base.errors import MARK, PrioriError, near_name, short
from priori.base.options import TYPED
from priori.cli.files import file_words
from priori.cli.options import HEADINGS, Beginning, names_in

#: A command with at most this many options is described whole.
FEW = 14
#: The width of the column of options in the short help.
WRITTEN = 22
_META = "priori.help_all"
#: Stands for a hyphen within a name while text is wrapped: lines are broken at other hyphens only.
HYPHEN = "\N{NON-BREAKING HYPHEN}"


class DescribedCommand(click.Command):
    """A command whose --help fits a screen, and whose --help-all describes every option under its heading."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read what was typed, and keep it; an error knows the command, for what its message says of an option."""
        ctx.obj = shlex.join(["priori", str(ctx.info_name), *args])
        try:
            return super().parse_args(ctx, args)
        except click.BadOptionUsage as error:
            error.ctx = error.ctx or ctx
            raise

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, with --help-all at the end where --help leaves something out."""
        params = super().get_params(ctx)
        return [*params, HELP_ALL] if len(self.params) > FEW else params

    def get_help(self, ctx: click.Context) -> str:
        """Return the help, in which names such as at-most-far stay on one line."""
        return super().get_help(ctx).replace(HYPHEN, "-")

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the help; without --help-all its first paragraph and its examples."""
        first, *others = inspect.cleandoc(self.help or "").split("\n\n")
        shown = [first, *(part for part in others if self._whole(ctx) or part.startswith("\b"))]
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(_unbroken("\n\n".join(shown)))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, those that --help shows first."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option) and not param.hidden]
        headings = HEADINGS if len(self.params) > FEW else {}
        headed = {name for names in headings.values() for name in names}
        whole = self._whole(ctx)
        with formatter.section("Options"):
            formatter.write_dl(_records([option for option in options if option.name not in headed], ctx, whole))
        sections = {heading: [each for each in options if each.name in names] for heading, names in headings.items()}
        if whole:
            for heading, members in sections.items():
                if members:
                    with formatter.section(heading):
                        formatter.write_dl(_records(members, ctx, whole))
            return
        with formatter.section("More options, described by --help-all"):
            for heading, members in sections.items():
                # A name stays on one line: people search for it, and copy it.
                names = ", ".join(option.opts[-1] for option in members)
                indents: dict[str, Any] = {"initial_indent": f"  {heading:20}", "subsequent_indent": " " * 22}
                if members:
                    formatter.write(fill(names, formatter.width, break_on_hyphens=False, **indents) + "\n")

    def _whole(self, ctx: click.Context) -> bool:
        return bool(ctx.meta.get(_META)) or len(self.params) <= FEW


def _records(options: list[click.Option], ctx: click.Context, whole: bool) -> list[tuple[str, str]]:
    """Return how each option is written and what it does; in short, its first sentence without lists and defaults."""
    records = []
    for option in options:
        written, text = option.get_help_record(ctx) or ("", "")
        if isinstance(option.type, Beginning):
            text = text.replace("{}", ", ".join(names_in(option.type.table)))
        records.append((written, text))
    records = [(written, _unbroken(text)) for written, text in records]
    if whole:
        return records
    first = [re.split(r"[:;.] |\.?$| +\[", text, maxsplit=1)[0] for _, text in records]
    return [(_briefly(record[0]), f"{text}.".replace("?.", "?")) for record, text in zip(records, first, strict=True)]


def _unbroken(text: str) -> str:
    """Return a text in which no name is broken at a hyphen."""
    return re.sub(r"(?<=\w)-(?=\w)", HYPHEN, text)


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


# -- errors ----------------------------------------------------------------------------------------------------------

#: Options whose name is not the argument's; those of a resampling declare theirs.
OPTIONS = {
    "pos_label": "positive",
    "attack_label": "attack",
    "columns": "column",
    "together": "mixed_users",
    "format": "input_format",
    "pilot": "system",
    "given": "from",
    "cost_fp": "costs",
}
#: What to say to those who type options of other commands.
INSTEAD = {
    "--folds": "divide the file in two: --split 50/50",
    "--sensitivity": "plan takes the rate of errors, 1 - sensitivity: --frr RATE, or --limit frr=VALUE",
    "--specificity": "plan takes the rate of errors, 1 - specificity: --far RATE, or --limit far=VALUE",
    "--calibrate": "write --criterion bayes:NAME, for example --criterion bayes:logistic",
    "--cost-fn": "write --costs fn=A,fp=B",
    "--cost-fp": "write --costs fn=A,fp=B",
}
#: What people type for the option or the argument that takes their files.
FOR_FILES = ("--system", "--systems", "--scores", "--dev", "--test", "--file", "--files", "--input", "-i")


def message_of(error: PrioriError | click.ClickException) -> str:
    """Return what an error says, for one line on standard error."""
    if isinstance(error, PrioriError):
        message = _options_in(error.marked)
    elif isinstance(error, click.NoSuchOption):
        message = _unknown_option(error)
    elif isinstance(error, click.BadOptionUsage) and (words := _words_of(error)):
        message = f"{error.option_name} takes {len(words.split())} words: {error.option_name} {words}"
    elif extra := re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", error.message, re.DOTALL):
        assert isinstance(error, click.UsageError)
        assert error.ctx is not None
        reads = _reads(error.ctx) or f"see '{error.ctx.command_path} --help'"
        message = f"more words than the command takes: {short(extra[1])}; {reads}"
    else:
        context = getattr(error, "ctx", None)
        hint = f" (see '{context.command_path} --help')" if context is not None else ""
        message = re.sub(r"a valid (integer|float)( range)?", _number, error.format_message()) + hint
    # What was typed may be of any length: quoted, or one long word.
    return re.sub(r"(?<!\w)'[^']*'(?!\w)|\S{300,}", _said_again, " ".join(message.split()))


def with_options(warning: str) -> str:
    """Return a warning as the command line says it: arguments of Python as options."""
    return Caution(warning.code, _options_in(warning.marked)) if isinstance(warning, Caution) else warning


def _options_in(marked: str) -> str:
    return re.sub(f"{MARK}(\\w+)=?(.*?){MARK}", lambda found: option_text(*found.groups()), marked)


def _words_of(error: click.BadOptionUsage) -> str:
    """Return the words that an option takes, where it takes several and did not get them."""
    params = [] if error.ctx is None else error.ctx.command.params
    asked = [param for param in params if error.option_name in param.opts and param.nargs > 1]
    return (asked[0].metavar or "") if asked else ""


def _number(found: re.Match[str]) -> str:
    return "a whole number" if found[1] == "integer" else "a number"


def _said_again(found: re.Match[str]) -> str:
    quote = found[0].removeprefix("'") != found[0]
    return f"'{short(found[0][1:-1])}'" if quote else short(found[0])


def option_text(name: str, value: str = "") -> str:
    """Return an argument as one would type it.

    Examples
    --------
    >>> option_text("n_resamples"), option_text("engine", "'memory'"), option_text("skip_incomplete", "True")
    ('--resamples', '--engine memory', '--skip-incomplete')
    >>> option_text("columns", "{'trial': NAME}"), option_text("trials", "FILE")
    ('--column trial=NAME', '--trials FILE')
    >>> option_text("together", "False"), option_text("columns", "{'user': ''}")
    ('--mixed-users', '--column user=')
    """
    option = "--" + {**TYPED, **OPTIONS}.get(name, name).replace("_", "-")
    typed = re.sub(r"^\{'(.*)': (.*)\}$", r"\1=\2", value).strip("'")
    return option if typed in ("", "True", "False") else f"{option} {typed}"


def _reads(context: click.Context) -> str:
    """Return how a command is given the files that it reads, where it reads any."""
    takes_files = [param for param in context.command.params if file_words(param)]
    if not takes_files:
        return ""
    words = takes_files[0].metavar or ""
    option = f"{takes_files[0].opts[0]} {words}" if isinstance(takes_files[0], click.Option) else words
    return f"'{context.command_path}' reads {option}"


def _unknown_option(error: click.NoSuchOption) -> str:
    name = short(error.option_name)
    assert error.ctx is not None
    params = error.ctx.command.params
    hint = _reads(error.ctx) if name in FOR_FILES else INSTEAD.get(name, "")
    if not hint:
        options = [option for param in params for option in (*param.opts, *param.secondary_opts) if option[0] == "-"]
        near = near_name(name, options)
        hint = f"did you mean {near}?" if near else f"see '{error.ctx.command_path} --help'"
    return f"no such option {name}; {hint}"
