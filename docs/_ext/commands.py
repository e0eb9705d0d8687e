"""What pages take from the program itself, as Markdown: what --help says of every command, and all cautions."""

from __future__ import annotations

import inspect
import re

import click

from priori.base.caution_codes import CODES
from priori.cli import COMMANDS, cli

__all__ = ["CAUTIONS", "MARK", "cautions_markdown", "command_markdown", "fill"]

#: A line of a page that the description of a command takes the place of.
MARK = re.compile(r"^<!-- command: ([\w-]+) -->$", flags=re.MULTILINE)
#: The line that the list of cautions takes the place of.
CAUTIONS = "<!-- cautions -->"


def _command(name: str) -> tuple[click.Context, click.Command]:
    parent = click.Context(cli, info_name="priori")
    command = cli.get_command(parent, name)
    if command is None:
        raise ValueError(f"there is no command {name!r}; there are {', '.join(COMMANDS)}")
    return click.Context(command, info_name=name, parent=parent), command


def _with_options_as_code(text: str) -> str:
    return re.sub(r"(?<![\w`-])(--?[a-z][\w-]*)", r"`\1`", " ".join(text.split()))


def _help_markdown(text: str) -> str:
    """Turn the help of a command into Markdown: paragraphs as they are, those that click keeps verbatim as code."""
    parts = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if not paragraph.startswith("\b"):
            parts.append(_with_options_as_code(paragraph))
            continue
        lines = paragraph.removeprefix("\b").strip("\n").split("\n")
        if lines[0].rstrip().endswith(":") and len(lines) > 1:
            parts.append(lines.pop(0).strip())
        parts.append("```text\n" + inspect.cleandoc("\n".join(lines)) + "\n```")
    return "\n\n".join(parts)


def _option_markdown(option: click.Option, context: click.Context) -> str:
    written, text = option.get_help_record(context) or ("", "")
    return f"`{written}`\n: {_with_options_as_code(text)}"


def command_markdown(name: str) -> str:
    """Return the description of one command: its usage, its help, its arguments and all its options."""
    context, command = _command(name)
    usage = "priori " + " ".join([name, *command.collect_usage_pieces(context)])
    parts = [f"```text\n{usage}\n```", _help_markdown(command.help or "")]
    options = [item for item in command.get_params(context) if isinstance(item, click.Option) and not item.hidden]
    options = [option for option in options if not {"--help", "--help-all"} & {*option.opts}]
    parts += [_option_markdown(option, context) for option in options]
    return "\n\n".join(parts) + "\n"


def cautions_markdown() -> str:
    """Return all cautions: when each is given, how much it matters, what to do, and the page that has more on it."""
    parts = []
    for code, kind in CODES.items():
        more = f"See [{kind.page.rpartition('/')[2].replace('-', ' ')}]({kind.page}.md)."
        text = " ".join([kind.meaning, kind.matters, kind.remedy])
        parts.append(f"`{code}` ({kind.level})\n: {_with_options_as_code(text)} {more}")
    return "\n\n".join(parts)


def fill(text: str) -> str:
    """Put every command's description, and the cautions, in place of their marks."""
    return MARK.sub(lambda found: command_markdown(found[1]), text).replace(CAUTIONS, cautions_markdown())
