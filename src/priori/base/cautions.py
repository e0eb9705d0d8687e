"""Cautions: one thing to mind about a result, in words, with a code by which programs know it and people silence it."""

from __future__ import annotations


class Caution(str):
    """What to mind about a result.

    It is the text itself, so that it prints, joins and compares as one.

    Examples
    --------
    >>> caution = Caution("few-users", "only 8 users: so few say little about everybody else")
    >>> caution.code
    'few-users'
    >>> print(caution)
    only 8 users: so few say little about everybody else
    """

    __slots__ = ("code",)
    code: str

    def __new__(cls, code: str, text: str) -> Caution:
        """Return the text with its code."""
        caution = super().__new__(cls, text)
        caution.code = code
        return caution

    def __reduce__(self) -> tuple[type[Caution], tuple[str, str]]:
        """Return what a copy is made from."""
        return Caution, (self.code, str(self))
