"""The questions answered by one grouping each, written once through narwhals: for Spark, and any lazy frame it knows.

Everything is computed where the table is; only counts, and the scores of a few cells, come back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, reduce
from operator import or_
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import not_names, unmasked
from priori.base.errors import InputError, PrioriError, argument
from priori.base.types import Floats
from priori.engines.cells import Distinct, Histogram, merged
from priori.engines.engine import SAMPLE, Engine, Survey, TableSettings, Tally, TooMany
from priori.engines.grid import Grid, joined_runs
from priori.readers.duckdb_parser import first_line
from priori.scores import Names, Scores, Trials, nan_error
from priori.scores.attacks import attack_codes

Columns = dict[str, NDArray[Any]]

#: The most ranges that one expression tells apart: Java leaves longer ones uncompiled, which costs five times as much.
RANGES = 16
#: Up to so many cells are fetched by their numbers; of more, whole ranges are.
LISTED = 1 << 12

#: How the users of a pair of trials compare, where they are not the same.
DIFFERENT, MISSING = 1, 2


class _Classes(NamedTuple):
    """What one scan tells of the table as a whole."""

    matching: list[Any]
    rows: int
    missing: int
    limits: tuple[float, float]


def reason_of(error: Exception) -> str:
    """Return the first line of what an engine says, as far as it fits into a message."""
    return first_line(str(error).strip() or type(error).__name__)[:300]


class Lazy(Engine):
    """Answers from a narwhals lazy frame with columns score and label, and perhaps user and trial."""

    segments = RANGES
    finest = 1e-3  # an expression tells cuts apart, and takes long where there are tens of thousands

    def __init__(self, frame: Any, settings: TableSettings, *, source: str = "frame") -> None:
        self.frame = nw.from_native(frame) if not isinstance(frame, nw.LazyFrame) else frame
        # Bytes are text, which not every writer says of its text.
        held = [name for name, kind in self.frame.collect_schema().items() if kind == nw.Binary]
        self.frame = self.frame.with_columns(nw.col(*held).cast(nw.String)) if held else self.frame
        self.schema = self.frame.collect_schema()
        self._match_columns(self.schema.names(), settings, source)
        for role, title in self.columns.items():
            kind = self.schema[title]
            if role == "score":
                if not kind.is_numeric():
                    raise InputError(f"{source}: the scores in column {title!r} must be numbers, not {kind}")
            elif kind.is_nested() or (kind.is_float() and role != "label"):
                raise not_names(source, title, role, kind)

    # -- the columns -------------------------------------------------------------------------------------

    @cached_property
    def _raw_score(self) -> Any:
        score = nw.col(self.columns["score"]).cast(nw.Float64)
        return score * -1.0 if self.settings.lower_is_better else score

    @cached_property
    def _missing(self) -> Any:
        # Not is_nan: duckdb concludes from the range that a Parquet file tells, without its NaN, that there is none.
        score = self._raw_score
        return score.is_null() | ~(score.is_finite() | (score == np.inf) | (score == -np.inf))

    @cached_property
    def _label(self) -> Any:
        if "label" in self.columns:
            return nw.col(self.columns["label"])
        return self._text("user") == self._text("probe_user")

    @cached_property
    def _classes(self) -> _Classes:
        """Look at every label, and at the range of the scores: one scan."""
        finite = (~self._missing) & (self._raw_score > -np.inf) & (self._raw_score < np.inf)
        only_finite = nw.when(finite).then(self._raw_score)
        classes = self.collect(
            self.frame.select(
                self._label.alias("label"), only_finite.alias("score"), self._missing.cast(nw.Int64).alias("missing")
            )
            .group_by("label")
            .agg(
                nw.len().alias("rows"),
                nw.col("missing").sum(),
                nw.col("score").min().alias("low"),
                nw.col("score").max().alias("high"),
            )
        )
        labels, rows = classes["label"].tolist(), _whole(classes["rows"])
        matching = self._positive_labels(dict(zip(labels, rows.tolist(), strict=True)))
        missing = int(_whole(classes["missing"]).sum())
        if missing and self.settings.nan == "error":
            raise nan_error(self.source, missing)
        low, high = (classes[name].astype(np.float64) for name in ("low", "high"))
        limits = float(np.nanmin(low, initial=np.inf)), float(np.nanmax(high, initial=-np.inf))
        return _Classes(matching, int(rows.sum()), missing, limits)

    def _text(self, role: str) -> Any:
        return nw.col(self.columns[role]).cast(nw.String)

    def look_at_labels(self) -> None:
        _ = self._classes

    def _probes(self) -> list[Any]:
        return list(self.collect(self.frame.select(self._text("probe_user").alias("probe")).unique())["probe"])

    @property
    def _attack(self) -> Any:
        """The type of attack of a trial, empty where it is none."""
        kind = self._text("attack" if "attack" in self.columns else "label").fill_null("")
        if not self.marked:
            return kind
        kind = nw.when(kind == "").then(self._text("label")).otherwise(kind)
        return nw.when(reduce(or_, [self._label == label for label in self.marked])).then(kind).otherwise(nw.lit(""))

    @cached_property
    def trials(self) -> Any:
        """The frame with columns score (no NaN), positive (0 or 1), user and trial where there are."""
        return self._selected(self.frame.filter(~self._missing) if self.settings.nan == "drop" else self.frame)

    def _selected(self, frame: Any, *more: Any) -> Any:
        score = nw.when(self._missing).then(-np.inf).otherwise(self._raw_score)
        positive = reduce(or_, [self._label == label for label in self._classes.matching])
        columns = [score.alias("score"), positive.cast(nw.Int64).alias("positive")]
        columns += [nw.col(self.columns[role]).alias(role) for role in ("user", "probe_user") if role in self.columns]
        columns += [self._text(role).alias(role) for role in ("trial", "dataset", "group") if role in self.columns]
        if self.tells("attack"):
            columns.append(self._attack.alias("attack"))
        if self.settings.nan == "reject":
            columns.append(self._missing.cast(nw.Int64).alias("failed"))
        return frame.select(*columns, *more)

    # -- asking ------------------------------------------------------------------------------------------

    def collect(self, frame: Any) -> Columns:
        """Return the columns of a small result."""
        with self.guarded():
            if frame.implementation.is_duckdb():
                columns = {name: unmasked(column) for name, column in frame.to_native().fetchnumpy().items()}
            else:
                eager = frame.collect()
                columns = {name: eager[name].to_numpy() for name in eager.columns}
        if self.progress is not None:
            self.progress(1, 1)
        return columns

    def _counted(self, frame: Any, keys: Sequence[str], limit: int | None = None) -> Columns:
        """Return how many rows there are with each combination of keys; all but people are whole numbers."""
        grouped = frame.select(*keys).group_by(*keys).agg(nw.len().alias("rows"))
        counted = self.collect(grouped if limit is None else grouped.head(limit + 1))
        if limit is not None and counted["rows"].size > limit:
            raise TooMany
        people = ("user", "probe_user")
        return {name: column if name in people else _whole(column) for name, column in counted.items()}

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn the errors of whatever runs the query into ours."""
        try:
            yield
        except PrioriError:
            raise
        except Exception as error:
            kind = str(self.frame.implementation)
            raise InputError(f"{self.source}: {kind} could not read the scores ({reason_of(error)})") from None

    def survey(self) -> Survey:
        rows, limits = self._classes.rows, self._classes.limits
        sample = self.collect(self.trials.select("score").head(SAMPLE))["score"].astype(np.float64)
        return Survey(rows, sample[np.isfinite(sample)], limits if limits[0] <= limits[1] else None)

    def histogram(self, grid: Grid) -> Histogram:
        cells = self.trials.with_columns(_cell(grid).alias("cell"))
        counted = self._counted(cells, ["cell", "positive"])
        counts = np.zeros((2, grid.size), dtype=np.int64)
        np.add.at(counts, (counted["positive"], counted["cell"]), counted["rows"])
        missing = self._classes.missing if self.settings.nan == "reject" else 0
        return Histogram(grid, counts[0], counts[1], self._classes.limits, missing)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        inside = _gap(_ranges(grid, keep)) % 2 == 1
        cells = np.flatnonzero(keep)
        if cells.size <= LISTED:
            inside = inside & _cell(grid).is_in(cells.tolist())
        grouped = (
            self.trials.select("score", "positive")
            .filter(inside)
            .group_by("score")
            .agg(nw.len().alias("rows"), nw.col("positive").sum().alias("positives"))
        )
        fetched = self.collect(grouped if limit is None else grouped.head(limit + 1))
        value = fetched["score"].astype(np.float64)
        if limit is not None and value.size > limit:
            raise TooMany
        positives, rows = _whole(fetched["positives"]), _whole(fetched["rows"])
        return merged([Distinct(value, rows - positives, positives).take(keep[grid.cells(value)])])

    @cached_property
    def _names(self) -> Names:
        seen = self.collect(self.trials.select("user").unique())["user"]
        self._check_names("user", seen.tolist())
        return Names(np.unique(self._as_names(seen)))

    def _as_names(self, column: NDArray[Any]) -> NDArray[Any]:
        if column.dtype.kind in "iu" and not self.settings.as_text:
            return column.astype(np.int64)
        return np.array([str(name) for name in column.tolist()], dtype=str)

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        keys = ["gap", "positive", *(["user"] if by_user else [])]
        return self._tallies(self._counted(self.trials.with_columns(_gap(cuts).alias("gap")), keys), ["gap"])

    def tally_parts(self, cuts: Floats, parts: int) -> tuple[Tally, Tally]:
        with self.guarded():
            trials = nw.from_native(self._in_parts(self.trials.to_native(), parts))
        return self._tallies(
            self._counted(trials.with_columns(_gap(cuts).alias("gap")), ["gap", "positive", "part"]), ["gap"]
        )

    def _in_parts(self, trials: Any, parts: int) -> Any:
        """Add the column ``part``: a hash of what tells trials apart, which every library has its own of."""
        if not self.frame.implementation.is_polars() or "trial" not in self.columns:
            raise self._cannot_pair()
        import polars

        return trials.with_columns(part=(polars.col("trial").hash() % parts).cast(polars.Int64))

    def tally_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], limit: int, *, by_user: bool = False
    ) -> tuple[Tally, Tally]:
        return self._tallies(self._paired(others, cuts, ["user"] if by_user else [], limit), _gaps(cuts))

    def load_paired(
        self, others: Sequence[Engine], cuts: Sequence[Floats], roles: Sequence[str], limit: int
    ) -> list[Scores]:
        known = [role for role in roles if role in self.columns]
        counted = self._paired(others, cuts, known, limit)
        order = np.lexsort([_sortable(counted[name]) for name in (*reversed(_gaps(cuts)), *known)])
        kept = {name: counted[name][order] for name in ("positive", "rows", *known)}
        return [
            engine.scores_of({"score": np.append(cut, np.inf)[counted[gap][order]], **kept})
            for engine, cut, gap in zip((self, *_lazy(others)), cuts, _gaps(cuts), strict=True)
        ]

    def _paired(self, others: Sequence[Engine], cuts: Sequence[Floats], names: Sequence[str], limit: int) -> Columns:
        """Count the trials between the cuts of this system and of others, by some names too: by rows, or joined."""
        keys, gaps = ["positive", *names], _gaps(cuts)
        if all(self.beside(other) for other in others):
            scores = []
            for number, other in enumerate(_lazy(others), 1):
                self._check_complete(other)
                score = nw.when(other._missing).then(-np.inf).otherwise(other._raw_score)
                scores.append(score.alias(f"score{number}"))
            columns = ["score", *(f"score{number}" for number in range(1, len(cuts)))]
            each = zip(cuts, columns, gaps, strict=True)
            frame = self._selected(self.frame, *scores)
            frame = frame.with_columns(*(_gap(cut, column).alias(gap) for cut, column, gap in each))
            return self._counted(frame, [*keys, *gaps], limit)
        rights = [self._to_join(other) for other in others]
        joined = self.trials.with_columns(_gap(cuts[0]).alias(gaps[0])).select("trial", gaps[0], *keys)
        labels = [f"positive{number}" for number in range(1, len(cuts))]
        for right, label, cut, gap in zip(rights, labels, cuts[1:], gaps[1:], strict=True):
            own = right.trials.select("trial", nw.col("positive").alias(label), _gap(cut).alias(gap))
            joined = joined.join(own, on="trial", how="inner")
        counted = self._counted(joined, [*keys, *labels, *gaps], limit)
        if len(rights) > 1 and counted["rows"].sum() < self._classes.rows - self._left_out:
            for right in rights:  # which of them has other trials
                self.same_trials(right)
        for right, label in zip(rights, labels, strict=True):
            self._check_paired(right, counted["rows"], counted["positive"] != counted[label])
        return counted

    def _check_complete(self, *others: Lazy) -> None:
        for engine in (self, *others):
            if engine._left_out:
                raise InputError(
                    f"cannot pair the trials: {engine._left_out} of {engine.source} are NaN and left out; reject them "
                    f"instead ({argument('nan', 'reject')})"
                )

    def same_trials(self, other: Engine) -> bool:
        if self.beside(other):
            assert isinstance(other, Lazy)
            self._check_complete(other)
            return self.has_users
        right = self._to_join(other)
        with_users = self.has_users and right.has_users
        user = nw.col("user").cast(nw.String) if with_users else nw.lit("")
        left, others = (
            engine.trials.select("trial", nw.col("positive").alias(f"positive{suffix}"), user.alias(f"user{suffix}"))
            for engine, suffix in ((self, ""), (right, "_b"))
        )
        missing = nw.when(nw.col("user").is_null() | nw.col("user_b").is_null()).then(MISSING).otherwise(DIFFERENT)
        same_user = nw.when(nw.col("user") == nw.col("user_b")).then(0).otherwise(missing)
        joined = left.join(others, on="trial", how="inner").select(
            (nw.col("positive") != nw.col("positive_b")).cast(nw.Int64).alias("labels"), same_user.alias("users")
        )
        counted = self._counted(joined, ["labels", "users"])
        self._check_paired(right, counted["rows"], counted["labels"] != 0)
        different = counted["users"] == DIFFERENT
        if with_users and different.any():
            raise InputError(
                f"cannot pair the trials: {counted['rows'][different].sum()} have different users in {self.source} and "
                f"{right.source}; check the user columns, or compare unpaired (--unpaired, unpaired=True)"
            )
        return with_users and not counted["users"].any()

    def _to_join(self, other: Engine) -> Lazy:
        """Return the other side of a join, if it can be one."""
        if not isinstance(other, Lazy) or other.frame.implementation != self.frame.implementation:
            raise InputError(
                f"cannot pair the trials of {self.source} and {other.source}: both must come from the same engine"
            )
        self.check_ids()
        other.check_ids()
        return other

    def _check_paired(self, other: Lazy, rows: NDArray[np.int64], differing: NDArray[np.bool_]) -> None:
        """Raise an error unless the paired rows are all there should be, and none of them has different labels."""
        sizes = [engine._classes.rows - engine._left_out for engine in (self, other)]
        if not rows.sum() == sizes[0] == sizes[1]:
            raise InputError(
                f"cannot pair the trials: {self.source} has {sizes[0]}, {other.source} has {sizes[1]}, and "
                f"{rows.sum()} ids are in both; for test sets that do not hold the same trials, compare them "
                f"unpaired ({argument('unpaired', 'True')})"
            )
        if differing.any():
            raise InputError(
                f"cannot pair the trials: {rows[differing].sum()} have different labels in {self.source} and "
                f"{other.source}"
            )

    def load(self) -> Scores:
        return self.scores_of(self.collect(self.trials))

    def load_between(self, cuts: Floats, roles: Sequence[str], limit: int) -> Scores:
        keys = ["gap", "positive", *(role for role in roles if self.tells(role))]
        if self.settings.nan == "reject" and self._classes.missing:
            keys.append("failed")
        # Not the mean of infinite scores: engines differ in what that is.
        finite = nw.when((nw.col("score") > -np.inf) & (nw.col("score") < np.inf)).then(nw.col("score"))
        named = self.trials.with_columns(_gap(cuts).alias("gap"), finite.alias("finite"))
        grouped = named.group_by(*keys).agg(
            nw.len().alias("rows"), nw.col("finite").mean(), nw.col("score").min(), nw.col("score").max().alias("high")
        )
        columns = self.collect(grouped.head(limit + 1))
        if columns["rows"].size > limit:
            raise TooMany
        low, high, mean = (columns[name].astype(np.float64) for name in ("score", "high", "finite"))
        # Rounding must not carry a mean over its trials; those of one gap are all finite, or all the same infinity.
        columns["score"] = np.where(low == high, low, np.clip(mean, low, high))
        order = np.lexsort([columns["score"], *(_sortable(columns[name]) for name in reversed(keys))])
        return self.scores_of({name: column[order] for name, column in columns.items()})

    def scores_of(self, columns: Columns) -> Scores:
        """Return the trials, or the entries that stand for several (``rows``), of collected columns."""
        for role in ("user", "probe_user", "trial", "dataset", "group"):
            if role in columns:
                self._check_names(role, columns[role].tolist())
        user, probe = (self._as_names(columns[role]) if role in columns else None for role in ("user", "probe_user"))
        users, (codes, probes) = Names.encode(user, probe)
        datasets, (dataset,) = Names.encode(columns["dataset"].astype(str) if "dataset" in columns else None)
        groups, (group,) = Names.encode(columns["group"].astype(str) if "group" in columns else None)
        trial, positive = columns["trial"].astype(str) if "trial" in columns else None, columns["positive"] == 1
        types, attack = None, None
        if "attack" in columns:
            held = columns["attack"].astype(str)
            types, attack = attack_codes(held, held != "" if self.marked else None, held, positive)
        failed = _whole(columns["failed"]) == 1 if "failed" in columns and self._classes.missing else None
        number = _whole(columns["rows"]) if "rows" in columns else None
        return Scores.from_columns(
            Trials(columns["score"].astype(np.float64), codes, probes, trial, dataset, group=group, failed=failed,
                   number=number, attack=attack),
            positive,
            users=users,
            datasets=datasets,
            groups=groups,
            attack_types=types,
            attack_label=self.settings.attack_label,
            source=self.source,
        )  # fmt: skip

    @property
    def _left_out(self) -> int:
        """The trials that NaN leaves out."""
        return self._classes.missing if self.settings.nan == "drop" else 0

    def check_ids(self) -> None:
        """Raise an error unless every trial has an id of its own."""
        if "trial" not in self.columns:
            raise InputError(
                f"cannot pair the trials: {self.source} has no trial ids, and the rows of a table have no order; "
                f"give a trial column ({argument('columns', 'trial=NAME')}), or compare unpaired "
                f"({argument('unpaired', 'True')})"
            )
        counted = self.trials.group_by("trial").agg(nw.len().alias("rows"))
        odd = self.collect(counted.filter((nw.col("rows") > 1) | nw.col("trial").is_null()).head(1))
        if odd["trial"].size:
            raise InputError(
                f"cannot pair the trials: {self.source} has the trial id {str(odd['trial'][0])!r} "
                f"{int(odd['rows'][0])} times; an id must name one trial"
            )

    def _tallies(self, counted: Columns, gaps: Sequence[str]) -> tuple[Tally, Tally]:
        """Return the counts of the negatives and of the positives, in the order of users and gaps."""
        gap, user = np.stack([counted[name] for name in gaps]), counted.get("part")
        if "user" in counted:
            user = np.searchsorted(self._names.values, self._as_names(counted["user"]))
        order = np.lexsort([*gap[::-1], *([] if user is None else [user])])
        negative, positive = (
            Tally(gap[:, index], None if user is None else user[index], counted["rows"][index])
            for index in (order[counted["positive"][order] == own_class] for own_class in (0, 1))
        )
        return negative, positive


def _lazy(engines: Sequence[Engine]) -> list[Lazy]:
    return [engine for engine in engines if isinstance(engine, Lazy)]


def _gaps(cuts: Sequence[Floats]) -> list[str]:
    """Return the names of the columns of gaps, one for each system."""
    return [f"gap{number}" for number in range(len(cuts))]


def _whole(column: NDArray[Any]) -> NDArray[np.int64]:
    """Return counts as whole numbers: a database may give them as decimals, or as floats where none is missing."""
    if column.dtype.kind == "O":
        return np.array([int(number) for number in column], dtype=np.int64)
    return column.astype(np.int64)


def _sortable(column: NDArray[Any]) -> NDArray[Any]:
    return column.astype(str) if column.dtype.kind == "O" else column


# -- expressions ---------------------------------------------------------------------------------------------


def _tree(starts: Sequence[float], beyond: Callable[[float], Any], leaf: Callable[[int], Any]) -> Any:
    """Return the expression of the leaf whose number is how many of the starts the score lies beyond."""

    def between(low: int, high: int) -> Any:
        if low == high:
            return leaf(low)
        middle = (low + high) // 2
        return nw.when(beyond(starts[middle])).then(between(middle + 1, high)).otherwise(between(low, middle))

    return between(0, len(starts))


def _gap(cuts: Floats, score: str = "score") -> Any:
    """Return the expression of the gap of a score between ascending cuts: a tree of comparisons."""
    return _tree(cuts.tolist(), nw.col(score).__gt__, lambda gap: nw.lit(gap, nw.Int64))


def _cell(grid: Grid) -> Any:
    """Return the expression of the cell of a score, the same arithmetic as `Grid.cells`."""
    score = nw.col("score")

    def within(segment: int) -> Any:
        last = float(grid.first[segment + 1] - grid.first[segment] - 1)
        cells = ((score - float(grid.low[segment])) * float(grid.scale[segment])).clip(0.0, last)
        whole = cells - cells % 1.0  # exact; a cast alone would round in some engines
        return whole.cast(nw.Int64) + int(grid.first[segment])

    inner = _tree(grid.low[1:].tolist(), score.__ge__, within)
    upper = nw.when(score == np.inf).then(nw.lit(grid.size - 1, nw.Int64)).otherwise(inner)
    return nw.when(score == -np.inf).then(nw.lit(0, nw.Int64)).otherwise(upper)


def _ranges(grid: Grid, keep: NDArray[np.bool_]) -> Floats:
    """Return cuts between which, in every other gap from the first, lie the scores of the cells to keep.

    Of many ranges those next to each other are joined, so a few more scores than wanted may lie inside.
    """
    cells = np.flatnonzero(joined_runs(keep, RANGES))
    starts = cells[np.append(True, np.diff(cells) > 1)]
    ends = cells[np.append(np.diff(cells) > 1, True)] + 1
    largest = np.finfo(np.float64).max
    low = grid.lowest(starts)
    high = np.where(ends < grid.size - 1, grid.lowest(np.minimum(ends, grid.size - 2)), np.inf)
    with np.errstate(over="ignore"):
        cuts = np.column_stack([np.nextafter(low, -np.inf), np.nextafter(high, -np.inf)]).ravel()
    return np.asarray(np.minimum(cuts, largest))
