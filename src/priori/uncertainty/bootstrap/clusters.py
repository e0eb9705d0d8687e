"""Clusters: how errors flock together by user, or by both identities of a trial, at every threshold at once."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from priori.base.types import Floats
from priori.scores import ScoreSet
from priori.uncertainty.bootstrap.plans import Plan, identify

__all__ = ["Clusters", "clusters_of"]


@dataclass(frozen=True)
class Clusters:
    """Variances of the error rate of each class (rows) at each threshold (columns), without small-sample factors.

    ``variance`` is that of the rate when users (or identities) are drawn, ``within`` the part of it that comes
    from the trials of each user, ``effect`` the ratio of the first to independent trials', at least 1.
    ``by_identity`` sums the squared deviations of each identity, in either role, ``by_pair`` those of each pair
    of identities, ``floor`` is the larger of the variances by independent trials and by claimed identity alone.
    ``lost`` is the share of a variance that goes missing because deviations are taken from the rate observed: that
    of the pairs of trials that share someone.
    """

    rate: Floats
    variance: Floats
    within: Floats
    effect: Floats
    by_identity: Floats
    by_pair: Floats
    floor: Floats
    lost: Floats
    count: int


def clusters_of(
    test: ScoreSet, thresholds: Floats, plan: Plan, *, other: tuple[ScoreSet, Floats] | None = None
) -> Clusters:
    """Measure how errors, or differences of errors between two systems, flock at each threshold."""
    given = [(test, thresholds), *([other] if other is not None else [])]
    edges = [np.unique(at) for _, at in given]
    sets = test.between(edges, [scores for scores, _ in given[1:]], by_user=plan.by_user)
    systems = list(zip(sets, [at for _, at in given], strict=True))
    who = identify(sets[:1], crossed=plan.bootstrap == "crossed")[0] if plan.by_user else None
    rows: list[dict[str, Floats]] = []
    for name in ("negative", "positive"):
        trials = [getattr(scores, name) for scores, _ in systems]
        places = [
            np.searchsorted(np.sort(at), one.score, side="left") for one, (_, at) in zip(trials, systems, strict=True)
        ]
        sorting = [np.argsort(np.argsort(at, kind="stable"), kind="stable") for _, at in systems]
        wrong = _Errors(places, sorting, name == "negative", trials[0].number)
        users = None if who is None else getattr(who, name)
        partner = who.negative_partner if who is not None and name == "negative" else None
        rows.append(_measure(wrong, users, partner, 0 if who is None else who.count))
    stacked = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    return Clusters(**stacked, count=0 if who is None else who.count)


@dataclass(frozen=True)
class _Errors:
    """Errors of the first system, less those of the second if there is one, as places among its thresholds."""

    places: list[NDArray[np.intp]]
    sorting: list[NDArray[np.intp]]
    above: bool
    number: NDArray[np.int64] | None = None

    @property
    def trials(self) -> int:
        return int(self.places[0].size if self.number is None else self.number.sum())

    def count(self, group: NDArray[np.intp], groups: int) -> Floats:
        """Return how many trials there are of each group."""
        return np.bincount(group, weights=self.number, minlength=groups).astype(np.float64)

    def sums(self, group: NDArray[np.intp], groups: int) -> tuple[Floats, Floats]:
        """Return the errors of each group at each threshold, and the number of its trials that err at all."""
        total = np.zeros((groups, self.sorting[0].size))
        for sign, place, order in zip((1.0, -1.0), self.places, self.sorting, strict=False):
            size = order.size + 1
            counted = self.count(group * size + place, groups * size).reshape(groups, size)
            rejected = np.cumsum(counted, axis=1)[:, :-1]
            errors = counted.sum(axis=1, keepdims=True) - rejected if self.above else rejected
            total += sign * errors[:, order]
        return total, self.count(group, groups)

    def squares(self) -> Floats:
        """Return the sum of squared errors: where systems differ, 1."""
        if len(self.places) == 1:
            return np.asarray(self.sums(np.zeros(self.places[0].size, dtype=np.intp), 1)[0][0])
        found = []
        for one, two in zip(self.sorting[0], self.sorting[1], strict=True):
            differ = (self.places[0] > one) != (self.places[1] > two)
            found.append(np.count_nonzero(differ) if self.number is None else self.number[differ].sum())
        return np.array(found, dtype=np.float64)


def _measure(
    wrong: _Errors, users: NDArray[np.int32] | None, partner: NDArray[np.int32] | None, count: int
) -> dict[str, Floats]:
    n = wrong.trials
    rate = wrong.sums(np.zeros(wrong.places[0].size, dtype=np.intp), 1)[0][0] / n
    independent = np.maximum(wrong.squares() / n - rate**2, 0.0) / n
    if users is None:
        zero = np.zeros_like(rate)
        return {
            "rate": rate, "variance": independent, "within": independent, "effect": np.ones_like(rate),
            "by_identity": zero, "by_pair": zero, "floor": independent, "lost": zero,
        }  # fmt: skip
    claimed = users.astype(np.intp)
    errors, sizes = wrong.sums(claimed, count)
    off = errors - sizes[:, None] * rate
    variance = (off**2).sum(axis=0) / n**2
    own = errors / np.maximum(sizes, 1)[:, None]
    spare = np.maximum(sizes - 1, 1)[:, None]
    within = (sizes[:, None] ** 2 * own * (1 - own) / spare).sum(axis=0) / n**2
    by_identity, by_pair = variance, np.zeros_like(variance)
    floor = np.maximum(independent, variance)
    sharing = float(sizes @ sizes)
    if partner is not None:
        other = partner.astype(np.intp)
        probed, probes = wrong.sums(other, count)
        by_identity = ((off + probed - probes[:, None] * rate) ** 2).sum(axis=0) / n**2
        by_pair, twice = _by_pair(wrong, claimed, other, count, rate)
        by_pair /= n**2
        sharing = float((sizes + probes) @ (sizes + probes)) - twice
        floor = np.maximum(floor, ((probed - probes[:, None] * rate) ** 2).sum(axis=0) / n**2)
        variance = np.maximum(by_identity - by_pair, floor)
    size = n / max(int(np.count_nonzero(sizes)), 1)
    effect = np.divide(variance, independent, out=np.ones_like(variance), where=independent > 0)
    largest = n if partner is not None else max(size, 1.0)
    return {
        "rate": rate, "variance": variance, "within": np.minimum(within, variance),
        "effect": np.clip(effect, 1.0, largest), "by_identity": by_identity, "by_pair": by_pair, "floor": floor,
        "lost": np.full_like(rate, min(sharing / n**2, 1 - 1 / max(count, 2))),
    }  # fmt: skip


def _by_pair(
    wrong: _Errors, claimed: NDArray[np.intp], other: NDArray[np.intp], count: int, rate: Floats
) -> tuple[Floats, float]:
    """Return the sums of squares of each pair's deviations and trials, whichever of the two claims to be the other."""
    low, high = np.minimum(claimed, other), np.maximum(claimed, other)
    _, pair = np.unique(low.astype(np.int64) * count + high, return_inverse=True)
    pairs = int(pair.max()) + 1
    total, twice = np.zeros_like(rate), 0.0
    step = max(1, (1 << 24) // (rate.size + 1))  # some hundred megabytes at most
    order = np.argsort(pair, kind="stable")
    starts = np.searchsorted(pair[order], np.arange(0, pairs + step, step))
    for first, (begin, end) in zip(range(0, pairs, step), pairwise(starts), strict=False):
        chosen = order[begin:end]
        part = _Errors([place[chosen] for place in wrong.places], wrong.sorting, wrong.above)
        errors, sizes = part.sums(pair[chosen] - first, min(step, pairs - first))
        total += ((errors - sizes[:, None] * rate) ** 2).sum(axis=0)
        twice += float(sizes @ sizes)
    return total, twice
