"""The errors Priori raises on purpose. Each message says what was given, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

#: Marks both ends of an argument in a message and is never shown: the command line puts its option there.
MARK = "\x1f"
#: How many characters of a given value a message repeats.
SHOWN = 80


class PrioriError(ValueError):
    """An error that the caller can fix; the command line shows it as one line and exits with code 2.

    ``marked`` is the message with the arguments in it marked (see `argument`).
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(message.replace(MARK, ""))
        self.marked = message


class InputError(PrioriError):
    """Bad scores: a file, a column, a label or a number that cannot be used."""


class TrialsFileError(InputError):
    """Bad input in the file that says which trials are positive, not in the scores beside it."""


class OneClassError(InputError):
    """Scores of one class only, where both are needed; an average over data sets may leave such a set out."""


class FewUsersError(InputError):
    """Trials of one user only; it takes several to see how much users differ."""


class NoSuchValueError(InputError):
    """Values that no row has in a ``column``; another file of the same system may have them."""

    def __init__(self, message: str, column: str, values: Iterable[str]) -> None:
        super().__init__(message)
        self.column, self.values = column, {*values}


class OptionError(PrioriError):
    """A bad option: an unknown name, a number out of range, options that do not go together."""


@contextmanager
def about_trials_file() -> Iterator[None]:
    """Make every input error raised within be about the trials file."""
    try:
        yield
    except InputError as error:
        raise TrialsFileError(error.marked) from None


def argument(name: str, value: str = "") -> str:
    """Return an argument for a message, its value as one would type it: Python says it so, the command line its option.

    Examples
    --------
    >>> for value in ("", "memory", "True", "FILE", "trial=NAME", "user="):
    ...     print(OptionError(f"give {argument('name', value)}"))
    give name
    give name='memory'
    give name=True
    give name=FILE
    give name={'trial': NAME}
    give name={'user': ''}
    """
    key, equals, item = value.partition("=")
    python = f"{{'{key}': {item or repr('')}}}" if equals else repr(value) if value.islower() else value
    return f"{MARK}{name}{'=' * bool(value)}{python}{MARK}"


def short(text: str) -> str:
    """Return a text that was given as messages say it: at most 80 characters, the middle of longer ones left out."""
    half = SHOWN // 2
    return text if len(text) <= SHOWN else f"{text[: half - 1]}…{text[-half:]}"


def unknown(kind: str, name: object, allowed: Iterable[object]) -> OptionError:
    """Return the error for a name that is not one of ours, with the nearest that is.

    Examples
    --------
    >>> print(unknown("colour", "gren", ["red", "green"]))
    unknown colour 'gren'; did you mean 'green'?
    >>> print(unknown("colour", "mauve", ["red", "green"]))
    unknown colour 'mauve'; choose one of: red, green
    """
    return OptionError(f"unknown {kind} {short(repr(name))}; {nearest(name, allowed)}")


def nearest(name: object, allowed: Iterable[object]) -> str:
    """Return the hint for a name that is unknown, or only the beginning of a known one."""
    names = [*map(str, allowed)]
    near = near_name(str(name), names)
    return f"did you mean {near!r}?" if near else f"choose one of: {', '.join(names)}"


def near_name(name: str, names: Iterable[str]) -> str:
    """Return the first of the names that begins as this one, or else the one most like it; empty if none is."""
    from difflib import get_close_matches

    names = [*names]
    begun = [each for each in names if len(name) > 1 and each.startswith(name)]
    return next(iter(begun or get_close_matches(name, names, n=1, cutoff=0.65)), "")
