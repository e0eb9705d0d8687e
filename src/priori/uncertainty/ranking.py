"""Ranking: more than two systems compared, every pair, and the groups that do not differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import OptionError
from priori.base.layouts import NUMBER, TEXT, Layout, listed, of, record
from priori.base.results import Result
from priori.base.saved import Saved, partly_saved
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC
from priori.uncertainty.bootstrap.plans import Resample
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.comparison import COMPARED, Comparison, Verdict, make_comparison
from priori.uncertainty.intervals import Interval
from priori.uncertainty.proportions import Alternative


class Place(NamedTuple):
    """A system in a ranking; systems that share a letter do not differ significantly."""

    name: str
    value: float
    groups: str


@partly_saved
@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Result):
    """Every pair of several systems compared, p-values adjusted for their number. Made by `compare_all`.

    Attributes
    ----------
    comparisons : tuple of Comparison
        One per pair, in the order AB, AC, ..., BC, ...
    p_value : ndarray
        Holm-adjusted p-values, one row per pair, one column per alpha.
    area_p_value : ndarray
        The same for the mean difference over the alphas.
    """

    names: tuple[str, ...]
    alpha: Floats
    values: Floats
    comparisons: tuple[Comparison, ...]
    p_value: Floats
    area_p_value: Floats
    confidence_level: float

    _layout = Layout(
        "Every pair of several systems compared: one row per pair and alpha.",
        of("text", "system_a system_b")
        | {**of("number", "alpha difference lower upper p_value p_adjusted"), "significant": "boolean"},
        {**COMPARED, "ranking": listed(record({"name": TEXT, "value": NUMBER, "groups": TEXT}))},
        descriptions={"measure": "The measure, as figures call it."},
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        table, level = saved.columns(*cls._layout.columns), saved["confidence_level"]
        pairs = list(dict.fromkeys(zip(table["system_a"].tolist(), table["system_b"].tolist(), strict=True)))
        by_pair = {name: values.reshape(len(pairs), -1) for name, values in table.items()}
        asked = "simultaneous" if saved["simultaneous"] else "pointwise"
        alpha = by_pair["alpha"][0]
        shared = {"alpha": alpha, "settings": saved.values(*COMPARED)}
        comparisons = []
        for row, (a, b) in enumerate(pairs):
            verdict = Verdict.of_columns({name: values[row] for name, values in by_pair.items()}, level)
            comparisons.append(saved.part(Comparison, name_a=a, name_b=b, **shared, **{asked: verdict}))
        known |= {"names": tuple(dict.fromkeys(name for pair in pairs for name in pair)), "alpha": alpha}
        known |= {"comparisons": tuple(comparisons), "p_value": by_pair["p_adjusted"]}
        return super()._from_parts(saved, _overall=tuple(Place(**ranked) for ranked in saved["ranking"]), **known)

    def places(self, alpha: float | None = None) -> tuple[Place, ...]:
        """Return the systems from best to worst, at one alpha or by their mean over the alphas, with their groups."""
        if alpha is None:
            return self._overall
        column = self.comparisons[0].nearest(alpha)
        return self._places(self.values[:, column], self.p_value[:, column])

    @cached_property
    def _overall(self) -> tuple[Place, ...]:
        return self._places(self.values @ self.comparisons[0].shares, self.area_p_value)

    def _places(self, value: Floats, p_value: Floats) -> tuple[Place, ...]:
        alike = np.eye(len(self.names), dtype=np.bool_)
        for (i, j), p in zip(combinations(range(len(self.names)), 2), p_value, strict=True):
            alike[i, j] = alike[j, i] = p >= 1 - self.confidence_level
        order = np.argsort(-value if self.comparisons[0].greater_is_better else value, kind="stable")
        letters = _letters(alike[np.ix_(order, order)])
        ranked = zip(order.tolist(), letters, strict=True)
        return tuple(Place(self.names[i], float(value[i]), letter) for i, letter in ranked)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per pair and alpha."""
        verdicts = [comparison.verdict for comparison in self.comparisons]
        names = zip(*((comparison.name_a, comparison.name_b) for comparison in self.comparisons), strict=True)
        system_a, system_b = (np.repeat(each, self.alpha.size) for each in names)
        columns = {"system_a": system_a, "system_b": system_b, "alpha": np.tile(self.alpha, len(verdicts))}
        for name in ("difference", "lower", "upper", "p_value"):
            columns[name] = np.concatenate([getattr(verdict, name) for verdict in verdicts])
        adjusted = self.p_value.ravel()
        return {**columns, "p_adjusted": adjusted, "significant": adjusted < 1 - self.confidence_level}

    def summary(self) -> dict[str, Any]:
        """Return the ranking by the mean over the alphas and how it was made."""
        return {**self.comparisons[0].settings, "ranking": [ranked._asdict() for ranked in self.places()]}


def holm(p_values: Floats) -> Floats:
    """Adjust p-values for their number down the first axis (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, axis=0, kind="stable")
    factors = np.arange(p.shape[0], 0, -1, dtype=np.float64).reshape(-1, *[1] * (p.ndim - 1))
    stepped = np.maximum.accumulate(np.take_along_axis(p, order, axis=0) * factors, axis=0)
    adjusted = np.empty_like(p)
    np.put_along_axis(adjusted, order, np.minimum(stepped, 1.0), axis=0)
    return adjusted


def compare_all(
    curves: Sequence[EPC], *, unpaired: bool = False, alternative: Alternative = "two-sided",
    bootstrap: str | None = None, n_resamples: int | tuple[int, int] = 10_000, resample: Resample = "test",
    confidence_level: float = 0.95, interval: Interval | None = None, simultaneous: bool = False,
    rng: int | np.random.Generator | None = 0, shared_users: bool | None = None,
    threads: int | None = None, progress: Progress | None = None,
) -> Ranking:  # fmt: skip
    """Compare every pair of systems; p-values are adjusted for the number of pairs (Holm), and ranked.

    Parameters
    ----------
    curves : sequence of EPC
        Two or more curves at the same alphas, each with a name of its own.
    unpaired, alternative, bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, ...
        As in `priori.compare`.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> label = np.repeat([0, 1], 500)
    >>> def curve(quality, name):
    ...     dev, test = (priori.Scores.from_predictions(label, rng.normal(quality * label)) for _ in range(2))
    ...     return priori.epc(dev, test, points=5, name=name)
    >>> ranking = priori.compare_all([curve(1, "A"), curve(3, "B"), curve(3, "C")], n_resamples=1000)
    >>> [(place.name, place.groups) for place in ranking.places(0.5)]
    [('C', 'a'), ('B', 'a'), ('A', 'b')]
    """
    resampling = Resampling(
        bootstrap, n_resamples, resample, confidence_level, interval, simultaneous, rng, shared_users
    )
    return make_ranking(
        curves, resampling, unpaired=unpaired, alternative=alternative, threads=threads, progress=progress
    )


def make_ranking(
    curves: Sequence[EPC], resampling: Resampling, *, unpaired: bool = False, alternative: Alternative = "two-sided",
    threads: int | None = None, progress: Progress | None = None,
) -> Ranking:  # fmt: skip
    """Compare every pair of systems as a resampling describes."""
    names = tuple(curve.name for curve in curves)
    if len(curves) < 2 or len(set(names)) < len(names):
        raise OptionError(f"compare_all needs two or more curves, each with a name of its own, not {names}")
    pairs = list(combinations(curves, 2))
    run = partial(make_comparison, resampling=resampling, unpaired=unpaired, alternative=alternative, threads=threads)
    comparisons = tuple(run(*pair, progress=_part(progress, number, len(pairs))) for number, pair in enumerate(pairs))
    values, level = np.stack([curve.value for curve in curves]), comparisons[0].verdict.confidence_level
    p_value = holm(np.stack([comparison.p_value for comparison in comparisons]))
    area_p_value = holm(np.concatenate([comparison.area.p_value for comparison in comparisons]))
    ranking = Ranking(names, curves[0].alpha, values, comparisons, p_value, area_p_value, level)
    return ranking._came_from(*curves)


def _part(progress: Progress | None, number: int, parts: int) -> Progress | None:
    """Return the progress of one part out of several."""
    if progress is None:
        return None
    return lambda done, total: progress(number * total + done, parts * total)


def _letters(alike: NDArray[np.bool_]) -> list[str]:
    """Return the letters of each system: one letter for every largest set whose members are all alike."""
    groups: list[frozenset[int]] = []

    def grow(group: frozenset[int], possible: frozenset[int], seen: frozenset[int]) -> None:  # Bron and Kerbosch
        if not possible and not seen:
            groups.append(group)
        for system in sorted(possible):
            near = frozenset(np.flatnonzero(alike[system]).tolist()) - {system}
            grow(group | {system}, possible & near, seen & near)
            possible, seen = possible - {system}, seen | {system}

    grow(frozenset(), frozenset(range(len(alike))), frozenset())
    groups.sort(key=sorted)
    letters = [chr(ord("a") + i % 26) * (1 + i // 26) for i in range(len(groups))]
    return [
        "".join(letter for letter, group in zip(letters, groups, strict=True) if system in group)
        for system in range(len(alike))
    ]
