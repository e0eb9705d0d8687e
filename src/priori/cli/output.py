"""Output: text to standard output or to a file that appears whole or not at all, tables, lines on standard error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import click

from priori.base.whole_files import write_whole


def emit(text: str, output: str | None = None) -> None:
    """Print the text, or write it to ``output``."""
    if output is None or output == "-":
        click.echo(text, nl=not text.endswith("\n"))
    else:
        write_whole(output, text if text.endswith("\n") else text + "\n")


def tell(line: str) -> None:
    """Say a line on standard error."""
    click.echo(f"priori: {line}", err=True)


def warn(lines: Iterable[str]) -> None:
    """Say on standard error what the reader of the numbers should know."""
    for line in lines:
        tell(f"warning: {line}")


def table_text(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, note: str = "") -> str:
    """Return a readable table; the first column is text, the others are numbers."""
    lines = [list(header), *[list(row) for row in rows]]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]

    def render(line: Sequence[str]) -> str:
        first, *others = line
        numbers = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        return "  ".join([first.ljust(widths[0]), *numbers]).rstrip()

    parts = [title] if title else []
    parts += [render(lines[0]), "  ".join("-" * width for width in widths)]
    parts += [render(line) for line in lines[1:]]
    if note:
        parts.append(note)
    return "\n".join(parts) + "\n"
