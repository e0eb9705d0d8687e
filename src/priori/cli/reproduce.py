"""``priori reproduce``: the papers' figures and tables made anew, their statements checked one by one."""

from __future__ import annotations

import click

from priori.cli.output import table_text, tell
from priori.cli.progress import Progress
from priori.errors import unknown
from priori.reproduce import REPRODUCTIONS, Reproduction, reproduce

__all__ = ["command"]


@click.command("reproduce")
@click.argument("what", nargs=-1, metavar="[WHAT]...")
@click.option("--quick", is_flag=True, help="A small version of each, in seconds instead of minutes.")
@click.option(
    "--output", default="docs/gallery", show_default=True, metavar="DIRECTORY", help="Where figures and page go."
)
def command(what: tuple[str, ...], quick: bool, output: str) -> None:
    """Redo the papers: figures, tables beside the published ones, and each statement with yes or no.

    \b
    WHAT is any of: epc, joint-bootstrap, thesis, averaging (default: all).

    \b
    Examples:
      priori reproduce thesis
      priori reproduce --quick --output gallery
    """
    for name in what:
        if name not in REPRODUCTIONS:
            raise unknown("reproduction", name, REPRODUCTIONS)
    from priori.reproduce.gallery import write_gallery

    for name in what or REPRODUCTIONS:
        with Progress(name) as progress:
            done = reproduce(name, quick=quick, progress=progress)
        click.echo(described(done))
        page = write_gallery(done, output)
        tell(f"{len(done.figures)} figures of {name} in {page}")


def described(done: Reproduction) -> str:
    """Return a reproduction for reading: statements with yes or no, then the tables."""
    parts = [done.title, done.paper, "", done.data, ""]
    for conclusion in done.conclusions:
        numbers = f" ({conclusion.numbers})" if conclusion.numbers else ""
        parts.append(f"{'yes' if conclusion.holds else 'no ':3}  {conclusion.statement}{numbers}")
    for table in done.tables:
        parts += ["", table_text(table.title, table.columns, table.text(), note=table.note).rstrip("\n")]
    return "\n".join(parts) + "\n"
