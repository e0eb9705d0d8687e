"""Cross-fitted curves of one labelled set: each fold is judged with the thresholds chosen on the other folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from priori.base.declarations import Cautions, Rows, Summary, Unsaved
from priori.base.errors import OptionError, argument
from priori.base.types import Floats, Ints
from priori.curves.epc import EPC, Weight, curves_of, judged
from priori.decisions.outcomes import count
from priori.decisions.recipe import AnyCriterion, AnyMeasure, Recipe
from priori.decisions.tasks import Task
from priori.scores import BOUND, Scores, Trials, condense
from priori.scores.derived import fold_of_trials, part_of
from priori.scores.score_set import as_score_set

#: What is said of two sets, and means nothing where both are parts of one.
OF_TWO_SETS = {"same-data", "shared-trials", "shared-users", "prior-shift", "disagreement"}


@dataclass(frozen=True, eq=False, repr=False)
class CrossEPC(EPC):
    """An Expected Performance Curve of one set, each fold judged with thresholds chosen on the others.

    ``value``, ``v1``, ``v2`` and ``outcomes`` count all folds together, each judged with thresholds chosen on the
    others. ``threshold`` is the one to deploy, chosen on the whole set; ``dev_outcomes``, ``dev_v1``, ``dev_v2`` and
    ``best`` are what the whole set says of itself, as if it had been kept apart.

    Attributes
    ----------
    curves : tuple of EPC
        Fold by fold: its trials, and the thresholds chosen on the others.
    each : ndarray
        The value of each fold, one row each.
    fold : (ndarray, ndarray)
        The fold, 0, 1, ..., of each negative and of each positive trial.
    """

    _: KW_ONLY
    curves: Unsaved[tuple[EPC, ...]]
    fold: Unsaved[tuple[Ints, Ints]]

    @cached_property
    def each(self) -> Summary[Rows]:
        """The value of each fold, one row each."""
        return np.stack([curve.value for curve in self.curves])

    @cached_property
    def folds(self) -> Summary[int]:
        """How many folds there are."""
        return len(self.curves)

    @cached_property
    def warnings(self) -> Summary[Cautions]:
        """What to mind about the scores, and about the alpha nearest to 0.5; looked for when first asked for."""
        return tuple(line for line in super().warnings if getattr(line, "code", "") not in OF_TWO_SETS)

    @property
    def area(self) -> float:
        """The mean of the curve over its range of alphas, by trapezoids between them."""
        if self.alpha.size == 1:
            return float(self.value[0])
        order = np.argsort(self.alpha)
        return float(np.trapezoid(self.value[order], self.alpha[order]) / np.ptp(self.alpha))

    def at(self, alpha: Any) -> EPC:
        """Return the curve at other alphas, one or a list, with the same folds."""
        return cross_fitted(self.dev.load(), self.fold, self.recipe_at(alpha), self.name)

    def to_resample(self, resample: Literal["test", "both"]) -> EPC:
        """Return a curve of the same outcomes on one axis: every trial keeps the thresholds of its fold."""
        if resample == "both":
            raise OptionError(
                f"cross-fitted thresholds are kept as they are: {argument('resample', 'test')}, in a comparison "
                f"{argument('claim', 'deployed')}, or split the set in two"
            )
        test, thresholds = _on_one_axis(self.dev.load(), self.fold, self.curves)
        plain = {field.name: getattr(self, field.name) for field in fields(EPC)}
        return EPC(**plain | {"test": judged(test, self.weight), "threshold": thresholds})


def cross_epc(
    scores: Any,
    *,
    folds: int = 5,
    rng: int | np.random.Generator = 0,
    together: bool = True,
    task: str | Task = "authentication",
    criterion: AnyCriterion = None,
    measure: AnyMeasure = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    costs: Any = None,
    prior: Any = None,
    preset: str | None = None,
    weight: Weight = "trial",
    name: str = "system",
) -> CrossEPC:
    """Compute the Expected Performance Curve of one labelled set by cross-fitting.

    The set is taken apart into folds at random; the thresholds of each fold are chosen on the others, and the outcomes
    of all folds are counted together. No trial is judged with a threshold that it helped to choose.

    Parameters
    ----------
    scores : Scores or frame
        The whole set.
    folds : int
        How many; the trials of a user are in one fold only, wherever users are known.
    rng : int or numpy Generator
        The seed of the folds, 0 by default.
    together : bool
        Keep users whole.
    task, criterion, measure, points, bounds, alpha, costs, prior, preset, weight, name
        As in `priori.epc`.

    Notes
    -----
    The band of such a curve keeps the thresholds of each fold and resamples users (or trials) of all folds together:
    it covers the mean error of these thresholds on the population. It does not allow for other folds, nor for
    thresholds chosen on another set; those of the whole set, to be deployed, rest on a little more data.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.tile([0, 1], 500)
    >>> scores = priori.Scores.from_predictions(label, rng.normal(2 * label), user=np.arange(1000) // 20)
    >>> curve = priori.cross_epc(scores, folds=5, alpha=[0.5])
    >>> curve.value.round(3).tolist(), curve.each.shape
    ([0.148], (5, 1))
    """
    known = as_score_set(scores)
    # Users stay in one fold with all their trials, whichever is which; trials on their own are needed one by one.
    by_user = together and known.has_users
    whole = condense(known, ("user", "probe_user"), narrow=BOUND)[0] if by_user else known.load()
    asked = Recipe.of(task, criterion, measure, points, bounds, alpha, costs, prior, False, preset, weight)
    return cross_fitted(whole, fold_of_trials(whole, folds, rng=rng, together=together), asked, name)


def cross_fitted(whole: Scores, fold: tuple[Ints, Ints], recipe: Recipe, name: str) -> CrossEPC:
    """Return the curve of a set whose trials, class by class, are in these folds."""
    parts = {name: (whole, whole)}
    for number in range(int(fold[0].max()) + 1):
        inside = fold[0] == number, fold[1] == number
        rest = part_of(whole, ~inside[0], ~inside[1], f"all but fold {number + 1}")
        parts[f"{name} {number}"] = rest, part_of(whole, *inside, f"fold {number + 1}")
    apparent, *folds = curves_of(parts, recipe)
    curves = [replace(curve, name=name) for curve in folds]
    test, thresholds = _on_one_axis(whole, fold, curves)
    outcomes, task = count(test, thresholds), apparent.task
    shown = outcomes if apparent.weight == "trial" else count(judged(test, apparent.weight), thresholds)
    held = {field.name: getattr(apparent, field.name) for field in fields(EPC)}
    held |= {"outcomes": outcomes, "v1": task.v1(shown), "v2": task.v2(shown)}
    held["value"] = apparent.measure(shown, apparent.alpha)
    return CrossEPC(**held, curves=tuple(curves), fold=fold)


def _on_one_axis(whole: Scores, fold: tuple[Ints, Ints], curves: Sequence[EPC]) -> tuple[Scores, Floats]:
    """Return the set with scores for which one threshold at each alpha decides as those of the folds do.

    Where thresholds rise with alpha in every fold, or fall in every one, a trial is known by how many of its fold's
    thresholds it exceeds.
    """
    fold_threshold = np.stack([curve.threshold for curve in curves])
    order = np.argsort(np.argsort(fold_threshold, axis=1, kind="stable").argsort(axis=1).sum(axis=0), kind="stable")
    ordered = fold_threshold[:, order]
    if (ordered[:, 1:] < ordered[:, :-1]).any():
        raise OptionError(
            "the thresholds of this criterion move in one order of alpha in some folds and in another in others; give "
            "one alpha, or another criterion"
        )
    thresholds = np.empty(order.size)
    thresholds[order] = np.arange(order.size)

    def exceeded(trials: Trials, own: Ints) -> Trials:
        number = np.empty(trials.score.size)
        for index, limits in enumerate(ordered):
            number[own == index] = np.searchsorted(limits, trials.score[own == index], side="left")
        return replace(trials, score=number)

    classes = [exceeded(trials, own) for trials, own in zip((whole.negative, whole.positive), fold, strict=True)]
    return replace(whole, negative=classes[0], positive=classes[1]), thresholds
