"""Cautions: what a careful statistician would say about these data before believing the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from priori.curves.epc import EPC
from priori.report.settings import Settings
from priori.scores import Scores, Trials
from priori.scores.systems import System
from priori.uncertainty.bands import Band
from priori.uncertainty.clustered import GroupSums
from priori.words.numbers import alpha_text, counted, error_nouns, listing, percent, short

__all__ = ["Caution", "cautions"]

#: Doddington's rule: with 30 errors, a rate is within 30 % of the truth with 90 % confidence.
ENOUGH_ERRORS = 30
#: Fewer users than this are too few to redraw: the spread between them is hardly known.
ENOUGH_USERS = 20
#: How many times one class may outnumber the other before it is said.
UNBALANCED = 10
#: The share of a class that may stand on one score.
TIED = 0.05
#: Differences of this many standard deviations between the sets are more than chance (p = 0.0027).
DEVIATIONS = 3.0


@dataclass(frozen=True)
class Caution:
    """One thing to mind; ``kind`` names it for a program."""

    kind: str
    level: Literal["warning", "note"]
    title: str
    text: str


def cautions(
    systems: Sequence[System],
    settings: Settings,
    curves: Sequence[EPC],
    bands: Sequence[Band | None],
    at: int,
) -> tuple[Caution, ...]:
    """Return every caution that applies, the gravest first."""
    found = [
        _same_data(systems),
        _disagreement(curves, at),
        _few_errors(settings, curves, at),
        _few_users(systems),
        _users_unused(systems, bands),
        _extreme(curves, at),
        _ties(systems),
        _prior_shift(settings, systems),
        _unbalanced(systems),
        _missing(systems),
        _few_resamples(systems, settings),
        *_of_bands(bands),
        _no_bootstrap(settings),
    ]
    kept = [caution for caution in found if caution is not None]
    return tuple(sorted(kept, key=lambda caution: caution.level != "warning"))


def _told(name: str, systems: Sequence[object]) -> str:
    return f"{short(name)}: " if len(systems) > 1 else ""


def _by_system(systems: Sequence[System], say: Callable[[System], str | None]) -> list[str]:
    """Return what there is to say of each system; said once where all share it."""
    said = [say(system) for system in systems]
    if len(systems) > 1 and said[0] is not None and len(set(said)) == 1:
        return [said[0]]
    return [_told(system.name, systems) + line for system, line in zip(systems, said, strict=True) if line is not None]


def _same_data(systems: Sequence[System]) -> Caution | None:
    def same(system: System) -> bool:
        pairs = ((system.dev.negatives, system.test.negatives), (system.dev.positives, system.test.positives))
        return all(np.array_equal(one, other) for one, other in pairs)

    names = [short(system.name) for system in systems if same(system)]
    if not names:
        return None
    return Caution(
        "same-data", "warning", "Development and test set are the same",
        f"For {listing(names)} both sets hold the same scores, so its thresholds were judged on the data they were "
        "chosen on: nothing here is a priori. Give a test set that was kept apart.",
    )  # fmt: skip


# -- do the two sets agree? ----------------------------------------------------------------------------------


def _errors(trials: Trials, wrong: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> tuple[int, int, float]:
    """Return errors, trials and the variance of their rate, users kept together where they are known."""
    errors, size = int(np.count_nonzero(wrong)), len(trials)
    if trials.user is None:
        return errors, size, 0.0
    per_user = np.bincount(trials.user).astype(np.float64)
    by_user = GroupSums.from_errors(np.bincount(trials.user, weights=wrong), per_user, errors / size)
    return errors, size, float(by_user.squares) / size**2 * by_user.used / max(by_user.used - 1, 1)


def _disagreement(curves: Sequence[EPC], at: int) -> Caution | None:
    parts = []
    for curve in curves:
        threshold = float(curve.threshold[at])
        for name, what in (("negative", "FAR"), ("positive", "FRR")):
            sets = []
            for scores in (curve.dev, curve.test):
                trials: Trials = getattr(scores, name)
                sets.append(_errors(trials, (trials.score > threshold) == (name == "negative")))
            (dev_errors, dev_size, dev_spread), (errors, size, spread) = sets
            pooled = (dev_errors + errors) / (dev_size + size)
            by_chance = pooled * (1 - pooled) * (1 / dev_size + 1 / size)
            deviation = np.sqrt(max(by_chance, dev_spread + spread))
            dev_rate, rate = dev_errors / dev_size, errors / size
            if deviation > 0 and abs(rate - dev_rate) > DEVIATIONS * deviation:
                parts.append(
                    f"{_told(curve.name, curves)}{what} {percent(dev_rate)} on the development set, {percent(rate)} "
                    f"on the test set"
                )
    if not parts:
        return None
    return Caution(
        "disagreement", "warning", "Development and test set disagree",
        f"At alpha = {alpha_text(curves[0].alpha[at])} the chosen threshold does not give the same errors on both "
        f"sets, by more than {DEVIATIONS:g} standard deviations: {'; '.join(parts)}. The sets seem to differ in kind, "
        "and so may the place where the system will be used.",
    )  # fmt: skip


def _few_errors(settings: Settings, curves: Sequence[EPC], at: int) -> Caution | None:
    parts = []
    for curve in curves:
        outcomes = curve.outcomes[at]
        few = [
            counted(int(number), noun)
            for number, noun in zip((outcomes.fp, outcomes.fn), error_nouns(settings.domain), strict=True)
            if int(number) < ENOUGH_ERRORS
        ]
        if few:
            parts.append(_told(curve.name, curves) + listing(few))
    if not parts:
        return None
    return Caution(
        "few-errors", "warning", "Few errors",
        f"At alpha = {alpha_text(curves[0].alpha[at])} the test set shows {'; '.join(parts)}. With fewer than "
        f"{ENOUGH_ERRORS} errors a rate is easily off by a third of itself; more test trials would tell more.",
    )  # fmt: skip


# -- users ---------------------------------------------------------------------------------------------------


def _few_users(systems: Sequence[System]) -> Caution | None:
    def say(system: System) -> str | None:
        few = [
            f"{counted(scores.n_users, 'user')} in the {name} set"
            for name, scores in (("development", system.dev), ("test", system.test))
            if 0 < scores.n_users < ENOUGH_USERS
        ]
        return listing(few) or None

    parts = _by_system(systems, say)
    if not parts:
        return None
    return Caution(
        "few-users", "warning", "Few users",
        f"{'; '.join(parts)}. How much users differ is hardly known from fewer than {ENOUGH_USERS} of them: trust the "
        "intervals less.",
    )  # fmt: skip


def _users_unused(systems: Sequence[System], bands: Sequence[Band | None]) -> Caution | None:
    unused = any(
        band is not None and band.settings["bootstrap"] == "sample" and (system.dev.has_users or system.test.has_users)
        for system, band in zip(systems, bands, strict=True)
    )
    if not unused:
        return None
    return Caution(
        "users-unused", "warning", "User column not used",
        "It is known which user each trial belongs to, but the bootstrap redraws single trials. Trials of one user "
        "are alike, so the intervals are too narrow; choose the user bootstrap.",
    )  # fmt: skip


# -- scores --------------------------------------------------------------------------------------------------


def _extreme(curves: Sequence[EPC], at: int) -> Caution | None:
    names = [short(curve.name) for curve in curves if np.isinf(curve.threshold[at])]
    if not names:
        return None
    return Caution(
        "extreme-threshold", "warning", "A threshold that decides nothing",
        f"At alpha = {alpha_text(curves[0].alpha[at])} the best that can be done on the development set with "
        f"{listing(names)} is to accept, or to reject, every trial whatever its score.",
    )  # fmt: skip


def _ties(systems: Sequence[System]) -> Caution | None:
    def largest(ordered: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
        return float(np.diff(edges).max() / ordered.size) if ordered.size > 1 / TIED else 0.0

    def say(system: System) -> str | None:
        share = max(
            largest(ordered) for scores in (system.dev, system.test) for ordered in (scores.negatives, scores.positives)
        )
        return f"{percent(share)} of a class have one and the same score" if share >= TIED else None

    parts = _by_system(systems, say)
    if not parts:
        return None
    return Caution(
        "ties", "warning", "Many equal scores",
        f"{'; '.join(parts)}. No threshold can part equal scores, so the error rates move in large steps; keep more "
        "digits of the scores if there are any.",
    )  # fmt: skip


def _ratio(scores: Scores) -> float:
    return len(scores.negative) / len(scores.positive)


def _unbalanced(systems: Sequence[System]) -> Caution | None:
    def say(system: System) -> str | None:
        ratio = _ratio(system.test)
        if max(ratio, 1 / ratio) < UNBALANCED:
            return None
        return f"{len(system.test.negative):,} negatives to {len(system.test.positive):,} positives in the test set"

    parts = _by_system(systems, say)
    if not parts:
        return None
    return Caution(
        "unbalanced", "note", "Unbalanced classes",
        f"{'; '.join(parts)}. The uncertainty comes almost wholly from the smaller class, and a plain share of wrong "
        "decisions would say little about it.",
    )  # fmt: skip


def _prior_shift(settings: Settings, systems: Sequence[System]) -> Caution | None:
    names = {settings.shown.name, settings.rule.v1.name, settings.rule.v2.name}
    balance_matters = names & {"precision", "accuracy", "error", "mcc"} or settings.shown.name.startswith("f")
    by_class = settings.shown.name in ("far", "frr")
    if not balance_matters or by_class:
        return None

    def say(system: System) -> str | None:
        ratio = _ratio(system.dev) / _ratio(system.test)
        if max(ratio, 1 / ratio) < 1.5:
            return None
        shares = [len(scores.positive) / len(scores) for scores in (system.dev, system.test)]
        return f"{percent(shares[0])} positives in the development set, {percent(shares[1])} in the test set"

    parts = _by_system(systems, say)
    if not parts:
        return None
    return Caution(
        "prior-shift", "warning", "The sets have different shares of positives",
        f"{'; '.join(parts)}. What is chosen and shown here depends on that share, so the thresholds were chosen for "
        "another one than they were judged on.",
    )  # fmt: skip


def _missing(systems: Sequence[System]) -> Caution | None:
    def say(system: System) -> str | None:
        number = system.dev.nan_rejected + system.test.nan_rejected
        return f"{counted(number, 'score')} missing" if number else None

    parts = _by_system(systems, say)
    if not parts:
        return None
    return Caution(
        "missing", "note", "Missing scores count as rejections",
        f"{'; '.join(parts)} (NaN). Each counts as a trial that is always rejected, as asked.",
    )  # fmt: skip


def _of_bands(bands: Sequence[Band | None]) -> list[Caution]:
    """Pass on what the bootstrap itself has to say, once, except what is said above."""
    lines = dict.fromkeys(line for band in bands if band is not None for line in band.warnings)
    return [
        Caution("bootstrap", "note", "About the bootstrap", line[:1].upper() + line[1:] + ".")
        for line in lines
        if "not used" not in line
    ]


def _few_resamples(systems: Sequence[System], settings: Settings) -> Caution | None:
    drawn = settings.n_resamples if isinstance(settings.n_resamples, int) else int(np.prod(settings.n_resamples))
    pairs = len(systems) * (len(systems) - 1) // 2
    if settings.bootstrap is None or 2 * pairs / (drawn + 1) < 1 - settings.confidence_level:
        return None
    return Caution(
        "few-resamples", "warning", "Too few resamples",
        f"With {counted(drawn, 'resample')} and {counted(pairs, 'pair')} of systems no p-value can be small enough: "
        "no difference can come out significant, however large it is. Draw more.",
    )  # fmt: skip


def _no_bootstrap(settings: Settings) -> Caution | None:
    if settings.bootstrap is not None:
        return None
    return Caution(
        "no-bootstrap", "note", "No intervals",
        "No bootstrap was run, so the curves have no bands and differences no test; a number alone does not say how "
        "sure it is.",
    )  # fmt: skip
