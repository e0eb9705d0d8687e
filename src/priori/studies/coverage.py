"""Coverage: the share of unseen curves that bands cover. The experiment of section 5 of Poh and Bengio, 2007."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.layouts import (
    CAUTIONS,
    FLAG,
    LEVEL,
    NUMBERS,
    PLAIN_NUMBER,
    SIZE,
    Layout,
    Schema,
    choice,
    maybe,
    of,
    record,
)
from priori.base.options import Resample
from priori.base.results import Result
from priori.base.saved import Saved
from priori.base.types import Floats, Progress
from priori.curves.epc import EPC, epc
from priori.decisions.criteria import Criterion
from priori.decisions.measure import Measure
from priori.decisions.outcomes import Outcomes
from priori.decisions.tasks import Task
from priori.scores import BOUND, Scores, ScoreSet, condense_all, restrict
from priori.scores.inputs import as_score_set
from priori.studies.simulation import generator
from priori.uncertainty.bands.bands import make_band
from priori.uncertainty.bootstrap.calibration import bounds as percentile_bounds
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS, USER
from priori.uncertainty.bootstrap.resampling import Resampling

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Thresholds = Literal["kept", "new"]
Pair = tuple[Scores, Scores]

#: The name, among the bootstraps, of the prediction band: it is to cover the curve of that many unseen users.
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


SETTINGS: dict[str, Schema] = {
    **of(SIZE, "systems repeats"),
    "fixed": {"type": "integer", "minimum": 1},
    "confidence_level": LEVEL,
    **of(SIZE, "train_users test_users"),
    "resample": choice("test", "both"),
    "thresholds": choice(*get_args(Thresholds)),
    "seed": SIZE,
}


@dataclass(frozen=True, eq=False, repr=False)
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
    warnings : tuple of str
        How far counts in cells, of sets that were scanned, can be off.
    """

    bootstrap: tuple[str, ...]
    draws: NDArray[np.int64]
    covered: Floats
    widths: Floats
    settings: dict[str, Any]
    warnings: tuple[str, ...] = ()

    _layout = Layout(
        "The share of unseen curves that bands cover: one row per bootstrap and number of draws.",
        {"bootstrap": "text", **of("integer", "U S"), **of("number", "coverage standard_error width")},
        {
            **SETTINGS,
            "experiments": SIZE,
            "conjecture": maybe(record({"widths": NUMBERS, "share": PLAIN_NUMBER, "holds": FLAG})),
            "warnings": CAUTIONS,
        },
        settings=SETTINGS,
        optional=("warnings",),
    )

    @classmethod
    def _from_parts(cls, saved: Saved, **known: Any) -> Self:
        saved_conjecture, table = saved["conjecture"], saved.columns("bootstrap", "U", "S")
        conjecture = saved_conjecture and Conjecture(tuple(saved_conjecture["widths"]), saved_conjecture["share"])
        return super()._from_parts(
            saved,
            bootstrap=tuple(table["bootstrap"].tolist()),
            draws=np.column_stack([table["U"], table["S"]]),
            _experiments=saved["experiments"],
            conjecture=conjecture,
            **known,
        )

    @cached_property
    def _experiments(self) -> int:
        return len(self.covered)

    @cached_property
    def coverage(self) -> Floats:
        """The mean share covered, by row."""
        return np.asarray(self.covered.mean(axis=0))

    @cached_property
    def standard_error(self) -> Floats:
        """The standard error of the mean share, experiments taken for independent; NaN for one experiment."""
        return standard_error(self.covered)

    @cached_property
    def width(self) -> Floats:
        """The mean expected width, by row."""
        return np.asarray(self.widths.mean(axis=0))

    @cached_property
    def conjecture(self) -> Conjecture | None:
        """Conjecture (14), where the three bootstraps it speaks of were run."""
        names = ("user-constrained", "user", "joint")
        if not set(names) <= set(self.bootstrap):
            return None
        # Of each bootstrap the row with the most draws, of users first.
        order = sorted(range(len(self.bootstrap)), key=lambda row: (*self.draws[row],))
        last = {self.bootstrap[row]: row for row in order}
        widths = self.widths[:, [last[name] for name in names]]
        narrow, middle, wide = (float(width) for width in widths.mean(axis=0))
        return Conjecture((narrow, middle, wide), float(np.mean((np.diff(widths) >= 0).all(axis=1))))

    def lines(self) -> dict[str, list[int]]:
        """Return the rows of each line of Figure 2, by name: the joint bootstrap has one for U and one for S."""
        lines: dict[str, list[int]] = {}
        for row, (name, (users, samples)) in enumerate(zip(self.bootstrap, self.draws.tolist(), strict=True)):
            line = name
            if name in BOOTSTRAPS and BOOTSTRAPS[name].nested:
                line += f", S = {samples}" if samples == self.settings["fixed"] else f", U = {users}"
            lines.setdefault(line, []).append(row)
        return lines

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the coverage against the number of draws (Figure 2); returns the axes."""
        return above(self, "plot")(self, ax=ax)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per bootstrap and number of draws."""
        users, samples = self.draws.T
        return {
            "bootstrap": np.array(self.bootstrap),
            "U": users,
            "S": samples,
            "coverage": self.coverage,
            "standard_error": self.standard_error,
            "width": self.width,
        }

    def summary(self) -> dict[str, Any]:
        """Return the settings and conjecture (14)."""
        conjecture = self.conjecture and {
            "widths": list(self.conjecture.widths),
            "share": self.conjecture.share,
            "holds": self.conjecture.holds,
        }
        told = {"experiments": self._experiments, "conjecture": conjecture, "warnings": list(self.warnings)}
        return {**self.settings, **told}


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
    resample: Resample = "both",
    thresholds: Thresholds = "kept",
    rng: int = 0,
    threads: int | None = None,
    task: str | Task = "authentication",
    criterion: str | Criterion | Callable[[Outcomes, float], Any] | None = None,
    measure: str | Measure | Callable[[Outcomes], Any] | None = None,
    points: int = 101,
    bounds: tuple[Any, Any] = (0, 1),
    alpha: Any = None,
    preset: str | None = None,
    progress: Progress | None = None,
) -> Coverage:
    """Make bands from some users and see how much of the curve of others they cover (2007, section 5, Figure 2).

    Parameters
    ----------
    systems : sequence or mapping of (dev, test)
        The pool: for each system its development and its test scores, with users.
    train_users, test_users : int
        How many users a band is made from, and how many others show the curve it should cover.
    bootstraps : sequence of str
        Any of ``sample``, ``user``, ``user-constrained``, ``joint``, all with the paper's percentile interval; and
        ``prediction``, our band that is to cover the curve of ``test_users`` unseen users.
    n_resamples : int or sequence of int
        The numbers of draws, U or S, to look at; of the joint bootstrap first U varies, then S, and the other is
        ``fixed``. The prediction band has as many replicates as the largest joint one.
    fixed : int
        The number that is held in the joint bootstrap; 30, as the paper found to be enough.
    repeats : int
        How often users are drawn.
    resample : {"both", "test"}
        Whether the four bootstraps resample the development set too (the paper's way) or the test set only.
    thresholds : {"kept", "new"}
        The unseen curve has the thresholds of the band's own development users, fixed in advance; or those of as
        many other development users. The paper does not say which.
    task, criterion, measure, points, bounds, alpha, preset
        Of the curves, as in `priori.epc`.

    Returns
    -------
    Coverage
        With ``coverage``, ``standard_error``, ``width`` by row, and ``conjecture`` (14).

    Examples
    --------
    >>> import priori
    >>> from priori.studies.simulation import systems
    >>> pool = systems(2, 40, 5, 20, rng=1)
    >>> result = priori.coverage(pool, train_users=12, test_users=24, n_resamples=40, points=11)
    >>> result.bootstrap
    ('sample', 'user', 'user-constrained', 'joint', 'joint', 'prediction')
    """
    curve_of = partial(
        epc, task=task, criterion=criterion, measure=measure, points=points, bounds=bounds, alpha=alpha, preset=preset
    )
    shared = Resampling(confidence_level=confidence_level, resample=resample)
    experiment = Experiment(train_users, test_users, shared, thresholds, rng, tuple(bootstraps))
    known = [_in_memory(pair) for pair in (systems.values() if isinstance(systems, Mapping) else systems)]
    pool = [pair for pair, _ in known]
    variants = experiment.variants(n_resamples, fixed)
    for pair in pool:
        experiment.check(pair)
    if not pool or repeats < 1:
        raise OptionError("give at least one system, as a pair of development and test scores, and one repeat")
    tally = CoverageTally()
    for done, (number, repeat) in enumerate(np.ndindex(len(pool), repeats), start=1):
        experiment.run(variants, pool[number], number, repeat, curve_of, tally, threads)
        if progress:
            progress(done, len(pool) * repeats)
    shares, widths = np.array(list(tally.repeats.values())).T.copy()
    return Coverage(
        tuple(variant.bootstrap for variant in variants for _ in variant.rows),
        np.array([row for variant in variants for row in variant.rows], dtype=np.int64),
        shares,
        widths,
        {"systems": len(pool), "repeats": repeats, "fixed": fixed, **experiment.settings()},
        tuple(dict.fromkeys(note for _, notes in known for note in notes)),
    )._came_from(*(test for _, test in pool))


def _in_memory(system: Sequence[ScoreSet]) -> tuple[Pair, tuple[str, ...]]:
    """Return the two sets of a system in memory, for experiments to resample, and what to say of those scanned."""
    refusal = InputError("each system must be a pair of Scores: development and test")
    if len(system) != 2:
        raise refusal
    (dev, notes), (test, more) = condense_all([as_score_set(each, refusal) for each in system], ("user",), narrow=BOUND)
    return (dev, test), (*notes, *more)


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
        level, resample = float(self.resampling.confidence_level), self.resampling.resample
        return {
            "confidence_level": level,
            "train_users": self.train_users,
            "test_users": self.test_users,
            "resample": resample,
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
            # Development users are resampled only where they will be new.
            resampling = replace(
                self.resampling,
                bootstrap=USER.name,
                n_resamples=most * fixed,
                promise="prediction",
                resample="test" if self.thresholds == "kept" else "both",
                future_users=self.test_users,
            )
            return [Variant(bootstrap, resampling, ((most * fixed, 1),))]
        design = BOOTSTRAPS[bootstrap]
        common = replace(self.resampling, bootstrap=bootstrap, interval="percentile")
        if design.nested:
            by_users = tuple((number, fixed) for number in numbers)
            by_samples = tuple((fixed, number) for number in numbers if (fixed, number) not in by_users)
            runs = (((most, fixed), by_users), ((fixed, most), by_samples))
            return [Variant(bootstrap, replace(common, n_resamples=draws), rows) for draws, rows in runs if rows]
        rows = tuple((number, 1) if design.draws_users else (1, number) for number in numbers)
        return [Variant(bootstrap, replace(common, n_resamples=most), rows)]

    def check(self, pair: Pair) -> None:
        """Raise an error where a system lacks users."""
        both = self.train_users + self.test_users
        needed = (both if _same_users(*pair) else self.train_users * (1 + (self.thresholds == "new")), both)
        for scores, users in zip(pair, needed, strict=True):
            if not scores.has_users:
                raise InputError(
                    f"{scores.source}: the users of the trials are not known, and users are what is drawn here; "
                    f"read a user column ({argument('columns', 'user=NAME')})"
                )
            if scores.n_users < users:
                raise InputError(
                    f"{scores.source} has {scores.n_users} users, and {users} are needed for bands from "
                    f"{self.train_users} and curves of {self.test_users} others; ask for fewer "
                    f"({argument('train_users')}, {argument('test_users')})"
                )

    def draw(self, dev: Scores, test: Scores, repeat: int) -> tuple[Pair, Pair]:
        """Draw the users of a band and, apart from them, those of a curve; alike where both sets hold the same."""
        order = generator((self.seed, repeat, 0)).permutation(_users(test))
        same = _same_users(dev, test)
        dev_order = order if same else generator((self.seed, repeat, 1)).permutation(_users(dev))
        first, others = slice(self.train_users), slice(self.train_users, self.train_users + self.test_users)
        band_dev = restrict(dev, dev_order[first])
        new = others if same else slice(self.train_users, 2 * self.train_users)
        curve_dev = restrict(dev, dev_order[new]) if self.thresholds == "new" else band_dev
        return (band_dev, restrict(test, order[first])), (curve_dev, restrict(test, order[others]))

    def run(
        self,
        variants: Sequence[Variant],
        pair: Pair,
        number: int,
        repeat: int,
        curve_of: Callable[..., EPC],
        tally: CoverageTally,
        threads: int | None,
    ) -> None:
        """Draw users of a system, make every band from some, and add what each covers of the curve of others."""
        seen, unseen = self.draw(*pair, repeat)
        curve, future = curve_of(*seen), curve_of(*unseen).value
        seed = int(generator((self.seed, repeat, number)).integers(0, 2**62))
        for index, variant in enumerate(variants):
            for row, (lower, upper) in zip(variant.rows, variant.bounds(curve, seed, threads), strict=True):
                tally.cover((index, row), lower, upper, future)


def _users(scores: Scores) -> NDArray[Any]:
    """Return the names of the users who have trials."""
    assert scores.users is not None
    codes = [trials.user for trials in (scores.negative, scores.positive) if trials.user is not None]
    return np.asarray(scores.users.values[np.unique(np.concatenate(codes))])


def _same_users(dev: Scores, test: Scores) -> bool:
    return dev.has_users and test.has_users and set(map(str, _users(dev))) == set(map(str, _users(test)))


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
            yield percentile_bounds(first.reshape(-1, first.shape[-1]), resampling.confidence_level)


class CoverageTally:
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
