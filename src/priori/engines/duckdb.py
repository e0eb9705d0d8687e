"""The duckdb back end: Parquet files, or any relation, read in pieces on all processors."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from priori.base.arrow_streams import batches
from priori.base.dataframes import unmasked
from priori.base.errors import InputError, argument
from priori.engines.counting import By, Rows
from priori.engines.panel import Panel, changed
from priori.engines.parquet_files import FILE, ROW_NUMBER, guarded
from priori.engines.sql import Owners, TableSettings
from priori.readers.duckdb_parser import literal, quoted
from priori.scores import Scores

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from priori.engines.parquet_files import Files


class DuckDB(Panel):
    """A panel in a duckdb relation.

    ``files`` owns the connection of a relation over files, checks that they stay as they are, and cleans up.
    """

    def __init__(
        self,
        relation: DuckDBPyRelation,
        settings: TableSettings,
        *,
        source: str = "relation",
        files: Files | None = None,
    ) -> None:
        # Bytes are text: not every writer marks its text as such.
        held = [quoted(name) for name, kind in zip(relation.columns, relation.types, strict=True) if kind == "BLOB"]
        decoded = ", ".join(f"decode({name}) AS {name}" for name in held)
        relation = relation.select(f"* REPLACE ({decoded})") if held else relation
        self.relation, self.files = relation, files
        self.format = None if files is None else files.format
        types = dict(zip(relation.columns, (str(kind) for kind in relation.types), strict=True))
        super().__init__(types, settings, source)
        self._listed: dict[tuple[str, ...], str] = {}

    # -- asking ------------------------------------------------------------------------------------------

    @contextmanager
    def guarded(self) -> Iterator[None]:
        with guarded(self.source):
            yield
        if self.files is not None:
            self.files.watch.check()

    def query(self, text: str) -> DuckDBPyRelation:
        if self.files is not None:
            return self.files.query(text)
        # The name becomes a view in the caller's database: it must be nobody's, and no two of ours the same.
        view = f"priori_trials_{id(self)}"
        relation = self.relation.query(view, f"WITH trials AS (FROM {view}) {text}")
        assert relation is not None
        return relation

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        with guarded(self.source):
            return self.query(text).fetchall()

    def table(self, text: str) -> dict[str, NDArray[Any]]:
        with guarded(self.source):
            return {name: unmasked(column) for name, column in self.query(text).fetchnumpy().items()}

    def quoted(self, name: str) -> str:
        return quoted(name)

    def literal(self, text: str) -> str:
        return literal(text)

    def present(self, score: str) -> str:
        # Not isnan: duckdb concludes from the range that a Parquet file tells, without its NaN, that there is none.
        return f"(isfinite({score}) OR isinf({score}))"

    def load(self, system: int = 0) -> Scores:
        # Trials without ids are paired by their order.
        with self.guarded(), nullcontext() if self.files is None else self.files.in_order():
            return super().load(system)

    # -- rows --------------------------------------------------------------------------------------------

    def batches(self, systems: tuple[int, ...], by: By) -> Generator[Rows, None, None]:
        text, handed = self.handed(systems, by)
        numbered = handed.owners is not None and handed.owners.numbered
        relation = self.query(text) if self.files is None else self.files.query(text, numbered=numbered)
        done = 0
        with guarded(self.source), closing(batches(relation)) as stream:
            for columns in stream:
                yield handed.rows(columns)
                done += columns[0].size
                if self.progress is not None:
                    self.progress(done, self.total)
        if self.files is not None:
            self.files.watch.check()
        if done != self.total:
            raise changed(self.source)

    # -- names and pairs ---------------------------------------------------------------------------------

    def part_of(self, parts: int) -> Owners:
        by_id = "trial" in self.columns
        if not by_id and self.files is None:
            raise InputError(
                f"{self.source}: the rows of a relation have no order to part them by; give a trial column "
                f"({argument('columns', 'trial=NAME')})"
            )
        key = f"CAST({self.column('trial')} AS VARCHAR)" if by_id else f"parse_filename({FILE}), {ROW_NUMBER}"
        return Owners(f"CAST(hash({key}) % {parts} AS BIGINT)", "trials", numbered=not by_id)

    def coded(self, roles: Sequence[str]) -> str:
        """Return the query that numbers the combinations of names; of files its answer is kept, as pieces share it."""
        if self.files is None:
            return self.numbering(roles)
        if tuple(roles) not in self._listed:
            ours = ", ".join(f"priori_{role}" for role in roles)
            kept = [table for known, table in self._listed.items() if {*roles} <= {*known}]  # no scan is needed
            distinct = f"SELECT DISTINCT {ours} FROM {kept[0]}" if kept else ""
            table = f"combinations_{id(self)}_{len(self._listed)}"
            with guarded(self.source):
                self.files.keep(table, self.query(self.numbering(roles, distinct)))
            self._listed[tuple(roles)] = table
        return f"FROM {self._listed[tuple(roles)]}"

    def view(self, panel: DuckDB, text: str, number: int) -> str:
        if self.files is not None and panel.files is not None:  # two databases cannot be joined
            return f"(WITH trials AS (FROM {panel.files.source()}) {text})"
        name = f"priori_joined_{id(self)}_{number}"
        panel.query(text).create_view(name, replace=True)
        return name

    def placed(self, file: str, row: str) -> str:
        assert self.files is not None
        return self.files.placed(file, row)

    def part(self, condition: str, rows: int, settings: TableSettings) -> DuckDB:
        assert self.files is not None
        part = self.files.part(condition, rows)
        return DuckDB(part.relation(), settings, source=self.source, files=part)

    def panel_of(self, joined: DuckDBPyRelation, settings: TableSettings) -> DuckDB:
        files = None if self.files is None else self.files.written(joined)
        relation = joined if files is None else files.relation()
        return DuckDB(relation, settings, source=self.source, files=files)

    def close(self) -> None:
        if self.files is not None:
            self.files.close()
