"""What the shell completes: the names of files where a file is meant, and our own names."""

from __future__ import annotations

import re
from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]

#: The words of a metavar that stand for files and for directories.
FILES, DIRECTORIES = {"FILE", "DEV", "TEST", "STUDY"}, {"DIR", "DIRECTORY"}


def add_completion(command: click.Command) -> None:
    """Make the shell complete file names, measures and criteria in the parameters of a command."""
    for parameter in command.params:
        words = set(re.findall(r"[A-Z]+", parameter.metavar or ""))
        complete: Completer | None = None
        if words & FILES:
            complete = _files
        elif words & DIRECTORIES:
            complete = _directories
        elif parameter.name in _NAMES:
            complete = _names(_NAMES[parameter.name])
        if complete is not None:
            # The constructor's argument of the same purpose would have to be repeated in every command.
            parameter._custom_shell_complete = complete


def _files(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="file")]


def _directories(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type="dir")]


def _names(listed: Callable[[], list[str]]) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(name) for name in listed() if name.startswith(incomplete)]

    return complete


def _measures() -> list[str]:
    from priori.decisions.measures import MEASURES

    return list(MEASURES)


def _criteria() -> list[str]:
    from priori.decisions.criteria import CRITERIA

    return list(CRITERIA)


def _formats() -> list[str]:
    from priori.readers.formats import FORMATS

    return list(FORMATS)


_NAMES: dict[str, Callable[[], list[str]]] = {
    "measure": _measures,
    "criterion": _criteria,
    "input_format": _formats,
}
