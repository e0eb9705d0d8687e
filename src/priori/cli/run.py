"""``priori run``: a study in one file."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator
from pathlib import Path

import click

from priori.base.errors import OptionError, PrioriError
from priori.base.whole_files import write_whole
from priori.cli.output import tell
from priori.cli.studyfile import DEFAULTS, STEPS, TEMPLATE, find_study, read_study


@click.command(name="run", short_help="Run a study that is described in one file.")
@click.argument("study", metavar="[STUDY]", required=False)
@click.argument("what", metavar="[COMMAND]...", nargs=-1)
@click.option("--init", is_flag=True, help="Write a commented study file as a template, and run nothing.")
@click.option("--dry-run", is_flag=True, help="Print the commands instead of running them.")
@click.pass_context
def command(context: click.Context, study: str | None, what: tuple[str, ...], init: bool, dry_run: bool) -> None:
    """Run the commands that STUDY asks for (default: study.toml or priori.toml in this directory).

    The file names the systems, the settings, and the commands to run on them: epc, compare, report, ztest, plan,
    coverage. Paths in it are relative to it. Everything is checked before anything runs. With COMMAND, only those.

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
        _write_template(study or DEFAULTS[0])
        return
    path = find_study(study)
    root = context.find_root()
    assert isinstance(root.command, click.Group)
    commands = {name: _command(root.command, root, name) for name in STEPS}
    found = read_study(path, commands)
    asked = {step.command for step in found.steps}
    for name in what:
        if name not in asked:
            raise OptionError(f"{path} does not ask for {name!r}; it asks for {', '.join(sorted(asked))}")
    steps = [step for step in found.steps if not what or step.command in what]
    if dry_run:
        for step in steps:
            click.echo(shlex.join(["priori", step.command, *step.arguments]))
        return
    with contextlib.chdir(found.folder):
        ready = []
        for step in steps:
            with _told(f"{path}: [{step.command}]"):
                ready.append(commands[step.command].make_context(step.command, list(step.arguments), parent=root))
        for each in ready:
            with each, _told(f"{path}: [{each.command.name}]"):
                each.command.invoke(each)


def _command(group: click.Group, context: click.Context, name: str) -> click.Command:
    found = group.get_command(context, name)
    assert found is not None
    return found


@contextlib.contextmanager
def _told(where: str) -> Iterator[None]:
    """Say in which part of the file an error lies."""
    try:
        yield
    except click.ClickException as error:
        raise OptionError(f"{where}: {error.format_message()}") from None
    except PrioriError as error:
        raise type(error)(f"{where}: {error}") from None


def _write_template(name: str) -> None:
    if Path(name).exists():
        raise OptionError(f"{name} is there already; name another file")
    write_whole(name, TEMPLATE)
    tell(f"wrote {name}")
