"""Promises: does a band hold the curve it speaks of? The experiment of section 5 of Poh and Bengio, 2007."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from priori.epc import EPC, epc
from priori.errors import InputError, OptionError, unknown
from priori.proportions import check_level
from priori.results import Result
from priori.scores import Scores, restrict
from priori.simulation import generator

__all__ = ["PREDICTION", "Conjecture", "Coverage", "coverage"]

Floats = NDArray[np.float64]
Progress = Callable[[int, int], None]
Thresholds = Literal["kept", "anew"]
Pair = tuple[Scores, Scores]

#: The name, among the bootstraps, of the band that promises to hold the curve of that many unseen users.
PREDICTION = "prediction"
FOUR = ("sample", "user", "user-constrained", "joint")


@dataclass(frozen=True)
class Conjecture:
    """Conjecture (14) of the 2007 paper: width(S, 1) <= width(1, U) <= width(S, U), at the largest S and U.

    ``widths`` are the mean ones of the user-constrained, the user and the joint bootstrap; ``share`` of the single
    bands it holds, ``holds`` says whether it does for the means.
    """

    widths: tuple[float, float, float]
    share: float

    @property
    def holds(self) -> bool:
        """Whether the mean widths are in the order conjectured."""
        return self.widths[0] <= self.widths[1] <= self.widths[2]


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """The share of unseen curves that bands cover, and how wide they are. Made by `coverage`.

    Attributes
    ----------
    bootstrap : tuple of str
        The bootstrap of each row.
    draws : ndarray
        U and S of each row: draws of users, and of trials within each (1 where none is made).
    covered, widths : ndarray
        For each experiment (a system and a draw of users) and each row: the share of the unseen curve inside the
        band, and the band's expected width.
    settings : dict
        Everything that decides the numbers.
    """

    bootstrap: tuple[str, ...]
    draws: NDArray[np.int64]
    covered: Floats
    widths: Floats
    settings: dict[str, Any]

    @property
    def coverage(self) -> Floats:
        """The mean share covered, by row."""
        return np.asarray(self.covered.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """The standard error of the mean share, experiments taken for independent; NaN for one experiment."""
        size = len(self.covered)
        if size < 2:
            return np.full(self.covered.shape[1], np.nan)
        return np.asarray(self.covered.std(axis=0, ddof=1) / np.sqrt(size))

    @property
    def width(self) -> Floats:
        """The mean expected width, by row."""
        return np.asarray(self.widths.mean(axis=0))

    @property
    def conjecture(self) -> Conjecture | None:
        """Conjecture (14), where the three bootstraps it speaks of were run."""
        found_rows = [self._last(name) for name in ("user-constrained", "user", "joint")]
        rows = [row for row in found_rows if row is not None]
        if len(rows) < 3:
            return None
        found = self.widths[:, rows]
        narrow, middle, wide = (float(width) for width in found.mean(axis=0))
        share = float(np.mean((found[:, 0] <= found[:, 1]) & (found[:, 1] <= found[:, 2])))
        return Conjecture((narrow, middle, wide), share)

    def _last(self, bootstrap: str) -> int | None:
        """Return the row with the most draws of a bootstrap; the joint one's with the most draws of users."""
        rows = [row for row, name in enumerate(self.bootstrap) if name == bootstrap]
        return max(rows, key=lambda row: (*self.draws[row],), default=None)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per bootstrap and number of draws."""
        return {
            "bootstrap": np.array(self.bootstrap),
            "U": self.draws[:, 0],
            "S": self.draws[:, 1],
            "coverage": self.coverage,
            "standard_error": self.standard_error,
            "width": self.width,
        }

    def summary(self) -> dict[str, Any]:
        """Return the settings and conjecture (14)."""
        found = self.conjecture
        told = None if found is None else {"widths": list(found.widths), "share": found.share, "holds": found.holds}
        return {**self.settings, "experiments": len(self.covered), "conjecture": told}


def coverage(
    systems: Sequence[Pair] | Mapping[str, Pair],
    *,
    train_users: int = 31,
    test_users: int = 62,
    bootstraps: Sequence[str] = (*FOUR, PREDICTION),
    n_resamples: int | Sequence[int] = (10, 30, 100),
    fixed: int = 30,
    repeats: int = 1,
    confidence_level: float = 0.95,
    resample: Literal["test", "both"] = "both",
    thresholds: Thresholds = "kept",
    rng: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
    **curve: Any,
) -> Coverage:
    """Make bands from some users and see how much of the curve of others they cover (2007, section 5, Figure 2).

    Parameters
    ----------
    systems : sequence or mapping of (dev, test)
        The pool: for each system its development and its test scores, with users.
    train_users, test_users : int
        How many users a band is made from, and how many others show the curve it should hold.
    bootstraps : sequence of str
        Any of ``sample``, ``user``, ``user-constrained``, ``joint``, all with the paper's percentile interval; and
        ``prediction``, our band with the promise of holding the curve of ``test_users`` unseen users.
    n_resamples : int or sequence of int
        The numbers of draws, U or S, to look at; of the joint bootstrap first U varies, then S, and the other is
        ``fixed``. The prediction band has as many replicates as the largest joint one.
    fixed : int
        The number that is held in the joint bootstrap; 30, as the paper found to be enough.
    repeats : int
        How often users are drawn anew.
    resample : {"both", "test"}
        Whether the four bootstraps redraw the development set too (the paper's way) or the test set only.
    thresholds : {"kept", "anew"}
        The unseen curve has the thresholds of the band's own development users, fixed in advance; or those of as
        many other development users. The paper does not say which.
    **curve
        Options of `priori.epc`: task, criterion, measure, points, alpha.

    Returns
    -------
    Coverage
        With ``coverage``, ``standard_error``, ``width`` by row, and ``conjecture`` (14).

    Examples
    --------
    >>> import priori
    >>> from priori.simulation import systems
    >>> pool = systems(2, 40, 5, 20, rng=1)
    >>> found = priori.coverage(pool, train_users=12, test_users=24, n_resamples=40, points=11)
    >>> found.bootstrap
    ('sample', 'user', 'user-constrained', 'joint', 'joint', 'prediction')
    """
    design = _Design(
        train_users, test_users, check_level(confidence_level), resample, thresholds, rng, threads, tuple(bootstraps)
    )
    pool = list(systems.values()) if isinstance(systems, Mapping) else list(systems)
    variants = design.variants(n_resamples, fixed)
    for pair in pool:
        design.check(pair)
    if not pool or repeats < 1:
        raise OptionError("give at least one system, as a pair of development and test scores, and one repeat")
    found = []
    for done, (number, repeat) in enumerate(np.ndindex(len(pool), repeats), start=1):
        found.append(_experiment(design, variants, pool[number], (number, repeat), curve))
        if progress:
            progress(done, len(pool) * repeats)
    shares, widths = np.moveaxis(np.array(found), 2, 0)
    return Coverage(
        tuple(variant.bootstrap for variant in variants for _ in variant.rows),
        np.array([row for variant in variants for row in variant.rows], dtype=np.int64),
        shares,
        widths,
        {"systems": len(pool), "repeats": repeats, **design.settings()},
    )._came_from(*(test for _, test in pool))


def _experiment(
    design: _Design, variants: Sequence[_Variant], pair: Pair, which: tuple[int, int], options: Mapping[str, Any]
) -> list[tuple[float, float]]:
    """Return, for each row, the share of an unseen curve that a band covers, and the band's expected width."""
    number, repeat = which
    seen, unseen = design.draw(*pair, repeat)
    curve, future = epc(*seen, **options), epc(*unseen, **options).value
    seed = int(generator((design.seed, repeat, number)).integers(0, 2**62))
    return [
        (float(np.mean((lower <= future) & (future <= upper))), float(np.mean(upper - lower)))
        for variant in variants
        for lower, upper in variant.bounds(curve, {**design.band_options(variant.bootstrap), "rng": seed})
    ]


@dataclass(frozen=True)
class _Design:
    """The experiment's settings, checked, and what follows from them."""

    train_users: int
    test_users: int
    level: float
    resample: str
    thresholds: str
    seed: int
    threads: int | None
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
        names = ("train_users", "test_users", "resample", "thresholds", "seed")
        return {"confidence_level": self.level, **{name: getattr(self, name) for name in names}}

    def band_options(self, bootstrap: str) -> dict[str, Any]:
        """Return the options of a band; one that predicts redraws development users only where they will be new."""
        common = {"confidence_level": self.level, "threads": self.threads}
        if bootstrap == PREDICTION:
            return {**common, "resample": "test" if self.thresholds == "kept" else "both",
                    "future_users": self.test_users}  # fmt: skip
        return {**common, "resample": self.resample}

    def variants(self, n_resamples: int | Sequence[int], fixed: int) -> list[_Variant]:
        """Return the runs of every bootstrap."""
        numbers = tuple(sorted(set(n_resamples))) if isinstance(n_resamples, Sequence) else (n_resamples,)
        if not numbers or min(*numbers, fixed, 1) < 1:
            raise OptionError(f"numbers of draws must be whole numbers from 1 up, not {n_resamples} and {fixed}")
        return [variant for name in self.bootstraps for variant in _variants(name, numbers, fixed)]

    def check(self, pair: Pair) -> None:
        """Raise an error where a system lacks users."""
        if len(pair) != 2 or not all(isinstance(scores, Scores) for scores in pair):
            raise InputError("each system must be a pair of Scores: development and test")
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
class _Variant:
    """One run of a bootstrap, and the rows (U, S) that are read from it: its first draws of each kind."""

    bootstrap: str
    n_resamples: int | tuple[int, int]
    rows: tuple[tuple[int, int], ...]

    def bounds(self, curve: EPC, options: Mapping[str, Any]) -> Iterator[tuple[Floats, Floats]]:
        """Return the bounds of each row."""
        from priori.resampling.intervals import bounds

        if self.bootstrap == PREDICTION:
            band = curve.band(bootstrap="user", promise="prediction", n_resamples=self.n_resamples, **options)
            yield band.lower, band.upper
            return
        band = curve.band(
            bootstrap=self.bootstrap, n_resamples=self.n_resamples, interval="percentile", keep=True, **options
        )
        assert band.replicates is not None
        nested = self.n_resamples if isinstance(self.n_resamples, tuple) else (self.n_resamples, 1)
        replicates = band.replicates.reshape(*nested, -1)
        for users, samples in self.rows:
            first = (
                replicates[:users, :samples] if isinstance(self.n_resamples, tuple) else replicates[: users * samples]
            )
            yield bounds(first.reshape(-1, first.shape[-1]), float(options["confidence_level"]))


def _variants(bootstrap: str, numbers: tuple[int, ...], fixed: int) -> list[_Variant]:
    most = numbers[-1]
    if bootstrap == PREDICTION:
        return [_Variant(bootstrap, most * fixed, ((most * fixed, 1),))]
    if bootstrap == "user":
        return [_Variant(bootstrap, most, tuple((number, 1) for number in numbers))]
    if bootstrap == "joint":
        users = _Variant(bootstrap, (most, fixed), tuple((number, fixed) for number in numbers))
        samples = tuple((fixed, number) for number in numbers if (fixed, number) not in users.rows)
        return [users, *([_Variant(bootstrap, (fixed, most), samples)] if samples else [])]
    return [_Variant(bootstrap, most, tuple((1, number) for number in numbers))]
