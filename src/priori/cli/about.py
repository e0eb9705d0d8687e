"""``priori explain``, ``priori schema``: about cautions, about saved results."""

from __future__ import annotations

import json
from textwrap import fill

import click

from priori.base.caution_codes import CODES
from priori.cli.commands import Asked, make_command
from priori.cli.files import NUMBERS
from priori.cli.options import Named, option
from priori.cli.output import emit


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
