"""``priori completion``: the script for shell completion of commands, options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from priori.cli.output import emit

SHELLS = ("bash", "zsh", "fish")


@click.command(name="completion", short_help="Shell completion of commands, options and files.")
@click.argument("shell", type=click.Choice(SHELLS))
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
