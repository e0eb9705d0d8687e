"""Requests answered by groupings, written once through narwhals: for Spark, and any lazy frame that it knows.

Everything is computed where the panel is; only counts, and the scores of a few bins, come back. What is asked of
several systems at the same time is one grouping: their columns are stacked first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial, reduce
from operator import or_
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from priori.base.dataframes import not_names
from priori.base.errors import InputError, PrioriError
from priori.base.types import Ints
from priori.engines.engine import SAMPLE, By, Count, Counts, Fetch, JoinedRows, Panel, Survey, TableSettings, TooMany
from priori.engines.expressions import RANGES, bin_of, ranges
from priori.readers.duckdb_parser import first_line
from priori.scores import Names, Scores, nan_error
from priori.scores.histogram import Distinct, merged

Columns = dict[str, NDArray[Any]]

#: Up to so many bins are fetched by their numbers; of more, whole ranges are.
LISTED = 1 << 12
#: How the users of a pair of trials compare, where they are not the same.
DIFFERENT, MISSING = 1, 2


class _Classes(NamedTuple):
    """What one scan tells of the panel: how often each label comes; of each system its rows, its NaN, and its range."""

    labels: dict[Any, int]
    rows: list[int]
    missing: list[int]
    limits: list[tuple[float, float]]


def reason_of(error: Exception) -> str:
    """Return the first line of what an engine says, as far as it fits into a message."""
    return first_line(str(error).strip() or type(error).__name__)[:300]


class Lazy(Panel):
    """A panel in a narwhals lazy frame with columns of scores and labels, and perhaps user and trial.

    ``systems`` are what each system is called in messages, and its column of scores; or, where the column ``system_in``
    says whose a row is, its name there.
    """

    segments = RANGES
    finest = 1e-3  # an expression tells cuts apart, and takes long where there are tens of thousands

    def __init__(
        self,
        frame: Any,
        settings: TableSettings,
        *,
        source: str = "frame",
        systems: Sequence[tuple[str, str]] = (),
        system_in: str | None = None,
    ) -> None:
        self.frame = nw.from_native(frame) if not isinstance(frame, nw.LazyFrame) else frame
        # Bytes are text, which not every writer says of its text.
        held = [name for name, kind in self.frame.collect_schema().items() if kind == nw.Binary]
        self.frame = self.frame.with_columns(nw.col(*held).cast(nw.String)) if held else self.frame
        self.schema = self.frame.collect_schema()
        self._match_columns(self.schema.names(), settings, source)
        self.systems = [column for _, column in systems] or [self.columns["score"]]
        self.sources = [name for name, _ in systems] or [source]
        self.system_in, self.wide = system_in, system_in is None
        scores = self.systems if self.wide else []
        for role, title in [*self.columns.items(), *(("score", title) for title in scores)]:
            kind = self.schema[title]
            if role == "score":
                if not kind.is_numeric():
                    raise InputError(f"{source}: the scores in column {title!r} must be numbers, not {kind}")
            elif kind.is_nested() or (kind.is_float() and role != "label"):
                raise not_names(source, title, role, kind)

    # -- the columns -------------------------------------------------------------------------------------

    def _own(self, system: int) -> Any:
        """Whether a row is one of a system."""
        if self.system_in is None:
            return nw.lit(True)
        return nw.col(self.system_in).cast(nw.String) == self.systems[system]

    def _raw_score(self, system: int) -> Any:
        score = nw.col(self.systems[system] if self.wide else self.columns["score"]).cast(nw.Float64)
        return score * -1.0 if self.settings.lower_is_better else score

    def _missing(self, system: int) -> Any:
        score = self._raw_score(system)
        return score.is_null() | ~(score.is_finite() | (score == np.inf) | (score == -np.inf))

    def _score(self, system: int) -> Any:
        """The score, with NaN rejected, or none where NaN is left out."""
        present = nw.when(~self._missing(system)).then(self._raw_score(system))
        return present if self.settings.nan == "drop" else present.otherwise(-np.inf)

    @cached_property
    def _label(self) -> Any:
        if "label" in self.columns:
            return nw.col(self.columns["label"])
        return self._text("user") == self._text("probe_user")

    @cached_property
    def _classes(self) -> _Classes:
        """Look at every label, and at the range of the scores: one scan."""
        systems = range(len(self.systems))
        selected, asked = [self._label.alias("label")], [nw.len().alias("rows")]
        for system in systems:
            own, missing, score = self._own(system), self._missing(system), self._raw_score(system)
            finite = nw.when(own & ~missing & (score > -np.inf) & (score < np.inf)).then(score)
            selected += [finite.alias(f"score{system}"), (own & missing).cast(nw.Int64).alias(f"missing{system}")]
            selected.append(own.cast(nw.Int64).alias(f"own{system}"))
            value = nw.col(f"score{system}")
            asked += [nw.col(f"own{system}").sum(), nw.col(f"missing{system}").sum()]
            asked += [value.min().alias(f"low{system}"), value.max().alias(f"high{system}")]
        told = self.collect(self.frame.select(*selected).group_by("label").agg(*asked))
        labels, rows = told["label"].tolist(), _whole(told["rows"])
        limits = [
            (
                float(np.nanmin(told[f"low{system}"].astype(np.float64), initial=np.inf)),
                float(np.nanmax(told[f"high{system}"].astype(np.float64), initial=-np.inf)),
            )
            for system in systems
        ]
        own, missing = (
            [int(_whole(told[f"{column}{system}"]).sum()) for system in systems] for column in ("own", "missing")
        )
        return _Classes(dict(zip(labels, rows.tolist(), strict=True)), own, missing, limits)

    @cached_property
    def _matching(self) -> list[Any]:
        """The labels that mean the positive class."""
        return self._positive_labels(self._classes.labels)

    def nan(self, system: int = 0) -> int:
        return self._classes.missing[system]

    def _check_nan(self, system: int) -> None:
        if self.settings.nan == "error" and self.nan(system):
            raise nan_error(self.sources[system], self.nan(system))

    def _text(self, role: str) -> Any:
        return nw.col(self.columns[role]).cast(nw.String)

    def look_at_labels(self) -> None:
        _ = self._matching

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

    def trials(self, system: int, *more: int) -> Any:
        """Return the frame with columns score (no NaN), positive (0 or 1), and names where there are.

        With more systems, their scores are score1, score2, ...; where they have rows of their own, a column ``system``
        has their numbers.
        """
        self._check_nan(system)
        frame = self.frame
        if not self.wide:
            frame = frame.filter(reduce(or_, [self._own(each) for each in (system, *more)]))
        if self.settings.nan == "drop" and not (self.wide and more):  # of several columns, each leaves out its own
            frame = frame.filter(~self._missing(system))
        positive = reduce(or_, [self._label == label for label in self._matching])
        columns = [self._score(system).alias("score"), positive.cast(nw.Int64).alias("positive")]
        if self.wide:
            columns += [self._score(other).alias(f"score{number}") for number, other in enumerate(more, 1)]
        elif more:
            whose = [nw.when(self._own(other)).then(nw.lit(f"{number}")) for number, other in enumerate(more, 1)]
            columns.append(reduce(lambda rest, own: own.otherwise(rest), whose, nw.lit("0")).alias("system"))
        columns += [nw.col(self.columns[role]).alias(role) for role in ("user", "probe_user") if role in self.columns]
        columns += [self._text(role).alias(role) for role in ("trial", "dataset", "group") if role in self.columns]
        if self.tells("attack"):
            columns.append(self._attack.alias("attack"))
        if self.settings.nan == "reject":
            columns.append(self._missing(system).cast(nw.Int64).alias("failed"))
        return frame.select(*columns)

    # -- asking ------------------------------------------------------------------------------------------

    def collect(self, frame: Any) -> Columns:
        """Return the columns of a small result."""
        with self.guarded():
            eager = frame.collect()
            columns = {name: eager[name].to_numpy() for name in eager.columns}
        if self.progress is not None:
            self.progress(1, 1)
        return columns

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

    def survey(self, system: int = 0) -> Survey:
        self._check_nan(system)
        _ = self._matching
        sample, limits = self._samples[f"score{system}"].astype(np.float64), self._classes.limits[system]
        return Survey(
            self._classes.rows[system], sample[np.isfinite(sample)], limits if limits[0] <= limits[1] else None
        )

    @cached_property
    def _samples(self) -> Columns:
        systems = range(len(self.systems))
        scores = (nw.when(self._own(system)).then(self._score(system)).alias(f"score{system}") for system in systems)
        return self.collect(self.frame.select(*scores).head(SAMPLE))

    def look_at_names(self, system: int) -> Names:
        seen = self.collect(self.trials(system).select("user").unique())["user"]
        self._check_names("user", seen.tolist())
        return Names(np.unique(self.as_names(seen)))

    def answer(self, requests: Sequence[Count | Fetch]) -> list[Any]:
        answers: dict[int, Any] = {}
        stacked: dict[Any, list[int]] = {}
        for number, request in enumerate(requests):
            plain = isinstance(request, Fetch) or not (request.means or request.failures or len(request.systems) > 1)
            key = (type(request), request.by) if plain else number
            stacked.setdefault(key, []).append(number)
        for key, numbers in stacked.items():
            some: list[Any] = [requests[number] for number in numbers]
            try:
                for request in some:
                    for system in request.systems:
                        self._check_nan(system)
                if isinstance(key, int):
                    found: list[Any] = [self._counted_alone(some[0])]
                else:
                    found = self._fetched(some) if key[0] is Fetch else self._counted(some)
            except Exception as error:  # the answer to each of them
                found = [error] * len(some)
            answers |= dict(zip(numbers, found, strict=True))
        return [answers[number] for number in range(len(requests))]

    # -- counts ------------------------------------------------------------------------------------------

    def _stacked(self, systems: Sequence[int], values: Sequence[Callable[[str], Any]], by: By = ()) -> Any:
        """Return a row for each trial of each system: its number as text, class, names, and the value of its score."""
        names = ["part"] if isinstance(by, int) else [*by]
        if self.wide:
            trials = self._with_parts(by, self.trials(*systems))
            titles = ["score", *(f"score{number}" for number in range(1, len(systems)))]
            columns = [value(title).alias(f"{n}") for n, (value, title) in enumerate(zip(values, titles, strict=True))]
            found = trials.select("positive", *names, *columns).unpivot(
                [f"{n}" for n in range(len(columns))],
                index=["positive", *names],
                variable_name="system",
                value_name="value",
            )
            return found.filter(~nw.col("value").is_null())
        value = reduce(
            lambda rest, each: nw.when(nw.col("system") == f"{each[0]}").then(each[1]("score")).otherwise(rest),
            [*enumerate(values)][1:],
            values[0]("score"),
        )
        trials = self._with_parts(by, self.trials(*systems))
        return trials.select(
            "positive", *names, "system" if len(systems) > 1 else nw.lit("0").alias("system"), value.alias("value")
        )

    def _counted(self, requests: Sequence[Any]) -> list[Any]:
        """Return the counts for requests, each for one system, by one grouping."""
        by: By = requests[0].by
        names = ["part"] if isinstance(by, int) else [*by]
        bins = [partial(bin_of, request.bins[0]) for request in requests]
        stack = self._stacked([request.systems[0] for request in requests], bins, by)
        told = self.collect(stack.group_by("system", "value", "positive", *names).agg(nw.len().alias("rows")))
        answers: list[Any] = []
        for number, request in enumerate(requests):
            own = {name: column[told["system"] == f"{number}"] for name, column in told.items()}
            too_many = request.limit is not None and own["rows"].size > request.limit
            answers.append(TooMany() if too_many else self._counts(request, own, ["value"], names))
        return answers

    def _counted_alone(self, request: Count) -> Counts:
        """Return counts of several systems together, or with mean scores, or with failures apart."""
        trials = self._with_parts(request.by, self.trials(*request.systems))
        names = ["part"] if isinstance(request.by, int) else [*request.by]
        titles = ["score", *(f"score{number}" for number in range(1, len(request.systems)))]
        on = [f"bin{number}" for number in range(len(titles))]
        each = zip(request.bins, titles, on, strict=True)
        keys = ["positive", *names, *on]
        if request.failures and self.settings.nan == "reject" and self.nan(request.systems[0]):
            keys.append("failed")
        # Not the mean of infinite scores: engines differ in what that is.
        finite = nw.when((nw.col("score") > -np.inf) & (nw.col("score") < np.inf)).then(nw.col("score"))
        binned = trials.with_columns(*(bin_of(bins, title).alias(name) for bins, title, name in each))
        asked = [nw.len().alias("rows")]
        if request.means:
            binned = binned.with_columns(finite.alias("finite"))
            asked += [nw.col("finite").mean(), nw.col("score").min(), nw.col("score").max().alias("high")]
        grouped = binned.group_by(*keys).agg(*asked)
        told = self.collect(grouped if request.limit is None else grouped.head(request.limit + 1))
        if request.limit is not None and told["rows"].size > request.limit:
            raise TooMany
        return self._counts(request, told, on, names)

    def _counts(self, request: Count, told: Columns, on: Sequence[str], names: Sequence[str]) -> Counts:
        score = None
        if request.means:
            low, high, mean = (told[name].astype(np.float64) for name in ("score", "high", "finite"))
            # Rounding must not carry a mean over its trials; those of one bin are finite, or the same infinity.
            score = np.where(low == high, low, np.clip(mean, low, high))
        for role in names:
            if role not in ("part", "attack"):
                self._check_names(role, set(told[role].tolist()))
        return Counts(
            _whole(told["positive"]) == 1,
            np.stack([_whole(told[name]) for name in on]),
            {role: told[role] for role in names},
            _whole(told["rows"]),
            score,
            _whole(told["failed"]) == 1 if "failed" in told else None,
            self._classes.limits[request.systems[0]],
        )

    def _with_parts(self, by: By, trials: Any) -> Any:
        """Add the column ``part``, if random parts are asked for."""
        if not isinstance(by, int):
            return trials
        with self.guarded():
            return nw.from_native(self._in_parts(trials.to_native(), by))

    def _in_parts(self, trials: Any, parts: int) -> Any:
        """Add the column ``part``: a hash of what tells trials apart, which every library has its own of."""
        if not self.frame.implementation.is_polars() or "trial" not in self.columns:
            raise self._cannot_pair()
        import polars

        return trials.with_columns(part=(polars.col("trial").hash() % parts).cast(polars.Int64))

    # -- scores ------------------------------------------------------------------------------------------

    def _fetched(self, requests: Sequence[Any]) -> list[Any]:
        """Return the distinct scores for each request, by one grouping."""
        stack = self._stacked([request.system for request in requests], [nw.col] * len(requests))
        inside = None
        for number, request in enumerate(requests):
            bins = np.flatnonzero(request.keep)
            kept = bin_of(ranges(request.grid, request.keep), "value") % 2 == 1
            if bins.size <= LISTED:
                kept = kept & bin_of(request.grid, "value").is_in(bins.tolist())
            kept = kept if len(requests) == 1 else (nw.col("system") == str(number)) & kept
            inside = kept if inside is None else inside | kept
        grouped = (
            stack.filter(inside)
            .group_by("system", "value")
            .agg(nw.len().alias("rows"), nw.col("positive").sum().alias("positives"))
        )
        limits = [request.limit for request in requests]
        told = self.collect(grouped if None in limits else grouped.head(sum(limits) + 1))
        answers: list[Any] = []
        for number, request in enumerate(requests):
            own = told["system"] == str(number)
            value, positives = told["value"][own].astype(np.float64), _whole(told["positives"][own])
            if request.limit is not None and (value.size > request.limit or told["value"].size > sum(limits)):
                answers.append(TooMany())
                continue
            negatives = _whole(told["rows"][own]) - positives
            found = Distinct(value, negatives, positives).take(request.keep[request.grid.bins(value)])
            answers.append(merged([found]))
        return answers

    # -- trials ------------------------------------------------------------------------------------------

    def load(self, system: int = 0) -> Scores:
        columns = self.collect(self.trials(system))
        score, positive = columns.pop("score").astype(np.float64), _whole(columns.pop("positive")) == 1
        failed = _whole(columns.pop("failed")) == 1 if "failed" in columns else None
        for role, column in columns.items():
            if role != "attack":
                self._check_names(role, column.tolist())
        return self.scores_of(system, score, positive, columns, failed=failed if self.nan(system) else None)

    # -- pairs -------------------------------------------------------------------------------------------

    def _join(self, paired: Sequence[tuple[Panel, int]]) -> tuple[Panel, list[JoinedRows]]:
        people = [role for role in ("user", "probe_user") if role in self.columns]
        scores = [f"score{number}" for number in range(len(paired))]
        joined = None
        for (panel, own), score in zip(paired, scores, strict=True):
            kept = ["trial", nw.col("score").alias(score), *(["positive", *people] if joined is None else [])]
            trials = self._alike(panel).trials(own).select(*kept)
            joined = trials if joined is None else joined.join(trials, on="trial", how="inner")
        settings = TableSettings(
            {"score": "score0", "label": "positive", **{role: role for role in people}},
            nan=self.settings.nan,
            as_text=self.settings.as_text,
        )
        named = [(panel.sources[own], score) for (panel, own), score in zip(paired, scores, strict=True)]
        return self._like(joined, settings, named), [self._compare(paired[0], other) for other in paired[1:]]

    def _like(self, frame: Any, settings: TableSettings, systems: Sequence[tuple[str, str]]) -> Lazy:
        """Return a panel of the same kind on another frame."""
        return Lazy(frame, settings, source=self.source, systems=systems)

    def _alike(self, other: Panel) -> Lazy:
        if not isinstance(other, Lazy) or other.frame.implementation != self.frame.implementation:
            raise self._elsewhere(other)
        return other

    def _compare(self, one: tuple[Panel, int], two: tuple[Panel, int]) -> JoinedRows:
        with_users = one[0].has_users and two[0].has_users
        user, positive = nw.col("user").cast(nw.String) if with_users else nw.lit(""), nw.col("positive")
        left, right = (
            self._alike(panel).trials(own).select("trial", positive.alias(f"label{n}"), user.alias(f"user{n}"))
            for n, (panel, own) in enumerate((one, two))
        )
        unknown = nw.col("user0").is_null() | nw.col("user1").is_null()
        differ = nw.when(unknown).then(MISSING).otherwise(DIFFERENT)
        users = nw.when(nw.col("user0") == nw.col("user1")).then(0).otherwise(differ)
        labels = (nw.col("label0") != nw.col("label1")).cast(nw.Int64)
        joined = left.join(right, on="trial", how="inner").select(labels.alias("labels"), users.alias("users"))
        told = self.collect(joined.group_by("labels", "users").agg(nw.len().alias("rows")))
        rows, other_labels, other_users = (_whole(told[name]) for name in ("rows", "labels", "users"))
        parts = other_labels != 0, other_users == DIFFERENT, other_users == MISSING
        return JoinedRows(int(rows.sum()), *(int(rows[part].sum()) for part in parts))

    def _look_at_ids(self, system: int) -> tuple[int, tuple[Any, int] | None]:
        counted = self.trials(system).group_by("trial").agg(nw.len().alias("rows"))
        odd = self.collect(counted.filter((nw.col("rows") > 1) | nw.col("trial").is_null()).head(1))
        found = (odd["trial"][0], int(odd["rows"][0])) if odd["trial"].size else None
        return self._classes.rows[system] - self.left_out(system), found


def _whole(column: NDArray[Any]) -> Ints:
    """Return counts as whole numbers: a database may give them as decimals, or as floats where none is missing."""
    if column.dtype.kind == "O":
        return np.array([int(number) for number in column], dtype=np.int64)
    return column.astype(np.int64)
