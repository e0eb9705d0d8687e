"""Messages: an error as the command line says it, in one line, of options instead of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

import click

from priori.base.errors import MARK, PrioriError, short
from priori.base.options import option_fields
from priori.cli.files import file_words

#: Options that are not called as the argument is; those of a resampling say so themselves.
OPTIONS = {
    "pos_label": "positive",
    "attack_label": "attack",
    "columns": "column",
    "format": "input_format",
    "pilot": "system",
    "given": "from",
}
#: What people type for the option or the argument that takes their files.
FOR_FILES = ("--system", "--systems", "--scores", "--dev", "--test", "--file", "--files", "--input", "-i")


def message_of(error: PrioriError | click.ClickException) -> str:
    """Return what an error says, for one line on standard error."""
    if isinstance(error, PrioriError):
        message = re.sub(f"{MARK}(\\w+)=?(.*?){MARK}", lambda found: option_text(*found.groups()), error.marked)
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
        message = error.format_message() + hint
    # What was typed may be of any length: between quotes, or one long word.
    return re.sub(r"(?<!\w)'[^']*'(?!\w)|\S{300,}", _said_again, " ".join(message.split()))


def _words_of(error: click.BadOptionUsage) -> str:
    """Return the words that an option takes, where it takes several and did not get them."""
    params = [] if error.ctx is None else error.ctx.command.params
    asked = [param for param in params if error.option_name in param.opts and param.nargs > 1]
    return (asked[0].metavar or "") if asked else ""


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
    """
    names = {field.name: described.name for field, described in option_fields()}
    option = "--" + {**names, **OPTIONS}.get(name, name).replace("_", "-")
    typed = re.sub(r"^\{'(.*)': (.*)\}$", r"\1=\2", value).strip("'")
    return option if typed in ("", "True") else f"{option} {typed}"


def unknown_command(name: str, known: Iterable[str]) -> click.UsageError:
    """Return the error for a command that is not there, with the nearest that is."""
    near = get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]!r}?" if near else f"the commands are {', '.join(known)}"
    return click.UsageError(f"no such command {name!r}; {hint}")


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
    hint = _reads(error.ctx) if name in FOR_FILES else ""
    if not hint:
        options = [option for param in params for option in (*param.opts, *param.secondary_opts) if option[0] == "-"]
        near = get_close_matches(name, options, n=1, cutoff=0.6)
        hint = f"did you mean {near[0]}?" if near else f"see '{error.ctx.command_path} --help'"
    return f"no such option {name}; {hint}"
