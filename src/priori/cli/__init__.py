"""The command line: one file per command, loaded only when it is called."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click

from priori._version import __version__
from priori.base.errors import PrioriError
from priori.cli.completion import add_completion

__all__ = ["COMMANDS", "main"]

#: The commands, in the order in which --help lists them; each is ``command`` in the module of its name.
COMMANDS = (
    "epc", "compare", "rank", "threshold", "rates", "report", "app", "average", "average-epc", "ztest", "plan",
    "coverage", "roc", "det", "run", "demo", "schema", "completion",
)  # fmt: skip

#: What --help says last, of every command.
EXIT_CODES = "Exit codes: 0 done; 2 bad input or options; 130 interrupted."


class Commands(click.Group):
    """A group that imports a command's module only when the command is called or described."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"priori.cli.{cmd_name.replace('-', '_')}").command
        command.epilog = EXIT_CODES
        add_completion(command)
        return command


@click.group(
    cls=Commands, epilog=EXIT_CODES, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="priori")
def cli() -> None:
    """How well will a scored two-class decision work once its threshold is fixed in advance?

    A threshold is chosen on development scores and judged on test scores that it has never seen.
    Numbers go to standard output, everything else to standard error.

    """


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; bad input ends in one line and exit code 2, never in a traceback."""
    try:
        cli.main(args=arguments, prog_name="priori", standalone_mode=False)
    except PrioriError as error:
        _fail(str(error), 2)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f" (see '{context.command_path} --help')" if context is not None else ""
        _fail(error.format_message() + hint, 2)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output went away (head, less): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except MemoryError:
        _fail("not enough memory for these scores", 2)


def _fail(message: str, code: int) -> None:
    click.echo("priori: error: " + " ".join(message.split()), err=True)
    sys.exit(code)
