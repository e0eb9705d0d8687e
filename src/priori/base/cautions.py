"""Cautions: warnings about a result, in words, with a code by which programs and people know it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from priori.base.caution_codes import CODES, Level
from priori.base.errors import MARK

Line = TypeVar("Line", bound=str)

#: How many systems a warning names.
NAMED = 3
#: How long their names may be together.
ROOM = 40


class Caution(str):
    """Warnings about a result.

    It is the text itself, so that it prints, joins and compares as one. ``marked`` is the text with the arguments in it
    marked (see `priori.base.errors.argument`), for which the command line says its options.

    Examples
    --------
    >>> caution = Caution("few-units", "only 8 users: so few say little about everybody else")
    >>> caution.code, caution.level
    ('few-units', 'warning')
    >>> print(caution)
    only 8 users: so few say little about everybody else
    """

    __slots__ = ("code", "marked", "named")
    code: str
    marked: str
    #: Whether it begins with the name of a system, which stays as it is in a sentence.
    named: bool

    def __new__(cls, code: str, text: str, named: bool = False) -> Caution:
        """Return the text with its code."""
        caution = super().__new__(cls, text.replace(MARK, ""))
        caution.code, caution.marked, caution.named = code, text, named
        return caution

    def __reduce__(self) -> tuple[type[Caution], tuple[str, str, bool]]:
        """Return what a copy is made from."""
        return Caution, (self.code, self.marked, self.named)

    @property
    def level(self) -> Level:
        """How serious it is: a warning, or a note."""
        return CODES[self.code].level if self.code in CODES else "warning"

    @property
    def heading(self) -> str:
        """A heading for it."""
        return CODES[self.code].heading if self.code in CODES else self.code.replace("-", " ").capitalize()

    @property
    def sentence(self) -> str:
        """The text as a sentence of its own."""
        text = self if self.named else f"{self[:1].upper()}{self[1:]}"
        return text if text.endswith("?") else f"{text}."


def labelled(warning: str) -> str:
    """Return a warning for people, with its code before it: ``warning [few-units]: only 8 users``."""
    return f"{warning.level} [{warning.code}]: {warning}" if isinstance(warning, Caution) else f"warning: {warning}"


def said_of(name: str, warning: str) -> str:
    """Return a warning with the name of the system before it."""
    if isinstance(warning, Caution):
        return Caution(warning.code, f"{name}: {warning.marked}", named=True)
    return f"{name}: {warning}"


def joined(*groups: Iterable[str]) -> tuple[str, ...]:
    """Return the warnings of several groups; a subject of an earlier group is not repeated by later ones.

    Examples
    --------
    >>> joined([Caution("few-units", "only 8 users")], [Caution("few-units", "few"), Caution("ties", "many ties")])
    ('only 8 users', 'many ties')
    """
    lines: list[str] = []
    for group in groups:
        said = {getattr(line, "code", line) for line in lines}
        lines.extend(line for line in group if getattr(line, "code", line) not in said)
    return tuple(lines)


def of_systems(systems: Sequence[tuple[str, Sequence[str]]]) -> tuple[str, ...]:
    """Return the warnings of systems, one line each: in the words of the first, with the systems, three by name.

    Examples
    --------
    >>> few, tied = Caution("few-units", "only 8 users"), Caution("ties", "many equal scores")
    >>> of_systems([("A", [few, tied]), ("B", [few])])
    ('only 8 users', 'A: many equal scores')
    >>> of_systems([("A", [few]), *((name, [tied]) for name in "BCDEFGH")])
    ('A: only 8 users', 'B, C, D and 4 others: many equal scores')
    >>> of_systems([("A", [few]), ("B", [Caution("few-units", "only 9 users")])])
    ('A: only 8 users (also B)',)
    """
    found: dict[str, dict[str, list[str]]] = {}
    for name, own in systems:
        for line in dict.fromkeys(own):
            found.setdefault(getattr(line, "code", line), {}).setdefault(line, []).append(name)
    return tuple(line for texts in found.values() for line in _with_names(texts, len(systems)))


def _with_names(texts: dict[str, list[str]], systems: int) -> Iterator[str]:
    """Yield the texts of one code that speak of the first system; the first names the systems that have other texts."""
    (first, *_), *_ = texts.values()
    kept = {line: names for line, names in texts.items() if first in names}
    covered = {name for names in kept.values() for name in names}
    others = [name for names in texts.values() for name in names if name not in covered]
    count = len(others)
    also = f" (also {others[0] if count == 1 else f'{count} others'})" if others else ""
    for line, names in kept.items():
        text = line if len(names) == systems else said_of(named(names), line)
        yield Caution(text.code, f"{text.marked}{also}", text.named) if isinstance(text, Caution) else text
        also = ""


def named(names: Sequence[str]) -> str:
    """Return a list of systems, of which up to three are named, as far as a line has room: 'A, B, C and 4 others'."""
    each = list(dict.fromkeys(names))
    shown = each[:NAMED]
    while len(shown) > 1 and len(", ".join(shown)) > ROOM:
        shown.pop()
    more = len(each) - len(shown)
    return ", ".join(shown) + (f" and {more} other{'s' * (more > 1)}" if more else "")


def gravest_first(warnings: Iterable[Line]) -> list[Line]:
    """Return warnings before notes, those of one level in the order of their codes.

    Examples
    --------
    >>> gravest_first([Caution("ends", "the ends"), Caution("ties", "many ties"), Caution("same-data", "the same")])
    ['the same', 'many ties', 'the ends']
    """
    order = {code: number for number, code in enumerate(CODES)}
    grave = {line: order.get(getattr(line, "code", ""), len(order)) for line in warnings}
    return sorted(grave, key=lambda line: (getattr(line, "level", "warning") != "warning", grave[line]))
