"""Watching a threshold after it is deployed: is a limit surely broken, has something changed, at any moment one looks.

Trial t errs with some probability given all that came before: the user's own rate, the day, anything. A bet on every
trial against "the mean of these probabilities is at most the limit" gains only by luck, and grows twentyfold in
one stream of twenty at most, however long they are and however often one looks (Ville). No independence is needed,
and so users may return and drift; the claim is about the decisions made so far, on the people seen, and no others.

A bet is an odds ratio r: what it has made of 1 after k errors in n trials is r^k / (1 + (r - 1) m)^n. The product of
r^x / (1 + (r - 1) p) over trials with risks p is a martingale, and where m is the mean of these risks it is no less
(Jensen). So bounds hold for the mean risk of the trials so far although it moves.
I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting", JRSS B, 2024; J. Shin, A. Ramdas,
A. Rinaldo, "E-detectors: a nonparametric framework for sequential change detection", New England Journal of Statistics
in Data Science, 2023.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import logsumexp

from priori.base.above import above
from priori.base.errors import InputError, OptionError
from priori.base.limits import check_level
from priori.base.types import Floats, Ints, Mask
from priori.base.whole_files import write_whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The rates that can be watched: of which label, and whether a trial that passes is the error.
RATES = {"far": (False, True), "frr": (True, False)}
#: What may have a limit; the HTER is that of unlabelled trials.
LIMITED = (*RATES, "hter")
#: The odds of an error that bets win on, over the odds at the limit: from 1.02 to some 11.
RATIOS = 1 + 0.02 * 2.0 ** np.arange(10)
#: How many trials are processed at once.
PART = 1 << 16
#: How many points of a history are kept for a figure.
KEPT = 400


def log_wealth(errors: ArrayLike, trials: ArrayLike, limit: float, *, above: bool = True) -> Floats:
    """Return the logarithm of what bets against a limit have made of 1 after each of these counts.

    Bets that the rate is ``above`` the limit, or below. The wealth depends on the counts alone.
    """
    k, n = np.asarray(errors, dtype=np.float64)[..., None], np.asarray(trials, dtype=np.float64)[..., None]
    ratios = RATIOS if above else 1 / RATIOS
    wealth = k * np.log(ratios) - n * np.log1p((ratios - 1) * limit)
    return np.asarray(logsumexp(wealth, axis=-1) - np.log(ratios.size))


def bounds(errors: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Return bounds of the mean risk of the trials so far that hold at every moment at once.

    Examples
    --------
    >>> lower, upper = bounds(12, 1000)
    >>> f"{lower:.4f} to {upper:.4f}"
    '0.0039 to 0.0268'
    """
    if not trials:
        return 0.0, 1.0
    rate, least = errors / trials, np.log(2 / (1 - level))

    def beyond(limit: float, above: bool) -> float:
        return float(log_wealth(errors, trials, limit, above=above) - least)

    tiny = 1e-12
    lower = brentq(partial(beyond, above=True), tiny, rate) if rate > tiny and beyond(tiny, True) > 0 else 0.0
    upper = (
        brentq(partial(beyond, above=False), rate, 1 - tiny) if rate < 1 - tiny and beyond(1 - tiny, False) > 0 else 1.0
    )
    return float(lower), float(upper)


@dataclass
class WatchedRate:
    """What is remembered of one rate: counts, the bets on a change, when there was an alarm, points for a figure."""

    name: str
    limit: float
    trials: int = 0
    errors: int = 0
    broken: int | None = None
    changed: int | None = None
    detector: list[float] = field(default_factory=lambda: [-np.inf] * RATIOS.size)
    history: list[tuple[int, int]] = field(default_factory=list)

    def update(self, wrong: Mask, level: float, change_every: float) -> None:
        """Go through new trials of the class, in their order."""
        for start in range(0, wrong.size, PART):
            self._go_on(wrong[start : start + PART], level, change_every)

    def _go_on(self, wrong: Mask, level: float, change_every: float) -> None:
        trials = self.trials + np.arange(1, wrong.size + 1)
        errors = self.errors + np.cumsum(wrong)
        if self.broken is None:
            self.broken = _first(trials, log_wealth(errors, trials, self.limit) >= np.log(1 / (1 - level)))
        detected = self._detect(wrong)
        if self.changed is None:
            self.changed = _first(trials, detected >= np.log(float(change_every)))
        self._remember(trials, errors)
        self.trials, self.errors = int(trials[-1]), int(errors[-1])

    def _remember(self, trials: Ints, errors: Ints) -> None:
        """Keep points for a figure, evenly over all trials so far."""
        wanted = np.linspace(1, trials[-1], KEPT).round()
        old = np.array(self.history, dtype=np.int64).reshape(-1, 2)
        kept = np.unique(np.searchsorted(old[:, 0], wanted[wanted <= self.trials]).clip(max=max(len(old) - 1, 0)))
        new = np.searchsorted(trials, np.unique(wanted[wanted > self.trials]))
        points = np.concatenate([old[kept], np.stack([trials[new], errors[new]], axis=1)])
        self.history = [(int(seen), int(wrong)) for seen, wrong in points]

    def _detect(self, wrong: Mask) -> Floats:
        """Return the logarithm of the detector after each trial: bets that began at every trial before, added up.

        M_t = (M_{t-1} + 1) e_t with e_t = r^x / (1 + (r - 1) m), so M_t over the product of e is a running
        sum.
        """
        steps = np.log(RATIOS)[:, None] * wrong - np.log1p((RATIOS - 1) * self.limit)[:, None]
        product = np.cumsum(steps, axis=1)
        begun = np.concatenate([np.array(self.detector)[:, None], -(product - steps)], axis=1)
        detector = product + np.logaddexp.accumulate(begun, axis=1)[:, 1:]
        self.detector = detector[:, -1].tolist()
        return np.asarray(logsumexp(detector, axis=0) - np.log(RATIOS.size))


def _first(trials: Any, alarm: Mask) -> int | None:
    return int(trials[alarm.argmax()]) if alarm.any() else None


@dataclass
class Watch:
    """Watches error rates at a threshold while trials come in. `update` takes new ones, `report` says how it stands.

    Parameters
    ----------
    threshold : float
        Accept when score > threshold.
    limits : mapping
        What must be kept: ``{"far": 0.01, "frr": 0.1}``. A limit of the ``hter`` is for trials without labels.
    level : float
        All alarms that a limit is surely broken are false in at most 1 - level of streams, for ever.
    change_every : float
        A change may be reported falsely once in so many trials, on average.
    distances : bool
        Scores and threshold are negated distances; the command line shows them as they were.

    Examples
    --------
    >>> import numpy as np, priori
    >>> rng = np.random.default_rng(1)
    >>> watch = priori.Watch(threshold=2.0, limits={"far": 0.01})
    >>> watch.update(np.zeros(3000), rng.normal(size=3000))  # 2.3 % of impostors pass
    >>> watch.report()["far"]["alarms"]
    ['limit broken at trial 1181', 'change at trial 1403']
    """

    threshold: float
    limits: Mapping[str, float]
    level: float = 0.95
    change_every: float = 1e5
    rates: dict[str, WatchedRate] = field(init=False)
    passed: int = 0
    seen: int = 0
    batches: list[str] = field(default_factory=list)
    distances: bool = False

    def __post_init__(self) -> None:
        if not self.limits:
            raise OptionError("give a limit to watch, such as far=0.01")
        for name, limit in self.limits.items():
            if name not in LIMITED:
                raise OptionError(f"a watched rate is one of {', '.join(LIMITED)}, not {name!r}")
            check_level(limit, f"the limit of {name}")
        check_level(self.level, "the level")
        if not self.change_every > 1:
            raise OptionError(f"a false alarm of a change once in more than one trial, not {self.change_every}")
        if np.isnan(self.threshold):
            raise OptionError("the threshold is NaN")
        self.rates = {name: WatchedRate(name, float(limit)) for name, limit in self.limits.items() if name in RATES}

    def update(self, label: ArrayLike | None, score: ArrayLike, *, batch: str | None = None) -> None:
        """Take new trials in the order in which they came.

        Parameters
        ----------
        label : array-like or None
            1 for the positive class, 0 for the negative; None where labels are not known.
        score : array-like
            Their scores.
        batch : str, optional
            A name for these trials; a batch of a name that was there before is refused, so that none counts twice.
        """
        if batch is not None and batch in self.batches:
            raise InputError("these trials were counted before; give new ones")
        scores = np.asarray(score, dtype=np.float64).ravel()
        if np.isnan(scores).any():
            raise InputError(
                f"score {int(np.isnan(scores).argmax())} is NaN; leave it out, or count it as rejected (-inf)"
            )
        accepted = scores > self.threshold
        positive = None if label is None else np.asarray(label).ravel()
        if positive is not None and positive.size != scores.size:
            raise InputError(f"{positive.size} labels and {scores.size} scores")
        if positive is not None and not (known := np.isin(positive, (0, 1))).all():
            raise InputError(f"label {int(known.argmin())} is {positive[known.argmin()]}; give 1 or 0")
        if positive is not None and not self.rates:
            raise OptionError("a limit of the HTER is for trials without labels; for these, limit the far or the frr")
        self.batches += [] if batch is None else [batch]
        if positive is None:
            self.passed, self.seen = self.passed + int(accepted.sum()), self.seen + scores.size
            return
        for rate in self.rates.values():
            of_positives, passing_errs = RATES[rate.name]
            rate.update((accepted == passing_errs)[positive == of_positives], self._level(), self.change_every)

    @property
    def alarm(self) -> bool:
        """Whether a limit was ever found broken, or a change found."""
        return any(rate.broken is not None or rate.changed is not None for rate in self.rates.values())

    def _level(self) -> float:
        """The level of each rate's own claim, so that all of them hold together."""
        return 1 - (1 - self.level) / len(self.rates)

    @property
    def labelled(self) -> bool:
        """Whether any trial of a watched class had a label."""
        return any(rate.trials for rate in self.rates.values())

    def bounds_of(self, name: str) -> tuple[Floats, Floats]:
        """Return the bounds of a rate at the points of its history."""
        found = [bounds(errors, trials, self._level()) for trials, errors in self.rates[name].history]
        lower, upper = np.array(found).reshape(-1, 2).T
        return lower, upper

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the rates so far, with their bounds, limits and alarms; returns the axes."""
        if not self.labelled:
            raise OptionError("a figure shows the rates of labelled trials, and there are none")
        return above(self, "plot")(self, ax=ax)

    def report(self) -> dict[str, dict[str, Any]]:
        """Return for each rate its limit, counts, time-uniform bounds and alarms."""
        told = {}
        for rate in self.rates.values():
            lower, upper = bounds(rate.errors, rate.trials, self._level())
            alarms = [
                f"{what} at trial {when}"
                for what, when in (("limit broken", rate.broken), ("change", rate.changed))
                if when is not None
            ]
            told[rate.name] = {
                "limit": rate.limit,
                "trials": rate.trials,
                "errors": rate.errors,
                "rate": rate.errors / rate.trials if rate.trials else float("nan"),
                "lower": lower,
                "upper": upper,
                "alarms": alarms,
            }
        return told

    def unlabelled(self, share: tuple[float, float], promised: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return the least FAR, FRR and HTER that the share of unlabelled trials accepted leaves possible.

        ``share`` is the range in which the share of positives lies, by what is known of them; ``promised`` the most
        that development allows of each rate. A floor above its promise says that the share is outside its range or that
        the promise is broken. No model is needed: the pass rate is a mean of 1 - FRR and FAR.
        """
        low, high = share
        if not 0 < low <= high < 1:
            raise OptionError(f"the share of positives is a range within 0 and 1, not {low} to {high}")
        least, most = bounds(self.passed, self.seen, self.level)
        far = max((least - high) / (1 - high), 0.0)
        frr = max((low - most) / low, 0.0)
        floors = {"far": far, "frr": frr, "hter": max(far, frr) / 2}
        return {
            name: {"floor": floor, "promised": promised[name], "alarm": floor > promised[name]}
            for name, floor in floors.items()
            if name in promised
        }

    def save(self, path: str | Path) -> None:
        """Write what is remembered, atomically; `load` reads it back."""
        write_whole(path, json.dumps({"priori": "watch", **asdict(self)}) + "\n")

    @classmethod
    def load(cls, path: str | Path) -> Watch:
        """Return a watch as it was saved."""
        try:
            held = json.loads(Path(path).read_text(encoding="utf-8"))
            if held.pop("priori") != "watch":
                raise KeyError
            rates = held.pop("rates")
            watch = cls(**held)
            for name, rate in rates.items():
                rate["history"] = [(int(trials), int(errors)) for trials, errors in rate["history"]]
                watch.rates[name] = WatchedRate(**rate)
        except OSError as error:
            raise InputError(f"{path}: {error.strerror}") from None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError(
                f"{path}: not the state of a watch; give another file, or delete it to begin again"
            ) from None
        return watch
