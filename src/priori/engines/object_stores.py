"""Object stores: files at an address (s3://...), listed, watched and read through fsspec."""

from __future__ import annotations

from typing import Any

from priori.base.errors import InputError, OptionError
from priori.readers.duckdb_parser import first_line
from priori.readers.input_file import PARQUET_MAGIC

#: The size of a file, and what changes with what is in it.
State = tuple[int, object]


def is_address(path: str) -> bool:
    """Tell whether a path is an address, with a scheme, rather than a file of this machine.

    Examples
    --------
    >>> is_address("s3://bucket/dev.parquet"), is_address("data/dev.parquet")
    (True, False)
    """
    return "://" in path


class ObjectStore:
    """The store that an address is in; how it is reached, its own settings say (AWS_ENDPOINT_URL, ...)."""

    def __init__(self, address: str) -> None:
        self.address = address
        scheme = address.partition("://")[0]
        needs = "pip install s3fs" if scheme in ("s3", "s3a") else f"install fsspec's package for {scheme}"
        try:
            from fsspec.core import url_to_fs

            self.files, self._path = url_to_fs(address)
        except ImportError:
            raise OptionError(f"{address}: to read at {scheme} addresses, {needs}; or use the spark engine") from None
        except Exception as error:  # each store reports in exceptions of its own
            raise self._unreadable(error) from None

    def paths(self) -> list[str]:
        """Return the addresses of the files that the address, as a file, a folder or a glob, stands for, in order."""
        try:
            self.files.invalidate_cache()
            if self.files.isfile(self._path):
                found = [self._path]
            elif self.files.isdir(self._path):
                found = [path for path in self.files.find(self._path) if path.endswith(".parquet")]
            else:
                found = [path for path in self.files.glob(self._path) if self.files.isfile(path)]
        except Exception as error:
            raise self._unreadable(error) from None
        if not found:
            raise InputError(f"{self.address}: there is no such file; check the address, and put a glob between quotes")
        return sorted(str(self.files.unstrip_protocol(path)) for path in found)

    def states(self, paths: list[str]) -> list[State]:
        """Return the size of each file, and what changes with what is in it."""
        try:
            known = [self.files.info(path) for path in paths]
        except Exception as error:
            raise self._unreadable(error) from None
        marks = ("ETag", "etag", "LastModified", "mtime", "created")
        return [(int(info["size"] or 0), next((info[mark] for mark in marks if mark in info), None)) for info in known]

    def check_parquet(self, path: str) -> None:
        """Raise an error unless a file begins as every Parquet file does."""
        try:
            with self.files.open(path, "rb") as file:
                head = file.read(len(PARQUET_MAGIC))
        except Exception as error:
            raise self._unreadable(error) from None
        if head != PARQUET_MAGIC:
            raise OptionError(f"{path}: only Parquet files are read at an address; fetch it, and read it from here")

    def join(self, database: Any) -> None:
        """Let a duckdb database read there."""
        for scheme in [self.files.protocol] if isinstance(self.files.protocol, str) else self.files.protocol:
            if database.filesystem_is_registered(scheme):
                return
        database.register_filesystem(self.files)

    def _unreadable(self, error: Exception) -> InputError:
        reason = first_line(str(error).strip() or type(error).__name__)[:300]
        return InputError(f"{self.address}: cannot be read ({reason}); check the address, and how its store is reached")
