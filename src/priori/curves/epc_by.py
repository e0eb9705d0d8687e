"""Many small curves at once: the Expected Performance Curve of each user, group or data set, in a few passes.

A curve of a hundred scores costs its overhead, not its arithmetic. So the hulls of all groups are made together: the
candidates of all groups stand one after the other, and whatever a pass does to neighbours it does within groups only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.declarations import Cautions
from priori.base.errors import InputError, unknown
from priori.base.results import Result
from priori.base.types import Codes, Counts, Floats, Index
from priori.curves.epc import curves_of
from priori.decisions.hull import Ascending, edges_left, hulls_of_errors
from priori.decisions.outcomes import Outcomes
from priori.decisions.recipe import AnyCriterion, AnyMeasure, Recipe
from priori.decisions.tasks import Task
from priori.scores import BOUND, Scores, condense_all
from priori.scores.candidates import first_of_each, thresholds_between
from priori.scores.score_set import as_score_set

By = Literal["user", "dataset", "group"]


@dataclass(frozen=True, eq=False, repr=False)
class GroupedEPC(Result):
    """Expected Performance Curves of many groups: one row per group and alpha. Made by `epc_by`.

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
    by: By
    task: str
    criterion: str
    measure: str
    points: int
    skipped: tuple[str, ...] = ()
    warnings: Cautions = ()

    @property
    def names(self) -> NDArray[Any]:
        """The groups, in the order of the rows."""
        return self.group[:: self.points]

    def grid(self, column: str) -> NDArray[Any]:
        """Return a column as a table: a row for each group, a column for each alpha."""
        return np.asarray(getattr(self, column)).reshape(-1, self.points)


def epc_by(
    dev: Any,
    test: Any,
    *,
    by: By = "user",
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    measure: AnyMeasure = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
) -> GroupedEPC:
    """Compute the Expected Performance Curve of each user, group or data set: the same numbers as `epc`, much sooner.

    Parameters
    ----------
    dev, test : Scores or frame
        The development and the test set of all groups together. Thresholds are chosen on each group's own development
        trials; groups are those that both sets have.
    by : {"user", "dataset", "group"}
        Whose curves.
    task, criterion, measure, points, bounds, alpha
        As in `epc`. Curves of the criterion ``wer`` are made together; those of others one by one.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng, user, label = np.random.default_rng(1), np.arange(50).repeat(30), np.tile([1] * 9 + [0] * 21, 50)
    >>> dev, test = (priori.Scores.from_predictions(label, rng.normal(2.5 * label), user=user) for _ in range(2))
    >>> curves = priori.epc_by(dev, test, alpha=[0.2, 0.5])
    >>> curves.names.size
    50
    >>> curves.grid("value").mean(axis=0).round(3).tolist()
    [0.137, 0.109]
    """
    if by not in get_args(By):
        raise unknown("kind of group", by, get_args(By))
    dev, test = (known for known, _ in condense_all([as_score_set(each) for each in (dev, test)], (by,), narrow=BOUND))
    asked = Recipe.of(task, criterion, measure, points, bounds, alpha)
    names, skipped = _matched(dev, test, by)
    make = _together if asked.criterion.name == "wer" else _one_by_one
    return GroupedEPC(
        **make(dev, test, by, names, asked),
        group=np.repeat(np.array(names), len(asked.fractions)),
        by=by,
        task=asked.task.name,
        criterion=asked.criterion.name,
        measure=asked.measure.name,
        points=len(asked.fractions),
        skipped=skipped,
    )._came_from(test)


def _one_by_one(dev: Scores, test: Scores, by: By, names: Sequence[str], asked: Recipe) -> dict[str, Any]:
    """Return the columns of the curves of groups, each made on its own."""
    devs, tests = dev.by(by), test.by(by)
    curves = curves_of({name: (devs[name], tests[name]) for name in names}, asked)
    outcomes = ("fp", "fn", "negatives", "positives")
    columns = {name: np.concatenate([getattr(curve.outcomes, name) for curve in curves]) for name in outcomes}
    values = ("alpha", "threshold", "v1", "v2", "value", "best")
    return columns | {name: np.concatenate([getattr(curve, name) for curve in curves]) for name in values}


def _together(dev: Scores, test: Scores, by: By, names: Sequence[str], asked: Recipe) -> dict[str, Any]:
    """Return the same where the criterion is ``wer``, from a few passes over all groups."""
    chosen_on, judged = (_Trials.of(scores, by, names) for scores in (dev, test))
    threshold = chosen_on.of_least_cost(asked.fractions)
    counted, best = judged.count(threshold), judged.count(judged.of_least_cost(asked.fractions))
    alpha = np.tile([float(fraction) for fraction in asked.fractions], len(names))
    return {
        "alpha": alpha,
        "threshold": threshold,
        **{name: getattr(counted, name) for name in ("fp", "fn", "negatives", "positives")},
        "v1": asked.task.v1(counted),
        "v2": asked.task.v2(counted),
        "value": asked.measure(counted, alpha),
        "best": asked.measure(best, alpha),
    }


def _matched(dev: Scores, test: Scores, by: By) -> tuple[list[str], tuple[str, ...]]:
    """Return the names of the groups that have all that they need, and of those that are left out."""
    grouped = [_named(scores, by) for scores in (dev, test)]
    kept = set.intersection(*({name for name, complete in named.items() if complete} for named in grouped))
    if not kept:
        raise InputError(
            f"no {by} has trials of both classes in both sets; group_rates and user_rates judge people at one threshold"
        )
    return sorted(kept), tuple(name for name in dict.fromkeys(chain(*grouped)) if name not in kept)


def _named(scores: Scores, by: By) -> dict[str, bool]:
    """Return the groups of a set by name, each with whether it has trials of both classes."""
    names, *codes = _codes(scores, by)
    some = np.stack([np.bincount(each, minlength=len(names)) > 0 for each in codes])
    complete = np.asarray(some.all(axis=0)).tolist()
    return {names[code]: complete[code] for code in np.flatnonzero(some.any(axis=0)).tolist()}


def _codes(scores: Scores, by: By) -> tuple[list[str], Codes, Codes]:
    """Return the names of groups, and the code of each negative and of each positive trial's."""
    names = {"user": scores.users, "dataset": scores.datasets, "group": scores.groups}[by]
    negative, positive = getattr(scores.negative, by), getattr(scores.positive, by)
    if names is None or negative is None or positive is None:
        raise InputError(f"{scores.source}: there is no column {by!r} to split by")
    return [str(name) for name in names.values.tolist()], negative, positive


@dataclass(frozen=True, eq=False)
class _Trials:
    """The trials of a set in the order of their groups, and of their scores within each.

    ``tn`` and ``fn`` are how many negatives and positives stand before each, and in all; ``starts`` where the trials
    of each group begin, and the end of the last.
    """

    score: Floats
    group: Codes
    tn: Counts
    fn: Counts
    starts: Index

    @classmethod
    def of(cls, scores: Scores, by: By, names: Sequence[str]) -> _Trials:
        """Sort the trials of groups; trials of other groups are left out."""
        classes = scores.negative, scores.positive
        score = np.concatenate([trials.score for trials in classes])
        positive = np.repeat([0, 1], [trials.score.size for trials in classes])
        number = np.concatenate([np.ones(t.score.size, np.int64) if t.number is None else t.number for t in classes])
        known, *codes = _codes(scores, by)
        number_of = {name: number for number, name in enumerate(names)}
        group = np.array([number_of.get(name, -1) for name in known], dtype=np.int32)[np.concatenate(codes)]
        order = np.argsort(score)  # equal scores of a group are counted together, in any order
        order = order[group[order] >= 0] if group.min(initial=0) < 0 else order
        narrow = group[order].astype(np.uint16) if len(names) < 1 << 16 else group[order]  # a radix sort, if it can be
        order = order[np.argsort(narrow, kind="stable")]
        fn = np.append(0, np.cumsum((positive * number)[order]))
        tn = np.append(0, np.cumsum(number[order])) - fn
        starts = np.searchsorted(group[order], np.arange(len(names) + 1))
        return cls(score[order], group[order], tn, fn, starts)

    def outcomes(self, group: Index, reach: Index) -> Outcomes:
        """Return the outcomes of groups that reject their trials that stand before ``reach``."""
        tn, fn = (before[reach] - before[self.starts[group]] for before in (self.tn, self.fn))
        negatives, positives = (np.diff(before[self.starts])[group] for before in (self.tn, self.fn))
        return Outcomes(tp=positives - fn, fp=negatives - tn, tn=tn, fn=fn)

    def count(self, thresholds: Floats) -> Outcomes:
        """Count the outcomes of every group at as many thresholds of its own, group after group."""
        groups = self.starts.size - 1
        group = np.repeat(np.arange(groups), thresholds.size // groups)
        keys = _keys(group, thresholds)
        some = first_of_each(keys)  # alphas side by side mostly choose one threshold
        counted = self.outcomes(group[some], np.searchsorted(_keys(self.group, self.score), keys[some], side="right"))
        return counted[np.repeat(np.arange(some.size), np.diff(some, append=keys.size))]

    def of_least_cost(self, alphas: Sequence[Fraction]) -> Floats:
        """Return the thresholds that every group chooses by ``wer``, group after group.

        As `priori.decisions.hull` does for one set: the hulls of all groups are made together.
        """
        # A candidate rejects all up to the last of equal scores; one more of each group rejects nothing.
        changes = (self.score[1:] != self.score[:-1]) | (self.group[1:] != self.group[:-1])
        ends = np.flatnonzero(np.append(changes, True))
        accepting = self.starts[:-1][self.score[self.starts[:-1]] > -np.inf]
        earlier = np.searchsorted(ends, accepting)
        reach, below = np.insert(ends + 1, earlier, accepting), np.insert(self.score[ends], earlier, -np.inf)
        group = np.insert(self.group[ends], earlier, self.group[accepting]).astype(np.intp)
        fp = self.tn[self.starts[1:]][group] - self.tn[reach]
        kept = hulls_of_errors(fp, self.fn[reach] - self.fn[self.starts[:-1]][group], group)
        following = np.minimum(kept + 1, group.size - 1)
        last = (following == kept) | (group[following] != group[kept])
        threshold = thresholds_between(below[kept], np.where(last, np.inf, below[following]), last)
        # The edges of a group that each alpha has passed tell its vertex.
        errors, group = self.outcomes(group[kept], reach[kept]), group[kept]
        edge = np.flatnonzero(group[1:] == group[:-1])
        before, after = errors[edge], errors[edge + 1]
        rise, fall = (after.fn - before.fn) * before.negatives, (before.fp - after.fp) * before.positives
        ordered = Ascending.of(alphas)
        shape = self.starts.size - 1, len(ordered.fractions) + 1
        left = np.add(group[edge] * shape[1], edges_left(rise, fall, ordered))
        passed = np.bincount(left, minlength=shape[0] * shape[1])
        vertex = np.searchsorted(group, np.arange(shape[0]))[:, None] + np.cumsum(passed.reshape(shape), axis=1)
        return np.asarray(threshold[vertex[:, :-1][:, ordered.places]].ravel())


def _keys(group: Any, score: Floats) -> Any:
    """Return numbers in the order of groups, and of scores within each: complex ones are ordered so."""
    keys = np.empty(score.size, dtype=np.complex128)
    keys.real, keys.imag = group, score
    return keys
