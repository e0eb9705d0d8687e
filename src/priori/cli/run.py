"""``priori run``: a study in one file, systems, settings and the commands to run on them, checked key by key."""

from __future__ import annotations

import contextlib
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

import click

from priori.base.errors import InputError, OptionError, PrioriError, unknown
from priori.base.whole_files import write_whole
from priori.cli.commands import Asked, make_command
from priori.cli.files import check_files_apart
from priori.cli.options import options
from priori.cli.output import emit, tell

#: The files that are looked for when none is named.
DEFAULTS = ("study.toml", "priori.toml")

#: The commands that a study can ask for; each takes systems.
STEPS = ("epc", "compare", "rank", "report", "ztest", "plan", "check")

TEMPLATE = files("priori.cli").joinpath("study_template.toml").read_text("utf-8")


@make_command(
    "run",
    click.Argument(["study"], metavar="[STUDY]", required=False),
    click.Argument(["names"], metavar="[COMMAND]...", nargs=-1),
    *options("init dry_run"),
)
def run(asked: Asked) -> None:
    """Run the commands that STUDY asks for (default: study.toml or priori.toml in this directory).

    The file names the systems, the settings, and the commands to run on them: epc, compare, rank, report,
    ztest, plan, check. Paths are relative to the file. Everything is checked before anything runs. With
    COMMAND, only the commands named are run.

    \b
    A small one:
      [systems.A]
      dev = "a-dev.csv"
      test = "a-test.csv"
      [settings]
      measure = "hter"
      [epc]
      plot = "epc.svg"
      [report]
      output = "report.html"

    \b
    Examples:
      priori run --init
      priori run study.toml
      priori run study.toml report
      priori run study.toml --dry-run
    """
    if asked.init:
        target = asked.study or DEFAULTS[0]
        if Path(target).exists():
            raise OptionError(f"{target} is there already; name another file")
        write_whole(target, TEMPLATE)
        tell(f"wrote {target}")
        return
    path, root = find_study(asked.study), click.get_current_context().find_root()
    assert isinstance(root.command, click.Group)
    commands = {name: command for name in STEPS if (command := root.command.get_command(root, name)) is not None}
    steps = read_study(path, commands)
    in_file = {step.command for step in steps}
    for name in asked.names:
        if name not in in_file:
            raise OptionError(f"{path} does not ask for {name!r}; it asks for {', '.join(sorted(in_file))}")
    steps = [step for step in steps if not asked.names or step.command in asked.names]
    if asked.dry_run:
        for step in steps:
            emit(shlex.join(["priori", step.command, *step.arguments]))
        return
    with contextlib.chdir(path.parent):
        contexts = []
        for step in steps:
            with _located(f"{path}: [{step.command}]"):
                contexts.append(commands[step.command].make_context(step.command, list(step.arguments), parent=root))
        with _located(f"{path}"):
            check_files_apart(*contexts, also_read=path.name)
        for ready in contexts:
            with ready, _located(f"{path}: [{ready.command.name}]"):
                ready.command.invoke(ready)


@contextlib.contextmanager
def _located(where: str) -> Iterator[None]:
    """Say in which part of the file an error lies."""
    try:
        yield
    except click.ClickException as error:
        raise OptionError(f"{where}: {error.format_message()}") from None
    except PrioriError as error:
        raise type(error)(f"{where}: {error.marked}") from None


@dataclass(frozen=True)
class Step:
    """A command to run, and its arguments as one would type them."""

    command: str
    arguments: tuple[str, ...]


def find_study(path: str | None) -> Path:
    """Return the study file named, or the one that lies here."""
    if path is not None:
        return Path(path)
    for name in DEFAULTS:
        if Path(name).is_file():
            return Path(name)
    raise OptionError(f"there is no {' and no '.join(DEFAULTS)} here; name the file, or write one: priori run --init")


def read_study(path: Path, commands: Mapping[str, click.Command]) -> list[Step]:
    """Return the steps of a study file that asks for some of the commands.

    An unknown name is an error that says which known one is nearest.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except RecursionError:
        raise InputError(f"{path} is not a study: it is nested too deeply") from None
    except ValueError as error:  # also bytes that are no text, and a number of thousands of digits
        raise InputError(f"{path} is not a TOML file: {error}") from None
    _check_keys(content, ("title", "systems", "settings", *STEPS), f"{path}")
    settings = _table(content.get("settings", {}), f"{path}: [settings]")
    systems = _systems(content.get("systems", {}), path, needed="table" not in settings)
    title = {"title": content["title"]} if "title" in content else {}
    if not isinstance(title.get("title", ""), str):
        raise InputError(f"{path}: title must be a text")
    steps, known = [], set()
    for command in [name for name in content if name in STEPS] or ["epc"]:
        options, where = _options(commands[command]), f"{path}: [{command}]"
        known |= set(options)
        tables = content.get(command, {})
        for table in tables if isinstance(tables, list) else [tables]:
            _check_keys(_table(table, where), options, where)
            shared = {key: value for key, value in {**settings, **title}.items() if _key(key) in options}
            values = {_key(key): value for key, value in {**shared, **table}.items()}
            words = [_words(options[key], key, value, f"{where} {key}") for key, value in values.items()]
            steps.append(Step(command, (*systems, *chain.from_iterable(words))))
    _check_keys([key for key in settings if key != "title"], known, f"{path}: [settings]")
    return steps


def _table(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InputError(f"{where} must be a table of names and values")
    return value


def _systems(value: Any, path: Path, *, needed: bool) -> list[str]:
    systems = _table(value, f"{path}: [systems]")
    if not systems and needed:
        raise InputError(f'{path}: there is no system; add one: [systems.NAME] with dev = "..." and test = "..."')
    words = []
    for name, paths in systems.items():
        where = f"{path}: [systems.{name}]"
        _check_keys(_table(paths, where), ("dev", "test", "scores", "column"), where)
        columns = _table(paths.pop("column", {}), f"{where} column")
        words += [f"--column={name}:{ours}={_text(theirs, where)}" for ours, theirs in columns.items()]
        if isinstance(paths.get("scores"), str) and len(paths) == 1:
            words += ["--scores", name, paths["scores"]]
            continue
        for role in ("dev", "test"):
            if not isinstance(paths.get(role), str):
                raise InputError(f"{where} needs {role}, the name of a file")
        words += ["--system", name, paths["dev"], paths["test"]]
    return words


def _key(name: str) -> str:
    """Return the name of an option as a study file spells it."""
    return name.replace("-", "_")


def _check_keys(keys: Iterable[str], known: Iterable[str], where: str) -> None:
    listed = sorted(map(_key, known))
    for key in keys:
        if _key(key) not in listed:
            raise InputError(f"{where}: {unknown('name', key, listed)}")


def _options(command: click.Command) -> dict[str, click.Option]:
    """Return the options of a command by the names that --help gives them; the systems have tables of their own."""
    given = (option for option in command.params if isinstance(option, click.Option))
    options = [option for option in given if option.name not in ("system", "scores")]
    names = [(option, name) for option in options for name in (max(option.opts, key=len), *option.secondary_opts)]
    return {_key(name.lstrip("-")): option for option, name in names}


def _words(option: click.Option, key: str, value: Any, where: str) -> list[str]:
    """Return an option and its value as one would type them."""
    name = max(option.opts, key=len)
    if option.is_flag:
        if not isinstance(value, bool):
            raise InputError(f"{where} must be true or false, not {value!r}")
        opposite = key in [_key(no.lstrip("-")) for no in option.secondary_opts]
        return [name] if value != opposite else list(option.secondary_opts[-1:])
    if option.multiple:
        if isinstance(value, dict):
            value = [f"{ours}={_joined(theirs, where)}" for ours, theirs in value.items()]
        return [f"{name}={_text(item, where)}" for item in (value if isinstance(value, list) else [value])]
    if option.nargs > 1:
        if not isinstance(value, list) or len(value) != option.nargs:
            raise InputError(f"{where} must be a list of {option.nargs} values, not {value!r}")
        return [name, *(_text(item, where) for item in value)]
    return [f"{name}={_joined(value, where)}"]


def _joined(value: Any, where: str) -> str:
    return ",".join(_text(item, where) for item in (value if isinstance(value, list) else [value]))


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InputError(f"{where} must be a number or a text, not {value!r}")
    return value if isinstance(value, str) else repr(value)
