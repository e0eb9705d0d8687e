"""What a reproduction gives back: conclusions that hold or not, tables beside the published ones, figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from priori.base.results import plain
from priori.base.types import Progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

__all__ = ["Conclusion", "Figure", "Progress", "Reproduction", "Table", "silent"]


def silent(done: int, total: int) -> None:
    """Show no progress."""


class Conclusion(NamedTuple):
    """A statement of a paper, whether ours agrees (None: what the paper did cannot decide it), and the numbers."""

    statement: str
    holds: bool | None
    numbers: str = ""

    @property
    def verdict(self) -> str:
        """Yes, no, or not decidable."""
        return verdict(self.holds)


def verdict(holds: bool | None) -> str:
    """Return whether a statement holds, in words."""
    return "not decidable" if holds is None else "yes" if holds else "no"


@dataclass(frozen=True)
class Table:
    """A table to print: cells are text or numbers, a number shown with ``digits`` decimals."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = ""
    digits: int = 2

    def text(self) -> list[list[str]]:
        """Return the cells as they are shown."""
        return [[self.cell(value) for value in row] for row in self.rows]

    def cell(self, value: Any) -> str:
        """Return one cell as it is shown."""
        if value is None:
            return "–"
        if isinstance(value, bool):
            return "yes" if value else "no"
        return f"{value:.{self.digits}f}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Figure:
    """A figure: which one of the paper, one sentence on what to see, and how to draw what was computed."""

    name: str
    title: str
    see: str
    draw: Callable[[], Canvas] = field(repr=False)


@dataclass(frozen=True)
class Reproduction:
    """A paper redone.

    Attributes
    ----------
    name, title, paper : str
        What people type, what it is, and the paper's reference.
    data : str
        What the numbers were computed from, and how that differs from the paper's data.
    conclusions : tuple of Conclusion
        The paper's statements, each with whether ours agree.
    tables, figures : tuple
        Published beside ours, and the figures.
    quick : bool
        Whether this was the small version.
    """

    name: str
    title: str
    paper: str
    data: str
    conclusions: tuple[Conclusion, ...]
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    quick: bool = False

    @property
    def command(self) -> str:
        """The command that makes it."""
        return f"python -m papers {self.name}" + (" --quick" if self.quick else "")

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the drawings, ready for JSON."""
        content = {
            "name": self.name,
            "title": self.title,
            "paper": self.paper,
            "data": self.data,
            "command": self.command,
            "conclusions": [conclusion._asdict() for conclusion in self.conclusions],
            "tables": [
                {"title": table.title, "columns": list(table.columns), "rows": table.text(), "note": table.note}
                for table in self.tables
            ],
            "figures": [
                {"file": f"{figure.name}.svg", "title": figure.title, "see": figure.see} for figure in self.figures
            ],
        }
        return dict(plain(content))
