"""``priori completion``, ``explain``, ``schema``: about the shell, about cautions, about saved results."""

from __future__ import annotations

import json
from functools import partial
from textwrap import fill

import click
from click.shell_completion import CompletionItem, get_completion_class

from priori.base.caution_codes import CODES
from priori.cli.commands import Asked, make_command
from priori.cli.files import DIRECTORIES, FILES, NUMBERS, metavar_words
from priori.cli.options import Named, option
from priori.cli.output import emit


@make_command("completion", click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"])))
def completion(asked: Asked) -> None:
    """Print the script that makes SHELL complete what you type after priori.

    Add the line to your shell's startup file (~/.bashrc, ~/.zshrc); fish reads its file itself.

    \b
    Examples:
      eval "$(priori completion bash)"
      eval "$(priori completion zsh)"
      priori completion fish > ~/.config/fish/completions/priori.fish
    """
    kind = get_completion_class(asked.shell)
    assert kind is not None
    script = kind(click.get_current_context().find_root().command, {}, "priori", "_PRIORI_COMPLETE")
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


@make_command(
    "explain", click.Argument(["code"], type=Named("priori.base.caution_codes:CODES"), required=False, metavar="[CODE]")
)
def explain(asked: Asked) -> None:
    """Explain a warning: when it is given, how much it matters, what to do.

    Without CODE, list all codes.

    \b
    Examples:
      priori explain few-units
      priori explain
    """
    code: str | None = asked.code
    if code is None:
        emit("\n".join(f"{name:22} {kind.heading}" for name, kind in CODES.items()))
        return
    kind = CODES[code]
    parts = {
        "When": kind.meaning,
        "It matters": kind.matters,
        "What to do": kind.remedy,
        "More": f"docs/{kind.page}.md",
    }
    lines = [f"{kind.level} [{code}]: {kind.heading}"]
    for heading, text in parts.items():
        lines.append(
            fill(text, 100, initial_indent=f"  {heading:12}", subsequent_indent=" " * 14, break_on_hyphens=False)
        )
    emit("\n".join(lines))


@make_command(
    "schema",
    click.Argument(["result"], type=Named("priori.saving.documents:RESULTS"), required=False, metavar="[RESULT]"),
    option("output", kind=NUMBERS, help="Write to FILE (atomically); default: stdout."),
)
def schema(asked: Asked) -> None:
    """Print the JSON schema (draft 2020-12) of a result as to_json writes it.

    Without RESULT, one schema for all results.

    RESULT is the name of a class: EPC, Band, Comparison and so on.

    \b
    Examples:
      priori schema EPC
      priori schema -o priori-results.schema.json
    """
    from priori.saving import documents

    found = documents.schema(asked.result) if asked.result else documents.bundle()
    emit(json.dumps(found, indent=2, ensure_ascii=False), vars(asked)["output"])
