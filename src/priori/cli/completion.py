"""``priori completion``: what the shell completes (commands, options, files, our own names), and the script for it."""

from __future__ import annotations

import importlib
from functools import partial

import click
from click.shell_completion import CompletionItem, get_completion_class

from priori.cli.files import DIRECTORIES, FILES, metavar_words
from priori.cli.output import emit

#: The options that take a name, with the module and the table in it that lists these names.
NAMES = {
    "measure": ("priori.decisions.measures", "MEASURES"),
    "criterion": ("priori.decisions.criteria", "CRITERIA"),
    "input_format": ("priori.readers.formats", "FORMATS"),
}


@click.command(name="completion", short_help="Shell completion of commands, options and files.")
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
    """Make the shell complete file names, measures and criteria in the parameters of a command."""
    for parameter in command.params:
        words = set(metavar_words(parameter))
        # The constructor's argument of the same purpose would have to be repeated in every command.
        if words & (FILES | DIRECTORIES):
            parameter._custom_shell_complete = partial(_paths, "file" if words & FILES else "dir")
        elif parameter.name in NAMES:
            parameter._custom_shell_complete = partial(_names, *NAMES[parameter.name])


def _paths(kind: str, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(incomplete, type=kind)]


def _names(
    module: str, table: str, ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    names = getattr(importlib.import_module(module), table)
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]
