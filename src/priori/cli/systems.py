"""The systems that a command is about, and how their files or their table are read."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from priori.base.errors import OptionError
from priori.cli.commands import Group, option
from priori.cli.output import Progress, printable, tell
from priori.scores import BOUND, Scores, ScoreSet, condense_all
from priori.scores.derived import BY_ATTACK
from priori.scores.systems import SourceFile, System

if TYPE_CHECKING:
    from priori.curves.epc import EPC

Result = TypeVar("Result")

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
        known = [role for role in ("time", "weight") if role in self.settings["columns"]]
        if not (trials is not None or path == "-" or known or (self.engine == "auto" and _small(path))):
            from priori.engines import scan

            scores: ScoreSet = self._scanned(scan, path)
            return _watched(scores, path)
        if self.engine not in ("auto", "memory"):
            why = (
                f"knows no {known[0]} of a trial; use --engine memory"
                if known
                else ("reads files on their own: no --trials, no standard input")
            )
            raise OptionError(f"--engine {self.engine} {why}")
        from priori.readers import read

        return read(path, trials=trials, **self.settings)

    def read_table(self, path: str, **parts: Any) -> Mapping[str, tuple[ScoreSet, ScoreSet]]:
        """Read a table of many systems, or scan it where it is; the parts are those of `priori.read_table`."""
        if not (self.engine == "memory" or path == "-" or (self.engine == "auto" and _small(path))):
            from priori.engines import scan_table

            sets = self._scanned(scan_table, path, **parts)
            return {name: (_watched(dev, path), _watched(test, path)) for name, (dev, test) in sets.items()}
        if self.engine not in ("auto", "memory"):
            raise OptionError(f"--engine {self.engine} reads files: no standard input")
        from priori.readers.trial_tables import read_table

        return read_table(path, **parts, **self.settings)

    def _scanned(self, scan: Callable[..., Any], path: str, **parts: Any) -> Any:
        return scan(path, **parts, engine=self.engine, memory=self.memory, temp=self.temp, **self.settings)

    def of(self, system: str) -> Reading:
        """Return how the files of one system are read: its own columns (SYSTEM:OURS=THEIRS) before those of all."""
        columns = pairs_of("--column", COLUMN, self.column)
        own = {ours.rpartition(":")[2]: theirs for ours, theirs in columns.items() if _owner(ours) == system}
        chosen = {ours: theirs for ours, theirs in columns.items() if not _owner(ours)} | own
        return replace(self, column=[f"{ours}={theirs}" for ours, theirs in chosen.items()])

    @property
    def owners(self) -> list[str]:
        """The systems that have columns of their own."""
        return [*filter(None, map(_owner, pairs_of("--column", COLUMN, self.column)))]

    @property
    def settings(self) -> dict[str, Any]:
        """How files are read, as `priori.read` and `priori.read_table` take it."""
        columns = pairs_of("--column", COLUMN, [*self.column, *_named("attack", self.attack_column)])
        if of_one := [key for key in columns if ":" in key]:
            raise OptionError(
                f"--column {of_one[0]}={columns[of_one[0]]}: no system is called "
                f"{of_one[0].rpartition(':')[0]!r} here; leave the name out"
            )
        return {
            "format": self.input_format,
            "columns": columns,
            "pos_label": self.positive,
            "attack_label": list(self.attack) or None,
            "nan": self.nan,
            "lower_is_better": self.lower_is_better,
            "announce": tell,
        }


#: How a column is named.
COLUMN = "ours=theirs, for example --column score=similarity"


def pairs_of(option: str, shape: str, typed: Iterable[str]) -> dict[str, str]:
    """Split what was typed as NAME=VALUE, each name once."""
    pairs: dict[str, str] = {}
    for each in typed:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not (name and equals and value):
            raise OptionError(f"{option} {each!r}: write it as {shape}")
        if name in pairs:
            own = f"; for a column of one system write {option} SYSTEM:{name}={value}" if option == "--column" else ""
            raise OptionError(f"{option} {name} is given twice, as {pairs[name]!r} and as {value!r}{own}")
        pairs[name] = value
    return pairs


def _named(role: str, column: str | None) -> list[str]:
    return [] if column is None else [f"{role}={column}"]


def _owner(ours: str) -> str:
    """Return the system that a column is named for, if it is for one."""
    return printable(ours.rpartition(":")[0])


def _watched(scores: ScoreSet, path: str) -> ScoreSet:
    """Return the same set, whose scans show how far they are."""
    if scores.scanned:
        scores.engine.progress = Progress(f"scanning {path}")  # type: ignore[attr-defined]
    return scores


def _small(path: str) -> bool:
    """Tell whether a file is so small that it is read into memory at once; what is no file complains there."""
    if os.path.isdir(path) or glob.has_magic(path) or "://" in path:
        return False
    return not os.path.isfile(path) or os.path.getsize(path) < SMALL


#: How files are read; the command gets it as ``reading``.
READING = Group(
    "reading",
    Reading,
    (
        option(
            "--input-format",
            metavar="NAME",
            table="priori.readers.formats:FORMATS",
            help="Force the file format instead of recognising it: csv, tsv, table, parquet, arrow, jsonl, two-column, "
            "bob4, bob5, kaldi, voxceleb.",
        ),
        option(
            "--column",
            multiple=True,
            metavar="OURS=THEIRS",
            help="The name of a column in your files: "
            "score, label, user, probe_user, trial, dataset, group, attack, time or weight (how often a row counts); "
            "in those of one system, SYSTEM:OURS=THEIRS. Repeatable.",
        ),
        option(
            "--positive", metavar="VALUE", help="The label of the positive class, if the labels are not a known pair."
        ),
        option(
            "--attack",
            multiple=True,
            metavar="VALUE",
            help="The label of attacks, a third kind of trial, where it is not spoof or attack. Repeatable.",
        ),
        option(
            "--attack-column",
            metavar="COLUMN",
            help="The column that holds the type of each attack. Trials where it "
            "says -, none or what it says of positive trials are no attacks.",
        ),
        option(
            "--nan",
            type=click.Choice(["error", "reject", "drop"]),
            default="error",
            help="What a NaN score means: an error, a trial that is always rejected, or one to leave out.",
        ),
        option("--lower-is-better", is_flag=True, help="The scores are distances: negate them."),
        option(
            "--engine",
            type=click.Choice(["auto", "memory", "duckdb", "spark"]),
            default="auto",
            help="What counts the trials; auto: memory if the files fit, else duckdb, which scans them. A glob between "
            "quotes, or a directory, stands for many Parquet files.",
        ),
        option("--memory", default="1GB", metavar="SIZE", help="How much memory to use."),
        option(
            "--temp",
            metavar="DIR",
            help="Where temporary files go; they are removed at the end. Standard input and "
            "other pipes are kept where TMPDIR says, at most 16 GiB.",
        ),
    ),
)


#: Reads the one set of scores that a command is about, with further columns.
OneSet = Callable[..., ScoreSet]


def one_set(part: Literal["dev", "test"]) -> Group:
    """Return the options of a command about one set of scores: a file, or that part of a system.

    The command gets what reads it as ``read``; of a system, that says which of its files is used.
    """
    which = {"dev": "development", "test": "test"}[part]

    def make(system: tuple[str, str, str] | None, trials: str | None, **typed: Any) -> OneSet:
        path, reading = typed.pop(part), Reading(**typed)

        def read(**columns: str) -> ScoreSet:
            if (path is None) == (system is None):
                raise OptionError(f"give one file of scores, {part.upper()}, or one system, --system NAME DEV TEST")
            chosen = path
            if system is not None:
                chosen = system[1 if part == "dev" else 2]
                tell(f"{printable(system[0])}: the {which} scores are used, {chosen}")
            named = [f"{ours}={theirs}" for ours, theirs in columns.items()]
            return replace(reading, column=[*reading.column, *named]).read(chosen, trials=trials)

        return read

    options = (
        option(
            "--system",
            nargs=3,
            metavar="NAME DEV TEST",
            help=f"A system whose {which} scores are used, instead of {part.upper()}.",
        ),
        option("--trials", metavar="FILE", help="The trials file (Kaldi, VoxCeleb) that the scores are joined with."),
    )
    file = click.Argument([part], metavar=f"[{part.upper()}]", required=False)
    return Group("read", make, (file, *options), last=READING.options)


def _listed(typed: str | None) -> list[str]:
    return [part.strip() for part in (typed or "").split(",") if part.strip()]


def _number(text: str, typed: str) -> float:
    try:
        if (number := float(text)) > 0:
            return number
    except ValueError:
        pass
    raise OptionError(f"--split {typed!r}: write shares as 50/50 or 30/70")


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _split_by(typed: str) -> tuple[str, list[str], list[str]]:
    """Read COLUMN=DEV:TEST."""
    shape = "COLUMN=DEV:TEST, for example --split set=dev:test"
    ((column, parts),) = pairs_of("--split", shape, [typed]).items()
    dev, colon, test = parts.partition(":")
    if not (dev and colon and test):
        raise OptionError(f"--split {typed!r}: write it as {shape}")
    return column, _listed(dev), _listed(test)


class Systems:
    """The systems of a command, as typed: read when asked for."""

    def __init__(
        self,
        system: Sequence[tuple[str, str, str]],
        trials: tuple[str, str] | None,
        table: str | None,
        systems_in: str | None,
        systems_columns: str | None,
        split: str | None,
        where: Sequence[str],
        scores: Sequence[tuple[str, str]],
        folds: int | None,
        mixed_users: bool,
        split_seed: int,
        **reading: Any,
    ) -> None:
        self.typed = [(printable(name), *paths) for name, *paths in system]
        self.scores = [(printable(name), path) for name, path in scores]
        self.trials, self.reading = trials or (None, None), Reading(**reading)
        self.table, self.systems_in, self.systems_columns, self.where = table, systems_in, systems_columns, where
        self.split, self.folds, self.together, self.split_seed = split, folds, not mixed_users, split_seed
        #: Further systems that a command reads itself, whose columns may be named too.
        self.others: Sequence[str] = ()
        self._read: list[System] | None = None
        if folds is not None and not scores:
            raise OptionError("--folds takes one labelled file apart: give --scores NAME FILE")

    @property
    def undivided(self) -> Sequence[tuple[str, str]]:
        """The names and files of --scores that nothing takes apart: test scores on their own, seen a posteriori."""
        alone = self.folds is None and self.split is None and not (self.typed or self.table)
        return self.scores if alone else ()

    def __bool__(self) -> bool:
        return bool(self.typed or self.table or self.scores)

    def __len__(self) -> int:
        return len(self.typed) + len(self.scores) if self.table is None else len(self.read())

    def read(self, source_file: Callable[[str], SourceFile] = SourceFile) -> list[System]:
        """Read every system, once; names must differ, and a system's two files must be of one format."""
        if self.folds is not None:
            raise OptionError("--folds goes with epc, compare and check; here split the file in two: --split 50/50")
        return self._systems(source_file)

    def _systems(self, source_file: Callable[[str], SourceFile] = SourceFile) -> list[System]:
        if self._read is None:
            of_table = self.table, self.systems_in, self.systems_columns, self.where, self.split and not self.scores
            if any(of_table) + bool(self.typed) + bool(self.scores) > 1:
                raise OptionError(
                    "give systems as files (--system), as one labelled file each (--scores) or as one table (--table), "
                    "not in two of these ways"
                )
            names = [name for name, *_ in (*self.typed, *self.scores)]
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise OptionError(f"two systems are called {twice[0]!r}; give each its own name")
            self._check_owners([*names, *self.others])
            way = self._in_table if any(of_table) else self._taken_apart if self.scores else self._in_files
            self._read = way(source_file)
        return self._read

    def _check_owners(self, names: Sequence[str]) -> None:
        for owner in self.reading.owners:
            if owner not in names:
                known = f"; the systems are {', '.join(names)}" if names else "; name systems by --system or --scores"
                raise OptionError(f"--column {owner}:...: there is no system {owner!r}{known}")

    def _in_files(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        from priori.readers import pair_check

        if not self.typed:
            raise OptionError("give at least one system: --system NAME DEV TEST, --scores NAME FILE or --table FILE")
        systems = []
        for name, *paths in self.typed:
            if paths == ["-", "-"]:
                raise OptionError(f"system {name!r}: only one of its two files can be standard input")
            reading = self.reading.of(name)
            dev, test = (reading.read(path, trials=file) for path, file in zip(paths, self.trials, strict=True))
            pair_check(dev, test, name=f"system {name!r}")
            systems.append(System(name, dev, test, *map(source_file, paths)))
        return systems

    def _in_table(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        """Read one table of many systems, and split it."""
        if self.table is None:
            raise OptionError(
                "--systems-in, --systems-columns, --split and --where belong to a table: add --table FILE"
            )
        if self.split is None or (self.systems_in is None) == (self.systems_columns is None):
            raise OptionError(
                "--table needs --systems-in COLUMN (or --systems-columns A,B,...) and --split COLUMN=DEV:TEST"
            )
        filters = pairs_of("--where", "COLUMN=VALUE,VALUE", self.where)
        read = self.reading.read_table(
            self.table,
            systems=self.systems_in or _listed(self.systems_columns),
            split=_split_by(self.split),
            where={name: _listed(values) for name, values in filters.items()},
        )
        file = source_file(self.table)
        return [System(name, *sets, file, file) for name, sets in read.items()]

    def _taken_apart(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        """Read the one file of every system, split in two; with folds both sets are the whole file."""
        if (self.folds is None) == (self.split is None):
            raise OptionError(
                "one labelled file (--scores) needs --folds 5, or --split 50/50 (or one of its other forms)"
            )
        files = [(name, path, source_file(path)) for name, path in self.scores]
        return [System(name, *self._parts(path, self.reading.of(name)), file, file) for name, path, file in files]

    def _parts(self, path: str, reading: Reading) -> tuple[ScoreSet, ScoreSet]:
        if self.split is None:
            whole = reading.read(path).load()
            tell(
                f"{path}: {self.folds} folds at random{self._users(whole)}; each is judged with thresholds "
                "chosen on the others, which intervals keep as they are"
            )
            return whole, whole
        shares = re.fullmatch(r"([0-9.]+)/([0-9.]+)", self.split.replace(" ", ""))
        if shares:
            first, second = (_number(share, self.split) for share in shares.groups())
            whole = reading.read(path).load()
            sets = whole.split(first / (first + second), together=self.together, rng=self.split_seed)
            return self._told(path, "at random", whole, sets)
        ((column, value),) = pairs_of("--split", "50/50, COLUMN=2024-01-31 or COLUMN=DEV:TEST", [self.split]).items()
        if _is_time(value):
            whole = replace(reading, column=[*reading.column, f"time={column}"]).read(path).load()
            return self._told(
                path, f"before and from {value} on", whole, whole.split(before=value, together=self.together)
            )
        columns = pairs_of("--column", COLUMN, reading.column)
        score = columns.pop("score", "score")
        others = replace(reading, column=[f"{ours}={theirs}" for ours, theirs in columns.items()])
        return next(iter(others.read_table(path, systems=[score], split=_split_by(self.split)).values()))

    def _users(self, whole: ScoreSet) -> str:
        if not whole.has_users:
            return ", trial by trial: users are not known"
        return ", the trials of a user together" if self.together else ", users on any side"

    def _told(self, path: str, how: str, whole: Scores, sets: tuple[Scores, Scores]) -> tuple[Scores, Scores]:
        sizes = " and ".join(
            f"{len(part)} {role} trials" + (f" of {part.n_users} users" if part.has_users else "")
            for role, part in zip(("development", "test"), sets, strict=True)
        )
        left = len(whole) - len(sets[0]) - len(sets[1])
        seen = f"; {left} later trials of users seen before are left out" if left else ""
        tell(f"{path}: split {how}{self._users(whole)}: {sizes}{seen}")
        return sets

    def asked(self, ask: Callable[..., Result]) -> list[Result]:
        """Read every system and ask something about attacks of its development and test scores."""
        systems = self.read()
        # What is asked begins with this; of one table it is counted for all systems together, and remembered.
        condense_all([each for system in systems for each in (system.dev, system.test)], BY_ATTACK, narrow=BOUND)
        return [ask(system.dev, system.test, name=system.name) for system in systems]

    def curves(self, settings: dict[str, Any]) -> list[EPC]:
        """Read every system and return its curve, cross-fitted with folds; the settings are those of `priori.epc`."""
        systems = self._systems()
        if self.folds is None:
            from priori.curves.epc import epc_all

            return epc_all({system.name: (system.dev, system.test) for system in systems}, **settings)
        if settings.pop("exact", False):
            raise OptionError("--exact has other alphas in each fold; leave out --exact or --folds")
        return [self.crossed(system.dev, system.name, settings) for system in systems]

    def crossed(self, whole: ScoreSet, name: str, settings: dict[str, Any]) -> EPC:
        """Return the curve of a set judged fold by fold."""
        from priori.curves.cross import cross_epc

        assert self.folds is not None
        return cross_epc(whole, folds=self.folds, rng=self.split_seed, together=self.together, name=name, **settings)


#: ``--system NAME DEV TEST``, the trials files that go with it, and how files are read; the command gets ``systems``.
SYSTEMS = Group(
    "systems",
    Systems,
    (
        option(
            "--system",
            "system",
            nargs=3,
            multiple=True,
            metavar="NAME DEV TEST",
            help="A system's name, development scores and test scores. Repeat for more systems.",
        ),
        option(
            "--scores",
            nargs=2,
            multiple=True,
            metavar="NAME FILE",
            help="Or a name and one file, for --folds or --split. Repeatable.",
        ),
        option(
            "--folds",
            type=click.IntRange(min=2),
            metavar="N",
            help="With --scores: judge each of N folds with the thresholds chosen on the others.",
        ),
        option("--table", metavar="FILE", help="One table with all systems instead of --system."),
        option("--systems-in", metavar="COLUMN", help="The column of the table that names the system of each row."),
        option("--systems-columns", metavar="A,B,...", help="Or the columns with the scores of one system each."),
        option(
            "--split",
            metavar="HOW",
            help="Which rows are development trials, which are test trials: COLUMN=DEV:TEST "
            "by the values of a column; with --scores also 50/50 at random, or COLUMN=2024-01-31 before and from then "
            "on. The trials of a user stay together.",
        ),
        option("--mixed-users", is_flag=True, help="Let --split and --folds put trials of one user on both sides."),
        option("--split-seed", type=click.IntRange(min=0), default=0, help="Seed of --split 50/50 and of --folds."),
        option(
            "--where",
            multiple=True,
            metavar="COLUMN=VALUE,...",
            help="Keep the rows with these values, in every set that has all of them. Repeatable.",
        ),
        option(
            "--trials",
            nargs=2,
            metavar="DEV TEST",
            help="The trials files (Kaldi, VoxCeleb) that the development and test scores are joined with.",
        ),
    ),
    last=READING.options,
)
