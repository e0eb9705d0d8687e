"""``priori run``: a study in one file."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from priori.base.errors import OptionError, PrioriError
from priori.base.whole_files import write_whole
from priori.cli import COMMANDS
from priori.cli.files import check_files_apart
from priori.cli.output import emit, tell
from priori.cli.study_file import DEFAULTS, STEPS, TEMPLATE, find_study, read_study


@click.command(name="run", short_help=COMMANDS["run"])
@click.argument("study", metavar="[STUDY]", required=False)
@click.argument("names", metavar="[COMMAND]...", nargs=-1)
@click.option("--init", is_flag=True, help="Write a commented study file as a template, and run nothing.")
@click.option("--dry-run", is_flag=True, help="Print the commands instead of running them.")
@click.pass_context
def command(context: click.Context, study: str | None, names: tuple[str, ...], init: bool, dry_run: bool) -> None:
    """Run the commands that STUDY asks for (default: study.toml or priori.toml in this directory).

    The file names the systems, the settings, and the commands to run on them: epc, compare, rank, report,
    ztest, plan, coverage, check. Paths are relative to the file. Everything is checked before anything runs. With
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
    if init:
        target = study or DEFAULTS[0]
        if Path(target).exists():
            raise OptionError(f"{target} is there already; name another file")
        write_whole(target, TEMPLATE)
        tell(f"wrote {target}")
        return
    path, root = find_study(study), context.find_root()
    assert isinstance(root.command, click.Group)
    commands = {name: command for name in STEPS if (command := root.command.get_command(root, name)) is not None}
    steps = read_study(path, commands)
    in_file = {step.command for step in steps}
    for name in names:
        if name not in in_file:
            raise OptionError(f"{path} does not ask for {name!r}; it asks for {', '.join(sorted(in_file))}")
    steps = [step for step in steps if not names or step.command in names]
    if dry_run:
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
