"""The systems that a command is about: whatever names them goes with whatever divides them, and with --where."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from priori.base.cautions import named
from priori.base.dataframes import name_list
from priori.base.errors import InputError, NoSuchValueError, OptionError, argument
from priori.cli.commands import Group
from priori.cli.options import listed, option, options
from priori.cli.output import Progress, printable, tell, tell_of_file, tell_reading
from priori.scores import BOUND, Scores, ScoreSet, condense_all
from priori.scores.score_set import BY_ATTACK
from priori.scores.systems import SourceFile, System

if TYPE_CHECKING:
    from priori.base.types import Floats, Mask
    from priori.curves.epc import EPC

Result = TypeVar("Result")
Judged = TypeVar("Judged", "EPC", System)
#: The development and the test scores of systems by name.
Sets = Mapping[str, tuple[ScoreSet, ScoreSet]]

#: A file of fewer bytes than this is read into memory.
SMALL = 16 << 20
#: How a column is named, and how rows are divided.
COLUMN = "ours=theirs, for example --column score=similarity"
SPLIT = "50/50, COLUMN=2024-01-31 or COLUMN=DEV:TEST, for example --split set=dev:test"


def pairs_of(option: str, shape: str, typed: Iterable[str], *, empty: bool = False) -> dict[str, str]:
    """Split what was typed as NAME=VALUE, each name once; the value may be empty only where that means something."""
    pairs: dict[str, str] = {}
    for each in typed:
        name, equals, value = (part.strip() for part in each.partition("="))
        if not (name and equals and (value or empty)):
            raise OptionError(f"{option} {each!r}: write it as {shape}")
        if name in pairs:
            of_all = option == "--column" and not _owner(name)
            own = f"; for a column of one system write {option} SYSTEM:{name}={value}" if of_all else ""
            raise OptionError(f"{option} {name} is given twice, as {pairs[name]!r} and as {value!r}{own}")
        pairs[name] = value
    return pairs


@contextmanager
def named_by(option: str, role: str) -> Iterator[None]:
    """Say of a column that is not there by which option it was named, where that was not --column."""
    try:
        yield
    except InputError as error:
        error.marked = error.marked.replace(argument("columns", f"{role}=NAME"), option)
        raise


def limits_of(option: str, shape: str, typed: Iterable[str]) -> dict[str, float]:
    """Read limits typed as NAME=VALUE, each name once; a name may have parameters of its own (precision:prior=0.01)."""
    limits: dict[str, float] = {}
    for each in typed:
        name, _, limit = (part.strip() for part in each.rpartition("="))
        if name in limits:
            raise OptionError(f"{option} {name} has a limit already, {limits[name]:g}; give one limit for each")
        try:
            limits[name] = float(limit)
        except ValueError:
            name = ""
        if not name:
            raise OptionError(f"{option} {each!r}: write it as {shape}, for example {option} far=0.01")
    return limits


# -- files -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """How score files are to be read."""

    #: The names of columns; those of one system as SYSTEM:OURS.
    columns: dict[str, str]
    input_format: str | None
    positive: str | None
    attack: Sequence[str]
    nan: str
    lower_is_better: bool
    engine: str = "auto"
    memory: str = "1GB"
    temp: str | None = None

    @classmethod
    def typed(cls, column: Sequence[str], **typed: Any) -> Reading:
        """Return how files are read, as typed."""
        return cls(pairs_of("--column", COLUMN, column, empty=True), **typed)

    def read(self, path: str, *, trials: str | None = None, where: Mapping[str, list[str]] | None = None) -> ScoreSet:
        """Read a file, or scan the files of a glob where they are, and say on stderr what was recognised."""
        if where:
            return next(iter(self.read_table(path, None, None, where).values()))[0]
        if self._scans(path, trials):
            from priori.engines import scan

            return _watched(scan(path, **self._where_it_is, **self.settings), path)
        from priori.readers import read

        return read(path, trials=trials, **self.settings)

    def stream(self, path: str, *, labelled: bool) -> tuple[Mask | None, Floats]:
        """Read trials in their order in time: which are positive (None without labels), and their scores."""
        from priori.readers import read_stream

        return read_stream(path, labelled=labelled, **self.settings)

    def read_table(self, path: str, systems: Any, split: Any, where: Mapping[str, list[str]]) -> Sets:
        """Read a table of many systems, or of the one whose scores it holds; arguments as in `priori.read_table`."""
        if systems is None:
            columns = {ours: theirs for ours, theirs in self.columns.items() if ours != "score"}
            reading = replace(self, columns=columns)
            return reading.read_table(path, [self.columns.get("score", "score")], split, where)
        parts = {"systems": systems, "split": split, "where": where}
        if self._scans(path):
            from priori.engines import scan_table

            sets = scan_table(path, **parts, **self._where_it_is, **self.settings)
            return {name: (_watched(dev, path), _watched(test, path)) for name, (dev, test) in sets.items()}
        from priori.readers.trial_tables import read_table

        return read_table(path, **parts, **self.settings)

    def _scans(self, path: str, trials: str | None = None) -> bool:
        """Tell whether a file is scanned where it is, by the engine asked for or as it is large."""
        known = [role for role in ("time", "weight") if role in self.columns]
        if known or path == "-" or trials is not None:
            if self.engine in ("duckdb", "spark"):
                why = "reads files on their own: no --trials, no standard input"
                if known:
                    why = f"knows no {known[0]} of a trial; use --engine memory"
                raise OptionError(f"--engine {self.engine} {why}")
            return False
        return self.engine != "auto" or not _small(path)

    def with_columns(self, **columns: str) -> Reading:
        """Return the same with further names of columns."""
        return replace(self, columns={**self.columns, **columns})

    def of(self, system: str) -> Reading:
        """Return how the files of one system are read: its own columns (SYSTEM:OURS=THEIRS) before those of all."""
        own = {ours.rpartition(":")[2]: name for ours, name in self.columns.items() if _owner(ours) == system}
        return replace(self, columns={ours: name for ours, name in self.columns.items() if not _owner(ours)} | own)

    @property
    def owners(self) -> list[str]:
        """The systems that have columns of their own."""
        return [*filter(None, map(_owner, self.columns))]

    @property
    def _where_it_is(self) -> dict[str, Any]:
        return {"engine": self.engine, "memory": self.memory, "temp": self.temp}

    @property
    def settings(self) -> dict[str, Any]:
        """How files are read, as `priori.read` and `priori.read_table` take it."""
        if of_one := [ours for ours in self.columns if ":" in ours]:
            raise OptionError(
                f"--column {of_one[0]}={self.columns[of_one[0]]}: no system is called "
                f"{of_one[0].rpartition(':')[0]!r} here; leave the name out"
            )
        return {
            "format": self.input_format,
            "columns": self.columns,
            "pos_label": self.positive,
            "attack_label": list(self.attack) or None,
            "nan": self.nan,
            "lower_is_better": self.lower_is_better,
            "announce": tell_reading,
        }


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


# -- systems ---------------------------------------------------------------------------------------------------------


class Systems:
    """The systems of a command, as typed: read when asked for."""

    def __init__(
        self,
        files: Sequence[str],
        system: Sequence[tuple[str, str, str]],
        scores: Sequence[tuple[str, str]],
        table: str | None,
        systems_in: str | None,
        systems_columns: str | None,
        split: str | None,
        where: Sequence[str],
        mixed_users: bool,
        split_seed: int,
        trials: Sequence[str],
        **reading_or_folds: Any,
    ) -> None:
        #: Whether the command can divide by folds, and by how many it is to.
        self.can_fold, self.folds = "folds" in reading_or_folds, reading_or_folds.pop("folds", None)
        self.reading = Reading.typed(**reading_or_folds)
        if odd := [word for typed in (*system, *scores) for word in typed if word.startswith("--")]:
            raise OptionError(f"--system takes NAME DEV TEST and --scores NAME FILE; {odd[0]} is none of these")
        if len(files) == 1 and not table and (systems_in is not None or systems_columns is not None):
            (table,), files = files, ()
        ways = [files, system, scores, table]
        if sum(map(bool, ways)) > 1:
            raise OptionError(
                "give systems as files (--system), as one labelled file each (--scores), as one table (--table) "
                "or as DEV TEST, not in two of these ways"
            )
        if len(files) > 2:
            raise OptionError(f"one file, or two: DEV TEST, not {len(files)}; name systems by --system NAME DEV TEST")
        #: The names and files of systems that have two, and of those that have one.
        self.pairs = [(printable(name), *paths) for name, *paths in system]
        self.wholes = [(printable(name), path) for name, path in scores]
        if files:
            name = _name_of(files)
            (self.pairs if len(files) == 2 else self.wholes).append((name, *files))  # type: ignore[arg-type]
        self.table, self.systems_in, self.systems_columns = table, systems_in, systems_columns
        filters = pairs_of("--where", "COLUMN=VALUE,VALUE", where)
        self.where = {column: listed(values) for column, values in filters.items()}
        self.split, self.together, self.split_seed, self.trials = split, not mixed_users, split_seed, trials
        self._read: list[System] | None = None

    @property
    def undivided(self) -> bool:
        """Whether nothing divides the systems: test scores on their own, seen a posteriori."""
        return bool(self.wholes or self.table) and self.folds is None and self.split is None

    def __bool__(self) -> bool:
        return bool(self.pairs or self.wholes or self.table)

    def __len__(self) -> int:
        return len(self.pairs) + len(self.wholes) if self.table is None else len(self.read())

    def read(self, source_file: Callable[[str], SourceFile] = SourceFile, *, whole: bool = False) -> list[System]:
        """Read every system, once; with folds, or ``whole`` and undivided, both of its sets are all its trials."""
        if self._read is None:
            self._check(whole)
            names = [name for name, *_ in (*self.pairs, *self.wholes)]
            twice = [name for name in names if names.count(name) > 1]
            if twice:
                raise OptionError(f"two systems are called {twice[0]!r}; give each its own name")
            for owner in self.reading.owners:
                if owner not in names:
                    known = f"the systems are {', '.join(names)}" if names else "name systems by --system or --scores"
                    raise OptionError(f"--column {owner}:...: there is no system {owner!r}; {known}")
            self._read = self._in_files(source_file) if self.pairs else self._divided(source_file)
        return self._read

    def _check(self, whole: bool) -> None:
        """Refuse what does not go together."""
        in_table = self.systems_in is not None, self.systems_columns is not None
        if not self:
            belongs = "" if not any((*in_table, self.split, self.folds, self.where)) else " to divide or choose from"
            raise OptionError(
                f"give at least one system{belongs}: --system NAME DEV TEST, --scores NAME FILE or --table FILE"
            )
        if self.table is None and any(in_table):
            raise OptionError("--systems-in and --systems-columns belong to a table: add --table FILE")
        if self.table is not None and sum(in_table) != 1:
            raise OptionError("--table needs --systems-in COLUMN, or --systems-columns A,B,...")
        if self.split is not None and self.folds is not None:
            raise OptionError("--split and --folds both divide the trials; give one of them")
        if self.pairs and (self.split is not None or self.folds is not None):
            raise OptionError(
                "DEV and TEST are divided already: leave out --split and --folds, or give --scores NAME FILE"
            )
        if self.undivided and not whole:
            folds = "--folds 5, or " if self.can_fold else ""
            raise OptionError(f"one file needs {folds}--split 50/50 (or COLUMN=DEV:TEST, COLUMN=2024-01-31)")
        if self.trials and not self.pairs and (self.table or self.where or len(self.trials) > 1):
            raise OptionError(
                "--trials goes with files of scores without --where: one for each of DEV and TEST, or one"
            )

    def _in_files(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        from priori.readers import pair_check

        systems = []
        trials: Sequence[str | None] = self.trials or (None, None)
        trials = [*trials, *trials] if len(trials) == 1 else trials
        if len(trials) > 2:
            raise OptionError("--trials is given more than twice: once for DEV and once for TEST, or once for both")
        for name, *paths in self.pairs:
            if paths == ["-", "-"]:
                raise OptionError(f"system {name!r}: only one of its two files can be standard input")
            lacking: set[tuple[str, str]] = set()
            read = partial(self._filtered, self.reading.of(name), lacking)
            dev, test = (read(path, file) for path, file in zip(paths, trials, strict=True))
            pair_check(dev, test, name=f"system {name!r}")
            systems.append(System(name, dev, test, *map(source_file, paths)))
        return systems

    def _filtered(self, reading: Reading, lacking: set[tuple[str, str]], path: str, trials: str | None) -> ScoreSet:
        """Read one of a system's two files; where it lacks a value of a column, all its rows are kept in that respect.

        The other file must have the value: an attack may be new in the test set.
        """
        where = dict(self.where)
        while True:
            try:
                return reading.read(path, trials=trials, where=where)
            except NoSuchValueError as error:
                new = {(error.column, value) for value in error.values}
                if new & lacking or error.column not in where:
                    raise
                lacking |= new
                del where[error.column]
                values = name_list(sorted(error.values))
                tell(f"{path}: has no {error.column} = {values}; its rows are kept, whatever their {error.column}")

    def _divided(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        """Read files that hold all trials of a system, or of several, and divide them."""
        if self.table is not None:
            file = source_file(self.table)
            sets = self._sets(self.table, self.reading, self.systems_in or listed(self.systems_columns))
            return [System(name, *both, file, file) for name, both in sets.items()]
        systems = []
        for name, path in self.wholes:
            file = source_file(path)
            (both,) = self._sets(path, self.reading.of(name), None).values()
            systems.append(System(name, *both, file, file))
        return systems

    def _sets(self, path: str, reading: Reading, systems: Any) -> Sets:
        """Return the development and test scores of the systems of a file; None: the one whose scores it holds."""
        shares = re.fullmatch(r"([0-9.]+)/([0-9.]+)", (self.split or "").replace(" ", ""))
        how: dict[str, Any] = {}
        if shares:
            first, second = (_share(share, str(self.split)) for share in shares.groups())
            how = {"fraction": first / (first + second), "rng": self.split_seed}
        elif self.split is not None:
            ((column, value),) = pairs_of("--split", SPLIT, [self.split]).items()
            if not _is_time(value):
                return reading.read_table(path, systems, (column, *_two_values(self.split, value)), self.where)
            how = {"before": value}
            reading = reading.with_columns(time=column)
        with named_by("--split NAME=2024-01-31", "time"):
            if systems is None and not self.where:
                whole = reading.read(path, trials=next(iter(self.trials), None))
                sets: Sets = {"": (whole, whole)}
            else:
                sets = reading.read_table(path, systems, None, self.where)
        if not how:
            return {name: self._folded(path, both) for name, both in sets.items()}
        halves, said = dict[str, tuple[Scores, Scores]](), dict[str, list[str]]()
        for name, (whole, _) in sets.items():
            halves[name], division = self._halves(whole.load(), how)
            said.setdefault(division, []).append(name)
        for division, names in said.items():
            of = f" ({named(names)})" if len(said) > 1 else ""
            tell_of_file(f"{path}{of}", f"split {division}")
        return halves

    def _folded(self, path: str, both: tuple[ScoreSet, ScoreSet]) -> tuple[ScoreSet, ScoreSet]:
        if self.folds is None:
            return both
        whole = both[0].load()
        tell_of_file(
            path,
            f"{self.folds} folds at random{self._users(whole)}; each is judged with thresholds chosen on the others, "
            "which intervals keep as they are",
        )
        return whole, whole

    def _halves(self, whole: Scores, how: dict[str, Any]) -> tuple[tuple[Scores, Scores], str]:
        """Divide a set in two, and say how."""
        sets = whole.split(together=self.together, **how)
        sizes = " and ".join(
            f"{len(part)} {role} trials" + (f" of {part.n_users} users" if part.has_users else "")
            for role, part in zip(("development", "test"), sets, strict=True)
        )
        left = len(whole) - len(sets[0]) - len(sets[1])
        seen = f"; {left} later trials of users seen before are left out (--mixed-users keeps them)" if left else ""
        division = f"before and from {how['before']} on" if "before" in how else "at random"
        return sets, f"{division}{self._users(whole)}: {sizes}{seen}"

    def _users(self, whole: ScoreSet) -> str:
        if not whole.has_users:
            return ", trial by trial: users are not known"
        return ", the trials of a user together" if self.together else ", users on any side"

    def asked(self, ask: Callable[..., Result]) -> list[Result]:
        """Read every system and ask something about attacks of its development and test scores."""
        systems = self.read()
        # Everything asked begins with these counts; for one table they are made for all systems together.
        condense_all([each for system in systems for each in (system.dev, system.test)], BY_ATTACK, narrow=BOUND)
        return [ask(system.dev, system.test, name=system.name) for system in systems]

    def curves(self, settings: dict[str, Any]) -> list[EPC]:
        """Read every system and return its curve, cross-fitted with folds; the settings are those of `priori.epc`."""
        systems = self.read()
        if self.folds is None:
            from priori.curves.epc import epc_all

            return epc_all({system.name: (system.dev, system.test) for system in systems}, **settings)
        from priori.curves.cross import cross_epc

        if settings.pop("exact", False):
            raise OptionError("--exact has other alphas in each fold; leave out --exact or --folds")
        how = {"folds": self.folds, "rng": self.split_seed, "together": self.together, **settings}
        return [cross_epc(system.dev, name=system.name, **how) for system in systems]

    def with_the_same_trials(self, judged: Sequence[Judged], *, with_dev: bool) -> list[Judged]:
        """Return systems, or their curves, without those of a table that have other numbers of trials than most.

        They cannot be paired; what is left out is said. All are returned where no two systems would be left.
        """
        if self.table is None or len(judged) < 3:
            return list(judged)
        sets = [(each.test, each.dev) if with_dev else (each.test,) for each in judged]
        sizes = [tuple((scores.n_negatives, scores.n_positives) for scores in each) for each in sets]
        usual = max(sizes, key=lambda size: (sizes.count(size), size))
        apart = [each.name for each, size in zip(judged, sizes, strict=True) if size != usual]
        if not apart or sizes.count(usual) < 2:
            return list(judged)
        tell(
            f"{self.table}: left out, other numbers of trials than the {sizes.count(usual)} systems compared: "
            f"{name_list(apart)}"
        )
        return [each for each in judged if each.name not in apart]

    def one(self, part: Literal["dev", "test"], **columns: str) -> ScoreSet:
        """Read one set of scores, with further columns: a file as it is, or that part of one system."""
        if columns:
            self.reading, self._read = self.reading.with_columns(**columns), None
        which = {"dev": "development", "test": "test"}[part]
        if not self:
            raise OptionError(f"give one file of scores, {part.upper()}, or one system, --system NAME DEV TEST")
        if len(self.pairs) + len(self.wholes) > 1 or len(systems := self.read(whole=True)) > 1:
            raise OptionError("one system at a time here; choose one of a table by --where")
        (system,) = systems
        if not self.undivided:
            chosen = getattr(system, f"{part}_file")
            tell(f"{system.name}: the {which} scores are used" + ("" if chosen is None else f", {chosen.name}"))
        return getattr(system, part)  # type: ignore[no-any-return]


def _name_of(files: Sequence[str]) -> str:
    """Return what the names of a system's files begin with alike: A of A-dev.csv and A-test.csv."""
    first, last = (os.path.splitext(os.path.basename(path))[0] for path in (files[0], files[-1]))
    alike = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return printable(first[:alike].rstrip("-_. ") or "system")


def _share(text: str, typed: str) -> float:
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


def _two_values(typed: str, values: str) -> tuple[list[str], list[str]]:
    """Read DEV:TEST of COLUMN=DEV:TEST."""
    dev, colon, test = values.partition(":")
    if not (dev and colon and test):
        raise OptionError(f"--split {typed!r}: write it as {SPLIT}")
    return listed(dev), listed(test)


#: How files are read, row after row; `READING` also says by what else they may be counted.
IN_ORDER = options("input_format column positive attack nan lower_is_better")
READING = (*IN_ORDER, *options("engine memory temp"))
_NAMED = "system scores table systems_in systems_columns split"
_CHOSEN = "mixed_users split_seed where"


def _group(name: str, make: Callable[..., Any], metavar: str, names: str) -> Group:
    files = click.Argument(["files"], nargs=-1, metavar=metavar)
    return Group(name, make, (files, *options(names)), last=(option("trials"), *READING))


#: The options that name systems and divide their trials, by folds too or not; the command gets ``systems``.
SYSTEMS = _group("systems", Systems, "[DEV TEST]", f"{_NAMED} folds {_CHOSEN}")
SETS = _group("systems", Systems, "[DEV TEST]", f"{_NAMED} {_CHOSEN}")


def one_set(part: Literal["dev", "test"]) -> Group:
    """Return the options of a command about one set of scores, a file or that part of a system.

    The command gets ``read``, which reads it with further columns and says which of the system's files is used.
    """

    def make(**typed: Any) -> Callable[..., ScoreSet]:
        return partial(Systems(**typed).one, part)

    return _group("read", make, f"[{part.upper()}]", f"{_NAMED} {_CHOSEN}")
