"""The command line: one file per command, loaded only when it is called."""

from __future__ import annotations

import contextlib
import errno
import importlib
import io
import os
import re
import sys
import threading
from typing import TYPE_CHECKING, Any

import click

from priori._version import __version__
from priori.base.errors import PrioriError, unknown
from priori.base.temporary import ending

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["COMMANDS", "main"]

#: The commands in the order of --help, with what it says of them.
COMMANDS = {
    "epc": "The Expected Performance Curve of one or more systems.",
    "compare": "Is A better than B? A paired test at every alpha.",
    "rank": "Rank systems, with an interval for each rank.",
    "check": "Do the error rates keep these limits? A gate for continuous integration.",
    "threshold": "Choose a threshold on development scores.",
    "watch": "After deployment: is a limit broken, has something changed?",
    "rates": "Outcomes and all measures at a threshold fixed in advance, with intervals; by group, or by user.",
    "amounts": "What decisions cost where each error costs its own amount.",
    "calibration": "Are scores log-likelihood ratios? Cllr, DCF and their minima.",
    "report": "One page with everything: verdict, curves, tables.",
    "app": "The report page in a browser: upload scores.",
    "average": "One ROC curve from many: data sets, folds, users or readers.",
    "average-epc": "The EPC averaged over data sets.",
    "ztest": "Intervals and tests of HTER or DCF, from rates or from scores.",
    "plan": "How many users and trials do I need?",
    "roc": "ROC curves of test scores (a posteriori).",
    "det": "DET curves of test scores (a posteriori).",
    "epsc": "Under attack: the Expected Performance and Spoofability Curve.",
    "adcf": "Under attack: the a-DCF, actual and minimum.",
    "pad": "Presentation attack detection: APCER by type, BPCER, ACER.",
    "demo": "A full evaluation of bundled real scores.",
    "explain": "What a warning means, how much it matters, what to do.",
    "schema": "The JSON schema of saved results.",
}

#: The modules of commands that share one; each other command is in the module of its name.
MODULES = {
    "adcf": "attacks",
    "average-epc": "average",
    "det": "roc",
    "epsc": "attacks",
    "explain": "about",
    "pad": "attacks",
    "rank": "compare",
    "rates": "threshold",
    "schema": "about",
}

#: What `priori` alone says.
START = """\
priori demo                  evaluate real scores that come with Priori, and show the page
priori epc DEV TEST          your own scores: errors at thresholds fixed in advance
priori --help                all commands
"""

#: What --help says last, of every command.
EXIT_CODES = "Exit codes: 0 done; 1 limit broken; 2 bad input; 3 failed; 130, 143 stopped."


class Commands(click.Group):
    """A group that imports a command's module only when the command is called or described."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        # What error messages need is imported now: later no file may be open to us.
        module = importlib.import_module(f"priori.cli.{MODULES.get(cmd_name, cmd_name)}")
        command: click.Command = getattr(module, cmd_name.replace("-", "_"))
        command.epilog = EXIT_CODES
        if ctx.resilient_parsing:  # the shell completes
            from priori.cli.files import complete_files

            complete_files(command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=COMMANDS[name]) for name in COMMANDS if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise unknown("command", args[0], COMMANDS)
        return super().resolve_command(ctx, args)


@click.group(
    cls=Commands,
    epilog=EXIT_CODES,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="priori")
@click.pass_context
def cli(context: click.Context) -> None:
    """How well will a scored two-class decision work once its threshold is fixed in advance?

    A threshold is chosen on development scores and judged on test scores that it has never seen.
    Numbers go to standard output, everything else to standard error.

    """
    if context.invoked_subcommand is None:
        click.echo(START, nl=False)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command line; what goes wrong ends in one line and an exit code, never in a traceback."""
    for stream in (sys.stdout, sys.stderr):  # so that any name can be printed
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        code = cli.main(args=arguments, prog_name="priori", standalone_mode=False)
        if code == 1:  # a limit of priori check is broken
            sys.exit(1)
    except (PrioriError, click.ClickException) as error:
        from priori.cli.help import message_of

        _fail(message_of(error), 2)
    except click.exceptions.Exit as ending:
        sys.exit(ending.exit_code)
    except (KeyboardInterrupt, click.Abort):
        _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader of our output went away (head, less): nothing is wrong.
        _drop_output()
        sys.exit(0)
    except MemoryError:
        _fail("not enough memory for these scores", 3)
    except Exception as error:
        if isinstance(error, OSError) and error.errno not in (None, errno.ENOMEM, errno.EAGAIN):
            # No directory for temporary files, too many open files, a full disk: errors without a message of ours.
            _fail(" ".join(filter(None, [error.strerror, error.filename and f"({error.filename})"])), 2)
        if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("priori"):
            from priori.base.extras import missing

            _fail(str(missing(error.name.partition(".")[0])), 2)
        if sys.flags.dev_mode:
            raise
        _fail(_unforeseen(error), 3)


def _unforeseen(error: Exception) -> str:
    """Return what to say of an error that nothing foresees: the machine is out of something, or the fault is ours."""
    said = " ".join([type(error).__name__, *str(error).split("\n")[:1]])
    if type(error).__name__ in ("EOFError", "UnpicklingError"):  # nothing else that is read is pickled
        return "a compiled kernel on disk is damaged; delete the *.nbi and *.nbc files of numba's cache and run again"
    if re.search("memory|bad.alloc|thread|Resource temporarily|shared object", said, re.IGNORECASE):
        return f"not enough memory or threads ({said}); allow more (ulimit -v, ulimit -u), or give --threads 1"
    return f"{said}; this is a fault of Priori, please report it with what 'python -X dev -m priori ...' prints"


def _drop_output() -> None:
    """Forget what could not be printed, or Python would try again at its end and complain."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> None:
    if ending.is_set():  # a signal ends the process, and has removed what was missed
        threading.Event().wait(10)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        _drop_output()
    from priori.cli.output import say_error

    say_error(message)
    sys.exit(code)
