"""The questions answered by one grouping each, written once through narwhals: for Spark, and any lazy frame it knows.

Everything is computed where the table is; only counts, and the scores of a few cells, come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import match_columns, unmasked
from priori.base.errors import InputError, PrioriError
from priori.base.types import Floats
from priori.engines.cells import Distinct, Histogram, merged
from priori.engines.engine import Engine, Settings, Survey, Tally, TooMany
from priori.engines.grid import Grid, joined_runs
from priori.scores import Names, Scores, Trials, nan_error
from priori.scores.labels import normal, positive_value

Columns = dict[str, NDArray[Any]]

#: Scores looked at to lay out the cells.
SAMPLE = 1 << 16
#: The most ranges that one expression tells apart: Java leaves longer ones uncompiled, which costs five times as much.
RANGES = 16
#: Up to so many cells are fetched by their numbers; of more, whole ranges are.
LISTED = 1 << 12


class _Classes(NamedTuple):
    """What one scan tells of the table as a whole."""

    matching: list[Any]
    rows: int
    missing: int
    limits: tuple[float, float]


class Lazy(Engine):
    """Answers from a narwhals lazy frame with columns score and label, and perhaps user and trial."""

    segments = RANGES

    def __init__(self, frame: Any, settings: Settings, *, source: str = "frame") -> None:
        import narwhals as nw

        self.frame = nw.from_native(frame) if not isinstance(frame, nw.LazyFrame) else frame
        self.settings = settings
        self.source = source
        self.schema = self.frame.collect_schema()
        self.columns = match_columns(self.schema.names(), settings.columns, source=source)
        self.has_users = "user" in self.columns
        self.has_probes = "probe_user" in self.columns
        self.has_trials = "trial" in self.columns
        if not self.schema[self.columns["score"]].is_numeric():
            kind = self.schema[self.columns["score"]]
            raise InputError(f"{source}: the scores in column {self.columns['score']!r} must be numbers, not {kind}")

    # -- the columns -------------------------------------------------------------------------------------

    @cached_property
    def _raw_score(self) -> Any:
        import narwhals as nw

        score = nw.col(self.columns["score"]).cast(nw.Float64)
        return score * -1.0 if self.settings.lower_is_better else score

    @cached_property
    def _missing(self) -> Any:
        return self._raw_score.is_null() | self._raw_score.is_nan()

    @cached_property
    def _classes(self) -> _Classes:
        """Look at every label, and at the range of the scores: one scan."""
        import narwhals as nw

        if "label" in self.columns:
            label = nw.col(self.columns["label"])
        else:
            label = self._text("user") == self._text("probe_user")
        finite = (~self._missing) & (self._raw_score > -np.inf) & (self._raw_score < np.inf)
        only_finite = nw.when(finite).then(self._raw_score)
        found = self.collect(
            self.frame.select(
                label.alias("label"), only_finite.alias("score"), self._missing.cast(nw.Int64).alias("missing")
            )
            .group_by("label")
            .agg(
                nw.len().alias("rows"),
                nw.col("missing").sum(),
                nw.col("score").min().alias("low"),
                nw.col("score").max().alias("high"),
            )
        )
        values = found["label"].tolist()
        rows = [int(number) for number in found["rows"]]
        empty = [value is None or value != value for value in values]
        if any(empty):
            number = sum(rows[place] for place, lacks in enumerate(empty) if lacks)
            raise InputError(f"{self.source}: {number} labels are missing; every trial needs one")
        chosen = normal(positive_value(sorted(values), self.settings.pos_label, where=self.source))
        missing = sum(int(number) for number in found["missing"])
        if missing and self.settings.nan == "error":
            raise nan_error(self.source, missing)
        low, high = (found[name].astype(np.float64) for name in ("low", "high"))
        return _Classes(
            [value for value in values if normal(value) == chosen],
            sum(rows),
            missing,
            (float(np.nanmin(low, initial=np.inf)), float(np.nanmax(high, initial=-np.inf))),
        )

    def _text(self, role: str) -> Any:
        import narwhals as nw

        return nw.col(self.columns[role]).cast(nw.String)

    @cached_property
    def trials(self) -> Any:
        """The frame with columns score (no NaN), positive (0 or 1), user and trial where there are."""
        import narwhals as nw

        frame = self.frame.filter(~self._missing) if self.settings.nan == "drop" else self.frame
        score = nw.when(self._missing).then(-np.inf).otherwise(self._raw_score)
        if "label" in self.columns:
            label = nw.col(self.columns["label"])
            (positive, *more) = (label == value for value in self._classes.matching)
            for other in more:
                positive = positive | other
        else:
            positive = self._text("user") == self._text("probe_user")
            positive = positive if self._classes.matching == [True] else ~positive
        columns = [score.alias("score"), positive.cast(nw.Int64).alias("positive")]
        if self.has_users:
            columns.append(nw.col(self.columns["user"]).alias("user"))
        if self.has_probes:
            columns.append(nw.col(self.columns["probe_user"]).alias("probe_user"))
        if self.has_trials:
            columns.append(self._text("trial").alias("trial"))
        if "dataset" in self.columns:
            columns.append(self._text("dataset").alias("dataset"))
        return frame.select(*columns)

    # -- asking ------------------------------------------------------------------------------------------

    def collect(self, frame: Any) -> Columns:
        """Return the columns of a small result."""
        with self.guarded():
            if frame.implementation.is_duckdb():
                found = {name: unmasked(column) for name, column in frame.to_native().fetchnumpy().items()}
            else:
                eager = frame.collect()
                found = {name: eager[name].to_numpy() for name in eager.columns}
        if self.progress is not None:
            self.progress(1, 1)
        return found

    @contextmanager
    def guarded(self) -> Iterator[None]:
        """Turn the errors of whatever runs the query into ours."""
        try:
            yield
        except PrioriError:
            raise
        except Exception as error:
            kind = str(self.frame.implementation)
            reason = (str(error).strip() or type(error).__name__).partition("\n")[0]
            raise InputError(f"{self.source}: {kind} could not read the scores ({reason[:300]})") from None

    def survey(self) -> Survey:
        rows, limits = self._classes.rows, self._classes.limits
        sample = self.collect(self.trials.select("score").head(SAMPLE))["score"].astype(np.float64)
        return Survey(rows, sample[np.isfinite(sample)], limits if limits[0] <= limits[1] else None)

    def histogram(self, grid: Grid) -> Histogram:
        import narwhals as nw

        cells = self.trials.select(_cell(grid).alias("cell"), nw.col("positive"))
        found = self.collect(cells.group_by("cell", "positive").agg(nw.len().alias("rows")))
        counts = np.zeros((2, grid.size), dtype=np.int64)
        np.add.at(counts, (_whole(found["positive"]), _whole(found["cell"])), _whole(found["rows"]))
        missing = self._classes.missing if self.settings.nan == "reject" else 0
        return Histogram(grid, counts[0], counts[1], self._classes.limits, missing)

    def fetch(self, grid: Grid, keep: NDArray[np.bool_], limit: int | None) -> Distinct:
        import narwhals as nw

        inside = _gap(_ranges(grid, keep)) % 2 == 1
        cells = np.flatnonzero(keep)
        if cells.size <= LISTED:
            inside = inside & _cell(grid).is_in(cells.tolist())
        positive = nw.col("positive")
        grouped = (
            self.trials.select("score", "positive")
            .filter(inside)
            .group_by("score")
            .agg(nw.len().alias("rows"), positive.sum().alias("positives"))
        )
        found = self.collect(grouped if limit is None else grouped.head(limit + 1))
        value = found["score"].astype(np.float64)
        if limit is not None and value.size > limit:
            raise TooMany
        positives, rows = _whole(found["positives"]), _whole(found["rows"])
        wanted = keep[grid.cells(value)]
        return merged([Distinct(value[wanted], (rows - positives)[wanted], positives[wanted])])

    def users(self) -> Names:
        return self._names

    @cached_property
    def _names(self) -> Names:
        seen = self.collect(self.trials.select("user").unique())["user"]
        if any(name is None or name != name for name in seen.tolist()):
            raise InputError(f"{self.source}: values of column {self.columns['user']!r} are missing")
        return Names(np.unique(self._as_names(seen)))

    def _as_names(self, column: NDArray[Any]) -> NDArray[Any]:
        if column.dtype.kind in "iu" and not self.settings.as_text:
            return column.astype(np.int64)
        return np.array([str(name) for name in column.tolist()], dtype=str)

    def tally(self, cuts: Floats, *, by_user: bool = False) -> tuple[Tally, Tally]:
        import narwhals as nw

        keys = ["gap", "positive", *(["user"] if by_user else [])]
        columns = [_gap(cuts).alias("gap"), *(nw.col(key) for key in keys[1:])]
        found = self.collect(self.trials.select(*columns).group_by(*keys).agg(nw.len().alias("rows")))
        return self._tallies(found, [_whole(found["gap"])], by_user)

    def tally_pairs(self, other: Engine, cuts: tuple[Floats, Floats], *, by_user: bool = False) -> tuple[Tally, Tally]:
        import narwhals as nw

        right = self._to_join(other)
        mine = ["trial", "positive", *(["user"] if by_user else [])]
        left = self.trials.select(*(nw.col(name) for name in mine), _gap(cuts[0]).alias("gap"))
        theirs = right.trials.select(
            nw.col("trial"), nw.col("positive").alias("positive_b"), _gap(cuts[1]).alias("gap_b")
        )
        keys = [*mine[1:], "gap", "positive_b", "gap_b"]
        joined = left.join(theirs, on="trial", how="inner").select(*keys)
        found = self.collect(joined.group_by(*keys).agg(nw.len().alias("rows")))
        rows = _whole(found["rows"])
        differing = rows[_whole(found["positive"]) != _whole(found["positive_b"])]
        self._check_paired(right, int(rows.sum()), int(differing.sum()))
        return self._tallies(found, [_whole(found["gap"]), _whole(found["gap_b"])], by_user)

    def same_trials(self, other: Engine) -> bool:
        import narwhals as nw

        right = self._to_join(other)
        with_users = self.has_users and right.has_users
        user = nw.col("user").cast(nw.String) if with_users else nw.lit("")
        sides = [
            one.trials.select(
                nw.col("trial"), nw.col("positive").alias(f"positive{ending}"), user.alias(f"user{ending}")
            )
            for one, ending in ((self, ""), (right, "_b"))
        ]
        joined = sides[0].join(sides[1], on="trial", how="inner")
        found = self.collect(
            joined.select(
                (nw.col("positive") != nw.col("positive_b")).cast(nw.Int64).alias("labels"),
                nw.when(nw.col("user") == nw.col("user_b"))
                .then(0)
                .otherwise(1)
                .alias("users"),  # a missing one differs
            )
            .group_by("labels", "users")
            .agg(nw.len().alias("rows"))
        )
        rows, labels, users = (_whole(found[name]) for name in ("rows", "labels", "users"))
        self._check_paired(right, int(rows.sum()), int(rows[labels != 0].sum()))
        return with_users and not users.any()

    def _to_join(self, other: Engine) -> Lazy:
        """Return the other side of a join, if it can be one."""
        if not isinstance(other, Lazy) or other.frame.implementation != self.frame.implementation:
            raise InputError(
                f"cannot pair the trials of {self.source} and {other.source}: both must come from the same engine"
            )
        for one in (self, other):
            one.check_ids()
        return other

    def _check_paired(self, other: Lazy, rows: int, differing: int) -> None:
        """Raise an error unless so many paired rows, so many of them of different labels, are all there should be."""
        sizes = [one.left_in for one in (self, other)]
        if not rows == sizes[0] == sizes[1]:
            raise InputError(
                f"cannot pair the trials: {self.source} has {sizes[0]}, {other.source} has {sizes[1]}, and "
                f"{rows} ids are in both; for test sets that do not hold the same trials, compare them "
                "unpaired (--unpaired, unpaired=True)"
            )
        if differing:
            raise InputError(
                f"cannot pair the trials: {differing} have different labels in {self.source} and {other.source}"
            )

    def load(self) -> Scores:
        found = self.collect(self.trials)
        user, probe = (self._as_names(found[name]) if name in found else None for name in ("user", "probe_user"))
        users, (codes, probes) = Names.encode(user, probe)
        datasets, (dataset,) = Names.encode(found["dataset"].astype(str) if "dataset" in found else None)
        trial = found["trial"].astype(str) if self.has_trials else None
        scores = Scores.from_columns(
            Trials(found["score"].astype(np.float64), codes, probes, trial, dataset),
            found["positive"] == 1,
            users=users,
            datasets=datasets,
            source=self.source,
        )
        return replace(scores, nan_rejected=self._classes.missing) if self.settings.nan == "reject" else scores

    @property
    def left_in(self) -> int:
        """The trials that NaN does not leave out."""
        return self._classes.rows - (self._classes.missing if self.settings.nan == "drop" else 0)

    def check_ids(self) -> None:
        """Raise an error unless every trial has an id of its own."""
        import narwhals as nw

        if not self.has_trials:
            raise InputError(
                f"cannot pair the trials: {self.source} has no trial ids, and the rows of a table have no order; "
                "give a trial column (--column trial=NAME, columns={'trial': NAME}), or compare unpaired "
                "(--unpaired, unpaired=True)"
            )
        counted = self.trials.group_by("trial").agg(nw.len().alias("rows"))
        odd = self.collect(counted.filter((nw.col("rows") > 1) | nw.col("trial").is_null()).head(1))
        if odd["trial"].size:
            raise InputError(
                f"cannot pair the trials: {self.source} has the trial id {str(odd['trial'][0])!r} "
                f"{int(odd['rows'][0])} times; an id must name one trial"
            )

    def _tallies(self, found: Columns, gaps: Sequence[NDArray[np.int64]], by_user: bool) -> tuple[Tally, Tally]:
        user = np.searchsorted(self._names.values, self._as_names(found["user"])) if by_user else None
        rows, positive = _whole(found["rows"]), _whole(found["positive"])
        tallies = []
        for own in (0, 1):
            index = np.flatnonzero(positive == own)
            keys = [gap[index] for gap in reversed(gaps)] + ([] if user is None else [user[index]])
            index = index[np.lexsort(keys)]
            tallies.append(
                Tally(np.stack([gap[index] for gap in gaps]), None if user is None else user[index], rows[index])
            )
        return tallies[0], tallies[1]


def _whole(column: NDArray[Any]) -> NDArray[np.int64]:
    """Return counts as whole numbers: a database may give them as decimals, or as floats where none is missing."""
    return (
        np.array([int(number) for number in column], dtype=np.int64)
        if column.dtype.kind == "O"
        else column.astype(np.int64)
    )


# -- expressions ---------------------------------------------------------------------------------------------


def _gap(cuts: Floats) -> Any:
    """Return the expression of the gap of a score between ascending cuts: a tree of comparisons."""
    import narwhals as nw

    score = nw.col("score")

    def tree(low: int, high: int) -> Any:
        if low == high:
            return nw.lit(low, nw.Int64)
        middle = (low + high) // 2
        return nw.when(score > float(cuts[middle])).then(tree(middle + 1, high)).otherwise(tree(low, middle))

    return tree(0, cuts.size)


def _cell(grid: Grid) -> Any:
    """Return the expression of the cell of a score, the same arithmetic as `Grid.cells`."""
    import narwhals as nw

    score = nw.col("score")

    def within(segment: int) -> Any:
        last = float(grid.first[segment + 1] - grid.first[segment] - 1)
        place = ((score - float(grid.low[segment])) * float(grid.scale[segment])).clip(0.0, last)
        whole = place - place % 1.0  # exact; a cast alone would round in some engines
        return whole.cast(nw.Int64) + int(grid.first[segment])

    def tree(low: int, high: int) -> Any:
        if low + 1 == high:
            return within(low)
        middle = (low + high) // 2
        return nw.when(score >= float(grid.low[middle])).then(tree(middle, high)).otherwise(tree(low, middle))

    inner = tree(0, grid.low.size)
    upper = nw.when(score == np.inf).then(nw.lit(grid.size - 1, nw.Int64)).otherwise(inner)
    return nw.when(score == -np.inf).then(nw.lit(0, nw.Int64)).otherwise(upper)


def _ranges(grid: Grid, keep: NDArray[np.bool_]) -> Floats:
    """Return cuts between which, in every other gap from the first, lie the scores of the cells to keep.

    Of many ranges those next to each other are joined, so a few more scores than wanted may lie inside.
    """
    kept = np.flatnonzero(joined_runs(keep, RANGES))
    starts = kept[np.append(True, np.diff(kept) > 1)]
    ends = kept[np.append(np.diff(kept) > 1, True)] + 1
    largest = np.finfo(np.float64).max
    low = grid.lowest(starts)
    high = np.where(ends < grid.size - 1, grid.lowest(np.minimum(ends, grid.size - 2)), np.inf)
    with np.errstate(over="ignore"):
        cuts = np.column_stack([np.nextafter(low, -np.inf), np.nextafter(high, -np.inf)]).ravel()
    return np.asarray(np.minimum(cuts, largest))
