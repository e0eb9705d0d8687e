"""How commands are made: of options, and of groups of options that reach a command as one object."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import click

from priori.base.cautions import silenced
from priori.cli.files import check_files_apart
from priori.cli.help import DescribedCommand


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
    name: str, short_help: str, *parts: click.Parameter | Group, help: str | None = None
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

        described = help or function.__doc__
        return click.command(name, DescribedCommand, short_help=short_help, params=params, help=described)(_gathered)

    return decorate


class OptionSettings(TypedDict, total=False):
    """What can be said of an option: the settings of `click.Option` that are used here."""

    help: str
    type: Any
    default: Any
    metavar: str | None
    multiple: bool
    required: bool
    nargs: int
    is_flag: bool | None
    callback: Callable[[click.Context, click.Parameter, Any], Any]
    show_default: bool
    is_eager: bool
    expose_value: bool


def option(*names: str, **settings: Unpack[OptionSettings]) -> click.Option:
    """Return an option; its default is shown by --help unless it says otherwise."""
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.Option(names, **settings)


def _codes(typed: str | None) -> list[str]:
    """Return the codes between commas."""
    return [code.strip() for code in (typed or "").split(",") if code.strip()]


def _check_codes(context: click.Context, parameter: click.Parameter, typed: str | None) -> str | None:
    """Refuse at once what is no code."""
    with silenced(*_codes(typed)):
        return typed


SILENCE = option("--silence", metavar="CODE,...", callback=_check_codes,
                 help="Do not show warnings of these codes: few-users,few-errors. See docs/cautions.md.")  # fmt: skip
