"""One table of many systems that stays where it is: each system on each set is a `Table` over some of its rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

import narwhals as nw
import numpy as np

from priori.base.dataframes import unmasked
from priori.base.errors import InputError, OptionError, unknown
from priori.engines.duckdb import DuckDB
from priori.engines.engine import Panel, TableSettings
from priori.engines.engine_choice import ENGINES, PER_LINE, SMALL, EngineName, bytes_of, is_columnar
from priori.engines.explorer import BINS
from priori.engines.parquet_files import Files, Watch
from priori.engines.table import PER_TRIAL, Table
from priori.readers.duckdb_parser import literal, quoted
from priori.readers.layout import Columns
from priori.readers.trial_tables import TrialTable, Values, about_sizes, needed_columns, read_table, several
from priori.scores import Names, NanPolicy, ScoreSet

#: Values of a column that rows may have.
Condition = dict[str, list[str]]
#: Where a row stands in its table: by file, and by row of the file.
PLACE = "priori_place"
#: Bytes of the memory given that a bin of a system's histogram needs, with all that is made of it.
PER_BIN = 512


def scan_table(
    path: str | os.PathLike[str],
    *,
    systems: Values,
    split: tuple[str, Values, Values] | None,
    where: Mapping[str, Values] | None = None,
    engine: EngineName = "auto",
    memory: str | int = "1GB",
    temp: str | os.PathLike[str] | None = None,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    pos_label: Any = None,
    attack_label: Any = None,
    nan: NanPolicy = "error",
    lower_is_better: bool = False,
    announce: Callable[[str], None] | None = None,
) -> dict[str, tuple[ScoreSet, ScoreSet]]:
    """Open one table of many systems that may not fit in memory.

    The systems of a wide table are paired by its rows. What is asked of all systems together, as `priori.epc_all` and
    `priori.rank` do, is counted in one scan of the table for all of them.

    Parameters
    ----------
    path : path, glob or directory
        The table: CSV, TSV or Parquet, in one file or several.
    systems, split, where
        As in `priori.read_table`.
    engine, memory, temp
        As in `priori.scan`.
    format, columns, pos_label, attack_label, nan, lower_is_better, announce
        As in `priori.read`.

    Returns
    -------
    dict
        The name of each system, in the order of the table, with its development and test scores.

    Examples
    --------
    >>> import os, tempfile, priori
    >>> rows = ((part, label, label + k / 7, label + k / 5) for part in ("dev", "eval") for label in (0, 1)
    ...         for k in range(9))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "wide.csv")
    ...     with open(path, "w") as file:
    ...         print("set,label,A,B", *(",".join(map(str, row)) for row in rows), sep="\\n", file=file)
    ...     sets = priori.scan_table(path, systems=["A", "B"], split=("set", "dev", "eval"), engine="duckdb")
    ...     [curve.value.round(3).tolist() for curve in priori.epc_all(sets, alpha=[0.5])]
    [[0.111], [0.222]]
    """
    if engine not in ENGINES:
        raise unknown("engine", engine, ENGINES)
    room, say = bytes_of(memory), announce or (lambda line: None)
    filters = {column: several(values) for column, values in (where or {}).items()}
    ours, more = needed_columns(systems, [*(split or ())[:1], *filters], dict(columns or {}))
    settings = TableSettings(ours, pos_label, nan, lower_is_better, as_text=True, attack_label=attack_label, more=more)
    watch = None if engine == "spark" else Watch(path)
    if (
        watch is not None
        and watch.store is None
        and len(watch.paths) == 1
        and (engine == "memory" or (engine == "auto" and _fits(watch, room)))
    ):
        whole: dict[str, tuple[ScoreSet, ScoreSet]] = {
            **read_table(
                watch.paths[0],
                systems=systems,
                split=split,
                where=where,
                format=format,
                columns=columns,
                pos_label=pos_label,
                attack_label=attack_label,
                nan=nan,
                lower_is_better=lower_is_better,
                announce=announce,
            )
        }
        return whole
    if split is None and not filters and not isinstance(systems, str):
        raise OptionError(f"{os.fspath(path)}: a wide table that no column divides is read into memory")
    if engine == "memory":
        raise OptionError(f"{os.fspath(path)}: several files, or one at an address, are scanned; leave the engine out")
    source = _InSpark.of(path, settings, temp) if watch is None else _InFiles.of(watch, settings, room, temp, format)
    titles = {title: source.titles[column] for column, title in more.items() if column.startswith("extra")}
    table, number = _census(source, titles)
    names, parts, notes = table.split(split, filters)
    chosen = [*table.systems(systems, parts)]
    found: dict[str, list[Table]] = {name: [] for name, _, _ in chosen}
    for part, called in zip(parts, names, strict=True):
        named = [(f"{source.name} ({name}, {called})", source.titles.get(column, column)) for name, column, _ in chosen]
        panels = source.panels(
            [*zip(named, (name for name, _, _ in chosen), strict=True)],
            [_condition(table, titles, part & own) for _, _, own in chosen],
            _condition(table, titles, part),
            int(number[part].sum()),
            titles[systems] if isinstance(systems, str) else None,
        )
        for (name, _, _), (panel, system) in zip(chosen, panels, strict=True):
            memory, bins = max(room // len(chosen), 1 << 20), _bins(room, len(chosen))
            found[name].append(Table(panel, memory=memory, bins=bins, system=system))
    for note in (*notes, *table.left_out(systems, parts, names)):
        say(note)
    sizes = about_sizes(names, [number[part].sum() for part in parts])
    say(f"{source.name}: {len(found)} system{'s' * (len(found) != 1)}, {sizes}, scanned by {source.engine}")
    return {name: (sets[0], sets[-1]) for name, sets in found.items()}


def _fits(watch: Watch, room: int) -> bool:
    """Tell whether one file is so small that it is read into memory at once."""
    return watch.size < SMALL or (not is_columnar(watch.paths[0]) and watch.size / PER_LINE * PER_TRIAL < room)


def _bins(room: int, systems: int) -> int:
    return int(np.clip(room // systems // PER_BIN, 1 << 12, BINS))


def _census(source: _InFiles | _InSpark, titles: Mapping[str, str]) -> tuple[TrialTable, Any]:
    """Return every combination of the values of some columns as the row of a small table, and how often each comes.

    They are in the order in which the table has them first.
    """
    keys = {f"extra{number}": column for number, column in enumerate(titles.values())}
    counted = source.census(keys)
    values = {key: np.array([str(value) for value in counted[key].tolist()], dtype=str) for key in keys}
    found = {key: np.unique(column, return_inverse=True) for key, column in values.items()}
    names = {key: Names(known) for key, (known, _) in found.items()}
    codes = {key: inverse.astype(np.int32) for key, (_, inverse) in found.items()}
    number = np.array([int(rows) for rows in counted["rows"].tolist()], dtype=np.int64)
    return TrialTable(Columns({}, codes, names), dict(zip(titles, keys, strict=True)), source.name), number


def _condition(table: TrialTable, titles: Mapping[str, str], rows: Any) -> Condition:
    """Return the values that the rows have in each column: they are all rows with these."""
    if not rows.any():
        raise InputError(f"{table.name}: no rows; every system needs both sets")
    return {column: table.values_in(title, rows) for title, column in titles.items()}


# -- where the table is ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _InFiles:
    """A table in files, counted by duckdb."""

    files: Files
    engine = "duckdb"

    @classmethod
    def of(
        cls, watch: Watch, settings: TableSettings, memory: int, temp: str | os.PathLike[str] | None, format: str | None
    ) -> _InFiles:
        files = Files(watch, settings, memory=memory, temp=temp, format=format)
        present = files.relation().columns
        for title in files.settings.more.values():
            if title not in present:
                raise InputError(f"{watch.shown}: no column is called {title!r}; the columns are {', '.join(present)}")
        return cls(files)

    @property
    def name(self) -> str:
        return self.files.watch.shown

    @property
    def titles(self) -> dict[str, str]:
        """The columns of the files by our names for them."""
        return {"score": self.files.settings.columns.get("score", "score"), **self.files.settings.more}

    def census(self, keys: Mapping[str, str]) -> Mapping[str, Any]:
        """Return how many rows there are with each combination of values, in the order in which they come first."""
        listed = ", ".join(f"CAST({quoted(column)} AS VARCHAR) AS {key}" for key, column in keys.items())
        asked = f"{listed}, count(*) AS rows, min({PLACE}) AS place"
        ordered = self.files.placed(PLACE).aggregate(asked, ", ".join(keys)).order(", ".join(["place", *keys]))
        found = ordered.select(*keys, "rows").fetchnumpy()
        return {name: unmasked(column) for name, column in found.items()}

    def panels(
        self,
        systems: Sequence[tuple[tuple[str, str], str]],
        conditions: Sequence[Condition],
        condition: Condition,
        rows: int,
        system_in: str | None,
    ) -> list[tuple[Panel, int]]:
        """Return the panel of the rows that meet a condition, and the number of each system in it.

        ``systems`` are what each is called, its column of scores, and its name in the column ``system_in``.
        """
        part, settings = self.files.part(_sql(condition), rows), replace(self.files.settings, more={})
        settings = replace(settings, columns={**settings.columns, "score": systems[0][0][1]})
        named = [(title, column if system_in is None else name) for (title, column), name in systems]
        whose = None if system_in is None else f"CAST({quoted(system_in)} AS VARCHAR)"
        panel = DuckDB(part.relation(), settings, source=self.name, files=part, systems=named, system_in=whose)
        return [(panel, number) for number in range(len(systems))]


def _sql(condition: Condition) -> str:
    parts = (
        f"CAST({quoted(column)} AS VARCHAR) IN ({', '.join(map(literal, values))})"
        for column, values in condition.items()
    )
    return " AND ".join(parts)


@dataclass(frozen=True, eq=False)
class _InSpark:
    """A table that Spark reads and counts."""

    spark: Any
    more: Mapping[str, str]
    engine = "spark"

    @classmethod
    def of(cls, path: str | os.PathLike[str], settings: TableSettings, temp: str | os.PathLike[str] | None) -> _InSpark:
        from priori.engines.spark import open_spark

        return cls(open_spark(path, settings, temp), settings.more)

    @property
    def name(self) -> str:
        return str(self.spark.source)

    @property
    def titles(self) -> dict[str, str]:
        return {"score": self.spark.columns["score"], **self.more}

    def census(self, keys: Mapping[str, str]) -> Mapping[str, Any]:
        placed = nw.from_native(self.spark.placed(PLACE))
        named = placed.select(*(nw.col(column).cast(nw.String).alias(key) for key, column in keys.items()), PLACE)
        grouped = named.group_by(*keys).agg(nw.len().alias("rows"), nw.col(PLACE).min())
        return dict(self.spark.collect(grouped.sort(PLACE, *keys).select(*keys, "rows")))

    def panels(
        self,
        systems: Sequence[tuple[tuple[str, str], str]],
        conditions: Sequence[Condition],
        condition: Condition,
        rows: int,
        system_in: str | None,
    ) -> list[tuple[Panel, int]]:
        """Return one panel for all systems that are columns, one for each where they have rows of their own."""

        def panel(met: Condition, own: Sequence[tuple[str, str]]) -> Panel:
            settings = replace(self.spark.settings, more={})
            settings = replace(settings, columns={**settings.columns, "score": own[0][1]})
            tests = (nw.col(title).cast(nw.String).is_in(values) for title, values in met.items())
            frame, watch = self.spark.frame.filter(reduce(and_, tests)), self.spark.watch
            found: Panel = type(self.spark)(frame, settings, source=own[0][0], systems=own, watch=watch)
            return found

        named = [own for own, _ in systems]
        if system_in is not None:
            return [(panel(met, [own]), 0) for met, own in zip(conditions, named, strict=True)]
        whole = panel(condition, named)
        return [(whole, number) for number in range(len(systems))]
