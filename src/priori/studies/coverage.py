"""Coverage: the share of unseen curves that bands cover. The experiment of section 5 of Poh and Bengio, 2007."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from priori.base.above import above
from priori.base.declarations import LEVEL, SIZE, Cautions, Column, DeclaredTable, Flat, Schema, Summary, Unsaved
from priori.base.errors import InputError, OptionError, argument, unknown
from priori.base.options import Resample
from priori.base.results import Result
from priori.base.saved import Saved, in_part
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
    def holds(self) -> Summary[bool]:
        """Whether the mean widths are in the order conjectured."""
        return self.widths[0] <= self.widths[1] <= self.widths[2]


SETTINGS: dict[str, Schema] = {
    **dict.fromkeys(("systems", "repeats"), SIZE),
    "fixed": {"type": "integer", "minimum": 1},
    "confidence_level": LEVEL,
    **dict.fromkeys(("train_users", "test_users"), SIZE),
    "resample": {"enum": list(get_args(Resample))},
    "thresholds": {"enum": list(get_args(Thresholds))},
    "seed": SIZE,
}
Rows = Annotated[dict[str, NDArray[Any]], DeclaredTable({"text": "bootstrap", "integer": "U S"})]


@dataclass(frozen=True, eq=False, repr=False)
class Coverage(Result):
    """The share of unseen curves that bands cover: one row per bootstrap and number of draws. Made by `coverage`.

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

    bootstrap: Unsaved[tuple[str, ...]]
    draws: Unsaved[NDArray[np.int64]]
    covered: Unsaved[Floats]
    widths: Unsaved[Floats]
    settings: Annotated[dict[str, Any], Flat(SETTINGS)]
    warnings: Cautions = ()

    @classmethod
    def _restored(cls, saved: Saved, known: dict[str, Any]) -> Self:
        draws = np.column_stack([saved.table["U"], saved.table["S"]])
        return in_part(cls, bootstrap=tuple(saved.table["bootstrap"].tolist()), draws=draws, **known)

    @property
    def rows(self) -> Column[Rows]:
        """The bootstrap and the numbers of draws of each row."""
        users, samples = self.draws.T
        return {"bootstrap": np.array(self.bootstrap), "U": users, "S": samples}

    @cached_property
    def experiments(self) -> Summary[int]:
        """How many experiments there were: a system and a draw of users each."""
        return len(self.covered)

    @cached_property
    def coverage(self) -> Column[Floats]:
        """The mean share covered, by row."""
        return np.asarray(self.covered.mean(axis=0))

    @cached_property
    def standard_error(self) -> Column[Floats]:
        """The standard error of the mean share, experiments taken for independent; NaN for one experiment."""
        return standard_error(self.covered)

    @cached_property
    def width(self) -> Column[Floats]:
        """The mean expected width, by row."""
        return np.asarray(self.widths.mean(axis=0))

    @cached_property
    def conjecture(self) -> Summary[Conjecture | None]:
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
    common = Resampling(confidence_level=confidence_level, resample=resample)
    numbers = tuple(sorted(set(n_resamples))) if isinstance(n_resamples, Sequence) else (n_resamples,)
    if not numbers or min(*numbers, fixed, 1) < 1:
        raise OptionError(f"numbers of draws must be whole numbers from 1 up, not {n_resamples} and {fixed}")
    if thresholds not in get_args(Thresholds):
        raise unknown("choice of thresholds", thresholds, get_args(Thresholds))
    if train_users < 2 or test_users < 2:
        raise OptionError(f"a band and a curve need 2 users each, not {train_users} and {test_users}")
    if not bootstraps:
        raise OptionError(f"give at least one bootstrap: {', '.join((*FOUR, PREDICTION))}")
    runs = [
        run for name in bootstraps for run in _runs_of(name, numbers, fixed, common, thresholds == "new", test_users)
    ]
    known = [_in_memory(pair) for pair in (systems.values() if isinstance(systems, Mapping) else systems)]
    pool = [pair for pair, _ in known]
    if not pool or repeats < 1:
        raise OptionError("give at least one system, as a pair of development and test scores, and one repeat")
    sizes = train_users, test_users, thresholds == "new"
    for pair in pool:
        _check_users(pair, *sizes)
    tally = CoverageTally()
    for done, (number, repeat) in enumerate(np.ndindex(len(pool), repeats), start=1):
        seen, unseen = _divided(pool[number], *sizes, (rng, repeat))
        curve, future = curve_of(*seen), curve_of(*unseen).value
        seed = int(generator((rng, repeat, number)).integers(0, 2**62))
        for index, run in enumerate(runs):
            for row, (lower, upper) in zip(run.rows, run.bounds(curve, seed, threads), strict=True):
                tally.cover((index, row), lower, upper, future)
        if progress:
            progress(done, len(pool) * repeats)
    shares, widths = np.array(list(tally.repeats.values())).T.copy()
    settings = {
        "systems": len(pool),
        "repeats": repeats,
        "fixed": fixed,
        "confidence_level": float(common.confidence_level),
        "train_users": train_users,
        "test_users": test_users,
        "resample": common.resample,
        "thresholds": thresholds,
        "seed": rng,
    }
    return Coverage(
        tuple(run.bootstrap for run in runs for _ in run.rows),
        np.array([row for run in runs for row in run.rows], dtype=np.int64),
        shares,
        widths,
        settings,
        tuple(dict.fromkeys(note for _, notes in known for note in notes)),
    )._came_from(*(test for _, test in pool))


def _in_memory(system: Sequence[ScoreSet]) -> tuple[Pair, tuple[str, ...]]:
    """Return the two sets of a system in memory, for experiments to resample, and what to say of those scanned."""
    refusal = InputError("each system must be a pair of Scores: development and test")
    if len(system) != 2:
        raise refusal
    (dev, notes), (test, more) = condense_all([as_score_set(each, refusal) for each in system], ("user",), narrow=BOUND)
    return (dev, test), (*notes, *more)


class Run(NamedTuple):
    """One run of a bootstrap, and the rows (U, S) that are read from it: its first draws of each kind."""

    bootstrap: str
    resampling: Resampling
    rows: tuple[tuple[int, int], ...]

    def bounds(self, curve: EPC, seed: int, threads: int | None) -> Iterator[tuple[Floats, Floats]]:
        """Return the bounds of each row."""
        predicts = self.resampling.promise == "prediction"
        band = make_band(curve, replace(self.resampling, rng=seed), threads=threads, keep=not predicts)
        if predicts:
            yield band.lower, band.upper
            return
        assert band.replicates is not None
        draws = self.resampling.n_resamples
        nested = draws if isinstance(draws, tuple) else (draws, 1)
        replicates = band.replicates.reshape(*nested, -1)
        for users, samples in self.rows:
            first = replicates[:users, :samples] if isinstance(draws, tuple) else replicates[: users * samples]
            yield percentile_bounds(first.reshape(-1, first.shape[-1]), self.resampling.confidence_level)


def _runs_of(
    name: str, numbers: tuple[int, ...], fixed: int, common: Resampling, new: bool, test_users: int
) -> list[Run]:
    """Return the runs of one bootstrap; of a nested one first U varies, then S."""
    most = numbers[-1]
    if name == PREDICTION:
        # Development users are resampled only where they will be new.
        future: dict[str, Any] = {
            "promise": "prediction",
            "resample": "both" if new else "test",
            "future_users": test_users,
        }
        resampling = replace(common, bootstrap=USER.name, n_resamples=most * fixed, **future)
        return [Run(name, resampling, ((most * fixed, 1),))]
    if name not in FOUR:
        raise unknown("bootstrap", name, (*FOUR, PREDICTION))
    design, common = BOOTSTRAPS[name], replace(common, bootstrap=name, interval="percentile")
    if not design.nested:
        rows = tuple((number, 1) if design.draws_users else (1, number) for number in numbers)
        return [Run(name, replace(common, n_resamples=most), rows)]
    by_users = tuple((number, fixed) for number in numbers)
    by_samples = tuple((fixed, number) for number in numbers if (fixed, number) not in by_users)
    runs = (((most, fixed), by_users), ((fixed, most), by_samples))
    return [Run(name, replace(common, n_resamples=draws), rows) for draws, rows in runs if rows]


def _check_users(pair: Pair, train_users: int, test_users: int, new: bool) -> None:
    """Raise an error where a system lacks users."""
    both = train_users + test_users
    needed = (both if _same_users(*pair) else train_users * (1 + new), both)
    for scores, users in zip(pair, needed, strict=True):
        if not scores.has_users:
            raise InputError(
                f"{scores.source}: the users of the trials are not known, and users are what is drawn here; "
                f"read a user column ({argument('columns', 'user=NAME')})"
            )
        if scores.n_users < users:
            raise InputError(
                f"{scores.source} has {scores.n_users} users, and {users} are needed for bands from "
                f"{train_users} and curves of {test_users} others; ask for fewer "
                f"({argument('train_users')}, {argument('test_users')})"
            )


def _divided(pair: Pair, train_users: int, test_users: int, new: bool, seed: tuple[int, int]) -> tuple[Pair, Pair]:
    """Draw the users of a band and, apart from them, those of a curve; alike where both sets hold the same."""
    (dev, test), same = pair, _same_users(*pair)
    order = generator((*seed, 0)).permutation(_users(test))
    dev_order = order if same else generator((*seed, 1)).permutation(_users(dev))
    band_dev = restrict(dev, dev_order[:train_users])
    others = slice(train_users, train_users + test_users)
    curve_dev = restrict(dev, dev_order[others if same else slice(train_users, 2 * train_users)]) if new else band_dev
    return (band_dev, restrict(test, order[:train_users])), (curve_dev, restrict(test, order[others]))


def _users(scores: Scores) -> NDArray[Any]:
    """Return the names of the users who have trials."""
    assert scores.users is not None
    codes = [trials.user for trials in (scores.negative, scores.positive) if trials.user is not None]
    return np.asarray(scores.users.values[np.unique(np.concatenate(codes))])


def _same_users(dev: Scores, test: Scores) -> bool:
    return dev.has_users and test.has_users and set(map(str, _users(dev))) == set(map(str, _users(test)))


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
