"""Many small curves at once: the Expected Performance Curve of each user, group or data set, in a few passes.

A curve of a hundred scores costs its overhead, not its arithmetic. So the hulls of all groups are made together: the
candidates of all groups stand one after the other, and whatever a pass does to neighbours it does within groups only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.alphas import as_fractions, grid
from priori.base.errors import InputError, OptionError, unknown
from priori.base.layouts import CAUTIONS, SIZE, TEXT, TEXTS, Layout, choice, of
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Codes, Counts, Floats, Index, Mask
from priori.decisions.criteria import Criterion, get_criterion
from priori.decisions.hull import NEAR
from priori.decisions.measure import Measure
from priori.decisions.measures import get_measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task, get_task
from priori.scores import BOUND, Scores, Trials, condense_all
from priori.scores.candidates import thresholds_between
from priori.scores.inputs import as_score_set

By = Literal["user", "dataset", "group"]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedEPC(Result):
    """The curves of many groups at the same alphas. Made by `epc_by`.

    Attributes
    ----------
    group, alpha : ndarray
        A row is a group at an alpha.
    threshold : ndarray
        The threshold chosen on the group's own development trials.
    fp, fn, negatives, positives : ndarray
        What was counted on its test trials.
    v1, v2, value, best : ndarray
        As in `priori.EPC`.
    skipped : tuple of str
        Groups left out because one of their sets lacks trials of a class.
    """

    group: NDArray[Any]
    alpha: Floats
    threshold: Floats
    fp: Counts
    fn: Counts
    negatives: Counts
    positives: Counts
    v1: Floats
    v2: Floats
    value: Floats
    best: Floats
    by: str
    task: str
    criterion: str
    measure: str
    points: int
    skipped: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "Expected Performance Curves of many groups: one row per group and alpha.",
        {"group": "text", **of("number", "alpha threshold"), **of("integer", "fp fn negatives positives")}
        | of("number", "v1 v2 value best"),
        {"by": choice("user", "dataset", "group"), **of(TEXT, "task criterion measure"), "points": SIZE}
        | {"skipped": TEXTS, "warnings": CAUTIONS},
        descriptions={
            "by": "Whose curves they are.",
            "fn": "False negatives on the test set.",
            "fp": "False positives on the test set.",
            "points": "How many alphas each curve has.",
            "skipped": "Groups left out because a set lacks trials of a class.",
        },
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        return super()._from_parts(saved, **saved.values("points"), **known)

    @property
    def names(self) -> NDArray[Any]:
        """The groups, in the order of the rows."""
        return self.group[:: self.points]

    def grid(self, column: str) -> NDArray[Any]:
        """Return a column as a table: a row for each group, a column for each alpha."""
        return np.asarray(getattr(self, column)).reshape(-1, self.points)

    def interval(self, confidence_level: float = 0.95) -> tuple[Floats, Floats]:
        """Return an interval of each value at its threshold as it is, a group's trials taken for independent.

        Of the two rates it is Wilson's; of weighted sums of both (HTER, WER) it comes from those of both (G. Zou and A.
        Donner, Statistics in Medicine 27, 2008). Other measures have none here: see `priori.EPC.band`.
        """
        from priori.uncertainty.proportions import check_level, quantile, wilson

        z = quantile(check_level(confidence_level))
        weights: dict[str, tuple[Any, Any]] = {"far": (1.0, 0.0), "frr": (0.0, 1.0), "hter": (0.5, 0.5)}
        weights["wer"] = self.alpha, 1 - self.alpha
        if self.measure not in weights:
            raise OptionError(f"the measure {self.measure!r} has no interval here; choose one of: {', '.join(weights)}")
        below: Any = 0.0
        above: Any = 0.0
        for weight, errors, trials in zip(
            weights[self.measure], (self.fp, self.fn), (self.negatives, self.positives), strict=True
        ):
            x, n = errors.astype(np.float64), trials.astype(np.float64)
            lower, upper = wilson(x, n, z)
            below, above = below + (weight * (x / n - lower)) ** 2, above + (weight * (upper - x / n)) ** 2
        return self.value - np.sqrt(below), self.value + np.sqrt(above)


def epc_by(
    dev: Any,
    test: Any,
    *,
    by: By = "user",
    thresholds: Literal["own", "common"] = "own",
    task: str | Task = "authentication",
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    measure: str | Measure | Callable[[Outcomes], Any] | None = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
) -> GroupedEPC:
    """Compute the Expected Performance Curve of each user, group or data set: the same numbers as `epc`, much sooner.

    Parameters
    ----------
    dev, test : Scores or frame
        The development and the test set of all groups together.
    by : {"user", "dataset", "group"}
        Whose curves.
    thresholds : {"own", "common"}
        Chosen on each group's own development trials, groups being those that both sets have; or one threshold for all,
        chosen on the whole development set and judged by group of the test set.
    task, criterion, measure, points, bounds, alpha
        As in `epc`. Curves of the criterion ``wer`` are made together; those of others one by one.

    Examples
    --------
    >>> import priori
    >>> from priori.studies.simulation import population
    >>> dev, test = (population(50, 9, 20, rng=seed) for seed in (1, 2))
    >>> curves = priori.epc_by(dev, test, alpha=[0.2, 0.5])
    >>> curves.names.size
    50
    >>> curves.grid("value").mean(axis=0).round(3).tolist()
    [0.137, 0.138]
    """
    if by not in get_args(By):
        raise unknown("kind of group", by, get_args(By))
    sets = [known for known, _ in condense_all([as_score_set(each) for each in (dev, test)], (by,), narrow=BOUND)]
    if thresholds not in ("own", "common"):
        raise unknown("choice of thresholds", thresholds, ("own", "common"))
    domain = get_task(task)
    chosen_by = get_criterion(criterion, domain)
    aggregate = get_measure(domain.aggregate if measure is None else measure)
    fractions = as_fractions(alpha) if alpha is not None else grid(points, bounds)
    names, parts, skipped = _matched(sets, by, thresholds)
    alphas = np.array([float(fraction) for fraction in fractions])
    choices = [_Choices.of(part, chosen_by, fractions) for part in parts]
    best = choices[1].outcomes[choices[1].chosen]
    if thresholds == "common":
        choices[0] = choices[0].for_all(len(names))
    chosen, counted = choices[0].judged(parts[1])
    rows = np.tile(alphas, len(names))
    return GroupedEPC(
        group=np.repeat(np.array(names), alphas.size), alpha=rows, threshold=chosen, fp=counted.fp, fn=counted.fn,
        negatives=counted.negatives, positives=counted.positives, v1=domain.v1(counted), v2=domain.v2(counted),
        value=aggregate(counted, rows), best=aggregate(best, rows), by=by, task=domain.name, criterion=chosen_by.name,
        measure=aggregate.name, points=alphas.size, skipped=tuple(skipped),
    )._came_from(sets[1])  # fmt: skip


# -- the trials of all groups --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Trials:
    """The trials of both classes in the order of their groups, and of their scores within each.

    ``number`` is how many trials each entry stands for (None: one).
    """

    score: Floats
    group: Codes
    positive: Mask
    groups: int
    number: Counts | None

    @classmethod
    def of(cls, scores: Scores, codes: Sequence[Codes], groups: int) -> _Trials:
        """Sort the trials of groups; a negative code leaves a trial out."""
        score = np.concatenate([scores.negative.score, scores.positive.score])
        group = np.concatenate(codes)
        positive = np.repeat([False, True], [scores.negative.score.size, scores.positive.score.size])
        numbers = scores.negative.number, scores.positive.number
        number = None if numbers[0] is None or numbers[1] is None else np.concatenate([numbers[0], numbers[1]])
        if group.min(initial=0) < 0:
            kept = group >= 0
            score, group, positive = score[kept], group[kept], positive[kept]
            number = None if number is None else number[kept]
        order = np.argsort(score)  # equal scores of a group are counted together, in any order
        narrow = group[order].astype(np.uint16) if groups < 1 << 16 else group[order]  # a radix sort, where it can be
        order = order[np.argsort(narrow, kind="stable")]
        return cls(score[order], group[order], positive[order], groups, None if number is None else number[order])

    @cached_property
    def starts(self) -> Index:
        """Where the trials of each group begin, and the end of the last."""
        return np.searchsorted(self.group, np.arange(self.groups + 1))

    @cached_property
    def positives_before(self) -> Counts:
        """How many positives stand before each trial, and in all."""
        return np.append(0, np.cumsum(self.positive if self.number is None else self.positive * self.number))

    @cached_property
    def negatives_before(self) -> Counts:
        """How many negatives stand before each trial, and in all."""
        trials = np.arange(self.score.size + 1) if self.number is None else np.append(0, np.cumsum(self.number))
        return np.asarray(trials - self.positives_before)

    @cached_property
    def positives(self) -> Counts:
        """The positives of each group."""
        return np.diff(self.positives_before[self.starts])

    @cached_property
    def negatives(self) -> Counts:
        """The negatives of each group."""
        return np.diff(self.negatives_before[self.starts])

    def outcomes(self, owner: Index, reach: Index) -> Outcomes:
        """Return the outcomes of groups (``owner``) that reject their trials that stand before ``reach``."""
        first = self.starts[owner]
        fn = self.positives_before[reach] - self.positives_before[first]
        tn = self.negatives_before[reach] - self.negatives_before[first]
        return Outcomes(tp=self.positives[owner] - fn, fp=self.negatives[owner] - tn, tn=tn, fn=fn)

    def count(self, owner: Index, thresholds: Floats) -> Outcomes:
        """Count the outcomes of groups (``owner``) at thresholds, by bisection in all groups at the same time."""
        low, high = self.starts[owner], self.starts[owner + 1]
        for _ in range(int(np.diff(self.starts).max()).bit_length()):
            middle = np.minimum((low + high) // 2, self.score.size - 1)
            rejected = (low < high) & (self.score[middle] <= thresholds)
            low, high = np.where(rejected, middle + 1, low), np.where(rejected | (low >= high), high, middle)
        return self.outcomes(owner, low)

    def each(self) -> list[Scores]:
        """Return the groups one by one."""
        whole = Trials(self.score, number=self.number)
        parts = zip(np.split(np.arange(self.score.size), self.starts[1:-1]), strict=True)
        return [
            Scores(whole.take(index[~self.positive[index]]), whole.take(index[self.positive[index]]))
            for (index,) in parts
        ]


def _matched(sets: Sequence[Scores], by: By, thresholds: str) -> tuple[list[str], list[_Trials], list[str]]:
    """Return the names of the groups that have all that they need, the trials of both sets, and who is left out."""
    grouped = [_Named.of(scores, by) for scores in (sets if thresholds == "own" else sets[1:])]
    seen = dict.fromkeys(name for named in grouped for name in named.names)
    names = sorted(set.intersection(*(named.complete for named in grouped)))
    if not names:
        raise InputError(
            f"no {by} has trials of both classes in both sets; with other people in the test set, choose one "
            "threshold for all (thresholds='common')"
        )
    parts = [named.trials(scores, names) for scores, named in zip(sets[-len(grouped) :], grouped, strict=True)]
    if thresholds == "common":
        whole = [np.zeros(trials.score.size, dtype=np.int32) for trials in (sets[0].negative, sets[0].positive)]
        parts.insert(0, _Trials.of(sets[0], whole, 1))
    kept = set(names)
    return names, parts, [name for name in seen if name not in kept]


@dataclass(frozen=True, eq=False)
class _Named:
    """The group of each trial of either class as a code, what codes stand for, and who has trials of both classes."""

    codes: tuple[Codes, Codes]
    values: list[str]
    names: list[str]
    complete: set[str]

    @classmethod
    def of(cls, scores: Scores, by: By) -> _Named:
        named = {"user": scores.users, "dataset": scores.datasets, "group": scores.groups}
        names, negative, positive = named[by], getattr(scores.negative, by), getattr(scores.positive, by)
        if names is None or negative is None or positive is None:
            raise InputError(f"{scores.source}: there is no column {by!r} to split by")
        values = [str(name) for name in names.values.tolist()]
        some = np.stack([np.bincount(codes, minlength=len(values)) > 0 for codes in (negative, positive)])
        present, complete = ([values[code] for code in np.flatnonzero(mask)] for mask in (some.any(0), some.all(0)))
        return cls((negative, positive), values, present, set(complete))

    def trials(self, scores: Scores, names: Sequence[str]) -> _Trials:
        """Return the trials of these groups, in their order."""
        place = {name: number for number, name in enumerate(names)}
        table = np.array([place.get(value, -1) for value in self.values], dtype=np.int32)
        return _Trials.of(scores, [table[codes] for codes in self.codes], len(names))


# -- the thresholds of all groups ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Choices:
    """Thresholds of groups and their outcomes, and which of them is chosen: group by group, alpha by alpha."""

    threshold: Floats
    group: Index
    outcomes: Outcomes
    chosen: Index

    @classmethod
    def of(cls, trials: _Trials, criterion: Criterion, alphas: Sequence[Fraction]) -> _Choices:
        """Choose the thresholds of all groups."""
        if criterion.name == "wer":
            hulls = _Hulls.of(trials)
            return cls(hulls.threshold, hulls.group, hulls.outcomes, hulls.choose(alphas))
        each = [criterion.choose(scores, alphas) for scores in trials.each()]
        group = np.repeat(np.arange(trials.groups), len(alphas))
        threshold = np.concatenate([choice.threshold for choice in each])
        return cls(threshold, group, trials.count(group, threshold), np.arange(group.size))

    def for_all(self, groups: int) -> _Choices:
        """Return the choices of one set as those of so many groups."""
        size = self.threshold.size
        chosen = (np.arange(groups)[:, None] * size + self.chosen).ravel()
        return _Choices(np.tile(self.threshold, groups), np.repeat(np.arange(groups), size), self.outcomes, chosen)

    def judged(self, test: _Trials) -> tuple[Floats, Outcomes]:
        """Return the chosen thresholds, and what they give on the test trials."""
        return self.threshold[self.chosen], test.count(self.group, self.threshold)[self.chosen]


@dataclass(frozen=True, eq=False)
class _Hulls:
    """The vertices of the groups' lower hulls of errors, group after group, thresholds rising within each."""

    outcomes: Outcomes
    threshold: Floats
    group: Index
    groups: int

    @classmethod
    def of(cls, trials: _Trials) -> _Hulls:
        """Find the vertices of all groups, as `priori.decisions.hull` finds those of one."""
        score, group, starts = trials.score, trials.group.astype(np.intp), trials.starts
        ends = np.flatnonzero(np.append((score[1:] != score[:-1]) | (group[1:] != group[:-1]), True))
        # A candidate rejects all up to the last of equal scores; one more of each group rejects nothing.
        accepting = starts[:-1][score[starts[:-1]] > -np.inf]
        place = np.searchsorted(ends, accepting)
        reach = np.insert(ends + 1, place, accepting)
        below = np.insert(score[ends], place, -np.inf)
        owner = np.insert(group[ends], place, group[accepting])
        positives, negatives = trials.positives_before, trials.negatives_before
        fn = positives[reach] - positives[starts[:-1]][owner]
        fp = negatives[starts[1:]][owner] - negatives[reach]
        kept = _vertices(fp, fn, owner)
        after = np.minimum(kept + 1, owner.size - 1)
        last = (after == kept) | (owner[after] != owner[kept])
        threshold = thresholds_between(below[kept], np.where(last, np.inf, below[after]), last)
        return cls(trials.outcomes(owner[kept], reach[kept]), threshold, owner[kept], trials.groups)

    def choose(self, alphas: Sequence[Fraction]) -> Index:
        """Return the vertex that each group chooses at each alpha; ties as in `priori.decisions.hull.Envelope`."""
        edge = np.flatnonzero(self.group[1:] == self.group[:-1])
        before, after = self.outcomes[edge], self.outcomes[edge + 1]
        rise, fall = (after.fn - before.fn) * before.negatives, (before.fp - after.fp) * before.positives
        ordered = sorted(set(alphas))
        column = {alpha: number for number, alpha in enumerate(ordered)}
        floats = np.array([float(alpha) for alpha in ordered])
        breaks = rise / (rise + fall).astype(np.float64)
        # From which alpha on a group has left the vertex before each edge.
        leaves = np.searchsorted(floats, breaks - NEAR)
        for place in np.flatnonzero(leaves != np.searchsorted(floats, breaks + NEAR)).tolist():
            alpha, up, down = ordered[leaves[place]], int(rise[place]), int(fall[place])
            side = up * alpha.denominator - alpha.numerator * (up + down)
            leaves[place] += side > 0 or (side == 0 and up >= down)
        columns = len(ordered) + 1
        left = np.bincount(self.group[edge] * columns + leaves, minlength=self.groups * columns)
        first = np.searchsorted(self.group, np.arange(self.groups))
        vertex = first[:, None] + np.cumsum(left.reshape(self.groups, columns), axis=1)
        return np.asarray(vertex[:, [column[alpha] for alpha in alphas]].ravel())


def _vertices(fp: Counts, fn: Counts, group: Index) -> Index:
    """Return the vertices of each group's lower hull: points go, pass after pass, that lie on or above a line."""
    kept = np.arange(fp.size)
    same = group[1:] == group[:-1]
    # Of equal fp the first, of equal fn the last: the others are dominated.
    keep = np.append(True, ~same | (fp[1:] < fp[:-1]))
    kept = kept[keep]
    same = group[kept][1:] == group[kept][:-1]
    kept = kept[np.append(~same | (fn[kept][1:] > fn[kept][:-1]), True)]
    while True:
        x, y, owner = fn[kept], fp[kept], group[kept]
        across, down = np.diff(x), np.diff(y)
        keep = np.ones(kept.size, dtype=np.bool_)
        inner = owner[2:] == owner[:-2]
        keep[1:-1] = ~inner | (across[:-1] * down[1:] > down[:-1] * across[1:])
        if keep.all():
            return np.asarray(kept)
        kept = kept[keep]
