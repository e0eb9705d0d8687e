"""Cautions: what a careful statistician would say about these data before believing the verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from priori.curves.epc import EPC
from priori.scores import Scores, Trials
from priori.studies.evaluation.study import Study
from priori.uncertainty.bootstrap.plans import USERS_UNUSED
from priori.words.numbers import alpha_text, counted, error_nouns, listing, percent, short

__all__ = ["Caution", "cautions"]

#: Doddington's rule: with 30 errors, a rate is within 30 % of the truth with 90 % confidence.
ENOUGH_ERRORS = 30
#: Fewer users than this are too few to resample: the spread between them is hardly known.
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


def cautions(study: Study) -> tuple[Caution, ...]:
    """Return every caution that applies at the alpha of interest, the gravest first."""
    checked = [*(check(study) for check in CHECKS), *_of_bands(study)]
    kept = [caution for caution in checked if caution is not None]
    return tuple(sorted(kept, key=lambda caution: caution.level != "warning"))


def _told(name: str, several: Sequence[object]) -> str:
    return f"{short(name)}: " if len(several) > 1 else ""


def _by_system(curves: Sequence[EPC], say: Callable[[EPC], str | None]) -> list[str]:
    """Return what there is to say of each system; said once where all share it."""
    lines = [say(curve) for curve in curves]
    if len(curves) > 1 and lines[0] is not None and len(set(lines)) == 1:
        return [lines[0]]
    return [_told(curve.name, curves) + line for curve, line in zip(curves, lines, strict=True) if line is not None]


def _alpha(study: Study) -> str:
    return f"At alpha = {alpha_text(study.settings.alpha)}"


def _same_data(study: Study) -> Caution | None:
    def same(curve: EPC) -> bool:
        pairs = ((curve.dev.negatives, curve.test.negatives), (curve.dev.positives, curve.test.positives))
        return all(np.array_equal(dev, test) for dev, test in pairs)

    names = [short(curve.name) for curve in study.curves if same(curve)]
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
    per_user = np.bincount(trials.user)
    residual = np.bincount(trials.user, weights=wrong) - errors / size * per_user
    users = int(np.count_nonzero(per_user))
    return errors, size, float(np.sum(residual**2)) / size**2 * users / max(users - 1, 1)


def _disagreement(study: Study) -> Caution | None:
    parts = []
    for curve in study.curves:
        threshold = float(curve.threshold[study.at])
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
                rates = f"{what} {percent(dev_rate)} on the development set, {percent(rate)} on the test set"
                parts.append(_told(curve.name, study.members) + rates)
    if not parts:
        return None
    return Caution(
        "disagreement", "warning", "Development and test set disagree",
        f"{_alpha(study)} the chosen threshold does not give the same errors on both sets, by more than "
        f"{DEVIATIONS:g} standard deviations: {'; '.join(parts)}. The sets seem to differ in kind, and so may the "
        "data on which the system will be used.",
    )  # fmt: skip


def _few_errors(study: Study) -> Caution | None:
    parts = []
    for curve in study.curves:
        outcomes = curve.outcomes[study.at]
        few = [
            counted(int(number), noun)
            for number, noun in zip((outcomes.fp, outcomes.fn), error_nouns(curve.task), strict=True)
            if int(number) < ENOUGH_ERRORS
        ]
        if few:
            parts.append(_told(curve.name, study.members) + listing(few))
    if not parts:
        return None
    return Caution(
        "few-errors", "warning", "Few errors",
        f"{_alpha(study)} the test set shows {'; '.join(parts)}. With fewer than {ENOUGH_ERRORS} errors a rate is "
        "easily off by a third of itself; use more test trials.",
    )  # fmt: skip


# -- users ---------------------------------------------------------------------------------------------------


def _few_users(study: Study) -> Caution | None:
    def say(curve: EPC) -> str | None:
        few = [
            f"{counted(scores.n_users, 'user')} in the {name} set"
            for name, scores in (("development", curve.dev), ("test", curve.test))
            if 0 < scores.n_users < ENOUGH_USERS
        ]
        return listing(few) or None

    parts = _by_system(study.curves, say)
    if not parts:
        return None
    return Caution(
        "few-users", "warning", "Few users",
        f"{'; '.join(parts)}. Fewer than {ENOUGH_USERS} users hardly show how much users differ: the intervals are "
        "less reliable.",
    )  # fmt: skip


def _users_unused(study: Study) -> Caution | None:
    unused = any(
        member.band is not None
        and member.band.settings["bootstrap"] == "sample"
        and (member.curve.dev.has_users or member.curve.test.has_users)
        for member in study.members
    )
    if not unused:
        return None
    return Caution(
        "users-unused", "warning", "User column not used",
        "The user of each trial is known, but the bootstrap resamples single trials. Trials of one user are alike, so "
        "the intervals are too narrow; choose the user bootstrap.",
    )  # fmt: skip


# -- scores --------------------------------------------------------------------------------------------------


def _extreme(study: Study) -> Caution | None:
    names = [short(curve.name) for curve in study.curves if np.isinf(curve.threshold[study.at])]
    if not names:
        return None
    return Caution(
        "extreme-threshold", "warning", "A threshold that decides nothing",
        f"{_alpha(study)} the best that can be done on the development set with {listing(names)} is to accept, or to "
        "reject, every trial whatever its score.",
    )  # fmt: skip


def _ties(study: Study) -> Caution | None:
    def largest(ordered: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        edges = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1], [True]]))
        return float(np.diff(edges).max() / ordered.size) if ordered.size > 1 / TIED else 0.0

    def say(curve: EPC) -> str | None:
        share = max(
            largest(ordered) for scores in (curve.dev, curve.test) for ordered in (scores.negatives, scores.positives)
        )
        return f"{percent(share)} of a class have one and the same score" if share >= TIED else None

    parts = _by_system(study.curves, say)
    if not parts:
        return None
    return Caution(
        "ties", "warning", "Many equal scores",
        f"{'; '.join(parts)}. No threshold can separate equal scores, so the error rates change in large steps; keep "
        "more digits of the scores if there are any.",
    )  # fmt: skip


def _ratio(scores: Scores) -> float:
    return len(scores.negative) / len(scores.positive)


def _unbalanced(study: Study) -> Caution | None:
    def say(curve: EPC) -> str | None:
        ratio = _ratio(curve.test)
        if max(ratio, 1 / ratio) < UNBALANCED:
            return None
        return f"{len(curve.test.negative):,} negatives to {len(curve.test.positive):,} positives in the test set"

    parts = _by_system(study.curves, say)
    if not parts:
        return None
    return Caution(
        "unbalanced", "note", "Unbalanced classes",
        f"{'; '.join(parts)}. Almost all of the uncertainty comes from the smaller class, and the plain error rate "
        "would say little about it.",
    )  # fmt: skip


def _prior_shift(study: Study) -> Caution | None:
    settings = study.settings
    names = {settings.shown.name, settings.rule.v1.name, settings.rule.v2.name}
    balance_matters = names & {"precision", "accuracy", "error", "mcc"} or settings.shown.name.startswith("f")
    by_class = settings.shown.name in ("far", "frr")
    if not balance_matters or by_class:
        return None

    def say(curve: EPC) -> str | None:
        ratio = _ratio(curve.dev) / _ratio(curve.test)
        if max(ratio, 1 / ratio) < 1.5:
            return None
        shares = [len(scores.positive) / len(scores) for scores in (curve.dev, curve.test)]
        return f"{percent(shares[0])} positives in the development set, {percent(shares[1])} in the test set"

    parts = _by_system(study.curves, say)
    if not parts:
        return None
    return Caution(
        "prior-shift", "warning", "The sets have different shares of positives",
        f"{'; '.join(parts)}. The thresholds and the measure depend on that share, so the thresholds were chosen for "
        "another share than they were judged on.",
    )  # fmt: skip


def _missing(study: Study) -> Caution | None:
    def say(curve: EPC) -> str | None:
        number = curve.dev.nan_rejected + curve.test.nan_rejected
        return f"{counted(number, 'score')} missing" if number else None

    parts = _by_system(study.curves, say)
    if not parts:
        return None
    return Caution(
        "missing", "note", "Missing scores count as rejections",
        f"{'; '.join(parts)} (NaN). Each counts as a trial that is always rejected, as asked.",
    )  # fmt: skip


def _few_resamples(study: Study) -> Caution | None:
    settings, pairs = study.settings, len(study.pairs)
    drawn = settings.n_resamples if isinstance(settings.n_resamples, int) else int(np.prod(settings.n_resamples))
    if settings.bootstrap is None or 2 * pairs / (drawn + 1) < 1 - settings.confidence_level:
        return None
    return Caution(
        "few-resamples", "warning", "Too few resamples",
        f"With {counted(drawn, 'resample')} and {counted(pairs, 'pair')} of systems no p-value can be small enough: "
        "no difference can be significant, however large it is. Use more resamples.",
    )  # fmt: skip


def _no_bootstrap(study: Study) -> Caution | None:
    if study.settings.bootstrap is not None:
        return None
    return Caution(
        "no-bootstrap", "note", "No intervals",
        "No bootstrap was run, so the curves have no confidence bands and the differences no test.",
    )  # fmt: skip


def _of_bands(study: Study) -> list[Caution]:
    """Pass on what the bootstrap itself has to say, once, except what is said above."""
    warned = dict.fromkeys(line for member in study.members if member.band for line in member.band.warnings)
    return [
        Caution("bootstrap", "note", "About the bootstrap", line[:1].upper() + line[1:] + ".")
        for line in warned
        if line != USERS_UNUSED
    ]


#: Every caution but the bootstrap's own, as it is shown among those of its level.
CHECKS: tuple[Callable[[Study], Caution | None], ...] = (
    _same_data,
    _disagreement,
    _few_errors,
    _few_users,
    _users_unused,
    _extreme,
    _ties,
    _prior_shift,
    _unbalanced,
    _missing,
    _few_resamples,
    _no_bootstrap,
)
