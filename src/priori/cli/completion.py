"""``priori completion``: what the shell completes (commands, options, files, our own names), and the script for it."""

from __future__ import annotations

from functools import partial

import click
from click.shell_completion import CompletionItem, get_completion_class

from priori.cli import COMMANDS
from priori.cli.files import DIRECTORIES, FILES, metavar_words
from priori.cli.output import emit


@click.command(name="completion", short_help=COMMANDS["completion"])
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(context: click.Context, shell: str) -> None:
    """Print the script that makes SHELL complete what you type after priori.

    Put the line of your shell where it is read at the start: ~/.bashrc, ~/.zshrc; fish reads the file itself.

    \b
    Examples:
      eval "$(priori completion bash)"
      eval "$(priori completion zsh)"
      priori completion fish > ~/.config/fish/completions/priori.fish
    """
    kind = get_completion_class(shell)
    assert kind is not None
    script = kind(context.find_root().command, {}, "priori", "_PRIORI_COMPLETE")
    emit(script.source_template % script.source_vars())


def add_completion(command: click.Command) -> None:
    """Make the shell complete file names in the parameters of a command."""
    for parameter in command.params:
        words = set(metavar_words(parameter))
        # The constructor's argument of the same purpose would have to be repeated in every command.
        if words & (FILES | DIRECTORIES):
            parameter._custom_shell_complete = partial(_paths, "file" if words & FILES else "dir")


def _paths(kind: str, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type=kind)]
