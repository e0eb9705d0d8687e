"""``priori schema``: the published layout of saved results."""

from __future__ import annotations

import json

import click

from priori.cli import COMMANDS
from priori.cli.files import WRITTEN
from priori.cli.output import emit
from priori.saving.documents import RESULTS
from priori.saving.schemas import bundle, schema


@click.command(name="schema", short_help=COMMANDS["schema"])
@click.argument("result", type=click.Choice(list(RESULTS), case_sensitive=False), required=False, metavar="[RESULT]")
@click.option("-o", "--output", metavar="FILE", type=WRITTEN, help="Write to FILE (atomically); default: stdout.")
def command(result: str | None, output: str | None) -> None:
    emit(json.dumps(schema(result) if result else bundle(), indent=2, ensure_ascii=False), output)


command.help = f"""Print the JSON schema (draft 2020-12) of a result as to_json writes it.

    Without RESULT, one schema for all results.

    RESULT is the name of a class: {", ".join(RESULTS)}.

    \b
    Examples:
      priori schema EPC
      priori schema -o priori-results.schema.json
    """
