"""The errors Priori raises on purpose. Each message says what was given, what is allowed, what to do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager


class PrioriError(ValueError):
    """Anything the caller can mend; the command line shows it as one line and exits with code 2."""


class InputError(PrioriError):
    """Bad scores: a file, a column, a label or a number that cannot be used."""


class TrialsFileError(InputError):
    """Bad input in the file that says which trials are positive, not in the scores beside it."""


class OneClassError(InputError):
    """Scores of one class only, where both are needed; an average over data sets may leave such a set out."""


class MissingScoresError(InputError, AttributeError):
    """Something that needs the scores was asked of a result read from a file, which has none."""


class OptionError(PrioriError):
    """A bad option: an unknown name, a number out of range, options that do not go together."""


@contextmanager
def about_trials_file() -> Iterator[None]:
    """Say of every input error within that it is about the trials file."""
    try:
        yield
    except InputError as error:
        raise TrialsFileError(str(error)) from None


def unknown(kind: str, name: object, allowed: Iterable[object]) -> OptionError:
    """Return the error for a name that is not one of ours."""
    return OptionError(f"unknown {kind} {name!r}; choose one of: {', '.join(map(str, allowed))}")
