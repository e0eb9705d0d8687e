"""``python -m papers`` (``make papers``): the papers' figures and tables made again, their statements checked."""

from __future__ import annotations

import click

from papers import REPRODUCTIONS, Reproduction, reproduce
from papers.gallery import write_gallery
from priori.cli.output import Progress, table_text, tell

__all__ = ["command"]


@click.command("papers")
@click.argument("what", nargs=-1, type=click.Choice([*REPRODUCTIONS]), metavar="[WHAT]...")
@click.option("--quick", is_flag=True, help="A small version of each, in seconds instead of minutes.")
@click.option(
    "--output", default="docs/gallery", show_default=True, metavar="DIRECTORY", help="Where figures and page go."
)
def command(what: tuple[str, ...], quick: bool, output: str) -> None:
    """Redo the papers: figures, tables beside the published ones, and each statement with yes, no or not decidable.

    \b
    WHAT is any of: epc, joint-bootstrap, thesis, averaging (default: all).

    \b
    Examples:
      python -m papers thesis
      python -m papers --quick --output gallery
    """
    for name in what or REPRODUCTIONS:
        with Progress(name) as progress:
            done = reproduce(name, quick=quick, progress=progress)
        click.echo(described(done))
        page = write_gallery(done, output)
        tell(f"{len(done.figures)} figures of {name} in {page}")


def described(done: Reproduction) -> str:
    """Return a reproduction for reading: statements with their verdicts, then the tables."""
    parts = [done.title, done.paper, "", done.data, ""]
    for conclusion in done.conclusions:
        numbers = f" ({conclusion.numbers})" if conclusion.numbers else ""
        parts.append(f"{conclusion.verdict:3}  {conclusion.statement}{numbers}")
    for table in done.tables:
        parts += ["", table_text(table.title, table.columns, table.text(), note=table.note).rstrip("\n")]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    command(prog_name="python -m papers")
