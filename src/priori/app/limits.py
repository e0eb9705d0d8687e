"""Limits: what one server takes on, and what it says to a request that asks for more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

MEGABYTE = 1_000_000

#: The answer to a form that does not come from our page.
NO_KEY = "the form came without its key; load the page again and send it from there"


@dataclass(frozen=True)
class Limits:
    """How much one server takes on; sizes in bytes, times in seconds."""

    # The size of one request, all its files together; of one file once decompressed; of all files kept at one time.
    upload: int = 200 * MEGABYTE
    unpacked: int = 1_000 * MEGABYTE
    stored: int = 1_000 * MEGABYTE
    # Systems in one analysis; bytes in a field that is not a file; characters of a name.
    systems: int = 130
    field_bytes: int = 64_000
    name_characters: int = 10_000
    # Analyses computed at the same time; waiting for their turn; uploads received at the same time.
    jobs: int = 2
    queue: int = 8
    uploads: int = 4
    # Analyses of one visitor that compute or wait; that are kept; analyses kept in all.
    active_per_visitor: int = 3
    kept_per_visitor: int = 6
    kept: int = 60
    # What one analysis may use: address space, and time on the clock.
    memory: int = 4_000 * MEGABYTE
    seconds: float = 600.0
    # How long an upload may last in all, and without a byte arriving.
    upload_seconds: float = 600.0
    idle_seconds: float = 30.0
    keep: float = 1800.0  # how long files and results stay after their visitor last asked for them
    resamples: int = 100_000  # the largest number of bootstrap replicates

    @property
    def files(self) -> int:
        """Files in one request: two per system, and the two trials files."""
        return 2 * self.systems + 2

    @property
    def fields(self) -> int:
        """Fields in one request that are not files."""
        return self.systems + 40


class Refusal(Exception):
    """A request that is not carried out: the status, what to say, and after how many seconds to try again."""

    def __init__(self, status: int, message: str, *, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after


class FieldErrors(Exception):
    """What is wrong with a form or its files, by the field it is wrong in (``form``: the whole of it)."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(errors.values()))
        self.errors = dict(errors)


def megabytes(size: float) -> str:
    """Return a size for reading.

    Examples
    --------
    >>> megabytes(200_000_000), megabytes(1_500), megabytes(12)
    ('200 MB', '1.5 kB', '12 bytes')
    """
    for unit, name in ((1_000_000_000, "GB"), (MEGABYTE, "MB"), (1_000, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
