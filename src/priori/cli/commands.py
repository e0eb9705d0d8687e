"""How commands are made: of options, and of groups of options that reach a command as one object."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from priori.base.cautions import silenced
from priori.cli import COMMANDS
from priori.cli.files import check_files_apart
from priori.cli.help import DescribedCommand

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


@dataclass(frozen=True)
class Group:
    """Options that a command gets together: as one argument called ``name``, made by ``make`` from their values.

    The options ``last`` belong to it too; --help lists them at the end.
    """

    name: str
    make: Callable[..., Any]
    options: tuple[click.Parameter, ...]
    last: tuple[click.Parameter, ...] = ()


def make_command(
    name: str, *parts: click.Parameter | Group, help: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function; its options are listed by --help in the order given here.

    What the function does not name, it gets together, as the dictionary ``options``. A command that gives results has
    ``--silence`` too.
    """
    groups = [part for part in parts if isinstance(part, Group)]
    params = [param for part in parts for param in (part.options if isinstance(part, Group) else (part,))]
    params += [param for group in groups for param in group.last]
    if any(group.name == "output" for group in groups):
        params.append(SILENCE)

    def decorate(function: Callable[..., None]) -> click.Command:
        named = inspect.signature(function).parameters

        @functools.wraps(function)
        def _gathered(**typed: Any) -> None:
            codes = _codes(typed.pop("silence", None))
            check_files_apart(click.get_current_context())
            for group in groups:
                shown = (param for param in (*group.options, *group.last) if param.expose_value)
                values = {str(param.name): typed.pop(str(param.name)) for param in shown}
                typed[group.name] = group.make(**values)
            if "options" in named:
                typed["options"] = {name: typed.pop(name) for name in [*typed] if name not in named}
            with silenced(*codes):
                function(**typed)

        text = help or function.__doc__
        return click.command(name, DescribedCommand, short_help=COMMANDS[name], params=params, help=text)(_gathered)

    return decorate


def option(*names: str, table: str | None = None, **settings: Any) -> click.Option:
    """Return an option with the settings of `click.Option`; its default is shown unless they say otherwise.

    With a ``table``, ``module:NAME``, it takes names that are listed there, which ``{}`` stands for in its help. The
    module is imported when they are asked for.
    """
    settings.setdefault("show_default", settings.get("default") is not None)
    if table is None:
        return click.Option(names, **settings)
    listing = Listing(names, **settings)
    listing.table = table
    return listing


def names_in(table: str) -> tuple[str, ...]:
    """Return the names that a table lists."""
    module, _, name = table.partition(":")
    return tuple(getattr(importlib.import_module(module), name))


class Listing(click.Option):
    """An option that takes names of a table, perhaps with more behind them."""

    table: str

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the option and its help, with the names."""
        self.help = (self.help or "").replace("{}", ", ".join(names_in(self.table)))
        return super().get_help_record(ctx)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the names that begin like this."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(name) for name in names_in(self.table) if name.startswith(incomplete)]


class Named(click.Choice[str]):
    """A choice among some names and those of a table, which is imported when somebody chooses."""

    def __init__(self, table: str, *names: str) -> None:
        self.table, self.names, self.case_sensitive = table, names, True

    def __getattr__(self, name: str) -> Any:
        if name != "choices":
            raise AttributeError(name)
        self.choices: tuple[str, ...] = (*self.names, *names_in(self.table))
        return self.choices


def _codes(typed: str | None) -> list[str]:
    """Return the codes between commas."""
    return [code.strip() for code in (typed or "").split(",") if code.strip()]


def _check_codes(context: click.Context, parameter: click.Parameter, typed: str | None) -> str | None:
    """Refuse at once what is no code."""
    with silenced(*_codes(typed)):
        return typed


SILENCE = option(
    "--silence",
    metavar="CODE,...",
    callback=_check_codes,
    help="Do not show warnings of these codes: few-units,ties. See docs/cautions.md.",
)
