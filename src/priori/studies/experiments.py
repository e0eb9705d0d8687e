"""Coverage experiments: users drawn for a band and for a curve, runs of the bootstraps, and what the bands cover."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.errors import InputError, OptionError, unknown
from priori.base.types import Floats
from priori.curves.epc import EPC
from priori.scores import Scores, restrict
from priori.studies.simulation import generator
from priori.uncertainty.bands import make_band
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, USER
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.intervals import bounds

Thresholds = Literal["kept", "anew"]
Pair = tuple[Scores, Scores]

#: The name, among the bootstraps, of the prediction band: it is to cover the curve of that many unseen users.
PREDICTION = "prediction"
FOUR = ("sample", "user", "user-constrained", "joint")


@dataclass(frozen=True)
class Experiment:
    """The experiment's settings, checked, and what follows from them; ``resampling`` is what all bands share."""

    train_users: int
    test_users: int
    resampling: Resampling
    thresholds: Thresholds
    seed: int
    bootstraps: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in self.bootstraps:
            if name not in (*FOUR, PREDICTION):
                raise unknown("bootstrap", name, (*FOUR, PREDICTION))
        if not self.bootstraps:
            raise OptionError(f"give at least one bootstrap: {', '.join((*FOUR, PREDICTION))}")
        if self.thresholds not in get_args(Thresholds):
            raise unknown("choice of thresholds", self.thresholds, get_args(Thresholds))
        if self.train_users < 2 or self.test_users < 2:
            raise OptionError(f"a band and a curve need 2 users each, not {self.train_users} and {self.test_users}")

    def settings(self) -> dict[str, Any]:
        """Return everything that decides the numbers, for the record."""
        return {
            "confidence_level": float(self.resampling.confidence_level),
            "train_users": self.train_users,
            "test_users": self.test_users,
            "resample": self.resampling.resample,
            "thresholds": self.thresholds,
            "seed": self.seed,
        }

    def variants(self, n_resamples: int | Sequence[int], fixed: int) -> list[Variant]:
        """Return the runs of every bootstrap."""
        numbers = tuple(sorted(set(n_resamples))) if isinstance(n_resamples, Sequence) else (n_resamples,)
        if not numbers or min(*numbers, fixed, 1) < 1:
            raise OptionError(f"numbers of draws must be whole numbers from 1 up, not {n_resamples} and {fixed}")
        return [variant for name in self.bootstraps for variant in self._runs_of(name, numbers, fixed)]

    def _runs_of(self, bootstrap: str, numbers: tuple[int, ...], fixed: int) -> list[Variant]:
        """Return the runs of one bootstrap; of a nested one first U varies, then S."""
        most = numbers[-1]
        if bootstrap == PREDICTION:
            # Development users are redrawn only where they will be new.
            resampling = replace(
                self.resampling,
                bootstrap=USER.name,
                n_resamples=most * fixed,
                resample="test" if self.thresholds == "kept" else "both",
                promise="prediction",
                future_users=self.test_users,
            )
            return [Variant(bootstrap, resampling, ((most * fixed, 1),))]
        design = BOOTSTRAPS[bootstrap]
        common = replace(self.resampling, bootstrap=bootstrap, interval="percentile")
        if design.nested:
            users = Variant(
                bootstrap, replace(common, n_resamples=(most, fixed)), tuple((number, fixed) for number in numbers)
            )
            samples = tuple((fixed, number) for number in numbers if (fixed, number) not in users.rows)
            more = Variant(bootstrap, replace(common, n_resamples=(fixed, most)), samples)
            return [users, more] if samples else [users]
        rows = tuple((number, 1) if design.draws_users else (1, number) for number in numbers)
        return [Variant(bootstrap, replace(common, n_resamples=most), rows)]

    def check(self, pair: Pair) -> None:
        """Raise an error where a system lacks users."""
        both = self.train_users + self.test_users
        needed = (both if _same_users(*pair) else self.train_users * (1 + (self.thresholds == "anew")), both)
        for scores, users in zip(pair, needed, strict=True):
            if not scores.has_users:
                raise InputError(
                    f"{scores.source}: the users of the trials are not known, and users are what is drawn here; "
                    "read a user column (--column user=NAME)"
                )
            if scores.n_users < users:
                raise InputError(
                    f"{scores.source} has {scores.n_users} users, and {users} are needed for bands from "
                    f"{self.train_users} and curves of {self.test_users} others; ask for fewer (--train-users, "
                    "--test-users)"
                )

    def draw(self, dev: Scores, test: Scores, repeat: int) -> tuple[Pair, Pair]:
        """Draw the users of a band and, apart from them, those of a curve; alike where both sets hold the same."""
        order = generator((self.seed, repeat, 0)).permutation(_users(test))
        same = _same_users(dev, test)
        dev_order = order if same else generator((self.seed, repeat, 1)).permutation(_users(dev))
        first, others = slice(self.train_users), slice(self.train_users, self.train_users + self.test_users)
        chosen_on = restrict(dev, dev_order[first])
        new = others if same else slice(self.train_users, 2 * self.train_users)
        anew = restrict(dev, dev_order[new]) if self.thresholds == "anew" else chosen_on
        return (chosen_on, restrict(test, order[first])), (anew, restrict(test, order[others]))


def _users(scores: Scores) -> NDArray[Any]:
    """Return the names of the users who have trials."""
    assert scores.users is not None
    codes = [trials.user for trials in (scores.negative, scores.positive) if trials.user is not None]
    return np.asarray(scores.users.values[np.unique(np.concatenate(codes))])


def _same_users(dev: Scores, test: Scores) -> bool:
    return dev.has_users and test.has_users and set(map(str, _users(dev))) == set(map(str, _users(test)))


# -- the variants of the bootstrap -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Variant:
    """One run of a bootstrap, and the rows (U, S) that are read from it: its first draws of each kind."""

    bootstrap: str
    resampling: Resampling
    rows: tuple[tuple[int, int], ...]

    def bounds(self, curve: EPC, seed: int, threads: int | None) -> Iterator[tuple[Floats, Floats]]:
        """Return the bounds of each row."""
        resampling = replace(self.resampling, rng=seed)
        predicts = resampling.promise == "prediction"
        band = make_band(curve, resampling, threads=threads, keep=not predicts)
        if predicts:
            yield band.lower, band.upper
            return
        assert band.replicates is not None
        draws = resampling.n_resamples
        nested = draws if isinstance(draws, tuple) else (draws, 1)
        replicates = band.replicates.reshape(*nested, -1)
        for users, samples in self.rows:
            first = replicates[:users, :samples] if isinstance(draws, tuple) else replicates[: users * samples]
            yield bounds(first.reshape(-1, first.shape[-1]), resampling.confidence_level)


# -- what the bands cover --------------------------------------------------------------------------------------


class Tally:
    """Shares that bands covered and their widths, repeat by repeat, each kind of band under a key of its own."""

    def __init__(self) -> None:
        self.repeats: dict[Hashable, list[tuple[float, float]]] = defaultdict(list)

    def add(self, key: Hashable, inside: NDArray[Any] | float, width: NDArray[Any] | float) -> None:
        """Add one repeat: whether, or at which share of places, the truth was covered; and the band's width."""
        self.repeats[key].append((float(np.mean(inside)), float(np.mean(width))))

    def cover(self, key: Hashable, lower: Floats, upper: Floats, truth: Floats | float, *, whole: bool = False) -> None:
        """Add a band: the share of the truth inside, or whether the ``whole`` of it is."""
        inside = np.asarray((lower <= truth) & (truth <= upper))
        self.add(key, bool(inside.all()) if whole else inside, upper - lower)


def standard_error(shares: Floats) -> Floats:
    """Return the standard error of the mean of each column, rows taken for independent; NaN for one row."""
    if len(shares) < 2:
        return np.full(shares.shape[1:], np.nan)
    return np.asarray(shares.std(axis=0, ddof=1) / np.sqrt(len(shares)))


def run(
    experiment: Experiment,
    variants: Sequence[Variant],
    pair: Pair,
    which: tuple[int, int],
    curve_of: Callable[..., EPC],
    tally: Tally,
    *,
    threads: int | None = None,
) -> None:
    """Draw users of a system, make every band from some, and add what each covers of the curve of others."""
    number, repeat = which
    seen, unseen = experiment.draw(*pair, repeat)
    curve, future = curve_of(*seen), curve_of(*unseen).value
    seed = int(generator((experiment.seed, repeat, number)).integers(0, 2**62))
    for place, variant in enumerate(variants):
        for row, (lower, upper) in zip(variant.rows, variant.bounds(curve, seed, threads), strict=True):
            tally.cover((place, row), lower, upper, future)
