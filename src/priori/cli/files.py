"""Files of a command: which of its parameters name files, and that none is both read and written."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import click

from priori.base.errors import OptionError

#: The words of a metavar that stand for files and for directories.
FILES, DIRECTORIES = {"FILE", "DEV", "TEST"}, {"DIR"}


class Written(click.types.StringParamType):
    """The type of an option that names a file to write: what has it is checked, and kept apart from what is read.

    ``implied`` tells, from the values of all options, which file is written where none is named; ``-``, standard
    output, is for such files only.
    """

    def __init__(self, implied: Callable[[Mapping[str, Any]], str | None] | None = None) -> None:
        self.implied, self.printed = implied or (lambda typed: None), implied is not None

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse at once what could only fail after the work."""
        path = str(super().convert(value, param, ctx))
        if path != "-":
            from priori.base.whole_files import check_writable

            check_writable(path)
        elif not self.printed:
            raise OptionError(f"{param.opts[-1] if param else ''} -: name a file; standard output is for the numbers")
        return path

    def path(self, parameter: click.Parameter, typed: Mapping[str, Any]) -> str | None:
        """Return the file that is written, if any."""
        value: str | None = typed.get(str(parameter.name))
        return self.implied(typed) if value is None else None if value == "-" else value


class Drawn(Written):
    """The type of an option that names a figure, whose format its ending says."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuse at once what could only fail after the work."""
        from priori.plots.style import check_format

        path = super().convert(value, param, ctx)
        check_format(path)
        return path


#: A file beside the numbers; the numbers themselves, which are printed where no file is named.
WRITTEN, NUMBERS = Written(), Written(lambda typed: None)


def metavar_words(parameter: click.Parameter) -> list[str]:
    """Return the words that stand for the values of a parameter."""
    return re.findall(r"[A-Z]+", parameter.metavar or "")


def file_words(parameter: click.Parameter) -> bool:
    """Tell whether a parameter names files that are read."""
    return not isinstance(parameter.type, Written) and bool(FILES & {*metavar_words(parameter)})


def complete_files(command: click.Command) -> None:
    """Make the shell complete the names of files and directories in the parameters of a command."""

    from click.shell_completion import CompletionItem

    def paths(kind: str, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=kind)]

    for parameter in command.params:
        if words := (FILES | DIRECTORIES) & {*metavar_words(parameter)}:
            # The constructor's argument of the same purpose would have to be repeated in every command.
            parameter._custom_shell_complete = partial(paths, "file" if words & FILES else "dir")


def check_files_apart(context: click.Context) -> None:
    """Refuse to overwrite a file that the command reads, or writes already, by whatever name or link."""
    paths = [path for path in _written(context) if os.path.isfile(path) or not os.path.exists(path)]
    read = [*_read(context)] if paths else []
    for number, path in enumerate(paths):
        source = next((each for each in read if _same(path, each)), None)
        if source is not None:
            same = "" if source == path else f" (it is {source})"
            raise OptionError(f"cannot write {path}: it is read by this command{same}; name another file")
        if any(_same(path, other) for other in paths[:number]):
            raise OptionError(f"cannot write {path} twice; name another file")


def _same(path: str, other: str) -> bool:
    with suppress(OSError, ValueError):  # a file that does not exist yet
        return os.path.samefile(path, other)
    return os.path.realpath(path) == os.path.realpath(other)


def _written(context: click.Context) -> Iterator[str]:
    """Yield the files that a command writes."""
    for parameter in context.command.params:
        if isinstance(parameter.type, Written) and (path := parameter.type.path(parameter, context.params)):
            yield path


def _read(context: click.Context) -> Iterator[str]:
    """Yield the files that a command reads, those behind a directory or a glob too."""
    for parameter in context.command.params:
        value = context.params.get(str(parameter.name))
        if value is None or not file_words(parameter):
            continue
        words = metavar_words(parameter)
        groups = value if parameter.multiple else [value]
        for group in groups:
            values = [group] if isinstance(group, str) else group
            if parameter.nargs == -1:
                words = words * len(values)
            for word, path in zip(words, values, strict=False):
                if word in FILES:
                    yield from _behind(path)


def _behind(path: str) -> Iterator[str]:
    if os.path.isdir(path):
        yield from (os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names)
    elif glob.has_magic(path) and not os.path.exists(path):
        yield from glob.iglob(path, recursive=True)
    else:
        yield path
