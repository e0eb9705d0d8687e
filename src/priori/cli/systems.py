"""The systems that a command is about, and how their files or their table are read."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import click

from priori.base.errors import OptionError
from priori.cli.commands import Group, option
from priori.cli.output import printable, tell
from priori.cli.progress import Progress
from priori.curves.epc import EPC
from priori.curves.many import epc_all
from priori.scores import ScoreSet
from priori.scores.systems import SourceFile, System

#: A file of fewer bytes than this is read into memory.
SMALL = 16 << 20


@dataclass(frozen=True)
class Reading:
    """How score files are to be read."""

    input_format: str | None
    column: Sequence[str]
    positive: str | None
    attack: Sequence[str]
    attack_column: str | None
    nan: str
    lower_is_better: bool
    engine: str = "auto"
    memory: str = "1GB"
    temp: str | None = None

    def read(self, path: str, *, trials: str | None = None) -> ScoreSet:
        """Read a file, or scan the files of a glob where they are, and say on stderr what was recognised."""
        settings = self.settings
        attacks = settings["attack_label"] is not None or "attack" in settings["columns"]
        if trials is not None or path == "-" or attacks or (self.engine == "auto" and _small(path)):
            if attacks and self.engine not in ("auto", "memory"):
                raise OptionError(f"--engine {self.engine} knows no attacks: leave out --attack and --attack-column")
            if self.engine not in ("auto", "memory"):
                raise OptionError(f"--engine {self.engine} reads files on their own: no --trials, no standard input")
            from priori.readers import read

            return read(path, trials=trials, **settings)
        from priori.engines import Table, scan

        settings.pop("attack_label")
        scores = scan(path, engine=self.engine, memory=self.memory, temp=self.temp, **settings)  # type: ignore[arg-type]
        if isinstance(scores, Table):
            scores.engine.progress = Progress(f"scanning {path}")
        return scores

    def read_table(self, path: str, **parts: Any) -> Mapping[str, tuple[ScoreSet, ScoreSet]]:
        """Read a table of many systems, or scan it where it is; the parts are those of `priori.read_table`."""
        if self.engine == "memory" or path == "-" or (self.engine == "auto" and _small(path)):
            if self.engine not in ("auto", "memory"):
                raise OptionError(f"--engine {self.engine} reads files: no standard input")
            from priori.readers import read_table

            return read_table(path, **parts, **self.settings)
        from priori.engines import Table, scan_table

        sets = scan_table(
            path, **parts, engine=self.engine, memory=self.memory, temp=self.temp, **self.settings  # type: ignore[arg-type]
        )  # fmt: skip
        for each in (each for pair in sets.values() for each in pair if isinstance(each, Table)):
            each.engine.progress = Progress(f"scanning {path}")
        return sets

    @property
    def settings(self) -> dict[str, Any]:
        """How files are read, as `priori.read` and `priori.read_table` take it."""
        pairs = [_pair("--column", "ours=theirs, for example --column score=similarity", pair) for pair in self.column]
        columns = dict(pairs) | ({} if self.attack_column is None else {"attack": self.attack_column})
        return {
            "format": self.input_format, "columns": columns, "pos_label": self.positive,
            "attack_label": list(self.attack) or None, "nan": self.nan, "lower_is_better": self.lower_is_better,
            "announce": tell,
        }  # fmt: skip


def _pair(option: str, shape: str, typed: str) -> tuple[str, str]:
    """Split what was typed as NAME=VALUE."""
    name, equals, value = (part.strip() for part in typed.partition("="))
    if not (name and equals and value):
        raise OptionError(f"{option} {typed!r}: write it as {shape}")
    return name, value


def _small(path: str) -> bool:
    """Tell whether a file is so small that it is read into memory at once; what is no file complains there."""
    if os.path.isdir(path) or glob.has_magic(path):
        return False
    return not os.path.isfile(path) or os.path.getsize(path) < SMALL


#: How files are read; the command gets it as ``reading``.
READING = Group("reading", Reading, (
    option("--input-format", metavar="NAME", help="Force the file format instead of recognising it: csv, tsv, "
           "table, parquet, arrow, jsonl, two-column, bob4, bob5, kaldi, voxceleb."),
    option("--column", multiple=True, metavar="OURS=THEIRS", help="The name of a column in your files: "
           "score, label, user, probe_user, trial, dataset, group or attack. Repeatable."),
    option("--positive", metavar="VALUE", help="The label of the positive class, when it is not a pair we know."),
    option("--attack", multiple=True, metavar="VALUE", help="The label of attacks, a third kind of trial, where it is "
           "not spoof or attack. Repeatable."),
    option("--attack-column", metavar="COLUMN", help="The column that holds the type of each attack; -, none and what "
           "positive trials have there is no attack."),
    option("--nan", type=click.Choice(["error", "reject", "drop"]), default="error",
           help="What a NaN score means: an error, a trial that is always rejected, or one to leave out."),
    option("--lower-is-better", is_flag=True, help="The scores are distances: negate them."),
    option("--engine", type=click.Choice(["auto", "memory", "duckdb", "spark"]), default="auto",
           help="Where files are counted; auto: in memory if they fit, else by duckdb, in place. A glob between "
           "quotes, or a directory, stands for many Parquet files."),
    option("--memory", default="1GB", metavar="SIZE", help="How much memory to use."),
    option("--temp", metavar="DIR", help="Where temporary files go; they are removed at the end. Of standard input "
           "and other pipes at most 16 GiB are kept, where TMPDIR says."),
))  # fmt: skip


@dataclass(frozen=True)
class OneSet:
    """The one set of scores that a command is about: a file, or the development or test scores of a system."""

    part: Literal["dev", "test"]
    file: str | None
    system: tuple[str, str, str] | None
    trials: str | None
    reading: Reading

    def read(self, **columns: str) -> ScoreSet:
        """Read the set, with further columns; of a system, say which of its files is used."""
        if (self.file is None) == (self.system is None):
            raise OptionError(f"give one file of scores, {self.part.upper()}, or one system, --system NAME DEV TEST")
        if self.system is None:
            path = str(self.file)
        else:
            name, dev, test = self.system
            path, what = (dev, "development") if self.part == "dev" else (test, "test")
            tell(f"{printable(name)}: the {what} scores are used, {path}")
        named = tuple(f"{ours}={theirs}" for ours, theirs in columns.items())
        return replace(self.reading, column=(*self.reading.column, *named)).read(path, trials=self.trials)


def one_set(part: Literal["dev", "test"]) -> Group:
    """Return the options of a command about one set of scores; the command gets it as ``one_set``."""

    def make(system: tuple[str, str, str] | None, trials: str | None, **typed: Any) -> OneSet:
        return OneSet(part, typed.pop(part), system, trials, Reading(**typed))

    which = {"dev": "development", "test": "test"}[part]
    options = (
        option("--system", nargs=3, metavar="NAME DEV TEST", help=f"A system whose {which} scores are used, instead "
               f"of {part.upper()}."),
        option("--trials", metavar="FILE", help="The trials file (Kaldi, VoxCeleb) that the scores are joined with."),
    )  # fmt: skip
    file = click.Argument([part], metavar=f"[{part.upper()}]", required=False)
    return Group("one_set", make, (file, *options), last=READING.options)


@dataclass(frozen=True)
class TableOfSystems:
    """One table of many systems, as typed."""

    table: str | None
    systems_in: str | None
    systems_columns: str | None
    split: str | None
    where: Sequence[str]

    def read(self, reading: Reading, source_file: Callable[[str], SourceFile]) -> list[System]:
        """Read the table and split it."""
        if self.table is None:
            raise OptionError(
                "--systems-in, --systems-columns, --split and --where belong to a table: add --table FILE"
            )
        if self.split is None or (self.systems_in is None) == (self.systems_columns is None):
            raise OptionError(
                "--table needs --systems-in COLUMN (or --systems-columns A,B,...) and --split COLUMN=DEV:TEST"
            )
        shape = "COLUMN=DEV:TEST, for example --split set=dev:test"
        column, parts = _pair("--split", shape, self.split)
        dev, colon, test = parts.partition(":")
        if not (dev and colon and test):
            raise OptionError(f"--split {self.split!r}: write it as {shape}")
        filters = [_pair("--where", "COLUMN=VALUE,VALUE", typed) for typed in self.where]
        read = reading.read_table(
            self.table, systems=self.systems_in or _listed(self.systems_columns),
            split=(column, _listed(dev), _listed(test)), where={name: _listed(values) for name, values in filters},
        )  # fmt: skip
        file = source_file(self.table)
        return [System(name, *sets, file, file) for name, sets in read.items()]


def _listed(typed: str | None) -> list[str]:
    return [part.strip() for part in (typed or "").split(",") if part.strip()]


class Systems:
    """The systems of a command, as typed: read when asked for."""

    def __init__(
        self, system: Sequence[tuple[str, str, str]], trials: tuple[str, str] | None, table: str | None,
        systems_in: str | None, systems_columns: str | None, split: str | None, where: Sequence[str], **reading: Any,
    ) -> None:  # fmt: skip
        self.typed = [(printable(name), *paths) for name, *paths in system]
        self.trials, self.reading = trials or (None, None), Reading(**reading)
        self.table = TableOfSystems(table, systems_in, systems_columns, split, where)
        self._read: list[System] | None = None

    def __bool__(self) -> bool:
        return bool(self.typed or self.table.table)

    def __len__(self) -> int:
        return len(self.typed) if self.table.table is None else len(self.read())

    def read(self, source_file: Callable[[str], SourceFile] = SourceFile) -> list[System]:
        """Read every system, once; names must differ, and a system's two files must be of one format."""
        if self._read is None:
            in_table = any(vars(self.table).values())
            if in_table and self.typed:
                raise OptionError("give systems as files (--system) or as one table (--table), not both")
            self._read = self.table.read(self.reading, source_file) if in_table else self._files(source_file)
        return self._read

    def _files(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        from priori.readers import pair_check

        if not self.typed:
            raise OptionError("give at least one system: --system NAME DEV TEST, or --table FILE")
        names = [name for name, _, _ in self.typed]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise OptionError(f"two systems are called {twice!r}; give each its own name")
        systems = []
        for name, *paths in self.typed:
            if paths == ["-", "-"]:
                raise OptionError(f"system {name!r}: only one of its two files can be standard input")
            dev, test = (self.reading.read(path, trials=file) for path, file in zip(paths, self.trials, strict=True))
            pair_check(dev, test, name=f"system {name!r}")
            systems.append(System(name, dev, test, *map(source_file, paths)))
        return systems

    def curves(self, settings: dict[str, Any]) -> list[EPC]:
        """Read every system and return its curve; the settings are those of `priori.epc`."""
        return epc_all({system.name: (system.dev, system.test) for system in self.read()}, **settings)


#: ``--system NAME DEV TEST``, the trials files that go with it, and how files are read; the command gets ``systems``.
SYSTEMS = Group("systems", Systems, (
    option("--system", "system", nargs=3, multiple=True, metavar="NAME DEV TEST",
           help="A system's name, development scores and test scores. Repeat for more systems."),
    option("--table", metavar="FILE", help="One table with all systems instead of --system."),
    option("--systems-in", metavar="COLUMN", help="The column of the table that names the system of each row."),
    option("--systems-columns", metavar="A,B,...", help="Or the columns with the scores of one system each."),
    option("--split", metavar="COLUMN=DEV:TEST", help="Which rows are development trials, which are test trials."),
    option("--where", multiple=True, metavar="COLUMN=VALUE,...",
           help="Keep the rows with these values, in every set that has all of them. Repeatable."),
    option("--trials", nargs=2, metavar="DEV TEST",
           help="The trials files (Kaldi, VoxCeleb) that the development and test scores are joined with."),
), last=READING.options)  # fmt: skip
