"""Systems: a name, development and test scores, and the files they came from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from priori.base.errors import InputError
from priori.scores import ScoreSet


@dataclass(frozen=True)
class SourceFile:
    """The file that scores were read from, as a report names it: never opened by that name again.

    ``sha256`` is empty where there was no file to hash (standard input, arrays).
    """

    name: str
    sha256: str = ""
    size: int | None = None

    @classmethod
    def of(cls, path: str | Path, name: str | None = None) -> SourceFile:
        """Hash a file; ``name`` is what to call it, the path itself by default."""
        label = str(path) if name is None else name
        if str(path) == "-":
            return cls("standard input" if name is None else name)
        import hashlib  # only what a report names is hashed

        digest, size = hashlib.sha256(), 0
        try:
            with open(path, "rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
                    size += len(block)
        except OSError as error:
            raise InputError(f"cannot read {label}: {error.strerror}") from None
        return cls(label, digest.hexdigest(), size)


@dataclass(frozen=True)
class System:
    """A system to evaluate: its name, its development and its test scores, and where they came from."""

    name: str
    dev: ScoreSet
    test: ScoreSet
    dev_file: SourceFile | None = None
    test_file: SourceFile | None = None
